"""What is killed, removed or cut is done again, or named (threat model, d)."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from audit.errors import AuditError
from audit.options import TaskLimits
from audit.scale import engines, gather, keys, plan, tasks
from audit.scale.folders import create_folder
from tests.support.command import ROOT
from tests.support.runs import (
    PARTS,
    copy_of,
    differing,
    done,
    gathered,
    kill_worker_once,
    planned,
)
from tests.support.waiting import until

LIMITS = TaskLimits()


def started(*arguments):
    """A process of ours, the first of its own group."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def members(group):
    """The processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


@pytest.mark.slow
def test_a_local_worker_that_is_killed_is_replaced(tmp_path, sources, expected, monkeypatch):
    monkeypatch.setattr(engines, "perform", kill_worker_once)
    folder = planned(tmp_path / "run", sources)
    assert done(folder, workers=2) == (3, PARTS)
    assert (folder / "killed").read_text()
    assert differing(gathered(folder, tmp_path / "gathered"), expected) == []


def kill_always(task):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_workers_that_are_always_killed_end_a_run_in_one_line(tmp_path, sources, monkeypatch):
    monkeypatch.setattr(engines, "perform", kill_always)
    folder = planned(tmp_path / "run", sources)
    with pytest.raises(AuditError, match=r"killed 3 times .*: extract \d.*--memory"):
        done(folder)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_a_driver_that_is_killed_goes_on_where_it_was(tmp_path, sources, expected):
    folder = planned(tmp_path / "run", sources, 12)
    driver = started("-m", "audit", "run", folder, "--workers", 2)
    until((folder / "parts" / "00000").exists, seconds=180)
    driver.kill()
    driver.wait()
    until(lambda: not members(driver.pid))
    there = {path.name: path.stat().st_mtime_ns for path in (folder / "parts").glob("[0-9]*")}
    assert 0 < len(there) < 12
    assert done(folder, workers=2) == (0, 12 - len(there))
    for name, modified in there.items():
        assert (folder / "parts" / name).stat().st_mtime_ns == modified
    assert differing(gathered(folder, tmp_path / "gathered"), expected) == []


def test_two_attempts_at_one_part_leave_one(tmp_path, whole, monkeypatch):
    folder = copy_of(whole, tmp_path / "run")
    before = {path: path.read_bytes() for path in (folder / "parts" / "00001").iterdir()}
    monkeypatch.setattr(tasks, "read_receipt", lambda *_: None)
    tasks.part(folder, 1)
    assert {path: path.read_bytes() for path in (folder / "parts" / "00001").iterdir()} == before
    assert not list((folder / "parts").glob(".*"))


def flipped(data):
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


PART, NOT_ITS = "parts/00002", "00002: receipt.json is not that of part 2 of this plan; remove"


@pytest.mark.parametrize(
    ("name", "spoil", "said"),
    [
        (PART, None, "1 of 4 parts are missing: 2;"),
        (f"{PART}/problem_costs.parquet", None, "00002/problem_costs.parquet: is missing"),
        (f"{PART}/problem_costs.parquet", flipped, "00002/problem_costs.parquet: is damaged"),
        (f"{PART}/receipt.json", lambda data: data[:20], NOT_ITS),
        (f"{PART}/receipt.json", lambda data: data.replace(b'"part"', b'"extract"'), NOT_ITS),
        ("keys/banks.parquet", lambda data: data[:-10], "banks.parquet: is damaged"),
    ],
)
def test_gather_names_what_is_wrong_and_makes_nothing(tmp_path, whole, name, spoil, said):
    path = copy_of(whole, tmp_path / "run") / name
    if spoil:
        path.write_bytes(spoil(path.read_bytes()))
    else:
        path.rename(tmp_path / "removed")
    with pytest.raises(AuditError, match=said):
        gather.gather(tmp_path / "run", tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()


def test_a_damaged_extract_is_not_numbered(tmp_path, whole):
    folder = copy_of(whole, tmp_path / "run")
    shutil.rmtree(folder / "keys")
    path = folder / "attempts" / "00001" / "attempts.parquet"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(AuditError, match=r"00001/attempts\.parquet: is damaged"):
        keys.make_keys(folder, LIMITS)


def test_what_was_left_a_day_ago_goes_and_what_is_being_written_stays(tmp_path, whole):
    folder = copy_of(whole, tmp_path / "run")
    left = folder / "parts" / ".00005.ab12"
    left.mkdir()
    os.utime(left, (time.time() - 10**6,) * 2)
    with create_folder(folder, plan.read_manifest(folder), "part", 7) as (partial, _):
        assert done(folder) == (0, 0)
        assert not left.exists() and partial.exists()
    assert (folder / "parts" / "00007" / "receipt.json").exists()
