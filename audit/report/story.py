"""The main finding in three lines and a small table, as `demo` prints it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from audit import engine
from audit.output.terminal import DisplayColumn, lay_out
from audit.report import data
from audit.report.data import Row
from audit.report.wording import TOKENS, budget_name, load_macros, number, one_line, render_line
from audit.units import Unit

STORY = Path(__file__).with_name("story.j2")
STORY_TABLES = ("main", "matched_cost", "spending")


def read_story(tables: Mapping[str, pa.Table]) -> Row | None:
    """Choose the archive and budget to begin with, and read their numbers; None without labels."""
    if not set(STORY_TABLES) <= set(tables):
        return None
    with data.connect_tables(tables) as con:
        rows = con.sql(engine.render("story")).to_arrow_table().to_pylist()
    return rows[0] if rows else None


def story_lines(row: Row | None, unit: Unit = TOKENS) -> list[str]:
    """Write the main finding in three lines, from the row of `read_story`."""
    if row is None:
        return ["No archive has labels: what a budget bought cannot be told, only what it cost."]
    words = load_macros(STORY, unit)
    return [render_line(line, row) for line in (words.difference, words.cost, words.choice)]


def small_table(rows: Sequence[Row], unit: Unit = TOKENS) -> str:
    """Write strict and advisory at the smallest and largest budget, one row per archive."""
    archives = list(dict.fromkeys(row["archive"] for row in rows))
    by = {(row["archive"], row["budget"]): row for row in rows}
    budgets = sorted({row["budget"] for row in rows})
    columns = [DisplayColumn("archive", [one_line(archive, 30) for archive in archives], False)]
    for budget in dict.fromkeys([*budgets[:1], *budgets[-1:]]):
        name = budget_name(budget, unit)
        for header, column, suffix in (
            (f"strict {name}", "strict_accuracy", " %"),
            (f"advisory {name}", "advisory_accuracy", " %"),
            (f"its cost / {name}", "advisory_cost_ratio", " ×"),
        ):
            values = [by.get((archive, budget), {}).get(column) for archive in archives]
            cells = ["" if value is None else number(value, 1) + suffix for value in values]
            columns.append(DisplayColumn(header, cells, True))
    return lay_out(columns, len(archives), stacked=True)
