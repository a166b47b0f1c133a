"""Memory that is allowed is kept, however many problems there are."""

import pytest

from tests.bench.apart import apart
from tests.bench.sizes import step, write_archives

ALLOWED = 800


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 12_000, 1), (150, 10, 4)], ids=["problems", "archives"])
def test_every_command_keeps_within_its_memory(tmp_path, shape):
    write_archives(tmp_path / "attempts.parquet", *shape)
    for name in ("load", "replay", "table", "export"):
        _, memory = apart(step, tmp_path, name, f"{ALLOWED}MB")
        assert memory < (ALLOWED + 500) * 1e6, name
    assert (tmp_path / "tables" / "curves.csv").exists()
