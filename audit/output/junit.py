"""Checks as JUnit XML, the form in which build servers show them."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from audit.text import steerless


def junit(checks: Sequence[dict[str, Any]]) -> str:
    """Write checks as JUnit test cases; a check with violations is a failure."""
    failed = [row for row in checks if row["violations"]]
    suite = ElementTree.Element(
        "testsuite",
        name="budget-audit check",
        tests=str(len(checks)),
        failures=str(len(failed)),
        errors="0",
        time=f"{sum(row['seconds'] or 0 for row in checks):.3f}",
    )
    for row in checks:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname="budget-audit",
            name=steerless(row["check"]),
            time=f"{row['seconds'] or 0:.3f}",
        )
        if row["file"]:
            case.set("file", steerless(row["file"]))
            case.set("line", str(row["line"]))
        if row["violations"]:
            message = f"{row['violations']:,} of {row['looked_at']:,}: {row['claim']}"
            failure = ElementTree.SubElement(case, "failure", message=steerless(message))
            failure.text = steerless(row["measured"] or "")
        elif row["measured"]:
            ElementTree.SubElement(case, "system-out").text = steerless(row["measured"])
    ElementTree.indent(suite)
    text = ElementTree.tostring(suite, encoding="unicode", xml_declaration=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'
