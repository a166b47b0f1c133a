"""Logs for the tests and benchmarks: the small ones of tests/formats, and others made of them."""

import copy
import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from audit.sources.zips import DEFLATED, STORED, ZSTD, open_zip

FORMATS = Path(__file__).resolve().parents[1] / "sources" / "logs"
Record = dict[str, Any]


def expected() -> list[Record]:
    """What every log of tests/formats records: 4 problems of 5 attempts."""
    return json.loads((FORMATS / "expected.json").read_text())


def members(path: Path) -> dict[str, bytes]:
    """The members of a log."""
    with open_zip(path, 10**9) as log:
        return {name: log.read(name) for name in log.members}


def samples(path: Path) -> Iterator[Record]:
    """The samples of a log."""
    for name, data in members(path).items():
        if name.startswith("samples/"):
            yield json.loads(data)


def write_zip(path: Path, content: Iterable[tuple[str, bytes]], method: int = ZSTD) -> Path:
    """Write a zip archive; the standard library writes no zstd before Python 3.14."""
    directory = []
    with open(path, "wb") as stream:
        for name, data in content:
            sizes = (zlib.crc32(data), len(packed := pack(data, method)), len(data))
            fields = (20, 0, method, 0, 0, *sizes, len(name.encode()), 0)
            directory.append((name.encode(), fields, stream.tell()))
            stream.write(struct.pack("<4s5H3I2H", b"PK\3\4", *fields))
            stream.write(name.encode() + packed)
        start = stream.tell()
        for name, fields, offset in directory:
            rest = (0, 0, 0, 0, offset)
            stream.write(struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, *fields, *rest) + name)
        count, size = len(directory), stream.tell() - start
        stream.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, size, start, 0))
    assert zipfile.is_zipfile(path)
    return path


def pack(data: bytes, method: int) -> bytes:
    """The content of a zip member."""
    if method == ZSTD:
        return pa.compress(data, codec="zstd", asbytes=True)
    if method == DEFLATED:
        packer = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
        return packer.compress(data) + packer.flush()
    assert method == STORED
    return data


def dense(value: Any) -> bytes:
    """JSON as Inspect writes it."""
    return json.dumps(value, separators=(",", ":")).encode()


def large_log(path: Path, count: int) -> Path:
    """A log of so many samples, each a real one under another id."""
    small = members(FORMATS / "inspect_zstd.eval")
    header = json.loads(small["header.json"])
    originals = [json.loads(data) for name, data in small.items() if name.startswith("samples/")]
    summaries = json.loads(small["summaries.json"])
    ids = [f"problem-{number:05}" for number in range(count // 5)]
    header["eval"]["dataset"] |= {"samples": len(ids), "sample_ids": ids}
    header["results"] |= {"total_samples": count, "completed_samples": count}

    def content() -> Iterator[tuple[str, bytes]]:
        yield (
            "_journal/start.json",
            dense({key: header[key] for key in ("version", "eval", "plan")}),
        )
        kept = []
        for number in range(count):
            key = {"id": ids[number // 5], "epoch": number % 5 + 1, "uuid": f"sample{number}"}
            sample = copy.copy(originals[number % len(originals)]) | key
            kept.append(summaries[number % len(summaries)] | key)
            yield f"samples/{key['id']}_epoch_{key['epoch']}.json", dense(sample)
        yield "summaries.json", dense(kept)
        yield "header.json", dense(header)

    return write_zip(path, content())
