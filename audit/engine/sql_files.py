"""The SQL files: where they are, what they are called, and how they are rendered."""

import functools
import hashlib
import itertools
import re
from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError

# What a file of `sql/intervals` may ask of a column: ends of intervals, how replicates differ, and
# in what percent of them it is true.
STATISTICS = ("low", "high", "test_low", "test_high", "error", "changed", "share")


@functools.cache
def resource(folder: str) -> Path:
    """Return the folder `sql` or `queries`, of the installed package or of a checkout."""
    here = Path(__file__).resolve().parent.parent
    inside = here / folder
    return inside if inside.is_dir() else here.parent / folder


@functools.cache
def _stage_files() -> dict[str, str]:
    """Return every name that has SQL, and its file; the stem is the name."""
    root = resource("sql")
    return {path.stem: path.relative_to(root).as_posix() for path in sorted(root.rglob("*.sql"))}


def stage_file(name: str) -> str:
    """Return the file of a stage, rule, selector or table, below `sql`."""
    return _stage_files()[name]


def stage_names() -> list[str]:
    """Return the names `budget-audit sql` takes."""
    return sorted(_stage_files())


@functools.cache
def sql_digest() -> str:
    """Return a digest of every file of `sql`: replays of another one may lack what ours read."""
    digest = hashlib.sha256()
    for path in sorted(resource("sql").rglob("*.*")):
        if path.suffix in (".sql", ".jinja", ".csv"):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def table_names() -> list[str]:
    """Return the tables `budget-audit table` takes."""
    return list(_stems(resource("sql") / "tables"))


@functools.cache
def _stems(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.sql")))


@functools.cache
def text(name: str) -> str:
    """Return what a file says, without its last line break; a template is not yet rendered."""
    path = resource("sql") / stage_file(name)
    return path.read_text(encoding="utf-8").removesuffix("\n")


@functools.cache
def header(name: str) -> dict[str, str]:
    """Return the header of a file, `-- word: text` by word; its own name is what a row means.

    A sentence goes on in the next line where that is indented by four blanks more.
    """
    lines = itertools.takewhile(lambda line: line.startswith("-- "), text(name).split("\n"))
    sentences = "\n".join(lines).replace("\n--     ", " ")
    return dict(re.findall(r"^-- (\w+): (.+)$", sentences, re.MULTILINE))


def said(name: str, word: str) -> str:
    """Return a line that the header of a file must have."""
    if word not in header(name):
        raise AuditError(f"sql/{stage_file(name)}: its header lacks the line '-- {word}: …'")
    return header(name)[word]


def table_purpose(name: str) -> str:
    """Return what a row of a table means."""
    return said(name, name)


class Weighing(NamedTuple):
    """What replicates are made of, said in the header of `sql/intervals/interval_x.sql`."""

    # What the select of the file calls them.
    replicate: str
    # A relation of per-problem totals with problem_id and replays, equal for all problems of a
    # key, and which of its rows.
    totals: str
    keys: tuple[str, ...]
    values: tuple[str, ...]


def weighing(name: str) -> Weighing | None:
    """Return the totals that the bootstrap of an `interval_x` resamples, or None if it has none.

    It may take the totals of another one, which `-- of:` names.
    """
    source = header(name).get("of", name)
    if "totals" not in header(source):
        return None
    keys, values = names_in(said(source, "grain")), names_in(said(source, "values"))
    replicate = source.replace("interval_", "replicate_", 1)
    return Weighing(replicate, header(source)["totals"], keys, values)


@functools.cache
def interval_names() -> list[str]:
    """Return what is computed from replicates: the files of `sql/intervals`."""
    return sorted(path.stem for path in (resource("sql") / "intervals").glob("*.sql"))


def interval_statistics(name: str) -> dict[str, tuple[str, ...]]:
    """Return the statistics that a file of `sql/intervals` asks for in its header."""
    asked = header(name).get("intervals", "").split(";") if name in interval_names() else ()
    statistics = {words[0]: tuple(words[1:]) for entry in asked if (words := entry.split())}
    for word in (word for words in statistics.values() for word in words if word not in STATISTICS):
        raise AuditError(
            f"sql/{stage_file(name)}: '-- intervals:' has no {word!r}; there are "
            f"{', '.join(STATISTICS)}"
        )
    return statistics


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of a header line, which commas separate."""
    return tuple(text.split(", "))
