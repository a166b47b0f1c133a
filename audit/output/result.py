"""The result of a public function: an Arrow table with notes, which prints as text or HTML."""

import html
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from audit.errors import AuditError
from audit.output.display import display_columns, format_table
from audit.text import visible

ROWS_SHOWN = 40


class Text(str):
    """Text that a notebook shows without quotes and escapes."""

    def __repr__(self) -> str:
        """Return the text itself."""
        return str(self)


class Result:
    """Rows at full precision; displayed, they are rounded as the study prints them.

    `name` is the table's, `caption` one line about the whole, and `notes` say what the numbers
    rest on: whether the data are simulated, how answers, costs and labels were obtained.
    """

    def __init__(
        self,
        table: pa.Table,
        name: str | None = None,
        *,
        caption: str = "",
        notes: Sequence[str] = (),
    ) -> None:
        self._table = table
        self.name = name
        self.caption = caption
        self.notes = tuple(note for note in notes if note)

    @property
    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        return list(self._table.column_names)

    @property
    def num_rows(self) -> int:
        """Return how many rows there are."""
        return self._table.num_rows

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        return self._table

    def to_pylist(self) -> list[dict[str, Any]]:
        """Return the rows as a list of dictionaries."""
        return self._table.to_pylist()

    def to_pydict(self) -> dict[str, list[Any]]:
        """Return the columns as a dictionary of lists."""
        return self._table.to_pydict()

    def to_pandas(self) -> Any:
        """Return the rows as a pandas data frame; pandas must be installed."""
        try:
            return self._table.to_pandas()
        except ModuleNotFoundError:
            raise AuditError("to_pandas needs pandas: pip install pandas") from None

    def to_polars(self) -> Any:
        """Return the rows as a Polars data frame; Polars must be installed."""
        try:
            import polars
        except ModuleNotFoundError:
            raise AuditError("to_polars needs Polars: pip install polars") from None
        return polars.from_arrow(self._table)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows for any library that takes Arrow streams."""
        return self._table.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._table.num_rows

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the rows, each a dictionary."""
        for batch in self._table.to_batches(max_chunksize=10_000):
            yield from batch.to_pylist()

    def __getitem__(self, column: str) -> pa.ChunkedArray:
        """Return one column."""
        return self._table[column]

    def __eq__(self, other: object) -> bool:
        """Return whether the other holds the same rows."""
        if isinstance(other, Result):
            return self._table.equals(other._table)
        return self._table.equals(other) if isinstance(other, pa.Table) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_text(self, fmt: str = "table", *, width: int | None = None) -> str:
        """Return the rows as text: table, csv, json, md, tex or, for checks, junit.

        `width` is that of a terminal.
        """
        if fmt == "junit" and self.name == "check":
            from audit.output.junit import junit

            return junit(self.to_pylist())
        return format_table(self._table, fmt, self.name, width=width)

    def __repr__(self) -> str:
        """Return the first rows as a terminal shows them."""
        width = shutil.get_terminal_size((100, 24)).columns
        first = format_table(self._table.slice(0, ROWS_SHOWN), "table", self.name, width=width)
        return _remove_styles(first) + "\n".join(self._footer_lines())

    def _footer_lines(self) -> list[str]:
        """Return the lines printed below the rows: how many are hidden, caption, notes."""
        rows = self._table.num_rows
        more = f"… {min(rows, ROWS_SHOWN):,} of {rows:,} rows" if rows > ROWS_SHOWN else ""
        return [visible(line) for line in (more, self.caption, *self.notes) if line]

    def _repr_html_(self) -> str:
        """Return the first rows as a notebook shows them."""
        shown = self._table.slice(0, ROWS_SHOWN)
        columns = display_columns(self.name, shown)

        def row(tag: str, cells: Iterable[str]) -> str:
            return "".join(
                f'<{tag} style="text-align:{"right" if column.numeric else "left"}">'
                f"{html.escape(visible(cell))}</{tag}>"
                for column, cell in zip(columns, cells, strict=True)
            )

        head = row("th", (column.header for column in columns))
        rows = zip(*(column.cells for column in columns), strict=True)
        body = "".join(f"<tr>{row('td', cells)}</tr>" for cells in rows)
        below = "".join(f"<div>{html.escape(line)}</div>" for line in self._footer_lines())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _remove_styles(text: str) -> str:
    """Remove colour codes, and the hint at --wide, which only the command line has."""
    return re.sub(r"\x1b\[\d*m", "", text).replace("; --wide shows all", "")
