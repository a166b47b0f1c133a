"""The page's arithmetic in Node, held to the engine's tables and to fresh replays."""

import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from audit import engine
from audit.report.explorer import pack
from tests.support.databases import small_database

SCRIPT = Path(__file__).parent / "arithmetic.test.js"
TABLES = (
    "main",
    "curves",
    "selectors",
    "by_competition",
    "cap_sensitivity",
    "pools",
    "matched_cost",
    "budget_curve",
)


@pytest.fixture(scope="module")
def node():
    """The command `node`; without it the tests are skipped."""
    found = shutil.which("node")
    if found is None:
        if os.environ.get("BUDGET_AUDIT_REQUIRE_BROWSER"):
            pytest.fail("no node on PATH, and BUDGET_AUDIT_REQUIRE_BROWSER asks for one")
        pytest.skip("no node on PATH: apt-get install nodejs")
    return found


def tables(con, names=TABLES):
    return {
        name: engine.table(con, name).to_pylist() for name in names if name in engine.table_names()
    }


def test_the_page_computes_what_the_tables_say_at_any_budget(node, tmp_path):
    cases = []
    for seed in (10, 3, 4, 21):
        rng = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        settings = {"orders": rng.choice((1, 5)), "replicates": rng.choice((1, 9, 40))}
        with small_database(folder, seed=seed, **settings) as con:
            packed, left_out = pack.walks(con)
            assert packed is not None and left_out == []
            (folder / "walks.gz").write_bytes(packed)
            case = {"walks": str(folder / "walks.gz"), "curve_points": 200}
            cases.append(case | {"name": f"archive {seed}", "tables": tables(con)})
            # Budgets that were not replayed when the page was packed.
            budgets = sorted(rng.sample(range(1, 46), 12))
            fresh = settings | {"budgets": budgets, "caps": (2, 4, 9), "primary_cap": 4}
            engine.replay(con, **fresh)
            names = [name for name in TABLES if name != "budget_curve"]
            cases.append(case | {"name": f"fresh {seed}", "tables": tables(con, names)})
    assert all(case["tables"]["main"] for case in cases)
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    done = subprocess.run(
        [node, "--test", SCRIPT],
        env={**os.environ, "BUDGET_AUDIT_PAGE_CASES": str(tmp_path / "cases.json")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    assert "# fail 0" in done.stdout or "ℹ fail 0" in done.stdout
