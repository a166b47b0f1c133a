"""Confidence intervals as tables: the views `interval_x` computed a portion of keys at a time.

A quantile holds every replicate of a key in memory; for all keys at once that may be too much.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import duckdb
import numpy as np
import pyarrow as pa

from audit.engine.build import render, render_interval, render_keys
from audit.engine.draws import to_arrow
from audit.engine.lineage import scan_relations
from audit.engine.sql_files import list_interval_files, read_header, read_sql, read_weighing
from audit.text import quoted

# The most keys times replicates in a portion: of products by NumPy, and of searches in SQL.
ROWS_AT_A_TIME = 500_000
MATCHES_AT_A_TIME = 40_000
# The most products that NumPy holds; DuckDB joins larger portions and spills what does not fit.
MOST_PRODUCTS = 10_000_000
# The most counts that are converted from one byte to eight at a time, to save memory.
COUNTS_AT_A_TIME = 4_000_000
# The relations that each search for equal costs reads repeatedly, so that they are copied first.
SEARCH = "replicate_matches"
MATCHED = {
    SEARCH: ("walk_blocks", "block_costs", "answer_blocks"),
    "replicate_terminal_cost": ("walk_blocks", "block_costs", "answer_blocks", "terminal_blocks"),
}
SOME_KEYS = "from temp.interval_keys where key_id between {} and {}"


def list_intervals(table: str) -> frozenset[str]:
    """Return the names of the views in `sql/intervals` that a table reads."""
    return scan_relations(render(table)) & set(list_interval_files())


def fill_interval(con: duckdb.DuckDBPyConnection, table: str, name: str, kind: str) -> None:
    """Create a table with all rows of a view `interval_x`, computed a portion of keys at a time."""
    weighed = read_weighing(name)
    if weighed:
        keys, selects = render_keys(weighed), _select_weighed(con, name, weighed.values)
    else:
        keys, selects = render("matching_keys"), _select_matched(con, name)
    begin = f"create {kind} {table} as"
    try:
        con.execute(f"create or replace temp table interval_keys as {keys}")
        for select in selects:
            con.execute(f"{begin} {select}")
            begin = f"insert into {table}"
    finally:
        con.execute("drop table if exists temp.interval_keys")


def _select_weighed(
    con: duckdb.DuckDBPyConnection, name: str, values: Sequence[str]
) -> Iterator[str]:
    """Yield a select per portion of an `interval_x`, after NumPy has multiplied totals by counts.

    The view joins the lists of both instead (`replicates.jinja`), which takes ten times as long.
    """
    counts = _read_counts(con)
    together = read_header(name).get("together", "")
    for first, last in _split_keys(con, together, ROWS_AT_A_TIME // len(counts)):
        keys = SOME_KEYS.format(first, last)
        if (last - first + 1) * len(counts) > MOST_PRODUCTS:
            yield render_interval(name, keys)
            continue
        con.register("interval_products", _multiply(con, keys, values, counts))
        try:
            yield render_interval(name, keys, "interval_products")
        finally:
            con.unregister("interval_products")


def _read_counts(con: duckdb.DuckDBPyConnection) -> np.ndarray:
    """Return a matrix of how often each replicate (row) draws each problem (column)."""
    ((replicates,),) = con.execute("select max(replicate) + 1 from bootstrap_counts").fetchall()
    rows = "from bootstrap_counts order by replicate, first_problem"
    columns = con.execute(f"select unnest(counts) as counts from ({rows})").fetchnumpy()
    return np.asarray(columns["counts"]).reshape(replicates, -1)


def _multiply(
    con: duckdb.DuckDBPyConnection, keys: str, values: Sequence[str], counts: np.ndarray
) -> pa.Table:
    """Return each key's totals per problem times each replicate's counts, a row per pair."""
    lists = ", ".join(f"unnest({value}) as {value}" for value in values)
    found = con.execute(f"select key_id, unnest(problem_ids) as problem_id, {lists} {keys}")
    rows = found.fetchnumpy()
    key_ids, numbers = np.unique(rows["key_id"], return_inverse=True)
    replicates, problems = counts.shape
    totals = np.zeros((1 + len(values), len(key_ids), problems))
    totals[0, numbers, rows["problem_id"] - 1] = 1
    for number, value in enumerate(values, 1):
        totals[number, numbers, rows["problem_id"] - 1] = rows[value]
    # One large product is faster: threads that share a small one mostly wait for each other.
    factors = totals.reshape(-1, problems)
    products = np.empty((len(factors), replicates))
    step = max(1, COUNTS_AT_A_TIME // problems)
    for at in range(0, replicates, step):
        some = counts[at : at + step].T.astype(float)
        np.matmul(factors, some, out=products[:, at : at + step])
    columns = products.reshape(1 + len(values), -1)
    return pa.table(
        {
            "key_id": to_arrow(np.repeat(np.int32(key_ids), replicates), np.int32),
            "replicate": to_arrow(
                np.tile(np.arange(replicates, dtype=np.int32), len(key_ids)), np.int32
            ),
            "draws": to_arrow(columns[0], float),
            **{
                value: to_arrow(column, float)
                for value, column in zip(values, columns[1:], strict=True)
            },
        }
    )


def _select_matched(con: duckdb.DuckDBPyConnection, name: str) -> Iterator[str]:
    """Yield a select per portion of an `interval_x` that searches for budgets of equal cost."""
    search = _find_search(name)
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
        for first, last in _split_keys(con, "", MATCHES_AT_A_TIME // replicates):
            keys = SOME_KEYS.format(first, last)
            yield f"with matching_keys as ({keys}){searches} from (\n{render(name)}\n)"
    finally:
        for relation in MATCHED[search]:
            con.execute(f"drop table if exists temp.{relation}")


def _find_search(name: str) -> str:
    """Return the name of the search for equal costs that an `interval_x` reads."""
    (search,) = scan_relations(read_sql(name)) & set(MATCHED)
    return search


def _split_keys(
    con: duckdb.DuckDBPyConnection, together: str, size: int
) -> Iterator[tuple[int, int]]:
    """Yield the first and last key_id of each portion of at least `size` keys.

    Keys that belong `together` ("archive": those of an archive; "replicate": all) are not split.
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
