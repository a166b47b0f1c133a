"""One JSON document read piece by piece, however large it is."""

import codecs
import json
import re
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from audit.sources import containers
from audit.sources.containers import unzipped
from audit.sources.files import SourceFile

# What reading a damaged file or JSON text raises.
UNREADABLE = (ValueError, RecursionError, OSError, EOFError, zlib.error)
BLOCK = 1 << 16
SPACE = re.compile(r"[ \t\r\n]*")
Pairs = list[tuple[str, Any]]


class Readable(Protocol):
    """Anything that bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


class JsonStream:
    """The members of an object or the items of an array; no more than one of them is held."""

    def __init__(
        self,
        stream: Readable,
        longest: int,
        make: Callable[[Pairs], dict[str, Any]] | None = None,
    ) -> None:
        self._stream = stream
        self._longest = longest
        self._json = json.JSONDecoder(object_pairs_hook=make)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._is_over = False

    def members(self, list_name: str) -> Iterator[tuple[str, Any]]:
        """Each member, key and value; of the listed one, each item by itself."""
        self._expect("{")
        while self._next() != "}":
            key = self.value()
            if not isinstance(key, str):
                raise ValueError(f"expected a key, found {key!r:.40}")
            self._expect(":")
            if key == list_name and self._next() == "[":
                for item in self.items():
                    yield key, item
            else:
                yield key, self.value()
            if self._next() == ",":
                self._at += 1

    def begins_with(self, mark: str) -> bool:
        """Whether this is the next character that is no white space."""
        return self._next() == mark

    def end(self) -> None:
        """Refuse anything but white space after the document."""
        try:
            character = self._next()
        except ValueError:
            return
        raise ValueError(f"expected the end, found {character!r}")

    def items(self) -> Iterator[Any]:
        """Each item of an array."""
        self._expect("[")
        while self._next() != "]":
            yield self.value()
            if self._next() == ",":
                self._at += 1
        self._at += 1

    def values(self) -> Iterator[Any]:
        """Each value to the end, one after another."""
        while True:
            try:
                self._next()
            except ValueError:
                return
            yield self.value()

    def value(self) -> Any:
        """The next value; more is read until it is whole."""
        self._next()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except json.JSONDecodeError:
                if self._is_over:
                    raise
            else:
                # A number may go on in what is not read yet.
                if end < len(self._text) or self._is_over:
                    self._at = end
                    return value
            self._read()

    def _next(self) -> str:
        """The next character that is no white space."""
        while True:
            self._at = SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if self._is_over:
                raise ValueError("the file ends early")
            self._read()

    def _expect(self, mark: str) -> None:
        if (character := self._next()) != mark:
            raise ValueError(f"expected {mark!r}, found {character!r}")
        self._at += 1

    def _read(self) -> None:
        """Read thrice what is held: what is decoded in vain stays a third of the whole."""
        length = len(self._text) - self._at
        if length > self._longest:
            raise ValueError(f"holds a value longer than {self._longest // 1_000_000} MB")
        block = self._stream.read(max(BLOCK, 3 * length))
        self._is_over = not block
        self._text = self._text[self._at :] + self._decoder.decode(block, final=not block)
        self._at = 0


def file_members(file: SourceFile, list_name: str) -> Iterator[tuple[str, Any, int]]:
    """The members of a file's object, as `members` gives them, and the bytes read so far."""
    with open(file.path, "rb") as raw:
        for key, value in JsonStream(unzipped(raw), containers.LONGEST_LINE).members(list_name):
            yield key, value, raw.tell()


def first_members(data: bytes) -> tuple[dict[str, Any], bool]:
    """The members of a first object that are whole within these bytes, and whether all are."""
    members: dict[str, Any] = {}

    class Once:
        def read(self, size: int, /) -> bytes:
            nonlocal data
            block, data = data, b""
            return block

    try:
        for key, value in JsonStream(Once(), len(data)).members(""):
            members[key] = value
    except (ValueError, RecursionError):
        # The rest was cut off, or is no JSON: the reader says what is wrong with it.
        return members, False
    return members, True
