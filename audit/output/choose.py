"""A few columns of a table, sorted, and not all of its rows."""

from collections.abc import Sequence

import pyarrow as pa

from audit.errors import AuditError


def choose(
    table: pa.Table,
    columns: Sequence[str] = (),
    sort: Sequence[str] = (),
    limit: int | None = None,
) -> pa.Table:
    """The columns wanted, with their intervals, sorted by columns (-name: largest first)."""
    for name in [*columns, *(key.removeprefix("-") for key in sort)]:
        if name not in table.column_names:
            raise AuditError(f"no column '{name}'; there are {', '.join(table.column_names)}")
    if sort:
        keys = [
            (key.removeprefix("-"), "descending" if key.startswith("-") else "ascending")
            for key in sort
        ]
        # The sort is stable: rows that are alike stay as they were.
        table = table.sort_by(keys)
    if columns:
        selected = []
        for name in columns:
            bounds = [f"{name}_{end}" for end in ("low", "high")]
            selected += [name, *(bound for bound in bounds if bound in table.column_names)]
        table = table.select(list(dict.fromkeys(selected)))
    return table if limit is None else table.slice(0, limit)
