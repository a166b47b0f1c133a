"""Texts of the report about tables, selectors and figures, from captions.toml."""

import tomllib
from pathlib import Path

from audit import engine
from audit.report.data import Row
from audit.text import capital

TEXTS = tomllib.loads(Path(__file__).with_name("captions.toml").read_text(encoding="utf-8"))
# The caption and the warning of each figure.
FIGURES = {name: (said["caption"], said["warning"]) for name, said in TEXTS["figures"].items()}


def figure_caption(name: str, chart: Row) -> str:
    """Return a figure's caption: its chart's own, or the usual one with its warning."""
    return chart.get("usermeta", {}).get("caption") or " ".join(FIGURES[name])


def selector_words(name: str) -> str:
    """Describe what a selector picks, from the header of its SQL file."""
    if name in engine.list_files():
        return engine.read_header(name)[name].removesuffix(".")
    for kind in ("best", "vote", "exp_vote"):
        if name.startswith(f"{kind}_"):
            words = engine.read_header(kind)[kind].removesuffix(".")
            return f"{words} (score {name.removeprefix(f'{kind}_')})"
    return "a selector of your own: see the relation used_selectors"


def purpose(name: str) -> str:
    """Describe in one line what a table is for."""
    if name == "problems":
        return "Problems that go by a name, beside the number that the other tables show."
    return capital(engine.describe_table(name))


def empty_reason(name: str, settings: dict[str, str]) -> str:
    """Explain why a table has no rows."""
    reasons = TEXTS["empty"]
    if name == "policies" and not settings.get("policies"):
        return reasons[name]
    averaged = name not in ("grade_conflicts", "grade_repairs", "source_audit", "controls")
    if averaged and settings.get("orders") == "0":
        return "No random orders were replayed (--orders 0), and this table is made of them."
    return reasons.get(name, "The loaded archives hold nothing to put here.")
