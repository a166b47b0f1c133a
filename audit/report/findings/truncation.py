"""Which replays can neither rule answer?"""

from collections.abc import Sequence
from functools import partial

from audit.report.data import Row, by_archive
from audit.report.findings.shared import Finding, Topic, count_of, key_of, topic
from audit.report.wording import TOKENS, budget_name, number
from audit.units import Unit


def truncation(floor: Sequence[Row], *, unit: Unit = TOKENS) -> Topic | None:
    """Replays in which the first attempt alone outlasts the budget and was cut when recorded."""
    said = partial(budget_name, unit=unit)
    findings = []
    hit = 0
    for archive, rows in by_archive(floor).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        first, last = rows[0], rows[-1]
        if last["capped_first"]:
            hit += 1
            share = number(100 * last["capped_first"] / last["replays"])
            sentence = (
                f"Even at B = {said(last['budget'])}, {last['capped_first']:,} of "
                f"{last['replays']:,} replays ({share} %) begin with an attempt that was cut off "
                "at its generation limit and uses up B alone. Neither rule can answer there; "
                f"advisory abstains in {number(last['advisory_abstention'])} % of replays."
            )
            short = f"{share} % of replays at {said(last['budget'])}"
        else:
            sentence = (
                "No replay begins with an attempt that reached its generation limit and costs at "
                f"least B = {said(last['budget'])}"
            )
            if first["capped_first"]:
                sentence += (
                    f"; at B = {said(first['budget'])} {first['capped_first']:,} of "
                    f"{first['replays']:,} do"
                )
            sentence += "."
            short = f"none at {said(last['budget'])}"
        keys = [key_of(last, "budget")]
        findings.append(Finding(archive, sentence, "truncation_floor", keys, short))
    summary = (
        "Some first attempts use up the whole of the largest budget without answering: "
        f"{count_of(hit, len(findings))}."
        if hit
        else "No first attempt used up the whole budget without answering."
    )
    return topic("Which replays can neither rule answer?", summary, findings)
