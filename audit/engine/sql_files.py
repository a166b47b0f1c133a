"""Find the SQL files, and read their text and headers."""

import functools
import hashlib
import itertools
import re
from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError

# Statistics of a column in a file of `sql/intervals`: ends of intervals, the standard error, and
# the percentage of replicates in which it changed or is true.
STATISTICS = ("low", "high", "test_low", "test_high", "error", "changed", "share")


@functools.cache
def find_folder(folder: str) -> Path:
    """Return the path of the folder `sql` or `queries`, in the package or in a checkout."""
    here = Path(__file__).resolve().parent.parent
    inside = here / folder
    return inside if inside.is_dir() else here.parent / folder


@functools.cache
def _map_files() -> dict[str, str]:
    """List the SQL files: path below `sql` by stem."""
    root = find_folder("sql")
    return {path.stem: path.relative_to(root).as_posix() for path in sorted(root.rglob("*.sql"))}


def find_file(name: str) -> str:
    """Return the path of a stage, rule, selector or table below `sql`."""
    return _map_files()[name]


def list_files() -> list[str]:
    """Return the sorted names that `budget-audit sql` takes."""
    return sorted(_map_files())


@functools.cache
def digest_sql() -> str:
    """Return a digest of all files of `sql`, to recognize replays of another version."""
    digest = hashlib.sha256()
    for path in sorted(find_folder("sql").rglob("*.*")):
        if path.suffix in (".sql", ".jinja", ".csv"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def list_tables() -> list[str]:
    """Return the sorted names that `budget-audit table` takes."""
    return list(_list_stems(find_folder("sql") / "tables"))


@functools.cache
def _list_stems(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.sql")))


@functools.cache
def read_sql(name: str) -> str:
    """Read a SQL file by its name, unrendered and without the last line break."""
    path = find_folder("sql") / find_file(name)
    return path.read_text(encoding="utf-8").removesuffix("\n")


@functools.cache
def read_header(name: str) -> dict[str, str]:
    """Parse the header of a SQL file: lines `-- word: text`; under its own name, what a row means.

    A line indented by four more blanks continues the one before.
    """
    lines = itertools.takewhile(lambda line: line.startswith("-- "), read_sql(name).split("\n"))
    sentences = "\n".join(lines).replace("\n--     ", " ")
    return dict(re.findall(r"^-- (\w+): (.+)$", sentences, re.MULTILINE))


def read_header_line(name: str, word: str) -> str:
    """Return the text of a word in the header of a SQL file; refuse a file without it."""
    if word not in read_header(name):
        raise AuditError(f"sql/{find_file(name)}: its header lacks the line '-- {word}: …'")
    return read_header(name)[word]


def describe_table(name: str) -> str:
    """Return what a row of a table means, from its header."""
    return read_header_line(name, name)


class Weighing(NamedTuple):
    """The totals that the bootstrap resamples, from the header of a file in `sql/intervals/`."""

    # The name of the replicates in the select of the file.
    replicate: str
    # A relation of per-problem totals with problem_id and replays, equal for all problems of a
    # key, and which of its rows.
    totals: str
    keys: tuple[str, ...]
    values: tuple[str, ...]


def read_weighing(name: str) -> Weighing | None:
    """Return the totals that the bootstrap of an `interval_x` resamples, or None if it has none.

    A line `-- of:` names another file to take the totals from.
    """
    source = read_header(name).get("of", name)
    if "totals" not in read_header(source):
        return None
    keys, values = (
        split_names(read_header_line(source, "grain")),
        split_names(read_header_line(source, "values")),
    )
    replicate = source.replace("interval_", "replicate_", 1)
    return Weighing(replicate, read_header(source)["totals"], keys, values)


@functools.cache
def list_interval_files() -> list[str]:
    """Return the sorted names of the files of `sql/intervals`."""
    return sorted(path.stem for path in (find_folder("sql") / "intervals").glob("*.sql"))


def read_statistics(name: str) -> dict[str, tuple[str, ...]]:
    """Return the statistics by column in the header of a file of `sql/intervals`."""
    asked = (
        read_header(name).get("intervals", "").split(";") if name in list_interval_files() else ()
    )
    statistics = {words[0]: tuple(words[1:]) for entry in asked if (words := entry.split())}
    for word in (word for words in statistics.values() for word in words if word not in STATISTICS):
        raise AuditError(
            f"sql/{find_file(name)}: '-- intervals:' has no {word!r}; there are "
            f"{', '.join(STATISTICS)}"
        )
    return statistics


def split_names(text: str) -> tuple[str, ...]:
    """Split a header line at its commas."""
    return tuple(text.split(", "))
