"""What a replay is asked for: given now, as the last time, or by default; kept as tables."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import duckdb
import pyarrow as pa

from audit.database.arrow import insert
from audit.database.schema import relations
from audit.engine.build import sources
from audit.engine.plugins import Plugin, Plugins, check_lineage, plugins
from audit.engine.stages import WALKED
from audit.errors import AuditError
from audit.options import Settings, flag_of
from audit.units import UNITS, read_budgets, write_exactly

Typed = TypeVar("Typed")

LARGEST_BUDGET = 10**15
MOST_DRAWS = 10**6
KINDS_KEPT = ("rules", "selectors", "policies")
HINTS = get_type_hints(Settings)
# Settings that are declared and not used yet.
NOT_YET = ("unit", "prices", "effect")


def resolve(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> Settings:
    """The settings of the last replay, or the defaults, with what is asked for in their place.

    Budgets are as a user writes them, in the unit; the added ones come to those that are asked for
    or were there.
    """
    wanted = {
        name: value for name, value in asked.items() if value is not None and name not in KINDS_KEPT
    }
    last = last_settings(con, wanted)
    unit = wanted.get("unit", last.unit)
    for name in ("budgets", "add_budgets"):
        if name in wanted:
            wanted[name] = _budgets(name, wanted[name], unit)
    for field in fields(Settings):
        if field.name in wanted:
            wanted[field.name] = _checked(field, wanted[field.name])
    added = wanted.pop("add_budgets", ())
    settings = replace(last, **wanted)
    settings = replace(
        settings,
        budgets=tuple(sorted({*settings.budgets, *added})),
        caps=tuple(sorted({*settings.caps, settings.primary_cap})),
    )
    check(settings)
    return settings


def typed(kind: type[Typed], content: Any) -> Typed:
    """A dataclass from a file that may say anything: its names and types are checked."""
    hints = get_type_hints(kind)
    if not isinstance(content, dict) or set(content) != set(hints):
        raise ValueError(f"the fields of {kind.__name__} are {', '.join(hints)}")
    found = {name: as_tuples(value) for name, value in content.items()}
    for name, value in found.items():
        if not fits(value, hints[name]):
            raise ValueError(f"{name} is not {_in_words(hints[name])}")
    return kind(**found)


def _budgets(name: str, written: Any, unit: str) -> tuple[int, ...]:
    try:
        return tuple(read_budgets(written, unit))
    except (TypeError, ValueError) as error:
        raise AuditError(f"--{name.replace('_', '-')}: {error}") from None


def is_stored(field: Field[Any]) -> bool:
    """Whether the relation `settings` holds a field; plug-ins have relations of their own."""
    return field.metadata.get("is_stored", True)


def _checked(field: Field[Any], value: Any) -> Any:
    """A value as its field's type has it; another one is refused before anything is written."""
    found = as_tuples(value)
    if not fits(found, HINTS[field.name]):
        raise AuditError(f"{flag_of(field)}: {value!r} is not {_in_words(HINTS[field.name])}")
    return found


def as_tuples(value: Any) -> Any:
    """Lists, which JSON and callers have, as the tuples that settings have."""
    return tuple(as_tuples(one) for one in value) if isinstance(value, list | tuple) else value


def fits(value: Any, hint: Any) -> bool:
    """Whether a value is of a type; True is no number."""
    parts = get_args(hint)
    if get_origin(hint) is tuple and parts[-1] is ...:
        return isinstance(value, tuple) and all(fits(one, parts[0]) for one in value)
    if get_origin(hint) is tuple:
        is_long = isinstance(value, tuple) and len(value) == len(parts)
        return is_long and all(map(fits, value, parts))
    if get_origin(hint) is Mapping:
        pairs = value.items() if isinstance(value, dict) else [()]
        return all(fits(pair, tuple[parts]) for pair in pairs)  # type: ignore[valid-type]
    if parts:
        return any(fits(value, part) for part in parts)
    if hint is float:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and -math.inf < value < math.inf
    return isinstance(value, hint) and not (hint is int and isinstance(value, bool))


def _in_words(hint: Any) -> str:
    words = {int: "a whole number", float: "a number", str: "a text"}
    return words.get(hint, f"of the type {hint}")


def last_settings(con: duckdb.DuckDBPyConnection, replaced: Collection[str] = ()) -> Settings:
    """The settings of the last replay; the defaults where there was none.

    One that cannot be read is refused, unless it is to be replaced.
    """
    if "settings" not in relations(con):
        return Settings()
    stored = dict(con.execute("select key, value from settings").fetchall())
    found: dict[str, Any] = {}
    for field in fields(Settings):
        if field.name not in stored or not is_stored(field):
            continue
        try:
            found[field.name] = _read(field, stored[field.name], stored)
        except (TypeError, ValueError, KeyError, AuditError):
            if field.name in replaced:
                continue
            raise AuditError(
                f"the database's setting {field.name} cannot be read; 'budget-audit replay "
                f"{flag_of(field)} …' replaces it"
            ) from None
    return Settings(**found)


def _read(field: Field[Any], text: str, stored: Mapping[str, str]) -> Any:
    """The value of a setting from the text that `_written` has made of it."""
    hint = HINTS[field.name]
    if field.metadata["kind"] == "amounts":
        return tuple(read_budgets(text, stored.get("unit", Settings().unit)))
    if hint is str:
        return text
    if hint in (int, float):
        return _checked(field, hint(text))
    if hint == tuple[int, ...]:
        return tuple(int(part) for part in text.split(","))
    return _checked(field, json.loads(text))


def _written(field: Field[Any], settings: Settings) -> str:
    """A setting as people read it; budgets are in the unit."""
    value = getattr(settings, field.name)
    if field.metadata["kind"] == "amounts":
        return ",".join(write_exactly(one, settings.unit) for one in value)
    if not isinstance(value, tuple):
        return str(value).removesuffix(".0") if isinstance(value, float) else str(value)
    if HINTS[field.name] == tuple[int, ...]:
        return ",".join(map(str, value))
    return json.dumps(value)


def check(settings: Settings) -> None:
    """Refuse a setting that means nothing."""
    if settings.unit not in UNITS:
        raise AuditError(f"--unit {settings.unit}: must be {' or '.join(UNITS)}")
    for name in NOT_YET:
        if getattr(settings, name) != getattr(Settings(), name):
            raise AuditError(f"--{name}: replays count completion tokens only so far")
    if not settings.budgets or min(settings.budgets) < 1:
        raise AuditError("--budgets: at least one budget, each a whole number of tokens above 0")
    if max(settings.budgets) > LARGEST_BUDGET:
        raise AuditError("--budgets: a budget above 10^15 tokens cannot be summed exactly")
    if min(settings.caps) < 1:
        raise AuditError("--caps: each cap is a whole number of attempts above 0")
    if max(settings.caps) >= 2**31 or max(settings.orders, settings.replicates) > MOST_DRAWS:
        raise AuditError("--caps below 2^31; --orders and --replicates up to a million")
    numbers = (settings.orders, settings.replicates, settings.order_seed, settings.bootstrap_seed)
    if min(numbers) < 0:
        raise AuditError("--orders, --replicates and the seeds are whole numbers from 0")
    if settings.curve_points < 0 or settings.curve_points == 1:
        raise AuditError("--curve-points: 0, or at least 2 points")
    if max(*numbers, settings.curve_points) >= 2**63 or settings.curve_points > MOST_DRAWS:
        raise AuditError("--curve-points up to a million; seeds below 2^63")


def resolve_plugins(
    con: duckdb.DuckDBPyConnection,
    rules: str | Path | None,
    selectors: str | Path | None,
    policies: str | Path | Sequence[str] | None,
) -> Plugins:
    """The plug-ins of a replay; those of the last one where nothing is given."""
    return Plugins(
        plugins("rules", rules) if rules is not None else _last_plugins(con, "rules"),
        plugins("selectors", selectors)
        if selectors is not None
        else _last_plugins(con, "selectors"),
        named_policies(policies) if policies is not None else _last_plugins(con, "policies"),
    )


def named_policies(wanted: str | Path | Sequence[str]) -> list[Plugin]:
    """The policies of names, of `all` and of folders; `none` is always among them."""
    parts = str(wanted).split(",") if isinstance(wanted, str | Path) else list(wanted)
    known = {plugin.name: plugin for plugin in plugins("policies")}
    found: dict[str, Plugin] = {}
    for part in (part.strip() for part in parts):
        if part == "all":
            found |= known
        elif part in known:
            found[part] = known[part]
        elif Path(part).is_dir() and part:
            own = [one for one in plugins("policies", part) if one.name not in known]
            found |= {one.name: one for one in own}
        elif part:
            raise AuditError(
                f"--policies: no policy or folder '{part}'; there are all, "
                f"{', '.join(sorted(known))}"
            )
    return [({**known, **found})[name] for name in sorted({*found, "none"})] if found else []


def _last_plugins(con: duckdb.DuckDBPyConnection, kind: str) -> list[Plugin]:
    """The project's own plug-ins, and a user's as they were at the last replay."""
    ours = {} if kind == "policies" else {plugin.name: plugin for plugin in plugins(kind)}
    if f"used_{kind}" not in relations(con):
        return [ours[name] for name in sorted(ours)]
    known = {plugin.name: plugin for plugin in plugins(kind)}
    rows = con.execute(f"select name, sql, votes_on, path from used_{kind}").fetchall()
    for plugin in (Plugin(*row) for row in rows):
        if plugin.name in known and kind == "policies":
            ours[plugin.name] = known[plugin.name]
        elif plugin.name not in known:
            check_lineage(kind, plugin)
            ours[plugin.name] = plugin
    return [ours[name] for name in sorted(ours)]


def require_selector(settings: Settings, found: Plugins) -> None:
    """Refuse a primary selector that is not there."""
    known = [selector.name for selector in found.selectors]
    if settings.primary_selector not in known:
        raise AuditError(
            f"--primary-selector: no selector '{settings.primary_selector}'; there are "
            f"{', '.join(known)}"
        )


def keep(con: duckdb.DuckDBPyConnection, settings: Settings, found: Plugins) -> None:
    """Write the settings as tables, visible and joinable."""
    listed = {
        **{one.name: _written(one, settings) for one in fields(Settings) if is_stored(one)},
        **{kind: ",".join(one.name for one in getattr(found, kind)) for kind in KINDS_KEPT},
    }
    _create(con, "settings", key=list(listed), value=list(listed.values()))
    _create(con, "budgets", budget=pa.array(settings.budgets, pa.int64()))
    _create(
        con,
        "caps",
        cap=pa.array(settings.caps, pa.int32()),
        is_primary=[cap == settings.primary_cap for cap in settings.caps],
    )
    _create(con, "repeats", repeat=pa.array(range(settings.orders + 1), pa.int32()))
    _create(con, "archive_filters", pattern=pa.array(settings.archives, pa.string()))
    _create(con, "competition_filters", pattern=pa.array(settings.competitions, pa.string()))
    _create(
        con,
        "problem_filters",
        competition=pa.array([name for name, _ in settings.problems], pa.string()),
        question_id=pa.array([number for _, number in settings.problems], pa.int64()),
    )
    for kind in KINDS_KEPT:
        _keep_plugins(con, kind, getattr(found, kind), settings.primary_selector)


def _keep_plugins(
    con: duckdb.DuckDBPyConnection, kind: str, found: Sequence[Plugin], primary: str
) -> None:
    """One kind's plug-ins, numbered from 1; `name` also goes by the word that other tables use."""
    one = {"rules": "rule", "selectors": "selector", "policies": "policy"}[kind]
    names = pa.array([plugin.name for plugin in found], pa.string())
    _create(
        con,
        f"used_{kind}",
        **{f"{one}_id": pa.array(range(1, len(found) + 1), pa.int8()), one: names, "name": names},
        is_primary=pa.array([plugin.name == primary for plugin in found], pa.bool_()),
        votes_on=pa.array([plugin.votes_on for plugin in found], pa.string()),
        path=pa.array([plugin.path for plugin in found], pa.string()),
        sql=pa.array([plugin.sql for plugin in found], pa.string()),
    )


def _create(con: duckdb.DuckDBPyConnection, relation: str, /, **columns: Any) -> None:
    insert(con, f"create or replace table {relation} as", pa.table(columns))


def walk_fingerprint(settings: Settings, found: Plugins) -> str:
    """What walks depend on besides the loaded records and the largest cap."""
    parts: Iterable[Any] = (
        [settings.orders, settings.order_seed, settings.primary_selector],
        [settings.archives, settings.competitions, settings.problems],
        [(selector.name, selector.sql, selector.votes_on) for selector in found.selectors],
        sorted(sources(WALKED, found).items()),
    )
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
