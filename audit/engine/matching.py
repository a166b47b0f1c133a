"""Equal cost: the strict budget that pays what an advisory budget pays, solved in every replicate.

With the walks' whole costs S in ascending order, the strict cost of a budget B is the sum of
min(B, S): a straight line between two neighbouring S. So a cost is found on some of these kinks
first, then on the walks between two of them. Whole numbers throughout: nothing is rounded.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from audit.engine.batches import batches
from audit.engine.bootstrap import Counts, Replicates, picked
from audit.text import literal

MATCHED = ("replicate_matches",)
# Cells of a matrix: replicates by problems, kinks or walks.
CELLS = 2_000_000
# Walks, and values of replicates, that are held at a time.
WALKS_AT_A_TIME = 2_000_000
VALUES_AT_A_TIME = 16_000_000
# Up to so many walks or changes, each of them is a kink: looking between them costs more.
FEW = 400
# Problems among which the costliest that is drawn is looked for at a time.
AT_FIRST = 100
# Doubles hold every whole number up to this.
EXACT = 2**53

Columns = dict[str, np.ndarray]
# What is read, and in which order.
READ = {
    "matching_targets": "budget, problem_id",
    "matching_walks": "whole_cost, place",
    "matching_answers": "budget, place",
}
VALUES = (
    "replays",
    "advisory_cost",
    "advisory_correct",
    "strict_budget",
    "strict_cost",
    "strict_correct",
    "is_exhausted",
)


class Walks(NamedTuple):
    """The random orders of an archive at the primary cap, by ascending whole cost."""

    places: np.ndarray
    costs: np.ndarray
    # How many orders of a problem cost the same.
    orders: np.ndarray
    # Budgets from 0 to the largest cost, and for each problem its strict cost and its walks that
    # go on at each of them.
    kinks: np.ndarray
    kink_costs: np.ndarray
    kink_open: np.ndarray
    # The problems from the costliest on, and their largest costs.
    costliest: np.ndarray
    largest: np.ndarray


class Answers(NamedTuple):
    """Where the strict rule's correct answers change, by ascending budget."""

    budgets: np.ndarray
    places: np.ndarray
    changes: np.ndarray
    # Correct answers of each problem after none, `step`, twice `step` … of them.
    step: int
    before: np.ndarray


class Archive(NamedTuple):
    """What is solved for one archive."""

    name: str
    is_graded: bool
    orders: int
    problems: np.ndarray
    budgets: np.ndarray
    walks: Walks
    answers: Answers
    # A column per problem, and a row each for its advisory costs and correct answers at the
    # budgets, its strict costs and open walks at the kinks, its correct answers before changes.
    totals: np.ndarray


def match(con: duckdb.DuckDBPyConnection) -> Iterator[Replicates]:
    """For each archive, advisory budget and replicate: the strict budget of equal cost."""
    counts = Counts(con)
    ((threads,),) = con.execute("select current_setting('threads')").fetchall()
    for name in READ:
        # What is behind these views takes long, and some archives are read at a time. What an
        # interrupted search has left is of other replays.
        con.execute(f"drop table if exists temp.main.{name}")
        con.execute(f"create temp table {name} as from {name} order by archive")
    try:
        with ThreadPoolExecutor(threads) as pool:
            for where in _portions(con, counts.replicates):
                archives = list(_archives(con, where, counts.problems))
                found = [
                    {
                        name: np.zeros((len(one.budgets), counts.replicates), np.int64)
                        for name in VALUES
                    }
                    for one in archives
                ]
                for first, block in counts.blocks():
                    some = repeat(block), repeat(first)
                    list(pool.map(_solve_block, archives, found, *some))
                for archive, values in zip(archives, found, strict=True):
                    yield _replicates(archive, values)
    finally:
        for name in READ:
            con.execute(f"drop table temp.main.{name}")


def nothing_matched() -> Replicates:
    """The replicates of no key."""
    keys = pa.table(
        {"archive": pa.array([], pa.string()), "advisory_budget": pa.array([], pa.int64())}
    )
    values = {name: np.zeros((0, 1), np.int64) for name in VALUES}
    return Replicates("replicate_matches", keys, np.ones(1), values, {})


def _portions(con: duckdb.DuckDBPyConnection, replicates: int) -> Iterator[str]:
    """Conditions that each hold for as many neighbouring archives as are held at a time."""
    rows = con.execute(
        "select archive, count(*) from matching_walks group by archive order by archive"
    ).fetchall()
    ((budgets,),) = con.execute("select count(*) from budgets").fetchall()
    values = budgets * replicates * len(VALUES)
    for some in batches(rows, lambda row: (row[1], values), (WALKS_AT_A_TIME, VALUES_AT_A_TIME)):
        yield f"archive between {literal(some[0][0])} and {literal(some[-1][0])}"


def _replicates(archive: Archive, values: Columns) -> Replicates:
    """The values of an archive; without labels nothing is correct or incorrect."""
    keys = pa.table(
        {"archive": [archive.name] * len(archive.budgets), "advisory_budget": archive.budgets}
    )
    unknown = np.full(len(archive.budgets), not archive.is_graded)
    is_null = {"advisory_correct": unknown, "strict_correct": unknown}
    return Replicates("replicate_matches", keys, values["replays"][0], values, is_null)


def _archives(con: duckdb.DuckDBPyConnection, where: str, draws: int) -> Iterator[Archive]:
    """The archives, each with the rows that are its own; no replicate draws more than `draws`."""
    graded = con.execute(f"from graded_archives where {where}").fetchnumpy()
    labelled = dict(zip(graded["archive"], graded["is_graded"], strict=True))
    read = {name: _by_archive(con, name, key, where) for name, key in READ.items()}
    nothing = {name: np.zeros(0, np.int64) for name in ("budget", "place", "correct_change")}
    for name, totals in read["matching_targets"].items():
        budgets = np.unique(totals["budget"])
        shape = (len(budgets), -1)
        problems = totals["problem_id"].reshape(shape)[0] - 1
        ends = read["matching_walks"][name]
        walks = arrange(ends["place"], ends["whole_cost"], len(problems))
        answers = _answers(read["matching_answers"].get(name, nothing), len(problems))
        costs, correct = (totals[of].reshape(shape).T for of in ("cost", "correct"))
        parts = (costs, correct, walks.kink_costs, walks.kink_open, answers.before)
        yield Archive(
            name=name,
            is_graded=bool(labelled[name]),
            orders=int(totals["replays"][0]),
            problems=problems,
            budgets=budgets,
            walks=walks,
            answers=answers,
            totals=fit(np.concatenate([part.T for part in parts]), draws),
        )


def _by_archive(
    con: duckdb.DuckDBPyConnection, relation: str, key: str, where: str
) -> dict[str, Columns]:
    """The columns of a relation, archive by archive, its rows in the order of a key."""
    query = f"select * replace (archive::varchar as archive) from {relation} where {where}"
    columns = con.execute(f"{query} order by archive, {key}").fetchnumpy()
    names = columns.pop("archive")
    first = np.flatnonzero(np.append(len(names) > 0, names[1:] != names[:-1]))
    parts = {column: np.split(values, first[1:]) for column, values in columns.items()}
    return {
        names[at]: {column: split[n] for column, split in parts.items()}
        for n, at in enumerate(first)
    }


def _solve_block(archive: Archive, found: Columns, counts: np.ndarray, first: int) -> None:
    """Fill in the values of some replicates."""
    weights = picked(counts, archive.problems)
    budgets, kinks = len(archive.budgets), len(archive.walks.kinks)
    costs, correct, at_kinks, open_at_kinks, before = np.split(
        product(weights, archive.totals), np.cumsum([budgets, budgets, kinks, kinks]), axis=1
    )
    matched, paid, exhausted = solve(archive.walks, weights, costs, at_kinks, open_at_kinks)
    values = {
        "replays": np.repeat(weights.sum(1)[:, None] * archive.orders, budgets, axis=1),
        "advisory_cost": costs,
        "strict_budget": matched,
        "strict_cost": paid,
        "is_exhausted": exhausted,
    }
    if archive.is_graded:
        values["advisory_correct"] = correct
        values["strict_correct"] = correct_at(archive.answers, weights, matched, before)
    for name, cells in values.items():
        found[name][:, first : first + len(weights)] = cells.T


def product(weights: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """A row per replicate, in whole numbers; totals are doubles wherever those are exact."""
    if totals.dtype == np.float64:
        return (weights @ totals.T).astype(np.int64)
    return weights.astype(np.int64) @ totals.T


def fit(totals: np.ndarray, most: int) -> np.ndarray:
    """Totals as doubles, which are fast, if those hold every sum of as many problems."""
    largest = most * int(np.abs(totals).max(initial=0))
    return totals.astype(np.float64) if largest < EXACT else totals


def arrange(places: np.ndarray, costs: np.ndarray, problems: int) -> Walks:
    """The walks with their kinks: all, or about the square root of their number with the last."""
    order = np.lexsort((places, costs))
    places, costs = places[order], costs[order]
    is_new = np.append(True, (costs[1:] != costs[:-1]) | (places[1:] != places[:-1]))
    orders = np.diff(np.append(np.flatnonzero(is_new), len(costs)))
    places, costs = places[is_new], costs[is_new]
    kinks = np.unique(np.concatenate([[0], costs[:: _step(len(costs), problems)], costs[-1:]]))
    kink_costs = np.zeros((problems, len(kinks)), np.int64)
    kink_open = np.zeros((problems, len(kinks)), np.int64)
    by_place = np.argsort(places, kind="stable")
    own, starts = np.unique(places[by_place], return_index=True)
    size = max(1, CELLS // len(costs))
    for at in range(0, len(kinks), size):
        some = kinks[at : at + size, None]
        paid = orders[by_place] * np.minimum(costs[by_place], some)
        going_on = orders[by_place] * (costs[by_place] > some)
        kink_costs[own, at : at + size] = np.add.reduceat(paid, starts, axis=1).T
        kink_open[own, at : at + size] = np.add.reduceat(going_on, starts, axis=1).T
    largest = np.zeros(problems, np.int64)
    np.maximum.at(largest, places, costs)
    costliest = np.argsort(-largest, kind="stable")
    return Walks(places, costs, orders, kinks, kink_costs, kink_open, costliest, largest[costliest])


def _step(changes: int, problems: int) -> int:
    """Of how many changes one is looked at first."""
    if changes <= FEW:
        return 1
    return max(int(np.sqrt(changes)), changes * problems // CELLS)


def solve(
    walks: Walks,
    weights: np.ndarray,
    targets: np.ndarray,
    at_kinks: np.ndarray,
    open_at_kinks: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest budgets that cost no more than the targets, their costs, what is exhausted.

    A row of each is a replicate: how often it draws the problems, the costs to be matched, and
    what it pays, and how many walks go on, at the kinks.
    """
    exhausted = targets >= at_kinks[:, -1:]
    brackets = _last_within(at_kinks, targets)
    # From a kink a straight line goes on to the next walk that ends.
    begun = np.take_along_axis(at_kinks, brackets, 1)
    still_open = np.take_along_axis(open_at_kinks, brackets, 1)
    more = (targets - begun) // np.maximum(still_open, 1)
    budgets, paid = walks.kinks[brackets] + more, begun + more * still_open
    lows = np.searchsorted(walks.costs, walks.kinks, "right")
    highs = np.append(np.searchsorted(walks.costs, walks.kinks[1:], "left"), lows[-1])
    is_between = (highs > lows)[brackets] & ~exhausted
    for kink in np.unique(brackets[is_between]):
        every_row, every_column = np.nonzero((brackets == kink) & is_between)
        some = slice(lows[kink], highs[kink])
        # A line for the kink itself, then one from the end of each walk in the bracket.
        starts = np.concatenate([walks.kinks[kink : kink + 1], walks.costs[some]])
        size = max(1, CELLS // len(starts))
        for at in range(0, len(every_row), size):
            rows, columns = every_row[at : at + size], every_column[at : at + size]
            ending = weights[np.ix_(rows, walks.places[some])].astype(np.int64)
            ending *= walks.orders[some]
            ended = np.pad(np.cumsum(ending, axis=1), ((0, 0), (1, 0)))
            spent = np.pad(np.cumsum(ending * walks.costs[some], axis=1), ((0, 0), (1, 0)))
            still_open = open_at_kinks[rows, kink][:, None] - ended
            begun = at_kinks[rows, kink] - open_at_kinks[rows, kink] * walks.kinks[kink]
            costs = begun[:, None] + spent + still_open * starts
            wanted = targets[rows, columns]
            last = (costs <= wanted[:, None]).sum(1) - 1
            each = np.arange(len(rows))
            more = (wanted - costs[each, last]) // still_open[each, last]
            budgets[rows, columns] = starts[last] + more
            paid[rows, columns] = costs[each, last] + more * still_open[each, last]
    if exhausted.any():
        whole = _largest_drawn(walks, weights)[:, None]
        budgets = np.where(exhausted, whole, budgets)
    return budgets, np.where(exhausted, targets, paid), exhausted


def _last_within(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """In each row, which never falls, the last column that is no more than what is wanted."""
    low, high = np.zeros(wanted.shape, np.int64), np.full(wanted.shape, rows.shape[1])
    for _ in range(rows.shape[1].bit_length()):
        middle = (low + high) // 2
        is_within = np.take_along_axis(rows, middle, 1) <= wanted
        low, high = np.where(is_within, middle, low), np.where(is_within, high, middle)
    return low


def _largest_drawn(walks: Walks, weights: np.ndarray) -> np.ndarray:
    """The largest cost among the problems that each replicate draws, the costliest tried first."""
    found = np.zeros(len(weights), np.int64)
    rows = np.arange(len(weights))
    for at in range(0, len(walks.largest), AT_FIRST):
        if not len(rows):
            break
        some = slice(at, at + AT_FIRST)
        is_drawn = weights[np.ix_(rows, walks.costliest[some])] > 0
        has_drawn = is_drawn.any(axis=1)
        found[rows[has_drawn]] = walks.largest[some][is_drawn[has_drawn].argmax(axis=1)]
        rows = rows[~has_drawn]
    return found


def _answers(read: Columns, problems: int) -> Answers:
    """The changes, with each problem's correct answers before some of them."""
    budgets, places, changes = (read[name] for name in ("budget", "place", "correct_change"))
    step = _step(len(budgets), problems)
    before = np.zeros((problems, len(budgets) // step + 2), np.int64)
    np.add.at(before, (places, np.arange(len(budgets)) // step + 1), changes)
    return Answers(budgets, places, changes, step, np.cumsum(before, axis=1))


def correct_at(
    answers: Answers, weights: np.ndarray, budgets: np.ndarray, before: np.ndarray
) -> np.ndarray:
    """The strict rule's correct answers in each replicate, at the budgets of its row."""
    changed = np.searchsorted(answers.budgets, budgets, "right")
    steps = changed // answers.step
    correct = np.take_along_axis(before, steps, axis=1)
    for step in np.unique(steps) if answers.step > 1 else ():
        every_row, every_column = np.nonzero(steps == step)
        some = slice(step * answers.step, (step + 1) * answers.step)
        size = max(1, CELLS // answers.step)
        for at in range(0, len(every_row), size):
            rows, columns = every_row[at : at + size], every_column[at : at + size]
            gained = weights[np.ix_(rows, answers.places[some])] * answers.changes[some]
            added = np.pad(np.cumsum(gained, axis=1), ((0, 0), (1, 0)))
            last = changed[rows, columns] - some.start
            correct[rows, columns] += added[np.arange(len(rows)), last].astype(np.int64)
    return correct
