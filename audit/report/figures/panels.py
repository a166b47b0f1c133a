"""What figures with one panel per archive share."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import duckdb

from audit.errors import AuditError
from audit.output.display import budget_name
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures import drawing
from audit.report.figures.drawing import COLOURS, PLAIN, Look
from audit.report.wording import one_line, with_interval
from audit.text import shortened
from audit.units import Unit, write_digits

RULE_COLOURS = (*list(COLOURS.values())[:4], "#E69F00", "#56B4E9")
RULE_SHAPES = ("square", "circle", "triangle-up", "diamond", "cross", "triangle-down")
# What a tooltip calls a column, where not by its name.
TITLES = {
    "stratum": "half",
    "budget": "budget B",
    "accuracy": "accuracy, %",
    "cost": "mean cost, {many}",
    "cost_ratio": "cost / B",
    "delta": "change, points",
    "extra_cost": "extra {many}",
}
WITH_INTERVALS, COSTS = ("accuracy", "delta", "cost_ratio"), ("cost", "extra_cost")
# Columns that a tooltip shows as people write them.
IN_WORDS = ("budget", *WITH_INTERVALS, *COSTS)


class Panel(NamedTuple):
    """One archive's place in a figure: its rows, its width, its title, and where it stands.

    Only the first panel of a row names its vertical axis; `is_last` is one of the last row.
    """

    archive: str
    rows: list[Row]
    width: int
    is_first: bool
    is_last: bool
    title: Row
    scale: float

    def height(self, most: int) -> int:
        """Return the height of a panel: a narrow one is lower."""
        return round(self.scale * max(min(110, most), min(most, round(0.72 * self.width))))


class Sheet(NamedTuple):
    """What a figure is drawn from: rows to draw, other tables, the unit, and how it is set.

    `words` holds what this figure calls itself instead of its usual title and caption.
    """

    con: duckdb.DuckDBPyConnection
    unit: Unit
    look: Look
    rows: list[Row]
    computed: data.Computed | None
    words: dict[str, str]

    def table(self, name: str) -> list[Row]:
        """Return the rows of another table."""
        return data.rows(self.con, name, self.computed)

    def tips(self, *names: str, **own: str) -> list[Row]:
        """Return a tooltip: columns by their usual titles, then some by titles of their own."""
        titles = {name: TITLES.get(name, name).format(many=self.unit.many) for name in names} | own
        shown = {name: f"shown_{name}" for name in IN_WORDS}
        return [
            {"field": shown.get(name, name), "type": "nominal", "title": title}
            for name, title in titles.items()
        ]


@dataclass(frozen=True)
class PanelFigure:
    """A figure of a table with a panel per archive, each of which its template draws.

    `make` gives the subtitle, and what the template needs of a panel.
    """

    table: str
    title: str
    make: Callable[[Sheet], tuple[str, Callable[[Panel], Row]]]
    needs: str = "accuracy"

    def __call__(
        self,
        con: duckdb.DuckDBPyConnection,
        look: Look = PLAIN,
        *,
        archives: Sequence[str] | None = None,
        computed: data.Computed | None = None,
    ) -> Row:
        """Return the figure, as many panels in a row as leave each of them readable."""
        unit = replayed_unit(con)
        rows = rows_to_draw(con, self.table, computed, archives, self.needs)
        sheet = Sheet(con, unit, look, rows, computed, {})
        subtitle, values = self.make(sheet)
        panels = data.by_archive(in_words(rows, unit))
        columns = columns_for(len(panels), look)
        width = max(60, min(620, look.width // columns - (12 if look.is_narrow else 62)))
        charts = []
        for index, (name, own) in enumerate(panels.items()):
            title = _panel_title(name, width, panels)
            ends = (index % columns == 0, index + columns >= len(panels))
            panel = Panel(name, own, width, *ends, title, look.scale)
            shared = {"panel": panel, "look": look, "tips": sheet.tips}
            charts.append(drawing.filled(self.make.__name__, unit, **shared, **values(panel)))
        frame = drawing.frame(con, sheet.words.get("title", self.title), subtitle, look)
        return {"concat": charts, "columns": columns, "usermeta": sheet.words, **frame}


def columns_for(panels: int, look: Look) -> int:
    """Return how many panels stand in one row: as many as leave each of them readable."""
    if look.is_narrow:
        return 1 if panels == 1 else 2 if panels <= 4 else 3
    columns = panels if panels <= 3 else 2 if panels == 4 else 3 if panels <= 6 else 4
    return max(1, min(columns, look.width // 200))


def rule_legend(look: Look) -> Row:
    """Return the legend of the rules; a narrow one has no title, and several lines."""
    if look.is_narrow:
        return {"orient": "top", "title": None, "columns": 3, "offset": 4, "labelFontSize": 11}
    return {"orient": "top", "title": "stopping rule:"}


def _panel_title(name: str, width: int, names: Iterable[str]) -> Row:
    """Return an archive's name over its panel, cut in the middle where it is too long."""
    letter = 6.6 if width > 150 else 5.2
    return {
        "text": shortened(one_line(name, 400), max(12, int(width / letter)), list(names)),
        "anchor": "start",
        "fontSize": 12.5 if width > 150 else 9.5,
        "fontWeight": 600,
        "offset": 8 if width > 150 else 3,
        "limit": width + (40 if width > 150 else 20),
    }


def in_words(rows: Iterable[Row], unit: Unit) -> list[Row]:
    """Return the rows with what a tooltip says of them."""
    return [
        row
        | {"shown_budget": budget_name(row["budget"], unit)}
        | {
            f"shown_{column}": with_interval(row, column)
            for column in WITH_INTERVALS
            if column in row
        }
        | {
            f"shown_{column}": write_digits(row[column], unit)
            for column in COSTS
            if row.get(column) is not None
        }
        for row in rows
    ]


def cycle(values: Sequence[str], count: int) -> list[str]:
    """So many values, from the start again where there are too few."""
    return [values[index % len(values)] for index in range(count)]


def rule_colours(rules: Sequence[str]) -> list[str]:
    """Return a colour for each rule: strict and advisory have theirs in every run."""
    own = {"strict": RULE_COLOURS[0], "advisory": RULE_COLOURS[1]}
    others = [rule for rule in rules if rule not in own]
    colours = dict(zip(others, cycle(RULE_COLOURS[2:], len(others)), strict=True))
    return [{**own, **colours}[rule] for rule in rules]


def rule_marks(rules: Sequence[str], legend: Row) -> dict[str, Row]:
    """Return colour and shape of the rules, as channels."""
    ranges = {"color": rule_colours(rules), "shape": cycle(RULE_SHAPES, len(rules))}
    return {
        channel: {
            "field": "rule",
            "type": "nominal",
            "scale": {"domain": list(rules), "range": values},
            "legend": legend,
        }
        for channel, values in ranges.items()
    }


def budget_axis(budgets: Sequence[float], across: Sequence[float], width: int, unit: Unit) -> Row:
    """Return an axis that names every budget of the run, upright where they stand too close."""
    names = {f"{budget:.12g}": budget_name(budget, unit) for budget in budgets}
    pixels = width / math.log(across[1] / across[0])
    gaps = [pixels * math.log(right / left) for left, right in itertools.pairwise(budgets)]
    gap = min(gaps, default=width)
    is_upright = gap < 7 * max(map(len, names.values()))
    labels = "{" + ", ".join(f"'{key}': '{name}'" for key, name in names.items()) + "}"
    return {
        "values": list(budgets),
        "labelExpr": f"({labels})[datum.value]",
        "labelAngle": -90 if is_upright else 0,
        "labelFontSize": max(6, min(11, round(gap - 1))) if is_upright else 11,
        "labelOverlap": False,
        "grid": False,
    }


def extent(rows: Iterable[Row], column: str) -> tuple[float, float]:
    """Return the smallest and the largest value of a column, its intervals included."""
    values = [
        row[name]
        for row in rows
        for name in (column, f"{column}_low", f"{column}_high")
        if row.get(name) is not None
    ]
    return (min(values), max(values)) if values else (0.0, 1.0)


def percent_around(rows: Sequence[Row], share: float) -> list[float]:
    """Return all accuracies and some room, a share of what they span."""
    low, high = extent([{"accuracy": row["accuracy"]} for row in rows], "accuracy")
    room = max(2.0, (high - low) * share)
    return [max(0, low - room), min(100, high + room)]


def percent_domain(rows: Sequence[Row], column: str) -> list[float]:
    """Whole tens around all values."""
    low, high = extent(rows, column)
    low, high = math.floor(low / 10) * 10, math.ceil(high / 10) * 10
    return [max(0, low), min(100, high)] if high > low else [max(0, low - 10), min(100, high + 10)]


def round_ticks(low: float, high: float) -> list[float]:
    """Return one, two and five times the powers of ten between two numbers, for a log axis."""
    ticks = (float(f"{digit}e{power}") for power in range(-9, 16) for digit in (1, 2, 5))
    return [tick for tick in ticks if low <= tick <= high]


def rule_lines(points: Sequence[Row], curve: Sequence[Row]) -> list[Row]:
    """Return the lines of rules: every budget of the curve, or of the run if there is no curve."""
    dense = [
        {
            "archive": row["archive"],
            "rule": rule,
            "budget": row["budget"],
            "accuracy": row[f"{rule}_accuracy"],
            "cost": row[f"{rule}_cost"],
            "cost_ratio": row[f"{rule}_cost"] / row["budget"],
        }
        for row in curve
        for rule in ("strict", "advisory")
        if row["delta"] is not None
    ]
    dense_rules = {row["rule"] for row in dense}
    return [*dense, *(row for row in points if row["rule"] not in dense_rules)]


def rows_to_draw(
    con: duckdb.DuckDBPyConnection,
    name: str,
    computed: data.Computed | None,
    archives: Sequence[str] | None,
    needs: str = "accuracy",
) -> list[Row]:
    """Return the rows of a table that have a value to draw, for these archives in their order."""
    rows = [row for row in data.rows(con, name, computed) if row.get(needs, 0) is not None]
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
