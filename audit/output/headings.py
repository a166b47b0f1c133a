"""Columns as people read them: a name in words, and its unit."""

from audit import engine


def heading(column: str, table: str = "") -> str:
    """A column's name for people, with its unit."""
    unit = engine.column(table, column).unit
    name = column.replace("_", " ")
    if unit == "× B":
        return f"{name.removesuffix(' ratio')} / B"
    if column.endswith("budget"):
        return name
    return f"{name}, {'tokens' if unit == 'cost' else unit}" if unit else name
