"""Tables and relations as CSV or Parquet files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from audit import database, engine
from audit.errors import AuditError, first_line
from audit.output.filters import NO_FILTER, Filter, condition, filtered
from audit.output.write import write_rows
from audit.progress import Progress
from audit.text import not_there

# What identifies an attempt, and what counted its tokens.
ATTEMPT_KEY = ("archive", "competition", "question_id", "seed", "encoding")
# With more archives than this, the tables of every pair of them are written only by name.
MOST_PAIRED_UNNAMED = 100


def export(
    con: duckdb.DuckDBPyConnection,
    out: Path,
    names: Sequence[str] = (),
    fmt: str = "csv",
    only: Filter = NO_FILTER,
    progress: Progress | None = None,
) -> Iterator[Path]:
    """Write each named table or relation, sorted by its key; without a name, every table."""
    tables = tuple(engine.table_names())
    existing = (*tables, *engine.PUBLIC_RELATIONS)
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
    with engine.prepared(con, engine.relations_behind(chosen)):
        for done, name in enumerate(chosen):
            if progress:
                progress(name, done, len(chosen))
            try:
                if name in tables:
                    rows = filtered(name, engine.table(con, name), only)
                else:
                    rows = _relation(con, name, only).to_arrow_reader(100_000)
            except AuditError:
                # Without a name, what the filter cannot be applied to is left out.
                if names:
                    raise
                continue
            path = out / f"{name}.{fmt}"
            write_rows(rows, path, fmt)
            yield path
    if progress:
        progress("done", len(chosen), len(chosen))


def _relation(con: duckdb.DuckDBPyConnection, name: str, only: Filter) -> duckdb.DuckDBPyRelation:
    """Return the rows of a relation that are asked for, sorted by its key."""
    columns = con.table(name).columns
    if name in engine.stage_names():
        key = engine.header(name)["grain"]
    else:
        key = ", ".join(c for c in ATTEMPT_KEY if c in columns) if "seed" in columns else "all"
    return con.sql(f"from {name} where {condition(name, columns, only)} order by {key}")


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
