"""Write the options of public functions as types: `python -m tests.support.parameters`.

Type checkers read `audit/parameters.pyi`; a test compares it with the fields that declare options.
"""

import inspect
import re

from audit.options import (
    Asked,
    Counting,
    Exported,
    Limits,
    OneProblem,
    OneReplay,
    Planned,
    Reading,
    Tabled,
    TaskLimits,
    annotation_of,
    parameters,
)
from tests.support.command import ROOT

FILE = ROOT / "audit" / "parameters.pyi"
SETS = {
    "ReadingOptions": Reading,
    "LimitOptions": Limits,
    "TaskOptions": TaskLimits,
    "SettingOptions": Asked,
    "PlannedOptions": Planned,
    "CountOptions": Counting,
    "ExportOptions": Exported,
    "TableOptions": Tabled,
    "ProblemOptions": OneProblem,
    "ReplayKey": OneReplay,
}
UNIONS = {
    "LoadOptions": ("ReadingOptions", "LimitOptions"),
    "ReplayOptions": ("SettingOptions", "LimitOptions"),
    "PlanOptions": ("ReadingOptions", "PlannedOptions"),
}
HEADER = '''"""The options of public functions, for type checkers.

Written by `python -m tests.support.parameters` from the fields of audit/options.py.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict
'''


def written_type(annotation):
    """Return a type as code; None means that the option is not given."""
    text = inspect.formatannotation(annotation)
    text = re.sub(r"\b(collections\.abc|pathlib|typing)\.", "", text)
    text = re.sub(r"^Union\[(.+)\]$", lambda union: " | ".join(_parts(union[1])), text)
    return f"{text} | None".replace("'", '"')


def _parts(text):
    """Return the parts of a union, split at the commas outside brackets."""
    return re.split(r", (?![^\[]*\])", text)


def stub():
    """Return the text of the file."""
    lines = [HEADER]
    for name, option_set in SETS.items():
        lines.append(f"class {name}(TypedDict, total=False):")
        for parameter, entry in parameters(option_set).items():
            line = f"    {parameter}: {written_type(annotation_of(entry))}"
            lines.append(line if len(line) <= 100 else f"{line}  # noqa: E501")
        lines.append("")
    for name, bases in UNIONS.items():
        lines.append(f"class {name}({', '.join(bases)}): ...")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    FILE.write_text(stub(), encoding="utf-8")
