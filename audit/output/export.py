"""Tables and relations as CSV or Parquet files."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet

from audit import database, engine
from audit.ahead import prefetch
from audit.database.leftovers import atomic_file
from audit.errors import AuditError, first_line
from audit.output.display import write_csv
from audit.output.filters import Filter, condition, filtered
from audit.progress import Progress
from audit.text import not_there

# Relations filled by a load have no file that says their key.
LOADED_KEYS = {
    "attempts": "archive, competition, question_id, seed",
    "texts": "archive, competition, question_id, seed",
    "grades": "archive, competition, question_id, seed",
    "sources": "file, archive",
    "problem_names": "competition, question_id",
    "token_counts": "archive, competition, question_id, seed, encoding",
    "settings": "key",
    "budgets": "budget",
    "caps": "cap",
    "unit": "unit",
    "prices": "archive",
}
# With more archives than this, the tables of every pair of them are written only by name.
MOST_PAIRED_UNNAMED = 100
RELATIONS = tuple(
    name for name in engine.PUBLIC_RELATIONS if name in LOADED_KEYS or name in engine.stage_names()
)


def export(
    con: duckdb.DuckDBPyConnection,
    out: Path,
    names: Sequence[str] = (),
    fmt: str = "csv",
    only: Filter | None = None,
    progress: Progress | None = None,
) -> Iterator[Path]:
    """Write each named table or relation, sorted by its key; without a name, every table."""
    tables = tuple(engine.table_names())
    existing = (*tables, *RELATIONS)
    for name in names:
        if name not in existing:
            raise AuditError(not_there("table or relation", name, existing))
    database.require_replays(con)
    for name in names:
        if engine.needs_tokens(con, name) or engine.waiting_events(con, name):
            # It says what to run, before a folder is made for nothing.
            engine.table(con, name)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"{out}: cannot be made a folder: {first_line(error)}") from None
    chosen = names or sorted(set(engine.table_names()) - set(left_out(con)))
    if progress:
        progress("intervals", 0, len(chosen))

    def made() -> Iterator[tuple[int, str, pa.RecordBatchReader]]:
        for done, name in enumerate(chosen):
            if name not in tables:
                # A reader goes on reading while the next table is made.
                relation = _relation(database.cursor(con), name, only or Filter())
                yield done, name, relation.to_arrow_reader(100_000)
                continue
            table = engine.table(con, name)
            try:
                rows = (filtered(name, table, only) if only else table).to_reader()
            except AuditError:
                # Without a name, what the filter cannot be applied to is left out.
                if names:
                    raise
                continue
            yield done, name, rows

    # After a failure the connection is free again once the table that is being made is there.
    with (
        engine.prepared(con, engine.relations_behind(chosen)),
        closing(prefetch(made(), is_waited_for=True)) as ahead,
    ):
        for done, name, rows in ahead:
            if progress:
                progress(name, done, len(chosen))
            path = out / f"{name}.{fmt}"
            if fmt == "csv":
                write_csv(rows, path)
            else:
                write_parquet(rows, path)
            yield path
    if progress:
        progress("done", len(chosen), len(chosen))


def _relation(con: duckdb.DuckDBPyConnection, name: str, only: Filter) -> duckdb.DuckDBPyRelation:
    """Return the rows of a relation that are asked for, sorted by its key."""
    where, values = condition(name, con.table(name).columns, only)
    sql = f"select * from {name} where {where} order by {key_of(name)}"
    return con.sql(sql, params=values or None)


def left_out(
    con: duckdb.DuckDBPyConnection, tokenize: str = "budget-audit tokenize"
) -> dict[str, str]:
    """Tables that are written only by name, and why: no tokens yet, no texts, too many pairs."""
    reasons = {}
    for name in engine.table_names():
        if engine.needs_tokens(con, name):
            reasons[name] = "it cuts texts at tokens, and needs --unit completion"
        elif engine.needs_texts(con, name):
            reasons[name] = "it needs the texts, and a run keeps none"
        elif engine.waiting_events(con, name):
            reasons[name] = f"it needs '{tokenize}' first"
    ((archives,),) = con.execute("select count(*) from archives").fetchall()
    return reasons | {
        name: f"{pairs}; name it to have it" for name, pairs in too_many_pairs(archives).items()
    }


def too_many_pairs(archives: int) -> dict[str, str]:
    """Return the tables that compare every pair of archives, and how many pairs there are."""
    if archives <= MOST_PAIRED_UNNAMED:
        return {}
    pairs = f"{archives:,} archives make {archives * (archives - 1) // 2:,} pairs"
    names = engine.table_names()
    return {n: pairs for n in names if "interval_comparisons" in engine.intervals_read(n)}


def key_of(name: str) -> str:
    """Return the columns that identify a row of a relation."""
    return LOADED_KEYS.get(name) or engine.header(name)["grain"]


def write_parquet(rows: pa.RecordBatchReader, path: Path) -> None:
    """Write batches; the file appears whole or not."""
    with (
        atomic_file(path) as partial,
        pyarrow.parquet.ParquetWriter(partial, rows.schema, compression="zstd") as writer,
    ):
        for batch in rows:
            writer.write_batch(batch)
