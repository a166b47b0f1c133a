"""The bootstrap: totals weighed by counts, and the same rows of intervals in pieces of any size."""

import random
from collections import defaultdict
from fractions import Fraction
from math import isclose

import numpy as np
import pytest

from audit import database, engine
from audit.engine import draws, intervals
from audit.engine.build import replicates_sql
from audit.engine.intervals import intervals_read
from audit.engine.sql_files import header, interval_names, weighing
from audit.errors import AuditError
from audit.query.run import query
from tests.support.archives import attempt, random_archive
from tests.support.databases import replayed_in_memory as replayed
from tests.support.databases import small_database, tables_of

SETTINGS = {"replicates": 23, "policies": "all", "curve_points": 6}
WEIGHING = [name for name in engine.table_names() if intervals_read(name)]


def rows(seed=4):
    """Three archives over two competitions, ragged and full of ties; the last has no labels."""
    found = random_archive(
        random.Random(seed), archives=3, competitions=2, problems=5, costs=(4, 6, 7, 9), empty=0.1
    )
    last = max(row["archive"] for row in found)
    return [row | {"correct": None} if row["archive"] == last else row for row in found]


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    """These rows, replayed once for the tests that only read."""
    with replayed(tmp_path_factory.mktemp("bootstrap"), rows(), **SETTINGS) as con:
        yield con


@pytest.mark.parametrize("at_a_time", [24, 7 * 24])
def test_tables_in_pieces_of_any_size_are_the_same(con, tmp_path, monkeypatch, at_a_time):
    whole = tables_of(con, WEIGHING)
    assert set(WEIGHING) > {"main", "curves", "budget_curve", "matched_cost", "policies"}
    assert all(table.num_rows for table in whole.values())
    monkeypatch.setattr(draws, "PROBLEMS_IN_ROW", 2)
    monkeypatch.setattr(draws, "BATCH_COUNTS", 7)
    monkeypatch.setattr(intervals, "ROWS_AT_A_TIME", at_a_time)
    monkeypatch.setattr(intervals, "MATCHES_AT_A_TIME", at_a_time)
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
        assert {row["delta"] for row in engine.table(con, "matched_cost").to_pylist()} == {7}
        assert con.sql("select distinct delta from matched_cost").fetchall() == [(7,)]


@pytest.mark.parametrize("name", [name for name in interval_names() if "totals" in header(name)])
def test_replicates_are_a_join_with_the_counts(con, name):
    _, totals, keys, values = weighing(name)
    weighed = con.sql(replicates_sql(weighing(name))).to_arrow_table().to_pylist()
    problems = con.sql(f"from {totals}").to_arrow_table().to_pylist()
    drawn = con.sql("select replicate, problem_id, draws from problem_draws").fetchall()
    drawn = {(replicate, problem): count for replicate, problem, count in drawn}
    expected: dict[tuple, dict] = defaultdict(lambda: defaultdict(int))
    unknown = {
        (*(row[key] for key in keys), value)
        for row in problems
        for value in values
        if row[value] is None
    }
    for row in problems:
        for replicate in range(24):
            count = drawn[replicate, row["problem_id"]]
            key = (*(row[key] for key in keys), replicate)
            expected[key]["draws"] += count
            for value in ("replays", *values):
                expected[key][value] += count * (row[value] or 0)
    assert len(weighed) == sum(cells["draws"] > 0 for cells in expected.values())
    ungraded = {row["archive"] for row in rows() if row["correct"] is None}
    for row in weighed:
        cells = expected[*(row[key] for key in keys), row["replicate"]]
        for value in ("draws", "replays", *values):
            is_label = any(word in value for word in ("correct", "covered", "gained"))
            named = {row["archive"], row["other"] if value == "more_correct" else None}
            if row[value] is None:
                is_unknown = (*(row[key] for key in keys), value) in unknown
                assert is_unknown or (is_label and named & ungraded), (value, row)
            else:
                # Sums of money are decimals, which have no relative tolerance.
                expected_cell = pytest.approx(float(cells[value]), rel=1e-12)
                assert float(row[value]) == expected_cell, (value, row)


def test_a_replicate_that_draws_none_of_an_archive_has_no_row(tmp_path):
    shared = [attempt(seed, 5, "4", archive="a", question=q) for seed in range(2) for q in range(4)]
    alone = [attempt(seed, 5, "4", archive="b", question=0) for seed in range(2)]
    with replayed(tmp_path, shared + alone, replicates=50) as con:
        drawn = con.execute("select replicate from bootstrap_counts where counts[1] > 0").fetchall()
        for sql in (replicates_sql(weighing("interval_gains")), "from replicate_matches"):
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
    with replayed(tmp_path, found, replicates=12, orders=30, budgets=(5, 40, 90, 10**6)) as con:
        matches = con.sql("from replicate_matches").to_arrow_table().to_pylist()
        walks = con.sql("from matching_walks").fetchall()
        answers = con.sql("from matching_answers").fetchall()
        drawn = con.sql("select replicate, problem_id, draws from problem_draws").fetchall()
        assert con.sql("select count(*) from walk_blocks").fetchall()[0][0] > 4
    drawn = {(replicate, problem): count for replicate, problem, count in drawn}
    assert {match["is_exhausted"] for match in matches} == {True, False}

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


def test_a_point_is_on_the_frontier_of_the_replicates_in_which_no_other_is_better(con):
    points = con.sql(replicates_sql(weighing("interval_frontier"))).to_arrow_table().to_pylist()
    table = con.sql("from interval_frontier").to_arrow_table().to_pylist()
    by_replicate = defaultdict(list)
    for point in points:
        by_replicate[point["replicate"]].append(point)
    keys = ("archive", "policy", "rule", "budget")
    best = {
        (*(point[key] for key in keys), replicate)
        for replicate, others in by_replicate.items()
        for point in others
        if not any(
            other["cost"] <= point["cost"]
            and other["correct"] >= point["correct"]
            and (other["cost"], other["correct"]) != (point["cost"], point["correct"])
            for other in others
        )
    }
    for row in table:
        key = tuple(row[name] for name in keys)
        times = sum((*key, replicate) in best for replicate in range(1, 24))
        assert row["is_best"] == ((*key, 0) in best)
        assert row["is_best_share"] == pytest.approx(float(Fraction(100 * times, 23)))
    assert len({row["is_best_share"] for row in table}) > 2


def test_ends_lie_on_straight_lines_between_neighbours_and_errors_are_standard_deviations(con):
    keys, gains = "archive, budget", replicates_sql(weighing("interval_gains"))
    deltas = con.sql(
        f"select {keys}, list(100 * gained / replays) from ({gains}) "
        f"where replicate > 0 and gained is not null group by {keys}"
    ).fetchall()
    found = con.sql(
        "select archive, budget, delta_low, delta_high, delta_error from interval_gains"
    ).fetchall()
    ends = {(archive, budget): numbers for archive, budget, *numbers in found}
    assert len({key for key in ends if ends[key][2]}) >= 3
    for archive, budget, values in deltas:
        low, high, error = ends[archive, budget]
        assert (low, high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])), abs=1e-12)
        assert error == pytest.approx(np.std(values, ddof=1), rel=1e-10, abs=1e-12)


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
            engine.table(con, "cost_comparisons")
        assert engine.table(con, "main").num_rows
