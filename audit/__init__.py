"""What did this budget really buy? Replays of recorded attempts under a cumulative budget.

From Python, the commands are functions: `audit.load`, `audit.replay`, `audit.table`, `audit.query`.
"""

from __future__ import annotations

import sys
from types import ModuleType

__version__ = "0.1.0"
# The public names of each module; type checkers read them in `__init__.pyi`.
PUBLIC = {
    "audit.api": (
        "answers card check compare demo describe diff export figure figures leave load queries "
        "query replay report schema show sql table tables timeline tokenize"
    ),
    "audit.database": "connect",
    "audit.errors": "AuditError",
    "audit.live.verify": "verify",
    "audit.output.result": "Result",
    "audit.scale.gather": "gather",
    "audit.scale.plan": "plan",
    "audit.scale.run": "run",
    "audit.scale.tasks": "extract part",
    "audit.study.fetch": "fetch",
    "audit.study.simulate": "simulate",
}
MODULES = {name: module for module, names in PUBLIC.items() for name in names.split()}
__all__ = sorted(MODULES)


class _Package(ModuleType):
    """The package `audit`, where `audit.load` is the function, not the package of that name."""

    def __setattr__(self, name: str, value: object) -> None:
        # Importing the package `audit.load` would put it where the function `audit.load` is.
        if not (name in MODULES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        """List the public names."""
        return __all__


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> object:
    """Import a public function when it is first used: `budget-audit --help` needs none."""
    if name not in MODULES:
        raise AttributeError(f"module 'audit' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(MODULES[name]), name)
