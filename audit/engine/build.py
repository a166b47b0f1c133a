"""Render a stage from its SQL file, and create it as a table or a view."""

import functools
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import duckdb

from audit.database.arrow import create_empty
from audit.database.connection import COMPILED
from audit.engine.comments import PUBLIC_RELATIONS, find_column_meaning, is_table
from audit.engine.lineage import parse_relations
from audit.engine.plugins import CANONICAL, Plugins, check_columns
from audit.engine.sql_files import (
    Weighing,
    find_file,
    find_folder,
    list_interval_files,
    read_header,
    read_sql,
    read_statistics,
    read_weighing,
)
from audit.engine.stages import DRAWN, STAGE_NAMES, TABLES
from audit.errors import AuditError, explain_error, first_line
from audit.units import UNITS

# A line that includes another file unchanged.
INCLUDE = re.compile(r"""(?m)(?:^ +)?\{% include ['"]([^'"]+)['"] %\}\n?""")

# The ends of a 95 % interval, those of two one-sided tests at 5 %, and the width of a band.
QUANTILES = {"low": 0.025, "high": 0.975, "test_low": 0.05, "test_high": 0.95}

# The stage before which the columns of a kind of plug-in are checked.
BOUND_BEFORE = {"eligible_attempts": "selectors", "stops": "rules", "policy_positions": "policies"}


def render(name: str, plugins: Plugins | None = None, **values: Any) -> str:
    """Return the SQL of a stage, plug-in or table, with plug-ins and values filled in."""
    if name in list_interval_files():
        return render_interval(name)
    sql = read_sql(name)
    # Importing Jinja takes longer than most commands need it for.
    plain = sql
    while INCLUDE.search(plain):
        plain = INCLUDE.sub(
            lambda file: (find_folder("sql") / file[1]).read_text("utf-8")[:-1], plain
        )
    if not _is_template(plain):
        return plain
    plugins = plugins or Plugins()
    known = {
        "rules": plugins.rules,
        "policies": plugins.policies,
        "numbered": [*enumerate(plugins.selectors, 1)],
        "primary": plugins.primary,
        "unit": plugins.unit,
        "walks_on": plugins.walks_on,
        "rule": {rule.name: rule.sql for rule in plugins.rules},
    }
    return _load_templates().get_template(find_file(name)).render(known | values)


def render_file(file: str, **values: Any) -> str:
    """Render a template below the folder `sql` with these values."""
    return _load_templates().get_template(file).render(**values)


def render_keys(weighed: Weighing) -> str:
    """Return the SQL of the keys of replicates: one row per key, problems and totals as lists."""
    return render_file("bootstrap/keys.jinja", **weighed._asdict())


def render_replicates(weighed: Weighing, key_rows: str = "", products: str = "") -> str:
    """Return the SQL of totals by replicate; `key_rows` and `products` replace their sources."""
    values = weighed._asdict() | {
        "key_rows": key_rows or render_keys(weighed),
        "products": products,
    }
    return render_file("bootstrap/replicates.jinja", **values)


def render_interval(name: str, key_rows: str = "", products: str = "") -> str:
    """Return the SQL of an `interval_x`: its estimates from the data, joined with intervals."""
    said, rows, statistics = read_header(name), read_sql(name), read_statistics(name)
    weighed = read_weighing(name)
    return render_file(
        "intervals/intervals.jinja",
        head=rows[: rows.index("\n", rows.index("\n-- grain: ") + 1)],
        rows=rows,
        replicate=weighed and weighed.replicate,
        weighed=weighed and render_replicates(weighed, key_rows, products),
        # A narrow key groups faster.
        by="key_id" if "totals" in said else said.get("by", said["grain"]),
        intervals=statistics,
        band=said.get("band"),
        quantiles={
            column: {word: QUANTILES[word] for word in words if word in QUANTILES}
            for column, words in statistics.items()
        },
    )


def _is_template(sql: str) -> bool:
    return any(opening in sql for opening in ("{%", "{{", "{#"))


@functools.cache
def _load_templates() -> Any:
    # Most tables and many stages are no templates.
    import jinja2

    # Compiled templates are cached beside the views of replays, if that folder is writable.
    is_kept = os.access(COMPILED, os.W_OK)
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(find_folder("sql")),
        bytecode_cache=jinja2.FileSystemBytecodeCache(str(COMPILED)) if is_kept else None,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def render_with_inputs(
    names: Iterable[str], plugins: Plugins, files: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the SQL of these stages and of all stages that they read, by name.

    `files` names other files to read some stages from.
    """
    sql_by_name: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in STAGE_NAMES and name not in DRAWN and name not in sql_by_name:
            sql_by_name[name] = render((files or {}).get(name, name), plugins)
            waiting += parse_relations(sql_by_name[name])
    return sql_by_name


def build(
    con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins, *, is_extended: bool = False
) -> None:
    """Create a stage or table from its SQL file; with `is_extended`, for the first portion only."""
    if name in BOUND_BEFORE:
        _check_columns(con, BOUND_BEFORE[name], plugins)
    sql = render(name, plugins)
    if name in PUBLIC_RELATIONS or is_table(name):
        sql = convert_costs(con, name, sql, plugins.unit)
    if is_extended:
        create_empty(con, "table", name, sql)
        extend(con, name, plugins)
    elif name in TABLES:
        _run_statement(con, name, f"create table {name} as {sql}")
    else:
        # Defer binding: it costs more than creating the view.
        _run_statement(con, name, f"create view {name} with (defer_binding) as {sql}")


def _check_columns(con: duckdb.DuckDBPyConnection, kind: str, plugins: Plugins) -> None:
    """Refuse a plug-in of the user that does not bind or lacks a column of its kind."""
    beside = {"rules": render_rule_inputs(), "selectors": CANONICAL}.get(kind, "")
    for plugin in plugins.own(kind):
        check_columns(con, kind, plugin, beside)


def render_rule_inputs() -> str:
    """Return a `with` clause of the relations that rules may read, as in stops.sql."""
    names = ("budgeted_attempts", "last_launched", "reached_steps")
    return "with " + ", ".join(f"{name} as ({render(name)}\n)" for name in names)


def bind_views(con: duckdb.DuckDBPyConnection) -> None:
    """Bind all views by listing their columns: DuckDB 1.4 reads no unbound ones.

    A view with a mistake stays unbound, and is refused when it is read.
    """
    con.execute("select count(*) from duckdb_columns()")


def convert_costs(con: duckdb.DuckDBPyConnection, name: str, sql: str, unit: str) -> str:
    """Return the select of a relation with its costs converted to the printed unit."""
    scale = UNITS[unit].scale
    if scale == 1:
        return sql
    costs = [
        cost for cost in con.sql(sql).columns if find_column_meaning(name, cost).unit == "cost"
    ]
    divided = ", ".join(f"{cost} / {scale}::double as {cost}" for cost in costs)
    return f"select * replace ({divided}) from (\n{sql}\n)" if costs else sql


def extend(con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins) -> None:
    """Insert the rows of the next portion into a stage."""
    _run_statement(con, name, f"insert into {name} {render(name, plugins)}")


def _run_statement(con: duckdb.DuckDBPyConnection, name: str, statement: str) -> None:
    try:
        con.execute(statement)
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise AuditError(f"{name}: {explain_error(error)}") from None
    except duckdb.Error as error:
        raise AuditError(f"sql/{find_file(name)}: {first_line(error)}") from error
