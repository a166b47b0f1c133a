"""The recorded attempts that ship with the project: what they are, and whom to credit."""

import hashlib
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


# Budgets and caps that suit eight attempts a problem.
OTIS = Recorded(
    FOLDER / "recorded_otis_aime.parquet",
    "archive",
    "OTIS Mock AIME 2024-2025: nine configurations of three frontier models",
    "Recorded attempts: Epoch AI, AI Benchmarking Hub, OTIS Mock AIME 2024-2025 (CC BY 4.0); "
    "tokens as the providers billed them, reasoning included. Prices: public list prices of "
    "November (gpt-5.1, claude-opus-4.5) and December 2025 (gpt-5.2), not what was billed.",
    {
        # Public list prices, so that the same replays can be read in dollars.
        "prices": FOLDER / "recorded_otis_aime_prices.csv",
        "budgets": (4000, 8000, 16000, 32000, 64000),
        "caps": (4, 8),
        "primary_cap": 8,
        "policies": "all",
    },
)
# One attempt an issue: there is one order.
AGENTS = Recorded(
    FOLDER / "agent_swebench.parquet",
    "none",
    "SWE-bench Verified: 500 issues, one recorded agent run each",
    "Recorded runs: Kilian A. Lieret and Carlos E. Jimenez, mini-SWE-agent 1.15.0, and the "
    "repository gruckion/mini-swe-agent at commit d12a71a (MIT).",
    {
        "unit": "money",
        "prices": FOLDER / "agent_swebench_prices.csv",
        "rules": "all",
        "budgets": ("0.10", "0.25", "0.50", "1.00", "2.00"),
        "caps": (1,),
        "primary_cap": 1,
        "orders": 1,
    },
)


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
