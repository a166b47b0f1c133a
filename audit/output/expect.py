"""Expectations: thresholds that the numbers of a table must meet, one line each."""

import fnmatch
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit import engine
from audit.errors import AuditError
from audit.output.diff import key_columns
from audit.output.display import budget_name
from audit.output.headings import unit_of
from audit.text import first_names, not_there
from audit.units import Unit, read_budget, whole_number

LAYOUT = "write it as 'archive, budget, rule: accuracy >= 60 and cost <= 9000'"
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
}
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
    """Expectations as they are written, or from files of them, a line each."""
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
    """One expectation: an optional table, the keys, and conditions joined by 'and'."""
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
    """Whether the rows that an expectation names meet its conditions."""
    keys = [name for name in table.column_names if name in key_columns(expectation.table)]
    where, unit = f"--expect '{expectation.text}'", unit_of(table)
    if len(expectation.keys) > len(keys):
        raise AuditError(f"{where}: {expectation.table} has the keys {', '.join(keys)}")
    for column, _, _ in expectation.conditions:
        if column not in table.column_names:
            columns = [name for name in table.column_names if name not in keys]
            raise AuditError(f"{where}: {not_there('column', column, columns)}")
    bounds = [
        (column, sign, written, _bound(written, expectation.table, column, unit, where))
        for column, sign, written in expectation.conditions
    ]
    written_keys = list(zip(keys, expectation.keys, strict=False))
    rows = [
        row
        for row in table.to_pylist()
        if all(_is_same(row[key], written, key, unit) for key, written in written_keys)
    ]
    if not rows:
        raise AuditError(f"{where}: {_no_row(expectation, table, keys, unit)}")
    failed, measured = [], []
    for row in rows:
        place = ", ".join(_key_text(row[key], key, unit) for key in keys)
        for column, sign, written, bound in bounds:
            value = row[column]
            if value is not None and isinstance(value, str) != isinstance(bound, str):
                kind = "text: compare it with 'a word'" if isinstance(value, str) else "no text"
                raise AuditError(f"{where}: {column} is {kind}")
            shown = f"{value:.6g}" if isinstance(value, float) else str(value)
            says = f"{place}: {column} {'has no value' if value is None else f'is {shown}'}"
            measured.append(says)
            if value is None or not OPERATORS[sign](value, bound):
                failed.append(f"{says}, expected {sign} {written}")
    # What fails is measured too; beside many rows that hold, it must not be lost.
    lines = [line.partition(", expected")[0] for line in failed] or measured
    more = f"; and {len(lines) - MOST_MEASURED:,} more" if len(lines) > MOST_MEASURED else ""
    return Outcome(len(rows), "; ".join(lines[:MOST_MEASURED]) + more, failed)


def _bound(written: str, table: str, column: str, unit: Unit, where: str) -> float | str:
    """What a value is compared with: a text, an amount of the unit, or a number."""
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


def _no_row(expectation: Expectation, table: pa.Table, keys: list[str], unit: Unit) -> str:
    """Why no row is meant: the key that no row has, and those that there are."""
    rows = table.to_pylist()
    layout = f"write {', '.join(keys)}"
    for key, written in zip(keys, expectation.keys, strict=False):
        if not any(_is_same(row[key], written, key, unit) for row in rows):
            values = list(dict.fromkeys(_key_text(row[key], key, unit) for row in rows))
            return (
                f"no row of {expectation.table} has {key} '{written}': {layout}; "
                f"there are {first_names(values, 12)}"
            )
    return f"no row of {expectation.table} has all of these keys: {layout}"


def _key_text(value: Any, key: str, unit: Unit) -> str:
    is_budget = key.endswith("budget") and isinstance(value, int | float)
    return budget_name(value, unit) if is_budget else str(value)


def _is_same(value: Any, written: str, key: str, unit: Unit) -> bool:
    """Whether a key has the value that is written: an amount, a number, a name or a pattern."""
    if written in ("", "*"):
        return True
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if key.endswith("budget"):
                return value == read_budget(written, unit) / unit.scale
            return value == whole_number(written)
        except ValueError:
            return False
    return str(value) == written or fnmatch.fnmatchcase(str(value), written)
