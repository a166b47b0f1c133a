"""Iterate with threads: make items ahead of their use, and keep results in order."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def prefetch(items: Iterable[Item]) -> Generator[Item]:
    """Yield items; while one is in use, a thread makes the next. The first is made at once."""
    source = iter(items)
    maker = ThreadPoolExecutor(1)
    return _yield_items(maker, source, maker.submit(next, source, None))


def _yield_items(
    maker: ThreadPoolExecutor, source: Iterator[Item], making: "Future[Item | None]"
) -> Generator[Item]:
    """Yield the item of `making`, then the others, one made ahead."""
    try:
        while (item := making.result()) is not None:
            making = maker.submit(next, source, None)
            yield item
    finally:
        # Do not wait: the garbage collector may end this inside a thread that is just starting and
        # holds the lock that the maker needs to end.
        maker.shutdown(wait=False, cancel_futures=True)


def in_order(
    work: Callable[[Item], Result], items: Iterable[Item], threads: int, ahead: int = 1
) -> Generator[Result]:
    """Yield results in the order of the items, with `ahead` items per thread at work."""
    waiting: deque[Future[Result]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= ahead * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)
