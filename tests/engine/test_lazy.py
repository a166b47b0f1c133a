"""Lazy relations: the same rows as a view, as a table and as a temporary table."""

import pytest

from audit import database
from audit.database.arrow import create_empty
from audit.database.schema import SCHEMA_VERSION
from audit.engine.lazy import materialize, materialized, views_read

LAZY = ("squares", "sums")


@pytest.fixture
def path(tmp_path):
    """A database with two lazy views, one of which reads the other, and a view of the second."""
    path = tmp_path / "lazy.duckdb"
    with database.connect(path) as con:
        con.execute(
            "create table meta as select 'schema_version' as key, ? as value", [SCHEMA_VERSION]
        )
        con.execute("create table attempts as select range as n from range(5)")
        con.execute("create table replay_relations as select 'sums' as name, 'view' as kind")
        con.execute(
            "create view squares as select n, n * n as square, random() as drawn from attempts"
        )
        con.execute(
            "create view sums with (defer_binding) as "
            "select sum(square) as total, max(drawn) as drawn from squares"
        )
        con.execute("create view shown with (defer_binding) as from sums")
    return path


def test_a_writer_keeps_the_rows_of_lazy_views_as_tables(path):
    with database.connect(path) as con:
        assert views_read(con, ["shown"], LAZY) == ["squares", "sums"]
        assert materialize(con, ["shown"], LAZY) == ["squares", "sums"]
        assert materialize(con, ["shown"], LAZY) == []
        assert con.execute("select kind from replay_relations").fetchall() == [("table",)]
        first = con.execute("from shown").fetchall()
    with database.connect(path, read_only=True) as con:
        assert database.relations(con)["sums"] == "table"
        # What is drawn at random tells a table, which stays, from a view.
        assert con.execute("from shown").fetchall() == first
        assert first[0][0] == 30


def test_a_reader_makes_temporary_tables_that_views_read(path):
    before = path.read_bytes()
    with database.connect(path, read_only=True) as con:
        drawn = {con.execute("from shown").fetchall()[0] for _ in range(3)}
        assert len(drawn) == 3
        with materialized(con, ["shown"], LAZY) as made:
            assert made == ["squares", "sums"]
            assert len({con.execute("from shown").fetchall()[0] for _ in range(3)}) == 1
            with materialized(con, ["shown"], LAZY) as again:
                assert again == []
        assert views_read(con, ["shown"], LAZY) == ["squares", "sums"]
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", ["table", "temp table"])
def test_a_table_made_empty_keeps_more_rows_than_a_row_group(tmp_path, kind):
    # A table that `create table as … limit 0` makes loses them in DuckDB 2.0.0.
    with (
        database.open_database(tmp_path / "large.duckdb", write=True, row_group=2048) as con,
        database.transaction(con),
    ):
        con.execute("create table counted as select range as n, 'n' || range as name from range(9)")
        create_empty(con, kind, "kept", "from counted")
        con.execute("insert into kept select range, 'n' || range from range(300_000)")
        assert con.execute("select count(*), count(name) from kept").fetchall() == [(300_000,) * 2]
