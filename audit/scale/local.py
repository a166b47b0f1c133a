"""Processes of this machine, as many as asked for."""

import atexit
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from audit.errors import AuditError
from audit.scale.folders import Limits
from audit.scale.run import Execute, Where
from audit.scale.tasks import Outcome, Task, perform

# A process that lives long keeps memory that it no longer needs: a part has one of its own.
TASKS_PER_PROCESS = {"extract": 50, "part": 1}
# How often tasks whose process was killed are tried again.
MOST_TRIES = 3


@contextmanager
def started(where: Where, limits: Limits) -> Iterator[Execute]:
    """Processes are started as tasks need them."""
    yield lambda tasks: _execute(tasks, where.workers)


def _execute(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    """Run tasks in processes; those of a process that was killed are tried again."""
    waiting = {task.number: task for task in tasks}
    for _ in range(MOST_TRIES):
        try:
            for outcome in _tried(list(waiting.values()), workers):
                del waiting[outcome.number]
                yield outcome
            return
        except BrokenProcessPool:
            continue
    named = ", ".join(task.name for task in list(waiting.values())[:5])
    raise AuditError(
        f"processes were killed {MOST_TRIES} times while these were not done: {named}; was the "
        "memory used up? pass --memory, fewer --workers, or plan more --parts"
    )


def _tried(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    """One try at all tasks; it breaks when a process is killed."""
    if not tasks:
        return
    with ProcessPoolExecutor(
        min(workers, len(tasks)),
        multiprocessing.get_context("spawn"),
        _end_with_parent,
        (os.getpid(),),
        max_tasks_per_child=TASKS_PER_PROCESS[tasks[0].kind],
    ) as pool:
        try:
            for future in as_completed([pool.submit(perform, task) for task in tasks]):
                yield future.result()
        except (KeyboardInterrupt, GeneratorExit):
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _end_with_parent(parent: int) -> None:
    """Have a worker end when the process that started it has, by Ctrl-C or by a kill."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    # DuckDB's module complains about the thread when the interpreter is taken down.
    atexit.register(os._exit, 0)
