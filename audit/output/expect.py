"""Expectations: thresholds that the numbers of a table must meet, one line each."""

import fnmatch
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit import engine
from audit.errors import AuditError
from audit.text import not_there
from audit.units import whole_number

LAYOUT = "write it as 'archive, budget, rule: accuracy >= 60 and cost <= 9000'"
OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "==": operator.eq,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
CONDITION = re.compile(r"(\w+)\s*(<=|>=|==|=|<|>)\s*([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[kKmM])?)")
# Columns by which the rows of a table are told apart, in the order in which they are written.
KEYS = (
    "archive",
    "other",
    "competition",
    "policy",
    "advisory_budget",
    "strict_budget",
    "budget",
    "rule",
    "selector",
    "definition",
    "stratum",
    "cap",
    "check",
)


@dataclass(frozen=True)
class Expectation:
    """Rows of a table, told by the values of their keys, and what must hold of each."""

    text: str
    table: str
    keys: tuple[str, ...]
    conditions: tuple[tuple[str, str, float], ...]


def read_expectations(given: Sequence[str]) -> list[Expectation]:
    """Expectations as they are written, or from files of them, a line each."""
    found = []
    for one in given:
        if ":" in one and not Path(one).is_file():
            found.append(_parsed(one, "--expect"))
            continue
        path = Path(one)
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
                found.append(_parsed(written, f"--expect {path}, line {number}"))
    if given and not found:
        raise AuditError(f"--expect: nothing is expected there; {LAYOUT}")
    return found


def _parsed(text: str, where: str) -> Expectation:
    """One expectation: an optional table, the keys, and conditions joined by 'and'."""
    keys, colon, wanted = text.rpartition(":")
    table = "curves"
    head, named, rest = keys.partition(":")
    if named and engine.is_table(head.strip()):
        table, keys = head.strip(), rest
    conditions = []
    for part in re.split(r"\s+and\s+", wanted.strip()):
        match = CONDITION.fullmatch(part.strip())
        if not colon or not match:
            raise AuditError(f"{where}: '{part.strip()}' is no condition; {LAYOUT}")
        conditions.append((match[1], match[2], _number(match[3])))
    return Expectation(
        text.strip(), table, tuple(key.strip() for key in keys.split(",")), tuple(conditions)
    )


def _number(written: str) -> float:
    if written[-1].lower() in "km":
        sign = -1 if written[0] == "-" else 1
        return float(sign * whole_number(written.lstrip("+-")))
    return float(written.replace("_", ""))


def failures(expectation: Expectation, table: pa.Table) -> tuple[int, list[str]]:
    """How many rows an expectation concerns, and a line for each condition that one fails."""
    key_columns = [column for column in KEYS if column in table.column_names]
    if len(expectation.keys) > len(key_columns):
        raise AuditError(
            f"--expect '{expectation.text}': {expectation.table} has the keys "
            f"{', '.join(key_columns)}"
        )
    for column, _, _ in expectation.conditions:
        if column not in table.column_names:
            known = [field.name for field in table.schema if field.name not in key_columns]
            raise AuditError(f"--expect '{expectation.text}': {not_there('column', column, known)}")
    rows = [row for row in table.to_pylist() if _is_meant(expectation, row, key_columns)]
    if not rows:
        raise AuditError(
            f"--expect '{expectation.text}': no row of {expectation.table} is meant; its keys are "
            f"{', '.join(key_columns)}"
        )
    failed = []
    for row in rows:
        place = ", ".join(str(row[column]) for column in key_columns)
        for column, sign, bound in expectation.conditions:
            value = row[column]
            if value is None:
                failed.append(f"{place}: {column} has no value, expected {sign} {bound:g}")
            elif not OPERATORS[sign](float(value), bound):
                failed.append(f"{place}: {column} is {float(value):.6g}, expected {sign} {bound:g}")
    return len(rows), failed


def _is_meant(expectation: Expectation, row: dict[str, Any], key_columns: list[str]) -> bool:
    return all(
        _is_same(row[column], wanted)
        for column, wanted in zip(key_columns, expectation.keys, strict=False)
    )


def _is_same(value: Any, wanted: str) -> bool:
    """Whether a key has the value that is written: a number, a name or a pattern."""
    if wanted in ("", "*"):
        return True
    if isinstance(value, int):
        try:
            return value == whole_number(wanted)
        except ValueError:
            return False
    return str(value) == wanted or fnmatch.fnmatchcase(str(value), wanted)
