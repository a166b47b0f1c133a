"""A copy of the package that a test changes, and commands that run with it."""

import json
import os
import shutil
import subprocess
import sys

from tests.support.command import ROOT

PACKAGE = ("audit", "sql", "queries")
COMMANDS = """
import json, sys
from click.testing import CliRunner
from audit.cli import main
done = [CliRunner().invoke(main, one, catch_exceptions=False) for one in json.loads(sys.argv[1])]
print(json.dumps([(one.exit_code, one.stderr if one.exit_code else one.stdout) for one in done]))
"""


def copied(folder, names=PACKAGE):
    """The folder with a copy of the package in it."""
    for name in names:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def insert(path, before, text):
    """Put a text into a file of the copy, before some words of it."""
    whole = path.read_text(encoding="utf-8")
    assert whole.count(before) == 1, before
    path.write_text(whole.replace(before, text + before), encoding="utf-8")


def python(folder, *arguments):
    """Python with the copy."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
    )


def run_commands(folder, *commands):
    """What commands of the copy print, one after the other in one process: texts, or lists."""
    lists = [one.split() if isinstance(one, str) else one for one in commands]
    done = python(folder, "-c", COMMANDS, json.dumps(lists))
    assert done.returncode == 0, done.stderr
    for status, text in json.loads(done.stdout):
        assert status == 0, text
        yield text
