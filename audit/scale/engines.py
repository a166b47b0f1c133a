"""The engines that run tasks: processes of this machine, Ray and Spark."""

import json
import logging
import multiprocessing
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

import pyarrow as pa

from audit.errors import AuditError, first_line
from audit.scale.tasks import Outcome, Task, perform

# A process keeps memory that it no longer needs, so each part gets a new process.
TASKS_PER_PROCESS = {"extract": 50, "part": 1}
# How often tasks whose process was killed are tried again.
MOST_TRIES = 3
# A Python worker's memory climbs, so Spark starts a new one for every task.
SPARK_CONFIG = {"spark.python.worker.reuse": "false", "spark.ui.enabled": "false"}

Execute = Callable[[list[Task]], Iterable[Outcome]]


def run_local(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    """Run tasks in processes of this machine, a few tasks in each; yield their outcomes."""
    size = max(1, min(TASKS_PER_PROCESS[tasks[0].kind], len(tasks) // workers))
    shares = [tasks[first : first + size] for first in range(0, len(tasks), size)]
    with ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(_run_share, share) for share in shares]):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _run_share(tasks: Sequence[Task]) -> list[Outcome]:
    """Run tasks in one process; if it is killed, start another for the tasks that are left."""
    done: list[Outcome] = []
    spawning = multiprocessing.get_context("spawn")
    for _ in range(MOST_TRIES):
        receiver, sender = spawning.Pipe(duplex=False)
        process = spawning.Process(target=_send, args=(perform, tasks[len(done) :], sender))
        process.start()
        sender.close()
        with receiver, suppress(EOFError):
            while len(done) < len(tasks):
                done.append(receiver.recv())
        process.join()
        if len(done) == len(tasks):
            return done
    names = ", ".join(f"{task.kind} {task.number}" for task in tasks[len(done) :][:5])
    raise AuditError(
        f"processes were killed {MOST_TRIES} times while these were not done: {names}; was the "
        "memory used up? pass --memory, fewer --workers, or plan more --parts"
    )


def _send(run: Callable[[Task], Outcome], tasks: Sequence[Task], sender: Connection) -> None:
    """Run tasks one after another and send each outcome; end once nobody receives them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(BrokenPipeError):
        for task in tasks:
            sender.send(run(task))


@contextmanager
def open_ray(address: str | None, processors: int) -> Iterator[Execute]:
    """Connect to the Ray cluster at an address, or start Ray here; yield what runs tasks on it."""
    try:
        import ray
    except ImportError:
        raise AuditError("--on ray needs more: pip install 'budget-audit[ray]'") from None
    place = f"at {address}" if address else "on this machine"
    try:
        ray.init(
            address=address or "local",
            num_cpus=None if address else processors,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:
        raise AuditError(
            f"Ray did not start {place}: {first_line(error)}; use --on local, or see Ray's logs in "
            "/tmp/ray/session_latest/logs"
        ) from None
    try:
        yield lambda tasks: _run_on_ray(ray, tasks)
    except (ray.exceptions.RayError, ConnectionError) as error:
        raise AuditError(f"Ray gave up: {first_line(error)}") from None
    finally:
        ray.shutdown()


def _run_on_ray(ray: Any, tasks: list[Task]) -> Iterator[Outcome]:
    """Run tasks as remote functions on `--threads` cores each; yield their outcomes."""
    remote = ray.remote(
        max_retries=MOST_TRIES,
        max_calls=TASKS_PER_PROCESS[tasks[0].kind],
        num_cpus=tasks[0].limits.threads,
    )(perform)
    waiting = [remote.remote(task) for task in tasks]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)


@contextmanager
def open_spark(master: str | None, remote: str | None) -> Iterator[Execute]:
    """Open a Spark session on a master or a Spark Connect server; yield what runs tasks on it."""
    if (master is None) == (remote is None):
        raise AuditError("--on spark: give either --master URL or --remote sc://HOST:PORT")
    # PySpark warns of versions that it does not know, which a user cannot mend.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise AuditError("--on spark needs more: pip install 'budget-audit[spark]'") from None
        builder: Any = SparkSession.builder.appName("budget-audit")
        for key, value in ({} if remote else SPARK_CONFIG).items():
            builder = builder.config(key, value)
        try:
            session = (builder.remote(remote) if remote else builder.master(master)).getOrCreate()
        except Exception as error:
            hint = "; --master needs the full pyspark and Java" if master else ""
            raise AuditError(f"Spark cannot be reached: {first_line(error)}{hint}") from None
        try:
            yield lambda tasks: _run_on_spark(session, tasks)
        finally:
            session.stop()


def _run_on_spark(session: Any, tasks: list[Task]) -> Iterator[Outcome]:
    """Run each task as one row in a partition of its own; yield their outcomes."""

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
