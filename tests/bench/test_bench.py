"""The benchmark's yardsticks compute what the tool computes, so that comparing them is fair."""

import random

import pytest

from audit import engine
from tests.bench.measures import check_rows
from tests.bench.yardsticks import vectorized
from tests.bench.yardsticks.protocol import ATTEMPTS, Settings
from tests.support.archives import random_archive, random_settings
from tests.support.databases import replayed


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Attempts, settings and tables of random archives in which votes tie and pools are empty."""
    folder = tmp_path_factory.mktemp("archives")
    made = []
    matters = {"ties": False, "abstentions": False}
    for seed in range(3):
        rng = random.Random(seed)
        settings = random_settings(rng) | {"orders": 1 + seed, "replicates": 30 * seed}
        wanted = Settings(
            **{name: value for name, value in settings.items() if name in Settings._fields}
        )
        with replayed(folder, random_archive(rng), str(seed), **wanted._asdict()) as con:
            expected = [
                engine.compute_table(con, name).to_pylist() for name in ("main", "selectors")
            ]
            made.append((con.sql(ATTEMPTS).to_arrow_table(), wanted, expected))
            score = {
                (row["archive"], row["budget"], row["definition"]): row["strict_accuracy"]
                for row in engine.compute_table(con, "majority_rules").to_pylist()
            }
            pools = engine.compute_table(con, "pools").to_pylist()
        matters["ties"] |= any(
            value != score[archive, budget, "ties_last_seen"]
            for (archive, budget, definition), value in score.items()
            if definition == "majority"
        )
        matters["abstentions"] |= any(0 < row["strict_abstention"] < 100 for row in pools)
    assert all(matters.values())
    return made


@pytest.mark.slow
def test_numpy_by_hand_gives_the_tools_tables(cases):
    for attempts, settings, expected in cases:
        form = vectorized.prepare(attempts)
        main, selectors = vectorized.tabulate(form, vectorized.replay(form, settings), settings)
        check_rows(expected[0], main)
        # The tool leaves out selectors that may pick nothing in an archive.
        there = {(row["archive"], row["selector"]) for row in expected[1]}
        kept = [row for row in selectors if (row["archive"], row["selector"]) in there]
        check_rows(expected[1], kept)
