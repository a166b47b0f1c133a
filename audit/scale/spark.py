"""Spark through the PySpark API: Apache Spark, Spark Connect, Databricks and Sail alike."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from audit.errors import AuditError, first_line
from audit.scale.run import Where
from audit.scale.tasks import Outcome, Task, as_text, from_text, perform

# One task is one partition; a Python worker's memory climbs, so none is used again.
CONFIG = {"spark.python.worker.reuse": "false", "spark.ui.enabled": "false"}


def execute(tasks: list[Task], where: Where) -> Iterator[Outcome]:
    """Run every task as one row of one partition: what travels is paths and numbers."""
    session = _session(where)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                found = as_text(perform(tasks[number]))
                yield pa.RecordBatch.from_pydict({"outcome": [found]})

    count = len(tasks)
    try:
        rows = session.range(0, count, 1, count).mapInArrow(run, "outcome string").collect()
        yield from [from_text(row.outcome) for row in rows]
    except Exception as error:
        if "No module named 'audit'" in str(error):
            raise AuditError(
                "Spark's workers have no budget-audit: install the same version in their Python"
            ) from None
        raise AuditError(f"Spark gave up: {_cause(error)}") from None
    finally:
        session.stop()


def _session(where: Where) -> Any:
    """A session on a master, or with a remote that speaks Spark Connect."""
    if (where.master is None) == (where.remote is None):
        raise AuditError("--on spark: give either --master URL or --remote sc://HOST:PORT")
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise AuditError("--on spark needs more: pip install 'budget-audit[spark]'") from None
    builder: Any = SparkSession.builder.appName("budget-audit")
    for key, value in CONFIG.items() if where.master else ():
        builder = builder.config(key, value)
    try:
        if where.remote:
            return builder.remote(where.remote).getOrCreate()
        return builder.master(where.master).getOrCreate()
    except Exception as error:
        hint = "; --master needs the full pyspark and Java" if where.master else ""
        raise AuditError(f"Spark cannot be reached: {first_line(error)}{hint}") from None


def _cause(error: Exception) -> str:
    """The line that says why, out of Spark's many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    python = [line for line in lines if "Error: " in line and not line.startswith("at ")]
    return (python or lines or [type(error).__name__])[-1 if python else 0][:300]
