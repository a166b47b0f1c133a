"""Rows of some archives, competitions or problems: what is shown, not what is replayed."""

import csv
import fnmatch
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.output.choose import first_of, select_rows
from audit.text import literal, not_there, plural

# Columns that hold an archive: a comparison of two is shown when both are asked for.
ARCHIVE_COLUMNS = ("archive", "other")


@dataclass(frozen=True)
class Filter:
    """The archives, competitions and problems to show; an empty part asks for all."""

    archives: tuple[str, ...] = ()
    competitions: tuple[str, ...] = ()
    problems: tuple[tuple[str, int], ...] = ()

    def note(self) -> str:
        """Return the line that stands under what is filtered."""
        named = {"archive": self.archives, "competition": self.competitions}
        parts = [
            f"{word}{'s' if len(names) > 1 else ''} {', '.join(names)}"
            for word, names in named.items()
            if names
        ]
        parts += [plural(len(self.problems), "problem")] if self.problems else []
        return f"shown: {'; '.join(parts)}" if parts else ""


NO_FILTER = Filter()


def chosen(
    con: duckdb.DuckDBPyConnection,
    archives: Sequence[str] = (),
    competitions: Sequence[str] = (),
    problems: str | Path | None = None,
) -> Filter:
    """Return the archives, competitions and problems asked for; patterns may stand for several."""
    keys = () if problems is None else read_problems(Path(problems))
    return loaded(con, archives, competitions, keys, f"--problems {problems}")


def loaded(
    con: duckdb.DuckDBPyConnection,
    archives: Sequence[str],
    competitions: Sequence[str],
    problems: Collection[tuple[str, int]],
    option: str = "--problems",
    prefix: str = "",
) -> Filter:
    """Return the names that patterns stand for, and problems, once each; refuse unknown ones."""

    def distinct(columns: str) -> list[Any]:
        return con.execute(f"select distinct {columns} from attempts order by all").fetchall()

    def matched(kind: str, patterns: Sequence[str]) -> tuple[str, ...]:
        names = [name for (name,) in distinct(kind)] if patterns else []
        matches: set[str] = set()
        for pattern in patterns:
            # A name is itself before it is a pattern: it may hold a bracket or a star.
            meant = [pattern] if pattern in names else fnmatch.filter(names, pattern)
            if not meant:
                raise AuditError(f"--{prefix}{kind}: {not_there(kind, pattern, names)}")
            matches.update(meant)
        # All of them is no filter.
        return tuple(sorted(matches)) if len(matches) < len(names) else ()

    names = (matched("archive", archives), matched("competition", competitions))
    if problems and (absent := sorted(set(problems) - set(distinct("competition, question_id")))):
        competition, question = absent[0]
        raise AuditError(f"{option}: no problem {competition}, {question} in the database")
    return Filter(*names, tuple(sorted(set(problems))))


def in_order(
    con: duckdb.DuckDBPyConnection, archives: Sequence[str], order: Sequence[str]
) -> list[str]:
    """Return the archives, or all that were replayed, those named in `order` first."""
    rows = con.execute("select archive from archives order by archive").fetchall()
    return first_of(order, [name for (name,) in rows if not archives or name in archives])


def read_problems(path: Path) -> list[tuple[str, int]]:
    """Return the problems that a CSV names in its columns competition and question_id."""
    source, layout = f"--problems {path}", "give a CSV with the columns competition and question_id"
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
        problems = [(row["competition"], int(row["question_id"])) for row in rows]
    except OSError as error:
        raise AuditError(f"{source}: cannot be read: {error.strerror or error}") from None
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise AuditError(f"{source}: {layout} ({error})") from None
    if not problems:
        raise AuditError(f"{source}: names no problem; {layout}")
    return problems


def filtered(name: str, table: pa.Table, only: Filter) -> pa.Table:
    """Return the rows of a table that are asked for; none left is a mistake."""
    if only == Filter():
        return table
    rows = select_rows(table, condition(name, table.column_names, only), name)
    if table.num_rows and not rows.num_rows:
        raise AuditError(f"{name}: the filter leaves nothing ({only.note()})")
    return rows


def condition(name: str, columns: Sequence[str], only: Filter) -> str:
    """Return the filter as a condition of SQL; refuse one that a table cannot follow."""
    asked = {"archive": only.archives, "competition": only.competitions, "problems": only.problems}
    for option, values in asked.items():
        needed = "question_id" if option == "problems" else option
        if values and needed not in columns:
            raise AuditError(
                f"--{option}: {name} has no rows of single {option.removesuffix('s')}s, so it "
                f"cannot be filtered; use 'budget-audit replay --{option}' to compute it for these "
                "alone"
            )
    named = {column: only.archives for column in ARCHIVE_COLUMNS if column in columns}
    named |= {"competition": only.competitions}
    parts = [
        f"{column} in ({', '.join(map(literal, names))})"
        for column, names in named.items()
        if names
    ]
    if only.problems:
        pairs = ", ".join(f"({literal(c)}, {q})" for c, q in only.problems)
        parts.append(f"(competition, question_id) in ({pairs})")
    return " and ".join(parts) or "true"
