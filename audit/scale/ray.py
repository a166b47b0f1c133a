"""Tasks on Ray, as remote functions."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from audit.errors import AuditError, first_line
from audit.options import TaskLimits
from audit.scale.run import MOST_TRIES, TASKS_PER_PROCESS, Execute
from audit.scale.tasks import Outcome, Task, perform


@contextmanager
def started(limits: TaskLimits, workers: int, address: str | None) -> Iterator[Execute]:
    """Start Ray at an address, or with workers of this machine; yield what runs tasks there."""
    try:
        import ray
    except ImportError:
        raise AuditError("--on ray needs more: pip install 'budget-audit[ray]'") from None
    place = f"at {address}" if address else "on this machine"
    try:
        ray.init(
            address=address or "local",
            num_cpus=None if address else workers * limits.threads,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except Exception as error:
        raise AuditError(
            f"Ray did not start {place}: {first_line(error)}; use --on local, or see Ray's logs in "
            "/tmp/ray/session_latest/logs"
        ) from None
    try:
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
