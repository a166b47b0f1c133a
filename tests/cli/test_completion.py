"""What a shell is given to complete: names of a database that may be anyone's."""

import os
import subprocess
import sys

import pytest

from audit import database
from audit.load.load import load
from tests.support.archives import attempt, write_parquet
from tests.support.command import ROOT

PLAIN = ("phi-4", "org/phi@4.5+x", "größe_9")
QUOTED = ("phi 4 high", "key=a:b")
UNSAFE = (
    "$(touch X)",
    "`touch X`",
    "x;touch X",
    "a'b",
    'a"b',
    "a\\b",
    "a\x1b[31mb",
    "a\nb",
    "a,b",
    "*",
    "--replace",
    "~root",
    "a\u202eb",
    "a!b",
    "&touch X",
)
COMPLETER = "import sys; sys.argv = ['budget-audit']; from audit.__main__ import main; main()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    names = (*PLAIN, *QUOTED, *UNSAFE)
    write_parquet([attempt(1, 10, "4", archive=name) for name in names], folder / "a.parquet")
    with database.opened(folder / "audit.duckdb", write=True) as con:
        load(con, [str(folder / "a.parquet")], force=True)
    return folder


def completed(folder, shell, begun):
    """What the command prints for a shell, as one text."""
    words = ["budget-audit", "table", "main", "--archive", begun]
    environment = {
        "_BUDGET_AUDIT_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": "\n".join(words),
        "COMP_CWORD": begun if shell == "fish" else "4",
    }
    done = subprocess.run(
        [sys.executable, "-c", COMPLETER],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_names_that_a_shell_could_run_are_left_out_and_others_are_quoted_for_bash(folder):
    lines = completed(folder, "bash", "").splitlines()
    wanted = sorted([*PLAIN, *(f"'{name}'" for name in QUOTED)], key=lambda name: name.strip("'"))
    assert lines == [f"plain,{name}" for name in wanted]


def test_inside_quotes_nothing_is_quoted_again(folder):
    assert completed(folder, "bash", "'phi 4") == "plain,phi 4 high\n"


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_shells_that_quote_by_themselves_get_the_safe_names_as_they_are(folder, shell):
    out = completed(folder, shell, "")
    assert "phi 4 high" in out and "'" not in out and "touch" not in out
    assert all(character.isprintable() or character in "\n\t" for character in out)


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
    assert done.stdout.splitlines() == [f"1|{name}" for name in sorted([*PLAIN, *QUOTED])]
    assert not (folder / "X").exists()
