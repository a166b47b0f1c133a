"""Run the soaks, or those named: `python -m tests.soak [NAME ...] [--seed N]`.

A soak is a module beside this one with `soak(seed) -> str`: it raises AssertionError where a
promise is broken, and returns one line that says what it tried.
"""

import argparse
import time
from importlib import import_module
from pathlib import Path

NAMES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if not path.stem.startswith(("_", "test_"))
)

if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.soak")
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", default=NAMES)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 2**32)
    asked = parser.parse_args()
    print(f"seed {asked.seed}", flush=True)
    for name in asked.names:
        begun = time.monotonic()
        said = import_module(f"tests.soak.{name}").soak(asked.seed)
        print(f"{name}: {said} ({time.monotonic() - begun:,.0f} s)", flush=True)
