"""The soak that plants bugs: what it plants is a change of code, and the tests see it."""

import pytest

from tests.soak import mutants
from tests.soak.mutants import ROOT, Mutant, python_mutants, sql_mutants

SQL = """-- name: 3 <= 4 in words.
select
    min(a.x) as least_x,
    'a < b' as text,
from a
inner join b
    on a.id = b.id
    and a.key = b.key
where a.x <= 5 and a.y <> 0
"""


def test_comparisons_constants_ties_and_keys_of_joins_are_changed_and_nothing_else():
    found = {(SQL[one.start : one.end].strip(), one.text) for one in sql_mutants("x", SQL)}
    assert found == {
        ("min", "max"),
        ("and a.key = b.key", ""),
        ("<=", "<"),
        ("5", "6"),
        ("<>", "="),
        ("0", "1"),
    }


def test_python_has_comparisons_and_small_numbers():
    source = "def f(x):\n    # 1 < 2\n    return 'a' if x <= 1 else x[0] + 77\n"
    found = {(source[one.start : one.end], one.text) for one in python_mutants("x", source)}
    assert found == {("<=", "<"), ("1", "2"), ("0", "1")}


def test_there_are_bugs_to_plant_in_every_layer():
    planted = mutants.mutants()
    assert len(planted) > 500 and len({one.path for one in planted}) > 60
    assert {one.path.split("/")[1] for one in planted if one.path.startswith("sql/")} >= {
        "keys", "walks", "budgets", "evaluation", "bootstrap", "tables", "checks"
    }  # fmt: skip
    changed = [one.applied((ROOT / one.path).read_text()) for one in planted]
    assert all(
        text != (ROOT / one.path).read_text() for text, one in zip(changed, planted, strict=True)
    )


def test_bugs_that_make_no_difference_are_not_planted_and_are_still_there():
    every = mutants.mutants()
    left = {one for one in every if one.text != "rank"} - {*mutants.chosen(1, len(every))}
    assert len(mutants.SAME) < len(left) < 30
    before = [(one.path, (ROOT / one.path).read_text()[: one.start]) for one in left]
    for path, text in mutants.SAME:
        assert any(file == path and code.endswith(text) for file, code in before), path
    assert mutants.chosen(1, 3) == mutants.chosen(1, 100)[:3]


@pytest.mark.slow
def test_a_planted_bug_is_noticed_and_an_honest_copy_is_not(tmp_path):
    folders = mutants.copies(tmp_path, 2)
    path = "sql/policies/early_stopping.sql"
    text = (ROOT / path).read_text()
    at = text.index("% 5") + 2
    planted = (Mutant(path, at, at + 1, "1"), mutants.NOTHING)
    test = "tests/engine/test_edges.py::test_a_policy_stops_exactly_where_it_says"
    found = dict(mutants.noticed([(one, [test]) for one in planted], folders))
    assert found.pop(mutants.NOTHING) == ""
    assert found.popitem()[1].startswith(test)
    assert all((folder / path).read_text() == text for folder in folders)
