"""What must not hang: a test that waits too long fails instead."""

import contextlib
import signal


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
