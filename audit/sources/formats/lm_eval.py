"""lm-evaluation-harness `samples_*.jsonl`: a line per document and filter, all attempts in each."""

import json
import re

from audit.sources.files import SourceFile, excerpt
from audit.sources.formats import Context, Format, Record, as_references, column
from audit.sources.json_stream import small_document
from audit.sources.paths import walk

SAMPLES = re.compile(r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl(?:\.gz)?")


def header(file: SourceFile) -> Record:
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


def prepare(record: Record, context: Context) -> Record | None:
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


FORMAT = Format(
    name="lm_eval",
    title="lm-evaluation-harness samples",
    recognized_by=(("doc_id", "resps", "filtered_resps"),),
    header=header,
    prepare=prepare,
    attempts_at=("resps.0",),
    fields=(
        column("archive", "@results beside it"),
        column("competition", "@file name"),
        column("question_id", "doc_id"),
        column("seed", "*"),
        column("text", "resps.0.*"),
        column("references", "target", read=as_references),
    ),
    absent={
        "completion_tokens": "lm-eval records none",
        "finish_reason": "lm-eval records none",
        "correct": "lm-eval grades only what a filter leaves",
    },
)
