"""Options that several commands share, what they read, and how results are shown."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from audit import options as declared
from audit.cli import completion
from audit.cli.completion import DATABASE_VARIABLE, DEFAULT_DATABASE
from audit.progress import Progress, bar, columns
from audit.text import one_line
from audit.units import whole_numbers

if TYPE_CHECKING:
    from audit.output.result import Result

__all__ = ["bar"]

FORMATS = ("table", "csv", "json", "md", "tex")


class Reads(click.ParamType):
    """What one of the package's own functions reads; what it refuses is a mistake of usage."""

    def __init__(self, name: str, read: Callable[[Any], Any]) -> None:
        self.name = name
        self.read = read

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert the value."""
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _pair(text: str) -> tuple[str, str]:
    """Return the two halves of name=value."""
    left, equals, right = text.partition("=")
    if not equals or not left:
        raise ValueError(f"'{text}' is not of the form name=value")
    return left, right


PAIR = Reads("name=value", _pair)
database = click.option(
    "--db",
    default=DEFAULT_DATABASE,
    show_default=True,
    envvar=DATABASE_VARIABLE,
    show_envvar=True,
    help="The database file.",
    metavar="FILE",
)


# What the command line takes for each kind of option, beside words and files.
TYPES: dict[str, Any] = {
    "number": click.INT,
    "decimal": click.FLOAT,
    "size": Reads("size", declared.size),
    "orders": Reads("n|auto", declared.orders),
    "numbers": Reads("n,…", whole_numbers),
    "amounts": Reads("n,…", str),
    "pairs": PAIR,
}
# Options that may be given several times.
SEVERAL = ("pairs", "patterns")


def _option(name: str, field: Any) -> Callable[..., Any]:
    """Return the click option of a field."""
    about = field.metadata
    kind, default = about["kind"], declared.default_shown(field)
    words = about["help"][0].upper() + about["help"][1:]
    choices, least, most = about.get("choices"), about.get("least", 1), about.get("most")
    complete = about.get("complete")
    return click.option(
        *about.get("flags", [declared.flag_of(field, name)]),
        name,
        type=click.Choice(choices)
        if choices
        else click.IntRange(least, most)
        if most or "least" in about
        else TYPES.get(kind),
        # False would let the option stand without a value.
        is_flag=True if kind == "flag" else None,
        multiple=kind in SEVERAL,
        metavar=about.get("metavar"),
        shell_complete=getattr(completion, complete) if complete else None,
        help=f"{words}{f' [{default}]' if default else ''}.",
    )


def combine(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Return several options as one, listed in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def takes_options(*sets: type) -> Callable[..., Any]:
    """Give a command the options of these sets, in the order of their fields."""
    fields = (item for taken in sets for item in declared.parameters(taken).items())
    return combine(*(_option(name, field) for name, field in fields))


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given: one that may be given several times is else empty."""
    return {
        name: dict(value) if name == "map" else value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }


heavy = takes_options(declared.Limits)


archive_filter = _option("archive", declared.parameters(declared.Filters)["archive"])
# One and two columns of a paper, in inches.
PRESETS = {"one": 3.3, "two": 6.9}


def _width(written: str) -> int:
    """Return a width on paper, such as 3.3in, 84mm or one column, in pixels, 96 an inch."""
    text = written.strip().lower()
    if text in PRESETS:
        return round(96 * PRESETS[text])
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(in|cm|mm|pt)", text)
    units = {"in": 96.0, "cm": 96 / 2.54, "mm": 96 / 25.4, "pt": 96 / 72}
    width = float(match[1]) * units[match[2]] if match else 0.0
    if not 150 <= width <= 4000:
        raise ValueError(
            f"'{written}' is not a width like 3.3in, 84mm, 240pt, one or two (columns)"
        )
    return round(width)


TYPES["width"] = WIDTH = Reads("width", _width)


def _without_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print without colour from here on."""
    if value:
        ctx.color = False


no_color = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_without_color,
    help="Disable colour (also NO_COLOR=1).",
)


def formats(*more: str) -> Callable[..., Any]:
    """Return the options of what is printed: the format, and how a terminal shows it."""
    return combine(
        click.option(
            "--format",
            "fmt",
            type=click.Choice((*FORMATS, *more)),
            default="table",
            show_default=True,
            help="How to print it.",
        ),
        click.option("--wide", is_flag=True, help="Every column and cell, however wide."),
        no_color,
    )


def width_of(wide: bool) -> int | None:
    """Return the terminal's width; None, which is no limit, if there is none or --wide."""
    return None if wide or not sys.stdout.isatty() else columns(sys.stdout)


def show(result: "Result", fmt: str, wide: bool = False) -> None:
    """Print a result, with its caption and notes below."""
    click.echo(result.to_text(fmt, width=width_of(wide)), nl=False)
    show_notes(*([result.caption] if result.caption else []), *result.notes)


def list_names(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names, and beside each what it is."""
    listed = list(pairs)
    width = max(len(name) for name, _ in listed)
    for name, what in listed:
        click.echo(f"{name:{width}}  {what}")


def print_result(result: "Result") -> None:
    """Print the caption of a result in one line, and its notes."""
    click.echo(one_line(result.caption))
    show_notes(*result.notes)


def announce(note: str, progress: Progress | None) -> Progress:
    """Return a progress that prints a note once the work begins, after mistakes were refused."""
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
