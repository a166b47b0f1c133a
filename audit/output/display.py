"""Arrow tables as text: csv and json in full precision; table, md and tex as the study rounds."""

import json
import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import pyarrow as pa

from audit import engine
from audit.errors import AuditError
from audit.output.headings import heading, unit_of
from audit.output.terminal import LAST_RANK, DisplayColumn, fit_to_width, lay_out
from audit.output.tex import POINTS_PER_PIXEL, tex_float, tex_tabular
from audit.output.write import rows_as_text
from audit.text import capital, visible
from audit.units import UNITS, Unit, budget_name, round_float, write_cost

FORMATS = ("table", "csv", "json", "md", "tex")

# An aggregate of a column, as DuckDB names it, has the unit of the column.
AGGREGATE = re.compile(r'(?:avg|mean|median|min|max|sum|any_value)\((?:\w+\.)?"?(\w+)"?\)')
# Decimals of columns that have a unit but no decimals in `sql/columns.csv`.
DECIMALS_OF_UNIT = {"%": 2, "points": 2, "× B": 2, "×": 2, "seconds": 3}


def round_half_up(value: float | Decimal, decimals: int) -> str:
    """Round to this many decimals, halves away from zero, and return text without minus zero."""
    if not math.isfinite(value):
        return str(value)
    # Nine decimals first: a division turns 12.875 into 12.874999999999998.
    exact = Decimal(str(round(value, 9)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=400))
    return format(abs(rounded) if rounded == 0 else rounded, "f")


def _round_to_six_digits(value: float | Decimal) -> str:
    """Write a number with at most six significant digits, for columns that declare no decimals."""
    number = float(value)
    if number == 0:
        return "0"
    if not 1e-3 <= abs(number) < 1e15:
        return f"{number:.6g}"
    text = round_half_up(value, max(0, 5 - math.floor(math.log10(abs(number)))))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _write_value(value: Any) -> str:
    """Write a value that is no number as text: lists and structs as JSON, bytes in hexadecimal."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def text_table(names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> pa.Table:
    """Make an Arrow table of text columns with these names from rows of texts."""
    schema = pa.schema([(name, pa.string()) for name in names])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema)


def values_of(column: Any) -> list[Any]:
    """Convert an Arrow column to a list of Python values, dates and times as text."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
        # Python's datetime cannot hold nanoseconds.
        column = column.cast(pa.string())
    return column.to_pylist()


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def number_format(name: str | None, column: str) -> str:
    """Return a column's number format: budget, cost, money, its decimals, or "" for six digits.

    A cost is in the unit of the table; a budget is a cost with a name, such as 4k.
    """
    if name is None:
        return ""
    if aggregated := AGGREGATE.fullmatch(column):
        column = aggregated[1]
    described = engine.find_column_meaning(name, column)
    if described.unit == "cost":
        is_budget = column.removesuffix("_low").removesuffix("_high").endswith("budget")
        return "budget" if is_budget else "cost"
    if described.unit == "money":
        return "money"
    if described.decimals or described.unit:
        return described.decimals or str(DECIMALS_OF_UNIT.get(described.unit, 0))
    return ""


def _format(value: Any, fmt: str, unit: Unit) -> str:
    """Write one value of a column, by the column's number format."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return _write_value(value)
    if fmt in ("budget", "cost", "money") and math.isfinite(value):
        kind = UNITS["money"] if fmt == "money" else unit
        if fmt == "budget":
            return budget_name(value, kind)
        return write_cost(round_float(value), kind)
    if fmt.isdecimal():
        # A count has no decimals, though a column of its name holds means elsewhere.
        fmt = "0" if isinstance(value, int) else fmt
        text = round_half_up(value, int(fmt))
        return f"{int(text):,}" if fmt == "0" and math.isfinite(value) else text
    is_whole = not isinstance(value, float) and value == int(value)
    return str(value) if is_whole else _round_to_six_digits(value)


def columns_with_intervals(table: pa.Table) -> set[str]:
    """Return the numeric columns X for which the table also has X_low and X_high."""
    names = table.column_names
    numbers = {
        field.name
        for field in table.schema
        if is_number(field.type) and names.count(field.name) == 1
    }
    return {x for x in numbers if {f"{x}_low", f"{x}_high"} <= numbers}


def display_columns(name: str | None, table: pa.Table) -> list[DisplayColumn]:
    """Return the columns as text to print: numbers rounded, X_low and X_high merged into X.

    `name` is the table's name in the interface; None stands for an ad hoc query, whose numbers keep
    six significant digits.
    """
    unit, merged = unit_of(table), columns_with_intervals(table)
    bounds = {f"{x}_{end}" for x in merged for end in ("low", "high")}
    columns = []
    for field, column in zip(table.schema, table.columns, strict=True):
        header = field.name
        if header in bounds:
            continue
        fmt = number_format(name, header)
        sides = [table[f"{header}_{end}"] for end in ("low", "high")] if header in merged else []
        printed = [
            [_format(value, fmt, unit) for value in values_of(each)] for each in (column, *sides)
        ]
        cells = [
            f"{cell} [{', '.join(ends)}]" if cell and ends and all(ends) else cell
            for cell, *ends in zip(*printed, strict=True)
        ]
        rank, words = LAST_RANK, header
        if name is not None:
            rank = int(engine.find_column_meaning(name, header).shown_first or LAST_RANK - 1)
            words = heading(header, name, unit)
        columns.append(DisplayColumn(header, cells, is_number(field.type), rank, words))
    return columns


def format_table(
    table: pa.Table, fmt: str, name: str | None = None, *, width: int | None = None
) -> str:
    """Return the table as text in one of FORMATS, ending with a newline.

    `width` is that of a terminal: the format `table` drops columns that do not fit, and names them.
    """
    if fmt in ("csv", "json"):
        return rows_as_text(table, fmt)
    if fmt not in FORMATS:
        raise AuditError(f"unknown format {fmt!r}: use one of {', '.join(FORMATS)}")
    columns = display_columns(name, table)
    if fmt == "tex" and name in engine.list_tables():
        purpose = engine.describe_table(name).encode()
        written = table.schema.metadata or {}
        caption = capital(written.get(b"caption", purpose).decode())
        pixels = int(written.get(b"width", b"0"))
        return tex_float(name, columns, table.num_rows, caption, pixels * POINTS_PER_PIXEL)
    if fmt == "table" and width is not None:
        text, left_out = fit_to_width(columns, table.num_rows, width)
        return text + (_name_hidden_columns(left_out, width) if left_out else "")
    return {"table": lay_out, "md": md_table, "tex": tex_tabular}[fmt](columns, table.num_rows)


def _name_hidden_columns(names: list[str], width: int) -> str:
    """Write the line below a table that names the columns that did not fit."""
    text = f"… and {', '.join(map(visible, names))}; --wide shows all"
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) + "\n"


_MD = {c: "\\" + c for c in "\\`*[]|~$#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def escape_md(text: str) -> str:
    """Escape the characters of a text that Markdown reads as markup, on one line."""
    text = "".join(_MD.get(c, c) for c in visible(text))
    # An underscore inside a word is plain text in Markdown; escaping it would only hurt the eye.
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)


def md_table(columns: list[DisplayColumn], rows: int) -> str:
    """Write the rows as a Markdown table, with headings in words."""
    cells = [c.cells if c.numeric else [escape_md(cell) for cell in c.cells] for c in columns]
    lines = [
        [escape_md(column.heading) for column in columns],
        ["---:" if column.numeric else "---" for column in columns],
        *([column[row] for column in cells] for row in range(rows)),
    ]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
