"""The command `budget-audit`, also as `python -m audit`."""

# The module `signal` would import enum and more before anything is set.
import _signal as signal  # type: ignore[import-not-found]
import sys

# While Python imports or exits, Ctrl-C ends the process silently: from here on.
signal.signal(signal.SIGINT, signal.SIG_DFL)


# Packages of the extras that cannot do without pandas.
WITH_PANDAS = {"pyspark", "ray", "huggingface_hub"}


class Unneeded:
    """Where pandas is installed, DuckDB and pyarrow would import it, and no command needs it."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        """Refuse to import pandas, which takes as long as a whole command."""
        if name == "pandas" and not WITH_PANDAS & sys.modules.keys():
            raise ModuleNotFoundError(name)


def main() -> None:
    """Run the command."""
    sys.meta_path.insert(0, Unneeded)
    from audit.cli import main as command

    try:
        command()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    main()
