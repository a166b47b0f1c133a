"""lighteval details Parquet: a row per problem, its attempts in lists."""

import re
from typing import Any

from audit.sources.files import SourceFile
from audit.sources.formats import Format, Record, as_count, column
from audit.sources.paths import walk

# details/MODEL/TIME/details_TASK_TIME.parquet, the model's name perhaps with a slash in it.
DETAILS = re.compile(r".*/details/(?P<model>.+)/\d{4}-\d\d-\d\dT[^/]*/details_[^/]+")


def header(file: SourceFile) -> Record:
    """The model is nowhere but in lighteval's own folder layout."""
    match = DETAILS.fullmatch(file.path.resolve().as_posix())
    return {"folder name": match["model"]} if match else {}


def _task(name: Any) -> Any:
    """The task without its number of few-shot examples."""
    return re.sub(r"\|\d+$", "", name) if isinstance(name, str) else name


def _gold(record: Record) -> Any:
    choices, gold = walk(record, ("doc", "choices")), walk(record, ("doc", "gold_index"))
    if not isinstance(choices, list):
        return None
    positions = gold if isinstance(gold, list) else [gold]
    inside = [at for at in positions if isinstance(at, int) and 0 <= at < len(choices)]
    return [choices[at] for at in inside] or None


FORMAT = Format(
    name="lighteval",
    title="lighteval details",
    recognized_by=(("doc.id", "model_response.text", "model_response.output_tokens"),),
    header=header,
    attempts_at=("model_response.text",),
    fields=(
        column("archive", "@folder name"),
        column("competition", "doc.task_name", read=_task),
        column("question_id", "doc.id"),
        column("seed", "*"),
        column("prompt_tokens", "model_response.input_tokens", read=as_count),
        column("completion_tokens", "model_response.output_tokens.*", read=as_count),
        column("text", "model_response.text.*"),
        column("references", "doc.choices[doc.gold_index]", make=_gold, looks_into=("doc",)),
    ),
    absent={
        "finish_reason": "lighteval records none",
        "correct": "lighteval grades problems, not attempts",
    },
)
