"""Run the benchmarks, or those named: `python -m tests.bench [NAME ...] [--rounds N] [--data DIR]`.

Seconds are the processor's, user and system, of whole processes: compare them on a calm machine.
`scale` has options of its own and runs by name alone.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path

from tests.bench import scale
from tests.bench.measures import MEASURES, Bench


def main(arguments: list[str]) -> None:
    """Run the wanted measures one after another, and print the median and spread of each."""
    if arguments[:1] == ["scale"]:
        scale.main(arguments[1:])
        return
    known = {measure.__name__: measure for measure in MEASURES}
    parser = argparse.ArgumentParser("python -m tests.bench", epilog="by name alone: scale")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of {', '.join(known)}")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--data", type=Path, metavar="DIR", help="keep what is made, for next time")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"no measure {', '.join(unknown)}; there are {', '.join(known)}, scale")
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.data or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        bench = Bench(folder, asked.rounds)
        print(f"{'what':56} {'median':>8}    {'min to max':16} bar; load {os.getloadavg()[0]:.1f}")
        for name in asked.names or known:
            for what, values, unit, bar in known[name](bench):
                spread = f"{min(values):.2f} to {max(values):.2f}"
                median = statistics.median(values)
                print(f"{what:56} {median:8.2f} {unit:2} {spread:16} {bar}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
