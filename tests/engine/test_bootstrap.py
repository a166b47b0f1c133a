"""The bootstrap: totals weighed by counts, in pieces of any size."""

import random
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest

from audit import engine
from audit.engine import bootstrap, draws, matching
from audit.engine.intervals import intervals, intervals_read
from audit.engine.sql_files import interval_names, weighings
from audit.errors import AuditError
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


@pytest.mark.slow
@pytest.mark.parametrize("at_a_time", [1, 7, 60])
def test_tables_in_pieces_of_any_size_are_the_same(con, tmp_path, monkeypatch, at_a_time):
    whole = tables_of(con, WEIGHING)
    assert set(WEIGHING) > {"main", "curves", "budget_curve", "matched_cost", "policies"}
    assert all(table.num_rows for table in whole.values())
    monkeypatch.setattr(draws, "PROBLEMS_IN_ROW", 2)
    monkeypatch.setattr(draws, "BATCH_COUNTS", 7)
    monkeypatch.setattr(bootstrap, "COUNTS_AT_A_TIME", 31)
    monkeypatch.setattr(matching, "CELLS", 11)
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        monkeypatch.setattr(bootstrap, "ROWS_AT_A_TIME", 24 * at_a_time)
        monkeypatch.setattr(bootstrap, "TOTALS_AT_A_TIME", 3 * at_a_time)
        monkeypatch.setattr(bootstrap, "SUMS_AT_A_TIME", 50 * at_a_time)
        for name, table in tables_of(con, WEIGHING).items():
            # Chances are no whole numbers: their sums depend on the order.
            cells = zip(table.to_pylist(), whole[name].to_pylist(), strict=True)
            is_close = name == "at_k" and all(
                list(a.values())[1:] == pytest.approx(list(b.values())[1:], rel=1e-12)
                for a, b in cells
            )
            assert is_close or table.equals(whole[name]), name
        # A table that is asked for alone makes its own intervals.
        assert engine.table(con, "matched_cost").equals(whole["matched_cost"])


@pytest.mark.parametrize("name", interval_names())
def test_the_view_of_an_interval_is_what_tables_read(con, name):
    keys = engine.header(name)["grain"]
    seen = con.sql(f"from {name} order by {keys}").to_arrow_table()
    con.register("made", intervals(con, [name])[name])
    made = con.sql(f"from made order by {keys}").to_arrow_table()
    assert seen.num_rows > 0
    assert seen.column_names == made.column_names
    for column in seen.column_names:
        for one, other in zip(seen[column].to_pylist(), made[column].to_pylist(), strict=True):
            # Sums of what is no whole number depend on the order.
            is_number = isinstance(one, float) and other is not None
            assert one == other or (
                is_number and other == pytest.approx(one, rel=1e-12, abs=1e-12)
            ), column


@pytest.mark.parametrize("name", sorted(weighings()))
def test_a_weighed_relation_is_a_join_with_the_counts(con, name):
    totals, keys, values, _ = weighings()[name]
    weighed = con.sql(f"from {name}").to_arrow_table().to_pylist()
    problems = con.sql(f"from {totals}").to_arrow_table().to_pylist()
    drawn = con.sql("select replicate, problem_id, draws from problem_draws").fetchall()
    drawn = {(replicate, problem): count for replicate, problem, count in drawn}
    expected: dict[tuple, dict] = defaultdict(lambda: defaultdict(int))
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
            if is_label and named & ungraded:
                assert row[value] is None
            else:
                # Sums of money are decimals, which have no relative tolerance.
                expected_cell = pytest.approx(float(cells[value]), rel=1e-12)
                assert float(row[value]) == expected_cell, (value, row)


def test_a_replicate_that_draws_none_of_an_archive_has_no_row(tmp_path):
    shared = [attempt(seed, 5, "4", archive="a", question=q) for seed in range(2) for q in range(4)]
    alone = [attempt(seed, 5, "4", archive="b", question=0) for seed in range(2)]
    with replayed(tmp_path, shared + alone, replicates=50) as con:
        weighed = con.sql("select replicate from replicate_gains where archive = 'b'").fetchall()
        drawn = con.execute("select replicate from bootstrap_counts where counts[1] > 0").fetchall()
    assert set(weighed) == set(drawn)
    assert 1 < len(set(weighed)) < 51


def test_a_matched_budget_is_the_one_that_its_sql_finds(con, monkeypatch):
    monkeypatch.setattr(matching, "CELLS", 40)
    solved = pa.concat_tables(matching.match(con, bootstrap.Counts(con)))
    con.register("solved", solved)
    columns = ", ".join(solved.column_names)
    order = "order by archive, advisory_budget, replicate"
    found = con.sql(f"select {columns} from solved {order}").fetchall()
    assert len(found) > 100
    assert found == con.sql(f"select {columns} from replicate_matches {order}").fetchall()


def test_ends_lie_on_straight_lines_between_neighbours_and_errors_are_standard_deviations(con):
    keys = "archive, budget"
    deltas = con.sql(
        f"select {keys}, list(100 * gained / replays) from replicate_gains "
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
        con.execute("update problem_scores set correct = (rule = 'advisory')::integer")
        seen = con.sql("from interval_gains").to_arrow_table()
        made = intervals(con, ["interval_gains"])["interval_gains"]
        for (row,) in (seen.to_pylist(), made.to_pylist()):
            assert row["delta_error"] == 0
            assert {row[name] for name in ("delta", "delta_low", "delta_high")} == {100 / 3}


def test_a_single_replicate_has_no_error(tmp_path):
    with replayed(tmp_path, rows(), **(SETTINGS | {"replicates": 1})) as con:
        assert {
            error for (error,) in con.sql("select delta_error from interval_gains").fetchall()
        } == {None}


def test_replays_of_another_version_are_named_with_what_to_do(tmp_path):
    with small_database(tmp_path) as con:
        con.execute("drop view budget_pairs")
        with pytest.raises(AuditError, match=r"budget_pairs.*run 'budget-audit replay' again"):
            engine.table(con, "cost_comparisons")
        assert engine.table(con, "main").num_rows
