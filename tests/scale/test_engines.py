"""Real engines: Sail and Ray with two workers, and Apache Spark with an executor killed."""

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from audit.errors import AuditError
from audit.scale import engines
from tests.support.command import ROOT
from tests.support.missing import skip
from tests.support.runs import (
    PARTS,
    differing,
    done,
    gathered,
    kill_worker_once,
    planned,
)


def needs(module):
    """Import a module of the extra `engines`."""
    try:
        return __import__(module)
    except ImportError:
        skip(f"{module} is not installed: pip install 'budget-audit[engines]'", "ENGINES")


@pytest.fixture
def sail():
    """A Spark Connect server without Java, in a process of its own."""
    needs("pysail")
    needs("pyspark")
    script = (
        "from pysail.spark import SparkConnectServer; import sys\n"
        "server = SparkConnectServer('127.0.0.1', 0); server.start(background=True)\n"
        "print(server.listening_address[1], flush=True); sys.stdin.read()"
    )
    server = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    try:
        yield f"sc://127.0.0.1:{int(server.stdout.readline())}"
    finally:
        server.kill()
        server.wait()


def test_sail_gives_the_bytes_of_one_machine(tmp_path, sources, expected, sail):
    folder = planned(tmp_path / "run", sources)
    assert done(folder, on="spark", remote=sail) == (3, PARTS)
    assert done(folder, on="spark", remote=sail) == (0, 0)
    assert differing(gathered(folder, tmp_path / "gathered"), expected) == []


def test_a_mistake_on_a_spark_worker_comes_back_as_one_line(tmp_path, sources, sail):
    folder = planned(tmp_path / "run", sources)
    sources[0].rename(tmp_path / "gone")
    try:
        with pytest.raises(AuditError, match=r"extract 0: .*0.parquet: has changed or gone"):
            done(folder, on="spark", remote=sail)
    finally:
        (tmp_path / "gone").rename(sources[0])


def test_ray_gives_the_bytes_of_one_machine_though_a_worker_is_killed(
    tmp_path, sources, expected, monkeypatch
):
    needs("ray")
    monkeypatch.setattr(engines, "perform", kill_worker_once)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    folder = planned(tmp_path / "run", sources)
    assert done(folder, on="ray", workers=2) == (3, PARTS)
    assert (folder / "killed").read_text()
    assert differing(gathered(folder, tmp_path / "gathered"), expected) == []


def test_ray_that_does_not_start_is_told_as_that(tmp_path, sources, monkeypatch):
    def refuse(**options):
        raise RuntimeError("The current node timed out during startup.")

    started = SimpleNamespace(init=refuse, exceptions=SimpleNamespace(RayError=OSError))
    monkeypatch.setitem(sys.modules, "ray", started)
    folder = planned(tmp_path / "run", sources)
    with pytest.raises(AuditError, match=r"^Ray did not start on this machine: The current node"):
        done(folder, on="ray")


def test_spark_without_an_address_is_a_mistake(tmp_path, sources):
    folder = planned(tmp_path / "run", sources)
    with pytest.raises(AuditError, match="either --master URL or --remote"):
        done(folder, on="spark")


@pytest.mark.slow
def test_apache_spark_gives_the_bytes_of_one_machine_though_an_executor_is_killed(tmp_path):
    python = os.environ.get("BUDGET_AUDIT_SPARK_PYTHON")
    if not python:
        python = "a Python with the full pyspark and budget-audit"
        skip(f"BUDGET_AUDIT_SPARK_PYTHON does not name {python}", "ENGINES")
    # A Spark Connect session of this process leaves variables behind that make the next one remote.
    own = {name: value for name, value in os.environ.items() if not name.startswith("SPARK_")}
    done = subprocess.run(
        [python, "-m", "tests.scale.apache_spark", str(tmp_path)],
        env={**own, "PYTHONPATH": str(ROOT), "PYSPARK_PYTHON": python},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.endswith("same bytes\n")
