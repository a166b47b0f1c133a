"""The command as a user runs it, in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(folder, *arguments, status=0, inside=()):
    """The command in a folder of its own; warnings are errors, and a mistake is one line."""
    done = subprocess.run(
        [*inside, sys.executable, "-W", "error", "-m", "audit", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    assert "Traceback" not in done.stderr
    if status == 2:
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
        return done.stderr
    return done.stdout
