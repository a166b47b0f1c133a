"""A cumulative budget over the attempts at one problem, enforced while they are made.

A controller launches, stops and picks as the replay does: the rule, the policy and the selector
are the replay's own SQL files, run on the few attempts that are recorded. Attempts at one problem
run one after another, because what the first one costs decides whether another begins.
"""

import contextlib
import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from audit.errors import AuditError
from audit.live.attempts import Attempt, Step, step_cost

if TYPE_CHECKING:
    from audit.live.judge import Judge


class Controller:
    """The ledger of one problem: grants and limits attempts, adds up costs, picks an answer."""

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
        """Check all settings before an attempt is paid for, and open the file of attempts.

        `answer` is how `load` would read answers, `planned` how many attempts can be made (the
        cap, if not given), `path` a file to which each attempt is appended as a canonical line.
        """
        from audit.live.judge import check_count, check_row, get_judge

        self._judge: Judge = get_judge(budget, rule, cap, unit, policy, selector, answer)
        self.budget, self.rule, self.cap, self.unit = self._judge.budget, rule, cap, unit
        self.attempts: list[Attempt] = []
        self._planned = cap if planned is None else planned
        self._path = None if path is None else Path(path)
        # The thread or task whose attempt was launched and is not recorded yet.
        self._runner: object = None
        self._lock = threading.RLock()
        self._keys = {"archive": archive, "competition": competition, "question_id": question_id}
        check_count("planned", self._planned)
        check_row({**self._keys, "seed": 0})
        self._append("")

    @property
    def facts(self) -> dict[str, Any]:
        """Return the settings of the run, as they are written beside each attempt for `load`."""
        return dict(self._judge.facts)

    @property
    def launched(self) -> int:
        """Return the number of recorded attempts."""
        return len(self.attempts)

    @property
    def paid(self) -> int:
        """Return the total cost of the recorded attempts, as the integer that the budget limits."""
        return sum(attempt.cost for attempt in self.attempts)

    @property
    def spent(self) -> int | float:
        """Return the total cost of the recorded attempts in the unit; it may exceed the budget."""
        return self._judge.in_unit(self.paid)

    @property
    def returned(self) -> int:
        """Return how many recorded attempts the rule keeps: `strict` drops one past the budget."""
        return self._judge.count_returned(self.attempts)

    def selected(self) -> Attempt | None:
        """Return the attempt that the selector picks from those the rule keeps; None abstains."""
        position = self._judge.pick(self.attempts, self.returned)
        return None if position is None else self.attempts[position - 1]

    def may_launch(self) -> bool:
        """Return whether another attempt may begin under budget, cap and policy, and reserve it.

        Until it is recorded or lost, other threads and tasks get False.
        """
        with self._lock:
            if self._runner is not None:
                if self._runner == _identify_caller():
                    raise AuditError(
                        "may_launch: the attempt launched before was not recorded; call record(), "
                        "or lose() if it failed"
                    )
                return False
            if self.launched >= min(self.cap, self._planned) or self.left() <= 0:
                return False
            if self._judge.find_stop(self.attempts, self._planned) is not None:
                return False
            self._runner = _identify_caller()
            return True

    def left(self, steps: Sequence[Step] = ()) -> int:
        """Return the budget less all recorded attempts and these steps of the running one."""
        return self.budget - self.paid - sum(step_cost(self.unit, step) for step in steps)

    def may_continue(self, steps: Sequence[Step]) -> bool:
        """Return whether the running attempt may make another call after these steps."""
        return self.rule not in ("strict", "step", "step_lost") or self.left(steps) > 0

    def limit(
        self, steps: Sequence[Step] = (), prompt_tokens: int | None = None
    ) -> int | float | None:
        """Return how much the next call may use after these steps; None means no limit.

        Under `completion` and `total` it is max_tokens of the next call, at least 1. `total` takes
        off the prompt of that call: `prompt_tokens`, or else the shortest that it can be.
        """
        if self.rule != "strict":
            return None
        prompt = 0
        if self.unit == "total":
            prompt = self._shortest_prompt(steps) if prompt_tokens is None else prompt_tokens
        return self._judge.in_unit(max(self.left(steps) - prompt, 1))

    def _shortest_prompt(self, steps: Sequence[Step]) -> int:
        """Return the fewest prompt tokens that the next call can cost, 0 where none are known.

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
        is_resumed: bool = False,
        **columns: Any,
    ) -> Attempt:
        """Record the launched attempt: its tokens, its answer (or its text), how it finished.

        `finished` may be a finish reason; other canonical columns (prompt_tokens, money, seconds,
        mean_logprob, correct, …) are given by their names. `is_resumed` marks an attempt of an
        earlier run, which this controller has not launched.
        """
        if answer is not None and text is not None:
            raise AuditError("record: give the answer or the text that it is in, not both")
        reason = finished if isinstance(finished, str) else "stop" if finished else "length"
        kind = "archive_answer" if self._judge.answer == "archive" else "boxed_answer"
        with self._lock:
            row = {
                **self._keys,
                "seed": self.launched if seed is None else seed,
                "completion_tokens": completion_tokens,
                "finish_reason": reason,
                **({"text": text} if answer is None else {kind: answer}),
                **({} if steps is None else {"steps": [dict(step) for step in steps]}),
                **columns,
            }
            attempt = self._judge.read_attempt(row)
            if not is_resumed:
                self._release("record")
            self.attempts.append(attempt)
            self._append(json.dumps({**row, "budget_audit": self.facts}) + "\n")
        return attempt

    def lose(self) -> None:
        """Give up the launched attempt, which failed at no cost; it is not made again."""
        with self._lock:
            self._release("lose")
            self._planned -= 1

    def _release(self, call: str) -> None:
        """End the reservation of `may_launch`; refuse a call without one."""
        if self._runner is None:
            raise AuditError(f"{call}: no attempt was launched; ask may_launch() before each one")
        self._runner = None

    def _append(self, line: str) -> None:
        """Append a line to the file and close it, so that a killed run keeps what it paid for."""
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="utf-8") as lines:
                lines.write(line)
        except OSError as error:
            raise AuditError(f"{self._path}: cannot be written: {error.strerror}") from None


def _identify_caller() -> object:
    """Return the asyncio task that is running, or the thread's number outside of tasks."""
    asyncio, task = sys.modules.get("asyncio"), None
    if asyncio is not None:
        with contextlib.suppress(RuntimeError):
            task = asyncio.current_task()
    return task or threading.get_ident()
