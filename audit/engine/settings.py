"""Settings of a replay: from options, the last replay or the defaults; stored as tables."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import Field, fields, replace
from fractions import Fraction
from typing import Any

import duckdb

from audit.database.schema import has_answers, read_fact, relations, store_fact
from audit.engine.plugins import (
    ANSWERLESS,
    KINDS,
    SAME_SELECTOR,
    Plugin,
    Plugins,
    check_plugin,
    choose_plugins,
    load_plugins,
)
from audit.engine.scores import (
    check_weights,
    find_unfit_selectors,
    find_used_scores,
    find_weight,
    render_score_selectors,
)
from audit.engine.terminals import sort_terminals
from audit.errors import AuditError
from audit.options import Settings, flag_of
from audit.text import is_utf8
from audit.units import UNITS, read_budgets, write_amount, write_exactly

LARGEST_BUDGET = 10**15
MOST_DRAWS = 10**6
# The key of `meta` that tells that the defaults for one run per problem were used.
ONE_RUN = "one_run"
# Quantiles of the costs of attempts that become the default budgets in other units.
SHARES = (Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(9, 10))


def resolve_settings(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> Settings:
    """Return the settings of the last replay, or the defaults, replaced by those in `asked`.

    Budgets are parsed in the unit; `add_budgets` extends those asked for or of the last replay.
    """
    values = {
        name: value for name, value in asked.items() if value is not None and name not in KINDS
    }
    last = _apply_one_run(con, read_last_settings(con, values), values)
    unit = values.get("unit", last.unit)
    if unit not in UNITS:
        raise AuditError(f"--unit {unit}: must be {' or '.join(UNITS)}")
    if "budgets" in values and not values["budgets"]:
        raise AuditError("--budgets: at least one budget, each above 0")
    if unit != last.unit:
        # Budgets of another unit mean nothing here; those of a unit that has no usual ones are
        # chosen once it is known what attempts cost.
        last = replace(last, budgets=Settings().budgets if unit == Settings().unit else ())
    if not has_answers(con) and last.primary_selector == Settings().primary_selector:
        last = replace(last, primary_selector=ANSWERLESS)
    primary = values.get("primary_selector")
    if primary in SAME_SELECTOR:
        values["primary_selector"] = SAME_SELECTOR[primary]
    for name in ("budgets", "add_budgets"):
        if name in values:
            values[name] = _parse_budgets(name, values[name], unit)
    for field in fields(Settings):
        if field.name in values:
            values[field.name] = as_tuples(values[field.name])
    added = values.pop("add_budgets", ())
    settings = replace(last, **values)
    settings = replace(
        settings,
        terminals=sort_terminals(settings.terminals),
        budgets=tuple(sorted({*settings.budgets, *added})),
        caps=tuple(sorted({*settings.caps, settings.primary_cap})),
    )
    check_settings(settings)
    return settings


def _apply_one_run(
    con: duckdb.DuckDBPyConnection, last: Settings, values: Mapping[str, Any]
) -> Settings:
    """Return the last settings with or without the defaults for one run per problem.

    A first replay uses them; a later one drops them once a problem has several attempts.
    """
    taken = read_fact(con, ONE_RUN) is not None
    if "attempts" not in relations(con) or ("settings" in relations(con) and not taken):
        return last
    archives, competitions = (
        as_tuples(values.get(name, getattr(last, name))) for name in ("archives", "competitions")
    )
    is_one = has_one_run(con, archives, competitions)
    if not is_one and not taken:
        return last
    usual = Settings(caps=(1,), primary_cap=1, orders=1) if is_one else Settings()
    return replace(last, caps=usual.caps, primary_cap=usual.primary_cap, orders=usual.orders)


def has_one_run(
    con: duckdb.DuckDBPyConnection, archives: Sequence[str] = (), competitions: Sequence[str] = ()
) -> bool:
    """Tell whether no problem of these archives and competitions has a second attempt."""
    second = con.execute(
        "select 1 from attempts where slot > 0 and (len($1) = 0 or list_contains($1, archive)) "
        "and (len($2) = 0 or list_contains($2, competition)) limit 1",
        [list(archives), list(competitions)],
    ).fetchall()
    return not second


def _parse_budgets(name: str, written: Any, unit: str) -> tuple[int, ...]:
    try:
        return tuple(read_budgets(written, unit))
    except (TypeError, ValueError) as error:
        raise AuditError(f"--{name.replace('_', '-')}: {error}") from None


def is_stored(field: Field[Any]) -> bool:
    """Tell whether a field is stored in the table `settings`; plug-ins have their own tables."""
    return field.metadata.get("is_stored", True)


def as_tuples(value: Any) -> Any:
    """Convert lists to tuples, nested ones too; return other values unchanged."""
    return tuple(as_tuples(item) for item in value) if isinstance(value, list | tuple) else value


def read_last_settings(con: duckdb.DuckDBPyConnection, replaced: Collection[str] = ()) -> Settings:
    """Read the settings of the last replay, or return the defaults.

    Refuse an invalid setting, unless its name is in `replaced`.
    """
    if "settings" not in relations(con):
        return Settings()
    stored = dict(con.execute("select key, value from settings").fetchall())
    values: dict[str, Any] = {}
    if stored.get("unit", Settings().unit) not in UNITS and "unit" in replaced:
        # Budgets are written in the unit; those of an unknown one mean nothing.
        stored = {key: value for key, value in stored.items() if key not in ("unit", "budgets")}
    for field in sorted(fields(Settings), key=lambda field: field.name != "unit"):
        if field.name not in stored or not is_stored(field):
            continue
        try:
            values[field.name] = _parse_setting(field, stored[field.name], stored)
        except (TypeError, ValueError, KeyError, AuditError):
            if field.name in replaced:
                continue
            raise AuditError(
                f"the database's setting {field.name} cannot be read; 'budget-audit replay "
                f"{flag_of(field)} …' replaces it"
            ) from None
    return Settings(**values)


def _parse_setting(field: Field[Any], text: str, stored: Mapping[str, str]) -> Any:
    """Parse the stored text of a setting; the inverse of `_format_setting`."""
    kind = field.metadata["kind"]
    if kind == "amounts":
        return tuple(read_budgets(text, stored.get("unit", Settings().unit)))
    if field.name == "unit" and text not in UNITS:
        raise ValueError(text)
    if kind in ("number", "orders"):
        return int(text)
    if kind == "decimal":
        return float(text)
    if kind == "numbers":
        return tuple(int(part) for part in text.split(","))
    if kind == "names":
        return tuple(text.split(","))
    if kind == "patterns":
        return tuple(map(str, json.loads(text)))
    if kind == "file":
        return tuple((str(name), *map(int, numbers)) for name, *numbers in json.loads(text))
    return text


def _format_setting(field: Field[Any], settings: Settings) -> str:
    """Format a setting for the table `settings`; budgets are in the unit."""
    value, kind = getattr(settings, field.name), field.metadata["kind"]
    if kind == "amounts":
        return ",".join(write_exactly(amount, settings.unit) for amount in value)
    if kind in ("numbers", "names"):
        return ",".join(map(str, value))
    return json.dumps(value) if isinstance(value, tuple) else str(value).removesuffix(".0")


def check_settings(settings: Settings) -> None:
    """Refuse invalid settings, such as a budget of 0."""
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
    largest = {"caps": 2**31 - 1, "orders": MOST_DRAWS, "replicates": MOST_DRAWS}
    found = {
        "caps": max(settings.caps),
        "orders": settings.orders,
        "replicates": settings.replicates,
    }
    for name, limit in largest.items():
        if found[name] > limit:
            raise AuditError(f"--{name} is {found[name]:,}; at most {limit:,}")
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
    """Return the plug-ins asked for; of kinds not asked for, those of the last replay."""
    by_kind = {}
    for kind in KINDS:
        available = find_available_plugins(con, kind, settings.primary_selector, asked.get(kind))
        primary = (settings.primary_selector,) if kind == "selectors" else ()
        if asked.get(kind) is None:
            by_kind[kind] = _find_last_plugins(con, kind, available, primary)
        else:
            left_out = find_unfit_selectors(con, settings) if kind == "selectors" else ()
            always = (*KINDS[kind].always, *primary)
            by_kind[kind] = choose_plugins(kind, asked[kind], available, always, left_out)
        if kind == "selectors":
            _require_selector(settings, by_kind[kind], available)
    check_weights(con, by_kind["selectors"], settings)
    return Plugins(**by_kind, unit=settings.unit, primary=settings.primary_selector)


def find_available_plugins(
    con: duckdb.DuckDBPyConnection, kind: str, primary: str, asked: Any
) -> dict[str, Plugin]:
    """Return the plug-ins of a kind that can be chosen by name in this database."""
    available = {plugin.name: plugin for plugin in load_plugins(kind)}
    if kind == "selectors":
        is_usual = asked is None and primary in available and "used_selectors" not in relations(con)
        # Rendering the selectors of scores is slow, and no default selector is among them.
        if not is_usual:
            available |= {plugin.name: plugin for plugin in render_score_selectors(con)}
        if not has_answers(con):
            available = {
                name: plugin for name, plugin in available.items() if not plugin.needs_answers
            }
    return available


def _find_last_plugins(
    con: duckdb.DuckDBPyConnection,
    kind: str,
    available: Mapping[str, Plugin],
    primary: Sequence[str],
) -> list[Plugin]:
    """Return the plug-ins of the last replay, or else the defaults, and the primary selector."""
    if f"used_{kind}" not in relations(con):
        names = KINDS[kind].default
        if kind == "selectors" and not has_answers(con):
            names = (ANSWERLESS,)
        by_name = {name: available[name] for name in names if name in available}
    else:
        rows = con.execute(f"select name, sql, votes_on, path from used_{kind}").fetchall()
        last = {row[0]: Plugin(*row) for row in rows}
        by_name = {name: available.get(name, plugin) for name, plugin in last.items()}
        for plugin in by_name.values():
            check_plugin(kind, plugin)
            if plugin.name not in available and not plugin.is_own:
                raise AuditError(
                    f"the {KINDS[kind].one} {plugin.name} of the last replay is not there any "
                    f"more; name others with --{kind}"
                )
    by_name |= {name: available[name] for name in primary if name in available}
    return [by_name[name] for name in sorted(by_name)]


def _require_selector(
    settings: Settings, selectors: Sequence[Plugin], available: Mapping[str, Plugin]
) -> None:
    """Refuse an unknown primary selector, or one that votes on tasks without answers."""
    name, names = settings.primary_selector, {plugin.name for plugin in selectors}
    if name in names:
        return
    votes = {plugin.name for plugin in load_plugins("selectors") if plugin.needs_answers}
    why = f"{name} votes, and these tasks have no answer" if name in votes else ""
    raise AuditError(
        f"--primary-selector: {why or f'no selector {name!r}'}; there are "
        f"{', '.join(sorted({*available, *names}))}"
    )


def store_settings(
    con: duckdb.DuckDBPyConnection, settings: Settings, used_plugins: Plugins
) -> None:
    """Store the settings and plug-ins as tables, so that SQL can join them."""
    is_one = (settings.caps, settings.orders) == ((1,), 1)
    is_one = is_one and has_one_run(con, settings.archives, settings.competitions)
    store_fact(con, ONE_RUN, "true" if is_one else None)
    listed = {
        **{
            field.name: _format_setting(field, settings)
            for field in fields(Settings)
            if is_stored(field)
        },
        **{kind: ",".join(plugin.name for plugin in getattr(used_plugins, kind)) for kind in KINDS},
    }
    unit = (settings.unit, UNITS[settings.unit].scale, settings.unit == "completion")
    scores = find_used_scores(con, used_plugins.selectors)
    caps = [(cap, cap == settings.primary_cap) for cap in settings.caps]
    columns_and_rows: dict[str, tuple[str, Iterable[tuple[Any, ...]]]] = {
        "settings": ("key varchar, value varchar", listed.items()),
        "budgets": ("budget bigint", zip(settings.budgets, strict=True)),
        "unit": ("unit varchar, scale bigint, adds_prompts boolean", [unit]),
        "prices": (
            "archive varchar, input bigint, cached_input bigint, output bigint",
            settings.prices,
        ),
        "used_scores": ("score varchar", zip(scores, strict=True)),
        "caps": ("cap integer, is_primary boolean", caps),
        "used_terminals": ("terminal_id integer, terminal varchar", enumerate(settings.terminals)),
        "repeats": ("repeat integer", zip(range(settings.orders + 1), strict=True)),
        "archive_filters": ("archive varchar", zip(settings.archives, strict=True)),
        "competition_filters": ("competition varchar", zip(settings.competitions, strict=True)),
        "problem_filters": ("competition varchar, question_id bigint", settings.problems),
    }
    for relation, (columns, rows) in columns_and_rows.items():
        create_table(con, relation, columns, rows)
    is_answered = has_answers(con)
    for kind in KINDS:
        used = getattr(used_plugins, kind)
        _store_plugins(con, kind, used, settings.primary_selector, is_answered)


def _store_plugins(
    con: duckdb.DuckDBPyConnection,
    kind: str,
    used_plugins: Sequence[Plugin],
    primary: str,
    is_answered: bool,
) -> None:
    """Store a kind's plug-ins as `used_KIND`, numbered from 1; `rule` repeats `name` for joins."""
    one, rows = KINDS[kind].one, []
    for number, each in enumerate(used_plugins, 1):
        known = (each.votes_on, each.path, each.sql, is_answered, *find_weight(each))
        rows.append((number, each.name, each.name, each.name == primary, *known))
    columns = (
        f"{one}_id tinyint, {one} varchar, name varchar, is_primary boolean, votes_on varchar, "
        "path varchar, sql varchar, has_answers boolean, score varchar, weighs varchar"
    )
    create_table(con, f"used_{kind}", columns, rows)


def create_table(
    con: duckdb.DuckDBPyConnection, relation: str, columns: str, rows: Iterable[tuple[Any, ...]]
) -> None:
    """Create or replace a table with columns such as "cap integer, budget bigint" and rows."""
    declared = [column.split() for column in columns.split(", ")]
    values = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in declared]
    if not is_utf8(
        "".join(value for column in values for value in column if isinstance(value, str))
    ):
        raise AuditError("a name that was given is not UTF-8, and DuckDB takes none; rename it")
    select = ", ".join(f"unnest(?::{kind}[]) as {name}" for name, kind in declared)
    con.execute(f"create or replace table {relation} as select {select}", values)


def choose_budgets(costs: Iterable[int]) -> tuple[int, ...]:
    """Choose default budgets: quantiles of the costs, rounded half up to two digits."""
    costs = sorted(costs)
    budgets = set()
    for share in SHARES:
        place = (len(costs) - 1) * share
        low, high = costs[math.floor(place)], costs[math.ceil(place)]
        cost = low + (high - low) * (place - math.floor(place))
        step = 10 ** max(len(str(math.floor(cost))) - 2, 0)
        budgets.add(max(1, math.floor(cost / step + Fraction(1, 2)) * step))
    return tuple(sorted(budgets))
