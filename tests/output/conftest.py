"""Tables of a small database, made once for the tests of how they are printed."""

import pytest

from audit import engine
from tests.support.databases import small_database, tables_of


@pytest.fixture(scope="module")
def small_tables(tmp_path_factory):
    with small_database(tmp_path_factory.mktemp("tables"), policies="all") as con:
        names = [
            name for name in engine.list_tables() if not engine.count_waiting_events(con, name)
        ]
        yield tables_of(con, names)
