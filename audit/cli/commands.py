"""The commands: each opens the database, calls one function and prints what it returns."""

import contextlib
from pathlib import Path
from typing import Any

import click

from audit import __version__
from audit.cli.exits import Cli, give_up
from audit.cli.options import (
    Pair,
    Tokens,
    bar,
    database,
    formats,
    heavy,
    opened,
    priced,
    reading,
    show_table,
)
from audit.errors import AuditError
from audit.text import one_line


@click.group(
    cls=Cli,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="budget-audit")
def main() -> None:
    """What did this token budget really buy? Replay recorded attempts under a cumulative cap."""


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
    from audit.load.load import load
    from audit.report import report
    from audit.report.drawing import has_figures
    from audit.study.simulate import simulate

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
    from audit.study import simulate as module

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
    from audit.database import LOADED_ROW_GROUP
    from audit.load import load as module
    from audit.load.provenance import simulated_note

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
    from audit.load import describe as module

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
    from audit import database, engine

    if not Path(db).exists():
        raise AuditError(f"{db}: no such database; make it with 'budget-audit load'")
    limits = {"threads": threads, "memory": memory, "row_group": database.REPLAYED_ROW_GROUP}
    with opened(db, write=True, **limits) as con:
        engine.replay(con, progress=bar("replay"), **settings)
        ((replays,),) = con.execute("select count(*) from problem_costs").fetchall()
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
    from audit.output.prices import prices
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
    from audit.load.provenance import notes
    from audit.output import prices
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
    from audit.load.provenance import simulated_note
    from audit.query import run as module

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
    from audit.engine import needs_texts
    from audit.load.provenance import notes
    from audit.output.export import export as write_files
    from audit.output.export import left_out
    from audit.output.prices import prices

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
            if needs_texts(con, name):
                hint = f"{name} is left out: it needs the texts, and a run keeps none"
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
    from audit.engine import check as module

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
    from audit.database import require_replays
    from audit.engine import table as table_of
    from audit.study import compare as module

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
    from audit.database import require_replays
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
    from audit.study import fetch as module

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
