"""The walks of a replay, some banks at a time, so that memory does not grow with their number."""

import contextlib
from collections.abc import Iterator

import duckdb

# Prefixes that are walked at a time: enough to keep all cores busy, few enough for little memory.
PORTION_ROWS = 2_000_000
# Into how many such portions goes what is filled on demand, of which more is kept in memory.
ON_DEMAND = 8


def portions(con: duckdb.DuckDBPyConnection) -> Iterator[int]:
    """Let the portioned stages read some banks after others, and all of them in the end.

    Yield how many portions there are, once for each: at least one, of at least one bank.
    """
    ranges = bank_ranges(con, ON_DEMAND)
    try:
        for first, last in ranges:
            walk(con, first, last)
            yield len(ranges)
    finally:
        forget_walks(con)


def bank_ranges(con: duckdb.DuckDBPyConnection, parts: int = 1) -> list[tuple[int, int]]:
    """Return the first and the last bank of every portion, or of its parts."""
    banks = [
        bank_id for (bank_id,) in con.execute("select bank_id from banks order by all").fetchall()
    ]
    ((prefixes, orders, stops),) = con.execute(
        """
        select
            (select least((select max(bank_size) from banks), (select max(cap) from caps))) + 1,
            (select count(*) from repeats),
            (select count(*) from budgets) * (select count(*) from used_rules),
        """
    ).fetchall()
    size = max(1, PORTION_ROWS // parts // (orders * max(prefixes, stops)))
    return [(banks[at], banks[at : at + size][-1]) for at in range(0, len(banks), size)]


def walk(con: duckdb.DuckDBPyConnection, first_bank: int, last_bank: int) -> None:
    """Let the portioned stages read the walks from the first of these banks to the last."""
    query = "select min(walk_id), max(walk_id) from walks where bank_id between ? and ?"
    ((first, last),) = con.execute(query, [first_bank, last_bank]).fetchall()
    con.execute(f"set variable first_walk = {first}; set variable last_walk = {last}")


def forget_walks(con: duckdb.DuckDBPyConnection) -> None:
    """Let every stage read all walks again."""
    # A variable stays what it is where a transaction is rolled back.
    with contextlib.suppress(duckdb.TransactionException):
        con.execute("reset variable first_walk; reset variable last_walk")
