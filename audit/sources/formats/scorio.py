"""Scorio records, as JSON lines or Parquet: an attempt each, nested or already flat.

The released files name the fields above the line; what else there is goes by one of several names.
"""

import re
from typing import Any

from audit.sources.files import SourceFile
from audit.sources.formats import Context, Format, Record, as_references, as_text, column, words

EFFORT = r"(?:minimal|low|medium|high)"
# The study's competitions in every spelling that can mean nothing else.
COMPETITIONS = {
    "AIME24": r"aime_?(?:20)?24",
    "AIME25": r"aime_?(?:20)?25",
    "BrUMO25": r"brumo_?(?:20)?25",
    "HMMT25": r"hmmt_?(?:feb(?:ruary)?_?)?(?:20)?25(?:_?feb(?:ruary)?)?",
}
CONFIGURATIONS = ("archive", "config", "model_config", "configuration")
# Parts of a path that may name a configuration or a competition: the file and what holds it.
NEAREST = 4


def header(file: SourceFile) -> Record:
    """The competition, where the nearest part of the path that names any names one."""
    for part in _path_parts(file):
        paths = [
            name
            for name, spelling in COMPETITIONS.items()
            if re.search(rf"{spelling}(?!\d|_?nov)", _plain(part))
        ]
        if paths:
            return {"path": paths[0]} if len(paths) == 1 else {}
    return {}


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower())


def _path_parts(file: SourceFile) -> list[str]:
    return list(reversed(file.path.resolve().parts))[:NEAREST]


def _competition(value: Any) -> Any:
    """The study's name of a competition; any other keeps its own."""
    for name, spelling in COMPETITIONS.items():
        if isinstance(value, str) and re.fullmatch(spelling, _plain(value)):
            return name
    return value


def _archive(record: Record, position: int, context: Context) -> Any:
    """The model's configuration: the model alone does not tell efforts apart, the path may."""
    for name in CONFIGURATIONS:
        if isinstance(record.get(name), str):
            return record[name]
    model = record.get("model")
    if not isinstance(model, str) or not model:
        return model
    if model not in context.seen:
        context.seen[model] = _configuration(model.rsplit("/", 1)[-1], context.file)
    return context.seen[model]


def _configuration(model: str, file: SourceFile) -> str:
    if re.search(rf"[_-]{EFFORT}$", model, re.IGNORECASE):
        return model
    for part in _path_parts(file):
        if match := re.search(rf"{re.escape(model)}[_-]({EFFORT})(?![a-z])", part, re.IGNORECASE):
            return f"{model}_{match[1].lower()}"
    return model


FORMAT = Format(
    name="scorio",
    title="Scorio records",
    recognized_by=(
        ("data_id", "seed", "processed_results.is_correct"),
        ("data_id", "seed", "output.num_completion_tokens"),
        ("data_id", "seed", "num_completion_tokens"),
    ),
    header=header,
    fields=(
        column("question_id", "data_id"),
        column("seed", "seed"),
        column(
            "archive",
            "model, with the effort that the path names",
            look_up=_archive,
            looks_into=(*CONFIGURATIONS, "model"),
        ),
        column("finish_reason", "output.finish_reason", "finish_reason"),
        column("completion_tokens", "output.num_completion_tokens", "num_completion_tokens"),
        column("mean_logprob", "tokens.completion_avg_logprob", "completion_avg_logprob"),
        column("correct", "processed_results.is_correct", "is_correct"),
        # Names that differ between releases.
        column(
            "competition",
            *words("competition benchmark dataset task data_source @path"),
            read=_competition,
        ),
        column(
            "prompt_tokens",
            *words("output.num_prompt_tokens tokens.num_prompt_tokens num_prompt_tokens"),
            "prompt_tokens",
        ),
        column(
            "text",
            *words("output.text output.completion output.content output.generated_text"),
            *words("output.response completion response text generation"),
        ),
        column(
            "archive_answer",
            *words("processed_results.extracted_answer processed_results.answer"),
            *words("processed_results.prediction processed_results.final_answer"),
            *words("processed_results.boxed_answer extracted_answer prediction"),
            read=as_text,
        ),
        column(
            "references",
            *words("references ground_truth processed_results.ground_truth reference gold answer"),
            "target",
            read=as_references,
        ),
    ),
    absent={"competition": "neither the records nor the path name one"},
)
