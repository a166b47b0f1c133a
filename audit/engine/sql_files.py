"""The SQL files: where they are, what they are called, and how they are rendered."""

import functools
import itertools
import re
from pathlib import Path
from typing import NamedTuple

from audit.errors import AuditError

# What has no file of its own, by how its name begins.
TEMPLATES = {"replicate": "bootstrap/replicates.jinja"}
# What a file of `sql/intervals` may ask of a column: ends of intervals, how replicates differ, and
# in what percent of them it is true.
STATISTICS = ("low", "high", "test_low", "test_high", "error", "changed", "share")


@functools.cache
def resource(folder: str) -> Path:
    """The folder `sql` or `queries`: inside the installed package, or beside it in a checkout."""
    here = Path(__file__).resolve().parent.parent
    inside = here / folder
    return inside if inside.is_dir() else here.parent / folder


@functools.cache
def _stage_files() -> dict[str, str]:
    """Every name that has SQL, and its file; the stem is the name."""
    root = resource("sql")
    return {path.stem: path.relative_to(root).as_posix() for path in sorted(root.rglob("*.sql"))}


def stage_file(name: str) -> str:
    """The file of a stage, rule, selector or table, below `sql`."""
    return _stage_files().get(name) or TEMPLATES[name.partition("_")[0]]


def stage_names() -> list[str]:
    """The names `budget-audit sql` takes."""
    return sorted({*_stage_files(), *weighings()})


def table_names() -> list[str]:
    """The tables `budget-audit table` takes."""
    return list(_stems(resource("sql") / "tables"))


def exploratory_names() -> list[str]:
    """Tables beyond the study: made only when asked for by name."""
    return list(_stems(resource("sql") / "exploratory"))


@functools.cache
def _stems(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.sql")))


@functools.cache
def text(name: str) -> str:
    """What a file says, without its last line break; a template is not yet rendered."""
    path = resource("sql") / stage_file(name)
    return path.read_text(encoding="utf-8").removesuffix("\n")


@functools.cache
def header(name: str) -> dict[str, str]:
    """The header of a file, `-- word: text` by word; its own name is what a row means.

    A sentence goes on in the next line where that is indented by four blanks more.
    """
    lines = itertools.takewhile(lambda line: line.startswith("-- "), text(name).split("\n"))
    sentences = "\n".join(lines).replace("\n--     ", " ")
    return dict(re.findall(r"^-- (\w+): (.+)$", sentences, re.MULTILINE))


def said(name: str, word: str) -> str:
    """A line that the header of a file must have."""
    if word not in header(name):
        raise AuditError(f"sql/{stage_file(name)}: its header lacks the line '-- {word}: …'")
    return header(name)[word]


def table_purpose(name: str) -> str:
    """What a row of a table means."""
    return said(name, name)


class Weighing(NamedTuple):
    """What `replicate_x` is made of, said in the header of `sql/intervals/interval_x.sql`."""

    # A relation of per-problem totals with problem_id and replays, equal for all problems of a
    # key, and which of its rows.
    totals: str
    keys: tuple[str, ...]
    values: tuple[str, ...]
    # A shorter relation that adds up to the totals, key after key of an archive, whose first key
    # has all of its problems.
    changes: str = ""


@functools.cache
def weighings() -> dict[str, Weighing]:
    """Every `replicate_x` that is a sum of totals times counts."""
    by_name = {}
    for name in interval_names():
        if "totals" in header(name):
            keys, values = names_in(said(name, "grain")), names_in(said(name, "values"))
            replicate = name.replace("interval_", "replicate_", 1)
            totals, changes = header(name)["totals"], header(name).get("changes", "")
            by_name[replicate] = Weighing(totals, keys, values, changes)
    return by_name


def weighed_purpose(name: str) -> str:
    """What a row of a `replicate_x` means."""
    return (
        f"{weighings()[name].totals}, weighed by bootstrap_counts: the sums of a key's totals in "
        "every replicate that draws one of its problems."
    )


@functools.cache
def interval_names() -> list[str]:
    """What is computed from replicates: the files of `sql/intervals`."""
    return sorted(path.stem for path in (resource("sql") / "intervals").glob("*.sql"))


def interval_statistics(name: str) -> dict[str, tuple[str, ...]]:
    """What a file of `sql/intervals` asks of its columns: `-- intervals: delta low high; …`."""
    asked = header(name).get("intervals", "").split(";") if name in interval_names() else ()
    statistics = {words[0]: tuple(words[1:]) for entry in asked if (words := entry.split())}
    for word in (word for words in statistics.values() for word in words if word not in STATISTICS):
        raise AuditError(
            f"sql/{stage_file(name)}: '-- intervals:' has no {word!r}; there are "
            f"{', '.join(STATISTICS)}"
        )
    return statistics


def names_in(text: str) -> tuple[str, ...]:
    """The names of a header line, which commas separate."""
    return tuple(text.split(", "))
