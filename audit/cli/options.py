"""Make options of commands from the parameters of functions, and print results."""

import contextlib
import inspect
import re
import signal
import sys
import textwrap
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click

import audit
from audit.cli import completion
from audit.cli.completion import DATABASE_VARIABLE, DEFAULT_DATABASE
from audit.options import OPTION_KINDS, Names, describe_option, flag_of, parameter_help
from audit.progress import Progress, bar, columns
from audit.text import capital, one_line

if TYPE_CHECKING:
    from audit.output.result import Result

FORMATS = ("table", "csv", "json", "md", "tex")
# Parameters that have no flag on the command line where Python takes them by position.
ARGUMENTS = {"sources", "name", "names", "old", "new", "live", "full", "folder", "number"}
# Flags whose word is taken in Python, or is plural there.
FLAGS = {"new": "--as", "everything": "--all", "archives": "--archive", "formats": "--format"}
FLAGS |= {"params": "--param"}
# Below this much memory, a library may fail without any message.
LITTLE_MEMORY = 2 * 2**30

# Every Ctrl-C received so far.
INTERRUPTS: list[int] = []


def _read_pair(text: str) -> tuple[str, str]:
    """Split name=value into its two halves."""
    left, equals, right = text.partition("=")
    if not equals or not left:
        raise click.BadParameter(f"'{text}' is not of the form name=value")
    return left, right


# One and two columns of a paper, in inches.
PRESETS = {"one": 3.3, "two": 6.9}


def _read_width(written: str) -> int:
    """Convert a width on paper, such as 3.3in, 84mm or `one` (column), to pixels (96 an inch)."""
    text = written.strip().lower()
    if text in PRESETS:
        return round(96 * PRESETS[text])
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(in|cm|mm|pt)", text)
    units = {"in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
    width = float(match[1]) * units[match[2]] if match else 0.0
    if not 150 <= width <= 4000:
        raise click.BadParameter(
            f"'{written}' is not a width like 3.3in, 84mm, 240pt, one or two (columns)"
        )
    return round(width)


DATABASE = click.Option(
    ["--db"],
    default=DEFAULT_DATABASE,
    show_default=True,
    envvar=DATABASE_VARIABLE,
    show_envvar=True,
    help="The database file.",
    metavar="FILE",
)


class Command(click.Command):
    """A command that calls the function of its name, whose parameters are its options."""

    is_derived = False

    def __init__(self, *args: Any, complete: Mapping[str, Any] | None = None, **more: Any) -> None:
        super().__init__(*args, **more)
        self.complete = complete or {}

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the options made from the function, and those that only the command has."""
        if not self.is_derived:
            if not ctx.resilient_parsing:
                _warn_of_limit()
            declared = {one.name: one for one in self.params}
            derived = _derive(getattr(audit, str(self.name)), self.complete)
            self.params = [declared.pop(one.name, one) for one in derived] + [*declared.values()]
            self.is_derived = True
        return super().get_params(ctx)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command with the given options, and with a progress line."""
        ctx.params = {name: one for name, one in ctx.params.items() if one not in (None, (), {})}
        function = getattr(audit, str(self.name))
        # Before this, Ctrl-C ends the process silently: an exception would crash DuckDB's import.
        signal.signal(signal.SIGINT, _note_interrupt)
        if "progress" in inspect.signature(function).parameters:
            ctx.params["progress"] = bar(str(self.name))
        return super().invoke(ctx)


def _note_interrupt(signum: int, frame: Any) -> None:
    """Raise KeyboardInterrupt for Ctrl-C, and record it: DuckDB may turn it into another error."""
    INTERRUPTS.append(signum)
    raise KeyboardInterrupt


def _warn_of_limit() -> None:
    """Warn if `ulimit -v` is low: libraries may then end the process at import."""
    with contextlib.suppress(ImportError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if 0 <= limit < LITTLE_MEMORY:
            size = f"{limit / 2**30:.1f} GB"
            click.echo(f"note: this process may take {size} of memory (see 'ulimit -v')", err=True)


def _derive(function: Callable[..., Any], complete: Mapping[str, Any]) -> list[click.Parameter]:
    """Make the arguments and options of a command from the parameters of a function."""
    described, fields = parameter_help(function.__doc__ or ""), getattr(function, "options", {})
    made: list[click.Parameter] = []
    for name, one in inspect.signature(function).parameters.items():
        completer = complete.get(name) or completion.BY_NAME.get(name)
        if name == "db":
            made.append(DATABASE)
        elif name in ARGUMENTS and one.kind is one.POSITIONAL_OR_KEYWORD:
            made.append(_to_argument(one, completer))
        elif name in fields:
            made.append(_field_to_option(one, fields[name], completer))
        elif name != "progress":
            word, help = name.replace("_", "-"), described[name]
            if one.default is True:
                word, help = f"no-{word}", f"do not {help}"
            several = set(get_args(Names)) <= set(get_args(one.annotation))
            flag = FLAGS.get(name, f"--{word}")
            made.append(_to_option(flag, one=one, help=help, several=several, completer=completer))
    return made


def _field_to_option(one: inspect.Parameter, field: Any, completer: Any) -> click.Option:
    """Make the option of an option set's field; the function itself sets the default."""
    about = field.metadata
    return _to_option(
        *about.get("flags", [flag_of(field, one.name)]),
        one=one.replace(default=None),
        help=describe_option(field),
        several=about["kind"] == "patterns",
        completer=completer,
        metavar=about.get("metavar", OPTION_KINDS[about["kind"]].metavar),
    )


def _to_argument(one: inspect.Parameter, completer: Any) -> click.Argument:
    """Make the argument of a parameter; `sources` and `names` take several values."""
    return click.Argument(
        [one.name],
        required=one.default is one.empty,
        nargs=-1 if one.name in ("sources", "names") else 1,
        type=int if one.name == "number" else None,
        shell_complete=completer,
    )


def _to_option(
    *flags: str,
    one: inspect.Parameter,
    help: str,
    several: bool,
    completer: Any,
    metavar: str | None = None,
) -> click.Option:
    """Make the option of a parameter: a flag, a pair, a number or a text, by its annotation."""
    kinds = [one.annotation, *get_args(one.annotation)]
    more: dict[str, Any] = {"required": one.default is one.empty, "metavar": metavar}
    if bool in kinds:
        is_on = one.default is True
        more |= {"is_flag": True, "flag_value": not is_on, "default": is_on}
    elif any(get_origin(kind) is Mapping for kind in kinds):
        more |= {"type": _read_pair, "multiple": True, "metavar": metavar or "NAME=VALUE"}
        more["callback"] = lambda ctx, param, pairs: dict(pairs)
    elif one.name == "width":
        more |= {"type": _read_width, "metavar": "WIDTH"}
    else:
        choices = [get_args(kind) for kind in kinds if get_origin(kind) is Literal]
        numbers = [kind for kind in (int, float) if kind in kinds and str not in kinds]
        types: list[Any] = [*map(click.Choice, choices), *numbers, None]
        more |= {"type": types[0], "multiple": several}
        more["metavar"] = metavar or ("PATH" if Path in kinds else None)
        if one.default not in (None, (), one.empty):
            more |= {"default": one.default, "show_default": True}
    help = f"{capital(help)}."
    return click.Option([*flags, one.name], help=help, shell_complete=completer, **more)


def _disable_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Disable colour if --no-color is given."""
    if value:
        ctx.color = False


no_color = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_disable_color,
    help="Disable colour (also NO_COLOR=1).",
)


def add_format_options(*more: str) -> Callable[..., Any]:
    """Return a decorator that adds --format, --wide and --no-color to a command."""
    formatted = click.option(
        "--format",
        "fmt",
        type=click.Choice((*FORMATS, *more)),
        default="table",
        show_default=True,
        help="How to print it.",
    )
    wide = click.option("--wide", is_flag=True, help="Every column and cell, however wide.")
    return lambda command: formatted(wide(no_color(command)))


def find_width(wide: bool) -> int | None:
    """Return the terminal's width; None, for no limit, in a pipe or with --wide."""
    return None if wide or not sys.stdout.isatty() else columns(sys.stdout)


def show(result: "Result", fmt: str, wide: bool = False) -> None:
    """Print a result, with its caption and notes below."""
    click.echo(result.to_text(fmt, width=find_width(wide)), nl=False)
    show_notes(*([result.caption] if result.caption else []), *result.notes)


def list_names(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names with their descriptions, wrapped to the terminal."""
    listed = list(pairs)
    margin = 2 + max(len(name) for name, _ in listed)
    room = max(20, (find_width(False) or 10_000) - margin)
    for name, what in listed:
        lines = textwrap.wrap(what, room, break_on_hyphens=False)
        click.echo(f"{name:{margin}}" + f"\n{' ' * margin}".join(lines))


def print_result(result: "Result") -> None:
    """Print the caption of a result in one line, and its notes."""
    click.echo(one_line(result.caption))
    show_notes(*result.notes)


def print_files(result: "Result") -> None:
    """Print the paths of the files written, and the notes."""
    for row in result:
        click.echo(row["file"])
    show_notes(*result.notes)


def announce(note: str, progress: Progress | None) -> Progress:
    """Return a progress callback that prints a note at its first call, when work begins."""
    notes = [note]

    def show(what: str, done: int, total: int) -> None:
        while notes:
            show_notes(notes.pop())
        if progress:
            progress(what, done, total)

    return show


def show_notes(*notes: str) -> None:
    """Print notes on standard error."""
    for note in notes:
        click.secho(one_line(note), err=True, dim=True)
