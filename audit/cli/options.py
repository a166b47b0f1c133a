"""Options that several commands share, what they read, and how results are shown."""

import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from audit.cli import completion
from audit.cli.completion import DATABASE_VARIABLE, DEFAULT_DATABASE
from audit.progress import bar, columns
from audit.text import one_line, whole_numbers

if TYPE_CHECKING:
    from audit.output.result import Result

__all__ = ["bar"]

FORMATS = ("table", "csv", "json", "md", "tex")


class Tokens(click.ParamType):
    """A number of tokens or attempts: 4000, 4_000, 4.5k or 1e6; a comma-separated list of them."""

    name = "n,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        """The numbers as integers."""
        try:
            return whole_numbers(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Orders(click.ParamType):
    """A number of orders, or auto."""

    name = "n|auto"

    def convert(self, value: Any, param: Any, ctx: Any) -> int | str:
        """The number, or the word."""
        if value == "auto":
            return "auto"
        try:
            return int(value)
        except ValueError:
            self.fail(f"'{value}' is neither a whole number nor auto", param, ctx)


class Pair(click.ParamType):
    """A name and a value: name=value."""

    name = "name=value"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        """The two halves."""
        if isinstance(value, tuple):
            return value
        left, equals, right = str(value).partition("=")
        if not equals or not left:
            self.fail(f"'{value}' is not of the form name=value", param, ctx)
        return left, right


database = click.option(
    "--db",
    default=DEFAULT_DATABASE,
    show_default=True,
    envvar=DATABASE_VARIABLE,
    show_envvar=True,
    help="The database file.",
    metavar="FILE",
)


class Size(click.ParamType):
    """An amount of memory, such as 500MB or 2GB."""

    name = "size"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """The amount as DuckDB reads it."""
        if not re.fullmatch(r"\d+(\.\d+)? ?[KMGT]i?B", str(value)):
            self.fail(f"'{value}' is not an amount like 500MB or 2GB", param, ctx)
        return str(value)


def heavy(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of every command that does heavy work."""
    command = click.option("--memory", type=Size(), help="Most memory to use, such as 2GB.")(
        command
    )
    return click.option(
        "--threads",
        type=click.IntRange(1, 1024),
        metavar="N",
        help="Threads to use (default: all cores).",
    )(command)


def priced(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that put money beside tokens."""
    command = click.option(
        "--prices",
        metavar="FILE",
        help="Prices by archive, a CSV: archive,input,output and, if wanted, cached_input.",
    )(command)
    for option, what in (("--price-output", "completion"), ("--price-input", "prompt")):
        command = click.option(
            option, type=float, metavar="X", help=f"Money per million {what} tokens."
        )(command)
    return command


def archive_filter(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that leaves only some archives."""
    return click.option(
        "--archive",
        multiple=True,
        metavar="NAME",
        shell_complete=completion.archives,
        help="Only this archive; a pattern such as '*_high' too, and several times.",
    )(command)


def filtering(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that leave only some rows."""
    command = click.option(
        "--problems",
        metavar="FILE",
        help="Only these problems, a CSV: competition,question_id.",
    )(command)
    command = click.option(
        "--competition",
        multiple=True,
        metavar="NAME",
        shell_complete=completion.competitions,
        help="Only this competition; several times for more.",
    )(command)
    return archive_filter(command)


class Names(click.ParamType):
    """Names separated by commas."""

    name = "name,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """The names."""
        if isinstance(value, tuple):
            return value
        return tuple(part.strip() for part in str(value).split(",") if part.strip())


def choosing(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options that print a part of a table."""
    options = (
        click.option(
            "--columns", type=Names(), metavar="NAME,…", help="Only these columns, in this order."
        ),
        click.option(
            "--sort", type=Names(), metavar="NAME,…", help="Sort by these; -NAME: largest first."
        ),
        click.option("--limit", type=click.IntRange(0), metavar="N", help="At most so many rows."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def counting(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that lets a reading command write token counts."""
    return click.option(
        "--tokenize",
        is_flag=True,
        help="Count the tokens that prefix_boxes still waits for, into the database.",
    )(command)


def no_color(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    """Print without colour from here on."""
    if value:
        ctx.color = False


def formats(*more: str) -> Callable[..., Any]:
    """The output format of what is printed, and how it is shown on a terminal."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in (
            click.option(
                "--no-color",
                is_flag=True,
                expose_value=False,
                callback=no_color,
                help="No colour; NO_COLOR says so too.",
            ),
            click.option("--wide", is_flag=True, help="Every column and cell, however wide."),
            click.option(
                "--format",
                "fmt",
                type=click.Choice((*FORMATS, *more)),
                default="table",
                show_default=True,
                help="How to print it.",
            ),
        ):
            command = option(command)
        return command

    return add


def reading(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options of the commands that read sources: what they are, and what stands in for a gap."""
    options = (
        click.option(
            "--format",
            metavar="NAME",
            help="The files' format (default: detected from their content).",
        ),
        click.option(
            "--map",
            "mapping",
            type=Pair(),
            multiple=True,
            metavar="CANONICAL=PATH",
            help="Take a canonical column from another one, or from a path such as output.0.text.",
        ),
        click.option("--archive", metavar="NAME", help="The archive that the attempts belong to."),
        click.option("--competition", metavar="NAME", help="The competition of the problems."),
        click.option(
            "--finish-reason",
            type=click.Choice(("stop",)),
            help="Where no finish reason is recorded, count every attempt as completed.",
        ),
        click.option(
            "--count-tokens",
            metavar="ENCODING",
            help="Where no token counts are recorded, count the tokens of the texts.",
        ),
        click.option(
            "--answer",
            metavar="KIND",
            default="boxed",
            show_default=True,
            help="What the answer is: boxed, archive (the source's own) or regex:PATTERN.",
        ),
        click.option(
            "--grade",
            type=click.Choice(("references",)),
            help="Label an attempt by comparing its answer with the references.",
        ),
        click.option(
            "--references",
            metavar="FILE",
            help="References by problem, in JSON lines, CSV or Parquet.",
        ),
        click.option(
            "--explode",
            metavar="PATH",
            help="The list that holds the attempts of a row, one item each.",
        ),
        click.option(
            "--runs",
            type=click.Choice(("separate", "append")),
            help="Files that repeat attempts' numbers: an archive each, or further attempts.",
        ),
        click.option(
            "--skip-unreadable",
            is_flag=True,
            help="Leave out files that hold no rows or cannot be read, and say which.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def width_of(wide: bool) -> int | None:
    """How wide a table may be: as the terminal is, and as it likes where there is none."""
    return None if wide or not sys.stdout.isatty() else columns(sys.stdout)


def show(result: "Result", fmt: str, wide: bool = False) -> None:
    """Print a result, and below it what its numbers rest on."""
    click.echo(result.to_text(fmt, width=width_of(wide)), nl=False)
    tell(*([result.caption] if result.caption else []), *result.notes)


def tell(*notes: str) -> None:
    """Notes on standard error, where they disturb no output."""
    for note in notes:
        click.secho(one_line(note), err=True, dim=True)
