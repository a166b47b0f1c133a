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
from audit.output.terminal import LAST_RANK, DisplayColumn, fitted, lines_of
from audit.output.tex import POINTS_PER_PIXEL, tex_float, tex_tabular
from audit.output.write import rows_as_text
from audit.text import capital, visible
from audit.units import UNITS, Unit, write_cost

FORMATS = ("table", "csv", "json", "md", "tex")

# An aggregate of a column, as DuckDB names it, has the unit of the column.
AGGREGATE = re.compile(r'(?:avg|mean|median|min|max|sum|any_value)\((?:\w+\.)?"?(\w+)"?\)')
# Decimals of what has a unit and no decimals of its own in `sql/columns.csv`.
DECIMALS_OF_UNIT = {"%": 2, "points": 2, "× B": 2, "×": 2, "seconds": 3}


def round_half_up(value: float | Decimal, decimals: int) -> str:
    """Round a value to that many decimals, halves away from zero, and never to minus zero."""
    if not math.isfinite(value):
        return str(value)
    # Nine decimals first: 12.874999999999998 is a 12.875 that lost its last bit in a division.
    exact = Decimal(str(round(value, 9)))
    rounded = exact.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=400))
    return format(abs(rounded) if rounded == 0 else rounded, "f")


def _six_digits(value: float | Decimal) -> str:
    """Return a number of unknown meaning with at most six significant digits."""
    number = float(value)
    if number == 0:
        return "0"
    if not 1e-3 <= abs(number) < 1e15:
        return f"{number:.6g}"
    text = round_half_up(value, max(0, 5 - math.floor(math.log10(abs(number)))))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plain(value: Any) -> str:
    """Return any value as text; nested values as JSON."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool | list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def text_table(names: Sequence[str], rows: Iterable[Sequence[str | None]]) -> pa.Table:
    """Rows of texts as a table."""
    schema = pa.schema([(name, pa.string()) for name in names])
    return pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows], schema)


def values_of(column: Any) -> list[Any]:
    """Return the column as Python values, dates and times as text."""
    kind = column.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
        # Python's datetime cannot hold nanoseconds.
        column = column.cast(pa.string())
    return column.to_pylist()


def is_number(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def number_format(name: str | None, column: str) -> str:
    """Return how a column prints numbers: budget, cost, money, decimals, or "" for six digits.

    A cost is in the unit of the table; a budget is a cost with a name, such as 4k.
    """
    if name is None:
        return ""
    if aggregated := AGGREGATE.fullmatch(column):
        column = aggregated[1]
    described = engine.column(name, column)
    if described.unit == "cost":
        is_budget = column.removesuffix("_low").removesuffix("_high").endswith("budget")
        return "budget" if is_budget else "cost"
    if described.unit == "money":
        return "money"
    if described.decimals or described.unit:
        return described.decimals or str(DECIMALS_OF_UNIT.get(described.unit, 0))
    return ""


def _cell(value: Any, fmt: str, unit: Unit) -> str:
    """Return one value as the display formats print it."""
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        return _plain(value)
    if fmt in ("budget", "cost", "money") and math.isfinite(value):
        kind = UNITS["money"] if fmt == "money" else unit
        if fmt == "budget":
            return budget_name(value, kind)
        return write_cost(_exact(value), kind)
    if fmt.isdecimal():
        # A count has no decimals, though a column of its name holds means elsewhere.
        fmt = "0" if isinstance(value, int) else fmt
        text = round_half_up(value, int(fmt))
        return f"{int(text):,}" if fmt == "0" and math.isfinite(value) else text
    is_whole = not isinstance(value, float) and value == int(value)
    return str(value) if is_whole else _six_digits(value)


def _exact(value: float | Decimal) -> Decimal:
    """Return the number that a sum of floats stands for: 7485.499999999999 is a 7485.5."""
    return Decimal(str(round(value, 9)))


def budget_name(budget: float | Decimal, unit: Unit) -> str:
    """Return a budget as people say it: 4k, $0.25, 90 s."""
    if unit.many == "tokens" and budget and budget % 1000 == 0:
        return f"{int(budget) // 1000:,}k"
    return write_cost(_exact(budget), unit)


def columns_with_intervals(table: pa.Table) -> set[str]:
    """Return the columns X of numbers beside which X_low and X_high stand."""
    names = table.column_names
    numbers = {
        field.name
        for field in table.schema
        if is_number(field.type) and names.count(field.name) == 1
    }
    return {x for x in numbers if {f"{x}_low", f"{x}_high"} <= numbers}


def display_columns(name: str | None, table: pa.Table) -> list[DisplayColumn]:
    """Return the columns as printed: rounded, with X_low and X_high as an interval beside X.

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
            [_cell(value, fmt, unit) for value in values_of(each)] for each in (column, *sides)
        ]
        cells = [
            f"{cell} [{', '.join(ends)}]" if cell and ends and all(ends) else cell
            for cell, *ends in zip(*printed, strict=True)
        ]
        rank, words = LAST_RANK, header
        if name is not None:
            rank = int(engine.column(name, header).shown_first or LAST_RANK - 1)
            words = heading(header, name, unit)
        columns.append(DisplayColumn(header, cells, is_number(field.type), rank, words))
    return columns


def format_table(
    table: pa.Table, fmt: str, name: str | None = None, *, width: int | None = None
) -> str:
    """Return the table as text in one of FORMATS, ending with a line end.

    A `width` is that of a terminal: the format `table` then shows what fits, and names the rest.
    """
    if fmt in ("csv", "json"):
        return rows_as_text(table, fmt)
    if fmt not in FORMATS:
        raise AuditError(f"unknown format {fmt!r}: use one of {', '.join(FORMATS)}")
    columns = display_columns(name, table)
    if fmt == "tex" and name in engine.table_names():
        purpose = engine.table_purpose(name).encode()
        written = table.schema.metadata or {}
        caption = capital(written.get(b"caption", purpose).decode())
        pixels = int(written.get(b"width", b"0"))
        return tex_float(name, columns, table.num_rows, caption, pixels * POINTS_PER_PIXEL)
    if fmt == "table" and width is not None:
        text, left_out = fitted(columns, table.num_rows, width)
        return text + (_left_out(left_out, width) if left_out else "")
    return {"table": lines_of, "md": md_table, "tex": tex_tabular}[fmt](columns, table.num_rows)


def _left_out(names: list[str], width: int) -> str:
    """Return the line below a table that names the columns which did not fit."""
    text = f"… and {', '.join(map(visible, names))}; --wide shows all"
    return "\n".join(textwrap.wrap(text, width, break_on_hyphens=False)) + "\n"


_MD = {c: "\\" + c for c in "\\`*[]|~$#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def md_text(text: str) -> str:
    """Text on one line with the characters that Markdown reads as markup escaped."""
    text = "".join(_MD.get(c, c) for c in visible(text))
    # An underscore inside a word is plain text in Markdown; escaping it would only hurt the eye.
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", text)


def md_table(columns: list[DisplayColumn], rows: int) -> str:
    """Return the rows as a Markdown table, headers in words."""
    cells = [c.cells if c.numeric else [md_text(cell) for cell in c.cells] for c in columns]
    lines = [
        [md_text(column.heading) for column in columns],
        ["---:" if column.numeric else "---" for column in columns],
        *([column[row] for column in cells] for row in range(rows)),
    ]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
