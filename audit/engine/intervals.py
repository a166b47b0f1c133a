"""Confidence intervals as tables: the rows of an `interval_x`, made for some of its keys at a time.

A quantile holds every replicate of a key in memory; for all keys at once that may be too much.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import duckdb

from audit.engine.build import interval_sql, keys_sql, render
from audit.engine.lineage import relations_named
from audit.engine.sql_files import header, interval_names, text, weighing
from audit.text import quoted

# Keys times replicates that are weighed at a time, and those that are matched, which take more.
ROWS_AT_A_TIME = 1_500_000
MATCHES_AT_A_TIME = 40_000
# What the search for equal costs reads again and again.
SEARCH = "replicate_matches"
MATCHED = {
    SEARCH: ("walk_blocks", "block_costs", "answer_blocks"),
    "replicate_terminal_cost": ("walk_blocks", "block_costs", "answer_blocks", "terminal_blocks"),
}


def intervals_read(table: str) -> frozenset[str]:
    """Return the relations of `sql/intervals` that a table reads."""
    return relations_named(render(table)) & set(interval_names())


def fill_interval(con: duckdb.DuckDBPyConnection, table: str, name: str, kind: str) -> None:
    """Create a table with the rows of an `interval_x`, for some keys at a time."""
    weighed = weighing(name)
    search = "" if weighed else search_of(name)
    catalog = quoted(con.execute("select current_database()").fetchall()[0][0])
    beside = MATCHED.get(search, ())
    keys = keys_sql(weighed) if weighed else render("matching_keys")
    try:
        for relation in beside:
            source = f"{catalog}.main.{relation}"
            con.execute(f"create or replace temp table {relation} as from {source}")
        con.execute(f"create or replace temp table interval_keys as {keys}")
        ranges = _key_ranges(con, header(name).get("together", ""), bool(search))
        for number, (first, last) in enumerate(ranges):
            begin = f"create {kind} {table} as" if number == 0 else f"insert into {table}"
            con.execute(f"{begin} {_portion_sql(name, search, first, last)}")
    finally:
        for relation in (*beside, "interval_keys"):
            con.execute(f"drop table if exists temp.{relation}")


def search_of(name: str) -> str:
    """Return the search for equal costs that an `interval_x` is computed from."""
    (search,) = relations_named(text(name)) & set(MATCHED)
    return search


def _portion_sql(name: str, search: str, first: int, last: int) -> str:
    """Return the select of an `interval_x` for the keys from `first` to `last`."""
    keys = f"from temp.interval_keys where key_id between {first} and {last}"
    if not search:
        return interval_sql(name, keys)
    searches = "".join(
        f", {each} as not materialized (\n{render(each)}\n)"
        for each in dict.fromkeys((SEARCH, search))
    )
    return f"with matching_keys as ({keys}){searches} from (\n{render(name)}\n)"


def _key_ranges(
    con: duckdb.DuckDBPyConnection, together: str, is_matched: bool
) -> Sequence[tuple[int, int]]:
    """Return the first and last key of every portion; all of an archive where it is `together`."""
    ((replicates,),) = con.execute("select count(*) from replicate_counts").fetchall()
    columns = "key_id, archive" if together == "archive" else "key_id, null"
    order = f"select {columns} from temp.interval_keys order by key_id"
    keys = con.execute(order).fetchall()
    if together == "replicate" or not keys:
        return [(0, len(keys))]
    size = max(1, (MATCHES_AT_A_TIME if is_matched else ROWS_AT_A_TIME) // replicates)
    return list(_ranges(keys, size))


def _ranges(keys: Sequence[tuple[int, str | None]], size: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of at least `size` keys, which end between two archives where they have them."""
    first = keys[0][0]
    for (key_id, archive), (_, following) in pairwise(keys):
        if key_id - first + 1 >= size and (archive is None or archive != following):
            yield first, key_id
            first = key_id + 1
    yield first, keys[-1][0]
