"""The commands: each calls one function of the package and prints what it returns."""

import os
from typing import Any

import click

import audit
from audit import __version__
from audit.cli import completion
from audit.cli.exits import Cli
from audit.cli.options import (
    announce,
    bar,
    database,
    formats,
    given_options,
    heavy,
    list_names,
    no_color,
    print_result,
    show,
    show_notes,
    takes_options,
)
from audit.options import AUTO, Asked, Counting, Exported, Limits, OneReplay, Reading, Tabled
from audit.text import one_line


@click.group(
    cls=Cli,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "color": False if os.environ.get("NO_COLOR") else None,
    },
)
@click.version_option(__version__, prog_name="budget-audit")
@no_color
def main() -> None:
    """What did this budget really buy? Replay recorded attempts under a cumulative budget."""


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
def simulate(out: str, **options: Any) -> None:
    """Write an archive of the study's shape, labelled as simulated.

    Example: budget-audit simulate --out archives --problems 5 --attempts 16
    """
    for path in audit.simulate(out, progress=bar("simulate"), **options):
        click.echo(f"{path}  (simulated)")


@main.command()
@click.argument("sources", nargs=-1, required=True)
@database
@click.option("--replace", is_flag=True, help="Replace archives that are already there.")
@click.option(
    "--no-texts", is_flag=True, help="Read answers from the texts, but do not keep the texts."
)
@takes_options(Reading, Limits)
def load(sources: tuple[str, ...], db: str, replace: bool, no_texts: bool, **options: Any) -> None:
    """Load attempts from files, folders or globs, all or nothing.

    Example: budget-audit load traces/ more/*.jsonl.gz --db audit.duckdb
    """
    given = given_options(options)
    loaded = audit.load(
        db, sources, replace=replace, texts=not no_texts, progress=bar("load"), **given
    )
    for row in loaded:
        counted = f"{row['attempts']:,} attempts at {row['problems']:,} problems"
        click.echo(f"{one_line(row['archive'])}: {counted}")
    print_result(loaded)


@main.command()
@database
@click.option(
    "--answer",
    metavar="KIND",
    required=True,
    help="What the answer is: boxed, archive (the source's own), none or regex:PATTERN.",
)
@click.option("--force", is_flag=True, help="Go on where an archive has no answer of that kind.")
@heavy
def answers(db: str, answer: str, **options: Any) -> None:
    """Read the answers again as another kind, from what was loaded.

    Example: budget-audit answers --db audit.duckdb --answer archive
    """
    print_result(audit.answers(db, answer, **options))


@main.command()
@database
@click.option(
    "--exit", required=True, metavar="NAME[:N]|FILE", help="agreement, window, or a .sql file."
)
@click.option("--archive", metavar="NAME", help="Default: every one with asked checkpoints.")
@click.option("--as", "new", metavar="NAME", help="The new archive's name; default: 'NAME, EXIT'.")
@heavy
def leave(db: str, exit: str, **options: Any) -> None:
    """Derive archives whose attempts leave early, at a checkpoint.

    Example: budget-audit leave --exit agreement:5
    """
    show(audit.leave(db, exit, **options), "table")


@main.command()
@click.argument("sources", nargs=-1, required=True)
@takes_options(Reading)
@click.option("--all", is_flag=True, help="Every column with its origin, and what is unused.")
@click.option("--write", metavar="FILE", help="Write what is known as a select for load --sql.")
def describe(sources: tuple[str, ...], **options: Any) -> None:
    """Tell whether sources load, and with what command. Nothing is loaded yet.

    Example: budget-audit describe logs/ --archive my-model
    """
    click.echo(audit.describe(sources, **given_options(options)), nl=False)


@main.command()
@database
@takes_options(Asked, Limits)
def replay(db: str, **options: Any) -> None:
    """Replay every order under every cap, budget and rule.

    What is not given is as in the last replay of the database, or as in brackets.

    Example: budget-audit replay --budgets 2k,4k,8k --caps 16 --orders 50
    """
    given, progress = given_options(options), bar("replay")
    if given.get("orders") == "auto":
        progress = announce(AUTO, progress)
    print_result(audit.replay(db, progress=progress, **given))


@main.command()
@click.option(
    "--db", expose_value=False, metavar="FILE", help="Every database has the same tables."
)
def tables() -> None:
    """List the tables and what a row of each means.

    Example: budget-audit tables
    """
    list_names((row["table"], row["a row"]) for row in audit.tables())


@main.command()
@click.argument("name", shell_complete=completion.tables)
@database
@formats()
@takes_options(Tabled)
def table(name: str, db: str, fmt: str, wide: bool, **options: Any) -> None:
    """Print one table.

    Example: budget-audit table main --format csv
    """
    show(audit.table(db, name, progress=bar("tokenize"), **options), fmt, wide)


@main.command()
@click.argument("names", nargs=-1, shell_complete=completion.relations)
@database
@click.option("--out", required=True, metavar="DIR", help="Where the files go.")
@click.option("--format", type=click.Choice(("csv", "parquet")), default="csv", show_default=True)
@takes_options(Exported)
def export(names: tuple[str, ...], db: str, out: str, **options: Any) -> None:
    """Write tables and relations to files; without a name, all tables.

    Example: budget-audit export main replays selections --out csv
    """
    written = audit.export(db, out, names, progress=bar("export"), **options)
    for row in written:
        click.echo(row["file"])
    show_notes(*written.notes)


@main.command()
@database
@click.option("--out", required=True, metavar="FILE", help="Where the card goes.")
@click.option(
    "--format",
    type=click.Choice(("json", "every_eval_ever")),
    default="json",
    show_default=True,
    help="The card by its own schema, or a record of Every Eval Ever for each archive.",
)
@click.option(
    "--archive",
    multiple=True,
    metavar="NAME",
    shell_complete=completion.archives,
    help="Only these archives.",
)
@heavy
def card(db: str, out: str, **options: Any) -> None:
    """Write what a budget figure must state, as JSON.

    Example: budget-audit card --out card.json
    """
    written = audit.card(db, out, **options)
    for row in written:
        click.echo(row["file"])
    show_notes(*written.notes)


@main.command()
@database
@click.option(
    "--expect",
    multiple=True,
    metavar="TEXT|FILE",
    help="A threshold such as 'archive, budget, rule: accuracy >= 60', or a file of them.",
)
@formats("junit")
@heavy
def check(db: str, expect: tuple[str, ...], fmt: str, wide: bool, **limits: Any) -> None:
    """Verify the invariants and controls; exit 1 when one fails.

    Example: budget-audit check --expect 'my-model, 8k, strict: accuracy >= 60'
    """
    result = audit.check(db, expect=expect, progress=bar("check"), **limits)
    show(result, fmt, wide)
    if any(row["violations"] for row in result):
        raise click.exceptions.Exit(1)


@main.command()
@database
@click.option(
    "--published",
    metavar="FILE",
    help="Published values in the same layout (default: the study's).",
)
@formats()
@takes_options(Counting)
def compare(db: str, published: str | None, fmt: str, wide: bool, **options: Any) -> None:
    """Put every published value beside the computed one. Exit 1 when the study's data differ.

    Example: budget-audit compare --format csv
    """
    comparison = audit.compare(db, published, progress=bar("tokenize"), **options)
    if fmt in ("csv", "json"):
        show(comparison, fmt)
    else:
        if comparison.compact:
            show(comparison.compact, fmt, wide)
            click.echo()
        show(comparison.summary, fmt, wide)
        show_notes(*comparison.notes)
    if comparison.status:
        raise click.exceptions.Exit(comparison.status)


@main.command()
@database
@click.option("--archive", shell_complete=completion.archives, help="Default: the first.")
@takes_options(OneReplay)
@click.option(
    "--out",
    default="timeline.svg",
    show_default=True,
    metavar="FILE",
    help="Where the picture goes: .svg, .pdf, .png or .html.",
)
def timeline(db: str, out: str, **options: Any) -> None:
    """Draw one replay on an axis of its costs, under every rule.

    Example: budget-audit timeline --competition AIME24 --question 3 --repeat 5 --budget 4k
    """
    drawn = audit.timeline(db, out, **options)
    click.echo(str(drawn))
    show_notes(*drawn.notes)


@main.command()
@database
@click.option(
    "--tokenizer",
    default="o200k_harmony",
    show_default=True,
    help="A tiktoken encoding, or the path of a Hugging Face tokenizer.json.",
)
@click.option("--all", "everything", is_flag=True, help="Every text, not only boundary attempts.")
@click.option(
    "--checkpoints", is_flag=True, help="Keep every complete box of a text as a checkpoint instead."
)
@heavy
def tokenize(db: str, tokenizer: str, **options: Any) -> None:
    """Count the tokens that prefix_boxes needs. What is counted already is not counted again.

    Example: budget-audit tokenize --db audit.duckdb
    """
    try:
        print_result(audit.tokenize(db, tokenizer, progress=bar("tokenize"), **options))
    except KeyboardInterrupt:
        click.echo("error: interrupted; run it again to go on from what is counted", err=True)
        raise click.exceptions.Exit(130) from None


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
@click.option(
    "--repo", help="Another dataset of the hub, owner/name, or a bucket, hf://buckets/owner/name."
)
def fetch(name: str, out: str, **options: Any) -> None:
    """Fetch the study's archive, resumed and checked (extra hub).

    Example: budget-audit fetch scorio-trace --out scorio-trace
    """
    for row in audit.fetch(out, progress=bar("fetch"), **options):
        was_here = "" if row["is_new"] else "  (was here)"
        click.echo(f"{row['file']}  {row['bytes']:,} bytes{was_here}")


@main.command()
@click.argument("name")
def sql(name: str) -> None:
    """Print the rendered SQL of a stage, rule, selector or table.

    Example: budget-audit sql main
    """
    click.echo(audit.sql(name))
