"""The bootstrap: the problems' totals, weighed by how often every replicate draws each problem.

For every `problem_x` of `sql/bootstrap` there is a `replicate_x` with the same keys, in which the
problem has given way to the replicate: select keys, replicate, sum(count * value) from problem_x
inner join counts using (problem_id) group by keys, replicate. NumPy does it as a product of
matrices. Totals are whole numbers, so sums below 2^53 are exact in any order.
"""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.ahead import ahead
from audit.database.connection import cursor
from audit.engine.batches import batches

# What is held at a time: counts as doubles, rows of totals that are read, totals, and sums of them.
BLOCK_COUNTS = 8_000_000
BLOCK_ROWS = 500_000
BLOCK_TOTALS = 24_000_000
BLOCK_SUMS = 3_000_000


class Weighed(NamedTuple):
    """What is weighed, by its keys; every key has `replays` as well, the same at every problem."""

    totals: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    # Values that are lists, all of one length: their items are weighed one by one.
    lists: tuple[str, ...] = ()
    # Whether the value is a change, and its total the sum of those of its archive up to its key.
    adds_up: bool = False


WEIGHED = {
    "replicate_rule_totals": Weighed(
        "rule_totals",
        ("archive", "budget", "rule"),
        ("correct", "covered", "cost", "prompt_tokens"),
    ),
    "replicate_gains": Weighed(
        "(from paired_gains where is_primary)", ("archive", "budget"), ("gained",)
    ),
    "replicate_selectors": Weighed("paired_gains", ("archive", "budget", "selector"), ("gained",)),
    "replicate_strata": Weighed(
        "problem_strata", ("archive", "stratum", "budget"), ("gained", "extra_cost")
    ),
    "replicate_budget_pairs": Weighed(
        "budget_pairs",
        ("archive", "advisory_budget", "strict_budget"),
        tuple(
            f"{rule}_{of}" for rule in ("advisory", "strict") for of in ("cost", "total", "correct")
        ),
    ),
    "replicate_strict_curves": Weighed(
        "strict_curves",
        ("archive", "advisory_budget"),
        ("advisory_cost", "advisory_correct"),
        lists=("strict_costs", "strict_corrects"),
    ),
    "replicate_comparisons": Weighed(
        "problem_comparisons",
        ("archive", "other", "rule", "budget"),
        ("correct", "other_correct", "cost", "other_cost"),
    ),
    "replicate_policies": Weighed(
        "problem_policies",
        ("archive", "policy", "rule", "budget"),
        ("gained", "cost", "whole_cost"),
    ),
    "replicate_curves": Weighed(
        # The first budget has every problem, and after it those count at which something is gained.
        "(from problem_curves qualify gained <> 0 or "
        "budget = min(budget) over (partition by archive))",
        ("archive", "budget"),
        ("gained",),
        adds_up=True,
    ),
}


class Group(NamedTuple):
    """Neighbouring keys with the same problems: their totals make one matrix."""

    name: str
    # The keys, and the replays of a problem.
    keys: pa.Table
    # Where the problems stand among all.
    places: np.ndarray
    # A row per value and key, and one of ones; a column per problem.
    totals: np.ndarray
    # Keys and values that are null at every problem.
    is_null: np.ndarray


class Replicates(NamedTuple):
    """What every replicate says of some keys; nothing where it draws none of their problems."""

    name: str
    # A row per key.
    keys: pa.Table
    draws: np.ndarray
    # By name: a row per key, a column per replicate, and a third axis for the items of a list.
    values: dict[str, np.ndarray]
    # Keys at which a value, or an item of it, is null in every replicate.
    is_null: dict[str, np.ndarray]

    def rows(self, columns: Container[str] | None = None) -> pa.Table:
        """A row per key and replicate, one key after the other; all columns or those named."""
        keys, replicates = self.keys.num_rows, len(self.draws)
        found = {
            name: self.keys[name].take(np.repeat(np.arange(keys), replicates))
            for name in self.keys.column_names
            if columns is None or name in columns
        }
        undrawn = np.tile(self.draws == 0, keys) if not self.draws.all() else None
        for name, values in self.values.items():
            if columns is None or name in columns:
                found[name] = _column(values, self.is_null.get(name), undrawn)
        return pa.table(found)

    def first(self) -> "Replicates":
        """Replicate 0 alone, which draws every problem once: the point estimate."""
        values = {name: values[:, :1] for name, values in self.values.items()}
        return self._replace(draws=self.draws[:1], values=values)


def _column(values: np.ndarray, is_null: np.ndarray | None, undrawn: np.ndarray | None) -> pa.Array:
    """The values, one key after the other; lists if they have items."""
    items = values.shape[2] if values.ndim == 3 else 1
    mask = None if undrawn is None else np.repeat(undrawn, items)
    if is_null is not None and is_null.any():
        own = np.repeat(is_null.reshape(len(values), 1, items), values.shape[1], axis=1).ravel()
        mask = own if mask is None else own | mask
    column = pa.array(values.reshape(-1), mask=mask)
    if values.ndim == 2:
        return column
    return pa.ListArray.from_arrays(np.arange(0, len(column) + 1, items, dtype=np.int32), column)


def nothing_weighed(con: duckdb.DuckDBPyConnection, name: str) -> Replicates:
    """The replicates of no key."""
    weighed = WEIGHED[name]
    keys = con.sql(f"select {', '.join(weighed.keys)} from {weighed.totals} limit 0")
    values: dict[str, np.ndarray] = {"replicate": np.zeros((0, 1), np.int32)}
    values |= {value: np.zeros((0, 1)) for value in ("draws", "replays", *weighed.values)}
    values |= {value: np.zeros((0, 1, 1)) for value in weighed.lists}
    return Replicates(name, keys.to_arrow_table(), np.ones(1), values, {})


def weigh(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> Iterator[Replicates]:
    """Relations of WEIGHED, some keys of them at a time; counts are read as seldom as can be."""
    counts = Counts(con)
    every = (group for name in names for group in _groups(con, name, counts.replicates))
    for groups in batches(
        every,
        lambda group: (group.totals.size, len(group.totals) * counts.replicates),
        (BLOCK_TOTALS, BLOCK_SUMS),
    ):
        for group, sums in _weighed(groups, counts):
            yield _replicates(group, sums)


def _weighed(groups: list[Group], counts: "Counts") -> Iterator[tuple[Group, np.ndarray]]:
    """The groups, each with a row of sums for a row of its totals."""
    alike: dict[bytes, list[int]] = {}
    for n, group in enumerate(groups):
        alike.setdefault(group.places.tobytes(), []).append(n)
    # Few large products take less time than many small ones.
    places = [groups[some[0]].places for some in alike.values()]
    totals = [np.concatenate([groups[n].totals for n in some]) for some in alike.values()]
    sizes = [len(group.totals) for group in groups]
    for n, group in enumerate(groups):
        # They are held once.
        groups[n] = group._replace(totals=np.zeros((0, 0)))
    found = [np.empty((len(rows), counts.replicates)) for rows in totals]
    for first, block in counts.blocks():
        for own, rows, sums in zip(places, totals, found, strict=True):
            _multiply(rows, picked(block, own), sums[:, first : first + len(block)])
    split: dict[int, np.ndarray] = {}
    for some, sums in zip(alike.values(), found, strict=True):
        ends = np.cumsum([sizes[n] for n in some])
        split |= dict(zip(some, np.split(sums, ends[:-1]), strict=True))
    for n, group in enumerate(groups):
        yield group, split.pop(n)


def _multiply(totals: np.ndarray, counts: np.ndarray, out: np.ndarray) -> None:
    """A row per row of totals, a column per replicate; BLAS is slow with few rows before many."""
    if len(totals) >= 64:
        np.matmul(totals, counts.T, out=out)
    else:
        out[:] = (counts @ totals.T).T


def _replicates(group: Group, sums: np.ndarray) -> Replicates:
    """The sums under the names of their values."""
    weighed = WEIGHED[group.name]
    keys, draws = group.keys.num_rows, sums[-1]
    cube = sums[:-1].reshape(-1, keys, len(draws))
    items = (len(cube) - len(weighed.values)) // max(1, len(weighed.lists))
    replays = group.keys["replays"].to_numpy().astype(np.float64)
    values = {
        "replicate": np.broadcast_to(np.arange(len(draws), dtype=np.int32), (keys, len(draws))),
        "draws": np.broadcast_to(draws, (keys, len(draws))),
        "replays": replays[:, None] * draws,
    }
    is_null = {}
    for n, name in enumerate(weighed.values):
        values[name], is_null[name] = cube[n], group.is_null[:, n]
    for n, name in enumerate(weighed.lists):
        own = slice(len(weighed.values) + n * items, len(weighed.values) + (n + 1) * items)
        values[name], is_null[name] = cube[own].transpose(1, 2, 0), group.is_null[:, own]
    named = group.keys.drop_columns("replays")
    return Replicates(group.name, named, draws, values, is_null)


class Counts:
    """How often replicates draw problems; a connection of its own reads them beside other work."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = cursor(con)
        ((self.problems, self.replicates),) = self.con.execute(
            "select (select count(*) from problems), max(replicate) + 1 from bootstrap_counts"
        ).fetchall()
        self.held: np.ndarray | None = None

    def blocks(self) -> Iterator[tuple[int, np.ndarray]]:
        """The first replicate of some, and their counts: a row each, as doubles."""
        size = max(1, BLOCK_COUNTS // self.problems)
        if self.replicates <= size:
            # What is small enough is read once.
            if self.held is None:
                self.held = self._read(0, size)
            yield 0, self.held
        else:
            firsts = range(0, self.replicates, size)
            yield from ahead((first, self._read(first, size)) for first in firsts)

    def _read(self, first: int, size: int) -> np.ndarray:
        block = self.con.sql(
            "select counts from bootstrap_counts "
            f"where replicate between {first} and {first + size - 1} "
            "order by replicate, first_problem"
        ).to_arrow_table()
        counts = block["counts"].combine_chunks().flatten().to_numpy()
        return counts.astype(np.float64).reshape(-1, self.problems)


def picked(counts: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The columns of these problems."""
    return counts if len(places) == counts.shape[1] else counts[:, places]


def _groups(con: duckdb.DuckDBPyConnection, name: str, replicates: int) -> Iterator[Group]:
    """Neighbouring keys of the same problems, or of the same archive where changes add up."""
    weighed = WEIGHED[name]
    # The archive whose changes may go on, its problems, and their sums so far.
    archive, own, carried = None, np.zeros(0, np.int64), np.zeros((0, 1, 0))
    for table in _whole_keys(con, weighed):
        starts = _starts(table, weighed.keys)
        ends = np.append(starts[1:], table.num_rows)
        cells = _cells(table, weighed)
        is_null = np.logical_and.reduceat(np.isnan(cells), starts)
        np.nan_to_num(cells, copy=False)
        places = table["problem_id"].to_numpy() - 1
        keys = table.select([*weighed.keys, "replays"]).take(starts)
        if weighed.adds_up:
            names = keys["archive"].combine_chunks()
            is_first = np.append(True, pc.not_equal(names[1:], names[:-1]))
        else:
            is_first = ~_like_the_one_before(places, starts, ends)
        runs = np.flatnonzero(is_first)
        for start, end in zip(runs, np.append(runs[1:], len(starts)), strict=True):
            if not weighed.adds_up or keys["archive"][start] != archive:
                archive, own = keys["archive"][start], places[starts[start] : ends[start]]
                carried = np.zeros((cells.shape[1], 1, len(own)))
            most = max(1, min(BLOCK_TOTALS // len(own), BLOCK_SUMS // replicates) // cells.shape[1])
            for at in range(start, end, most):
                some = slice(at, min(end, at + most))
                rows = slice(starts[some.start], ends[some.stop - 1])
                totals = _matrix(own, places[rows], cells[rows], (ends - starts)[some])
                if weighed.adds_up:
                    cube = totals[:-1].reshape(cells.shape[1], -1, len(own))
                    cube[:, :1] += carried
                    np.cumsum(cube, axis=1, out=cube)
                    carried = cube[:, -1:].copy()
                named = keys.slice(some.start, some.stop - some.start)
                yield Group(name, named, own, totals, is_null[some])


def _matrix(
    own: np.ndarray, places: np.ndarray, cells: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """A row per value and key, zero where a key lacks a problem; then a row of ones."""
    keys, values = len(lengths), cells.shape[1]
    matrix = np.zeros((keys * values + 1, len(own)))
    matrix[-1] = 1
    cube = matrix[:-1].reshape(values, keys, len(own))
    if len(places) == keys * len(own):
        cube[:] = cells.reshape(keys, len(own), values).transpose(2, 0, 1)
    else:
        cube[:, np.repeat(np.arange(keys), lengths), np.searchsorted(own, places)] = cells.T
    return matrix


def _like_the_one_before(places: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Which keys have the same problems as the key before them."""
    lengths = ends - starts
    back = np.arange(len(places)) - np.repeat(lengths, lengths)
    is_same = np.logical_and.reduceat(places == places[back], starts)
    return is_same & np.append(False, lengths[1:] == lengths[:-1])


def _whole_keys(con: duckdb.DuckDBPyConnection, weighed: Weighed) -> Iterator[pa.Table]:
    """The totals in order of their keys; a key's rows come together."""
    values = [
        *(f"{value}::double as {value}" for value in weighed.values),
        *(f"{value}::double[] as {value}" for value in weighed.lists),
    ]
    rows = con.sql(
        f"select {', '.join(weighed.keys)}, replays, problem_id, {', '.join(values)} "
        f"from {weighed.totals} order by {', '.join(weighed.keys)}, problem_id"
    )
    reader = rows.to_arrow_reader(BLOCK_ROWS)
    held = reader.schema.empty_table()
    for batch in reader:
        table = pa.concat_tables([held, pa.Table.from_batches([batch])]).combine_chunks()
        last = _starts(table, weighed.keys)[-1]
        if last:
            yield table.slice(0, last)
        # The last key may go on in the next batch.
        held = table.slice(last)
    if held.num_rows:
        yield held


def _starts(table: pa.Table, keys: Sequence[str]) -> np.ndarray:
    """The first row of every key."""
    is_first = np.ones(table.num_rows, bool)
    is_first[1:] = False
    for key in keys:
        column = table[key].combine_chunks()
        is_first[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return np.flatnonzero(is_first)


def _cells(table: pa.Table, weighed: Weighed) -> np.ndarray:
    """A row for each of the table's, a column per value and item; not a number is null."""
    lists = [
        table[name].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        for name in weighed.lists
    ]
    columns = [table[value].to_numpy() for value in weighed.values]
    return np.column_stack([*columns, *(items.reshape(table.num_rows, -1) for items in lists)])
