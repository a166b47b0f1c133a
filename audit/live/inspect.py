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

# The units that every sample of an Inspect log can be counted in.
UNITS = ("completion", "total")
METADATA = "budget_audit"


@dataclass
class _Sample:
    """A sample of the dataset: its controller, its finished epochs and the cost of failed tries."""

    controller: Controller
    over: set[int] = field(default_factory=set)
    lost: int = 0
    running: "_Epoch | None" = None


@dataclass
class _Epoch:
    """A running epoch, with the tokens of each of its calls."""

    budget: "CumulativeBudget"
    sample: _Sample
    epoch: int
    steps: list[Step] = field(default_factory=list)
    is_scored: bool = False

    def drop_steps(self) -> None:
        """Clear the steps of a failed try, and add their cost to what the sample has lost."""
        self.sample.lost += sum(step_cost(self.budget.unit, step) for step in self.steps)
        self.steps.clear()


_running: ContextVar[_Epoch | None] = ContextVar("budget_audit_epoch", default=None)


class CumulativeBudget(EarlyStopping):
    """An early stopping for Inspect: one budget for all epochs of a sample."""

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
        """Check the task, and create a controller for each of its samples."""
        _check_task(task, len(samples) * epochs)
        self._task = task
        self._samples = {
            sample.id: _Sample(
                Controller(**self._settings, cap=self._cap or epochs, planned=epochs)
            )
            for sample in samples
            if sample.id is not None
        }
        self._changed = anyio.Condition()
        # No second epoch begins until the first has shown that the provider returns token usage.
        self._first: tuple[str | int, int] | None = None
        self._has_usage = False
        self._failure: Exception | None = None
        self._resuming, self._is_resumed = anyio.Lock(), False
        return "budget-audit"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Wait for the epochs before; return None to begin this one, or an EarlyStop to skip it."""
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
        """Return whether an epoch need not wait: earlier ones are over, or the run has failed."""
        if self._failure is not None:
            return True
        is_turn = self._samples[id].over.issuperset(range(1, epoch))
        return is_turn and (self._has_usage or self._first in (None, (id, epoch)))

    async def complete_sample(
        self, id: str | int, epoch: int, scores: dict[str, SampleScore]
    ) -> None:
        """Record an epoch that a resumed run takes from its earlier log instead of running it."""
        if epoch in self._samples[id].over:
            return
        async with self._resuming:
            if not self._is_resumed:
                self._is_resumed = True
                for sample in await self._read_earlier_samples():
                    if sample.error is None and sample.id in self._samples:
                        await self.finish_epoch(self._samples[sample.id], sample, is_resumed=True)
        if epoch not in self._samples[id].over:
            raise AuditError(
                f"sample {id}, epoch {epoch} comes from a log that is not in "
                f"'{self._log_folder}'; pass CumulativeBudget(…, log_dir=FOLDER)"
            )

    @property
    def _log_folder(self) -> str:
        """Return the folder in which to look for the log of the run that is resumed."""
        return self._log_dir or os.environ.get("INSPECT_LOG_DIR", "./logs")

    async def _read_earlier_samples(self) -> list[EvalSample]:
        """Read the samples of the newest earlier log of this task, sorted by epoch."""
        try:
            logs = await list_eval_logs_async(self._log_folder)
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
        """Return the settings, each sample's cost and the cost of its failed tries, for the log."""
        if self._failure is not None:
            raise self._failure
        facts: dict[str, JsonValue] = next(iter(self._samples.values())).controller.facts
        spent = {str(id): sample.controller.spent for id, sample in self._samples.items()}
        lost = {str(id): sample.lost for id, sample in self._samples.items() if sample.lost}
        kept: dict[str, JsonValue] = {**facts, "spent": spent}
        return {METADATA: kept | ({"lost_to_retries": lost} if lost else {})}

    async def finish_epoch(
        self, sample: _Sample, logged: EvalSample, *, is_resumed: bool = False
    ) -> None:
        """Record a finished epoch as `load` will read it, and let the next one begin."""
        try:
            row = _read_columns(logged, self._task)
            if row is not None:
                sample.controller.record(**row, is_resumed=is_resumed)
                self._has_usage = True
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

    def limit_call(self, running: _Epoch, config: Any) -> None:
        """Set max_tokens of a call to the rest of the budget; end the epoch if nothing is left."""
        controller = running.sample.controller
        if not controller.may_continue(running.steps):
            raise self._limit_error(running)
        limit = controller.limit(running.steps)
        if limit is not None:
            config.max_tokens = min(limit, config.max_tokens or limit)

    def count_call(self, running: _Epoch, data: ModelUsageData) -> None:
        """Add a call's tokens to the epoch; under `step_lost` end it past the budget."""
        usage = data.usage
        prompt = (usage.total_tokens or usage.input_tokens) - usage.output_tokens
        running.steps.append({
            "prompt_tokens": max(prompt, usage.input_tokens),
            "completion_tokens": usage.output_tokens,
        })  # fmt: skip
        controller = running.sample.controller
        if controller.rule == "step_lost" and controller.left(running.steps) < 0:
            raise self._limit_error(running)

    def _limit_error(self, running: _Epoch) -> LimitExceededError:
        """Return the error that ends an epoch in Inspect as one stopped by a limit."""
        controller = running.sample.controller
        value = controller.budget - controller.left(running.steps)
        message = f"cumulative budget of {controller.budget:,} is spent: {value:,}"
        return LimitExceededError("token", value=value, limit=controller.budget, message=message)

    def is_counted(self, model: str) -> bool:
        """Return whether this is the task's model; calls to graders and others cost nothing."""
        return model == self._task.model


def _check_task(task: EvalSpec, runs: int) -> None:
    """Refuse task options under which the budget would not be enforced, or the run would hang."""
    if task.config.log_samples is False:
        raise AuditError("log_samples=False: Inspect then asks no early stopping; log the samples")
    if task.config.retry_on_error and (task.config.max_samples or 0) < runs:
        raise AuditError(
            f"retry_on_error: a retried epoch waits for a free place while later ones wait for it; "
            f"pass max_samples={runs} (all epochs of all samples), or retry_on_error=0"
        )


def _read_columns(sample: EvalSample, task: EvalSpec) -> dict[str, Any] | None:
    """Return the columns that `load` reads from a sample, or None without token usage."""
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
    """Return whether the events are needed: several calls were made, or a limit cut the sample."""
    calls = sum(event.event == "model" for event in sample.events)
    return calls > 1 or not sample.output.choices


@hooks(name="budget_audit", description="Hands each call what is left of a cumulative budget.")
class BudgetHooks(Hooks):
    """Hooks that limit and count the calls of epochs under a cumulative budget."""

    def enabled(self) -> bool:
        """Return whether the current epoch runs under a cumulative budget."""
        return _running.get() is not None

    async def on_sample_attempt_start(self, data: SampleAttemptStart) -> None:
        """Begin a try of an epoch, and write the budget's settings into the sample's store."""
        running = _running.get()
        if running is not None:
            running.drop_steps()
            running.is_scored = False
            controller = running.sample.controller
            store().set(METADATA, {**controller.facts, "paid_before": controller.paid})

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Limit a model call of the solver to the rest of the budget."""
        running = _running.get()
        if running and not running.is_scored and running.budget.is_counted(data.model_name):
            running.budget.limit_call(running, data.config)

    async def on_model_usage(self, data: ModelUsageData) -> None:
        """Count the tokens of a model call of the solver."""
        running = _running.get()
        if running and not running.is_scored and running.budget.is_counted(data.model_name):
            running.budget.count_call(running, data)

    async def on_sample_scoring(self, data: SampleScoring) -> None:
        """Stop limiting and counting calls: those that follow are the scorers'."""
        running = _running.get()
        if running is not None:
            running.is_scored = True

    async def on_sample_end(self, data: SampleEnd) -> None:
        """Record the finished epoch, and let the next one begin."""
        running = _running.get()
        if running is not None:
            await running.budget.finish_epoch(running.sample, data.sample)
