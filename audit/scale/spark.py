"""Spark through the PySpark API: Apache Spark, Spark Connect, Databricks and Sail alike."""

import json
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from audit.errors import AuditError, first_line
from audit.options import TaskLimits
from audit.scale.run import Execute, Where
from audit.scale.tasks import Outcome, Task, perform

# A Python worker's memory climbs, so none is used again.
CONFIG = {"spark.python.worker.reuse": "false", "spark.ui.enabled": "false"}


@contextmanager
def started(where: Where, limits: TaskLimits) -> Iterator[Execute]:
    """A session on a master, or with a remote that speaks Spark Connect."""
    if (where.master is None) == (where.remote is None):
        raise AuditError("--on spark: give either --master URL or --remote sc://HOST:PORT")
    # What PySpark thinks of other versions than it knows is nothing that a user can mend.
    with warnings.catch_warnings(), _main_file():
        warnings.simplefilter("ignore")
        session = _session(where)
        try:
            yield lambda tasks: _execute(session, tasks)
        finally:
            session.stop()


@contextmanager
def _main_file() -> Iterator[None]:
    """Name a file of the main module where it has none, as under `python -c`.

    PySpark's client would take the process for its own doctests, and end it for want of a Spark.
    """
    main: Any = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        yield
        return
    main.__file__ = "-c"
    try:
        yield
    finally:
        del main.__file__


def _session(where: Where) -> Any:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise AuditError("--on spark needs more: pip install 'budget-audit[spark]'") from None
    builder: Any = SparkSession.builder.appName("budget-audit")
    try:
        if where.remote:
            return builder.remote(where.remote).getOrCreate()
        for key, value in CONFIG.items():
            builder = builder.config(key, value)
        return builder.master(where.master).getOrCreate()
    except Exception as error:
        hint = "; --master needs the full pyspark and Java" if where.master else ""
        raise AuditError(f"Spark cannot be reached: {first_line(error)}{hint}") from None


def _execute(session: Any, tasks: list[Task]) -> Iterator[Outcome]:
    """Run every task as one row of one partition: what travels is paths and numbers."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                outcome = json.dumps(perform(tasks[number]))
                yield pa.RecordBatch.from_pydict({"outcome": [outcome]})

    count = len(tasks)
    try:
        rows = session.range(0, count, 1, count).mapInArrow(run, "outcome string").collect()
    except Exception as error:
        raise AuditError(f"Spark gave up: {_cause(error)}") from None
    yield from (Outcome(*json.loads(row.outcome)) for row in rows)


def _cause(error: Exception) -> str:
    """The line that says why, out of Spark's many."""
    if "No module named 'audit'" in str(error):
        return "its workers have no budget-audit; install the same version in their Python"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = [line for line in lines if "Error: " in line and not line.startswith("at ")]
    return (python or lines or [type(error).__name__])[-1 if python else 0][:300]
