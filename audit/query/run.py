"""Ad hoc SQL over a database opened read only: named queries, .sql files or SQL text."""

import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pyarrow as pa

from audit.database import lacks_texts, require_replays
from audit.engine import REPLAY_RELATIONS, resource
from audit.errors import AuditError, first_line
from audit.output.display import format_table

DEFAULT_PATTERN = re.compile(r"^-- \$(\w+) = ?(.*)$", re.MULTILINE)

# What a reader's connection still lets a select do, taken away: seeing this program's variables,
# looking for extensions, filling the disk with temporary files, and changing any of this.
SANDBOX = (
    "set python_enable_replacements = false",
    "set autoinstall_known_extensions = false",
    "set autoload_known_extensions = false",
    "set max_temp_directory_size = '0KB'",
    "set lock_configuration = true",
)
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


def named_queries() -> list[NamedQuery]:
    """Every query that ships with the project, by name."""
    return [_named(path) for path in sorted(resource("queries").glob("*.sql"))]


def _named(path: Path) -> NamedQuery:
    sql = path.read_text(encoding="utf-8-sig")
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
        except OSError as error:
            raise AuditError(f"{path}: cannot be read: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    if re.fullmatch(r"[\w-]+", name_or_sql):
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
    with limits(con, timeout=timeout):
        return _rows(con, find_query(name_or_sql), params or {})


def answer(
    con: duckdb.DuckDBPyConnection,
    name_or_sql: str,
    params: Mapping[str, str] | None = None,
    *,
    fmt: str = "table",
    timeout: float | None = None,
    give_up: Callable[[str], None] | None = None,
) -> str:
    """The rows as text; the limits hold for the formatting too."""
    with limits(con, timeout=timeout, give_up=give_up):
        return format_table(_rows(con, find_query(name_or_sql), params or {}), fmt)


def _rows(con: duckdb.DuckDBPyConnection, found: NamedQuery, params: Mapping[str, str]) -> pa.Table:
    """Run the one select statement inside the sandbox."""
    _close_sandbox(con)
    values = {**found.defaults, **params}
    try:
        "".join((found.sql, *values, *map(str, values.values()))).encode()
    except UnicodeEncodeError:
        raise AuditError("query: the text or a parameter is not valid UTF-8") from None
    statement = _one_select(con, found.sql)
    if lacks_texts(con) and "texts" in con.get_table_names(found.sql):
        raise AuditError("query: it reads texts, and the run that was gathered keeps none")
    wanted = statement.named_parameters
    if set(values) - wanted:
        extra = ", ".join(f"${name}" for name in sorted(set(values) - wanted))
        raise AuditError(f"query: it has no parameter {extra}; its own: {_listed(wanted)}")
    if wanted - set(values):
        missing = ", ".join(f"${name}" for name in sorted(wanted - set(values)))
        raise AuditError(f"query: no value for {missing}; give --param name=value")
    try:
        return con.sql(statement, params=values or None).to_arrow_table()
    except duckdb.InterruptException:
        raise
    except (duckdb.OutOfMemoryException, MemoryError):
        raise AuditError(_out_of_memory(_memory_limit(con))) from None
    except duckdb.Error as error:
        raise AuditError(f"query: {_explained(con, error)}") from None
    except pa.ArrowException as error:
        raise AuditError(f"query: its rows cannot be read: {first_line(error)}") from None


def _close_sandbox(con: duckdb.DuckDBPyConnection) -> None:
    """Take away what a select could still do on a connection that is already read only."""
    mode, is_open, is_locked, sees_variables = con.execute(
        """
        select
            current_setting('access_mode'),
            current_setting('enable_external_access'),
            current_setting('lock_configuration'),
            current_setting('python_enable_replacements'),
        """
    ).fetchall()[0]
    if mode != "read_only" or is_open or (is_locked and sees_variables):
        raise AuditError("query: open the database with connect(path, read_only=True)")
    if not is_locked:
        for statement in SANDBOX:
            con.execute(statement)


def _one_select(con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """The only statement of the text, refused unless it is a select."""
    try:
        statements = con.extract_statements(sql)
        are_selects = [one.type == duckdb.StatementType.SELECT for one in statements]
    except duckdb.Error as error:
        raise AuditError(f"query: {first_line(error)}") from None
    except ValueError:
        # DuckDB's Python module has no name for the rarer kinds, such as 'update extensions'.
        are_selects = []
    if are_selects != [True]:
        raise AuditError("query: give exactly one select statement; the database is read only")
    return statements[0]


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


def _listed(names: set[str]) -> str:
    return ", ".join(f"${name}" for name in sorted(names)) or "none"


def _explained(con: duckdb.DuckDBPyConnection, error: duckdb.Error) -> str:
    """The engine's line, or why a relation of the replays is not there."""
    missing = re.search(r"Table with name (\w+) does not exist", str(error))
    if missing and missing.group(1) in REPLAY_RELATIONS:
        require_replays(con)
    return first_line(error)
