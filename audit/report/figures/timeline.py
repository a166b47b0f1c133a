"""The timeline: one replay drawn attempt by attempt, and what each rule returns and pays."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb

from audit.errors import AuditError
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import PLAIN, Look, fill, frame
from audit.report.wording import amount, load_macros, one_line, render_line
from audit.rules import RULES, list_rules
from audit.text import not_there, plural
from audit.units import Amount, Unit, budget_name, read_budget


def timeline(
    con: duckdb.DuckDBPyConnection,
    archive: str | None = None,
    competition: str | None = None,
    question: int | None = None,
    repeat: int | None = None,
    budget: Amount | None = None,
    cap: int | None = None,
    *,
    look: Look = PLAIN,
) -> Row:
    """Draw one replay on an axis of cost: its attempts in order, the budget, each rule's result.

    For a part of the key that is None, the first value in the database is used; for the cap, the
    primary cap.
    """
    settings, unit = data.read_settings(con), replayed_unit(con)
    asked: Row = {"archive": archive, "competition": competition, "question_id": question}
    asked |= {"repeat": repeat, "cap": int(settings["primary_cap"]) if cap is None else cap}
    key = _find_replay(con, asked | ({"budget": None} if budget is None else {}))
    # Any budget can be drawn, also one that was not replayed.
    key |= {} if budget is None else {"budget": _read_budget(budget, unit)}
    words = load_macros(Path(__file__).with_name("timeline.j2"), unit)
    lanes = _read_lanes(con, key, words)
    limit = key["budget"]
    end, width = 1.22 * max(limit, *(lane["cost"] for lane in lanes)), look.width - 40
    for lane in lanes:
        wrapped = (textwrap.wrap(text, max(30, int(width / 5.9))) for text in lane["sentences"])
        past = lane["cost"] - limit
        bars = [
            bar | {"stop": min(bar["stop"], end)} | _label_bar(bar, limit, end, width)
            for bar in lane["bars"]
            if bar["start"] < end
        ]
        lane |= {"lines": [line for lines in wrapped for line in lines], "bars": bars}
        lane["past"] = f"{amount(past, unit)} past B" if past > 0 else ""
    shown = {"limit": limit, "budget": budget_name(limit, unit)}
    spec = fill("timeline", unit, lanes=lanes, end=end, width=width, **shown)
    problem = "select name from problems where competition = ? and question_id = ?"
    ((name,),) = con.execute(problem, [key["competition"], key["question_id"]]).fetchall()
    title = f"One replay at B = {shown['budget']}"
    replay = render_line(words.replay, key, name, settings["primary_selector"])
    return spec | frame(con, title, replay, look)


def _find_replay(con: duckdb.DuckDBPyConnection, asked: Row) -> Row:
    """Find the key of one replay: check the parts given, and choose the first of the others."""
    key: Row = {}
    for column, value in asked.items():
        conditions = " and ".join(f"{name} = ?" for name in key) or "true"
        sql = f"select distinct {column} from replays where {conditions} order by 1"
        there = [found for (found,) in con.execute(sql, list(key.values())).fetchall()]
        if value is not None and value not in there:
            names = [one_line(found) for found in there]
            kind = column.removesuffix("_id")
            raise AuditError(f"timeline: {not_there(kind, one_line(value), names)}")
        key[column] = there[0] if value is None else value
    return key


def _read_budget(budget: Amount, unit: Unit) -> float:
    """Read --budget as a number of the printed unit; refuse zero."""
    try:
        counted = read_budget(budget, unit)
    except ValueError as error:
        raise AuditError(f"timeline: --budget: {error}") from None
    if counted < 1:
        raise AuditError(f"timeline: --budget {budget}: a budget is above 0")
    return counted / unit.scale


def _read_lanes(con: duckdb.DuckDBPyConnection, key: Row, words: Any) -> list[Row]:
    """Read the rows of the picture from the top: the bank, then each rule, with its bars."""
    used = list(list_rules(data.read_settings(con)["rules"].split(",")).values())
    rules = data.read(con, "timeline_ledger", rules=used, **key).to_pylist()
    bars: dict[str | None, list[Row]] = {}
    for bar in data.read(con, "timeline_bars", rules=used, **key).to_pylist():
        bars.setdefault(bar["rule"], []).append(bar)
    terminals = data.read(con, "timeline_terminals", **key).to_pylist()
    bank = bars[None]
    reach = 1.22 * max(key["budget"], *(row["cost"] for row in rules))
    hidden = sum(attempt["start"] >= reach for attempt in bank)
    lanes: list[Row] = [
        {
            "title": f"The bank: {plural(len(bank), 'attempt')} in this order",
            "sentences": [render_line(words.launched, hidden, rules[0]["launched"], len(rules))],
            "bars": bank,
            "asked": [],
            "cost": 0,
        }
    ]
    for row in rules:
        own = terminals if row["rule"] == "strict" else []
        chosen = [render_line(words.paid, row), render_line(words.selected, row, bank)]
        lanes.append(
            {
                "title": RULES[row["rule"]].title,
                "sentences": chosen + _describe_terminals(words, own),
                "bars": bars.get(row["rule"], []),
                "asked": sorted({taken["place"] for taken in own} - {None}),
                "cost": row["cost"],
            }
        )
    return lanes


def _describe_terminals(words: Any, terminals: Sequence[Row]) -> list[str]:
    """Write which answer terminals take, one sentence for those that take the same."""
    names: dict[str, list[str]] = {}
    for row in terminals:
        names.setdefault(render_line(words.taken, row), []).append(row["terminal"])
    return [f"With {', '.join(same)}: {taken}" for taken, same in names.items()]


def _label_bar(bar: Row, limit: float, end: float, width: float) -> Row:
    """Choose a bar's label, as much as fits, and a place where the line at B does not cross it."""
    left, right = bar["start"], min(bar["stop"], end)
    if left < limit < right:
        left, right = (left, limit) if limit - left >= right - limit else (limit, right)
    if bar["lost"] or bar["eligible"]:
        why = bar["lost"] or ("finished" if bar["answer"] is None else one_line(bar["answer"], 24))
    else:
        why = "length" if bar["finish_reason"] == "length" else "no vote"
    room, number = (right - left) / end * width, str(bar["position"])
    both = f"{number}: {why}"
    label = both if len(both) * 6.2 + 6 <= room else number
    return {"label": label if len(label) * 6.2 + 4 <= room else "", "label_at": (left + right) / 2}
