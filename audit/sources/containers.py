"""Containers: what a file is by its first bytes, and its lines; nothing is read without a bound."""

import gzip
import os
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import IO, BinaryIO, NamedTuple, TypeVar

from audit.sources.files import LFS_POINTER, SourceFile

CONTAINERS = ("parquet", "jsonl", "json", "csv")
# Suffixes of data files; a format adds its own.
SUFFIXES = (
    ".parquet",
    ".jsonl",
    ".jsonl.gz",
    ".json.gz",
    ".ndjson",
    ".csv",
    ".csv.gz",
    ".tsv",
    ".json",
)
# What reading a damaged or unknown gzip or zip file raises.
DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)
DAMAGE = "the file ends early or is damaged"
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"
# Members of a zip archive that make it an Inspect log.
LOG_MEMBER = re.compile(r"header\.json$|_journal/|samples/|summaries\.json$")
# Bytes that are read first to recognize a format.
HEAD_BYTES = 65_536
# A longer value is refused (threat model, b): a gzip made of zeros would be read into memory.
LONGEST_LINE = 256_000_000
JSON_ARRAY = re.compile(rb"\[\s*(?:\{|\]|$)")
# Unsupported files by their first bytes, and what to do about them.
OTHERS = {
    LFS_POINTER: "is a Git LFS pointer and not the file; run 'git lfs pull'",
    b"\x93NUMPY": "is a NumPy array: write it as JSON lines or CSV",
    b"\x80": "is a Python pickle: write it as JSON lines or CSV",
    b"ARROW1": "is an Arrow file: write it as Parquet",
    b"\xff\xff\xff\xff": "is an Arrow stream: write it as Parquet",
    b"SQLite format 3": "is an SQLite database: export the table as CSV",
    b"\x28\xb5\x2f\xfd": "is compressed with zstd: unpack it",
    b"\x89HDF": "is an HDF5 file: write it as JSON lines or CSV",
    b"\xff\xfe": "is UTF-16: save it as UTF-8",
    b"\xfe\xff": "is UTF-16: save it as UTF-8",
}
TAR_MAGIC = b"ustar"
Fact = TypeVar("Fact")
Stream = IO[bytes] | gzip.GzipFile


class Head(NamedTuple):
    """The container of a file, and its first bytes without a byte order mark and white space."""

    container: str
    data: bytes = b""
    # Whether the file goes on after these bytes.
    is_cut: bool = True


def cached_per_file(look: Callable[[SourceFile], Fact]) -> Callable[[SourceFile], Fact]:
    """Cache a function of a file until the file changes."""
    remembered = lru_cache(maxsize=64)(look)
    return lambda file: remembered(replace(file, sample=None)) if file.state else look(file)


@cached_per_file
def sniff(file: SourceFile) -> Head:
    """Return the container of a file: parquet, zip, json (array or document), jsonl or csv."""
    try:
        with open(file.path, "rb") as raw:
            head = raw.read(len(LFS_POINTER))
            for magic, what in OTHERS.items():
                if head.startswith(magic):
                    raise file.unreadable(what)
            if file.name.lower().endswith(".npz"):
                raise file.unreadable("is a NumPy archive: write it as JSON lines or CSV")
            if head[:4] == b"PAR1" or (head and file.name.lower().endswith(".parquet")):
                return Head("parquet")
            if head.startswith(ZIP_MAGIC) and not find_zipped_file(file.path):
                return Head(_sniff_zip(file))
            data = open_unzipped(raw).read(HEAD_BYTES)
    except DAMAGED as error:
        raise file.unreadable(f"{DAMAGE}: {error}") from None
    if data[257:262] == TAR_MAGIC:
        raise file.unreadable("is a tar archive: unpack it and name the folder")
    content = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not content:
        raise file.unreadable("is empty; leave it out or write it again")
    return Head(_sniff_text(file, content), content, len(data) == HEAD_BYTES)


def _sniff_text(file: SourceFile, content: bytes) -> str:
    """Return the container of a text file by its first bytes: json, jsonl or csv."""
    if content.startswith(b"{"):
        is_indented = content[1:].lstrip(b" \t\r")[:1] == b"\n"
        return "json" if is_indented else "jsonl"
    is_json = file.name.lower().endswith((".json", ".json.gz"))
    return "json" if JSON_ARRAY.match(content) or (is_json and content[:1] == b"[") else "csv"


def find_zipped_file(path: str | os.PathLike[str]) -> str | None:
    """Return the name of the only file in a zip archive that is no Inspect log, or None."""
    names = [] if str(path).lower().endswith(".eval") else _list_zip_members(path)
    return names[0] if len(names) == 1 and not LOG_MEMBER.match(names[0]) else None


def _list_zip_members(path: str | os.PathLike[str]) -> list[str]:
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if not name.endswith("/")]
    except (zipfile.BadZipFile, ValueError, OSError):
        return []  # Cut off, as logs of killed runs are: the reader says so.
    return [name for name in names if not name.startswith("__MACOSX/")]


def _sniff_zip(file: SourceFile) -> str:
    """Return the container of a zip archive; refuse workbooks and archives of other files."""
    names = _list_zip_members(file.path)
    if "[Content_Types].xml" in names:
        raise file.unreadable("is an Excel workbook: save the sheet as CSV")
    is_log = any(LOG_MEMBER.match(name) for name in names)
    if names and not is_log and not file.name.lower().endswith(".eval"):
        what = f"is a zip archive of {len(names):,} files: unpack it and name the folder"
        raise file.unreadable(what)
    return "zip"


def read_first_bytes(file: SourceFile, size: int) -> bytes:
    """Read the first bytes of a file, decompressed where needed."""
    try:
        with open(file.path, "rb") as raw:
            return open_unzipped(raw).read(size)
    except DAMAGED as error:
        raise file.unreadable(f"{DAMAGE}: {error}") from None


def open_unzipped(raw: BinaryIO) -> Stream:
    """Rewind a stream; return it decompressed if it is gzip or a zip archive of one file."""
    raw.seek(0)
    magic = raw.read(2)
    raw.seek(0)
    if magic == ZIP_MAGIC and (name := find_zipped_file(raw.name)):
        return zipfile.ZipFile(raw).open(name)
    return gzip.GzipFile(fileobj=raw) if magic == GZIP_MAGIC else raw
