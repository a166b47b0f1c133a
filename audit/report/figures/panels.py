"""What figures with one panel per archive share."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import duckdb

from audit import engine
from audit.errors import AuditError
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures import drawing
from audit.report.figures.drawing import PLAIN, Look
from audit.report.wording import one_line
from audit.rules import order_rules
from audit.text import shortened

# Pixels: a lower panel would show nothing.
LOWEST = 24


class Panel(NamedTuple):
    """One archive's panel in a figure: its rows, size and title, and its position.

    `is_first`: the first panel of its row, which names the vertical axis; `is_last`: in the last
    row.
    """

    archive: str
    rows: list[Row]
    width: int
    is_first: bool
    is_last: bool
    title: Row
    scale: float

    def height(self, most: int) -> int:
        """Return the height in pixels that suits the panel's width, at most `most`."""
        wanted = self.scale * max(min(110, most), min(most, round(0.72 * self.width)))
        return max(LOWEST, round(wanted))


def draw_panels(
    con: duckdb.DuckDBPyConnection,
    name: str,
    rows: Sequence[Row],
    title: str,
    subtitle: str,
    values: Callable[[Panel], Row],
    look: Look = PLAIN,
) -> Row:
    """Return a figure: its template rendered once per archive, with that panel's values."""
    panels = data.group_by_archive(rows)
    columns = _count_columns(len(panels), look)
    width = max(60, min(620, look.width // columns - (12 if look.is_narrow else 62)))
    shared = {"look": look, "rules": rule_domain(rows)}
    charts = []
    for index, (archive, own) in enumerate(panels.items()):
        ends = (index % columns == 0, index + columns >= len(panels))
        panel = Panel(archive, own, width, *ends, _make_title(archive, width, panels), look.scale)
        filled = drawing.fill(name, replayed_unit(con), panel=panel, **shared, **values(panel))
        charts.append(filled)
    return {"concat": charts, "columns": columns, **drawing.frame(con, title, subtitle, look)}


def _count_columns(panels: int, look: Look) -> int:
    """Return how many panels fit side by side and stay readable."""
    if look.is_narrow:
        return 1 if panels == 1 else 2 if panels <= 4 else 3
    columns = panels if panels <= 3 else 2 if panels == 4 else 3 if panels <= 6 else 4
    return max(1, min(columns, look.width // 200))


def _make_title(name: str, width: int, names: Iterable[str]) -> Row:
    """Return the title of an archive's panel, its name shortened to the width."""
    letter = 6.6 if width > 150 else 5.2
    return {
        "text": shortened(one_line(name, 400), max(12, int(width / letter)), list(names)),
        "anchor": "start",
        "fontSize": 12.5 if width > 150 else 9.5,
        "fontWeight": 600,
        "offset": 8 if width > 150 else 3,
        "limit": width + (40 if width > 150 else 20),
    }


def rule_domain(rows: Iterable[Row]) -> list[str]:
    """List the rules in rows, strict and advisory first, so that their colours never change."""
    rules = order_rules({row["rule"] for row in rows if "rule" in row})
    return sorted(rules, key=lambda rule: {"strict": 0, "advisory": 1}.get(rule, 2))


def find_extent(rows: Iterable[Row], column: str) -> tuple[float, float]:
    """Return the smallest and largest value of a column and its intervals."""
    names = (column, f"{column}_low", f"{column}_high")
    values = [row[name] for row in rows for name in names if row.get(name) is not None]
    return (min(values), max(values)) if values else (0.0, 1.0)


def percent_domain(rows: Sequence[Row]) -> list[float]:
    """Return the range of all accuracies, widened to multiples of ten."""
    low, high = find_extent(rows, "accuracy")
    low, high = math.floor(low / 10) * 10, math.ceil(high / 10) * 10
    return [max(0, low), min(100, high)] if high > low else [max(0, low - 10), min(100, high + 10)]


def round_ticks(low: float, high: float) -> list[float]:
    """Return the ticks 1, 2, 5, 10, 20, … between two numbers, for a log axis."""
    ticks = (float(f"{digit}e{power}") for power in range(-9, 16) for digit in (1, 2, 5))
    return [tick for tick in ticks if low <= tick <= high]


def read_rule_lines(con: duckdb.DuckDBPyConnection) -> dict[str, list[Row]]:
    """Read the line of each rule over all budgets, by archive."""
    tables = {name: engine.compute_table(con, name) for name in ("curves", "budget_curve")}
    with data.connect_tables(tables) as own:
        return data.group_by_archive(data.read(own, "rule_lines").to_pylist())


def read_rows(
    con: duckdb.DuckDBPyConnection,
    name: str,
    archives: Sequence[str] | None,
    needs: str = "accuracy",
) -> list[Row]:
    """Read the rows of a table that have a value to draw, for these archives in their order."""
    rows = [row for row in engine.compute_table(con, name).to_pylist() if row[needs] is not None]
    if archives is not None:
        rows = [row for row in rows if row["archive"] in archives]
        rows.sort(key=lambda row: archives.index(row["archive"]))
    if not rows:
        needed = "policies (--policies all), " if name == "policies" else ""
        raise AuditError(
            f"no figure: table {name} has nothing to draw; replay with {needed}at least one random "
            "order (--orders 1) and labelled archives"
        )
    return rows
