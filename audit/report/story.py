"""The finding in three lines and a small table, for a terminal."""

import itertools
from collections.abc import Sequence

from audit.output.terminal import DisplayColumn, lines_of
from audit.report.data import Row
from audit.report.wording import TOKENS, amount, budget_name, budget_words, number, one_line
from audit.units import Unit

# Archives that are looked at for two whose order turns.
MOST_COMPARED = 40


def story_lines(main: Sequence[Row], matched: Sequence[Row] = (), unit: Unit = TOKENS) -> list[str]:
    """The three lines from the rows of `main` and, where it is there, of `matched_cost`."""
    graded = [row for row in main if row["delta"] is not None]
    if not graded:
        return ["No archive has labels: what a budget bought cannot be told, only what it cost."]
    row = max(graded, key=lambda row: (abs(row["delta"]), -row["budget"]))
    lines = [
        f"With {budget_words(row['budget'], unit)} a problem, {one_line(row['archive'])} answers "
        f"{number(row['strict_accuracy'], 1)} % when cut at the budget and "
        f"{number(row['advisory_accuracy'], 1)} % when the running attempt may finish.",
    ]
    pays = f"Finishing pays {number(row['advisory_cost_ratio'], 1)} times that budget"
    same = [
        other
        for other in matched
        if other["archive"] == row["archive"] and other["advisory_budget"] == row["budget"]
    ]
    lines.append(
        f"{pays}: at the same cost, strict stopping at {amount(same[0]['strict_budget'], unit)} "
        f"answers {number(same[0]['strict_accuracy'], 1)} %."
        if same
        else f"{pays}: the same budget is not the same cost."
    )
    turned = _turned(graded)
    if turned:
        small, large, leader, other = turned
        lines.append(
            f"What to buy depends on the budget: strict at {budget_name(small, unit)}, "
            f"{one_line(leader[0]['archive'])} ({number(leader[0]['strict_accuracy'], 1)} %) beats "
            f"{one_line(other[0]['archive'])} ({number(other[0]['strict_accuracy'], 1)} %); at "
            f"{budget_name(large, unit)} it is {number(leader[1]['strict_accuracy'], 1)} against "
            f"{number(other[1]['strict_accuracy'], 1)} %."
        )
    else:
        of_archive = [other for other in graded if other["archive"] == row["archive"]]
        last = max(of_archive, key=lambda other: other["budget"])
        lines.append(
            f"With {budget_words(last['budget'], unit)} the rules are "
            f"{number(abs(last['delta']), 1)} points apart."
        )
    return lines


def _turned(rows: Sequence[Row]) -> tuple[int, int, list[Row], list[Row]] | None:
    """Two archives whose order under strict turns round between two budgets, most clearly."""
    by = {(row["archive"], row["budget"]): row for row in rows}
    budgets = sorted({row["budget"] for row in rows})
    archives = sorted({row["archive"] for row in rows})
    best: tuple[float, tuple[int, int, list[Row], list[Row]]] | None = None
    # With many archives, pairs would be too many to go through.
    for names in itertools.permutations(archives[:MOST_COMPARED], 2):
        for small, large in itertools.combinations(budgets, 2):
            pairs = [[by.get((name, budget)) for budget in (small, large)] for name in names]
            first, second = ([row for row in pair if row] for pair in pairs)
            if len(first) < 2 or len(second) < 2:
                continue
            gaps = [
                a["strict_accuracy"] - b["strict_accuracy"]
                for a, b in zip(first, second, strict=True)
            ]
            size = min(gaps[0], -gaps[1])
            if size > 1 and (best is None or size > best[0]):
                best = (size, (small, large, first, second))
    return best[1] if best else None


def small_table(rows: Sequence[Row], unit: Unit = TOKENS) -> str:
    """Both rules at the smallest and the largest budget, a row per archive, from `main`."""
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
    return lines_of(columns, len(archives), stacked=True)
