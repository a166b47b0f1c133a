"""One attempt per row or line, or one problem with its attempts in lists, under any known name.

The canonical schema is such a file. A canonical name goes before its aliases, and two aliases that
say different things are asked about. Names that mean one thing here and another there
count only where their values fit. `id` names a problem only where a row holds all its attempts;
`answer` may be the model's or the reference, so that it is no alias: --map says what it is.
"""

import math
import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from audit.sources.formats import (
    Format,
    as_count,
    as_references,
    as_text,
    declare_column,
    split_words,
)


def is_whole(value: Any) -> bool:
    """Tell whether a value is a whole number, or its digits."""
    return str(value).strip().isdecimal() and not isinstance(value, bool)


def is_count(value: Any) -> bool:
    """Tell whether a value can be a number of tokens, or is a list of them."""
    # Tables write 300 as 300.0 where a column has gaps.
    plain = re.sub(r"\.0*\s*$", "", str(value))
    return isinstance(value, list) or (is_whole(plain) and int(plain) > 0)


def as_flag(value: Any) -> Any:
    """Normalize the text of a label: lower case, and `1.0` becomes `1`."""
    return value.strip().lower().removesuffix(".0") if isinstance(value, str) else value


def is_flag(value: Any) -> bool:
    """Tell whether a value is true, false, 1 or 0, also as text."""
    return str(as_flag(value)).lower().removesuffix(".0") in ("0", "1", "true", "false")


def is_name(value: Any) -> bool:
    """Tell whether a value can name a problem."""
    return is_whole(value) or (isinstance(value, str) and bool(value))


def is_text(value: Any) -> bool:
    """Tell whether a value is text, and not only digits."""
    return isinstance(value, str) and not is_whole(value)


def is_answer(value: Any) -> bool:
    """Tell whether a value can be an answer, or a list of accepted ones."""
    return isinstance(value, str | int | float | list) and not isinstance(value, bool)


FORMAT = Format(
    name="flat",
    title="one attempt per row",
    fields=(
        declare_column("archive", *split_words("archive model model_name model_id"), read=as_text),
        declare_column(
            "competition",
            *split_words("competition benchmark dataset task task_name"),
            read=as_text,
        ),
        declare_column(
            "question_id",
            *split_words(
                "question_id problem_id problem_idx doc_id qid question_idx problem_index"
            ),
            "question_index",
            if_one_row_per_problem=split_words("id idx index unique_id data_id task_id example_id"),
            if_values_fit=split_words("problem question"),
            fits=is_name,
        ),
        declare_column(
            "seed",
            *split_words(
                "seed sample_id sample_index sample_idx attempt attempt_id attempt_index epoch"
            ),
            *split_words("trial rollout_id rollout_idx"),
            if_values_fit=split_words("sample rollout generation_id"),
            fits=is_whole,
        ),
        declare_column(
            "prompt_tokens",
            *split_words("prompt_tokens input_tokens num_prompt_tokens num_input_tokens"),
            *split_words("usage.prompt_tokens usage.input_tokens"),
        ),
        declare_column(
            "completion_tokens",
            *split_words("completion_tokens output_tokens num_completion_tokens num_output_tokens"),
            *split_words("num_generated_tokens usage.completion_tokens usage.output_tokens"),
            if_values_fit=split_words("num_tokens n_tokens token_count token_ids"),
            fits=is_count,
            read=as_count,
        ),
        declare_column(
            "reasoning_tokens",
            *split_words("reasoning_tokens thinking_tokens thought_tokens num_reasoning_tokens"),
            *split_words("usage.reasoning_tokens usage.thinking_tokens"),
            "usage.completion_tokens_details.reasoning_tokens",
            "usage.output_tokens_details.reasoning_tokens",
        ),
        declare_column("total_tokens", "total_tokens", "usage.total_tokens"),
        declare_column("finish_reason", "finish_reason", "stop_reason"),
        declare_column(
            "text",
            *split_words("text response completion generation generated_text model_output"),
            "model_response",
            if_values_fit=split_words("output sample rollout"),
            fits=is_text,
        ),
        declare_column("boxed_answer", "boxed_answer"),
        declare_column(
            "archive_answer",
            *split_words("archive_answer extracted_answer predicted_answer prediction"),
            read=as_text,
            if_values_fit=split_words("pred generated_answer parsed_answer model_answer"),
            fits=is_answer,
        ),
        declare_column(
            "correct",
            "correct",
            "is_correct",
            read=as_flag,
            if_values_fit=split_words("score correctness acc"),
            fits=is_flag,
        ),
        declare_column("mean_logprob", "mean_logprob", "avg_logprob", "completion_avg_logprob"),
        declare_column(
            "references",
            *split_words("references reference reference_answer ground_truth gold_answer"),
            "expected_answer",
            read=as_references,
            if_values_fit=split_words("gold gt target correct_answer"),
            fits=is_answer,
        ),
        declare_column("reasoning", "reasoning", "reasoning_content"),
        *(
            declare_column(name, name, *split_words(f"sampling.{name} sampling_params.{name}"))
            for name in ("temperature", "top_p", "max_tokens")
        ),
    ),
)


# The words of a run table, a row per run as people write it themselves: exact names, in any case,
# with `_` or camelCase.


class Word(NamedTuple):
    """Names that mean a column in a run table, and the conversion of its values, also in SQL."""

    names: str
    read: Callable[[Any], Any] | None = None
    sql: str = "{}"
    fits: Callable[[Any], bool] = lambda value: True


# Words of outcomes, as labels.
OUTCOMES = {
    "pass": True, "passed": True, "resolved": True,
    "fail": False, "failed": False, "unresolved": False,
}  # fmt: skip
OUTCOME_SQL = "case {} else {{0}}::varchar end".format(
    " ".join(
        f"when lower(trim({{0}}::varchar)) in {words} then '{label}'"
        for label, words in (
            ("true", tuple(word for word, is_right in OUTCOMES.items() if is_right)),
            ("false", tuple(word for word, is_right in OUTCOMES.items() if not is_right)),
        )
    )
)


def as_outcome(value: Any) -> Any:
    """Convert a word such as `passed` to a label; return any other value unchanged."""
    return OUTCOMES.get(value.strip().lower(), value) if isinstance(value, str) else value


def as_ending(error: Any) -> str:
    """Return the finish reason of a column of errors: `stop` without an error, else `error`."""
    return "stop" if error in (None, "", False) else "error"


def is_error(value: Any) -> bool:
    """Tell whether a value can be an error; a number is a measurement."""
    return isinstance(value, str | dict | bool)


def is_amount(value: Any) -> bool:
    """Tell whether a value is a finite number, also as text."""
    with suppress(TypeError, ValueError):
        return not isinstance(value, bool) and math.isfinite(float(value))
    return False


def from_milliseconds(value: Any) -> Any:
    """Convert milliseconds to seconds; return anything but a number unchanged."""
    return float(value) / 1000 if is_amount(value) else value


RUN_TABLE = {
    "question_id": (
        Word("task task_id puzzle_id instance_id problem case scenario key", fits=is_name),
    ),
    "seed": (Word("trial attempt run repeat seed sample", fits=is_whole),),
    "archive": (Word("model model_key agent config", as_text, fits=is_name),),
    "completion_tokens": (Word("output_tokens tokens_out completion_tokens", fits=is_amount),),
    "prompt_tokens": (Word("input_tokens tokens_in prompt_tokens", fits=is_amount),),
    "cached_tokens": (Word("cached_tokens cache_read_tokens", fits=is_amount),),
    "money": (Word("cost_usd cost usd total_cost", fits=is_amount),),
    "seconds": (
        Word("duration_s wall_s elapsed_s latency_s seconds", fits=is_amount),
        Word(
            "duration_ms wall_ms elapsed_ms latency_ms", from_milliseconds, "{} / 1000", is_amount
        ),
    ),
    "correct": (
        Word("correct solved passed resolved success is_correct", as_flag, fits=is_flag),
        Word(
            "outcome status verdict",
            as_outcome,
            OUTCOME_SQL,
            lambda v: isinstance(as_outcome(v), bool),
        ),
    ),
    "finish_reason": (
        Word(
            "error exception",
            as_ending,
            "if(coalesce({}::varchar, '') in ('', 'false'), 'stop', 'error')",
            is_error,
        ),
    ),
}


def as_word(name: str) -> str:
    """Normalize a name for comparison: lower case, letters and digits only."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


# The columns by their names.
KNOWN = {field.column: field for field in FORMAT.fields}
