"""Work in threads: results in order, errors where they belong."""

import threading
import time

import duckdb
import pytest

from audit import database
from audit.ahead import in_order, prefetch
from audit.database.schema import SCHEMA_VERSION


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


@pytest.mark.parametrize("made", [prefetch, lambda items: in_order(lambda n: n, items, 2)])
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

    results = prefetch(items())
    assert next(results) == 1
    # The garbage collector may end it in a thread that must not wait.
    results.close()
    assert made == []
    released.set()


def test_a_failure_is_told_while_a_thread_still_works_for_the_connection(tmp_path):
    path = tmp_path / "own.duckdb"
    with database.open_database(path, write=True) as con:
        made = "create table meta as select 'schema_version' as key, ? as value"
        con.execute(made, [SCHEMA_VERSION])
    with pytest.raises(ValueError, match="the disk is full"), database.open_database(path) as con:
        busy = threading.Thread(target=run_long, args=[con])
        busy.start()
        # Until it works; where that takes longer, nothing is in the way of closing.
        time.sleep(0.5)
        raise ValueError("the disk is full")
    busy.join()


def run_long(con):
    with pytest.raises(duckdb.Error):
        con.execute("select sum(a.range * b.range) from range(3000000) a, range(3000000) b")
