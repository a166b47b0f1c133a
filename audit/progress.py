"""The progress of a command: the signature of its callback, and a bar on the terminal."""

import os
import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

# Called with the current step in words, how much is done, and how much there is in all.
Progress = Callable[[str, int, int], None]

WIDTH = 24
# Seconds between updates: faster ones cost time and are no easier to read.
SECONDS = 0.05


def bar(label: str) -> Progress | None:
    """Return a callback that draws a progress bar on standard error; None without a terminal."""
    out = sys.stderr
    if not out.isatty():
        return None
    last = 0.0

    def show(what: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        is_last = done >= total
        if not is_last and now - last < SECONDS:
            return
        last = now
        share = min(done / total, 1.0) if total > 0 else 1.0
        filled = round(WIDTH * share)
        # Rounding must not say 100 % before the end.
        percent = 100 if is_last else min(99, int(100 * share))
        line = f"{label} [{'#' * filled}{'.' * (WIDTH - filled)}] {percent:3} %  "
        words = what.replace("_", " ")
        room = max(0, columns(out) - len(line) - 1)
        out.write(f"\r\x1b[K{line}{words[:room]}" + ("\n" if is_last else ""))
        out.flush()

    return show


def columns(stream: TextIO) -> int:
    """Return the width of the terminal; without one, COLUMNS or 80."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size((80, 24)).columns
