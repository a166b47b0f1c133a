"""Options that several commands share, what they read, and how results are shown."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from audit import options as declared
from audit.cli import completion
from audit.cli.completion import DATABASE_VARIABLE, DEFAULT_DATABASE
from audit.progress import bar, columns
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
        """The value."""
        try:
            return self.read(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _pair(text: str) -> tuple[str, str]:
    """The two halves of name=value."""
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
    """One option, made of what its field says."""
    about = field.metadata
    kind, default = about["kind"], declared.default_shown(field)
    words = about["help"][0].upper() + about["help"][1:]
    choices, most = about.get("choices"), about.get("most")
    complete = about.get("complete")
    return click.option(
        declared.flag_of(field, name),
        name,
        type=click.Choice(choices)
        if choices
        else click.IntRange(1, most)
        if most
        else TYPES.get(kind),
        # False would let the option stand without a value.
        is_flag=True if kind == "flag" else None,
        multiple=kind in SEVERAL,
        metavar=about.get("metavar"),
        shell_complete=getattr(completion, complete) if complete else None,
        help=f"{words}{f' [{default}]' if default else ''}.",
    )


def together(*options: Callable[..., Any]) -> Callable[..., Any]:
    """Several options as one, listed in this order."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def takes_options(*sets: type) -> Callable[..., Any]:
    """Give a command the options of these sets, in the order of their fields."""
    fields = (item for taken in sets for item in declared.parameters(taken).items())
    return together(*(_option(name, field) for name, field in fields))


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given: one that may be given several times is else empty."""
    return {
        name: dict(value) if name == "mapping" else value
        for name, value in options.items()
        if value is not None and value is not False and value != ()
    }


heavy = takes_options(declared.Limits)


archive_filter = click.option(
    "--archive",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.archives,
    help="Only this archive; a pattern such as '*_high' too, and several times.",
)
# Options that leave only some rows.
filtering = together(
    archive_filter,
    click.option(
        "--competition",
        multiple=True,
        metavar="NAME",
        shell_complete=completion.competitions,
        help="Only this competition; several times for more.",
    ),
    click.option(
        "--problems", metavar="FILE", help="Only these problems, a CSV: competition,question_id."
    ),
)
NAMES = Reads("name,…", lambda text: tuple(map(str.strip, declared.names(text))))
# Options that print a part of a table.
choosing = together(
    click.option(
        "--columns", type=NAMES, metavar="NAME,…", help="Only these columns, in this order."
    ),
    click.option(
        "--sort", type=NAMES, metavar="NAME,…", help="Sort by these; -NAME: largest first."
    ),
    click.option("--limit", type=click.IntRange(0), metavar="N", help="At most so many rows."),
)
# Lets a command that reads write token counts.
counting = click.option(
    "--tokenize",
    is_flag=True,
    help="Count the tokens that prefix_boxes still waits for, into the database.",
)


def _without_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print without colour from here on."""
    if value:
        ctx.color = False


no_color = click.option(
    "--no-color",
    is_flag=True,
    expose_value=False,
    callback=_without_color,
    help="No colour; NO_COLOR says so too.",
)


def formats(*more: str) -> Callable[..., Any]:
    """The output format of what is printed, and how it is shown on a terminal."""
    return together(
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
    """How wide a table may be: as the terminal is, and as it likes where there is none."""
    return None if wide or not sys.stdout.isatty() else columns(sys.stdout)


def show(result: "Result", fmt: str, wide: bool = False) -> None:
    """Print a result, and below it what its numbers rest on."""
    click.echo(result.to_text(fmt, width=width_of(wide)), nl=False)
    show_notes(*([result.caption] if result.caption else []), *result.notes)


def list_names(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names, and beside each what it is."""
    listed = list(pairs)
    width = max(len(name) for name, _ in listed)
    for name, what in listed:
        click.echo(f"{name:{width}}  {what}")


def print_result(result: "Result") -> None:
    """Print what came of a command in one line, and its notes."""
    click.echo(one_line(result.caption))
    show_notes(*result.notes)


def show_notes(*notes: str) -> None:
    """Notes on standard error, where they disturb no output."""
    for note in notes:
        click.secho(one_line(note), err=True, dim=True)
