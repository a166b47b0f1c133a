"""The bootstrap: totals weighed by counts, in pieces of any size."""

import random
from collections import defaultdict

import pyarrow as pa
import pytest

from audit import engine
from audit.engine import bootstrap, draws, matching, tables
from tests.support.archives import attempt, random_archive
from tests.support.databases import replayed

SETTINGS = {"replicates": 23, "policies": "all", "curve_points": 6}
WEIGHING = [
    name
    for name in engine.table_names()
    if engine.relations_read(engine.render(name)) & {*bootstrap.WEIGHED, *matching.MATCHED}
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
    with replayed(tmp_path / "pieces", rows(), **SETTINGS) as con:
        for at_a_time in (1, 60, 700):
            monkeypatch.setattr(tables, "ROWS_AT_A_TIME", at_a_time)
            for name, table in all_tables(con).items():
                assert table.equals(whole[name]), (name, at_a_time)


@pytest.mark.parametrize("name", sorted(set(bootstrap.WEIGHED) - {"replicate_curves"}))
def test_a_weighed_relation_is_a_join_with_the_counts(tmp_path, name):
    totals, keys, values, _ = bootstrap.WEIGHED[name]
    with replayed(tmp_path, rows(), **SETTINGS) as con:
        weighed = bootstrap.weigh(con, [name])[name].to_pylist()
        problems = con.sql(f"from {totals}").to_arrow_table().to_pylist()
        counts = con.execute("select replicate, first_problem, counts from weights").fetchall()
    drawn = {
        (replicate, first + n): count
        for replicate, first, several in counts
        for n, count in enumerate(several)
    }
    expected: dict[tuple, dict[str, int]] = defaultdict(lambda: defaultdict(int))
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
            named = row["other"] if value == "other_correct" else row["archive"]
            if is_label and named in ungraded:
                assert row[value] is None
            else:
                assert row[value] == cells[value], (value, row)


def test_a_replicate_that_draws_none_of_an_archive_has_no_row(tmp_path):
    shared = [attempt(seed, 5, "4", archive="a", question=q) for seed in range(2) for q in range(4)]
    alone = [attempt(seed, 5, "4", archive="b", question=0) for seed in range(2)]
    with replayed(tmp_path, shared + alone, replicates=50) as con:
        weighed = bootstrap.weigh(con, ["replicate_gains"])["replicate_gains"].to_pylist()
        drawn = con.execute("select replicate from weights where counts[1] > 0").fetchall()
    found = {row["replicate"] for row in weighed if row["archive"] == "b"}
    assert found == {replicate for (replicate,) in drawn}
    assert 1 < len(found) < 51
