"""The study's published values beside the computed ones."""

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
from audit.study.identities import Identity, find_identities, replays_of

PUBLISHED = Path(__file__).with_name("published.csv")
# What identifies the study's data: its archives, each with 120 problems of 80 attempts.
STUDY_ATTEMPTS = {"gpt-oss-20b_low": 9600, "gpt-oss-20b_high": 9600}
_NUMBERS = ("budget", "advisory_budget", "strict_budget", "cap")
KEYS = ("archive", "competition", *_NUMBERS, "selector", "stratum")
COLUMNS = ("table", *KEYS, "column", "value", "decimals")
# Columns that the published file calls by an older name.
RENAMED = {"prefix_tokens": "prefix_cost"}
OUTCOMES = ("equal", "different", "not_computed")

Key = dict[str, str | int]
Row = dict[str, Any]


@dataclass(eq=False)
class PublishedValue:
    """A published value, where it stands, and the computed one, or None and the reason."""

    table: str
    key: Key
    column: str
    published: float
    decimals: int
    computed: float | None = None
    reason: str = ""

    @property
    def outcome(self) -> str:
        """Return one of `OUTCOMES`: whether the computed value rounds to the published one."""
        if self.computed is None:
            return "not_computed"
        is_equal = rounds_to(self.computed, self.published, self.decimals)
        return "equal" if is_equal else "different"


@dataclass(frozen=True)
class Comparison:
    """Every published value compared, and whether the loaded archives are the study's.

    `simulated` are the archives that stood for the study's by their role, low or high.
    """

    rows: list[PublishedValue]
    is_study: bool
    simulated: tuple[str, ...] = ()
    # What published values say of one another, without any data.
    identities: tuple[Identity, ...] = ()

    def those(self, outcome: str) -> list[PublishedValue]:
        """Return the values of one outcome."""
        return [row for row in self.rows if row.outcome == outcome]


def rounds_to(computed: float, published: float, decimals: int) -> bool:
    """Return whether a value lies within half a unit of the last published decimal."""
    # The slack is for halves: 12.875 is published as 12.88 and may be stored as 12.874999999999998.
    return abs(computed - published) <= 0.5 * 10**-decimals + 1e-9


def read_published(path: Path) -> list[PublishedValue]:
    """Read the published values of a file; refuse it whole when one row cannot be read."""
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
    """Put every published value beside the computed one.

    `table_of` gives a table by name and may raise AuditError; `archives` holds the attempts of each
    loaded archive. Of those, `simulated` ones stand for archives of the study by their role.
    """

    @functools.cache
    def found(name: str) -> list[Row] | str:
        """Return a table's rows, or why there are none."""
        try:
            return table_of(name).to_pylist()
        except AuditError as error:
            return str(error)

    values = read_published(published or PUBLISHED)
    names = {name for value in values if (name := value.key.get("archive")) is not None}
    roles = _match_roles(names - set(archives), simulated)
    for value in values:
        archive = roles.get(value.key.get("archive"), value.key.get("archive"))
        # Before asking for the table: other people's data need not compute the study's.
        if archive is not None and archive not in archives:
            value.reason = "archive not loaded"
        elif isinstance(table := found(value.table), str):
            value.reason = table
        else:
            value.computed = _cell(value, roles, table)
            value.reason = "no such value" if value.computed is None else ""
    identities = find_identities(values) if names <= STUDY_ATTEMPTS.keys() else []
    for value in values:
        if value.outcome == "different":
            value.reason = _explain(value, identities)
    return Comparison(values, is_study(archives), tuple(sorted(roles.values())), tuple(identities))


def _explain(value: PublishedValue, identities: Sequence[Identity]) -> str:
    """Return by how many replays a value is off, and which values of other tables are off, too."""
    parts = []
    if (count := replays_of(value)) is not None and value.computed is not None:
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
    """Return the simulated archive that has the role of each archive: what its name ends with."""
    roles = {name.rpartition("_")[2]: name for name in sorted(simulated)}
    return {name: roles[role] for name in names if (role := name.rpartition("_")[2]) in roles}


def is_study(archives: Mapping[str, int]) -> bool:
    """Return whether archives, with how many attempts each has, are the study's."""
    return all(archives.get(name) == count for name, count in STUDY_ATTEMPTS.items())


def _cell(item: PublishedValue, roles: Mapping[Any, str], rows: Sequence[Row]) -> float | None:
    """Return the cell of a table that a published value is about, where there is one number."""
    key = {name: roles.get(value, value) for name, value in item.key.items()}
    cells = [
        row.get(item.column)
        for row in rows
        if all(name in row and row[name] == value for name, value in key.items())
    ]
    is_number = len(cells) == 1 and isinstance(cells[0], int | float)
    return float(cells[0]) if is_number else None  # type: ignore[arg-type]


def comparison_table(comparison: Comparison, *, compact: bool = False) -> pa.Table:
    """Return one row per published value; compact puts the key into one column, for reading."""
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
    """Count by table how many values are published, equal, different and not computed."""
    published = Counter(row.table for row in comparison.rows)
    counts = {"published": published}
    counts |= {name: Counter(row.table for row in comparison.those(name)) for name in OUTCOMES}
    columns = {kind: [count[table] for table in published] for kind, count in counts.items()}
    return pa.table({"table": list(published), **columns})


def verdict(comparison: Comparison) -> tuple[str, int]:
    """Return the comparison in one sentence, and the exit status it deserves."""
    equal, different, missing = (len(comparison.those(outcome)) for outcome in OUTCOMES)
    total = len(comparison.rows)
    counted = f"{equal} of {total} published values reproduced"
    counted += f", {different} differ" if different else ""
    if missing:
        tables = sorted({row.table for row in comparison.those("not_computed")})
        counted += f", {missing} not computed ({', '.join(tables)})"
    if comparison.simulated:
        return (
            f"The data are simulated: {', '.join(comparison.simulated)} stand for the study's "
            f"archives by their role. {counted}; none of it is evidence.",
            0,
        )
    if not comparison.is_study:
        return (
            "The loaded archives are not the study's: its values are shown for reference, "
            "and a difference is no failure.",
            0,
        )
    return counted + ".", 1 if equal < total else 0


def identity_note(comparison: Comparison) -> str:
    """Return how many identities hold between the published values, and which do not."""
    if not comparison.identities:
        return ""
    broken = [identity.text for identity in comparison.identities if not identity.holds]
    given = {id(identity.given) for identity in comparison.identities if identity.given}
    total = len(comparison.identities)
    note = f"without any data: {total - len(broken):,} of {total:,} identities hold between the "
    note += f"published values, {len(given):,} of which follow from others"
    return note + (f"; these do not: {', '.join(dict.fromkeys(broken))}" if broken else "")
