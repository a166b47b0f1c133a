"""What makes the difference at the smallest budget?"""

from collections.abc import Sequence

from audit.report.data import Row, by_archive
from audit.report.findings.shared import Finding, Topic, count_of, interval_words, key_of, topic
from audit.report.wording import TOKENS, budget_name, interval, number, signed
from audit.units import Unit

EFFECTS = {
    "abstain_to_correct": "abstentions that became correct answers",
    "wrong_to_correct": "wrong answers that became correct",
    "correct_to_wrong": "correct answers that became wrong",
}


def dominant_effect(
    main: Sequence[Row], transitions: Sequence[Row], primary: str, *, unit: Unit = TOKENS
) -> Topic | None:
    """What the accuracy change at the smallest budget is made of."""
    parts = {
        (row["archive"], row["budget"]): row for row in transitions if row["selector"] == primary
    }
    findings, largest = [], []
    budget = ""
    for archive, rows in by_archive(main).items():
        row = min(rows, key=lambda row: row["budget"])
        budget = budget_name(row["budget"], unit)
        if (archive, row["budget"]) in parts:
            part = parts[archive, row["budget"]]
            effect = max(EFFECTS, key=lambda name: part[name])
            largest += [effect] if part[effect] else []
            findings.append(_finding(row, part, effect, budget))
    where = count_of(largest.count("abstain_to_correct"), len(findings))
    if not largest:
        summary = f"Nothing changed at {budget}: both rules select alike."
    elif "abstain_to_correct" in largest:
        summary = (
            "Answers that strict stopping never had: abstain→correct is the largest effect "
            f"{where}."
        )
    else:
        summary = f"Changed votes, not missing ones: abstain→correct is the largest effect {where}."
    question = f"What makes the difference at the smallest budget, {budget}?"
    return topic(question, summary, findings)


def _finding(row: Row, part: Row, effect: str, budget: str) -> Finding:
    """One archive's change at the smallest budget, and its largest part."""
    sentence = (
        f"At B = {budget} letting the last attempt finish moves accuracy from "
        f"{number(row['strict_accuracy'])} % to {number(row['advisory_accuracy'])} %: "
        f"{signed(row['delta'])} points{interval(row, 'delta')}, at a mean cost of "
        f"{number(row['advisory_cost_ratio'])} instead of {number(row['strict_cost_ratio'])} "
        "times B"
    )
    short = f"{signed(row['delta'])} points for {number(row['advisory_cost_ratio'])} times B"
    if part[effect]:
        total = sum(part[name] for name in EFFECTS)
        short += f", mostly {EFFECTS[effect]}"
        sentence += (
            f"; {interval_words(row)}. The largest part is {EFFECTS[effect]} "
            f"({number(part[effect])} of {number(total)} points that moved at all); "
            f"abstain→correct adds {number(part['abstain_to_correct'])}, wrong→correct adds "
            f"{number(part['wrong_to_correct'])}, correct→wrong takes away "
            f"{number(part['correct_to_wrong'])}."
        )
    else:
        sentence += ". No replay changed between correct and incorrect."
    keys = [key_of(part, "budget", "selector")]
    return Finding(row["archive"], sentence, "transitions", keys, short)
