"""What several test files share: a place without a network, and the demo made there."""

import fcntl
import os
import subprocess

import duckdb
import pytest

from tests.support.browser import browser  # noqa: F401
from tests.support.command import run
from tests.support.missing import skip

# An error that nobody foresaw is one line for a user; a test sees where it comes from.
os.environ["BUDGET_AUDIT_TRACEBACK"] = "1"
# Commands that tests start need not compile the package each time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def connect(*arguments, config=None, connect=duckdb.connect, **options):
    """A connection with one thread, unless it asks for more."""
    return connect(*arguments, config={"threads": 1, **(config or {})}, **options)


# A second thread has nothing to do where there are a few records, and costs a seventh of the time.
# Tests of threads ask for them, and a command in a process of its own has as many as there are.
duckdb.connect = connect

# A network namespace of its own: as root, or as a user where users may make one.
NAMESPACES = (["unshare", "-n"], ["unshare", "-rn"])


def is_allowed(namespace):
    """Whether the namespace can be made here."""
    try:
        return subprocess.run([*namespace, "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture(scope="session")
def namespace():
    """What runs a command without any network, where that is allowed; elsewhere nothing."""
    return next(filter(is_allowed, NAMESPACES), [])


@pytest.fixture(scope="session")
def nowhere(namespace):
    """What runs a command without any network; where that is not allowed, the test is skipped."""
    if not namespace:
        reason = "no network namespace may be made here: run as root, or allow 'unshare -rn'"
        skip(reason, "OFFLINE")
    return namespace


@pytest.fixture
def con():
    """An empty database in memory."""
    with duckdb.connect() as con:
        yield con


@pytest.fixture(scope="session")
def demo(namespace, tmp_path_factory):
    """The demo's report, made by the command itself, without a network where that is allowed."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    page = folder / "demo" / "report" / "report.html"
    # Workers of a run share it: the first one makes it, and the others wait.
    with open(folder / "demo.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not page.exists():
            run(folder, "demo", "--out", "demo", inside=namespace)
    return page


def pytest_terminal_summary(terminalreporter):
    """Say what was run, and what was not."""
    counts = {name: len(reports) for name, reports in terminalreporter.stats.items()}
    ran = counts.get("passed", 0) + counts.get("failed", 0)
    skipped, left_out = counts.get("skipped", 0), counts.get("deselected", 0)
    terminalreporter.write_line(
        f"ran {ran:,} tests; {skipped:,} were skipped for what is missing here, {left_out:,} were "
        "left out (slow ones run with -m slow)"
    )
