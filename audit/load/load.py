"""Load archives into the database: checked on the way in, streamed, and all or nothing."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import Any

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, answer_pattern
from audit.database import check_schema, transaction
from audit.engine import comment_relations, quality, render
from audit.errors import AuditError, explained
from audit.load.gate import require_fit, settle_labels
from audit.load.names import number_problems, shown_problem
from audit.load.provenance import remember, require_one_kind
from audit.load.schema import FILLED, create_schema
from audit.load.staging import Staging, make_stale, stage, streaming
from audit.options import Reading, takes
from audit.progress import Progress
from audit.sources.canonical import COLUMNS, find_column
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, SourceFile, check_unchanged, excerpt
from audit.sources.formats import formats
from audit.sources.opening import readable_files
from audit.sources.scores import check_mapped

HASHED_BYTES = 1_000_000
ONCE = "an attempt may occur only once"
TWO_RUNS = (
    "; if these are two runs, pass --runs separate (an archive each) or --runs append "
    "(further attempts)"
)


@dataclass(frozen=True)
class LoadSummary:
    """What was loaded, a row per archive, the notes to report, and whether replays were dropped."""

    archives: pa.Table
    files: int
    rows: int
    replays_dropped: bool
    notes: tuple[str, ...]


@takes
def load(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[str | SourceFile],
    *,
    replace: bool = False,
    texts: bool = True,
    reading: Reading,
    progress: Progress | None = None,
) -> LoadSummary:
    """Load every file of the sources in one transaction, or change nothing."""
    check_reading(reading)
    files, skipped = readable_files(sources, reading)
    try:
        with hashing(files) as sha256, streaming(con) as restore, transaction(con):
            check_schema(con)
            create_schema(con)
            archives = con.execute("select distinct archive from attempts").fetchall()
            present = {name for (name,) in archives}
            staging = Staging(files, reading, present, replace, progress)
            stage(con, staging, texts)
            restore()
            left_out = settle_labels(con, reading.unlabelled)
            number_problems(con, staging.numbering)
            refuse_duplicates(con, files)
            require_one_kind(con, reading.answer, numbers=reading.numbers)
            facts = [file_facts(source, sha256(source.file)) for source in staging.opened]
            with incoming_files(con, dict(enumerate(facts))):
                fill_records(con, FILLED)
            loaded = con.sql(render("loaded_archives")).to_arrow_table()
            names = set(loaded["archive"].to_pylist())
            if not reading.force:
                require_fit(con, names, reading.answer)
            quality.count_dropped(con, left_out)
            remember(con, reading.answer, numbers=reading.numbers)
            quality.count_records(con, names, "incoming")
            notes = [f"left out: {reason}" for reason in skipped]
            notes += [note for source in staging.opened for note in source_notes(source)]
            notes += grade_notes(con) if reading.grade else []
            con.execute("drop table incoming")
            dropped = make_stale(con)
            comment_relations(con)
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise AuditError(f"the database could not be written: {explained(error)}") from None
    rows = sum(loaded["attempts"].to_pylist())
    return LoadSummary(loaded, len(files), rows, dropped, tuple(notes))


def check_reading(reading: Reading) -> None:
    """Refuse an option that means nothing."""
    names = (*CONTAINERS, *formats())
    if reading.format is not None and reading.format not in names:
        raise AuditError(f"--format {reading.format}: no such format; there are {', '.join(names)}")
    for name, origin in reading.mapping.items():
        check_mapped(name, origin)
        if find_column(name) is None:
            raise AuditError(
                f"--map {name}={origin}: no column {excerpt(name)} in the canonical schema; "
                f"it has {', '.join(COLUMNS)}, score_NAME"
            )
    for option in ("archive", "competition", "finish_reason"):
        if getattr(reading, option) == "":
            raise AuditError(f"--{option.replace('_', '-')}: must not be empty")
    answer_pattern(reading.answer)
    if reading.answer == NO_ANSWER and reading.grade is not None:
        raise AuditError(
            "--grade references compares answers, and --answer none reads none; leave out one"
        )


def refuse_duplicates(con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile]) -> None:
    """Refuse an attempt that comes in twice, naming both places."""
    twice = con.execute(f"{render('duplicate_attempts')} limit 1").fetchone()
    if twice is None:
        return
    archive, competition, question_id, seed, file, row, first_file, first_row = twice
    problem = shown_problem(con, competition, question_id)
    raise files[file].error(
        f"row {row}, column seed: attempt (archive {excerpt(archive)}, "
        f"competition {excerpt(competition)}, question_id {problem}, seed {seed}) is already in "
        f"{files[first_file].shown_name}: row {first_row}; {ONCE}"
        + (TWO_RUNS if file != first_file else "")
    )


def file_facts(source: Source, sha256: str) -> dict[str, Any]:
    """What `sources` says of a file."""
    return {
        # A file's name may be any bytes.
        "name": source.file.name.encode(errors="backslashreplace").decode(),
        "format": source.format,
        "bytes": source.file.bytes,
        "sha256": sha256,
        "mapping": json.dumps(source.mapping),
        "simulated": source.is_simulated,
    }


@contextmanager
def incoming_files(
    con: duckdb.DuckDBPyConnection, files: Mapping[int, Mapping[str, Any]]
) -> Iterator[None]:
    """Have `incoming_files`, what is known of each file by its number, while tables are filled."""
    rows = [{"file": number, **facts} for number, facts in files.items()]
    con.register("incoming_files", pa.Table.from_pylist(rows))
    yield
    con.unregister("incoming_files")


def fill_records(con: duckdb.DuckDBPyConnection, names: Sequence[str]) -> None:
    """Fill some tables from the rows that wait in `incoming`, and with them what is accepted."""
    con.execute(f"create temp table incoming_references as {render('incoming_references')}")
    for name in names:
        con.execute(f"insert into {name} {render(name)}")
    con.execute("drop table incoming_references")
    # What any archive names may be accepted in others, also in those that were there.
    con.execute("delete from accepted_references where references_id = 0")
    con.execute(f"insert into accepted_references {render('shared_references')}")


@contextmanager
def hashing(files: Sequence[SourceFile]) -> Iterator[Callable[[SourceFile], str]]:
    """What gives the SHA-256 of each file: they are hashed in turn while they are loaded."""
    is_over = Event()
    pool = ThreadPoolExecutor(1)
    hashes = {file: pool.submit(_hash, file, is_over) for file in files}

    def sha256(file: SourceFile) -> str:
        digest = hashes[file].result()
        check_unchanged(file)
        return digest

    try:
        yield sha256
    finally:
        is_over.set()
        pool.shutdown(cancel_futures=True)


def _hash(file: SourceFile, is_over: Event) -> str:
    """The SHA-256 of a file, as far as it is wanted."""
    if file.sample is not None:
        return ""  # It is only tried.
    digest = hashlib.sha256()
    with open(file.path, "rb") as stream:
        while not is_over.is_set() and (block := stream.read(HASHED_BYTES)):
            digest.update(block)
    return digest.hexdigest()


def source_notes(source: Source) -> list[str]:
    """The notes to report about a file."""
    return [f"{source.file.shown_name}: {count:,} {note}" for note, count in source.notes.items()]


def grade_notes(con: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """How often answers match the references, and what the sources' own labels say."""
    for archive, attempts, matched, recorded, recorded_correct, agreed in con.execute(
        render("grade_agreement")
    ).fetchall():
        share = _percent(matched, attempts)
        line = f"--grade references: archive {excerpt(archive)}: {share} match"
        if recorded:
            line += (
                f"; the source's own labels call {_percent(recorded_correct, recorded)} correct, "
                f"and {_percent(agreed, recorded)} agree"
            )
        if not matched:
            line += "; are the references whole solutions, or written in another way?"
        yield line


def _percent(count: int, total: int) -> str:
    return f"{count:,} of {total:,} ({100 * count / total:.2f} %)"
