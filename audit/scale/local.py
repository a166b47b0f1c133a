"""Processes of this machine, as many as asked for."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import Connection

from audit.errors import AuditError
from audit.options import TaskLimits
from audit.scale.run import Execute, Where
from audit.scale.tasks import MOST_TRIES, TASKS_PER_PROCESS, Outcome, Task, perform


@contextmanager
def started(where: Where, limits: TaskLimits) -> Iterator[Execute]:
    """Processes are started as tasks need them."""
    yield lambda tasks: _execute(tasks, where.workers)


def _execute(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    """Run tasks in processes, a few in each; a thread waits for every process."""
    size = max(1, min(TASKS_PER_PROCESS[tasks[0].kind], len(tasks) // workers))
    shares = [tasks[first : first + size] for first in range(0, len(tasks), size)]
    with ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(_done, share) for share in shares]):
                yield from future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def _done(tasks: Sequence[Task]) -> list[Outcome]:
    """Run tasks in one process; what a killed one has left undone is tried in another."""
    done: list[Outcome] = []
    for _ in range(MOST_TRIES):
        done += _tried(tasks[len(done) :])
        if len(done) == len(tasks):
            return done
    names = ", ".join(f"{task.kind} {task.number}" for task in tasks[len(done) :][:5])
    raise AuditError(
        f"processes were killed {MOST_TRIES} times while these were not done: {names}; was the "
        "memory used up? pass --memory, fewer --workers, or plan more --parts"
    )


def _tried(tasks: Sequence[Task]) -> list[Outcome]:
    """What one process gives before it ends."""
    spawning = multiprocessing.get_context("spawn")
    receiver, sender = spawning.Pipe(duplex=False)
    process = spawning.Process(target=_work, args=(perform, tasks, sender, os.getpid()))
    process.start()
    sender.close()
    outcomes: list[Outcome] = []
    with receiver:
        try:
            while True:
                outcomes.append(receiver.recv())
        except EOFError:
            process.join()
    return outcomes


def _work(
    run: Callable[[Task], Outcome], tasks: Sequence[Task], sender: Connection, parent: int
) -> None:
    """Run tasks one after another; the process ends when the one that started it has."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    for task in tasks:
        sender.send(run(task))
    sender.close()
    # DuckDB's module complains about the thread when the interpreter is taken down.
    os._exit(0)
