"""The bootstrap: the problems' totals, weighed by how often every replicate draws each problem.

For every `problem_x` of `sql/bootstrap` there is a `replicate_x` with the same keys, in which the
problem has given way to the replicate: select keys, replicate, sum(count * value) from problem_x
inner join counts using (problem_id) group by keys, replicate. NumPy does it as a product of
matrices. Totals are whole numbers, so sums below 2^53 are exact in any order.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Counts that are held at a time, as doubles, and rows of totals that are read at a time.
BLOCK_COUNTS = 8_000_000
BLOCK_ROWS = 500_000


class Weighed(NamedTuple):
    """What is weighed, by its keys; every key has `replays` as well, the same at every problem."""

    totals: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    # Whether values are changes, and a total is the sum of those of its archive up to its key.
    adds_up: bool = False


_PAIRED = ("correct", "covered", "cost", "prompt")
WEIGHED = {
    "replicate_points": Weighed(
        "problem_points",
        ("archive", "budget", "rule"),
        ("correct", "covered", "cost", "prompt_cost"),
    ),
    "replicate_pairs": Weighed(
        "problem_pairs",
        ("archive", "budget"),
        tuple(f"{rule}_{of}" for of in _PAIRED for rule in ("strict", "advisory")),
    ),
    "replicate_gains": Weighed(
        "(from problem_gains where is_primary)", ("archive", "budget"), ("gained",)
    ),
    "replicate_selectors": Weighed("problem_gains", ("archive", "budget", "selector"), ("gained",)),
    "replicate_strata": Weighed(
        "problem_strata", ("archive", "stratum", "budget"), ("gained", "extra_cost")
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
    "replicate_curves": Weighed("problem_curves", ("archive", "budget"), ("gained",), adds_up=True),
}


class _Key(NamedTuple):
    """A key as a row with its replays, where its problems stand, and each one's values."""

    named: pa.Table
    places: np.ndarray
    cells: np.ndarray


class _Group(NamedTuple):
    """Keys with the same problems: their totals make one matrix."""

    # The keys, and the replays of a problem.
    keys: pa.Table
    # Where the problems stand among all.
    places: np.ndarray
    # A row per problem, a column per key and value.
    totals: np.ndarray
    # Keys and values that are null at every problem.
    is_null: np.ndarray


def weigh(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], where: str = "true"
) -> dict[str, pa.Table]:
    """Relations of WEIGHED, of the totals that meet a condition; no row where none is drawn."""
    groups = {name: list(_groups(con, WEIGHED[name], where)) for name in names}
    weighed: dict[str, list[list[np.ndarray]]] = {
        name: [[] for _ in groups[name]] for name in names
    }
    for counts in drawn_counts(con) if names else ():
        for name in names:
            for group, blocks in zip(groups[name], weighed[name], strict=True):
                drawn = picked(counts, group.places)
                blocks.append(np.column_stack([drawn.sum(1), drawn @ group.totals]))
    return {
        name: _joined(con, WEIGHED[name], groups.pop(name), weighed.pop(name)) for name in names
    }


def _joined(
    con: duckdb.DuckDBPyConnection,
    weighed: Weighed,
    groups: list[_Group],
    blocks: list[list[np.ndarray]],
) -> pa.Table:
    """The rows of all groups; blocks are let go one by one, for they are what takes memory."""
    if not groups:
        return _nothing(con, weighed)
    tables = []
    while groups:
        tables.append(_table(groups.pop(), weighed.values, np.concatenate(blocks.pop())))
    return pa.concat_tables(reversed(tables)).unify_dictionaries()


def _nothing(con: duckdb.DuckDBPyConnection, weighed: Weighed) -> pa.Table:
    """No row, with the columns that rows would have."""
    keys = con.sql(f"select {', '.join(weighed.keys)} from {weighed.totals} limit 0")
    types = {"replicate": pa.int32(), "draws": pa.float64(), "replays": pa.float64()}
    types |= dict.fromkeys(weighed.values, pa.float64())
    columns = {name: pa.array([], kind) for name, kind in types.items()}
    table = keys.to_arrow_table()
    return pa.table({name: table[name] for name in table.column_names} | columns)


def drawn_counts(con: duckdb.DuckDBPyConnection) -> Iterator[np.ndarray]:
    """How often replicates draw problems: a row each, from replicate 0, some rows at a time."""
    ((problems, replicates),) = con.execute(
        "select (select count(*) from problems), (select max(replicate) + 1 from weights)"
    ).fetchall()
    size = max(1, BLOCK_COUNTS // problems)
    for first in range(0, replicates, size):
        block = con.sql(
            f"select counts from weights where replicate between {first} and {first + size - 1} "
            "order by replicate, first_problem"
        ).to_arrow_table()
        counts = block["counts"].combine_chunks().flatten().to_numpy()
        yield counts.astype(np.float64).reshape(-1, problems)


def picked(counts: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The columns of these problems."""
    return counts if len(places) == counts.shape[1] else counts[:, places]


def _groups(con: duckdb.DuckDBPyConnection, weighed: Weighed, where: str) -> Iterator[_Group]:
    """Neighbouring keys of the same problems, or of the same archive where changes add up."""
    held: list[_Key] = []
    for key in _by_key(con, weighed, where):
        if held:
            is_archive = key.named["archive"].equals(held[0].named["archive"])
            is_alike = np.array_equal(key.places, held[0].places)
            if not (is_archive if weighed.adds_up else is_alike):
                yield _group(held, weighed.adds_up)
                held = []
        held.append(key)
    if held:
        yield _group(held, weighed.adds_up)


def _group(keys: list[_Key], adds_up: bool) -> _Group:
    """One matrix; where changes add up, the first key has every problem."""
    places = keys[0].places
    matrix = np.zeros((len(places), len(keys), keys[0].cells.shape[1]))
    for n, key in enumerate(keys):
        matrix[np.searchsorted(places, key.places), n] = key.cells
    is_null = np.atleast_2d(np.isnan(matrix).all(axis=0))
    np.nan_to_num(matrix, copy=False)
    if adds_up:
        np.cumsum(matrix, axis=1, out=matrix)
        is_null[:] = is_null[0]
    named = pa.concat_tables([key.named for key in keys]).combine_chunks()
    return _Group(named, places, matrix.reshape(len(places), -1), is_null)


def _by_key(con: duckdb.DuckDBPyConnection, weighed: Weighed, where: str) -> Iterator[_Key]:
    """Every key of the totals, in order."""
    named = [*weighed.keys, "replays"]
    rows = con.sql(
        f"select {', '.join(named)}, problem_id, "
        f"{', '.join(f'{value}::double as {value}' for value in weighed.values)} "
        f"from {weighed.totals} where {where} order by {', '.join(weighed.keys)}, problem_id"
    )
    reader = rows.to_arrow_reader(BLOCK_ROWS)
    held = reader.schema.empty_table()
    for batch in reader:
        table = pa.concat_tables([held, pa.Table.from_batches([batch])]).combine_chunks()
        starts = _starts(table, weighed.keys)
        yield from _cut(table.slice(0, starts[-1]), starts[:-1], named, weighed.values)
        # The last key may go on in the next batch.
        held = table.slice(starts[-1])
    if held.num_rows:
        yield from _cut(held, np.zeros(1, np.int64), named, weighed.values)


def _starts(table: pa.Table, keys: Sequence[str]) -> np.ndarray:
    """The first row of every key."""
    is_first = np.ones(table.num_rows, bool)
    is_first[1:] = False
    for key in keys:
        column = table[key].combine_chunks()
        is_first[1:] |= pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
    return np.flatnonzero(is_first)


def _cut(
    table: pa.Table, starts: np.ndarray, named: list[str], values: Sequence[str]
) -> Iterator[_Key]:
    """The keys of a table, cut where each starts; problems are numbered from 1."""
    keys = table.select(named).take(starts)
    places = table["problem_id"].to_numpy() - 1
    cells = np.column_stack([table[value].to_numpy() for value in values])
    for n, (own, some) in enumerate(
        zip(np.split(places, starts[1:]), np.split(cells, starts[1:]), strict=True)
    ):
        if len(own):
            yield _Key(keys.slice(n, 1), own, some)


def _table(group: _Group, values: tuple[str, ...], weighed: np.ndarray) -> pa.Table:
    """A row per key and replicate that draws one of the group's problems."""
    replicates = np.flatnonzero(weighed[:, 0] > 0)
    draws = weighed[replicates, 0]
    cube = weighed[replicates, 1:].reshape(len(replicates), group.keys.num_rows, len(values))
    each = np.repeat(np.arange(group.keys.num_rows, dtype=np.int32), len(replicates))
    columns = {}
    for name in group.keys.column_names:
        key = group.keys[name].combine_chunks()
        # A name is held once and not in every row.
        is_name = pa.types.is_string(key.type)
        columns[name] = (
            pa.DictionaryArray.from_arrays(each, key) if is_name else pa.array(key.to_numpy()[each])
        )
    columns["replicate"] = pa.array(np.tile(replicates.astype(np.int32), group.keys.num_rows))
    columns["draws"] = pa.array(np.tile(draws, group.keys.num_rows))
    columns["replays"] = pc.multiply(columns["draws"], columns["replays"].cast(pa.float64()))
    for n, value in enumerate(values):
        is_null = group.is_null[:, n]
        mask = np.repeat(is_null, len(replicates)) if is_null.any() else None
        columns[value] = pa.array(cube[:, :, n].T.ravel(), mask=mask)
    return pa.table(columns)
