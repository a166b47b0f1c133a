"""JSON read piece by piece, however large it is: lines, an array, or the members of a document."""

import codecs
import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from audit.sources import containers
from audit.sources.containers import Stream, open_unzipped
from audit.sources.files import Row, SourceFile, excerpt

# Exceptions of reading a damaged file or invalid JSON.
UNREADABLE = (ValueError, *containers.DAMAGED)
BLOCK = 1 << 16
SPACE = re.compile(r"[ \t\r\n]*")


def check_unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of a JSON object as a dict; refuse a duplicate key."""
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        again = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {excerpt(again)} occurs twice")
    return members


class JsonStream:
    """The members of an object or the items of an array; no more than one of them is held."""

    def __init__(self, stream: Stream, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        self._json = json.JSONDecoder(object_pairs_hook=check_unique_keys)
        # Bytes that are no UTF-8 are refused with the row and column that hold them.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        self._text = ""
        self._at = 0
        self._is_over = False
        # The number of the record that is read, in messages.
        self.row = 0

    def members(self, list_name: str) -> Iterator[tuple[str, Any]]:
        """Yield each key and value of an object; of member `list_name`, each item separately."""
        self._expect("{")
        while self.next() != "}":
            key = self.value()
            if not isinstance(key, str):
                raise ValueError(f"expected a key, found {key!r:.40}")
            self._expect(":")
            if key == list_name and self.next() == "[":
                for item in self._read_items():
                    yield key, item
            else:
                yield key, self.value()
            if self.next() == ",":
                self._at += 1

    def records(self) -> Iterator[Any]:
        """Yield each item of an array, or else each of the concatenated values."""
        if self.next() == "[":
            yield from self._read_items()
            if self.next():
                raise ValueError(f"expected the end, found {self.next()!r}")
        while self.next():
            self.row += 1
            yield self.value()

    def _read_items(self) -> Iterator[Any]:
        self._expect("[")
        while self.next() != "]":
            self.row += 1
            yield self.value()
            if self.next() == ",":
                self._at += 1
        self._at += 1

    def value(self) -> Any:
        """Decode the next value; read on until it is complete."""
        self.next()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except RecursionError:
                raise ValueError("nested too deep") from None
            except json.JSONDecodeError as error:
                if self._is_over:
                    raise ValueError(error.msg) from None
            else:
                # A number may continue in the part that is not read yet.
                if end < len(self._text) or self._is_over:
                    self._at = end
                    return value
            self._read()

    def next(self) -> str:
        """Skip white space; return the next character, or "" at the end."""
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text) or self._is_over:
                return self._text[self._at : self._at + 1]
            self._read()

    def _expect(self, mark: str) -> None:
        if (character := self.next()) != mark:
            raise ValueError(f"expected {mark!r}, found {character!r}")
        self._at += 1

    def _read(self) -> None:
        """Triple the buffer, so that repeated decoding costs at most half again."""
        length = len(self._text) - self._at
        if length > self._longest:
            raise ValueError(f"holds a value longer than {self._longest // 1_000_000} MB")
        block = self._stream.read(max(BLOCK, 3 * length))
        self._is_over = not block
        self._text = self._text[self._at :] + self._decoder.decode(block, final=not block)
        self._at = 0


def stream_records(
    file: SourceFile, read: Callable[[JsonStream], Iterator[Any]], what: str
) -> Iterator[Row]:
    """Yield the records that `read` finds in a file; messages of errors begin with `what`."""
    before = 0
    with _open_stream(file, what) as (stream, raw):
        for number, record in enumerate(read(stream), 1):
            if not isinstance(record, dict):
                stream.row = number
                raise ValueError(f"must be an object, found {excerpt(record)}")
            done = raw.tell()
            yield number, record, max(done - before, 1), done
            before = done


def read_members(file: SourceFile, list_name: str, what: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of the object in a file, as `JsonStream.members` does."""
    with _open_stream(file, what) as (stream, _):
        yield from stream.members(list_name)


def make_item_reader(name: str) -> Callable[[JsonStream], Iterator[Any]]:
    """Return a function that reads the items of one member, such as `samples`, of an object."""
    return lambda stream: (
        value for key, value in stream.members(name) if key == name and value is not None
    )


@contextmanager
def _open_stream(file: SourceFile, what: str) -> Iterator[tuple[JsonStream, BinaryIO]]:
    row = 0
    try:
        with open(file.path, "rb") as raw:
            stream = JsonStream(open_unzipped(raw), containers.LONGEST_LINE)
            try:
                yield stream, raw
            finally:
                row = stream.row
    except UNREADABLE as error:
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise file.unreadable(f"{what}: {f'row {row}: ' if row else ''}{reason}") from None


def read_small_document(path: Path) -> Any:
    """Read a small JSON file; return None where it is missing or invalid."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def read_first_members(data: bytes) -> tuple[dict[str, Any], bool]:
    """Return the complete members of the first object in some bytes, and whether all are."""
    members: dict[str, Any] = {}
    try:
        for key, value in JsonStream(io.BytesIO(data), len(data)).members(""):
            members[key] = value
    except (ValueError, RecursionError):
        # The rest is cut off or no JSON: the reader will report it.
        return members, False
    return members, True
