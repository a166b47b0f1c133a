"""Every option, declared once: how to read sources, what to replay, and limits.

A field of an option set is an option of commands and a parameter of functions; its help, type and
default are written nowhere else. `public` gives them to a function, `audit.cli.options` to a
command, and `audit/__init__.pyi`, which is written from both, to type checkers.
"""

import functools
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, Union

from audit.errors import AuditError
from audit.text import not_there
from audit.units import COUNT, UNITS, Amount, read_budgets

# Several names, or one.
Names = str | Sequence[str]
# 4000, "4000", "4k", "$0.05" or "90s"; several are a list or "4k,8k".
Budgets = Amount | Sequence[Amount]
FilePath = str | Path


class Streamable(Protocol):
    """A table of Python's: a DuckDB relation, an Arrow table or stream, or a data frame."""

    def __arrow_c_stream__(self, requested_schema: Any = None, /) -> Any:
        """Return the rows as a stream of Arrow batches."""


Sources = FilePath | Streamable | Sequence[FilePath | Streamable]
One = TypeVar("One")
# Descriptions of parameters that many functions have.
SHARED = {
    "db": "the database, a file or a connection",
    "sources": "files, folders or globs",
    "folder": "the run's folder",
    "archive": "only these archives, names or patterns such as '*_high'",
    "progress": "called with what is done, how much of it, and how much there is",
}
# `--orders auto` starts with the first number of orders and doubles it up to the second.
FIRST_ORDERS, MOST_ORDERS = 20, 20_000
AUTO = (
    f"--orders auto: {FIRST_ORDERS} orders, then twice as many each time, until order noise is at "
    f"most a tenth of problem noise at every budget; at most {MOST_ORDERS:,}"
)


def option(default: Any, help: str, kind: str = "text", **more: Any) -> Any:
    """Return a dataclass field that carries the help and kind of an option.

    `parameter`: the name in Python; `flags`: the names on the command line; `planned`: the
    parameter of `plan`, None where it has none; `is_stored`: False where the settings relation
    leaves it out; `default_text`: the default in words; `choices`, `least`, `most`: the valid
    values; `metavar`: the value on the command line.
    """
    metadata = {"help": help, "kind": kind, **more}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def plugins_option(what: str, default_text: str = "") -> Any:
    """Return the field of an option that names rules, selectors or policies, or their folder."""
    help = f"{what}: names, 'all' or a folder of your own .sql files"
    return option(None, help, "plugins", default_text=default_text, is_stored=False)


@dataclass(frozen=True)
class Reading:
    """Options of `load`: how to read files, and defaults for missing columns."""

    format: str | None = option(
        None, "the files' format", default_text="detected from their content"
    )
    mapping: Mapping[str, str] = option(
        dict,
        "canonical columns and the column or path, such as output.0.text, to take each from",
        "pairs",
        parameter="map",
        metavar="CANONICAL=PATH",
    )
    sql: str | None = option(
        None,
        "one select over the sources (views source, or source_1, source_2, …) with canonical "
        "columns: a .sql file or the text",
        metavar="FILE|TEXT",
    )
    archive: str | None = option(None, "the archive (one model configuration) of the attempts")
    competition: str | None = option(None, "the competition of the problems")
    finish_reason: str | None = option(
        None,
        "where no finish reason is recorded, 'stop' counts every attempt as completed",
        choices=("stop",),
    )
    finished: tuple[str, ...] = option(
        (), "finish reasons that count as stop, such as eos,end_turn", "names", metavar="REASON,…"
    )
    count_tokens: str | None = option(
        None,
        "where no token counts are recorded, count the texts' tokens with this encoding",
        metavar="ENCODING",
    )
    answer: str = option(
        "boxed",
        "what the answer is: boxed, archive (the source's own), none or regex:PATTERN",
        metavar="KIND",
    )
    grade: str | None = option(
        None,
        "'references' labels an attempt by comparing its answer with the references",
        choices=("references",),
    )
    references: str | None = option(
        None, "references by problem, in JSON lines, CSV or Parquet", "file"
    )
    labels: str | None = option(
        None, "labels by attempt from another file, in JSON lines, CSV or Parquet", "file"
    )
    checkpoints: str | None = option(
        None,
        "what attempts would have answered before their end, in JSON lines, CSV or Parquet",
        "file",
    )
    explode: str | None = option(
        None, "the list that holds the attempts of a record, one item each", metavar="PATH"
    )
    runs: str | None = option(
        None,
        "files that repeat attempts' numbers: 'separate' makes an archive of each, 'append' takes "
        "further attempts",
        choices=("separate", "append"),
    )
    failed: str | None = option(
        None,
        "attempts of which no tokens are recorded (0 or null): 'drop' leaves them out, 'count' "
        "keeps them as unfinished attempts at cost 1",
        choices=("drop", "count"),
    )
    numbers: bool = option(
        False,
        "compare answers and references that are plain decimals as numbers: 160.0 is 160",
        "flag",
    )
    skip_unreadable: bool = option(
        False, "leave out files that hold no rows or cannot be read, and say which", "flag"
    )
    unlabelled: str | None = option(
        None,
        "where some labels of an archive are missing: 'wrong' counts them as incorrect, 'drop' "
        "leaves their problems out",
        choices=("wrong", "drop"),
    )
    force: bool = option(False, "take archives in which no attempt can be picked too", "flag")


@dataclass(frozen=True)
class Settings:
    """Options of `replay`; the next replay uses their values unless it is given others."""

    unit: str = option(
        "completion",
        f"what budgets count: {', '.join(unit.measures for unit in UNITS.values())}",
        choices=tuple(UNITS),
    )
    budgets: tuple[int, ...] = option(
        (4000, 8000, 16000, 32000),
        "budgets in the unit, such as 4k, 0.05, 90s or 2m",
        "amounts",
        default_text="4k,8k,16k,32k",
    )
    add_budgets: tuple[int, ...] = option(
        (),
        "budgets beside those of the last replay, such as 6k",
        "amounts",
        planned=None,
        is_stored=False,
    )
    prices: tuple[tuple[str, int, int, int], ...] = option(
        (),
        "prices by archive, a CSV: archive, input, output and, if wanted, cached_input, money per "
        "million tokens; none forgets those of an earlier replay",
        "file",
    )
    caps: tuple[int, ...] = option((8, 16, 32), "caps on the number of attempts", "numbers")
    primary_cap: int = option(16, "the cap that the tables use; always among the caps", "number")
    orders: int = option(
        20,
        "random orders per problem; 0 replays the canonical order only, 'auto' as many as make "
        f"order noise a tenth of problem noise, at most {MOST_ORDERS:,}",
        "orders",
    )
    order_seed: int = option(20260904, "the seed of the orders", "number")
    primary_selector: str = option("majority", "the selector that the tables use")
    replicates: int = option(5000, "bootstrap replicates; 0 leaves the intervals empty", "number")
    bootstrap_seed: int = option(20260905, "the seed of the replicates", "number")
    curve_points: int = option(200, "points of budget_curve besides the budgets", "number")
    effect: float = option(
        3.0, "the difference in points that table `power` is to detect", "decimal"
    )
    rules: str | None = plugins_option("what happens at the budget", "strict,advisory")
    selectors: str | None = plugins_option("how an answer is picked", "the study's")
    policies: str | None = plugins_option("when a controller stops by itself")
    terminals: tuple[str, ...] = option(
        ("none",),
        "what becomes of the attempt that strict cuts: none, standing, forced, forced_if_empty, "
        "forced_after or all",
        "names",
        metavar="NAMES|all",
    )
    archives: tuple[str, ...] = option(
        (),
        "replay only these archives, names or patterns such as '*_high'; '*' removes the filter",
        "patterns",
        parameter="archive",
        planned="only_archive",
    )
    competitions: tuple[str, ...] = option(
        (),
        "replay only these competitions; '*' removes the filter",
        "patterns",
        parameter="competition",
        planned="only_competition",
    )
    problems: tuple[tuple[str, int], ...] = option(
        (), "replay only these problems, a CSV: competition, question_id", "file"
    )


@dataclass(frozen=True)
class Limits:
    """Options that limit threads and memory of a process."""

    threads: int | None = option(
        None, "threads to use", "number", least=1, most=1024, default_text="all cores"
    )
    memory: str | None = option(None, "most memory to use, such as 2GB", "size")


@dataclass(frozen=True)
class TaskLimits(Limits):
    """Options of one task of a distributed run: limits, and the scratch folder."""

    threads: int = option(1, "threads of a task", "number", least=1, most=1024)
    memory: str = option("2GB", "most memory of a task", "size")
    scratch: str | None = option(
        None, "where a task may spill to, best on a local disk", "file", metavar="DIR"
    )


@dataclass(frozen=True)
class Filters:
    """Options that filter rows by archive, competition and problem."""

    archive: tuple[str, ...] = option(
        (), "only these archives, names or patterns such as '*_high'", "patterns"
    )
    competition: tuple[str, ...] = option((), "only these competitions", "patterns")
    problems: str | None = option(
        None, "only these problems, a CSV: competition, question_id", "file"
    )


@dataclass(frozen=True)
class Choice:
    """Options that choose, sort and limit a table's rows and columns."""

    columns: tuple[str, ...] = option(
        (), "only these columns, with their intervals, in this order", "names"
    )
    sort: tuple[str, ...] = option(
        (), "sort by these columns, -NAME for the largest first", "names"
    )
    limit: int | None = option(None, "the most rows to print", "number", least=0)
    where: str | None = option(
        None, "only rows that meet this condition, such as budget <= 8000", metavar="SQL"
    )
    order: tuple[str, ...] = option((), "archives that come first", "names")
    width: int | None = option(
        None, "width in TeX: 5.5in, one or two (columns); in Python pixels, 96 an inch", "number"
    )


@dataclass(frozen=True)
class Counting(Limits):
    """Limits, and whether to count tokens first where a table needs them."""

    tokenize: bool = option(
        False, "count the tokens that prefix_boxes still waits for, into the database", "flag"
    )


@dataclass(frozen=True)
class Exported(Counting, Filters):
    """Options of `export`."""


@dataclass(frozen=True)
class Tabled(Exported, Choice):
    """Options of `table`."""


@dataclass(frozen=True)
class OneProblem:
    """Options that choose a problem."""

    competition: str | None = option(None, "the competition", default_text="the first")
    question: str | None = option(
        None,
        "the problem, its name or question_id",
        "name",
        flags=("--question", "--problem"),
        default_text="the first",
    )


@dataclass(frozen=True)
class OneReplay(OneProblem):
    """Options that choose the replay of a timeline."""

    repeat: int | None = option(
        None, "the order, 0 the canonical one", "number", least=0, default_text="the first"
    )
    budget: int | float | str | None = option(
        None, "the budget, such as 4k", "amount", default_text="the smallest"
    )
    cap: int | None = option(
        None, "the cap on attempts", "number", least=1, default_text="the primary one"
    )


class Asked(dict[str, Any]):
    """The settings given by the user; the others keep their values from the last replay."""


class Planned(Asked):
    """The settings given to `plan`; the others have their defaults."""


def parameters(option_set: type) -> dict[str, Field[Any]]:
    """Return the fields of an option set by the names of their parameters."""
    entries = {}
    declared: Any = Settings if issubclass(option_set, Asked) else option_set
    for entry in fields(declared):
        name = entry.metadata.get("parameter", entry.name)
        if option_set is Planned:
            name = entry.metadata.get("planned", name)
        if name is not None:
            entries[name] = entry
    return entries


def source_paths(sources: Sources) -> list[Any]:
    """Return sources as a list: one or several files, folders, globs or tables."""
    several: Any = [sources] if isinstance(sources, str | Path) or is_table(sources) else sources
    return [source if is_table(source) else str(source) for source in several]


def is_table(source: Any) -> bool:
    """Return whether a source is a Python table: a DuckDB relation, Arrow or a data frame."""
    return hasattr(source, "__arrow_c_stream__")


def flag_of(entry: Field[Any], name: str | None = None) -> str:
    """Return the flag of a field on the command line, such as --budgets."""
    words = name or entry.metadata.get("parameter", entry.name)
    return entry.metadata.get("flags", [f"--{words.replace('_', '-')}"])[0]


def default_of(entry: Field[Any]) -> Any:
    """Return the default of a field."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def describe_option(entry: Field[Any]) -> str:
    """Write the help of a field, with its default unless that is empty or off."""
    value = default_of(entry)
    if value is None or value is False or value in ((), {}):
        value = ""
    listed = ",".join(map(str, value)) if isinstance(value, tuple) else f"{value}"
    text = entry.metadata.get("default_text", listed.removesuffix(".0"))
    return entry.metadata["help"] + (f" (default: {text})" if text else "")


def _convert(entry: Field[Any], name: str, value: Any) -> Any:
    """Convert a value to the type of its field; refuse a value that is invalid there."""
    about, flag = entry.metadata, flag_of(entry, name)
    try:
        converted = OPTION_KINDS[about["kind"]].convert(value)
    except (TypeError, ValueError) as error:
        raise AuditError(f"{flag}: {error}") from None
    if (choices := about.get("choices")) and converted not in choices:
        raise AuditError(f"{flag} {converted}: must be {' or '.join(choices)}")
    least, most = about.get("least", -math.inf), about.get("most", math.inf)
    if about["kind"] == "number" and not least <= converted <= most:
        limits = f"from {least}" if most == math.inf else f"from {least} to {most:,}"
        raise AuditError(f"{flag} {converted}: must be {limits}")
    return converted


def _check_type(words: str, make: Callable[[Any], Any], *types: Any) -> Callable[[Any], Any]:
    """Return a converter by `make` that refuses values of other types than these."""

    def convert(value: Any) -> Any:
        # Python counts True as 1; as a number of orders it is a mistake.
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            raise TypeError(f"{value!r} is not {words}")
        return make(value)

    return convert


_to_number = _check_type("a whole number", int, Integral)
_to_text = _check_type("a text", str, str, Path)


def _read_decimal(value: Any) -> float:
    """Convert a number to a float; refuse infinity and NaN."""
    number = _check_type("a number", float, Real)(value)
    if not math.isfinite(number):
        raise TypeError(f"{value!r} is not a number")
    return number


def _read_orders(value: Any) -> int | str:
    """Parse a number of orders, or `auto`."""
    if isinstance(value, str) and value != "auto" and not value.isdecimal():
        raise ValueError(f"'{value}' is neither a whole number nor auto")
    return value if value == "auto" else _to_number(int(value) if isinstance(value, str) else value)


def _check_size(value: Any) -> str:
    """Check an amount of memory as DuckDB reads it, such as 500MB or 2GB."""
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", _to_text(value)):
        raise ValueError(f"'{value}' is not an amount like 500MB or 2GB")
    return value


def split_names(value: Any) -> tuple[str, ...]:
    """Split names at commas, given as one text or several; drop blanks before names.

    A blank after a name belongs to it: logs have finish reasons such as 'stop '.
    """
    parts = (part.lstrip() for name in read_names(value) for part in name.split(","))
    return tuple(part for part in parts if part.strip())


def read_names(value: Any) -> tuple[str, ...]:
    """Return one name or several as a tuple of texts."""
    several = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    return tuple(map(_to_text, several))


def _read_plugins(value: Any) -> str:
    return _to_text(value) if isinstance(value, str | Path) else ",".join(read_names(value))


def _read_amounts(value: Any) -> Any:
    # Bytes are whole numbers to Python: b"4k" would be 52 and 107.
    if isinstance(value, bytes):
        raise TypeError(f"{value!r} is not a number")
    return value if isinstance(value, int | float | str) else list(value)


def _read_pairs(value: Any) -> dict[str, str]:
    try:
        pairs = dict(value)
    except (TypeError, ValueError):
        raise TypeError(f"{value!r} is no dict such as {{'archive': 'model'}}") from None
    return {_to_text(name): _to_text(path) for name, path in pairs.items()}


class OptionKind(NamedTuple):
    """A kind of option: its Python type, its converter, and its placeholder in `--help`."""

    python: Any
    convert: Callable[[Any], Any]
    metavar: str | None = None


# Amounts are parsed later, when the unit is known.
OPTION_KINDS = {
    "flag": OptionKind(bool, _check_type("True or False", bool, bool)),
    "number": OptionKind(int, _to_number, "N"),
    "name": OptionKind(str | int, _check_type("a name", str, str, int)),
    "amount": OptionKind(Amount, _read_amounts),
    "decimal": OptionKind(float, _read_decimal),
    "text": OptionKind(str, _to_text),
    "file": OptionKind(FilePath, _to_text, "FILE"),
    "size": OptionKind(str, _check_size, "SIZE"),
    "plugins": OptionKind(Union[FilePath, Sequence[str]], _read_plugins, "NAMES|all|DIR"),  # noqa: UP007
    "orders": OptionKind(int | str, _read_orders, "N|auto"),
    "numbers": OptionKind(
        Budgets, lambda value: tuple(read_budgets(_read_amounts(value), COUNT)), "N,…"
    ),
    "amounts": OptionKind(Budgets, _read_amounts, "N,…"),
    "names": OptionKind(Names, split_names, "NAME,…"),
    "patterns": OptionKind(Names, read_names, "NAME"),
    "pairs": OptionKind(Mapping[str, str], _read_pairs),
}


def read_options(option_set: type[One], options: Mapping[str, Any]) -> One:
    """Make an option set from keyword arguments; None means that one is missing."""
    entries = parameters(option_set)
    # Callers inside the package use the names of fields, such as `mapping` for `map`.
    entries |= {entry.name: entry for entry in entries.values()}
    if unknown := options.keys() - entries:
        raise TypeError(not_there("keyword argument", min(unknown), list(entries)))
    given = {name: value for name, value in options.items() if value is not None}
    return option_set(
        **{entries[name].name: _convert(entries[name], name, given[name]) for name in given}
    )


def annotation_of(entry: Field[Any]) -> Any:
    """Return the type annotation of a field's parameter."""
    choices = entry.metadata.get("choices")
    return Literal[choices] if choices else OPTION_KINDS[entry.metadata["kind"]].python


def public(function: Callable[..., One]) -> Callable[..., One]:
    """Decorate a function so that the options of its option sets are keyword parameters.

    A parameter whose type is an option set is replaced by the options of the set, in the signature
    and in `help()`. The docstring describes the others, `name: text`, except those of `SHARED`.
    """
    signature = inspect.signature(function)
    sets = {
        name: one.annotation
        for name, one in signature.parameters.items()
        if is_dataclass(one.annotation) or one.annotation in (Asked, Planned)
    }
    written = [one for one in signature.parameters.values() if one.name not in sets]
    taken = {name: parameters(option_set) for name, option_set in sets.items()}
    options = {name: entry for entries in taken.values() for name, entry in entries.items()}
    known = [*(one.name for one in written), *options]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> One:
        if unknown := kwargs.keys() - set(known):
            raise TypeError(not_there("keyword argument", min(unknown), known))
        read = {
            name: read_options(
                sets[name], {key: kwargs.pop(key) for key in entries.keys() & kwargs.keys()}
            )
            for name, entries in taken.items()
        }
        return function(*args, **kwargs, **read)

    # Defaults of a replay come from the last one, which only the database knows.
    is_asked = not {Asked, Planned}.isdisjoint(sets.values())
    added = [_make_parameter(name, entry, is_asked) for name, entry in options.items()]
    call.__signature__ = signature.replace(parameters=[*written, *added])  # type: ignore[attr-defined]
    call.__doc__ = _write_docstring(function.__doc__ or "", [one.name for one in written], options)
    call.options = options  # type: ignore[attr-defined]
    call.option_sets = tuple(sets.values())  # type: ignore[attr-defined]
    return call


def _make_parameter(name: str, entry: Field[Any], is_asked: bool) -> inspect.Parameter:
    """Make the keyword parameter of a field."""
    is_absent = is_asked or entry.metadata["kind"] == "pairs"
    default, kind = None if is_absent else default_of(entry), annotation_of(entry)
    annotation = kind | None if default is None else kind
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


def parameter_help(text: str) -> dict[str, str]:
    """Read the descriptions of parameters, 'name: text', from a docstring."""
    return SHARED | dict(re.findall(r"^ {4}(\w+): (.+)$", text, re.MULTILINE))


def _write_docstring(text: str, names: Sequence[str], options: Mapping[str, Field[Any]]) -> str:
    """Write a docstring with a line for every parameter, options included."""
    described = parameter_help(text)
    lines = [f"{name}: {described[name]}" for name in names]
    lines += [
        textwrap.fill(
            f"{name}: {describe_option(entry)}",
            96,
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        for name, entry in options.items()
    ]
    beginning = re.split(r"\n {4}\w+: ", text, maxsplit=1)[0].rstrip()
    return f"{beginning}\n\n{textwrap.indent(chr(10).join(lines), ' ' * 4)}\n    "


def write_arguments(reading: Reading) -> Iterable[str]:
    """Yield the command-line arguments that set these options; skip those at their default."""
    for entry in fields(reading):
        value, flag = getattr(reading, entry.name), flag_of(entry)
        if value == default_of(entry):
            continue
        kind = entry.metadata["kind"]
        if kind == "flag":
            yield flag
        elif kind == "pairs":
            for name, path in value.items():
                yield from (flag, f"{name}={path}")
        else:
            yield from (flag, ",".join(value) if kind == "names" else str(value))
