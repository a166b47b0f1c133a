"""How much does strict stopping pay for work it throws away?"""

from collections.abc import Sequence

from audit.report.findings.shared import (
    Finding,
    Row,
    Topic,
    by_archive,
    key_of,
)
from audit.report.wording import budget_name, number


def unfinished_prefixes(prefix_cost: Sequence[Row]) -> Topic | None:
    """What share of strict spending went into attempts it cut."""
    findings = []
    shares = []
    for archive, rows in by_archive(prefix_cost).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        known = [row for row in rows if row["prefix_share"] is not None]
        if not known:
            continue
        first, last = known[0], known[-1]
        shares.append(first["prefix_share"])
        sentence = (
            f"Of the tokens strict stopping pays at B = {budget_name(first['budget'])}, "
            f"{number(first['prefix_share'])} % go into attempts cut at the budget "
            f"({number(first['prefix_cost'], 0)} tokens per replay)"
        )
        if last is not first:
            sentence += f"; at {budget_name(last['budget'])} it is {number(last['prefix_share'])} %"
        findings.append(
            Finding(
                archive,
                sentence + ". None of it can give an answer under a rule that reads only finished "
                "attempts.",
                "prefix_cost",
                [
                    key_of(row, "budget")
                    for row in ([first, last] if last is not first else [first])
                ],
                f"{number(first['prefix_share'])} % of its tokens at "
                f"{budget_name(first['budget'])}",
            )
        )
    if not findings:
        return None
    smallest = min(row["budget"] for row in prefix_cost)
    low, high = number(min(shares)), number(max(shares))
    spread = f"{low} %" if low == high else f"{low} % to {high} %"
    return Topic(
        "How much does strict stopping pay for work it throws away?",
        f"{spread} of its tokens at {budget_name(smallest)}.",
        findings,
    )
