"""The exception for a user's mistake, and texts of errors."""

# Printed when the operating system, not DuckDB's limit, refuses memory.
LIMITED = "out of memory: this process may take no more (see 'ulimit -v')"


class AuditError(Exception):
    """A mistake that the user can correct; one line says what, where and what to do."""


def first_line(error: BaseException) -> str:
    """Return the first line of an error; in DuckDB's errors, the others show the query."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def explain_error(error: Exception) -> str:
    """Write an error of DuckDB in one line, with a remedy if memory or disk space ran out."""
    if any(words in str(error) for words in ("Allocation failure", "bad allocation")):
        return LIMITED
    if type(error).__name__ == "OutOfMemoryException":
        more = " or free some disk space" if "offload" in str(error) else ""
        return f"out of memory; raise --memory{more} ({first_line(error)})"
    if "No space left on device" in str(error):
        return f"the disk is full; free some space and run it again ({first_line(error)})"
    return first_line(error)


def install_hint(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install '.[{extra}]' in the project's folder"
