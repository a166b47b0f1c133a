"""Load attempts into the database: read in chunks, check, insert in one transaction."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, compile_pattern
from audit.database import check_schema, transaction
from audit.engine import comment_relations, make_stale, quality, render
from audit.errors import AuditError
from audit.load.checkpoints import find_checkpoint_file, load_checkpoints, name_file
from audit.load.gate import require_answers, settle_labels
from audit.load.names import name_problem, number_problems
from audit.load.provenance import require_one_kind, store_provenance
from audit.load.schema import FILLED, create_schema, temporary_tables
from audit.load.staging import Staging, stage_files
from audit.options import Reading, read_options
from audit.progress import Progress
from audit.sources.canonical import COLUMNS, find_column
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, SourceFile, check_unchanged, excerpt
from audit.sources.formats import load_formats
from audit.sources.opening import find_readable_files
from audit.sources.scores import check_mapped_score
from audit.sources.selects import is_selected, open_select, read_arguments
from audit.text import first_names, visible

NAMES_SHOWN = 5
DERIVED = "sources where format = 'derived'"
ONCE = "an attempt may occur only once"
DIFFER = "; the rows differ in "
TWO_RUNS = (
    "; if these are two runs, pass --runs separate (an archive each) or --runs append "
    "(further attempts)"
)


@dataclass(frozen=True)
class LoadSummary:
    """The result of a load: a row per archive, counts, notes, and if replays became stale."""

    archives: pa.Table
    files: int
    rows: int
    replays_dropped: bool
    notes: tuple[str, ...]


def load(
    con: duckdb.DuckDBPyConnection,
    sources: Sequence[str | SourceFile],
    *,
    replace: bool = False,
    texts: bool = True,
    reading: Reading | None = None,
    progress: Progress | None = None,
    **options: Any,
) -> LoadSummary:
    """Load all files of the sources in one transaction; an error changes nothing.

    Pass the options of reading as a `reading`, or by their names.
    """
    reading = reading or read_options(Reading, options)
    check_reading(reading)
    select = read_arguments(sources) if is_selected(sources, reading) else []
    files, skipped = [file for argument in select for file in argument.files], list[str]()
    if not select:
        files, skipped = find_readable_files(sources, reading)
    checkpoints = find_checkpoint_file(reading)
    with transaction(con):
        check_schema(con)
        create_schema(con)
        present, derived = _list_archives(con, "attempts"), _list_archives(con, DERIVED)
        selected = open_select(select, reading, con) if select else None
        staging = Staging(files, reading, present, replace, progress, selected)
        stage_files(con, staging, texts)
        # One select reads all files, so it is the source of each.
        sources_of = [selected] * len(files) if selected else staging.opened
        facts = [describe_file(*pair) for pair in zip(sources_of, files, strict=True)]
        if checkpoints:
            source = Source(checkpoints, "checkpoints", {}, iter(()))
            facts.append(describe_file(source, checkpoints))
        loaded, settled = finish_load(
            con, reading, files, dict(enumerate(facts)),
            opened=staging.opened, checkpoints=checkpoints,
        )  # fmt: skip
        notes = [f"left out: {reason}" for reason in skipped]
        notes += [note for source in staging.opened for note in format_notes(source)]
        names = set(loaded["archive"].to_pylist())
        notes += settled
        notes += [
            f"removed archive {excerpt(name)}: it was derived from a replaced one; derive it again "
            "with budget-audit leave"
            for name in sorted(derived - _list_archives(con, DERIVED) - names)
        ]
        dropped = make_stale(con)
        comment_relations(con)
    rows = sum(loaded["attempts"].to_pylist())
    return LoadSummary(loaded, len(files), rows, dropped, tuple(notes))


def finish_load(
    con: duckdb.DuckDBPyConnection,
    reading: Reading,
    files: list[SourceFile],
    facts: Mapping[int, Mapping[str, Any]],
    *,
    opened: Sequence[Source] = (),
    checkpoints: SourceFile | None = None,
) -> tuple[pa.Table, list[str]]:
    """Label, number, check and insert the rows of `incoming`; return archives and notes.

    `facts` holds the row of `sources` for each file number; the checkpoint file is the last.
    """
    con.execute(f"create temp table if not exists text_measures as {render('text_measures')}")
    if reading.grade:
        _grade_attempts(con, files)
    left_out = settle_labels(con, reading.unlabelled)
    number_problems(con)
    _refuse_duplicates(con, files, opened)
    notes = load_checkpoints(con, files, checkpoints, reading)
    require_one_kind(con, reading.answer, numbers=reading.numbers)
    _fill_tables(con, facts)
    loaded = con.sql(render("loaded_archives")).to_arrow_table()
    names = set(loaded["archive"].to_pylist())
    if not reading.force:
        require_answers(con, names, reading.answer)
    quality.count_dropped(con, left_out)
    store_provenance(con, reading.answer, numbers=reading.numbers)
    quality.count_records(con, names)
    if reading.grade:
        rows = con.execute(render("grade_notes")).fetchall()
        notes = [*(visible(note) for (note,) in rows), *notes]
    con.execute("drop table incoming; drop table incoming_checkpoints")
    return loaded, notes


def _list_archives(con: duckdb.DuckDBPyConnection, rows: str) -> set[str]:
    """Return the distinct archives of a table; `rows` may end with a where clause."""
    return {name for (name,) in con.execute(f"select distinct archive from {rows}").fetchall()}


def check_reading(reading: Reading) -> None:
    """Refuse unknown formats and columns, empty names, invalid patterns and options that clash."""
    names = (*CONTAINERS, *load_formats())
    if reading.format is not None and reading.format not in names:
        raise AuditError(f"--format {reading.format}: no such format; there are {', '.join(names)}")
    for name, origin in reading.mapping.items():
        check_mapped_score(name, origin)
        if find_column(name) is None:
            raise AuditError(
                f"--map {name}={origin}: no column {excerpt(name)} in the canonical schema; "
                f"it has {', '.join(COLUMNS)}, score_NAME"
            )
    for option in ("archive", "competition", "finish_reason"):
        if getattr(reading, option) == "":
            raise AuditError(f"--{option.replace('_', '-')}: must not be empty")
    compile_pattern(reading.answer)
    if reading.answer == NO_ANSWER and reading.grade is not None:
        raise AuditError(
            "--grade references compares answers, and --answer none reads none; leave out one"
        )


def _grade_attempts(con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile]) -> None:
    """Label attempts by comparing answers with references; refuse a row without references."""
    query = 'select file, "row" from incoming where coalesce(len(accepted), 0) = 0'
    for file, row in con.execute(f"{query} order by all limit 1").fetchall():
        what = "column references: --grade references needs one"
        raise AuditError(f"{name_file(files, file)}: row {row}, {what}")
    con.execute("update incoming set correct = coalesce(list_contains(accepted, answer), false)")


def _refuse_duplicates(
    con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile], opened: Sequence[Source] = ()
) -> None:
    """Refuse an attempt that occurs twice; name both rows and the columns in which they differ."""
    twice = con.execute(f"{render('duplicate_attempts')} limit 1").fetchone()
    if twice is None:
        return
    archive, competition, question_id, seed, file, row, first_file, first_row = twice
    problem = name_problem(con, competition, question_id)
    first = name_file(files, first_file)
    raise AuditError(
        f"{name_file(files, file)}: row {row}, column seed: attempt (archive {excerpt(archive)}, "
        f"competition {excerpt(competition)}, question_id {problem}, seed {seed}) is already in "
        f"{first}: row {first_row}; {ONCE}"
        + (TWO_RUNS if file != first_file else _list_differences(opened, file, first_row, row))
    )


def _list_differences(opened: Sequence[Source], file: int | None, first: int, second: int) -> str:
    """List the columns that differ between two rows of a file and that no loaded column uses."""
    if file is None or file >= len(opened) or opened[file].format not in CONTAINERS:
        return ""
    source = opened[file]
    rows = [next(islice(source.records(), row - 1, row), {}) for row in (first, second)]
    used = {p.partition(".")[0] for name, p in source.mapping.items() if find_column(name)}
    names = [n for n in rows[0] if n not in used and rows[0][n] != rows[1].get(n)]
    return f"{DIFFER}{first_names(names, NAMES_SHOWN)}" if names else ""


def describe_file(source: Source, file: SourceFile) -> dict[str, Any]:
    """Build the row of `sources` for a file; refuse a file that changed while it was read."""
    digest = _hash_file(file)
    check_unchanged(file)
    return {
        # A file name may hold bytes that are not UTF-8.
        "name": file.name.encode(errors="backslashreplace").decode(),
        "format": source.format,
        "bytes": file.bytes,
        "sha256": digest,
        "mapping": json.dumps(source.mapping),
        "simulated": source.is_simulated,
    }


def _fill_tables(con: duckdb.DuckDBPyConnection, facts: Mapping[int, Mapping[str, Any]]) -> None:
    """Insert the rows of `incoming` into the tables of a load, then update accepted references."""
    rows = [{"file": number, **known} for number, known in facts.items()]
    con.register("incoming_files", pa.Table.from_pylist(rows))
    with temporary_tables(con, "incoming_references"):
        for name in FILLED:
            con.execute(f"insert into {name} {render(name)}")
    con.unregister("incoming_files")
    # References of one archive may be accepted in all others, old archives included.
    con.execute("delete from accepted_references where references_id = 0")
    con.execute(f"insert into accepted_references {render('shared_references')}")


def _hash_file(file: SourceFile) -> str:
    """Return the SHA-256 of a file or table; return "" for the sample of a trial load."""
    if file.sample is not None:
        return ""
    if file.table is not None:
        digest = hashlib.sha256()
        for batch in file.table.to_batches():
            digest.update(batch.serialize())
        return digest.hexdigest()
    with open(file.path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def format_notes(source: Source) -> list[str]:
    """Format the notes that reading a file collected, with its name and their counts."""
    return [f"{source.file.shown_name}: {count:,} {note}" for note, count in source.notes.items()]
