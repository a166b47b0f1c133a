"""Every option, declared once: what a user may say about sources, replays and limits.

A field of `Reading`, `Settings` or `Limits` is an option of the commands and a parameter of the
functions that take the object; its help, type and default are written nowhere else.
"""

import functools
import inspect
import math
import operator
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, Union

from audit.errors import AuditError
from audit.units import UNITS, Amount, whole_numbers

# Several names, or one.
Names = str | Sequence[str]
# 4000, "4000", "4k", "$0.05" or "90s"; several are a list or "4k,8k".
Budgets = Amount | Sequence[Amount]
FilePath = str | Path
Sources = FilePath | Sequence[FilePath]
Returned = TypeVar("Returned")
# What parameters are that many functions have; a function whose own differs says so itself.
SHARED = {
    "db": "the database, a file or a connection",
    "sources": "files, folders or globs",
    "folder": "the run's folder",
    "archive": "only these archives, names or patterns such as '*_high'",
    "competition": "only these competitions",
    "problems": "a CSV with the columns competition and question_id: only these problems",
    "progress": "called with what is done, how much of it, and how much there is",
}


def option(default: Any, help: str, kind: str, **more: Any) -> Any:
    """A field with what its option needs: a sentence and its kind, and if they differ from the
    field's name, how it is called.

    `parameter`: the name in Python; `flag`: the name on the command line; `planned`: the parameter
    of `plan`, None where it has none; `is_stored`: False where the settings relation leaves it out;
    `shown`: the default in words; `choices`, `most`, `metavar`, `complete`: of the command line.
    """
    metadata = {"help": help, "kind": kind, **more}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def plugins_option(what: str, shown: str = "") -> Any:
    """A field of rules, selectors or policies, which the settings list by themselves."""
    help = f"{what}: names, 'all' or a folder of your own .sql files"
    more = {"metavar": "NAMES|all|DIR", "shown": shown, "is_stored": False}
    return option(None, help, "plugins", **more)


@dataclass(frozen=True)
class Reading:
    """What is read of sources, and what stands in for what they lack."""

    format: str | None = option(
        None,
        "the files' format",
        "text",
        metavar="NAME",
        shown="detected from their content",
    )
    mapping: Mapping[str, str] = option(
        dict,
        "canonical columns and the column or path, such as output.0.text, to take each from",
        "pairs",
        flag="--map",
        metavar="CANONICAL=PATH",
    )
    archive: str | None = option(
        None, "the archive (one model configuration) of the attempts", "text", metavar="NAME"
    )
    competition: str | None = option(
        None, "the competition of the problems", "text", metavar="NAME"
    )
    finish_reason: str | None = option(
        None,
        "where no finish reason is recorded, 'stop' counts every attempt as completed",
        "text",
        choices=("stop",),
    )
    finished: tuple[str, ...] = option(
        (),
        "finish reasons that count as stop, such as eos,end_turn",
        "names",
        metavar="REASON,…",
    )
    count_tokens: str | None = option(
        None,
        "where no token counts are recorded, count the texts' tokens with this encoding",
        "text",
        metavar="ENCODING",
    )
    answer: str = option(
        "boxed",
        "what the answer is: boxed, archive (the source's own), none or regex:PATTERN",
        "text",
        metavar="KIND",
    )
    grade: str | None = option(
        None,
        "'references' labels an attempt by comparing its answer with the references",
        "text",
        choices=("references",),
    )
    references: str | None = option(
        None, "references by problem, in JSON lines, CSV or Parquet", "file", metavar="FILE"
    )
    labels: str | None = option(
        None,
        "labels by attempt from another file, in JSON lines, CSV or Parquet",
        "file",
        metavar="FILE",
    )
    explode: str | None = option(
        None, "the list that holds the attempts of a record, one item each", "text", metavar="PATH"
    )
    runs: str | None = option(
        None,
        "files that repeat attempts' numbers: 'separate' makes an archive of each, 'append' takes "
        "further attempts",
        "text",
        choices=("separate", "append"),
    )
    failed: str | None = option(
        None,
        "attempts without text and tokens: 'drop' leaves them out, 'count' keeps them as "
        "unfinished attempts at cost 1",
        "text",
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
        "text",
        choices=("wrong", "drop"),
    )
    force: bool = option(False, "take archives in which no attempt can be picked too", "flag")


@dataclass(frozen=True)
class Settings:
    """The settings of a replay: what is stored and taken again where the next one says nothing."""

    unit: str = option(
        "completion",
        f"what budgets count: {', '.join(unit.measures for unit in UNITS.values())}",
        "text",
        choices=tuple(UNITS),
    )
    budgets: tuple[int, ...] = option(
        (4000, 8000, 16000, 32000),
        "budgets in the unit, such as 4k, 0.05, 90s or 2m",
        "amounts",
        complete="budgets",
        shown="4k,8k,16k,32k",
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
        "million tokens",
        "file",
        metavar="FILE",
    )
    caps: tuple[int, ...] = option((8, 16, 32), "caps on the number of attempts", "numbers")
    primary_cap: int = option(16, "the cap that the tables use; always among the caps", "number")
    orders: int = option(
        20,
        "random orders per problem; 0 replays the canonical order only, 'auto' as many as make "
        "order noise a tenth of problem noise, at most 2,000",
        "orders",
    )
    order_seed: int = option(20260904, "the seed of the orders", "number")
    primary_selector: str = option("majority", "the selector that the tables use", "text")
    replicates: int = option(5000, "bootstrap replicates; 0 leaves the intervals empty", "number")
    bootstrap_seed: int = option(20260905, "the seed of the replicates", "number")
    curve_points: int = option(200, "points of budget_curve besides the budgets", "number")
    effect: float = option(
        3.0, "the difference in points that `power` asks how many problems would show", "decimal"
    )
    rules: str | None = plugins_option("what happens at the budget", "strict,advisory")
    selectors: str | None = plugins_option("how an answer is picked", "the study's")
    policies: str | None = plugins_option("when a controller stops by itself")
    archives: tuple[str, ...] = option(
        (),
        "replay only these archives, names or patterns such as '*_high'; '*' means all again",
        "patterns",
        parameter="archive",
        planned="only_archive",
        metavar="NAME",
        complete="archives",
    )
    competitions: tuple[str, ...] = option(
        (),
        "replay only these competitions; '*' means all again",
        "patterns",
        parameter="competition",
        planned="only_competition",
        metavar="NAME",
        complete="competitions",
    )
    problems: tuple[tuple[str, int], ...] = option(
        (),
        "replay only these problems, a CSV: competition, question_id",
        "file",
        metavar="FILE",
    )


@dataclass(frozen=True)
class Limits:
    """What a process may use."""

    threads: int | None = option(
        None, "threads to use", "number", most=1024, shown="all cores", metavar="N"
    )
    memory: str | None = option(None, "most memory to use, such as 2GB", "size")


@dataclass(frozen=True)
class TaskLimits(Limits):
    """What a task of a run past one machine may use, and where it may spill to."""

    threads: int = option(1, "threads of a task", "number", most=1024, metavar="N")
    memory: str = option("2GB", "most memory of a task", "size")
    scratch: str | None = option(
        None, "where a task may spill to, best on a local disk", "file", metavar="DIR"
    )


class Asked(dict[str, Any]):
    """The settings that a user has asked for, by field; the others stay as in the last replay."""


class Planned(Asked):
    """The settings asked of a plan, which has no last replay."""


SETS: dict[type, type] = {
    Reading: Reading,
    Limits: Limits,
    TaskLimits: TaskLimits,
    Asked: Settings,
    Planned: Settings,
}


def parameters(option_set: type) -> dict[str, Field[Any]]:
    """The parameters of an option set and the field of each."""
    entries = {}
    for entry in fields(SETS[option_set]):
        name = entry.metadata.get("parameter", entry.name)
        if option_set is Planned:
            name = entry.metadata.get("planned", name)
        if name is not None:
            entries[name] = entry
    return entries


def source_paths(sources: Sources) -> list[str]:
    """Files, folders or globs, given one by one or as several."""
    return [str(path) for path in ([sources] if isinstance(sources, str | Path) else sources)]


def flag_of(entry: Field[Any], name: str | None = None) -> str:
    """The option of a field on the command line."""
    words = name or entry.metadata.get("parameter", entry.name)
    return entry.metadata.get("flag") or f"--{words.replace('_', '-')}"


def default_of(entry: Field[Any]) -> Any:
    """The default of a field."""
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return entry.default


def default_shown(entry: Field[Any]) -> str:
    """The default as it stands in help and documentation; nothing where it says nothing."""
    if "shown" in entry.metadata:
        return entry.metadata["shown"]
    value = default_of(entry)
    if value is None or value is False or value in ((), {}):
        return ""
    return ",".join(map(str, value)) if isinstance(value, tuple) else f"{value}".removesuffix(".0")


def documented(name: str, entry: Field[Any]) -> str:
    """The line of a parameter in the documentation of a function."""
    default = default_shown(entry)
    text = f"{name}: {entry.metadata['help']}{f' (default: {default})' if default else ''}"
    return textwrap.fill(text, 96, subsequent_indent="    ", break_on_hyphens=False)


def _convert(entry: Field[Any], name: str, value: Any) -> Any:
    """A value as its field holds it; entry of another type is refused before anything is done."""
    flag = flag_of(entry, name)
    try:
        converted = OPTION_KINDS[entry.metadata["kind"]].convert(value)
    except (TypeError, ValueError) as error:
        raise AuditError(f"{flag}: {error}") from None
    choices = entry.metadata.get("choices")
    if choices and converted not in choices:
        raise AuditError(f"{flag} {converted}: must be {' or '.join(choices)}")
    return converted


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither True nor False")
    return value


def _number(value: Any) -> int:
    # True counts as 1 in Python; as a number of orders it is a mistake.
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{value!r} is not a whole number")
    return operator.index(value)


def _decimal(value: Any) -> float:
    if isinstance(value, bool | str) or not math.isfinite(value):
        raise TypeError(f"{value!r} is not a number")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str | Path):
        raise TypeError(f"{value!r} is not a text")
    return str(value)


def orders(value: Any) -> int | str:
    """A number of orders, or auto."""
    if isinstance(value, str) and value != "auto" and not value.isdecimal():
        raise ValueError(f"'{value}' is neither a whole number nor auto")
    return value if value == "auto" else _number(int(value) if isinstance(value, str) else value)


def size(value: Any) -> str:
    """An amount of memory as DuckDB reads it, such as 500MB or 2GB."""
    if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", _text(value)):
        raise ValueError(f"'{value}' is not an amount like 500MB or 2GB")
    return value


def names(value: Any) -> tuple[str, ...]:
    """Names given one by one or with commas between them."""
    return tuple(part for name in _patterns(value) for part in name.split(",") if part)


def _patterns(value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)
    return tuple(map(_text, several))


def _plugins(value: Any) -> str:
    return _text(value) if isinstance(value, str | Path) else ",".join(_patterns(value))


def _amounts(value: Any) -> Any:
    # Bytes are whole numbers to Python: b"4k" would be 52 and 107.
    if isinstance(value, bytes):
        raise TypeError(f"{value!r} is not a number")
    return value if isinstance(value, int | float | str) else list(value)


def _pairs(value: Any) -> dict[str, str]:
    return {_text(name): _text(path) for name, path in dict(value).items()}


class OptionKind(NamedTuple):
    """A kind of option: what Python takes, and what makes the field's value of it."""

    python: Any
    convert: Callable[[Any], Any]


# `audit.cli.options` has what the command line takes; amounts are read when the unit is known.
OPTION_KINDS = {
    "flag": OptionKind(bool, _flag),
    "number": OptionKind(int, _number),
    "decimal": OptionKind(float, _decimal),
    "text": OptionKind(str, _text),
    "file": OptionKind(FilePath, _text),
    "size": OptionKind(str, size),
    "plugins": OptionKind(Union[FilePath, Sequence[str]], _plugins),  # noqa: UP007
    "orders": OptionKind(int | str, orders),
    "numbers": OptionKind(Budgets, lambda value: tuple(whole_numbers(_amounts(value)))),
    "amounts": OptionKind(Budgets, _amounts),
    "names": OptionKind(Names, names),
    "patterns": OptionKind(Names, _patterns),
    "pairs": OptionKind(Mapping[str, str], _pairs),
}


def _require_declared() -> None:
    """Refuse a field that a command or a document could make nothing of."""
    for entry in {entry for option_set in SETS.values() for entry in fields(option_set)}:
        kind, help = entry.metadata.get("kind"), entry.metadata.get("help")
        if kind is None:
            raise TypeError(f"{entry.name}: declare it with option(…), with its help and kind")
        if kind not in OPTION_KINDS:
            raise TypeError(f"{entry.name}: no kind '{kind}'; there are {', '.join(OPTION_KINDS)}")
        if not help:
            raise TypeError(f"{entry.name}: needs a sentence of help")


_require_declared()


def collected(option_set: type, options: Mapping[str, Any]) -> Any:
    """The option set of these parameters; what is None is as if it were not given."""
    entries = parameters(option_set)
    values = {
        entries[name].name: _convert(entries[name], name, value)
        for name, value in options.items()
        if value is not None
    }
    return option_set(**values)


def takes(function: Callable[..., Returned]) -> Callable[..., Returned]:
    """Let a function that wants option sets be called with their options, each by its name.

    A parameter whose type is an option set becomes a named, typed and documented parameter for
    each of its options. Who has made the set already hands it over under the set's own name. A
    docstring says what the other parameters are, `name: text`, but those of `SHARED`.
    """
    signature = inspect.signature(function)
    option_sets = {
        name: parameter.annotation
        for name, parameter in signature.parameters.items()
        if parameter.annotation in SETS
    }

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Returned:
        for name, option_set in option_sets.items():
            options = {key: kwargs.pop(key) for key in parameters(option_set) if key in kwargs}
            if not options and name in kwargs:
                continue
            kwargs[name] = collected(option_set, options)
        return function(*args, **kwargs)

    public = [new for old in signature.parameters.values() for new in _public_parameters(old)]
    call.__signature__ = signature.replace(parameters=public)  # type: ignore[attr-defined]
    call.__annotations__ = {
        **{parameter.name: parameter.annotation for parameter in public},
        "return": signature.return_annotation,
    }
    call.__doc__ = _documentation(signature, function.__doc__ or "")
    return call


def _documentation(signature: inspect.Signature, text: str) -> str:
    """A docstring with a line for each parameter: its own, an option's, or one that many share."""
    own = dict(re.findall(r"^ {4}(\w+): (.+)$", text, re.MULTILINE))
    lines = []
    for name, parameter in signature.parameters.items():
        if parameter.annotation in SETS:
            lines += [documented(*option) for option in parameters(parameter.annotation).items()]
        elif about := own.get(name) or SHARED.get(name):
            lines.append(f"{name}: {about}")
    beginning = re.split(r"\n {4}\w+: ", text, maxsplit=1)[0].rstrip()
    return "\n\n".join([beginning, textwrap.indent("\n".join(lines), "    ")]) + "\n    "


def _public_parameters(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    """The parameters that a parameter stands for: itself, or the options of a set."""
    if parameter.annotation not in SETS:
        yield parameter
        return
    for name, entry in parameters(parameter.annotation).items():
        kind = OPTION_KINDS[entry.metadata["kind"]].python
        # What a replay is not given is as in the last one, which only the database knows.
        default = None if issubclass(parameter.annotation, Asked) else default_of(entry)
        default = None if isinstance(default, dict) else default
        annotation = kind | None if default is None else kind
        yield inspect.Parameter(
            name, parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )


def arguments(reading: Reading) -> Iterable[str]:
    """The command-line arguments that say the same as this option set."""
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
