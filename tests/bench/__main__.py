"""Run a benchmark by the name of its module: `python -m tests.bench tokens`."""

import sys
from importlib import import_module
from pathlib import Path

NAMES = sorted(
    path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_")
)

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in NAMES:
        sys.exit(f"usage: python -m tests.bench {{{','.join(NAMES)}}}")
    import_module(f"tests.bench.{sys.argv[1]}").main(sys.argv[2:])
