"""The recorded attempts that ship with the project: files, settings, titles and credits."""

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Recorded:
    """Attempts that ship with the project: how to load and replay them, and whom to credit."""

    file: Path
    answer: str
    title: str
    credit: str
    settings: Mapping[str, Any]
    checkpoints: Path | None = None


def _build_recorded(
    file: str, settings: Mapping[str, Any], prices: str = "", checkpoints: str = "", **about: str
) -> Recorded:
    """Build a Recorded from an entry of recorded.toml, with full paths of its files."""
    priced = {"prices": FOLDER / prices} if prices else {}
    asked = FOLDER / checkpoints if checkpoints else None
    return Recorded(FOLDER / file, settings={**priced, **settings}, checkpoints=asked, **about)


SHIPPED = tomllib.loads((FOLDER / "recorded.toml").read_text(encoding="utf-8"))
OTIS, AGENTS, FORCED = (_build_recorded(**SHIPPED[name]) for name in ("otis", "agents", "forced"))


def _find_shipped(con: duckdb.DuckDBPyConnection) -> tuple[list[Recorded], int]:
    """Find the shipped files among the loaded ones; return them and the number of all files."""
    query = "select distinct sha256 from sources where format <> 'checkpoints'"
    hashes = {sha for (sha,) in con.execute(query).fetchall()}
    shipped = (OTIS, AGENTS, FORCED)
    files = {hashlib.sha256(file.file.read_bytes()).hexdigest(): file for file in shipped}
    return [file for sha, file in files.items() if sha in hashes], len(hashes)


def title(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the title of a report if a single shipped file was loaded, else None."""
    shipped, files = _find_shipped(con)
    return shipped[0].title if len(shipped) == files == 1 else None


def credits(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the credits that a report must print for shipped attempts."""
    return [recorded.credit for recorded in _find_shipped(con)[0]]
