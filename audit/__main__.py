"""The command `budget-audit`, also as `python -m audit`."""

import signal


def main() -> None:
    """Run the command. While Python imports or exits, Ctrl-C ends the process silently."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from audit.cli import main as command

    try:
        command()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
