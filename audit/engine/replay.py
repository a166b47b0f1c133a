"""Replay every order of every bank, in one transaction."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit.ahead import prefetch
from audit.database.arrow import insert
from audit.database.connection import transaction
from audit.database.schema import LOADED, VIEWS, read_fact, relations, require_attempts, store_fact
from audit.engine.build import build, extend, render
from audit.engine.comments import comment_relations
from audit.engine.draws import DRAWN_COLUMNS, draw_counts, draw_orders
from audit.engine.foresight import refuse_foresight
from audit.engine.lazy import materialize
from audit.engine.plugins import Plugins, check_contract
from audit.engine.portions import bank_ranges, forget_walks, portions, walk
from audit.engine.prices import require_costs, require_prices
from audit.engine.quality import count_replays, forget_replays
from audit.engine.settings import (
    Settings,
    choose_budgets,
    create_table,
    resolve_plugins,
    resolve_settings,
    store_settings,
)
from audit.engine.sql_files import digest_sql, list_tables
from audit.engine.stages import (
    DRAWN,
    PORTIONED,
    REPLAY_RELATIONS,
    SETTING_RELATIONS,
    STAGE_NAMES,
    TABLES,
    WALKED,
)
from audit.engine.terminals import settle_terminals
from audit.engine.views import attach_views, copy_views
from audit.errors import AuditError, first_line
from audit.progress import Progress

# The key of `meta` for the digest of the SQL that made a replay.
REPLAYED_BY = "replayed_by"
# Lazy relations that `main` reads, filled at once; others are filled when they are needed.
FILLED = ("interval_gains",)
# Lazy relations that the contracts of a kind of plug-in read.
LOOKED_AT = {"selectors": ["picks"], "policies": ["policy_positions"]}
# Kinds of plug-ins whose rows are checked against a contract.
CHECKED = ("selectors", "rules", "policies")
# The key of `meta` for the digest of everything that determines the walks.
MADE_OF = "walks"


class Replayed(NamedTuple):
    """The settings and plug-ins that a replay ran with."""

    settings: Settings
    plugins: Plugins
    # Whether the budgets were chosen from the costs of the attempts.
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

    `asked` and `more` are fields of Settings; others are as in the last replay of this database, or
    the defaults. With `is_users`, fill what `main` reads at once, and refuse a primary selector
    that can pick nothing.
    """
    require_attempts(con)
    asked = {**(asked or {}), **more}
    settings = resolve_settings(con, asked)
    plugins = resolve_plugins(con, asked, settings)
    there = _find_kept(con, settings, plugins)
    try:
        with nullcontext() if there else attach_views(con, settings, plugins), transaction(con):
            drop_replays(con, there)
            _refuse_user_relations(con, there)
            there = there or copy_views(con)
            store_settings(con, settings, plugins)
            has_usual_budgets = not settings.budgets
            settings = build_stages(con, settings, plugins, there, progress)
            plugins = replace(plugins, unit=settings.unit)
            check_contracts(con, plugins)
            if is_users:
                _refuse_idle_primary(con, settings)
                asks_terminals = settings.terminals != Settings().terminals
                materialize(con, (*FILLED, *(("terminal_totals",) if asks_terminals else ())))
            # A load has written its own, and views were copied with theirs.
            comment_relations(con, {*LOADED, *VIEWS, *there})
            finish_replay(con)
            store_fact(con, MADE_OF, _digest_walks(settings, plugins))
            con.execute("update meta set value = 'fresh' where key = 'replays'")
    finally:
        forget_walks(con)
    return Replayed(settings, plugins, has_usual_budgets)


def _find_kept(
    con: duckdb.DuckDBPyConnection, settings: Settings, plugins: Plugins
) -> Collection[str]:
    """Return the relations to keep where only smaller budgets differ from the last replay.

    These are the walks and all views, which hold for other budgets, too. Repeating the same replay
    keeps nothing.
    """
    made_of = _digest_walks(settings, plugins)
    if read_fact(con, "replays") != "fresh" or read_fact(con, MADE_OF) != made_of:
        return ()
    last = con.execute("select budget from budgets").fetchall()
    kinds = relations(con)
    there = {(name, kind) for name, kind in _read_made(con) if kinds.get(name) == kind}
    is_whole = {name for name, _ in there} >= {*WALKED}
    is_same = {budget for (budget,) in last} == {*settings.budgets}
    views = {name for name, kind in there if kind == "view"}
    return {*WALKED, *views} if is_whole and not is_same else ()


def _read_made(con: duckdb.DuckDBPyConnection) -> list[tuple[str, str]]:
    """Return name and kind (table or view) of each relation of the last replay."""
    return con.execute("select name, kind from replay_relations").fetchall()


def _digest_walks(settings: Settings, plugins: Plugins) -> str:
    """Return a digest of what determines the walks: settings, largest budget, plug-ins, SQL."""
    plugins = replace(plugins, unit=settings.unit, primary=settings.primary_selector)
    settings = replace(settings, budgets=(max(settings.budgets, default=0),))
    return hashlib.sha256(repr((settings, plugins, digest_sql())).encode()).hexdigest()


def check_contracts(con: duckdb.DuckDBPyConnection, plugins: Plugins) -> None:
    """Refuse the first plug-in of the user whose rows break its contract.

    Tests check the built-in ones against the same contracts.
    """
    for kind in CHECKED:
        if not (own := plugins.own(kind)):
            continue
        materialize(con, LOOKED_AT.get(kind, []))
        if kind == "selectors":
            numbered = [pair for pair in enumerate(plugins.selectors, 1) if pair[1] in own]
            sql = render("broken_selectors", plugins, numbered=numbered)
            for _ in portions(con):
                check_contract(con, kind, own, sql)
            continue
        chosen = replace(plugins, rules=own) if kind == "rules" else plugins
        check_contract(con, kind, getattr(chosen, kind), render(f"broken_{kind}", chosen))
        if kind == "rules" and plugins.policies:
            check_contract(con, kind, own, render("broken_policy_rules", chosen))
    refuse_foresight(con, plugins, CHECKED)


def finish_replay(con: duckdb.DuckDBPyConnection) -> None:
    """Store the names of the relations of a replay, the digest of its SQL, and its checks."""
    _store_made(con)
    store_fact(con, REPLAYED_BY, digest_sql())
    count_replays(con)


@contextmanager
def explain_other_replays(con: duckdb.DuckDBPyConnection, write: bool) -> Iterator[None]:
    """Advise a new replay where a block fails on replays of another version."""
    try:
        yield
    except (duckdb.CatalogException, duckdb.BinderException) as error:
        # A command that writes does not depend on the old replays.
        if not write:
            refuse_other_replays(con, error)
        raise


def refuse_other_replays(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> None:
    """Raise an error that advises a new replay, if other SQL than ours made this one."""
    if read_fact(con, "replays") == "fresh" and read_fact(con, REPLAYED_BY) != digest_sql():
        raise AuditError(
            "another version of budget-audit made these replays; run 'budget-audit replay' again "
            f"({first_line(error)})"
        ) from None


def _refuse_user_relations(con: duckdb.DuckDBPyConnection, ours: Collection[str]) -> None:
    """Refuse a relation of the user with the name of a stage, rather than replace it."""
    taken = set(relations(con)) & {*STAGE_NAMES, *list_tables()} - {*ours}
    if taken:
        raise AuditError(
            f"the database holds a relation '{min(taken)}' that budget-audit did not make, and "
            "replay needs the name; rename it"
        )


def build_stages(
    con: duckdb.DuckDBPyConnection,
    settings: Settings,
    plugins: Plugins,
    there: Collection[str] = (),
    progress: Progress | None = None,
    names: Sequence[str] = STAGE_NAMES,
) -> Settings:
    """Build every stage that does not exist, the portioned ones portion by portion.

    Return the settings, with budgets chosen from the costs where none were asked for.
    """
    plugins = replace(plugins, unit=settings.unit, primary=settings.primary_selector)
    waiting = [name for name in names if name not in there]
    portioned = [name for name in waiting if name in PORTIONED and name in TABLES]
    ranges: list[tuple[int, int]] = []
    draws: dict[str, Iterable[pa.Table]] = {}
    done = 0

    def report(name: str) -> None:
        nonlocal done
        if progress:
            steps = len(waiting) + max(len(ranges) - 1, 0) * len(portioned)
            progress(name, done, steps)
        done += 1

    for name in waiting:
        report(name)
        if name in portioned and not ranges:
            ranges = bank_ranges(con)
            walk(con, *ranges[0])
        if name in DRAWN:
            _keep_draws(con, name, draws.get(name) or prefetch(DRAWS[name](con, settings)))
        else:
            build(con, name, plugins, is_extended=name in portioned and len(ranges) > 1)
        if name == "banks":
            # Threads draw with NumPy while the next stages are built.
            draws = {n: prefetch(DRAWS[n](con, settings)) for n in DRAWN if n in waiting}
        settings = _check_stage(con, name, settings, plugins)
    for portion in ranges[1:]:
        walk(con, *portion)
        for name in portioned:
            report(name)
            extend(con, name, plugins)
    forget_walks(con)
    report("done")
    return settings


def _check_stage(
    con: duckdb.DuckDBPyConnection, name: str, settings: Settings, plugins: Plugins
) -> Settings:
    """Check a finished stage: refuse a replay that lacks data, and choose default budgets."""
    if name == "replayed_problems":
        if not con.execute("select 1 from replayed_problems limit 1").fetchall():
            raise AuditError(
                "--archive, --competition and --problems together leave no problem to replay"
            )
        require_prices(con, settings)
        settled = settle_terminals(con, settings)
        if settled != settings:
            store_settings(con, settled, plugins)
        settings = settled
    if name == "step_costs":
        require_costs(con, settings)
    if name == "candidates" and not settings.budgets:
        costs = con.execute("select cost from candidates").fetchall()
        settings = replace(settings, budgets=choose_budgets(cost for (cost,) in costs))
        store_settings(con, settings, plugins)
    return settings


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


def _keep_draws(con: duckdb.DuckDBPyConnection, name: str, batches: Iterable[pa.Table]) -> None:
    """Create a table of random draws, and fill it batch by batch."""
    con.execute(f"create table {name} ({DRAWN_COLUMNS[name]})")
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


def drop_replays(con: duckdb.DuckDBPyConnection, there: Collection[str] = ()) -> bool:
    """Drop the relations of a replay, except settings and `there`; tell if there were any."""
    kinds = relations(con)
    if "replay_relations" not in kinds:
        return False
    # The user may have replaced a relation of ours by one of another kind.
    dropped = [
        name
        for name, kind in _read_made(con)
        if name not in (*SETTING_RELATIONS, *there) and kinds.get(name) == kind
    ]
    for name in dropped:
        con.execute(f"drop {kinds[name]} {name}")
    return bool(dropped)


def _store_made(con: duckdb.DuckDBPyConnection) -> None:
    """Store the names of the relations of this replay: the next one drops nothing else."""
    kinds = relations(con)
    made = (*REPLAY_RELATIONS, *(name for name in list_tables() if name in kinds))
    rows = [(name, kinds[name]) for name in made]
    create_table(con, "replay_relations", "name varchar, kind varchar", rows)


def make_stale(con: duckdb.DuckDBPyConnection, why: str = "archives were loaded") -> bool:
    """Drop the relations of replays and mark them stale; tell if there were any."""
    forget_replays(con)
    dropped = drop_replays(con)
    con.execute(
        "update meta set value = ? where key = 'replays' and value = 'fresh'", [f"stale: {why}"]
    )
    return dropped
