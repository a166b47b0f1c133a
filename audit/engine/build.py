"""A stage rendered from its SQL file, and created as a table or a view."""

import functools
from collections.abc import Sequence

import duckdb
import jinja2

from audit.engine.plugins import Plugin, plugins
from audit.engine.sql_files import resource, stage_file
from audit.errors import AuditError, explained, first_line


def render(
    name: str, rules: Sequence[Plugin] | None = None, selectors: Sequence[Plugin] | None = None
) -> str:
    """The SQL of a stage, rule, selector or table, its chosen files put in."""
    rules = plugins("rules") if rules is None else rules
    return (
        _templates()
        .get_template(stage_file(name))
        .render(
            rules=rules,
            selectors=plugins("selectors") if selectors is None else selectors,
            rule={rule.name: rule.sql for rule in rules},
        )
    )


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("sql")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def build(
    con: duckdb.DuckDBPyConnection,
    name: str,
    kept_as: str,
    rules: Sequence[Plugin] | None = None,
    selectors: Sequence[Plugin] | None = None,
) -> None:
    """Create one relation of the pipeline from its SQL file."""
    sql = render(name, rules, selectors)
    try:
        con.execute(f"create {kept_as} {name} as {sql}")
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise AuditError(f"{name}: {explained(error)}") from None
    except duckdb.Error as error:
        raise AuditError(f"sql/{stage_file(name)}: {first_line(error)}") from error
