"""What did this budget really buy? Replays of recorded attempts under a cumulative budget.

From Python, the commands are functions: `audit.load`, `audit.replay`, `audit.table`, `audit.query`.
"""

from __future__ import annotations

import sys
from types import ModuleType

# As `typing` has it, which takes long to import: until the command minds Ctrl-C, it ends in a
# traceback.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from audit.api import *

__version__ = "0.1.0"
__all__ = [
    "AuditError",
    "Result",
    "answers",
    "card",
    "check",
    "compare",
    "connect",
    "demo",
    "describe",
    "diff",
    "export",
    "extract",
    "fetch",
    "figure",
    "figures",
    "gather",
    "leave",
    "load",
    "part",
    "plan",
    "queries",
    "query",
    "replay",
    "report",
    "run",
    "schema",
    "show",
    "simulate",
    "sql",
    "table",
    "tables",
    "timeline",
    "to_scorio",
    "tokenize",
    "verify",
]


class _Package(ModuleType):
    """A package whose functions keep their names although some packages share them."""

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing the package `audit.load` would put it where the function `audit.load` is.
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List the functions alone, without the packages that share their names."""
        return sorted(__all__)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    """Import the engine when a function is first used; `budget-audit --help` needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'audit' has no attribute '{name}'")
    from audit import api

    return getattr(api, name)
