"""The bootstrap: totals weighed by counts, and the same rows of intervals in pieces of any size."""

import random
from collections import Counter
from math import isclose

import pytest

from audit import database, engine
from audit.engine import draws, intervals
from audit.engine.build import render_replicates
from audit.engine.intervals import list_intervals
from audit.engine.sql_files import read_weighing
from audit.errors import AuditError
from audit.query.run import query
from tests.support.archives import attempt, random_archive
from tests.support.databases import replayed_in_memory as replayed
from tests.support.databases import small_database, tables_of

SETTINGS = {"replicates": 23, "policies": "all", "curve_points": 6}
WEIGHING = [name for name in engine.list_tables() if list_intervals(name)]


def rows(seed=4):
    """Three archives over two competitions, ragged and full of ties; the last has no labels."""
    found = random_archive(
        random.Random(seed), archives=3, competitions=2, problems=5, costs=(4, 6, 7, 9), empty=0.1
    )
    last = max(row["archive"] for row in found)
    return [row | {"correct": None} if row["archive"] == last else row for row in found]


@pytest.mark.parametrize("at_a_time", [24, pytest.param(7 * 24, marks=pytest.mark.slow)])
def test_tables_in_pieces_of_any_size_are_the_same(tmp_path, monkeypatch, at_a_time):
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        whole = tables_of(con, WEIGHING)
    assert set(WEIGHING) > {"main", "curves", "budget_curve", "matched_cost", "policies"}
    assert all(table.num_rows for table in whole.values())
    monkeypatch.setattr(draws, "PROBLEMS_IN_ROW", 2)
    monkeypatch.setattr(draws, "BATCH_COUNTS", 7)
    monkeypatch.setattr(intervals, "ROWS_AT_A_TIME", at_a_time)
    monkeypatch.setattr(intervals, "MATCHES_AT_A_TIME", at_a_time)
    monkeypatch.setattr(intervals, "COUNTS_AT_A_TIME", 70)
    # What belongs together is then joined as lists.
    monkeypatch.setattr(intervals, "MOST_PRODUCTS", 3 * at_a_time)
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        for name, table in tables_of(con, WEIGHING).items():
            # Chances are no whole numbers: their sums depend on the order.
            cells = zip(table.to_pylist(), whole[name].to_pylist(), strict=True)
            is_close = name == "at_k" and all(
                x == y or (x is not None and y is not None and isclose(x, y, abs_tol=1e-9))
                for a, b in cells
                for x, y in zip(a.values(), b.values(), strict=True)
            )
            assert is_close or table.equals(whole[name]), name


def test_tables_and_queries_read_the_same_rows_which_a_writer_keeps(tmp_path):
    with small_database(tmp_path) as con:
        engine.replay(con, is_users=True)
        # The replay itself keeps what the main table reads.
        assert database.relations(con)["interval_gains"] == "table"
        assert database.relations(con)["interval_matches"] == "view"
        # Budgets are tokens, which have prefixes.
        assert database.relations(con)["prefix_boxes"] == "view"
    with database.connect(tmp_path / "small.duckdb", read_only=True) as con:
        tables = tables_of(con, WEIGHING)
        for name, table in tables.items():
            assert query(con, f"from {name}").table.to_pylist() == table.to_pylist()
        assert database.relations(con)["interval_matches"] == "view"
    with database.connect(tmp_path / "small.duckdb") as con:
        assert query(con, "from matched_cost").table.equals(tables["matched_cost"])
        assert database.relations(con)["interval_matches"] == "table"
        # What is stored is what is read from then on.
        con.execute("update interval_matches set delta = 7")
        assert {row["delta"] for row in engine.compute_table(con, "matched_cost").to_pylist()} == {
            7
        }
        assert con.sql("select distinct delta from matched_cost").fetchall() == [(7,)]


def test_a_replicate_that_draws_none_of_an_archive_has_no_row(tmp_path):
    shared = [attempt(seed, 5, "4", archive="a", question=q) for seed in range(2) for q in range(4)]
    alone = [attempt(seed, 5, "4", archive="b", question=0) for seed in range(2)]
    with replayed(tmp_path, shared + alone, replicates=50) as con:
        drawn = con.execute("select replicate from bootstrap_counts where counts[1] > 0").fetchall()
        for sql in (render_replicates(read_weighing("interval_gains")), "from replicate_matches"):
            rows_of_b = f"select replicate from ({sql}) where archive = 'b'"
            assert set(con.sql(rows_of_b).fetchall()) == set(drawn)
    assert 1 < len(set(drawn)) < 51


def test_a_matched_budget_is_the_largest_that_costs_no_more(tmp_path):
    """Against whole numbers added one by one; many walks make several blocks of 32."""
    rng = random.Random(5)
    found = [
        attempt(seed, rng.randrange(3, 40), "4", archive=archive, question=n, correct=n > 1)
        for archive in ("a", "b")
        for n in range(4 if archive == "a" else 3)
        for seed in range(9)
    ]
    # Some of these are paid in every block, so that the search ends in each of them.
    budgets = (5, *range(30, 130, 10), 10**6)
    with replayed(tmp_path, found, replicates=12, orders=30, budgets=budgets) as con:
        matches = con.sql("from replicate_matches").to_arrow_table().to_pylist()
        walks = con.sql("from matching_walks").fetchall()
        answers = con.sql("from matching_answers").fetchall()
        drawn = con.sql("select replicate, problem_id, draws from problem_draws").fetchall()
        assert con.sql("select count(*) from walk_blocks").fetchall()[0][0] > 4
    drawn = {(replicate, problem): count for replicate, problem, count in drawn}
    assert {match["is_exhausted"] for match in matches} == {True, False}
    asked = {
        (archive, replicate)
        for archive, problem, *_ in walks
        for replicate in range(13)
        if drawn[replicate, problem]
    }
    found = Counter((match["archive"], match["replicate"]) for match in matches)
    assert found == dict.fromkeys(asked, len(budgets))

    def paid(match, budget):
        return sum(
            drawn[match["replicate"], problem] * orders * min(budget, cost)
            for archive, problem, cost, orders in walks
            if archive == match["archive"]
        )

    for match in matches:
        budget, target = match["strict_budget"], match["advisory_cost"]
        assert match["strict_cost"] == paid(match, budget) <= target
        if match["is_exhausted"]:
            assert budget == max(
                cost
                for archive, problem, cost, _ in walks
                if archive == match["archive"] and drawn[match["replicate"], problem]
            )
        else:
            assert paid(match, budget + 1) > target
        assert match["strict_correct"] == sum(
            drawn[match["replicate"], problem] * change
            for archive, problem, at, change in answers
            if archive == match["archive"] and at <= budget
        )


def test_equal_replicates_have_no_error_and_an_interval_that_is_the_point(tmp_path):
    alike = [attempt(seed, 9, "4", question=question) for question in range(7) for seed in range(2)]
    with replayed(tmp_path, alike, budgets=(5,), replicates=200, orders=3) as con:
        # One of three orders gains at every problem: a third has no exact double.
        scores = "select * replace ((rule = 'advisory')::integer as correct) from primary_scores"
        con.execute(f"create table scored as {scores}")
        con.execute("drop view primary_scores; alter table scored rename to primary_scores")
        if database.relations(con)["interval_gains"] == "table":
            con.execute("drop table interval_gains")
            engine.build(con, "interval_gains", engine.Plugins())
        (row,) = con.sql("from interval_gains").to_arrow_table().to_pylist()
    assert row["delta_error"] == 0
    assert {row[name] for name in ("delta", "delta_low", "delta_high")} == {100 / 3}


def test_a_single_replicate_has_no_error(tmp_path):
    with replayed(tmp_path, rows(), **(SETTINGS | {"replicates": 1})) as con:
        assert {
            error for (error,) in con.sql("select delta_error from interval_gains").fetchall()
        } == {None}


def test_a_relation_that_is_missing_is_told_with_the_file_that_reads_it(tmp_path):
    with small_database(tmp_path) as con:
        con.execute("drop view budget_pairs")
        with pytest.raises(AuditError, match=r"cost_comparisons\.sql: .*budget_pairs"):
            engine.compute_table(con, "cost_comparisons")
        assert engine.compute_table(con, "main").num_rows
