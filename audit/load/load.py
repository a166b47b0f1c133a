"""Load archives into the database: checked on the way in, streamed, and all or nothing."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, answer_pattern
from audit.database import check_schema, transaction
from audit.engine import comment_relations, make_stale, quality, render
from audit.errors import AuditError
from audit.load.checkpoints import checkpoint_file, load_checkpoints, place_of
from audit.load.gate import require_fit, settle_labels
from audit.load.names import number_problems, shown_problem
from audit.load.provenance import remember, require_one_kind
from audit.load.schema import FILLED, create_schema, waiting
from audit.load.staging import Staging, stage
from audit.options import Reading, read_options
from audit.progress import Progress
from audit.sources.canonical import COLUMNS, find_column
from audit.sources.containers import CONTAINERS
from audit.sources.files import Source, SourceFile, check_unchanged, excerpt
from audit.sources.formats import formats
from audit.sources.opening import readable_files
from audit.sources.scores import check_mapped
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
    """What was loaded, a row per archive, the notes to report, and whether replays were dropped."""

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
    """Load every file of the sources in one transaction, or change nothing.

    Give how to read them as a `reading`, or as its options.
    """
    reading = reading or read_options(Reading, options)
    check_reading(reading)
    select = read_arguments(sources) if is_selected(sources, reading) else []
    files, skipped = [file for argument in select for file in argument.files], list[str]()
    if not select:
        files, skipped = readable_files(sources, reading)
    checkpoints = checkpoint_file(reading)
    with transaction(con):
        check_schema(con)
        create_schema(con)
        present, derived = _archives(con, "attempts"), _archives(con, DERIVED)
        selected = open_select(select, reading, con) if select else None
        staging = Staging(files, reading, present, replace, progress, selected)
        stage(con, staging, texts)
        # A select is the source of all files.
        sources_of = [selected] * len(files) if selected else staging.opened
        facts = [file_facts(*pair) for pair in zip(sources_of, files, strict=True)]
        if checkpoints:
            facts.append(file_facts(Source(checkpoints, "checkpoints", {}, iter(())), checkpoints))
        loaded, settled = settle(
            con, reading, files, dict(enumerate(facts)),
            opened=staging.opened, checkpoints=checkpoints,
        )  # fmt: skip
        notes = [f"left out: {reason}" for reason in skipped]
        notes += [note for source in staging.opened for note in source_notes(source)]
        names = set(loaded["archive"].to_pylist())
        notes += settled
        notes += [
            f"removed archive {excerpt(name)}: it was derived from a replaced one; derive it again "
            "with budget-audit leave"
            for name in sorted(derived - _archives(con, DERIVED) - names)
        ]
        dropped = make_stale(con)
        comment_relations(con)
    rows = sum(loaded["attempts"].to_pylist())
    return LoadSummary(loaded, len(files), rows, dropped, tuple(notes))


def settle(
    con: duckdb.DuckDBPyConnection,
    reading: Reading,
    files: list[SourceFile],
    facts: Mapping[int, Mapping[str, Any]],
    *,
    opened: Sequence[Source] = (),
    checkpoints: SourceFile | None = None,
) -> tuple[pa.Table, list[str]]:
    """Fill every table from the rows that wait in `incoming`; return the archives and notes.

    `facts` is what `sources` keeps of each file by its number, that of checkpoints the last.
    """
    con.execute(f"create temp table if not exists text_measures as {render('text_measures')}")
    if reading.grade:
        _grade(con, files)
    left_out = settle_labels(con, reading.unlabelled)
    number_problems(con)
    _refuse_duplicates(con, files, opened)
    notes = load_checkpoints(con, files, checkpoints, reading)
    require_one_kind(con, reading.answer, numbers=reading.numbers)
    _fill_tables(con, facts)
    loaded = con.sql(render("loaded_archives")).to_arrow_table()
    names = set(loaded["archive"].to_pylist())
    if not reading.force:
        require_fit(con, names, reading.answer)
    quality.count_dropped(con, left_out)
    remember(con, reading.answer, numbers=reading.numbers)
    quality.count_records(con, names)
    if reading.grade:
        told = con.execute(render("grade_notes")).fetchall()
        notes = [*(visible(note) for (note,) in told), *notes]
    con.execute("drop table incoming; drop table incoming_checkpoints")
    return loaded, notes


def _archives(con: duckdb.DuckDBPyConnection, rows: str) -> set[str]:
    """Return the archives that some rows of the database are of."""
    return {name for (name,) in con.execute(f"select distinct archive from {rows}").fetchall()}


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


def _grade(con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile]) -> None:
    """Label every attempt by comparison with the references of its row, which it has to have."""
    query = 'select file, "row" from incoming where coalesce(len(accepted), 0) = 0'
    for file, row in con.execute(f"{query} order by all limit 1").fetchall():
        what = "column references: --grade references needs one"
        raise AuditError(f"{place_of(files, file)}: row {row}, {what}")
    con.execute("update incoming set correct = coalesce(list_contains(accepted, answer), false)")


def _refuse_duplicates(
    con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile], opened: Sequence[Source] = ()
) -> None:
    """Refuse an attempt that comes in twice, naming both places and what differs between them."""
    twice = con.execute(f"{render('duplicate_attempts')} limit 1").fetchone()
    if twice is None:
        return
    archive, competition, question_id, seed, file, row, first_file, first_row = twice
    problem = shown_problem(con, competition, question_id)
    first = place_of(files, first_file)
    raise AuditError(
        f"{place_of(files, file)}: row {row}, column seed: attempt (archive {excerpt(archive)}, "
        f"competition {excerpt(competition)}, question_id {problem}, seed {seed}) is already in "
        f"{first}: row {first_row}; {ONCE}"
        + (TWO_RUNS if file != first_file else _differing(opened, file, first_row, row))
    )


def _differing(opened: Sequence[Source], file: int | None, first: int, second: int) -> str:
    """Return the columns that differ between two rows of a file and are not loaded."""
    if file is None or file >= len(opened) or opened[file].format not in CONTAINERS:
        return ""
    source = opened[file]
    rows = [next(islice(source.records(), row - 1, row), {}) for row in (first, second)]
    used = {p.partition(".")[0] for name, p in source.mapping.items() if find_column(name)}
    names = [n for n in rows[0] if n not in used and rows[0][n] != rows[1].get(n)]
    return f"{DIFFER}{first_names(names, NAMES_SHOWN)}" if names else ""


def file_facts(source: Source, file: SourceFile) -> dict[str, Any]:
    """Return what `sources` says of a file, which has to be what was read."""
    digest = _hash(file)
    check_unchanged(file)
    return {
        # A name may be any bytes.
        "name": file.name.encode(errors="backslashreplace").decode(),
        "format": source.format,
        "bytes": file.bytes,
        "sha256": digest,
        "mapping": json.dumps(source.mapping),
        "simulated": source.is_simulated,
    }


def _fill_tables(con: duckdb.DuckDBPyConnection, facts: Mapping[int, Mapping[str, Any]]) -> None:
    """Fill the tables from the rows that wait in `incoming`, and with them what is accepted."""
    rows = [{"file": number, **known} for number, known in facts.items()]
    con.register("incoming_files", pa.Table.from_pylist(rows))
    with waiting(con, "incoming_references"):
        for name in FILLED:
            con.execute(f"insert into {name} {render(name)}")
    con.unregister("incoming_files")
    # What any archive names may be accepted in others, also in those that were there.
    con.execute("delete from accepted_references where references_id = 0")
    con.execute(f"insert into accepted_references {render('shared_references')}")


def _hash(file: SourceFile) -> str:
    """Return the SHA-256 of a file or a table; one that is only tried has none."""
    if file.sample is not None:
        return ""
    if file.table is not None:
        digest = hashlib.sha256()
        for batch in file.table.to_batches():
            digest.update(batch.serialize())
        return digest.hexdigest()
    with open(file.path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def source_notes(source: Source) -> list[str]:
    """Return the notes to report about a file."""
    return [f"{source.file.shown_name}: {count:,} {note}" for note, count in source.notes.items()]
