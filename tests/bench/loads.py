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
    """With the texts: time, memory, and the size of the database."""
    seconds, peaks, sizes = measure(asked, texts=True)
    files = asked.archives("full")
    parquet = sum(file.stat().st_size for file in files)
    notes = {"peak_bytes": peaks, "database_bytes": sizes, "parquet_bytes": parquet}
    return [
        Line(
            "load",
            "full texts stored, seconds: budget-audit / pyarrow",
            ratios(seconds["budget-audit"], seconds["pyarrow"]),
            at_most=3,
            seconds=seconds,
            notes=notes,
        ),
        memory_line("load", peaks),
        Line("load", "database / Parquet, bytes", [size / parquet for size in sizes], at_most=1.3),
    ]


def load_no_texts(asked: Asked) -> list[Line]:
    """Without keeping the texts, which are read all the same: the boxes are in them."""
    seconds, peaks, _ = measure(asked, texts=False)
    ours = seconds["budget-audit"]
    return [
        Line(
            "load_no_texts",
            "--no-texts, seconds: budget-audit / pyarrow with texts",
            ratios(ours, seconds["pyarrow"]),
            at_most=1.5,
            seconds=seconds,
            notes={"peak_bytes": peaks},
        ),
        Line(
            "load_no_texts",
            "--no-texts, seconds: budget-audit / pyarrow without texts",
            ratios(ours, seconds["pyarrow without texts"]),
        ),
        memory_line("load_no_texts", peaks),
    ]


def memory_line(name: str, peaks: list[int]) -> Line:
    """The resident memory of loads."""
    return Line(name, "GiB resident", [peak / GIB for peak in peaks], at_most=1.5, unit=" GiB")


def measure(asked: Asked, texts: bool) -> tuple[dict[str, list[float]], list[int], list[int]]:
    """The seconds of all sides, and our peaks of memory and sizes on disk."""
    files = [str(file) for file in asked.archives("full")]
    peaks: list[int] = []
    sizes: list[int] = []

    def ours() -> tuple[float, Seen]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "bench.duckdb"
            (spent, _), peak = apart(timed, fill, path, files, texts)
            peaks.append(peak)
            sizes.append(path.stat().st_size)
            with database.opened(path) as con:
                seen = Seen(*con.execute(SEEN).fetchall()[0])
        return spent, seen if texts else seen._replace(text_bytes=-1)

    def bare(with_texts: bool) -> tuple[float, Seen]:
        (spent, seen), _ = apart(timed, bare_arrow.read, files, with_texts)
        return spent, seen if texts else seen._replace(text_bytes=-1)

    sides: dict[str, Callable[[], tuple[float, Any]]] = {
        "budget-audit": ours,
        "pyarrow": lambda: bare(True),
    }
    if not texts:
        sides["pyarrow without texts"] = lambda: bare(False)
    return alternate(sides, asked.rounds(3), check_seen), peaks, sizes


def fill(path: Path, files: list[str], texts: bool) -> None:
    """Load the files into a new database."""
    with database.opened(path, write=True, row_group=database.LOADED_ROW_GROUP) as con:
        tool.load(con, files, texts=texts)


def check_seen(name: str, found: Seen, expected: Seen) -> None:
    """Both sides have read the same rows."""
    assert found == expected, f"{name} has read {found}, not {expected}"
