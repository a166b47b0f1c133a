"""`replay --orders auto`, as a user asks for it: by the command, from Python, on a connection."""

import pytest

import audit
from audit.engine import enough
from audit.engine.enough import _describe_orders
from audit.errors import AuditError
from tests.support.archives import attempt, write_parquet
from tests.support.command import read_streams
from tests.support.databases import small_database

ASKED = ("replay", "--db", "small.duckdb", "--orders", "auto", "--replicates", 30)


@pytest.fixture(autouse=True)
def few_orders(monkeypatch):
    """Try few orders: what the command says beforehand is read elsewhere."""
    monkeypatch.setattr(enough, "FIRST_ORDERS", 2)
    monkeypatch.setattr(enough, "MOST_ORDERS", 4)


@pytest.fixture
def path(tmp_path):
    """A labelled database that was replayed with three orders."""
    with small_database(tmp_path):
        pass
    return tmp_path / "small.duckdb"


def loaded(folder, rows):
    write_parquet(rows, folder / "rows.parquet")
    audit.load(folder / "small.duckdb", folder / "rows.parquet", force=True)
    return folder / "small.duckdb"


def orders(path):
    (row,) = audit.query(path, "select value from settings where key = 'orders'").to_pylist()
    return row["value"]


def test_the_command_finds_how_many_orders_are_enough(path):
    _, notes = read_streams(path.parent, *ASKED)
    assert "--orders auto: 20 orders, then twice as many each time" in notes
    assert "--orders auto: 4 orders, the most that are tried" in notes
    assert orders(path) == "4" and audit.table(path, "main").to_pylist()


def test_orders_are_doubled_from_one_try_to_the_next_and_two_replicates_will_do(path, monkeypatch):
    tried, replay = [], enough.replay

    def replayed(con, asked, **more):
        tried.append(asked["orders"])
        return replay(con, asked, **more)

    monkeypatch.setattr(enough, "replay", replayed)
    monkeypatch.setattr(enough, "MOST_ORDERS", 8)
    audit.replay(path, orders="auto", replicates=2)
    assert tried == [2, 4, 8]


def test_without_labels_it_is_refused_and_nothing_changes(tmp_path):
    path = loaded(tmp_path, [attempt(seed, 10, "4", correct=None) for seed in range(4)])
    audit.replay(path, orders=3, replicates=30)
    before = path.read_bytes()
    _, error = read_streams(tmp_path, *ASKED, status=2)
    assert "it needs an archive with labels" in error and path.read_bytes() == before
    with pytest.raises(AuditError, match="needs an archive with labels"):
        audit.replay(path, orders="auto")
    assert path.read_bytes() == before and orders(path) == "3"


def test_one_attempt_of_one_problem_has_no_noise(tmp_path):
    path = loaded(tmp_path, [attempt(0, 10, "4", correct=True)])
    _, notes = read_streams(tmp_path, *ASKED)
    assert "no budget has problem noise to compare with" in notes and orders(path) == "2"


def test_as_many_orders_as_are_needed_are_enough():
    assert _describe_orders(8, [3, 8]).endswith("at most a tenth of problem noise at every budget")
    assert "1 of 2 budgets need more, up to 9" in _describe_orders(8, [3, 9])
