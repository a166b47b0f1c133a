"""Open a select as a source: its columns are canonical, its rows are attempts."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.options import Reading, is_table
from audit.sources.canonical import COLUMNS, find_column
from audit.sources.files import Chunk, Source, SourceFile, excerpt, find_files
from audit.sources.formats import REASONING
from audit.sources.readers.selected import FILENAME, Select, read_chunks, read_relation
from audit.sources.stand_ins import fill_missing, settle_failed
from audit.sources.unused import keep_unselected
from audit.sources.views import Argument, name_views, open_views

# Options that name columns or files, which a select does itself.
SAID_BY_SELECT = ("format", "mapping", "explode", "runs", "skip_unreadable")


def read_select(file_or_text: str) -> Select:
    """Read the select of an option: the content of a .sql file, or the text itself."""
    if "\n" in file_or_text or not file_or_text.strip().lower().endswith(".sql"):
        return Select("--sql", file_or_text)
    path = Path(file_or_text)
    try:
        return Select(path.name, path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise AuditError(f"--sql {path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise AuditError(f"--sql {path}: is not UTF-8 text") from None


def is_selected(sources: Sequence[Any], reading: Reading) -> bool:
    """Tell whether a select reads the sources: one was named, or a source is a table."""
    return reading.sql is not None or any(map(is_table, sources))


def read_arguments(sources: Sequence[Any]) -> list[Argument]:
    """Find the files, or convert the table, of each source of a select."""
    arguments = []
    names = name_views(len(sources))
    for name, source in zip(names, sources, strict=True):
        if not is_table(source):
            arguments.append(Argument(find_files([source])))
            continue
        table = _convert_table(source)
        file = SourceFile(Path(name), name, table.nbytes, table=table)
        arguments.append(Argument([file], table))
    return arguments


def _convert_table(source: Any) -> pa.Table:
    """Copy a relation, an Arrow table or a data frame to an Arrow table."""
    if isinstance(source, duckdb.DuckDBPyRelation):
        return source.to_arrow_table()
    if isinstance(source, pa.Table):
        return source
    with duckdb.connect() as con:
        con.register("frame", source)
        return con.sql("from frame").to_arrow_table()


def check_options(reading: Reading) -> None:
    """Refuse options that a select replaces, such as --map."""
    for name in SAID_BY_SELECT:
        if getattr(reading, name):
            flag = "--map" if name == "mapping" else f"--{name.replace('_', '-')}"
            raise AuditError(f"{flag} and --sql exclude each other: write it in the select")


def open_select(
    arguments: Sequence[Argument], reading: Reading, con: duckdb.DuckDBPyConnection
) -> Source:
    """Open the select of --sql, or of all columns, as a source; `con` gives the resource limits."""
    check_options(reading)
    select = read_select("select * from source" if reading.sql is None else reading.sql)
    settings = {name: _read_setting(con, name) for name in ("threads", "memory_limit")}
    stack = ExitStack()
    try:
        views = stack.enter_context(open_views(arguments, settings))
        relation = read_relation(views, select, name_views(len(arguments)))
        names = relation.columns
        _check_names(select, names)
        files = [file for argument in arguments for file in argument.files]
        chunks = read_chunks(stack, select, relation, files)
        facts = Counter[str]()
        kept: dict[str, str] = {}
        for view in name_views(len(arguments)):
            keep_unselected(views, view, select.text, kept, facts)
    except BaseException:
        stack.close()
        raise
    has = f"it selects {', '.join(map(str, names))}"
    text = select.text.strip()
    mapping = {name: name for name in names if find_column(name)}
    mapping |= {"sql": text, "sql_sha256": hashlib.sha256(text.encode()).hexdigest()}
    options = {"archive": reading.archive, "competition": reading.competition}
    constants = {name: value for name, value in options.items() if value is not None}
    source = Source(
        SourceFile(Path(select.name), select.name, 0),
        "sql",
        mapping | kept | {name: f"--{name}" for name in constants},
        _add_constants(chunks, constants),
        title="a select",
        has=has,
        notes=facts,
        has_problem_names="question_id" in names,
    )
    return settle_failed(fill_missing(source, reading), reading)


def _read_setting(con: duckdb.DuckDBPyConnection, name: str) -> Any:
    return con.execute("select current_setting(?)", [name]).fetchall()[0][0]


def _check_names(select: Select, names: Sequence[str]) -> None:
    """Refuse columns that are not canonical or occur twice."""
    for at, name in enumerate(names):
        if name in names[:at]:
            raise select.error(f"column {excerpt(name)} occurs twice")
        if find_column(name) is None and name not in (FILENAME, REASONING):
            known = ", ".join(COLUMNS)
            raise select.error(
                f"{excerpt(name)} is no canonical column; they are {known}, score_NAME and filename"
            )


def _add_constants(chunks: Iterator[Chunk], constants: Mapping[str, str]) -> Iterator[Chunk]:
    """Yield the chunks with constant columns, such as of --archive."""
    for chunk in chunks:
        same = {name: [value] * len(chunk.rows) for name, value in constants.items()}
        yield replace(chunk, values={**chunk.values, **same})
