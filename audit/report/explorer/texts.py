"""Texts of attempts in scripts beside the page, which a page from file:// can load."""

import base64
import gzip
import itertools
import json
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from audit.database.schema import lacks_texts
from audit.errors import AuditError
from audit.report import data
from audit.report.data import Row
from audit.text import steerless
from audit.tokens import Encoding, find_encoding

# Most bytes of texts that are written unless all are asked for.
MOST_BYTES = 50_000_000
# Characters of texts, before compression, after which the next problem starts a new file.
FILE_CHARACTERS = 1_000_000


@dataclass
class Texts:
    """The texts written: their folder, their bytes, and each bank's file number, from 1."""

    folder: Path
    bytes: int = 0
    files: list[int] = field(default_factory=list)

    @property
    def size(self) -> str:
        """Write the total size with its unit, such as 12.3 MB."""
        return f"{self.bytes / 1e6:,.1f} MB" if self.bytes >= 1e5 else f"{self.bytes / 1e3:,.1f} kB"


def write_texts(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    archives: Sequence[str],
    is_all: bool = False,
) -> Texts:
    """Write the texts of these archives' attempts as scripts into a folder, which is replaced.

    Refuse more than MOST_BYTES unless `is_all`; then nothing is written.
    """
    if lacks_texts(con):
        raise AuditError("report --texts: the run that was gathered keeps no texts")
    there = "select 1 from texts where text is not null and list_contains(?, archive) limit 1"
    if not con.execute(there, [[*archives]]).fetchall():
        raise AuditError("report --texts: the database holds no texts of these archives")
    encoding = _find_tokenizer(con)
    ids = data.read(con, "page_banks", archives=[*archives])["bank_id"].to_pylist()
    places = {bank: place for place, bank in enumerate(ids)}
    asked = {"archives": [*archives], "characters": FILE_CHARACTERS}
    rows = (row for batch in data.stream(con, "page_texts", **asked) for row in batch.to_pylist())
    folder.parent.mkdir(parents=True, exist_ok=True)
    written = Texts(folder)
    partial = Path(tempfile.mkdtemp(prefix=".texts-", dir=folder.parent))
    try:
        for number, (_, part) in enumerate(itertools.groupby(rows, lambda row: row["part"])):
            banks: dict[int, list[Row]] = {}
            for row in part:
                entry = _pack_text(row["text"], row["cuts"], encoding)
                banks.setdefault(places[row["bank_id"]], []).append(entry)
            packed = gzip.compress(json.dumps(banks, separators=(",", ":")).encode(), 6, mtime=0)
            script = f'auditTexts({number},"{base64.b64encode(packed).decode()}");\n'.encode()
            written.bytes += len(script)
            written.files += [number + 1] * len(banks)
            if written.bytes > MOST_BYTES and not is_all:
                raise AuditError(
                    f"report --texts: the texts of {len(places):,} problems take more than "
                    f"{MOST_BYTES / 1e6:.0f} MB; --texts=all writes them, --archive NAME fewer"
                )
            (partial / f"{number}.js").write_bytes(script)
        partial.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)
        partial.rename(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return written


def _find_tokenizer(con: duckdb.DuckDBPyConnection) -> Encoding | None:
    """Return the tokenizer that counted the database's tokens; None if it cannot be loaded."""
    used = con.execute("select value from meta where key = 'tokenizer'").fetchall()
    try:
        return find_encoding(used[0][0]) if used else None
    except AuditError:
        return None


def _pack_text(text: str | None, cuts: Sequence[int], encoding: Encoding | None) -> Row:
    """Return an attempt's escaped text, and after which character each budget would cut it."""
    if text is None or encoding is None or not cuts:
        return {"text": None if text is None else escape_text(text)}
    _, prefixes = encoding.encode(text)
    ends = [_count_utf16(escape_text(prefix)) for prefix in prefixes(cuts)]
    return {"text": escape_text(text), "cuts": list(zip(cuts, ends, strict=True))}


def escape_text(text: str) -> str:
    """Escape a text's control characters, and make its line ends uniform."""
    return steerless(text.replace("\r\n", "\n"))


def _count_utf16(text: str) -> int:
    """Return a text's length as JavaScript counts it, in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
