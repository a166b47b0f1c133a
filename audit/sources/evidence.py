"""What the columns of a log hold, counted by DuckDB on its first records."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pyarrow as pa

from audit.text import literal, plural, quoted

MOST_ROWS = 20_000
MOST_BYTES = 16_000_000
LONGEST_VALUE = 200
MOST_LEAVES = 120
# A column with more values than this is a number or text, and separates no archives.
MOST_ARMS = 12
VALUES_SHOWN = 4


@dataclass(frozen=True)
class Leaf:
    """A column, or a field of a nested one, and statistics of its values."""

    path: str
    sql: str
    type: str
    rows: int = 0
    present: int = 0
    distinct: int = 0
    numbers: int = 0
    least: float | None = None
    most: float | None = None
    length: float = 0
    shown: Sequence[str] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Return the last part of the path, in lower case."""
        return self.path.rsplit(".", 1)[-1].lower()

    @property
    def is_list(self) -> bool:
        """Tell whether each value is a list."""
        return self.type.endswith("[]")

    @property
    def is_number(self) -> bool:
        """Tell whether every value is a number."""
        return 0 < self.present == self.numbers

    @property
    def evidence(self) -> str:
        """Return the path with its number of values, some examples, and how often they repeat."""
        if self.is_list:
            return f"{self.path} (lists)"
        shown = f": {', '.join(value[:20] for value in self.shown[:VALUES_SHOWN])}"
        if self.distinct > VALUES_SHOWN:
            shown = f" from {self.least:g} to {self.most:g}" if self.is_number else f"{shown}, …"
        missing = f", {self.rows - self.present:,} null" if self.present < self.rows else ""
        found = f"{self.path} ({plural(self.distinct, 'value')}{shown}{missing})"
        repeats = self.present / max(self.distinct, 1)
        each = "each in one row" if repeats == 1 else f"{repeats:.3g} rows each"
        return f"{found}, {each}" if self.distinct > 1 else found


class Evidence:
    """A table `records` of the first records of some files, and its columns (leaves)."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        relation = con.sql("from records")
        pairs = zip(relation.columns, relation.types, strict=True)
        found = [leaf for name, type in pairs for leaf in _find_leaves(name, quoted(name), type)]
        facts = self._select_row(
            ", ".join(_write_statistics(leaf) for leaf in found[:MOST_LEAVES]) or "1"
        )
        self.leaves = [
            Leaf(leaf.path, leaf.sql, leaf.type, **values)
            for leaf, values in zip(found[:MOST_LEAVES], facts, strict=False)
        ]

    def _select_row(self, columns: str, table: str = "records") -> tuple[Any, ...]:
        return self.con.execute(f"select {columns} from {table}").fetchall()[0]

    def leaf(self, path: str | None) -> Leaf | None:
        """Return the leaf at a path, if there is one."""
        return next((leaf for leaf in self.leaves if leaf.path == path), None)

    def most_repeats(self, keys: Sequence[str]) -> int:
        """Count the rows of the most frequent combination of some expressions."""
        return self._select_row(
            "max(n)", f"(select count(*) as n from records group by {_join_keys(keys)})"
        )[0]

    def spread(self, keys: Sequence[str]) -> dict[str, tuple[int, int]]:
        """Group rows by keys; return the least and most distinct values of each column in a group.

        Groups of one row do not count; the result is empty with fewer than two other groups.
        """
        counts = ", ".join(
            f"{{'path': {literal(leaf.path)}, 'n': count(distinct {leaf.sql}::varchar)}}"
            for leaf in self.leaves
        )
        found = self.con.execute(
            f"""
            select one.path, min(one.n), max(one.n) from (
                select unnest([{counts}]) as one
                from records group by {_join_keys(keys)} having count(*) > 1
            ) group by all having count(*) > 1
            """
        )
        return {path: (least, most) for path, least, most in found.fetchall()}

    def arms(self, keys: Sequence[str], taken: Iterable[str]) -> list[Leaf]:
        """Return unused columns whose few values occur equally often in each group of keys."""
        return [
            leaf
            for leaf in self.leaves
            if leaf.path not in set(taken)
            and 2 <= leaf.distinct <= MOST_ARMS
            and leaf.present == leaf.rows
            and not leaf.is_list
            and self._is_even(leaf, keys)
        ]

    def _is_even(self, leaf: Leaf, keys: Sequence[str]) -> bool:
        """Tell whether nearly every group of repeats holds each value of a leaf equally often."""
        counts = f"map_values(histogram({leaf.sql}::varchar)) as counts"
        groups, even = self._select_row(
            f"count(*), count_if(len(counts) = {leaf.distinct} and len(list_distinct(counts)) = 1)",
            f"(select {counts} from records group by {_join_keys(keys)} having count(*) > 1)",
        )
        return groups > 0 and even >= 0.8 * groups

    def is_same(self, first: str, second: str) -> bool:
        """Tell whether two columns are equal in every row."""
        is_same = f"bool_and({first}::varchar is not distinct from {second}::varchar)"
        return bool(self._select_row(is_same)[0])


def _join_keys(keys: Sequence[str]) -> str:
    return ", ".join(f"{key}::varchar" for key in keys)


def _write_statistics(leaf: Leaf) -> str:
    """Return the SQL that computes the statistics of a leaf."""
    plain = f"({leaf.sql} ->> '$')" if leaf.type == "JSON" else f"{leaf.sql}::varchar"
    text, number = f"left({plain}, {LONGEST_VALUE})", f"try_cast({plain} as double)"
    return f"""{{
        'rows': count(*), 'present': count({leaf.sql}), 'distinct': count(distinct {text}),
        'numbers': count({number}), 'least': min({number}), 'most': max({number}),
        'length': coalesce(avg(length({text})), 0), 'shown': coalesce(
            list_sort(list(distinct {text}) filter ({text} is not null))[:{MOST_ARMS}], [])
    }}"""


def _find_leaves(path: str, sql: str, type: Any, depth: int = 4) -> Iterator[Leaf]:
    """Yield a column as a leaf, or the fields of an object as leaves."""
    if type.id == "struct" and depth:
        for name, child in type.children:
            yield from _find_leaves(f"{path}.{name}", f"{sql}.{quoted(name)}", child, depth - 1)
    elif type.id != "map":
        yield Leaf(path, sql, str(type))


@contextmanager
def open_evidence(records: Iterable[dict[str, Any]]) -> Iterator[Evidence]:
    """Load the first records into DuckDB, typed by their JSON, and open them as evidence."""
    lines: list[str] = []
    size = 0
    for record in records:
        lines.append(json.dumps(record, default=str))
        size += len(lines[-1])
        if len(lines) >= MOST_ROWS or size > MOST_BYTES:
            break
    with duckdb.connect(config={"threads": 2}) as con:
        con.register("lines", pa.table({"line": pa.array(lines, pa.large_string())}))
        ((structure,),) = con.execute(
            "select json_group_structure(line::json) from lines"
        ).fetchall()
        # A format that is a select shows no records.
        structure = structure or '{"nothing":"INTEGER"}'
        con.execute(
            "create temp table records as select unnest(from_json(line::json, "
            f"{literal(structure)})) from lines"
        )
        yield Evidence(con)
