"""FastChat and LiveBench `model_answer/*.jsonl`: a line per question, the answer in turns."""

from typing import Any

from audit.sources.formats import Context, Format, Record, column
from audit.sources.formats.agents import NO_LABELS
from audit.sources.paths import items, walk


def _text(record: Record, position: int, context: Context) -> Any:
    """What the model said; of several turns the last, which builds on those before."""
    turns = items(walk(record, ("choices", "*", "turns"), position))
    said = [turn for turn in turns if isinstance(turn, str)]
    return said[-1] if said else None


def _tokens(record: Record) -> Any:
    """Usage counts all choices together."""
    return record.get("total_output_tokens") if len(items(record["choices"])) == 1 else None


FORMAT = Format(
    name="fastchat",
    title="FastChat or LiveBench answers",
    recognized_by=(("question_id", "answer_id", "choices.*.turns"),),
    attempts_at=("choices",),
    fields=(
        column("archive", "model_id"),
        column("competition", "category", "task"),
        column("question_id", "question_id"),
        column("seed", "choices.*.index", "*"),
        column("completion_tokens", "total_output_tokens", make=_tokens),
        column("text", "choices.*.turns", look_up=_text),
    ),
    absent={
        "correct": NO_LABELS,
        "competition": "answers name no benchmark",
        "completion_tokens": "no count of one choice's tokens",
        "finish_reason": "answers record none",
    },
)
