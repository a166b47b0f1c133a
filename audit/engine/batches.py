"""Items that are worked on together, as many as are held at a time."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def batches(
    items: Iterable[Item], sizes: Callable[[Item], tuple[int, ...]], most: tuple[int, ...]
) -> Iterator[list[Item]]:
    """Neighbours whose sizes add up to no more than the most; an item beyond it comes alone."""
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
