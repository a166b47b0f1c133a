"""The tables and views of a load, with their columns from the canonical schema."""

from collections.abc import Iterator
from contextlib import contextmanager

import duckdb
import pyarrow as pa

from audit.database import SCHEMA_VERSION
from audit.database.schema import LOADED, VIEWS
from audit.engine import render
from audit.sources.canonical import COLUMNS

SQL_TYPES = {pa.int64(): "bigint", pa.string(): "varchar", pa.float64(): "double"}
# Columns that a load processes; all others are copied from a file to the end of `attempts`.
# Those of COPIED are copied unchanged into `incoming`.
COPIED = (
    *("prompt_tokens", "completion_tokens", "finish_reason", "archive_answer", "mean_logprob"),
    *("correct", "steps", "checkpoints"),
)
KNOWN = (
    *("archive", "competition", "question_id", "seed", "text", "boxed_answer", "references"),
    *COPIED,
)
CARRIED = pa.struct([(name, column.type) for name, column in COLUMNS.items() if name not in KNOWN])
SCORES = pa.list_(pa.struct([("score", pa.string()), ("value", pa.float64())]))
KEY_FIELDS = [(name, COLUMNS[name].type) for name in ("archive", "competition")]
KEY_FIELDS += [("question_id", pa.int64()), ("seed", pa.int64())]
# One row per attempt as read from files, before it is distributed over the tables.
INCOMING = pa.schema(
    [
        ("file", pa.int32()),
        ("row", pa.int64()),
        *KEY_FIELDS,
        # The name of a named problem; its number is negative until all names are known.
        ("problem", pa.string()),
        *((name, COLUMNS[name].type) for name in COPIED),
        *((name, pa.string()) for name in ("raw_answer", "answer")),
        *((name, pa.string()) for name in ("recorded_box", "recorded_answer")),
        *((name, pa.bool_()) for name in ("eligible", "recorded", "has_text")),
        ("accepted", COLUMNS["references"].type),
        ("carried", CARRIED),
        ("scores", SCORES),
    ]
)
# Each is filled by the select of its name in sql/load.
FILLED = tuple(name for name, table in LOADED.items() if table.is_filled)


SCHEMA = {name: table.columns for name, table in LOADED.items()}
SCHEMA["attempts"] += "".join(f", {field.name} {SQL_TYPES[field.type]}" for field in CARRIED)


def create_schema(con: duckdb.DuckDBPyConnection) -> None:
    """Create the missing tables and views of a load, and store the schema version."""
    for name, columns in SCHEMA.items():
        con.execute(f"create table if not exists {name} ({columns})")
    for name in VIEWS:
        con.execute(f"create view if not exists {name} as {render(name)}")
    if not con.execute("select 1 from meta where key = 'schema_version'").fetchone():
        con.execute(
            "insert into meta values ('schema_version', ?), ('replays', 'none')", [SCHEMA_VERSION]
        )


@contextmanager
def temporary_tables(con: duckdb.DuckDBPyConnection, *names: str) -> Iterator[None]:
    """Create temporary tables from the selects of these names in sql/load; drop them at the end."""
    for name in names:
        con.execute(f"create temp table {name} as {render(name)}")
    yield
    for name in reversed(names):
        con.execute(f"drop table {name}")
