"""Replay every order of every bank: the stages built in one transaction."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database.connection import transaction
from audit.database.schema import relations, require_attempts
from audit.engine.build import build
from audit.engine.draws import draw_orders, draw_weights
from audit.engine.plugins import Plugin, plugins
from audit.engine.stages import PIPELINE, PORTION_ROWS, PORTIONED, REPLAY_RELATIONS
from audit.errors import AuditError
from audit.progress import Progress


def replay(
    con: duckdb.DuckDBPyConnection,
    *,
    budgets: Sequence[int] = (4000, 8000, 16000, 32000),
    caps: Sequence[int] = (8, 16, 32),
    primary_cap: int = 16,
    orders: int = 20,
    order_seed: int = 20260904,
    primary_selector: str = "majority",
    replicates: int = 5000,
    bootstrap_seed: int = 20260905,
    rules: str | Path | None = None,
    selectors: str | Path | None = None,
    progress: Progress | None = None,
) -> None:
    """Replay every order of every bank under every cap, budget and rule, in one transaction."""
    if not budgets or min(budgets) < 1:
        raise AuditError("--budgets: at least one budget, each a whole number of tokens above 0")
    if max(budgets) > 10**15:
        raise AuditError("--budgets: a budget above 10^15 tokens cannot be summed exactly")
    if (caps and min(caps) < 1) or primary_cap < 1:
        raise AuditError("--caps: each cap is a whole number of attempts above 0")
    if max((*caps, primary_cap)) >= 2**31 or max(orders, replicates) > 10**6:
        raise AuditError("--caps below 2^31; --orders and --replicates up to a million")
    if orders < 0 or replicates < 0 or order_seed < 0 or bootstrap_seed < 0:
        raise AuditError("--orders, --replicates and the seeds are whole numbers from 0")
    rule_files, selector_files = plugins("rules", rules), plugins("selectors", selectors)
    if primary_selector not in [selector.name for selector in selector_files]:
        known = ", ".join(selector.name for selector in selector_files)
        raise AuditError(f"--primary-selector: no selector '{primary_selector}'; there are {known}")
    require_attempts(con)
    all_caps = sorted({*caps, primary_cap})
    settings = {
        "budgets": ",".join(str(budget) for budget in sorted(set(budgets))),
        "caps": ",".join(str(cap) for cap in all_caps),
        "primary_cap": primary_cap,
        "orders": orders,
        "order_seed": order_seed,
        "primary_selector": primary_selector,
        "replicates": replicates,
        "bootstrap_seed": bootstrap_seed,
        "rules": ",".join(rule.name for rule in rule_files),
        "selectors": ",".join(selector.name for selector in selector_files),
    }
    with transaction(con):
        drop_replays(con)
        values = [str(value) for value in settings.values()]
        _create(con, "settings", {"key": list(settings), "value": values})
        _create(con, "budgets", {"budget": pa.array(sorted(set(budgets)), pa.int64())})
        _create(
            con,
            "caps",
            {
                "cap": pa.array(all_caps, pa.int32()),
                "is_primary": [cap == primary_cap for cap in all_caps],
            },
        )
        _create(con, "repeats", {"repeat": pa.array(range(orders + 1), pa.int32())})
        _create(
            con,
            "rules",
            {
                "rule_id": pa.array(range(1, len(rule_files) + 1), pa.int8()),
                "rule": [rule.name for rule in rule_files],
                "is_built_in": [rule.is_built_in for rule in rule_files],
                "sql": [rule.sql for rule in rule_files],
            },
        )
        _create(
            con,
            "selectors",
            {
                "selector_id": pa.array(range(1, len(selector_files) + 1), pa.int8()),
                "selector": [selector.name for selector in selector_files],
                "is_primary": [selector.name == primary_selector for selector in selector_files],
                "votes_on": [selector.votes_on for selector in selector_files],
                "sql": [selector.sql for selector in selector_files],
            },
        )
        steps_done = 0

        def tell(name: str) -> None:
            nonlocal steps_done
            if progress:
                progress(name, steps_done, len(PIPELINE) + len(portions) * len(PORTIONED))
            steps_done += 1

        portions: list[tuple[int, int]] = []
        for name, kept_as in PIPELINE:
            tell(name)
            if name == "order_slots":
                portions = _portions(con)
                _insert_drawn(con, name, _draw_orders(con, orders, order_seed))
                if portions:
                    con.execute("create temp table walks as from walks limit 0")
            elif name == "weights":
                _insert_drawn(con, name, _draw_weights(con, replicates, bootstrap_seed))
            else:
                build(con, name, kept_as, rule_files, selector_files)
        for portion in portions:
            _build_portion(con, portion, rule_files, selector_files, tell)
        con.execute("drop table if exists temp.main.walks")
        if selectors is not None:
            _check_choices(con)
        if rules is not None:
            _check_stops(con)
        con.execute("update meta set value = 'fresh' where key = 'replays'")
    if progress:
        progress("done", steps_done, steps_done)


def _portions(con: duckdb.DuckDBPyConnection) -> list[tuple[int, int]]:
    """The first and last banks to walk at a time; none where all can be walked at once."""
    ((banks, prefixes, stops, orders),) = con.execute(
        """
        select
            (select max(bank_id) from banks),
            (select least(max(bank_size), (select max(cap) from caps)) + 1 from banks),
            (select count(*) from caps, budgets, rules),
            (select count(*) from repeats),
        """
    ).fetchall()
    size = max(1, PORTION_ROWS // (orders * max(prefixes, stops)))
    if size >= banks:
        return []
    return [(first, min(first + size - 1, banks)) for first in range(1, banks + 1, size)]


def _build_portion(
    con: duckdb.DuckDBPyConnection,
    portion: tuple[int, int],
    rules: Sequence[Plugin],
    selectors: Sequence[Plugin],
    tell: Callable[[str], None],
) -> None:
    """Walk some banks in temporary tables, which hide the kept ones, and add them to those."""
    home = con.execute("select current_database()").fetchall()[0][0].replace('"', '""')
    con.execute("drop table temp.main.walks")
    con.execute(
        "create temp table walks as from walks where bank_id between $1 and $2", list(portion)
    )
    for name in PORTIONED:
        tell(name)
        build(con, name, "temp table", rules, selectors)
    for name in PORTIONED:
        con.execute(f'insert into "{home}".{name} from temp.main.{name}')
        con.execute(f"drop table temp.main.{name}")


def _create(con: duckdb.DuckDBPyConnection, name: str, columns: dict[str, Any]) -> None:
    """A table of run settings: visible and joinable."""
    con.register("incoming_rows", pa.table(columns))
    con.execute(f"create table {name} as select * from incoming_rows")
    con.unregister("incoming_rows")


def _insert_drawn(con: duckdb.DuckDBPyConnection, name: str, batches: Iterable[pa.Table]) -> None:
    """A table of random draws, filled batch by batch."""
    columns = {
        "order_slots": "problem_id integer, bank_size integer, repeat integer, slots integer[]",
        "weights": "replicate integer, counts double[]",
    }
    con.execute(f"create table {name} ({columns[name]})")
    for batch in batches:
        con.register("incoming_rows", batch)
        con.execute(f"insert into {name} select * from incoming_rows")
        con.unregister("incoming_rows")


def _draw_orders(
    con: duckdb.DuckDBPyConnection, orders: int, order_seed: int
) -> Iterable[pa.Table]:
    banks = con.execute(
        """
        select distinct problem_id, competition_index, question_id, bank_size
        from banks
        inner join problems using (problem_id)
        order by problem_id, bank_size
        """
    ).fetchall()
    return draw_orders(banks, orders, order_seed)


def _draw_weights(
    con: duckdb.DuckDBPyConnection, replicates: int, bootstrap_seed: int
) -> Iterable[pa.Table]:
    problems = con.execute(
        "select count(*) from problems group by competition_index order by competition_index"
    ).fetchall()
    return draw_weights([count for (count,) in problems], replicates, bootstrap_seed)


def _check_choices(con: duckdb.DuckDBPyConnection) -> None:
    """A selector gives one row per prefix and picks nothing beyond its end."""
    wrong = con.execute(
        """
        select selector,
            count(*) <> (select count(*) from steps) as incomplete,
            count(*) <> count(distinct walk_id + position) as doubled,
            count(*) filter (not selected_position between 1 and position) > 0 as beyond
        from selectors
        left join choices using (selector_id)
        group by selector
        having incomplete or doubled or beyond
        order by selector
        """
    ).fetchall()
    if wrong:
        raise AuditError(
            f"selector {wrong[0][0]}: needs exactly one row per walk_id and position of "
            "steps, and a selected_position that is null or between 1 and position"
        )
    wavering = con.execute(
        """
        select distinct selector
        from choices
        inner join steps on choices.walk_id + choices.position = steps.walk_id + steps.position
        inner join selectors using (selector_id)
        group by selector, steps.bank_id, steps.slot
        having count(distinct choices.is_eligible) > 1
        order by selector
        """
    ).fetchall()
    if wavering:
        raise AuditError(
            f"selector {wavering[0][0]}: is_eligible must be the same for an attempt wherever it "
            "stands in an order"
        )


def _check_stops(con: duckdb.DuckDBPyConnection) -> None:
    """A rule gives one row per order, cap and budget, and returns only what it launched."""
    wrong = con.execute(
        """
        select rule,
            count(*) <> (
                select count(*) from walks
            ) * (select count(*) from caps) * (select count(*) from budgets) as incomplete,
            count(*) <> count(distinct (walk_id, cap, budget)) as doubled,
            count(*) filter (
                not coalesce(returned between 0 and launched, false)
                or launched > cap
                or not coalesce(completion_cost >= 0, false)
            ) > 0 as impossible
        from rules
        left join stops using (rule_id)
        group by rule
        having incomplete or doubled or impossible
        order by rule
        """
    ).fetchall()
    if wrong:
        raise AuditError(
            f"rule {wrong[0][0]}: needs exactly one row per walk_id, cap and budget, with "
            "0 <= returned <= launched <= cap and a completion_cost of 0 or more"
        )


def drop_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Remove every relation that a replay made."""
    kinds = relations(con)
    for name in reversed(REPLAY_RELATIONS):
        if name in kinds:
            con.execute(f"drop {kinds[name]} {name}")
