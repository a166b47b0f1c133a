"""One attempt per row or line, or one problem with its attempts in lists, under any known name.

The canonical schema is such a file. A canonical name goes before its aliases, and two aliases that
say different things are asked about. Names that mean one thing here and another there
count only where their values fit. `id` names a problem only where a row holds all its attempts;
`answer` may be the model's or the reference, so it is no name at all: --map says what it is.
"""

import re
from typing import Any

from audit.sources.formats import Format, as_count, as_references, as_text, column, words


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, or its digits."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, str) and value.strip().isdecimal())


def is_count(value: Any) -> bool:
    """Whether a value can be a number of tokens, or is a list of them."""
    if isinstance(value, str | float):
        # Tables write 300 as 300.0 where a column has gaps.
        value = re.sub(r"\.0*\s*$", "", str(value))
    return isinstance(value, list) or (is_whole(value) and int(value) > 0)


def is_flag(value: Any) -> bool:
    """Whether a value is true or false, or stands for it."""
    plain = as_flag(value)
    return isinstance(plain, str | int | float) and plain in (0, 1, "0", "1", "true", "false")


def as_flag(value: Any) -> Any:
    """A score as it is; one that a table has written as 1.0 is 1."""
    return value.strip().lower().removesuffix(".0") if isinstance(value, str) else value


def is_name(value: Any) -> bool:
    """Whether a value can name a problem."""
    return is_whole(value) or (isinstance(value, str) and bool(value))


def is_text(value: Any) -> bool:
    """Whether a value is text."""
    return isinstance(value, str) and not is_whole(value)


def is_answer(value: Any) -> bool:
    """Whether a value can be an answer, or a list of accepted ones."""
    return isinstance(value, str | int | float | list) and not isinstance(value, bool)


FORMAT = Format(
    name="flat",
    title="one attempt per row",
    fields=(
        column("archive", *words("archive model model_name model_id"), read=as_text),
        column("competition", *words("competition benchmark dataset task task_name"), read=as_text),
        column(
            "question_id",
            *words("question_id problem_id problem_idx doc_id qid question_idx problem_index"),
            "question_index",
            if_one_row_per_problem=words("id idx index unique_id data_id task_id example_id"),
            if_values_fit=words("problem question key"),
            fits=is_name,
        ),
        column(
            "seed",
            *words("seed sample_id sample_index sample_idx attempt attempt_id attempt_index epoch"),
            *words("trial rollout_id rollout_idx"),
            if_values_fit=words("sample rollout generation_id"),
            fits=is_whole,
        ),
        column(
            "prompt_tokens",
            *words("prompt_tokens input_tokens num_prompt_tokens num_input_tokens"),
            *words("usage.prompt_tokens usage.input_tokens"),
        ),
        column(
            "completion_tokens",
            *words("completion_tokens output_tokens num_completion_tokens num_output_tokens"),
            *words("num_generated_tokens usage.completion_tokens usage.output_tokens"),
            if_values_fit=words("num_tokens n_tokens token_count tokens token_ids"),
            fits=is_count,
            read=as_count,
        ),
        column(
            "reasoning_tokens",
            *words("reasoning_tokens thinking_tokens thought_tokens num_reasoning_tokens"),
            *words("usage.reasoning_tokens usage.thinking_tokens"),
            "usage.completion_tokens_details.reasoning_tokens",
            "usage.output_tokens_details.reasoning_tokens",
        ),
        column("total_tokens", "total_tokens", "usage.total_tokens"),
        column("finish_reason", "finish_reason", "stop_reason"),
        column(
            "text",
            *words("text response completion generation generated_text model_output"),
            "model_response",
            if_values_fit=words("output sample rollout"),
            fits=is_text,
        ),
        column("boxed_answer", "boxed_answer"),
        column(
            "archive_answer",
            *words("archive_answer extracted_answer predicted_answer prediction"),
            read=as_text,
            if_values_fit=words("pred generated_answer parsed_answer model_answer"),
            fits=is_answer,
        ),
        column(
            "correct",
            "correct",
            "is_correct",
            read=as_flag,
            if_values_fit=words("score correctness acc"),
            fits=is_flag,
        ),
        column("mean_logprob", "mean_logprob", "avg_logprob", "completion_avg_logprob"),
        column(
            "references",
            *words("references reference reference_answer ground_truth gold_answer"),
            "expected_answer",
            read=as_references,
            if_values_fit=words("gold gt target correct_answer"),
            fits=is_answer,
        ),
        column("reasoning", "reasoning", "reasoning_content"),
    ),
)
# The columns by their names, for logs beside whose records people put fields of their own.
KNOWN = {field.column: field for field in FORMAT.fields}
OWN = (
    column("competition", *KNOWN["competition"].paths),
    column("correct", *KNOWN["correct"].paths, read=as_flag),
    column("references", *KNOWN["references"].paths, read=as_references),
)
