"""Ad hoc SQL over a database opened read only: named queries, .sql files or SQL text."""

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
from audit.output.headings import in_unit, replayed_unit
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


def named_queries() -> list[NamedQuery]:
    """Return every query that ships with the project, by name."""
    paths = sorted(engine.resource("queries").glob("*.sql"))
    return [_read_query(path, is_ours=True) for path in paths]


def _read_query(path: Path, *, is_ours: bool = False) -> NamedQuery:
    sql = path.read_text(encoding="utf-8-sig")
    question = sql.split("\n")[0].removeprefix("--").strip()
    return NamedQuery(path.stem, question, sql, dict(DEFAULT_PATTERN.findall(sql)), is_ours)


def find_query(name_or_sql: str) -> NamedQuery:
    """Return a named query, the content of a .sql file, or the text itself."""
    for named_query in named_queries():
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
        names = [named_query.name for named_query in named_queries()]
        raise AuditError(not_there("query", name_or_sql, names) + ", or give SQL text")
    # Blanks before a statement make DuckDB point beside the place of a mistake.
    return NamedQuery("", "", name_or_sql.strip(), {})


@dataclass(frozen=True)
class Answer:
    """The rows of a query, or the first of them, and how many there are."""

    table: pa.Table
    rows: int
    plan: str = ""
    reads_records: bool = True
    text: str = ""

    def written(self, fmt: str, width: int | None = None) -> str:
        """Return the rows as text; a plan as DuckDB draws it."""
        if self.plan and fmt == "table":
            return "\n".join(visible(line) for line in self.plan.splitlines()) + "\n"
        # Columns that tables have are written as there.
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
    """Return the rows of one statement that only reads, its `$name` parameters bound.

    The connection is not changed; open one for anyone's SQL with
    `connect(path, read_only=True, sandbox=True)`. With a format the rows are also written as text,
    within the same time.
    """

    def work() -> Answer:
        answer = _answered(con, find_query(name_or_sql), params or {}, limit)
        return replace(answer, text=answer.written(fmt, width)) if fmt else answer

    return _run_limited(con, timeout, work, give_up)


def _answered(
    con: duckdb.DuckDBPyConnection,
    named_query: NamedQuery,
    params: Mapping[str, Any],
    limit: int | None,
) -> Answer:
    """Run the one statement, refused unless it only reads."""
    values = {**named_query.defaults, **params}
    if named_query.is_ours:
        units = {"budget": replayed_unit(con), "money": UNITS["money"]}
        values |= {
            name: _amount(name, str(value), units[name])
            for name, value in values.items()
            if name in units and value
        }
    if not is_utf8("".join((named_query.sql, *values, *map(str, values.values())))):
        raise AuditError("query: the text or a parameter is not valid UTF-8")
    statement = _one_reading(con, named_query.sql)
    words = set(re.findall(r"\w+", named_query.sql.lower()))
    if "texts" in words and lacks_texts(con):
        raise AuditError("query: it reads texts, and the run that was gathered keeps none")
    own = statement.named_parameters
    if extra := _join_parameters(values.keys() - own):
        known = _join_parameters(own) or "none"
        raise AuditError(f"query: it has no parameter {extra}; its own: {known}")
    if missing := _join_parameters(own - values.keys()):
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
        _require_what_it_reads(con, error, named_query.is_ours)
        raise _mistake(_placed(con, named_query.sql, values, error)) from None
    except pa.ArrowException as error:
        raise AuditError(f"query: its rows cannot be read: {first_line(error)}") from None
    is_plan = statement.type == duckdb.StatementType.EXPLAIN
    plan = "\n".join(rows.column(rows.num_columns - 1).to_pylist()) if is_plan else ""
    shown = in_unit(con, rows.slice(0, limit) if limit else rows)
    reads_records = bool(words & {*relations(con), *engine.table_names()})
    return Answer(shown, rows.num_rows, plan, reads_records)


def _amount(name: str, written: str, unit: Unit) -> str:
    """Convert an amount such as 4k or $0.05 into a plain number of the unit."""
    try:
        return write_exactly(read_budget(written, unit), unit)
    except ValueError as error:
        raise AuditError(f"--param {name}: {error}") from None


def _one_reading(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Return the only statement of the text; refuse it unless it only reads (threat model, c)."""
    kinds = duckdb.StatementType
    try:
        statements = con.extract_statements(sql)
        types = [statement.type for statement in statements]
        if types == [kinds.EXPLAIN]:
            explained = EXPLAIN_PATTERN.sub("", sql, count=1)
            types = [statement.type for statement in con.extract_statements(explained)]
            sql = explained
    except duckdb.Error as error:
        raise _mistake(error) from None
    except ValueError:
        # DuckDB's Python module has no name for the rarer kinds, such as 'update extensions'.
        types = []
    if types == [kinds.MULTI] and DYNAMIC_PATTERN.match(sql):
        # DuckDB looks up a pivot's values before it pivots; where nothing can be written, let it.
        if _is_read_only(con):
            return statements[0]
        raise AuditError("query: name the pivot's values, as in: pivot … on rule in ('strict')")
    if types != [kinds.SELECT]:
        raise AuditError(
            "query: give exactly one statement that reads (select, from, pivot, describe, "
            "summarize, explain); the database is read only"
        )
    if not _is_read_only(con):
        # A select may hold an expression that writes; a reader cannot, the caller's own could.
        try:
            engine.relations_read(sql)
        except AuditError as error:
            raise AuditError(f"query: {error}") from None
    return statements[0]


def _is_read_only(con: duckdb.DuckDBPyConnection) -> bool:
    query = "select current_setting('access_mode')"
    return con.execute(query).fetchall() == [("read_only",)]


def _placed(
    con: duckdb.DuckDBPyConnection, sql: str, values: Mapping[str, Any], error: duckdb.Error
) -> duckdb.Error:
    """Run the SQL as text, so that DuckDB draws the place of the mistake; return that error."""
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        try:
            cursor(con).execute(sql, dict(values) or None)
        except duckdb.Error as drawn:
            return drawn
    return error


def _mistake(error: duckdb.Error) -> AuditError:
    """Return the engine's message in one line, its picture of the place as a note."""
    words, line, drawn = str(error).partition("\nLINE ")
    if re.search(r"'(avg|sum|mean)\(BOOLEAN\)'", words):
        words = words.partition(" You might need")[0]
        words += " A label is true or false: write avg(correct::integer)."
    picture = (line + drawn).strip("\n")
    place = re.match(r"(LINE (\d+): .*)\n( *)(\^+)", picture)
    at = ""
    if place and (part := place[1][len(place[3]) :][: len(place[4])].strip()):
        at = f" (line {place[2]}, at '{part}')"
    mistake = AuditError(f"query: {' '.join(words.split())[:LONGEST_MESSAGE]}{at}")
    if picture:
        mistake.add_note(picture)
    return mistake


def _require_what_it_reads(
    con: duckdb.DuckDBPyConnection, error: duckdb.Error, is_ours: bool
) -> None:
    """Say why a relation of the replays is not there, where that is what went wrong."""
    missing = re.search(r"Table with name (\w+) does not exist", str(error))
    if missing and missing.group(1) in (*engine.REPLAY_RELATIONS, *engine.table_names()):
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
    """Run `work` beside this thread, and interrupt it after `timeout` seconds or Ctrl-C.

    DuckDB does not look for Ctrl-C inside a statement, and this thread does. Now and then a
    statement does not hear the interrupt either: `give_up` then ends the process.
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
    return ", ".join(f"${name}" for name in sorted(names))
