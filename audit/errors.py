"""The one exception for a mistake of the user."""

# The system refused memory: DuckDB's own limit is not the reason.
LIMITED = "out of memory: this process may take no more (see 'ulimit -v')"


class AuditError(Exception):
    """A mistake a user can mend: one line that says what, where and what to do."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error; in DuckDB's the other lines draw the query."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def explained(error: Exception) -> str:
    """Return an error of DuckDB in one line, with what to do where a user can do something."""
    if any(words in str(error) for words in ("Allocation failure", "bad allocation")):
        return LIMITED
    if type(error).__name__ == "OutOfMemoryException":
        more = " or free some disk space" if "offload" in str(error) else ""
        return f"out of memory; raise --memory{more} ({first_line(error)})"
    if "No space left on device" in str(error):
        return f"the disk is full; free some space and run it again ({first_line(error)})"
    return first_line(error)


def extra_hint(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '.[{extra}]' in the project's folder"
