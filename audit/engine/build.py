"""A stage rendered from its SQL file, and created as a table or a view."""

import functools
import re
from collections.abc import Iterable

import duckdb
import jinja2

from audit.engine.lineage import relations_read
from audit.engine.plugins import Plugins
from audit.engine.sql_files import resource, stage_file
from audit.engine.stages import DRAWN, STAGE_NAMES, TABLES
from audit.errors import AuditError, explained, first_line

# A file that puts in others as they are: what a replay is run with makes no difference to it.
INCLUDE = re.compile(r'\{% include "[^"]+" %\}')


def render(name: str, plugins: Plugins | None = None) -> str:
    """The SQL of a stage, plug-in or table, its chosen files put in."""
    text = _text(name)
    if not _is_template(text):
        return text
    if not _is_template(INCLUDE.sub("", text)):
        return _templates().get_template(stage_file(name)).render()
    plugins = plugins or Plugins()
    return (
        _templates()
        .get_template(stage_file(name))
        .render(
            rules=plugins.rules,
            selectors=plugins.selectors,
            policies=plugins.policies,
            rule={rule.name: rule.sql for rule in plugins.rules},
        )
    )


def _text(name: str) -> str:
    return (resource("sql") / stage_file(name)).read_text(encoding="utf-8").removesuffix("\n")


def _is_template(text: str) -> bool:
    return any(opening in text for opening in ("{%", "{{", "{#"))


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resource("sql")),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def sources(names: Iterable[str], plugins: Plugins) -> dict[str, str]:
    """The SQL of these stages and of all stages that they are made from, by name."""
    found: dict[str, str] = {}
    waiting = [*names]
    while waiting:
        name = waiting.pop()
        if name in STAGE_NAMES and name not in DRAWN and name not in found:
            found[name] = render(name, plugins)
            waiting += relations_read(found[name])
    return found


def build(con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins) -> None:
    """Create one relation of the pipeline from its SQL file."""
    kept_as = "table" if name in TABLES else "view"
    _run(con, name, f"create {kept_as} {name} as {_rows(name, plugins)}")


def prepare(con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins) -> None:
    """Create a relation that holds one portion, in the place of the one before."""
    _run(con, name, f"create or replace temp table {name} as {render(name, plugins)}")


def extend(con: duckdb.DuckDBPyConnection, name: str, plugins: Plugins) -> None:
    """Add the rows of one more portion to a relation of the pipeline."""
    _run(con, name, f"insert into {name} {_rows(name, plugins)}")


def _rows(name: str, plugins: Plugins) -> str:
    """The SQL of a stage; without policies there are no totals of them, which is slow to find."""
    sql = render(name, plugins)
    return f"from ({sql}) limit 0" if name == "policy_totals" and not plugins.policies else sql


def _run(con: duckdb.DuckDBPyConnection, name: str, statement: str) -> None:
    try:
        con.execute(statement)
    except (duckdb.OutOfMemoryException, duckdb.IOException) as error:
        raise AuditError(f"{name}: {explained(error)}") from None
    except duckdb.Error as error:
        raise AuditError(f"sql/{stage_file(name)}: {first_line(error)}") from error
