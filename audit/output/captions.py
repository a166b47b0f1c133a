"""What stands beside a table or a figure wherever it is pasted: settings, unit, noise."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa

from audit import __version__, engine
from audit.engine.settings import last_settings
from audit.options import FIRST_ORDERS, MOST_ORDERS
from audit.output.headings import replayed_unit
from audit.rules import RULES
from audit.text import SIMULATED, capital, plural

# 95 % of a normal distribution lie within so many standard errors.
WITHIN = 1.96
# Tables whose means the random orders move.
AVERAGED = ("main", "curves")
# Tables that compare terminals with advisory.
TERMINAL_TABLES = ("terminals", "terminal_cost")


def annotated(
    con: duckdb.DuckDBPyConnection, name: str, table: pa.Table, archives: Sequence[str] = ()
) -> pa.Table:
    """Return the table with the unit of its costs and its caption; no archive means all."""
    words = " ".join(
        [caption(con, engine.table_purpose(name), archives), *advisory_notes(name, table)]
    )
    return table.replace_schema_metadata({"unit": replayed_unit(con).name, "caption": words})


def advisory_notes(name: str, table: pa.Table) -> list[str]:
    """Return the note that qualifies a table of terminals, or no note for other tables."""
    if name not in TERMINAL_TABLES or {*table["terminal"].to_pylist()} <= {"none"}:
        return []
    return [
        "Advisory abstains where the running attempt ends by its own generation limit; "
        "a forced answer does not."
    ]


def is_simulated(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether any source is simulated."""
    return bool(con.execute("select 1 from sources where simulated").fetchall())


def caption(con: duckdb.DuckDBPyConnection, purpose: str, archives: Sequence[str] = ()) -> str:
    """Return a caption to paste: what is shown, of what, under which settings, how sure it is."""
    mark, kind = (f"{SIMULATED}. ", "simulated") if is_simulated(con) else ("", "recorded")
    try:
        ((problems, attempts, count),) = con.execute(
            "select count(distinct problem_id), sum(bank_size), count(distinct archive) "
            "from banks inner join archives using (archive_id) "
            "where len($archives) = 0 or list_contains($archives, archive)",
            {"archives": list(archives)},
        ).fetchall()
    except duckdb.Error:
        # A table of the loaded records alone has no replays behind it.
        return mark + capital(purpose)
    unit, settings = replayed_unit(con), last_settings(con)
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
    """Return how far means move with the choice of orders, and how many orders steady them all."""
    orders, error, steady = _order_moves(con, archives)
    if orders is None:
        return ""
    line = f"{orders:,} orders: these means move by about ±{WITHIN * error:.1f}"
    if steady <= orders:
        return f"{line}, a tenth of what the choice of problems does"
    steadied = WITHIN * error * (orders / steady) ** 0.5
    return f"{line}; {steady:,} orders would give ±{steadied:.1f} (--orders auto)"


def steady_orders(con: duckdb.DuckDBPyConnection) -> int:
    """Return how many orders move the means a tenth as much as the choice of problems does."""
    return _order_moves(con)[2] or FIRST_ORDERS


def _order_moves(con: duckdb.DuckDBPyConnection, archives: Sequence[str] = ()) -> tuple[Any, ...]:
    """Return the orders and the error of the mean that they move most, and how many steady all."""
    asked = {"archives": [*archives], "first": FIRST_ORDERS, "most": MOST_ORDERS}
    try:
        return con.execute(engine.render("order_moves"), asked).fetchall()[0]
    except duckdb.Error:
        return None, 0, 0
