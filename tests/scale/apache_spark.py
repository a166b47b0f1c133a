"""A run on Apache Spark whose executor is killed during a part; run with the full pyspark."""

import os
import sys
from pathlib import Path

from audit.scale import engines
from tests.support.runs import (
    differing,
    done,
    gathered,
    kill_executor_once,
    one_machine,
    planned,
    write_sources,
)


def main(folder: Path) -> None:
    """Replay on one machine and on Spark, and compare."""
    sources = write_sources(folder / "sources")
    expected = one_machine(folder / "one", sources)
    planned(folder / "run", sources)
    engines.perform = kill_executor_once
    assert done(folder / "run", on="spark", master="local-cluster[2,1,1024]") == (3, 4)
    killed = (folder / "run" / "killed").read_text()
    assert killed and not os.path.exists(f"/proc/{killed}"), killed
    assert differing(gathered(folder / "run", folder / "gathered"), expected) == []
    print("same bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
