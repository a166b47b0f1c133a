"""What is repeated many times: a few cases always, the others with the slow tests."""

from collections.abc import Iterable

import pytest


def seeds(always: int, all_of_them: int) -> list:
    """Seeds from 0, those after the first few marked slow."""
    rest = range(always, all_of_them)
    return [*range(always), *(pytest.param(seed, marks=pytest.mark.slow) for seed in rest)]


def every_other(cases: Iterable) -> list:
    """All cases in their order, every other one marked slow."""
    return [
        pytest.param(case, marks=pytest.mark.slow) if n % 2 else case
        for n, case in enumerate(cases)
    ]
