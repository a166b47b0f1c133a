"""A cumulative budget over the epochs of each sample of an Inspect task.

`Task(…, early_stopping=CumulativeBudget("16k"))` runs the epochs of a sample one after another,
hands each call what is left of the budget, and starts no epoch that the budget, the cap or the
policy forbids. Only Inspect's public interface is used.
"""

import os
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import anyio
from inspect_ai.dataset import Sample
from inspect_ai.hooks import (
    BeforeModelGenerate,
    Hooks,
    ModelUsageData,
    SampleAttemptStart,
    SampleEnd,
    SampleScoring,
    hooks,
)
from inspect_ai.log import (
    EvalSample,
    EvalSpec,
    list_eval_logs_async,
    read_eval_log_async,
    read_eval_log_headers_async,
)
from inspect_ai.scorer import SampleScore
from inspect_ai.util import EarlyStop, EarlyStopping, LimitExceededError, store
from pydantic import JsonValue

from audit.errors import AuditError
from audit.live.attempts import Step, step_cost
from audit.live.controller import Controller

# What an Inspect log counts in every sample.
UNITS = ("completion", "total")
METADATA = "budget_audit"


@dataclass
class _Sample:
    """One sample of the dataset: its controller, the epochs that are over, and what tries lost."""

    controller: Controller
    over: set[int] = field(default_factory=set)
    lost: int = 0
    running: "_Epoch | None" = None


@dataclass
class _Epoch:
    """An epoch that runs, with what its calls have used."""

    budget: "CumulativeBudget"
    sample: _Sample
    epoch: int
    steps: list[Step] = field(default_factory=list)
    is_scored: bool = False

    def drop_steps(self) -> None:
        """Count the steps of a failed try as lost: the log of the attempt leaves them out."""
        self.sample.lost += sum(step_cost(self.budget.unit, step) for step in self.steps)
        self.steps.clear()


_running: ContextVar[_Epoch | None] = ContextVar("budget_audit_epoch", default=None)


class CumulativeBudget(EarlyStopping):
    """A budget that the epochs of a sample share."""

    def __init__(
        self,
        budget: str | int,
        rule: str = "strict",
        cap: int | None = None,
        unit: str = "completion",
        policy: str = "none",
        selector: str = "majority",
        *,
        answer: str = "boxed",
        log_dir: str | None = None,
    ) -> None:
        """Check the settings now; `cap` defaults to the epochs.

        `answer` is how `load` will read the log's answers. A resumed run (`eval_retry`) looks for
        the log that it resumes in `log_dir`, by default where Inspect writes its logs.
        """
        if unit not in UNITS:
            raise AuditError(
                f"unit '{unit}': an Inspect log cannot count it; use {' or '.join(UNITS)}"
            )
        self.unit = unit
        self._settings: dict[str, Any] = {
            "budget": budget, "rule": rule, "unit": unit, "policy": policy,
            "selector": selector, "answer": answer,
        }  # fmt: skip
        self._cap = cap
        self._log_dir = log_dir
        Controller(**self._settings, cap=cap or 16)

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Give every sample of a run a controller of its own."""
        _refuse(task, len(samples) * epochs)
        self._task = task
        self._samples = {
            sample.id: _Sample(
                Controller(**self._settings, cap=self._cap or epochs, planned=epochs)
            )
            for sample in samples
            if sample.id is not None
        }
        self._changed = anyio.Condition()
        # Until one epoch has shown that the provider counts, no other begins.
        self._first: tuple[str | int, int] | None = None
        self._counts = False
        self._failure: Exception | None = None
        self._resuming, self._is_resumed = anyio.Lock(), False
        return "budget-audit"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Wait for the epochs before, then say whether this one may begin."""
        sample = self._samples[id]
        async with self._changed:
            while not self._may_begin(id, epoch):
                await self._changed.wait()
            if self._failure is not None:
                raise self._failure
            is_retry = sample.running is not None and sample.running.epoch == epoch
            if is_retry or sample.controller.may_launch():
                self._first = self._first or (id, epoch)
                sample.running = sample.running or _Epoch(self, sample, epoch)
                _running.set(sample.running)
                return None
            sample.over.add(epoch)
            self._changed.notify_all()
        return EarlyStop(
            id=id,
            epoch=epoch,
            reason=f"{sample.controller.launched} attempts, {sample.controller.paid} spent",
        )

    def _may_begin(self, id: str | int, epoch: int) -> bool:
        if self._failure is not None:
            return True
        is_turn = self._samples[id].over.issuperset(range(1, epoch))
        return is_turn and (self._counts or self._first in (None, (id, epoch)))

    async def complete_sample(
        self, id: str | int, epoch: int, scores: dict[str, SampleScore]
    ) -> None:
        """Take in the epochs of the run that this one resumes: they end without having begun."""
        if epoch in self._samples[id].over:
            return
        async with self._resuming:
            if not self._is_resumed:
                self._is_resumed = True
                for sample in await self._earlier_samples():
                    if sample.error is None and sample.id in self._samples:
                        await self.end(self._samples[sample.id], sample, is_resumed=True)
        if epoch not in self._samples[id].over:
            raise AuditError(
                f"sample {id}, epoch {epoch} comes from a log that is not in "
                f"'{self._logs}'; pass CumulativeBudget(…, log_dir=FOLDER)"
            )

    @property
    def _logs(self) -> str:
        return self._log_dir or os.environ.get("INSPECT_LOG_DIR", "./logs")

    async def _earlier_samples(self) -> list[EvalSample]:
        """Return the samples of the log that this run resumes, epochs in their order."""
        try:
            logs = await list_eval_logs_async(self._logs)
        except OSError:
            return []
        same = [log for log in logs if log.task_id == self._task.task_id]
        headers = await read_eval_log_headers_async(same)
        earlier = [header for header in headers if header.eval.eval_id != self._task.eval_id]
        if not earlier:
            return []
        newest = max(earlier, key=lambda header: header.eval.created)
        log = await read_eval_log_async(newest.location)
        return sorted(log.samples or [], key=lambda sample: sample.epoch)

    async def complete_task(self) -> dict[str, JsonValue]:
        """Return what was spent on every sample, and lost to failed tries, for the log."""
        if self._failure is not None:
            raise self._failure
        facts: dict[str, JsonValue] = next(iter(self._samples.values())).controller.facts
        spent = {str(id): sample.controller.spent for id, sample in self._samples.items()}
        lost = {str(id): sample.lost for id, sample in self._samples.items() if sample.lost}
        kept: dict[str, JsonValue] = {**facts, "spent": spent}
        return {METADATA: kept | ({"lost_to_retries": lost} if lost else {})}

    async def end(self, sample: _Sample, logged: EvalSample, *, is_resumed: bool = False) -> None:
        """Count an epoch that is over as `load` will, and let the next one begin."""
        try:
            row = _row(logged, self._task)
            if row is not None:
                sample.controller.record(**row, is_resumed=is_resumed)
                self._counts = True
            elif logged.error is not None:
                sample.controller.lose()
                if sample.running is not None:
                    sample.running.drop_steps()
            else:
                raise AuditError(
                    f"sample {logged.id}, epoch {logged.epoch}: {self._task.model} returned no "
                    "token usage, so that no budget can be counted"
                )
        except Exception as error:
            # Inspect only logs what a hook raises, and the epochs to come would wait for ever.
            self._failure = error
        async with self._changed:
            if not is_resumed:
                sample.running = None
            sample.over.add(logged.epoch)
            self._first = None
            self._changed.notify_all()

    def limit(self, running: _Epoch, config: Any) -> None:
        """Let a call use what is left of the budget, or end the epoch where nothing is."""
        controller = running.sample.controller
        if not controller.may_continue(running.steps):
            raise self._exceeded(running)
        limit = controller.limit(running.steps)
        if limit is not None:
            config.max_tokens = min(limit, config.max_tokens or limit)

    def use(self, running: _Epoch, data: ModelUsageData) -> None:
        """Count a call; under `step_lost` one that crosses the budget is thrown away."""
        usage = data.usage
        prompt = (usage.total_tokens or usage.input_tokens) - usage.output_tokens
        running.steps.append({
            "prompt_tokens": max(prompt, usage.input_tokens),
            "completion_tokens": usage.output_tokens,
        })  # fmt: skip
        controller = running.sample.controller
        if controller.rule == "step_lost" and controller.left(running.steps) < 0:
            raise self._exceeded(running)

    def _exceeded(self, running: _Epoch) -> LimitExceededError:
        controller = running.sample.controller
        value = controller.budget - controller.left(running.steps)
        message = f"cumulative budget of {controller.budget:,} is spent: {value:,}"
        return LimitExceededError("token", value=value, limit=controller.budget, message=message)

    def counts(self, model: str) -> bool:
        """Return whether calls of this model are the task's own, which `load` counts."""
        return model == self._task.model


def _refuse(task: EvalSpec, runs: int) -> None:
    """Refuse a run in which the budget would not hold, or would hang."""
    if task.config.log_samples is False:
        raise AuditError("log_samples=False: Inspect then asks no early stopping; log the samples")
    if task.config.retry_on_error and (task.config.max_samples or 0) < runs:
        raise AuditError(
            f"retry_on_error: a retried epoch waits for a free place while later ones wait for it; "
            f"pass max_samples={runs} (all epochs of all samples), or retry_on_error=0"
        )


def _row(sample: EvalSample, task: EvalSpec) -> dict[str, Any] | None:
    """Return what `load` reads of a sample; None if it holds no attempt that can be counted."""
    from pathlib import Path

    from audit.options import Reading
    from audit.sources.files import SourceFile
    from audit.sources.formats import Context
    from audit.sources.formats.inspect_log import FORMAT, read_sample

    record = sample.model_dump(mode="json", exclude=None if _needs_events(sample) else {"events"})
    header = {"eval": {"task": task.task, "model": task.model}}
    file = SourceFile(Path("live"), "live", 1)
    row = read_sample(record, header, Context(file, FORMAT, Reading(), "zip"))
    if row is None or row.get("completion_tokens") is None:
        return None
    names = (
        "prompt_tokens", "completion_tokens", "text", "archive_answer", "mean_logprob", "steps",
    )  # fmt: skip
    columns = {name: row[name] for name in names if name in row}
    return {**columns, "finished": row.get("finish_reason") or "", "seed": sample.epoch}


def _needs_events(sample: EvalSample) -> bool:
    """Return whether events say more: a sample that a limit cut, or one of several calls."""
    calls = sum(event.event == "model" for event in sample.events)
    return calls > 1 or not sample.output.choices


@hooks(name="budget_audit", description="Hands each call what is left of a cumulative budget.")
class BudgetHooks(Hooks):
    """Acts in the epochs of tasks that have a cumulative budget, and nowhere else."""

    def enabled(self) -> bool:
        """Return whether this epoch has such a budget."""
        return _running.get() is not None

    async def on_sample_attempt_start(self, data: SampleAttemptStart) -> None:
        """Keep in the sample what it was run with."""
        running = _running.get()
        if running is not None:
            running.drop_steps()
            running.is_scored = False
            controller = running.sample.controller
            store().set(METADATA, {**controller.facts, "paid_before": controller.paid})

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Limit a call of the solver."""
        running = _running.get()
        if running and not running.is_scored and running.budget.counts(data.model_name):
            running.budget.limit(running, data.config)

    async def on_model_usage(self, data: ModelUsageData) -> None:
        """Count a call of the solver."""
        running = _running.get()
        if running and not running.is_scored and running.budget.counts(data.model_name):
            running.budget.use(running, data)

    async def on_sample_scoring(self, data: SampleScoring) -> None:
        """Leave the scorers' calls alone."""
        running = _running.get()
        if running is not None:
            running.is_scored = True

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Count the epoch, and let the next one begin."""
        running = _running.get()
        if running is not None:
            await running.budget.end(running.sample, data.sample)
