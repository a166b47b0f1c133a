"""Ad hoc SQL over a database opened read only: named queries, .sql files or SQL text."""

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from audit.engine import REPLAY_RELATIONS, first_line, require_replays, resource
from audit.errors import AuditError

DEFAULT_PATTERN = re.compile(r"^-- \$(\w+) = (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class NamedQuery:
    """A query of `queries/`: the question it answers, its SQL, and its parameters' defaults."""

    name: str
    question: str
    sql: str
    defaults: dict[str, str]


def named_queries() -> list[NamedQuery]:
    """Every query that ships with the project, by name."""
    return [_named(path) for path in sorted(resource("queries").glob("*.sql"))]


def _named(path: Path) -> NamedQuery:
    sql = path.read_text(encoding="utf-8")
    question = sql.split("\n")[0].removeprefix("--").strip()
    return NamedQuery(path.stem, question, sql, dict(DEFAULT_PATTERN.findall(sql)))


def find_query(name_or_sql: str) -> NamedQuery:
    """A named query, the content of a .sql file, or the text itself."""
    for known in named_queries():
        if known.name == name_or_sql:
            return known
    if name_or_sql.endswith(".sql") and "\n" not in name_or_sql:
        path = Path(name_or_sql)
        try:
            return _named(path)
        except (OSError, UnicodeDecodeError) as error:
            raise AuditError(f"{path}: cannot be read: {first_line(error)}") from None
    if re.fullmatch(r"\w+", name_or_sql):
        names = ", ".join(known.name for known in named_queries())
        raise AuditError(f"no query '{name_or_sql}'; there are {names}, or give SQL text")
    return NamedQuery("", "", name_or_sql, {})


def query(
    con: duckdb.DuckDBPyConnection,
    name_or_sql: str,
    params: Mapping[str, str] | None = None,
    *,
    timeout: float | None = None,
) -> pa.Table:
    """The rows of one select statement, its `$name` parameters bound."""
    found = find_query(name_or_sql)
    # A select must not see this program's variables, nor change its own limits.
    con.execute("set python_enable_replacements = false")
    con.execute("set lock_configuration = true")
    try:
        statements = con.extract_statements(found.sql)
    except duckdb.Error as error:
        raise AuditError(f"query: {first_line(error)}") from None
    kinds = {statement.type for statement in statements}
    if len(statements) != 1 or kinds - {duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN}:
        raise AuditError("query: give exactly one select statement; the database is read only")
    values = {**found.defaults, **(params or {})}
    wanted = statements[0].named_parameters
    if set(values) - wanted:
        extra = ", ".join(f"${name}" for name in sorted(set(values) - wanted))
        raise AuditError(f"query: it has no parameter {extra}; its own: {_listed(wanted)}")
    if wanted - set(values):
        missing = ", ".join(f"${name}" for name in sorted(wanted - set(values)))
        raise AuditError(f"query: no value for {missing}; give --param name=value")
    stop = threading.Timer(timeout, con.interrupt) if timeout else None
    if stop:
        stop.start()
    try:
        return con.sql(statements[0], params=values or None).to_arrow_table()
    except duckdb.InterruptException:
        raise AuditError(f"query: stopped after {timeout:g} s; raise --timeout") from None
    except duckdb.OutOfMemoryException as error:
        raise AuditError(f"query: out of memory; raise --memory ({first_line(error)})") from None
    except duckdb.Error as error:
        raise AuditError(f"query: {_explained(con, error)}") from None
    finally:
        if stop:
            stop.cancel()


def _listed(names: set[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names)) or "none"


def _explained(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str:
    """The engine's line, or why a relation of the replays is not there."""
    missing = re.search(r"Table with name (\w+) does not exist", str(error))
    if missing and missing.group(1) in REPLAY_RELATIONS:
        require_replays(con)
    return first_line(error)
