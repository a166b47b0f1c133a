"""The public functions, which the commands call too.

A database is the path of a file or an open connection, which stays open. `threads` and `memory`
apply to a file that is opened; a connection keeps its own limits.
"""

import contextlib
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import pyarrow as pa

from audit import database, engine
from audit.database.schema import read_fact
from audit.engine.plugins import KINDS, edited_plugins
from audit.engine.prices import find_price_notes, read_prices
from audit.engine.quality import find_quality_notes
from audit.engine.settings import ONE_RUN
from audit.errors import AuditError
from audit.load import provenance
from audit.options import (
    Asked,
    Counting,
    Exported,
    Limits,
    Names,
    OneProblem,
    OneReplay,
    Reading,
    Sources,
    Tabled,
    public,
    read_names,
    split_names,
)
from audit.output import filters
from audit.output.captions import AVERAGED, add_caption, advisory_notes, caption, order_line
from audit.output.choose import choose
from audit.output.display import text_table
from audit.output.headings import replayed_unit, set_width
from audit.output.picture import Picture
from audit.output.result import Result, Text
from audit.progress import Progress
from audit.study.fetch import download_sources
from audit.text import not_there
from audit.units import UNITS, write_amount

if TYPE_CHECKING:
    from audit.query.show import Problem

Database = str | Path | duckdb.DuckDBPyConnection
ONE_RUN_NOTE = (
    "every problem has one attempt, so the defaults are cap 1, one order and no policies; every "
    "run then goes to its end under advisory"
)
STALE = "The replays are stale; run 'budget-audit replay' again."
SIMULATED = "select distinct archive from sources where simulated"
NO_LIMITS = Limits()


@contextmanager
def _open(
    db: Database,
    limits: Limits = NO_LIMITS,
    *,
    write: bool = False,
    row_group: int | None = None,
    sandbox: bool = False,
    may_create: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield the given connection, or open the file and close it; only a load creates it."""
    if isinstance(db, duckdb.DuckDBPyConnection):
        database.check_schema(db)
        if not may_create and not database.relations(db):
            raise AuditError("the connection's database holds no attempts; load some, or 'use' it")
        with engine.explain_other_replays(db, write):
            yield db
        return
    if write and not may_create and not Path(db).exists():
        raise AuditError(f"{db}: no such database; make it with 'budget-audit load'")
    with (
        database.open_database(
            db,
            write=write,
            row_group=row_group,
            sandbox=sandbox,
            threads=limits.threads,
            memory=limits.memory,
        ) as con,
        engine.explain_other_replays(con, write),
    ):
        yield con


@public
def describe(
    sources: Sources,
    *,
    all: bool = False,
    write: str | Path | None = None,
    reading: Reading,
) -> Text:
    """Tell whether sources load, with what command, and what they hold, before anything is loaded.

    all: every column with its origin, and what is unused
    write: a file for the select of what is known, to be edited and loaded with --sql
    """
    from audit.load.describe import describe as description

    path = None if write is None else str(write)
    return Text(description(download_sources(sources), all=all, write=path, reading=reading))


@public
def load(
    db: Database,
    sources: Sources,
    *,
    replace: bool = False,
    texts: bool = True,
    progress: Progress | None = None,
    reading: Reading,
    limits: Limits,
) -> Result:
    """Load files, folders or globs, all or nothing, and say what came in: a row per archive.

    db: the database, a file (made if it is not there) or a connection
    replace: replace archives that are already there
    texts: keep the generated texts; answers are read from them either way
    """
    from audit.load.load import load as load_sources

    with _open(db, limits, write=True, row_group=database.LOADED_ROW_GROUP, may_create=True) as con:
        summary = load_sources(
            con,
            download_sources(sources),
            replace=replace,
            texts=texts,
            reading=reading,
            progress=progress,
        )
        notes = provenance.list_load_notes(con, summary.notes)
        notes += find_quality_notes(con, summary.archives["archive"].to_pylist())
    notes += [STALE] if summary.replays_dropped else []
    caption = f"{summary.rows:,} rows of {summary.files:,} file(s) in {_name_database(db)}"
    return Result(summary.archives, caption=caption, notes=notes)


@public
def answers(db: Database, answer: str, *, force: bool = False, limits: Limits) -> Result:
    """Read the answers of all archives again, as another kind, from what was loaded.

    answer: what the answer is: boxed, archive (the source's own), none or regex:PATTERN
    force: go on where an archive has no answer of that kind
    """
    from audit.load.reread import reread

    with _open(db, limits, write=True, row_group=database.LOADED_ROW_GROUP) as con:
        outcome = reread(con, answer, force=force)
        notes = [*find_quality_notes(con), *([STALE] if outcome.replays_dropped else [])]
    if outcome.derived_removed:
        notes.append(f"{outcome.derived_removed:,} derived archives are gone; run leave again")
    caption = (
        f"{outcome.answered:,} of {outcome.attempts:,} attempts have an answer by {answer}; "
        f"{outcome.answered_before:,} had one before"
    )
    rows = _to_row(outcome, "attempts", "answered", "answered_before")
    return Result(rows, caption=caption, notes=notes)


@public
def leave(
    db: Database,
    exit: str,
    *,
    archive: str | None = None,
    new: str | None = None,
    limits: Limits,
) -> Result:
    """Derive archives whose attempts leave early, at a checkpoint.

    exit: the exit: agreement[:N], window[:N] or a .sql file
    archive: the archive to derive from (default: every one with asked checkpoints)
    new: the name of the derived archive (default: the archive, the exit)
    """
    from audit.load.leave import leave as derive

    with _open(db, limits, write=True, row_group=database.LOADED_ROW_GROUP) as con:
        counts, dropped = derive(con, exit, archive, new)
    notes = [
        f"{row['never_asked']:,} attempts of {row['derived_from']} have no asked checkpoint and "
        "stay as they are"
        for row in counts.to_pylist()
        if row["never_asked"]
    ]
    return Result(counts, notes=[*notes, *([STALE] if dropped else [])])


def _to_row(counted: Any, *names: str) -> pa.Table:
    """Return a table with one row, the fields of these names."""
    return pa.table({name: [getattr(counted, name)] for name in names})


def _name_database(db: Database) -> str:
    """Return the path of a database file, or words for a connection."""
    return "the database" if isinstance(db, duckdb.DuckDBPyConnection) else str(db)


@public
def replay(
    db: Database, *, progress: Progress | None = None, settings: Asked, limits: Limits
) -> Result:
    """Replay every order under every cap, budget and rule, and return the settings used.

    What is not given is as in the last replay of the database, or the study's.
    """
    with _open(db, limits, write=True, row_group=database.REPLAYED_ROW_GROUP) as con:
        asked: dict[str, Any] = {**settings, **_read_filters(con, settings)}
        if asked.get("orders") == "auto":
            done, chosen = engine.replay_enough(con, asked, progress)
        else:
            done = engine.replay(con, asked, progress=progress, is_users=True)
            chosen = None
        used = con.sql("from settings order by key").to_arrow_table()
        ((replays,),) = con.execute(engine.render("replay_count")).fetchall()
        notes = [
            chosen or "",
            provenance.replayed_note(con) or "",
            *find_quality_notes(con, moment="replay"),
        ]
        notes += [ONE_RUN_NOTE] if read_fact(con, ONE_RUN) else []
        notes += [
            f"{path} was edited: the replay runs the text of the last one; read it with --{kind}"
            for kind in KINDS
            for path in edited_plugins(con, kind)
        ]
    if done.settings.prices and done.settings.unit == "money" and "prices" not in settings:
        notes.append("counted by the prices of an earlier replay; --prices none forgets them")
    notes += find_price_notes(done.settings.prices)
    if done.has_usual_budgets:
        unit = done.settings.unit
        named = [
            write_amount(Fraction(budget, UNITS[unit].scale), unit)
            for budget in done.settings.budgets
        ]
        notes.append(
            f"budgets chosen so that 10, 25, 50, 75 and 90 % of the attempts cost no more: "
            f"{', '.join(named)}; name others with --budgets"
        )
    return Result(used, caption=f"{replays:,} replays in {_name_database(db)}", notes=notes)


def _read_filters(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Resolve the filters of a replay to names in the database, and read its file of prices."""
    database.require_attempts(con)
    only = filters.read_filter(
        con, asked.get("archives", ()), asked.get("competitions", ()), asked.get("problems") or None
    )
    values: dict[str, Any] = {**asdict(only), "prices": read_prices(asked.get("prices", ""))}
    return {name: value for name, value in values.items() if name in asked}


def tables() -> Result:
    """List the tables and what a row of each means."""
    rows = ((name, engine.describe_table(name)) for name in engine.list_tables())
    return Result(text_table(("table", "a row"), rows))


@public
def table(db: Database, name: str, *, progress: Progress | None = None, asked: Tabled) -> Result:
    """Return one table of the study.

    name: the table's name, one of tables()
    """
    _require_table(name)
    if asked.tokenize:
        _count_tokens(db, [name], asked, progress)
    with _open(db, asked) as con:
        only = filters.read_filter(con, asked.archive, asked.competition, asked.problems)
        rows = add_caption(con, name, engine.compute_table(con, name), only.archives)
        notes = [] if rows.num_rows else [_explain_empty(con, name)]
        rows = choose(filters.filter_rows(name, rows, only), where=asked.where)
        notes += [only.note(), *_show_notes(con, rows)]
        notes.append(provenance.notes(con, has_selectors="selector" in rows.column_names))
        notes += [order_line(con, only.archives)] if name in AVERAGED else []
        notes += advisory_notes(name, rows)
        notes += [] if name == "data_quality" else _quality_notes(con, rows)
        rows = choose(rows, asked.columns, asked.sort, asked.limit, order=asked.order)
        return Result(set_width(rows, asked.width), name, notes=notes)


def _quality_notes(con: duckdb.DuckDBPyConnection, rows: pa.Table) -> list[str]:
    """Return the quality warnings on the archives and budgets in these rows, or on all."""

    def values(*names: str) -> set[Any]:
        present = [rows[name].to_pylist() for name in names if name in rows.column_names]
        return {value for column in present for value in column}

    archives = values("archive", "other") if "archive" in rows.column_names else None
    budgets = values("budget", "advisory_budget", "strict_budget")
    return find_quality_notes(con, archives, moment="table", budgets=budgets)


def _show_notes(con: duckdb.DuckDBPyConnection, rows: pa.Table) -> list[str]:
    """Return the command that shows the first row's attempts, if rows are single problems."""
    from audit.query.show import find_problem

    key = ("archive", "competition", "question_id")
    if not rows.num_rows or not set(key) <= set(rows.column_names):
        return []
    (first,) = rows.slice(0, 1).select(key).to_pylist()
    return [_show_note(find_problem(con, *first.values()))]


def _show_note(problem: "Problem") -> str:
    """Write the command that shows the attempts of a problem."""
    return (
        f"what was written: budget-audit show --archive {shlex.quote(problem.archive)} "
        f"--competition {shlex.quote(problem.competition)} --question {shlex.quote(problem.name)}"
    )


def _require_table(name: str) -> None:
    """Refuse a name that no table has."""
    if not engine.is_table(name):
        raise AuditError(not_there("table", name, engine.list_tables()))


def _explain_empty(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Explain why a table has no rows; return an empty text before the first replay."""
    from audit.report.captions import empty_reason
    from audit.report.data import read_settings

    with contextlib.suppress(AuditError):
        return empty_reason(name, read_settings(con))
    return ""


def _count_tokens(
    db: Database, names: Sequence[str], limits: Limits, progress: Progress | None
) -> None:
    """Count tokens that tables need and lack; open the database for writing only then."""
    from audit import tokens

    with _open(db, limits) as con:
        is_waiting = any(engine.count_waiting_events(con, name) > 0 for name in names)
    if is_waiting:
        with _open(db, limits, write=True) as con:
            tokens.tokenize(con, threads=limits.threads, progress=progress)


def queries() -> Result:
    """List the named queries: the question that each answers, its parameters and defaults."""
    from audit.query.run import read_named_queries

    rows = (
        (entry.name, entry.question, ", ".join(map("=".join, entry.defaults.items())))
        for entry in read_named_queries()
    )
    return Result(text_table(("query", "question", "parameters"), rows))


@public
def query(
    db: Database,
    name_or_sql: str,
    params: Mapping[str, Any] | None = None,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    limits: Limits,
) -> Result:
    """Run a named query, a .sql file or SQL text, read only.

    A file is opened so that the SQL reaches nothing else; a connection is used as it is.

    name_or_sql: one of queries(), the path of a .sql file, or one statement that reads
    params: values for the $names of the statement
    limit: the most rows to return
    timeout: seconds before it is stopped
    """
    return run_query(db, name_or_sql, params, limits, limit=limit, timeout=timeout)[0]


def run_query(
    db: Database, name_or_sql: str, params: Mapping[str, Any] | None, limits: Limits, **more: Any
) -> tuple[Result, str]:
    """Run a query; return its result, and its text if `fmt` is given."""
    from audit.query.run import query as ask

    with _open(db, limits, sandbox=True) as con:
        answer = ask(con, name_or_sql, params, **more)
        kept = answer.table.num_rows
        caption = f"… {kept:,} of {answer.rows:,} rows" if kept < answer.rows else ""
        notes = _provenance_notes(con) if answer.reads_records else []
        return Result(answer.table, "", caption=caption, notes=notes), answer.text


def _provenance_notes(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the note on where answers, costs and labels came from, if the data are known."""
    with contextlib.suppress(duckdb.Error):
        return [provenance.notes(con, has_selectors=True)]
    return []


def query_sql(name_or_sql: str) -> str:
    """Return the SQL of a named query."""
    from audit.query.run import find_query

    return find_query(name_or_sql).sql


def schema(db: Database, name: str | None = None) -> Result:
    """List the relations of a database and what a row of each is, or the columns of one.

    db: the database, a file or a connection
    name: a relation or table whose columns to list
    """
    from audit.query.schema import schema as list_relations

    with _open(db) as con:
        rows = list_relations(con, name)
    # With a name its sentences are wrapped on a terminal; those of a query are cut.
    return Result(rows, "schema", caption=engine.describe_relation(name) if name else "")


@public
def show(
    db: Database,
    *,
    archive: str | None = None,
    seed: int | None = None,
    asked: OneProblem,
) -> Result | Text:
    """Return the attempts of one problem, or the text of one of them.

    archive: the archive (default: the first)
    seed: the attempt whose text to show
    """
    from audit.query.show import find_problem, list_attempts, read_text

    with _open(db) as con:
        found = find_problem(con, archive, asked.competition, asked.question)
        if seed is not None:
            return Text(read_text(con, found, seed))
        caption = f"archive {found.archive}, competition {found.competition}, question {found.name}"
        return Result(list_attempts(con, found), "", caption=caption, notes=_provenance_notes(con))


@public
def export(
    db: Database,
    out: str | Path,
    names: Names = (),
    *,
    format: Literal["csv", "parquet"] = "csv",
    progress: Progress | None = None,
    asked: Exported,
) -> Result:
    """Write tables and relations to files, a row of the result each; without a name, every table.

    out: the folder for the files
    names: tables and relations; none means every table
    format: the files' format
    """
    from audit.output.export import export as write_files

    table_names = read_names(names)
    if asked.tokenize:
        _count_tokens(db, table_names or engine.list_tables(), asked, progress)
    with _open(db, asked) as con:
        only = filters.read_filter(con, asked.archive, asked.competition, asked.problems)
        left_out: dict[str, str] = {}
        written = list(write_files(con, Path(out), table_names, format, only, progress, left_out))
        notes = [only.note()]
        if only.note() and left_out:
            notes.append(f"left out, as the filter cannot be applied: {', '.join(left_out)}")
        else:
            notes += [f"left out: {why}" for why in left_out.values()]
        if not written:
            raise AuditError("export: the filter leaves no table")
        notes.append(provenance.notes(con, has_selectors=True))
    return Result(text_table(["file"], ([str(path)] for path in written)), notes=notes)


@public
def check(
    db: str | Path,
    *,
    expect: Names = (),
    progress: Progress | None = None,
    limits: Limits,
) -> Result:
    """Verify the invariants and controls, and expectations if there are any: a row each.

    db: the database, a file
    expect: expectations such as 'archive, budget, rule: accuracy >= 60', or files of them
    """
    from audit.engine.check import check as verify
    from audit.output.expect import check_expectations, read_expectations

    expected = read_expectations(read_names(expect))
    rows = verify(db, **asdict(limits), progress=progress)
    notes = [
        f"failed: {row['check']}: {row['measured']}"
        for row in rows.to_pylist()
        if row["violations"] and row["measured"]
    ]
    if expected:
        with _open(db, limits) as con:
            more, failed = check_expectations(con, expected)
        rows, notes = pa.concat_tables([rows, more]), notes + failed
    count = sum(violations > 0 for violations in rows["violations"].to_pylist())
    return Result(rows, "check", caption=f"{rows.num_rows} checks, {count} failed", notes=notes)


@public
def report(
    db: Database,
    out: str | Path = "report",
    *,
    formats: Names = ("html",),
    title: str | None = None,
    texts: str | None = None,
    archive: Names | None = None,
    progress: Progress | None = None,
    limits: Limits,
) -> list[Path]:
    """Write the report, by default as a page to explore, offline; return its files.

    out: the folder for the report
    formats: any of html, md, tex and csv
    title: the report's title (default: the data's name)
    texts: 'some' puts what attempts wrote beside the page, up to 50 MB; 'all' without that limit
    """
    from audit.report import report as write_report

    with _open(db, limits) as con:
        only = filters.read_filter(con, read_names(archive or ())) if archive else None
        return write_report(
            con, Path(out), list(split_names(formats)), only, progress, title=title, texts=texts
        )


def figures() -> Result:
    """List the figures and what each shows."""
    from audit.report import FIGURES
    from audit.report.captions import FIGURES as CAPTIONS

    names = (*FIGURES, "timeline")
    rows = ((name, CAPTIONS[name][0].split(". ")[0].rstrip(".")) for name in names)
    return Result(text_table(("figure", "shows"), rows))


@public
def figure(
    db: Database,
    name: str,
    out: str | Path | None = None,
    *,
    archive: Names | None = None,
    order: Names | None = None,
    width: int | None = None,
    title: str | None = None,
    font: str | None = None,
    replayed: OneReplay,
) -> Picture:
    """Draw one figure for a paper; return its file, which a notebook shows, with a caption.

    Competition, question, repeat, budget and cap choose the replay of the timeline.

    name: the figure's name, one of figures()
    out: the picture: .svg, .pdf, .png or .html (default: the name as .svg)
    order: archives whose panels come first
    width: the whole width: 3.3in, 84mm, one or two (columns); in Python pixels, 96 an inch
    title: another title; an empty one for none
    font: the font of all text
    """
    from audit.report import FIGURES, Look, save_figure
    from audit.report.captions import figure_caption
    from audit.report.figures.drawing import PLAIN, check_font, check_suffix, fit_figure

    is_timeline = name == "timeline"
    if not is_timeline and name not in FIGURES:
        raise AuditError(not_there("figure", name, [*FIGURES, "timeline"]))
    if is_timeline and order:
        raise AuditError("--order: the timeline shows one archive; name it with --archive")
    given = [key for key, value in asdict(replayed).items() if value is not None]
    if given and not is_timeline:
        raise AuditError(f"--{given[0]}: only the timeline shows one replay")
    path = check_suffix(Path(out or f"{name}.svg"))
    look = Look(width or PLAIN.width, title=title, font=check_font(font))
    with _open(db) as con:
        database.require_replays(con)
        chosen = filters.read_filter(con, read_names(archive or ())).archives
        if is_timeline:
            draw, notes = _prepare_timeline(con, chosen[0] if chosen else None, replayed)
        else:
            panels = filters.order_archives(con, chosen, split_names(order or ()))
            draw, notes = FIGURES[name](con, panels), []
        chart = draw(look=look) if width is None else fit_figure(draw, look)
        words = caption(con, figure_caption(name, chart), chosen)
        drawn = Picture(save_figure(chart, path))
        drawn.caption, drawn.notes = words, notes
        return drawn


def _prepare_timeline(
    con: duckdb.DuckDBPyConnection, archive: str | None, replayed: OneReplay
) -> tuple[Callable[..., Any], list[str]]:
    """Choose the replay of a timeline; return the function that draws it, and a note."""
    from audit.query.show import find_problem
    from audit.report import timeline as draw_timeline

    found = find_problem(con, archive, replayed.competition, replayed.question, "replayed_problems")
    key = asdict(replayed) | {"competition": found.competition, "question": found.question_id}
    return partial(draw_timeline, con, found.archive, **key), [_show_note(found)]


@public
def timeline(
    db: Database,
    out: str | Path = "timeline.svg",
    *,
    archive: str | None = None,
    replayed: OneReplay,
) -> Picture:
    """Draw one replay on an axis of its costs: what each rule returns and pays; return its file.

    out: the picture: .svg, .pdf, .png or .html
    archive: the archive (default: the first)
    """
    return figure(db, "timeline", out, archive=archive, **asdict(replayed))


@public
def tokenize(
    db: Database,
    tokenizer: str | None = None,
    *,
    everything: bool = False,
    checkpoints: bool = False,
    progress: Progress | None = None,
    limits: Limits,
) -> Result:
    """Count the tokens that prefix_boxes needs; what is counted already is not counted again.

    tokenizer: a tiktoken encoding or a Hugging Face tokenizer.json (default: the last one used)
    everything: every text, not only those of boundary attempts
    checkpoints: keep every complete box of a text as a checkpoint instead
    """
    from audit import tokens

    if checkpoints:
        with _open(db, limits, write=True) as con:
            found = tokens.write_checkpoints(con, tokenizer, limits.threads, progress)
        caption = (
            f"{found.checkpoints:,} checkpoints written in {found.attempts:,} attempts, counted "
            f"with {found.encoding}; {found.unverified:,} attempts have none: their recorded "
            "counts differ"
        )
        rows = _to_row(found, "encoding", "attempts", "checkpoints", "unverified")
        return Result(rows, caption=caption, notes=[STALE] if found.replays_dropped else [])
    with _open(db, limits, write=True) as con:
        counts = tokens.tokenize(
            con, tokenizer, everything=everything, threads=limits.threads, progress=progress
        )
    caption = (
        f"{counts.tokens:,} tokens of {counts.attempts:,} attempts counted with {counts.encoding}; "
        f"{counts.reconciled:,} reconcile with their recorded counts"
    )
    return Result(_to_row(counts, "encoding", "attempts", "tokens", "reconciled"), caption=caption)


@public
def compare(
    db: Database,
    published: str | Path | None = None,
    *,
    progress: Progress | None = None,
    limits: Counting,
) -> "Compared":
    """Put every published value beside the computed one.

    published: a CSV of published values in the study's layout (default: the study's)
    """
    from audit.study import compare as study

    if limits.tokenize:
        _count_tokens(db, ["prefix_boxes"], limits, progress)
    with _open(db, limits) as con:
        database.require_replays(con)
        counted = con.execute("select archive, count(*) from attempts group by archive")
        comparison = study.compare(
            lambda name: engine.compute_table(con, name),
            dict(counted.fetchall()),
            Path(published) if published else None,
            [name for (name,) in con.execute(SIMULATED).fetchall()],
        )
    verdict, status = study.verdict(comparison)
    missing = comparison.with_outcome("not_computed")
    is_telling = comparison.is_study or len(missing) < len(comparison.rows)
    compared = Compared(
        study.comparison_table(comparison),
        notes=[note for note in (verdict, study.identity_note(comparison)) if note],
    )
    if is_telling:
        compared.compact = Result(study.comparison_table(comparison, compact=True))
    compared.summary = Result(study.summary_table(comparison))
    compared.status = status
    return compared


class Compared(Result):
    """The rows of `compare`, with a summary by table, a verdict and an exit status."""

    compact: Result | None = None
    summary: Result
    status: int


@public
def diff(
    old: Database,
    new: Database,
    *,
    tolerance: float = 1e-9,
    table: str | None = None,
    archive: Names | None = None,
    limits: Limits,
) -> Result:
    """Compare two databases: settings, sources, and the cells of every table.

    The caption is one screen: what changed, which accuracies differ by more than noise, and which
    problems flipped most.

    old: the database before
    new: the database after
    tolerance: how far apart two numbers may be, absolutely or relatively, and count as the same
    table: only the cells of this table
    archive: archives to compare, by name, or 'OLD=NEW' where they are called differently
    """
    from audit.output.diff import archive_pairs, find_differences, first_screen

    if table is not None:
        _require_table(table)
    pairs = archive_pairs(read_names(archive or ()))
    with _open(old, limits) as before, _open(new, limits) as after:
        rows = find_differences(before, after, tolerance, pairs, table)
        return Result(rows, caption=first_screen(before, after, rows, pairs))


@public
def demo(
    out: str | Path = "demo",
    *,
    simulated: bool = False,
    agents: bool = False,
    forced: bool = False,
    progress: Callable[[str], Progress | None] | None = None,
    limits: Limits,
) -> Result:
    """Load, replay and report the shipped recorded attempts: a row per file made.

    The caption tells the finding. Whom to credit, or that the data are simulated, is in the notes.

    out: the folder for everything
    simulated: simulated archives in the study's shape instead
    agents: recorded agent runs instead, budgeted in dollars, under all five rules
    forced: attempts of two reasoning models instead, which were made to answer on the way
    progress: gives the progress of each of the steps load, replay and report
    """
    from audit.report import report as write_report
    from audit.study import recorded

    if simulated + agents + forced > 1:
        raise AuditError("--simulated, --agents and --forced are demonstrations; choose one")
    folder, progress_of = Path(out), progress or (lambda step: None)
    db = folder / "audit.duckdb"
    made: list[tuple[str, Path]] = [("database", db)]
    shipped = recorded.AGENTS if agents else recorded.FORCED if forced else recorded.OTIS
    read: dict[str, Any] = {"answer": shipped.answer, "checkpoints": shipped.checkpoints}
    files, settings = [shipped.file], shipped.settings
    if simulated:
        from audit.study.simulate import simulate

        files, settings, read = simulate(folder / "archives"), {}, {}
        made.insert(0, ("archives", folder / "archives"))
    folder.mkdir(parents=True, exist_ok=True)
    process = asdict(limits)
    load(db, files, replace=True, progress=progress_of("load"), **read, **process)
    replay(db, progress=progress_of("replay"), **settings, **process)
    tables: dict[str, pa.Table] = {}
    with _open(db, limits) as con:
        written = write_report(con, folder / "report", progress=progress_of("report"), keep=tables)
        notes = recorded.credits(con)
        finding = _tell_finding(con, tables, agents=agents, forced=forced)
    made += [("page", path) for path in written]
    if simulated:
        notes.append("This is simulated data: it shows the tool, it says nothing about any model.")
    rows = text_table(("what", "where"), ((what, str(path)) for what, path in made))
    return Result(rows, caption=finding, notes=notes)


def _tell_finding(
    con: duckdb.DuckDBPyConnection, tables: dict[str, pa.Table], *, agents: bool, forced: bool
) -> str:
    """Write the finding of a demonstration, in a few lines and a table."""
    from audit.report.story import read_story, small_table, story_lines
    from audit.study.findings import agents_finding, forced_finding

    if forced:
        rows = engine.compute_table(con, "terminals").to_pylist()
        return forced_finding(rows, tables["main"].to_pylist())
    if agents:
        return agents_finding(tables["curves"].to_pylist(), replayed_unit(con))
    lines = story_lines(read_story(tables))
    return "\n".join([*lines, "", small_table(tables["main"].to_pylist())])


@public
def card(
    db: Database,
    out: str | Path,
    *,
    format: Literal["json", "every_eval_ever"] = "json",
    archive: Names | None = None,
    limits: Limits,
) -> Result:
    """Write the budget card: all that a budget figure must state. A row per file written.

    out: the file; a folder for records of several archives
    format: the card by its own schema (json), or a record per archive of Every Eval Ever
    """
    from audit.output.card import write_card

    with _open(db, limits) as con:
        database.require_replays(con)
        only = filters.read_filter(con, read_names(archive or ()), (), None)
        files = write_card(con, Path(out), only.archives, format)
        notes = [provenance.notes(con, has_selectors=True), *find_quality_notes(con)]
    return Result(text_table(("file",), ((str(file),) for file in files)), notes=notes)


def sql(name: str) -> Text:
    """Return the rendered SQL of a stage, rule, selector or table.

    name: the name, which is the stem of its file
    """
    if name not in engine.list_files():
        raise AuditError(not_there("stage", name, engine.list_files()))
    # A replay runs the policies that it is given; this prints all of them.
    return Text(engine.render(name, engine.Plugins(policies=engine.load_plugins("policies"))))
