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
from audit.text import not_there, plural

# Columns that hold an archive: a comparison of two is shown when both are asked for.
ARCHIVE_COLUMNS = ("archive", "other")


@dataclass(frozen=True)
class Filter:
    """The archives, competitions and problems to show; an empty part asks for all."""

    archives: tuple[str, ...] = ()
    competitions: tuple[str, ...] = ()
    problems: tuple[tuple[str, int], ...] = ()

    def columns(self) -> list[str]:
        """Return the columns by which rows are filtered."""
        columns = ["archive"] if self.archives else []
        if self.competitions or self.problems:
            columns.append("competition")
        return [*columns, *(["question_id"] if self.problems else [])]

    def note(self) -> str:
        """Return the line that stands under what is filtered."""
        parts = []
        for word, names in (("archive", self.archives), ("competition", self.competitions)):
            if names:
                parts.append(f"{word}{'s' if len(names) > 1 else ''} {', '.join(names)}")
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
    names = [name for (name,) in rows if not archives or name in archives]
    if unknown := [name for name in order if name not in names]:
        raise AuditError(f"--order: {not_there('archive', unknown[0], names)}")
    return list(dict.fromkeys([*order, *names]))


def read_problems(path: Path) -> list[tuple[str, int]]:
    """Return the problems that a CSV names in its columns competition and question_id."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except OSError as error:
        raise AuditError(f"--problems {path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise AuditError(f"--problems {path}: not readable as CSV: {error}") from None
    layout = "give a CSV with the columns competition and question_id"
    if not rows or not {"competition", "question_id"} <= set(rows[0]):
        raise AuditError(f"--problems {path}: names no problem; {layout}")
    problems = []
    for number, row in enumerate(rows, 2):
        question = (row["question_id"] or "").strip()
        if not question.isdecimal() or not row["competition"]:
            raise AuditError(f"--problems {path}, row {number}: not a problem; {layout}")
        problems.append((row["competition"], int(question)))
    return problems


def require_columns(name: str, columns: Sequence[str], only: Filter) -> None:
    """Refuse a filter that a table cannot follow, instead of showing it whole."""
    for column in only.columns():
        if column not in columns:
            of_problems = column == "question_id" or not getattr(only, f"{column}s")
            option = "problems" if of_problems else column
            kind = "problems" if column == "question_id" else f"{column}s"
            raise AuditError(
                f"--{option}: {name} has no rows of single {kind}, so it cannot be "
                f"filtered; use 'budget-audit replay --{option}' to compute it for these alone"
            )


def filtered(name: str, table: pa.Table, only: Filter) -> pa.Table:
    """Return the rows of a table that are asked for; none left is a mistake."""
    where, values = condition(name, table.column_names, only)
    if not values:
        return table
    with duckdb.connect() as con:
        con.register("whole", table)
        rows = con.sql(f"select * from whole where {where}", params=values).to_arrow_table()
    if table.num_rows and not rows.num_rows:
        raise AuditError(f"{name}: the filter leaves nothing ({only.note()})")
    return rows.cast(table.schema)


def condition(name: str, columns: Sequence[str], only: Filter) -> tuple[str, dict[str, Any]]:
    """Return the filter as the `where` of a table or relation, and its parameters."""
    require_columns(name, columns, only)
    parts, values = ["true"], dict[str, Any]()
    if only.archives:
        named = [column for column in ARCHIVE_COLUMNS if column in columns]
        parts += [f"list_contains($archives, {column})" for column in named]
        values["archives"] = list(only.archives)
    if only.competitions:
        parts.append("list_contains($competitions, competition)")
        values["competitions"] = list(only.competitions)
    if only.problems:
        parts.append("list_contains($problems, {'c': competition, 'q': question_id})")
        values["problems"] = [{"c": c, "q": q} for c, q in only.problems]
    return " and ".join(parts), values
