"""Compare the study's published values with the computed ones."""

import csv
import functools
import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit.errors import AuditError
from audit.study.identities import Identity, count_replays, find_identities

PUBLISHED = Path(__file__).with_name("published.csv")
# The study's data are recognized by its archives, each with 120 problems of 80 attempts.
STUDY_ATTEMPTS = {"gpt-oss-20b_low": 9600, "gpt-oss-20b_high": 9600}
_NUMBERS = ("budget", "advisory_budget", "strict_budget", "cap")
KEYS = ("archive", "competition", *_NUMBERS, "selector", "stratum")
COLUMNS = ("table", *KEYS, "column", "value", "decimals")
# Columns that have another name in the published file.
RENAMED = {"prefix_tokens": "prefix_cost"}
OUTCOMES = ("equal", "different", "not_computed")

Key = dict[str, str | int]
Row = dict[str, Any]


@dataclass(eq=False)
class PublishedValue:
    """A published value with its table, row and column, and the computed value or a reason."""

    table: str
    key: Key
    column: str
    published: float
    decimals: int
    computed: float | None = None
    reason: str = ""

    @property
    def outcome(self) -> str:
        """Classify the value as equal (after rounding), different, or not computed."""
        if self.computed is None:
            return "not_computed"
        is_equal = rounds_to(self.computed, self.published, self.decimals)
        return "equal" if is_equal else "different"


@dataclass(frozen=True)
class Comparison:
    """All published values with their computed ones, and whether the data are the study's.

    `simulated` lists the archives compared in place of the study's, by role: low or high.
    """

    rows: list[PublishedValue]
    is_study: bool
    simulated: tuple[str, ...] = ()
    # Equations and bounds between published values, checked without any data.
    identities: tuple[Identity, ...] = ()

    def with_outcome(self, outcome: str) -> list[PublishedValue]:
        """Return the published values that have this outcome (equal, different, not_computed)."""
        return [row for row in self.rows if row.outcome == outcome]


def rounds_to(computed: float, published: float, decimals: int) -> bool:
    """Return whether a computed value rounds to the published one at its decimals."""
    # The slack is for halves: 12.875 is published as 12.88 and may be stored as 12.874999999999998.
    return abs(computed - published) <= 0.5 * 10**-decimals + 1e-9


def read_published(path: Path) -> list[PublishedValue]:
    """Read the published values of a CSV file; refuse the file if a row is invalid."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if lacking := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
                raise AuditError(
                    f"{path}: the header needs {', '.join(lacking)}; use the layout "
                    f"{','.join(COLUMNS)}"
                )
            values = [_read_row(path, number, row) for number, row in enumerate(reader, start=2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise AuditError(f"{path}: cannot be read as a CSV in UTF-8: {why}") from None
    if not values:
        raise AuditError(f"{path} holds no values: give it one row per published value")
    return values


def _read_row(path: Path, number: int, row: dict[str, str]) -> PublishedValue:
    """Read one row of a published file; `number` counts the header as row 1."""
    try:
        given = {name: row[name] for name in KEYS if row[name]}
        key = {name: int(text) if name in _NUMBERS else text for name, text in given.items()}
        column, value = RENAMED.get(row["column"], row["column"]), float(row["value"])
        found = PublishedValue(row["table"], key, column, value, int(row["decimals"]))
        is_whole = None not in row and found.table and column and found.decimals in range(10)
        if is_whole and math.isfinite(value):
            return found
    except (ValueError, TypeError):
        pass
    raise AuditError(
        f"{path}, row {number}: needs a cell for each column: a table and a column, whole numbers "
        "as budgets and caps, a number as value, and 0 to 9 decimals"
    )


def compare(
    table_of: Callable[[str], pa.Table],
    archives: Mapping[str, int],
    published: Path | None = None,
    simulated: Sequence[str] = (),
) -> Comparison:
    """Look up the computed value of each published value, and compare the two.

    `table_of` returns a table by name and may raise AuditError; `archives` maps loaded archives to
    their numbers of attempts. Archives in `simulated` replace those of the study by role.
    """

    @functools.cache
    def read_rows(name: str) -> list[Row] | str:
        """Return the rows of a table, or the message of the error that it raises."""
        try:
            return table_of(name).to_pylist()
        except AuditError as error:
            return str(error)

    values = read_published(published or PUBLISHED)
    names = {name for value in values if (name := value.key.get("archive")) is not None}
    roles = _match_roles(names - set(archives), simulated)
    for value in values:
        archive = roles.get(value.key.get("archive"), value.key.get("archive"))
        # Check this first, so that other data do not compute the study's tables.
        if archive is not None and archive not in archives:
            value.reason = "archive not loaded"
        elif isinstance(table := read_rows(value.table), str):
            value.reason = table
        else:
            value.computed = _find_cell(value, roles, table)
            value.reason = "no such value" if value.computed is None else ""
    identities = find_identities(values) if names <= STUDY_ATTEMPTS.keys() else []
    for value in values:
        if value.outcome == "different":
            value.reason = _explain_difference(value, identities)
    return Comparison(values, is_study(archives), tuple(sorted(roles.values())), tuple(identities))


def _explain_difference(value: PublishedValue, identities: Sequence[Identity]) -> str:
    """Describe by how many replays a value is off, and which related values differ too."""
    parts = []
    if (count := count_replays(value)) is not None and value.computed is not None:
        off = abs(value.computed - value.published) * count / 100
        parts.append(f"off by {off:.1f} of {count:,} replays")
    related = {
        f"{other.table} {other.column}": other.outcome
        for identity in identities
        if value in identity.values
        for other in identity.values
        if other.table != value.table
    }
    if beside := sorted(name for name, outcome in related.items() if outcome == "different"):
        parts.append(f"{', '.join(beside)} differs alike")
    elif related:
        parts.append(f"{', '.join(sorted(related))} does not differ")
    return "; ".join(parts)


def _match_roles(names: Collection[Any], simulated: Sequence[str]) -> dict[Any, str]:
    """Map archives of the study to simulated ones with the same role, the end of the name."""
    roles = {name.rpartition("_")[2]: name for name in sorted(simulated)}
    return {name: roles[role] for name in names if (role := name.rpartition("_")[2]) in roles}


def is_study(archives: Mapping[str, int]) -> bool:
    """Return whether archives include the study's, with the same numbers of attempts."""
    return all(archives.get(name) == count for name, count in STUDY_ATTEMPTS.items())


def _find_cell(item: PublishedValue, roles: Mapping[Any, str], rows: Sequence[Row]) -> float | None:
    """Find the table cell of a published value; return None unless exactly one number fits."""
    key = {name: roles.get(value, value) for name, value in item.key.items()}
    cells = [
        row.get(item.column)
        for row in rows
        if all(name in row and row[name] == value for name, value in key.items())
    ]
    is_number = len(cells) == 1 and isinstance(cells[0], int | float)
    return float(cells[0]) if is_number else None  # type: ignore[arg-type]


def comparison_table(comparison: Comparison, *, compact: bool = False) -> pa.Table:
    """Build a table of published and computed values; `compact` joins the keys in one column."""
    text, whole, real = pa.string(), pa.int64(), pa.float64()
    keys = {name: whole if name in _NUMBERS else text for name in KEYS}
    schema = pa.schema(
        {"table": text}
        | ({"archive": text, "where": text} if compact else keys)
        | {"column": text, "published": real, "decimals": whole, "computed": real}
        | {"equal": pa.bool_(), "reason": text}
    )
    rows: list[Row] = [
        {
            **row.key,
            **vars(row),
            "where": ", ".join(f"{k} {v}" for k, v in row.key.items() if k != "archive"),
            "equal": row.outcome == "equal",
        }
        for row in comparison.rows
    ]
    return pa.Table.from_pylist(rows, schema)


def summary_table(comparison: Comparison) -> pa.Table:
    """Count per table the values that are published, equal, different and not computed."""
    published = Counter(row.table for row in comparison.rows)
    counts = {"published": published}
    counts |= {
        name: Counter(row.table for row in comparison.with_outcome(name)) for name in OUTCOMES
    }
    columns = {kind: [count[table] for table in published] for kind, count in counts.items()}
    return pa.table({"table": list(published), **columns})


def verdict(comparison: Comparison) -> tuple[str, int]:
    """Summarize the comparison in one sentence; return it with the exit status, 0 or 1."""
    equal, different, missing = (len(comparison.with_outcome(outcome)) for outcome in OUTCOMES)
    total = len(comparison.rows)
    counts = f"{equal} of {total} published values reproduced"
    counts += f", {different} differ" if different else ""
    if missing:
        tables = sorted({row.table for row in comparison.with_outcome("not_computed")})
        counts += f", {missing} not computed ({', '.join(tables)})"
    if comparison.simulated:
        return (
            f"The data are simulated: {', '.join(comparison.simulated)} stand for the study's "
            f"archives by their role. {counts}; none of it is evidence.",
            0,
        )
    if not comparison.is_study:
        return (
            "The loaded archives are not the study's: its values are shown for reference, "
            "and a difference is no failure.",
            0,
        )
    return counts + ".", 1 if equal < total else 0


def identity_note(comparison: Comparison) -> str:
    """Write how many identities hold between the published values, and list the others."""
    if not comparison.identities:
        return ""
    broken = [identity.text for identity in comparison.identities if not identity.holds]
    given = {id(identity.given) for identity in comparison.identities if identity.given}
    total = len(comparison.identities)
    note = f"without any data: {total - len(broken):,} of {total:,} identities hold between the "
    note += f"published values, {len(given):,} of which follow from others"
    return note + (f"; these do not: {', '.join(dict.fromkeys(broken))}" if broken else "")
