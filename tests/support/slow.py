"""What is repeated many times: the first few cases always, the others with the slow tests."""

import pytest


def seeds(always: int, all_of_them: int) -> list:
    """Seeds from 0, those after the first few marked slow."""
    rest = range(always, all_of_them)
    return [*range(always), *(pytest.param(seed, marks=pytest.mark.slow) for seed in rest)]
