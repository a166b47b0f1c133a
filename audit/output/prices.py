"""Cost tables with money beside tokens; the tables themselves stay as they are."""

import csv
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit import engine
from audit.errors import AuditError

Row = dict[str, Any]
# A cell in money, from its row and what replays cost.
Formula = Callable[[Row, "Book"], float]

PRICE_COLUMNS = ("archive", "input", "output")
MILLION = 1_000_000


class Prices(NamedTuple):
    """Money per million prompt and completion tokens, in the user's currency.

    With a price for cached input, every prompt of a replay after the first costs that. Archives
    with prices of their own have them in `by_archive`.
    """

    input: float | None
    output: float | None
    cached_input: float | None = None
    by_archive: Mapping[str, "Prices"] = MappingProxyType({})
    file: str = ""

    def of(self, archive: str) -> "Prices":
        """The prices of one archive."""
        if archive in self.by_archive:
            return self.by_archive[archive]
        if self.input is None or self.output is None:
            raise AuditError(
                f"{self.file}: no price for archive '{archive}'; add a row, or give --price-input "
                "and --price-output for the archives that it does not name"
            )
        return self

    def replay(self, replays: int, prompts: int, first_prompts: int, completions: int) -> float:
        """The mean price of replays with these tokens in all."""
        assert self.input is not None and self.output is not None
        paid = self.input * prompts
        if self.cached_input is not None:
            paid = self.input * first_prompts + self.cached_input * (prompts - first_prompts)
        return (paid + self.output * completions) / replays / MILLION


def prices(
    price_input: float | None, price_output: float | None, file: str | Path | None = None
) -> Prices | None:
    """Both prices, a file of prices by archive, or none; one price alone would leave out a part."""
    if price_input is None and price_output is None and file is None:
        return None
    if (price_input is None) != (price_output is None):
        raise AuditError("--price-input and --price-output go together; give both, or 0 for one")
    for option, price in (("--price-input", price_input), ("--price-output", price_output)):
        if price is not None:
            _checked(price, option)
    if file is None:
        return Prices(price_input, price_output)
    return Prices(price_input, price_output, None, read_prices(Path(file)), str(file))


def _checked(price: float, where: str) -> float:
    if not math.isfinite(price) or price < 0:
        raise AuditError(f"{where} {price:g}: a price is a number of 0 or more")
    return price


def read_prices(path: Path) -> dict[str, Prices]:
    """Prices by archive from a CSV: archive, input, output and, if wanted, cached_input."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file, strict=True))
    except OSError as error:
        raise AuditError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise AuditError(f"{path}: not readable as CSV: {error}") from None
    layout = f"use the columns {','.join(PRICE_COLUMNS)} and, if wanted, cached_input"
    if not rows:
        raise AuditError(f"{path}: holds no price; {layout}")
    lacking = [name for name in PRICE_COLUMNS if name not in rows[0]]
    if lacking:
        raise AuditError(f"{path}: lacks the column {lacking[0]}; {layout}")
    found: dict[str, Prices] = {}
    for number, row in enumerate(rows, 2):
        where = f"{path}, row {number}"
        if row["archive"] in found:
            raise AuditError(f"{where}: archive '{row['archive']}' stands there twice")
        values = [_price(row, name, where) for name in ("input", "output")]
        cached = _price(row, "cached_input", where) if (row.get("cached_input") or "") else None
        found[row["archive"]] = Prices(values[0], values[1], cached)
    return found


def _price(row: Mapping[str, str | None], name: str, where: str) -> float:
    try:
        return _checked(float(row[name] or ""), f"{where}, {name}")
    except ValueError:
        raise AuditError(f"{where}: {name} {row[name]!r} is not a number") from None


def _rule(rule: str, budget: str = "budget") -> Formula:
    return lambda row, book: book.replay(row["archive"], row[budget], rule)


class Book:
    """What replays cost in money; the tokens are read when they are first asked for."""

    def __init__(self, con: duckdb.DuckDBPyConnection, prices: Prices, rows: list[Row]) -> None:
        self.con, self.prices, self.rows = con, prices, rows
        self.read: dict[str, dict[tuple[Any, ...], float]] = {}

    def token(self, archive: str) -> float:
        """The price of one completion token."""
        return (self.prices.of(archive).output or 0.0) / MILLION

    def replay(self, archive: str, budget: int, rule: str) -> float:
        """The mean price of an archive's replays."""
        return self._priced("priced_replays")[archive, budget, rule]

    def compared(self, archive: str, other: str, budget: int, rule: str) -> float:
        """The mean price of an archive's replays of the problems that the other has too."""
        return self._priced("priced_comparisons")[archive, other, budget, rule]

    def policy(self, archive: str, policy: str, budget: int, rule: str) -> float:
        """The mean price of an archive's replays under a policy."""
        return self._priced("priced_policies")[archive, policy, budget, rule]

    def _priced(self, relation: str) -> dict[tuple[Any, ...], float]:
        if relation not in self.read:
            found = self.con.execute(engine.render(relation)).fetchall()
            # The last four columns are tokens, those before them the key.
            self.read[relation] = {
                row[:-4]: self.prices.of(row[0]).replay(*row[-4:]) for row in found
            }
        return self.read[relation]

    def matched(self, row: Row) -> float:
        """The mean price at a strict budget that was found and not replayed."""
        if "matched" not in self.read:
            asked = [{"archive": r["archive"], "budget": r["strict_budget"]} for r in self.rows]
            sql = engine.render("prompts_at_budget")
            found = self.con.execute(sql, {"asked": asked}).fetchall()
            self.read["matched"] = {
                (archive, budget): self.prices.of(archive).replay(replays, prompts, first, 0)
                for archive, budget, replays, prompts, first in found
            }
        archive = row["archive"]
        prompts = self.read["matched"][archive, row["strict_budget"]]
        return prompts + row["strict_cost"] * self.token(archive)


# The columns that a price adds, at the end. Both rules launch the same attempts, so prompts drop
# out of a difference at the same budget, and a cut prefix holds completion tokens only.
COLUMNS: dict[str, dict[str, Formula]] = {
    "main": {"strict_price": _rule("strict"), "advisory_price": _rule("advisory")},
    "curves": {"price": lambda row, book: book.replay(row["archive"], row["budget"], row["rule"])},
    "cost_comparisons": {
        "advisory_price": _rule("advisory", "advisory_budget"),
        "strict_price": _rule("strict", "strict_budget"),
        "price_difference": lambda row, book: (
            book.replay(row["archive"], row["advisory_budget"], "advisory")
            - book.replay(row["archive"], row["strict_budget"], "strict")
        ),
    },
    "prefix_cost": {
        "prefix_price": lambda row, book: row["prefix_cost"] * book.token(row["archive"])
    },
    "length_strata": {
        "extra_price": lambda row, book: row["extra_cost"] * book.token(row["archive"])
    },
    "matched_cost": {
        "advisory_price": _rule("advisory", "advisory_budget"),
        "strict_price": lambda row, book: book.matched(row),
    },
    "archive_comparisons": {
        "price": lambda row, book: book.compared(
            row["archive"], row["other"], row["budget"], row["rule"]
        ),
        "other_price": lambda row, book: book.compared(
            row["other"], row["archive"], row["budget"], row["rule"]
        ),
    },
    "policies": {
        "price": lambda row, book: book.policy(
            row["archive"], row["policy"], row["budget"], row["rule"]
        )
    },
}


def table(con: duckdb.DuckDBPyConnection, name: str, prices: Prices | None = None) -> pa.Table:
    """One table of the study; with prices, a cost table has columns in money too."""
    rows = engine.table(con, name)
    if prices is None or name not in COLUMNS:
        return rows
    plain = rows.to_pylist()
    book = Book(con, prices, plain)
    for column, formula in COLUMNS[name].items():
        values = [formula(row, book) for row in plain]
        rows = rows.append_column(column, pa.array(values, pa.float64()))
    return rows
