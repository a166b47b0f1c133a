"""What makes the difference at the smallest budget?"""

from collections.abc import Sequence
from functools import partial

from audit.report.findings.shared import (
    Finding,
    Row,
    Topic,
    by_archive,
    count_of,
    interval_words,
    key_of,
)
from audit.report.wording import TOKENS, budget_name, interval, number, signed
from audit.units import Unit


def dominant_effect(
    main: Sequence[Row], transitions: Sequence[Row], primary: str, *, unit: Unit = TOKENS
) -> Topic | None:
    """What the accuracy change at the smallest budget is made of."""
    said = partial(budget_name, unit=unit)
    findings = []
    from_abstention = 0
    changed = 0
    smallest = 0
    for archive, rows in by_archive(main).items():
        row = min(rows, key=lambda row: row["budget"])
        smallest = row["budget"]
        parts = [
            found
            for found in transitions
            if found["archive"] == archive
            and found["budget"] == row["budget"]
            and found["selector"] == primary
        ]
        if not parts:
            continue
        part = parts[0]
        effects = {
            "abstentions that became correct answers": part["abstain_to_correct"],
            "wrong answers that became correct": part["wrong_to_correct"],
            "correct answers that became wrong": part["correct_to_wrong"],
        }
        name, size = max(effects.items(), key=lambda item: item[1])
        begin = (
            f"At B = {said(smallest)} letting the last attempt finish moves accuracy from "
            f"{number(row['strict_accuracy'])} % to {number(row['advisory_accuracy'])} %: "
            f"{signed(row['delta'])} points{interval(row, 'delta')}, at a mean cost of "
            f"{number(row['advisory_cost_ratio'])} instead of {number(row['strict_cost_ratio'])} "
            f"times B"
        )
        if size == 0:
            sentence = f"{begin}. No replay changed between correct and incorrect."
        else:
            changed += 1
            from_abstention += name.startswith("abstentions")
            total = sum(effects.values())
            sentence = (
                f"{begin}; {interval_words(row)}. The largest part is {name} "
                f"({number(size)} of {number(total)} points that moved at all); abstain→correct "
                f"adds {number(part['abstain_to_correct'])}, wrong→correct adds "
                f"{number(part['wrong_to_correct'])}, correct→wrong takes away "
                f"{number(part['correct_to_wrong'])}."
            )
        findings.append(
            Finding(
                archive,
                sentence,
                "transitions",
                [key_of(part, "budget", "selector")],
                f"{signed(row['delta'])} points for {number(row['advisory_cost_ratio'])} times B"
                + (f", mostly {name}" if size else ""),
            )
        )
    if not findings:
        return None
    if not changed:
        summary = f"Nothing changed at {said(smallest)}: both rules select alike."
    elif from_abstention:
        summary = (
            f"Answers that strict stopping never had: abstain→correct is the largest effect "
            f"{count_of(from_abstention, len(findings))}."
        )
    else:
        summary = (
            f"Changed votes, not missing ones: abstain→correct is the largest effect "
            f"{count_of(0, len(findings))}."
        )
    return Topic(
        f"What makes the difference at the smallest budget, {said(smallest)}?",
        summary,
        findings,
    )
