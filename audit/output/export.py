"""Tables and relations as CSV or Parquet files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import duckdb

from audit import database, engine
from audit.errors import AuditError, first_line
from audit.output.filters import NO_FILTER, Filter, filter_rows, write_condition
from audit.output.write import Rows, write_rows
from audit.progress import Progress
from audit.text import not_there

# The columns that identify an attempt, and the encoding of its token counts.
ATTEMPT_KEY = ("archive", "competition", "question_id", "seed", "encoding")
# With more archives than this, tables of all archive pairs are written only when named.
MOST_PAIRED_UNNAMED = 100


def export(
    con: duckdb.DuckDBPyConnection,
    out: Path,
    names: Sequence[str] = (),
    fmt: str = "csv",
    only: Filter = NO_FILTER,
    progress: Progress | None = None,
    left_out: dict[str, str] | None = None,
) -> Iterator[Path]:
    """Write each named table or relation, sorted by its key; without a name, every table.

    Without a name, tables that cannot be written are added to `left_out`, with the reason.
    """
    tables = tuple(engine.list_tables())
    existing = (*tables, *engine.PUBLIC_RELATIONS)
    for name in names:
        if name not in existing:
            raise AuditError(not_there("table or relation", name, existing))
    database.require_replays(con)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"{out}: cannot be made a folder: {first_line(error)}") from None
    ((archives,),) = con.execute("select count(*) from archives").fetchall()
    skipped = {} if left_out is None else left_out
    if not names:
        skipped |= {n: f"{n}: {why}; name it" for n, why in too_many_pairs(archives).items()}
    chosen = names or sorted(set(tables) - set(skipped))
    with engine.prepared(con, engine.find_relations_behind(chosen)):
        for done, name in enumerate(chosen):
            if progress:
                progress(name, done, len(chosen))
            try:
                rows = _read_rows(con, name, only)
            except AuditError as error:
                if names:
                    raise
                skipped[name] = str(error)
                continue
            path = out / f"{name}.{fmt}"
            write_rows(rows, path, fmt)
            yield path
    if progress:
        progress("done", len(chosen), len(chosen))


def _read_rows(con: duckdb.DuckDBPyConnection, name: str, only: Filter) -> Rows:
    """Return the filtered rows of a table or relation, sorted by its key."""
    if engine.is_table(name):
        return filter_rows(name, engine.compute_table(con, name), only)
    columns = con.table(name).columns
    if name in engine.list_files():
        key = engine.read_header(name)["grain"]
    else:
        key = ", ".join(c for c in ATTEMPT_KEY if c in columns) if "seed" in columns else "all"
    rows = con.sql(f"from {name} where {write_condition(name, columns, only)} order by {key}")
    return rows.to_arrow_reader(100_000)


def too_many_pairs(archives: int) -> dict[str, str]:
    """Return the tables with a row per pair of archives, and why, if there are too many pairs."""
    if archives <= MOST_PAIRED_UNNAMED:
        return {}
    pairs = f"{archives:,} archives make {archives * (archives - 1) // 2:,} pairs"
    names = engine.list_tables()
    return {n: pairs for n in names if "interval_comparisons" in engine.list_intervals(n)}
