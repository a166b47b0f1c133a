"""Read prices by archive from a CSV, as whole millionths of money per million tokens."""

import csv
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

import duckdb

from audit.errors import AuditError
from audit.options import Settings
from audit.text import visible

# Columns of a file of prices; cached_input is optional, where cached prompts cost less.
REQUIRED = ("archive", "input", "output")
COLUMNS = (*REQUIRED, "cached_input")
LAYOUT = "write the columns archive,input,output and, if wanted, cached_input"
NO_PRICES = "none"
MILLIONTHS = 10**6
# A price above this is a mistake, and its products could not be summed exactly.
LARGEST = 10**6

# An archive, and what a million prompt, cached prompt and completion tokens cost in millionths.
Price = tuple[str, int, int, int]


def read_prices(file: str | Path) -> tuple[Price, ...]:
    """Read the prices of a file, sorted by archive; refuse an invalid row and name it.

    `none`, or an empty name, forgets the prices of an earlier replay.
    """
    if str(file) in ("", NO_PRICES):
        return ()
    path = Path(file)
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            header, *rows = list(csv.reader(stream, strict=True)) or [[]]
    except OSError as error:
        raise AuditError(f"--prices {path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, csv.Error) as error:
        raise AuditError(f"--prices {path}: not readable as CSV: {error}") from None
    names = [name.strip() for name in header]
    for name in names:
        if name not in COLUMNS or names.count(name) > 1:
            what = "stands there twice" if name in COLUMNS else "is not a price column"
            raise AuditError(f"--prices {path}: column '{name}' {what}; {LAYOUT}")
    for name in REQUIRED:
        if name not in names:
            raise AuditError(f"--prices {path}: lacks the column {name}; {LAYOUT}")
    prices: dict[str, Price] = {}
    for number, cells in enumerate(rows, 2):
        if not cells:
            continue
        where = f"--prices {path}, row {number}"
        if len(cells) != len(names):
            raise AuditError(
                f"{where}: has {len(cells)} cells for {len(names)} columns; decimals take a point"
            )
        row = dict(zip(names, cells, strict=True))
        if row["archive"] in prices:
            raise AuditError(f"{where}: archive '{row['archive']}' stands there twice")
        paid = _parse_price(row["input"], "input", where)
        cached = row.get("cached_input", "").strip()
        prices[row["archive"]] = (
            row["archive"],
            paid,
            _parse_price(cached, "cached_input", where) if cached else paid,
            _parse_price(row["output"], "output", where),
        )
    if not prices:
        raise AuditError(f"--prices {path}: holds no price; {LAYOUT}")
    return tuple(prices[name] for name in sorted(prices))


def find_price_notes(prices: Sequence[Price]) -> list[str]:
    """Warn of archives with cached tokens dearer than others, as a decimal comma makes them."""
    dear = [archive for archive, paid, cached, _ in prices if cached > paid]
    return [
        f"--prices: cached tokens of archive {visible(archive)} cost more than others; is that "
        "meant? Decimals take a point"
        for archive in dear
    ]


def _parse_price(text: str, name: str, where: str) -> int:
    """Convert the text of a price to whole millionths; refuse one that is not exact."""
    try:
        price = Decimal(text.strip())
    except InvalidOperation:
        price = Decimal("nan")
    if not price.is_finite():
        raise AuditError(f"{where}: {name} '{text}' is not a number")
    if not 0 <= price <= LARGEST:
        raise AuditError(f"{where}: {name} {text}: a price is a number from 0 to {LARGEST:,}")
    counted = price * MILLIONTHS
    if counted != counted.to_integral_value():
        raise AuditError(f"{where}: {name} {text}: a price has at most six decimals")
    return int(counted)


def require_prices(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Refuse prices without a row for some archive of the replay."""
    if not settings.prices:
        return
    rows = con.execute(
        "select distinct archive from replayed_problems anti join prices using (archive) order by 1"
    ).fetchall()
    if rows:
        raise AuditError(
            f"--prices: no price for archive {visible(rows[0][0])}"
            f"{f' and {len(rows) - 1:,} more' if rows[1:] else ''}; the file must name every "
            "archive of the replay"
        )


# What a unit reads of records, and what to do where they lack it.
NEEDED = {
    "money": "load what was billed (--map money=PATH) or give --prices FILE",
    "seconds": "load how long it took (--map seconds=PATH), or choose another --unit",
}


def require_costs(con: duckdb.DuckDBPyConnection, settings: Settings) -> None:
    """Refuse a replay in a unit in which some attempt has no cost."""
    if settings.unit not in NEEDED:
        return
    rows = con.execute(
        """
        select archive, count(distinct (bank_id, slot)) filter (cost is null) as unknown,
            count(distinct (bank_id, slot))
        from step_costs
        inner join banks using (bank_id)
        inner join archives using (archive_id)
        group by archive
        having unknown > 0
        order by archive
        """
    ).fetchall()
    if rows:
        archive, unknown, attempts = rows[0]
        raise AuditError(
            f"--unit {settings.unit}: {unknown:,} of {attempts:,} attempts of archive "
            f"{visible(archive)} have no {settings.unit}; {NEEDED[settings.unit]}"
        )
