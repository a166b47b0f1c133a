"""Replay every order of every bank: walks that are there are kept, and budgets are looked up."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit.ahead import prefetch
from audit.database.arrow import insert
from audit.database.connection import transaction
from audit.database.schema import relations, require_attempts
from audit.engine.build import bind, build, extend, portioned_stages, render, walk
from audit.engine.comments import comment_relations
from audit.engine.draws import draw_counts, draw_orders
from audit.engine.foresight import refuse_foresight
from audit.engine.lineage import relations_named
from audit.engine.plugins import Plugins, check_columns, check_contract
from audit.engine.prices import require_costs, require_prices
from audit.engine.quality import count_replays
from audit.engine.scores import own_plugins
from audit.engine.settings import (
    Settings,
    keep,
    last_settings,
    resolve,
    resolve_plugins,
    usual_budgets,
    walk_fingerprint,
)
from audit.engine.sql_files import stage_file, table_names
from audit.engine.stages import (
    DRAWN,
    PORTION_ROWS,
    REPLAY_RELATIONS,
    SETTING_RELATIONS,
    STAGE_NAMES,
    TOKEN_RELATIONS,
    WALKED,
)
from audit.errors import AuditError, first_line
from audit.progress import Progress

# The stage before which the columns of a kind of plug-in are looked at.
BOUND_BEFORE = {"prefix_selections": "selectors", "stops": "rules", "policy_positions": "policies"}
# Kinds of plug-ins whose rows are held to a contract.
CHECKED = ("selectors", "rules", "policies")


class Replayed(NamedTuple):
    """What a replay was run with, and whether the walks were there already."""

    settings: Settings
    plugins: Plugins
    walks_reused: bool
    # Whether the budgets were chosen for what attempts cost.
    has_usual_budgets: bool


def replay(
    con: duckdb.DuckDBPyConnection,
    asked: Mapping[str, Any] | None = None,
    *,
    progress: Progress | None = None,
    is_users: bool = False,
    **more: Any,
) -> Replayed:
    """Replay every order of every bank under every cap, budget and rule, in one transaction.

    Where it `is_users` own, the tables are views of the database afterwards, with comments, and a
    primary selector that can pick nothing is refused.
    What is asked for are fields of Settings, together or one by one; what is not is as in the last
    replay of this database, or the study's.
    """
    require_attempts(con)
    asked = {**(asked or {}), **more}
    settings = resolve(con, asked)
    plugins = resolve_plugins(con, asked, settings)
    with transaction(con):
        is_walked = _is_walked(con, settings, plugins)
        reused = _reusable_tables(con, settings) if is_walked else set()
        drop_replays(con, reused)
        _refuse_users_own(con, reused)
        keep(con, settings, plugins)
        if not is_walked:
            keep_walk_settings(con, settings, plugins)
        has_usual_budgets = not settings.budgets
        settings = build_stages(con, settings, plugins, reused, progress)
        # Reused selections were checked when they were made.
        check_contracts(con, plugins, ("rules", "policies") if is_walked else CHECKED)
        if is_users:
            _refuse_idle_primary(con, settings)
            publish(con, replace(plugins, unit=settings.unit))
        finish(con)
        con.execute("update meta set value = 'fresh' where key = 'replays'")
    return Replayed(settings, plugins, is_walked, has_usual_budgets)


def _is_walked(con: duckdb.DuckDBPyConnection, settings: Settings, plugins: Plugins) -> bool:
    """Whether the walks that this replay needs are there, for a cap as large or larger."""
    is_fresh = con.execute(
        "select 1 from meta where key = 'replays' and value = 'fresh'"
    ).fetchall()
    if not is_fresh or "walk_settings" not in relations(con):
        return False
    query = "select 1 from walk_settings where fingerprint = ? and largest_cap >= ?"
    values = [walk_fingerprint(settings, plugins), max(settings.caps)]
    return bool(con.execute(query, values).fetchall())


def check_contracts(
    con: duckdb.DuckDBPyConnection, plugins: Plugins, kinds: Sequence[str] = CHECKED
) -> None:
    """Refuse the first plug-in of a user's own whose rows break its contract.

    The project's own are held to the same contracts by its tests.
    """
    for kind in kinds:
        if own := own_plugins(kind, plugins):
            chosen = replace(plugins, rules=own) if kind == "rules" else plugins
            check_contract(con, kind, getattr(chosen, kind), render(f"broken_{kind}", chosen))
            if kind == "rules" and plugins.policies:
                check_contract(con, kind, own, render("broken_policy_rules", chosen))
    refuse_foresight(con, plugins, kinds)


def publish(con: duckdb.DuckDBPyConnection, plugins: Plugins) -> None:
    """Make every table a view of the database, so that any program can select from it.

    What the relations and their columns mean is written into the catalogue.
    """
    for name in table_names():
        # Prefix boxes are counted in tokens: in another unit there is nothing to look at.
        reads_tokens = relations_named(render(name, plugins)) & TOKEN_RELATIONS
        if plugins.unit == "completion" or not reads_tokens:
            build(con, name, plugins)
    made = relations(con)
    bind(con, [name for name in table_names() if name in made])
    comment_relations(con)


def finish(con: duckdb.DuckDBPyConnection) -> None:
    """Remember and count what a replay has made."""
    _remember_made(con)
    count_replays(con)


def _reusable_tables(con: duckdb.DuckDBPyConnection, settings: Settings) -> set[str]:
    """The tables that this replay can reuse: the walks, and the counts if drawn alike."""
    try:
        last = last_settings(con)
    except AuditError:
        # A setting that could not be read is being replaced; nothing is known of the counts.
        return set(WALKED)
    is_drawn = (last.replicates, last.bootstrap_seed) == (
        settings.replicates,
        settings.bootstrap_seed,
    )
    return set(relations(con)) & {*WALKED, *(["bootstrap_counts"] if is_drawn else [])}


def keep_walk_settings(
    con: duckdb.DuckDBPyConnection, settings: Settings, plugins: Plugins
) -> None:
    """Write what the walks depend on."""
    con.execute("create table walk_settings (largest_cap integer, fingerprint varchar)")
    values = [max(settings.caps), walk_fingerprint(settings, plugins)]
    con.execute("insert into walk_settings values (?, ?)", values)


def _refuse_users_own(con: duckdb.DuckDBPyConnection, reused: set[str]) -> None:
    """Nothing of a user's is replaced: a relation that has the name of a stage is refused."""
    taken = set(relations(con)) & {*STAGE_NAMES, *table_names(), "walk_settings"} - reused
    if taken:
        raise AuditError(
            f"the database holds a relation '{min(taken)}' that budget-audit did not make, and "
            "replay needs the name; rename it"
        )


def build_stages(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    plugins: Plugins,
    reused: Collection[str],
    progress: Progress | None = None,
    names: Sequence[str] = STAGE_NAMES,
) -> Settings:
    """Build every stage that is not reused, the portioned ones for one portion after another.

    The settings come back with the budgets that suit the attempts where none were asked for.
    """
    plugins = replace(plugins, unit=settings.unit)
    portions: list[tuple[int, int]] = []
    steps, done = len(names), 0
    portioned_names = portioned_stages(plugins)
    portioned = [name for name in names if name in portioned_names and name not in reused]
    draws: dict[str, Iterable[pa.Table]] = {}

    def report(name: str) -> None:
        nonlocal done
        if progress:
            progress(name, done, steps)
        done += 1

    for name in names:
        report(name)
        if name in BOUND_BEFORE:
            _check_columns(con, BOUND_BEFORE[name], plugins)
        if name in portioned_names and not portions:
            portions = _portions(con, settings, len(plugins.rules))
            steps += (len(portions) - 1) * len(portioned)
            walk(con, portions[0])
        if name in reused:
            continue
        if name in DRAWN:
            _keep_draws(con, name, draws.get(name) or prefetch(DRAWS[name](con, settings)))
        else:
            build(con, name, plugins)
        if name == "banks":
            # NumPy draws beside the stages that come first.
            to_draw = [drawn for drawn in DRAWN if drawn in names and drawn not in reused]
            draws = {drawn: prefetch(DRAWS[drawn](con, settings)) for drawn in to_draw}
        if name == "replayed_problems":
            _refuse_nothing(con)
            require_prices(con, settings)
        if name == "step_costs":
            require_costs(con, settings)
        if name == "candidates" and not settings.budgets:
            costs = con.execute("select cost from candidates").fetchall()
            settings = replace(settings, budgets=usual_budgets(cost for (cost,) in costs))
            keep(con, settings, plugins)
    for portion in portions[1:] if portioned else ():
        walk(con, portion)
        for name in portioned:
            report(name)
            extend(con, name, plugins)
    if progress:
        progress("done", steps, steps)
    return settings


def _check_columns(con: duckdb.DuckDBPyConnection, kind: str, plugins: Plugins) -> None:
    """Refuse a plug-in of a kind that cannot be read or lacks a column."""
    beside = rule_inputs(con) if kind == "rules" else ""
    for plugin in getattr(plugins, kind):
        check_columns(con, kind, plugin, beside)


def rule_inputs(con: duckdb.DuckDBPyConnection) -> str:
    """The common table expressions that a rule may read, as stops.sql defines them."""
    beside = "with"
    for name in ("budgeted_attempts", "last_launched", "reached_steps"):
        beside += f"{' ' if beside == 'with' else ', '}{name} as ({render(name)}\n)"
        try:
            # A mistake in these files is not the rule's.
            con.execute(f"describe {beside} from {name}")
        except duckdb.Error as error:
            raise AuditError(f"sql/{stage_file(name)}: {first_line(error)}") from error
    return beside


def _refuse_nothing(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse filters that together leave no problem."""
    if not con.execute("select 1 from replayed_problems limit 1").fetchall():
        raise AuditError(
            "--archive, --competition and --problems together leave no problem to replay"
        )


def _refuse_idle_primary(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Refuse a primary selector that can pick nothing anywhere, where another one can."""
    sql = "select distinct selector from eligible_attempts natural join used_selectors"
    able = sorted(name for (name,) in con.execute(sql).fetchall())
    if not able:
        # No selector of the run can pick anything; one of the others may.
        others = {"first": "is_eligible", "archive_majority": "is_archive_eligible"}
        query = "select 1 from candidates where {} limit 1"
        able = [name for name, who in others.items() if con.execute(query.format(who)).fetchall()]
    if able and settings.primary_selector not in able:
        raise AuditError(
            f"--primary-selector {settings.primary_selector}: it can pick nothing in any problem; "
            f"choose one that can: {', '.join(able)}"
        )


def _portions(
    con: duckdb.DuckDBPyConnection, settings: Settings, rules: int
) -> list[tuple[int, int]]:
    """The first and last banks to walk at a time: at least one portion, of at least one bank."""
    banks = con.execute("select bank_id, bank_size from banks order by bank_id").fetchall()
    prefixes = min(max(size for _, size in banks), max(settings.caps)) + 1
    rows = (settings.orders + 1) * max(prefixes, len(settings.budgets) * rules)
    size = max(1, PORTION_ROWS // rows)
    ids = [bank_id for bank_id, _ in banks]
    return [(ids[at], ids[at : at + size][-1]) for at in range(0, len(ids), size)]


def _keep_draws(con: duckdb.DuckDBPyConnection, name: str, batches: Iterable[pa.Table]) -> None:
    """A table of random draws, filled batch by batch."""
    columns = {
        "drawn_orders": "problem_id integer, bank_size integer, repeat integer, slots integer[]",
        "bootstrap_counts": "replicate integer, first_problem integer, counts utinyint[]",
    }
    con.execute(f"create table {name} ({columns[name]})")
    for batch in batches:
        insert(con, f"insert into {name}", batch)


def _draw_orders(con: duckdb.DuckDBPyConnection, settings: Settings) -> Iterable[pa.Table]:
    banks = con.execute(
        """
        select distinct problem_id, competition_index, question_id, bank_size
        from banks
        inner join problems using (problem_id)
        order by problem_id, bank_size
        """
    ).fetchall()
    return draw_orders(banks, settings.orders, settings.order_seed)


def _draw_counts(con: duckdb.DuckDBPyConnection, settings: Settings) -> Iterable[pa.Table]:
    problems = con.execute(
        "select count(*) from problems group by competition_index order by competition_index"
    ).fetchall()
    counts = [count for (count,) in problems]
    return draw_counts(counts, settings.replicates, settings.bootstrap_seed)


DRAWS = {"drawn_orders": _draw_orders, "bootstrap_counts": _draw_counts}


def drop_replays(con: duckdb.DuckDBPyConnection, reused: Collection[str] = ()) -> bool:
    """Remove what a replay made, except settings and reused tables; say if there was any."""
    kinds = relations(con)
    if "replay_relations" not in kinds:
        return False
    made = con.execute("select name, kind from replay_relations").fetchall()
    # A user may have put something else in the place of what we made.
    dropped = [
        name
        for name in (*table_names(), *reversed(REPLAY_RELATIONS))
        if name not in {*SETTING_RELATIONS, *reused} and (name, kinds.get(name)) in made
    ]
    for name in dropped:
        con.execute(f"drop {kinds[name]} {name}")
    return bool(dropped)


def _remember_made(con: duckdb.DuckDBPyConnection) -> None:
    """Keep the names of what this replay made: nothing else may be dropped by the next."""
    kinds = relations(con)
    made = (*REPLAY_RELATIONS, *(name for name in table_names() if name in kinds))
    rows = [(name, kinds[name]) for name in made]
    names, made_kinds = zip(*rows, strict=True)
    table = pa.table({"name": names, "kind": made_kinds})
    insert(con, "create or replace table replay_relations as", table)
