"""The wheel carries its SQL and queries, and works in a fresh environment from any folder."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    """A folder away from the checkout, and the command installed from the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), str(ROOT)]
    subprocess.run(pip, check=True)
    (wheel,) = folder.glob("budget_audit-*.whl")
    venv.create(folder / "environment", with_pip=True)
    scripts = folder / "environment" / "bin"
    subprocess.run([scripts / "pip", "install", "-q", str(wheel)], check=True)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return elsewhere, scripts / "budget-audit"


def test_an_installed_wheel_simulates_loads_replays_and_answers_from_any_folder(fresh):
    folder, command = fresh

    def run(*arguments):
        done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("simulate", "--out", "archives", "--problems", "2", "--attempts", "6")
    run("load", "archives")
    run("replay", "--orders", "2", "--replicates", "10")
    assert run("table", "main", "--format", "csv").startswith("archive,budget,strict_accuracy")
    assert "cost_per_correct" in run("query")
    assert run("query", "cost_per_correct", "--format", "csv").count("\n") > 2
    assert "partition by" in run("sql", "choices")
    run("check")


def test_without_the_report_extra_html_is_refused_in_one_line(fresh):
    folder, command = fresh
    done = subprocess.run(
        [command, "report", "--out", "r"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "budget-audit[report]" in done.stderr
