"""Databases that several tests of the report share; none of them changes one."""

import pytest

from audit import database, engine
from audit.load.load import load
from audit.report import build, report
from audit.study.simulate import simulate
from tests.support.databases import remember, replayed, tables_of
from tests.support.hostile import hostile_rows


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """A database whose text tries to break out, and its report in every format."""
    folder = tmp_path_factory.mktemp("hostile")
    with replayed(folder, hostile_rows(), budgets=(10, 20, 45, 2000)) as con:
        report(con, folder / "report", build.FORMATS)
        yield con, folder / "report"


@pytest.fixture(scope="session")
def hostile_tables(hostile):
    """Its tables by name."""
    return tables_of(hostile[0], engine.list_tables())


@pytest.fixture
def remembered(hostile_tables, monkeypatch):
    """Its tables are there already, for tests of what a report makes of them."""
    remember(monkeypatch, hostile_tables)


@pytest.fixture(scope="session")
def simulated(tmp_path_factory):
    """A simulated database, replayed with few resamples."""
    folder = tmp_path_factory.mktemp("simulated")
    con = database.connect(folder / "audit.duckdb")
    load(con, [str(path) for path in simulate(folder, problems=3, attempts=12)])
    engine.replay(con, orders=4, replicates=50)
    yield con
    con.close()
