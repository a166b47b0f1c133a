"""The judge of one problem's attempts: it asks the replay's own SQL when to stop and what to pick.

A small database in memory holds the attempts in the order in which they were made, as the only
walk of one bank. The SQL files of the selector and the policy are those of the replay.
"""

import functools
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, compile_pattern, extract_answers, normalize_answers
from audit.database.schema import ANSWER, store_fact
from audit.engine.build import render, render_with_inputs
from audit.engine.lineage import parse_relations
from audit.engine.plugins import (
    CANONICAL,
    KINDS,
    Plugin,
    Plugins,
    check_columns,
    check_contract,
    check_plugin,
    load_plugins,
    read_plugin,
)
from audit.engine.settings import LARGEST_BUDGET, store_settings
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError, first_line
from audit.live.attempts import COUNTED, Attempt, step_cost
from audit.load.schema import create_schema
from audit.options import Settings
from audit.rules import RULES
from audit.sources.canonical import COLUMNS, find_column
from audit.text import not_there
from audit.units import UNITS, read_budget

# The number of made-up attempts that show whether a policy or a selector looks ahead.
MADE_UP = 32
# The table binomial_tails has cap² / 2 rows.
MOST_TRIALS = 1000
# The stages of the replay that the two questions read.
ASKED = ("primary_picks", "eligible_attempts", "policy_positions")
# Stages and the files of sql/live that replace them here: one bank, walked once to its end.
ONE_BANK = {
    "banks": "one_bank",
    "walks": "one_walk",
    "walked_attempts": "one_walk_attempts",
    **dict.fromkeys(
        ("canonical_attempts", "whole_attempts", "walked", "whole_walked"), "same_walk"
    ),
}
# Stages that are tables, filled once (walked_attempts for each question); others are views.
TABLES = ("banks", "walks", "walked_attempts", "binomial_tails")
# The questions to the database: the files live_stop and live_pick.
QUESTIONS = ("stop", "pick")


def get_judge(
    budget: str | int | float,
    rule: str,
    cap: int,
    unit: str,
    policy: str,
    selector: str,
    answer: str,
) -> "Judge":
    """Check the settings and return their judge; controllers with equal settings share one."""
    if unit not in UNITS:
        raise AuditError(not_there("unit", str(unit), list(UNITS)))
    if rule not in RULES:
        raise AuditError(not_there("rule", str(rule), list(RULES)))
    check_count("cap", cap)
    compile_pattern(str(answer))
    if answer == NO_ANSWER and selector in ("majority", "archive_majority"):
        raise AuditError(f"answer 'none' leaves {selector} nothing to vote on: selector='first'")
    chosen = (_find_plugin("policies", str(policy)), _find_plugin("selectors", str(selector)))
    return _judge(_read_budget(budget, unit), rule, cap, unit, *chosen, str(answer))


def check_count(name: str, count: Any) -> None:
    """Refuse a value that is not a whole number of attempts above 0."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count < 2**31:
        raise AuditError(f"{name}: a whole number of attempts above 0, found {count!r}")


def _read_budget(budget: str | int | float, unit: str) -> int:
    """Convert a budget such as '16k' or '$0.05' to the integer that costs are compared with."""
    try:
        whole = read_budget(budget, unit)
    except ValueError as error:
        raise AuditError(f"budget: {error}") from None
    if not 0 < whole <= LARGEST_BUDGET:
        raise AuditError(f"budget: '{budget}' must be above 0, and small enough to be counted")
    return whole


def _find_plugin(kind: str, name: str) -> Plugin:
    """Return the plug-in of this name, or the one that a user's .sql file holds."""
    by_name = {plugin.name: plugin for plugin in load_plugins(kind)}
    if name in by_name:
        return by_name[name]
    if not Path(name).is_file():
        raise AuditError(f"{not_there(KINDS[kind].one, name, sorted(by_name))}, or a .sql file")
    own = read_plugin(Path(name))
    check_plugin(kind, own)
    if "candidate_scores" in parse_relations(own.sql):
        raise AuditError(f"{own.path}: reads candidate_scores, and scores are not known live")
    return own


class Judge:
    """A database in memory that says for one problem at a time when to stop and what to pick."""

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
            "budget": self.in_unit(budget),
            "unit": unit,
            "rule": rule,
            "policy": policy.name,
            "cap": cap,
            "selector": selector.name,
            "answer": answer,
        }
        self._lock = threading.Lock()
        self._plugins = Plugins(selectors=[selector], policies=[policy], primary=selector.name)
        self._con = self._connect(cap)
        try:
            self._build(cap, policy)
            self._rehearse([_make_attempt(seed) for seed in range(min(cap, MADE_UP))])
        except duckdb.Error as error:
            raise AuditError(f"{selector.path}, {policy.path}: {first_line(error)}") from None

    def _connect(self, cap: int) -> duckdb.DuckDBPyConnection:
        """Create a database in memory with the settings of a replay and no attempts."""
        con = duckdb.connect(":memory:", config={"threads": 1})
        con.execute("set enable_external_access = false")
        create_schema(con)
        store_fact(con, ANSWER, self.answer)
        settings = Settings(
            budgets=(self.budget,), caps=(cap,), primary_cap=cap, orders=0,
            primary_selector=self._plugins.selectors[0].name,
        )  # fmt: skip
        store_settings(con, settings, self._plugins)
        return con

    def _build(self, cap: int, policy: Plugin) -> None:
        """Create the stages that the two questions read, and prepare the questions."""
        stages = render_with_inputs(
            [*ASKED, *ONE_BANK], self._plugins, {**ONE_BANK, "tallies": "one_tally"}
        )
        if "binomial_tails" in stages and cap > MOST_TRIALS:
            raise AuditError(f"cap: at most {MOST_TRIALS:,} with the policy {policy.name}")
        for name in (*ONE_BANK, *sorted(set(stages) - set(ONE_BANK), key=STAGE_NAMES.index)):
            if name == "eligible_attempts":
                check_columns(self._con, "selectors", self._plugins.selectors[0], CANONICAL)
            if name == "policy_positions":
                check_columns(self._con, "policies", policy)
            kept_as = "table" if name in TABLES else "view"
            self._con.execute(f"create {kept_as} {name} as {stages[name]}")
        # Planning a statement takes longer than running it, so each is planned once.
        for name in QUESTIONS:
            self._con.execute(f"prepare {name} as {render(f'live_{name}')}")
        self._con.execute(
            f"prepare walk as insert into walked_attempts {stages['walked_attempts']}"
        )

    def in_unit(self, cost: int) -> int | float:
        """Convert an integer cost to the unit, as tables print it."""
        scale = UNITS[self.unit].scale
        return cost if scale == 1 else cost / scale

    def read_attempt(self, row: Mapping[str, Any]) -> Attempt:
        """Return an attempt from its canonical columns; refuse one whose cost is unknown."""
        steps = row.get("steps") or [row]
        for step in steps:
            missing = [name for name in COUNTED[self.unit] if step.get(name) is None]
            if missing:
                raise AuditError(
                    f"attempt {row['seed']}: {' and '.join(missing)} unknown, so a budget in "
                    f"'{self.unit}' cannot be counted; the provider must return its usage"
                )
        check_row(row)
        texts = pa.array([row.get("text")], pa.large_string())
        boxed, archive = (
            pa.array([row.get(name)], pa.string()) for name in ("boxed_answer", "archive_answer")
        )
        answers = normalize_answers(extract_answers(self.answer, texts, boxed, archive))
        cost = max(sum(step_cost(self.unit, step) for step in steps), 1)
        return Attempt(
            row["seed"], cost, row, answers[0].as_py(), normalize_answers(archive)[0].as_py()
        )

    def find_stop(self, attempts: Sequence[Attempt], planned: int) -> int | None:
        """Return the number of attempts after which the policy stops; None if it goes on."""
        if self.facts["policy"] == "none" or not attempts:
            return None
        return self._ask("stop", attempts, planned)

    def count_returned(self, attempts: Sequence[Attempt]) -> int:
        """Return how many attempts the rule keeps: all, or all but one that passes the budget."""
        is_past = sum(attempt.cost for attempt in attempts) > self.budget
        is_lost = is_past and RULES[str(self.facts["rule"])].pool == "strict"
        return len(attempts) - is_lost

    def pick(self, attempts: Sequence[Attempt], returned: int) -> int | None:
        """Return the position from 1 of the attempt that the selector picks; None abstains."""
        if not attempts:
            return None
        return self._ask(f"pick(returned := {returned:d})", attempts, len(attempts))

    def _ask(self, question: str, attempts: Sequence[Attempt], planned: int) -> int | None:
        """Put attempts into the database and return the answer of a prepared question."""
        rows = [self._attempts_row(slot, attempt) for slot, attempt in enumerate(attempts)]
        columns = ", ".join(f"unnest(${name}) as {name}" for name in rows[0])
        with self._lock:
            self._con.execute("truncate attempts; truncate walked_attempts")
            self._con.execute(
                f"insert into attempts by name select {columns}",
                {name: [row[name] for row in rows] for name in rows[0]},
            )
            self._con.execute(f"update walks set bank_size = {planned:d}")
            self._con.execute("execute walk")
            ((answer,),) = self._con.execute(f"execute {question}").fetchall()
            return answer

    def _attempts_row(self, slot: int, attempt: Attempt) -> dict[str, Any]:
        """Return an attempt as a row of the table `attempts`, with its cost as its tokens."""
        recorded = attempt.columns
        has_answer = attempt.answer is not None or self.answer == NO_ANSWER
        return {
            "archive": "live", "competition": "live", "question_id": 0, "seed": attempt.seed,
            "slot": slot, "prompt_tokens": recorded.get("prompt_tokens") or 0,
            "cached_tokens": recorded.get("cached_tokens"), "completion_tokens": attempt.cost,
            "finish_reason": recorded["finish_reason"], "answer": attempt.answer,
            "archive_answer": attempt.archive_answer,
            "mean_logprob": recorded.get("mean_logprob"),
            "eligible": attempt.is_finished and has_answer,
        }  # fmt: skip

    def _rehearse(self, bank: Sequence[Attempt]) -> None:
        """Judge made-up attempts, so that a faulty plug-in fails before an attempt is paid for."""
        whole = len(bank)
        stop = self.find_stop(bank, whole)
        picks = [self.pick(bank, whole)]
        own = {
            kind: plugin
            for kind in ("selectors", "policies")
            for plugin in getattr(self._plugins, kind)
            if not plugin.path.startswith("sql/")
        }
        for kind, plugin in own.items():
            check_contract(self._con, kind, [plugin], render(f"broken_{kind}", self._plugins))
        if own:
            picks = [self.pick(bank, length) for length in range(whole)]
        for length in range(1, whole) if own else ():
            is_over = stop is not None and stop <= length
            if self.find_stop(bank[:length], whole) != (stop if is_over else None):
                raise _foresight_error(own["policies"], "stops", length)
            if self.pick(bank[:length], length) != picks[length]:
                raise _foresight_error(own["selectors"], "picks", length)


_judge = functools.lru_cache(maxsize=64)(Judge)


def _foresight_error(plugin: Plugin, does: str, length: int) -> AuditError:
    """Return the error of a plug-in whose result changes once later attempts are there."""
    return AuditError(
        f"{plugin.path}: reads what is not known live: after {length} attempts it {does} "
        "otherwise than when those to come are there"
    )


def check_row(row: Mapping[str, Any]) -> None:
    """Refuse values that `load` would refuse, but allow an attempt without completion tokens."""
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


def _make_attempt(seed: int) -> Attempt:
    """Return a made-up attempt of small cost; two in three have the same answer."""
    reason = "stop" if seed % 5 else "length"
    columns = {"finish_reason": reason, "mean_logprob": -1.0 / (seed + 1)}
    answer = "4" if seed % 3 else "5"
    return Attempt(seed, 1 + seed % 4, columns, answer, answer)
