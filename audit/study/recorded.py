"""The recorded attempts that ship with the project: what they are, and whom to credit."""

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


def _recorded(
    file: str, settings: Mapping[str, Any], prices: str = "", checkpoints: str = "", **about: str
) -> Recorded:
    """Return what recorded.toml says of attempts, with the places of their files."""
    priced = {"prices": FOLDER / prices} if prices else {}
    asked = FOLDER / checkpoints if checkpoints else None
    return Recorded(FOLDER / file, settings={**priced, **settings}, checkpoints=asked, **about)


SHIPPED = tomllib.loads((FOLDER / "recorded.toml").read_text(encoding="utf-8"))
OTIS, AGENTS, FORCED = (_recorded(**SHIPPED[name]) for name in ("otis", "agents", "forced"))


def _shipped(con: duckdb.DuckDBPyConnection) -> tuple[list[Recorded], int]:
    """Return which shipped files are among the sources, and how many files there are in all."""
    query = "select distinct sha256 from sources where format <> 'checkpoints'"
    hashes = {sha for (sha,) in con.execute(query).fetchall()}
    shipped = (OTIS, AGENTS, FORCED)
    files = {hashlib.sha256(file.file.read_bytes()).hexdigest(): file for file in shipped}
    return [file for sha, file in files.items() if sha in hashes], len(hashes)


def title(con: duckdb.DuckDBPyConnection) -> str | None:
    """Return the title of a report on shipped attempts alone."""
    shipped, files = _shipped(con)
    return shipped[0].title if len(shipped) == files == 1 else None


def credits(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return whom a report must credit."""
    return [recorded.credit for recorded in _shipped(con)[0]]
