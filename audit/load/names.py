"""Problems that go by names: each gets a number, the same one in every archive of a database.

Within a competition the names are numbered from 0 in the order of their code points, over every
archive in the database: what is loaded first makes no difference, and loading more may renumber.
Names that are all whole numbers are those numbers.
"""

import re

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.sources import shown

WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")
# Every table that knows a problem by its number; `incoming` is what a load has staged.
NUMBERED = (
    "incoming",
    "attempts",
    "texts",
    "raw_answers",
    "labels",
    "accepted_references",
    "token_counts",
    "prefix_cuts",
)


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
    known = con.execute(
        """
        select competition, label, question_id
        from problem_labels
        semi join attempts using (competition, question_id)
        """
    ).fetchall()
    if not numbering.names and not known:
        con.execute("delete from problem_labels")
        return
    changes: list[tuple[str, int, int]] = []
    labels: list[tuple[str, int, str]] = []
    for competition in sorted({key[0] for key in numbering.names} | {row[0] for row in known}):
        held = {label: number for place, label, number in known if place == competition}
        new = {name: at for (place, name), at in numbering.names.items() if place == competition}
        numbers = _numbers(con, competition, sorted({*held, *new}), bool(held))
        for names in (held, new):
            changes += [(competition, at, numbers[name]) for name, at in names.items()]
        if numbers != {name: int(name) for name in numbers if WHOLE_NUMBER.fullmatch(name)}:
            labels += [(competition, number, name) for name, number in numbers.items()]
    _renumber(con, [change for change in changes if change[1] != change[2]])
    con.execute("delete from problem_labels")
    _insert(con, "problem_labels", ("competition", "question_id", "label"), labels)


def _numbers(
    con: duckdb.DuckDBPyConnection, competition: str, names: list[str], has_labels: bool
) -> dict[str, int]:
    """The number of each name of a competition."""
    if not has_labels and all(WHOLE_NUMBER.fullmatch(name) for name in names):
        return {name: int(name) for name in names}
    plain = con.execute(
        """
        select any_value(archive) from (
            select archive, competition, question_id from attempts
            anti join problem_labels using (competition, question_id)
            union all
            select archive, competition, question_id from incoming where question_id >= 0
        )
        where competition = ?
        """,
        [competition],
    ).fetchall()
    if plain[0][0] is not None:
        raise AuditError(
            f"competition {shown(competition)}: archive {shown(plain[0][0])} numbers its problems, "
            f"and here they have names ({shown(names[0])}); load them into another --db, or pass "
            "--competition with another name"
        )
    return {name: number for number, name in enumerate(names)}


def _renumber(con: duckdb.DuckDBPyConnection, changes: list[tuple[str, int, int]]) -> None:
    if not changes:
        return
    con.execute("create temp table renumbered (competition varchar, old bigint, new bigint)")
    _insert(con, "renumbered", ("competition", "old", "new"), changes)
    for table in NUMBERED:
        con.execute(
            f"""
            update {table} set question_id = renumbered.new
            from renumbered
            where {table}.competition = renumbered.competition
                and {table}.question_id = renumbered.old
            """
        )
    con.execute("drop table renumbered")


def _insert(
    con: duckdb.DuckDBPyConnection, table: str, columns: tuple[str, ...], rows: list[tuple]
) -> None:
    if rows:
        values = zip(*rows, strict=True)
        named = {name: list(column) for name, column in zip(columns, values, strict=True)}
        con.register("arriving", pa.table(named))
        con.execute(f"insert into {table} select * from arriving")
        con.unregister("arriving")
