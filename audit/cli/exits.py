"""How a command ends: with one line and a status, after Ctrl-C and a broken pipe too."""

import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import click

from audit.errors import AuditError, explained
from audit.text import nearest, one_line, visible


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

    # What is said of a child process that a library has ended.
    crash = "the engine ended with {}; this process may take too little memory (see 'ulimit -v')"

    def is_apart(self, ctx: click.Context) -> bool:
        """Whether the command runs in a child process, so that a library's crash ends that only."""
        return _has_memory_limit()

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, in a child where it is apart."""
        if self.is_apart(ctx) and _has_own_output() and hasattr(os, "fork"):
            return self._in_child(ctx)
        return self._run(ctx)

    def _run(self, ctx: click.Context) -> Any:
        """Run the command.

        Ctrl-C during DuckDB's import would crash, so it is held back until the import is done.
        """
        met: list[int] = []
        before = signal.signal(signal.SIGINT, lambda signum, frame: met.append(signum))
        importlib.import_module("duckdb")
        signal.signal(signal.SIGINT, before)
        if met:
            raise KeyboardInterrupt
        return super().invoke(ctx)

    def _in_child(self, ctx: click.Context) -> Any:
        """Run the command in a child and leave with its status; a crash is reported in one line."""
        sys.stdout.flush()
        sys.stderr.flush()
        # The engine is not imported yet: there is no thread that the child could miss.
        child = os.fork()
        if not child:
            _end_with_parent()
            _silence_libraries()
            # Deep inside a statement the engine does not hear Ctrl-C; a child may just end.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            try:
                return self._run(ctx)
            except click.exceptions.Exit as end:
                ctx.exit(FAILED_IN_CHILD if end.exit_code == 1 else end.exit_code)
        signal.signal(signal.SIGTERM, lambda signum, frame: os.kill(child, signum))
        try:
            code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        except KeyboardInterrupt:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise
        if code == -signal.SIGINT:
            raise KeyboardInterrupt
        if code in (-signal.SIGTERM, -signal.SIGKILL):
            raise AuditError(
                f"{ctx.info_name}: it was killed by another process, or by the system for want of "
                "memory"
            )
        if code == FAILED_IN_CHILD:
            sys.exit(1)
        if code not in STATUSES:
            # A library may end the process by a signal, or with a status of its own.
            how = signal.Signals(-code).name if code < 0 else f"status {code}"
            crash = Command.crash if _has_memory_limit() else self.crash
            raise AuditError(f"{ctx.info_name}: {crash.format(how)}")
        sys.exit(code)


class InChildProcess(Command):
    """A command that is given anyone's SQL."""

    crash = "it made DuckDB crash ({}); nothing is changed, write it otherwise"

    def is_apart(self, ctx: click.Context) -> bool:
        """Always."""
        return True


class RunsPlugins(Command):
    """A command that runs a user's own SQL files where they are given."""

    crash = (
        "a rule, selector or policy of your own made DuckDB crash ({}); nothing is changed, write "
        "it otherwise"
    )

    def is_apart(self, ctx: click.Context) -> bool:
        """Where files of a user's own come in."""
        kinds = ("rules", "selectors", "policies")
        return any(ctx.params.get(kind) for kind in kinds) or super().is_apart(ctx)


class Draws(InChildProcess):
    """A command that draws figures, whose library ends the process when memory runs out."""

    crash = "drawing the figures ended with {}; give it more memory, or leave out --format html"


def _end_with_parent() -> None:
    """Have this process killed when its parent is, which can no longer pass a signal on."""
    # Linux alone knows how; a call costs less than a millisecond, its import ten.
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        set_death_signal = 1
        ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL)


def _silence_libraries() -> None:
    """Keep standard error for Python: what a library prints when it crashes goes nowhere."""
    said = sys.stderr.encoding
    sys.stderr = os.fdopen(os.dup(2), "w", 1, encoding=said, errors="backslashreplace")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)


def _has_memory_limit() -> bool:
    """Whether the process may take only so much memory (`ulimit -v`): libraries crash then."""
    try:
        import resource
    except ImportError:
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _has_own_output() -> bool:
    """Whether what is printed goes to a file or terminal, and not to a test's memory."""
    try:
        return sys.stdout.fileno() == 1
    except (OSError, ValueError, AttributeError):
        return False


# How a command in a child ends by itself: done, a mistake, Ctrl-C, or a failed check, which is 1
# outside: a library that gives up ends the process with 1.
FAILED_IN_CHILD = 101
STATUSES = (0, 2, 130, FAILED_IN_CHILD)
# Set to anything, an error that nobody foresaw is shown with its traceback.
TRACEBACK_VARIABLE = "BUDGET_AUDIT_TRACEBACK"
# The commands in the order in which one uses them; those that stand in no group come last.
GROUPS = (
    ("See it work", ("demo", "simulate", "fetch")),
    ("Your records", ("describe", "load", "answers")),
    ("Replay", ("replay", "tokenize", "plan", "extract", "part", "run", "gather")),
    ("Look", ("tables", "table", "query", "schema", "show", "timeline", "figure", "sql")),
    ("Hand over", ("report", "export")),
    ("Trust", ("check", "compare", "diff", "verify")),
)


class Cli(click.Group):
    """A group whose commands end a user's mistake with one line and status 2."""

    command_class = Command
    interrupted: Sequence[int] = ()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order of use."""
        ordered = [name for _, names in GROUPS for name in names if name in self.commands]
        return [*ordered, *(name for name in self.commands if name not in ordered)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under the headings of their groups."""
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
        """Find a command; a misspelled one suggests the nearest."""
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            meant = nearest(args[0], self.commands)
            hint = f" Did you mean '{meant}'?" if meant else ""
            ctx.fail(f"No such command '{args[0]}'.{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; a mistake that a user can mend is reported in one line."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, click.Abort):
            raise
        except BrokenPipeError:
            # Whoever read the output has seen enough.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (AuditError, OSError) as error:
            complain(str(error))
            if sys.stderr.isatty():
                # A picture of the place helps a person; a script reads one line.
                for note in getattr(error, "__notes__", []):
                    click.echo("\n".join(visible(line) for line in note.splitlines()), err=True)
        except MemoryError:
            complain("out of memory: this process may take no more (see 'ulimit -v')")
        except Exception as error:
            # DuckDB passes Ctrl-C on as an error of its own.
            if self.interrupted:
                raise KeyboardInterrupt from None
            # A full disk, too little memory or a damaged file speaks through the engine.
            if type(error).__module__ in ("duckdb", "_duckdb"):
                complain(explained(error))
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
            complain(f"{where}{what}{hint}")
            sys.exit(2)


def complain(message: str) -> None:
    """The one line that says what went wrong."""
    color = False if os.environ.get("NO_COLOR") else None
    click.echo(f"{click.style('error', fg='red')}: {one_line(message)}", err=True, color=color)


def give_up(message: str) -> None:
    """End this process from another thread: the engine is inside one call and hears nothing."""
    complain(message)
    os._exit(2)
