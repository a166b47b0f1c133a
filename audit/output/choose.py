"""Select, sort and reorder the rows and columns of a table."""

import re
from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError, first_line
from audit.output.headings import unit_of
from audit.text import not_there
from audit.units import Unit, read_budget

# A text in quotes, which is not changed, or an amount such as 4k, $0.50 or 90s.
NUMBER = r"(?:\d[\d_]*\.?\d*|\.\d+)"
AMOUNT = re.compile(
    rf"'[^']*'|\"[^\"]*\"|(?<![\w.])\$?{NUMBER}(?:e[+-]?\d+|[a-zA-Z]*)", re.IGNORECASE
)


def choose(
    table: pa.Table,
    columns: Sequence[str] = (),
    sort: Sequence[str] = (),
    limit: int | None = None,
    *,
    where: str | None = None,
    order: Sequence[str] = (),
) -> pa.Table:
    """Select, sort and limit rows and columns of a table; keep the intervals of columns.

    `where` is a condition of SQL, `order` names archives in their order, and `sort` names columns
    (-name: largest first).
    """
    for name in [*columns, *(key.removeprefix("-") for key in sort)]:
        if name not in table.column_names:
            raise AuditError(not_there("column", name, table.column_names))
    if where:
        source = f"--where '{where}'"
        table = select_rows(table, plain_amounts(where, unit_of(table), source), source)
    if order:
        table = _order_archives(table, order)
    if sort:
        keys = [
            (key.removeprefix("-"), "descending" if key.startswith("-") else "ascending")
            for key in sort
        ]
        # The sort is stable: rows with equal keys keep their order.
        table = table.sort_by(keys)
    if columns:
        selected = []
        for name in columns:
            bounds = [f"{name}_{end}" for end in ("low", "high")]
            selected += [name, *(bound for bound in bounds if bound in table.column_names)]
        table = table.select(list(dict.fromkeys(selected)))
    return table if limit is None else table.slice(0, limit)


def select_rows(table: pa.Table, where: str, source: str) -> pa.Table:
    """Return the rows that meet an SQL condition, which can read no file or other table."""
    closed: dict[str, Any] = {
        "enable_external_access": "false",
        "python_enable_replacements": "false",
    }
    with duckdb.connect(config=closed) as con:
        con.register("rows_of_table", table)
        try:
            # The line end keeps a comment from hiding the bracket.
            sql = f"from rows_of_table where ({where}\n)"
            return con.sql(sql).to_arrow_table().cast(table.schema)
        except duckdb.Error as error:
            unknown = re.match(r'Binder Error: Referenced column "(.*?)" not found', str(error))
            columns = table.column_names
            reason = not_there("column", unknown[1], columns) if unknown else first_line(error)
            raise AuditError(f"{source}: {reason}") from None


def plain_amounts(condition: str, unit: Unit, source: str) -> str:
    """Return a condition of SQL in which amounts of the unit, such as 4k, are plain numbers."""

    def plain(found: re.Match[str]) -> str:
        written = found[0]
        if written[0] in "'\"" or re.fullmatch(rf"{NUMBER}(e[+-]?\d+)?", written):
            return written
        try:
            return repr(read_budget(written, unit) / unit.scale)
        except ValueError as error:
            raise AuditError(f"{source}: {error}") from None

    return AMOUNT.sub(plain, condition)


def _order_archives(table: pa.Table, order: Sequence[str]) -> pa.Table:
    """Sort the rows: these archives first, in this order, and the others as they were."""
    if "archive" not in table.column_names:
        raise AuditError("--order: this table has no archives")
    archives = table["archive"].to_pylist()
    first = put_first(order, sorted({*archives}))[: len({*order})]
    places = {name: place for place, name in enumerate(first)}
    rows = sorted(range(len(archives)), key=lambda row: places.get(archives[row], len(places)))
    return table.take(rows)


def put_first(order: Sequence[str], archives: Sequence[str]) -> list[str]:
    """Return all archives, those named in `order` first; refuse an unknown one."""
    for name in order:
        if name not in archives:
            raise AuditError(f"--order: {not_there('archive', name, archives)}")
    return list(dict.fromkeys([*order, *archives]))
