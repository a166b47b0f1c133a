"""What a shell is given to complete: names of a database that may be odd."""

import os
import subprocess
import sys

import pytest

from audit import database
from audit.load.load import load
from tests.support.archives import attempt, write_parquet
from tests.support.command import ROOT

NAMES = (
    *("phi-4", "org/phi@4.5+x", "größe_9", "phi 4 high", "key=a:b"),
    *("$(touch X)", "`touch X`", "x;touch X", "a'b", 'a"b', "a,b", "*", "a!b", "&touch X"),
)
# What no terminal can show, or bash cannot take, is left out.
HIDDEN = ("a\\b", "a\x1b[31mb", "a\nb", "a\u202eb")
COMPLETER = "import sys; sys.argv = ['budget-audit']; from audit.__main__ import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    rows = [attempt(1, 10, "4", archive=name) for name in (*NAMES, *HIDDEN)]
    write_parquet(rows, folder / "a.parquet")
    with database.open_database(folder / "audit.duckdb", write=True) as con:
        load(con, [str(folder / "a.parquet")], force=True)
    return folder


def completed(folder, shell, *words):
    """What the command prints for a shell that completes the last of these words, by lines."""
    environment = {
        "_BUDGET_AUDIT_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "\n".join(("budget-audit", *words)),
        "COMP_CWORD": words[-1] if shell == "fish" else str(len(words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPLETER],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("query over", ["overshoot"]),
        ("table mai", ["main"]),
        ("schema attem", ["attempts"]),
        ("tab", ["tables", "table"]),
        # Inside quotes nothing would be quoted.
        ("table main --archive 'ph", []),
    ],
)
def test_the_shell_completes_names(folder, words, found):
    assert completed(folder, "bash", *words.split()) == [f"plain,{name}" for name in found]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_shells_that_quote_by_themselves_get_names_as_they_are(folder, shell):
    text = "\n".join(completed(folder, shell, "table", "main", "--archive", ""))
    assert all(name in text for name in NAMES if name != "key=a:b")
    assert all(character.isprintable() or character in "\n\t" for character in text)


def test_what_bash_inserts_is_one_word_that_runs_nothing(folder):
    """The function that `_BUDGET_AUDIT_COMPLETE=bash_source` gives, called as bash calls it."""
    command = folder / "budget-audit"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{COMPLETER}"\n')
    command.chmod(0o755)
    code = """
        eval "$(_BUDGET_AUDIT_COMPLETE=bash_source budget-audit)"
        COMP_WORDS=(budget-audit table main --archive '') COMP_CWORD=4
        _budget_audit_completion budget-audit
        for reply in "${COMPREPLY[@]}"; do
            eval "set -- $reply"
            printf '%s|%s\\n' $# "$1"
        done
    """
    path = f"{folder}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "--norc", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PATH": path},
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines() == [f"1|{name}" for name in sorted(NAMES)]
    assert not (folder / "X").exists()
