"""What the replay's own SQL says of the few attempts of one problem.

A small database in memory holds the walk of the attempts and its votes, as `walked_attempts` and
`tallies` of a replay have them. The replay's files of selector, policy and rule do the rest.
"""

import functools
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from audit.answers.extract import NO_ANSWER, answer_pattern, normal_answers, raw_answers
from audit.engine.build import render, sources
from audit.engine.lineage import relations_read
from audit.engine.plugins import (
    KINDS,
    Plugin,
    Plugins,
    check_columns,
    check_contract,
    check_plugin,
    plugins,
    read_plugin,
)
from audit.engine.replay import CANONICAL
from audit.engine.settings import LARGEST_BUDGET, keep
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError, first_line
from audit.live.attempts import COUNTED, Attempt, step_cost
from audit.load.schema import create_schema
from audit.options import Settings
from audit.sources.canonical import COLUMNS, find_column
from audit.text import not_there
from audit.units import UNITS, read_budget

# Enough made-up attempts to see whether a policy or a selector looks ahead.
MADE_UP = 32
# The table binomial_tails has cap² / 2 rows.
MOST_TRIALS = 1000
# What a verdict reads of the replay's stages.
ASKED = ("stops", "primary_picks", "eligible_attempts", "policy_positions")
# The live files that replace stages: one bank in one order, which is walked whole.
ONE_BANK = {
    "banks": "one_bank",
    "step_costs": "counted_costs",
    "walks": "one_walk",
    **dict.fromkeys(
        ("canonical_attempts", "whole_attempts", "walked", "whole_walked"), "same_walk"
    ),
}
# Tables that the attempts of each question fill; DuckDB takes longer to walk a few than Python.
FILLED = {
    "walked_attempts": "walk_id bigint, bank_id integer, repeat integer, position integer, "
    "candidate_id integer, slot integer, cost bigint, cumulative_cost bigint, "
    "cumulative_prompt bigint, is_end boolean, is_eligible boolean, answer_id integer, "
    "is_archive_eligible boolean, archive_answer_id integer, logprob_rank integer",
    "tallies": "archive varchar, competition varchar, question_id bigint, repeat integer, "
    "position integer, leader_votes integer, runner_up_votes integer, answers integer, "
    "run_length integer, cumulative_cost bigint, bank_size integer, leader_weight double, "
    "runner_up_weight double, weight double, walk_id bigint",
}
# Tables that are filled once; every other stage is a view.
TABLES = ("banks", "walks", "binomial_tails")
# What is asked of the attempts, by the files live_verdict, live_stop, live_picks and live_eligible.
QUESTIONS = ("verdict", "stop", "picks", "eligible")
Row = dict[str, Any]


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
    """Return the judge of these settings, which the controllers of many problems share."""
    if unit not in UNITS:
        raise AuditError(not_there("unit", str(unit), list(UNITS)))
    rules = [plugin.name for plugin in plugins("rules")]
    if rule not in rules:
        raise AuditError(not_there("rule", str(rule), rules))
    check_count("cap", cap)
    answer_pattern(str(answer))
    if answer == NO_ANSWER and selector in ("majority", "archive_majority"):
        raise AuditError(f"answer 'none' leaves {selector} nothing to vote on: selector='first'")
    chosen = (_plugin("policies", str(policy)), _plugin("selectors", str(selector)))
    return _judge(_whole_budget(budget, unit), rule, cap, unit, *chosen, str(answer))


def check_count(name: str, count: Any) -> None:
    """Refuse what is no number of attempts."""
    if isinstance(count, bool) or not isinstance(count, int) or not 0 < count < 2**31:
        raise AuditError(f"{name}: a whole number of attempts above 0, found {count!r}")


def _whole_budget(budget: str | int | float, unit: str) -> int:
    """Read a budget in the unit's whole numbers."""
    try:
        whole = read_budget(budget, unit)
    except ValueError as error:
        raise AuditError(f"budget: {error}") from None
    if not 0 < whole <= LARGEST_BUDGET:
        raise AuditError(f"budget: '{budget}' must be above 0, and small enough to be counted")
    return whole


def _plugin(kind: str, name: str) -> Plugin:
    """Find a plug-in by its name, or read a user's file."""
    by_name = {plugin.name: plugin for plugin in plugins(kind)}
    if name in by_name:
        return by_name[name]
    if not Path(name).is_file():
        raise AuditError(f"{not_there(KINDS[kind].one, name, sorted(by_name))}, or a .sql file")
    own = read_plugin(Path(name))
    check_plugin(kind, own)
    if "candidate_scores" in relations_read(own.sql):
        raise AuditError(f"{own.path}: reads candidate_scores, and scores are not known live")
    return own


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
        # What the tables hold: how many attempts are planned, and those that were made.
        self._planned = cap
        self._filled: tuple[int, list[int]] | None = None
        self._held: Sequence[Attempt] = ()
        self._walk: list[Row] = []
        self._plugins = Plugins(
            [plugin for plugin in plugins("rules") if plugin.name == rule],
            [selector],
            [policy],
            primary=selector.name,
        )
        self._con = self._connect(cap)
        try:
            self._build(cap, policy)
            self._rehearse([_make_up(seed) for seed in range(min(cap, MADE_UP))])
        except duckdb.Error as error:
            raise AuditError(f"{selector.path}, {policy.path}: {first_line(error)}") from None

    def _connect(self, cap: int) -> duckdb.DuckDBPyConnection:
        """Create a database in memory with the settings of a replay, and nothing loaded."""
        con = duckdb.connect(":memory:", config={"threads": 1})
        con.execute("set enable_external_access = false")
        create_schema(con)
        settings = Settings(
            budgets=(self.budget,), caps=(cap,), primary_cap=cap, orders=0,
            primary_selector=self._plugins.selectors[0].name,
        )  # fmt: skip
        keep(con, settings, self._plugins)
        return con

    def _build(self, cap: int, policy: Plugin) -> None:
        """Create the replay's stages that a verdict needs, in their order."""
        stages = self._stages()
        if "binomial_tails" in stages and cap > MOST_TRIALS:
            raise AuditError(f"cap: at most {MOST_TRIALS:,} with the policy {policy.name}")
        for name, columns in FILLED.items():
            self._con.execute(f"create table {name} ({columns})")
        for name in (*ONE_BANK, *sorted(set(stages) - set(ONE_BANK), key=STAGE_NAMES.index)):
            if name == "eligible_attempts":
                check_columns(self._con, "selectors", self._plugins.selectors[0], CANONICAL)
            if name == "policy_positions":
                check_columns(self._con, "policies", policy)
            kept_as = "table" if name in TABLES else "view"
            self._con.execute(f"create {kept_as} {name} as {stages[name]}")
        # Planning a statement takes longer than running it.
        for name in QUESTIONS:
            self._con.execute(f"prepare {name} as {render(f'live_{name}')}")
        self._is_bank_read = "candidates" in stages

    def _stages(self) -> dict[str, str]:
        """Return the SQL of the stages that a verdict reads, directly or through others."""
        known = sources(ASKED, self._plugins)
        known |= {name: render(file) for name, file in ONE_BANK.items()}
        needed: dict[str, str] = {}
        waiting = [*ASKED, *ONE_BANK]
        while waiting:
            name = waiting.pop()
            if name in known and name not in needed and name not in FILLED:
                needed[name] = known[name]
                waiting += relations_read(known[name])
        return needed

    def printed(self, cost: int) -> int | float:
        """Return a cost in the unit, as tables print it."""
        scale = UNITS[self.unit].scale
        return cost if scale == 1 else cost / scale

    def attempt(self, row: Mapping[str, Any]) -> Attempt:
        """Make an attempt of its canonical columns; refuse one that cannot be counted."""
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
        answers = normal_answers(raw_answers(self.answer, texts, boxed, archive))
        cost = max(sum(step_cost(self.unit, step) for step in steps), 1)
        return Attempt(
            row["seed"], cost, row, answers[0].as_py(), normal_answers(archive)[0].as_py()
        )

    def stop(self, attempts: Sequence[Attempt], planned: int) -> int | None:
        """Return after which of these attempts the policy stops; None is not yet."""
        if self.facts["policy"] == "none" or not attempts:
            return None
        with self._lock:
            walk = self._fill(attempts, planned)
            ((eligible,),) = self._con.execute("execute eligible").fetchall()
            votes_on = f"{self._plugins.selectors[0].votes_on}_id"
            voters = () if self.answer == NO_ANSWER else eligible or ()
            votes = [row[votes_on] if row["slot"] in voters else None for row in walk]
            self._insert("tallies", count_votes(walk, votes, planned))
            ((stop,),) = self._con.execute("execute stop").fetchall()
        return stop

    def verdict(self, attempts: Sequence[Attempt]) -> Verdict:
        """Return the verdict of the replay on these attempts, in their order."""
        if not attempts:
            return Verdict(0, None)
        return Verdict(*self._ask("verdict", attempts, len(attempts)))

    def _ask(self, question: str, attempts: Sequence[Attempt], planned: int) -> tuple[Any, ...]:
        """Ask the replay's SQL a question about these attempts."""
        with self._lock:
            self._fill(attempts, planned)
            (answer,) = self._con.execute(f"execute {question}").fetchall()
            return answer

    def _fill(self, attempts: Sequence[Attempt], planned: int) -> list[Row]:
        """Fill the tables with these attempts, unless they hold them already; return the walk."""
        asked = (planned, [id(attempt) for attempt in attempts])
        if asked != self._filled:
            self._filled = None
            rows = [self._row(slot, attempt) for slot, attempt in enumerate(attempts)]
            if self._is_bank_read:
                self._insert("attempts", rows)
            self._walk = walk_attempts(rows, planned)
            self._insert("walked_attempts", self._walk)
            if planned != self._planned:
                self._con.execute(f"update walks set bank_size = {planned:d}")
                self._planned = planned
            # Keeping the attempts keeps their ids from being used again.
            self._filled, self._held = asked, attempts
        return self._walk

    def _insert(self, table: str, rows: Sequence[Row]) -> None:
        """Make these the only rows of a table."""
        columns = ", ".join(f"unnest(${name}) as {name}" for name in rows[0])
        values = {name: [row[name] for row in rows] for name in rows[0]}
        self._con.execute(f"truncate {table}")
        self._con.execute(f"insert into {table} by name select {columns}", values)

    def _row(self, slot: int, attempt: Attempt) -> dict[str, Any]:
        """Return an attempt as a row of `attempts`, with its cost as its tokens."""
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
        """Judge made-up attempts, so that a mistake shows before an attempt is paid for."""
        self.verdict(bank)
        own = {
            kind: plugin
            for kind in ("selectors", "policies")
            for plugin in getattr(self._plugins, kind)
            if not plugin.path.startswith("sql/")
        }
        stop = self.stop(bank, len(bank))
        picks = self._ask("picks", bank, len(bank))[0] or []
        for length in range(1, len(bank)) if own else ():
            beginning = bank[:length]
            is_over = stop is not None and stop <= length
            if "policies" in own and self.stop(beginning, len(bank)) != (stop if is_over else None):
                raise _looks_ahead(own["policies"], "stops", length)
            if "selectors" in own:
                seen = [pick for pick in picks if pick["position"] <= length]
                if (self._ask("picks", beginning, len(bank))[0] or []) != seen:
                    raise _looks_ahead(own["selectors"], "picks", length)
        self._fill(bank, len(bank))
        for kind, plugin in own.items():
            check_contract(self._con, kind, [plugin], render(f"broken_{kind}", self._plugins))


_judge = functools.lru_cache(maxsize=64)(Judge)


def walk_attempts(rows: Sequence[Row], planned: int) -> list[Row]:
    """Return attempts in the order in which they were made as rows of `walked_attempts`."""
    answers = _ranks([row["answer"] for row in rows])
    archive_answers = _ranks([row["archive_answer"] for row in rows])
    # Without a log-probability an attempt comes first among them.
    logprobs = [row["mean_logprob"] for row in rows]
    ranks = [rank + (None in logprobs) for rank in _ranks(logprobs)]
    costs = accumulate(row["completion_tokens"] for row in rows)
    prompts = accumulate(row["prompt_tokens"] for row in rows)
    return [
        {
            "walk_id": 0,
            "bank_id": 1,
            "repeat": 0,
            "position": slot + 1,
            "candidate_id": slot,
            "slot": slot,
            "cost": row["completion_tokens"],
            "cumulative_cost": cost,
            "cumulative_prompt": prompt,
            "is_end": slot + 1 == planned,
            "is_eligible": row["eligible"],
            # Without an answer every eligible attempt is an answer of its own.
            "answer_id": slot + 1 if row["eligible"] and row["answer"] is None else answers[slot],
            "is_archive_eligible": row["finish_reason"] == "stop"
            and row["archive_answer"] is not None,
            "archive_answer_id": archive_answers[slot],
            "logprob_rank": ranks[slot] if row["eligible"] and logprobs[slot] is not None else None,
        }
        for slot, (row, cost, prompt) in enumerate(zip(rows, costs, prompts, strict=True))
    ]


def _ranks(values: Sequence[Any]) -> list[int]:
    """Return the rank of every value among the different ones; null comes last."""
    ranks = {value: rank for rank, value in enumerate(sorted({*values} - {None}), 1)}
    return [ranks.get(value, len(ranks) + 1) for value in values]


def count_votes(walk: Sequence[Row], votes: Sequence[int | None], planned: int) -> list[Row]:
    """Return the rows of `tallies`: the votes of every prefix of a walk, null for no vote."""
    counts: Counter[int] = Counter()
    rows, run_length = [], 0
    for row, vote, last in zip(walk, votes, [None, *votes], strict=False):
        run_length = 0 if vote is None else run_length + 1 if vote == last else 1
        if vote is not None:
            counts[vote] += 1
        leader, runner_up = (*sorted(counts.values(), reverse=True)[:2], 0, 0)[:2]
        rows.append({
            "archive": "live", "competition": "live", "question_id": 0,
            "walk_id": 0, "repeat": 0, "position": row["position"], "leader_votes": leader,
            "runner_up_votes": runner_up, "answers": len(counts), "run_length": run_length,
            "cumulative_cost": row["cumulative_cost"], "bank_size": planned,
        })  # fmt: skip
    return rows


def _looks_ahead(plugin: Plugin, does: str, length: int) -> AuditError:
    return AuditError(
        f"{plugin.path}: reads what is not known live: after {length} attempts it {does} "
        "otherwise than when those to come are there"
    )


def check_row(row: Mapping[str, Any]) -> None:
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


def _make_up(seed: int) -> Attempt:
    """Make up an attempt that costs little and agrees with most others."""
    reason = "stop" if seed % 5 else "length"
    columns = {"finish_reason": reason, "mean_logprob": -1.0 / (seed + 1)}
    answer = "4" if seed % 3 else "5"
    return Attempt(seed, 1 + seed % 4, columns, answer, answer)
