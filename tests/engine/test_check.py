"""Every invariant of `check` is broken once in every way it names, and is seen to be."""

import random
import shutil
from contextlib import contextmanager

import duckdb
import pytest

from audit import engine
from audit.engine.check import check
from tests.support.archives import random_archive
from tests.support.checkpoints import with_checkpoints
from tests.support.command import read_streams
from tests.support.databases import replayed, replayed_in_memory, small_database
from tests.support.ledger import ledger_archive

# An invariant, and by relation what stands in the place of columns so that one clause fails.
BROKEN = [
    ("advisory_pays_whole", {"replays": {"returned": "returned - 1"}}),
    ("advisory_pays_whole", {"replays": {"launched": "launched + 1"}}),
    ("advisory_pays_whole", {"replays": {"prefix_cost": "1"}}),
    ("coverage_never_lost", {"paired_replays": {"is_advisory_covered": "false"}}),
    ("equal_launches", {"paired_replays": {"advisory_launched": "strict_launched + 1"}}),
    ("equal_launches", {"paired_replays": {"advisory_launched": "strict_launched - 1"}}),
    ("equal_launches", {"paired_replays": {"strict_prompt": "advisory_prompt + 1"}}),
    ("pools_nested", {"paired_replays": {"advisory_returned": "strict_returned + 2"}}),
    ("pools_nested", {"paired_replays": {"advisory_returned": "strict_returned - 1"}}),
    ("pools_nested", {"paired_replays": {"advisory_eligible": "strict_eligible + 2"}}),
    ("pools_nested", {"paired_replays": {"advisory_eligible": "strict_eligible - 1"}}),
    ("ledger_adds_up", {"walked_attempts": {"cumulative_cost": "cumulative_cost + 1"}}),
    ("ledger_adds_up", {"walked_attempts": {"cumulative_cost": "cumulative_cost - 1"}}),
    # Equal costs: only the slots can tell that one attempt stands for all.
    (
        "ledger_adds_up",
        {
            "walked_attempts": {"slot": "1", "cumulative_cost": "position"},
            "candidates": {"cost": "1", "completion_tokens": "1"},
        },
    ),
    # An abstention although something could be picked; a pick although nothing could.
    ("selected_is_eligible", {"picks": {"walk_id": "walk_id + 1"}}),
    ("selected_is_eligible", {"picks": {"from_position": "from_position + 1"}}),
    ("selected_is_eligible", {"picks": {"candidate_id": "candidate_id + 1"}}),
    ("selected_is_eligible", {"eligible_attempts": {"candidate_id": "-candidate_id"}}),
    *(
        ("rules_chain", {"stops": {column: f"{column} + if(rule = '{rule}', {change}, 0)"}})
        for column, rule, change in (
            ("returned", "strict", 9),
            ("returned", "step", 9),
            ("returned", "step", -9),
            ("returned", "step_lost", 1),
            ("returned", "attempt_lost", 1),
            ("cost", "strict", 999),
            ("cost", "step", 1),
            ("cost", "step_lost", -1),
            ("cost", "advisory", -999),
            ("cost", "attempt_lost", 1),
        )
    ),
    ("strict_within_budget", {"replays": {"cost": "budget + 1", "prefix_cost": "0"}}),
    ("strict_within_budget", {"replays": {"prefix_cost": "-1"}}),
    ("strict_within_budget", {"replays": {"cost": "budget - 1", "prefix_cost": "1"}}),
    ("transitions_sum", {"changed_selections": {"is_advisory_correct": "not is_advisory_correct"}}),
    ("transitions_sum", {"changed_selections": {"is_strict_correct": "not is_strict_correct"}}),
    ("transitions_sum", {"paired_gains": {"gained": "gained + 1"}}),
    *(
        ("terminals_hold", {"terminal_replays": {column: changed}})
        for column, changed in (
            ("returned", "returned + (terminal <> 'none')::int"),
            ("eligible", "eligible - (terminal <> 'none')::int"),
            ("covered", "terminal = 'none'"),
            ("cost", "cost + (terminal = 'forced_if_empty')::int"),
            ("cost", "cost - 999999 * (terminal = 'forced_after')::int"),
            ("admitted_at", "if(terminal = 'forced_if_empty', 1, admitted_at)"),
        )
    ),
]
INVARIANTS = [path.stem for path in (engine.find_folder("sql") / "checks").glob("*.sql")]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    with small_database(folder, rules="all"):
        pass
    return folder / "small.duckdb"


@pytest.fixture(scope="module")
def con(path):
    with duckdb.connect(str(path), read_only=True) as con:
        yield con


@pytest.fixture(scope="module")
def forced(tmp_path_factory):
    """A database whose replays have every terminal, which need answers before the end."""
    folder, rng = tmp_path_factory.mktemp("forced"), random.Random(5)
    rows = with_checkpoints(rng, random_archive(rng, archives=2, costs=(4, 6, 7, 9)))
    with replayed(folder, rows, terminals=("all",)):
        pass
    with duckdb.connect(str(folder / "small.duckdb"), read_only=True) as con:
        yield con


def counted(con, name):
    return con.execute(engine.render(name)).fetchall()[0]


@pytest.mark.parametrize("name", INVARIANTS)
def test_an_invariant_holds_and_looks_at_something(con, forced, name):
    con = forced if name == "terminals_hold" else con
    looked_at, violations = counted(con, name)
    assert looked_at > 0 and violations == 0
    assert name in {broken for broken, _ in BROKEN}


@contextmanager
def broken(con, relations):
    """Other columns in relations, for as long as it takes."""
    try:
        for relation, columns in relations.items():
            there = {row[0] for row in con.execute(f"describe small.{relation}").fetchall()}
            replaced = ", ".join(f"{to} as {at}" for at, to in columns.items() if at in there)
            # What is temporary comes before what the file has under the same name.
            con.execute(
                f"create temp view {relation} as "
                f"select * replace ({replaced}) from small.main.{relation}"
            )
        yield
    finally:
        for relation in relations:
            con.execute(f"drop view if exists temp.main.{relation}")


@pytest.mark.parametrize(("name", "relations"), BROKEN)
def test_a_broken_invariant_is_found(con, forced, name, relations):
    con = forced if name == "terminals_hold" else con
    with broken(con, relations):
        looked_at, violations = counted(con, name)
    assert 0 < violations <= looked_at


# Two rules of a run, with what each returns and costs: a run may have no other rule.
OUT_OF_CHAIN = [
    ("strict", (1, 5), "step_lost", (2, 5)),
    ("strict", (2, 5), "step_lost", (1, 5)),
    ("strict", (1, 5), "attempt_lost", (2, 5)),
    ("strict", (2, 5), "attempt_lost", (1, 5)),
    ("strict", (2, 5), "step", (1, 5)),
    ("step", (2, 5), "advisory", (1, 5)),
    ("strict", (2, 5), "advisory", (1, 5)),
    ("strict", (1, 6), "step", (1, 5)),
    ("strict", (1, 6), "step_lost", (1, 5)),
    ("step", (1, 6), "step_lost", (1, 5)),
    ("step", (1, 5), "step_lost", (1, 6)),
    ("step", (1, 6), "advisory", (1, 5)),
    ("step_lost", (1, 6), "advisory", (1, 5)),
    ("strict", (1, 6), "advisory", (1, 5)),
    ("advisory", (1, 5), "attempt_lost", (1, 6)),
    ("advisory", (1, 6), "attempt_lost", (1, 5)),
]


def chained(*stops):
    """What rules_chain looks at and counts in some stops of one walk."""
    with duckdb.connect() as con:
        con.execute(
            "create table stops (walk_id bigint, cap integer, budget bigint, rule varchar, "
            "returned integer, cost bigint)"
        )
        for rule, returned, cost in stops:
            con.execute("insert into stops values (1, 9, 50, ?, ?, ?)", [rule, returned, cost])
        return counted(con, "rules_chain")


@pytest.mark.parametrize(("one", "first", "other", "second"), OUT_OF_CHAIN)
def test_two_rules_out_of_the_chain_are_found_without_the_others(one, first, other, second):
    assert chained((one, *first), (other, *second)) == (1, 1)
    assert chained((one, 1, 5), (other, 1, 5)) == (1, 0)


def test_a_rule_that_stops_twice_is_found():
    assert chained(("strict", 1, 5), ("advisory", 1, 5), ("advisory", 1, 5)) == (1, 1)


@pytest.mark.parametrize(
    ("picked", "violations"),
    [
        ([(1, 1, 10), (4, 1, 11)], 0),
        ([(1, 1, 11), (4, 1, 11)], 1),  # An attempt that is yet to come.
        ([(1, 1, 10), (4, 1, 12)], 1),  # One of the walk before.
        ([(1, 1, 10)], 1),
        ([(1, 2, 10), (4, 1, 11)], 1),
        ([(1, 1, 7), (4, 1, 11)], 1),  # One that no walk has.
    ],
)
def test_a_pick_from_outside_its_pool_is_found(picked, violations):
    """Two walks of two attempts, 10 and 11, 11 and 13, each of which may be picked."""
    with duckdb.connect() as con:
        con.execute(
            "create table walked as select * from (values (1, 1, 10), (1, 2, 11), (4, 1, 11), "
            "(4, 2, 13)) as rows (walk_id, position, candidate_id)"
        )
        con.execute(
            "create table eligible_attempts as select distinct 1 as selector_id, candidate_id "
            "from walked"
        )
        con.execute(
            "create table picks (selector_id integer, walk_id bigint, from_position integer, "
            "candidate_id integer)"
        )
        con.executemany("insert into picks values (1, ?, ?, ?)", picked)
        assert counted(con, "selected_is_eligible") == (2, violations)


@pytest.mark.parametrize(
    ("control", "relations"),
    [
        # A cost that is not that of the attempts: the budget lies on no boundary of completion.
        (
            "completed_prefix",
            {"primary_stops": {"cost": "cost - 1"}},
        ),
        # A token more than the equal costs sum up to: no budget is met exactly.
        (
            "aligned_cost",
            {"control_attempts": {"cumulative_cost": "cumulative_cost + least(position, 1)"}},
        ),
    ],
)
def test_rules_that_disagree_where_they_must_agree_are_counted(con, control, relations):
    with broken(con, relations):
        rows = con.execute(engine.render("controls")).fetchall()
    disagreements = {selector: wrong for name, selector, _, wrong in rows if name == control}
    assert disagreements["majority"] > 0


def test_what_depends_on_labels_is_found_and_ends_with_status_one(path, tmp_path):
    copy = tmp_path / "leaky.duckdb"
    shutil.copy(path, copy)
    with duckdb.connect(str(copy)) as con:
        con.execute("update primary_picks set until_position = 2 where from_position = 1")
        con.execute("update walked set cumulative_cost = cumulative_cost + 3 where position = 2")
    steps = []
    checked = check(copy, lambda what, done, total: steps.append((what, done, total)))
    rows = {row["check"]: row["violations"] for row in checked.to_pylist()}
    # Progress counts what is done, one by one, and ends with all of it.
    assert [done for _, done, _ in steps] == list(range(len(steps)))
    assert {total for _, _, total in steps} == {len(steps) - 1} and steps[-1][0] == "done"
    found = {name for name, violations in rows.items() if violations}
    assert found >= {"labels_shuffled", "completed_prefix (majority)"}
    assert set(INVARIANTS) < set(rows)
    out, _ = read_streams(tmp_path, "check", "--db", copy, status=1)
    assert "labels_shuffled" in out


def test_strict_stopping_pays_for_fewer_prompts_of_the_steps_it_cuts(tmp_path):
    rows = ledger_archive(random.Random(3), archives=1, problems=4, attempts=5)
    settings = {"unit": "total", "budgets": (20, 60), "caps": (4,)}
    with replayed_in_memory(tmp_path, rows, **settings) as con:
        pays_less = "select count(*) from paired_replays where strict_prompt < advisory_prompt"
        assert con.execute(pays_less).fetchall()[0][0] > 0
        assert counted(con, "equal_launches")[1] == 0
        con.execute("create or replace temp view steps as from memory.main.steps where false")
        assert counted(con, "equal_launches")[1] > 0
