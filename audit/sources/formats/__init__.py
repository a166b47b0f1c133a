"""Formats: how the logs of one tool map to the canonical columns, one file each.

A format is a select of `sql/formats`: ADD A FILE there, and there is a new one. What is no table,
and files whose columns go by their names, are modules here with a `FORMAT` in them.
"""

import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import takewhile
from pathlib import Path
from typing import Any

from audit.options import Reading
from audit.sources.containers import SUFFIXES
from audit.sources.files import Row, SourceFile
from audit.sources.paths import find_keys

Record = dict[str, Any]
# The formats that are selects, inside the installed package or beside it in a checkout.
_PACKAGE = Path(__file__).resolve().parents[2]
FOLDER = next(
    (folder for root in (_PACKAGE, _PACKAGE.parent) if (folder := root / "sql/formats").is_dir()),
    _PACKAGE / "sql/formats",
)
# Text that was paid for and is not the answer: read only where tokens are counted.
REASONING = "reasoning"


@dataclass
class Context:
    """A file being read: its format and options, and the notes collected on the way."""

    file: SourceFile
    format: "Format"
    reading: Reading
    container: str
    is_simulated: bool = False
    row: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    # Columns that several things in a record could be, with the option that says which.
    ambiguous: dict[str, str] = field(default_factory=dict)
    # Why a column is absent from this file, beside what its format says.
    absent: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Field:
    """Where a format may keep a canonical column; `read` converts what is there."""

    column: str
    paths: tuple[str, ...]
    read: Callable[[Any], Any] | None = None
    # Names that mean this column only if their values fit; of two such, the user has to choose.
    if_values_fit: tuple[str, ...] = ()
    fits: Callable[[Any], bool] = lambda value: True
    # Names that mean this column where a row holds all attempts of a problem.
    if_one_row_per_problem: tuple[str, ...] = ()


def declare_column(name: str, *paths: str, **rest: Any) -> Field:
    """Return the field of a column with the paths it may be at."""
    return Field(name, paths, **rest)


def split_words(text: str) -> tuple[str, ...]:
    """Split a text with blanks between names into these names."""
    return tuple(text.split())


@dataclass(frozen=True)
class Format:
    """The logs of one tool: how to recognize them, and how to read their columns."""

    name: str
    title: str
    # A record with all paths of any of these sets is of this format.
    recognized_by: tuple[tuple[str, ...], ...] = ()
    # Suffixes of its files, beside those of its container.
    suffixes: tuple[str, ...] = ()
    # The columns by their paths, and the records of a file that is neither JSON nor Parquet.
    fields: tuple[Field, ...] = ()
    records: Callable[[Context], Iterator[Row]] | None = None
    # Columns without which a record holds no attempt, each with the note that reports it.
    left_out: Mapping[str, str] = field(default_factory=dict)
    # Why a column may be absent, in words.
    absent: Mapping[str, str] = field(default_factory=dict)
    # Whether attempts answer something to vote on; runs of agents pass or fail.
    has_answers: bool = True
    # The select that reads such files, and the documents beside them that it joins.
    select: str | None = None
    beside: str | None = None
    # Long texts kept out of the JSON of a record, which is parsed once for every column.
    apart: tuple[str, ...] = ()

    def knows(self, record: Mapping[str, Any]) -> bool:
        """Tell whether a first record is of this format."""
        return any(
            all(find_keys(record, path.split(".")) is not None for path in paths)
            for paths in self.recognized_by
        )


@cache
def load_formats() -> dict[str, Format]:
    """Return every format by its name: of the modules of this package and of sql/formats."""
    modules = (
        import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    )
    declared = [
        value for module in modules for value in vars(module).values() if isinstance(value, Format)
    ]
    declared += [read_select_format(path) for path in sorted(FOLDER.glob("*.sql"))]
    return {format.name: format for format in sorted(declared, key=lambda format: format.name)}


def read_select_format(path: Path) -> Format:
    """Read a format from a file of sql/formats: its select, and its header of comments."""
    text = path.read_text(encoding="utf-8")
    lines = takewhile(
        lambda line: line.startswith("--"), text.replace("\n--     ", " ").split("\n")
    )
    said = dict(line[3:].split(": ", 1) for line in lines if ": " in line)
    absent = (pair.split("=", 1) for pair in said.get("absent", "").split("; ") if pair)
    return Format(
        name=path.stem,
        title=said["title"],
        recognized_by=tuple(tuple(paths.split()) for paths in said["recognized by"].split("; ")),
        absent={column: reason for column, reason in absent},
        select=text,
        beside=said.get("beside"),
        suffixes=tuple(said.get("suffixes", "").split()),
        has_answers="answers" not in said,
        apart=tuple(said.get("apart", "").split()),
    )


def list_suffixes() -> tuple[str, ...]:
    """Return the suffixes by which data files are found in a folder."""
    named = (suffix for format in load_formats().values() for suffix in format.suffixes)
    return tuple(dict.fromkeys((*SUFFIXES, *named)))


def recognize(file: SourceFile, record: Mapping[str, Any]) -> Format:
    """Return the format of a first record, `flat` if no tool's; refuse an ambiguous one."""
    matching = [format for format in load_formats().values() if format.knows(record)]
    if len(matching) > 1:
        names = " or ".join(format.name for format in matching)
        raise file.error(f"looks like {names}; pass --format to say which")
    return matching[0] if matching else load_formats()["flat"]


# Conversions of values that several formats share.

# Grades in letters and words, by the tool that writes them; the values of a file tell which.
GRADES: tuple[dict[str, bool | None], ...] = (
    # Inspect: half a point is no label, how a missing one counts is for the user to say.
    {"C": True, "I": False, "N": False, "P": None},
    # SimpleQA: correct, incorrect, not attempted.
    {"A": True, "B": False, "C": False},
    {"CORRECT": True, "INCORRECT": False, "NOT_ATTEMPTED": False, "PARTIAL": None},
    {"PASS": True, "FAIL": False, "PASSED": True, "FAILED": False},
    {"RESOLVED": True, "UNRESOLVED": False},
    {"YES": True, "NO": False},
)


def is_grade(value: Any) -> bool:
    """Tell whether a value is a grade in letters or words, such as C or PASS."""
    return isinstance(value, str) and any(value.strip().upper() in grades for grades in GRADES)


def find_grades(values: Iterable[Any]) -> dict[str, bool | None] | None:
    """Return the only table of grades that has all texts of a column, or None."""
    written = {value.strip().upper() for value in values if isinstance(value, str)}
    fitting = [grades for grades in GRADES if written and written <= grades.keys()]
    return fitting[0] if len(fitting) == 1 else None


def make_renamer(names: Mapping[str, Any]) -> Callable[[Any], Any]:
    """Return a function that replaces a tool's word by the canonical one and keeps other values."""
    return lambda value: names.get(value, value) if isinstance(value, str) else value


def is_number(value: Any) -> bool:
    """Tell whether a value is an int or float, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def as_text(value: Any) -> Any:
    """Convert a number to text; return any other value unchanged."""
    return str(value) if is_number(value) else value


def as_count(value: Any) -> Any:
    """Return the length of a list of tokens; return any other value, such as a count, unchanged."""
    return len(value) if isinstance(value, list) else value


def as_references(value: Any) -> Any:
    """Return references as a list: one becomes a list of one, and numbers become text."""
    if value is None:
        return None
    return [as_text(item) for item in (value if isinstance(value, list) else [value])]


def compute_mean_logprob(tokens: Any) -> Any:
    """Return the mean log-probability of a list of tokens, each {"logprob": …} or a number."""
    if not isinstance(tokens, list) or not tokens:
        return None
    numbers: list[Any] = [
        token.get("logprob") if isinstance(token, dict) else token for token in tokens
    ]
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    try:
        return sum(numbers) / len(numbers)
    except OverflowError:  # A whole number beyond any float.
        return None
