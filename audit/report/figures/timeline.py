"""The timeline: one replay drawn attempt by attempt, what each rule returns and pays."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import duckdb

from audit.errors import AuditError
from audit.output.display import budget_name
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.data import Row
from audit.report.figures.drawing import (
    BLUE,
    INK,
    PLAIN,
    VERMILLION,
    Look,
    altair_module,
    axis_labels,
    category,
    frame,
    inline,
    quantity,
    tips,
)
from audit.report.wording import one_line
from audit.text import first_names, plural
from audit.units import UNITS, Amount, Unit, read_budget, write_amount, write_digits

ELIGIBLE = "returned, eligible"
INELIGIBLE = "returned, not eligible"
CUT = "paid, not returned"
BEYOND = "not launched"
BAR_KINDS = (ELIGIBLE, INELIGIBLE, CUT, BEYOND)
FILLS = (BLUE, "#c9c9c9", "#fbe0cc", "#ffffff")
STROKES = ("#ffffff", "#8a8a8a", VERMILLION, "#a8a8a8")
BAR, LINE = 30, 15
# How a rule stops what it returns, how it stops what it pays, and the title of its lane.
RULES = {
    "strict": ("strict", "strict", "Strict: stops at B"),
    "step": ("step", "step", "Step: lets the running step finish"),
    "step_lost": ("strict", "step", "Step, lost: pays the running step and throws it away"),
    "advisory": ("advisory", "advisory", "Advisory: lets the running attempt finish"),
    "attempt_lost": ("strict", "advisory", "Attempt, lost: pays it whole and throws it away"),
}
# What a mistake calls a part of the key, and the parts that it is a part of.
WORDS = {"question_id": "question", "cap": "attempt cap"}
WITHIN = {"competition": ("archive",), "question_id": ("archive", "competition")}
LABELS = {True: "correct", False: "incorrect", None: "not labelled"}


def _replay_key(con: duckdb.DuckDBPyConnection, asked: Row, budget: Amount | None) -> Row:
    """The key of one replay, every part checked and every missing part the first there is."""
    key: Row = {}
    if budget is None:
        asked = asked | {"budget": None}
    for column, value in asked.items():
        conditions = " and ".join(f"{name} = ?" for name in key) or "true"
        sql = f"select distinct {column} as value from replays where {conditions} order by 1"
        values = [row["value"] for row in data.query(con, sql, *key.values())]
        key[column] = values[0] if value is None and values else value
        if key[column] not in values:
            within = ", ".join(one_line(key[name]) for name in WITHIN.get(column, ()))
            what = f"{WORDS.get(column, column)} {one_line(value)}{f' in {within}' * bool(within)}"
            shown = first_names([one_line(item) for item in values], 12)
            raise AuditError(f"timeline: no {what}; there are: {shown}")
    if budget is None:
        return key
    unit = replayed_unit(con)
    try:
        counted = read_budget(budget, unit)
    except ValueError as error:
        raise AuditError(f"timeline: --budget: {error}") from None
    if counted < 1:
        raise AuditError(f"timeline: --budget {budget}: a budget is above 0")
    # A budget is looked up in the walk, whether it was replayed or not.
    return key | {"budget": counted if unit.scale == 1 else counted / unit.scale}


def _walked(con: duckdb.DuckDBPyConnection, name: str, key: Row) -> list[Row]:
    """A relation of sql/report about the order of one replay, whatever its budget."""
    asked = {name: value for name, value in key.items() if name != "budget"}
    return data.relation(con, name, **asked).to_pylist()


def _replay(con: duckdb.DuckDBPyConnection, key: Row, bank: Sequence[Row]) -> dict[str, Row]:
    """Every rule's ledger and selection in one replay, looked up in the order at the budget."""
    budget = key["budget"]
    picks = {row["position"]: row for row in _walked(con, "timeline_picks", key)}
    launched = [attempt for attempt in bank if attempt["start"] < budget]
    end = launched[-1]["stop"] if launched else 0
    # The first step that reaches the budget, or the last one.
    ends = launched[-1]["steps"] if launched else []
    step_end = next((step for step in ends if step >= budget), end)
    pools = {
        "strict": [attempt for attempt in launched if attempt["stop"] <= budget],
        "step": launched if step_end == end else launched[:-1],
        "advisory": launched,
    }
    prices = {"strict": min(budget, end), "step": step_end, "advisory": end}
    used = data.settings(con)["rules"].split(",")
    rules = {}
    for rule, (pool, price, _) in RULES.items():
        if rule not in used:
            continue
        returned, cost = pools[pool], prices[price]
        picked = picks.get(len(returned), {})
        rules[rule] = {
            "rule": rule,
            "budget": budget,
            "launched": len(launched),
            "returned": len(returned),
            "eligible": sum(attempt["eligible"] for attempt in returned),
            "cost": cost,
            "prefix_cost": cost - (returned[-1]["stop"] if returned else 0),
            "abstained": not picked,
            "seed": picked.get("seed"),
            "answer": picked.get("answer"),
            "correct": picked.get("correct"),
        }
    return rules


def ledger_words(row: Row, bank: Sequence[Row], unit: Unit = UNITS["completion"]) -> list[str]:
    """What one rule pays and returns in one replay, as two sentences."""
    budget, cost = row["budget"], row["cost"]
    paid = f"Pays {_amount(cost, unit)}"
    if cost > budget:
        paid += f", {_amount(cost - budget, unit)} past B"
    elif cost < budget:
        paid += f", {_amount(budget - cost, unit)} short of B: no attempt is left"
    if row["prefix_cost"]:
        lost = "an attempt cut at B" if row.get("rule", "strict") == "strict" else "what is lost"
        paid += f", {_amount(row['prefix_cost'], unit)} for {lost}"
    paid += (
        f"; returns {plural(row['returned'], 'attempt')}"
        f" of {row['launched']:,} launched, {row['eligible']:,} eligible."
    )
    if row["abstained"]:
        return [paid, "Selects nothing: it abstains, which counts as incorrect."]
    position = next((a["position"] for a in bank if a["seed"] == row["seed"]), None)
    answer = "" if row["answer"] is None else f" {one_line(row['answer'], 40)},"
    return [
        paid,
        f"Selects attempt {position} (seed {row['seed']}):{answer} {LABELS[row['correct']]}.",
    ]


def _amount(value: float, unit: Unit) -> str:
    return write_amount(round(value, 9), unit)


def _bars(row: Row, bank: Sequence[Row]) -> list[Row]:
    """The bars of one rule's lane: what it returns, and the prefix that it pays for and drops."""
    launched = [
        attempt
        | {
            "kind": _kind(attempt),
            "selected": not row["abstained"] and attempt["seed"] == row["seed"],
            "is_cut": row["rule"] == "strict",
        }
        for attempt in bank[: row["launched"]]
    ]
    dropped = {"stop": row["cost"], "kind": CUT}
    kept = row["returned"]
    return [*launched[:kept], *(attempt | dropped for attempt in launched[kept:])]


def _kind(attempt: Row) -> str:
    return ELIGIBLE if attempt["eligible"] else INELIGIBLE


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
) -> Any:
    """One replay on an axis of cost: the attempts in order, the budget, what each rule buys.

    A part of the key that is left out is the first there is; the cap is the primary one.
    """
    alt = altair_module()
    asked = {"archive": archive, "competition": competition, "question_id": question}
    primary_cap = int(data.settings(con)["primary_cap"])
    asked_walk = {"repeat": repeat, "cap": primary_cap if cap is None else cap}
    key = _replay_key(con, asked | asked_walk, budget)
    unit = replayed_unit(con)
    bank = _walked(con, "timeline_attempts", key)
    rules = _replay(con, key, bank)
    width = look.width - 40
    end = 1.22 * max(key["budget"], rules["advisory"]["cost"])
    drawing = _placed(_lanes(rules, bank, end, unit), rules, key["budget"], end, width, unit)
    layers = _layers(drawing, end, width, unit)
    return alt.layer(*layers, width=width, height=drawing.height, **_framed(con, key, unit, look))


def _lanes(
    rules: dict[str, Row], bank: Sequence[Row], end: float, unit: Unit
) -> list[tuple[str, str, list[str], list[Row]]]:
    """The lanes from the top: rule (none for the bank), title, sentences and bars."""
    launched = rules["advisory"]["launched"]
    drawn = [attempt for attempt in bank if attempt["start"] < end]
    recorded = [
        attempt
        | {
            "kind": _kind(attempt) if attempt["position"] <= launched else BEYOND,
            "selected": False,
        }
        for attempt in drawn
    ]
    hidden = len(bank) - len(drawn)
    waiting = f"; {hidden} more lie beyond the picture" if hidden else ""
    every = "both rules" if len(rules) == 2 else "every rule"
    why = f"{launched} launched under {every}, because each began before B was spent{waiting}."
    lanes = [("", f"The bank: {plural(len(bank), 'attempt')} in this order", [why], recorded)]
    for rule, row in rules.items():
        lanes.append((rule, RULES[rule][2], ledger_words(row, bank, unit), _bars(row, bank)))
    return lanes


@dataclass
class Placed:
    """Everything with its place in the picture, and how high the picture is."""

    texts: list[Row] = field(default_factory=list)
    bars: list[Row] = field(default_factory=list)
    steps: list[Row] = field(default_factory=list)
    notes: list[Row] = field(default_factory=list)
    marks: list[Row] = field(default_factory=list)
    height: float = 0.0
    title: str = ""


def _placed(
    lanes: Sequence[tuple[str, str, list[str], list[Row]]],
    rules: dict[str, Row],
    limit: float,
    end: float,
    width: float,
    unit: Unit,
) -> Placed:
    """The lanes below each other."""
    placed = Placed(title=f"B = {budget_name(limit, unit)}")
    y = 12.0
    for rule, name, sentences, bars in lanes:
        placed.texts.append({"text": name, "y": y, "weight": "bold"})
        y += LINE + 1
        for sentence in sentences:
            for line in textwrap.wrap(sentence, max(30, int(width / 5.9))):
                placed.texts.append({"text": line, "y": y, "weight": "normal"})
                y += LINE
        y += 14
        placed.marks.append({"budget": limit, "top": y - 5, "bottom": y + BAR + 5})
        for attempt in bars:
            placed.bars.append(
                _bar(attempt, limit, end, width, unit) | {"top": y, "bottom": y + BAR}
            )
            stop = min(float(attempt["stop"]), end)
            placed.steps += [
                {"at": step, "top": y, "bottom": y + BAR}
                for step in attempt["steps"]
                if step < stop
            ]
        y += BAR
        cost = rules[rule]["cost"] if rule else 0
        if cost > limit:
            y += 9
            over = f"{_amount(cost - limit, unit)} past B"
            placed.notes.append({"from": limit, "to": cost, "y": y, "text": over})
            y += 12
        y += 24
    placed.height = y - 12
    return placed


def _bar(attempt: Row, limit: float, end: float, width: float, unit: Unit) -> Row:
    """One bar and what it says; its label keeps clear of the line at B."""
    start, stop = float(attempt["start"]), min(float(attempt["stop"]), end)
    left, right = start, stop
    if start < limit < stop:
        left, right = (start, limit) if limit - start >= stop - limit else (limit, stop)
    return {
        "start": start,
        "stop": stop,
        "middle": (start + stop) / 2,
        "label_at": (left + right) / 2,
        "kind": attempt["kind"],
        "selected": attempt["selected"],
        "label": _bar_label(attempt, (right - left) / end * width),
        "light": attempt["kind"] == ELIGIBLE,
        "shown_attempt": f"{attempt['position']} (seed {attempt['seed']})",
        "shown_cost": write_digits(attempt["cost"], unit),
        "shown_answer": _answer_words(attempt),
        "shown_end": str(attempt["finish_reason"]),
    }


def _layers(drawing: Placed, end: float, width: float, unit: Unit) -> list[Any]:
    """The layers of the picture, from the bottom."""
    alt = altair_module()
    scale = alt.Scale(domain=[drawing.height, 0], nice=False, zero=False)

    reach = alt.Scale(domain=[0, end], nice=False)
    across, down = (
        partial(quantity, "X", scale=reach),
        partial(quantity, "Y", scale=scale, axis=None),
    )
    base = alt.Chart(inline(drawing.bars))
    labels = alt.Axis(labelExpr=axis_labels(unit), grid=False, tickCount=8, labelOverlap="greedy")
    x = across("start", title=f"{unit.measures}, cumulative", axis=labels)
    tall = {"y": down("top"), "y2": alt.Y2(field="bottom")}
    chosen = base.transform_filter("datum.selected")
    layers = [_boxes(base, x, tall, width, unit)]
    if drawing.steps:
        ends = alt.Chart(inline(drawing.steps)).mark_rule(color=INK, opacity=0.45, strokeWidth=0.8)
        layers.append(ends.encode(x=across("at"), **tall))
    layers += [
        base.transform_filter("datum.label != ''")
        .mark_text(fontSize=11)
        .encode(
            x=across("label_at"),
            y=down("top"),
            text=alt.Text(field="label", type="nominal"),
            color=alt.condition("datum.light", alt.value("white"), alt.value(INK)),
            yOffset=alt.value(BAR / 2),
        ),
        chosen.mark_bar(fill=None, stroke=INK, strokeWidth=2.5).encode(
            x=across("start"), x2=alt.X2(field="stop"), **tall
        ),
        chosen.mark_point(
            shape="triangle-down", filled=True, size=80, color=INK, yOffset=-7
        ).encode(x=across("middle"), y=down("top")),
        chosen.mark_text(
            text="selected", fontSize=10.5, align="left", dx=8, dy=-7, color=INK
        ).encode(x=across("middle"), y=down("top")),
        alt.Chart(inline(drawing.marks))
        .mark_rule(strokeWidth=2.5, color=VERMILLION)
        .encode(x=across("budget"), **tall),
        alt.Chart(inline(drawing.marks[:1]))
        .mark_text(text=drawing.title, fontSize=11, fontWeight="bold", color=VERMILLION, dy=-7)
        .encode(x=across("budget"), y=down("top")),
    ]
    return layers + _words(drawing, across, down)


def _boxes(base: Any, x: Any, tall: dict[str, Any], width: float, unit: Unit) -> Any:
    """The bars, by what becomes of each."""
    alt = altair_module()
    legend = alt.Legend(
        orient="bottom", title=None, columns=2 if width < 600 else 4, symbolSize=140
    )
    dashes = [[1, 0], [1, 0], [4, 2], [2, 2]]
    return base.mark_bar(strokeWidth=1.2, cornerRadius=1).encode(
        x=x,
        x2=alt.X2(field="stop"),
        fill=category("Fill", "kind", BAR_KINDS, FILLS, legend=legend),
        stroke=category("Stroke", "kind", BAR_KINDS, STROKES, legend=legend),
        strokeDash=category("StrokeDash", "kind", BAR_KINDS, dashes, legend=legend),
        tooltip=tips(
            ("shown_attempt", "attempt"),
            ("shown_cost", unit.measures),
            ("shown_end", "finish reason"),
            ("shown_answer", "answer"),
            ("kind", "here"),
        ),
        **tall,
    )


def _words(drawing: Placed, across: Any, down: Any) -> list[Any]:
    """What is paid past the budget, and the sentences of the lanes."""
    alt = altair_module()
    layers = []
    if drawing.notes:
        over = alt.Chart(inline(drawing.notes))
        layers += [
            over.mark_rule(strokeWidth=4, color=VERMILLION, opacity=0.55).encode(
                x=across("from"), x2=alt.X2(field="to"), y=down("y")
            ),
            over.mark_text(fontSize=11, align="left", baseline="top", dy=4, dx=4, color=INK).encode(
                x=across("from"), y=down("y"), text=alt.Text(field="text", type="nominal")
            ),
        ]
    for weight, size in (("bold", 12.5), ("normal", 11.5)):
        layers.append(
            alt.Chart(inline([text for text in drawing.texts if text["weight"] == weight]))
            .mark_text(align="left", fontSize=size, fontWeight=weight, color=INK, limit=0)
            .encode(x=alt.value(0), y=down("y"), text=alt.Text(field="text", type="nominal"))
        )
    return layers


def _framed(con: duckdb.DuckDBPyConnection, key: Row, unit: Unit, look: Look) -> dict[str, Any]:
    """The title, and what the picture is of."""
    repeat = int(key["repeat"])
    problem = "select name from problems where competition = ? and question_id = ?"
    (named,) = data.query(con, problem, key["competition"], key["question_id"])
    label = f" ({one_line(named['name'])})" if named["name"] else ""
    order = "canonical order" if repeat == 0 else f"random order {repeat}"
    return frame(
        con,
        f"One replay at B = {budget_name(key['budget'], unit)}",
        f"{one_line(key['archive'])} · {one_line(key['competition'])} question "
        f"{key['question_id']}{label} · {order} · at most {plural(key['cap'], 'attempt')}"
        f" · selector {data.settings(con)['primary_selector']}",
        look,
    )


def _answer_words(attempt: Row) -> str:
    """The attempt's answer, or why it has no vote."""
    answer = one_line(attempt["answer"], 40) if attempt["answer"] is not None else "no answer"
    return answer if attempt["eligible"] else f"{answer} (not eligible)"


def _bar_label(attempt: Row, room: float) -> str:
    """As much of number and answer as fits the bar."""
    if attempt["kind"] == CUT:
        why = "cut" if attempt["is_cut"] else "lost"
    elif attempt["eligible"]:
        why = "finished" if attempt["answer"] is None else one_line(attempt["answer"], 24)
    else:
        why = "length" if attempt["finish_reason"] == "length" else "no vote"
    both = f"{attempt['position']}: {why}"
    if len(both) * 6.2 + 6 <= room:
        return both
    return str(attempt["position"]) if len(str(attempt["position"])) * 7 + 4 <= room else ""
