"""A call in a process of its own, so that its memory is its own."""

import pickle
import platform
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def apart(run: Callable[..., Any], *arguments: Any) -> tuple[Any, int]:
    """What a function of some module returns, and the most bytes it has held resident."""
    command = [sys.executable, "-m", "tests.bench.apart"]
    asked = pickle.dumps((run, arguments))
    return pickle.loads(
        subprocess.run(command, input=asked, stdout=subprocess.PIPE, check=True).stdout
    )


def peak_memory() -> int:
    """The most bytes of this process; on Linux ru_maxrss would count those of its parent too."""
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if platform.system() == "Darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    run, arguments = pickle.load(sys.stdin.buffer)
    found = run(*arguments)
    sys.stdout.buffer.write(pickle.dumps((found, peak_memory())))
