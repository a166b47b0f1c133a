"""Bugs planted one by one in the SQL and the engine: the tests that should notice do.

A mutant is a copy of the project with one change: a comparison, a constant, a tie or the key of a
join. `BUDGET_AUDIT_MUTANTS=20` plants fewer than 100; the same seed plants the same bugs. The tests
that notice most are asked first, and the first that fails ends the search; a copy without a bug has
to pass them all. Survivors are printed: a test is missing, or the change makes no difference.
"""

import importlib
import io
import multiprocessing
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import time
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COUNT = 100
CAUGHT_SHARE = 0.95
# Bugs that are tried at once, how long one test may take before it hangs, and how much memory a
# copy may take: a search that never ends would take all there is.
AT_ONCE = 2
SECONDS = 600
BYTES = 8 * 2**30
# What takes long to import and has no bug: it is imported once, in a process that is then forked.
HEAVY = ("duckdb", "hypothesis", "jinja2", "numpy", "pyarrow.parquet")
COPIED = ("audit", "sql", "queries", "tests", "README.md", "pyproject.toml", ".ci")
# What is computed, by folder of `sql`; texts, quality of records and pages have tests of their own.
SQL_FOLDERS = (
    "keys", "walks", "budgets", "rules", "selectors", "policies", "contracts", "checks",
    "evaluation", "bootstrap", "intervals", "diagnostics", "relations", "tables",
)  # fmt: skip
# Python that decides about numbers; the rest renders, reads lineage or sizes batches.
PYTHON_FILES = ("draws", "settings", "enough", "replay", "check")
# Tests that compare everything with the slow reference notice most bugs, one seed of each at once;
# then the other seeds.
REFERENCE = (
    "tests/engine/test_engine.py::test_engine_agrees_with_the_slow_reference_on_random_archives",
    "tests/engine/test_beyond.py::test_engine_agrees_with_the_reference_beyond_the_study",
    "tests/engine/test_majority_rules.py::test_both_tables_agree_with_a_loop_over_every_pool",
    "tests/engine/test_ledger.py::test_every_unit_and_rule_agrees_with_the_slow_reference",
)
SIEVE = (*(f"{test}[1" for test in REFERENCE[:3]), f"{REFERENCE[3]}[0-money", *REFERENCE)
# Tests in the order in which they are likely to notice.
TESTS = (
    "tests/engine/test_edges.py",
    "tests/engine/test_check.py",
    "tests/engine/test_engine.py",
    "tests/engine/test_beyond.py",
    "tests/engine/test_contracts.py",
    "tests/engine/test_policies.py",
    "tests/engine/test_foresight.py",
    "tests/engine/test_walks.py",
    "tests/engine/test_majority_rules.py",
    "tests/engine/test_bootstrap.py",
    "tests/engine/test_enough.py",
    "tests/engine/test_reporting.py",
    "tests/engine/test_ledger.py",
    "tests/engine/test_terminals.py",
    "tests/query/test_queries.py",
    "tests/load/test_quality.py",
    "tests/load/test_fitness.py",
    "tests/tokens/test_tokens.py",
    "tests/output",
    "tests/test_api.py",
)
PREFIXES = "tests/tokens/test_tokens.py::test_events_and_tables_agree_with_a_slow_reference"
VOTES = "tests/engine/test_majority_rules.py::test_votes_by_a_score_are_those_of_a_plain_loop"
TIES = "tests/engine/test_edges.py::test_a_tie_of_the_majority_goes_to_the_answer_seen_first"
STEPS = "tests/engine/test_ledger.py::test_what_every_rule_pays_changes_step_by_step"
LACKING = "tests/engine/test_ledger.py::test_a_count_that_a_step_lacks_is_nothing"
RESULTS = "tests/engine/test_engine.py::test_results_are_the_selections_and_replays"
UNIT = "tests/test_options.py::test_a_stored_unit_that_nobody_knows_is_replaced_with_its_budgets"
# Folders and files with tests of their own, which go first: most bugs are then seen at once.
OWN_TESTS = {
    "sql/checks": ("tests/engine/test_check.py",),
    "sql/tables/data_quality.sql": ("tests/load/test_quality.py",),
    "sql/tables/prefix_boxes.sql": (PREFIXES,),
    "sql/relations/prefix_events.sql": (PREFIXES,),
    "sql/diagnostics/boundary_events.sql": (PREFIXES,),
    "sql/diagnostics/paired_replays.sql": ("tests/engine/test_check.py",),
    "sql/diagnostics/scored_votes.sql": (VOTES,),
    "sql/diagnostics": (REFERENCE[2],),
    "sql/tables/truncation": (REFERENCE[2],),
    "sql/tables/majority_rules.sql": (REFERENCE[2], VOTES),
    "sql/evaluation/changed_costs.sql": (STEPS,),
    "sql/evaluation/cost_events.sql": (STEPS,),
    "sql/evaluation/card_replays.sql": ("tests/engine/test_reporting.py",),
    "sql/tables/budget_card.sql": ("tests/engine/test_reporting.py",),
    "sql/keys/candidate_scores.sql": (REFERENCE[3],),
    "sql/keys/charges.sql": (LACKING,),
    "sql/relations/results.sql": (RESULTS,),
    "sql/selectors": (TIES, REFERENCE[3]),
    "sql/policies": ("tests/engine/test_edges.py",),
    "sql/contracts/broken_exits.sql": ("tests/load/test_leave.py",),
    "sql/contracts": ("tests/engine/test_foresight.py",),
    **{
        f"sql/{folder}/terminal": ("tests/engine/test_terminals.py",)
        for folder in ("evaluation", "bootstrap", "relations", "tables")
    },
    "sql/contracts/exit": ("tests/engine/test_edges.py", "tests/load/test_leave.py"),
    "sql/bootstrap/replicate_matches.sql": ("tests/engine/test_bootstrap.py",),
    "audit/engine/draws.py": ("tests/engine/test_edges.py",),
    "audit/engine/enough.py": ("tests/engine/test_enough.py",),
    "audit/engine/check.py": ("tests/engine/test_check.py",),
    "audit/engine/replay.py": ("tests/engine/test_walks.py", "tests/engine/test_bootstrap.py"),
    "audit/engine/settings.py": ("tests/engine/test_edges.py", "tests/engine/test_walks.py", UNIT),
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


# What stands before a number that makes no difference: a min or max of nothing, which is compared
# with more than 1 or less, and how many digits a decimal may have, here one more.
NO_DIFFERENCE = re.compile(r"(?:default=|::decimal\()\Z")
# Bugs that were looked at and make no difference either: their file, and what stands before them.
SAME = (
    # What strict pays never stays the same and rises then: the next case gives the same place.
    ("sql/intervals/interval_strict_curves.sql", "and strict_costs[-"),
    # A block begins with a change that its budget has met.
    ("sql/bootstrap/replicate_matches.sql", "]), "),
    # Blocks of any size find the same.
    ("sql/bootstrap/walk_blocks.sql", "- 1) // "),
    # There is one slot for a position.
    ("sql/contracts/foreseeing_selectors.sql", "is distinct from "),
    # No pool is longer than the list of its votes.
    ("sql/diagnostics/majority_votes.sql", "unnest(range(1, len(votes) + "),
    # The second largest of three is that of two.
    ("sql/walks/prefix_weights.sql", "coalesce(max(weight, "),
    # The variable is set while the table is made.
    ("sql/evaluation/problem_costs.sql", "getvariable('first_walk'), "),
    # A number of one bit has one word, too.
    ("audit/engine/draws.py", "max(number.bit_length(), "),
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

    def shown(self) -> str:
        """Where it is and what it does, on one line."""
        source = (ROOT / self.path).read_text(encoding="utf-8")
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


def makes_no_difference(mutant: Mutant, before: str) -> bool:
    """Tell whether a bug is none; every order has an end to its ties: a rank is a row number."""
    is_same = any(mutant.path == path and before.endswith(text) for path, text in SAME)
    return is_same or mutant.text == "rank" or bool(NO_DIFFERENCE.search(before))


def chosen(seed: int, count: int) -> list[Mutant]:
    """Bugs to plant, without those that make no difference."""
    found = mutants()
    shuffled = random.Random(seed).sample(found, len(found))
    sources = {one.path: (ROOT / one.path).read_text(encoding="utf-8") for one in found}
    different = [
        one for one in shuffled if not makes_no_difference(one, sources[one.path][: one.start])
    ]
    return different[:count]


NOTHING = Mutant("README.md", 0, 0, "")


def tests_of(mutant: Mutant) -> list[str]:
    """List the tests that are asked about a bug, in turn; of a copy without one, all of them."""
    places = [place for place in OWN_TESTS if mutant.path.startswith(place) or mutant == NOTHING]
    return [*(test for place in places for test in OWN_TESTS[place]), *SIEVE, *TESTS]


class InOrder:
    """A plug-in of pytest that runs the tests whose names begin so, in that order."""

    def __init__(self, tests: Sequence[str]) -> None:
        """Keep how names begin."""
        self.asked = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out and sort; a name that no test has is refused."""
        for test in self.asked:
            if not any(item.nodeid.startswith(test) for item in items):
                raise pytest.UsageError(f"no test begins with {test}")
        items[:] = [item for item in items if item.nodeid.startswith(tuple(self.asked))]
        items.sort(key=self._rank)

    def _rank(self, item: pytest.Item) -> int:
        return next(n for n, test in enumerate(self.asked) if item.nodeid.startswith(test))


def _fork(folder: Path, mutant: Mutant, tests: Sequence[str]) -> None:
    """Plant the bug in the copy, run the tests there, and exit with the status of pytest."""
    path = folder / mutant.path
    path.write_text(mutant.applied(path.read_text(encoding="utf-8")), encoding="utf-8")
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
    log = os.open(folder / "tests.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(folder)
    os.environ["PYTHONPATH"] = str(folder)
    # What is compiled once is there for the next bug, also where it is not wanted elsewhere.
    sys.dont_write_bytecode = False
    sys.path.insert(0, str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] in ("audit", "tests")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    files = dict.fromkeys(test.split("::")[0] for test in tests)
    hangs = ["-o", f"faulthandler_timeout={SECONDS}", "-o", "faulthandler_exit_on_timeout=true"]
    status = pytest.main(
        ["-x", "-q", "-rfE", "-p", "no:cacheprovider", *hangs, *files], plugins=[InOrder(tests)]
    )
    sys.stdout.flush()
    os._exit(status)


def noticed(
    planted: Iterable[tuple[Mutant, Sequence[str]]], folders: Sequence[Path]
) -> Iterator[tuple[Mutant, str]]:
    """Yield every bug with the test that fails or hangs, or nothing, as soon as it is known.

    A folder is a copy of the project, in which one bug is tried at a time.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(HEAVY))
    free, running = list(folders), {}
    waiting = iter(planted)
    while True:
        while free and (task := next(waiting, None)):
            process = context.Process(target=_fork, args=(free[-1], *task))
            process.start()
            running[process.sentinel] = (process, task[0], free.pop())
        if not running:
            return
        for sentinel in wait(list(running)):
            process, mutant, folder = running.pop(sentinel)
            process.join()
            free.append(folder)
            # With its date of before: what was compiled from the bug is then known to be old.
            shutil.copy2(ROOT / mutant.path, folder / mutant.path)
            yield mutant, _seen_by(folder) if process.exitcode else ""


def _seen_by(folder: Path) -> str:
    """The test that failed, from what pytest has said."""
    said = (folder / "tests.log").read_text(encoding="utf-8", errors="replace")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", said, re.MULTILINE)
    return failed[1] if failed else said.strip().splitlines()[-1] if said.strip() else "no word"


def copies(folder: Path, count: int) -> list[Path]:
    """Copies of the project."""
    made = []
    for number in range(count):
        made.append(folder / f"copy-{number}")
        made[-1].mkdir()
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
            copy(ROOT / name, made[-1] / name)
    return made


def soak(seed: int) -> str:
    """Plant bugs one by one; at least 95 of 100 are noticed."""
    count = int(os.environ.get("BUDGET_AUDIT_MUTANTS", COUNT))
    planted = [*chosen(seed, count), NOTHING]
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        folders = copies(Path(temporary), AT_ONCE)
        survived = 0
        for mutant, test in noticed([(one, tests_of(one)) for one in planted], folders):
            assert mutant != NOTHING or not test, f"{test} fails without a bug"
            survived += mutant != NOTHING and not test
            how = f"caught by {test}" if test else "SURVIVED"
            print(f"{time.monotonic() - begun:5.0f} s  {mutant.shown()}: {how}", flush=True)
    assert 1 - survived / count >= CAUGHT_SHARE, f"{survived} of {count} bugs survived"
    return f"{count - survived} of {count} planted bugs were noticed"
