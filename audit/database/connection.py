"""Open a database to read, load or replay; all database files are opened here."""

import contextlib
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb

from audit.database.leftovers import is_running, remove_leftovers, temporary_path
from audit.database.schema import check_schema, relations
from audit.errors import AuditError, explain_error
from audit.text import is_utf8, literal, quoted

# Row group sizes of attempts, whose texts may be long, and of replays. DuckDB keeps about 2 kB of
# metadata per group and column in memory, beyond its memory limit.
LOADED_ROW_GROUP = 2048
REPLAYED_ROW_GROUP = 16_384

# Cache of the views that replays created, beside Python's compiled files.
COMPILED = Path(__file__).resolve().parent.parent / "__pycache__" / "views"

# DuckDB may install and load no extension by itself.
EXTENSION_SETTINGS = ("autoinstall_known_extensions", "autoload_known_extensions")

# Over a read-only connection an untrusted select could still read this program's variables, fill
# the disk with temporary files, and change these settings: the sandbox forbids all three.
SANDBOX = (
    "set python_enable_replacements = false",
    "set max_temp_directory_size = '0KB'",
    "set lock_configuration = true",
)


def connect(
    path: str | Path,
    *,
    read_only: bool = False,
    threads: int | None = None,
    memory: str | None = None,
    row_group: int | None = None,
    sandbox: bool = False,
    reach: Path | None = None,
) -> duckdb.DuckDBPyConnection:
    """Open a budget-audit database; the connection can access no other file (threat model, c).

    With `read_only` the file must exist; a connection with `sandbox` may run untrusted SQL. A
    writer may still read the folder `reach`. DuckDB keeps `row_group` rows in memory until the
    group is full and gives each thread whole groups; its default is 122,880 rows.
    """
    path = Path(path)
    config: dict[str, Any] = dict.fromkeys(EXTENSION_SETTINGS, False)
    if threads is not None:
        config["threads"] = threads
    if memory is not None:
        # DuckDB does not count all its memory, and NumPy needs some for replicates.
        config["memory_limit"] = memory if sandbox else take_two_thirds(memory)
    if read_only:
        if not path.exists():
            raise AuditError(f"{path}: no such database; make it with 'budget-audit load'")
    else:
        # Users open the file with their own tools: DuckDB 1.4 and 1.5 cannot read 2.0's format.
        config["storage_compatibility_version"] = "v1.4.0"
    _refuse_unreadable(path)
    try:
        if not path.exists() and str(path) != ":memory:":
            _create_file(path, config)
        if row_group:
            con = duckdb.connect(config=config | {"temp_directory": f"{path}.tmp"})
            _attach(con, path, f"row_group_size {row_group}")
        else:
            con = duckdb.connect(str(path), read_only=read_only, config=config)
    except duckdb.Error as error:
        raise AuditError(f"{path}: {_explain_error(error)}") from None
    if not read_only:
        _remove_leftovers(path)
    _set_defaults(con)
    if not read_only and row_group != LOADED_ROW_GROUP:
        # Only a load may merge row groups: others would write the loaded texts again.
        con.execute("set max_vacuum_tasks = 0")
    try:
        if str(path) != ":memory:":
            _forbid_files(con, [] if read_only else [COMPILED, *([reach] if reach else [])])
        check_schema(con, str(path))
        if read_only and not relations(con):
            raise AuditError(f"{path}: holds no attempts; load some with 'budget-audit load'")
        for statement in SANDBOX if sandbox else ():
            con.execute(statement)
    except BaseException:
        con.close()
        raise
    return con


def _set_defaults(con: duckdb.DuckDBPyConnection) -> None:
    """Disable DuckDB's caching operators (a bug in 2.0) and its progress bar."""
    # In DuckDB 2.0 these sometimes fail after small joins: "dict-surviving cache: global
    # dictionary column changed identity". Disabling them costs no measurable time.
    with contextlib.suppress(duckdb.CatalogException):
        con.execute("set debug_enable_caching_operators = false")
    # Under python -c and in a spawned process DuckDB would draw its progress into the output.
    con.execute("set enable_progress_bar = false")


def _forbid_files(con: duckdb.DuckDBPyConnection, folders: Sequence[Path] = ()) -> None:
    """Forbid access to other files, except in the given folders (threat model, c)."""
    if folders:
        reached = ", ".join(literal(str(folder)) for folder in folders)
        con.execute(f"set allowed_directories = [{reached}]")
    con.execute("set enable_external_access = false")


@contextmanager
def open_database(
    path: str | Path, *, write: bool = False, **limits: Any
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection for a block; after an error remove a new file that is still empty."""
    if str(path) == ":memory:":
        raise AuditError("--db :memory: would keep nothing; name a file")
    is_new = not Path(path).exists()
    con = connect(path, read_only=not write, **limits)
    try:
        yield con
    except BaseException:
        # Remove files while they are locked: later they could belong to another run.
        if write:
            _discard_files(con, Path(path), is_new)
        _close_after_error(con)
        raise
    con.close()


def _close_after_error(con: duckdb.DuckDBPyConnection) -> None:
    """Close a connection after an error; interrupt threads that still use it."""
    for _ in range(500):
        try:
            con.close()
            return
        except duckdb.Error:
            con.interrupt()
            time.sleep(0.02)


def _discard_files(con: duckdb.DuckDBPyConnection, path: Path, is_new: bool) -> None:
    """Remove the useless files of a failed run: an empty new database, an empty log."""
    log = Path(f"{path}.wal")
    try:
        is_empty = not relations(con)
    except duckdb.Error:
        is_empty = True  # A full disk has invalidated the connection.
    if is_new and is_empty:
        path.unlink(missing_ok=True)
        log.unlink(missing_ok=True)
    elif log.exists() and not log.stat().st_size:
        log.unlink()


def take_two_thirds(memory: str) -> str:
    """Return two thirds of an amount of memory such as 2GB."""
    number, unit = re.fullmatch(r"([\d.]+) ?(\w+)", memory).groups()  # type: ignore[union-attr]
    return f"{float(number) * 2 / 3:.3f}{unit}"


def _create_file(path: Path, config: dict[str, Any]) -> None:
    """Create an empty database under a temporary name, then link it to its final name."""
    if not path.parent.is_dir():
        raise AuditError(f"{path}: there is no folder {path.parent}; make it first")
    with temporary_path(path) as partial:
        duckdb.connect(str(partial), config=config).close()
        # Unlike a rename, a link never replaces a file that another run has made since. On a file
        # system without links DuckDB creates the file later.
        with contextlib.suppress(OSError):
            os.link(partial, path)


def _remove_leftovers(path: Path) -> None:
    """Remove the temporary files of killed runs, including those that DuckDB spilled."""
    folder = Path(f"{path}.tmp")
    with contextlib.suppress(OSError):
        remove_leftovers(path)
        for spilled in folder.glob("duckdb_temp_*_*"):
            if not is_running(spilled.name.split("_")[2]):
                spilled.unlink()
        folder.rmdir()


def _explain_error(error: duckdb.Error) -> str:
    """Translate DuckDB's error on opening a file into a message with the next step."""
    if "Could not set lock" in str(error):
        lock = re.search(r"held in (.+?) \(PID (\d+)\)", str(error))
        holder = f"process {lock[2]} ({Path(lock[1]).name})" if lock else "another process"
        return f"in use by {holder}; try again when it has ended"
    if "Unique file handle conflict" in str(error) or "different configuration" in str(error):
        return "already open in this program; close that connection, or pass it instead of the file"
    if "newer version of DuckDB" in str(error):
        return (
            f"written by a newer DuckDB than this one ({duckdb.__version__}); "
            "run: pip install --upgrade duckdb"
        )
    return f"cannot be opened: {explain_error(error)}"


def _refuse_unreadable(path: Path) -> None:
    """Refuse a path that is not UTF-8, not a file, or not a DuckDB database (threat model, b)."""
    if not is_utf8(str(path)):
        raise AuditError(f"{path}: DuckDB opens no name that is not UTF-8; rename it")
    if path.exists() and not path.is_file():
        raise AuditError(f"{path}: cannot be opened: not a file; choose another --db")
    # DuckDB would take a CSV or Parquet file for a database and keep nothing.
    if path.is_file() and not is_database(path):
        raise AuditError(f"{path}: cannot be opened: not a DuckDB database; choose another --db")


def is_database(path: Path) -> bool:
    """Return whether a file has the magic bytes of a DuckDB database."""
    with open(path, "rb") as file:
        return file.read(12)[8:] == b"DUCK"


def connect_beside(path: str | Path, **limits: Any) -> duckdb.DuckDBPyConnection:
    """Open a database in memory, with the file at `path` attached read only as `audited`."""
    connect(path, read_only=True).close()
    con = connect(":memory:", **limits)
    _attach(con, path, "read_only")
    _forbid_files(con)
    return con


def cursor(con: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    """Open a second connection to the same schema, which DuckDB's cursor() would forget."""
    ((catalog, schema),) = con.execute("select current_database(), current_schema()").fetchall()
    second = con.cursor()
    second.execute(f"use {quoted(catalog)}.{quoted(schema)}")
    return second


def _attach(con: duckdb.DuckDBPyConnection, path: str | Path, options: str) -> None:
    """Attach a database file as `audited` and make it the default database."""
    con.execute(f"attach {literal(str(path))} as audited ({options})")
    con.execute("use audited")


@contextmanager
def transaction(con: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Commit a block as one transaction; roll back after any exception (threat model, d)."""
    con.execute("begin")
    try:
        yield
    except BaseException:
        # After a full disk the rollback fails too; nothing was written, so ignore it.
        with contextlib.suppress(duckdb.Error):
            con.execute("rollback")
        raise
    con.execute("commit")
