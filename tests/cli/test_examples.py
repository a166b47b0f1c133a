"""Every example of a help text runs as it is pasted."""

import glob
import random
import re
import shlex
import shutil

import pytest

from audit.cli import main
from audit.cli.exits import GROUPS
from tests.support.archives import attempt, write_jsonl, write_parquet
from tests.support.command import parameters, read_streams

# What needs something that is not there (the hub, checkpoints), or runs in a fixture for others.
ELSEWHERE = {"demo", "fetch", "leave"}
EXAMPLES = {
    name: example[1]
    for name, command in main.commands.items()
    if (example := re.search(r"Example: budget-audit (.+)", command.help or ""))
}
# Those that make what others look at come first, in the order of use.
FIRST = ("load", "answers", "replay", "plan", "extract", "part", "run")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as the examples speak of it: traces, more of them, logs, two databases."""
    place = tmp_path_factory.mktemp("examples")
    rng = random.Random(3)
    for name in ("traces", "more", "logs"):
        (place / name).mkdir()
    rows = [
        attempt(seed, 400 + rng.randrange(2000), "7" if seed % 4 else "8", correct=seed % 4 > 0)
        | {"archive": "my-model", "competition": "AIME24", "question_id": question}
        | {"archive_answer": "7" if seed % 4 else "8"}
        for question in range(4)
        for seed in range(8)
    ]
    write_parquet(rows, place / "traces" / "a.parquet")
    others = [row | {"archive": "other"} for row in rows]
    write_jsonl(others, place / "more" / "b.jsonl.gz")
    write_jsonl([{**row, "archive": None} for row in rows], place / "logs" / "c.jsonl")
    write_jsonl(rows, place / "full.jsonl")
    # A live run whose budget was never spent launched them all.
    live = [{**row, "budget_audit": {"budget": 10**6}} for row in rows]
    write_jsonl(live, place / "live.jsonl")
    for name in FIRST:
        example(place, name)
        if name == "replay":
            for copy in ("before", "after"):
                shutil.copy(place / "audit.duckdb", place / f"{copy}.duckdb")
    return place


def example(folder, name):
    """Run the example of a command; patterns are a shell's to fill in."""
    words = []
    for word in shlex.split(EXAMPLES[name]):
        found = sorted(glob.glob(word, root_dir=folder)) if "*" in word else []
        words += found or [word]
    if name == "gather":
        # The example makes a database where there is none.
        words[words.index("audit.duckdb")] = "gathered.duckdb"
    return read_streams(folder, *words)


def test_every_command_has_an_example_unless_it_takes_nothing():
    for name in main.commands:
        assert (name in EXAMPLES) == bool(parameters(name)), name


def test_every_command_stands_in_a_group():
    grouped = [name for _, names in GROUPS for name in names]
    assert sorted(grouped) == sorted(main.commands)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - ELSEWHERE - set(FIRST)))
def test_an_example_runs(folder, name):
    out, _ = example(folder, name)
    assert out.strip()
