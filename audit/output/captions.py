"""What stands beside a table or a figure wherever it is pasted: settings, unit, noise."""

import duckdb
import pyarrow as pa

from audit import __version__, engine
from audit.engine.enough import FIRST_ORDERS, MOST_ORDERS
from audit.output.headings import replayed_unit
from audit.text import capital, plural

# 95 % of a normal distribution lie within so many standard errors.
WITHIN = 1.96
# Tables whose means the random orders move.
AVERAGED = ("main", "curves")


def annotated(con: duckdb.DuckDBPyConnection, name: str, table: pa.Table) -> pa.Table:
    """The table with the unit of its costs and its caption written beside it."""
    words = {"unit": replayed_unit(con).name, "caption": caption(con, engine.table_purpose(name))}
    return table.replace_schema_metadata(words)


def caption(con: duckdb.DuckDBPyConnection, purpose: str) -> str:
    """A caption to paste: what is shown, of what, under which settings, and how sure it is."""
    try:
        settings = dict(con.execute("select key, value from settings").fetchall())
        ((problems, attempts, archives),) = con.execute(
            "select (select count(*) from problems), sum(bank_size), count(distinct archive_id) "
            "from banks"
        ).fetchall()
    except duckdb.Error:
        # A table of the loaded records alone has no replays behind it.
        return capital(purpose)
    unit = replayed_unit(con)
    parts = [
        capital(purpose),
        f"{problems:,} problems, {attempts:,} recorded attempts of {plural(archives, 'archive')};"
        f" at most {settings['primary_cap']} attempts a replay,"
        f" {plural(int(settings['orders']), 'random order')} a problem,"
        f" selector {settings['primary_selector']}.",
        f"B is the cumulative budget in {unit.measures}. Strict: the replay stops at B, and the"
        " unfinished attempt is paid up to B and gives no answer. Advisory: the running attempt"
        " finishes and is paid in full.",
    ]
    if int(settings["replicates"]) > 1:
        parts.append(
            f"Brackets: 95 % percentile intervals, {int(settings['replicates']):,} bootstrap"
            " replicates over problems."
        )
    if noise := order_line(con):
        parts.append(capital(noise) + ".")
    return " ".join([*parts, f"budget-audit {__version__}."])


def order_line(con: duckdb.DuckDBPyConnection) -> str:
    """How far means move with the choice of orders, and how many orders would steady them."""
    found = _order_errors(con)
    if not found:
        return ""
    orders, error, _ = max(found, key=lambda row: row[1])
    line = f"{orders:,} orders: these means move by about ±{WITHIN * error:.1f}"
    wanted = steady_orders(con)
    if wanted <= orders:
        return f"{line}, a tenth of what the choice of problems does"
    steadied = WITHIN * error * (orders / wanted) ** 0.5
    return f"{line}; {wanted:,} orders would give ±{steadied:.1f} (--orders auto)"


def steady_orders(con: duckdb.DuckDBPyConnection) -> int:
    """How many orders move the means a tenth as much as the choice of problems does."""
    needed = max(
        (n * (100 * e * e) / (p * p) if p else 0 for n, e, p in _order_errors(con)), default=0
    )
    wanted = FIRST_ORDERS
    while wanted < needed and wanted < MOST_ORDERS:
        wanted = min(2 * wanted, MOST_ORDERS)
    return wanted


def _order_errors(con: duckdb.DuckDBPyConnection) -> list[tuple[int, float, float]]:
    """The orders, and the errors that they and the problems leave, of every mean that they move."""
    try:
        rows = con.execute(engine.render("order_errors")).fetchall()
    except duckdb.Error:
        return []
    return [(orders, error, problems) for *_, orders, error, problems in rows if error]
