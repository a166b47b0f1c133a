"""The wheel carries its SQL and queries, and works from any folder (threat model, a)."""

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A wheel is built and installed; that missing extras are named is shown without it in tokens/ too.
pytestmark = pytest.mark.slow


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


def run(place, *arguments):
    """What the installed command prints."""
    folder, command = place
    done = subprocess.run([command, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def replayed(fresh):
    """The same, with simulated archives loaded and replayed there."""
    run(fresh, "simulate", "--out", "archives", "--problems", "2", "--attempts", "6")
    run(fresh, "load", "archives")
    run(fresh, "replay", "--orders", "2", "--replicates", "10")
    return fresh


def test_an_installed_wheel_simulates_loads_replays_and_answers_from_any_folder(replayed):
    assert run(replayed, "table", "main", "--format", "csv").startswith(
        "archive,budget,strict_accuracy"
    )
    assert "cost_per_correct" in run(replayed, "query")
    assert run(replayed, "query", "cost_per_correct", "--format", "csv").count("\n") > 2
    assert "partition by" in run(replayed, "sql", "primary_picks")
    run(replayed, "check")


def test_the_page_and_the_demo_need_no_extra(replayed):
    run(replayed, "report", "--out", "page")
    said = run(replayed, "demo", "--out", "demo")
    assert "tokens a problem" in said and "Epoch AI" in said
    assert (replayed[0] / "demo" / "report" / "report.html").stat().st_size > 200_000
