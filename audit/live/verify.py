"""A live run beside the replay of an unrestricted one: is it what the replay says?"""

import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from audit.database import connect
from audit.engine import replay
from audit.errors import AuditError
from audit.live.judge import judge_for
from audit.load.load import load
from audit.options import Reading, Settings
from audit.units import write_amount

# What `verify` needs to know of the live run, and what stands in where its records do not say.
DEFAULTS = {
    "unit": "completion", "rule": "strict", "policy": "none", "selector": "majority",
    "answer": "boxed",
}  # fmt: skip
NAMED = ("budget", "rule", "cap", "unit", "policy", "selector", "answer")
COMPARED = ("launched", "cost", "answer", "correct")
FACT = """
select distinct json_extract_string(mapping, '$.live_' || $fact) as value
from sources
where value is not null
order by value
"""
# Every walk of a database under one rule and policy; without policies `replays` has them.
OUTCOMES = """
select
    archive,
    competition,
    coalesce(problems.name, question_id::varchar) as problem,
    repeat,
    launched,
    cost,
    answer,
    correct,
from {prefix}replays as replays
inner join {prefix}selections as selections
    using (archive, competition, question_id, repeat, cap, budget, rule{key})
inner join problems using (competition, question_id)
where rule = $rule and selector = $selector and cap = $cap {policy}
order by all
"""
ATTEMPTS = """
select
    archive,
    competition,
    coalesce(problem_names.name, question_id::varchar) as problem,
    list((seed, completion_tokens, finish_reason, answer) order by slot) as attempts,
from attempts
left join problem_names using (competition, question_id)
group by all
"""
Key = tuple[str, str, str]


class Verified(NamedTuple):
    """A row per problem of the live run, what they come to, and whether none contradicts."""

    rows: pa.Table
    caption: str
    notes: list[str]
    is_equal: bool


class _Run(NamedTuple):
    """What was found in one database: outcomes by problem and repeat, and attempts."""

    outcomes: dict[Key, dict[int, dict[str, Any]]]
    attempts: dict[Key, list[tuple[Any, ...]]]


def verify(live: str, full: str, options: Mapping[str, Any]) -> Verified:
    """Compare a live run with the replay of an unrestricted one, problem by problem."""
    options = {name: value for name, value in options.items() if value is not None}
    with TemporaryDirectory() as folder, ExitStack() as open_files:

        def database(source: str, name: str, answer: str) -> duckdb.DuckDBPyConnection:
            return open_files.enter_context(closing(_database(source, Path(folder, name), answer)))

        con = database(live, "live.duckdb", DEFAULTS["answer"])
        facts = _facts(con, live, options)
        if facts["answer"] != DEFAULTS["answer"]:
            con = database(live, "reread.duckdb", facts["answer"])
        ran = _replayed(con, facts | {"policy": "none"}, orders=0)
        con = database(full, "full.duckdb", facts["answer"])
        replayed = _replayed(con, facts, orders=Settings().orders)
    return _compared(*_paired(ran, replayed, live, full), facts)


def _database(source: str, path: Path, answer: str) -> duckdb.DuckDBPyConnection:
    """A database of our own with what a source holds: a copy of one, or the files loaded."""
    if Path(source).is_file():
        with open(source, "rb") as file:
            is_database = file.read(12).endswith(b"DUCK")
        if is_database:
            shutil.copy(source, path)
            return connect(path)
    con = connect(path)
    load(con, [source], texts=False, reading=Reading(answer=answer, force=True))
    return con


def _facts(con: duckdb.DuckDBPyConnection, live: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the live run was run with: as given, as its records say, or by default."""
    facts: dict[str, Any] = dict(options)
    recorded = {}
    for fact in NAMED:
        rows = con.execute(FACT, {"fact": fact}).fetchall()
        if len(rows) > 1 and fact not in facts:
            values = ", ".join(value for (value,) in rows)
            raise AuditError(f"{live}: runs of several kinds ({fact}: {values}); verify each")
        recorded[fact] = rows[0][0] if len(rows) == 1 else None
        facts.setdefault(fact, recorded[fact] or DEFAULTS.get(fact))
    if facts["cap"] is None:
        ((facts["cap"],),) = con.execute("select max(slot) + 1 from attempts").fetchall()
    if facts["budget"] is None:
        raise AuditError(f"{live}: does not say under which budget it was run; pass --budget")
    facts["cap"] = int(facts["cap"])
    # Names that are not there are refused before anything is replayed.
    judge = judge_for(**{name: facts[name] for name in NAMED})
    facts["amount"] = write_amount(judge.printed(judge.budget), facts["unit"])
    facts["notes"] = [
        f"{live} was run with {name} {recorded[name]}: compared as if with {name} {value}"
        for name, value in judge.facts.items()
        if recorded[name] not in (None, str(value))
    ]
    return facts


def _replayed(con: duckdb.DuckDBPyConnection, facts: Mapping[str, Any], orders: int) -> _Run:
    """Replay a database as the live run was run."""
    rule, cap = facts["rule"], facts["cap"]
    policy, policies = _own(facts["policy"])
    selector, selectors = _own(facts["selector"])
    replay(
        con,
        unit=facts["unit"],
        budgets=[facts["budget"]],
        caps=[cap],
        primary_cap=cap,
        primary_selector=selector,
        orders=orders,
        replicates=0,
        curve_points=0,
        policies=[] if policy == "none" else [policies],
        # The two of the study are always among the rules.
        rules=None if rule in ("strict", "advisory") else rule,
        selectors=None if selectors == selector else selectors,
    )
    parts = {"prefix": "", "key": "", "policy": ""}
    values = {"rule": rule, "selector": selector, "cap": cap}
    if policy != "none":
        parts = {"prefix": "policy_", "key": ", policy", "policy": "and policy = $policy"}
        values["policy"] = policy
    outcomes: dict[Key, dict[int, dict[str, Any]]] = {}
    for *key, repeat, launched, cost, answer, correct in con.execute(
        OUTCOMES.format(**parts), values
    ).fetchall():
        values_of = dict(zip(COMPARED, (launched, cost, answer, correct), strict=True))
        outcomes.setdefault((key[0], key[1], key[2]), {})[repeat] = values_of
    rows = con.execute(ATTEMPTS).fetchall()
    return _Run(outcomes, {row[:3]: row[3] for row in rows})


def _own(name: str) -> tuple[str, str]:
    """The name of a plug-in, and what asks for it: itself, or the folder of a user's file."""
    path = Path(name)
    return (path.stem, str(path.parent)) if path.suffix == ".sql" else (name, name)


def _paired(ran: _Run, replayed: _Run, live: str, full: str) -> tuple[_Run, _Run]:
    """Both runs under the same archive names; two single archives need no common name."""
    names = [sorted({key[0] for key in run.outcomes}) for run in (ran, replayed)]
    if len(names[0]) == len(names[1]) == 1:
        (name,) = names[0]
        replayed = _Run(
            {(name, *key[1:]): outcome for key, outcome in replayed.outcomes.items()},
            {(name, *key[1:]): attempts for key, attempts in replayed.attempts.items()},
        )
    missing = sorted(ran.outcomes.keys() - replayed.outcomes.keys())
    if missing:
        raise AuditError(
            f"{full}: has no attempts at {', '.join(missing[0])}, one of {len(missing):,} problems "
            f"that are in {live} alone; verify needs an unrestricted run of the same problems"
        )
    return ran, replayed


def _compared(ran: _Run, replayed: _Run, facts: Mapping[str, Any]) -> Verified:
    rows, unlabelled = [], 0
    # Problem 10 comes after problem 9.
    for key in sorted(ran.outcomes, key=lambda key: (*key[:2], len(key[2]), key[2])):
        # What a live run holds was launched, whether the budget allowed it or not.
        mine = {**ran.outcomes[key][0], "launched": len(ran.attempts[key])}
        theirs = replayed.outcomes[key][0]
        others = _other_attempt(ran.attempts[key], replayed.attempts[key])
        # A label that only one side has contradicts nothing.
        has_labels = None not in (mine["correct"], theirs["correct"])
        unlabelled += not has_labels
        names = COMPARED if has_labels else COMPARED[:-1]
        unlike = [name for name in names if mine[name] != theirs[name]]
        differences = [
            f"{name} {_as_text(mine[name])}, replayed {_as_text(theirs[name])}" for name in unlike
        ]
        rows.append({
            "archive": key[0], "competition": key[1], "problem": key[2],
            "result": "other attempts" if others else "different" if unlike else "equal",
            "difference": others or "; ".join(differences) or None,
            **{f"live_{name}": mine[name] for name in COMPARED},
            **{name: theirs[name] for name in COMPARED},
        })  # fmt: skip
    counts = {
        result: sum(row["result"] == result for row in rows)
        for result in ("equal", "different", "other attempts")
    }
    caption = (
        f"{counts['equal']:,} of {len(rows):,} problems equal the replay (launched, cost, answer, "
        f"label) at budget {facts['amount']} ({facts['unit']}), rule {facts['rule']}, policy "
        f"{facts['policy']}, cap {facts['cap']}"
    )
    notes = [*facts["notes"]]
    if unlabelled:
        notes.append(f"{unlabelled:,} problems have no label in one of the runs: none is compared")
    if counts["different"]:
        notes.append(f"{counts['different']:,} problems differ although their attempts are equal")
    if counts["other attempts"]:
        notes += _predicted(ran, replayed, counts["other attempts"])
    return Verified(pa.Table.from_pylist(rows), caption, notes, not counts["different"])


def _as_text(value: Any) -> str:
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def _other_attempt(
    mine: Sequence[tuple[Any, ...]], theirs: Sequence[tuple[Any, ...]]
) -> str | None:
    """The first attempt that two runs do not share; the last live one may be cut."""
    for position, (seed, cost, reason, answer) in enumerate(mine):
        if position >= len(theirs):
            return f"attempt {seed} is in the live run alone"
        other_seed, other_cost, other_reason, other_answer = theirs[position]
        is_cut = position == len(mine) - 1 and reason != "stop" and cost <= other_cost
        if seed != other_seed or not (
            is_cut or (cost, reason, answer) == (other_cost, other_reason, other_answer)
        ):
            return (
                f"attempt {seed} cost {cost} and answered {_as_text(answer)}, replayed: attempt "
                f"{other_seed} cost {other_cost} and answered {_as_text(other_answer)}"
            )
    return None


def _predicted(ran: _Run, replayed: _Run, others: int) -> list[str]:
    """How far a genuine rerun lies from what the replay predicts over random orders, paired."""
    notes = [f"{others:,} problems have other attempts: this is another sampling"]
    keys = sorted(ran.outcomes, key=lambda key: (key[1], key))
    for name, unit, scale in (("correct", "points of accuracy", 100), ("cost", "of cost", 1)):
        differences = [
            _difference(ran.outcomes[key][0], replayed.outcomes[key], name) for key in keys
        ]
        paired = [
            (key[1], value)
            for key, value in zip(keys, differences, strict=True)
            if value is not None
        ]
        if paired:
            mean, low, high = (scale * value for value in _interval(paired))
            notes.append(
                f"live minus replayed: {mean:.2f} {unit} (95 % {low:.2f} to {high:.2f}, "
                f"{len(paired):,} problems, paired)"
            )
    return notes


def _difference(
    mine: Mapping[str, Any], walks: Mapping[int, Mapping[str, Any]], name: str
) -> float | None:
    """The live value less the mean over the replay's random orders."""
    values = [row[name] for repeat, row in walks.items() if repeat]
    if mine[name] is None or None in values:
        return None
    return float(mine[name]) - sum(map(float, values)) / len(values)


def _interval(differences: Sequence[tuple[str, float]]) -> tuple[float, float, float]:
    """The mean, and the 95 % interval over problems drawn anew within each competition."""
    settings = Settings()
    rng = np.random.default_rng(settings.bootstrap_seed)
    values = np.array([value for _, value in differences])
    competitions = [competition for competition, _ in differences]
    sizes = [competitions.count(name) for name in dict.fromkeys(competitions)]
    drawn = [
        rng.multinomial(size, np.full(size, 1 / size), size=settings.replicates) for size in sizes
    ]
    means = np.hstack(drawn) @ values / len(values)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)
