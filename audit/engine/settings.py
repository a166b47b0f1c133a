"""What a replay is asked for: given now, as the last time, or by default; kept as tables."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import Field, fields, replace
from fractions import Fraction
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

import duckdb
import pyarrow as pa

from audit.database.arrow import insert
from audit.database.schema import has_answers, relations
from audit.engine.build import sources
from audit.engine.plugins import (
    ANSWERLESS,
    KINDS,
    SAME_SELECTOR,
    Plugin,
    Plugins,
    check_lineage,
    chosen,
    plugins,
)
from audit.engine.scores import (
    check_weights,
    outside_weights,
    score_selectors,
    scores,
    used_scores,
    weighed,
)
from audit.engine.stages import WALKED
from audit.errors import AuditError
from audit.options import Settings, flag_of
from audit.units import UNITS, read_budgets, write_amount, write_exactly

Typed = TypeVar("Typed")

LARGEST_BUDGET = 10**15
MOST_DRAWS = 10**6
HINTS = get_type_hints(Settings)
# Shares of the attempts that cost no more than a default budget of another unit than the study's.
SHARES = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10))


def resolve(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> Settings:
    """The settings of the last replay, or the defaults, with what is asked for in their place.

    Budgets are as a user writes them, in the unit; the added ones come to those that are asked for
    or were there.
    """
    wanted = {
        name: value for name, value in asked.items() if value is not None and name not in KINDS
    }
    last = last_settings(con, wanted)
    unit = wanted.get("unit", last.unit)
    if unit not in UNITS:
        raise AuditError(f"--unit {unit}: must be {' or '.join(UNITS)}")
    if "budgets" in wanted and not wanted["budgets"]:
        raise AuditError("--budgets: at least one budget, each above 0")
    if unit != last.unit:
        # Budgets of another unit mean nothing here; those of a unit that has no usual ones are
        # chosen once it is known what attempts cost.
        last = replace(last, budgets=Settings().budgets if unit == Settings().unit else ())
    if not has_answers(con) and last.primary_selector == Settings().primary_selector:
        last = replace(last, primary_selector=ANSWERLESS)
    primary = wanted.get("primary_selector")
    if primary in SAME_SELECTOR:
        wanted["primary_selector"] = SAME_SELECTOR[primary]
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
    if min(settings.budgets, default=1) < 1:
        raise AuditError("--budgets: at least one budget, each above 0")
    if max(settings.budgets, default=1) > LARGEST_BUDGET:
        most = write_amount(Fraction(LARGEST_BUDGET, UNITS[settings.unit].scale), settings.unit)
        raise AuditError(f"--budgets: a budget above {most} cannot be summed exactly")
    if not 0 < settings.effect <= 100:
        raise AuditError("--effect: a difference in points, above 0 and at most 100")
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
    con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any], settings: Settings
) -> Plugins:
    """The plug-ins of a replay; those of the last one where nothing is asked for."""
    found = {}
    for kind in KINDS:
        known = known_plugins(con, kind)
        primary = (settings.primary_selector,) if kind == "selectors" else ()
        always = (*KINDS[kind].always, *primary)
        if asked.get(kind) is not None:
            found[kind] = chosen(kind, asked[kind], known, always, _left_out(con, kind, settings))
        else:
            found[kind] = _last_plugins(con, kind, known, primary)
    _require_selector(con, settings, found["selectors"])
    check_weights(con, found["selectors"], settings)
    return Plugins(found["rules"], found["selectors"], found["policies"], settings.unit)


def known_plugins(con: duckdb.DuckDBPyConnection, kind: str) -> dict[str, Plugin]:
    """The plug-ins that can be chosen by name in this database."""
    known = {plugin.name: plugin for plugin in plugins(kind)}
    if kind == "selectors":
        known |= {plugin.name: plugin for plugin in score_selectors(con)}
        if not has_answers(con):
            known = {name: one for name, one in known.items() if not one.needs_answers}
    return known


def _left_out(con: duckdb.DuckDBPyConnection, kind: str, settings: Settings) -> set[str]:
    """The selectors that `all` leaves out: votes over scores that are no weights."""
    if kind != "selectors":
        return set()
    return {f"vote_{score}" for score in scores(con) if outside_weights(con, score, settings)}


def _last_plugins(
    con: duckdb.DuckDBPyConnection, kind: str, known: Mapping[str, Plugin], primary: Sequence[str]
) -> list[Plugin]:
    """The plug-ins of the last replay, or the default ones, with the primary selector."""
    if f"used_{kind}" not in relations(con):
        names = KINDS[kind].default
        if kind == "selectors" and not has_answers(con):
            names = (ANSWERLESS,)
        found = {name: known[name] for name in names if name in known}
    else:
        rows = con.execute(f"select name, sql, votes_on, path from used_{kind}").fetchall()
        last = {row[0]: Plugin(*row) for row in rows}
        found = {name: known.get(name, plugin) for name, plugin in last.items()}
        for plugin in found.values():
            check_lineage(kind, plugin)
            if plugin.name not in known and plugin.path.startswith("sql/"):
                raise AuditError(
                    f"the {KINDS[kind].one} {plugin.name} of the last replay is not there any "
                    f"more; name others with --{kind}"
                )
    found |= {name: known[name] for name in primary if name in known}
    return [found[name] for name in sorted(found)]


def _require_selector(
    con: duckdb.DuckDBPyConnection, settings: Settings, found: Sequence[Plugin]
) -> None:
    """Refuse a primary selector that is not there, or that votes where there is no answer."""
    if settings.primary_selector in {plugin.name for plugin in found}:
        return
    known = known_plugins(con, "selectors")
    votes = {plugin.name for plugin in plugins("selectors") if plugin.needs_answers}
    why = "votes, and these tasks have no answer" if settings.primary_selector in votes else ""
    raise AuditError(
        f"--primary-selector: {why and settings.primary_selector + ' ' + why}"
        f"{'' if why else f'no selector {settings.primary_selector!r}'}; there are "
        f"{', '.join(sorted({*known, *(one.name for one in found)}))}"
    )


def keep(con: duckdb.DuckDBPyConnection, settings: Settings, found: Plugins) -> None:
    """Write the settings as tables, visible and joinable."""
    listed = {
        **{one.name: _written(one, settings) for one in fields(Settings) if is_stored(one)},
        **{kind: ",".join(one.name for one in getattr(found, kind)) for kind in KINDS},
    }
    _create(con, "settings", key=list(listed), value=list(listed.values()))
    _create(con, "budgets", budget=pa.array(settings.budgets, pa.int64()))
    scale = UNITS[settings.unit].scale
    adds_prompts = [settings.unit == "completion"]
    _create(
        con,
        "unit",
        unit=[settings.unit],
        scale=pa.array([scale], pa.int64()),
        adds_prompts=adds_prompts,
    )
    archives, *prices = zip(*settings.prices, strict=True) if settings.prices else ((),) * 4
    _create(
        con,
        "prices",
        archive=pa.array(archives, pa.string()),
        **{
            name: pa.array(values, pa.int64())
            for name, values in zip(("input", "cached_input", "output"), prices, strict=True)
        },
    )
    _create(con, "used_scores", score=pa.array(used_scores(con, found.selectors), pa.string()))
    _create(
        con,
        "caps",
        cap=pa.array(settings.caps, pa.int32()),
        is_primary=[cap == settings.primary_cap for cap in settings.caps],
    )
    _create(con, "repeats", repeat=pa.array(range(settings.orders + 1), pa.int32()))
    _create(con, "archive_filters", archive=pa.array(settings.archives, pa.string()))
    names = pa.array(settings.competitions, pa.string())
    _create(con, "competition_filters", competition=names)
    _create(
        con,
        "problem_filters",
        competition=pa.array([name for name, _ in settings.problems], pa.string()),
        question_id=pa.array([number for _, number in settings.problems], pa.int64()),
    )
    for kind in KINDS:
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
        has_answers=pa.array([has_answers(con)] * len(found), pa.bool_()),
        score=pa.array([weighed(plugin)[0] for plugin in found], pa.string()),
        weighs=pa.array([weighed(plugin)[1] for plugin in found], pa.string()),
    )


def _create(con: duckdb.DuckDBPyConnection, relation: str, /, **columns: Any) -> None:
    insert(con, f"create or replace table {relation} as", pa.table(columns))


def walk_fingerprint(settings: Settings, found: Plugins) -> str:
    """What walks depend on besides the loaded records and the largest cap."""
    parts: Iterable[Any] = (
        [settings.orders, settings.order_seed, settings.primary_selector],
        [settings.archives, settings.competitions, settings.problems],
        [settings.unit, settings.prices if settings.unit == "money" else ()],
        [(selector.name, selector.sql, selector.votes_on) for selector in found.selectors],
        sorted(sources(WALKED, replace(found, unit=settings.unit)).items()),
    )
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()


def usual_budgets(costs: Iterable[int]) -> tuple[int, ...]:
    """Budgets that suit what attempts cost: quantiles, rounded half up to two digits."""
    costs = sorted(costs)
    found = set()
    for share in SHARES:
        place = (len(costs) - 1) * share
        low, high = costs[math.floor(place)], costs[math.ceil(place)]
        cost = low + (high - low) * (place - math.floor(place))
        step = 10 ** max(len(str(math.floor(cost))) - 2, 0)
        found.add(max(1, math.floor(cost / step + Fraction(1, 2)) * step))
    return tuple(sorted(found))
