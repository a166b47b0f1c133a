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
from audit.report.figures.drawing import PLAIN, Look, filled, frame
from audit.report.wording import amount, one_line
from audit.rules import RULES, list_rules
from audit.text import first_names, plural
from audit.units import UNITS, Amount, Unit, read_budget, write_digits

ELIGIBLE = "returned, eligible"
INELIGIBLE = "returned, not eligible"
CUT = "paid, not returned"
BEYOND = "not launched"
BAR_KINDS = (ELIGIBLE, INELIGIBLE, CUT, BEYOND)
BAR, LINE = 30, 15
# What a mistake calls a part of the key, and the parts that it is a part of.
WORDS = {"question_id": "question", "cap": "attempt cap"}
WITHIN = {"competition": ("archive",), "question_id": ("archive", "competition")}
LABELS = {True: "correct", False: "incorrect", None: "not labelled"}


def _replay_key(con: duckdb.DuckDBPyConnection, asked: Row, budget: Amount | None) -> Row:
    """Return the key of one replay: check the given parts, and take the first of the others."""
    key: Row = {}
    if budget is None:
        asked = asked | {"budget": None}
    for column, value in asked.items():
        conditions = " and ".join(f"{name} = ?" for name in key) or "true"
        sql = f"select distinct {column} from replays where {conditions} order by 1"
        values = [value for (value,) in con.execute(sql, list(key.values())).fetchall()]
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


def ledger_words(row: Row, bank: Sequence[Row], unit: Unit = UNITS["completion"]) -> list[str]:
    """Return what one rule pays and returns in one replay, as two sentences."""
    budget, cost = row["budget"], row["cost"]
    paid = f"Pays {amount(cost, unit)}"
    if cost > budget:
        paid += f", {amount(cost - budget, unit)} past B"
    elif cost < budget:
        paid += f", {amount(budget - cost, unit)} short of B: no attempt is left"
    if row["prefix_cost"]:
        lost = "an attempt cut at B" if row.get("rule", "strict") == "strict" else "what is lost"
        paid += f", {amount(row['prefix_cost'], unit)} for {lost}"
    paid += (
        f"; returns {plural(row['returned'], 'attempt')}"
        f" of {row['launched']:,} launched, {row['eligible']:,} eligible."
    )
    taken = _terminal_words(row.get("terminals", []), unit)
    if row["abstained"]:
        return [paid, "Selects nothing: it abstains, which counts as incorrect.", *taken]
    position = next((a["position"] for a in bank if a["seed"] == row["seed"]), None)
    answer = "" if row["answer"] is None else f" {one_line(row['answer'], 40)},"
    selects = f"Selects attempt {position} (seed {row['seed']}):{answer} {LABELS[row['correct']]}."
    return [paid, selects, *taken]


def _terminal_words(terminals: Sequence[Row], unit: Unit) -> list[str]:
    """Return what terminals take from the cut attempt; those that do the same share a sentence."""
    names: dict[str, list[str]] = {}
    for row in terminals:
        said = f"takes no answer from attempt {row['position']}."
        if row["admitted_at"] is not None:
            tokens = amount(row["admitted_at"], unit)
            done = "had written" if row["terminal"] == "standing" else "is asked and answers"
            said = (
                f"after {tokens}, attempt {row['position']} {done} {one_line(row['answer'], 40)}, "
                f"{LABELS[row['correct']]}; "
            )
            selected = row["selected_answer"]
            said += "selects nothing." if row["abstained"] else f"selects {one_line(selected, 40)}."
        names.setdefault(said, []).append(row["terminal"])
    return [f"With {', '.join(same)}: {said}" for said, same in names.items()]


def _bars(row: Row, bank: Sequence[Row]) -> list[Row]:
    """Return the bars of one rule's lane: what it returns, and the prefix that it pays for."""
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
    returned = row["returned"]
    return [*launched[:returned], *(attempt | dropped for attempt in launched[returned:])]


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
) -> Row:
    """Return one replay on an axis of cost: the attempts in order, the budget, what each rule buys.

    A part of the key that is left out is the first there is; the cap is the primary one.
    """
    asked = {"archive": archive, "competition": competition, "question_id": question}
    primary_cap = int(data.settings(con)["primary_cap"])
    asked_walk = {"repeat": repeat, "cap": primary_cap if cap is None else cap}
    key = _replay_key(con, asked | asked_walk, budget)
    unit = replayed_unit(con)
    order = {name: value for name, value in key.items() if name != "budget"}
    bank = data.relation(con, "timeline_attempts", **order).to_pylist()
    used = list(list_rules(data.settings(con)["rules"].split(",")).values())
    rules = {
        row["rule"]: row
        for row in data.relation(con, "timeline_ledger", rules=used, **key).to_pylist()
    }
    rules["strict"]["terminals"] = data.relation(con, "timeline_terminals", **key).to_pylist()
    width = look.width - 40
    end = 1.22 * max(key["budget"], rules["advisory"]["cost"])
    placed = _placed(_lanes(rules, bank, end, unit), rules, key["budget"], end, width, unit)
    shown = {"budget": budget_name(key["budget"], unit), "kinds": BAR_KINDS, "bar": BAR}
    spec = filled("timeline", unit, end=end, width=width, **shown, **placed)
    return spec | _framed(con, key, unit, look)


def _lanes(
    rules: dict[str, Row], bank: Sequence[Row], end: float, unit: Unit
) -> list[tuple[str, str, list[str], list[Row]]]:
    """Return the lanes from the top: rule (none for the bank), title, sentences and bars."""
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
        lanes.append((rule, RULES[rule].title, ledger_words(row, bank, unit), _bars(row, bank)))
    return lanes


def _placed(
    lanes: Sequence[tuple[str, str, list[str], list[Row]]],
    rules: dict[str, Row],
    limit: float,
    end: float,
    width: float,
    unit: Unit,
) -> Row:
    """Return the lanes below each other, everything with its place, and how high the picture is."""
    texts: list[Row] = []
    placed: Row = {"texts": texts, "bars": [], "steps": [], "notes": [], "marks": [], "asked": []}
    y = 12.0
    for rule, name, sentences, bars in lanes:
        texts.append({"text": name, "y": y, "weight": "bold"})
        y += LINE + 1
        for sentence in sentences:
            for line in textwrap.wrap(sentence, max(30, int(width / 5.9))):
                texts.append({"text": line, "y": y, "weight": "normal"})
                y += LINE
        y += 14
        placed["marks"].append({"budget": limit, "top": y - 5, "bottom": y + BAR + 5})
        span = {"top": y, "bottom": y + BAR}
        placed["bars"] += [_bar(attempt, limit, end, width, unit) | span for attempt in bars]
        placed["steps"] += [
            {"at": step} | span
            for attempt in bars
            for step in attempt["steps"]
            if step < min(float(attempt["stop"]), end)
        ]
        taken = rules[rule].get("terminals", []) if rule else []
        places = {row["place"] for row in taken if row["place"] is not None}
        placed["asked"] += [{"at": place} | span for place in sorted(places)]
        y += BAR
        cost = rules[rule]["cost"] if rule else 0
        if cost > limit:
            y += 9
            over = f"{amount(cost - limit, unit)} past B"
            placed["notes"].append({"from": limit, "to": cost, "y": y, "text": over})
            y += 12
        y += 24
    return placed | {"height": y - 12}


def _bar(attempt: Row, limit: float, end: float, width: float, unit: Unit) -> Row:
    """Return one bar and what it says; its label keeps clear of the line at B."""
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


def _framed(con: duckdb.DuckDBPyConnection, key: Row, unit: Unit, look: Look) -> dict[str, Any]:
    """Return the title, and what the picture is of."""
    repeat = int(key["repeat"])
    problem = "select name from problems where competition = ? and question_id = ?"
    asked = [key["competition"], key["question_id"]]
    ((name,),) = con.execute(problem, asked).fetchall()
    label = f" ({one_line(name)})" if name else ""
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
    """Return the attempt's answer, or why it has no vote."""
    answer = one_line(attempt["answer"], 40) if attempt["answer"] is not None else "no answer"
    return answer if attempt["eligible"] else f"{answer} (not eligible)"


def _bar_label(attempt: Row, room: float) -> str:
    """Return as much of number and answer as fits the bar."""
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
