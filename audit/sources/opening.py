"""A file becomes a source: read, what it lacks stood in for, and watched while it is read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from audit.errors import AuditError
from audit.options import Reading
from audit.sources.files import Chunk, Source, SourceFile, Unreadable, find_files, while_unchanged
from audit.sources.readers import read_source
from audit.sources.stand_ins import settle_failed, stand_in

# So many bytes are tried, over all files; what is smaller is tried whole.
TRIED_BYTES = 8_000_000
LEAST_BYTES = 50_000


def beginnings(files: Sequence[SourceFile]) -> list[SourceFile]:
    """Return files of which the beginnings are read; those that are so stay as they are."""
    share = TRIED_BYTES / max(sum(file.bytes for file in files), 1)
    return [
        file
        if file.sample is not None
        else replace(file, sample=max(int(share * file.bytes), LEAST_BYTES))
        for file in files
    ]


def open_source(file: SourceFile, reading: Reading) -> Source:
    """Open a file in the format that was named, or else of its content, and find its columns."""
    source = read_source(file, reading)
    if file.sample is not None:
        source = replace(source, chunks=_beginning(source, file.sample))
    source = settle_failed(stand_in(source, reading), reading)
    return replace(source, chunks=while_unchanged(file, _forgetting(source)))


def _beginning(source: Source, most: int) -> Iterator[Chunk]:
    """Yield the chunks of about the first so many bytes of a file."""
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


def readable_files(
    sources: Sequence[str | SourceFile], reading: Reading
) -> tuple[list[SourceFile], list[str]]:
    """Return the files of the sources, and why some are left out where that is allowed.

    Then a file is read to its end before anything of it is loaded, so that none is loaded in part.
    """
    if not reading.skip_unreadable:
        return find_files(sources), []
    skipped: list[str] = []
    reasons = {file: unreadable(file, reading) for file in find_files(sources, skipped)}
    usable = [file for file, reason in reasons.items() if reason is None]
    skipped += filter(None, reasons.values())
    require_some(usable, skipped)
    return usable, skipped


def unreadable(file: SourceFile, reading: Reading) -> str | None:
    """Return why a file cannot be read to its end, or None where it can."""
    try:
        for _ in open_source(file, reading).chunks:
            pass
    except Unreadable as error:
        return str(error)
    return None


def require_some(usable: Sequence[object], skipped: Sequence[str]) -> None:
    """Refuse to go on with no file at all."""
    if not usable:
        raise AuditError(f"no file can be read: {skipped[0]}")


def _forgetting(source: Source) -> Iterator[Chunk]:
    """The chunks, without the sample: a load keeps its sources, and there may be thousands."""
    source.sample.clear()
    yield from source.chunks
