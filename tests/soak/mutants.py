"""Bugs planted one by one in the SQL and the engine: the tests that should notice do.

A mutant is a copy of the project with one change: a comparison, a constant, a tie or the key of a
join. `BUDGET_AUDIT_MUTANTS=20` plants fewer than 100; the same seed plants the same bugs. Survivors
are printed: a test is missing, or the change makes no difference.
"""

import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COUNT = 100
CAUGHT_SHARE = 0.95
SECONDS = 900
COPIED = ("audit", "sql", "queries", "tests", "README.md", "pyproject.toml", ".ci")
# What is computed, by folder of `sql`; texts, quality of records and pages have tests of their own.
SQL_FOLDERS = (
    "keys", "walks", "budgets", "rules", "selectors", "policies", "contracts", "checks",
    "evaluation", "bootstrap", "intervals", "diagnostics", "relations", "tables",
)  # fmt: skip
# Python that decides about numbers; the rest renders, reads lineage or sizes batches.
PYTHON_FILES = ("draws", "settings", "enough", "matching", "replay", "check")
# Tests of single things that notice most bugs within seconds; the others are asked about the rest.
SIEVE = (
    "tests/engine/test_engine.py::test_engine_agrees_with_the_slow_reference_on_random_archives",
    "tests/engine/test_beyond.py::test_engine_agrees_with_the_reference_beyond_the_study",
    "tests/engine/test_majority_rules.py::test_both_tables_agree_with_a_loop_over_every_pool",
    "tests/engine/test_ledger.py::test_every_unit_and_rule_agrees_with_the_slow_reference",
)
# Tests in the order in which they are likely to notice.
TESTS = (
    "tests/engine/test_engine.py",
    "tests/engine/test_beyond.py",
    "tests/engine/test_edges.py",
    "tests/engine/test_check.py",
    "tests/engine/test_contracts.py",
    "tests/engine/test_policies.py",
    "tests/engine/test_foresight.py",
    "tests/engine/test_walks.py",
    "tests/engine/test_majority_rules.py",
    "tests/engine/test_bootstrap.py",
    "tests/engine/test_enough.py",
    "tests/engine/test_reporting.py",
    "tests/engine/test_ledger.py",
)
PORTIONS = "tests/engine/test_engine.py::test_banks_walked"
# Folders and files with tests of their own, which go first: most bugs are then seen at once.
OWN_TESTS = {
    "sql/checks": "tests/engine/test_check.py",
    "sql/tables/data_quality.sql": "tests/load/test_quality.py",
    "sql/tables/prefix_boxes.sql": "tests/tokens/test_tokens.py",
    "sql/relations/prefix_events.sql": "tests/tokens/test_tokens.py",
    "sql/tables/truncation": "tests/engine/test_majority_rules.py",
    "sql/tables/majority_rules.sql": "tests/engine/test_majority_rules.py",
    "sql/diagnostics": "tests/engine/test_majority_rules.py",
    "sql/bootstrap": "tests/engine/test_bootstrap.py",
    "sql/intervals": "tests/engine/test_bootstrap.py",
    "sql/policies": "tests/engine/test_edges.py",
    "sql/contracts": "tests/engine/test_foresight.py",
    "audit/engine/draws.py": "tests/engine/test_edges.py",
    "audit/engine/enough.py": "tests/engine/test_enough.py",
    "audit/engine/check.py": "tests/engine/test_check.py",
    "audit/engine/settings.py": "tests/engine/test_edges.py",
    "audit/engine/replay.py": f"{PORTIONS}_a_few_at_a_time_give_the_same_rows",
    "audit/engine/matching.py": "tests/engine/test_policies.py",
}
COMPARISONS = {"<=": "<", "<": "<=", ">=": ">", ">": ">=", "<>": "=", "==": "!=", "!=": "=="}
TIES = {
    "min": "max", "max": "min", "first_value": "last_value", "arg_min": "arg_max",
    "arg_max": "arg_min", "least": "greatest", "greatest": "least", "row_number": "rank",
}  # fmt: skip
SQL_SITE = re.compile(
    r"(?P<comparison><=|>=|<>|(?<![<>=-])<(?![<>=])|(?<![<>=-])>(?![<>=]))"
    r"|(?P<constant>(?<![\w.$'])\d{1,3}(?![\w.']))"
    r"|(?P<tie>\b(?:min|max|first_value|arg_min|arg_max|least|greatest|row_number)(?=\())"
    r"|(?P<key>\n *and \w+\.\w+ = \w+\.\w+(?=\n))"
)


@dataclass(frozen=True)
class Mutant:
    """A file and the change in it: from where to where, and what stands there then."""

    path: str
    start: int
    end: int
    text: str

    def applied(self, source: str) -> str:
        """The file with its bug."""
        return source[: self.start] + self.text + source[self.end :]

    def shown(self, source: str) -> str:
        """Where it is and what it does, on one line."""
        line = source.count("\n", 0, self.start) + 1
        return f"{self.path}:{line}: {source[self.start : self.end].strip()!r} → {self.text!r}"


def sql_mutants(path: str, source: str) -> list[Mutant]:
    """The bugs that can be planted in a SQL file; comments, texts and templates are left alone."""
    # What is left alone gives way to blanks, so that places stay.
    code = re.sub(r"--.*|'[^'\n]*'|\{[%{].*?[%}]\}", lambda one: " " * len(one[0]), source)
    found = []
    for site in SQL_SITE.finditer(code):
        if site["comparison"]:
            text = COMPARISONS[site[0]]
        elif site["constant"]:
            text = str(int(site[0]) + 1)
        elif site["tie"]:
            text = TIES[site[0]]
        else:
            text = ""
        found.append(Mutant(path, site.start(), site.end(), text))
    return found


def python_mutants(path: str, source: str) -> list[Mutant]:
    """The bugs that can be planted in a Python file: comparisons, and small numbers."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        if token.type == tokenize.OP and token.string in COMPARISONS:
            found.append(Mutant(path, start, start + len(token.string), COMPARISONS[token.string]))
        elif token.type == tokenize.NUMBER and token.string in ("0", "1", "2"):
            found.append(Mutant(path, start, start + 1, str(int(token.string) + 1)))
    return found


def mutants() -> list[Mutant]:
    """Every bug that can be planted."""
    found: list[Mutant] = []
    for folder in SQL_FOLDERS:
        for path in sorted((ROOT / "sql" / folder).glob("*.sql")):
            found += sql_mutants(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    for name in PYTHON_FILES:
        path = ROOT / "audit" / "engine" / f"{name}.py"
        found += python_mutants(str(path.relative_to(ROOT)), path.read_text(encoding="utf-8"))
    return found


def is_caught(folder: Path, mutant: Mutant) -> bool:
    """Whether a test fails, or hangs, in a copy of the project with this bug."""
    path = folder / mutant.path
    source = path.read_text(encoding="utf-8")
    path.write_text(mutant.applied(source), encoding="utf-8")
    own = [test for place, test in OWN_TESTS.items() if mutant.path.startswith(place)]
    try:
        return _notice(folder, [*own, *SIEVE]) or _notice(folder, TESTS)
    finally:
        path.write_text(source, encoding="utf-8")


def _notice(folder: Path, tests: Sequence[str]) -> bool:
    """Whether one of these tests fails, or hangs."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return True
    assert done.returncode in (0, 1, 2, 3), done.stdout[-500:]
    return done.returncode != 0


def soak(seed: int) -> str:
    """Plant bugs one by one; at least 95 of 100 are noticed."""
    count = int(os.environ.get("BUDGET_AUDIT_MUTANTS", COUNT))
    planted = random.Random(seed).sample(mutants(), count)
    survivors = []
    with tempfile.TemporaryDirectory() as folder:
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, Path(folder) / name)
        for mutant in planted:
            caught = is_caught(Path(folder), mutant)
            shown = mutant.shown((ROOT / mutant.path).read_text(encoding="utf-8"))
            print(f"{'caught' if caught else 'SURVIVED'}  {shown}", flush=True)
            survivors += [] if caught else [shown]
    share = 1 - len(survivors) / count
    assert share >= CAUGHT_SHARE, f"{len(survivors)} of {count} bugs survived: {survivors}"
    return f"{count - len(survivors)} of {count} planted bugs were noticed"
