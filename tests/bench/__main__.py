"""Run the benchmarks, or those named: `python -m tests.bench [NAME ...] [--quick] [--out FILE]`.

Without a name the whole suite runs: every measure of `replays`, `loads`, `pages` and `live`. It
prints the ratios and writes them, with the seconds behind them, as JSON. `scale` has options of
its own and runs by name alone.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from tests.bench import live, loads, pages, replays
from tests.bench.harness import Asked, Line, as_json, print_heading, print_line

SUITE: dict[str, Callable[[Asked], list[Line]]] = {
    measure.__name__: measure
    for measure in (
        replays.replay_20,
        replays.replay_200,
        replays.replay_1000,
        replays.growth,
        replays.budgets,
        replays.tables,
        loads.load,
        pages.help,
        pages.table_main,
        live.live,
    )
}
ALONE = ("scale",)


def main(arguments: list[str]) -> None:
    """Run the wanted measures one after another."""
    if arguments and arguments[0] in ALONE:
        import_module(f"tests.bench.{arguments[0]}").main(arguments[1:])
        return
    parser = argparse.ArgumentParser(
        "python -m tests.bench", epilog=f"by name alone: {', '.join(ALONE)}"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(SUITE)}")
    parser.add_argument("--quick", action="store_true", help="smaller shapes and fewer rounds")
    parser.add_argument("--rounds", type=int, metavar="N", help="the same number for every measure")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), metavar="FILE")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="keep the archives made, for next time"
    )
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in SUITE]
    if unknown:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join((*SUITE, *ALONE))}")
    with tempfile.TemporaryDirectory() as scratch:
        if asked.data:
            asked.data.mkdir(parents=True, exist_ok=True)
        size = Asked(asked.data or Path(scratch), asked.quick, asked.rounds)
        run(asked.names or list(SUITE), size, asked.out)


def run(names: list[str], asked: Asked, out: Path) -> None:
    """Measure, print and write."""
    load = os.getloadavg()
    smaller = " (--quick: smaller shapes, fewer rounds)" if asked.quick else ""
    print(f"{asked.shape}{smaller}; load average {load[0]:.1f}")
    print_heading()
    lines: list[Line] = []
    for name in names:
        found = SUITE[name](asked)
        for line in found:
            print_line(line)
        lines += found
        out.write_text(as_json(lines, asked, load))
    print(f"load average {os.getloadavg()[0]:.1f}; written to {out}")


if __name__ == "__main__":
    main(sys.argv[1:])
