"""What only the environment of the live tests has."""

import os

import pytest


def require(module):
    """Import a module that only that environment has; there, its absence is a failure."""
    if os.environ.get("BUDGET_AUDIT_REQUIRE_INSPECT"):
        return __import__(module)
    return pytest.importorskip(module, reason=f"{module} is not installed (extra inspect)")
