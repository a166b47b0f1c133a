"""The command `budget-audit`, also as `python -m audit`."""

import signal


def main() -> None:
    """Run the command; before it can speak for itself and after, Ctrl-C ends it without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from audit.cli import main as command

    try:
        command()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
