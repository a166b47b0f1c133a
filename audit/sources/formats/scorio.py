"""Scorio records: an attempt each, as the released archive names its columns, or nested.

The archive is a file per task and configuration, or one saved split that holds them all.
"""

import ast
import re
from contextlib import suppress
from typing import Any

from audit.sources.canonical import PYTHON_LIST
from audit.sources.files import SourceFile
from audit.sources.formats import (
    Context,
    Field,
    Format,
    Record,
    as_references,
    as_text,
    column,
    under,
    words,
)
from audit.sources.paths import value_at

EFFORT = r"(?:minimal|low|medium|high)"
# The study's competitions in every spelling that can mean nothing else.
COMPETITIONS = {
    "AIME24": r"aime_?(?:20)?24",
    "AIME25": r"aime_?(?:20)?25",
    "BrUMO25": r"brumo_?(?:20)?25",
    "HMMT25": r"hmmt_?(?:feb(?:ruary)?_?)?(?:20)?25(?:_?feb(?:ruary)?)?",
}
# What names a configuration: the released files call it `model_key`, and their `model` is shared.
CONFIGURATIONS = ("model_key", "archive", "config", "model_config", "configuration")
# What the archive's parser writes where a text has no box.
NO_ANSWER = "NotFound"
# Labels of a verifier: A is correct; B and C are incorrect and invalid.
VERIFIED = "A"
# Parts of a path that may name a configuration or a competition: the file and what holds it.
NEAREST = 4


def header(file: SourceFile) -> Record:
    """Return the competition of the nearest part of the path that names one and no other."""
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
    """Return the study's name of a competition; any other keeps its own."""
    for name, spelling in COMPETITIONS.items():
        if isinstance(value, str) and re.fullmatch(spelling, _plain(value)):
            return name
    return value


def _archive(record: Record, position: int, context: Context) -> Any:
    """Return the configuration; a model alone needs its effort, from the record or the path."""
    for name in CONFIGURATIONS:
        if isinstance(record.get(name), str):
            return record[name]
    model, effort = record.get("model"), record.get("reasoning_level")
    if not isinstance(model, str) or not model:
        return model
    if (model, effort) not in context.seen:
        short = model.rsplit("/", 1)[-1]
        is_known = isinstance(effort, str) and re.fullmatch(EFFORT, effort)
        name = f"{short}_{effort}" if is_known else _configuration(short, context.file)
        context.seen[model, effort] = name
    return context.seen[model, effort]


def _configuration(model: str, file: SourceFile) -> str:
    """Return a model's name with the effort that the path names beside it."""
    if re.search(rf"[_-]{EFFORT}$", model, re.IGNORECASE):
        return model
    for part in _path_parts(file):
        if match := re.search(rf"{re.escape(model)}[_-]({EFFORT})(?![a-z])", part, re.IGNORECASE):
            return f"{model}_{match[1].lower()}"
    return model


EXTRACTED = (
    *words("processed_results.extracted_answer processed_results.answer"),
    *words("processed_results.prediction processed_results.final_answer"),
    *words("processed_results.boxed_answer extracted_answer prediction"),
)
REFERENCES = (
    *words("references ground_truth_accepted ground_truth processed_results.ground_truth"),
    *words("reference gold answer target"),
)


def _first(record: Record, paths: tuple[str, ...]) -> tuple[str, Any]:
    """Return the first path that leads to a value, and the value; an empty list is none."""
    found = ((path, value_at(record, path)) for path in paths)
    return next(((path, value) for path, value in found if value not in (None, [])), ("", None))


def _extracted(record: Record) -> Any:
    """Return the archive's own answer; there is none without a box, whatever is written there."""
    has_box = value_at(record, "processed_results.has_box", "has_box")
    return None if has_box in (0, "0") else _as_answer(_first(record, EXTRACTED)[1])


def _as_answer(value: Any) -> Any:
    """Return an answer as its text; members of a list are put one after another."""
    if value == NO_ANSWER:
        return None
    if isinstance(value, list | tuple):
        return _joined(value)
    return as_text(value)


def _joined(members: Any) -> str:
    """Return several values that are one answer as people write them, with blanks between."""
    return ", ".join(str(member) for member in members)


def _references(record: Record) -> list[Any] | None:
    """Return the accepted forms; a set of values is one form that lists all of them."""
    path, value = _first(record, REFERENCES)
    forms = _literal(value) if path.endswith(("ground_truth", "_accepted")) else value
    is_set = record.get("answer_is_set") in (True, 1, "1", "True", "true")
    truth = _literal(record.get("ground_truth"))
    has_members = isinstance(truth, list) and isinstance(forms, list)
    if is_set and has_members and sorted(map(str, truth)) == sorted(map(str, forms)):
        return [_joined(truth)]
    if isinstance(forms, list):
        forms = [_joined(form) if isinstance(form, list) else form for form in forms]
    return as_references(forms)


def _literal(value: Any) -> Any:
    """Return what a Python literal stands for, a set or tuple as a list; else the text itself.

    The text of a number stays: 1_000 and 1e3 are no spellings of an answer.
    """
    if not isinstance(value, str) or value.strip()[:1] not in ("'", '"', "[", "{", "("):
        return value
    # NumPy writes lists without commas: Python would put all of their texts together.
    if value.strip().startswith("[") and "'" in value and not PYTHON_LIST.fullmatch(value.strip()):
        return value
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        literal = ast.literal_eval(value.strip())
        if isinstance(literal, str | list):
            return literal
        if isinstance(literal, set):
            return sorted(literal, key=str)
        # (1, 2) may be a point: only texts in quotes are members.
        if isinstance(literal, tuple) and all(isinstance(member, str) for member in literal):
            return list(literal)
    return value


def _verified(name: str) -> Field:
    """Return the column of a verifier's score: how likely it holds the answer to be correct."""
    label, prob = f"{name}_label", f"{name}_prob"

    def score(record: Record) -> Any:
        with suppress(AttributeError, KeyError, TypeError, ValueError):
            value = float(record[prob])
            return value if record[label].strip() == VERIFIED else 1 - value
        return None

    place = f"{prob} of the label {VERIFIED}"
    return column(f"score_{name}", place, make=score, looks_into=(label, prob))


_drawn = under("sampling.", "output.sampling.", "")
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
            "model_key, or else the model with its effort",
            look_up=_archive,
            looks_into=(*CONFIGURATIONS, "model", "reasoning_level"),
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
            "extracted_answer, where there is a box",
            make=_extracted,
            read=_as_answer,
            looks_into=(*words("processed_results extracted_answer prediction has_box"),),
        ),
        column(
            "references",
            "ground_truth_accepted, or else ground_truth",
            make=_references,
            read=as_references,
            looks_into=(*(path.split(".")[0] for path in REFERENCES), "answer_is_set"),
        ),
        _verified("cv3b"),
        _verified("cv7b"),
        column("temperature", *_drawn("temperature")),
        column("top_p", *_drawn("top_p")),
        column("max_tokens", *_drawn("max_tokens")),
    ),
    absent={"competition": "neither the records nor the path name one"},
)
