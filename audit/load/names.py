"""Problems that go by names: each gets a number, the same one in every archive of a database.

Within a competition the names are numbered from 0 in the order of their code points, over every
archive in the database: what is loaded first makes no difference, and loading more may renumber.
Names that are all whole numbers are those numbers.
"""

import re

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.database.schema import NUMBERED
from audit.engine import render
from audit.errors import AuditError
from audit.sources import excerpt

WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


class Numbering:
    """Provisional numbers, below 0, for names met while a load goes on."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, str], int] = {}

    def number(self, competitions: pa.Array, names: pa.Array) -> pa.Array:
        """A number for each name."""
        keys = zip(competitions.to_pylist(), names.to_pylist(), strict=True)
        numbers = [self.names.setdefault(key, -1 - len(self.names)) for key in keys]
        return pa.array(numbers, pa.int64())


def number_problems(con: duckdb.DuckDBPyConnection, numbering: Numbering) -> None:
    """Give every named problem its number, old ones included, and keep the names."""
    problems = con.execute(render("named_problems")).fetchall()
    if not numbering.names and not problems:
        con.execute("delete from problem_names")
        return
    incoming = con.execute("select distinct question_id from incoming where question_id < 0")
    left = {number for (number,) in incoming.fetchall()}
    changes: list[tuple[str, int, int]] = []
    rows: list[tuple[str, int, str]] = []
    for competition in sorted({key[0] for key in numbering.names} | {row[0] for row in problems}):
        old = {name: number for place, name, number in problems if place == competition}
        new = {
            name: at
            for (place, name), at in numbering.names.items()
            if place == competition and at in left
        }
        numbers = _numbers(con, competition, sorted({*old, *new}), bool(old))
        for names in (old, new):
            changes += [(competition, at, numbers[name]) for name, at in names.items()]
        if numbers != {name: int(name) for name in numbers if WHOLE_NUMBER.fullmatch(name)}:
            rows += [(competition, number, name) for name, number in numbers.items()]
    _renumber(con, [change for change in changes if change[1] != change[2]])
    con.execute("delete from problem_names")
    _insert(con, "problem_names", ("competition", "question_id", "name"), rows)


def _numbers(
    con: duckdb.DuckDBPyConnection, competition: str, names: list[str], has_names: bool
) -> dict[str, int]:
    """The number of each name of a competition."""
    if not has_names and all(WHOLE_NUMBER.fullmatch(name) for name in names):
        return {name: int(name) for name in names}
    archive = con.execute(
        f"select archive from ({render('numbered_archives')}) where competition = ? limit 1",
        [competition],
    ).fetchall()
    if archive:
        raise AuditError(
            f"competition {excerpt(competition)}: archive {excerpt(archive[0][0])} numbers its "
            f"problems, and here they have names ({excerpt(names[0])}); load them into another "
            "--db, or pass --competition with another name"
        )
    return {name: number for number, name in enumerate(names)}


def _renumber(con: duckdb.DuckDBPyConnection, changes: list[tuple[str, int, int]]) -> None:
    if not changes:
        return
    con.execute("create temp table renumbered (competition varchar, old bigint, new bigint)")
    _insert(con, "renumbered", ("competition", "old", "new"), changes)
    for table in ("incoming", *NUMBERED):
        con.execute(
            f"update {table} set question_id = new from renumbered where question_id = old "
            f"and {table}.competition = renumbered.competition"
        )
    con.execute("drop table renumbered")


def _insert(
    con: duckdb.DuckDBPyConnection, table: str, columns: tuple[str, ...], rows: list[tuple]
) -> None:
    if rows:
        values = zip(*rows, strict=True)
        by_name = {name: list(column) for name, column in zip(columns, values, strict=True)}
        insert(con, f"insert into {table}", pa.table(by_name))


def shown_problem(con: duckdb.DuckDBPyConnection, competition: str, question_id: int) -> str:
    """A problem as its source calls it."""
    names = con.execute(
        "select name from problem_names where competition = ? and question_id = ?",
        [competition, question_id],
    ).fetchall()
    return excerpt(names[0][0]) if names else str(question_id)
