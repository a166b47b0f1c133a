"""Read files into checked rows: texts go into `texts`, all other columns into `incoming`."""

from collections.abc import Collection, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from audit.answers.extract import NO_ANSWER, extract_answers, normalize_answers, rewrite_numbers
from audit.database import insert
from audit.database.arrow import create_empty
from audit.database.schema import BY_ARCHIVE
from audit.engine import render
from audit.engine.batches import group_batches
from audit.errors import AuditError
from audit.load.schema import CARRIED, INCOMING, KEY_FIELDS, SCORES
from audit.options import Reading
from audit.progress import Progress
from audit.sources.canonical import COLUMNS, SCORE_PREFIX, read_columns
from audit.sources.containers import CONTAINERS
from audit.sources.files import Chunk, Source, SourceFile, excerpt
from audit.sources.missing import require_columns
from audit.sources.opening import open_source
from audit.sources.runs import Runs
from audit.sources.unused import keep_unused

TEXTS = pa.schema([*KEY_FIELDS, ("text", pa.large_string())])
# The schema of checked rows: `incoming`, and the text.
ROWS = INCOMING.append(TEXTS.field("text"))
# Rows are inserted together up to this size, so that DuckDB fills whole groups and compresses them
# on every core.
TOGETHER_BYTES = 64_000_000


@dataclass(frozen=True)
class Staging:
    """The files to read, the options for reading them, and the state while they are read."""

    files: Sequence[SourceFile]
    reading: Reading
    # Archives in the database, and whether files may replace them.
    present: Collection[str] = ()
    replace: bool = False
    progress: Progress | None = None
    # The source of a select, if one reads all files together.
    selected: Source | None = None
    opened: list[Source] = field(default_factory=list)
    # Provisional numbers, below 0, of competitions and names of problems.
    numbering: dict[tuple[str, str], int] = field(default_factory=dict)


def read_files(staging: Staging) -> Generator[pa.RecordBatch]:
    """Read all files in chunks of checked rows; refuse archives that are already loaded."""
    total, before = sum(file.bytes for file in staging.files), 0
    met: set[str] = set()
    reading, runs = staging.reading, Runs(staging.reading.runs)
    for index, file in enumerate(staging.files):
        if staging.selected is not None and index:
            return
        source = staging.selected or runs.without_clashes(open_source(file, reading))
        require_columns(source, reading)
        if source.format in CONTAINERS and file.sample is None:
            keep_unused(source)
        staging.opened.append(source)
        if reading.finished:
            source.mapping["finished"] = ", ".join(reading.finished)
        source.mapping.update(source.live)
        for chunk in source.chunks:
            columns = _check_columns(source, chunk, staging)
            archives = set(columns["archive"].unique().to_pylist())
            loaded = (archives - met).intersection(staging.present)
            if loaded and not staging.replace:
                raise file.error(
                    f"archive {excerpt(min(loaded))} is already in the database; pass --replace to "
                    "put this one in its place"
                )
            met |= archives
            yield _build_batch(index, columns, chunk)
            if staging.progress:
                staging.progress(file.shown_name, before + chunk.done, total)
        before += file.bytes


def _check_columns(source: Source, chunk: Chunk, staging: Staging) -> dict[str, pa.Array]:
    """Check the columns of a chunk; add problem numbers, answers and eligibility."""
    reading = staging.reading
    is_graded = reading.grade is not None
    names = {*COLUMNS, *chunk.values}
    columns = read_columns(source, chunk, names - {"correct"} if is_graded else names)
    columns["problem"] = pa.nulls(len(chunk.rows), pa.string())
    if source.has_problem_names:
        columns["problem"] = columns["question_id"]
        problems = zip(*(columns[n].to_pylist() for n in ("competition", "problem")), strict=True)
        met = staging.numbering
        numbers = [met.setdefault(problem, -1 - len(met)) for problem in problems]
        columns["question_id"] = pa.array(numbers, pa.int64())
    if reading.finished:
        is_finished = pc.is_in(columns["finish_reason"], pa.array(reading.finished, pa.string()))
        columns["finish_reason"] = pc.if_else(is_finished, "stop", columns["finish_reason"])
    columns["recorded_box"] = columns["boxed_answer"]
    columns["recorded_answer"] = columns["archive_answer"]
    columns["raw_answer"] = extract_answers(
        reading.answer, columns["text"], columns["boxed_answer"], columns["recorded_answer"]
    )
    for name, raw in (("answer", "raw_answer"), ("archive_answer", "recorded_answer")):
        columns[name] = normalize_answers(columns[raw], numbers=reading.numbers)
    accepted = columns["references"]
    if reading.numbers and not accepted.null_count:
        offsets = pc.subtract(accepted.offsets, accepted.offsets[0])
        references = rewrite_numbers(accepted.flatten())
        columns["references"] = pa.ListArray.from_arrays(offsets, references)
    columns["eligible"] = pc.equal(columns["finish_reason"], "stop")
    if reading.answer == NO_ANSWER:
        columns["archive_answer"] = columns["answer"]
    else:
        columns["eligible"] = pc.and_(columns["eligible"], columns["answer"].is_valid())
    columns["recorded"] = _read_labels(source, chunk) if is_graded else columns["correct"]
    return columns


def _read_labels(source: Source, chunk: Chunk) -> pa.Array:
    """Read the source's own labels beside --grade; return nulls if one is invalid."""
    try:
        return read_columns(source, chunk, {"correct"})["correct"]
    except AuditError:
        return pa.nulls(len(chunk.rows), pa.bool_())


def _build_batch(index: int, columns: dict[str, pa.Array], chunk: Chunk) -> pa.RecordBatch:
    """Combine the checked columns of a chunk into a record batch with the schema `ROWS`."""
    columns["file"] = pa.array(chunk.files or [index] * len(chunk.rows), pa.int32())
    columns["row"] = pa.array(chunk.rows, pa.int64())
    columns["accepted"] = columns["references"]
    columns["has_text"] = columns["text"].is_valid()
    carried = [columns[field.name] for field in CARRIED]
    columns["carried"] = pa.StructArray.from_arrays(carried, fields=list(CARRIED))
    columns["scores"] = _combine_scores(columns, len(chunk.rows))
    return pa.RecordBatch.from_arrays([columns[name] for name in ROWS.names], schema=ROWS)


def _combine_scores(columns: dict[str, pa.Array], rows: int) -> pa.Array:
    """Combine all score columns into one list per row, of score names with values."""
    names = sorted(name for name in columns if name.startswith(SCORE_PREFIX))
    if not names:
        return pa.repeat(pa.scalar([], SCORES), rows)
    # The order is row by row, each with all scores in turn, missing ones included.
    at = pa.array(np.arange(rows * len(names)).reshape(len(names), rows).T.ravel())
    values = pa.concat_arrays([columns[name] for name in names]).take(at)
    scores = pa.array([name.removeprefix(SCORE_PREFIX) for name in names] * rows)
    pairs = pa.StructArray.from_arrays([scores, values], fields=list(SCORES.value_type))
    offsets = pa.array(range(0, len(pairs) + 1, len(names)), pa.int32())
    return pa.ListArray.from_arrays(offsets, pairs)


def stage_files(con: duckdb.DuckDBPyConnection, staging: Staging, texts: bool) -> None:
    """Read all files into the tables `texts` and `incoming`, and measure the texts."""
    insert(con, "create temp table incoming as", INCOMING.empty_table())
    create_empty(con, "temp table", "text_measures", render("text_measures"))
    outdated = set(staging.present)
    with closing(read_files(staging)) as read_batches, duckdb.connect() as beside:
        for together in group_batches(read_batches, lambda rows: (rows.nbytes,), (TOGETHER_BYTES,)):
            rows = pa.Table.from_batches(together)
            archives = set(rows["archive"].unique().to_pylist())
            remove_archives(con, archives & outdated)
            outdated -= archives
            insert(con, "insert into incoming", rows.select(INCOMING.names))
            if texts:
                text_rows = rows.select(TEXTS.names)
                insert(con, "insert into texts", text_rows)
                # Measure the texts here: read back from the table they come in batches of 2,048.
                beside.register("texts", text_rows)
                measures = beside.sql(render("text_measures")).to_arrow_table()
                insert(con, "insert into text_measures", measures)


def remove_archives(con: duckdb.DuckDBPyConnection, archives: set[str]) -> None:
    """Delete archives, and archives derived from them, from every table."""
    if not archives:
        return
    derived = con.execute(
        "select distinct archive from sources where format = 'derived' "
        "and list_contains(?, json_extract_string(mapping, 'derived_from'))",
        [sorted(archives)],
    ).fetchall()
    for archive in sorted({*archives, *(name for (name,) in derived)}):
        for table in BY_ARCHIVE:
            con.execute(f"delete from {table} where archive = ?", [archive])


def remove_derived(con: duckdb.DuckDBPyConnection) -> int:
    """Delete all derived archives; return their number."""
    rows = con.execute("select distinct archive from sources where format = 'derived'").fetchall()
    remove_archives(con, {name for (name,) in rows})
    return len(rows)
