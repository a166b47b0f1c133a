"""The SQL files: where they are, what they are called, and how they are rendered."""

import functools
from pathlib import Path


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
    return _stage_files()[name]


def stage_names() -> list[str]:
    """The names `budget-audit sql` takes."""
    return sorted(_stage_files())


def table_names() -> list[str]:
    """The tables `budget-audit table` takes."""
    return sorted(path.stem for path in (resource("sql") / "tables").glob("*.sql"))


def exploratory_names() -> list[str]:
    """Tables beyond the study: made only when asked for by name."""
    return sorted(path.stem for path in (resource("sql") / "exploratory").glob("*.sql"))


def table_purpose(name: str) -> str:
    """What a row of a table means, from its file's first line."""
    first = (resource("sql") / "tables" / f"{name}.sql").read_text(encoding="utf-8").split("\n")[0]
    return first.removeprefix(f"-- {name}: ")
