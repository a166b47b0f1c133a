"""Numbers for named problems, the same in every archive of a database.

Within a competition the names are numbered from 0 in the order of their code points, over every
archive in the database: the order of loads makes no difference, and loading more may renumber.
Names that are all whole numbers become those numbers.
"""

import duckdb

from audit.database.schema import NUMBERED
from audit.engine import render
from audit.errors import AuditError
from audit.load.schema import temporary_tables
from audit.sources.files import excerpt


def number_problems(con: duckdb.DuckDBPyConnection) -> None:
    """Number all named problems, also those loaded earlier, and store names with numbers."""
    with temporary_tables(con, "renumbered_problems"):
        _refuse_numbered(con)
        if con.execute("from renumbered_problems where old <> new limit 1").fetchall():
            for table in ("incoming", "text_measures", *NUMBERED):
                con.execute(
                    f"update {table} set question_id = new from renumbered_problems as renumbered "
                    "where question_id = old and old <> new "
                    f"and {table}.competition = renumbered.competition"
                )
        con.execute("delete from problem_names")
        con.execute(
            "insert into problem_names select distinct competition, new, name "
            "from renumbered_problems where not is_plain order by competition, new"
        )


def _refuse_numbered(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse problem names in a competition whose problems another archive has by number."""
    mixed = con.execute(
        "select competition, min(archive), min(name) from renumbered_problems "
        f"inner join ({render('numbered_archives')}) using (competition) "
        "where not is_whole group by competition order by competition limit 1"
    ).fetchall()
    for competition, archive, name in mixed:
        raise AuditError(
            f"competition {excerpt(competition)}: archive {excerpt(archive)} numbers its "
            f"problems, and here they have names ({excerpt(name)}); load them into another "
            "--db, or pass --competition with another name"
        )


def name_problem(con: duckdb.DuckDBPyConnection, competition: str, question_id: int) -> str:
    """Return the name of a problem in its source, or its number if it has no name."""
    names = con.execute(
        "select name from problem_names where competition = ? and question_id = ?",
        [competition, question_id],
    ).fetchall()
    return excerpt(names[0][0]) if names else str(question_id)
