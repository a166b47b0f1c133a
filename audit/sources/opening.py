"""Open a file as a source: read it, fill missing columns, refuse it if it changes meanwhile."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from audit.errors import AuditError
from audit.options import Reading
from audit.sources.files import Chunk, Source, SourceFile, Unreadable, find_files, refuse_changes
from audit.sources.readers import read_source
from audit.sources.stand_ins import fill_missing, settle_failed

# Bytes that `describe` tries of all files together, and the least of each file.
TRIED_BYTES = 8_000_000
LEAST_BYTES = 50_000


def limit_files(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Limit each file to its beginning, unless it is limited already."""
    share = TRIED_BYTES / max(sum(file.bytes for file in files), 1)
    return [
        file
        if file.sample is not None
        else replace(file, sample=max(int(share * file.bytes), LEAST_BYTES))
        for file in files
    ]


def open_source(file: SourceFile, reading: Reading) -> Source:
    """Open a file in the format of --format or of its content, and fill missing columns."""
    source = read_source(file, reading)
    if file.sample is not None:
        source = replace(source, chunks=_limit_chunks(source, file.sample))
    source = settle_failed(fill_missing(source, reading), reading)
    return replace(source, chunks=refuse_changes(file, _forget_sample(source)))


def _limit_chunks(source: Source, most: int) -> Iterator[Chunk]:
    """Yield the chunks of about the first `most` bytes of a file."""
    before = 0
    for chunk in source.chunks:
        share = max(most - before, 1) / max(chunk.done - before, 1)
        if share < 1:
            rows = max(int(share * len(chunk.rows)), 1)
            values = {name: column[:rows] for name, column in chunk.values.items()}
            yield Chunk(values, chunk.rows[:rows], chunk.done)
            return
        yield chunk
        before = chunk.done


def find_readable_files(
    sources: Sequence[str | SourceFile], reading: Reading
) -> tuple[list[SourceFile], list[str]]:
    """Return the files of the sources, and with --skip-unreadable why some are left out.

    With it, each file is read to its end first, so that none is loaded in part.
    """
    if not reading.skip_unreadable:
        return find_files(sources), []
    skipped: list[str] = []
    reasons = {file: explain_unreadable(file, reading) for file in find_files(sources, skipped)}
    usable = [file for file, reason in reasons.items() if reason is None]
    skipped += filter(None, reasons.values())
    require_files(usable, skipped)
    return usable, skipped


def explain_unreadable(file: SourceFile, reading: Reading) -> str | None:
    """Return why a file cannot be read to its end, or None where it can."""
    try:
        for _ in open_source(file, reading).chunks:
            pass
    except Unreadable as error:
        return str(error)
    return None


def require_files(usable: Sequence[object], skipped: Sequence[str]) -> None:
    """Refuse a load without any readable file; give the reason of the first."""
    if not usable:
        raise AuditError(f"no file can be read: {skipped[0]}")


def _forget_sample(source: Source) -> Iterator[Chunk]:
    """Free the sample, then yield the chunks: a load keeps its sources, perhaps thousands."""
    source.sample.clear()
    yield from source.chunks
