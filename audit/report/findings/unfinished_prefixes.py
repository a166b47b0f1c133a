"""How much does strict stopping pay for work it throws away?"""

from collections.abc import Sequence
from functools import partial

from audit.report.data import Row, by_archive
from audit.report.findings.shared import Finding, Topic, key_of
from audit.report.wording import TOKENS, amount, budget_name, number
from audit.units import Unit


def unfinished_prefixes(prefix_cost: Sequence[Row], *, unit: Unit = TOKENS) -> Topic | None:
    """What share of strict spending went into attempts it cut."""
    said = partial(budget_name, unit=unit)
    findings = []
    shares = []
    measured = [row for row in prefix_cost if row["prefix_share"] is not None]
    for archive, rows in by_archive(measured).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        first, last = rows[0], rows[-1]
        share = f"{number(first['prefix_share'])} %"
        shares.append(first["prefix_share"])
        sentence = (
            f"Of what strict stopping pays at B = {said(first['budget'])}, {share} goes into "
            f"attempts cut at the budget ({amount(first['prefix_cost'], unit)} per replay)"
        )
        if last is not first:
            sentence += f"; at {said(last['budget'])} it is {number(last['prefix_share'])} %"
        sentence += (
            ". None of it can give an answer under a rule that reads only finished attempts."
        )
        keys = list(dict.fromkeys(key_of(row, "budget") for row in (first, last)))
        short = f"{share} of its cost at {said(first['budget'])}"
        findings.append(Finding(archive, sentence, "prefix_cost", keys, short))
    if not findings:
        return None
    smallest = min(row["budget"] for row in prefix_cost)
    low, high = number(min(shares)), number(max(shares))
    spread = f"{low} %" if low == high else f"{low} % to {high} %"
    return Topic(
        "How much does strict stopping pay for work it throws away?",
        f"{spread} of its cost at {said(smallest)}.",
        findings,
    )
