"""Read the rows of a select as chunks."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from audit.errors import AuditError
from audit.sources.files import Chunk, SourceFile
from audit.sources.formats import as_references, as_text
from audit.sources.readers import chunks as limits
from audit.sources.views import shorten_error

FILENAME = "filename"
BATCH_ROWS = 256


@dataclass(frozen=True)
class Select:
    """The text of a select, and its name in messages."""

    name: str
    text: str

    def error(self, what: str) -> AuditError:
        """Return an error in one line that begins with the name of this select."""
        return AuditError(f"{self.name}: {what}")


def read_relation(
    con: duckdb.DuckDBPyConnection, select: Select, views: Sequence[str]
) -> duckdb.DuckDBPyRelation:
    """Bind the text of a select; refuse anything but one select statement."""
    try:
        statements = con.extract_statements(select.text)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise select.error(f"must be one select and nothing else, found {len(statements)}")
        return con.sql(statements[0])
    except (duckdb.Error, ValueError) as error:
        raise _explain_mistake(select, error, views) from None


def _explain_mistake(select: Select, error: Exception, views: Sequence[str]) -> AuditError:
    """Return the error of a select; add what it may read where it reads something else."""
    words = shorten_error(error)
    if isinstance(error, duckdb.PermissionException | duckdb.CatalogException):
        words += f"; it may read {', '.join(views)} and nothing else"
    return select.error(words)


def read_chunks(
    stack: ExitStack,
    select: Select,
    relation: duckdb.DuckDBPyRelation,
    files: Sequence[SourceFile],
) -> Iterator[Chunk]:
    """Yield the rows of a select as chunks, with the file of each row if it selects filename."""
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    numbers = {str(file.path): number for number, file in enumerate(files)}
    row = 0
    with stack:
        for batch in read_batches(select, relation):
            values = {name: decode(name, type, batch.column(name)) for name, type in types.items()}
            paths = values.pop(FILENAME, None)
            places: list[int | None] = [0 if len(files) == 1 else None] * batch.num_rows
            if paths is not None:
                places = [numbers.get(str(path)) for path in paths.to_pylist()]
            rows = range(row + 1, row + batch.num_rows + 1)
            row += batch.num_rows
            names = tuple(None if at is None else files[at].name for at in places)
            yield Chunk(values, rows, 0, files=places, names=names if paths is not None else ())
    if not row:
        raise select.error("returns no rows")


def read_batches(select: Select, relation: duckdb.DuckDBPyRelation) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a select in record batches as large as a chunk."""
    pending: list[pa.RecordBatch] = []
    rows = size = 0
    try:
        for batch in relation.to_arrow_reader(BATCH_ROWS):
            pending.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= limits.CHUNK_ROWS or size > limits.CHUNK_BYTES:
                yield from pa.Table.from_batches(pending).combine_chunks().to_batches()
                pending, rows, size = [], 0, 0
    # A stream of Arrow raises what DuckDB says of a value as an OSError.
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise select.error(shorten_error(error)) from None
    if rows:
        yield from pa.Table.from_batches(pending).combine_chunks().to_batches()


def decode(name: str, type: str, values: Any) -> Any:
    """Decode a column of JSON values; convert numbers of answers and references to text."""
    if type == "JSON":
        values = json.loads(f"[{','.join(text or 'null' for text in _as_list(values))}]")
    elif name == "archive_answer" or (name == "references" and not type.endswith("[]")):
        values = _as_list(values)
    else:
        return values
    read = {"archive_answer": as_text, "references": as_references}.get(name)
    return [read(value) for value in values] if read else values


def _as_list(values: Any) -> Any:
    return values.to_pylist() if isinstance(values, pa.Array) else values
