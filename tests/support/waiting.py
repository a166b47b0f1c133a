"""What must not hang: a test that waits too long fails instead."""

import contextlib
import signal
import time


@contextlib.contextmanager
def within(seconds):
    """Raise an error in the main thread when the time is up."""

    def give_up(*_):
        raise TimeoutError(f"took more than {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def until(condition, what="what was waited for", seconds=60):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"never true: {what}"
        time.sleep(0.05)
