"""The options of public functions, for type checkers.

Written by `python -m tests.support.parameters` from the fields of audit/options.py.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, TypedDict

class ReadingOptions(TypedDict, total=False):
    format: str | None
    map: Mapping[str, str] | None
    sql: str | None
    archive: str | None
    competition: str | None
    finish_reason: Literal["stop"] | None
    finished: str | Sequence[str] | None
    count_tokens: str | None
    answer: str | None
    grade: Literal["references"] | None
    references: str | Path | None
    labels: str | Path | None
    checkpoints: str | Path | None
    explode: str | None
    runs: Literal["separate", "append"] | None
    failed: Literal["drop", "count"] | None
    numbers: bool | None
    skip_unreadable: bool | None
    unlabelled: Literal["wrong", "drop"] | None
    force: bool | None

class LimitOptions(TypedDict, total=False):
    threads: int | None
    memory: str | None

class TaskOptions(TypedDict, total=False):
    threads: int | None
    memory: str | None
    scratch: str | Path | None

class SettingOptions(TypedDict, total=False):
    unit: Literal["completion", "total", "money", "seconds", "steps"] | None
    budgets: int | float | str | Sequence[int | float | str] | None
    add_budgets: int | float | str | Sequence[int | float | str] | None
    prices: str | Path | None
    caps: int | float | str | Sequence[int | float | str] | None
    primary_cap: int | None
    orders: int | str | None
    order_seed: int | None
    primary_selector: str | None
    replicates: int | None
    bootstrap_seed: int | None
    curve_points: int | None
    effect: float | None
    rules: str | Path | Sequence[str] | None
    selectors: str | Path | Sequence[str] | None
    policies: str | Path | Sequence[str] | None
    terminals: str | Sequence[str] | None
    archive: str | Sequence[str] | None
    competition: str | Sequence[str] | None
    problems: str | Path | None

class PlannedOptions(TypedDict, total=False):
    unit: Literal["completion", "total", "money", "seconds", "steps"] | None
    budgets: int | float | str | Sequence[int | float | str] | None
    prices: str | Path | None
    caps: int | float | str | Sequence[int | float | str] | None
    primary_cap: int | None
    orders: int | str | None
    order_seed: int | None
    primary_selector: str | None
    replicates: int | None
    bootstrap_seed: int | None
    curve_points: int | None
    effect: float | None
    rules: str | Path | Sequence[str] | None
    selectors: str | Path | Sequence[str] | None
    policies: str | Path | Sequence[str] | None
    terminals: str | Sequence[str] | None
    only_archive: str | Sequence[str] | None
    only_competition: str | Sequence[str] | None
    problems: str | Path | None

class CountOptions(TypedDict, total=False):
    threads: int | None
    memory: str | None
    tokenize: bool | None

class ExportOptions(TypedDict, total=False):
    archive: str | Sequence[str] | None
    competition: str | Sequence[str] | None
    problems: str | Path | None
    threads: int | None
    memory: str | None
    tokenize: bool | None

class TableOptions(TypedDict, total=False):
    columns: str | Sequence[str] | None
    sort: str | Sequence[str] | None
    limit: int | None
    where: str | None
    order: str | Sequence[str] | None
    width: int | None
    archive: str | Sequence[str] | None
    competition: str | Sequence[str] | None
    problems: str | Path | None
    threads: int | None
    memory: str | None
    tokenize: bool | None

class ProblemOptions(TypedDict, total=False):
    competition: str | None
    question: str | int | None

class ReplayKey(TypedDict, total=False):
    competition: str | None
    question: str | int | None
    repeat: int | None
    budget: int | float | str | None
    cap: int | None

class LoadOptions(ReadingOptions, LimitOptions): ...
class ReplayOptions(SettingOptions, LimitOptions): ...
class PlanOptions(ReadingOptions, PlannedOptions): ...
