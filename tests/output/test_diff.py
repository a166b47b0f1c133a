"""Two databases: what moved, over problems drawn within competitions, under recorded names."""

import re

import duckdb

from audit import engine
from audit.output.diff import find_differences, first_screen
from tests.support.archives import attempt
from tests.support.databases import replayed_in_memory as replayed

RUN = {"budgets": (12,), "caps": (2,), "primary_cap": 2, "orders": 2, "replicates": 40}
DRAWN = {"replicates": 200, "seed": 1}


def rows(cost, names=(0, 1, 2, 3)):
    """Return attempts of four problems, of which the third is right where it is cheap."""
    return [
        attempt(seed, cost if n == 2 else 10, "4", question=number, correct=True)
        for number, n in enumerate(names)
        for seed in range(2)
    ]


def name_problems(con, names):
    """Give problems the names by which their source calls them."""
    for number, n in enumerate(names):
        con.execute("insert into problem_names values ('C', ?, ?)", [number, f"q{n}"])
    engine.replay(con, **RUN)


def test_the_first_screen_names_problems_and_compares_costs(tmp_path):
    """One more problem shifts the numbers of the others, and their names stay."""
    more = [9, 0, 1, 2, 3]
    with (
        replayed(tmp_path, rows(10), "old") as old,
        replayed(tmp_path, rows(15, more), "new") as new,
    ):
        name_problems(old, range(4))
        name_problems(new, more)
        found = find_differences(old, new, 0, {}, None)
        screen = first_screen(old, new, found, {})
        events = engine.compute_table(new, "selection_events").to_pylist()
        assert {(row["question_id"], row["problem"]) for row in events} == {(3, "q2")}
    assert "sources a, old.parquet: 8 rows -> not there" in screen
    assert "sources a, new.parquet: not there -> 10 rows" in screen
    assert (
        "Problems that flipped most, in points (of 1 that moved):\n   -50.00  a, C q2\n" in screen
    )
    accuracy, cost = screen.split("Accuracy, ")[1].split("Cost, ")
    assert " 100.00  75.00  -25.00 [-75.00, 0.00]" in accuracy and "C 2" not in screen
    assert re.search(r"advisory +12 +20 +18.8 +-1.25 \[", cost)


def test_tables_of_too_many_pairs_are_compared_only_when_named(tmp_path, monkeypatch):
    """Two archives are too many here; the screen says what it left out."""
    monkeypatch.setattr("audit.output.export.MOST_PAIRED_UNNAMED", 0)
    with replayed(tmp_path, rows(10)) as con:
        found = find_differences(con, con, 0, {}, None)
        screen = first_screen(con, con, found, {})
    assert screen.startswith("0 differences\nNot compared: archive_comparisons (1 archives make")


def test_one_file_with_other_content_is_one_line(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    with replayed(tmp_path / "one", rows(10)) as old, replayed(tmp_path / "two", rows(11)) as new:
        found = find_differences(old, new, 0, {}, None).to_pylist()
    assert [row for row in found if row["what"] == "sources"] == [
        {"what": "sources", "row": "a, small.parquet", "column": "", "old": "8 rows",
         "new": "8 rows, other content"}
    ]  # fmt: skip


def test_problems_are_drawn_within_competitions():
    """A competition with one problem always has it: without any other there is no interval."""
    alone = (
        "select 'k' as key, n::varchar as competition, 'p' as problem, n as difference "
        "from range(5) as t (n)"
    )
    with duckdb.connect() as con:
        (row,) = engine.paired_intervals(con, alone, ["key"], *DRAWN.values()).to_pylist()
        assert row == {"key": "k", "problems": 5, "difference": 2.0, "low": 2.0, "high": 2.0}
        together = alone.replace("n::varchar", "'c'").replace("'p'", "n::varchar")
        (row,) = engine.paired_intervals(con, together, ["key"], *DRAWN.values()).to_pylist()
    assert row["difference"] == 2
    assert row["low"] < 1.5 and row["high"] > 2.5
