"""What a select reads: the proof that nothing before coverage sees a label (threat model, e)."""

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


def _parser() -> duckdb.DuckDBPyConnection:
    """Return a database with nothing in it, to parse statements; threads cannot share one."""
    if not hasattr(_own, "parser"):
        _own.parser = duckdb.connect()
    return _own.parser


@functools.cache
def relations_read(sql: str) -> frozenset[str]:
    """Return the relations a select reads, its own common table expressions aside.

    A function whose value depends on more than its arguments is listed as `name()`: table
    functions, chance, the clock, settings and plans.
    """
    ((text,),) = _parser().cursor().execute("select json_serialize_sql(?)", [sql]).fetchall()
    read: set[str] = set()

    def walk(node: Any, defined: frozenset[str]) -> None:
        """Collect what a part of the tree reads where these expressions are defined."""
        if isinstance(node, list):
            for child in node:
                walk(child, defined)
        if not isinstance(node, dict):
            return
        kind, name = node.get("type"), str(node.get("table_name", "")).lower()
        if kind == "BASE_TABLE" and (len(_path(node)) > 1 or name not in defined):
            # A qualified name is always a table, never a CTE. Record it in full, so that other
            # schemas are refused.
            read.update({name, ".".join(_path(node))})
        if kind == "SHOW_REF":
            read.add("show()")
        if str(kind).endswith("_QUERY_NODE"):
            raise AuditError("not one select statement: an expression in it writes")
        if kind == "TABLE_FUNCTION":
            read.add(f"{node['function']['function_name']}()".lower())
        if kind in ("FUNCTION", "WINDOW_AGGREGATE") and _tells(node["function_name"].lower()):
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


def relations_named(sql: str) -> frozenset[str]:
    """Return the names after `from` and `join`: what a file of our own reads, and its common table
    expressions, which never have the name of a relation.

    A test compares with what is parsed, which needs a database and its list of functions.
    """
    code = re.sub("--.*", "", sql)
    return frozenset(re.findall(r"\b(?:from|join)\s+\(?\s*(\w+)", code))


def _path(node: dict[str, Any]) -> list[str]:
    """Return the name of a table in a syntax tree, with the catalog and schema that it is given."""
    return [part.lower() for part in node["qualified_name"]["path"]]


def _tells(function: str) -> bool:
    """Return whether a function may read more than its arguments, such as the clock or a relation.

    One that DuckDB does not have itself is a macro, which can read any relation.
    """
    return function in _telling_functions() or function not in _own_functions()


def _is_clock(names: list[str]) -> bool:
    """Return whether a column's name is a function that is called without parentheses."""
    name = names[0].lower()
    is_called = name.startswith("current_") or name in CALLED_BARE
    return len(names) == 1 and is_called


@functools.cache
def _own_functions() -> frozenset[str]:
    """Return the functions of DuckDB itself."""
    query = "select distinct lower(function_name) from duckdb_functions()"
    return frozenset(name for (name,) in _parser().cursor().execute(query).fetchall())


@functools.cache
def _telling_functions() -> frozenset[str]:
    """Functions whose value depends on more than their arguments."""
    query = (
        "select distinct lower(function_name) from duckdb_functions() "
        "where stability <> 'CONSISTENT'"
    )
    rows = _parser().cursor().execute(query).fetchall()
    # A plan shows the statistics of any table, and the age of a single moment reads the clock.
    return frozenset(name for (name,) in rows) | {"json_serialize_plan", "age"}
