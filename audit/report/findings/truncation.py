"""Which replays can neither rule answer?"""

from collections.abc import Sequence

from audit.report.findings.shared import (
    Finding,
    Row,
    Topic,
    by_archive,
    count_of,
    key_of,
)
from audit.report.wording import budget_name, number


def truncation(floor: Sequence[Row]) -> Topic | None:
    """Replays in which the first attempt alone outlasts the budget and was cut when recorded."""
    findings = []
    hit = 0
    for archive, rows in by_archive(floor).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        last = rows[-1]
        if last["capped_first"] == 0:
            first = rows[0]
            text = (
                "No replay begins with an attempt that reached its generation limit and costs at "
                f"least B = {budget_name(last['budget'])}"
            )
            if first["capped_first"]:
                text += (
                    f"; at B = {budget_name(first['budget'])} {first['capped_first']:,} of "
                    f"{first['replays']:,} do"
                )
            findings.append(
                Finding(
                    archive,
                    text + ".",
                    "truncation_floor",
                    [key_of(last, "budget")],
                    f"none at {budget_name(last['budget'])}",
                )
            )
            continue
        hit += 1
        share = 100 * last["capped_first"] / last["replays"]
        findings.append(
            Finding(
                archive,
                f"Even at B = {budget_name(last['budget'])}, {last['capped_first']:,} of "
                f"{last['replays']:,} replays ({number(share)} %) begin with an attempt that was "
                "cut off at its generation limit and uses up B alone. Neither rule can answer "
                f"there; advisory abstains in {number(last['advisory_abstention'])} % of replays.",
                "truncation_floor",
                [key_of(last, "budget")],
                f"{number(share)} % of replays at {budget_name(last['budget'])}",
            )
        )
    if not findings:
        return None
    summary = (
        "Some replays begin with an attempt that fills the largest budget alone and has no answer: "
        f"{count_of(hit, len(findings))}."
        if hit
        else "None begins with an attempt that fills the largest budget alone without an answer."
    )
    return Topic("Which replays can neither rule answer?", summary, findings)
