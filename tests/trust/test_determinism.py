"""The same attempts give the same bytes, whatever the threads, files and rows (threat model, a)."""

import random

import pytest

from audit import database, engine
from audit.load.load import load
from audit.output.export import export
from audit.tokens import tokenize
from tests.support.archives import random_archive, write_csv, write_jsonl, write_parquet
from tests.support.databases import SMALL, TOY

WRITERS = {"parquet": write_parquet, "jsonl": write_jsonl, "csv": write_csv}


def archive():
    """Rows full of ties; an empty text would be a missing one in CSV."""
    rows = random_archive(random.Random(10), costs=(4, 6, 7, 9), empty=0.1)
    return [row | {"text": "none"} if row["text"] == "" else row for row in rows]


def exported(folder, parts, suffix="parquet", threads=1):
    """Every table and relation as CSV, of rows that were loaded from so many files."""
    folder.mkdir()
    paths = [folder / f"{number}.{suffix}" for number in range(len(parts))]
    for path, rows in zip(paths, parts, strict=True):
        WRITERS[suffix](rows, path)
    with database.connect(folder / "audit.duckdb", threads=threads) as con:
        load(con, [str(path) for path in reversed(paths)], force=True)
        engine.replay(con, **SMALL, policies="all")
        tokenize(con, TOY, threads=threads)
        # The sources name the files.
        names = (
            *engine.list_tables(),
            *(name for name in engine.PUBLIC_RELATIONS if name != "sources"),
        )
        return {path.name: path.read_bytes() for path in export(con, folder / "csv", names)}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The tables of one run: one file, its rows as they come, one thread."""
    found = exported(tmp_path_factory.mktemp("expected") / "run", [archive()])
    empty = [name for name, data in found.items() if data.count(b"\n") < 2]
    # Attempts have no steps and no checkpoints here, problems are numbers, and nothing has a price.
    without = {"steps.csv", "checkpoints.csv", "checkpoint_grades.csv"}
    assert {*empty} == without | {"problem_names.csv", "prices.csv"}
    return found


def shuffled():
    rows = archive()
    random.Random(3).shuffle(rows)
    return rows


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "suffix", "threads"),
    [
        # Rows in another order, too.
        pytest.param(
            [shuffled()[20:], shuffled()[:20]],
            "jsonl",
            4,
            id="two files of JSON lines, four threads",
        ),
        pytest.param([archive()], "csv", 2, id="CSV, two threads"),
    ],
)
def test_every_table_has_the_same_bytes(tmp_path, expected, parts, suffix, threads):
    found = exported(tmp_path / "run", parts, suffix, threads)
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []
