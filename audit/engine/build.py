"""A stage rendered from its SQL file, and created as a table or a view."""

import functools
import re
from collections.abc import Iterable
from typing import Any

import duckdb

from audit.database.schema import relations
from audit.engine.comments import PUBLIC_RELATIONS, column, is_table
from audit.engine.lineage import relations_read
from audit.engine.plugins import Plugins
from audit.engine.sql_files import (
    header,
    interval_statistics,
    resource,
    stage_file,
    text,
    weighed_purpose,
    weighings,
)
from audit.engine.stages import DRAWN, PORTIONED, STAGE_NAMES, TABLES
from audit.errors import AuditError, explained, first_line
from audit.units import UNITS

# A view, unless policies read it again and again.
VOTES = "prefix_votes"
# A file that puts in others as they are: what a replay is run with makes no difference to it.
INCLUDE = re.compile(r'\{% include "[^"]+" %\}')

# The ends of a 95 % interval, those of two one-sided tests at 5 %, and the width of a band.
QUANTILES = {"low": 0.025, "high": 0.975, "test_low": 0.05, "test_high": 0.95, "band": 0.95}


def render(name: str, plugins: Plugins | None = None) -> str:
    """The SQL of a stage, plug-in or table, its chosen files put in."""
    if name in weighings():
        return replicates_sql(name)
    sql = text(name)
    if statistics := interval_statistics(name):
        return _intervals_sql(name, sql, statistics)
    if not _is_template(sql):
        return sql
    if not _is_template(INCLUDE.sub("", sql)):
        return _templates().get_template(stage_file(name)).render()
    plugins = plugins or Plugins()
    return (
        _templates()
        .get_template(stage_file(name))
        .render(
            rules=plugins.rules,
            selectors=plugins.selectors,
            policies=plugins.policies,
            unit=plugins.unit,
            rule={rule.name: rule.sql for rule in plugins.rules},
        )
    )


def render_file(file: str, **values: str) -> str:
    """The text of a file below `sql`, with values put in."""
    return _templates().get_template(file).render(**values)


def key_totals_sql(name: str, totals: str) -> str:
    """One row per key of a `replicate_x`: its problems and their totals, or changes, as lists."""
    template = _templates().get_template("bootstrap/key_totals.jinja")
    return template.render(weighings()[name]._asdict() | {"totals": totals})


def replicates_sql(name: str) -> str:
    """The SQL of a `replicate_x`: the totals of its keys times the counts."""
    values = weighings()[name]._asdict() | {"name": name, "purpose": weighed_purpose(name)}
    values["key_totals"] = key_totals_sql(name, weighings()[name].totals)
    return _templates().get_template("bootstrap/replicates.jinja").render(values)


def _intervals_sql(name: str, rows: str, statistics: dict[str, tuple[str, ...]]) -> str:
    """The SQL of an `interval_x`: its file in replicate 0, beside statistics of the others."""
    return (
        _templates()
        .get_template("intervals/intervals.jinja")
        .render(
            head=rows[: rows.index("\n", rows.index("\n-- grain: ") + 1)],
            rows=rows,
            # A narrow key groups faster.
            by="key_id" if "totals" in header(name) else header(name)["grain"],
            intervals=statistics,
            band=header(name).get("band"),
            quantiles={
                column: {word: QUANTILES[word] for word in words if word in QUANTILES}
                for column, words in statistics.items()
            },
        )
    )


def _is_template(sql: str) -> bool:
    return any(opening in sql for opening in ("{%", "{{", "{#"))


@functools.cache
def _templates() -> Any:
    # Most tables and many stages are no templates.
    import jinja2

    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("sql")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def sources(names: Iterable[str], plugins: Plugins) -> dict[str, str]:
    """The SQL of these stages and of all stages that they are made from, by name."""
    sql_by_name: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in STAGE_NAMES and name not in DRAWN and name not in sql_by_name:
            sql_by_name[name] = render(name, plugins)
            waiting += relations_read(sql_by_name[name])
    return sql_by_name


def build(con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins) -> None:
    """Create one relation of the pipeline from its SQL file."""
    kept_as = "table" if name in tables(plugins) else "view"
    sql = _rows(name, plugins)
    if name in PUBLIC_RELATIONS or is_table(name):
        sql = printed(con, name, sql, plugins.unit)
    # To bind a view takes longer than to keep it: that is done where it is read.
    how = " with (defer_binding)" if kept_as == "view" else ""
    _run(con, name, f"create {kept_as} {name}{how} as {sql}")


def bind(con: duckdb.DuckDBPyConnection, tables: Iterable[str]) -> None:
    """Let the catalogue know the columns of all views: DuckDB 1.4 reads no others.

    The views that a table reads are bound with it.
    """
    for name in tables:
        try:
            con.sql(f"from {name}")
        except duckdb.Error as error:
            raise AuditError(f"sql/{_faulty_file(con, name)}: {first_line(error)}") from error
    con.execute("select count(*) from duckdb_columns()")


def _faulty_file(con: duckdb.DuckDBPyConnection, table: str) -> str:
    """The file in which the mistake stands: that of the first view which cannot be bound."""
    kinds = relations(con)
    for name in (name for name in STAGE_NAMES if kinds.get(name) == "view"):
        try:
            con.sql(f"from {name}")
        except duckdb.Error:
            return _file(name)
    return _file(table)


def _file(name: str) -> str:
    """The file of a stage; a `replicate_x` is made of what its interval's file says."""
    return stage_file(name.replace("replicate_", "interval_", 1) if name in weighings() else name)


def printed(con: duckdb.DuckDBPyConnection, name: str, sql: str, unit: str) -> str:
    """The select of a public relation or table with its costs in the unit that is printed."""
    scale = UNITS[unit].scale
    if scale == 1:
        return sql
    costs = [cost for cost in con.sql(sql).columns if column(name, cost).unit == "cost"]
    divided = ", ".join(f"{cost} / {scale}::double as {cost}" for cost in costs)
    return f"select * replace ({divided}) from (\n{sql}\n)" if costs else sql


def tables(plugins: Plugins) -> tuple[str, ...]:
    """The stages that are kept as tables; votes are one where several policies read them."""
    return (*TABLES, *((VOTES,) if plugins.policies else ()))


def portioned_stages(plugins: Plugins) -> tuple[str, ...]:
    """The stages that are built for some walks at a time; votes too, where they are a table."""
    return (*PORTIONED, *((VOTES,) if plugins.policies else ()))


def extend(con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins) -> None:
    """Add the rows of one more portion to a relation of the pipeline."""
    _run(con, name, f"insert into {name} {_rows(name, plugins)}")


def _rows(name: str, plugins: Plugins) -> str:
    """The SQL of a stage; votes that are kept as a table are those of the portion alone."""
    sql = render(name, plugins)
    if name != VOTES or not plugins.policies:
        return sql
    portion = "between getvariable('first_walk') and getvariable('last_walk')"
    return f"from (\n{sql}\n) where walk_id {portion}"


def _run(con: duckdb.DuckDBPyConnection, name: str, statement: str) -> None:
    # A header line `-- joins: as written` keeps their order; the right side of each is hashed.
    is_as_written = name not in weighings() and "joins" in header(name)
    try:
        if is_as_written:
            con.execute("set disabled_optimizers = 'join_order,build_side_probe_side'")
        con.execute(statement)
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise AuditError(f"{name}: {explained(error)}") from None
    except duckdb.Error as error:
        raise AuditError(f"sql/{_file(name)}: {first_line(error)}") from error
    finally:
        if is_as_written:
            con.execute("reset disabled_optimizers")


def walk(con: duckdb.DuckDBPyConnection, banks: tuple[int, int] | None = None) -> None:
    """Let the portioned stages read the walks from the first of these banks to the last, or all."""
    query = "select min(walk_id), max(walk_id) from walks"
    where = " where bank_id between ? and ?" if banks else ""
    ((first, last),) = con.execute(query + where, list(banks or ())).fetchall()
    con.execute(f"set variable first_walk = {first}")
    con.execute(f"set variable last_walk = {last}")
