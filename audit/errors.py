"""The one exception that stands for a user's mistake."""


class AuditError(Exception):
    """A mistake a user can mend: one line that says what, where and what to do."""
