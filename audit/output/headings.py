"""Columns as people read them: a name in words and its unit, and the unit of a table's costs."""

import duckdb
import pyarrow as pa

from audit import engine
from audit.units import UNITS, Unit

DEFAULT = UNITS["completion"]


def heading(column: str, table: str = "", unit: Unit = DEFAULT) -> str:
    """A column's name for people, with its unit."""
    said = engine.column(table, column).unit
    name = column.replace("_", " ")
    if said == "× B":
        return f"{name.removesuffix(' ratio')} / B"
    if not said or column.endswith("budget"):
        # A budget carries its unit itself: $0.25, 90 s.
        return name
    said = {"cost": unit.many, "money": UNITS["money"].many}.get(said, said)
    return name if name.endswith(f" {said}") else f"{name}, {said}"


def replayed_unit(con: duckdb.DuckDBPyConnection) -> Unit:
    """The unit of the last replay; the study's where there is none."""
    try:
        rows = con.execute("select value from settings where key = 'unit'").fetchall()
    except duckdb.Error:
        rows = []
    return UNITS.get(rows[0][0], DEFAULT) if rows else DEFAULT


def in_unit(con: duckdb.DuckDBPyConnection, table: pa.Table) -> pa.Table:
    """The table with the unit of its costs written beside it."""
    return table.replace_schema_metadata({"unit": replayed_unit(con).name})


def unit_of(table: pa.Table) -> Unit:
    """The unit that is written beside a table; the study's where there is none."""
    said = (table.schema.metadata or {}).get(b"unit", b"").decode()
    return UNITS.get(said, DEFAULT)
