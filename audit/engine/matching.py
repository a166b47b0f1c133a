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

# Replicates that are solved at a time; memory grows with it, with the budgets and the problems.
BATCH = 500

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
    "matching_walks": "whole_cost, walk_id",
    "matching_answers": "budget, place",
}


class Walks(NamedTuple):
    """The random orders of an archive at the primary cap, by ascending whole cost."""

    places: np.ndarray
    costs: np.ndarray
    # Budgets from 0 to the largest cost, and for each problem its strict cost and its walks that
    # go on at each of them.
    kinks: np.ndarray
    kink_costs: np.ndarray
    kink_open: np.ndarray


def matched_replicates(con: duckdb.DuckDBPyConnection) -> pa.Table:
    """For each archive, advisory budget and replicate the strict budget of the same cost."""
    graded = con.execute("select archive, is_graded from graded_archives order by archive")
    archives = graded.fetchall()
    # Read once for all archives: what is behind them takes longer than the search itself.
    read = {name: _columns(con, name, key) for name, key in READ.items()}
    tables = [
        batch
        for archive, is_graded in archives
        for batch in _archive_batches(
            con, {name: _of(columns, archive) for name, columns in read.items()}, archive, is_graded
        )
    ]
    return pa.concat_tables(tables) if tables else SCHEMA.empty_table()


def _archive_batches(
    con: duckdb.DuckDBPyConnection, read: dict[str, Columns], archive: str, is_graded: bool
) -> Iterator[pa.Table]:
    """One archive, some replicates at a time."""
    totals = read["matching_targets"]
    if not len(totals["budget"]):
        return
    budgets = np.unique(totals["budget"])
    advisory_costs = totals["completion_cost"].reshape(len(budgets), -1).T
    advisory_correct = totals["correct"].reshape(len(budgets), -1).T
    problems, orders = len(advisory_costs), int(totals["replays"][0])
    ends = read["matching_walks"]
    walks = arrange(ends["place"], ends["whole_cost"], problems)
    levels, level_correct = _strict_levels(read["matching_answers"], problems)
    drawn = con.sql(
        "select * from archive_weights where archive = $1 order by replicate", params=[archive]
    ).to_arrow_table()
    replicates = drawn["replicate"].to_numpy()
    counts = drawn["counts"].combine_chunks().flatten().to_numpy().astype(np.int64)
    counts = counts.reshape(-1, problems)
    for first in range(0, len(counts), BATCH):
        weights = counts[first : first + BATCH]
        targets = weights @ advisory_costs
        found, paid, exhausted = solve(walks, weights, targets)
        level = np.searchsorted(levels, found, "right") - 1
        strict_correct = np.stack(
            [(weights * level_correct[level[:, n]]).sum(1) for n in range(len(budgets))], axis=1
        )
        cells = {
            "archive": np.full(targets.size, archive),
            "advisory_budget": np.tile(budgets, len(weights)),
            "replicate": np.repeat(replicates[first : first + BATCH], len(budgets)),
            "replays": np.repeat(weights.sum(1) * orders, len(budgets)),
            "advisory_cost": targets.ravel(),
            "strict_budget": found.ravel(),
            "strict_cost": paid.ravel(),
            "is_exhausted": exhausted.ravel(),
            # Without labels nothing is correct or incorrect.
            "advisory_correct": (weights @ advisory_correct).ravel() if is_graded else None,
            "strict_correct": strict_correct.ravel() if is_graded else None,
        }
        arrays = [
            pa.nulls(targets.size, field.type)
            if cells[field.name] is None
            else pa.array(cells[field.name], field.type)
            for field in SCHEMA
        ]
        yield pa.Table.from_arrays(arrays, schema=SCHEMA)


def _columns(con: duckdb.DuckDBPyConnection, relation: str, key: str) -> Columns:
    """The columns of a relation, its rows in the order of a key."""
    return con.execute(f"from {relation} order by {key}").fetchnumpy()


def _of(columns: Columns, archive: str) -> Columns:
    """The rows of one archive."""
    own = columns["archive"] == archive
    return {name: values[own] for name, values in columns.items()}


def arrange(places: np.ndarray, costs: np.ndarray, problems: int) -> Walks:
    """The walks with their kinks: about the square root of their number, the last one included."""
    step = max(1, int(np.sqrt(len(costs))))
    kinks = np.unique(np.concatenate([[0], costs[::step], costs[-1:]]))
    kink_costs = np.zeros((problems, len(kinks)), np.int64)
    kink_open = np.zeros((problems, len(kinks)), np.int64)
    for n, kink in enumerate(kinks):
        np.add.at(kink_costs[:, n], places, np.minimum(costs, kink))
        np.add.at(kink_open[:, n], places, costs > kink)
    return Walks(places, costs, kinks, kink_costs, kink_open)


def solve(
    walks: Walks, weights: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest budgets that cost no more than the targets, their costs, what is exhausted.

    A row of `weights` counts the problems of a replicate; `targets` has its costs, a row each.
    """
    at_kinks = weights @ walks.kink_costs
    open_at_kinks = weights @ walks.kink_open
    exhausted = targets >= at_kinks[:, -1:]
    budgets, paid = np.zeros_like(targets), np.zeros_like(targets)
    brackets = np.stack(
        [
            np.searchsorted(costs, row, "right") - 1
            for costs, row in zip(at_kinks, targets, strict=True)
        ]
    )
    for kink in np.unique(brackets[~exhausted]):
        rows, columns = np.nonzero((brackets == kink) & ~exhausted)
        low = np.searchsorted(walks.costs, walks.kinks[kink], "right")
        high = np.searchsorted(walks.costs, walks.kinks[kink + 1], "left")
        # A line for the kink itself, then one from the end of each walk in the bracket.
        starts = np.concatenate([walks.kinks[kink : kink + 1], walks.costs[low:high]])
        ending = weights[rows][:, walks.places[low:high]]
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


def _strict_levels(answers: dict[str, np.ndarray], problems: int) -> tuple[np.ndarray, np.ndarray]:
    """The budgets at which strict answers change, and how many of each problem's are correct."""
    levels, level = np.unique(answers["budget"], return_inverse=True)
    changes = np.zeros((len(levels), problems), np.int64)
    np.add.at(changes, (level, answers["place"]), answers["correct_change"])
    return levels, np.cumsum(changes, axis=0)
