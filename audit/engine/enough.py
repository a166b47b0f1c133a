"""`replay --orders auto`: double the orders until order noise is a tenth of problem noise."""

from collections.abc import Mapping
from typing import Any

import duckdb

from audit.database.schema import require_attempts
from audit.engine.replay import Replayed, replay
from audit.engine.settings import resolve_settings
from audit.engine.tables import compute_table
from audit.errors import AuditError
from audit.options import FIRST_ORDERS, MOST_ORDERS
from audit.progress import Progress


def replay_enough(
    con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any], progress: Progress | None = None
) -> tuple[Replayed, str]:
    """Replay with as many orders as `order_noise` asks for; return the replay and a note."""
    require_attempts(con)
    if resolve_settings(con, {**asked, "orders": FIRST_ORDERS}).replicates < 2:
        raise AuditError("--orders auto measures problem noise: it needs at least 2 --replicates")
    is_graded = "select 1 from grades group by archive having bool_and(correct is not null)"
    if not con.execute(is_graded).fetchall():
        raise AuditError("--orders auto compares accuracies: it needs an archive with labels")
    orders = FIRST_ORDERS
    while True:
        done = replay(con, {**asked, "orders": orders}, progress=progress, is_users=True)
        rows = compute_table(con, "order_noise").to_pylist()
        needed = [row["orders_needed"] for row in rows if row["orders_needed"] is not None]
        if max(needed, default=0) <= orders or orders == MOST_ORDERS:
            return done, _describe_orders(orders, needed)
        orders = min(2 * orders, MOST_ORDERS)


def _describe_orders(orders: int, needed: list[int]) -> str:
    """Return the note that names the number of orders and says whether it is enough."""
    if not needed:
        return f"--orders auto: {orders:,} orders; no budget has problem noise to compare with"
    short = sum(number > orders for number in needed)
    if not short:
        return (
            f"--orders auto: {orders:,} orders; order noise is at most a tenth of problem noise at "
            "every budget"
        )
    return (
        f"--orders auto: {orders:,} orders, the most that are tried; {short} of {len(needed)} "
        f"budgets need more, up to {max(needed):,} (table order_noise)"
    )
