"""The one exception that stands for a user's mistake."""


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
