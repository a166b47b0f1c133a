"""Equal cost: the strict budget that pays what an advisory budget pays, solved in every replicate.

With the walks' whole costs S in ascending order, the strict cost of a budget B is the sum of
min(B, S): a straight line between two neighbouring S. So a cost is found on some of these kinks
first, then on the walks between two of them. Whole numbers throughout: nothing is rounded.
"""

from collections.abc import Iterator
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from audit.engine.bootstrap import Weighed, drawn_counts, picked

MATCHED = {"matched_replicates": Weighed("matching_targets", ("archive", "budget"), ())}
# Cells of a matrix: replicates by problems, kinks or walks.
CELLS = 2_000_000
# Doubles hold every whole number up to this.
EXACT = 2**53

SCHEMA = pa.schema(
    [
        ("archive", pa.string()),
        ("advisory_budget", pa.int64()),
        ("replicate", pa.int32()),
        ("replays", pa.int64()),
        ("advisory_cost", pa.int64()),
        ("advisory_correct", pa.int64()),
        ("strict_budget", pa.int64()),
        ("strict_cost", pa.int64()),
        ("strict_correct", pa.int64()),
        ("is_exhausted", pa.bool_()),
    ]
)


Columns = dict[str, np.ndarray]
# What is read, and in which order.
READ = {
    "matching_targets": "budget, problem_id",
    "matching_walks": "whole_cost, place",
    "matching_answers": "budget, place",
}


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


class Answers(NamedTuple):
    """Where the strict rule's correct answers change, by ascending budget."""

    budgets: np.ndarray
    places: np.ndarray
    changes: np.ndarray
    # Correct answers of each problem after none, `step`, twice `step` … of them.
    step: int
    before: np.ndarray


class Archive(NamedTuple):
    """What is solved for one archive; a row of the totals per problem, a column per budget."""

    name: str
    is_graded: bool
    orders: int
    problems: np.ndarray
    budgets: np.ndarray
    costs: np.ndarray
    correct: np.ndarray
    walks: Walks
    answers: Answers


def matched_replicates(con: duckdb.DuckDBPyConnection, where: str = "true") -> pa.Table:
    """For each archive that meets a condition, advisory budget and replicate: the strict budget."""
    archives = list(_archives(con, where))
    tables, first = [], 0
    for counts in drawn_counts(con) if archives else ():
        for archive in archives:
            # Rows of problems, and of kinks at every budget.
            cells = max(len(archive.problems), len(archive.budgets) * len(archive.walks.kinks))
            size = max(1, CELLS // cells)
            tables += [
                _solved(archive, counts[at : at + size], first + at)
                for at in range(0, len(counts), size)
            ]
        first += len(counts)
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def _archives(con: duckdb.DuckDBPyConnection, where: str) -> Iterator[Archive]:
    """The archives, each with the rows that are its own."""
    graded = con.execute(f"from graded_archives where {where}").fetchnumpy()
    labelled = dict(zip(graded["archive"], graded["is_graded"], strict=True))
    read = {name: _by_archive(con, name, key, where) for name, key in READ.items()}
    nothing = {name: np.zeros(0, np.int64) for name in ("budget", "place", "correct_change")}
    for name, totals in read["matching_targets"].items():
        budgets = np.unique(totals["budget"])
        shape = (len(budgets), -1)
        problems = totals["problem_id"].reshape(shape)[0] - 1
        ends = read["matching_walks"][name]
        answers = read["matching_answers"].get(name, nothing)
        yield Archive(
            name=name,
            is_graded=bool(labelled[name]),
            orders=int(totals["replays"][0]),
            problems=problems,
            budgets=budgets,
            costs=totals["completion_cost"].reshape(shape).T,
            correct=totals["correct"].reshape(shape).T,
            walks=arrange(ends["place"], ends["whole_cost"], len(problems)),
            answers=_answers(answers, len(problems)),
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


def _solved(archive: Archive, counts: np.ndarray, first: int) -> pa.Table:
    """Replicates of an archive; those that draw none of its problems have no row."""
    weights = picked(counts, archive.problems)
    drawn = weights.sum(1) > 0
    weights, replicates = weights[drawn], np.flatnonzero(drawn) + first
    targets = product(weights, archive.costs)
    found, paid, exhausted = solve(archive.walks, weights, targets)
    budgets = len(archive.budgets)
    cells = {
        "archive": np.full(targets.size, archive.name),
        "advisory_budget": np.tile(archive.budgets, len(weights)),
        "replicate": np.repeat(replicates, budgets),
        "replays": np.repeat(weights.sum(1).astype(np.int64) * archive.orders, budgets),
        "advisory_cost": targets.ravel(),
        "strict_budget": found.ravel(),
        "strict_cost": paid.ravel(),
        "is_exhausted": exhausted.ravel(),
        # Without labels nothing is correct or incorrect.
        "advisory_correct": None,
        "strict_correct": None,
    }
    if archive.is_graded:
        cells["advisory_correct"] = product(weights, archive.correct).ravel()
        cells["strict_correct"] = correct_at(archive.answers, weights, found).ravel()
    arrays = [
        pa.nulls(targets.size, field.type)
        if cells[field.name] is None
        else pa.array(cells[field.name], field.type)
        for field in SCHEMA
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def product(weights: np.ndarray, totals: np.ndarray) -> np.ndarray:
    """Whole numbers times whole numbers: as doubles, which are fast, wherever those are exact."""
    largest = weights.sum(1).max(initial=0) * np.abs(totals).max(initial=0)
    if largest < EXACT:
        return (weights @ totals.astype(np.float64)).astype(np.int64)
    return weights.astype(np.int64) @ totals


def arrange(places: np.ndarray, costs: np.ndarray, problems: int) -> Walks:
    """The walks with their kinks: about the square root of their number, the last one included."""
    order = np.lexsort((places, costs))
    places, costs = places[order], costs[order]
    is_new = np.append(True, (costs[1:] != costs[:-1]) | (places[1:] != places[:-1]))
    orders = np.diff(np.append(np.flatnonzero(is_new), len(costs)))
    places, costs = places[is_new], costs[is_new]
    step = max(1, int(np.sqrt(len(costs))), len(costs) * problems // CELLS)
    kinks = np.unique(np.concatenate([[0], costs[::step], costs[-1:]]))
    kink_costs = np.zeros((problems, len(kinks)), np.int64)
    kink_open = np.zeros((problems, len(kinks)), np.int64)
    for n, kink in enumerate(kinks):
        np.add.at(kink_costs[:, n], places, orders * np.minimum(costs, kink))
        np.add.at(kink_open[:, n], places, orders * (costs > kink))
    return Walks(places, costs, orders, kinks, kink_costs, kink_open)


def solve(
    walks: Walks, weights: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest budgets that cost no more than the targets, their costs, what is exhausted.

    A row of `weights` counts the problems of a replicate; `targets` has its costs, a row each.
    """
    at_kinks = product(weights, walks.kink_costs)
    open_at_kinks = product(weights, walks.kink_open)
    exhausted = targets >= at_kinks[:, -1:]
    budgets, paid = np.zeros_like(targets), np.zeros_like(targets)
    brackets = (at_kinks[:, None, :] <= targets[:, :, None]).sum(2) - 1
    for kink in np.unique(brackets[~exhausted]):
        every_row, every_column = np.nonzero((brackets == kink) & ~exhausted)
        low = np.searchsorted(walks.costs, walks.kinks[kink], "right")
        high = np.searchsorted(walks.costs, walks.kinks[kink + 1], "left")
        # A line for the kink itself, then one from the end of each walk in the bracket.
        starts = np.concatenate([walks.kinks[kink : kink + 1], walks.costs[low:high]])
        size = max(1, CELLS // len(starts))
        for at in range(0, len(every_row), size):
            rows, columns = every_row[at : at + size], every_column[at : at + size]
            ending = weights[np.ix_(rows, walks.places[low:high])].astype(np.int64)
            ending *= walks.orders[low:high]
            ended = np.pad(np.cumsum(ending, axis=1), ((0, 0), (1, 0)))
            spent = np.pad(np.cumsum(ending * walks.costs[low:high], axis=1), ((0, 0), (1, 0)))
            still_open = open_at_kinks[rows, kink][:, None] - ended
            begun = at_kinks[rows, kink] - open_at_kinks[rows, kink] * walks.kinks[kink]
            costs = begun[:, None] + spent + still_open * starts
            wanted = targets[rows, columns]
            last = (costs <= wanted[:, None]).sum(1) - 1
            each = np.arange(len(rows))
            more = (wanted - costs[each, last]) // still_open[each, last]
            budgets[rows, columns] = starts[last] + more
            paid[rows, columns] = costs[each, last] + more * still_open[each, last]
    largest = np.zeros(weights.shape[1], np.int64)
    np.maximum.at(largest, walks.places, walks.costs)
    whole = np.where(weights > 0, largest, 0).max(axis=1)[:, None]
    return np.where(exhausted, whole, budgets), np.where(exhausted, targets, paid), exhausted


def _answers(read: Columns, problems: int) -> Answers:
    """The changes, with each problem's correct answers before some of them."""
    budgets, places, changes = (read[name] for name in ("budget", "place", "correct_change"))
    step = max(1, int(np.sqrt(len(budgets))), len(budgets) * problems // CELLS)
    before = np.zeros((problems, len(budgets) // step + 2), np.int64)
    np.add.at(before, (places, np.arange(len(budgets)) // step + 1), changes)
    return Answers(budgets, places, changes, step, np.cumsum(before, axis=1))


def correct_at(answers: Answers, weights: np.ndarray, budgets: np.ndarray) -> np.ndarray:
    """The strict rule's correct answers in each replicate, at the budgets of its row."""
    changed = np.searchsorted(answers.budgets, budgets, "right")
    steps = changed // answers.step
    correct = np.take_along_axis(product(weights, answers.before), steps, axis=1)
    for step in np.unique(steps):
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
