"""Run queries that only read: named queries, .sql files or SQL text."""

import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import engine
from audit.database import cursor, lacks_texts, require_replays
from audit.database.schema import relations
from audit.errors import AuditError, first_line
from audit.output.display import format_table
from audit.output.headings import replayed_unit, set_unit
from audit.text import is_utf8, not_there, visible
from audit.units import UNITS, Unit, read_budget, write_exactly

# Comments and blanks before a statement.
BEFORE = r"(?is)\A(?:\s|--[^\n]*\n|/\*.*?\*/)*"
EXPLAIN_PATTERN = re.compile(BEFORE + r"explain\b(?:\s+analyze\b)?(?:\s*\([^()]*\))?")
DYNAMIC_PATTERN = re.compile(BEFORE + r"\(*(?:pivot|from|select|with)\b")
LONGEST_MESSAGE = 1000
# An interrupt between two statements is lost, so it is repeated.
INTERRUPT_SECONDS = 0.1
MOST_INTERRUPTS = 10
DEFAULT_PATTERN = re.compile(r"^-- \$(\w+) = ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class NamedQuery:
    """A query of `queries/`: the question it answers, its SQL, and its parameters' defaults."""

    name: str
    question: str
    sql: str
    defaults: dict[str, str]
    is_ours: bool = False


def read_named_queries() -> list[NamedQuery]:
    """Read all queries of the folder `queries/`, sorted by name."""
    paths = sorted(engine.find_folder("queries").glob("*.sql"))
    return [_read_query(path, is_ours=True) for path in paths]


def _read_query(path: Path, *, is_ours: bool = False) -> NamedQuery:
    """Read a .sql file: its first line is the question, `-- $name = value` lines are defaults."""
    sql = path.read_text(encoding="utf-8-sig")
    question = sql.split("\n")[0].removeprefix("--").strip()
    return NamedQuery(path.stem, question, sql, dict(DEFAULT_PATTERN.findall(sql)), is_ours)


def find_query(name_or_sql: str) -> NamedQuery:
    """Find a query by its name, read it from a .sql file, or take the text itself as SQL."""
    for named_query in read_named_queries():
        if named_query.name == name_or_sql:
            return named_query
    if name_or_sql.endswith(".sql") and "\n" not in name_or_sql:
        path = Path(name_or_sql)
        try:
            return _read_query(path)
        except OSError as error:
            raise AuditError(f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    if re.fullmatch(r"[\w-]+", name_or_sql):
        names = [named_query.name for named_query in read_named_queries()]
        raise AuditError(not_there("query", name_or_sql, names) + ", or give SQL text")
    # Leading blanks would make DuckDB mark the wrong place of an error.
    return NamedQuery("", "", name_or_sql.strip(), {})


@dataclass(frozen=True)
class Answer:
    """The result of a query: its rows, cut at the limit, and their total number."""

    table: pa.Table
    rows: int
    plan: str = ""
    reads_records: bool = True
    text: str = ""

    def to_text(self, fmt: str, width: int | None = None) -> str:
        """Format the rows as text; print a plan as DuckDB draws it."""
        if self.plan and fmt == "table":
            return "\n".join(visible(line) for line in self.plan.splitlines()) + "\n"
        # Columns of published tables keep their decimals and units.
        return format_table(self.table, fmt, "", width=width)


def query(
    con: duckdb.DuckDBPyConnection,
    name_or_sql: str,
    params: Mapping[str, Any] | None = None,
    *,
    fmt: str | None = None,
    width: int | None = None,
    limit: int | None = None,
    timeout: float | None = None,
    give_up: Callable[[str], None] | None = None,
) -> Answer:
    """Run one statement that only reads, with values for its `$name` parameters.

    Settings of the connection stay; open one for untrusted SQL with
    `connect(path, read_only=True, sandbox=True)`. With `fmt` the rows are also formatted as text,
    within the same timeout.
    """

    def work() -> Answer:
        answer = _run_query(con, find_query(name_or_sql), params or {}, limit)
        return replace(answer, text=answer.to_text(fmt, width)) if fmt else answer

    return _run_limited(con, timeout, work, give_up)


def _run_query(
    con: duckdb.DuckDBPyConnection,
    named_query: NamedQuery,
    params: Mapping[str, Any],
    limit: int | None,
) -> Answer:
    """Check and run a query; raise AuditError for invalid SQL, parameters or replays."""
    values = {**named_query.defaults, **params}
    if named_query.is_ours:
        units = {"budget": replayed_unit(con), "money": UNITS["money"]}
        values |= {
            name: _convert_amount(name, str(value), units[name])
            for name, value in values.items()
            if name in units and value
        }
    if not is_utf8("".join((named_query.sql, *values, *map(str, values.values())))):
        raise AuditError("query: the text or a parameter is not valid UTF-8")
    statement = _parse_statement(con, named_query.sql)
    words = set(re.findall(r"\w+", named_query.sql.lower()))
    if "texts" in words and lacks_texts(con):
        raise AuditError("query: it reads texts, and a database made by 'gather' holds none")
    used = statement.named_parameters
    if extra := _join_parameters(values.keys() - used):
        known = _join_parameters(used) or "none"
        raise AuditError(f"query: it has no parameter {extra}; its own: {known}")
    if missing := _join_parameters(used - values.keys()):
        raise AuditError(f"query: no value for {missing}; give --param name=value")
    try:
        with engine.prepared(con, words):
            rows = con.sql(statement, params=values or None).to_arrow_table()
    except duckdb.InterruptException:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        ((most,),) = con.execute("select current_setting('memory_limit')").fetchall()
        what = f"query: it needs more than {most} of memory; raise --memory"
        raise AuditError(what) from None
    except duckdb.Error as error:
        _refuse_missing_replays(con, error, named_query.is_ours)
        raise _describe_error(_locate_error(con, named_query.sql, values, error)) from None
    except pa.ArrowException as error:
        raise AuditError(f"query: its rows cannot be read: {first_line(error)}") from None
    is_plan = statement.type == duckdb.StatementType.EXPLAIN
    plan = "\n".join(rows.column(rows.num_columns - 1).to_pylist()) if is_plan else ""
    table = set_unit(con, rows.slice(0, limit) if limit else rows)
    reads_records = bool(words & {*relations(con), *engine.list_tables()})
    return Answer(table, rows.num_rows, plan, reads_records)


def _convert_amount(name: str, text: str, unit: Unit) -> str:
    """Convert an amount such as 4k or $0.05 into a plain number of the unit."""
    try:
        return write_exactly(read_budget(text, unit), unit)
    except ValueError as error:
        raise AuditError(f"--param {name}: {error}") from None


def _parse_statement(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Parse the text as one statement; refuse one that could write (threat model, c)."""
    kinds = duckdb.StatementType
    try:
        statements = con.extract_statements(sql)
        types = [statement.type for statement in statements]
        if types == [kinds.EXPLAIN]:
            explained = EXPLAIN_PATTERN.sub("", sql, count=1)
            types = [statement.type for statement in con.extract_statements(explained)]
            sql = explained
    except duckdb.Error as error:
        raise _describe_error(error) from None
    except ValueError:
        # DuckDB's Python module has no name for the rarer kinds, such as 'update extensions'.
        types = []
    if types == [kinds.MULTI] and DYNAMIC_PATTERN.match(sql):
        # DuckDB runs a pivot as several statements; allow it on a read-only connection.
        if _is_read_only(con):
            return statements[0]
        raise AuditError("query: name the pivot's values, as in: pivot … on rule in ('strict')")
    if types != [kinds.SELECT]:
        raise AuditError(
            "query: give exactly one statement that reads (select, from, pivot, describe, "
            "summarize, explain); the database is read only"
        )
    if not _is_read_only(con):
        # A select may call a function that writes: refuse it if the connection can write.
        try:
            engine.parse_relations(sql)
        except AuditError as error:
            raise AuditError(f"query: {error}") from None
    return statements[0]


def _is_read_only(con: duckdb.DuckDBPyConnection) -> bool:
    """Return whether a connection was opened read only."""
    query = "select current_setting('access_mode')"
    return con.execute(query).fetchall() == [("read_only",)]


def _locate_error(
    con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, Any], error: duckdb.Error
) -> duckdb.Error:
    """Run the SQL again as text: DuckDB then marks the place of the error; return that error."""
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        try:
            cursor(con).execute(sql, dict(values) or None)
        except duckdb.Error as marked:
            return marked
    return error


def _describe_error(error: duckdb.Error) -> AuditError:
    """Shorten DuckDB's error to one line; attach its picture of the place as a note."""
    words, line, rest = str(error).partition("\nLINE ")
    if re.search(r"'(avg|sum|mean)\(BOOLEAN\)'", words):
        words = words.partition(" You might need")[0]
        words += " A label is true or false: write avg(correct::integer)."
    picture = (line + rest).strip("\n")
    place = re.match(r"(LINE (\d+): .*)\n( *)(\^+)", picture)
    at = ""
    if place and (part := place[1][len(place[3]) :][: len(place[4])].strip()):
        at = f" (line {place[2]}, at '{part}')"
    mistake = AuditError(f"query: {' '.join(words.split())[:LONGEST_MESSAGE]}{at}")
    if picture:
        mistake.add_note(picture)
    return mistake


def _refuse_missing_replays(
    con: duckdb.DuckDBPyConnection, error: duckdb.Error, is_ours: bool
) -> None:
    """Refuse a query that failed because replays, or parts of them, are missing or stale."""
    missing = re.search(r"Table with name (\w+) does not exist", str(error))
    if missing and missing.group(1) in (*engine.REPLAY_RELATIONS, *engine.list_tables()):
        try:
            require_replays(con)
        except AuditError as why:
            raise AuditError(f"query: {missing.group(1)} is not there: {why}") from None
    if is_ours:
        engine.refuse_other_replays(con, error)


def _run_limited(
    con: duckdb.DuckDBPyConnection,
    timeout: float | None,
    work: Callable[[], Answer],
    give_up: Callable[[str], None] | None,
) -> Answer:
    """Run `work` in a second thread, and interrupt it after `timeout` seconds or Ctrl-C.

    DuckDB ignores Ctrl-C inside a statement, so this thread waits for it. Some statements ignore
    the interrupt too: `give_up` then ends the process.
    """
    if timeout is not None and not timeout > 0:
        raise AuditError("--timeout: a number of seconds above 0")
    future: Future[Answer] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    reason = "interrupted"
    try:
        if wait([future], timeout).done:
            return future.result()
        reason = f"query: stopped after {timeout:g} s; raise --timeout"
        raise AuditError(reason)
    finally:
        for _ in range(MOST_INTERRUPTS):
            if not future.done():
                con.interrupt()
                wait([future], INTERRUPT_SECONDS)
        if give_up and not future.done():
            give_up(reason)


def _join_parameters(names: set[str]) -> str:
    """List parameter names for a message, such as "$archive, $budget"."""
    return ", ".join(f"${name}" for name in sorted(names))
