"""What a replay is asked for: given now, as the last time, or by default; kept as tables."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database.arrow import insert
from audit.database.schema import relations
from audit.engine.plugins import Plugin, Plugins, check_lineage, plugins
from audit.engine.sql_files import resource
from audit.engine.stages import STAGES
from audit.errors import AuditError

LARGEST_BUDGET = 10**15
MOST_DRAWS = 10**6
KINDS_KEPT = ("rules", "selectors", "policies")


@dataclass(frozen=True)
class Settings:
    """The settings of a replay, plug-ins aside."""

    budgets: tuple[int, ...] = (4000, 8000, 16000, 32000)
    caps: tuple[int, ...] = (8, 16, 32)
    primary_cap: int = 16
    orders: int = 20
    order_seed: int = 20260904
    primary_selector: str = "majority"
    replicates: int = 5000
    bootstrap_seed: int = 20260905
    curve_points: int = 200
    archives: tuple[str, ...] = ()
    competitions: tuple[str, ...] = ()
    problems: tuple[tuple[str, int], ...] = ()


def resolve(
    con: duckdb.DuckDBPyConnection, given: Mapping[str, Any], added: Sequence[int] = ()
) -> Settings:
    """The settings of the last replay, or the defaults, with what is given in their place.

    The added budgets come to those that are given or were there.
    """
    last = last_settings(con)
    wanted = {name: value for name, value in given.items() if value is not None}
    settings = replace(last, **wanted)
    settings = replace(
        settings,
        budgets=tuple(sorted({*settings.budgets, *added})),
        caps=tuple(sorted({*settings.caps, settings.primary_cap})),
    )
    _check(settings)
    return settings


def last_settings(con: duckdb.DuckDBPyConnection) -> Settings:
    """The settings of the last replay; the defaults where there was none."""
    if "settings" not in relations(con):
        return Settings()
    stored = dict(con.execute("select key, value from settings").fetchall())
    found: dict[str, Any] = {}
    for field in fields(Settings):
        if field.name not in stored:
            continue
        text = stored[field.name]
        try:
            if field.name in ("budgets", "caps"):
                found[field.name] = tuple(int(part) for part in text.split(","))
            elif field.name in ("archives", "competitions"):
                found[field.name] = tuple(json.loads(text))
            elif field.name == "problems":
                found[field.name] = tuple((name, int(number)) for name, number in json.loads(text))
            elif field.name == "primary_selector":
                found[field.name] = text
            else:
                found[field.name] = int(text)
        except (TypeError, ValueError):
            raise AuditError(
                f"the database's setting {field.name} cannot be read; load the sources into a "
                "new --db"
            ) from None
    return Settings(**found)


def _check(settings: Settings) -> None:
    """Refuse a setting that means nothing."""
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
        **asdict(settings),
        "budgets": ",".join(map(str, settings.budgets)),
        "caps": ",".join(map(str, settings.caps)),
        "archives": json.dumps(settings.archives),
        "competitions": json.dumps(settings.competitions),
        "problems": json.dumps(settings.problems),
        **{kind: ",".join(one.name for one in getattr(found, kind)) for kind in KINDS_KEPT},
    }
    _create(con, "settings", key=list(listed), value=[str(value) for value in listed.values()])
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
    files = [f"{stage}.sql" for stage in STAGES if stage.startswith(("keys/", "walks/"))]
    parts: Iterable[Any] = (
        [settings.orders, settings.order_seed, settings.primary_selector],
        [settings.archives, settings.competitions, settings.problems],
        [(selector.name, selector.sql, selector.votes_on) for selector in found.selectors],
        [path.read_text("utf-8") for file in files if (path := resource("sql") / file).exists()],
    )
    return hashlib.sha256(json.dumps(list(parts)).encode()).hexdigest()
