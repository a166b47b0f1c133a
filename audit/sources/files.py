"""Find the files of a source, each once, and describe a file while it is read."""

import glob
import os
import reprlib
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from audit.errors import AuditError

LFS_POINTER = b"version https://git-lfs.github.com/spec/"

# The row number, the record, its size, and the bytes of the file read so far.
Row = tuple[int, dict[str, Any], int, int]


class Unreadable(AuditError):
    """A file that holds no rows or cannot be read; --skip-unreadable leaves it out."""


@dataclass(frozen=True)
class SourceFile:
    """A file to load, the name it goes by in messages and in `sources`, and its state."""

    path: Path
    name: str
    bytes: int
    # Device, inode and time of the last change, when the file was found.
    state: tuple[int, ...] | None = None
    # Read about this many bytes only, where `describe` tries the file.
    sample: int | None = None
    # The rows, where Python handed over a table and there is no file.
    table: Any = field(default=None, compare=False)

    @property
    def is_whole(self) -> bool:
        """Tell whether all of the file is read."""
        return self.sample is None or self.sample >= self.bytes

    @property
    def shown_name(self) -> str:
        """Return the name as messages give it."""
        return escape_name(self.name)

    def error(self, what: str) -> AuditError:
        """Return an error in one line that begins with the name of this file."""
        return AuditError(f"{self.shown_name}: {what}")

    def unreadable(self, what: str) -> Unreadable:
        """Return the error of an unreadable file, which --skip-unreadable may skip."""
        return Unreadable(f"{self.shown_name}: {what}")


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file: raw values by canonical column, row numbers, bytes read so far."""

    values: Mapping[str, Any]
    rows: Sequence[int]
    done: int
    # Where one source reads several files: the number and the name of each row's file.
    files: Sequence[int | None] = ()
    names: Sequence[str | None] = ()

    def place(self, at: int) -> str:
        """Return where a row is: its number, and its file where the source reads several."""
        name = self.names[at] if self.names else None
        return f"row {self.rows[at]}" + (f" ({escape_name(name)})" if name else "")


@dataclass(frozen=True)
class Source:
    """An open file: the source column behind each canonical one, and the chunks of rows."""

    file: SourceFile
    format: str
    mapping: dict[str, str]
    chunks: Iterator[Chunk]
    is_simulated: bool = False
    title: str = ""
    # What the file has, and why it may lack a column, for messages.
    has: str = ""
    absent: Mapping[str, str] = field(default_factory=dict)
    # Columns that several things could be, with the option that says which.
    ambiguous: Mapping[str, str] = field(default_factory=dict)
    # Notes to report after the load, each with how often it occurred.
    notes: Counter[str] = field(default_factory=Counter)
    # The budget that the attempts were made under, if a live controller limited them.
    live: Mapping[str, str] = field(default_factory=dict)
    # Whether problems go by names; a column called question_id mostly holds numbers.
    has_problem_names: bool = False
    # The first records of the file, to search for a missing column. Reading the chunks empties it.
    sample: list[dict[str, Any]] = field(default_factory=list)
    # How values are read, in SQL, with the column in the place of {}.
    sql_of: Mapping[str, str] = field(default_factory=dict)
    # Reads the records once more.
    records: Callable[[], Iterator[dict[str, Any]]] = lambda: iter(())


def escape_name(name: str) -> str:
    """Return a name for a one-line message, escaped and shortened where needed."""
    return name if name.isprintable() and len(name) <= 200 else excerpt(name)


def excerpt(value: Any) -> str:
    """Return a value for a message: on one line, at most 60 characters."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else repr(value[:60]) + "…"
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    text = short.repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def find_files(
    sources: Sequence[str | SourceFile], skipped: list[str] | None = None
) -> list[SourceFile]:
    """Return the files behind files, folders and globs, each taken once, sorted by name.

    If `skipped` is given, a file that cannot be opened is added there instead of raising.
    """
    files: dict[str, SourceFile] = {}
    for source in sources:
        if isinstance(source, SourceFile):
            files[os.path.realpath(source.path)] = source
            continue
        for path, name in _expand_source(str(source)):
            try:
                file = _stat_file(path, name)
            except Unreadable as error:
                if skipped is None:
                    raise
                skipped.append(str(error))
            else:
                files.setdefault(os.path.realpath(path), file)
    if not files and not skipped:
        raise AuditError("nothing to load: name a file, a folder or a glob")
    return sorted(files.values(), key=lambda file: (file.name, str(file.path)))


def _stat_file(path: Path, name: str) -> SourceFile:
    """Return a file with its size and state; refuse what is no readable regular file."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"{path}: neither a file nor a folder")
    if not os.access(path, os.R_OK):
        raise Unreadable(f"{path}: cannot be read: Permission denied")
    return SourceFile(path, name, status.st_size, _read_state(status))


def _read_state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mtime_ns


def check_unchanged(file: SourceFile) -> None:
    """Refuse a file that changed while it was read: its rows may mix two versions."""
    if file.state is None:
        return
    try:
        status = os.stat(file.path)
    except OSError as error:
        raise file.error(f"went away while it was read: {error.strerror}") from None
    if (status.st_size, _read_state(status)) != (file.bytes, file.state):
        raise file.error("changed while it was read; load it when it is written")


def refuse_changes(file: SourceFile, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks of a file; refuse it if it changes meanwhile (threat model, d)."""
    check_unchanged(file)
    try:
        yield from chunks
    except AuditError:
        # A file that changes under the reader looks damaged: report the change instead.
        check_unchanged(file)
        raise
    check_unchanged(file)


def _expand_source(source: str) -> Iterator[tuple[Path, str]]:
    if "\0" in source:
        raise AuditError(f"{excerpt(source)}: no such file or folder")
    path = Path(source)
    if path.is_dir():
        yield from _search_folder(path)
    elif path.is_file():
        yield path, path.name
    elif path.exists():
        raise AuditError(f"{source}: neither a file nor a folder")
    elif not glob.has_magic(source):
        raise AuditError(f"{source}: no such file or folder")
    else:
        matches = [Path(match) for match in sorted(glob.glob(source, recursive=True))]
        if "**" in source:
            matches = [match for match in matches if not match.is_dir()]
        if not matches:
            raise AuditError(f"{source}: no file matches")
        for match in matches:
            yield from _search_folder(match) if match.is_dir() else [(match, match.name)]


def _search_folder(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield the data files of a folder and its subfolders by suffix, without hidden files.

    Skip .json files without records: tools write settings and results as .json, too.
    """
    # A format names its own suffixes, and formats are declared in terms of files.
    from audit.sources.formats import list_suffixes
    from audit.sources.readers.documents import has_records

    endings = list_suffixes()
    paths = [
        Path(parent, name)
        for parent, _, names in os.walk(folder)
        for name in names
        if name.lower().endswith(endings) and not name.startswith(".")
    ]
    if not paths:
        raise AuditError(f"{folder}: nothing to load here; looked for {', '.join(endings)}")
    logs = [
        path
        for path in sorted(paths)
        if path.suffix.lower() != ".json"
        or path.name.lower().endswith(".traj.json")
        or not path.is_file()
        or has_records(path)
    ]
    # Where nothing else is there, single objects may be records, one a file.
    for path in logs or sorted(paths):
        yield path, path.relative_to(folder).as_posix()
