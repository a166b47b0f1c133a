"""End a command with one line and an exit status, after errors, Ctrl-C and broken pipes."""

import os
import signal
import sys
from typing import Any

import click

from audit.cli.options import INTERRUPTS, Command
from audit.errors import LIMITED, AuditError, explain_error
from audit.text import nearest, one_line, visible

# If this variable is set, an unexpected error prints its traceback.
TRACEBACK_VARIABLE = "BUDGET_AUDIT_TRACEBACK"
# The commands in the usual order of use; commands in no group come last.
GROUPS = (
    ("See it work", ("demo", "simulate", "fetch")),
    ("Your records", ("describe", "load", "answers", "leave")),
    ("Replay", ("replay", "tokenize", "plan", "extract", "part", "run", "gather")),
    ("Look", ("tables", "table", "query", "schema", "show", "timeline", "figure", "sql")),
    ("Hand over", ("report", "export", "card")),
    ("Trust", ("check", "compare", "diff", "verify")),
)


class Cli(click.Group):
    """The command group; a user's mistake ends with one line and status 2."""

    command_class = Command

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in their usual order of use."""
        ordered = [name for _, names in GROUPS for name in names if name in self.commands]
        return [*ordered, *(name for name in self.commands if name not in ordered)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under the headings of their groups."""
        grouped = {name for _, names in GROUPS for name in names}
        others = tuple(name for name in self.commands if name not in grouped)
        longest = max(map(len, self.commands))
        width = formatter.width - 6 - longest
        for title, names in (*GROUPS, ("Other", others)):
            rows = [
                (name.ljust(longest), self.commands[name].get_short_help_str(width))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=longest)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; for a misspelled one, suggest the nearest name."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            meant = nearest(args[0], self.commands)
            hint = f" Did you mean '{meant}'?" if meant else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; report errors in one line and exit with status 2."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except BrokenPipeError:
            # The reader closed the pipe (e.g. `head`).
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (AuditError, OSError) as error:
            complain(str(error))
            if sys.stderr.isatty():
                # A picture of the place helps a person; a script reads one line.
                for note in getattr(error, "__notes__", []):
                    click.echo("\n".join(visible(line) for line in note.splitlines()), err=True)
        except MemoryError:
            complain(LIMITED)
        except Exception as error:
            # DuckDB turns Ctrl-C into another error.
            if INTERRUPTS:
                raise KeyboardInterrupt from None
            # A full disk, too little memory or a damaged file raises DuckDB's own errors.
            if "can't start new thread" in str(error):
                complain(LIMITED)
            elif type(error).__module__ in ("duckdb", "_duckdb"):
                complain(explain_error(error))
            elif isinstance(error, UnicodeEncodeError) and "surrogates" in error.reason:
                complain("a name that was given is not UTF-8, and DuckDB takes none; rename it")
            elif os.environ.get(TRACEBACK_VARIABLE):
                raise
            else:
                complain(
                    f"{type(error).__name__}: {error}; the database may have been changed by "
                    "another program, then load into a new --db; "
                    f"{TRACEBACK_VARIABLE}=1 shows where it failed"
                )
        ctx.exit(2)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run the group; report usage errors and Ctrl-C in one line too."""
        before = signal.getsignal(signal.SIGINT)
        try:
            self.run(*args, **kwargs)
        except (click.Abort, KeyboardInterrupt):
            pass
        except Exception:
            # Ctrl-C inside an import is raised as an error of that import.
            if not INTERRUPTS:
                raise
        finally:
            signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        click.echo("error: interrupted; what was not finished is undone", err=True)
        sys.exit(130)

    def run(self, *args: Any, **kwargs: Any) -> None:
        """Run a command and exit with its status."""
        try:
            # Without its standalone mode, Click returns the exit status.
            sys.exit(super().main(*args, **{**kwargs, "standalone_mode": False}))
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.UsageError as error:
            where = f"{error.ctx.command_path}: " if error.ctx else ""
            hint = f"; see '{error.ctx.command_path} --help'" if error.ctx else ""
            what = one_line(error.format_message()).rstrip(".")
            complain(f"{where}{what}{hint}".replace("?; see", "? See"))
            sys.exit(2)


def complain(message: str) -> None:
    """Print an error message in one line on standard error."""
    color = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{click.style('error', fg='red')}: {one_line(message)}", err=True, color=color)


def give_up(message: str) -> None:
    """Print a message and end the process at once, even if a thread is still inside DuckDB."""
    complain(message)
    os._exit(2)
