"""Tasks on Spark through the PySpark API: Apache Spark, Spark Connect, Databricks and Sail."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from audit.errors import AuditError, first_line
from audit.options import TaskLimits
from audit.scale.run import Execute
from audit.scale.tasks import Outcome, Task, perform

# A Python worker's memory climbs, so none is used again.
CONFIG = {"spark.python.worker.reuse": "false", "spark.ui.enabled": "false"}


@contextmanager
def started(limits: TaskLimits, master: str | None, remote: str | None) -> Iterator[Execute]:
    """Open a session on a master, or with a remote that speaks Spark Connect."""
    if (master is None) == (remote is None):
        raise AuditError("--on spark: give either --master URL or --remote sc://HOST:PORT")
    # PySpark warns of versions that it does not know, which a user cannot mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = _open_session(master, remote)
        try:
            yield lambda tasks: _execute(session, tasks)
        finally:
            session.stop()


def _open_session(master: str | None, remote: str | None) -> Any:
    """Connect to Spark, or say in one line why that fails."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise AuditError("--on spark needs more: pip install 'budget-audit[spark]'") from None
    builder: Any = SparkSession.builder.appName("budget-audit")
    try:
        if remote:
            return builder.remote(remote).getOrCreate()
        for key, value in CONFIG.items():
            builder = builder.config(key, value)
        return builder.master(master).getOrCreate()
    except Exception as error:
        hint = "; --master needs the full pyspark and Java" if master else ""
        raise AuditError(f"Spark cannot be reached: {first_line(error)}{hint}") from None


def _execute(session: Any, tasks: list[Task]) -> Iterator[Outcome]:
    """Run every task as one row of one partition: only paths and numbers travel."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                outcome = json.dumps(perform(tasks[number]))
                yield pa.RecordBatch.from_pydict({"outcome": [outcome]})

    count = len(tasks)
    try:
        rows = session.range(0, count, 1, count).mapInArrow(run, "outcome string").collect()
    except Exception as error:
        why = first_line(error)
        if "No module named 'audit'" in str(error):
            why = "its workers have no budget-audit; install the same version in their Python"
        raise AuditError(f"Spark gave up: {why}") from None
    yield from (Outcome(*json.loads(row.outcome)) for row in rows)
