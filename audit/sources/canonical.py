"""The canonical schema: what each column may hold.

A column has one rule, which takes a value and gives the canonical value or says what is wrong
with it. Parquet columns of the expected type are checked whole; when such a check fails, or the
type is another one, the rule goes through the values and finds the row.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Container
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from audit.answers.extract import normal_answers
from audit.answers.normal_form import normalize_often
from audit.errors import AuditError
from audit.sources.files import Chunk, Source, shown

# Sums of counts up to this stay exact in 64 bits.
LARGEST_COUNT = 10**12
LARGEST_EXACT_FLOAT = 2**53

DIGITS = re.compile(r"\s*([+-]?[0-9]{1,19})(?:\.0*)?\s*")
# What Python and pandas write for a list of strings. NumPy's ['a' 'b'] is no match: read as
# Python it would be the one string 'ab'.
_ITEM = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|None)"""
PYTHON_LIST = re.compile(rf"\[\s*(?:{_ITEM}(?:\s*,\s*{_ITEM})*\s*(?:,\s*)?)?\]", re.DOTALL)


@dataclass(frozen=True)
class Column:
    """A canonical column: its type, the rule for one value, and the check of a whole array."""

    type: pa.DataType
    rule: Callable[[Any], Any]
    whole: Callable[[pa.Array], pa.Array | None] = lambda array: None
    is_required: bool = False


def _integer(value: Any) -> int | None:
    """The integer that a value stands for, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float | Decimal):
        is_whole = -LARGEST_EXACT_FLOAT <= value <= LARGEST_EXACT_FLOAT and value % 1 == 0
        return int(value) if is_whole else None
    match = DIGITS.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) if match else None


def _integers(least: int, most: int, wanted: str, default: int | None = None) -> Column:
    """A column of whole numbers between two bounds; a null is the default, if there is one."""

    def rule(value: Any) -> int:
        if value is None and default is not None:
            return default
        number = _integer(value)
        if number is None or number < least:
            raise ValueError(f"must be {wanted}, found {shown(value)}")
        if number > most:
            raise ValueError(f"must be at most {most}, found {shown(value)}")
        return number

    def whole(array: pa.Array) -> pa.Array | None:
        if not pa.types.is_integer(array.type) or (array.null_count and default is None):
            return None
        array = array.cast(pa.int64())
        array = array.fill_null(default) if array.null_count else array
        bounds = pc.min_max(array).as_py()
        return array if least <= bounds["min"] and bounds["max"] <= most else None

    return Column(pa.int64(), rule, whole, default is None)


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, found {shown(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise ValueError(f"must be valid Unicode, found {shown(value)}") from None
    return value


def _whole_strings(array: pa.Array) -> pa.Array | None:
    """An array of texts, found to be valid Unicode; None where it is of another type."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return None
    array.validate(full=True)
    return array


def _strings(least: int | None, type: pa.DataType) -> Column:
    """A column of strings of at least so many bytes; with no such length, a null is one too."""

    def rule(value: Any) -> str | None:
        if value is None and least is None:
            return None
        if value == "" and least:
            raise ValueError("must not be empty")
        return _string(value)

    def whole(array: pa.Array) -> pa.Array | None:
        strings = _whole_strings(array)
        if strings is None or (least is not None and strings.null_count):
            return None
        if least and pc.min(pc.binary_length(strings)).as_py() < least:
            return None
        return strings.cast(type)

    return Column(type, rule, whole, least is not None)


def _answer(value: Any) -> str | None:
    return None if value is None else normalize_often(_string(value))


def _whole_answer(array: pa.Array) -> pa.Array | None:
    answers = _whole_strings(array)
    return None if answers is None else normal_answers(answers)


def _whole_references(array: pa.Array) -> pa.Array | None:
    # Lists that are null, or hold what is no reference, get shorter: the rule does that.
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)) or array.null_count:
        return None
    references = _whole_strings(array.flatten())
    if references is None or references.null_count:
        return None
    forms = normal_answers(references)
    if forms.null_count:
        return None
    offsets = pc.subtract(array.offsets, array.offsets[0]).cast(pa.int32())
    return pa.ListArray.from_arrays(offsets, forms)


def _references(value: Any) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, str | None) for item in value):
        raise ValueError(f"must be a list of strings, found {shown(value)}")
    forms = (normalize_often(_string(item)) for item in value if item is not None)
    return [form for form in forms if form is not None]


def _csv_references(value: Any) -> list[str]:
    if value is None or not value.lstrip().startswith("["):
        return _references(None if value is None else [value])
    try:
        items = json.loads(value)
    except (ValueError, RecursionError):
        items = _python_list(value.strip())
    return _references(items)


def _python_list(cell: str) -> Any:
    """A list as Python writes it, or the cell itself where it is none."""
    try:
        return ast.literal_eval(cell) if PYTHON_LIST.fullmatch(cell) else cell
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return cell


def _correct(value: Any) -> bool | None:
    if value is None:
        return None
    plain = value.strip().lower() if isinstance(value, str) else value
    if plain in (True, "true", "1"):
        return True
    if plain in (False, "false", "0"):
        return False
    raise ValueError(f"must be true or false (or 1 or 0), found {shown(value)}")


def _whole_correct(array: pa.Array) -> pa.Array | None:
    return array if pa.types.is_boolean(array.type) else None


def _log_probability(value: Any) -> float | None:
    if value is None:
        return None
    plain = not isinstance(value, str) or (value.isascii() and "_" not in value)
    try:
        if isinstance(value, bool | bytes) or not plain:
            raise TypeError
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"must be a number or null, found {shown(value)}") from None
    return number if math.isfinite(number) else None


def _whole_log_probability(array: pa.Array) -> pa.Array | None:
    if not pa.types.is_floating(array.type):
        return None
    array = array.cast(pa.float64())
    return pc.if_else(pc.is_finite(array), array, pa.scalar(None, pa.float64()))


COLUMNS = {
    "archive": _strings(1, pa.string()),
    "competition": _strings(1, pa.string()),
    "question_id": _integers(0, 2**63 - 1, "a whole number of 0 or more"),
    "seed": _integers(-(2**63), 2**63 - 1, "a whole number of at most 64 bits"),
    "prompt_tokens": _integers(0, LARGEST_COUNT, "a whole number of 0 or more", default=0),
    "completion_tokens": _integers(1, LARGEST_COUNT, "a whole number above 0"),
    "finish_reason": _strings(0, pa.string()),
    # Offsets of 64 bits: a batch of a few giant texts may pass 2 GB.
    "text": _strings(None, pa.large_string()),
    "boxed_answer": _strings(None, pa.string()),
    "archive_answer": Column(pa.string(), _answer, _whole_answer),
    "correct": Column(pa.bool_(), _correct, _whole_correct),
    "mean_logprob": Column(pa.float64(), _log_probability, _whole_log_probability),
    "references": Column(pa.list_(pa.string()), _references, _whole_references),
}
CSV_COLUMNS = COLUMNS | {"references": Column(pa.list_(pa.string()), _csv_references)}


def is_number(name: str) -> bool:
    """Whether a text is a whole number's."""
    return _integer(name) is not None


def problem_name(value: Any) -> str:
    """A problem's name; a whole number goes by its digits."""
    number = None if isinstance(value, str) else _integer(value)
    name = _string(value) if number is None else str(number)
    if not name:
        raise ValueError("must not be empty")
    return name


def read_columns(
    source: Source, chunk: Chunk, only: Container[str] = COLUMNS
) -> dict[str, pa.Array]:
    """Every canonical column of a chunk, checked; a column that the file lacks is all null.

    Where problems go by names, question_id holds the names. `only` these are checked.
    """
    columns = CSV_COLUMNS if source.format == "csv" else COLUMNS
    if source.is_labelled:
        columns = columns | {"question_id": Column(pa.string(), problem_name)}
    absent = [None] * len(chunk.rows)
    return {
        name: _read_column(source, chunk, name, column, chunk.values.get(name, absent))
        if name in only
        else pa.nulls(len(chunk.rows), column.type)
        for name, column in columns.items()
    }


def _read_column(source: Source, chunk: Chunk, name: str, column: Column, values: Any) -> pa.Array:
    if isinstance(values, pa.Array):
        try:
            if (array := column.whole(values)) is not None:
                return array
        except pa.ArrowException:
            pass  # The rule finds the row and the words.
        with suppress(ValueError, OverflowError):  # Value by value, the row is found.
            values = values.to_pylist()
    checked = []
    for row, value in zip(chunk.rows, values, strict=True):
        try:
            value = value.as_py() if isinstance(value, pa.Scalar) else value
            checked.append(column.rule(value))
        except (ValueError, OverflowError) as error:
            found_as = source.mapping.get(name, name)
            origin = "" if found_as == name else f" (from {shown(found_as)})"
            problem = "must be valid UTF-8" if isinstance(error, UnicodeError) else error
            place = f"{source.file.label}: row {row}, column {name}{origin}"
            raise AuditError(f"{place}: {problem}") from None
    return pa.array(checked, column.type)
