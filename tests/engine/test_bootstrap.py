"""The bootstrap: totals weighed by counts, in pieces of any size."""

import random
from collections import defaultdict

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from audit import engine
from audit.engine import bootstrap, draws, intervals, matching
from audit.errors import AuditError
from tests.support.archives import attempt, random_archive
from tests.support.databases import replayed

SETTINGS = {"replicates": 23, "policies": "all", "curve_points": 6}
WEIGHING = [
    name
    for name in engine.table_names()
    if engine.relations_read(engine.render(name)) & set(intervals.INTERVALS)
]


def rows(seed=4):
    """Three archives over two competitions, ragged and full of ties; the last has no labels."""
    found = random_archive(
        random.Random(seed), archives=3, competitions=2, problems=5, costs=(4, 6, 7, 9), empty=0.1
    )
    last = max(row["archive"] for row in found)
    return [row | {"correct": None} if row["archive"] == last else row for row in found]


def all_tables(con) -> dict[str, pa.Table]:
    return {name: engine.table(con, name) for name in WEIGHING}


def test_tables_in_pieces_of_any_size_are_the_same(tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    (tmp_path / "pieces").mkdir()
    with replayed(tmp_path / "whole", rows(), **SETTINGS) as con:
        whole = all_tables(con)
    assert set(WEIGHING) > {"main", "curves", "budget_curve", "matched_cost", "policies"}
    assert all(table.num_rows for table in whole.values())
    monkeypatch.setattr(draws, "PROBLEMS_IN_ROW", 2)
    monkeypatch.setattr(draws, "BATCH_COUNTS", 7)
    monkeypatch.setattr(bootstrap, "BLOCK_COUNTS", 31)
    monkeypatch.setattr(bootstrap, "BLOCK_ROWS", 3)
    monkeypatch.setattr(matching, "CELLS", 11)
    monkeypatch.setattr(matching, "FEW", 3)
    monkeypatch.setattr(matching, "WALKS_AT_A_TIME", 5)
    with replayed(tmp_path / "pieces", rows(), **SETTINGS) as con:
        for at_a_time in (1, 60, 700):
            monkeypatch.setattr(bootstrap, "BLOCK_TOTALS", 3 * at_a_time)
            monkeypatch.setattr(bootstrap, "BLOCK_SUMS", 2 * at_a_time)
            monkeypatch.setattr(intervals, "ROWS_AT_A_TIME", at_a_time)
            with engine.intervals_of(con, WEIGHING if at_a_time == 60 else []):
                for name, table in all_tables(con).items():
                    assert table.equals(whole[name]), (name, at_a_time)


def weighed_rows(con, name) -> list[dict]:
    """The rows of replicates that draw anything."""
    replicates = [one.rows() for one in bootstrap.weigh(con, [name])]
    return [row for row in pa.concat_tables(replicates).to_pylist() if row["draws"] is not None]


@pytest.mark.parametrize("name", sorted(set(bootstrap.WEIGHED) - {"replicate_curves"}))
def test_a_weighed_relation_is_a_join_with_the_counts(tmp_path, name):
    totals, keys, values, lists, _ = bootstrap.WEIGHED[name]
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        weighed = weighed_rows(con, name)
        problems = con.sql(f"from {totals}").to_arrow_table().to_pylist()
        counts = con.execute(
            "select replicate, first_problem, counts from bootstrap_counts"
        ).fetchall()
    drawn = {
        (replicate, first + n): count
        for replicate, first, several in counts
        for n, count in enumerate(several)
    }
    expected: dict[tuple, dict] = defaultdict(lambda: defaultdict(int))
    for row in problems:
        for replicate in range(24):
            count = drawn[replicate, row["problem_id"]]
            key = (*(row[key] for key in keys), replicate)
            expected[key]["draws"] += count
            for value in ("replays", *values):
                expected[key][value] += count * (row[value] or 0)
            for value in lists:
                for n, item in enumerate(row[value]):
                    expected[key][value, n] += count * (item or 0)
    assert len(weighed) == sum(cells["draws"] > 0 for cells in expected.values())
    ungraded = {row["archive"] for row in rows() if row["correct"] is None}
    for row in weighed:
        cells = expected[*(row[key] for key in keys), row["replicate"]]
        for value in ("draws", "replays", *values):
            is_label = any(word in value for word in ("correct", "covered", "gained"))
            named = row["other"] if value == "other_correct" else row["archive"]
            if is_label and named in ungraded:
                assert row[value] is None
            else:
                assert row[value] == cells[value], (value, row)
        for value in lists:
            if "correct" in value and row["archive"] in ungraded:
                assert set(row[value]) == {None}
            else:
                assert row[value] == [cells[value, n] for n in range(len(row[value]))]


def test_a_replicate_that_draws_none_of_an_archive_has_no_row(tmp_path):
    shared = [attempt(seed, 5, "4", archive="a", question=q) for seed in range(2) for q in range(4)]
    alone = [attempt(seed, 5, "4", archive="b", question=0) for seed in range(2)]
    with replayed(tmp_path, shared + alone, replicates=50) as con:
        weighed = weighed_rows(con, "replicate_gains")
        drawn = con.execute("select replicate from bootstrap_counts where counts[1] > 0").fetchall()
    found = {row["replicate"] for row in weighed if row["archive"] == "b"}
    assert found == {replicate for (replicate,) in drawn}
    assert 1 < len(found) < 51


def test_quantiles_lie_on_straight_lines_between_neighbours():
    values = np.array([[4.0, 1.0, 2.0], [5.0, 5.0, 5.0], [-3.0, 1.0, 9.0]])
    low, middle, high = intervals.quantiles(values, [0.025, 0.5, 0.975])
    assert middle.tolist() == [2, 5, 1]
    # Of three values the ranks are 0 and 2: a twentieth of the way to the middle one.
    assert low == pytest.approx([1.05, 5, -2.8])
    assert high == pytest.approx([3.9, 5, 8.6])
    con = duckdb.connect()
    for row, ends in zip(values.tolist(), zip(low, high, strict=True), strict=True):
        query = "select quantile_cont(value, [0.025, 0.975]) from (select unnest(?) as value)"
        assert con.execute(query, [row]).fetchall()[0][0] == pytest.approx(ends, rel=1e-14)
    assert np.isnan(intervals.quantiles(np.zeros((2, 0)), [0.5])[0]).all()


def test_equal_replicates_have_no_error_and_an_interval_that_is_the_point():
    third = np.full((1, 1001), 100 / 3)
    low, high, error, changed = intervals.told(third, None, ("low", "high", "error", "changed"))[0]
    assert (low, high, error, changed) == (100 / 3, 100 / 3, 0, 0)


def test_replicates_that_know_nothing_count_for_nothing():
    values = np.array([[1.0, 2.0, np.nan, 4.0], [7.0, np.nan, np.nan, np.nan]])
    found = intervals.told(values, ~np.isnan(values), ("low", "high", "error", "changed"))
    assert found[0] == pytest.approx([2.05, 3.95, 2**0.5, 2])
    assert np.isnan(found[1, :3]).all() and found[1, 3] == 0


def test_replays_of_another_version_are_named_with_what_to_do(tmp_path):
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        con.execute("drop view budget_pairs")
        with pytest.raises(AuditError, match=r"budget_pairs.*run 'budget-audit replay' again"):
            engine.table(con, "cost_comparisons")
        assert engine.table(con, "main").num_rows


def test_a_search_that_was_interrupted_leaves_nothing_to_the_next(tmp_path):
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        expected = engine.table(con, "matched_cost")
        # What it reads is there as if it had been made from other replays.
        con.execute("create temp table matching_targets as from matching_targets limit 0")
        assert engine.table(con, "matched_cost").equals(expected)
