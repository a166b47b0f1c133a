"""The command as a user runs it, in a process of its own."""

import contextlib
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import NamedTuple

import click
from click.testing import CliRunner

from audit.cli import main

ROOT = Path(__file__).resolve().parents[2]


def parameters(name):
    """The options and arguments of a command."""
    command = main.commands[name]
    return [one for one in command.get_params(click.Context(command)) if "--help" not in one.opts]


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


class Streams(NamedTuple):
    """What a command wrote."""

    out: str
    err: str


def read_streams(folder, *arguments, status=0, **environment):
    """Run the command within this process, which is faster; return both its streams."""
    with contextlib.chdir(folder):
        done = CliRunner(env=environment).invoke(main, [*map(str, arguments)])
    assert done.exit_code == status, done.output
    if status == 2:
        assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1, done.stderr
    return Streams(done.stdout, done.stderr)


def run_inside(folder, *arguments, status=0):
    """Return what `run` gives, within this process: standard output, or the line of a mistake."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out, err = read_streams(folder, *arguments, status=status)
    return err if status == 2 else out
