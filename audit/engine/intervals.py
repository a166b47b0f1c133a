"""Confidence intervals as tables: the rows of an `interval_x`, made for some of its keys at a time.

A quantile holds every replicate of a key in memory; for all keys at once that may be too much.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow as pa

from audit.engine.build import interval_sql, keys_sql, render
from audit.engine.draws import arrow_array
from audit.engine.lineage import relations_named
from audit.engine.sql_files import header, interval_names, text, weighing
from audit.text import quoted

# Keys times replicates that are weighed at a time, and those that are matched, which take more.
ROWS_AT_A_TIME = 500_000
MATCHES_AT_A_TIME = 40_000
# Products that NumPy holds at once; of more DuckDB joins the lists, and spills what it cannot hold.
MOST_PRODUCTS = 10_000_000
# Counts that are numbers of eight bytes at a time.
COUNTS_AT_A_TIME = 4_000_000
# What the search for equal costs reads again and again.
SEARCH = "replicate_matches"
MATCHED = {
    SEARCH: ("walk_blocks", "block_costs", "answer_blocks"),
    "replicate_terminal_cost": ("walk_blocks", "block_costs", "answer_blocks", "terminal_blocks"),
}
SOME_KEYS = "from temp.interval_keys where key_id between {} and {}"


def intervals_read(table: str) -> frozenset[str]:
    """Return the relations of `sql/intervals` that a table reads."""
    return relations_named(render(table)) & set(interval_names())


def fill_interval(con: duckdb.DuckDBPyConnection, table: str, name: str, kind: str) -> None:
    """Create a table with the rows of an `interval_x`, for some keys at a time."""
    weighed = weighing(name)
    if weighed:
        keys, selects = keys_sql(weighed), _weighed(con, name, weighed.values)
    else:
        keys, selects = render("matching_keys"), _matched(con, name)
    begin = f"create {kind} {table} as"
    try:
        con.execute(f"create or replace temp table interval_keys as {keys}")
        for select in selects:
            con.execute(f"{begin} {select}")
            begin = f"insert into {table}"
    finally:
        con.execute("drop table if exists temp.interval_keys")


def _weighed(con: duckdb.DuckDBPyConnection, name: str, values: Sequence[str]) -> Iterator[str]:
    """Yield selects of an `interval_x` whose totals NumPy has multiplied by the counts.

    A view joins the lists of both instead (`replicates.jinja`), which takes ten times as long.
    """
    counts = _counts(con)
    together = header(name).get("together", "")
    for first, last in _key_ranges(con, together, ROWS_AT_A_TIME // len(counts)):
        keys = SOME_KEYS.format(first, last)
        if (last - first + 1) * len(counts) > MOST_PRODUCTS:
            yield interval_sql(name, keys)
            continue
        con.register("interval_products", _products(con, keys, values, counts))
        try:
            yield interval_sql(name, keys, "interval_products")
        finally:
            con.unregister("interval_products")


def _counts(con: duckdb.DuckDBPyConnection) -> np.ndarray:
    """Return how often every replicate, a row each, draws every problem."""
    ((replicates,),) = con.execute("select max(replicate) + 1 from bootstrap_counts").fetchall()
    rows = "from bootstrap_counts order by replicate, first_problem"
    drawn = con.execute(f"select unnest(counts) as counts from ({rows})").fetchnumpy()
    return np.asarray(drawn["counts"]).reshape(replicates, -1)


def _products(
    con: duckdb.DuckDBPyConnection, keys: str, values: Sequence[str], counts: np.ndarray
) -> pa.Table:
    """Return the totals of keys times the counts: a row for every key and replicate."""
    lists = ", ".join(f"unnest({value}) as {value}" for value in values)
    found = con.execute(f"select key_id, unnest(problem_ids) as problem_id, {lists} {keys}")
    rows = found.fetchnumpy()
    key_ids, numbers = np.unique(rows["key_id"], return_inverse=True)
    replicates, problems = counts.shape
    totals = np.zeros((1 + len(values), len(key_ids), problems))
    totals[0, numbers, rows["problem_id"] - 1] = 1
    for number, value in enumerate(values, 1):
        totals[number, numbers, rows["problem_id"] - 1] = rows[value]
    # One large product: threads that share a small one mostly wait for each other.
    factors = totals.reshape(-1, problems)
    products = np.empty((len(factors), replicates))
    step = max(1, COUNTS_AT_A_TIME // problems)
    for at in range(0, replicates, step):
        products[:, at : at + step] = factors @ counts[at : at + step].T.astype(float)
    columns = products.reshape(1 + len(values), -1)
    return pa.table(
        {
            "key_id": arrow_array(np.repeat(key_ids, replicates), np.int32),
            "replicate": arrow_array(np.tile(np.arange(replicates), len(key_ids)), np.int32),
            "draws": arrow_array(columns[0], float),
            **{
                value: arrow_array(column, float)
                for value, column in zip(values, columns[1:], strict=True)
            },
        }
    )


def _matched(con: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    """Yield selects of an `interval_x` that is computed from a search for equal costs."""
    search = search_of(name)
    catalog = quoted(con.execute("select current_database()").fetchall()[0][0])
    searches = "".join(
        f", {each} as not materialized (\n{render(each)}\n)"
        for each in dict.fromkeys((SEARCH, search))
    )
    ((replicates,),) = con.execute("select count(*) from replicate_counts").fetchall()
    try:
        for relation in MATCHED[search]:
            source = f"{catalog}.main.{relation}"
            con.execute(f"create or replace temp table {relation} as from {source}")
        for first, last in _key_ranges(con, "", MATCHES_AT_A_TIME // replicates):
            keys = SOME_KEYS.format(first, last)
            yield f"with matching_keys as ({keys}){searches} from (\n{render(name)}\n)"
    finally:
        for relation in MATCHED[search]:
            con.execute(f"drop table if exists temp.{relation}")


def search_of(name: str) -> str:
    """Return the search for equal costs that an `interval_x` is computed from."""
    (search,) = relations_named(text(name)) & set(MATCHED)
    return search


def _key_ranges(
    con: duckdb.DuckDBPyConnection, together: str, size: int
) -> Iterator[tuple[int, int]]:
    """Yield the first and last key of portions of at least `size` keys.

    What belongs together, all keys of an archive or all there are, is in one portion.
    """
    columns = "key_id, archive" if together == "archive" else "key_id, null"
    order = f"select {columns} from temp.interval_keys order by key_id"
    keys = con.execute(order).fetchall()
    if together == "replicate" or not keys:
        yield 0, len(keys)
        return
    first = keys[0][0]
    for (key_id, archive), (_, following) in pairwise(keys):
        if key_id - first + 1 >= size and (archive is None or archive != following):
            yield first, key_id
            first = key_id + 1
    yield first, keys[-1][0]
