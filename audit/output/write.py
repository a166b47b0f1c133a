"""Write rows at full precision to files or text, by DuckDB: csv, json and parquet."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import duckdb
import pyarrow as pa

from audit.database.leftovers import atomic_file
from audit.errors import AuditError, first_line
from audit.text import is_utf8, literal, quoted

Rows: TypeAlias = pa.Table | pa.RecordBatchReader
COPIED = {
    "csv": "format csv, header",
    "json": "format json, array",
    "parquet": "format parquet, compression zstd",
}


def write_rows(rows: Rows, path: Path, fmt: str) -> None:
    """Write rows to a file, which appears only when it is complete."""
    if not is_utf8(str(path)):
        raise AuditError(f"{path}: DuckDB writes no name that is not UTF-8; rename it")
    with atomic_file(path) as partial:
        try:
            _copy_rows(rows, partial, fmt)
        except duckdb.IOException as error:
            raise AuditError(f"cannot write {path}: {first_line(error)}") from None


def rows_as_text(rows: Rows, fmt: str) -> str:
    """Return rows as csv or json."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "rows")
        _copy_rows(rows, path, fmt)
        return path.read_bytes().decode()


def _copy_rows(rows: Rows, path: Path, fmt: str) -> None:
    with duckdb.connect() as con:
        con.register("written_rows", rows)
        relation = con.table("written_rows")
        cells = ", ".join(
            f"{_write_cell_sql(quoted(name), kind, fmt)} as {quoted(name)}"
            for name, kind in zip(relation.columns, map(str, relation.types), strict=True)
        )
        con.execute(
            f"copy (select {cells} from written_rows) to {literal(str(path))} ({COPIED[fmt]})"
        )


def _write_cell_sql(name: str, kind: str, fmt: str) -> str:
    """Write the SQL of a column: nested values as JSON in CSV, NaN as null in JSON."""
    if fmt == "csv" and (kind.endswith("]") or kind.startswith(("STRUCT", "MAP"))):
        return f"{name}::json"
    if fmt == "json" and kind in ("DOUBLE", "FLOAT"):
        return f"if(isfinite({name}), {name}, null)"
    return name
