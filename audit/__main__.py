"""The command `budget-audit`, also as `python -m audit`."""

# The module `signal` would import enum and more before anything is set.
import _signal as signal  # type: ignore[import-not-found]

# While Python imports or exits, Ctrl-C ends the process silently: from here on.
signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> None:
    """Run the command."""
    from audit.cli import main as command

    try:
        command()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
