"""Tasks in processes of this machine."""

import multiprocessing
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection

from audit.errors import AuditError
from audit.options import TaskLimits
from audit.scale.run import MOST_TRIES, TASKS_PER_PROCESS, Execute
from audit.scale.tasks import Outcome, Task, perform


@contextmanager
def started(limits: TaskLimits, workers: int) -> Iterator[Execute]:
    """Yield a function that starts processes as tasks need them."""
    yield lambda tasks: _execute(tasks, workers)


def _execute(tasks: list[Task], workers: int) -> Iterator[Outcome]:
    """Run tasks in processes, a few in each; a thread waits for every process."""
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
    """Run tasks in one process; try what a killed one has left undone in another."""
    done: list[Outcome] = []
    spawning = multiprocessing.get_context("spawn")
    for _ in range(MOST_TRIES):
        receiver, sender = spawning.Pipe(duplex=False)
        process = spawning.Process(target=_work, args=(perform, tasks[len(done) :], sender))
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


def _work(run: Callable[[Task], Outcome], tasks: Sequence[Task], sender: Connection) -> None:
    """Run tasks one after another; stop after one whose outcome nobody waits for any more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    with suppress(BrokenPipeError):
        for task in tasks:
            sender.send(run(task))
