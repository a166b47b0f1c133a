"""The commands as functions, and arrays for the scorio library."""

import random
import subprocess
import sys

import numpy
import pyarrow
import pytest

import audit
from audit import engine
from audit.errors import AuditError
from tests.support.archives import attempt, random_archive, write_parquet
from tests.support.databases import SMALL, replayed


@pytest.fixture
def archive(tmp_path):
    write_parquet(random_archive(random.Random(10)), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


def test_the_functions_are_the_commands(archive, tmp_path):
    db = tmp_path / "a.duckdb"
    loaded = audit.load(db, archive)
    assert loaded.column_names == ["archive", "attempts", "problems"]
    settings = audit.replay(db, **SMALL)
    assert ("orders", "3") in zip(*settings.to_pydict().values(), strict=True)
    main = audit.table(db, "main")
    counted = audit.query(db, "select archive, count(*) as attempts from attempts group by all")
    for result in (loaded, settings, main, counted):
        assert isinstance(result, pyarrow.Table) and result.num_rows > 0
    assert sorted(counted["attempts"].to_pylist()) == sorted(loaded["attempts"].to_pylist())
    with audit.connect(db, read_only=True) as con:
        assert engine.table(con, "main") == main


def test_a_connection_serves_as_well_as_a_path_and_stays_open(archive, tmp_path):
    with audit.connect(tmp_path / "a.duckdb") as con:
        audit.load(con, [archive])
        audit.replay(con, **SMALL)
        assert audit.table(con, "main").num_rows > 0
        assert con.execute("select count(*) > 0 from attempts").fetchall() == [(True,)]
    with audit.connect(tmp_path / "a.duckdb", read_only=True) as con:
        assert audit.query(con, "select 1 as one").to_pylist() == [{"one": 1}]


def test_prices_come_with_a_table(archive, tmp_path):
    db = tmp_path / "a.duckdb"
    audit.load(db, archive)
    audit.replay(db, **SMALL)
    assert "advisory_price" in audit.table(db, "main", price_input=1, price_output=2).column_names
    with pytest.raises(AuditError, match="give both"):
        audit.table(db, "main", price_output=2)


def test_a_refused_load_leaves_no_file(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    for db, sources in ((tmp_path / "a.duckdb", tmp_path / "bad.csv"), (tmp_path / "b.duckdb", [])):
        with pytest.raises(AuditError):
            audit.load(db, sources)
        assert not db.exists()
    with pytest.raises(AuditError, match="no such database"):
        audit.table(tmp_path / "missing.duckdb", "main")


def test_importing_the_package_loads_no_engine():
    heavy = "{'duckdb', 'pyarrow', 'numpy', 'jinja2'} & set(sys.modules)"
    code = f"import sys, audit; assert not {heavy}; audit.table; assert {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = audit.nothing


def equal_banks(seed):
    rows = random_archive(random.Random(seed), ragged=False, attempts=7, archives=2)
    # Votes beyond the budget are no test of a majority: everything is returned.
    settings = {"budgets": (10**6,), "caps": (50,), "primary_cap": 50, "orders": 2}
    return rows, settings


def test_arrays_hold_labels_and_eligible_answers_in_canonical_order(tmp_path):
    rows = [
        attempt(5, 10, "7", correct=True),
        attempt(1, 10, "07", correct=True, finish="length"),
        attempt(3, 10, "9"),
        attempt(2, 10, "1", question=4),
        attempt(9, 10, None, question=4),
        attempt(4, 10, "2", question=4, correct=True),
    ]
    with replayed(tmp_path, rows) as con:
        arrays = audit.to_scorio(con)["a"]
    assert arrays.problems == [("C", 0), ("C", 4)]
    assert arrays.outcomes.tolist() == [[1, 0, 1], [0, 1, 0]]
    assert arrays.outcomes.dtype == numpy.int64
    assert arrays.answers.tolist() == [[None, "9", "7"], ["1", "2", None]]
    assert arrays.answers.shape == (2, 3) and arrays.answers.dtype == object


def test_ragged_banks_are_refused_unless_cut(tmp_path):
    rows = [attempt(seed, 10, "7") for seed in range(5)]
    rows += [attempt(seed, 10, "8", question=1) for seed in range(3)]
    with replayed(tmp_path, rows) as con:
        with pytest.raises(AuditError, match=r"archive a: .* 3 to 5 attempts.*attempts=3"):
            audit.to_scorio(con)
        with pytest.raises(AuditError, match="attempts=3"):
            audit.to_scorio(con, attempts=4)
        assert audit.to_scorio(con, attempts=3)["a"].outcomes.shape == (2, 3)


@pytest.mark.parametrize("seed", range(6))
def test_our_majority_is_scorios_on_every_pool(tmp_path, seed):
    aggregate = pytest.importorskip("scorio.aggregate")
    rows, settings = equal_banks(seed)
    compared = 0
    with replayed(tmp_path, rows, **settings) as con:
        for archive, arrays in audit.to_scorio(con).items():
            for size in range(1, arrays.answers.shape[1] + 1):
                answers, index = aggregate.majority_vote(
                    arrays.answers[:, :size], return_index=True
                )
                ours = con.execute(
                    """
                    select candidates.answer, coalesce(chosen.position, 0) - 1
                    from prefix_selections
                    inner join used_selectors using (selector_id)
                    inner join walked_attempts using (prefix_id)
                    inner join bank_orders using (walk_id)
                    inner join banks on banks.bank_id = bank_orders.bank_id
                    inner join archives using (archive_id)
                    left join walked_attempts as chosen on selected_prefix_id = chosen.prefix_id
                    left join candidates
                        on chosen.bank_id = candidates.bank_id and chosen.slot = candidates.slot
                    where selector = 'majority' and bank_orders.repeat = 0
                        and archive = ? and walked_attempts.position = ?
                    order by problem_id
                    """,
                    [archive, size],
                ).fetchall()
                assert ours == list(zip(answers, index.tolist(), strict=True))
                compared += len(ours)
    assert compared > 0


@pytest.mark.parametrize("seed", range(3))
def test_the_label_half_definition_is_scorios_maj_at_k(tmp_path, seed):
    evaluation = pytest.importorskip("scorio.eval")
    rows, settings = equal_banks(20 + seed)
    with replayed(tmp_path, rows, **settings) as con:
        found = {
            row["archive"]: row["strict_accuracy"]
            for row in audit.table(con, "majority_rules").to_pylist()
            if row["definition"] == "label_half"
        }
        for archive, arrays in audit.to_scorio(con).items():
            expected = evaluation.maj_at_k(arrays.outcomes, arrays.outcomes.shape[1])
            assert found[archive] == pytest.approx(100 * expected)
