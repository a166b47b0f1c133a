"""What a database of ours holds, which version it has, and whether its replays are fresh."""

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
# What an attempt goes by: its columns, and their names.
ATTEMPT_KEY = "archive varchar, competition varchar, question_id bigint, seed bigint"
KEY = tuple(column.split()[0] for column in ATTEMPT_KEY.split(", "))


class LoadedTable(NamedTuple):
    """A table of a load: its columns, and whether the select of its name in sql/load fills it."""

    columns: str
    is_filled: bool = False


# What `load` keeps as tables: the only list of them. `attempts` goes on with the columns that the
# canonical schema carries over as they are (audit/sources/canonical.py).
LOADED = {
    # Generated fields only.
    "attempts": LoadedTable(
        f"{ATTEMPT_KEY}, slot integer, prompt_tokens bigint, completion_tokens bigint, "
        "finish_reason varchar, answer varchar, archive_answer varchar, mean_logprob double, "
        "eligible boolean",
        is_filled=True,
    ),
    # Texts go in while files are read.
    "texts": LoadedTable(f"{ATTEMPT_KEY}, text varchar"),
    # Recorded steps of attempts that have any, from 1, and the finite scores that files name.
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
    # `correct` counts; `recorded` is what the source says, null where it says nothing.
    "labels": LoadedTable(
        f"{ATTEMPT_KEY}, correct boolean, recorded boolean, references_id integer", is_filled=True
    ),
    "accepted_references": LoadedTable(
        "archive varchar, competition varchar, question_id bigint, references_id integer, "
        "reference varchar",
        is_filled=True,
    ),
    # What an attempt would have answered before its end, and what files say of those answers.
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
    # Problems that the filters of the last replay left out: none where there was no filter.
    "unreplayed_problems": LoadedTable("archive varchar, competition varchar, question_id bigint"),
    "meta": LoadedTable("key varchar, value varchar"),
    # Filled by `tokenize`: they depend on texts alone, and are kept as long as those.
    "token_counts": LoadedTable(
        f"{ATTEMPT_KEY}, encoding varchar, counted bigint, reconciled boolean"
    ),
    "prefix_cuts": LoadedTable(
        f"{ATTEMPT_KEY}, encoding varchar, remaining bigint, any_box boolean, last_box boolean, "
        "answer varchar"
    ),
}
# Views of a load on its tables, by the select of their name in sql/load.
VIEWS = ("grades", "scores", "checkpoint_grades")
# Tables that know an attempt, or a problem, by its archive, and those that know its number.
BY_ARCHIVE = tuple(name for name, table in LOADED.items() if "archive varchar" in table.columns)
NUMBERED = tuple(name for name in BY_ARCHIVE if "question_id" in LOADED[name].columns)


def check_schema(con: duckdb.DuckDBPyConnection, name: str = "the database") -> None:
    """Refuse a database that something else, or another version, has made."""
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
    """Return the tables and views of the database, with their kinds."""
    # Asked many times in a replay: information_schema.tables takes twice as long.
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
    # "Attempts" is attempts: SQL compares letters of ASCII without their case.
    return {name.lower() if name.isascii() else name: kind for name, kind in rows}


def require_attempts(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database into which nothing was loaded."""
    are_there = {"meta", "attempts"} <= set(relations(con))
    if not are_there or not con.execute("select 1 from attempts limit 1").fetchall():
        raise AuditError("the database holds no attempts; load some with 'budget-audit load'")


def require_replays(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse where there are no replays, or where a load has made them stale."""
    require_attempts(con)
    state = fact(con, "replays") or "none"
    if state.startswith("stale"):
        why = state.partition(": ")[2] or "archives were loaded"
        raise AuditError(f"the replays are stale: {why} since; run 'budget-audit replay' again")
    if state != "fresh":
        raise AuditError("there are no replays yet; run 'budget-audit replay'")


def has_answers(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether attempts have answers to vote on; with --answer none they pass or fail."""
    # A plan has no database yet, and says nothing against answers.
    return "meta" not in relations(con) or fact(con, ANSWER) != "none"


def lacks_texts(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether the database was gathered from a run, which keeps no texts."""
    return fact(con, TEXTS) == "none"


def fact(con: duckdb.DuckDBPyConnection, key: str) -> str | None:
    """Return the value of a key of `meta`, or None."""
    rows = con.execute("select value from meta where key = ?", [key]).fetchall()
    return rows[0][0] if rows else None


def keep_fact(con: duckdb.DuckDBPyConnection, key: str, value: str | None) -> None:
    """Write or delete one line of `meta`."""
    con.execute("delete from meta where key = ?", [key])
    if value is not None:
        con.execute("insert into meta values (?, ?)", [key, value])
