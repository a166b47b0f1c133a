"""The timeline: one replay drawn attempt by attempt, what each rule returns and pays."""

import textwrap
from collections.abc import Sequence
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
    frame,
    inline,
    tips,
)
from audit.report.wording import one_line, plural
from audit.units import UNITS, Amount, Unit, read_budget, write_amount, write_digits

ELIGIBLE = "returned, eligible"
INELIGIBLE = "returned, not eligible"
CUT = "cut at B: paid, not returned"
BEYOND = "not launched"
KINDS = (ELIGIBLE, INELIGIBLE, CUT, BEYOND)
BAR, LINE = 30, 15
LABELS = {True: "correct", False: "incorrect", None: "not labelled"}


def _pick(what: str, value: Any, known: Sequence[Any], where: str = "") -> Any:
    """The value if it exists, the first that does where none is asked for."""
    if value is None and known:
        return known[0]
    if value in known:
        return value
    shown = ", ".join(one_line(item) for item in known[:12]) or "none"
    more = f" and {len(known) - 12} more" if len(known) > 12 else ""
    raise AuditError(f"timeline: no {what} {one_line(value)}{where}; there are: {shown}{more}")


def _replay_key(
    con: duckdb.DuckDBPyConnection,
    archive: str | None,
    competition: str | None,
    question: int | None,
    repeat: int | None,
    budget: Amount | None,
    cap: int | None,
) -> Row:
    """The key of one replay, every part checked and every missing part filled in."""
    key: Row = {}

    def pick(what: str, column: str, value: Any, where: str = "") -> None:
        conditions = " and ".join(f"{known} = ?" for known in key) or "true"
        found = data.query(
            con,
            f"select distinct {column} as found from replays where {conditions} order by 1",
            *key.values(),
        )
        key[column] = _pick(what, value, [row["found"] for row in found], where)

    pick("archive", "archive", archive)
    pick("competition", "competition", competition, f" in {one_line(key['archive'])}")
    place = f" in {one_line(key['archive'])}, {one_line(key['competition'])}"
    pick("question", "question_id", question, place)
    pick("repeat", "repeat", repeat)
    pick("attempt cap", "cap", int(data.settings(con)["primary_cap"]) if cap is None else cap)
    if budget is None:
        pick("budget", "budget", None)
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


def _replay(con: duckdb.DuckDBPyConnection, key: Row, bank: Sequence[Row]) -> dict[str, Row]:
    """Both rules' ledger and selection in one replay, looked up in the order at the budget."""
    budget = key["budget"]
    asked = {name: value for name, value in key.items() if name != "budget"}
    picks = {
        row["position"]: row for row in data.relation(con, "timeline_picks", **asked).to_pylist()
    }
    launched = [attempt for attempt in bank if attempt["start"] < budget]
    end = launched[-1]["stop"] if launched else 0
    rules = {}
    for rule, returned, cost in (
        ("strict", [a for a in launched if a["stop"] <= budget], min(budget, end)),
        ("advisory", launched, end),
    ):
        picked = picks.get(len(returned), {})
        rules[rule] = {
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


def _bank(con: duckdb.DuckDBPyConnection, key: Row) -> list[Row]:
    """The attempts of one order: where each starts and ends, its answer, and who is eligible."""
    wanted = {name: value for name, value in key.items() if name != "budget"}
    return data.relation(con, "timeline_attempts", **wanted).to_pylist()


def ledger_words(row: Row, bank: Sequence[Row], unit: Unit = UNITS["completion"]) -> list[str]:
    """What one rule pays and returns in one replay, as two sentences."""
    budget, cost = row["budget"], row["cost"]
    paid = f"Pays {write_amount(cost, unit)}"
    if row["prefix_cost"]:
        paid += f", {write_digits(row['prefix_cost'], unit)} of them for an attempt cut at B"
    elif cost > budget:
        paid += f", {write_digits(cost - budget, unit)} of them past B"
    elif cost < budget:
        paid += f", {write_digits(budget - cost, unit)} short of B: no attempt is left"
    paid += (
        f"; returns {plural(row['returned'], 'attempt')}"
        f" of {row['launched']:,} launched, {row['eligible']:,} eligible."
    )
    if row["abstained"]:
        return [paid, "Selects nothing: it abstains, which counts as incorrect."]
    position = next((a["position"] for a in bank if a["seed"] == row["seed"]), None)
    return [
        paid,
        f"Selects attempt {position} (seed {row['seed']}): {one_line(row['answer'], 40)},"
        f" {LABELS[row['correct']]}.",
    ]


def _bars(row: Row, bank: Sequence[Row]) -> list[Row]:
    """The bars of one rule's lane: what it returns, and the prefix that it pays for and drops."""
    bars = []
    for attempt in bank[: row["launched"]]:
        returned = attempt["position"] <= row["returned"]
        bars.append(
            attempt
            | {
                "stop": attempt["stop"] if returned else row["cost"],
                "kind": (ELIGIBLE if attempt["eligible"] else INELIGIBLE) if returned else CUT,
                "selected": not row["abstained"] and attempt["seed"] == row["seed"],
            }
        )
    return bars


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
    """One replay on a token axis: the attempts in order, the budget, what each rule buys.

    A part of the key that is left out is the first there is; the cap is the primary one.
    """
    alt = altair_module()
    key = _replay_key(con, archive, competition, question, repeat, budget, cap)
    unit = replayed_unit(con)
    limit, repeat = key["budget"], int(key["repeat"])
    bank = _bank(con, key)
    rules = _replay(con, key, bank)
    launched = rules["advisory"]["launched"]
    width = look.width - 40
    end = 1.22 * max(limit, rules["advisory"]["cost"])
    drawn = [attempt for attempt in bank if attempt["start"] < end]
    hidden = len(bank) - len(drawn)
    recorded = [
        attempt
        | {
            "kind": BEYOND
            if attempt["position"] > launched
            else ELIGIBLE
            if attempt["eligible"]
            else INELIGIBLE,
            "selected": False,
        }
        for attempt in drawn
    ]
    waiting = f"; {hidden} more lie beyond the picture" if hidden else ""
    lanes = [
        (
            f"The bank: {plural(len(bank), 'attempt')} in this order",
            [
                f"{launched} launched under both rules, because each began before B was spent"
                f"{waiting}."
            ],
            recorded,
        ),
        (
            "Strict: stops at B",
            ledger_words(rules["strict"], bank, unit),
            _bars(rules["strict"], bank),
        ),
        (
            "Advisory: lets the running attempt finish",
            ledger_words(rules["advisory"], bank, unit),
            _bars(rules["advisory"], bank),
        ),
    ]
    per_line = max(30, int(width / 5.9))
    texts: list[Row] = []
    bars: list[Row] = []
    notes: list[Row] = []
    marks: list[Row] = []
    y = 12.0
    for name, sentences, found in lanes:
        texts.append({"text": name, "y": y, "weight": "bold"})
        y += LINE + 1
        for sentence in sentences:
            for line in textwrap.wrap(sentence, per_line):
                texts.append({"text": line, "y": y, "weight": "normal"})
                y += LINE
        y += 14
        marks.append({"budget": limit, "top": y - 5, "bottom": y + BAR + 5})
        for attempt in found:
            start, stop = float(attempt["start"]), min(float(attempt["stop"]), end)
            # The label keeps clear of the line at B.
            left, right = start, stop
            if start < limit < stop:
                left, right = (start, limit) if limit - start >= stop - limit else (limit, stop)
            label = _bar_label(attempt, (right - left) / end * width)
            bars.append(
                {
                    "start": start,
                    "stop": stop,
                    "middle": (start + stop) / 2,
                    "label_at": (left + right) / 2,
                    "top": y,
                    "bottom": y + BAR,
                    "kind": attempt["kind"],
                    "selected": attempt["selected"],
                    "label": label,
                    "light": attempt["kind"] == ELIGIBLE,
                    "shown_attempt": f"{attempt['position']} (seed {attempt['seed']})",
                    "shown_cost": write_digits(attempt["cost"], unit),
                    "shown_answer": _answer_words(attempt),
                    "shown_end": str(attempt["finish_reason"]),
                }
            )
        y += BAR
        cost = rules["advisory"]["cost"]
        if name.startswith("Advisory") and cost > limit:
            y += 9
            over = f"{write_digits(cost - limit, unit)} past B"
            notes.append({"from": limit, "to": cost, "y": y, "text": over})
            y += 12
        y += 24
    height = y - 12
    scale = alt.Scale(domain=[height, 0], nice=False, zero=False)
    across = alt.Scale(domain=[0, end], nice=False)
    x = alt.X(
        field="start",
        type="quantitative",
        scale=across,
        title=f"{unit.measures}, cumulative",
        axis=alt.Axis(labelExpr=axis_labels(unit), grid=False, tickCount=8, labelOverlap="greedy"),
    )

    def down(field: str) -> Any:
        return alt.Y(field=field, type="quantitative", scale=scale, axis=None)

    kind = alt.Legend(orient="bottom", title=None, columns=2 if width < 600 else 4, symbolSize=140)

    def by_kind(channel: Any, values: Sequence[Any], legend: Any = None) -> Any:
        return channel(
            field="kind",
            type="nominal",
            scale=alt.Scale(domain=list(KINDS), range=list(values)),
            legend=legend,
        )

    base = alt.Chart(inline(bars))
    tooltip = tips(
        ("shown_attempt", "attempt"),
        ("shown_cost", unit.measures),
        ("shown_end", "finish reason"),
        ("shown_answer", "answer"),
        ("kind", "here"),
    )
    boxes = base.mark_bar(strokeWidth=1.2, cornerRadius=1).encode(
        x=x,
        x2=alt.X2(field="stop"),
        y=down("top"),
        y2=alt.Y2(field="bottom"),
        fill=by_kind(alt.Fill, [BLUE, "#c9c9c9", "#fbe0cc", "#ffffff"], kind),
        stroke=by_kind(alt.Stroke, ["#ffffff", "#8a8a8a", VERMILLION, "#a8a8a8"], kind),
        strokeDash=by_kind(alt.StrokeDash, [[1, 0], [1, 0], [4, 2], [2, 2]], kind),
        tooltip=tooltip,
    )
    chosen = base.transform_filter("datum.selected")
    layers = [
        boxes,
        base.transform_filter("datum.label != ''")
        .mark_text(fontSize=11)
        .encode(
            x=alt.X(field="label_at", type="quantitative", scale=across),
            y=down("top"),
            text=alt.Text(field="label", type="nominal"),
            color=alt.condition("datum.light", alt.value("white"), alt.value(INK)),
            yOffset=alt.value(BAR / 2),
        ),
        chosen.mark_bar(fill=None, stroke=INK, strokeWidth=2.5).encode(
            x=alt.X(field="start", type="quantitative", scale=across),
            x2=alt.X2(field="stop"),
            y=down("top"),
            y2=alt.Y2(field="bottom"),
        ),
        chosen.mark_point(
            shape="triangle-down", filled=True, size=80, color=INK, yOffset=-7
        ).encode(x=alt.X(field="middle", type="quantitative", scale=across), y=down("top")),
        chosen.mark_text(
            text="selected", fontSize=10.5, align="left", dx=8, dy=-7, color=INK
        ).encode(x=alt.X(field="middle", type="quantitative", scale=across), y=down("top")),
        alt.Chart(inline(marks))
        .mark_rule(strokeWidth=2.5, color=VERMILLION)
        .encode(
            x=alt.X(field="budget", type="quantitative", scale=across),
            y=down("top"),
            y2=alt.Y2(field="bottom"),
        ),
        alt.Chart(inline(marks[:1]))
        .mark_text(
            text=f"B = {budget_name(limit, unit)}",
            fontSize=11,
            fontWeight="bold",
            color=VERMILLION,
            dy=-7,
        )
        .encode(x=alt.X(field="budget", type="quantitative", scale=across), y=down("top")),
    ]
    if notes:
        over = alt.Chart(inline(notes))
        layers += [
            over.mark_rule(strokeWidth=4, color=VERMILLION, opacity=0.55).encode(
                x=alt.X(field="from", type="quantitative", scale=across),
                x2=alt.X2(field="to"),
                y=down("y"),
            ),
            over.mark_text(fontSize=11, align="left", baseline="top", dy=4, dx=4, color=INK).encode(
                x=alt.X(field="from", type="quantitative", scale=across),
                y=down("y"),
                text=alt.Text(field="text", type="nominal"),
            ),
        ]
    for weight, size in (("bold", 12.5), ("normal", 11.5)):
        layers.append(
            alt.Chart(inline([text for text in texts if text["weight"] == weight]))
            .mark_text(align="left", fontSize=size, fontWeight=weight, color=INK, limit=0)
            .encode(x=alt.value(0), y=down("y"), text=alt.Text(field="text", type="nominal"))
        )
    names = {
        (row["competition"], row["question_id"]): row["name"]
        for row in data.relation(con, "page_problems").to_pylist()
    }
    name = names[key["competition"], key["question_id"]]
    label = f" ({one_line(name)})" if name else ""
    order = "canonical order" if repeat == 0 else f"random order {repeat}"
    whole = frame(
        con,
        f"One replay at B = {budget_name(limit, unit)}",
        f"{one_line(key['archive'])} · {one_line(key['competition'])} question "
        f"{key['question_id']}{label} · {order} · at most {plural(key['cap'], 'attempt')}"
        f" · selector {data.settings(con)['primary_selector']}",
        look,
    )
    return alt.layer(*layers, width=width, height=height, **whole)


def _answer_words(attempt: Row) -> str:
    """The attempt's answer, or why it has no vote."""
    answer = one_line(attempt["answer"], 40) if attempt["answer"] is not None else "no answer"
    return answer if attempt["eligible"] else f"{answer} (not eligible)"


def _bar_label(attempt: Row, room: float) -> str:
    """As much of number and answer as fits the bar."""
    if attempt["kind"] == CUT:
        why = "cut"
    elif attempt["eligible"]:
        why = one_line(attempt["answer"], 24)
    else:
        why = "length" if attempt["finish_reason"] == "length" else "no vote"
    both = f"{attempt['position']}: {why}"
    if len(both) * 6.2 + 6 <= room:
        return both
    return str(attempt["position"]) if len(str(attempt["position"])) * 7 + 4 <= room else ""
