"""How a command ends: with one line and a status, after Ctrl-C and a broken pipe too."""

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from audit.errors import AuditError
from audit.text import one_line


@contextlib.contextmanager
def interrupts() -> Iterator[list[int]]:
    """Have Ctrl-C raise KeyboardInterrupt, and keep note of it for when it is lost on its way."""
    met: list[int] = []

    def note(signum: int, frame: Any) -> None:
        met.append(signum)
        raise KeyboardInterrupt

    def show_unless_met(unraisable: Any) -> None:
        if not met:
            hook(unraisable)

    before, hook = signal.signal(signal.SIGINT, note), sys.unraisablehook
    sys.unraisablehook = show_unless_met
    try:
        yield met
    finally:
        signal.signal(signal.SIGINT, before)
        sys.unraisablehook = hook


class Command(click.Command):
    """A command that works on a database."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run it; DuckDB's import would abort the process at Ctrl-C, which waits for its end."""
        met: list[int] = []
        before = signal.signal(signal.SIGINT, lambda signum, frame: met.append(signum))
        importlib.import_module("duckdb")
        signal.signal(signal.SIGINT, before)
        if met:
            raise KeyboardInterrupt
        return super().invoke(ctx)


class Cli(click.Group):
    """A group whose commands end a user's mistake with one line and status 2."""

    command_class = Command
    interrupted: Sequence[int] = ()

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; what a user can mend is told in one line."""
        try:
            return super().invoke(ctx)
        except AuditError as error:
            click.echo(f"error: {one_line(str(error))}", err=True)
            ctx.exit(2)
        except BrokenPipeError:
            # Whoever read the output has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except OSError as error:
            click.echo(f"error: {one_line(str(error))}", err=True)
            ctx.exit(2)
        except Exception as error:
            # DuckDB passes Ctrl-C on as an error of its own.
            if self.interrupted:
                raise KeyboardInterrupt from None
            # A full disk, too little memory or a damaged file speaks through the engine.
            if type(error).__module__ not in ("duckdb", "_duckdb"):
                raise
            from audit.errors import explained

            click.echo(f"error: {one_line(explained(error))}", err=True)
            ctx.exit(2)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Click's own usage errors become one line too, and so does Ctrl-C."""
        with interrupts() as met:
            self.interrupted = met
            try:
                self.run(*args, **kwargs)
            except (click.Abort, KeyboardInterrupt):
                pass
            except Exception:
                # Ctrl-C inside an import, say, comes out as that import's failure.
                if not met:
                    raise
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            click.echo("error: interrupted; what was not finished is undone", err=True)
            sys.exit(130)

    def run(self, *args: Any, **kwargs: Any) -> None:
        """Run a command and leave with its status."""
        try:
            # Click gives an exit status back here instead of raising it.
            sys.exit(super().main(*args, **{**kwargs, "standalone_mode": False}))
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.UsageError as error:
            where = f"{error.ctx.command_path}: " if error.ctx else ""
            hint = f"; see '{error.ctx.command_path} --help'" if error.ctx else ""
            what = one_line(error.format_message()).rstrip(".")
            click.echo(f"error: {where}{what}{hint}", err=True)
            sys.exit(2)


def give_up(message: str) -> None:
    """End this process from another thread: the engine is inside one call and hears nothing."""
    click.echo(f"error: {one_line(message)}", err=True)
    os._exit(2)
