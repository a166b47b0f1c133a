"""A cumulative budget over the attempts at one problem, enforced while they are made.

A controller launches, stops and picks as the replay does: the rule, the policy and the selector
are the replay's own SQL files, run on the few attempts that are recorded.
"""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError
from audit.live.attempts import Attempt, Step, step_cost

if TYPE_CHECKING:
    from audit.live.judge import Judge, Verdict


class Controller:
    """Decides for one problem whether to launch, how far, when to stop and what to answer."""

    def __init__(
        self,
        budget: str | int | float,
        rule: str = "strict",
        cap: int = 16,
        unit: str = "completion",
        policy: str = "none",
        selector: str = "majority",
        *,
        answer: str = "boxed",
        planned: int | None = None,
        path: str | Path | None = None,
        archive: str = "live",
        competition: str = "live",
        question_id: int = 0,
    ) -> None:
        """Check everything now: a mistake must not cost an attempt.

        `answer` is how `load` would read answers, `planned` how many attempts can be made (the
        cap, if not given), `path` a file to which each attempt is appended as a canonical line.
        """
        from audit.live.judge import check_count, check_row, judge_for

        self._judge: Judge = judge_for(budget, rule, cap, unit, policy, selector, answer)
        self.budget, self.rule, self.cap, self.unit = self._judge.budget, rule, cap, unit
        self.attempts: list[Attempt] = []
        self._planned = cap if planned is None else planned
        self._path = None if path is None else Path(path)
        self._keys = {"archive": archive, "competition": competition, "question_id": question_id}
        check_count("planned", self._planned)
        check_row({**self._keys, "seed": 0})
        self._append("")

    @property
    def facts(self) -> dict[str, Any]:
        """What the attempts were run with, as logs keep it and `load` reads it."""
        return dict(self._judge.facts)

    @property
    def launched(self) -> int:
        """How many attempts were launched."""
        return len(self.attempts)

    @property
    def paid(self) -> int:
        """What the recorded attempts have cost in all, in the unit's whole numbers."""
        return sum(attempt.cost for attempt in self.attempts)

    @property
    def spent(self) -> int | float:
        """What the rule charges for the attempts so far, in the unit."""
        cost = min(self.paid, self.budget) if self.rule == "strict" else self.paid
        return self._judge.printed(cost)

    @property
    def returned(self) -> int:
        """How many attempts the rule returns: a strict budget takes back one that crossed it."""
        return self._verdict.returned

    def selected(self) -> Attempt | None:
        """The attempt that the selector picks from what the rule returns; None is an abstention."""
        position = self._verdict.selected
        return None if position is None else self.attempts[position - 1]

    def may_launch(self) -> bool:
        """Whether the budget, the cap and the policy let another attempt begin."""
        if self.launched >= min(self.cap, self._planned) or self.left() <= 0:
            return False
        return self._stop is None

    def left(self, steps: Sequence[Step] = ()) -> int:
        """What is left of the budget after these steps of a running attempt, in whole numbers."""
        return self.budget - self.paid - sum(step_cost(self.unit, step) for step in steps)

    def may_continue(self, steps: Sequence[Step]) -> bool:
        """Whether a running attempt may make another call after these steps."""
        return self.rule not in ("strict", "step", "step_lost") or self.left(steps) > 0

    def limit(self, steps: Sequence[Step] = ()) -> int | float | None:
        """How much an attempt may still use after these steps; None where the rule lets it end.

        Under `completion` and `total` it is max_tokens of the next call, at least 1; under `total`
        the prompt is counted as it was in the attempts before.
        """
        if self.rule != "strict":
            return None
        prompt = self._next_prompt(steps) if self.unit == "total" else 0
        return self._judge.printed(max(self.left(steps) - prompt, 1))

    def _next_prompt(self, steps: Sequence[Step]) -> int:
        """The prompt tokens that the next call will cost at least, as far as they are known.

        A guess that is too high would cut an attempt that the budget could still pay.
        """
        columns = [attempt.columns for attempt in self.attempts]
        first = [(row.get("steps") or [row])[0] for row in columns]
        return min((int(step.get("prompt_tokens") or 0) for step in steps[-1:] or first), default=0)

    def record(
        self,
        completion_tokens: int | None,
        answer: str | None = None,
        finished: bool | str = True,
        *,
        seed: int | None = None,
        text: str | None = None,
        steps: Sequence[Step] | None = None,
        **columns: Any,
    ) -> Attempt:
        """Take an attempt in: its tokens, its answer (or its text), and how it finished.

        `finished` may be a finish reason; other canonical columns (prompt_tokens, money, seconds,
        mean_logprob, correct, …) are given by their names.
        """
        if answer is not None and text is not None:
            raise AuditError("record: give the answer or the text that it is in, not both")
        reason = finished if isinstance(finished, str) else "stop" if finished else "length"
        kind = "archive_answer" if self._judge.answer == "archive" else "boxed_answer"
        row = {
            **self._keys,
            "seed": self.launched if seed is None else seed,
            "completion_tokens": completion_tokens,
            "finish_reason": reason,
            **({"text": text} if answer is None else {kind: answer}),
            **({} if steps is None else {"steps": [dict(step) for step in steps]}),
            **columns,
        }
        attempt = self._judge.attempt(row)
        self.attempts.append(attempt)
        self._forget()
        self._append(json.dumps({**row, "budget_audit": self.facts}) + "\n")
        return attempt

    def _append(self, line: str) -> None:
        """Write to the file; closing it flushes, so that a killed run keeps what it paid for."""
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="utf-8") as lines:
                lines.write(line)
        except OSError as error:
            raise AuditError(f"{self._path}: cannot be written: {error.strerror}") from None

    def lose(self) -> None:
        """One planned attempt will never be: it failed, and nothing was paid for it."""
        self._planned -= 1
        self._forget()

    def _forget(self) -> None:
        """What was said of fewer attempts no longer holds."""
        for name in ("_stop", "_verdict"):
            self.__dict__.pop(name, None)

    @cached_property
    def _stop(self) -> int | None:
        return self._judge.stop(self.attempts, self._planned)

    @cached_property
    def _verdict(self) -> "Verdict":
        return self._judge.verdict(self.attempts)
