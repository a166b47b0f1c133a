"""What differs between two databases: settings, sources, and the cells of every table."""

import math
import re
from collections.abc import Iterator
from typing import Any

import duckdb
import pyarrow as pa

from audit import engine
from audit.errors import AuditError

Difference = tuple[str, str, str, str | None, str | None]
Rows = dict[tuple[Any, ...], dict[str, Any]]


def diff(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, tolerance: float = 1e-9
) -> pa.Table:
    """A row per difference; numbers are the same within the tolerance, absolute or relative."""
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise AuditError(f"--tolerance {tolerance:g}: a number of 0 or more")
    found = list(_differences(old, new, tolerance))
    columns = [[one[place] for one in found] for place in range(5)]
    names = ("what", "row", "column", "old", "new")
    return pa.table(
        {name: pa.array(values, pa.string()) for name, values in zip(names, columns, strict=True)}
    )


def _differences(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, tolerance: float
) -> Iterator[Difference]:
    pairs = [(_settings(con), _sources(con)) for con in (old, new)]
    for what, before, after in (
        ("settings", pairs[0][0], pairs[1][0]),
        ("sources", pairs[0][1], pairs[1][1]),
    ):
        yield from _rows_differ(what, before, after, tolerance)
    for name in engine.table_names():
        tables = [_table(con, name) for con in (old, new)]
        if isinstance(tables[0], pa.Table) and isinstance(tables[1], pa.Table):
            keys = key_columns(name)
            yield from _columns_differ(name, tables[0].column_names, tables[1].column_names)
            left, right = (_keyed(table, keys) for table in tables)
            yield from _rows_differ(name, left, right, tolerance)
        elif isinstance(tables[0], pa.Table) != isinstance(tables[1], pa.Table):
            shown = [f"{t.num_rows:,} rows" if isinstance(t, pa.Table) else t for t in tables]
            yield name, "", "", shown[0], shown[1]


def _settings(con: duckdb.DuckDBPyConnection) -> Rows:
    try:
        rows = con.execute("select key, value from settings").fetchall()
    except duckdb.CatalogException:
        return {}
    return {(key,): {"value": value} for key, value in rows}


def _sources(con: duckdb.DuckDBPyConnection) -> Rows:
    """What was loaded, by archive and content: where a file lies makes no difference."""
    rows = con.execute(
        "select archive, sha256, sum(rows)::bigint from sources group by archive, sha256"
    ).fetchall()
    return {(archive, sha256[:12]): {"rows": count} for archive, sha256, count in rows}


def _table(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table | str:
    """A table, or why there is none."""
    try:
        return engine.table(con, name)
    except AuditError as error:
        return str(error)


def key_columns(name: str) -> list[str]:
    """The columns that identify a row of a table, as its file says."""
    text = (engine.resource("sql") / engine.stage_file(name)).read_text(encoding="utf-8")
    grain = re.search(r"^-- grain: (.+)$", text, re.MULTILINE)
    assert grain, name
    return [column.strip() for column in grain.group(1).split(",")]


def _keyed(table: pa.Table, keys: list[str]) -> Rows:
    known = [key for key in keys if key in table.column_names]
    return {tuple(row[key] for key in known): row for row in table.to_pylist()}


def _columns_differ(name: str, old: list[str], new: list[str]) -> Iterator[Difference]:
    for column in sorted(set(old) ^ set(new)):
        sides = ["there" if column in columns else None for columns in (old, new)]
        yield name, "", column, sides[0], sides[1]


def _rows_differ(what: str, old: Rows, new: Rows, tolerance: float) -> Iterator[Difference]:
    for key in sorted({*old, *new}, key=lambda key: tuple(map(str, key))):
        row = ", ".join(map(str, key))
        if key not in old or key not in new:
            yield what, row, "", *("there" if key in side else None for side in (old, new))  # type: ignore[misc]
            continue
        for column in old[key]:
            if column in new[key]:
                before, after = old[key][column], new[key][column]
                if not _is_same(before, after, tolerance):
                    yield what, row, column, _shown(before), _shown(after)


def _is_same(before: Any, after: Any, tolerance: float) -> bool:
    numbers = [isinstance(v, int | float) and not isinstance(v, bool) for v in (before, after)]
    if all(numbers):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return before == after


def _shown(value: Any) -> str | None:
    return None if value is None else repr(value) if isinstance(value, float) else str(value)
