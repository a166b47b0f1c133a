"""What the replay's own SQL says of the few attempts of one problem.

A small database in memory holds the attempts as `load` would; the replay's files make the walk of
its one order, the policy's stop, the rule's stop and the selector's pick.
"""

import functools
import itertools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, answer_pattern, normal_answers, raw_answers
from audit.engine.build import render
from audit.engine.lineage import relations_read
from audit.engine.plugins import (
    KINDS,
    Plugin,
    Plugins,
    check_columns,
    check_lineage,
    plugins,
    read_plugin,
)
from audit.engine.replay import keep_walk_settings
from audit.engine.settings import keep
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError, first_line
from audit.live.attempts import COUNTED, Attempt, step_cost
from audit.load.schema import create_schema
from audit.options import Settings
from audit.sources.canonical import COLUMNS, find_column
from audit.text import not_there
from audit.units import UNITS, read_budget

# Enough made-up attempts to see whether a policy looks ahead.
MADE_UP = 32
# What a verdict asks of the replay's stages.
ASKED = ("stops", "prefix_selections", "tallies", "binomial_tails")
# What is filled once or per verdict; every other stage is a view.
TABLES = (
    "banks", "walks", "candidates", "candidate_scores", "step_ends", "walked_attempts",
    "prefix_weights", "binomial_tails",
)  # fmt: skip
POSITIONS = "policy_positions"
# A database without attempts has no walks: the one walk takes the attempts as they were made.
WALK = {
    "banks": "select 1 as bank_id, 1 as archive_id, 1 as problem_id, {planned} as bank_size",
    "walks": """
        select
            0::bigint as walk_id, bank_id, 0 as repeat, bank_size, archive_id, problem_id,
            'live' as archive, 'live' as competition, 0 as question_id,
        from banks
    """,
    "drawn_orders": """
        select problem_id, bank_size, 0 as repeat, []::integer[] as slots from banks
    """,
}
VERDICT = """
select
    stops.returned,
    prefix_selections.selected_prefix_id,
from stops
left join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
"""


class Verdict(NamedTuple):
    """What is returned and picked of the attempts so far."""

    returned: int
    selected: int | None


def judge_for(
    budget: str | int | float,
    rule: str,
    cap: int,
    unit: str,
    policy: str,
    selector: str,
    answer: str,
) -> "Judge":
    """The judge of these settings, which the controllers of many problems share."""
    if unit not in UNITS:
        raise AuditError(not_there("unit", unit, list(UNITS)))
    rules = [one.name for one in plugins("rules")]
    if rule not in rules:
        raise AuditError(not_there("rule", rule, rules))
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 1:
        raise AuditError(f"cap: a whole number of attempts above 0, found {cap!r}")
    answer_pattern(answer)
    if answer == NO_ANSWER and selector in ("majority", "archive_majority"):
        raise AuditError(f"answer 'none' leaves {selector} nothing to vote on: selector='first'")
    whole = whole_budget(budget, unit)
    chosen = (_plugin("policies", policy), _plugin("selectors", selector))
    return _judge(whole, rule, cap, unit, *chosen, answer)


def whole_budget(budget: str | int | float, unit: str) -> int:
    """A budget in the unit's whole numbers."""
    try:
        found = read_budget(budget, unit)
    except ValueError as error:
        raise AuditError(f"budget: {error}") from None
    if found < 1:
        raise AuditError(f"budget: '{budget}' must be above 0")
    return found


def _plugin(kind: str, name: str) -> Plugin:
    """A plug-in by its name, or of a user's file."""
    known = {plugin.name: plugin for plugin in plugins(kind)}
    if name in known:
        return known[name]
    if not Path(name).is_file():
        raise AuditError(f"{not_there(KINDS[kind].one, name, sorted(known))}, or a .sql file")
    found = read_plugin(Path(name))
    check_lineage(kind, found)
    return found


@functools.lru_cache(maxsize=64)
def _judge(*settings: Any) -> "Judge":
    return Judge(*settings)


class Judge:
    """A database in memory that judges one problem's attempts at a time."""

    def __init__(
        self,
        budget: int,
        rule: str,
        cap: int,
        unit: str,
        policy: Plugin,
        selector: Plugin,
        answer: str,
    ) -> None:
        self.budget, self.unit, self.answer = budget, unit, answer
        self.facts = {
            "budget": self.printed(budget),
            "unit": unit,
            "rule": rule,
            "policy": policy.name,
            "cap": cap,
            "selector": selector.name,
            "answer": answer,
        }
        self._lock = threading.Lock()
        self._planned = cap
        self._plugins = Plugins(
            [one for one in plugins("rules") if one.name == rule], [selector], [policy]
        )
        self._con = self._connect(cap)
        try:
            self._build()
            self._rehearse(policy, [_made_up(seed) for seed in range(min(cap, MADE_UP))])
        except duckdb.Error as error:
            raise AuditError(f"{selector.path}, {policy.path}: {first_line(error)}") from None

    def _connect(self, cap: int) -> duckdb.DuckDBPyConnection:
        """A database in memory with the settings of a replay, and nothing loaded."""
        con = duckdb.connect(":memory:", config={"threads": 1})
        con.execute("set enable_external_access = false")
        create_schema(con)
        settings = Settings(
            budgets=(self.budget,), caps=(cap,), primary_cap=cap, orders=0,
            primary_selector=self._plugins.selectors[0].name,
        )  # fmt: skip
        keep(con, settings, self._plugins)
        keep_walk_settings(con, settings, self._plugins)
        con.execute("set variable first_walk = 0; set variable last_walk = 0")
        return con

    def _build(self) -> None:
        """Make the replay's stages that a verdict needs, in their order."""
        needed: set[str] = set()
        reading = list(ASKED)
        while reading:
            name = reading.pop()
            if name in STAGE_NAMES and name not in needed:
                needed.add(name)
                reading += relations_read(self._sql(name))
        for name in (name for name in STAGE_NAMES if name in needed):
            for kind, stage in (("selectors", "prefix_selections"), ("policies", POSITIONS)):
                if name == stage:
                    check_columns(self._con, kind, getattr(self._plugins, kind)[0])
            kept_as = "table" if name in TABLES else "view"
            self._con.execute(f"create {kept_as} {name} as {self._sql(name)}")

    def _sql(self, name: str) -> str:
        return WALK.get(name, "").format(planned=self._planned) or render(name, self._plugins)

    def printed(self, cost: int) -> int | float:
        """A cost in the unit, as tables print it."""
        scale = UNITS[self.unit].scale
        return cost if scale == 1 else cost / scale

    def attempt(self, row: Mapping[str, Any]) -> Attempt:
        """An attempt from its canonical columns; one that cannot be counted is refused."""
        steps = row.get("steps") or [row]
        for step in steps:
            missing = [name for name in COUNTED[self.unit] if step.get(name) is None]
            if missing:
                raise AuditError(
                    f"attempt {row['seed']}: {' and '.join(missing)} unknown, so a budget in "
                    f"'{self.unit}' cannot be counted; the provider must return its usage"
                )
        _check_columns(row)
        texts = pa.array([row.get("text")], pa.large_string())
        boxed, archive = (
            pa.array([row.get(name)], pa.string()) for name in ("boxed_answer", "archive_answer")
        )
        answers = normal_answers(raw_answers(self.answer, texts, boxed, archive))
        cost = max(sum(step_cost(self.unit, step) for step in steps), 1)
        return Attempt(
            row["seed"], cost, row, answers[0].as_py(), normal_answers(archive)[0].as_py()
        )

    def stop(self, attempts: Sequence[Attempt], planned: int) -> int | None:
        """After which of these attempts, in their order, the policy stops; None is not yet."""
        policy = self._plugins.policies[0]
        if policy.name == "none" or not attempts:
            return None
        rows = self._ask(f"select min(stop_position) from ({policy.sql}\n)", attempts, planned)
        stop: int | None = rows[0][0]
        return stop

    def verdict(self, attempts: Sequence[Attempt], planned: int) -> Verdict:
        """What the replay would say of these attempts, in their order, of so many planned ones."""
        if not attempts:
            return Verdict(0, None)
        return Verdict(*self._ask(VERDICT, attempts, planned)[0])

    def _ask(self, sql: str, attempts: Sequence[Attempt], planned: int) -> list[tuple[Any, ...]]:
        """The rows of a query where these attempts are all that there is."""
        with self._lock:
            if planned != self._planned:
                self._con.execute("update banks set bank_size = ?", [planned])
                self._con.execute("update walks set bank_size = ?", [planned])
                self._planned = planned
            candidates = self._candidates(attempts)
            self._fill("walked_attempts", _walked(candidates))
            if "candidates" in relations_read(self._plugins.selectors[0].sql):
                self._fill("candidates", candidates)
            return self._con.execute(sql).fetchall()

    def _fill(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Put rows in the place of those that a table has."""
        self._con.execute(f"truncate {table}")
        columns = ", ".join(f"unnest(${name}) as {name}" for name in rows[0])
        values = {name: [row[name] for row in rows] for name in rows[0]}
        self._con.execute(f"insert into {table} by name select {columns}", values)

    def _candidates(self, attempts: Sequence[Attempt]) -> list[dict[str, Any]]:
        """The attempts as the stage `candidates` has them."""
        answer_ids = _dense_ranks([one.answer for one in attempts])
        archive_ids = _dense_ranks([one.archive_answer for one in attempts])
        logprobs = [one.columns.get("mean_logprob") for one in attempts]
        ranks = _dense_ranks(logprobs, nulls_first=True)
        rows = []
        for slot, one in enumerate(attempts):
            is_eligible = one.is_finished and (one.answer is not None or self.answer == NO_ANSWER)
            rows.append({
                "bank_id": 1,
                "slot": slot,
                "seed": one.seed,
                "prompt_tokens": one.columns.get("prompt_tokens") or 0,
                "cached_tokens": one.columns.get("cached_tokens") or 0,
                "cost": one.cost,
                "last_step": one.cost,
                "finish_reason": one.columns["finish_reason"],
                "is_eligible": is_eligible,
                "is_archive_eligible": one.is_finished and one.archive_answer is not None,
                "answer": one.answer,
                "archive_answer": one.archive_answer,
                # Without answers every attempt is an answer of its own.
                "answer_id": slot + 1 if is_eligible and one.answer is None else answer_ids[slot],
                "archive_answer_id": archive_ids[slot],
                "logprob_rank": ranks[slot] if is_eligible and logprobs[slot] is not None else None,
            })  # fmt: skip
        return rows

    def _rehearse(self, policy: Plugin, bank: Sequence[Attempt]) -> None:
        """Judge made-up attempts, so that a mistake shows before an attempt is paid for."""
        self.verdict(bank, len(bank))
        whole = self.stop(bank, len(bank))
        if policy.path.startswith("sql/"):
            return
        for length in range(1, len(bank)):
            stop = self.stop(bank[:length], len(bank))
            if stop != (whole if whole is not None and whole <= length else None):
                raise AuditError(
                    f"{policy.path}: reads what is not known live: after {length} attempts it "
                    f"stops at {stop or 'none of them'}, with those to come at {whole or 'none'}"
                )


def _check_columns(row: Mapping[str, Any]) -> None:
    """Refuse what `load` would refuse or leave out; a reply of no tokens is a failed attempt."""
    for name, value in row.items():
        column = find_column(name)
        if column is None:
            raise AuditError(f"record: {not_there('column', name, list(COLUMNS))}")
        try:
            if value is not None and (name, value) != ("completion_tokens", 0):
                column.rule(value)
        except ValueError as error:
            raise AuditError(f"attempt {row['seed']}: {name} {error}") from None
    for name in ("prompt_tokens", "completion_tokens"):
        total = sum(int(step.get(name) or 0) for step in row.get("steps") or ())
        if row.get("steps") and row.get(name) not in (None, total):
            raise AuditError(
                f"attempt {row['seed']}: {name} is {row[name]}, but its steps add up to {total}"
            )


def _dense_ranks(values: Sequence[Any], nulls_first: bool = False) -> list[int]:
    """The dense rank of every value in ascending order, as DuckDB gives it."""
    known = sorted({value for value in values if value is not None})
    first = 2 if nulls_first and None in values else 1
    places: dict[Any, int] = {value: place for place, value in enumerate(known, first)}
    places[None] = 1 if nulls_first else len(known) + 1
    return [places[value] for value in values]


def _walked(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The candidates in their order as the stage `walked_attempts` has them."""
    kept = ("slot", "is_eligible", "answer_id", "is_archive_eligible", "archive_answer_id", "cost",
            "logprob_rank")  # fmt: skip
    start = {name: False if name.startswith("is_") else None for name in kept} | {"cost": 0}
    rows = [start, *({name: row[name] for name in kept} for row in candidates)]
    costs = itertools.accumulate(row["cost"] for row in rows)
    return [
        {
            **row,
            "prefix_id": position,
            "walk_id": 0,
            "bank_id": 1,
            "position": position,
            "cumulative_cost": cost,
            "cumulative_prompt": 0,
            "is_end": position == len(candidates),
        }
        for position, (row, cost) in enumerate(zip(rows, costs, strict=True))
    ]


def _made_up(seed: int) -> Attempt:
    """An attempt that costs little and agrees with most others."""
    reason = "stop" if seed % 5 else "length"
    columns = {"finish_reason": reason, "mean_logprob": -1.0 / (seed + 1)}
    answer = "4" if seed % 3 else "5"
    return Attempt(seed, 1 + seed % 4, columns, answer, answer)
