"""The canonical schema: what each column may hold, and where a load keeps it.

COLUMNS is the only list of an attempt's columns: a line there is read from every file that has the
column, stored, described and documented. A column has one rule, which takes a value and gives the
canonical value or says what is wrong with it. Parquet columns of the expected type are checked
whole; when such a check fails, or the type is another one, the rule goes through the values and
finds the row.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Container, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from audit.answers.normal_form import normalize_cached
from audit.errors import AuditError
from audit.sources.files import Chunk, Source, excerpt

# Sums of counts up to this stay exact in 64 bits.
LARGEST_COUNT = 10**12
LARGEST_EXACT_FLOAT = 2**53
# In millionths of a thousandth and in thousandths these stay exact in 64 bits, and so do sums.
LARGEST_MONEY = 10**6
LARGEST_SECONDS = 10**9
# Columns of scores: any number of them, each known by its name.
SCORE = re.compile(r"score_([a-z0-9_]+)")
SCORE_PREFIX = "score_"
# mean_logprob is the score of this name.
LOGPROB_SCORE = "score_logprob"
NO_SCORE = (
    "no score has this name: they are lower-case letters, digits and _, and log-probabilities are "
    "the column mean_logprob"
)

DIGITS = re.compile(r"\s*([+-]?[0-9]{1,19})(?:\.0*)?\s*")
# What Python and pandas write for a list of strings. NumPy's ['a' 'b'] is no match: read as
# Python it would be the one string 'ab'.
_ITEM = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|None)"""
PYTHON_LIST = re.compile(rf"\[\s*(?:{_ITEM}(?:\s*,\s*{_ITEM})*\s*(?:,\s*)?)?\]", re.DOTALL)


@dataclass(frozen=True)
class Column:
    """A canonical column: its type, the rule for one value, and the cast of a whole array.

    The cast returns None where the rule has to find which value is wrong.
    """

    type: pa.DataType
    rule: Callable[[Any], Any]
    cast_array: Callable[[pa.Array], pa.Array | None] = lambda array: None
    is_required: bool = False
    # What it means, for the database's catalogue.
    comment: str = ""


def parse_whole_number(value: Any) -> int | None:
    """Return a value as an integer, or None where it is no whole number."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float | Decimal):
        is_whole = -LARGEST_EXACT_FLOAT < value < LARGEST_EXACT_FLOAT and value % 1 == 0
        return int(value) if is_whole else None
    match = DIGITS.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _make_integers(least: int, most: int, expected: str, *, is_required: bool = True) -> Column:
    """Return a column of whole numbers from `least` to `most`; `expected` words the error."""

    def rule(value: Any) -> int | None:
        if value is None and not is_required:
            return None
        number = parse_whole_number(value)
        if number is None or number < least:
            raise ValueError(f"must be {expected}, found {excerpt(value)}")
        if number > most:
            raise ValueError(f"must be at most {most}, found {excerpt(value)}")
        return number

    def cast_array(array: pa.Array) -> pa.Array | None:
        if pa.types.is_null(array.type) and not is_required:
            return array.cast(pa.int64())
        if not pa.types.is_integer(array.type) or (array.null_count and is_required):
            return None
        array = array.cast(pa.int64())
        bounds = pc.min_max(array).as_py()
        is_within = bounds["min"] is None or (least <= bounds["min"] and bounds["max"] <= most)
        return array if is_within else None

    return Column(pa.int64(), rule, cast_array, is_required)


def _make_amounts(most: int) -> Column:
    """Return a column of numbers from 0 to `most`; null means unknown."""

    def rule(value: Any) -> float | None:
        if value is None:
            return None
        number = _parse_number(value)
        if number is None or not number >= 0 or math.isinf(number):
            raise ValueError(f"must be a number of 0 or more, found {excerpt(value)}")
        if number > most:
            raise ValueError(f"must be at most {most:,}, found {excerpt(value)}")
        return number

    def cast_array(array: pa.Array) -> pa.Array | None:
        if not is_numeric(array.type):
            return None
        array = array.cast(pa.float64())
        is_within = pc.and_(pc.greater_equal(array, 0.0), pc.less_equal(array, float(most)))
        return array if pc.all(is_within, min_count=0).as_py() else None

    return Column(pa.float64(), rule, cast_array)


def _parse_number(value: Any) -> float | None:
    """Return a value as a float, finite or not; None where it is no number."""
    is_plain = not isinstance(value, str) or (value.isascii() and "_" not in value)
    if isinstance(value, bool | bytes) or not is_plain:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _ignore_invalid(column: Column) -> Column:
    """Return the column with a rule that turns invalid values into null instead of an error."""

    def rule(value: Any) -> Any:
        try:
            return column.rule(value)
        except ValueError:
            return None

    return replace(column, rule=rule)


def is_numeric(type: pa.DataType) -> bool:
    """Tell whether an Arrow type holds numbers or nothing but nulls."""
    return pa.types.is_floating(type) or pa.types.is_integer(type) or pa.types.is_null(type)


def _check_string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, found {excerpt(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"must be valid Unicode, found {excerpt(value)}") from None
    return value


def _cast_strings(array: pa.Array) -> pa.Array | None:
    """Check that an array holds valid Unicode texts; return None for any other type."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    array.validate(full=True)
    return array


def _make_strings(least: int | None, type: pa.DataType) -> Column:
    """Return a column of strings of at least `least` bytes; without `least`, null is valid too."""

    def rule(value: Any) -> str | None:
        if value is None and least is None:
            return None
        if value == "" and least:
            raise ValueError("must not be empty")
        return _check_string(value)

    def cast_array(array: pa.Array) -> pa.Array | None:
        strings = _cast_strings(array)
        if strings is None or (least is not None and strings.null_count):
            return None
        if least and pc.min(pc.binary_length(strings)).as_py() < least:
            return None
        return strings.cast(type)

    return Column(type, rule, cast_array, least is not None)


def _check_references(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str | None) for item in value):
        raise ValueError(f"must be a list of strings, found {excerpt(value)}")
    forms = (normalize_cached(_check_string(item)) for item in value if item is not None)
    return [form for form in forms if form is not None]


def parse_csv_list(value: Any) -> Any:
    """Parse a CSV cell as a JSON or Python list; return any other cell as a list of one."""
    # References from another file come as lists.
    if value is None or isinstance(value, list):
        return value
    if not value.lstrip().startswith("["):
        return [value]
    with suppress(ValueError, RecursionError):
        return json.loads(value)
    cell = value.strip()
    with suppress(SyntaxError, ValueError, MemoryError, RecursionError):
        return ast.literal_eval(cell) if PYTHON_LIST.fullmatch(cell) else cell
    return cell


def _parse_cells(column: Column) -> Column:
    """Return a column of lists whose rule parses CSV cells first."""
    return replace(column, rule=lambda value: column.rule(parse_csv_list(value)))


def _parse_label(value: Any) -> bool | None:
    if value is None:
        return None
    plain = value.strip().lower() if isinstance(value, str) else value
    if plain in (True, "true", "1"):
        return True
    if plain in (False, "false", "0"):
        return False
    raise ValueError(f"must be true or false (or 1 or 0), found {excerpt(value)}")


def _parse_finite(value: Any) -> float | None:
    """Return a number as a float; NaN and infinity become null."""
    if value is None:
        return None
    number = _parse_number(value)
    if number is None:
        raise ValueError(f"must be a number or null, found {excerpt(value)}")
    return number if math.isfinite(number) else None


def _parse_score(value: Any) -> float | None:
    if isinstance(value, list):
        raise ValueError(
            f"must be a number or null, found {excerpt(value)}; of a list name what to take: "
            "--map 'score_NAME=PATH[last]' (or [min], [mean], [prod])"
        )
    return _parse_finite(value)


def _cast_finite(array: pa.Array) -> pa.Array | None:
    if not is_numeric(array.type):
        return None
    array = array.cast(pa.float64())
    return pc.if_else(pc.is_finite(array), array, pa.scalar(None, pa.float64()))


# Steps: the model calls or turns that an attempt is made of

_COUNT = _make_integers(0, LARGEST_COUNT, "a whole number of 0 or more", is_required=False)
STEP_COLUMNS = {
    "prompt_tokens": _COUNT,
    "cached_tokens": _COUNT,
    "completion_tokens": _COUNT,
    "money": _make_amounts(LARGEST_MONEY),
    "seconds": _make_amounts(LARGEST_SECONDS),
}
STEP = pa.struct([(name, column.type) for name, column in STEP_COLUMNS.items()])
STEPS = pa.list_(STEP)


def is_step(value: Any) -> bool:
    """Tell whether a value is a step: an object with any of the columns of steps."""
    return isinstance(value, dict) and not STEP_COLUMNS.keys().isdisjoint(value)


def _check_items(value: Any, noun: str, columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """Check a list of objects, such as steps, field by field; return the canonical objects."""
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"must be a list of {noun}s, found {excerpt(value)}")
    items = []
    for number, item in enumerate(value, 1):
        if not isinstance(item, dict) or columns.keys().isdisjoint(item):
            names = ", ".join(columns)
            raise ValueError(f"{noun} {number} must have any of {names}, found {excerpt(item)}")
        checked = {}
        for name, column in columns.items():
            try:
                checked[name] = column.rule(item.get(name))
            except ValueError as error:
                raise ValueError(f"{noun} {number}: {name} {error}") from None
        items.append(checked)
    return items


def _check_steps(value: Any) -> list[dict[str, Any]]:
    steps = _check_items(value, "step", STEP_COLUMNS)
    for number, step in enumerate(steps, 1):
        if (step["cached_tokens"] or 0) > (step["prompt_tokens"] or 0):
            raise ValueError(
                f"step {number}: cached_tokens must be at most its prompt_tokens "
                f"({step['prompt_tokens'] or 0}), found {step['cached_tokens']}"
            )
    return steps


# Checkpoints: what an attempt would answer if it had to answer there


def _check_kind(value: Any) -> str:
    if value is None:
        return "asked"
    if value not in ("written", "asked"):
        raise ValueError(f"must be written or asked, found {excerpt(value)}")
    return value


def _cast_labels(array: pa.Array) -> pa.Array | None:
    if pa.types.is_boolean(array.type) or pa.types.is_null(array.type):
        return array.cast(pa.bool_())
    return None


_LABEL = Column(pa.bool_(), _parse_label, _cast_labels)
# Answers are as written here: a load normalizes those of all files at once.
CHECKPOINT_COLUMNS = {
    "tokens": _make_integers(1, LARGEST_COUNT, "a whole number above 0"),
    "kind": Column(pa.string(), _check_kind),
    "answer": _make_strings(None, pa.string()),
    "cost": _COUNT,
    "certain": _LABEL,
    "correct": _LABEL,
}
CHECKPOINTS = pa.list_(
    pa.struct([(name, column.type) for name, column in CHECKPOINT_COLUMNS.items()])
)


def _check_checkpoints(value: Any) -> list[dict[str, Any]]:
    return _check_items(value, "checkpoint", CHECKPOINT_COLUMNS)


def _add_comment(values: Column, comment: str) -> Column:
    """Return the column with a comment: what it means."""
    return replace(values, comment=comment)


# Columns that a row with several attempts has once, for all of them.
SHARED = {
    *("archive", "competition", "question_id", "prompt_tokens", "references"),
    *("temperature", "top_p", "max_tokens"),
}
# An attempt's columns. To add one, add a line here: a load keeps it in `attempts`.
COLUMNS = {
    "archive": _add_comment(
        _make_strings(1, pa.string()),
        "one model configuration: whose attempts these are",
    ),
    "competition": _add_comment(
        _make_strings(1, pa.string()), "the stratum that the problem belongs to"
    ),
    "question_id": _add_comment(
        _make_integers(0, 2**63 - 1, "a whole number of 0 or more"),
        "the number of the problem within its competition",
    ),
    "seed": _add_comment(
        _make_integers(-(2**63), 2**63 - 1, "a whole number of at most 64 bits"),
        "the attempt's own number within its archive and problem",
    ),
    "prompt_tokens": _add_comment(_COUNT, "tokens of the prompt"),
    "completion_tokens": _add_comment(
        _make_integers(1, LARGEST_COUNT, "a whole number above 0"),
        "tokens that the attempt generated",
    ),
    "finish_reason": _add_comment(
        _make_strings(0, pa.string()), "how the generation ended; only 'stop' is a finished attempt"
    ),
    # Offsets of 64 bits: a batch of a few giant texts may pass 2 GB.
    "text": _add_comment(_make_strings(None, pa.large_string()), "the generated text"),
    "boxed_answer": _add_comment(
        _make_strings(None, pa.string()), "the body of the last box, as the source recorded it"
    ),
    "archive_answer": _add_comment(
        _make_strings(None, pa.string()), "the source's own extraction, normalized"
    ),
    "correct": _add_comment(
        _LABEL,
        "whether the answer is correct by the source's label",
    ),
    "mean_logprob": _add_comment(
        Column(pa.float64(), _parse_finite, _cast_finite),
        "mean log-probability of the generated tokens",
    ),
    "references": _add_comment(
        Column(pa.list_(pa.string()), _check_references),
        "accepted reference forms of the problem",
    ),
    "cached_tokens": _add_comment(
        _COUNT,
        "tokens of the prompt that were read from a cache; null where unknown",
    ),
    "money": _add_comment(
        _make_amounts(LARGEST_MONEY), "what the attempt was billed; null where unknown"
    ),
    "seconds": _add_comment(
        _make_amounts(LARGEST_SECONDS), "how long the attempt took; null where unknown"
    ),
    # Only checks read the columns from here to max_tokens.
    "reasoning_tokens": _add_comment(
        _ignore_invalid(_COUNT),
        "tokens that the attempt spent on reasoning, as recorded; null where unknown",
    ),
    "reasoning_length": _add_comment(
        _ignore_invalid(_COUNT),
        "characters of reasoning that are recorded beside the text; null where there is none",
    ),
    "total_tokens": _add_comment(
        _ignore_invalid(_COUNT),
        "tokens of the prompt and of all that was generated, as recorded; null where unknown",
    ),
    "temperature": _add_comment(
        _ignore_invalid(_make_amounts(LARGEST_MONEY)),
        "the temperature at which tokens were drawn; null where unknown",
    ),
    "top_p": _add_comment(
        _ignore_invalid(_make_amounts(LARGEST_MONEY)),
        "the share of likely tokens that were drawn from; null where unknown",
    ),
    "max_tokens": _add_comment(
        _ignore_invalid(_COUNT),
        "the most tokens that the attempt was allowed to generate; null where unknown",
    ),
    "steps": _add_comment(
        Column(STEPS, _check_steps), "the model calls that the attempt is made of, in order"
    ),
    "checkpoints": _add_comment(
        Column(CHECKPOINTS, _check_checkpoints),
        "what the attempt would have answered before its end",
    ),
}
# An attempt answers something where it has any of these columns.
ANSWERING = ("text", "boxed_answer", "archive_answer")
CSV_COLUMNS = COLUMNS | {
    name: _parse_cells(COLUMNS[name]) for name in ("references", "steps", "checkpoints")
}
SCORES = _add_comment(
    Column(pa.float64(), _parse_score, _cast_finite),
    "a number that generation or a judge without labels gave the attempt; larger is better",
)
# An attempt with steps may lack its own count of tokens, or have 0.
_COMPLETION_OF_STEPS = _make_integers(0, LARGEST_COUNT, "a whole number above 0", is_required=False)


def find_column(name: str) -> Column | None:
    """Return the canonical column of this name (any `score_…` too), or None."""
    if name.startswith(SCORE_PREFIX):
        return SCORES if SCORE.fullmatch(name) and name != LOGPROB_SCORE else None
    return COLUMNS.get(name)


def check_problem_name(value: Any) -> str:
    """Return the name of a problem as text; a number becomes its digits. Refuse an empty one."""
    number = None if isinstance(value, str) else parse_whole_number(value)
    name = _check_string(value) if number is None else str(number)
    if not name:
        raise ValueError("must not be empty")
    return name


def find_problem_key(value: Any) -> str:
    """Return the name of a problem, or "" where the rule of question_id will refuse the value."""
    try:
        return check_problem_name(value)
    except ValueError:
        return ""


def read_columns(
    source: Source, chunk: Chunk, only: Container[str] | None = None
) -> dict[str, pa.Array]:
    """Check a chunk and return every canonical column; one that the file lacks is all null.

    Where problems have names, question_id holds the names. With `only`, the other columns are not
    read and are null. Of scores, those of the chunk are returned.
    """
    columns = dict(CSV_COLUMNS if source.format == "csv" else COLUMNS)
    if source.has_problem_names:
        columns["question_id"] = Column(pa.string(), check_problem_name)
    for name in chunk.values:
        if name.startswith(SCORE_PREFIX):
            if find_column(name) is None:
                raise _make_error(source, chunk, 0, name, NO_SCORE)
            columns[name] = SCORES
    if _has_values(chunk.values.get("steps")):
        columns["completion_tokens"] = _COMPLETION_OF_STEPS
    read = {
        name: read_column(source, chunk, name, column, chunk.values.get(name))
        if only is None or name in only
        else pa.nulls(len(chunk.rows), column.type)
        for name, column in columns.items()
    }
    if only is None or "completion_tokens" in only or "steps" in only:
        _add_up_steps(source, chunk, read)
    return read


def _has_values(values: Any) -> bool:
    if isinstance(values, pa.Array):
        return values.null_count < len(values)
    return values is not None and any(value is not None for value in values)


def read_column(source: Source, chunk: Chunk, name: str, column: Column, values: Any) -> pa.Array:
    """Check the values of one column; refuse the first invalid one with its row."""
    if values is None:
        # The rule gives every row of a missing column the same value.
        values = [None] * len(chunk.rows)
        with suppress(ValueError):
            return pa.array([column.rule(None)] * len(values), column.type)
    if isinstance(values, pa.Array):
        with suppress(pa.ArrowException):  # The rule below finds the row and words the error.
            if (array := column.cast_array(values)) is not None:
                return array
        with suppress(ValueError, OverflowError):  # Value by value, the row is found.
            values = values.to_pylist()
    checked = []
    for at, value in enumerate(values):
        try:
            value = value.as_py() if isinstance(value, pa.Scalar) else value
            checked.append(column.rule(value))
        except (ValueError, OverflowError) as error:
            problem = "must be valid UTF-8" if isinstance(error, UnicodeError) else str(error)
            raise _make_error(source, chunk, at, name, problem) from None
    return pa.array(checked, column.type)


def _make_error(source: Source, chunk: Chunk, at: int, name: str, problem: str) -> AuditError:
    """Return the error of an invalid value, with its file, row, column and origin."""
    found_as = source.mapping.get(name, name)
    origin = "" if found_as == name else f" (from {excerpt(found_as)})"
    return source.file.error(f"{chunk.place(at)}, column {name}{origin}: {problem}")


def _add_up_steps(source: Source, chunk: Chunk, columns: dict[str, pa.Array]) -> None:
    """Fill missing counts of attempts with the sums of their steps.

    Refuse counts of prompt or completion tokens that differ from these sums.
    """
    refuse = partial(_refuse_first, source, chunk)
    if _has_values(chunk.values.get("steps")):
        sums = _sum_steps(columns["steps"])
        for name in ("completion_tokens", "prompt_tokens"):
            own, total = columns[name], sums[name]
            is_other, is_beyond = pc.not_equal(own, total), pc.greater(total, LARGEST_COUNT)
            refuse(name, is_other, "is {}, but its steps add up to {}", own, total)
            most = f"must be at most {LARGEST_COUNT}"
            refuse(name, is_beyond, most + ", but its steps add up to {}", total)
        columns |= {name: pc.coalesce(columns[name], total) for name, total in sums.items()}
        # The sums are null where there are no steps.
        costs = pc.coalesce(columns["completion_tokens"], pa.scalar(0))
        is_costless = pc.and_(pc.equal(costs, 0), sums["completion_tokens"].is_null())
        found = "must be a whole number above 0, found {}"
        refuse("completion_tokens", is_costless, found, columns["completion_tokens"])
    prompts = columns["prompt_tokens"] = columns["prompt_tokens"].fill_null(0)
    cached = columns["cached_tokens"]
    found = "must be at most prompt_tokens ({}), found {}"
    refuse("cached_tokens", pc.greater(cached, prompts), found, prompts, cached)


def _sum_steps(steps: pa.ListArray) -> dict[str, pa.Array]:
    """Sum the steps of each attempt by column; null without steps or where a step is unknown."""
    all_steps = steps.flatten()
    fields = {name: pc.struct_field(all_steps, name) for name in STEP_COLUMNS}
    counts = {n: v.fill_null(0) for n, v in fields.items() if pa.types.is_integer(v.type)}
    table = pa.table({**fields, **counts, "attempt": pc.list_parent_indices(steps)})
    keeps_nulls = pc.ScalarAggregateOptions(skip_nulls=False, min_count=0)
    summed = table.group_by("attempt", use_threads=False).aggregate(
        [(name, "sum", keeps_nulls) for name in fields]
    )
    attempts = pa.array(range(len(steps)), pa.int64())
    places = pc.index_in(attempts, summed["attempt"].cast(pa.int64()))
    return {name: summed[f"{name}_sum"].combine_chunks().take(places) for name in fields}


def _refuse_first(
    source: Source, chunk: Chunk, name: str, is_wrong: pa.Array, problem: str, *found: pa.Array
) -> None:
    """Refuse the first row where `is_wrong`; the values found there fill the message."""
    at = pc.index(is_wrong, pa.scalar(True)).as_py()
    if at >= 0:
        values = (excerpt(array[at].as_py()) for array in found)
        raise _make_error(source, chunk, at, name, problem.format(*values))
