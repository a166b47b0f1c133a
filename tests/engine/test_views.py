"""The views of a replay: made once for a version and its plug-ins, and copied from then on."""

import sys

import pytest

from tests.support.archives import attempt
from tests.support.databases import replayed
from tests.support.plugins import GRACE

ROWS = [attempt(seed, 5 + 3 * seed, str(seed % 2), correct=seed % 2 == 1) for seed in range(7)]
CATALOGUE = """
    select table_name, column_name, data_type, comment
    from duckdb_columns()
    where database_name = current_database()
    order by all
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder for views that no replay has made yet."""
    folder = tmp_path / "made" / "views"
    for module in ("audit.database.connection", "audit.engine.views"):
        monkeypatch.setattr(sys.modules[module], "COMPILED", folder)
    return folder


def seen(tmp_path, name, **settings):
    """What a replay in a new database leaves: columns and comments, and the rows of a view."""
    with replayed(tmp_path, ROWS, name, **settings) as con:
        main = con.sql("from main order by all").fetchall()
        return con.sql(CATALOGUE).fetchall(), main


def test_views_are_kept_and_copied(tmp_path, folder):
    first = seen(tmp_path, "first")
    assert first[1] and any(comment for *_, comment in first[0])
    (kept,) = folder.glob("*.duckdb")
    written = kept.stat().st_mtime_ns
    assert seen(tmp_path, "second") == first
    assert kept.stat().st_mtime_ns == written
    seen(tmp_path, "third", policies="all")
    assert len([*folder.glob("*.duckdb")]) == 2


def test_views_of_a_users_own_plug_ins_are_not_kept(tmp_path, folder):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "grace.sql").write_text(GRACE)
    assert seen(tmp_path, "own", rules=tmp_path / "rules")[1]
    assert not folder.exists()


def test_a_replay_does_without_a_file_that_it_cannot_read_or_write(tmp_path, folder):
    expected = seen(tmp_path, "first")
    (kept,) = folder.glob("*.duckdb")
    kept.write_bytes(b"no database")
    assert seen(tmp_path, "broken") == expected
    kept.unlink()
    folder.rmdir()
    folder.write_bytes(b"no folder")
    assert seen(tmp_path, "nowhere") == expected


def test_only_the_newest_files_are_kept(tmp_path, folder, monkeypatch):
    monkeypatch.setattr(sys.modules["audit.engine.views"], "MOST_KEPT", 1)
    for policies in ("all", "none"):
        seen(tmp_path, policies, policies=policies)
    assert len([*folder.glob("*.duckdb")]) == 1
