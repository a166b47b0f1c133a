"""Find what a select reads, to prove that no stage before coverage sees a label (threat e)."""

import functools
import json
import re
import threading
from typing import Any

import duckdb

from audit.errors import AuditError

# Functions that are called without parentheses, like columns.
CALLED_BARE = ("localtime", "localtimestamp", "session_user", "user")
_own = threading.local()


def _open_parser() -> duckdb.DuckDBPyConnection:
    """Return this thread's empty database, which parses statements."""
    if not hasattr(_own, "parser"):
        _own.parser = duckdb.connect()
    return _own.parser


@functools.cache
def parse_relations(sql: str) -> frozenset[str]:
    """Return the relations that a select reads, without its own common table expressions.

    A function whose value depends on more than its arguments is listed as `name()`: table
    functions, chance, the clock, settings and plans.
    """
    ((text,),) = _open_parser().cursor().execute("select json_serialize_sql(?)", [sql]).fetchall()
    read: set[str] = set()

    def walk(node: Any, defined: frozenset[str]) -> None:
        """Collect what a part of the syntax tree reads; `defined` are the visible CTEs."""
        if isinstance(node, list):
            for child in node:
                walk(child, defined)
        if not isinstance(node, dict):
            return
        kind, name = node.get("type"), str(node.get("table_name", "")).lower()
        if kind == "BASE_TABLE" and (len(_read_path(node)) > 1 or name not in defined):
            # A qualified name is always a table, never a CTE. Record it in full, so that other
            # schemas are refused.
            read.update({name, ".".join(_read_path(node))})
        if kind == "SHOW_REF":
            read.add("show()")
        if str(kind).endswith("_QUERY_NODE"):
            raise AuditError("not one select statement: an expression in it writes")
        if kind == "TABLE_FUNCTION":
            read.add(f"{node['function']['function_name']}()".lower())
        if kind in ("FUNCTION", "WINDOW_AGGREGATE") and _is_impure(node["function_name"].lower()):
            read.add(f"{node['function_name']}()".lower())
        if kind == "COLUMN_REF" and _is_clock(node["column_names"]):
            read.add(f"{node['column_names'][0]}()".lower())
        if node.get("sample"):
            read.add("using sample")
        for entry in (node.get("cte_map") or {}).get("map", []):
            # A CTE sees the CTEs before it. Inside its own body its name means a table.
            walk(entry["value"], defined)
            defined |= {entry["key"].lower()}
        for key, child in node.items():
            if key != "cte_map":
                recurs = kind == "RECURSIVE_CTE_NODE" and key == "right"
                walk(child, defined | ({node["cte_name"].lower()} if recurs else set()))

    try:
        tree = json.loads(text)
        if tree["error"]:
            raise AuditError(f"not one select statement: {tree['error_message'].splitlines()[0]}")
        if len(tree["statements"]) != 1:
            raise AuditError(f"not one select statement: there are {len(tree['statements'])}")
        walk(tree, frozenset())
    except RecursionError:
        raise AuditError("not one select statement: nested too deep") from None
    return frozenset(read)


def scan_relations(sql: str) -> frozenset[str]:
    """Return the names after `from` and `join` in one of our own files, its CTEs included.

    This is faster than parsing; a test compares both. No CTE has the name of a relation.
    """
    code = re.sub("--.*", "", sql)
    return frozenset(re.findall(r"\b(?:from|join)\s+\(?\s*(\w+)", code))


def _read_path(node: dict[str, Any]) -> list[str]:
    """Return the parts of a table name in a syntax tree, with its catalog and schema if given."""
    return [part.lower() for part in node["qualified_name"]["path"]]


def _is_impure(function: str) -> bool:
    """Tell whether a function may read more than its arguments, such as the clock or a relation.

    One that DuckDB does not have itself is a macro, which can read any relation.
    """
    return function in _list_impure_functions() or function not in _list_functions()


def _is_clock(names: list[str]) -> bool:
    """Tell whether a column name is a function called without parentheses, as current_date."""
    name = names[0].lower()
    is_called = name.startswith("current_") or name in CALLED_BARE
    return len(names) == 1 and is_called


@functools.cache
def _list_functions() -> frozenset[str]:
    """Return the names of the built-in functions of DuckDB."""
    query = "select distinct lower(function_name) from duckdb_functions()"
    return frozenset(name for (name,) in _open_parser().cursor().execute(query).fetchall())


@functools.cache
def _list_impure_functions() -> frozenset[str]:
    """Return the built-in functions whose value depends on more than their arguments."""
    query = (
        "select distinct lower(function_name) from duckdb_functions() "
        "where stability <> 'CONSISTENT'"
    )
    rows = _open_parser().cursor().execute(query).fetchall()
    # A plan shows the statistics of any table, and the age of a single moment reads the clock.
    return frozenset(name for (name,) in rows) | {"json_serialize_plan", "age"}
