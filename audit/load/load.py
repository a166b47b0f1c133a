"""Load archives into the database: checked on the way in, streamed, and all or nothing."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple

import duckdb
import pyarrow as pa

from audit.database import SCHEMA_VERSION, check_schema, transaction
from audit.engine import drop_replays, resource
from audit.errors import AuditError, explained
from audit.load.names import Numbering, number_problems
from audit.load.provenance import (
    answer_note,
    answer_pattern,
    cost_note,
    grade_note,
    raw_answers,
    remember,
)
from audit.sources import CONTAINERS, SourceFile, find_files, shown
from audit.sources.canonical import COLUMNS, normal_answers, read_columns
from audit.sources.formats import Choices, formats
from audit.sources.needs import require
from audit.sources.readers import Chunk, Source, listed, open_source

__all__ = ["answer_note", "cost_note", "grade_note", "load"]

ATTEMPT_KEY = "archive varchar, competition varchar, question_id bigint, seed bigint"
SCHEMA = {
    "attempts": f"{ATTEMPT_KEY}, slot integer, prompt_tokens bigint, completion_tokens bigint, "
    "finish_reason varchar, answer varchar, archive_answer varchar, mean_logprob double, "
    "eligible boolean",
    "texts": f"{ATTEMPT_KEY}, text varchar",
    "raw_answers": f"{ATTEMPT_KEY}, raw_answer varchar",
    "labels": f"{ATTEMPT_KEY}, correct boolean",
    "accepted_references": "archive varchar, competition varchar, question_id bigint, "
    "reference varchar",
    "problem_labels": "competition varchar, question_id bigint, label varchar",
    "sources": "file varchar, archive varchar, format varchar, bytes bigint, sha256 varchar, "
    "rows bigint, mapping varchar, simulated boolean",
    "meta": "key varchar, value varchar",
    "token_counts": f"{ATTEMPT_KEY}, encoding varchar, counted bigint, reconciled boolean",
    "prefix_cuts": f"{ATTEMPT_KEY}, encoding varchar, remaining bigint, any_box boolean, "
    "last_box boolean, answer varchar",
}
RELATIONS = {*SCHEMA, "grades"}
# Filled by the select of that name in sql/load; texts have gone in before.
FILLED = ("attempts", "raw_answers", "labels", "accepted_references", "sources")
# Filled by tokenize: they depend on texts alone, and are kept as long as those.
TOKENIZED = ("token_counts", "prefix_cuts")

KEY_FIELDS = [
    ("archive", pa.string()),
    ("competition", pa.string()),
    ("question_id", pa.int64()),
    ("seed", pa.int64()),
]
TEXTS = pa.schema([*KEY_FIELDS, ("text", pa.large_string())])
INCOMING = pa.schema(
    [
        ("file", pa.int32()),
        ("row", pa.int64()),
        *KEY_FIELDS,
        ("prompt_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("finish_reason", pa.string()),
        ("raw_answer", pa.string()),
        ("answer", pa.string()),
        ("archive_answer", pa.string()),
        ("mean_logprob", pa.float64()),
        ("correct", pa.bool_()),
        ("accepted", pa.list_(pa.string())),
        ("has_text", pa.bool_()),
    ]
)
# One statement inserts the texts of a segment, so that DuckDB compresses them on every core; the
# other columns of the segment wait in memory, up to this size.
SEGMENT_BYTES = 64_000_000
# Each thread writes its row groups as they fill: less memory, and none waits for another.
STREAMING = {"preserve_insertion_order": "false", "write_buffer_row_group_count": "1"}

Progress = Callable[[int, int, str], None]


class ArchiveSummary(NamedTuple):
    """What was loaded of one archive."""

    archive: str
    attempts: int
    problems: int


@dataclass(frozen=True)
class LoadSummary:
    """What was loaded, and whether that cost the database its replays."""

    archives: list[ArchiveSummary]
    files: int
    rows: int
    with_texts: int
    replays_dropped: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Batch:
    """Checked rows on their way into the database."""

    segment: int
    archives: set[str]
    rows: pa.RecordBatch
    texts: pa.RecordBatch


def load(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[str],
    *,
    replace: bool = False,
    texts: bool = True,
    format: str | None = None,
    mapping: Mapping[str, str] | None = None,
    archive: str | None = None,
    competition: str | None = None,
    finish_reason: str | None = None,
    count_tokens: str | None = None,
    answer: str = "boxed",
    grade: str | None = None,
    references: str | None = None,
    progress: Progress | None = None,
) -> LoadSummary:
    """Load every file of the sources in one transaction, or change nothing."""
    choices = Choices(
        mapping or {}, archive, competition, finish_reason, count_tokens, answer, grade, references
    )
    check_choices(format, choices)
    files = find_files(sources)
    opened: list[Source] = []
    try:
        with _settings_kept(con, *STREAMING) as restore, transaction(con):
            check_schema(con)
            create_schema(con)
            archives = con.execute("select distinct archive from attempts").fetchall()
            present = {archive for (archive,) in archives}
            numbering = Numbering()
            batches = _read(files, opened, present, replace, format, choices, numbering, progress)
            for name, value in STREAMING.items():
                con.execute(f"set {name} = {value}")
            _stage(con, batches, present, texts)
            restore()
            number_problems(con, numbering)
            _refuse_duplicates(con, files)
            _fill(con, opened)
            remember(con, answer)
            summary = _summarize(con, opened, texts, _drop_replays(con))
            con.execute("drop table incoming")
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise AuditError(f"the database could not be written: {explained(error)}") from None
    return summary


def check_choices(format: str | None, choices: Choices) -> None:
    """Refuse an option that means nothing."""
    known = (*CONTAINERS, *formats())
    if format is not None and format not in known:
        raise AuditError(f"--format {format}: no such format; there are {', '.join(known)}")
    for name, origin in choices.mapping.items():
        if name not in COLUMNS:
            raise AuditError(
                f"--map {name}={origin}: no column {shown(name)} in the canonical schema; "
                f"it has {', '.join(COLUMNS)}"
            )
    if choices.grade not in (None, "references"):
        raise AuditError(f"--grade {choices.grade}: there is only --grade references")
    for option in ("archive", "competition", "finish_reason"):
        if getattr(choices, option) == "":
            raise AuditError(f"--{option.replace('_', '-')}: must not be empty")
    answer_pattern(choices.answer)


@contextmanager
def _settings_kept(con: duckdb.DuckDBPyConnection, *names: str) -> Iterator[Callable[[], None]]:
    """Put DuckDB's settings back as they were, at the end and whenever that is asked for."""
    before = {
        name: con.execute("select current_setting(?)", [name]).fetchall()[0][0] for name in names
    }

    def restore() -> None:
        for name, value in before.items():
            con.execute(f"set {name} = {value}")

    try:
        yield restore
    finally:
        restore()


def create_schema(con: duckdb.DuckDBPyConnection) -> None:
    """Create whatever is missing of the relations that load fills."""
    for name, columns in SCHEMA.items():
        con.execute(f"create table if not exists {name} ({columns})")
    con.execute(f"create view if not exists grades as {_sql('grades')}")
    if not con.execute("select 1 from meta where key = 'schema_version'").fetchone():
        con.execute(
            "insert into meta values ('schema_version', ?), ('replays', 'none')", [SCHEMA_VERSION]
        )


def _sql(name: str) -> str:
    return (resource("sql") / "load" / f"{name}.sql").read_text(encoding="utf-8")


def _read(
    files: Sequence[SourceFile],
    opened: list[Source],
    present: set[str],
    replace: bool,
    format: str | None,
    choices: Choices,
    numbering: Numbering,
    progress: Progress | None,
) -> Iterator[Batch]:
    """Read every file; a new segment begins where an archive to replace is met."""
    total, before = sum(file.bytes for file in files), 0
    met: set[str] = set()
    segment, size = 0, 0
    for index, file in enumerate(files):
        source = open_source(file, format, choices)
        require(source, choices)
        opened.append(source)
        for chunk in source.chunks:
            columns = read_columns(source, chunk)
            archives = set(columns["archive"].unique().to_pylist())
            known = (archives - met) & present
            if known and not replace:
                raise AuditError(
                    f"{file.label}: archive {shown(min(known))} is already in the database; "
                    "pass --replace to put this one in its place"
                )
            if known or size > SEGMENT_BYTES:
                segment, size = segment + 1, 0
            if source.is_labelled:
                numbers = numbering.number(columns["competition"], columns["question_id"])
                columns["question_id"] = numbers
            _answer(source, columns, chunk, choices)
            batch = _batch(index, segment, archives, columns, chunk)
            met |= archives
            size += batch.rows.nbytes
            yield batch
            if progress:
                progress(before + chunk.done, total, file.label)
        before += file.bytes


def _answer(source: Source, columns: dict[str, pa.Array], chunk: Chunk, choices: Choices) -> None:
    """Add the answers of a chunk, and where it is asked for the labels that follow from them."""
    columns["raw_answer"] = raw_answers(
        choices.answer,
        columns["text"],
        columns["boxed_answer"],
        lambda: listed(chunk, "archive_answer"),
    )
    columns["answer"] = normal_answers(columns["raw_answer"])
    if choices.grade is None:
        return
    labels = []
    pairs = zip(columns["answer"].to_pylist(), columns["references"].to_pylist(), strict=True)
    for row, (answer, accepted) in zip(chunk.rows, pairs, strict=True):
        if not accepted:
            raise AuditError(
                f"{source.file.label}: row {row}, column references: --grade references needs one"
            )
        labels.append(answer in accepted)
    columns["correct"] = pa.array(labels, pa.bool_())


def _batch(
    index: int, segment: int, archives: set[str], columns: dict[str, pa.Array], chunk: Chunk
) -> Batch:
    """The checked columns of a chunk as the rows and the texts that go in."""
    columns["file"] = pa.repeat(pa.scalar(index, pa.int32()), len(chunk.rows))
    columns["row"] = pa.array(chunk.rows, pa.int64())
    columns["accepted"] = columns["references"]
    columns["has_text"] = columns["text"].is_valid()
    rows, texts = (
        pa.RecordBatch.from_arrays([columns[name] for name in schema.names], schema=schema)
        for schema in (INCOMING, TEXTS)
    )
    return Batch(segment, archives, rows, texts)


def _stage(
    con: duckdb.DuckDBPyConnection, batches: Iterator[Batch], present: set[str], texts: bool
) -> None:
    """Put texts into their table and all else into `incoming`, segment by segment."""
    _insert(con, "create temp table incoming as", INCOMING.empty_table())
    outdated = set(present)
    for _, segment in groupby(batches, key=lambda batch: batch.segment):
        first = next(segment)
        _remove(con, first.archives & outdated)
        outdated -= first.archives
        staged: list[pa.RecordBatch] = []
        stream = _set_rows_aside(chain([first], segment), staged)  # noqa: B031
        if texts:
            _insert_stream(con, "texts", TEXTS, stream)
        else:
            for _ in stream:
                pass
        _insert(con, "insert into incoming", pa.Table.from_batches(staged))


def _set_rows_aside(
    batches: Iterable[Batch], staged: list[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Pass texts on, and keep what else there is."""
    for batch in batches:
        staged.append(batch.rows)
        yield batch.texts


def _remove(con: duckdb.DuckDBPyConnection, archives: set[str]) -> None:
    for archive in sorted(archives):
        for table in ("texts", *FILLED, *TOKENIZED):
            con.execute(f"delete from {table} where archive = ?", [archive])


def _insert(con: duckdb.DuckDBPyConnection, statement: str, rows: pa.Table) -> None:
    con.register("arriving", rows)
    con.execute(f"{statement} select * from arriving")
    con.unregister("arriving")


def _insert_stream(
    con: duckdb.DuckDBPyConnection,
    table: str,
    schema: pa.Schema,
    batches: Iterator[pa.RecordBatch],
) -> None:
    """Insert batches as they are read; an error of the reading comes out as it went in."""
    failures: list[BaseException] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:
            failures.append(error)
            raise

    reader = pa.RecordBatchReader.from_batches(schema, watched())
    try:
        _insert(con, f"insert into {table}", reader)
    except Exception:
        if failures:
            raise failures[0] from None
        raise


def _refuse_duplicates(con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile]) -> None:
    twice = con.execute(f"{_sql('duplicates')} limit 1").fetchone()
    if twice is None:
        return
    archive, competition, question_id, seed, file, row, first_file, first_row = twice
    label = con.execute(
        "select label from problem_labels where competition = ? and question_id = ?",
        [competition, question_id],
    ).fetchone()
    problem = question_id if label is None else shown(label[0])
    raise AuditError(
        f"{files[file].label}: row {row}, column seed: attempt (archive {shown(archive)}, "
        f"competition {shown(competition)}, question_id {problem}, seed {seed}) "
        f"is already in {files[first_file].label}: row {first_row}; an attempt may occur only once"
    )


def _fill(con: duckdb.DuckDBPyConnection, opened: Sequence[Source]) -> None:
    """Fill each table from the rows that wait in `incoming`."""
    files = {
        "file": list(range(len(opened))),
        # A file's name may be any bytes.
        "name": [source.file.name.encode(errors="backslashreplace").decode() for source in opened],
        "format": [source.format for source in opened],
        "bytes": [source.file.bytes for source in opened],
        "sha256": [_sha256(source.file) for source in opened],
        "mapping": [json.dumps(source.mapping) for source in opened],
        "simulated": [source.is_simulated for source in opened],
    }
    con.register("incoming_files", pa.table(files))
    for name in FILLED:
        con.execute(f"insert into {name} {_sql(name)}")
    con.unregister("incoming_files")


def _sha256(file: SourceFile) -> str:
    with open(file.path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _drop_replays(con: duckdb.DuckDBPyConnection) -> bool:
    """Drop what was computed from the attempts as they were; say whether there was any."""
    made = drop_replays(con)
    con.execute("update meta set value = 'stale' where key = 'replays' and value = 'fresh'")
    return made


def _summarize(
    con: duckdb.DuckDBPyConnection, opened: Sequence[Source], texts: bool, replays_dropped: bool
) -> LoadSummary:
    archives = con.execute(
        """
        select archive, count(*), count(distinct (competition, question_id))
        from incoming
        group by archive
        order by archive
        """
    ).fetchall()
    counted = con.execute("select count(*), count(*) filter (has_text) from incoming").fetchall()
    ((rows, with_texts),) = counted
    return LoadSummary(
        [ArchiveSummary(*row) for row in archives],
        len(opened),
        rows,
        with_texts if texts else 0,
        replays_dropped,
        tuple(note for source in opened for note in told(source)),
    )


def told(source: Source) -> list[str]:
    """What was met in a file and should be told."""
    return [f"{source.file.label}: {count:,} {note}" for note, count in source.notes.items()]
