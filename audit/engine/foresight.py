"""Detect plug-ins that look ahead: replay a sample of walks with other future attempts.

Every plug-in runs three times more, in a small database that holds only the sample. First the
attempts of a walk after some position are cut off, then they are reordered, and at last all walks
but those of one bank are removed. The results up to that position must not change.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit.engine.build import build, render
from audit.engine.lineage import parse_relations
from audit.engine.plugins import KINDS, Plugins
from audit.engine.scores import find_weight
from audit.engine.stages import DRAWN, STAGE_NAMES
from audit.errors import AuditError

# The stage with the output of each kind of plug-in.
OUTPUT_STAGE = {"selectors": "picked_slots", "rules": "stops", "policies": "policy_positions"}
# For so few rows, starting threads takes longer than the work.
SMALL_DB: dict[str, Any] = {"threads": 1, "enable_external_access": False}
# Stages that are not rebuilt: eligibility does not depend on the order, which another contract
# checks, and the changed orders replace the draws.
NOT_REBUILT = ("eligible_attempts", *DRAWN)
# Ranks of an attempt among others: a rank in the whole bank reveals future attempts, so that the
# remaining attempts are ranked again.
RANKS = ("answer_id", "archive_answer_id", "logprob_rank", "value_rank")
# The change that removes attempts from banks.
CUT_OFF = "cut off"
SCALED = "floor(1e9 * exp(value - max(value) over (partition by score, bank_id)) + 0.5)::bigint"


class Breach(NamedTuple):
    """A plug-in, with a walk and position where its output depends on later attempts."""

    kind: str
    change: str
    name: str
    walk_id: int
    position: int


def refuse_foresight(
    con: duckdb.DuckDBPyConnection, plugins: Plugins, kinds: Sequence[str]
) -> None:
    """Refuse the first plug-in of the user that looks at attempts not yet launched."""
    own = {kind: {each.name: each.path for each in plugins.own(kind)} for kind in kinds}
    for breach in find_breaches(con, plugins, [kind for kind in kinds if own[kind]]):
        if breach.name in own[breach.kind]:
            raise AuditError(
                f"{own[breach.kind][breach.name]}: looks ahead: at position {breach.position} of "
                f"{_name_walk(con, breach.walk_id)} it says something else when the attempts after "
                f"it are {breach.change} and other walks are left out; "
                f"a {KINDS[breach.kind].one} may look only at attempts of its walk up to its "
                "position"
            )


def find_breaches(
    con: duckdb.DuckDBPyConnection, plugins: Plugins, kinds: Sequence[str]
) -> list[Breach]:
    """Return the walks and positions where plug-ins of these kinds look ahead."""
    if not kinds:
        return []
    rebuilt, inputs = _find_lineage([OUTPUT_STAGE[kind] for kind in kinds], plugins)
    sample = con.sql(render("sampled_walks")).to_arrow_table()
    of_walks = sample["change"].to_pylist()
    changes = {
        change: sample.filter(pa.array([own == change for own in of_walks]))
        for change in dict.fromkeys(of_walks)
    }
    inputs |= {"walks", *(f"used_{kind}" for kind in kinds)}
    walked = next(iter(changes.values()))
    tables = {name: _sample_relation(con, name, walked) for name in sorted(inputs)}
    said = {kind: _sample_relation(con, OUTPUT_STAGE[kind], walked) for kind in kinds}
    # By LEDGER.md the project's own exp_vote weighs by the largest score of the bank.
    knowing = {
        plugin.name
        for plugin in plugins.selectors
        if find_weight(plugin)[1] == "exp_weight" and not plugin.is_own
    }
    breaches = []
    with duckdb.connect(config=SMALL_DB) as world:
        for change, changed in changes.items():
            _fill_schema(world, change, tables, changed)
            for name in rebuilt:
                build(world, name, plugins)
            for kind in kinds:
                world.register("said", said[kind])
                world.execute(f"create or replace view said_again as from {OUTPUT_STAGE[kind]}")
                rows = world.execute(render(f"foreseeing_{kind}")).fetchall()
                breaches += [Breach(kind, change, *row) for row in rows if row[0] not in knowing]
    return breaches


def _find_lineage(stages: Sequence[str], plugins: Plugins) -> tuple[list[str], set[str]]:
    """Return the stages to rebuild, because they depend on the orders, and their other inputs."""
    reads: dict[str, frozenset[str]] = {}

    def depends(name: str) -> bool:
        if name in NOT_REBUILT or name not in STAGE_NAMES:
            return name == "drawn_orders"
        if name not in reads:
            reads[name] = parse_relations(render(name, plugins))
        return any([depends(other) for other in reads[name]])

    for stage in stages:
        depends(stage)
    rebuilt = [name for name in STAGE_NAMES if name in reads and depends(name)]
    inputs = {name for stage in rebuilt for name in reads[stage]} - {*rebuilt, "drawn_orders"}
    return rebuilt, inputs - {"getvariable()"}


def _sample_relation(con: duckdb.DuckDBPyConnection, name: str, sample: pa.Table) -> pa.Table:
    """Return the rows of a relation that belong to the sampled walks; all if it has no key."""
    columns = [row[0] for row in con.execute(f"describe {name}").fetchall()]
    key = next((key for key in ("walk_id", "bank_id", "problem_id") if key in columns), None)
    sql = f"from {name}"
    if "bank_id" in columns:
        # A walk has a bank of its own, which can be cut off where the walk is; so its candidates
        # are numbered anew.
        first = "sample.own_bank_id * (select max(bank_size) from banks)"
        anew = ["sample.own_bank_id as bank_id"]
        anew += [f"({first})::integer as first_candidate"] if "first_candidate" in columns else []
        is_one = {"candidate_id", "slot"} <= {*columns}
        anew += [f"({first} + {name}.slot)::integer as candidate_id"] if is_one else []
        sql = (
            f"select {name}.* replace ({', '.join(anew)}) from {name} "
            f"inner join sample on {name}.{key} = sample.{key}"
        )
    elif key:
        sql = f"from {name} semi join sample using ({key})"
    con.register("sample", sample)
    try:
        return con.sql(sql).to_arrow_table()
    finally:
        con.unregister("sample")


def _fill_schema(
    world: duckdb.DuckDBPyConnection, change: str, tables: dict[str, pa.Table], sample: pa.Table
) -> None:
    """Create a schema with only the sample, its walks in the changed orders."""
    world.execute(f'create schema "{change}"; use "{change}"')
    world.register("sampled_walks", sample)
    for name, table in tables.items():
        if "bank_id" not in table.column_names:
            world.register(name, table)
            continue
        key = "score, bank_id" if "score" in table.column_names else "bank_id"
        anew = [
            f"case when {rank} is not null "
            f"then dense_rank() over (partition by {key} order by {rank}) end as {rank}"
            for rank in RANKS
            if rank in table.column_names
        ]
        anew += [f"{SCALED} as exp_weight"] if "exp_weight" in table.column_names else []
        columns = f"* replace ({', '.join(anew)})" if anew and change == CUT_OFF else "*"
        slots = ", unnest(slots) as slot" if "slot" in table.column_names else ""
        world.register("uncut", table)
        world.execute(
            f"create table {name} as select {columns} from uncut semi join "
            f"(select own_bank_id as bank_id{slots} from sampled_walks) "
            f"using (bank_id{', slot' if slots else ''})"
        )
    world.execute(
        "create table drawn_orders as "
        "select distinct problem_id, bank_size, repeat, slots from sampled_walks"
    )


def _name_walk(con: duckdb.DuckDBPyConnection, walk_id: int) -> str:
    """Name a walk for a message: archive, problem and repeat."""
    ((archive, competition, question, repeat),) = con.execute(
        "select archive, competition, question_id, repeat from walks where walk_id = ?",
        [walk_id],
    ).fetchall()
    return f"{archive}, {competition} {question}, repeat {repeat}"
