"""Options that several commands share, what they read, and how results are shown."""

import contextlib
import re
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

FORMATS = ("table", "csv", "json", "md", "tex")


class Tokens(click.ParamType):
    """A number of tokens or attempts: 4000, 4_000 or 4k; a comma-separated list of them."""

    name = "n,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        """The numbers as integers."""
        return [self.number(part, param, ctx) for part in str(value).split(",") if part.strip()]

    def number(self, part: str, param: Any, ctx: Any) -> int:
        """One number."""
        match = re.fullmatch(r"(\d+(?:_\d+)*)(k?)", part.strip().lower())
        if not match:
            self.fail(f"'{part.strip()}' is not a number like 4000, 4_000 or 4k", param, ctx)
        return int(match.group(1)) * (1000 if match.group(2) else 1)


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
    "--db", default="audit.duckdb", show_default=True, help="The database file.", metavar="FILE"
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
    for option, what in (("--price-output", "completion"), ("--price-input", "prompt")):
        command = click.option(
            option, type=float, metavar="X", help=f"Money per million {what} tokens."
        )(command)
    return command


def formats(default: str = "table") -> Callable[..., Any]:
    """The output format of what is printed."""
    return click.option(
        "--format",
        "fmt",
        type=click.Choice(FORMATS),
        default=default,
        show_default=True,
        help="How to print it.",
    )


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


class Names(click.ParamType):
    """Names separated by commas."""

    name = "name,…"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, ...]:
        """The names."""
        if isinstance(value, tuple):
            return value
        return tuple(part.strip() for part in str(value).split(",") if part.strip())


def opened(
    db: str, *, write: bool = False, **limits: Any
) -> "contextlib.AbstractContextManager[duckdb.DuckDBPyConnection]":
    """The database, opened by the engine, which is imported only here."""
    from audit import database

    return database.opened(db, write=write, **limits)


def bar(label: str) -> Callable[[str, int, int], None] | None:
    """A progress line on standard error, only on a terminal."""
    if not sys.stderr.isatty():
        return None

    def show(what: str, done: int, total: int) -> None:
        filled = round(24 * done / max(total, 1))
        end = "\n" if done >= total else ""
        line = f"\r{label} [{'#' * filled}{'.' * (24 - filled)}] {what[:40]:40}{end}"
        click.echo(line, nl=False, err=True)

    return show


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
    )
    for option in reversed(options):
        command = option(command)
    return command


def show_table(table: "pa.Table", fmt: str, name: str | None = None) -> None:
    """Print an Arrow table."""
    from audit.output.display import format_table

    click.echo(format_table(table, fmt, name), nl=False)
