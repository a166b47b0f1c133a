"""Members of a zip archive, deflated or zstd-compressed, each read whole and bounded in size."""

import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa

STORED, DEFLATED, ZSTD = 0, 8, 93
LOCAL_HEADER = struct.Struct("<4s22xHH")
ENCRYPTED = 1


class Zip:
    """An open zip archive; the standard library reads no zstd member before Python 3.14."""

    def __init__(self, stream: BinaryIO, longest: int) -> None:
        self._stream = stream
        self._longest = longest
        # Of a member that was written twice, the last version counts.
        self.members = zipfile.ZipFile(stream).NameToInfo

    def read(self, name: str) -> bytes:
        """Read a member whole; refuse one that is too large, encrypted or damaged."""
        info = self.members[name]
        if info.file_size > self._longest:
            raise ValueError(f"{name} is larger than {self._longest // 1_000_000} MB")
        if info.flag_bits & ENCRYPTED:
            raise ValueError(f"{name} is encrypted")
        # The size of the file bounds what is read, whatever the directory says.
        self._stream.seek(info.header_offset)
        header = self._stream.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or not header.startswith(b"PK\3\4"):
            raise ValueError(f"{name} is not where the directory says")
        _, name_size, extra_size = LOCAL_HEADER.unpack(header)
        self._stream.seek(name_size + extra_size, 1)
        content = _expand(self._stream.read(info.compress_size), info)
        if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
            raise ValueError(f"{name} is damaged")
        return content


def _expand(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    """Decompress the bytes of a member: stored, deflated or zstd."""
    try:
        if info.compress_type == ZSTD:
            return pa.decompress(packed, info.file_size, codec="zstd", asbytes=True)
        if info.compress_type == DEFLATED:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, info.file_size + 1)
    except (pa.ArrowException, OSError, zlib.error):
        raise ValueError(f"{info.filename} is damaged") from None
    if info.compress_type == STORED:
        return packed
    raise ValueError(f"{info.filename} is compressed by method {info.compress_type}")


@contextmanager
def open_zip(path: Path, longest: int) -> Iterator[Zip]:
    """Open a zip archive for reading."""
    with open(path, "rb") as stream:
        yield Zip(stream, longest)
