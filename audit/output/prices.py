"""Cost tables with money beside tokens; the tables themselves stay as they are."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit import engine
from audit.errors import AuditError

Row = dict[str, Any]
# What a replay costs by (archive, budget, rule), and the price of one completion token.
Formula = Callable[[Row, dict[tuple[str, int, str], float], float], float]


class Prices(NamedTuple):
    """Money per million prompt and completion tokens, in the user's currency."""

    input: float
    output: float


def prices(price_input: float | None, price_output: float | None) -> Prices | None:
    """Both prices, or none; one alone would leave out a part of the cost."""
    if price_input is None and price_output is None:
        return None
    if price_input is None or price_output is None:
        raise AuditError("--price-input and --price-output go together; give both, or 0 for one")
    for option, price in (("--price-input", price_input), ("--price-output", price_output)):
        if not math.isfinite(price) or price < 0:
            raise AuditError(f"{option} {price:g}: a price is a number of 0 or more")
    return Prices(price_input, price_output)


def _rule(rule: str, budget: str = "budget") -> Formula:
    return lambda row, replay, token: replay[row["archive"], row[budget], rule]


# The columns that a price adds, at the end. Both rules launch the same attempts, so prompts drop
# out of a difference at the same budget, and a cut prefix holds completion tokens only.
COLUMNS: dict[str, dict[str, Formula]] = {
    "main": {"strict_price": _rule("strict"), "advisory_price": _rule("advisory")},
    "curves": {
        "price": lambda row, replay, token: replay[row["archive"], row["budget"], row["rule"]]
    },
    "cost_comparisons": {
        "advisory_price": _rule("advisory", "advisory_budget"),
        "strict_price": _rule("strict", "strict_budget"),
        "price_difference": lambda row, replay, token: (
            replay[row["archive"], row["advisory_budget"], "advisory"]
            - replay[row["archive"], row["strict_budget"], "strict"]
        ),
    },
    "prefix_cost": {"prefix_price": lambda row, replay, token: row["prefix_tokens"] * token},
    "length_strata": {"extra_price": lambda row, replay, token: row["extra_cost"] * token},
}


def table(con: duckdb.DuckDBPyConnection, name: str, prices: Prices | None = None) -> pa.Table:
    """One table of the study; with prices, a cost table has columns in money too."""
    rows = engine.table(con, name)
    if prices is None or name not in COLUMNS:
        return rows
    found = con.execute(
        engine.render("replay_prices"),
        {"price_input": prices.input, "price_output": prices.output},
    ).fetchall()
    replay = {(archive, budget, rule): price for archive, budget, rule, price in found}
    token = prices.output / 1_000_000
    for column, formula in COLUMNS[name].items():
        values = [formula(row, replay, token) for row in rows.to_pylist()]
        rows = rows.append_column(column, pa.array(values, pa.float64()))
    return rows
