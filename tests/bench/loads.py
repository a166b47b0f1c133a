"""Loading full-length texts beside bare pyarrow reading the same columns, each in a process."""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from audit import database
from audit.load import load as tool
from tests.bench.apart import apart
from tests.bench.harness import Asked, Line, alternate, ratios, timed
from tests.bench.yardsticks import bare_arrow
from tests.bench.yardsticks.bare_arrow import Seen

GIB = 2**30
SEEN = """
    select
        (select count(*) from attempts),
        (select sum(completion_tokens)::bigint from attempts),
        (select coalesce(sum(strlen(text)), 0)::bigint from texts)
"""


def load(asked: Asked) -> list[Line]:
    """Load with the texts: time, memory, and the size of the database."""
    files = [str(file) for file in asked.archives("full")]
    peaks: list[int] = []
    sizes: list[int] = []

    def ours() -> tuple[float, Seen]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "bench.duckdb"
            (spent, _), peak = apart(timed, fill, path, files)
            peaks.append(peak)
            sizes.append(path.stat().st_size)
            with database.opened(path) as con:
                return spent, Seen(*con.execute(SEEN).fetchall()[0])

    sides: dict[str, Callable[[], tuple[float, Any]]] = {
        "budget-audit": ours,
        "pyarrow": lambda: apart(timed, bare_arrow.read, files)[0],
    }
    seconds = alternate(sides, asked.rounds(3), check_seen)
    parquet = sum(Path(file).stat().st_size for file in files)
    what = "full texts stored, seconds: budget-audit / pyarrow"
    return [
        Line("load", what, ratios(*seconds.values()), seconds=seconds),
        Line("load", "GiB resident", [peak / GIB for peak in peaks], unit=" GiB"),
        Line("load", "database / Parquet, bytes", [size / parquet for size in sizes]),
    ]


def fill(path: Path, files: list[str]) -> None:
    """Load the files into a new database."""
    with database.opened(path, write=True, row_group=database.LOADED_ROW_GROUP) as con:
        tool.load(con, files)


def check_seen(name: str, found: Seen, expected: Seen) -> None:
    """Require that both sides have read the same rows."""
    assert found == expected, f"{name} has read {found}, not {expected}"
