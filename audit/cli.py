"""The command line: open the database, call one function, print what it returns."""

import contextlib
import importlib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit import __version__
from audit.errors import AuditError
from audit.text import one_line

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
            from audit.engine import explained

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


@click.group(
    cls=Cli,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="budget-audit")
def main() -> None:
    """What did this token budget really buy? Replay recorded attempts under a cumulative cap."""


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


def opened(
    db: str, *, write: bool = False, **limits: Any
) -> "contextlib.AbstractContextManager[duckdb.DuckDBPyConnection]":
    """The database, opened by the engine, which is imported only here."""
    from audit import engine

    return engine.opened(db, write=write, **limits)


def give_up(message: str) -> None:
    """End this process from another thread: the engine is inside one call and hears nothing."""
    click.echo(f"error: {one_line(message)}", err=True)
    os._exit(2)


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
    from audit.display import format_table

    click.echo(format_table(table, fmt, name), nl=False)


@main.command()
@click.option(
    "--out", default="demo", show_default=True, metavar="DIR", help="Where everything goes."
)
@heavy
def demo(out: str, threads: int | None, memory: str | None) -> None:
    """Simulated archives, loaded, replayed and reported in one go, offline.

    Example: budget-audit demo --out demo
    """
    from audit.engine import replay
    from audit.loading import load
    from audit.report import report
    from audit.report.drawing import has_figures
    from audit.simulate import simulate

    if not has_figures():
        raise AuditError("the demo's report needs more: pip install 'budget-audit[report]'")
    folder = Path(out)
    files = simulate(folder / "archives")
    db = folder / "audit.duckdb"
    with opened(str(db), write=True, threads=threads, memory=memory) as con:
        load(con, [str(path) for path in files], replace=True)
        replay(con, progress=bar("replay"))
    with opened(str(db), threads=threads, memory=memory) as con:
        written = report(con, folder / "report")
    click.echo("This is simulated data: it shows the tool, it says nothing about any model.")
    click.echo(f"archives  {folder / 'archives'}")
    click.echo(f"database  {db}")
    for path in written:
        click.echo(f"report    {path}")


@main.command()
@click.option("--out", required=True, metavar="DIR", help="Where the Parquet files go.")
@click.option(
    "--problems", type=int, default=30, show_default=True, help="Problems per competition."
)
@click.option("--attempts", type=int, default=80, show_default=True, help="Attempts per problem.")
@click.option("--seed", type=int, default=20260906, show_default=True)
@click.option(
    "--texts",
    type=click.Choice(("final", "full")),
    default="final",
    show_default=True,
    help="Only the last lines of each text, or all of it.",
)
def simulate(out: str, problems: int, attempts: int, seed: int, texts: str) -> None:
    """Write a simulated archive in the study's shape, labelled as simulated.

    Example: budget-audit simulate --out archives --problems 5 --attempts 16
    """
    from audit import simulate as module

    for path in module.simulate(
        Path(out), problems=problems, attempts=attempts, seed=seed, texts=texts
    ):
        click.echo(f"{path}  (simulated)")


@main.command()
@click.argument("sources", nargs=-1, required=True)
@database
@reading
@click.option("--replace", is_flag=True, help="Replace archives that are already there.")
@click.option(
    "--no-texts", is_flag=True, help="Read answers from the texts, but do not keep the texts."
)
@heavy
def load(
    sources: tuple[str, ...],
    db: str,
    mapping: tuple[tuple[str, str], ...],
    replace: bool,
    no_texts: bool,
    threads: int | None,
    memory: str | None,
    **options: Any,
) -> None:
    """Load attempts from files, folders or globs, all or nothing.

    Example: budget-audit load traces/ more/*.jsonl.gz --db audit.duckdb
    """
    from audit import loading as module
    from audit.engine import LOADED_ROW_GROUP
    from audit.provenance import simulated_note

    show = bar("load")
    limits = {"threads": threads, "memory": memory, "row_group": LOADED_ROW_GROUP}
    with opened(db, write=True, **limits) as con:
        summary = module.load(
            con,
            sources,
            replace=replace,
            texts=not no_texts,
            mapping=dict(mapping),
            **options,
            progress=(lambda done, total, label: show(label, done, total)) if show else None,
        )
        simulated = simulated_note(con)
    for archive in summary.archives:
        counted = f"{archive.attempts:,} attempts at {archive.problems:,} problems"
        click.echo(f"{one_line(archive.archive)}: {counted}")
    click.echo(f"{summary.rows:,} rows of {summary.files:,} file(s) in {db}")
    for note in [*summary.notes, *([simulated] if simulated else [])]:
        click.echo(f"note: {one_line(note)}", err=True)
    if summary.replays_dropped:
        click.echo("The replays are stale; run 'budget-audit replay' again.", err=True)


@main.command()
@click.argument("sources", nargs=-1, required=True)
@reading
def describe(
    sources: tuple[str, ...], mapping: tuple[tuple[str, str], ...], **options: Any
) -> None:
    """Tell what sources hold and what they lack, before anything is loaded.

    Example: budget-audit describe logs/ --archive my-model
    """
    from audit import describe as module

    click.echo(module.describe(sources, mapping=dict(mapping), **options), nl=False)


@main.command()
@database
@click.option(
    "--budgets",
    type=Tokens(),
    default="4k,8k,16k,32k",
    show_default=True,
    help="Completion-token budgets.",
)
@click.option(
    "--caps",
    type=Tokens(),
    default="8,16,32",
    show_default=True,
    help="Caps on the number of attempts.",
)
@click.option(
    "--primary-cap",
    type=int,
    default=16,
    show_default=True,
    help="The cap the tables use; always among the caps.",
)
@click.option(
    "--orders",
    type=int,
    default=20,
    show_default=True,
    help="Random orders per problem; 0 replays the canonical order only.",
)
@click.option("--order-seed", type=int, default=20260904, show_default=True)
@click.option(
    "--primary-selector",
    default="majority",
    show_default=True,
    help="The selector the tables use.",
)
@click.option(
    "--replicates",
    type=int,
    default=5000,
    show_default=True,
    help="Bootstrap replicates; 0 leaves the intervals empty.",
)
@click.option("--bootstrap-seed", type=int, default=20260905, show_default=True)
@click.option("--rules", metavar="DIR", help="A folder of your own rules, one .sql file each.")
@click.option(
    "--selectors", metavar="DIR", help="A folder of your own selectors, one .sql file each."
)
@heavy
def replay(db: str, threads: int | None, memory: str | None, **settings: Any) -> None:
    """Replay every order under every cap, budget and rule.

    Example: budget-audit replay --budgets 2k,4k,8k --caps 16 --orders 50
    """
    from audit import engine

    if not Path(db).exists():
        raise AuditError(f"{db}: no such database; make it with 'budget-audit load'")
    limits = {"threads": threads, "memory": memory, "row_group": engine.REPLAYED_ROW_GROUP}
    with opened(db, write=True, **limits) as con:
        engine.replay(con, progress=bar("replay"), **settings)
        ((replays,),) = con.execute("select count(*) from stops").fetchall()
    click.echo(f"{replays:,} replays in {db}")


@main.command()
@database
@click.option("--out", required=True, metavar="DIR", help="Where the report goes.")
@click.option("--format", "fmt", default="html", show_default=True, help="Any of html,md,tex,csv.")
@priced
@heavy
def report(
    db: str,
    out: str,
    fmt: str,
    price_input: float | None,
    price_output: float | None,
    threads: int | None,
    memory: str | None,
) -> None:
    """Write the whole report: findings, figures, tables, provenance.

    Example: budget-audit report --db audit.duckdb --out report --format html,csv
    """
    from audit.prices import prices
    from audit.report import report as write_report

    money = prices(price_input, price_output)
    wanted = [part.strip() for part in fmt.split(",") if part.strip()]
    with opened(db, threads=threads, memory=memory) as con:
        for path in write_report(con, Path(out), wanted, money):
            click.echo(str(path))


@main.command()
def tables() -> None:
    """List the tables and what a row of each means."""
    from audit.engine import table_names, table_purpose

    width = max(len(name) for name in table_names())
    for name in table_names():
        click.echo(f"{name:{width}}  {table_purpose(name)}")


@main.command()
@click.argument("name")
@database
@formats()
@priced
@heavy
def table(
    name: str,
    db: str,
    fmt: str,
    price_input: float | None,
    price_output: float | None,
    threads: int | None,
    memory: str | None,
) -> None:
    """Print one table.

    Example: budget-audit table main --format csv
    """
    from audit import prices
    from audit.provenance import notes
    from audit.report.data import settings
    from audit.report.words import empty_reason

    money = prices.prices(price_input, price_output)
    count_tokens(db, name, threads=threads, memory=memory)
    with opened(db, threads=threads, memory=memory) as con:
        found = prices.table(con, name, money)
        show_table(found, fmt, name)
        if not found.num_rows:
            # A table of the loaded records alone has no settings yet.
            with contextlib.suppress(AuditError):
                click.echo(empty_reason(name, settings(con)), err=True)
        click.echo(one_line(notes(con)), err=True)


def count_tokens(db: str, name: str, *, threads: int | None, memory: str | None) -> None:
    """Tokenize what a table still waits for; only then is the database opened for writing."""
    from audit import engine, tokens

    with opened(db, threads=threads, memory=memory) as con:
        is_waiting = engine.waiting_events(con, name) > 0
    if is_waiting:
        with opened(db, write=True, threads=threads, memory=memory) as con:
            tokens.tokenize(con, threads=threads, progress=bar("tokenize"))


@main.command(context_settings={"ignore_unknown_options": True})
@click.argument("name_or_sql", required=False)
@database
@click.option(
    "--param",
    "params",
    type=Pair(),
    multiple=True,
    metavar="NAME=VALUE",
    help="A value for $NAME in the query.",
)
@formats()
@click.option(
    "--timeout", type=float, default=60, show_default=True, help="Seconds before it is stopped."
)
@heavy
def query(
    name_or_sql: str | None,
    db: str,
    params: tuple[tuple[str, str], ...],
    fmt: str,
    timeout: float,
    threads: int | None,
    memory: str | None,
) -> None:
    """Run a named query, a .sql file or SQL text, read only; without one, list the named queries.

    Example: budget-audit query "select rule, avg(completion_cost) from replays group by rule"
    """
    from audit import querying as module
    from audit.provenance import simulated_note

    if name_or_sql is None:
        named = module.named_queries()
        width = max(len(known.name) for known in named)
        for known in named:
            click.echo(f"{known.name:{width}}  {known.question}")
        return
    with opened(db, threads=threads, memory=memory) as con:
        text = module.answer(
            con, name_or_sql, dict(params), fmt=fmt, timeout=timeout, give_up=give_up
        )
        note = simulated_note(con)
    click.echo(text, nl=False)
    if note:
        click.echo(one_line(note), err=True)


@main.command()
@click.argument("names", nargs=-1)
@database
@click.option("--out", required=True, metavar="DIR", help="Where the files go.")
@click.option(
    "--format", "fmt", type=click.Choice(("csv", "parquet")), default="csv", show_default=True
)
@priced
@heavy
def export(
    names: tuple[str, ...],
    db: str,
    out: str,
    fmt: str,
    price_input: float | None,
    price_output: float | None,
    threads: int | None,
    memory: str | None,
) -> None:
    """Write tables and relations to files; without a name, every table.

    Example: budget-audit export main replays selections --out csv
    """
    from audit.export import export as write_files
    from audit.export import left_out
    from audit.prices import prices
    from audit.provenance import notes

    money = prices(price_input, price_output)
    for name in names:
        count_tokens(db, name, threads=threads, memory=memory)
    if not names:
        # Every table there can be: without the extra, one is left out and named below.
        with contextlib.suppress(AuditError):
            count_tokens(db, "prefix_boxes", threads=threads, memory=memory)
    with opened(db, threads=threads, memory=memory) as con:
        for path in write_files(con, Path(out), names, fmt, money):
            click.echo(str(path))
        for name in [] if names else left_out(con):
            hint = f"{name} is left out: it needs 'budget-audit tokenize --db {db}' first"
            click.echo(hint, err=True)
        click.echo(one_line(notes(con)), err=True)


@main.command()
@database
@formats()
@heavy
def check(db: str, fmt: str, threads: int | None, memory: str | None) -> None:
    """Verify the invariants and controls on the loaded data; exit 1 when one fails.

    Example: budget-audit check --db audit.duckdb
    """
    from audit import check as module

    found = module.check(db, threads=threads, memory=memory)
    show_table(found, fmt)
    failed = sum(count > 0 for count in found["violations"].to_pylist())
    click.echo(f"{found.num_rows} checks, {failed} failed", err=True)
    if failed:
        raise click.exceptions.Exit(1)


@main.command()
@database
@click.option(
    "--published",
    metavar="FILE",
    help="Published values in the same layout (default: the study's).",
)
@formats()
@heavy
def compare(
    db: str, published: str | None, fmt: str, threads: int | None, memory: str | None
) -> None:
    """Put every published value beside the computed one; exit 1 when the study's data differ.

    Example: budget-audit compare --format csv
    """
    from audit import compare as module
    from audit.engine import require_replays
    from audit.engine import table as table_of

    with opened(db, threads=threads, memory=memory) as con:
        require_replays(con)
        archives = dict(
            con.execute("select archive, count(*) from attempts group by archive").fetchall()
        )
    if module.is_study(archives):
        # Without a tokenizer the other tables are compared all the same.
        with contextlib.suppress(AuditError):
            count_tokens(db, "prefix_boxes", threads=threads, memory=memory)
    with opened(db, threads=threads, memory=memory) as con:
        found = module.compare(
            lambda name: table_of(con, name), archives, Path(published) if published else None
        )
    is_display = fmt not in ("csv", "json")
    if not is_display or found.is_study or len(found.missing) < len(found.rows):
        show_table(module.comparison_table(found, compact=is_display), fmt)
        if is_display:
            click.echo()
    if is_display:
        show_table(module.summary_table(found), fmt)
    verdict, status = module.verdict(found)
    click.echo(one_line(verdict), err=True)
    if status:
        raise click.exceptions.Exit(status)


@main.command()
@database
@click.option("--archive", help="Default: the first.")
@click.option("--competition", help="Default: the first.")
@click.option("--question", "--problem", type=int, help="The question_id; default: the first.")
@click.option("--repeat", type=int, help="The order, 0 the canonical one; default: the first.")
@click.option("--budget", type=Tokens(), help="Default: the smallest.")
@click.option("--cap", type=int, help="Default: the primary cap.")
@click.option(
    "--out",
    default="timeline.svg",
    show_default=True,
    metavar="FILE",
    help="Where the picture goes: .svg, .pdf, .png or .html.",
)
def timeline(
    db: str,
    archive: str | None,
    competition: str | None,
    question: int | None,
    repeat: int | None,
    budget: list[int] | None,
    cap: int | None,
    out: str,
) -> None:
    """Draw one replay on a token axis: what each rule returns and pays.

    Example: budget-audit timeline --competition AIME24 --question 3 --repeat 5 --budget 4k
    """
    from audit.engine import require_replays
    from audit.report import save_figure
    from audit.report import timeline as draw

    if budget is not None and len(budget) != 1:
        raise AuditError("--budget: a picture shows one budget")
    with opened(db) as con:
        require_replays(con)
        chosen = budget[0] if budget else None
        chart = draw(con, archive, competition, question, repeat, chosen, cap)
        click.echo(str(save_figure(chart, Path(out))))


@main.command()
@database
@click.option(
    "--tokenizer",
    default="o200k_harmony",
    show_default=True,
    help="A tiktoken encoding, or the path of a Hugging Face tokenizer.json.",
)
@click.option("--all", "everything", is_flag=True, help="Every text, not only boundary attempts.")
@heavy
def tokenize(
    db: str, tokenizer: str, everything: bool, threads: int | None, memory: str | None
) -> None:
    """Count the tokens that prefix_boxes needs; what is counted already is not counted again.

    Example: budget-audit tokenize --db audit.duckdb
    """
    from audit import tokens

    if not Path(db).exists():
        raise AuditError(f"{db}: no such database; make it with 'budget-audit load'")
    with opened(db, write=True, threads=threads, memory=memory) as con:
        try:
            found = tokens.tokenize(
                con, tokenizer, everything=everything, threads=threads, progress=bar("tokenize")
            )
        except KeyboardInterrupt:
            click.echo("error: interrupted; run it again to go on from what is counted", err=True)
            raise click.exceptions.Exit(130) from None
    click.echo(
        f"{found.tokens:,} tokens of {found.attempts:,} attempts counted with {found.encoding}; "
        f"{found.reconciled:,} reconcile with their recorded counts"
    )


@main.command()
@click.argument("name", type=click.Choice(("scorio-trace",)))
@click.option("--out", required=True, metavar="DIR", help="Where the files go.")
@click.option("--revision", help="Another commit, tag or branch than the study's.")
@click.option(
    "--archive",
    "archives",
    multiple=True,
    metavar="NAME",
    help="Other archives than the study's two.",
)
@click.option("--repo", help="Another dataset of the hub, owner/name.")
def fetch(
    name: str, out: str, revision: str | None, archives: tuple[str, ...], repo: str | None
) -> None:
    """Fetch the study's archive from the hub, resumed and checked (extra hub).

    Example: budget-audit fetch scorio-trace --out scorio-trace
    """
    from audit import fetch as module

    fetched = module.fetch(
        Path(out),
        repo=repo or module.REPO,
        revision=revision or module.REVISION,
        archives=archives or module.ARCHIVES,
        progress=bar("fetch"),
    )
    for file in fetched:
        click.echo(f"{file.path}  {file.bytes:,} bytes{'' if file.is_new else '  (was here)'}")


@main.command()
@click.argument("name")
def sql(name: str) -> None:
    """Print the rendered SQL of a stage, rule, selector or table.

    Example: budget-audit sql choices
    """
    from audit.engine import render, stage_names

    if name not in stage_names():
        raise AuditError(f"no stage '{name}'; there are {', '.join(stage_names())}")
    click.echo(render(name))


if __name__ == "__main__":
    main()
