"""What the report says in its own words about tables, columns, rules, selectors and figures."""

import tomllib
from pathlib import Path

import pyarrow as pa

from audit import engine
from audit.output.headings import heading
from audit.report.data import Row
from audit.text import capital

SAID = tomllib.loads(Path(__file__).with_name("captions.toml").read_text(encoding="utf-8"))
# What a figure shows, and what it does not.
FIGURES = {name: (said["caption"], said["warning"]) for name, said in SAID["figures"].items()}


def figure_caption(name: str, chart: Row) -> str:
    """Return what a figure shows and does not show; a chart may bring words of its own."""
    return chart.get("usermeta", {}).get("caption") or " ".join(FIGURES[name])


def selector_words(name: str) -> str:
    """Return what a selector picks, as the header of its file says."""
    if name in engine.stage_names():
        return engine.header(name)[name].removesuffix(".")
    for kind in ("best", "vote", "exp_vote"):
        if name.startswith(f"{kind}_"):
            words = engine.header(kind)[kind].removesuffix(".")
            return f"{words} (score {name.removeprefix(f'{kind}_')})"
    return "a selector of your own: see the relation used_selectors"


def purpose(name: str) -> str:
    """Return one line on what a table is for."""
    if name == "problems":
        return "Problems that go by a name, beside the number that the other tables show."
    return capital(engine.table_purpose(name))


def empty_reason(name: str, settings: dict[str, str]) -> str:
    """Return why a table has no rows."""
    reasons = SAID["empty"]
    if name == "policies" and not settings.get("policies"):
        return reasons[name]
    averaged = name not in ("grade_conflicts", "grade_repairs", "source_audit", "controls")
    if averaged and settings.get("orders") == "0":
        return "No random orders were replayed (--orders 0), and this table is made of them."
    return reasons.get(name, "The loaded archives hold nothing to put here.")


def null_reasons(name: str, table: pa.Table, settings: dict[str, str]) -> list[str]:
    """Return why cells of a table are empty or say nothing, one sentence for each cause met."""
    empty = sorted(column for column in table.column_names if table[column].null_count)
    reasons = []
    if any(column.endswith(("_low", "_high")) for column in empty):
        cause = "no_replicates" if settings.get("replicates") == "0" else "interval"
        reasons.append(SAID["null"][cause])
    if name == "prefix_boxes" and table.num_rows and not any(table["examined"].to_pylist()):
        reasons.append(SAID["null"]["unexamined"])
    if name == "selection_events" and {*empty} & {"strict_seed", "advisory_seed"}:
        reasons.append(SAID["null"]["abstained"])
    explained = ("_low", "_high", "_seed", "_answer")
    if others := [heading(column) for column in empty if not column.endswith(explained)]:
        cause = SAID["null"]["no_orders" if settings.get("orders") == "0" else "nothing"]
        reasons.append(f"Empty cells under {', '.join(others)}: {cause}.")
    return reasons


def missing_selectors(
    name: str, table: pa.Table, archives: list[Row], settings: dict[str, str]
) -> list[str]:
    """Return which selectors an archive's rows leave out, and why."""
    if name not in ("selectors", "transitions") or not table.num_rows:
        return []
    selectors = settings["selectors"].split(",")
    columns = (table[column].to_pylist() for column in ("archive", "selector"))
    present = set(zip(*columns, strict=True))
    return [
        f"{selector} is left out for {archive['archive']}: "
        f"{SAID['left_out'].get(selector, 'no attempt is eligible for it')}."
        for archive in archives
        for selector in selectors
        if (archive["archive"], selector) not in present
    ]
