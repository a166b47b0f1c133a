"""The study's published values beside the computed ones."""

import csv
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit.errors import AuditError

PUBLISHED = Path(__file__).with_name("published.csv")
# What identifies the study's data: its archives, each with 120 problems of 80 attempts.
STUDY_ATTEMPTS = {"gpt-oss-20b_low": 9600, "gpt-oss-20b_high": 9600}
_NUMBERS = ("budget", "advisory_budget", "strict_budget", "cap")
KEYS = ("archive", "competition", *_NUMBERS, "selector", "stratum")
COLUMNS = ("table", *KEYS, "column", "value", "decimals")
# Columns that the published file calls by an older name.
RENAMED = {"prefix_tokens": "prefix_cost"}

Key = dict[str, str | int]


@dataclass(frozen=True)
class Published:
    """One published value: the table, row and column it stands in, and how far it is rounded."""

    table: str
    key: Key
    column: str
    value: float
    decimals: int


@dataclass(frozen=True)
class Compared:
    """A published value beside the computed one, or beside None and the reason."""

    published: Published
    computed: float | None
    reason: str

    @property
    def equal(self) -> bool:
        """Whether the computed value rounds to the published one."""
        return self.computed is not None and rounds_to(
            self.computed, self.published.value, self.published.decimals
        )


@dataclass(frozen=True)
class Comparison:
    """Every published value compared, and whether the loaded archives are the study's."""

    rows: list[Compared]
    is_study: bool

    @property
    def matches(self) -> list[Compared]:
        """The values that agree."""
        return [row for row in self.rows if row.equal]

    @property
    def differences(self) -> list[Compared]:
        """The values that were computed and do not agree."""
        return [row for row in self.rows if row.computed is not None and not row.equal]

    @property
    def missing(self) -> list[Compared]:
        """The values that could not be computed."""
        return [row for row in self.rows if row.computed is None]


def rounds_to(computed: float, published: float, decimals: int) -> bool:
    """Whether the computed value lies within half a unit of the last published decimal."""
    # The slack is for halves: 12.875 is published as 12.88 and may be stored as 12.874999999999998.
    return abs(computed - published) <= 0.5 * 10**-decimals + 1e-9


def read_published(path: Path) -> list[Published]:
    """The published values of a file, refused whole when one row cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, [])
            lacking = [column for column in COLUMNS if header.count(column) != 1]
            if lacking:
                raise AuditError(
                    f"{path}: the header needs {', '.join(lacking)} once; "
                    f"use the layout {','.join(COLUMNS)}"
                )
            values = [
                _read_row(path, number, header, cells)
                for number, cells in enumerate(reader, start=2)
                if cells
            ]
    except OSError as error:
        raise AuditError(f"cannot read {path}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise AuditError(f"{path} is not UTF-8 text: save it as UTF-8 CSV") from None
    except csv.Error as error:
        raise AuditError(f"{path}, line {reader.line_num}: not readable as CSV: {error}") from None
    if not values:
        raise AuditError(f"{path} holds no values: give it one row per published value")
    return values


def _read_row(path: Path, number: int, header: list[str], cells: list[str]) -> Published:
    """One row of a published file; `number` counts the header as row 1."""

    def mistake(what: str) -> AuditError:
        return AuditError(f"{path}, row {number}: {what}")

    if len(cells) != len(header):
        raise mistake(f"{len(cells)} cells under {len(header)} columns")
    row = dict(zip(header, cells, strict=True))
    for column in ("table", "column"):
        if not row[column]:
            raise mistake(f"{column} is empty")
    key: Key = {name: row[name] for name in KEYS if row[name]}
    for name in _NUMBERS:
        if name in key:
            if not re.fullmatch("[0-9]{1,18}", row[name]):
                raise mistake(f"{name} {row[name]!r} is not a whole number")
            key[name] = int(row[name])
    try:
        value = float(row["value"])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise mistake(f"value {row['value']!r} is not a number")
    if not re.fullmatch("[0-9]", row["decimals"]):
        raise mistake(f"decimals {row['decimals']!r} is not a whole number from 0 to 9")
    column = RENAMED.get(row["column"], row["column"])
    return Published(row["table"], key, column, value, int(row["decimals"]))


def compare(
    table_of: Callable[[str], pa.Table],
    archives: Mapping[str, int],
    published: Path | None = None,
) -> Comparison:
    """Every published value beside the computed one.

    `table_of` gives a table by name and may raise AuditError; `archives` holds the attempts of each
    loaded archive.
    """
    tables: dict[str, pa.Table | AuditError] = {}
    # Row numbers by the values of the key columns that a published row names.
    indexes: dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]] = {}
    rows = []
    for item in read_published(published or PUBLISHED):
        archive = item.key.get("archive")
        if archive is not None and archive not in archives:
            # Before asking for the table: other people's data need not compute the study's.
            rows.append(Compared(item, None, "archive not loaded"))
            continue
        if item.table not in tables:
            try:
                tables[item.table] = table_of(item.table)
            except AuditError as error:
                tables[item.table] = error
        table = tables[item.table]
        if isinstance(table, AuditError):
            rows.append(Compared(item, None, str(table)))
        else:
            rows.append(_compared(item, table, indexes))
    return Comparison(rows, is_study(archives))


def is_study(archives: Mapping[str, int]) -> bool:
    """Whether archives, with how many attempts each has, are the study's."""
    return all(archives.get(name) == count for name, count in STUDY_ATTEMPTS.items())


def _compared(
    item: Published,
    table: pa.Table,
    indexes: dict[tuple[str, ...], dict[tuple[Any, ...], list[int]]],
) -> Compared:
    """The published value beside its cell of the table."""
    for column in (*item.key, item.column):
        if column not in table.column_names:
            return Compared(item, None, f"no column {column}")
    keys = tuple(item.key)
    if (item.table, *keys) not in indexes:
        index: dict[tuple[Any, ...], list[int]] = {}
        columns = [table[key].to_pylist() for key in keys] or [[()] * table.num_rows]
        for number, values in enumerate(zip(*columns, strict=True)):
            index.setdefault(values if keys else (), []).append(number)
        indexes[item.table, *keys] = index
    numbers = indexes[item.table, *keys].get(tuple(item.key.values()), [])
    if len(numbers) != 1:
        return Compared(item, None, f"{len(numbers)} such rows" if numbers else "no such row")
    value = table[item.column][numbers[0]].as_py()
    if value is None:
        return Compared(item, None, "no value")
    try:
        return Compared(item, float(value), "")
    except (TypeError, ValueError):
        return Compared(item, None, "not a number")


def comparison_table(comparison: Comparison, *, compact: bool = False) -> pa.Table:
    """One row per published value; compact puts the key into one column, for reading."""
    rows = comparison.rows
    columns: dict[str, pa.Array] = {
        "table": pa.array([row.published.table for row in rows], pa.string())
    }
    if compact:
        columns["archive"] = pa.array(
            [row.published.key.get("archive") for row in rows], pa.string()
        )
        where = [
            ", ".join(f"{k} {v}" for k, v in row.published.key.items() if k != "archive")
            for row in rows
        ]
        columns["where"] = pa.array(where, pa.string())
    else:
        for key in KEYS:
            kind = pa.int64() if key in _NUMBERS else pa.string()
            columns[key] = pa.array([row.published.key.get(key) for row in rows], kind)
    columns |= {
        "column": pa.array([row.published.column for row in rows], pa.string()),
        "published": pa.array([row.published.value for row in rows], pa.float64()),
        "decimals": pa.array([row.published.decimals for row in rows], pa.int64()),
        "computed": pa.array([row.computed for row in rows], pa.float64()),
        "equal": pa.array([row.equal for row in rows], pa.bool_()),
        "reason": pa.array([row.reason for row in rows], pa.string()),
    }
    return pa.table(columns)


def summary_table(comparison: Comparison) -> pa.Table:
    """Matches by table: how many values are published, equal, different and not computed."""
    names = list(dict.fromkeys(row.published.table for row in comparison.rows))

    def count(rows: list[Compared]) -> pa.Array:
        counts = dict.fromkeys(names, 0)
        for row in rows:
            counts[row.published.table] += 1
        return pa.array(counts.values(), pa.int64())

    return pa.table(
        {
            "table": pa.array(names, pa.string()),
            "published": count(comparison.rows),
            "equal": count(comparison.matches),
            "different": count(comparison.differences),
            "not_computed": count(comparison.missing),
        }
    )


def verdict(comparison: Comparison) -> tuple[str, int]:
    """The comparison in one sentence, and the exit status it deserves."""
    matched, total = len(comparison.matches), len(comparison.rows)
    if not comparison.is_study:
        return (
            "The loaded archives are not the study's: its values are shown for reference, "
            "and a difference is no failure.",
            0,
        )
    missing = {row.published.table for row in comparison.missing}
    sentence = f"{matched} of {total} published values reproduced"
    if comparison.differences:
        sentence += f", {len(comparison.differences)} differ"
    if missing:
        sentence += f", {len(comparison.missing)} not computed ({', '.join(sorted(missing))})"
    return sentence + ".", 1 if matched < total else 0
