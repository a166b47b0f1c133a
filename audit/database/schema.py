"""The tables of a database, its schema version, and the state of its replays."""

from typing import NamedTuple

import duckdb

from audit.errors import AuditError

# Version of the tables that `load` creates. A database with another version is refused when it is
# opened.
SCHEMA_VERSION = 7
# Keys of `meta`: whether texts were kept, and the kind of answer where it is not boxed ('none':
# attempts pass or fail).
TEXTS = "texts"
ANSWER = "answer"
# The key of an attempt: its columns with types, and their names.
ATTEMPT_KEY = "archive varchar, competition varchar, question_id bigint, seed bigint"
KEY = tuple(column.split()[0] for column in ATTEMPT_KEY.split(", "))


class LoadedTable(NamedTuple):
    """A table of a load: its columns, and whether a select in sql/load fills it."""

    columns: str
    is_filled: bool = False


# All tables of a load. `attempts` also has the columns that are copied unchanged from the
# canonical schema (audit/sources/canonical.py).
LOADED = {
    # Generated fields only.
    "attempts": LoadedTable(
        f"{ATTEMPT_KEY}, slot integer, prompt_tokens bigint, completion_tokens bigint, "
        "finish_reason varchar, answer varchar, archive_answer varchar, mean_logprob double, "
        "eligible boolean",
        is_filled=True,
    ),
    # Texts are inserted while files are read.
    "texts": LoadedTable(f"{ATTEMPT_KEY}, text varchar"),
    # Recorded steps of attempts, numbered from 1, and finite scores.
    "steps": LoadedTable(
        f"{ATTEMPT_KEY}, step bigint, prompt_tokens bigint, cached_tokens bigint, "
        "completion_tokens bigint, money double, seconds double",
        is_filled=True,
    ),
    "recorded_scores": LoadedTable(f"{ATTEMPT_KEY}, score varchar, value double", is_filled=True),
    # The answer as written, and the extractions that the source recorded.
    "raw_answers": LoadedTable(f"{ATTEMPT_KEY}, raw_answer varchar", is_filled=True),
    "recorded_answers": LoadedTable(
        f"{ATTEMPT_KEY}, boxed_answer varchar, raw_archive_answer varchar", is_filled=True
    ),
    # `correct` is the label in use; `recorded` is the label of the source, or null.
    "labels": LoadedTable(
        f"{ATTEMPT_KEY}, correct boolean, recorded boolean, references_id integer", is_filled=True
    ),
    "accepted_references": LoadedTable(
        "archive varchar, competition varchar, question_id bigint, references_id integer, "
        "reference varchar",
        is_filled=True,
    ),
    # Answers of attempts before their end, and their labels from files.
    "checkpoints": LoadedTable(
        f"{ATTEMPT_KEY}, tokens bigint, kind varchar, answer varchar, cost bigint, certain boolean"
    ),
    "checkpoint_labels": LoadedTable(
        f"{ATTEMPT_KEY}, tokens bigint, kind varchar, correct boolean"
    ),
    "sources": LoadedTable(
        "file varchar, archive varchar, format varchar, bytes bigint, sha256 varchar, "
        "rows bigint, mapping varchar, simulated boolean",
        is_filled=True,
    ),
    "problem_names": LoadedTable("competition varchar, question_id bigint, name varchar"),
    "quality_counts": LoadedTable(
        'archive varchar, "check" varchar, level double, count bigint, total bigint, '
        "is_of_replay boolean"
    ),
    # Problems that the filters of the last replay left out.
    "unreplayed_problems": LoadedTable("archive varchar, competition varchar, question_id bigint"),
    "meta": LoadedTable("key varchar, value varchar"),
    # Filled by `tokenize`; they depend only on texts, so replays keep them.
    "token_counts": LoadedTable(
        f"{ATTEMPT_KEY}, encoding varchar, counted bigint, reconciled boolean"
    ),
    "prefix_cuts": LoadedTable(
        f"{ATTEMPT_KEY}, encoding varchar, remaining bigint, any_box boolean, last_box boolean, "
        "answer varchar"
    ),
}
# Views of a load; each has its select in sql/load.
VIEWS = ("grades", "scores", "checkpoint_grades")
# Tables with a column archive, and those of them with a column question_id.
BY_ARCHIVE = tuple(name for name, table in LOADED.items() if "archive varchar" in table.columns)
NUMBERED = tuple(name for name in BY_ARCHIVE if "question_id" in LOADED[name].columns)


def check_schema(con: duckdb.DuckDBPyConnection, name: str = "the database") -> None:
    """Refuse a database made by another program or with another schema version."""
    present = con.execute(
        "select table_name from duckdb_tables() where database_name = current_database() "
        "union all select view_name from duckdb_views() "
        "where database_name = current_database() and not internal order by table_name"
    ).fetchall()
    if not present:
        return
    try:
        query = "select value from meta where key = 'schema_version'"
        ((stored,),) = con.execute(query).fetchall()
        version = int(stored)
    except (duckdb.CatalogException, duckdb.BinderException, TypeError, ValueError):
        names = ", ".join(table for (table,) in present[:5])
        raise AuditError(
            f"{name}: holds tables of another program ({names}); choose another --db"
        ) from None
    if version != SCHEMA_VERSION:
        age = "an older" if version < SCHEMA_VERSION else "a newer"
        what = "" if version < SCHEMA_VERSION else "use that one, or "
        raise AuditError(
            f"{name}: made by {age} budget-audit (schema version {version}, this one reads "
            f"{SCHEMA_VERSION}); {what}load the sources into a new --db"
        )


def relations(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """List the tables and views of the database; map each name to "table" or "view"."""
    # A replay calls this often, and information_schema.tables takes twice as long.
    rows = con.execute(
        """
        select table_name, 'table'
        from duckdb_tables()
        where database_name = current_database() and schema_name = 'main'
        union all
        select view_name, 'view'
        from duckdb_views()
        where database_name = current_database() and schema_name = 'main' and not internal
        """
    ).fetchall()
    # SQL ignores the case of ASCII letters: "Attempts" is attempts.
    return {name.lower() if name.isascii() else name: kind for name, kind in rows}


def require_attempts(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database without attempts; name the command that loads some."""
    are_there = {"meta", "attempts"} <= set(relations(con))
    if not are_there or not con.execute("select 1 from attempts limit 1").fetchall():
        raise AuditError("the database holds no attempts; load some with 'budget-audit load'")


def require_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database without replays, or with replays that a later load made stale."""
    require_attempts(con)
    state = read_fact(con, "replays") or "none"
    if state.startswith("stale"):
        why = state.partition(": ")[2] or "archives were loaded"
        raise AuditError(f"the replays are stale: {why} since; run 'budget-audit replay' again")
    if state != "fresh":
        raise AuditError("there are no replays yet; run 'budget-audit replay'")


def has_answers(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether attempts have answers to vote on; false after --answer none."""
    # A plan has no database yet: assume answers.
    return "meta" not in relations(con) or read_fact(con, ANSWER) != "none"


def lacks_texts(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the database has no texts, because `gather` collected it from a run."""
    return read_fact(con, TEXTS) == "none"


def read_fact(con: duckdb.DuckDBPyConnection, key: str) -> str | None:
    """Read the value of a key in the table `meta`; return None if it is missing."""
    rows = con.execute("select value from meta where key = ?", [key]).fetchall()
    return rows[0][0] if rows else None


def store_fact(con: duckdb.DuckDBPyConnection, key: str, value: str | None) -> None:
    """Write the value of a key into the table `meta`, or delete the key for None."""
    con.execute("delete from meta where key = ?", [key])
    if value is not None:
        con.execute("insert into meta values (?, ?)", [key, value])
