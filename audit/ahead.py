"""Work that is done while what came before it is in use."""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The items, each made in a thread while the one before it is in use."""
    source = iter(items)
    with ThreadPoolExecutor(1) as maker:
        making = maker.submit(next, source, None)
        while (item := making.result()) is not None:
            making = maker.submit(next, source, None)
            yield item
