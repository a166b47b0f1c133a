"""Expectations: thresholds that the numbers of a table must meet, one line each."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import engine
from audit.errors import AuditError
from audit.output.diff import key_columns
from audit.output.display import budget_name, is_number
from audit.output.headings import unit_of
from audit.text import first_names, literal, not_there, quoted
from audit.units import Unit, read_budget, whole_number

LAYOUT = "write it as 'archive, budget, rule: accuracy >= 60 and cost <= 9000'"
# Rows of one expectation whose values are reported.
MOST_MEASURED = 5
NUMBER = r"[-+]?\$?(?:\d[\d_]*\.?\d*|\.\d+)[a-zA-Z]*"
CONDITION = re.compile(rf"(\w+)\s*(<=|>=|==|<>|!=|=|<|>)\s*({NUMBER}|'[^']*')")


@dataclass(frozen=True)
class Expectation:
    """Rows of a table, named by the values of their keys, and what must hold of each.

    `file` and `line` say where it is written; an option has neither.
    """

    text: str
    table: str
    keys: tuple[str, ...]
    conditions: tuple[tuple[str, str, str], ...]
    file: str = ""
    line: int = 0


@dataclass(frozen=True)
class Outcome:
    """How many rows an expectation concerns, what was measured, and a line for each failure."""

    rows: int
    measured: str
    failures: list[str]


def read_expectations(texts: Sequence[str]) -> list[Expectation]:
    """Return expectations as they are written, or from files of them, a line each."""
    expectations = []
    for text in texts:
        path = Path(text)
        if ":" in text and not _is_file(path):
            expectations.append(_parsed(text, "--expect"))
            continue
        try:
            lines = path.read_text(encoding="utf-8-sig").splitlines()
        except OSError as error:
            reason = error.strerror or str(error)
            raise AuditError(f"--expect {path}: cannot be read ({reason}); or {LAYOUT}") from None
        except UnicodeDecodeError:
            raise AuditError(f"--expect {path}: not UTF-8 text") from None
        for number, line in enumerate(lines, 1):
            written = line.partition("#")[0].strip()
            if written:
                parsed = _parsed(written, f"--expect {path}, line {number}")
                expectations.append(replace(parsed, file=str(path), line=number))
    if texts and not expectations:
        raise AuditError(f"--expect: nothing is expected there; {LAYOUT}")
    return expectations


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # A text may be longer than the name of any file.
        return False


def _parsed(text: str, where: str) -> Expectation:
    """Return one expectation: a table, if named, the keys, and conditions joined by 'and'."""
    keys, colon, condition_text = text.rpartition(":")
    table = "curves"
    head, named, rest = keys.partition(":")
    if named and engine.is_table(head.strip()):
        table, keys = head.strip(), rest
    conditions = []
    for part in re.split(r"\s+and\s+", condition_text.strip()):
        match = CONDITION.fullmatch(part.strip())
        if not colon or not match:
            raise AuditError(f"{where}: '{part.strip()}' is no condition; {LAYOUT}")
        conditions.append((match[1], match[2], match[3]))
    return Expectation(
        text.strip(), table, tuple(key.strip() for key in keys.split(",")), tuple(conditions)
    )


def outcome(expectation: Expectation, table: pa.Table) -> Outcome:
    """Return whether the rows that an expectation names meet its conditions; a null meets none."""
    keys = [name for name in table.column_names if name in key_columns(expectation.table)]
    where, unit = f"--expect '{expectation.text}'", unit_of(table)
    if len(expectation.keys) > len(keys):
        raise AuditError(f"{where}: {expectation.table} has the keys {', '.join(keys)}")
    conditions = [_condition(expectation.table, table, c, where) for c in expectation.conditions]
    named = dict(zip(keys, expectation.keys, strict=False))
    meant = [_is_meant(table, key, written, unit) for key, written in named.items()]
    with duckdb.connect() as con:
        con.register("rows_of_table", table)
        held = ", ".join(f"coalesce({each}, false)" for each in conditions)
        rows = con.sql(
            f"select *, [{held}] as holds from rows_of_table where {' and '.join(meant) or 'true'}"
        ).to_arrow_table()
        if not rows.num_rows:
            counts = [f"count(*) filter ({each})" for each in meant]
            ((*found,),) = con.execute(f"select {', '.join(counts)} from rows_of_table").fetchall()
            lacking = [key for key, count in zip(named, found, strict=True) if not count]
            why = _no_row(expectation, table, keys, lacking[0] if lacking else None)
            raise AuditError(f"{where}: {why}")
    measured, failed = [], []
    for row in rows.to_pylist():
        place = ", ".join(_key_text(row[key], key, unit) for key in keys)
        for (column, sign, written), holds in zip(
            expectation.conditions, row["holds"], strict=True
        ):
            value = row[column]
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)
            says = f"{place}: {column} {'has no value' if value is None else f'is {shown}'}"
            measured.append(says)
            if not holds:
                failed.append(f"{says}, expected {sign} {written}")
    # What fails is measured too; beside many rows that hold, it must not be lost.
    lines = [line.partition(", expected")[0] for line in failed] or measured
    more = f"; and {len(lines) - MOST_MEASURED:,} more" if len(lines) > MOST_MEASURED else ""
    return Outcome(rows.num_rows, "; ".join(lines[:MOST_MEASURED]) + more, failed)


def _condition(name: str, table: pa.Table, condition: tuple[str, str, str], where: str) -> str:
    """Return a condition on a column as SQL, its bound read in the unit of the table."""
    column, sign, written = condition
    if column not in table.column_names:
        keys = key_columns(name)
        columns = [other for other in table.column_names if other not in keys]
        raise AuditError(f"{where}: {not_there('column', column, columns)}")
    bound = _bound(written, name, column, unit_of(table), where)
    is_text = pa.types.is_string(table.schema.field(column).type)
    if is_text != isinstance(bound, str):
        kind = "text: compare it with 'a word'" if is_text else "no text"
        raise AuditError(f"{where}: {column} is {kind}")
    shown = literal(bound) if isinstance(bound, str) else f"{bound!r}::double"
    return f"{quoted(column)} {sign} {shown}"


def _is_meant(table: pa.Table, key: str, written: str, unit: Unit) -> str:
    """Return the condition of SQL that a key is what is written: an amount, a name or a pattern."""
    if written in ("", "*"):
        return "true"
    if is_number(table.schema.field(key).type):
        try:
            is_budget = key.endswith("budget")
            value = read_budget(written, unit) / unit.scale if is_budget else whole_number(written)
        except ValueError:
            return "false"
        return f"{quoted(key)} = {value!r}::double"
    return f"({quoted(key)} = {literal(written)} or {quoted(key)} glob {literal(written)})"


def _bound(written: str, table: str, column: str, unit: Unit, where: str) -> float | str:
    """Return what a value is compared with: a text, an amount of the unit, or a number."""
    if written.startswith("'"):
        return written[1:-1]
    if re.fullmatch(r"[-+]?[\d_.]+", written):
        return float(written.replace("_", ""))
    sign, amount = -1 if written.startswith("-") else 1, written.lstrip("+-")
    try:
        if engine.column(table, column).unit == "cost":
            return sign * read_budget(amount, unit) / unit.scale
        return sign * whole_number(amount)
    except ValueError as error:
        raise AuditError(f"{where}: {error}") from None


def _no_row(expectation: Expectation, table: pa.Table, keys: list[str], lacking: str | None) -> str:
    """Return why no row is meant: the key that no row has, and those that there are."""
    name, layout = expectation.table, f"write {', '.join(keys)}"
    if lacking is None:
        return f"no row of {name} has all of these keys: {layout}"
    written, unit = expectation.keys[keys.index(lacking)], unit_of(table)
    values = list(dict.fromkeys(_key_text(v, lacking, unit) for v in table[lacking].to_pylist()))
    there = first_names(values, 12)
    return f"no row of {name} has {lacking} '{written}': {layout}; there are {there}"


def _key_text(value: Any, key: str, unit: Unit) -> str:
    """Return a key as people write it."""
    is_budget = key.endswith("budget") and isinstance(value, int | float)
    return budget_name(value, unit) if is_budget else str(value)
