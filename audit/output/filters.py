"""Filters on archives, competitions and problems: they select rows to show or to replay."""

import csv
import fnmatch
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.output.choose import put_first, select_rows
from audit.text import literal, not_there, plural

# Columns that hold an archive: a comparison of two is kept when both are named.
ARCHIVE_COLUMNS = ("archive", "other")


@dataclass(frozen=True)
class Filter:
    """The archives, competitions and problems to keep; an empty tuple keeps all."""

    archives: tuple[str, ...] = ()
    competitions: tuple[str, ...] = ()
    problems: tuple[tuple[str, int], ...] = ()

    def note(self) -> str:
        """Write the note printed below filtered rows: 'shown: archives a, b'."""
        named = {"archive": self.archives, "competition": self.competitions}
        parts = [
            f"{word}{'s' if len(names) > 1 else ''} {', '.join(names)}"
            for word, names in named.items()
            if names
        ]
        parts += [plural(len(self.problems), "problem")] if self.problems else []
        return f"shown: {'; '.join(parts)}" if parts else ""


NO_FILTER = Filter()


def read_filter(
    con: duckdb.DuckDBPyConnection,
    archives: Sequence[str] = (),
    competitions: Sequence[str] = (),
    problems: str | Path | None = None,
) -> Filter:
    """Make a filter of archives and competitions, names or patterns, and a CSV of problems."""
    keys = () if problems is None else read_problems(Path(problems))
    return match_filter(con, archives, competitions, keys, f"--problems {problems}")


def match_filter(
    con: duckdb.DuckDBPyConnection,
    archives: Sequence[str],
    competitions: Sequence[str],
    problems: Collection[tuple[str, int]],
    option: str = "--problems",
    prefix: str = "",
) -> Filter:
    """Make a filter: expand the patterns to names in the database, and refuse unknown names."""

    def read_distinct(columns: str) -> list[Any]:
        return con.execute(f"select distinct {columns} from attempts order by all").fetchall()

    def match_names(kind: str, patterns: Sequence[str]) -> tuple[str, ...]:
        names = [name for (name,) in read_distinct(kind)] if patterns else []
        matches: set[str] = set()
        for pattern in patterns:
            # An exact name goes before a pattern: a name may hold a bracket or a star.
            meant = [pattern] if pattern in names else fnmatch.filter(names, pattern)
            if not meant:
                raise AuditError(f"--{prefix}{kind}: {not_there(kind, pattern, names)}")
            matches.update(meant)
        # A filter that matches every name is left empty.
        return tuple(sorted(matches)) if len(matches) < len(names) else ()

    names = (match_names("archive", archives), match_names("competition", competitions))
    if problems and (
        absent := sorted(set(problems) - set(read_distinct("competition, question_id")))
    ):
        competition, question = absent[0]
        raise AuditError(f"{option}: no problem {competition}, {question} in the database")
    return Filter(*names, tuple(sorted(set(problems))))


def order_archives(
    con: duckdb.DuckDBPyConnection, archives: Sequence[str], order: Sequence[str]
) -> list[str]:
    """Return the archives of a figure (none given: all replayed), those of `order` first."""
    rows = con.execute("select archive from archives order by archive").fetchall()
    return put_first(order, [name for (name,) in rows if not archives or name in archives])


def read_problems(path: Path) -> list[tuple[str, int]]:
    """Read the problems that a CSV lists in its columns competition and question_id."""
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


def filter_rows(name: str, table: pa.Table, only: Filter) -> pa.Table:
    """Return the rows of a table that pass a filter; refuse a filter that leaves none."""
    if only == Filter():
        return table
    rows = select_rows(table, write_condition(name, table.column_names, only), name)
    if table.num_rows and not rows.num_rows:
        raise AuditError(f"{name}: the filter leaves nothing ({only.note()})")
    return rows


def write_condition(name: str, columns: Sequence[str], only: Filter) -> str:
    """Write the filter as an SQL condition; refuse one on a column that the table lacks."""
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
