"""Captions and notes printed with tables and figures: settings, unit, sampling noise."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from audit import __version__, engine
from audit.engine.settings import read_last_settings
from audit.options import FIRST_ORDERS, MOST_ORDERS
from audit.output.headings import replayed_unit
from audit.rules import RULES
from audit.text import SIMULATED, capital, plural

# 95 % of a normal distribution lies within this many standard errors of the mean.
WITHIN = 1.96
# Tables whose means depend on the random orders.
AVERAGED = ("main", "curves")
# Tables that compare terminals with advisory.
TERMINAL_TABLES = ("terminals", "terminal_cost")


def add_caption(
    con: duckdb.DuckDBPyConnection, name: str, table: pa.Table, archives: Sequence[str] = ()
) -> pa.Table:
    """Add the unit of costs and a caption to a table's metadata; no archives means all of them."""
    words = " ".join(
        [caption(con, engine.describe_table(name), archives), *advisory_notes(name, table)]
    )
    return table.replace_schema_metadata({"unit": replayed_unit(con).name, "caption": words})


def advisory_notes(name: str, table: pa.Table) -> list[str]:
    """Return the note on advisory below the tables of terminals, and none below other tables."""
    if name not in TERMINAL_TABLES or {*table["terminal"].to_pylist()} <= {"none"}:
        return []
    return [
        "Advisory abstains where the running attempt ends by its own generation limit; "
        "a forced answer does not."
    ]


def is_simulated(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether any loaded archive is simulated."""
    return bool(con.execute("select 1 from sources where simulated").fetchall())


def caption(con: duckdb.DuckDBPyConnection, purpose: str, archives: Sequence[str] = ()) -> str:
    """Write a caption: what is shown, how many attempts, the settings, and how wide errors are."""
    mark, kind = (f"{SIMULATED}. ", "simulated") if is_simulated(con) else ("", "recorded")
    try:
        ((problems, attempts, count),) = con.execute(
            "select count(distinct problem_id), sum(bank_size), count(distinct archive) "
            "from banks inner join archives using (archive_id) "
            "where len($archives) = 0 or list_contains($archives, archive)",
            {"archives": list(archives)},
        ).fetchall()
    except duckdb.Error:
        # Without a replay, there are no settings to name.
        return mark + capital(purpose)
    unit, settings = replayed_unit(con), read_last_settings(con)
    used = {rule for (rule,) in con.execute("select rule from used_rules").fetchall()}
    parts = [
        mark + capital(purpose),
        f"{plural(problems, 'problem')}, {plural(attempts, f'{kind} attempt')} of"
        f" {plural(count, 'archive')}; at most {plural(settings.primary_cap, 'attempt')}"
        f" a replay, {plural(settings.orders, 'random order')} a problem,"
        f" selector {settings.primary_selector}.",
        f"B is the cumulative budget in {unit.measures}.",
        *(f"{capital(name)} {rule.sentence}." for name, rule in RULES.items() if name in used),
    ]
    if settings.replicates > 1:
        parts.append(
            f"Intervals: 95 %, percentiles of {settings.replicates:,} bootstrap replicates"
            " over problems."
        )
    if noise := order_line(con, archives).partition(" (--")[0]:
        parts.append(capital(noise) + ".")
    return " ".join([*parts, f"budget-audit {__version__}."])


def order_line(con: duckdb.DuckDBPyConnection, archives: Sequence[str] = ()) -> str:
    """Write how much random orders move the means, and how many orders would make that small."""
    orders, error, steady = _order_moves(con, archives)
    if orders is None:
        return ""
    line = f"{orders:,} orders: these means move by about ±{WITHIN * error:.1f}"
    if steady <= orders:
        return f"{line}, a tenth of what the choice of problems does"
    steadied = WITHIN * error * (orders / steady) ** 0.5
    return f"{line}; {steady:,} orders would give ±{steadied:.1f} (--orders auto)"


def steady_orders(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many random orders make their noise a tenth of the noise due to problems."""
    return _order_moves(con)[2] or FIRST_ORDERS


def _order_moves(con: duckdb.DuckDBPyConnection, archives: Sequence[str] = ()) -> tuple[Any, ...]:
    """Return the number of orders, the largest error due to them, and how many orders suffice."""
    asked = {"archives": [*archives], "first": FIRST_ORDERS, "most": MOST_ORDERS}
    try:
        return con.execute(engine.render("order_moves"), asked).fetchall()[0]
    except duckdb.Error:
        return None, 0, 0
