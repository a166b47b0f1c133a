"""What the page shows without JavaScript: the finding, a table and a curve."""

from typing import Any

import pyarrow as pa

from audit import engine
from audit.output.display import display_columns
from audit.report import data
from audit.report.data import Row
from audit.report.explorer.pack import SHOWN_TERMINALS
from audit.report.story import STORY, story_lines
from audit.report.wording import load_macros, render_line

MOST_ROWS = 60
COLUMNS = (
    *("archive", "budget", "strict_accuracy", "advisory_accuracy", "delta", "delta_low"),
    *("delta_high", "strict_cost_ratio", "advisory_cost_ratio"),
)
# An empty list as a column would import pandas where it is installed.
NO_TERMINALS = pa.table(dict.fromkeys(("archive", "terminal", "budget", "accuracy"), pa.nulls(0)))


def collect_first_view(values: dict[str, Any]) -> Row:
    """Return the lines of the finding, the columns of `main`, and the curves of its archive."""
    tables, story, unit = values["tables"], values["story"], values["unit"]
    main = tables["main"].select(COLUMNS).slice(0, MOST_ROWS) if "main" in tables else None
    shown = {
        "lines": story_lines(story, unit),
        "why": render_line(load_macros(STORY, unit).why, story) if story else "",
        "columns": display_columns("main", main) if main is not None else [],
        "rows": main.num_rows if main is not None else 0,
        "archive": story and story["archive"],
        "curves": [],
    }
    if story is None or "curves" not in tables:
        return shown
    terminals = tables.get("terminals", NO_TERMINALS)
    there = set(terminals["terminal"].to_pylist())
    asked = {
        "archive": story["archive"],
        "terminal": next((name for name in SHOWN_TERMINALS if name in there), ""),
        "rules": [rule for rule, _ in values["rules"]],
    }
    with data.connect_tables({"curves": tables["curves"], "terminals": terminals}) as con:
        rows = con.sql(engine.render("still_curve"), params=asked).to_arrow_table()
    return shown | {"curves": rows.to_pylist()}
