"""Headings of columns, in words and with a unit, and the unit of a table's costs."""

import duckdb
import pyarrow as pa

from audit import engine
from audit.units import UNITS, Unit

DEFAULT = UNITS["completion"]


def heading(column: str, table: str = "", unit: Unit = DEFAULT) -> str:
    """Write a column's heading: its name in words and its unit, such as 'accuracy, %'."""
    said = engine.find_column_meaning(table, column).unit
    name = column.replace("_", " ")
    if said == "× B":
        return f"{name.removesuffix(' ratio')} / B"
    is_signed = said == "money" or (said == "cost" and unit.symbol)
    if not said or is_signed or column.endswith("budget"):
        # The cells carry the unit themselves: 4k, $0.25, 90 s.
        return name
    said = unit.many if said == "cost" else said
    return name if name.endswith(f" {said}") else f"{name}, {said}"


def replayed_unit(con: duckdb.DuckDBPyConnection) -> Unit:
    """Return the budget unit of the last replay; completion tokens without one."""
    try:
        rows = con.execute("select value from settings where key = 'unit'").fetchall()
    except duckdb.Error:
        rows = []
    return UNITS.get(rows[0][0], DEFAULT) if rows else DEFAULT


def set_unit(con: duckdb.DuckDBPyConnection, table: pa.Table) -> pa.Table:
    """Add the budget unit of the last replay to a table's metadata."""
    return table.replace_schema_metadata({"unit": replayed_unit(con).name})


def set_width(table: pa.Table, pixels: int | None) -> pa.Table:
    """Add a table's width on paper, in pixels, to its metadata."""
    if pixels is None:
        return table
    return table.replace_schema_metadata({**(table.schema.metadata or {}), "width": str(pixels)})


def unit_of(table: pa.Table) -> Unit:
    """Read the budget unit from a table's metadata; completion tokens without one."""
    said = (table.schema.metadata or {}).get(b"unit", b"").decode()
    return UNITS.get(said, DEFAULT)
