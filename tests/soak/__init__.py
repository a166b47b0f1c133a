"""Long tests that try to break the promises of the README: `python -m tests.soak`."""
