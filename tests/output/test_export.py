"""What an export without names writes, and what it leaves out."""

import pytest

from audit import api
from audit.output import export
from tests.support.archives import attempt
from tests.support.databases import replayed


@pytest.mark.slow
def test_pairs_of_many_archives_are_exported_by_name_only(tmp_path, monkeypatch):
    rows = [attempt(0, 5, "4", archive=archive) for archive in "abc"]
    monkeypatch.setattr(export, "MOST_PAIRED_UNNAMED", 2)
    with replayed(tmp_path, rows) as con:
        done = api.export(con, tmp_path / "all")
        assert "archive_comparisons is left out: 3 archives make 3 pairs; name it to have it" in (
            str(done.notes)
        )
        assert "power is left out: 3 archives make 3 pairs" in str(done.notes)
        assert not (tmp_path / "all" / "archive_comparisons.csv").exists()
        assert not (tmp_path / "all" / "power.csv").exists()
        assert (tmp_path / "all" / "main.csv").exists()
        api.export(con, tmp_path / "named", ["archive_comparisons"])
        lines = (tmp_path / "named" / "archive_comparisons.csv").read_text().splitlines()
    assert {line.split(",")[0] + line.split(",")[1] for line in lines[1:]} == {"ab", "ac", "bc"}
