"""Runs commands for the soaks: everything is imported once, then each command gets a fork.

A kill then lands in the work of a command, and not in the imports that take most of its time.
"""

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

FOREIGN = ("splintr", "tiktoken", "vl_convert")
OURS = (
    "audit.__main__",
    "audit.cli",
    "audit.engine.check",
    "audit.load.load",
    "audit.output.export",
    "audit.query.run",
    "audit.report",
    "audit.study.compare",
    "audit.tokens",
)
ROOT = Path(__file__).resolve().parent.parent.parent


class Server:
    """Commands, one after the other, each of which may be sent a signal after some seconds."""

    def __init__(self, process):
        self.process = process

    def run(self, folder, arguments, after=None, number=signal.SIGKILL, alter=()):
        """The exit status (minus the signal that ended it), the seconds and what was said.

        `alter` are settings of modules, such as `("audit.tokens.run.COMMIT_EVERY", 10)`.
        """
        job = {"folder": str(folder), "arguments": [str(word) for word in arguments]}
        job |= {"after": after, "signal": int(number), "alter": list(alter)}
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        done = json.loads(self.process.stdout.readline())
        return done["status"], done["seconds"], done["said"]


@contextmanager
def serving():
    """A server for as long as it is needed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.soak._server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Server(process)
    finally:
        process.stdin.close()
        process.wait()


def _serve():
    # Whatever a command imports while it runs is here already when it is forked.
    for name in (*FOREIGN, *OURS):
        importlib.import_module(name)
    encodings = sys.modules["audit.tokens.encodings"]
    # It takes a second, and a fork has it.
    encodings.o200k_encoding(encodings.DEFAULT)
    for line in sys.stdin:
        job = json.loads(line)
        said = os.memfd_create("said")
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            _run(job, said)
        if job["after"] is not None:
            time.sleep(job["after"])
            # At worst it has ended; until it is waited for, no other process has its number.
            os.kill(child, job["signal"])
        _, status = os.waitpid(child, 0)
        os.lseek(said, 0, os.SEEK_SET)
        with open(said, encoding="utf-8") as file:
            answer = {
                "status": os.waitstatus_to_exitcode(status),
                "seconds": time.monotonic() - begun,
                "said": file.read(),
            }
        print(json.dumps(answer), flush=True)


def _run(job, said):
    """The command in this process, which it ends."""
    import audit.__main__

    status = 1
    try:
        # A command that hangs is ended, and seen by its status.
        signal.alarm(300)
        os.chdir(job["folder"])
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(os.open(os.devnull, os.O_RDWR), 1)
        os.dup2(said, 2)
        for name, value in job["alter"]:
            module, _, attribute = name.rpartition(".")
            setattr(sys.modules[module], attribute, value)
        sys.argv = ["budget-audit", *job["arguments"]]
        try:
            audit.__main__.main()
        except SystemExit as ended:
            status = ended.code or 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        sys.stderr.flush()
    finally:
        os._exit(status)


if __name__ == "__main__":
    _serve()
