"""The one exception that stands for a user's mistake."""

from pathlib import Path


class AuditError(Exception):
    """A mistake a user can mend: one line that says what, where and what to do."""


def first_line(error: BaseException) -> str:
    """The first line of an error's message: the rest of DuckDB's is a picture of the query."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def explained(error: Exception) -> str:
    """An error of the engine in one line, with what to do where a user can do something."""
    if type(error).__name__ == "OutOfMemoryException":
        more = " or free some disk space" if "offload" in str(error) else ""
        return f"out of memory; raise --memory{more} ({first_line(error)})"
    if "No space left on device" in str(error):
        return f"the disk is full; free some space and run it again ({first_line(error)})"
    return first_line(error)


def extra_hint(extra: str) -> str:
    """The command that installs an extra: from the clone where there is one, or from an index."""
    return f"pip install '{_origin() or 'budget-audit'}[{extra}]'"


def _origin() -> str | None:
    """The folder of the project that this package runs from, or was installed from."""
    # Only a failure needs these; every command would wait for their import.
    import contextlib
    import importlib.metadata
    import json
    import urllib.parse

    clone = Path(__file__).resolve().parent.parent
    if (clone / "pyproject.toml").is_file():
        return _near(clone)
    with contextlib.suppress(Exception):
        installed = importlib.metadata.distribution("budget-audit").read_text("direct_url.json")
        url = urllib.parse.urlparse(json.loads(installed or "{}").get("url", ""))
        folder = Path(urllib.parse.unquote(url.path))
        if url.scheme == "file" and (folder / "pyproject.toml").is_file():
            return _near(folder)
    return None


def _near(folder: Path) -> str:
    """The folder as one would write it here."""
    return "." if folder == Path.cwd() else str(folder)
