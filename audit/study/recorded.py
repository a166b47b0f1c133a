"""The recorded attempts that ship with the project: what they are, and whom to credit."""

import hashlib
from pathlib import Path

import duckdb

FILE = Path(__file__).parent / "recorded_otis_aime.parquet"
TITLE = "OTIS Mock AIME 2024-2025: nine configurations of three frontier models"
# Budgets and caps that suit eight attempts a problem.
SETTINGS = {
    "budgets": (4000, 8000, 16000, 32000, 64000),
    "caps": (4, 8),
    "primary_cap": 8,
    "policies": "all",
}
CREDIT = (
    "Recorded attempts: Epoch AI, AI Benchmarking Hub, OTIS Mock AIME 2024-2025 (CC BY 4.0); "
    "tokens as the providers billed them, reasoning included."
)


def is_recorded(con: duckdb.DuckDBPyConnection) -> tuple[bool, bool]:
    """Whether the shipped file is among the sources, and whether it is the only one."""
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
    found = {sha for (sha,) in con.execute("select distinct sha256 from sources").fetchall()}
    return digest in found, found == {digest}


def title(con: duckdb.DuckDBPyConnection) -> str | None:
    """The title of a report on the shipped attempts alone."""
    return TITLE if is_recorded(con)[1] else None


def credits(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Whom a report must credit."""
    return [CREDIT] if is_recorded(con)[0] else []
