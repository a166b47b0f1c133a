"""What becomes of the attempt that strict cuts, against plain loops over attempts."""

import random
from collections import Counter

import pytest

from audit import engine
from audit.errors import AuditError
from tests import reference
from tests.reference import terminals
from tests.support.able import able
from tests.support.archives import attempt, random_archive, random_settings
from tests.support.checkpoints import with_checkpoints
from tests.support.databases import replayed_in_memory
from tests.support.rows import differences
from tests.support.slow import seeds

SHARES = ("cut", "admitted", "changed", "undecided")


def rows_of(con, name):
    order = "archive, competition, question_id, repeat, budget, terminal_id"
    order += ", selector" if name == "terminal_selections" else ""
    query = (
        f"select {name}.* from {name} inner join used_terminals using (terminal) order by {order}"
    )
    return con.sql(query).to_arrow_table().to_pylist()


def random_case(seed):
    rng = random.Random(seed)
    rows = with_checkpoints(rng, random_archive(rng, costs=(4, 6, 7, 9, 14)))
    settings = {**random_settings(rng), "budgets": sorted(rng.sample(range(3, 40), 3))}
    return rows, able(rows, settings)


@pytest.mark.parametrize("seed", seeds(4, 8))
def test_replays_and_selections_are_those_of_a_plain_loop(tmp_path, seed):
    rows, settings = random_case(seed)
    sequences = reference.ordered_attempts(rows, settings["orders"])
    replays, selections = terminals.compute(rows, sequences, settings)
    with replayed_in_memory(tmp_path, rows, terminals=("all",), **settings) as con:
        known = {name for (name,) in con.execute("select terminal from used_terminals").fetchall()}
        for name, expected in (("terminal_replays", replays), ("terminal_selections", selections)):
            wanted = [row for row in expected if row["terminal"] in known]
            columns = [c for c in expected[0] if not c.startswith("is_") or c == "is_checkpoint"]
            assert list(differences(wanted, rows_of(con, name), columns)) == []
        if settings["orders"]:
            assert_table(con, replays, selections, settings, known)
            assert_any_budget(con)


def assert_table(con, replays, selections, settings, known):
    """Every count and mean of table `terminals` by hand."""
    primary = settings["primary_selector"]
    plain = {
        (*list(row.values())[:5],): row
        for row in selections
        if row["selector"] == primary and row["terminal"] == "none"
    }
    chosen = {
        (*list(row.values())[:5], row["terminal"]): row
        for row in selections
        if row["selector"] == primary
    }
    sums = {}
    for row in replays:
        key = (*list(row.values())[:5],)
        picked = chosen[*key, row["terminal"]]
        if row["repeat"] and row["terminal"] in known and row["covered"] is not None:
            total = sums.setdefault((row["archive"], row["budget"], row["terminal"]), Counter())
            total.update(
                replays=1,
                accuracy=picked["correct"],
                coverage=row["covered"],
                cost=row["cost"],
                cut=row["is_cut"],
                admitted=row["admitted_at"] is not None,
                changed=picked["answer"] != plain[key]["answer"],
                undecided=picked["is_checkpoint"] and row["is_undecided"],
            )
    table = engine.compute_table(con, "terminals").to_pylist()
    assert {(row["archive"], row["budget"], row["terminal"]) for row in table} == set(sums)
    for row in table:
        total = sums[row["archive"], row["budget"], row["terminal"]]
        none = sums[row["archive"], row["budget"], "none"]
        count = total["replays"]
        for name in ("accuracy", "coverage", *SHARES):
            assert row[name] == pytest.approx(100 * total[name] / count, abs=1e-9)
        assert row["cost"] == pytest.approx(total["cost"] / count)
        gained = 100 * (total["accuracy"] - none["accuracy"]) / count
        assert row["delta"] == pytest.approx(gained, abs=1e-9)


def assert_any_budget(con):
    """The changes at any budget add up to the totals at those of the run."""
    with engine.prepared(con, ["terminal_totals", "terminal_changes"]):
        query = """
            select count(*)
            from terminal_totals as totals
            where correct - none_correct <> (
                select coalesce(sum(correct_change), 0)
                from terminal_changes as changes
                where changes.bank_id = totals.bank_id and changes.terminal = totals.terminal
                and changes.budget <= totals.budget
            )
        """
        assert con.execute(query).fetchall() == [(0,)]


def test_the_attempt_at_the_cap_changes_what_is_right_at_any_budget(tmp_path):
    asked = {"tokens": 3, "kind": "asked", "answer": "1", "cost": 1, "correct": True}
    rows = [attempt(seed, 9, "7", correct=False) | {"checkpoints": [asked]} for seed in (0, 1)]
    settings = {"caps": (1,), "primary_cap": 1, "orders": 2, "budgets": (5, 9)}
    with replayed_in_memory(tmp_path, rows, terminals=("forced",), **settings) as con:
        assert_any_budget(con)
        gained = "select correct - none_correct from terminal_totals where terminal = 'forced'"
        assert con.sql(f"{gained} order by budget").fetchall() == [(2,), (0,)]


def test_a_forced_answer_that_outvotes_a_right_one_takes_it_away_at_any_budget(tmp_path):
    asked = {"tokens": 3, "kind": "asked", "answer": "5", "cost": 1, "correct": False}
    rows = [attempt(seed, 9, "455"[seed], correct=seed == 0) for seed in range(3)]
    settings = {"caps": (3,), "primary_cap": 3, "orders": 20, "budgets": (23, 27)}
    rows = [row | {"checkpoints": [asked]} for row in rows]
    with replayed_in_memory(tmp_path, rows, terminals=("forced",), **settings) as con:
        assert_any_budget(con)
        lost = "select correct - none_correct < 0 from terminal_totals where terminal = 'forced'"
        assert con.sql(f"{lost} order by budget").fetchall() == [(True,), (False,)]


def test_random_cases_have_what_the_loop_is_compared_on():
    seen = Counter()
    for seed in range(8):
        rows, settings = random_case(seed)
        sequences = reference.ordered_attempts(rows, settings["orders"])
        replays, selections = terminals.compute(rows, sequences, settings)
        for row in replays:
            seen[row["terminal"], row["admitted_at"] is not None] += 1
            seen["undecided"] += row["is_undecided"] and row["admitted_at"] is not None
            seen["empty"] += row["returned"] == 0
        seen["picked"] += sum(row["is_checkpoint"] for row in selections)
    for name in terminals.TERMINALS[1:]:
        assert seen[name, True] > 20 and seen[name, False] > 20
    assert min(seen["undecided"], seen["empty"], seen["picked"]) > 10


ASKED = {"checkpoints": [{"tokens": 3, "kind": "asked", "answer": "1", "cost": 1}]}
STEPS = {"steps": [{"completion_tokens": 9}]}


@pytest.mark.parametrize(
    ("row", "settings", "problem"),
    [
        (ASKED, {"terminals": ("force",)}, "--terminals: no terminal 'force'; did you mean"),
        (ASKED, {"terminals": ("all",), "unit": "steps"}, "--terminals all: needs budgets in"),
        (ASKED | STEPS, {"terminals": ("all",)}, "needs attempts without recorded steps"),
        (ASKED, {"terminals": ("standing",)}, "--terminals standing: no attempt of the replay has"),
        ({}, {"terminals": ("all",)}, "--terminals all: no attempt of the replay has a checkpoint"),
        (ASKED, {"terminals": ("all",), "answer": "none"}, "--terminals all: needs answers"),
    ],
)
def test_a_terminal_that_lacks_something_is_refused(tmp_path, row, settings, problem):
    rows = [attempt(0, 9, "7", correct=True) | row]
    with (
        pytest.raises(AuditError) as refused,
        replayed_in_memory(tmp_path, rows, **settings),
    ):
        pass
    assert problem in str(refused.value) and "\n" not in str(refused.value)


def test_all_leaves_out_what_has_no_checkpoint_and_none_is_the_default(tmp_path):
    rows = [attempt(0, 9, "7", correct=True) | ASKED]
    names = "select terminal from used_terminals order by terminal_id"
    with replayed_in_memory(tmp_path, rows, terminals=("all",), budgets=(4,)) as con:
        found = con.execute(names).fetchall()
        assert found == [("none",), ("forced",), ("forced_if_empty",), ("forced_after",)]
        written = con.execute("select value from settings where key = 'terminals'").fetchone()
        assert written == ("none,forced,forced_if_empty,forced_after",)
        engine.replay(con)  # The terminals of the last replay stay.
        assert con.execute(names).fetchall() == found
        engine.replay(con, terminals=("none",))
        assert con.execute(names).fetchall() == [("none",)]
        kinds = con.sql("select distinct terminal from terminal_replays").fetchall()
        assert kinds == [("none",)]
