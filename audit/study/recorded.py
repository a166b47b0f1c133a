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


def _recorded(file: str, prices: str, settings: Mapping[str, Any], **about: str) -> Recorded:
    """What recorded.toml says of attempts, with the places of their files."""
    return Recorded(FOLDER / file, settings={"prices": FOLDER / prices, **settings}, **about)


SHIPPED = tomllib.loads((FOLDER / "recorded.toml").read_text(encoding="utf-8"))
OTIS, AGENTS = _recorded(**SHIPPED["otis"]), _recorded(**SHIPPED["agents"])


def _shipped(con: duckdb.DuckDBPyConnection) -> tuple[list[Recorded], int]:
    """Which shipped files are among the sources, and how many files there are in all."""
    hashes = {sha for (sha,) in con.execute("select distinct sha256 from sources").fetchall()}
    files = {hashlib.sha256(file.file.read_bytes()).hexdigest(): file for file in (OTIS, AGENTS)}
    return [file for sha, file in files.items() if sha in hashes], len(hashes)


def title(con: duckdb.DuckDBPyConnection) -> str | None:
    """The title of a report on shipped attempts alone."""
    shipped, files = _shipped(con)
    return shipped[0].title if len(shipped) == files == 1 else None


def credits(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Whom a report must credit."""
    return [recorded.credit for recorded in _shipped(con)[0]]
