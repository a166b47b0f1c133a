"""Expectations of `check`: conditions that rows of a table must meet, such as accuracy >= 60."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import engine
from audit.engine.check import Checks
from audit.errors import AuditError
from audit.output.choose import plain_amounts, select_rows
from audit.output.diff import key_columns
from audit.output.display import is_number
from audit.output.headings import set_unit, unit_of
from audit.text import first_names, literal, quoted
from audit.units import COUNT, Unit, budget_name, read_budget

LAYOUT = "write it as 'archive, budget, rule: accuracy >= 60 and cost <= 9000'"
# Rows of one expectation whose values are reported.
MOST_MEASURED = 5


@dataclass(frozen=True)
class Expectation:
    """One expectation: rows of a table, by the values of their keys, and the SQL condition.

    `file` and `line` say where it was read; one from the command line has neither.
    """

    text: str
    table: str
    keys: tuple[str, ...]
    condition: str
    file: str = ""
    line: int = 0


def read_expectations(texts: Sequence[str]) -> list[Expectation]:
    """Parse expectations, each one a text or a file with one per line."""
    expectations = []
    for text in texts:
        if ":" in text and not os.path.isfile(text):
            expectations.append(_parse_expectation(text, "--expect"))
            continue
        try:
            lines = Path(text).read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise AuditError(f"--expect {text}: cannot be read ({error}); or {LAYOUT}") from None
        for number, line in enumerate(lines, 1):
            written = line.partition("#")[0].strip()
            if written:
                parsed = _parse_expectation(written, f"--expect {text}, line {number}")
                expectations.append(replace(parsed, file=text, line=number))
    if texts and not expectations:
        raise AuditError(f"--expect: nothing is expected there; {LAYOUT}")
    return expectations


def _parse_expectation(text: str, where: str) -> Expectation:
    """Parse 'table: key, key: condition'; the table is `curves` unless named."""
    keys, colon, condition = text.rpartition(":")
    if not colon:
        raise AuditError(f"{where}: '{text}' has no condition; {LAYOUT}")
    table = "curves"
    head, named, rest = keys.partition(":")
    if named and engine.is_table(head.strip()):
        table, keys = head.strip(), rest
    names = tuple(key.strip() for key in keys.split(","))
    return Expectation(text.strip(), table, names, condition.strip())


def check_expectations(
    con: duckdb.DuckDBPyConnection, expected: Sequence[Expectation]
) -> tuple[pa.Table, list[str]]:
    """Test every expectation; return a check for each, and a line for each row that fails."""
    checks, failures = Checks(), []
    tables = {
        name: set_unit(con, engine.compute_table(con, name)) for name in {e.table for e in expected}
    }
    for one in expected:
        rows, failed, measured = _measure_expectation(one, tables[one.table])
        is_named = one.text.startswith(f"{one.table}:")
        place = {"file": one.file or None, "line": one.line or None, "measured": measured}
        claim = one.text if is_named else f"{one.table}: {one.text}"
        checks.add(f"expect {one.text}", claim, rows, len(failed), **place)
        failures += [f"failed: {one.text}: {line}" for line in failed]
    return checks.table(), failures


def _measure_expectation(expectation: Expectation, table: pa.Table) -> tuple[int, list[str], str]:
    """Test one expectation: return its number of rows, a line per failure, and the values.

    A null meets no condition.
    """
    keys = [name for name in table.column_names if name in key_columns(expectation.table)]
    where, unit = f"--expect '{expectation.text}'", unit_of(table)
    layout = f"write {', '.join(keys)}"
    if len(expectation.keys) > len(keys):
        raise AuditError(f"{where}: {expectation.table} has fewer keys; {layout}")
    rows = table
    for key, written in zip(keys, expectation.keys, strict=False):
        values = dict.fromkeys(_format_key(value, key, unit) for value in rows[key].to_pylist())
        rows = select_rows(rows, _write_key_condition(rows, key, written, unit), where)
        if not rows.num_rows:
            raise AuditError(
                f"{where}: no row of {expectation.table} has {key} '{written}': {layout}; "
                f"there are {first_names(list(values), 12)}"
            )
    condition = plain_amounts(expectation.condition, unit, where)
    failed = select_rows(rows, f"({condition}) is not true", where)
    columns = [name for name in table.column_names if re.search(rf"\b{name}\b", condition)]

    def describe(row: dict[str, Any]) -> str:
        place = ", ".join(_format_key(row[key], key, unit) for key in keys)
        return f"{place}: {', '.join(_describe_value(name, row[name]) for name in columns)}"

    failures = [describe(row) for row in failed.to_pylist()]
    # Where rows fail, only theirs are listed: among many that pass they would be lost.
    lines = failures or [describe(row) for row in rows.to_pylist()]
    more = f"; and {len(lines) - MOST_MEASURED:,} more" if len(lines) > MOST_MEASURED else ""
    return rows.num_rows, failures, "; ".join(lines[:MOST_MEASURED]) + more


def _describe_value(column: str, value: Any) -> str:
    """Write a column and its value: 'accuracy is 61.2'."""
    if value is None:
        return f"{column} has no value"
    return f"{column} is {value:.6g}" if isinstance(value, float) else f"{column} is {value}"


def _write_key_condition(table: pa.Table, key: str, written: str, unit: Unit) -> str:
    """Write the SQL condition for a key that is given as an amount, a name or a pattern."""
    if written in ("", "*"):
        return "true"
    if is_number(table.schema.field(key).type):
        try:
            is_budget = key.endswith("budget")
            value = (
                read_budget(written, unit) / unit.scale
                if is_budget
                else read_budget(written, COUNT)
            )
        except ValueError:
            return "false"
        return f"{quoted(key)} = {value!r}::double"
    return f"({quoted(key)} = {literal(written)} or {quoted(key)} glob {literal(written)})"


def _format_key(value: Any, key: str, unit: Unit) -> str:
    """Write the value of a key: a budget in short, such as 4k, anything else as it is."""
    is_budget = key.endswith("budget") and isinstance(value, int | float)
    return budget_name(value, unit) if is_budget else str(value)
