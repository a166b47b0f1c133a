"""Views on files and tables for a select, on a connection that reaches nothing else."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb

from audit.database.connection import EXTENSION_SETTINGS, SANDBOX
from audit.errors import AuditError, explain_error
from audit.sources.containers import GZIP_MAGIC, LONGEST_LINE, ZIP_MAGIC, sniff
from audit.sources.files import SourceFile
from audit.text import literal, quoted

# DuckDB keeps two buffers of this size a thread: longer objects are read when they are met.
USUAL_OBJECT = 16_000_000
# No text becomes a date: an answer such as 12:30 has to stay as it is written.
JSON_OPTIONS = "dateformat = '@', timestampformat = '@', sample_size = -1"
CSV_OPTIONS = (
    "sample_size = -1, auto_type_candidates = ['BOOLEAN', 'BIGINT', 'DOUBLE', 'VARCHAR'], "
    "header = true"
)
# DuckDB's error for a file that has a column `filename` itself.
OWN_NAME = "Option filename adds column"
DATES = re.compile(r"date|time|timestamp.*|time with.*|uuid|interval")


@dataclass(frozen=True)
class Argument:
    """One argument of a load: its files, or a table that Python handed over."""

    files: Sequence[SourceFile]
    table: Any = None


@contextmanager
def open_views(
    arguments: Sequence[Argument], limits: Mapping[str, Any]
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a connection with a view for each argument: `source`, or `source_1`, `source_2`, …"""
    config = dict.fromkeys(EXTENSION_SETTINGS, False) | dict(limits)
    with duckdb.connect(config=config) as con:
        names = name_views(len(arguments))
        for name, argument in zip(names, arguments, strict=True):
            if argument.table is not None:
                con.register(name, argument.table)
            else:
                con.execute(f"create view {name} as {_write_files_sql(con, argument.files)}")
        paths = [os.fspath(file.path) for argument in arguments for file in argument.files]
        allowed = ", ".join(literal(path) for path in paths)
        con.execute(f"set allowed_paths = [{allowed}]")
        con.execute("set enable_external_access = false")
        for statement in SANDBOX:
            con.execute(statement)
        yield con


def connect_offline(threads: int) -> duckdb.DuckDBPyConnection:
    """Open an in-memory database without access to files, network or extensions."""
    offline: dict[str, Any] = dict.fromkeys((*EXTENSION_SETTINGS, "enable_external_access"), False)
    con = duckdb.connect(config=offline | {"threads": threads})
    for statement in SANDBOX:
        con.execute(statement)
    return con


def name_views(count: int) -> list[str]:
    """Return the names of the views of `count` arguments: source, or source_1, source_2, …"""
    return ["source"] if count == 1 else [f"source_{number}" for number in range(1, count + 1)]


def _write_files_sql(con: duckdb.DuckDBPyConnection, files: Sequence[SourceFile]) -> str:
    """Return the select of all files of an argument, a union by column names."""
    groups: dict[tuple[str, bool], list[SourceFile]] = {}
    for file in files:
        container = sniff(file).container
        if _has_magic(file, ZIP_MAGIC):
            raise file.error("is a zip archive, which a select cannot read: unpack it")
        kind = "json" if container == "jsonl" else container
        groups.setdefault((kind, _has_magic(file, GZIP_MAGIC)), []).append(file)
    selects = []
    for (kind, is_gzip), members in groups.items():
        try:
            selects.append(_write_group_sql(con, kind, is_gzip, members, ", filename = true"))
        except AuditError as error:
            if OWN_NAME not in str(error):
                raise
            selects.append(_write_group_sql(con, kind, is_gzip, members, ""))
    return " union all by name ".join(selects)


def _has_magic(file: SourceFile, magic: bytes) -> bool:
    with open(file.path, "rb") as stream:
        return stream.read(len(magic)) == magic


def _write_group_sql(
    con: duckdb.DuckDBPyConnection,
    kind: str,
    is_gzip: bool,
    files: Sequence[SourceFile],
    named: str,
) -> str:
    """Return the select of files of one container, with types inferred from all values."""
    paths = ", ".join(literal(os.fspath(file.path)) for file in files)
    listed = f"[{paths}], union_by_name = true{named}"
    if kind == "parquet":
        _read_columns(con, f"read_parquet({listed})", files)
        return f"select * from read_parquet({listed})"
    if is_gzip:
        listed += ", compression = 'gzip'"
    if kind == "csv":
        read = f"read_csv({listed}, {CSV_OPTIONS})"
        _read_columns(con, read, files)
        return f"select * from {read}"
    for size in (USUAL_OBJECT, LONGEST_LINE):
        sized = f"{listed}, maximum_object_size = {size}"
        try:
            columns = _read_columns(con, f"read_json({sized}, {JSON_OPTIONS})", files)
        except _TooLong:
            continue
        fields = ", ".join(f"{literal(name)}: {literal(type)}" for name, type in columns.items())
        return f"select * from read_json({sized}, {JSON_OPTIONS}, columns = {{{fields}}})"
    raise files[0].error(f"holds an object longer than {LONGEST_LINE // 1_000_000} MB")


class _TooLong(Exception):
    """An object that is longer than the buffer."""


def _read_columns(
    con: duckdb.DuckDBPyConnection, read: str, files: Sequence[SourceFile]
) -> dict[str, str]:
    """Return the columns of a table function and their SQL types; dates stay texts."""
    try:
        relation = con.sql(f"select * from {read}")
        columns = dict(zip(relation.columns, map(write_type, relation.types), strict=True))
        if "filename = true" in read:
            columns.pop("filename")
        return columns
    except duckdb.Error as error:
        if "maximum_object_size" in str(error):
            raise _TooLong from None
        name = files[0].shown_name if len(files) == 1 else f"{len(files):,} files"
        raise AuditError(f"{name}: cannot be read: {shorten_error(error)}") from None


def write_type(type: Any) -> str:
    """Return a DuckDB type in SQL, with varchar instead of dates and times."""
    if type.id in ("list", "array"):
        return f"{write_type(type.children[0][1])}[]"
    if type.id == "map":
        return "map({}, {})".format(*(write_type(child) for _, child in type.children))
    if type.id == "struct":
        fields = (f"{quoted(name)} {write_type(child)}" for name, child in type.children)
        return f"struct({', '.join(fields)})"
    return "varchar" if DATES.fullmatch(type.id) else str(type)


def shorten_error(error: Exception) -> str:
    """Return the message of a DuckDB error in one line, without the excerpt of the query."""
    if type(error).__name__ == "OutOfMemoryException":
        return explain_error(error)
    words = str(error).partition("\nLINE ")[0].partition("\nTry increasing")[0]
    return " ".join(words.split())[:600]
