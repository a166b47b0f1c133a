"""Logs for the tests and benchmarks: the small ones of tests/sources/logs, and others of them."""

import contextlib
import csv
import gzip
import json
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.errors import AuditError
from audit.load.load import load
from audit.sources.zips import DEFLATED, STORED, ZSTD, open_zip
from tests.support.archives import SCHEMA

FORMATS = Path(__file__).resolve().parents[1] / "sources" / "logs"
Record = dict[str, Any]


def lines(path: Path, records: Iterable[Record]) -> Path:
    """Write records as JSON lines, gzipped where the name says so."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def refusal(con: duckdb.DuckDBPyConnection, *sources: Path | str, **options: Any) -> str:
    """Return the one line with which a load is refused, which must leave no trace."""
    before = _state(con)
    with pytest.raises(AuditError) as caught:
        load(con, [str(source) for source in sources], **options)
    assert _state(con) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


def _state(con: duckdb.DuckDBPyConnection) -> dict[str, list[Any]]:
    """Return the rows of every relation, temporary ones too."""
    names = [name for (name,) in con.execute("show tables").fetchall()]
    return {name: con.execute(f'from "{name}" order by all').fetchall() for name in names}


def expected() -> list[Record]:
    """What every log of tests/sources/logs records: 4 problems of 5 attempts."""
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


def write(path: Path, records: Sequence[Record], metadata: dict[str, str] | None = None) -> str:
    """Write records in the container that the suffix names, with the types of the schema."""
    if path.suffix not in (".parquet", ".csv"):
        return str(lines(path, records))
    names = list(dict.fromkeys(name for record in records for name in record))
    if path.suffix == ".parquet":
        columns = {name: _typed(name, [record.get(name) for record in records]) for name in names}
        pq.write_table(pa.table(columns).replace_schema_metadata(metadata), path)
        return str(path)
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        for record in records:
            cells = [record.get(name) for name in names]
            writer.writerow(json.dumps(c) if isinstance(c, list) else c for c in cells)
    return str(path)


def _typed(name: str, values: list[Any]) -> pa.Array:
    """Return a column of Parquet, of the schema's type where the values are of that."""
    with contextlib.suppress(KeyError, pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array(values, SCHEMA.field(name).type)
    return pa.array(values)
