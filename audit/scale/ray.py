"""Ray: the same tasks as remote functions."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from audit.errors import AuditError, first_line
from audit.options import TaskLimits
from audit.scale.run import Execute, Where
from audit.scale.tasks import MOST_TRIES, TASKS_PER_PROCESS, Outcome, Task, perform


@contextmanager
def started(where: Where, limits: TaskLimits) -> Iterator[Execute]:
    """A cluster at an address, or workers of this machine."""
    try:
        import ray
    except ImportError:
        raise AuditError("--on ray needs more: pip install 'budget-audit[ray]'") from None
    try:
        ray.init(
            address=where.address or "local",
            num_cpus=None if where.address else where.workers * limits.threads,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        yield _execute
    except (ray.exceptions.RayError, ConnectionError) as error:
        raise AuditError(f"Ray gave up: {first_line(error)}") from None
    finally:
        ray.shutdown()


def _execute(tasks: list[Task]) -> Iterator[Outcome]:
    """Run every task on as many cores as it has threads."""
    import ray

    remote = ray.remote(
        max_retries=MOST_TRIES,
        max_calls=TASKS_PER_PROCESS[tasks[0].kind],
        num_cpus=tasks[0].limits.threads,
    )(perform)
    waiting = [remote.remote(task) for task in tasks]
    while waiting:
        ready, waiting = ray.wait(waiting)
        yield from ray.get(ready)
