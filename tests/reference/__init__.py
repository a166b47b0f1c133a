"""The whole protocol once more, slowly: every replay walks its attempts, every pool votes anew.

Nothing here comes from the package. Sums stay integers until the last division, so that a
difference from the engine is the engine's and not a rounding error's.
"""

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy

Row = dict[str, Any]

RULES = ("advisory", "strict")
SELECTORS = ("archive_majority", "majority", "max_logprob")
KEYS = {
    "attempts": "archive competition question_id seed",
    "grades": "archive competition question_id seed",
    "orders": "competition question_id bank_size repeat position",
    "prefixes": "archive competition question_id repeat position",
    "replays": "archive competition question_id repeat cap budget rule",
    "selections": "archive competition question_id repeat cap budget rule selector",
    "main": "archive budget",
    "curves": "archive budget rule",
    "selectors": "archive budget selector",
    "by_competition": "archive competition budget",
    "transitions": "archive budget selector",
    "selection_events": "archive budget selector competition question_id repeat",
    "cost_comparisons": "archive advisory_budget strict_budget",
    "interpolation": "archive advisory_budget",
    "prefix_cost": "archive budget",
    "pools": "archive budget",
    "cap_sensitivity": "archive budget cap",
    "grading": "archive budget",
    "grade_conflicts": "archive competition question_id answer",
    "grade_repairs": "archive",
    "length_strata": "archive stratum budget",
    "truncation_floor": "archive budget",
    "source_audit": "archive competition",
    "controls": "control selector",
}

# ---------------------------------------------------------------------------------------- answers

# Unicode's White_Space property, which (unlike str.isspace) leaves out U+001C to U+001F.
WHITE_SPACE = {
    chr(code)
    for first, last in (
        *((0x09, 0x0D), (0x20, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680)),
        *((0x2000, 0x200A), (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F)),
        (0x3000, 0x3000),
    )
    for code in range(first, last + 1)
}
SPACING = {r"\,", r"\;", r"\:", r"\!", "~", r"\quad", r"\qquad"}
DELIMITERS = {"$", r"\(", r"\)", r"\[", r"\]"}
DELIMITER_PAIRS = (
    (["$", "$"], ["$", "$"]),
    (["$"], ["$"]),
    ([r"\("], [r"\)"]),
    ([r"\["], [r"\]"]),
)
WRAPPERS = {r"\text", r"\textbf", r"\textit", r"\textrm", r"\mathrm", r"\mathbf"}
WRAPPERS |= {r"\mathit", r"\mathsf", r"\mbox", r"\boxed"}


def tex_tokens(text: str) -> list[str]:
    """Characters, except that a backslash takes a command word or one character with it."""
    tokens = []
    at = 0
    while at < len(text):
        end = at + 1
        if text[at] == "\\":
            while end < len(text) and text[end].isascii() and text[end].isalpha():
                end += 1
            if end == at + 1:
                end += 1
        tokens.append(text[at:end])
        at = end
    return tokens


def closing_brace(tokens: list[str], opening: int) -> int | None:
    """Where the brace opened at `opening` closes, or None when it never does."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at] == "{") - (tokens[at] == "}")
        if depth == 0:
            return at
    return None


def slow_box(text: str | None) -> str | None:
    r"""The raw body of the last \boxed{...}, or None when there is none or it is unfinished."""
    tokens = tex_tokens(text or "")
    for at in reversed(range(len(tokens) - 1)):
        if tokens[at] == r"\boxed" and tokens[at + 1] == "{":
            end = closing_brace(tokens, at + 1)
            return None if end is None else "".join(tokens[at + 2 : end])
    return None


def is_spacing(token: str) -> bool:
    """White space, a backslash before white space, or a LaTeX spacing command."""
    return token in SPACING or token.removeprefix("\\") in WHITE_SPACE


def mark_list_commas(text: str, mark: str) -> str:
    r"""Replace each comma that has spacing other than \! beside it, for it separates a list."""
    tokens = tex_tokens(text)
    marked = list(tokens)
    for at, token in enumerate(tokens):
        beside = tokens[max(at - 1, 0) : at] + tokens[at + 1 : at + 2]
        if token == "," and any(is_spacing(other) and other != r"\!" for other in beside):
            marked[at] = mark
    return "".join(marked)


def simplify(tokens: list[str]) -> list[str]:
    """Steps 1 to 4, once."""
    tokens = [token for token in tokens if not is_spacing(token)]
    for opening, closing in DELIMITER_PAIRS:
        width = len(opening)
        is_around = tokens[:width] == opening and tokens[-width:] == closing
        inside = tokens[width:-width]
        if is_around and len(tokens) >= 2 * width and not DELIMITERS & set(inside):
            tokens = inside
    tokens = [token for token in tokens if token not in (r"\left", r"\right")]
    tokens = [r"\frac" if token in (r"\dfrac", r"\tfrac") else token for token in tokens]
    if tokens and tokens[0] in (r"\displaystyle", r"\textstyle"):
        tokens = tokens[1:]
    start = 1 if tokens and tokens[0] in WRAPPERS else 0
    is_braced = tokens[start : start + 1] == ["{"]
    if is_braced and closing_brace(tokens, start) == len(tokens) - 1:
        tokens = tokens[start + 1 : -1]
    return tokens


def slow_normalize(raw: str | None) -> str | None:
    """The normalized form of an answer, or None when nothing is left of it."""
    if raw is None:
        return None
    # A stand-in for list commas that the text itself does not contain.
    mark = next(chr(code) for code in range(0xE000, 0xF8FF) if chr(code) not in raw)
    text = mark_list_commas(raw, mark)
    while True:
        tokens = tex_tokens(text)
        # Commands are whole as they were written; only then is the result read again.
        while (simpler := simplify(tokens)) != tokens:
            tokens = simpler
        if "".join(tokens) == text:
            break
        text = "".join(tokens)
    if re.fullmatch(r"[+-]?([0-9]+|[0-9]{1,3}((,|\{,\})[0-9]{3})+)", text):
        digits = "".join(c for c in text if c in "0123456789").lstrip("0") or "0"
        return "-" + digits if text[0] == "-" and digits != "0" else digits
    return text.replace(mark, ",") or None


# ------------------------------------------------------------------------ attempts, pools, replays


def read_attempts(rows: list[Row]) -> list[Row]:
    """The attempts with their labels, sorted by key; slot is the rank of the seed in its bank."""
    rows = sorted(rows, key=lambda row: [row[column] for column in KEYS["attempts"].split()])
    accepted: dict[tuple, set] = {}
    for row in rows:
        forms = accepted.setdefault((row["competition"], row["question_id"]), set())
        forms |= {slow_normalize(form) for form in row.get("references") or []} - {None}
    attempts: list[Row] = []
    for row in rows:
        bank = (row["archive"], row["competition"], row["question_id"])
        raw = slow_box(row["text"]) if row.get("text") is not None else row.get("boxed_answer")
        answer = slow_normalize(raw)
        logprob = row.get("mean_logprob")
        correct = bool(row["correct"])
        attempts.append(
            {
                "archive": row["archive"],
                "competition": row["competition"],
                "question_id": row["question_id"],
                "seed": row["seed"],
                "slot": sum(other["bank"] == bank for other in attempts),
                "prompt_tokens": row.get("prompt_tokens") or 0,
                "completion_tokens": row["completion_tokens"],
                "finish_reason": row["finish_reason"],
                "answer": answer,
                "archive_answer": slow_normalize(row.get("archive_answer")),
                "mean_logprob": logprob if logprob is not None and math.isfinite(logprob) else None,
                "eligible": row["finish_reason"] == "stop" and answer is not None,
                "bank": bank,
                "correct": correct,
                "repaired_correct": correct or answer in accepted[bank[1:]],
            }
        )
    return attempts


def ballot(attempt: Row, selector: str) -> str | None:
    """The answer this attempt brings to this selector, or None when it is not eligible for it."""
    if attempt["finish_reason"] != "stop":
        return None
    if selector == "archive_majority":
        return attempt["archive_answer"]
    if selector == "max_logprob" and attempt["mean_logprob"] is None:
        return None
    return attempt["answer"]


def select(pool: list[Row], selector: str) -> Row | None:
    """The selected attempt of a pool in order; max() keeps the earliest of equals."""
    candidates = [attempt for attempt in pool if ballot(attempt, selector) is not None]
    if not candidates:
        return None
    if selector == "max_logprob":
        return max(candidates, key=lambda attempt: attempt["mean_logprob"])
    ballots = [ballot(attempt, selector) for attempt in candidates]
    return max(candidates, key=lambda attempt: ballots.count(ballot(attempt, selector)))


@dataclass
class Run:
    """What one controller launched, got back and paid."""

    launched: list[Row]
    pool: list[Row]
    spent: int
    prefix: int


def walk(order: list[Row], cap: int, budget: int, rule: str) -> Run:
    """Run the controller over the attempts in order; it knows only what it has spent so far."""
    run = Run([], [], 0, 0)
    for attempt in order[:cap]:
        if run.spent >= budget:
            break
        run.launched.append(attempt)
        cost = attempt["completion_tokens"]
        if rule == "strict" and run.spent + cost > budget:
            run.prefix = budget - run.spent
            run.spent = budget
            break
        run.spent += cost
        run.pool.append(attempt)
    return run


# ------------------------------------------------------------------------------------- statistics


def quantile(values: Sequence[Any], level: Fraction) -> float | None:
    """The quantile with linear interpolation, None of nothing."""
    if not values:
        return None
    ranked = sorted(values)
    place = (len(ranked) - 1) * level
    left = math.floor(place)
    right = min(left + 1, len(ranked) - 1)
    return float(ranked[left] + (ranked[right] - ranked[left]) * float(place - left))


def bounds(values: Sequence[Any]) -> tuple[float | None, float | None]:
    """The 95 % interval of replicate values."""
    return quantile(values, Fraction(25, 1000)), quantile(values, Fraction(975, 1000))


def dot(weights: list[int], values: list[int]) -> int:
    """A weighted sum of integers."""
    return sum(map(operator.mul, weights, values))


def minus(left: list[int], right: list[int]) -> list[int]:
    """The differences, problem by problem."""
    return [a - b for a, b in zip(left, right, strict=True)]


def estimate(
    name: str, weights: list[list[int]], above: list[int], below: list[int], scale: int = 1
) -> Row:
    """A ratio of two sums over problems and its interval, without replicates of no problem."""
    values = [scale * dot(w, above) / dot(w, below) for w in weights if sum(w) > 0]
    low, high = bounds(values)
    return {name: scale * sum(above) / sum(below), f"{name}_low": low, f"{name}_high": high}


def neighbours(costs: dict[int, int], cost: int) -> tuple[int, int] | None:
    """The adjacent strict budgets around a cost, None when it lies outside all of them."""
    pairs = list(itertools.pairwise(sorted(costs, key=lambda budget: (costs[budget], budget))))
    for left, right in pairs:
        if costs[left] < costs[right] and costs[left] <= cost <= costs[right]:
            return left, right
    if pairs and set(costs.values()) == {cost}:
        return pairs[0]
    return None


def interpolate(
    costs: dict[int, int], scores: dict[int, int], pair: tuple[int, int], cost: int
) -> tuple[Fraction, Fraction]:
    """The weight of the right neighbour and the interpolated score."""
    left, right = pair
    gap = costs[right] - costs[left]
    weight = Fraction(cost - costs[left], gap) if gap else Fraction(0)
    return weight, (1 - weight) * scores[left] + weight * scores[right]


# ------------------------------------------------------------------------------ one archive's part


@dataclass
class Archive:
    """One archive's replays, ready for its rows in the tables."""

    name: str
    banks: dict[tuple, list[Row]]  # bank -> attempts by seed, banks in order of problem
    sequences: dict[tuple, list[Row]]  # (*bank, repeat) -> attempts in order
    cells: dict[tuple, Row]  # (*bank, repeat, cap, budget, rule, selector or None) -> row
    weights: list[list[int]]  # per replicate, how often each problem was drawn
    budgets: list[int]
    caps: list[int]
    primary_cap: int
    primary_selector: str
    orders: int

    @property
    def attempts(self) -> list[Row]:
        return [attempt for members in self.banks.values() for attempt in members]

    @property
    def selectors(self) -> list[str]:
        """The selectors that have an eligible attempt here."""
        return [s for s in SELECTORS if any(ballot(a, s) is not None for a in self.attempts)]

    @property
    def replays(self) -> list[int]:
        """Random orders per problem, the denominator of every mean."""
        return [self.orders] * len(self.banks)

    def pooled(self, budget: int, rule: str, selector: str | None = None) -> list[Row]:
        """Every random-order replay at the primary cap, or what a selector made of it."""
        return [
            self.cells[*bank, repeat, self.primary_cap, budget, rule, selector]
            for bank in self.banks
            for repeat in range(1, self.orders + 1)
        ]

    def sums(self, column: str, budget: int, rule: str, selector: str | None = None) -> list[int]:
        """Per problem, the sum of a column over its random orders."""
        values = [int(row[column]) for row in self.pooled(budget, rule, selector)]
        return [sum(values[at : at + self.orders]) for at in range(0, len(values), self.orders)]

    def right(self, budget: int, rule: str, selector: str | None = None) -> list[int]:
        """Per problem, in how many random orders the selected answer is correct."""
        return self.sums("correct", budget, rule, selector or self.primary_selector)

    def cost(self, budget: int, rule: str) -> list[int]:
        return self.sums("completion_cost", budget, rule)

    def gain(self, budget: int) -> list[int]:
        return minus(self.right(budget, "advisory"), self.right(budget, "strict"))

    def mean(self, values: list[int], scale: int = 1) -> float:
        return scale * sum(values) / sum(self.replays)

    def estimate(self, name: str, values: list[int], scale: int = 1) -> Row:
        return estimate(name, self.weights, values, self.replays, scale)


def main(archive: Archive, budget: int) -> Iterator[Row]:
    gain = archive.gain(budget)
    covered = [archive.sums("covered", budget, rule) for rule in ("strict", "advisory")]
    more_covered = minus(covered[1], covered[0])
    costs = [archive.mean(archive.cost(budget, rule)) for rule in ("strict", "advisory")]
    yield {
        "strict_accuracy": archive.mean(archive.right(budget, "strict"), 100),
        "advisory_accuracy": archive.mean(archive.right(budget, "advisory"), 100),
        **archive.estimate("delta", gain, 100),
        "strict_coverage": archive.mean(covered[0], 100),
        "advisory_coverage": archive.mean(covered[1], 100),
        "delta_coverage": archive.mean(more_covered, 100),
        "gap_change": archive.mean(minus(more_covered, gain), 100),
        "strict_cost": costs[0],
        "advisory_cost": costs[1],
        "strict_cost_ratio": costs[0] / budget,
        "advisory_cost_ratio": costs[1] / budget,
    }


def curves(archive: Archive, budget: int) -> Iterator[Row]:
    allowed = [budget * count for count in archive.replays]
    for rule in RULES:
        cost = archive.cost(budget, rule)
        yield {
            "rule": rule,
            **archive.estimate("accuracy", archive.right(budget, rule), 100),
            **archive.estimate("coverage", archive.sums("covered", budget, rule), 100),
            "cost": archive.mean(cost),
            **estimate("cost_ratio", archive.weights, cost, allowed),
        }


def selectors(archive: Archive, budget: int) -> Iterator[Row]:
    for selector in archive.selectors:
        strict = archive.right(budget, "strict", selector)
        advisory = archive.right(budget, "advisory", selector)
        yield {
            "selector": selector,
            "strict_accuracy": archive.mean(strict, 100),
            "advisory_accuracy": archive.mean(advisory, 100),
            **archive.estimate("delta", minus(advisory, strict), 100),
        }


def by_competition(archive: Archive, budget: int) -> Iterator[Row]:
    strict, advisory = archive.right(budget, "strict"), archive.right(budget, "advisory")
    for competition in sorted({bank[1] for bank in archive.banks}):
        inside = [int(bank[1] == competition) for bank in archive.banks]
        replays = archive.orders * sum(inside)
        yield {
            "competition": competition,
            "strict_accuracy": 100 * dot(inside, strict) / replays,
            "advisory_accuracy": 100 * dot(inside, advisory) / replays,
            "delta": 100 * dot(inside, minus(advisory, strict)) / replays,
        }


def changes(archive: Archive, budget: int, selector: str, label: str) -> tuple[list, list]:
    """The fixes and the harms as pairs of strict and advisory selections."""
    strict, advisory = (archive.pooled(budget, rule, selector) for rule in ("strict", "advisory"))
    pairs = list(zip(strict, advisory, strict=True))
    fixes = [(s, a) for s, a in pairs if not s[label] and a[label]]
    harms = [(s, a) for s, a in pairs if s[label] and not a[label]]
    return fixes, harms


def transitions(archive: Archive, budget: int) -> Iterator[Row]:
    for selector in archive.selectors:
        fixes, harms = changes(archive, budget, selector, "correct")
        repaired_fixes, repaired_harms = changes(archive, budget, selector, "repaired_correct")
        replays = sum(archive.replays)
        yield {
            "selector": selector,
            "replays": replays,
            "abstain_to_correct": 100 * sum(s["abstained"] for s, a in fixes) / replays,
            "wrong_to_correct": 100 * sum(not s["abstained"] for s, a in fixes) / replays,
            "correct_to_wrong": 100 * len(harms) / replays,
            "fixes": len(fixes),
            "harms": len(harms),
            "harms_changing_answer": sum(s["answer"] != a["answer"] for s, a in harms),
            "repaired_fixes": len(repaired_fixes),
            "repaired_harms": len(repaired_harms),
        }


def selection_events(archive: Archive, budget: int) -> Iterator[Row]:
    for selector in archive.selectors:
        fixes, harms = changes(archive, budget, selector, "correct")
        for strict, advisory in fixes + harms:
            yield {
                "selector": selector,
                "competition": strict["competition"],
                "question_id": strict["question_id"],
                "repeat": strict["repeat"],
                "strict_seed": strict["seed"],
                "strict_answer": strict["answer"],
                "advisory_seed": advisory["seed"],
                "advisory_answer": advisory["answer"],
                "strict_correct": strict["correct"],
                "advisory_correct": advisory["correct"],
                "strict_repaired": strict["repaired_correct"],
                "advisory_repaired": advisory["repaired_correct"],
            }


def cost_comparisons(archive: Archive, budget: int) -> Iterator[Row]:
    for other in archive.budgets:
        ends = ((budget, "advisory"), (other, "strict"))
        cost, other_cost = (archive.cost(*end) for end in ends)
        prompt, other_prompt = (archive.sums("prompt_cost", *end) for end in ends)
        right, other_right = (archive.right(*end) for end in ends)
        total = list(map(operator.add, cost, prompt))
        other_total = list(map(operator.add, other_cost, other_prompt))
        yield {
            "strict_budget": other,
            "advisory_cost": archive.mean(cost),
            "strict_cost": archive.mean(other_cost),
            **archive.estimate("cost_difference", minus(cost, other_cost)),
            **estimate("cost_ratio", archive.weights, cost, other_cost),
            "advisory_total": archive.mean(total),
            "strict_total": archive.mean(other_total),
            **archive.estimate("total_difference", minus(total, other_total)),
            "advisory_accuracy": archive.mean(right, 100),
            "strict_accuracy": archive.mean(other_right, 100),
            **archive.estimate("delta", minus(right, other_right), 100),
        }


def interpolation(archive: Archive, budget: int) -> Iterator[Row]:
    """Totals stand for means: within one replicate all means have the same denominator."""
    strict_cost = {b: archive.cost(b, "strict") for b in archive.budgets}
    strict_right = {b: archive.right(b, "strict") for b in archive.budgets}
    cost, right = archive.cost(budget, "advisory"), archive.right(budget, "advisory")

    def at(weights: list[int]) -> tuple | None:
        """Neighbours, weight, interpolated accuracy and difference for these problem counts."""
        costs = {b: dot(weights, strict_cost[b]) for b in archive.budgets}
        scores = {b: dot(weights, strict_right[b]) for b in archive.budgets}
        pair = neighbours(costs, dot(weights, cost))
        if pair is None:
            return None
        weight, score = interpolate(costs, scores, pair, dot(weights, cost))
        percent = Fraction(100, dot(weights, archive.replays))
        delta = percent * (dot(weights, right) - score)
        return pair, float(weight), float(percent * score), float(delta)

    point = at([1] * len(cost))
    if point is None:
        return
    drawn = [at(weights) for weights in archive.weights if sum(weights) > 0]
    inside = [each for each in drawn if each is not None]
    low, high = bounds([each[3] for each in inside])
    yield {
        "advisory_cost": archive.mean(cost),
        "left_budget": point[0][0],
        "right_budget": point[0][1],
        "weight": point[1],
        "advisory_accuracy": archive.mean(right, 100),
        "interpolated_accuracy": point[2],
        "delta": point[3],
        "delta_low": low,
        "delta_high": high,
        "switched": sum(each[0] != point[0] for each in inside),
        "extrapolated": len(drawn) - len(inside),
    }


def prefix_cost(archive: Archive, budget: int) -> Iterator[Row]:
    tokens = archive.sums("prefix_tokens", budget, "strict")
    yield {
        "prefix_tokens": archive.mean(tokens),
        "prefix_share": 100 * sum(tokens) / sum(archive.cost(budget, "strict")),
    }


def pools(archive: Archive, budget: int) -> Iterator[Row]:
    strict = [row["eligible"] for row in archive.pooled(budget, "strict")]
    advisory = [row["eligible"] for row in archive.pooled(budget, "advisory")]
    returned = [row["returned"] for row in archive.pooled(budget, "advisory")]
    costs = [row["completion_cost"] for row in archive.pooled(budget, "advisory")]
    p95 = quantile(costs, Fraction(95, 100))
    yield {
        "strict_eligible": archive.mean(strict),
        "advisory_eligible": archive.mean(advisory),
        "strict_abstention": 100 * strict.count(0) / len(strict),
        "advisory_abstention": 100 * advisory.count(0) / len(advisory),
        "advisory_one_return": 100 * returned.count(1) / len(returned),
        "advisory_p95": p95,
        "p95_ratio": None if p95 is None else p95 / budget,
        "advisory_empty": advisory.count(0),
        "advisory_single": advisory.count(1),
        "advisory_multi": sum(count >= 2 for count in advisory),
    }


def grading(archive: Archive, budget: int) -> Iterator[Row]:
    gain = archive.gain(budget)
    strict, advisory = (
        archive.sums("repaired_correct", budget, rule, archive.primary_selector)
        for rule in ("strict", "advisory")
    )
    repaired_gain = minus(advisory, strict)
    yield {
        "source_delta": archive.mean(gain, 100),
        "repaired_delta": archive.mean(repaired_gain, 100),
        "change": archive.mean(minus(repaired_gain, gain), 100),
    }


def length_strata(archive: Archive, budget: int) -> Iterator[Row]:
    ranked = []
    for at, (bank, members) in enumerate(archive.banks.items()):
        median = quantile([attempt["completion_tokens"] for attempt in members], Fraction(1, 2))
        ranked.append((median, bank, at))
    places = [at for _, _, at in sorted(ranked)]
    half = len(places) // 2
    gain = archive.gain(budget)
    extra = minus(archive.cost(budget, "advisory"), archive.cost(budget, "strict"))
    for stratum, inside in (("shorter", places[:half]), ("longer", places[half:])):
        if inside:
            weights = [[drawn[at] for at in inside] for drawn in archive.weights]
            replays = [archive.orders] * len(inside)
            yield {
                "stratum": stratum,
                "problems": len(inside),
                **estimate("delta", weights, [gain[at] for at in inside], replays, 100),
                "extra_cost": sum(extra[at] for at in inside) / sum(replays),
            }


def truncation_floor(archive: Archive, budget: int) -> Iterator[Row]:
    firsts = [order[0] for (*_, repeat), order in archive.sequences.items() if repeat > 0]
    advisory = [row["eligible"] for row in archive.pooled(budget, "advisory")]
    yield {
        "replays": len(firsts),
        "capped_first": sum(
            first["finish_reason"] == "length" and first["completion_tokens"] >= budget
            for first in firsts
        ),
        "advisory_abstention": 100 * advisory.count(0) / len(advisory),
    }


def cap_sensitivity(archive: Archive, budget: int) -> Iterator[Row]:
    for cap in archive.caps:
        gains = []  # per order, canonical first: the accuracy change summed over problems
        for repeat in range(archive.orders + 1):
            right = {"strict": 0, "advisory": 0}
            for bank, rule in itertools.product(archive.banks, RULES):
                selected = archive.cells[*bank, repeat, cap, budget, rule, archive.primary_selector]
                right[rule] += selected["correct"]
            gains.append(right["advisory"] - right["strict"])
        problems = len(archive.banks)
        random = [100 * gain / problems for gain in gains[1:]]
        yield {
            "cap": cap,
            "delta": 100 * sum(gains[1:]) / (problems * len(random)) if random else None,
            "canonical_delta": 100 * gains[0] / problems,
            "order_min": min(random, default=None),
            "order_max": max(random, default=None),
        }


def source_audit(archive: Archive) -> Iterator[Row]:
    for competition in sorted({bank[1] for bank in archive.banks}):
        records = [a for a in archive.attempts if a["competition"] == competition]
        boxed = [a for a in records if a["answer"] is not None]
        yield {
            "competition": competition,
            "records": len(records),
            "no_box": len(records) - len(boxed),
            "length": sum(a["finish_reason"] == "length" for a in records),
            "parser_agreement": sum(a["answer"] == a["archive_answer"] for a in boxed),
            "median_tokens": quantile([a["completion_tokens"] for a in records], Fraction(1, 2)),
        }


def grade_conflicts(archive: Archive) -> Iterator[Row]:
    for (_, competition, question), members in archive.banks.items():
        for answer in {attempt["answer"] for attempt in members} - {None}:
            group = [attempt for attempt in members if attempt["answer"] == answer]
            labels = [attempt["correct"] for attempt in group]
            if True in labels and False in labels:
                yield {
                    "competition": competition,
                    "question_id": question,
                    "answer": answer,
                    "correct_count": labels.count(True),
                    "incorrect_count": labels.count(False),
                    "resolved": len({attempt["repaired_correct"] for attempt in group}) == 1,
                }


def grade_repairs(archive: Archive) -> Iterator[Row]:
    resolved = [conflict["resolved"] for conflict in grade_conflicts(archive)]
    yield {
        "adjusted_labels": sum(a["correct"] != a["repaired_correct"] for a in archive.attempts),
        "conflict_groups": len(resolved),
        "resolved_groups": resolved.count(True),
    }


PER_BUDGET: tuple[Callable[[Archive, int], Iterator[Row]], ...] = (
    main, curves, selectors, by_competition, transitions, selection_events, cost_comparisons,
    interpolation, prefix_cost, pools, grading, length_strata, truncation_floor,
)  # fmt: skip
PER_ARCHIVE = (source_audit, grade_conflicts, grade_repairs)


def controls(archives: list[Archive]) -> Iterator[Row]:
    """Both rules select the same attempt when the budget is a completion boundary."""
    tally = {(name, s): [0, 0] for name in ("completed_prefix", "aligned_cost") for s in SELECTORS}
    for archive in archives:
        step = math.gcd(*archive.budgets)
        for order, budget in itertools.product(archive.sequences.values(), archive.budgets):
            boundary = walk(order, archive.primary_cap, budget, "advisory").spent
            aligned = [attempt | {"completion_tokens": step} for attempt in order]
            for selector in archive.selectors:
                for name, attempts, limit in (
                    ("completed_prefix", order, boundary),
                    ("aligned_cost", aligned, budget),
                ):
                    pools = [walk(attempts, archive.primary_cap, limit, r).pool for r in RULES]
                    chosen = [select(pool, selector) for pool in pools]
                    tally[name, selector][0] += 1
                    tally[name, selector][1] += chosen[0] is not chosen[1]
    for (name, selector), (comparisons, disagreements) in tally.items():
        if comparisons:
            yield {
                "control": name,
                "selector": selector,
                "comparisons": comparisons,
                "disagreements": disagreements,
            }


# -------------------------------------------------------------------------------------- all of it


def compute(
    rows: list[Row],
    *,
    budgets: Sequence[int],
    caps: Sequence[int],
    primary_cap: int,
    orders: int,
    order_seed: int = 20260904,
    primary_selector: str = "majority",
    replicates: int,
    bootstrap_seed: int = 20260905,
) -> dict[str, list[Row]]:
    """Every relation and table of the interface (prefix_boxes aside) as rows sorted by key."""
    budgets = sorted(set(budgets))
    caps = sorted({*caps, primary_cap})
    out: dict[str, list[Row]] = {name: [] for name in KEYS}
    banks: dict[tuple, list[Row]] = {}
    for attempt in read_attempts(rows):
        banks.setdefault(attempt["bank"], []).append(attempt)
        labels = {name: attempt[name] for name in ("correct", "repaired_correct")}
        key = {column: attempt[column] for column in KEYS["grades"].split()}
        out["grades"].append(key | labels)
        hidden = {"bank", *labels}
        out["attempts"].append({k: v for k, v in attempt.items() if k not in hidden})
    problems = sorted({bank[1:] for bank in banks})
    competitions = sorted({competition for competition, _ in problems})

    slots: dict[tuple, list[int]] = {}
    for competition, question, size in {(*bank[1:], len(banks[bank])) for bank in banks}:
        for repeat in range(orders + 1):
            seeds = [order_seed, competitions.index(competition), question, repeat]
            rng = numpy.random.default_rng(numpy.random.SeedSequence(seeds))
            permutation = rng.permutation(size).tolist() if repeat > 0 else list(range(size))
            slots[competition, question, size, repeat] = permutation
            for position, slot in enumerate(permutation, 1):
                out["orders"].append(
                    {
                        "competition": competition,
                        "question_id": question,
                        "bank_size": size,
                        "repeat": repeat,
                        "position": position,
                        "slot": slot,
                    }
                )

    sequences: dict[tuple, list[Row]] = {}
    cells: dict[tuple, Row] = {}
    for bank, repeat in itertools.product(banks, range(orders + 1)):
        members = banks[bank]
        order = [members[slot] for slot in slots[*bank[1:], len(members), repeat]]
        sequences[*bank, repeat] = order
        place = {"archive": bank[0], "competition": bank[1], "question_id": bank[2]}
        place["repeat"] = repeat
        for position in range(min(len(order), max(caps)) + 1):
            prefix = order[:position]
            votes = [ballot(attempt, primary_selector) for attempt in prefix]
            out["prefixes"].append(
                {
                    **place,
                    "position": position,
                    "seed": prefix[-1]["seed"] if prefix else None,
                    "cost": prefix[-1]["completion_tokens"] if prefix else 0,
                    "cumulative_cost": sum(attempt["completion_tokens"] for attempt in prefix),
                    "eligible_count": len(votes) - votes.count(None),
                }
            )
        for cap, budget, rule in itertools.product(caps, budgets, RULES):
            run = walk(order, cap, budget, rule)
            eligible = [a for a in run.pool if ballot(a, primary_selector) is not None]
            here = place | {"cap": cap, "budget": budget, "rule": rule}
            cells[*here.values(), None] = here | {
                "launched": len(run.launched),
                "returned": len(run.pool),
                "eligible": len(eligible),
                "completion_cost": run.spent,
                "prompt_cost": sum(attempt["prompt_tokens"] for attempt in run.launched),
                "prefix_tokens": run.prefix,
                "covered": any(attempt["correct"] for attempt in eligible),
            }
            out["replays"].append(cells[*here.values(), None])
            for selector in SELECTORS:
                chosen = select(run.pool, selector)
                cells[*here.values(), selector] = here | {
                    "selector": selector,
                    "abstained": chosen is None,
                    "seed": chosen["seed"] if chosen else None,
                    "answer": ballot(chosen, selector) if chosen else None,
                    "correct": chosen["correct"] if chosen else False,
                    "repaired_correct": chosen["repaired_correct"] if chosen else False,
                }
                out["selections"].append(cells[*here.values(), selector])

    drawn: dict[tuple, list[int]] = {}  # problem -> its count in each replicate
    rng = numpy.random.default_rng(bootstrap_seed)
    for competition in competitions:
        stratum = [problem for problem in problems if problem[0] == competition]
        n = len(stratum)
        draws = rng.multinomial(n, [1 / n] * n, size=replicates)
        drawn |= {problem: draws[:, column].tolist() for column, problem in enumerate(stratum)}

    archives = []
    for name in sorted({bank[0] for bank in banks}):
        mine = {bank: banks[bank] for bank in sorted(banks) if bank[0] == name}
        weights = [[drawn[bank[1:]][at] for bank in mine] for at in range(replicates)]
        archive = Archive(
            name,
            mine,
            {key: order for key, order in sequences.items() if key[0] == name},
            {key: row for key, row in cells.items() if key[0] == name},
            weights,
            budgets,
            caps,
            primary_cap,
            primary_selector,
            orders,
        )
        archives.append(archive)
        for whole in PER_ARCHIVE:
            out[whole.__name__] += [{"archive": name, **row} for row in whole(archive)]
        for table in (*(PER_BUDGET if orders > 0 else ()), cap_sensitivity):
            across = table in (cost_comparisons, interpolation)
            for budget in budgets:
                key = {"archive": name, "advisory_budget" if across else "budget": budget}
                out[table.__name__] += [key | row for row in table(archive, budget)]
    out["controls"] += controls(archives)
    for name, found in out.items():
        keys = KEYS[name].split()
        found.sort(key=operator.itemgetter(*keys))
        out[name] = [{key: row[key] for key in keys} | row for row in found]
    return out
