"""The public functions with every option, for type checkers.

Written by `python -m tests.support.stub` from the functions and the fields of audit/options.py.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, Unpack

from audit.api import Compared, Database
from audit.database import connect as connect
from audit.errors import AuditError as AuditError
from audit.options import Names, Sources
from audit.output.picture import Picture
from audit.output.result import Result as Result
from audit.output.result import Text
from audit.progress import Progress

__version__: str

class Limits(TypedDict, total=False):
    threads: int | None
    memory: str | None

class Counting(Limits, total=False):
    tokenize: bool | None

class Reading(TypedDict, total=False):
    format: str | None
    map: Mapping[str, str] | None
    sql: str | None
    archive: str | None
    competition: str | None
    finish_reason: Literal["stop"] | None
    finished: Names | None
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

class Filters(TypedDict, total=False):
    archive: Names | None
    competition: Names | None
    problems: str | Path | None

class Exported(Counting, Filters, total=False):
    pass

class TaskLimits(Limits, total=False):
    scratch: str | Path | None

class OneProblem(TypedDict, total=False):
    competition: str | None
    question: str | int | None

class OneReplay(OneProblem, total=False):
    repeat: int | None
    budget: int | float | str | None
    cap: int | None

class ReadingLimits(Reading, Limits, total=False):
    pass

class Run(TypedDict, total=False):
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
    terminals: Names | None
    problems: str | Path | None

class Planned(Run, total=False):
    only_archive: Names | None
    only_competition: Names | None

class ReadingPlanned(Reading, Planned, total=False):
    pass

class Asked(Run, total=False):
    add_budgets: int | float | str | Sequence[int | float | str] | None
    archive: Names | None
    competition: Names | None

class AskedLimits(Asked, Limits, total=False):
    pass

class Choice(TypedDict, total=False):
    columns: Names | None
    sort: Names | None
    limit: int | None
    where: str | None
    order: Names | None
    width: int | None

class Tabled(Exported, Choice, total=False):
    pass

def answers(
    db: Database,
    answer: str,
    *,
    force: bool = ...,
    **options: Unpack[Limits],
) -> Result: ...
def card(
    db: Database,
    out: str | Path,
    *,
    format: Literal["json", "every_eval_ever"] = ...,
    archive: Names | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def check(
    db: str | Path,
    *,
    expect: Names = ...,
    progress: Progress | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def compare(
    db: Database,
    published: str | Path | None = ...,
    *,
    progress: Progress | None = ...,
    **options: Unpack[Counting],
) -> Compared: ...
def demo(
    out: str | Path = ...,
    *,
    simulated: bool = ...,
    agents: bool = ...,
    forced: bool = ...,
    progress: Callable[[str], Progress | None] | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def describe(
    sources: Sources,
    *,
    all: bool = ...,
    write: str | Path | None = ...,
    **options: Unpack[Reading],
) -> Text: ...
def diff(
    old: Database,
    new: Database,
    *,
    tolerance: float = ...,
    table: str | None = ...,
    archive: Names | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def export(
    db: Database,
    out: str | Path,
    names: Names = ...,
    *,
    format: Literal["csv", "parquet"] = ...,
    progress: Progress | None = ...,
    **options: Unpack[Exported],
) -> Result: ...
def extract(
    folder: str | Path,
    number: int | None = ...,
    **options: Unpack[TaskLimits],
) -> Result: ...
def fetch(
    out: str | Path,
    *,
    repo: str | None = ...,
    revision: str | None = ...,
    archives: Names = ...,
    progress: Progress | None = ...,
) -> Result: ...
def figure(
    db: Database,
    name: str,
    out: str | Path | None = ...,
    *,
    archive: Names | None = ...,
    order: Names | None = ...,
    width: int | None = ...,
    title: str | None = ...,
    font: str | None = ...,
    **options: Unpack[OneReplay],
) -> Picture: ...
def figures() -> Result: ...
def gather(
    folder: str | Path,
    db: str | Path,
    **options: Unpack[Limits],
) -> Result: ...
def leave(
    db: Database,
    exit: str,
    *,
    archive: str | None = ...,
    new: str | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def load(
    db: Database,
    sources: Sources,
    *,
    replace: bool = ...,
    texts: bool = ...,
    progress: Progress | None = ...,
    **options: Unpack[ReadingLimits],
) -> Result: ...
def part(
    folder: str | Path,
    number: int,
    **options: Unpack[TaskLimits],
) -> Result: ...
def plan(
    sources: Sources,
    out: str | Path,
    parts: int,
    **options: Unpack[ReadingPlanned],
) -> Result: ...
def queries() -> Result: ...
def query(
    db: Database,
    name_or_sql: str,
    params: Mapping[str, Any] | None = ...,
    *,
    limit: int | None = ...,
    timeout: float | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def replay(
    db: Database,
    *,
    progress: Progress | None = ...,
    **options: Unpack[AskedLimits],
) -> Result: ...
def report(
    db: Database,
    out: str | Path = ...,
    *,
    formats: Names = ...,
    title: str | None = ...,
    texts: str | None = ...,
    archive: Names | None = ...,
    progress: Progress | None = ...,
    **options: Unpack[Limits],
) -> list[Path]: ...
def run(
    folder: str | Path,
    *,
    on: Literal["local", "spark", "ray"] = ...,
    workers: int = ...,
    master: str | None = ...,
    remote: str | None = ...,
    address: str | None = ...,
    progress: Progress | None = ...,
    **options: Unpack[TaskLimits],
) -> Result: ...
def schema(
    db: Database,
    name: str | None = ...,
) -> Result: ...
def show(
    db: Database,
    *,
    archive: str | None = ...,
    seed: int | None = ...,
    **options: Unpack[OneProblem],
) -> Result | Text: ...
def simulate(
    out: str | Path,
    *,
    problems: int = ...,
    attempts: int = ...,
    seed: int = ...,
    texts: Literal["final", "full"] = ...,
    progress: Progress | None = ...,
) -> list[Path]: ...
def sql(
    name: str,
) -> Text: ...
def table(
    db: Database,
    name: str,
    *,
    progress: Progress | None = ...,
    **options: Unpack[Tabled],
) -> Result: ...
def tables() -> Result: ...
def timeline(
    db: Database,
    out: str | Path = ...,
    *,
    archive: str | None = ...,
    **options: Unpack[OneReplay],
) -> Picture: ...
def tokenize(
    db: Database,
    tokenizer: str | None = ...,
    *,
    everything: bool = ...,
    checkpoints: bool = ...,
    progress: Progress | None = ...,
    **options: Unpack[Limits],
) -> Result: ...
def verify(
    live: str | Path,
    full: str | Path,
    *,
    budget: str | int | None = ...,
    rule: str | None = ...,
    policy: str | None = ...,
    selector: str | None = ...,
    unit: str | None = ...,
    cap: int | None = ...,
    partial: bool = ...,
) -> Result: ...
