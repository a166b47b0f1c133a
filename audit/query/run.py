"""Ad hoc SQL over a database opened read only: named queries, .sql files or SQL text."""

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
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

# What stands before a statement: comments and blanks.
BEFORE = r"(?is)\A(?:\s|--[^\n]*\n|/\*.*?\*/)*"
EXPLAIN_PATTERN = re.compile(BEFORE + r"explain\b(?:\s+analyze\b)?(?:\s*\([^()]*\))?")
DYNAMIC_PATTERN = re.compile(BEFORE + r"\(*(?:pivot|from|select|with)\b")
LONGEST_MESSAGE = 1000
DEFAULT_PATTERN = re.compile(r"^-- \$(\w+) = ?(.*)$", re.MULTILINE)

# Between an interrupt and giving up: the engine looks for one only between rows, not inside one.
GRACE_SECONDS = 0.5
POLL_SECONDS = 0.05
# The engine counts its own memory, not all of a function's or a result's; some is always uncounted.
UNCOUNTED_BYTES = 256 * 2**20


@dataclass(frozen=True)
class NamedQuery:
    """A query of `queries/`: the question it answers, its SQL, and its parameters' defaults."""

    name: str
    question: str
    sql: str
    defaults: dict[str, str]
    is_ours: bool = False


def named_queries() -> list[NamedQuery]:
    """Every query that ships with the project, by name."""
    return [
        _read_query(path, is_ours=True) for path in sorted(engine.resource("queries").glob("*.sql"))
    ]


def _read_query(path: Path, *, is_ours: bool = False) -> NamedQuery:
    sql = path.read_text(encoding="utf-8-sig")
    question = sql.split("\n")[0].removeprefix("--").strip()
    return NamedQuery(path.stem, question, sql, dict(DEFAULT_PATTERN.findall(sql)), is_ours)


def find_query(name_or_sql: str) -> NamedQuery:
    """A named query, the content of a .sql file, or the text itself."""
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
    # Columns of our own queries are written as those of tables are.
    is_ours: bool = False
    reads_records: bool = True
    text: str = ""

    def written(self, fmt: str, width: int | None = None) -> str:
        """The rows as text; a plan as DuckDB draws it."""
        if self.plan and fmt == "table":
            return "\n".join(visible(line) for line in self.plan.splitlines()) + "\n"
        return format_table(self.table, fmt, "" if self.is_ours else None, width=width)


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
    """The rows of one statement that only reads, its `$name` parameters bound.

    The connection is used as it is and stays as it is; one for anyone's SQL is opened with
    `connect(path, read_only=True, sandbox=True)`. With a format they are written as text too, and
    the limits hold for that as well.
    """
    with limits(con, timeout=timeout, give_up=give_up):
        answer = _answered(con, find_query(name_or_sql), params or {}, limit)
        return replace(answer, text=answer.written(fmt, width)) if fmt else answer


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
    if lacks_texts(con) and reads_texts(named_query.sql):
        raise AuditError("query: it reads texts, and the run that was gathered keeps none")
    parameters = statement.named_parameters
    if extra := set(values) - parameters:
        own = _join_parameters(parameters) or "none"
        raise AuditError(f"query: it has no parameter {_join_parameters(extra)}; its own: {own}")
    if missing := _join_parameters(parameters - set(values)):
        raise AuditError(f"query: no value for {missing}; give --param name=value")
    try:
        rows = con.sql(statement, params=values or None).to_arrow_table()
    except duckdb.InterruptException:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        raise AuditError(_out_of_memory(_memory_limit(con))) from None
    except duckdb.Error as error:
        _require_what_it_reads(con, error)
        raise _mistake(_placed(con, named_query.sql, values, error)) from None
    except pa.ArrowException as error:
        raise AuditError(f"query: its rows cannot be read: {first_line(error)}") from None
    is_plan = statement.type == duckdb.StatementType.EXPLAIN
    plan = "\n".join(rows.column(rows.num_columns - 1).to_pylist()) if is_plan else ""
    shown = in_unit(con, rows.slice(0, limit) if limit else rows)
    words = set(re.findall(r"\w+", named_query.sql.lower()))
    reads_records = bool(words & {*relations(con), *engine.table_names()})
    return Answer(shown, rows.num_rows, plan, named_query.is_ours, reads_records)


def _amount(name: str, written: str, unit: Unit) -> str:
    """An amount as people write it, 4k or $0.05, as a plain number of the unit."""
    try:
        return write_exactly(read_budget(written, unit), unit)
    except ValueError as error:
        raise AuditError(f"--param {name}: {error}") from None


def reads_texts(sql: str) -> bool:
    """Whether a select names the relation of the texts."""
    with contextlib.suppress(AuditError):
        return "texts" in engine.relations_read(sql)
    return False


def _one_reading(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """The only statement of the text, refused unless it reads and does nothing else."""
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
    """The same mistake with a picture of its place, which DuckDB draws only for SQL as text."""
    if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
        try:
            cursor(con).execute(sql, dict(values) or None)
        except duckdb.Error as drawn:
            return drawn
    return error


def _mistake(error: duckdb.Error) -> AuditError:
    """The engine's words in one line, candidates included; its picture of the place as a note."""
    words, line, drawn = str(error).partition("\nLINE ")
    picture = (line + drawn).strip("\n")
    place = re.match(r"(LINE (\d+): .*)\n( *)(\^+)", picture)
    at = ""
    if place and (part := place[1][len(place[3]) :][: len(place[4])].strip()):
        at = f" (line {place[2]}, at '{part}')"
    mistake = AuditError(f"query: {' '.join(words.split())[:LONGEST_MESSAGE]}{at}")
    if picture:
        mistake.add_note(picture)
    return mistake


def _require_what_it_reads(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> None:
    """Say why a relation of the replays is not there, where that is what went wrong."""
    missing = re.search(r"Table with name (\w+) does not exist", str(error))
    if missing and missing.group(1) in engine.exploratory_names():
        name = missing.group(1)
        raise AuditError(f"query: {name} is no view; print it with 'budget-audit table {name}'")
    if missing and missing.group(1) in (*engine.REPLAY_RELATIONS, *engine.table_names()):
        try:
            require_replays(con)
        except AuditError as why:
            raise AuditError(f"query: {missing.group(1)} is not there: {why}") from None


@contextmanager
def limits(
    con: duckdb.DuckDBPyConnection,
    *,
    timeout: float | None = None,
    give_up: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Interrupt what takes too long or too much memory; `give_up` is called if that is not heeded.

    A single call of a function over one huge value can hear no interrupt. `give_up` runs in another
    thread, so all it can do is end the process: a reader has nothing to lose.
    """
    if timeout is not None and not timeout > 0:
        raise AuditError("--timeout: a number of seconds above 0")
    limit = _memory_limit(con)
    allowed = _resident_bytes() + _bytes(limit) + UNCOUNTED_BYTES
    started = time.monotonic()
    finished = threading.Event()
    reasons: list[str] = []

    def watch() -> None:
        while not finished.wait(POLL_SECONDS):
            if timeout is not None and time.monotonic() - started > timeout:
                reasons.append(f"query: stopped after {timeout:g} s; raise --timeout")
            elif _resident_bytes() > allowed:
                reasons.append(_out_of_memory(limit))
            else:
                continue
            con.interrupt()
            if give_up and not finished.wait(GRACE_SECONDS):
                give_up(reasons[0])
            return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except duckdb.InterruptException:
        raise AuditError(*reasons) from None
    except RuntimeError as error:
        # How DuckDB's Python module passes on Ctrl-C.
        if str(error) != "Query interrupted":
            raise
        raise KeyboardInterrupt from None
    finally:
        finished.set()
        watcher.join()


def _memory_limit(con: duckdb.DuckDBPyConnection) -> str:
    ((limit,),) = con.execute("select current_setting('memory_limit')").fetchall()
    return limit


def _out_of_memory(limit: str) -> str:
    return f"query: it needs more than {limit} of memory; raise --memory"


def _resident_bytes() -> int:
    """The memory this process holds now; 0 where the system does not tell."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGESIZE")


def _bytes(amount: str) -> int:
    """The bytes of DuckDB's '1.5 GiB'."""
    number, unit = amount.split()
    return int(float(number) * 1024 ** ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"].index(unit))


def _join_parameters(names: set[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names))
