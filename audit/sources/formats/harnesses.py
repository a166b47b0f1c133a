"""What harnesses of evaluations write: a declaration for each of them."""

import json
import re
from typing import Any

from audit.sources.files import SourceFile, excerpt
from audit.sources.formats import (
    Context,
    Format,
    Record,
    as_count,
    as_references,
    as_text,
    column,
    mean_logprob,
)
from audit.sources.json_stream import small_document
from audit.sources.paths import walk

# lm-evaluation-harness `samples_*.jsonl`: a line per document and filter, all attempts in each.

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz)?")


def _samples(file: SourceFile) -> Record:
    """The task is in the file's name, the model in the results that the harness writes beside."""
    match = SAMPLES.fullmatch(file.path.name)
    if match is None:
        return {}
    facts: Record = {"file name": match["task"]}
    results = small_document(file.path.with_name(f"results_{match['time']}.json"))
    # Without it the archive has to be named.
    if isinstance(results, dict) and "model_name" in results:
        facts["results beside it"] = str(results["model_name"])
    return facts


def _first_filter(record: Record, context: Context) -> Record | None:
    """Each filter repeats the same responses: the first of a document's lines stands for all."""
    first = walk(record, ("resps", "0", "0"))
    if isinstance(first, list):
        raise ValueError("holds log-likelihoods of choices: nothing was generated")
    document = record.get("doc_id"), record.get("doc_hash") or record.get("doc")
    key, responses = json.dumps(document, sort_keys=True), hash(json.dumps(record.get("resps")))
    if key not in context.seen:
        context.seen[key] = responses
        return record
    if context.seen[key] != responses:
        raise ValueError(f"doc_id {excerpt(record.get('doc_id'))} occurs with other responses")
    context.notes["lines repeat a document for another filter: left out"] += 1
    return None


LM_EVAL = Format(
    name="lm_eval",
    title="lm-evaluation-harness samples",
    recognized_by=(("doc_id", "resps", "filtered_resps"),),
    header=_samples,
    prepare=_first_filter,
    attempts_at=("resps.0",),
    fields=(
        column("archive", "@results beside it"),
        column("competition", "@file name"),
        column("question_id", "doc_id"),
        column("seed", "*"),
        column("text", "resps.0.*"),
        # Where a task grades every repeat; its one `exact_match` is the document's.
        column("archive_answer", "extracted_answers.*", read=as_text),
        column("correct", "exact_matches.*"),
        column("references", "target", read=as_references),
    ),
    absent={
        "completion_tokens": "lm-eval records none",
        "finish_reason": "lm-eval records none",
        "correct": "lm-eval grades only what a filter leaves",
    },
)


# lighteval details Parquet: a row per problem, its attempts in lists.

# details/MODEL/TIME/details_TASK_TIME.parquet, the model's name perhaps with a slash in it.
DETAILS = re.compile(r".*/details/(?P<model>.+)/\d{4}-\d\d-\d\dT[^/]*/details_[^/]+")


def _details(file: SourceFile) -> Record:
    """Return the model is nowhere but in lighteval's own folder layout."""
    match = DETAILS.fullmatch(file.path.resolve().as_posix())
    return {"folder name": match["model"]} if match else {}


def _task(name: Any) -> Any:
    """Return the task without its number of few-shot examples."""
    return re.sub(r"\|\d+$", "", name) if isinstance(name, str) else name


def _gold(record: Record) -> Any:
    choices, gold = walk(record, ("doc", "choices")), walk(record, ("doc", "gold_index"))
    if not isinstance(choices, list):
        return None
    positions = gold if isinstance(gold, list) else [gold]
    inside = [at for at in positions if isinstance(at, int) and 0 <= at < len(choices)]
    return [choices[at] for at in inside] or None


LIGHTEVAL = Format(
    name="lighteval",
    title="lighteval details",
    recognized_by=(("doc.id", "model_response.text", "model_response.output_tokens"),),
    header=_details,
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


# NeMo-Skills `output-rs*.jsonl`: a line per problem, a file per seed.

SEED = re.compile(r"output-rs(\d+)\.jsonl(\.gz)?")
BENCHMARK = re.compile(r".*/eval-results/([^/]+)/[^/]+")
JUDGEMENT = re.compile(r"judgement:\s*(yes|no)\b", re.IGNORECASE)


def _output(file: SourceFile) -> Record:
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


NEMO_SKILLS = Format(
    name="nemo_skills",
    title="NeMo-Skills generations",
    recognized_by=(
        ("generation", "expected_answer"),
        ("generation", "predicted_answer"),
        ("generation", "num_generated_tokens"),
    ),
    header=_output,
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
