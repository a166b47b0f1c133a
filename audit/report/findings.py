"""The findings in words: pure functions over table rows, each sentence with the rows behind it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from audit.report.wording import budget_name, interval, number, signed

Row = dict[str, Any]

# Two rules count as converged where the paired change stays below this many points.
CONVERGED_POINTS = 1.5
# A mean cost counts as comparable up to this ratio to the other rule's.
COMPARABLE_COST = 1.05


@dataclass(frozen=True)
class Finding:
    """One sentence about one archive, and where to check it."""

    archive: str
    sentence: str
    table: str
    keys: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Topic:
    """A question, its answer over all archives in a line, and one or more findings per archive."""

    question: str
    summary: str
    findings: list[Finding]


def contains_zero(row: Row, column: str) -> bool | None:
    """Whether the interval contains zero; None where there is no interval."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None:
        return None
    return bool(low <= 0 <= high)


def interval_words(row: Row, column: str = "delta", noun: str = "change") -> str:
    """What the interval allows one to say; one that contains zero never says equal."""
    zero = contains_zero(row, column)
    if zero is None:
        return "there is no interval"
    return f"the interval does not exclude no {noun}" if zero else "the interval excludes zero"


def _by_archive(rows: Sequence[Row]) -> dict[str, list[Row]]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["archive"], []).append(row)
    return groups


def _key(row: Row, *columns: str) -> str:
    return ", ".join(f"{column} = {row[column]}" for column in columns)


def _of(count: int, total: int) -> str:
    """How many archives, in words."""
    if total == 1:
        return "in the one archive" if count else "not in the one archive"
    if count == total:
        return "in both archives" if total == 2 else f"in all {total} archives"
    return f"in {count} of {total} archives" if count else f"in none of the {total} archives"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def dominant_effect(main: Sequence[Row], transitions: Sequence[Row], primary: str) -> Topic | None:
    """What the accuracy change at the smallest budget is made of."""
    findings = []
    from_abstention = 0
    changed = 0
    smallest = 0
    for archive, rows in _by_archive(main).items():
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
            f"At B = {budget_name(smallest)} letting the last attempt finish moves accuracy from "
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
                [_key(part, "budget", "selector")],
            )
        )
    if not findings:
        return None
    if not changed:
        summary = f"Nothing changed at {budget_name(smallest)}: both rules select alike."
    elif from_abstention:
        summary = (
            f"Answers that strict stopping never had: abstain→correct is the largest effect "
            f"{_of(from_abstention, len(findings))}."
        )
    else:
        summary = (
            f"Changed votes, not missing ones: abstain→correct is the largest effect "
            f"{_of(0, len(findings))}."
        )
    return Topic(
        f"What makes the difference at the smallest budget, {budget_name(smallest)}?",
        summary,
        findings,
    )


def convergence(main: Sequence[Row], threshold: float = CONVERGED_POINTS) -> Topic | None:
    """From which budget on the two rules stay within the threshold."""
    findings = []
    met = 0
    for archive, rows in _by_archive(main).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        last = rows[-1]
        start = None
        for row in reversed(rows):
            if abs(row["delta"]) >= threshold:
                break
            start = row
        if start is None:
            sentence = (
                f"The rules do not converge within the budgets replayed: at B = "
                f"{budget_name(last['budget'])}, the largest, accuracy still differs by "
                f"{signed(last['delta'])} points{interval(last, 'delta')}."
            )
            keys = [_key(last, "budget")]
        else:
            met += 1
            onward = [row for row in rows if row["budget"] >= start["budget"]]
            every = "" if len(onward) == 1 else " and every larger budget"
            listed = ", ".join(
                f"{signed(row['delta'])}{interval(row, 'delta')} at {budget_name(row['budget'])}"
                for row in onward
            )
            open_ended = [row for row in onward if contains_zero(row, "delta")]
            caution = (
                " Where an interval contains zero it does not exclude no change; it does not show"
                " that the rules are the same."
                if open_ended
                else ""
            )
            exhausted = [row for row in onward if row["strict_cost_ratio"] < 1]
            ran_out = (
                f" Strict pays less than B from {budget_name(exhausted[0]['budget'])} on: where the"
                " attempts ran out before the budget, the rules must agree."
                if exhausted
                else ""
            )
            sentence = (
                f"From B = {budget_name(start['budget'])}{every} the change stays below "
                f"{number(threshold, 1)} points: {listed}.{caution}{ran_out}"
            )
            keys = [_key(row, "budget") for row in onward]
        findings.append(Finding(archive, sentence, "main", keys))
    if not findings:
        return None
    verb = "They come" if met else "They do not come"
    where = f" {_of(met, len(findings))}" if met else " at any budget replayed"
    return Topic(
        "Where do the two rules converge?",
        f"{verb} within {number(threshold, 1)} points of each other{where}.",
        findings,
    )


def coverage_and_accuracy(main: Sequence[Row], selectors: Sequence[Row]) -> Topic | None:
    """Where a larger pool holds more correct answers and a selector returns fewer."""
    findings = []
    losing: set[str] = set()
    clear: set[str] = set()
    archives = _by_archive(main)
    for archive, rows in archives.items():
        coverage = {row["budget"]: row for row in rows}
        losses = [
            row
            for row in selectors
            if row["archive"] == archive
            and row["delta"] < 0
            and row["budget"] in coverage
            and coverage[row["budget"]]["delta_coverage"] > 0
        ]
        if losses:
            losing.add(archive)
            # The clearest loss stands for the others: an interval without zero first, then size.
            losses.sort(
                key=lambda row: (
                    contains_zero(row, "delta") is not False,
                    row["delta"],
                    row["budget"],
                    row["selector"],
                )
            )
            row = losses[0]
            if contains_zero(row, "delta") is False:
                clear.add(archive)
            others = len(losses) - 1
            also = f" So do {others:,} other pairs of budget and selector." if others > 1 else ""
            also = " So does one other pair of budget and selector." if others == 1 else also
            findings.append(
                Finding(
                    archive,
                    f"At B = {budget_name(row['budget'])} the selector {row['selector']} loses "
                    f"accuracy ({signed(row['delta'])} points{interval(row, 'delta')}) while "
                    f"coverage rises by {number(coverage[row['budget']]['delta_coverage'])}; "
                    f"{interval_words(row)}.{also}",
                    "selectors",
                    [_key(found, "budget", "selector") for found in losses],
                )
            )
        widest = max(rows, key=lambda row: row["gap_change"])
        if widest["gap_change"] > 0:
            sentence = (
                f"Coverage outruns the primary selector most at B = "
                f"{budget_name(widest['budget'])}: coverage {signed(widest['delta_coverage'])}, "
                f"accuracy {signed(widest['delta'])}, so the gap between what the pool holds and "
                f"what is returned widens by {number(widest['gap_change'])} points."
            )
        else:
            sentence = "At no budget does coverage rise more than the primary selector's accuracy."
        findings.append(Finding(archive, sentence, "main", [_key(widest, "budget")]))
    if not findings:
        return None
    if losing:
        summary = (
            f"A selector returns fewer correct answers from pools that hold more "
            f"{_of(len(losing), len(archives))}; "
            + (
                f"the interval excludes zero {_of(len(clear), len(archives))}."
                if clear
                else "no such interval excludes zero."
            )
        )
    else:
        summary = "No selector loses accuracy where coverage rises."
    return Topic("Where do coverage and accuracy part?", summary, findings)


def realized_cost(
    comparisons: Sequence[Row], interpolation: Sequence[Row], comparable: float = COMPARABLE_COST
) -> Topic | None:
    """Whether a small advisory budget scores higher than a larger strict one for no more tokens."""
    findings = []
    beaten: set[str] = set()
    clear: set[str] = set()
    archives = _by_archive(comparisons)
    for archive, rows in archives.items():
        better = [
            row
            for row in rows
            if row["strict_budget"] > row["advisory_budget"]
            and row["delta"] > 0
            and row["cost_ratio"] is not None
            and row["cost_ratio"] <= comparable
        ]
        if better:
            beaten.add(archive)
            row = max(better, key=lambda row: (row["delta"], -row["advisory_budget"]))
            if contains_zero(row, "delta") is False:
                clear.add(archive)
            zero = contains_zero(row, "cost_difference")
            cost = (
                "that cost interval contains zero, so a lower cost is not shown"
                if zero
                else "that cost interval has no zero in it"
                if zero is False
                else "there is no cost interval"
            )
            findings.append(
                Finding(
                    archive,
                    f"Advisory at B = {budget_name(row['advisory_budget'])} reaches "
                    f"{number(row['advisory_accuracy'])} % for {number(row['advisory_cost'], 0)} "
                    f"tokens on average; strict at the larger B = "
                    f"{budget_name(row['strict_budget'])} reaches "
                    f"{number(row['strict_accuracy'])} % for {number(row['strict_cost'], 0)}. "
                    f"Accuracy {signed(row['delta'])} points{interval(row, 'delta')}: "
                    f"{interval_words(row, noun='difference')}. "
                    f"Cost {signed(row['cost_difference'], 0)} "
                    f"tokens{interval(row, 'cost_difference', 0)}: {cost}.",
                    "cost_comparisons",
                    [_key(row, "advisory_budget", "strict_budget")],
                )
            )
        else:
            findings.append(
                Finding(
                    archive,
                    "No advisory budget scores higher than a larger strict budget at a lower or "
                    f"comparable mean cost (ratio up to {number(comparable)}).",
                    "cost_comparisons",
                )
            )
        near = [
            row
            for row in rows
            if row["strict_budget"] > row["advisory_budget"]
            and contains_zero(row, "delta")
            and abs(row["delta"]) < CONVERGED_POINTS
            and row["cost_ratio_high"] is not None
            and row["cost_ratio_high"] < 1
        ]
        if near:
            row = min(near, key=lambda row: (row["cost_ratio"], row["strict_budget"]))
            findings.append(
                Finding(
                    archive,
                    f"Advisory at B = {budget_name(row['advisory_budget'])} spends "
                    f"{number(row['cost_ratio'])}{interval(row, 'cost_ratio')} times the tokens of "
                    f"strict at B = {budget_name(row['strict_budget'])}, with an accuracy "
                    f"difference of {signed(row['delta'])} points{interval(row, 'delta')}: "
                    f"{interval_words(row, noun='difference')}, and does not show that the two "
                    "are equivalent.",
                    "cost_comparisons",
                    [_key(row, "advisory_budget", "strict_budget")],
                )
            )
        between = sorted(
            (row for row in interpolation if row["archive"] == archive),
            key=lambda row: row["advisory_budget"],
        )
        if between:
            row = between[0]
            side = "above" if row["delta"] > 0 else "below" if row["delta"] < 0 else "on"
            distance = f"{number(abs(row['delta']))} points {side}" if row["delta"] else "on"
            findings.append(
                Finding(
                    archive,
                    f"At its mean cost, advisory {budget_name(row['advisory_budget'])} lies "
                    f"{distance} the straight line between strict "
                    f"{budget_name(row['left_budget'])} and {budget_name(row['right_budget'])} "
                    f"({signed(row['delta'])}{interval(row, 'delta')}); "
                    f"{interval_words(row, noun='difference')}. "
                    "A strict curve that bends between those points would change this.",
                    "interpolation",
                    [_key(row, "advisory_budget")],
                )
            )
    if not findings:
        return None
    summary = (
        "An advisory budget scores higher than a larger strict one for fewer or about as many "
        f"tokens {_of(len(beaten), len(archives))}; the accuracy interval excludes zero "
        f"{_of(len(clear), len(archives))}."
        if beaten
        else "No advisory budget scores higher than a larger strict one at comparable mean cost."
    )
    return Topic("What changes when realized cost is compared instead of B?", summary, findings)


def unfinished_prefixes(prefix_cost: Sequence[Row]) -> Topic | None:
    """What share of strict spending went into attempts it cut."""
    findings = []
    shares = []
    for archive, rows in _by_archive(prefix_cost).items():
        rows = sorted(rows, key=lambda row: row["budget"])
        known = [row for row in rows if row["prefix_share"] is not None]
        if not known:
            continue
        first, last = known[0], known[-1]
        shares.append(first["prefix_share"])
        sentence = (
            f"Of the tokens strict stopping pays at B = {budget_name(first['budget'])}, "
            f"{number(first['prefix_share'])} % go into attempts cut at the budget "
            f"({number(first['prefix_tokens'], 0)} tokens per replay)"
        )
        if last is not first:
            sentence += f"; at {budget_name(last['budget'])} it is {number(last['prefix_share'])} %"
        findings.append(
            Finding(
                archive,
                sentence + ". None of it can give an answer under a rule that reads only finished "
                "attempts.",
                "prefix_cost",
                [_key(row, "budget") for row in ([first, last] if last is not first else [first])],
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


def truncation(floor: Sequence[Row]) -> Topic | None:
    """Replays in which the first attempt alone outlasts the budget and was cut when recorded."""
    findings = []
    hit = 0
    for archive, rows in _by_archive(floor).items():
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
                Finding(archive, text + ".", "truncation_floor", [_key(last, "budget")])
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
                [_key(last, "budget")],
            )
        )
    if not findings:
        return None
    summary = (
        "Some replays begin with an attempt that fills the largest budget alone and has no answer: "
        f"{_of(hit, len(findings))}."
        if hit
        else "None begins with an attempt that fills the largest budget alone without an answer."
    )
    return Topic("Which replays can neither rule answer?", summary, findings)


def grading(
    grades: Sequence[Row], repairs: Sequence[Row], archives_with_references: Sequence[str] = ()
) -> Topic | None:
    """How far a repair of inconsistent labels moves the change."""
    findings = []
    largest = 0.0
    repaired = {row["archive"]: row for row in repairs}
    for archive, rows in _by_archive(grades).items():
        row = max(rows, key=lambda row: abs(row["change"]))
        largest = max(largest, abs(row["change"]))
        counts = repaired.get(archive)
        groups = counts["conflict_groups"] if counts else 0
        adjusted = counts["adjusted_labels"] if counts else 0
        if archive not in archives_with_references:
            sentence = (
                "No accepted references were loaded for its problems, so no label can be repaired; "
                f"{_conflicts(groups)}."
            )
        elif adjusted == 0:
            sentence = f"The repair adjusts no label; {_conflicts(groups)}."
        else:
            resolved = counts["resolved_groups"] if counts else 0
            sentence = (
                f"The repair adjusts {adjusted:,} label{'' if adjusted == 1 else 's'}; "
                f"{_conflicts(groups)}{f', {resolved:,} of them settled' if groups else ''}; "
                f"the change moves by at most "
                f"{number(abs(row['change']), 3)} points (at B = {budget_name(row['budget'])}). "
                "It cannot find a wrong answer labelled correct."
            )
        findings.append(Finding(archive, sentence, "grading", [_key(row, "budget")]))
    if not findings:
        return None
    summary = (
        f"Repairing labels moves a change by at most {number(largest, 3)} points."
        if largest
        else "Repairing labels moves no change."
        if archives_with_references
        else "That cannot be told: no accepted references were loaded."
    )
    return Topic("Does the grading decide the result?", summary, findings)


def _conflicts(groups: int) -> str:
    if groups == 0:
        return "no answer carries both labels"
    return (
        "1 answer carries both labels" if groups == 1 else f"{groups:,} answers carry both labels"
    )


def control_checks(controls: Sequence[Row]) -> Topic | None:
    """Whether the two controls, which must agree everywhere, do."""
    if not controls:
        return None
    failed = [row for row in controls if row["disagreements"]]
    total = sum(row["comparisons"] for row in controls)
    if failed:
        summary = "A control fails: do not use these numbers."
        sentence = "; ".join(
            f"{row['control']} with {row['selector']}: {row['disagreements']:,} of "
            f"{row['comparisons']:,} comparisons disagree"
            for row in failed
        )
    else:
        summary = "Yes, without exception."
        sentence = (
            f"Where both rules must select the same attempt they do, in all {total:,} comparisons. "
            "This checks the pairing; it says nothing about equal cost."
        )
    keys = [_key(row, "control", "selector") for row in failed]
    return Topic(
        "Do the controls hold?",
        summary,
        [Finding("all archives", _capital(sentence) + ("." if failed else ""), "controls", keys)],
    )


def all_topics(
    tables: dict[str, list[Row]], primary: str, archives_with_references: Sequence[str] = ()
) -> list[Topic]:
    """Every topic that the tables support, in reading order."""
    main = tables.get("main", [])
    topics = [
        dominant_effect(main, tables.get("transitions", []), primary),
        convergence(main),
        realized_cost(tables.get("cost_comparisons", []), tables.get("interpolation", [])),
        coverage_and_accuracy(main, tables.get("selectors", [])),
        unfinished_prefixes(tables.get("prefix_cost", [])),
        truncation(tables.get("truncation_floor", [])),
        grading(
            tables.get("grading", []), tables.get("grade_repairs", []), archives_with_references
        ),
        control_checks(tables.get("controls", [])),
    ]
    return [topic for topic in topics if topic is not None]
