"""Group items into batches of a limited size."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def group_batches(
    items: Iterable[Item], sizes: Callable[[Item], tuple[int, ...]], most: tuple[int, ...]
) -> Iterator[list[Item]]:
    """Yield runs of items with total sizes up to `most`; a larger item is a batch alone."""
    batch: list[Item] = []
    sums = tuple(0 for _ in most)
    for item in items:
        own = sizes(item)
        sums = tuple(map(sum, zip(sums, own, strict=True)))
        if batch and any(size > limit for size, limit in zip(sums, most, strict=True)):
            yield batch
            batch, sums = [], own
        batch.append(item)
    if batch:
        yield batch
