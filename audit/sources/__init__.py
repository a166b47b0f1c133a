"""Where attempts come from: the files behind a source, what each one is, and its lines."""

import glob
import gzip
import os
import reprlib
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from audit.errors import AuditError
from audit.sources.json_stream import first_members

CONTAINERS = ("parquet", "jsonl", "csv")
SUFFIXES = (
    ".parquet",
    ".jsonl",
    ".jsonl.gz",
    ".json.gz",
    ".ndjson",
    ".csv",
    ".csv.gz",
    ".eval",
    ".json",
)
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"
# What is looked at first to recognize a format.
HEAD_BYTES = 65_536
# A longer line is refused, so that a file without line ends (or one gzip made of zeros) is not
# read into memory whole.
LONGEST_LINE = 256_000_000


@dataclass(frozen=True)
class SourceFile:
    """A file to load, and the name it goes by in messages and in `sources`."""

    path: Path
    name: str
    bytes: int

    @property
    def label(self) -> str:
        """The name as messages give it."""
        return named(self.name)


@dataclass(frozen=True)
class Chunk:
    """Some rows of a file: raw values by canonical column, row numbers, bytes read so far."""

    values: Mapping[str, Any]
    rows: Sequence[int]
    done: int


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
    # What was met on the way and should be told, with how often.
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def is_labelled(self) -> bool:
        """Whether problems go by names: a column called question_id holds numbers."""
        return self.mapping.get("question_id", "question_id") != "question_id"


def named(name: str) -> str:
    """A name, safe inside a one-line message."""
    return name if name.isprintable() and len(name) <= 200 else shown(name)


def shown(value: Any) -> str:
    """What was found, short and on one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str):
        return repr(value) if len(value) <= 60 else repr(value[:60]) + "…"
    short = reprlib.Repr()
    short.maxstring = short.maxother = 60
    text = short.repr(value)
    return text if len(text) <= 60 else text[:60] + "…"


def find_files(sources: Sequence[str]) -> list[SourceFile]:
    """The files behind files, folders and globs, each taken once, sorted by name."""
    found: dict[str, SourceFile] = {}
    for source in sources:
        for path, name in _expand(str(source)):
            try:
                with open(path, "rb") as stream:
                    size = os.fstat(stream.fileno()).st_size
            except OSError as error:
                raise AuditError(f"{path}: cannot be read: {error.strerror}") from None
            found.setdefault(os.path.realpath(path), SourceFile(path, name, size))
    if not found:
        raise AuditError("nothing to load: name a file, a folder or a glob")
    return sorted(found.values(), key=lambda file: (file.name, str(file.path)))


def _expand(source: str) -> Iterator[tuple[Path, str]]:
    if "\0" in source:
        raise AuditError(f"{shown(source)}: no such file or folder")
    path = Path(source)
    if path.is_dir():
        yield from _search(path)
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
            yield from _search(match) if match.is_dir() else [(match, match.name)]


def _search(folder: Path) -> Iterator[tuple[Path, str]]:
    """The data files of a folder and its subfolders, by their suffixes; hidden files are not.

    Of the .json files only logs are: tools write their settings and results as .json as well.
    """
    paths = [
        Path(parent, name)
        for parent, _, names in os.walk(folder)
        for name in names
        if name.lower().endswith(SUFFIXES) and not name.startswith(".")
    ]
    if not paths:
        raise AuditError(f"{folder}: nothing to load here; looked for {', '.join(SUFFIXES)}")
    for path in sorted(paths):
        if path.suffix.lower() != ".json" or _is_log(path):
            yield path, path.relative_to(folder).as_posix()


def _is_log(path: Path) -> bool:
    try:
        with open(path, "rb") as stream:
            return "eval" in first_members(stream.read(HEAD_BYTES))[0]
    except OSError:
        return True  # Whoever opens it says why.


def detect_container(file: SourceFile) -> str:
    """What a file is, by its first bytes: parquet, zip, jsonl (an object first) or else csv."""
    try:
        with open(file.path, "rb") as raw:
            head = raw.read(4)
            if head == b"PAR1" or (head and file.name.lower().endswith(".parquet")):
                return "parquet"
            if head.startswith(ZIP_MAGIC):
                return "zip"
            stream = unzipped(raw)
            while block := stream.read(65536):
                if block := block.removeprefix(b"\xef\xbb\xbf").lstrip():
                    return "jsonl" if block.startswith(b"{") else "csv"
    except (OSError, EOFError, zlib.error) as error:
        raise AuditError(f"{file.label}: the file ends early or is damaged: {error}") from None
    raise AuditError(f"{file.label}: is empty; leave it out or write it again")


def first_bytes(file: SourceFile, size: int = 4) -> bytes:
    """The first bytes of a file, gunzipped where needed."""
    try:
        with open(file.path, "rb") as raw:
            return unzipped(raw).read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise AuditError(f"{file.label}: the file ends early or is damaged: {error}") from None


def unzipped(raw: BinaryIO) -> BinaryIO | gzip.GzipFile:
    """The stream from its start, through gzip where it is gzip's."""
    raw.seek(0)
    zipped = raw.read(2) == GZIP_MAGIC
    raw.seek(0)
    return gzip.GzipFile(fileobj=raw) if zipped else raw


class Lines:
    """The lines of a text file, gunzipped where needed, and how far into the file they reach."""

    def __init__(self, file: SourceFile) -> None:
        self.file = file
        self.number = 0
        self.characters = 0
        self.done = 0

    def __iter__(self) -> Iterator[str]:
        with open(self.file.path, "rb") as raw:
            stream = unzipped(raw)
            while line := self._read(stream):
                self.characters += len(line)
                self.done = raw.tell()
                yield line

    def _read(self, stream: BinaryIO | gzip.GzipFile) -> str:
        self.number += 1
        place = f"{self.file.label}: line {self.number}"
        try:
            line = stream.readline(LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise AuditError(f"{place}: the file ends early or is damaged: {error}") from None
        if len(line) > LONGEST_LINE:
            raise AuditError(f"{place}: is longer than {LONGEST_LINE // 1_000_000} MB")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise AuditError(f"{place}: is not valid UTF-8 at byte {error.start + 1}") from None
