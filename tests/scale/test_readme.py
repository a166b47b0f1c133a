"""The README's commands run, and it names every command of a run."""

import re
from pathlib import Path

from tests.support.command import run

README = Path(__file__).resolve().parents[2] / "audit" / "scale" / "README.md"


def test_the_commands_of_the_readme_run(tmp_path):
    text = README.read_text(encoding="utf-8")
    run(tmp_path, "simulate", "--out", "traces", "--problems", 1, "--attempts", 6)
    (block,) = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    for line in block.splitlines():
        found = run(tmp_path, *line.removeprefix("budget-audit ").split())
    assert "simulated_high" in found
    named = set(re.findall(r"^\| `budget-audit (\w+)", text, re.MULTILINE))
    assert named == {"plan", "run", "extract", "part", "gather"}
