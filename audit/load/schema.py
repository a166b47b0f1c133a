"""The tables that `load` fills, in one place, and the view on them."""

import duckdb

from audit.database import SCHEMA_VERSION
from audit.engine import render

ATTEMPT_KEY = "archive varchar, competition varchar, question_id bigint, seed bigint"
SCHEMA = {
    # Generated fields only.
    "attempts": f"{ATTEMPT_KEY}, slot integer, prompt_tokens bigint, completion_tokens bigint, "
    "finish_reason varchar, answer varchar, archive_answer varchar, mean_logprob double, "
    "eligible boolean",
    "texts": f"{ATTEMPT_KEY}, text varchar",
    # The answer as written, and the extractions that the source recorded.
    "raw_answers": f"{ATTEMPT_KEY}, raw_answer varchar",
    "recorded_answers": f"{ATTEMPT_KEY}, boxed_answer varchar, archive_answer varchar",
    # `correct` counts; `recorded` is what the source says, null where it says nothing.
    "labels": f"{ATTEMPT_KEY}, correct boolean, recorded boolean, references_id integer",
    "accepted_references": "archive varchar, competition varchar, question_id bigint, "
    "references_id integer, reference varchar",
    "problem_names": "competition varchar, question_id bigint, name varchar",
    "sources": "file varchar, archive varchar, format varchar, bytes bigint, sha256 varchar, "
    "rows bigint, mapping varchar, simulated boolean",
    "quality_counts": 'archive varchar, "check" varchar, level bigint, count bigint, total bigint',
    "meta": "key varchar, value varchar",
    # Filled by `tokenize`: they depend on texts alone, and are kept as long as those.
    "token_counts": f"{ATTEMPT_KEY}, encoding varchar, counted bigint, reconciled boolean",
    "prefix_cuts": f"{ATTEMPT_KEY}, encoding varchar, remaining bigint, any_box boolean, "
    "last_box boolean, answer varchar",
}
# Each is filled by the select of its name in sql/load. Texts go in before, while files are read.
FILLED = ("attempts", "raw_answers", "recorded_answers", "labels", "accepted_references", "sources")
# Tables that know an attempt, or a problem, by its archive.
BY_ARCHIVE = ("texts", *FILLED, "quality_counts", "token_counts", "prefix_cuts")


def create_schema(con: duckdb.DuckDBPyConnection) -> None:
    """Create whatever is missing of the relations that load fills."""
    for name, columns in SCHEMA.items():
        con.execute(f"create table if not exists {name} ({columns})")
    con.execute(f"create view if not exists grades as {render('grades')}")
    if not con.execute("select 1 from meta where key = 'schema_version'").fetchone():
        con.execute(
            "insert into meta values ('schema_version', ?), ('replays', 'none')", [SCHEMA_VERSION]
        )
