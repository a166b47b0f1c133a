"""The command in a pseudo-terminal, as a person sees it."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

from tests.support.command import ROOT


def in_terminal(folder, *arguments, columns=80, status=0, **environment):
    """What a terminal of that many columns is sent by the command, errors included."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "PAGER")}
    child = subprocess.Popen(
        [sys.executable, "-m", "audit", *map(str, arguments)],
        cwd=folder,
        env={**inherited, "PYTHONPATH": str(ROOT), "TERM": "xterm", **environment},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
    )
    os.close(slave)
    seen, deadline = b"", time.monotonic() + 300
    while time.monotonic() < deadline:
        ready, _, _ = select.select([master], [], [], 1.0)
        if not ready:
            if child.poll() is not None:
                break
            continue
        try:
            piece = os.read(master, 65536)
        except OSError:
            # A terminal whose last program has ended reads as an error.
            break
        if not piece:
            break
        seen += piece
    os.close(master)
    assert child.wait(10) == status, seen.decode(errors="replace")
    return seen.decode().replace("\r\n", "\n")
