"""Which replays can neither rule answer?"""

from collections.abc import Sequence
from functools import partial

from audit.report.data import Row, by_archive
from audit.report.findings.shared import Finding, Topic, count_of, key_of
from audit.report.wording import TOKENS, budget_name, number
from audit.units import Unit


def truncation(floor: Sequence[Row], *, unit: Unit = TOKENS) -> Topic | None:
    """Replays in which the first attempt alone outlasts the budget and was cut when recorded."""
    said = partial(budget_name, unit=unit)
    findings = []
    hit = 0
    for archive, rows in by_archive(floor).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        last = rows[-1]
        if last["capped_first"] == 0:
            first = rows[0]
            text = (
                "No replay begins with an attempt that reached its generation limit and costs at "
                f"least B = {said(last['budget'])}"
            )
            if first["capped_first"]:
                text += (
                    f"; at B = {said(first['budget'])} {first['capped_first']:,} of "
                    f"{first['replays']:,} do"
                )
            findings.append(
                Finding(
                    archive,
                    text + ".",
                    "truncation_floor",
                    [key_of(last, "budget")],
                    f"none at {said(last['budget'])}",
                )
            )
            continue
        hit += 1
        share = 100 * last["capped_first"] / last["replays"]
        findings.append(
            Finding(
                archive,
                f"Even at B = {said(last['budget'])}, {last['capped_first']:,} of "
                f"{last['replays']:,} replays ({number(share)} %) begin with an attempt that was "
                "cut off at its generation limit and uses up B alone. Neither rule can answer "
                f"there; advisory abstains in {number(last['advisory_abstention'])} % of replays.",
                "truncation_floor",
                [key_of(last, "budget")],
                f"{number(share)} % of replays at {said(last['budget'])}",
            )
        )
    if not findings:
        return None
    summary = (
        "Some first attempts use up the whole of the largest budget without answering: "
        f"{count_of(hit, len(findings))}."
        if hit
        else "No first attempt used up the whole budget without answering."
    )
    return Topic("Which replays can neither rule answer?", summary, findings)
