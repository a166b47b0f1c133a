"""Intervals: what replicates say of every key, from the lowest to the highest.

A file of `sql/intervals` says what is computed in a replicate. The relation of its name has a row
per key: the file's columns in replicate 0, which is the point estimate, and beside some of them
what INTERVALS asks of all the other replicates.
"""

import queue
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby, product

import duckdb
import numpy as np
import pyarrow as pa
from threadpoolctl import threadpool_limits

from audit.ahead import ahead, in_order
from audit.database.connection import cursor
from audit.engine.batches import batches
from audit.engine.bootstrap import Replicates, nothing_weighed, weigh
from audit.engine.build import render
from audit.engine.lineage import relations_read
from audit.engine.matching import MATCHED, match, nothing_matched
from audit.errors import AuditError, first_line

# What may be asked of a column: the ends of a 95 % interval, those of two one-sided tests at 5 %,
# the standard error, and how many replicates say something else than replicate 0.
QUANTILES = {"low": 0.025, "high": 0.975, "test_low": 0.05, "test_high": 0.95}
ENDS = ("low", "high")
INTERVALS: dict[str, dict[str, tuple[str, ...]]] = {
    "interval_rule_totals": {"accuracy": ENDS, "coverage": ENDS, "cost_ratio": ENDS},
    "interval_gains": {"delta": (*ENDS, "error")},
    "interval_selectors": {"delta": ENDS},
    "interval_strata": {"delta": ENDS},
    "interval_comparisons": {"delta": ENDS, "cost_difference": ENDS},
    "interval_policies": {"delta": ENDS, "cost_saved": ENDS},
    "interval_curves": {"delta": (*ENDS, "error")},
    "interval_budget_pairs": {
        "cost_difference": ENDS,
        "cost_ratio": ENDS,
        "total_difference": ENDS,
        "delta": ENDS,
    },
    "interval_strict_curves": {"delta": ENDS, "left_at": ("changed",), "is_outside": ("changed",)},
    "interval_matches": {"strict_budget": ENDS, "delta": (*ENDS, "test_low", "test_high")},
}
# Replicates that stay within so many errors at every key of their archive: a column `band`.
BANDED, BAND = "interval_curves", 0.95
# Rows of replicates that a thread sums up at a time.
ROWS_AT_A_TIME = 2_000_000
# By archive, how far each of its replicates strays.
Strays = list[tuple[str, np.ndarray]]


@contextmanager
def intervals_of(
    con: duckdb.DuckDBPyConnection,
    tables: Iterable[str],
    lanes: Sequence[duckdb.DuckDBPyConnection] = (),
) -> Iterator[None]:
    """Make the intervals that tables read, all at once: they share what takes long.

    Cursors of the connection that compute tables beside it see them too.
    """
    views = con.execute("select view_name from duckdb_views() where temporary").fetchall()
    read = {name for table in tables for name in relations_read(render(table))}
    wanted = sorted((read & set(INTERVALS)) - {name for (name,) in views})
    if not wanted:
        yield
        return
    is_curved = "interval_curves" in wanted
    if is_curved:
        # What is behind this view takes long, and it is read again and again.
        con.execute("create temp table problem_curves as from problem_curves order by archive")
    try:
        try:
            made = intervals(con, wanted)
        except duckdb.CatalogException as error:
            raise AuditError(
                f"{first_line(error)} Another version made these replays; run 'budget-audit "
                "replay' again"
            ) from None
        for lane, name in product((con, *lanes), wanted):
            lane.register(name, made[name])
        yield
    finally:
        for lane, name in product((con, *lanes), wanted):
            lane.unregister(name)
        if is_curved:
            con.execute("drop table temp.main.problem_curves")


def intervals(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> dict[str, pa.Table]:
    """Relations of INTERVALS, each sorted by its key."""
    found: dict[str, list[pa.Table]] = {name: [] for name in names}
    bands = Bands()
    ((threads,),) = con.execute("select current_setting('threads')").fetchall()
    # Totals are still being read from the connection while some of them are summed up.
    free: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
    for _ in range(threads):
        free.put(cursor(con))

    def one(several: list[Replicates]) -> tuple[str, pa.Table, Strays]:
        beside = free.get()
        try:
            return summed_up(beside, several)
        finally:
            free.put(beside)

    # A product that waits for threads of its own would keep these from their work.
    with threadpool_limits(1, "blas"):
        batches = _together(ahead(_replicates(con, [_replicate(name) for name in names])))
        for name, table, strays in in_order(one, batches, threads):
            found[name].append(table)
            for archive, farthest in strays:
                bands.add(archive, farthest)
    return {
        name: bands.beside(pa.concat_tables(tables)) if name == BANDED else pa.concat_tables(tables)
        for name, tables in found.items()
    }


def _replicate(interval: str) -> str:
    return interval.replace("interval", "replicate")


def _interval(replicate: str) -> str:
    return replicate.replace("replicate", "interval")


def _replicates(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[Replicates]:
    """The replicates of relations, some keys at a time; of each at least those of no key."""
    weighed = [name for name in names if name not in MATCHED]
    for name in weighed:
        yield nothing_weighed(con, name)
    yield from weigh(con, weighed)
    if len(weighed) < len(names):
        yield nothing_matched()
        yield from match(con)


def _together(found: Iterable[Replicates]) -> Iterator[list[Replicates]]:
    """Neighbours of one relation, as many as are summed up at a time."""
    for _, same in groupby(found, lambda one: one.name):
        yield from batches(
            same, lambda one: (one.keys.num_rows * len(one.draws),), (ROWS_AT_A_TIME,)
        )


def summed_up(
    con: duckdb.DuckDBPyConnection, several: list[Replicates]
) -> tuple[str, pa.Table, Strays]:
    """An interval's name, its rows, and how far the replicates of archives stray."""
    name = several[0].name
    relation = _interval(name)
    sql, asked = render(relation), INTERVALS[relation]
    con.register(name, pa.concat_tables([one.first().rows() for one in several]))
    table = con.sql(sql).to_arrow_table()
    # A projection keeps the order of rows, so keys and replicates need not come along.
    words = {*asked, *re.findall(r"\w+", re.sub(r"--.*", "", sql))}
    con.register(name, pa.concat_tables([one.rows(words) for one in several]))
    computed = con.sql(f"select {', '.join(asked)} from ({sql})").to_arrow_table()
    con.unregister(name)
    shape = (table.num_rows, len(several[-1].draws))
    strays: Strays = []
    for column, what in asked.items():
        values = computed[column].cast(pa.float64()).to_numpy().reshape(shape)
        is_known = None
        if computed[column].null_count:
            is_known = computed[column].is_valid().to_numpy().reshape(shape)
        cells = told(values, is_known, what)
        for word, found in zip(what, cells.T, strict=True):
            table = table.append_column(f"{column}_{word}", pa.array(found, from_pandas=True))
        if relation == BANDED:
            ends = np.cumsum([one.keys.num_rows for one in several])[:-1]
            errors = np.split(cells[:, what.index("error")], ends)
            for one, own, error in zip(several, np.split(values, ends), errors, strict=True):
                if len(own):
                    strays.append((one.keys["archive"][0].as_py(), _farthest(own, error)))
    return relation, table, strays


def told(values: np.ndarray, is_known: np.ndarray | None, what: Sequence[str]) -> np.ndarray:
    """A row per key, a column per word of what is asked; not a number is null."""
    if is_known is None:
        return _alike(values[:, 1:], values[:, :1], what)
    rows = [
        _alike(one[None, 1:][:, known[1:]], one[None, :1], what)[0]
        for one, known in zip(values, is_known, strict=True)
    ]
    return np.array(rows).reshape(len(values), len(what))


def _alike(values: np.ndarray, points: np.ndarray, what: Sequence[str]) -> np.ndarray:
    """What is told of keys whose every replicate is known."""
    columns = {"changed": (values != points).sum(1)}
    shares = [QUANTILES[word] for word in what if word in QUANTILES]
    columns |= zip(
        [word for word in what if word in QUANTILES], quantiles(values, shares), strict=True
    )
    if "error" in what:
        columns["error"] = _errors(values)
    return np.column_stack([columns[word] for word in what])


def quantiles(values: np.ndarray, shares: Sequence[float]) -> list[np.ndarray]:
    """Quantiles of each row, by straight lines between neighbours; not a number where it is empty.

    Where the neighbours are equal, theirs is the value: nothing is rounded.
    """
    size = values.shape[1]
    if not size or not shares:
        return [np.full(len(values), np.nan) for _ in shares]
    ranks = [(size - 1) * share for share in shares]
    whole = [int(rank) for rank in ranks]
    neighbours = sorted({at for n in whole for at in (n, min(n + 1, size - 1))})
    parted = np.partition(values, neighbours, axis=1)
    found = []
    for rank, n in zip(ranks, whole, strict=True):
        low, high = parted[:, n], parted[:, min(n + 1, size - 1)]
        with np.errstate(invalid="ignore"):
            between = low + (high - low) * (rank - n)
        found.append(np.where(low == high, low, between))
    return found


def _errors(values: np.ndarray) -> np.ndarray:
    """The standard deviation of each row; none of equal values, which rounding would give one."""
    if values.shape[1] < 2:
        return np.full(len(values), np.nan)
    differ = (values != values[:, :1]).any(axis=1)
    return np.where(differ, values.std(axis=1, ddof=1), 0)


def _farthest(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """How many errors every replicate strays at most from replicate 0."""
    strays = np.zeros(values.shape[1] - 1)
    for one, error in zip(values, errors, strict=True):
        if error > 0:
            np.maximum(strays, np.abs(one[1:] - one[0]) / error, out=strays)
    return strays


class Bands:
    """How many errors the replicates of an archive stay within, at all of its keys."""

    def __init__(self) -> None:
        self.widths: dict[str, float] = {}
        self.last: tuple[str, np.ndarray] | None = None

    def add(self, archive: str, strays: np.ndarray) -> None:
        """Take in some keys of one archive; one archive comes after the other."""
        if self.last and self.last[0] == archive:
            strays = np.maximum(strays, self.last[1])
        self.last = (archive, strays)
        known = strays[~np.isnan(strays)]
        self.widths[archive] = float(quantiles(known[None], [BAND])[0][0])

    def beside(self, table: pa.Table) -> pa.Table:
        """The table with a column of the widths."""
        widths = [self.widths[archive] for archive in table["archive"].to_pylist()]
        return table.append_column("band", pa.array(widths, pa.float64(), from_pandas=True))
