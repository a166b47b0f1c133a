"""Work in threads: results in order, errors where they belong."""

import threading

import pytest

from audit.ahead import ahead, in_order


def test_results_come_in_the_order_of_the_items_whatever_takes_longest():
    released = threading.Event()

    def work(n: int) -> int:
        if n == 0:
            released.wait(5)
        if n == 1:
            released.set()
        return n * n

    assert list(in_order(work, range(7), 2)) == [n * n for n in range(7)]


def test_no_more_items_are_taken_than_threads_work_on():
    taken = []

    def items():
        for n in range(9):
            taken.append(n)
            yield n

    results = in_order(lambda n: n, items(), 3)
    assert next(results) == 0
    assert taken == [0, 1, 2]
    results.close()


@pytest.mark.parametrize("made", [ahead, lambda items: in_order(lambda n: n, items, 2)])
def test_an_error_comes_out_where_the_results_are_used(made):
    def items():
        yield 1
        raise KeyError("the second")

    results = made(items())
    with pytest.raises(KeyError, match="the second"):
        list(results)


def test_who_needs_no_more_does_not_wait_for_what_is_being_made():
    released, made = threading.Event(), []

    def items():
        yield 1
        released.wait(5)
        made.append(2)
        yield 2

    results = ahead(items())
    assert next(results) == 1
    # The garbage collector may end it in a thread that must not wait.
    results.close()
    assert made == []
    released.set()
