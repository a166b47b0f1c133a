"""Runs commands for the soaks: everything is imported once, then each command gets a fork.

A kill then lands in the work of a command, and not in the imports that take most of its time.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from contextlib import chdir, contextmanager, suppress
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FORKS = multiprocessing.get_context("forkserver")


class Server:
    """Commands, one after the other, each of which may be sent a signal after some seconds."""

    def __init__(self, said):
        self._said = said

    def run(self, folder, arguments, after=None, number=signal.SIGKILL, alter=()):
        """The exit status (minus the signal that ended it), the seconds and what was said.

        `alter` are settings of modules, such as `("audit.tokens.run.COMMIT_EVERY", 10)`.
        """
        words = ["budget-audit", *map(str, arguments)]
        process = FORKS.Process(target=_run, args=(str(folder), words, alter, str(self._said)))
        begun = time.monotonic()
        process.start()
        if after is not None:
            time.sleep(after)
            # At worst it has ended.
            with suppress(ProcessLookupError):
                os.kill(process.pid, number)
        process.join()
        seconds = time.monotonic() - begun
        return process.exitcode, seconds, self._said.read_text(encoding="utf-8")


@contextmanager
def serving():
    """A server for as long as it is needed."""
    FORKS.set_forkserver_preload(["tests.soak._warm"])
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder, "said")
        server = Server(said)
        # The process that forks finds the modules from where it is started.
        with chdir(ROOT):
            server.run(folder, ["--help"])
        yield server


def _run(folder, words, alter, said):
    """The command in this process, which it ends."""
    status = 1
    try:
        # A command that hangs is ended, and seen by its status.
        signal.alarm(300)
        os.chdir(folder)
        nothing = os.open(os.devnull, os.O_RDWR)
        for number, file in enumerate((nothing, nothing, os.open(said, os.O_RDWR | os.O_CREAT))):
            os.dup2(file, number)
        os.ftruncate(2, 0)
        import audit.__main__

        for name, value in alter:
            module, _, attribute = name.rpartition(".")
            setattr(import_module(module), attribute, value)
        sys.argv = words
        try:
            audit.__main__.main()
        except SystemExit as ended:
            status = ended.code or 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)
