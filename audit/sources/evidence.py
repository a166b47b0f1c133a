"""What the columns of a log hold, counted by DuckDB on its first records."""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from audit.text import literal, plural, quoted

MOST_ROWS = 20_000
MOST_BYTES = 16_000_000
LONGEST_VALUE = 200
MOST_LEAVES = 120
# More values than this split no repeats: they are numbers or texts.
MOST_ARMS = 12
VALUES_SHOWN = 4


@dataclass(frozen=True)
class Leaf:
    """A column, or a field of one, and what its values are."""

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
    shown: tuple[str, ...] = ()

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
    def is_label(self) -> bool:
        """Tell whether the values are two at most, and those of a label."""
        values = {value.lower() for value in self.shown}
        is_two = 0 < self.distinct <= 2
        is_flag = values <= {"0", "1", "0.0", "1.0", "true", "false"}
        return is_two and (is_flag or (not self.is_number and self.length < 15))

    @property
    def evidence(self) -> str:
        """Return the path with how many values it has, and some of them."""
        if self.is_list:
            return f"{self.path} (lists)"
        values = plural(self.distinct, "value")
        missing = f", {self.rows - self.present:,} null" if self.present < self.rows else ""
        if self.is_number and self.distinct > VALUES_SHOWN:
            return f"{self.path} ({values} from {self.least:g} to {self.most:g}{missing})"
        shown = ", ".join(value[:20] for value in self.shown[:VALUES_SHOWN])
        more = ", …" if self.distinct > VALUES_SHOWN else ""
        return f"{self.path} ({values}: {shown}{more}{missing})"


class Evidence:
    """A table `records` of the first records of some files, and its leaves."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        relation = con.sql("from records")
        pairs = zip(relation.columns, relation.types, strict=True)
        found = [leaf for name, type in pairs for leaf in _leaves(name, quoted(name), type)]
        self.leaves = self._counted(found[:MOST_LEAVES])
        self.rows = con.execute("select count(*) from records").fetchall()[0][0]

    def leaf(self, path: str | None) -> Leaf | None:
        """Return the leaf at a path, if there is one."""
        return next((leaf for leaf in self.leaves if leaf.path == path), None)

    def _counted(self, leaves: Sequence[Leaf]) -> list[Leaf]:
        """Count the values of each leaf in one pass."""
        if not leaves:
            return []
        parts = []
        for leaf in leaves:
            plain = f"({leaf.sql} ->> '$')" if leaf.type == "JSON" else f"{leaf.sql}::varchar"
            text, number = f"left({plain}, {LONGEST_VALUE})", f"try_cast({plain} as double)"
            parts.append(
                f"{{'rows': count(*), 'present': count({leaf.sql}), "
                f"'distinct': count(distinct {text}), 'numbers': count({number}), "
                f"'least': min({number}), 'most': max({number}), "
                f"'length': coalesce(avg(length({text})), 0), "
                f"'shown': list_sort(list(distinct {text}) filter ({text} is not null))"
                f"[:{MOST_ARMS}]}}"
            )
        row = self.con.execute(f"select {', '.join(parts)} from records").fetchall()[0]
        return [
            Leaf(leaf.path, leaf.sql, leaf.type, **facts | {"shown": tuple(facts["shown"] or ())})
            for leaf, facts in zip(leaves, row, strict=True)
        ]

    def most_repeats(self, *keys: str) -> int:
        """Return in how many rows the most frequent value of some expressions is."""
        query = f"select count(*) from records group by {', '.join(keys)} order by 1 desc limit 1"
        return self.con.execute(query).fetchall()[0][0]

    def arms(self, keys: Sequence[str], taken: Iterable[str]) -> list[Leaf]:
        """Return the columns not taken whose few values split the repeats of keys evenly."""
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
        named = ", ".join(f"{key} as k{number}" for number, key in enumerate(keys))
        query = f"""
            select count(*), count(*) filter (arms = {leaf.distinct} and least = most)
            from (
                select count(*) as arms, min(n) as least, max(n) as most, sum(n) as total
                from (select {named}, {leaf.sql} as arm, count(*) as n from records group by all)
                group by {", ".join(f"k{number}" for number in range(len(keys)))}
            )
            where total > 1
        """
        groups, even = self.con.execute(query).fetchall()[0]
        return groups > 0 and even >= 0.8 * groups

    def is_constant_within(self, leaf: Leaf, key: str) -> bool:
        """Tell whether a leaf has one value in each group of several rows, and several overall."""
        query = f"""
            select count(*), count(*) filter (n = 1) from (
                select count(distinct {leaf.sql}) as n from records
                group by {key} having count(*) > 1
            )
        """
        groups, constant = self.con.execute(query).fetchall()[0]
        return groups > 1 and constant == groups

    def varying(self, keys: Sequence[str]) -> list[Leaf]:
        """Return the columns that have several values in a group of rows with equal keys."""
        if not self.leaves:
            return []
        counts = (f"count(distinct {leaf.sql}::varchar)" for leaf in self.leaves)
        query = f"select {', '.join(counts)} from records group by {', '.join(keys)}"
        groups = self.con.execute(query).fetchall()
        most = [max(counts) for counts in zip(*groups, strict=True)]
        return [leaf for leaf, count in zip(self.leaves, most, strict=True) if count > 1]

    def is_same(self, first: str, second: str) -> bool:
        """Tell whether two columns say the same in every row."""
        query = (
            f"select bool_and({first}::varchar is not distinct from {second}::varchar) from records"
        )
        return bool(self.con.execute(query).fetchall()[0][0])


def _leaves(path: str, sql: str, type: Any, depth: int = 4) -> Iterator[Leaf]:
    """Return a column, or the fields of an object."""
    if type.id == "struct" and depth:
        for name, child in type.children:
            yield from _leaves(f"{path}.{name}", f"{sql}.{quoted(name)}", child, depth - 1)
    elif type.id != "map":
        yield Leaf(path, sql, str(type))


def _finite(value: Any) -> Any:
    """Return a value with null in the place of what JSON has no number for."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def open_evidence(records: Iterable[dict[str, Any]]) -> Iterator[Evidence]:
    """Open the evidence of the first records, typed as their JSON is."""
    lines: list[str] = []
    size = 0
    for record in records:
        lines.append(json.dumps(_finite(record), default=str))
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
