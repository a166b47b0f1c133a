"""Equal cost: the strict budget that pays what an advisory budget pays, solved in every replicate.

With the walks' whole costs S in ascending order, the strict cost of a budget B is the sum of
min(B, S): a straight line between two neighbouring S. So one search among the costs at every S
finds the line, and a division the budget on it: `sql/bootstrap/replicate_matches.sql` in NumPy.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from audit.ahead import in_order
from audit.database.connection import cursor
from audit.engine.batches import batches
from audit.engine.bootstrap import ROWS_AT_A_TIME, Counts

MATCHED = "replicate_matches"
# Cells of a matrix, replicates by walks, that are in memory at a time.
CELLS = 1_000_000


def match(con: duckdb.DuckDBPyConnection, counts: Counts) -> Iterator[pa.Table]:
    """For each archive, advisory budget and replicate: the strict budget of equal cost."""
    ((threads,),) = con.execute("select current_setting('threads')").fetchall()
    with cursor(con) as reader:
        none = reader.sql(f"from {MATCHED} limit 0").to_arrow_table()
        yield none
        rows = reader.sql("from matching_archives order by archive").to_arrow_reader(1)
        archives = (batch.slice(at, 1) for batch in rows for at in range(batch.num_rows))
        solved = in_order(partial(matched, counts=counts, schema=none.schema), archives, threads)
        for several in batches(solved, lambda own: (own.num_rows,), (ROWS_AT_A_TIME,)):
            yield pa.concat_tables(several)


def matched(row: pa.RecordBatch, counts: Counts, schema: pa.Schema) -> pa.Table:
    """The rows of one archive."""
    archive = {
        name: cell.values.to_numpy() if isinstance(cell, pa.ListScalar) else cell.as_py()
        for name, (cell,) in zip(row.schema.names, row, strict=True)
    }
    size = max(1, CELLS // max(len(archive["walk_costs"]), len(archive["answer_budgets"])))
    return pa.concat_tables(
        _replicate_rows(archive, batch[at : at + size], first + at, schema)
        for first, batch in counts.batches()
        for at in range(0, len(batch), size)
    )


def _replicate_rows(
    archive: dict[str, Any], counts: np.ndarray, first: int, schema: pa.Schema
) -> pa.Table:
    """The rows of neighbouring replicates, those that draw any problem of the archive."""
    own = counts[:, archive["problem_ids"] - 1]
    is_drawn = own.any(axis=1)
    counts, own, replicates = counts[is_drawn], own[is_drawn], first + np.flatnonzero(is_drawn)
    budgets = archive["budgets"]
    targets = weighed(own, archive["costs"], len(budgets))
    drawn = counts[:, archive["walk_problems"] - 1]
    matches = solve(drawn, archive["walk_costs"], archive["walk_orders"], targets)
    correct = running(counts[:, archive["answer_problems"] - 1] * archive["answer_changes"])
    before = np.searchsorted(archive["answer_budgets"], matches[0].astype(np.int64), "right")
    grade_factor = 1.0 if archive["is_graded"] else np.nan  # Without labels nothing is correct.
    columns = (
        np.full(targets.size, archive["archive"], object),
        np.tile(budgets, len(replicates)),
        np.repeat(replicates, len(budgets)),
        np.repeat(own.sum(axis=1) * archive["orders"], len(budgets)),
        targets,
        grade_factor * weighed(own, archive["corrects"], len(budgets)),
        *matches,
        grade_factor * np.take_along_axis(correct, before, 1),
    )
    made = []
    for kind, cells in zip(schema.types, columns, strict=True):
        # Arrow makes no double of a whole number beyond 2^53.
        cells = cells.astype(float) if kind == pa.float64() else cells
        made.append(pa.array(cells.ravel(), kind, from_pandas=True))
    return pa.Table.from_arrays(made, schema=schema)


def weighed(counts: np.ndarray, totals: np.ndarray, budgets: int) -> np.ndarray:
    """Whole sums of totals, which go by budget and problem: a row per replicate."""
    largest = int(totals.max()) * int(counts.sum(axis=1).max(initial=1))
    # Nothing is rounded, and doubles multiply the fastest.
    kind = float if largest < 2**53 else np.int64 if largest < 2**63 else object
    # By way of integers: a double that becomes an object stays a double, and rounds.
    return counts.astype(np.int64).astype(kind) @ totals.astype(kind).reshape(budgets, -1).T


def running(cells: np.ndarray) -> np.ndarray:
    """Sums of each row up to every place, from nothing."""
    return np.insert(cells.cumsum(axis=1), 0, 0, axis=1)


def last_below(ascending: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """By row, the last place at which no more stands than each target."""
    if len(ascending) > ascending.shape[1]:
        # Many short rows take longer to search than to read.
        return np.column_stack([(ascending <= own[:, None]).sum(axis=1) for own in targets.T]) - 1
    rows = zip(ascending, targets, strict=True)
    return np.array([np.searchsorted(row, own, "right") - 1 for row, own in rows], int)


def solve(
    drawn: np.ndarray, costs: np.ndarray, orders: np.ndarray, targets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The largest budgets that cost no more than the targets, their costs, what is exhausted.

    A row is a replicate; a column of `drawn` is a cost, in ascending order: how often its problem
    is drawn, and in `orders` how many of its walks cost that.
    """
    largest = int(costs[-1]) * int((drawn @ orders).max(initial=1))
    kind = np.int64 if largest < 2**63 else object
    ending = drawn.astype(np.int64).astype(kind) * orders.astype(kind)
    ended, paid = running(ending), running(ending * costs)
    starts = np.append(0, costs)
    # What is paid at a budget at which a walk ends, and how many walks go on from there.
    still_open = ended[:, -1:] - ended
    paid += still_open * starts
    at = last_below(paid, targets := targets.astype(kind))
    begun, going_on = np.take_along_axis(paid, at, 1), np.take_along_axis(still_open, at, 1)
    more = (targets - begun) // np.maximum(going_on, 1)
    exhausted = targets >= paid[:, -1:]
    costliest = costs[len(costs) - 1 - np.argmax(drawn[:, ::-1] > 0, axis=1)][:, None]
    budgets = np.where(exhausted, costliest, starts[at] + more)
    return budgets, np.where(exhausted, targets, begun + more * going_on), exhausted
