"""Plug-ins know only what was launched: a sample of walks once more, with other attempts to come.

Every plug-in is run again on walks that are cut off after some position, and on walks whose
attempts after it come in another order. What it said of the attempts up to there must stay.
"""

import functools
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit.engine.build import build, render, walk
from audit.engine.lineage import relations_read
from audit.engine.plugins import KINDS, Plugins
from audit.engine.scores import own_plugins
from audit.engine.stages import DRAWN, STAGE_NAMES
from audit.errors import AuditError

# The stage that holds what a kind of plug-in says.
SAID_IN = {"selectors": "prefix_selections", "rules": "stops", "policies": "policy_positions"}
# What is done to the attempts after a position.
CHANGES = {"cut": "cut off", "turned": "in another order"}
# Starting threads for so little takes longer than the work.
FEW: dict[str, Any] = {"threads": 1, "enable_external_access": False}
# An attempt may be picked wherever it stands in an order: another contract sees to that.
GIVEN = ("eligible_attempts", *DRAWN)


def refuse_foresight(con: duckdb.DuckDBPyConnection, found: Plugins, kinds: Sequence[str]) -> None:
    """Refuse the first plug-in of a user's own that looks at attempts not yet launched."""
    own = {kind: own_plugins(kind, found) for kind in kinds}
    for breach in foreseen(con, found, [kind for kind in kinds if own[kind]]):
        path = next(one.path for one in own[breach.kind] if one.name == breach.name)
        raise AuditError(
            f"{path}: looks ahead: at position {breach.position} of {_walk(con, breach.walk_id)} "
            f"it says something else when the attempts after it are {breach.change}; a "
            f"{KINDS[breach.kind].one} may look only at attempts up to its position"
        )


class Breach(NamedTuple):
    """A plug-in, and a walk and position where what it says depends on what comes later."""

    kind: str
    change: str
    name: str
    walk_id: int
    position: int


def foreseen(con: duckdb.DuckDBPyConnection, found: Plugins, kinds: Sequence[str]) -> list[Breach]:
    """Where plug-ins of these kinds look ahead."""
    if not kinds:
        return []
    rebuilt, given = _lineage([SAID_IN[kind] for kind in kinds], found)
    sample = con.sql(render("sampled_walks")).to_arrow_table()
    used = {f"used_{kind}" for kind in kinds}
    tables = {"sampled_walks": sample}
    tables |= {name: _sampled(con, name, sample) for name in sorted({*given, *used, "walks"})}

    @functools.cache
    def said(order: str) -> dict[str, pa.Table]:
        with _world(tables, order) as world:
            for name in rebuilt:
                build(world, name, found)
            return {kind: world.sql(f"from {SAID_IN[kind]}").to_arrow_table() for kind in kinds}

    first, breaches = said("whole"), []
    with duckdb.connect(config=FEW) as beside:
        for name in (*used, "sampled_walks"):
            beside.register(name, tables[name])
        for (order, change), kind in product(CHANGES.items(), kinds):
            beside.register("said", first[kind])
            beside.register("said_again", said(order)[kind])
            rows = beside.execute(render(f"foreseeing_{kind}")).fetchall()
            breaches += [Breach(kind, change, *row) for row in rows]
    return breaches


def _lineage(stages: Sequence[str], found: Plugins) -> tuple[list[str], set[str]]:
    """The stages up to these that depend on the orders, and the relations that they read."""
    reads: dict[str, frozenset[str]] = {}

    def depends(name: str) -> bool:
        if name in GIVEN or name not in STAGE_NAMES:
            return name == "drawn_orders"
        if name not in reads:
            reads[name] = relations_read(render(name, found))
        return any([depends(other) for other in reads[name]])

    for stage in stages:
        depends(stage)
    rebuilt = [name for name in STAGE_NAMES if name in reads and depends(name)]
    given = {name for stage in rebuilt for name in reads[stage]} - {*rebuilt, "drawn_orders"}
    return rebuilt, given - {"getvariable()"}


def _sampled(con: duckdb.DuckDBPyConnection, name: str, sample: pa.Table) -> pa.Table:
    """The rows of a relation that belong to the sample's walks; all of one without such a key."""
    columns = [row[0] for row in con.execute(f"describe {name}").fetchall()]
    key = next((key for key in ("walk_id", "bank_id", "problem_id") if key in columns), None)
    sql = f"from {name}"
    if "bank_id" in columns:
        # A walk has a bank of its own, which can be cut off where the walk is.
        sql = (
            f"select {name}.* replace (sample.own_bank_id as bank_id) from {name} "
            f"inner join sample on {name}.{key} = sample.{key}"
        )
    elif key:
        sql = f"from {name} semi join sample using ({key})"
    con.register("sample", sample)
    try:
        return con.sql(sql).to_arrow_table()
    finally:
        con.unregister("sample")


def _world(tables: dict[str, pa.Table], order: str) -> duckdb.DuckDBPyConnection:
    """A database of the sample alone, in which the walks take this order."""
    world = duckdb.connect(config=FEW)
    for name, table in tables.items():
        if not {"bank_id", "slot"} <= set(table.column_names):
            world.register(name, table)
            continue
        world.register("uncut", table)
        world.execute(
            f"create table {name} as from uncut where (bank_id, slot) in "
            f"(select (own_bank_id, unnest({order})) from sampled_walks)"
        )
    walk(world)
    world.execute(
        "create table drawn_orders as "
        f"select distinct problem_id, bank_size, repeat, {order} as slots from sampled_walks"
    )
    return world


def _walk(con: duckdb.DuckDBPyConnection, walk_id: int) -> str:
    """A walk as a user knows it."""
    ((archive, competition, question, repeat),) = con.execute(
        "select archive, competition, question_id, repeat from walks where walk_id = ?",
        [walk_id],
    ).fetchall()
    return f"{archive}, {competition} {question}, repeat {repeat}"
