"""What the replay's own SQL says of the few attempts of one problem.

A small database in memory holds the attempts as `load` would; the replay's files make the walk of
its one order, the policy's stop, the rule's stop and the selector's pick.
"""

import functools
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
from audit.engine.stages import STAGE_NAMES, TABLES
from audit.errors import AuditError, first_line
from audit.live.controller import COUNTED, Attempt, step_cost
from audit.load.schema import create_schema
from audit.options import Settings
from audit.text import not_there
from audit.units import UNITS, read_budget

MADE_UP = 32
# What a verdict asks of the replay's stages.
ASKED = ("stops", "prefix_selections", "tallies", "binomial_tails")
# What is the same for every problem here.
SETTLED = ("replayed_problems", "archives", "problems")
# The one order is that in which the attempts were made.
ORDER = """
select
    banks.problem_id,
    banks.bank_size,
    0 as repeat,
    list(candidates.slot order by candidates.slot) as slots,
from banks
inner join candidates on banks.bank_id = candidates.bank_id
group by banks.problem_id, banks.bank_size
"""
# A policy knows how many attempts are planned; those that are to come are in no bank.
TALLIES = "select * replace ((select bank_size from planned) as bank_size) from ({sql})"
VERDICT = """
select
    stops.returned,
    stops.cost,
    prefix_selections.selected_prefix_id - stops.walk_id,
    (select min(stop_position) from ({policy})),
from stops
left join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
"""


class Verdict(NamedTuple):
    """What is returned, charged and picked of the attempts so far, and where the policy stops."""

    returned: int
    cost: int
    selected: int | None
    stop_position: int | None


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
    if cap < 1:
        raise AuditError("cap: a whole number of attempts above 0")
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
        self.has_policy = policy.name != "none"
        self._lock = threading.Lock()
        self._refreshed: list[str] = []
        self._cap = min(cap, MADE_UP)
        self._plugins = Plugins(
            [one for one in plugins("rules") if one.name == rule], [selector], [policy]
        )
        self.facts = {
            "budget": self.printed(budget),
            "unit": unit,
            "rule": rule,
            "policy": policy.name,
            "cap": cap,
            "selector": selector.name,
            "answer": answer,
        }
        self._question = VERDICT.format(policy=policy.sql)
        self._con = self._connect(cap, selector.name)
        try:
            self._rehearse()
        except duckdb.Error as error:
            raise AuditError(f"{selector.path}, {policy.path}: {first_line(error)}") from None

    def _connect(self, cap: int, selector: str) -> duckdb.DuckDBPyConnection:
        con = duckdb.connect(":memory:", config={"threads": 1})
        con.execute("set enable_external_access = false")
        create_schema(con)
        settings = Settings(
            budgets=(self.budget,), caps=(cap,), primary_cap=cap, orders=0,
            primary_selector=selector,
        )  # fmt: skip
        keep(con, settings, self._plugins)
        keep_walk_settings(con, settings, self._plugins)
        con.execute(f"set variable first_walk = 0; set variable last_walk = {2**62}")
        con.execute("create table planned as select 0 as bank_size")
        return con

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
        texts = pa.array([row.get("text")], pa.large_string())
        boxed, archive = (
            pa.array([row.get(name)], pa.string()) for name in ("boxed_answer", "archive_answer")
        )
        answers = normal_answers(raw_answers(self.answer, texts, boxed, archive))
        cost = max(sum(step_cost(self.unit, step) for step in steps), 1)
        return Attempt(
            row["seed"], cost, row, answers[0].as_py(), normal_answers(archive)[0].as_py()
        )

    def verdict(self, attempts: Sequence[Attempt], bank_size: int) -> Verdict:
        """What the replay would say of these attempts, in their order, of so many planned ones."""
        if not attempts:
            return Verdict(0, 0, None, None)
        with self._lock:
            self._con.execute("update planned set bank_size = ?", [bank_size])
            self._fill(attempts)
            for statement in self._refreshed:
                self._con.execute(statement)
            (row,) = self._con.execute(self._question).fetchall()
        return Verdict(*row)

    def _fill(self, attempts: Sequence[Attempt]) -> None:
        """Put the attempts in the place of those before, as `load` would write them."""
        rows = [
            {
                "archive": "live",
                "competition": "live",
                "question_id": 0,
                "seed": position,
                "slot": position,
                "prompt_tokens": 0,
                # One whole number stands for the cost, whatever the unit.
                "completion_tokens": attempt.cost,
                "finish_reason": attempt.columns["finish_reason"],
                "answer": attempt.answer,
                "archive_answer": attempt.archive_answer,
                "mean_logprob": attempt.columns.get("mean_logprob"),
                "eligible": attempt.is_finished
                and (attempt.answer is not None or self.answer == NO_ANSWER),
            }
            for position, attempt in enumerate(attempts)
        ]
        self._con.execute("delete from attempts")
        self._con.register("arriving", pa.Table.from_pylist(rows))
        self._con.execute("insert into attempts by name from arriving")
        self._con.unregister("arriving")

    def _rehearse(self) -> None:
        """Build everything on made-up attempts, so that a mistake shows before one is paid for."""
        policy = self._plugins.policies[0]
        bank = [self._made_up(seed) for seed in range(self._cap)]
        self._fill(bank)
        for name in self._stages():
            if name == "prefix_selections":
                check_columns(self._con, "selectors", self._plugins.selectors[0])
            if name == "policy_positions":
                check_columns(self._con, "policies", policy)
            kind = "table" if name in TABLES else "view"
            statement = f"create or replace {kind} {name} as {self._sql(name)}"
            self._con.execute(statement)
            if kind == "table" and name not in SETTLED:
                self._refreshed.append(statement)
            if name == "walks":
                self._con.execute("create view portion as from walks")
        whole = self.verdict(bank, len(bank)).stop_position
        if policy.path.startswith("sql/"):
            return
        for length in range(1, len(bank)):
            stop = self.verdict(bank[:length], len(bank)).stop_position
            if stop != (whole if whole is not None and whole <= length else None):
                raise AuditError(
                    f"{policy.path}: reads what is not known live: after {length} attempts it "
                    f"stops at {stop or 'none of them'}, with those to come at {whole or 'none'}"
                )

    def _stages(self) -> list[str]:
        """The replay's stages that a verdict needs, in their order."""
        needed: set[str] = set()
        reading = list(ASKED)
        while reading:
            name = reading.pop()
            if name in STAGE_NAMES and name not in needed:
                needed.add(name)
                reading += relations_read(self._sql(name))
                # A portion of walks is all of them.
                reading.append("walks")
        return [name for name in STAGE_NAMES if name in needed]

    def _sql(self, name: str) -> str:
        if name == "drawn_orders":
            return ORDER
        sql = render(name, self._plugins)
        return TALLIES.format(sql=sql) if name == "tallies" else sql

    def _made_up(self, seed: int) -> Attempt:
        """An attempt that costs little and agrees with most others."""
        columns = {
            "finish_reason": "stop" if seed % 5 else "length",
            "mean_logprob": -1.0 / (seed + 1),
        }
        answer = "4" if seed % 3 else "5"
        return Attempt(seed, 1 + seed % 4, columns, answer, answer)
