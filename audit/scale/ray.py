"""Ray: the same tasks as remote functions."""

from collections.abc import Iterator

from audit.errors import AuditError, first_line
from audit.scale.run import Where
from audit.scale.tasks import Outcome, Task, perform

# How often a task is tried again when its worker has died.
MOST_RETRIES = 3
# A worker that lives long keeps memory that it no longer needs: a part has one of its own.
TASKS_PER_PROCESS = {"extract": 50, "part": 1}


def execute(tasks: list[Task], where: Where) -> Iterator[Outcome]:
    """Run every task on as many cores as it has threads."""
    try:
        import ray
    except ImportError:
        raise AuditError("--on ray needs more: pip install 'budget-audit[ray]'") from None
    is_ours = not ray.is_initialized()
    try:
        if is_ours:
            cores = None if where.address else where.workers * tasks[0].limits.threads
            ray.init(
                address=where.address, num_cpus=cores, log_to_driver=False, include_dashboard=False
            )
        remote = ray.remote(
            max_retries=MOST_RETRIES,
            max_calls=TASKS_PER_PROCESS[tasks[0].kind],
            num_cpus=tasks[0].limits.threads,
        )(perform)
        waiting = [remote.remote(task) for task in tasks]
        while waiting:
            ready, waiting = ray.wait(waiting)
            yield from ray.get(ready)
    except (ray.exceptions.RayError, ConnectionError, ValueError, RuntimeError) as error:
        raise AuditError(f"Ray gave up: {first_line(error)}") from None
    finally:
        if is_ours:
            ray.shutdown()
