"""Containers: what a file is by its first bytes, and its lines; nothing is read without a bound."""

import gzip
import re
import zlib
from collections.abc import Iterator
from typing import BinaryIO

from audit.sources.files import LFS_POINTER, SourceFile, Unreadable

CONTAINERS = ("parquet", "jsonl", "json", "csv")
# What files of these containers are called; a format adds its own.
SUFFIXES = (
    ".parquet",
    ".jsonl",
    ".jsonl.gz",
    ".json.gz",
    ".ndjson",
    ".csv",
    ".csv.gz",
    ".json",
)
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK"
# What is looked at first to recognize a format.
HEAD_BYTES = 65_536
# A longer line is refused, so that a file without line ends (or one gzip made of zeros) is not
# read into memory whole.
LONGEST_LINE = 256_000_000
# More white space than this between two rows is refused: a few kilobytes of gzip may hold hours.
LONGEST_BLANK = 4_000_000
JSON_ARRAY = re.compile(rb"\[\s*(?:\{|\]|$)")


def detect_container(file: SourceFile) -> str:
    """What a file is, by its first bytes: parquet, zip, json (an array), jsonl or else csv."""
    blank = 0
    try:
        with open(file.path, "rb") as raw:
            head = raw.read(len(LFS_POINTER))
            if head == LFS_POINTER:
                raise Unreadable(
                    f"{file.label}: is a Git LFS pointer and not the file; run 'git lfs pull'"
                )
            if head[:4] == b"PAR1" or (head and file.name.lower().endswith(".parquet")):
                return "parquet"
            if head.startswith(ZIP_MAGIC):
                return "zip"
            stream = unzipped(raw)
            while block := stream.read(HEAD_BYTES):
                if found := block.removeprefix(b"\xef\xbb\xbf").lstrip():
                    if JSON_ARRAY.match(found):
                        return "json"
                    return "jsonl" if found.startswith(b"{") else "csv"
                blank += len(block)
                if blank > LONGEST_BLANK:
                    raise Unreadable(f"{file.label}: begins with {_megabytes()} of white space")
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"{file.label}: the file ends early or is damaged: {error}") from None
    raise Unreadable(f"{file.label}: is empty; leave it out or write it again")


def _megabytes() -> str:
    return f"more than {LONGEST_BLANK // 1_000_000} MB"


def first_bytes(file: SourceFile, size: int = 4) -> bytes:
    """The first bytes of a file, gunzipped where needed."""
    try:
        with open(file.path, "rb") as raw:
            return unzipped(raw).read(size)
    except (OSError, EOFError, zlib.error) as error:
        raise Unreadable(f"{file.label}: the file ends early or is damaged: {error}") from None


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
        self.blank = 0

    def __iter__(self) -> Iterator[str]:
        with open(self.file.path, "rb") as raw:
            stream = unzipped(raw)
            while line := self._read(stream):
                self.characters += len(line)
                self.done = raw.tell()
                yield line

    def _read(self, stream: BinaryIO | gzip.GzipFile) -> str:
        self.number += 1
        try:
            line = stream.readline(LONGEST_LINE + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise Unreadable(f"{self._place}: the file ends early or is damaged: {error}") from None
        if len(line) > LONGEST_LINE:
            raise Unreadable(f"{self._place}: is longer than {LONGEST_LINE // 1_000_000} MB")
        self.blank = self.blank + len(line) if line.isspace() else 0
        if self.blank > LONGEST_BLANK:
            raise Unreadable(f"{self._place}: {_megabytes()} of blank lines before it")
        try:
            return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable(
                f"{self._place}: is not valid UTF-8 at byte {error.start + 1}"
            ) from None

    @property
    def _place(self) -> str:
        return f"{self.file.label}: line {self.number}"
