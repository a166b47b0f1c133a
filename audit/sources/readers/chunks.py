"""Limits of a chunk, and the conversion of records to chunks of raw values by column."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from audit.sources.canonical import COLUMNS, SCORE, find_column, parse_whole_number
from audit.sources.columns import (
    Origin,
    find_attempts,
    find_lists,
    find_origins,
    is_of_attempt,
    list_columns,
    make_origin,
)
from audit.sources.files import Chunk, Row, Source, SourceFile, Unreadable
from audit.sources.formats import Context, Record, as_references
from audit.sources.paths import walk

# A chunk ends at whichever comes first.
CHUNK_ROWS = 4096
CHUNK_BYTES = 32_000_000
# The first records of a file decide where its columns are.
SAMPLE_ROWS = 256
SAMPLE_BYTES = 4_000_000
# Where a controller's own lines and an Inspect sample keep what a live run says of its budget.
LIVE_PLACES = (("budget_audit",), ("store", "budget_audit"))
LIVE_FACTS = ("budget", "unit", "rule", "policy", "cap", "selector", "answer")


def make_source(
    context: Context,
    origins: Mapping[str, Origin],
    chunks: Iterator[Chunk],
    has: str,
    sample: list[Record],
) -> Source:
    """Return an open file as a source, with its title, mapping and notes."""
    format = context.format
    mapping = {column: origin.where for column, origin in origins.items() if find_column(column)}
    is_flat = format.name == "flat"
    is_canonical = all(column == where for column, where in mapping.items())
    title = "canonical columns" if is_flat and is_canonical else format.title
    if is_flat and not mapping:
        title = "no column is known by its name"
    elif is_flat and find_lists(origins):
        title = "one problem per row, its attempts in lists"
    return Source(
        context.file,
        context.container if is_flat else format.name,
        mapping,
        chunks,
        context.is_simulated,
        title=title,
        has=has,
        absent={**format.absent, **context.absent},
        ambiguous={c: why for c, why in context.ambiguous.items() if c not in mapping},
        notes=context.notes,
        live=_find_live_facts(sample),
        has_problem_names=_has_names(origins.get("question_id"), sample),
        sample=sample,
        sql_of={column: origin.sql for column, origin in origins.items()},
    )


def _find_live_facts(sample: Sequence[Record]) -> dict[str, str]:
    """Return the budget, rule and policy of a live controller as `live_…`; mostly nothing."""
    for record in sample:
        for place in LIVE_PLACES:
            facts = walk(record, place)
            if isinstance(facts, Mapping) and "budget" in facts:
                return {f"live_{fact}": str(facts[fact]) for fact in LIVE_FACTS if fact in facts}
    return {}


def _has_names(origin: Origin | None, sample: Sequence[Record]) -> bool:
    """Tell whether problems have names; a column `question_id` has them if a first value is one."""
    if origin is None or origin.where != "question_id":
        return origin is not None
    names = [value for record in sample if isinstance(value := origin.get(record, 0), str)]
    return any(name and parse_whole_number(name) is None for name in names)


def make_empty_error(file: SourceFile, notes: Mapping[str, int] | None = None) -> Unreadable:
    """Return the error of a file without rows, or without rows that are not left out."""
    reasons = "; ".join(f"{count:,} {note}" for note, count in (notes or {}).items())
    if reasons:
        return file.unreadable(f"holds no rows to load: {reasons}")
    return file.unreadable("holds no rows; leave it out or write it again")


def open_records(context: Context, rows: Iterator[Row], has: str = "") -> Source:
    """Open a file record by record: JSON, logs, and Parquet with several attempts in a row."""
    first = _read_sample(rows)
    if not first:
        raise make_empty_error(context.file, context.notes)
    sample = [record for _, record, _, _ in first]
    origins = find_origins(context, sample)
    if context.container == "csv":
        # A cell with several references is a list only once it is parsed.
        origins = {name: origin.plain(as_references) for name, origin in origins.items()}
    # A column that the first records have and that is not taken is refused by its rule; scores that
    # are words, and steps that are something else, are left out instead.
    is_open = COLUMNS.keys() - origins.keys() - {"steps"}
    names = {name for record in sample for name in record} - is_open
    chunks = _read_chunks(chain(first, rows), context, dict(origins), names)
    return make_source(context, origins, chunks, has or list_columns(sample), sample)


def _read_sample(rows: Iterator[Row]) -> list[Row]:
    """Read the first few records, which decide the columns of the file."""
    sample: list[Row] = []
    size = 0
    for row in rows:
        sample.append(row)
        size += row[2]
        if len(sample) >= min(SAMPLE_ROWS, CHUNK_ROWS) or size > SAMPLE_BYTES:
            break
    return sample


def _read_chunks(
    rows: Iterable[Row], context: Context, origins: dict[str, Origin], names: set[str]
) -> Iterator[Chunk]:
    """Yield the attempts of the records; add columns that appear later in a flat file."""
    lists, format = find_lists(origins), context.format
    needed = [(origins[c].get, note) for c, note in format.left_out.items() if c in origins]
    is_flat = format.name == "flat"
    values: dict[str, list] = {name: [] for name in origins}
    takers = [(values[name].append, origin.get) for name, origin in origins.items()]
    numbers: list[int] = []
    length = done = count = 0
    for number, record, size, done in rows:
        context.row = number
        for name in record.keys() - names if is_flat else ():
            if record[name] is None and name in COLUMNS:
                continue
            names.add(name)
            is_column = name in COLUMNS or SCORE.fullmatch(name)
            if is_column and name not in origins and not (lists and is_of_attempt(name)):
                origins[name] = make_origin(name, (name,))
                values[name] = [None] * len(numbers)
                takers.append((values[name].append, origins[name].get))
        for position in find_attempts(record, lists, context):
            if lacking := [note for get, note in needed if get(record, position) is None]:
                context.notes[lacking[0]] += 1
                continue
            for take, get in takers:
                take(get(record, position))
            numbers.append(number)
            count += 1
        length += size
        if len(numbers) >= CHUNK_ROWS or length > CHUNK_BYTES:
            if numbers:
                yield Chunk(values, numbers, done)
            values, numbers, length = {name: [] for name in origins}, [], 0
            takers = [(values[name].append, origin.get) for name, origin in origins.items()]
    if numbers:
        yield Chunk(values, numbers, done)
    if not count:
        raise make_empty_error(context.file, context.notes)
