"""NeMo-Skills `output-rs*.jsonl`: a line per problem, a file per seed."""

import re
from typing import Any

from audit.sources.files import SourceFile
from audit.sources.formats import (
    Context,
    Format,
    Record,
    as_references,
    as_text,
    column,
    mean_logprob,
)

SEED = re.compile(r"output-rs(\d+)\.jsonl(\.gz)?")
BENCHMARK = re.compile(r".*/eval-results/([^/]+)/[^/]+")
JUDGEMENT = re.compile(r"judgement:\s*(yes|no)\b", re.IGNORECASE)


def header(file: SourceFile) -> Record:
    """The seed is in the file's name, the benchmark in the folder that an evaluation makes."""
    seed = SEED.fullmatch(file.path.name)
    benchmark = BENCHMARK.fullmatch(file.path.resolve().as_posix())
    return {
        "file name": int(seed[1]) if seed else None,
        "folder name": benchmark[1] if benchmark else None,
    }


def _problem(record: Record, position: int, context: Context) -> Any:
    return record["id"] if record.get("id") is not None else context.row


def _judged(value: Any) -> Any:
    match = JUDGEMENT.search(value) if isinstance(value, str) else None
    return match[1].lower() == "yes" if match else value


FORMAT = Format(
    name="nemo_skills",
    title="NeMo-Skills generations",
    recognized_by=(
        ("generation", "expected_answer"),
        ("generation", "predicted_answer"),
        ("generation", "num_generated_tokens"),
    ),
    header=header,
    fields=(
        column("competition", "@folder name"),
        column("question_id", "id, or else the line number", look_up=_problem),
        column("seed", "@file name"),
        column("prompt_tokens", "num_input_tokens"),
        column("completion_tokens", "num_generated_tokens"),
        column("finish_reason", "finish_reason"),
        column("seconds", "generation_time"),
        column("text", "generation"),
        column("archive_answer", "predicted_answer", read=as_text),
        column("correct", "symbolic_correct", "is_correct", "judgement", read=_judged),
        column("mean_logprob", "logprobs", read=mean_logprob),
        column("references", "expected_answer", read=as_references),
        column("reasoning", "reasoning_content"),
    ),
    absent={
        "archive": "NeMo-Skills records none",
        "competition": "NeMo-Skills records none",
        "seed": "it is in the name of an output-rs*.jsonl",
    },
)
