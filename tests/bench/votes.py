"""The majority of every pool beside scorio's `majority_vote`."""

from tests.bench.harness import Asked, Line, Row, alternate, check_rows, ratios, timed
from tests.bench.replays import engine_side, read_attempts
from tests.bench.yardsticks import loop
from tests.bench.yardsticks.protocol import Settings


def scorio(asked: Asked) -> list[Line]:
    """Accuracy under both rules: the tool from a loaded database, scorio from the pools."""
    try:
        from tests.bench.yardsticks import votes
    except ImportError:
        print("scorio: not installed: not compared")
        return []
    settings = Settings(caps=(16,), replicates=0)
    banks = loop.prepare(read_attempts(asked.database()))
    pools = votes.prepare(banks, settings)
    plain = loop.tabulate(banks, loop.replay(banks, settings), settings)

    def ours() -> tuple[float, list[Row]]:
        spent, rows = engine_side(asked, settings)
        return spent, [accuracy(row) for row in rows]

    sides = {"budget-audit": ours, "scorio": lambda: timed(votes.accuracies, pools)}
    check_rows("scorio", votes.accuracies(pools), [accuracy(row) for row in plain.main])
    seconds = alternate(sides, asked.rounds(), check_rows)
    count = sum(len(found.answers) for drawn in pools.values() for found in drawn)
    return [
        Line(
            "scorio",
            f"majorities of {count:,} pools: scorio / budget-audit",
            ratios(seconds["scorio"], seconds["budget-audit"]),
            seconds=seconds,
        )
    ]


def accuracy(row: Row) -> Row:
    """What scorio can say of a row of `main`."""
    return {
        name: row[name] for name in ("archive", "budget", "strict_accuracy", "advisory_accuracy")
    }
