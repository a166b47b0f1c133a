"""The functions of the package, which are the commands too: nothing else calls its parts.

A database is the path of a file, or a connection that stays open and as it is. `threads` and
`memory` hold where a file is opened; a connection keeps its own limits.
"""

import contextlib
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import duckdb
import pyarrow as pa

from audit import database, engine
from audit.database import connect as connect
from audit.engine.prices import price_notes, read_prices
from audit.engine.quality import quality_notes
from audit.errors import AuditError
from audit.interop import scorio as arrays
from audit.interop.scorio import ScorioArrays
from audit.load import provenance
from audit.options import Asked, Limits, Names, Reading, Sources, source_paths, takes
from audit.output import filters
from audit.output.captions import AVERAGED, annotated, caption, order_line
from audit.output.choose import choose
from audit.output.display import text_table
from audit.output.headings import in_unit, replayed_unit
from audit.output.picture import Picture, picture
from audit.output.result import Result, Text
from audit.progress import Progress
from audit.scale.functions import extract as extract
from audit.scale.functions import gather as gather
from audit.scale.functions import part as part
from audit.scale.functions import plan as plan
from audit.scale.functions import run as run
from audit.study.fetch import fetch as fetch
from audit.study.fetch import local_files
from audit.text import not_there
from audit.units import UNITS, Amount, write_amount

if TYPE_CHECKING:
    from audit.live.verify import verify as verify
    from audit.study.simulate import simulate as simulate

Database = str | Path | duckdb.DuckDBPyConnection
STALE = "The replays are stale; run 'budget-audit replay' again."
NO_LIMITS = Limits()
# Functions that a module offers as they are, and that few commands need.
LATER = {"simulate": "audit.study.simulate", "verify": "audit.live.verify"}


@contextmanager
def _opened(
    db: Database,
    *,
    write: bool = False,
    limits: Limits = NO_LIMITS,
    row_group: int | None = None,
    sandbox: bool = False,
    may_create: bool = False,
) -> Iterator[duckdb.DuckDBPyConnection]:
    """The connection given, or one to the file for as long as it is needed; a load may make it."""
    if isinstance(db, duckdb.DuckDBPyConnection):
        database.check_schema(db)
        if not may_create and not database.relations(db):
            raise AuditError("the connection's database holds no attempts; load some, or 'use' it")
        yield db
        return
    if write and not may_create and not Path(db).exists():
        raise AuditError(f"{db}: no such database; make it with 'budget-audit load'")
    with database.opened(
        db, write=write, row_group=row_group, sandbox=sandbox, **asdict(limits)
    ) as con:
        yield con


def _as_names(names: Names | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def __getattr__(name: str) -> Any:
    """A function whose module takes long to import, brought in when it is first used."""
    if name not in LATER:
        raise AttributeError(f"module 'audit.api' has no attribute '{name}'")
    return getattr(import_module(LATER[name]), name)


@takes
def describe(
    sources: Sources,
    *,
    all: bool = False,
    reading: Reading,
) -> Text:
    """Tell whether sources load, with what command, and what they hold, before anything is loaded.

    all: every column with its origin, and what could be a missing one
    """
    from audit.load.describe import describe as description

    return Text(description(source_paths(sources), all=all, reading=reading))


@takes
def load(
    db: Database,
    sources: Sources,
    *,
    replace: bool = False,
    texts: bool = True,
    reading: Reading,
    limits: Limits,
    progress: Progress | None = None,
) -> Result:
    """Load files, folders or globs, all or nothing, and say what came in: a row per archive.

    db: the database, a file (made if it is not there) or a connection
    replace: replace archives that are already there
    texts: keep the generated texts; answers are read from them either way
    """
    from audit.load.load import load as load_sources
    from audit.load.staging import fitting_row_group
    from audit.sources.files import SourceFile, find_files

    files: Sequence[SourceFile] = ()
    with contextlib.suppress(AuditError):  # The load says what is wrong with a source.
        files = find_files(source_paths(sources))
    row_group = fitting_row_group(files or source_paths(sources))
    with _opened(db, write=True, limits=limits, row_group=row_group, may_create=True) as con:
        summary = load_sources(
            con,
            files or local_files(sources),
            replace=replace,
            texts=texts,
            reading=reading,
            progress=progress,
        )
        notes = provenance.load_notes(con, summary.notes)
        notes += quality_notes(con, summary.archives["archive"].to_pylist())
    notes += [STALE] if summary.replays_dropped else []
    caption = f"{summary.rows:,} rows of {summary.files:,} file(s) in {_name(db)}"
    return Result(summary.archives, caption=caption, notes=notes)


@takes
def answers(
    db: Database,
    answer: str,
    *,
    force: bool = False,
    limits: Limits,
) -> Result:
    """Read the answers of all archives again, as another kind, from what was loaded.

    answer: what the answer is: boxed, archive, none or regex:PATTERN
    force: go on where an archive has no answer of that kind
    """
    from audit.load.reread import reread

    with _opened(db, write=True, limits=limits, row_group=database.LOADED_ROW_GROUP) as con:
        outcome = reread(con, answer, force=force)
        notes = [*quality_notes(con), *([STALE] if outcome.replays_dropped else [])]
    caption = (
        f"{outcome.answered:,} of {outcome.attempts:,} attempts have an answer by {answer}; "
        f"{outcome.answered_before:,} had one before"
    )
    rows = _row(outcome, "attempts", "answered", "answered_before")
    return Result(rows, caption=caption, notes=notes)


def _row(counted: Any, *names: str) -> pa.Table:
    """A table with one row: some fields of what was counted."""
    return pa.table({name: [getattr(counted, name)] for name in names})


def _name(db: Database) -> str:
    return "the database" if isinstance(db, duckdb.DuckDBPyConnection) else str(db)


@takes
def replay(
    db: Database,
    *,
    settings: Asked,
    limits: Limits,
    progress: Progress | None = None,
) -> Result:
    """Replay every order under every cap, budget and rule, and return the settings used.

    What is not given is as in the last replay of the database, or the study's.
    """
    with _opened(db, write=True, limits=limits, row_group=database.REPLAYED_ROW_GROUP) as con:
        asked = {**settings, **_replayed_only(con, settings)}
        if asked.get("orders") == "auto":
            done, chosen = engine.replay_enough(con, asked, progress)
        else:
            done = engine.replay(con, asked, progress=progress, is_users=True)
            chosen = None
        used = con.sql("from settings order by key").to_arrow_table()
        ((replays,),) = con.execute(engine.render("replay_count")).fetchall()
        notes = [chosen or "", provenance.replayed_note(con) or "", *quality_notes(con)]
    notes += price_notes(done.settings.prices)
    notes += ["the walks that were there are reused"] if done.walks_reused else []
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
    return Result(used, caption=f"{replays:,} replays in {_name(db)}", notes=notes)


def _replayed_only(con: duckdb.DuckDBPyConnection, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What a replay is asked for by names and files, as names that are there and rows."""
    database.require_attempts(con)
    only = filters.chosen(
        con, asked.get("archives", ()), asked.get("competitions", ()), asked.get("problems") or None
    )
    values: dict[str, Any] = {**asdict(only), "prices": read_prices(asked.get("prices", ""))}
    return {name: value for name, value in values.items() if name in asked}


def tables() -> Result:
    """The tables and what a row of each means."""
    rows = ((name, engine.table_purpose(name)) for name in engine.table_names())
    return Result(text_table(("table", "a row"), rows))


@takes
def table(
    db: Database,
    name: str,
    *,
    archive: Names | None = None,
    competition: Names | None = None,
    problems: str | Path | None = None,
    columns: Names | None = None,
    sort: Names | None = None,
    limit: int | None = None,
    tokenize: bool = False,
    limits: Limits,
    progress: Progress | None = None,
) -> Result:
    """One table of the study.

    name: the table's name, one of tables()
    columns: only these columns, with their intervals, in this order
    sort: the columns to sort by, -name for the largest first
    limit: at most so many rows
    tokenize: count the tokens that the table still waits for; this writes to the database
    """
    _require_table(name)
    if tokenize:
        _count_tokens(db, [name], limits, progress)
    with _opened(db, limits=limits) as con:
        only = filters.chosen(con, _as_names(archive), _as_names(competition), problems)
        rows = annotated(con, name, engine.table(con, name), only.archives)
        notes = [] if rows.num_rows else [_why_empty(con, name)]
        rows = filters.filtered(name, rows, only)
        notes += [only.note(), *_show_notes(rows)]
        notes.append(provenance.notes(con, has_selectors="selector" in rows.column_names))
        notes += [order_line(con, only.archives)] if name in AVERAGED else []
        notes += [] if name == "data_quality" else _unfit(con, rows)
        rows = choose(rows, _as_names(columns), _as_names(sort), limit)
        return Result(rows, name, notes=notes)


def _unfit(con: duckdb.DuckDBPyConnection, rows: pa.Table) -> list[str]:
    """What the records behind these rows do not fit; a table without archives rests on all."""
    if "archive" not in rows.column_names:
        return quality_notes(con)
    names = ("archive", "other")
    columns = [rows[name].to_pylist() for name in names if name in rows.column_names]
    return quality_notes(con, {archive for column in columns for archive in column})


def _show_notes(rows: pa.Table) -> list[str]:
    """The command that shows the attempts behind the first row, where rows are of problems."""
    key = ("archive", "competition", "question_id")
    if not rows.num_rows or not set(key) <= set(rows.column_names):
        return []
    (first,) = rows.slice(0, 1).select(key).to_pylist()
    return [_show_note(**first)]


def _show_note(archive: str, competition: str, question_id: int) -> str:
    """The command that shows the attempts of a problem, as a note."""
    return (
        f"what was written: budget-audit show --archive {shlex.quote(archive)} --competition "
        f"{shlex.quote(competition)} --question {question_id}"
    )


def _require_table(name: str) -> None:
    if not engine.is_table(name):
        raise AuditError(not_there("table", name, engine.table_names()))


def _why_empty(con: duckdb.DuckDBPyConnection, name: str) -> str:
    """Why a table has no rows; a table of the loaded records alone has no settings yet."""
    from audit.report.captions import empty_reason
    from audit.report.data import settings

    with contextlib.suppress(AuditError):
        return empty_reason(name, settings(con))
    return ""


def _count_tokens(
    db: Database,
    names: Sequence[str],
    limits: Limits,
    progress: Progress | None,
) -> None:
    """Tokenize what tables still wait for; only then is the database opened for writing."""
    from audit import tokens

    with _opened(db, limits=limits) as con:
        is_waiting = any(engine.waiting_events(con, name) > 0 for name in names)
    if is_waiting:
        with _opened(db, write=True, limits=limits) as con:
            tokens.tokenize(con, threads=limits.threads, progress=progress)


def queries() -> Result:
    """The named queries: the question that each answers, its parameters and their defaults."""
    from audit.query.run import named_queries

    rows = (
        (entry.name, entry.question, ", ".join(map("=".join, entry.defaults.items())))
        for entry in named_queries()
    )
    return Result(text_table(("query", "question", "parameters"), rows))


@takes
def query(
    db: Database,
    name_or_sql: str,
    params: Mapping[str, Any] | None = None,
    *,
    limit: int | None = None,
    timeout: float | None = None,
    limits: Limits,
) -> Result:
    """The rows of a named query, a .sql file or SQL text, read only.

    A file is opened so that the SQL reaches nothing else; a connection is used as it is.

    name_or_sql: one of queries(), the path of a .sql file, or one statement that reads
    params: values for the statement's $names
    limit: at most so many rows
    timeout: seconds before it is stopped
    """
    return _answered(db, name_or_sql, params, limits, limit=limit, timeout=timeout)[0]


@takes
def query_text(
    db: Database, name_or_sql: str, params: Mapping[str, Any], *, limits: Limits, **more: Any
) -> tuple[str, Sequence[str]]:
    """A query's rows as text, and the notes below; the limits hold for the formatting too."""
    result, text = _answered(db, name_or_sql, params, limits, **more)
    all_shown = f"{result.caption}; --limit 0 shows all"
    return text, [all_shown, *result.notes] if result.caption else result.notes


def _answered(
    db: Database, name_or_sql: str, params: Mapping[str, Any] | None, limits: Limits, **more: Any
) -> tuple[Result, str]:
    """What a query answers, and the same as text where a format is asked for."""
    from audit.query.run import query as ask

    with _opened(db, limits=limits, sandbox=True) as con:
        answer = ask(con, name_or_sql, params, **more)
        shown, name = answer.table.num_rows, "" if answer.is_ours else None
        caption = f"… {shown:,} of {answer.rows:,} rows" if shown < answer.rows else ""
        notes = _provenance(con) if answer.reads_records else []
        return Result(answer.table, name, caption=caption, notes=notes), answer.text


def _provenance(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The line under whatever rests on the records: simulated or not, answers, costs, labels."""
    with contextlib.suppress(duckdb.Error):
        return [provenance.notes(con, has_selectors=True)]
    return []


def query_sql(name_or_sql: str) -> str:
    """The SQL of a named query."""
    from audit.query.run import find_query

    return find_query(name_or_sql).sql


def schema(db: Database, name: str | None = None) -> Result:
    """The relations of a database and what a row of each is, or the columns of one.

    db: the database, a file or a connection
    name: a relation or table whose columns to list
    """
    from audit.query.schema import schema as list_relations

    with _opened(db) as con:
        rows = list_relations(con, name)
    return Result(rows, caption=engine.relation_comment(name) if name else "")


def show(
    db: Database,
    *,
    archive: str | None = None,
    competition: str | None = None,
    question: int | None = None,
    seed: int | None = None,
) -> Result | Text:
    """The attempts of one problem, or the text of one of them.

    db: the database, a file or a connection
    archive: the archive (default: the first)
    competition: the competition (default: the first)
    question: the question_id (default: the first)
    seed: the attempt whose text to show
    """
    from audit.query.show import attempts, problem, text

    with _opened(db) as con:
        key = problem(con, archive, competition, question)
        if seed is not None:
            return Text(text(con, key, seed))
        caption = f"archive {key[0]}, competition {key[1]}, question {key[2]}"
        return Result(attempts(con, key), "", caption=caption, notes=_provenance(con))


@takes
def export(
    db: Database,
    out: str | Path,
    names: Names = (),
    *,
    format: Literal["csv", "parquet"] = "csv",
    archive: Names | None = None,
    competition: Names | None = None,
    problems: str | Path | None = None,
    tokenize: bool = False,
    limits: Limits,
    progress: Progress | None = None,
) -> Result:
    """Write tables and relations to files, a row of the result each; without a name, every table.

    out: the folder for the files
    names: tables and relations; none means every table
    format: csv or parquet
    tokenize: count the tokens that a table still waits for; this writes to the database
    """
    from audit.output.export import export as write_files
    from audit.output.export import left_out

    table_names = _as_names(names)
    if tokenize:
        _count_tokens(db, table_names or engine.table_names(), limits, progress)
    with _opened(db, limits=limits) as con:
        only = filters.chosen(con, _as_names(archive), _as_names(competition), problems)
        written = list(write_files(con, Path(out), table_names, format, only, progress))
        notes = [only.note()]
        hint = f"budget-audit tokenize{'' if _name(db) == 'the database' else f' --db {db}'}"
        waiting = {} if table_names else left_out(con, hint)
        notes += [f"{name} is left out: {why}" for name, why in waiting.items()]
        if not table_names:
            missing = set(engine.table_names()) - {path.stem for path in written} - set(waiting)
            if missing:
                notes.append(
                    f"left out, as the filter cannot be applied: {', '.join(sorted(missing))}"
                )
            if not written:
                raise AuditError("export: the filter leaves no table")
        notes.append(provenance.notes(con, has_selectors=True))
    return Result(text_table(["file"], ([str(path)] for path in written)), notes=notes)


@takes
def check(
    db: str | Path,
    *,
    expect: Names = (),
    limits: Limits,
    progress: Progress | None = None,
) -> Result:
    """Verify the invariants and controls, and expectations if there are any: a row each.

    db: the database, a file
    expect: expectations such as 'archive, budget, rule: accuracy >= 60', or files of them
    """
    from audit.engine.check import check as verify
    from audit.output.expect import read_expectations

    expected = read_expectations(_as_names(expect))
    rows = verify(db, **asdict(limits), progress=progress)
    notes = [
        f"failed: {row['check']}: {row['measured']}"
        for row in rows.to_pylist()
        if row["violations"] and row["measured"]
    ]
    if expected:
        more, failed = _expected(db, expected, limits)
        rows, notes = pa.concat_tables([rows, more]), notes + failed
    count = sum(violations > 0 for violations in rows["violations"].to_pylist())
    return Result(rows, "check", caption=f"{rows.num_rows} checks, {count} failed", notes=notes)


def _expected(db: Database, expected: Sequence[Any], limits: Limits) -> tuple[pa.Table, list[str]]:
    """Each expectation as a check, and a line for each that fails."""
    from audit.engine.check import Checks
    from audit.output.expect import outcome

    lines, checks = [], Checks()
    with _opened(db, limits=limits) as con:
        tables_by_name = {
            name: in_unit(con, engine.table(con, name)) for name in {e.table for e in expected}
        }
    for expectation in expected:
        result = outcome(expectation, tables_by_name[expectation.table])
        text = expectation.text
        is_named = text.startswith(f"{expectation.table}:")
        checks.add(
            f"expect {text}",
            text if is_named else f"{expectation.table}: {text}",
            result.rows,
            len(result.failures),
            measured=result.measured,
            file=expectation.file or None,
            line=expectation.line or None,
        )
        lines += [f"failed: {text}: {line}" for line in result.failures]
    return checks.table(), lines


@takes
def report(
    db: Database,
    out: str | Path = "report",
    *,
    formats: Names = ("html",),
    title: str | None = None,
    texts: str | None = None,
    archive: Names | None = None,
    limits: Limits,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the report, by default as a page to explore, offline; return its files.

    out: the folder for the report
    formats: any of html, md, tex and csv
    title: the report's title (default: the data's name)
    texts: 'some' puts what attempts wrote beside the page, up to 50 MB; 'all' without that limit
    """
    from audit.report import report as write_report

    words = ",".join(_as_names(formats)).split(",")
    format_names = [word.strip() for word in words if word.strip()]
    with _opened(db, limits=limits) as con:
        only = filters.chosen(con, _as_names(archive)) if archive else None
        return write_report(con, Path(out), format_names, only, progress, title=title, texts=texts)


def figures() -> Result:
    """The figures and what each shows."""
    from audit.report import FIGURES
    from audit.report.captions import FIGURES as CAPTIONS

    names = (*FIGURES, "timeline")
    rows = ((name, CAPTIONS[name][0].split(". ")[0].rstrip(".")) for name in names)
    return Result(text_table(("figure", "shows"), rows))


def figure(
    db: Database,
    name: str,
    out: str | Path | None = None,
    *,
    archive: Names | None = None,
    width: int | None = None,
    title: str | None = None,
    font: str | None = None,
    competition: str | None = None,
    question: int | None = None,
    repeat: int | None = None,
    budget: Amount | None = None,
    cap: int | None = None,
) -> Picture:
    """Draw one figure for a paper; return its file, which a notebook shows, with a caption.

    db: the database, a file or a connection
    name: the figure's name, one of figures()
    out: the picture: .svg, .pdf, .png or .html (default: the name as .svg)
    archive: only these archives, names or patterns such as '*_high'
    width: the whole picture's width in pixels, 96 an inch
    title: another title; an empty one for none
    font: the font of all text
    competition: of the timeline's replay (default: the first)
    question: the question_id of the timeline's replay (default: the first)
    repeat: the order of the timeline's replay, 0 the canonical one (default: the first)
    budget: the budget of the timeline's replay (default: the smallest)
    cap: the cap on attempts of the timeline's replay (default: the primary one)
    """
    from audit.query.show import problem
    from audit.report import FIGURES, Look, save_figure
    from audit.report import timeline as draw_timeline
    from audit.report.captions import FIGURES as CAPTIONS
    from audit.report.figures.drawing import PLAIN, check_font, check_suffix, fitting

    is_timeline = name == "timeline"
    if not is_timeline and name not in FIGURES:
        raise AuditError(not_there("figure", name, [*FIGURES, "timeline"]))
    replayed: dict[str, Any] = {
        "competition": competition, "question": question, "repeat": repeat, "budget": budget,
        "cap": cap,
    }  # fmt: skip
    keys = [key for key, value in replayed.items() if value is not None]
    if keys and not is_timeline:
        raise AuditError(f"--{keys[0]}: only the timeline shows one replay")
    path = check_suffix(Path(out or f"{name}.svg"))
    look = Look(width or PLAIN.width, title=title, font=check_font(font))
    with _opened(db) as con:
        database.require_replays(con)
        chosen = filters.chosen(con, _as_names(archive)).archives if archive else None
        first = chosen[0] if chosen else None
        make: Callable[..., Any] = partial(draw_timeline, con, first, **replayed)
        if not is_timeline:
            make = partial(FIGURES[name], con, archives=chosen)
        drawn = save_figure(make(look=look) if width is None else fitting(make, look), path)
        words, notes = caption(con, " ".join(CAPTIONS[name]), chosen or ()), []
        if is_timeline:
            notes = [_show_note(*problem(con, first, competition, question, "replayed_problems"))]
        return picture(drawn, words, notes)


def timeline(
    db: Database,
    out: str | Path = "timeline.svg",
    *,
    archive: str | None = None,
    competition: str | None = None,
    question: int | None = None,
    repeat: int | None = None,
    budget: Amount | None = None,
    cap: int | None = None,
) -> Picture:
    """Draw one replay on an axis of its costs: what each rule returns and pays; return its file.

    db: the database, a file or a connection
    out: the picture: .svg, .pdf, .png or .html
    archive: the archive (default: the first)
    competition: the competition (default: the first)
    question: the question_id (default: the first)
    repeat: the order, 0 the canonical one (default: the first)
    budget: the budget, a number or '4k' (default: the smallest)
    cap: the cap on attempts (default: the primary one)
    """
    return figure(
        db, "timeline", out, archive=archive, competition=competition, question=question,
        repeat=repeat, budget=budget, cap=cap,
    )  # fmt: skip


@takes
def tokenize(
    db: Database,
    tokenizer: str | None = None,
    *,
    everything: bool = False,
    limits: Limits,
    progress: Progress | None = None,
) -> Result:
    """Count the tokens that prefix_boxes needs; what is counted already is not counted again.

    tokenizer: a tiktoken encoding or a Hugging Face tokenizer.json (default: the last one used)
    everything: every text, not only those of boundary attempts
    """
    from audit import tokens

    with _opened(db, write=True, limits=limits) as con:
        counts = tokens.tokenize(
            con, tokenizer, everything=everything, threads=limits.threads, progress=progress
        )
    caption = (
        f"{counts.tokens:,} tokens of {counts.attempts:,} attempts counted with {counts.encoding}; "
        f"{counts.reconciled:,} reconcile with their recorded counts"
    )
    return Result(_row(counts, "encoding", "attempts", "tokens", "reconciled"), caption=caption)


@takes
def compare(
    db: Database,
    published: str | Path | None = None,
    *,
    tokenize: bool = False,
    limits: Limits,
    progress: Progress | None = None,
) -> "Compared":
    """Put every published value beside the computed one.

    published: published values in the study's layout (default: the study's)
    tokenize: count the tokens that prefix_boxes still waits for; this writes to the database
    """
    from audit.study import compare as study

    if tokenize:
        _count_tokens(db, ["prefix_boxes"], limits, progress)
    with _opened(db, limits=limits) as con:
        database.require_replays(con)
        counted = con.execute("select archive, count(*) from attempts group by archive")
        comparison = study.compare(
            lambda name: engine.table(con, name),
            dict(counted.fetchall()),
            Path(published) if published else None,
        )
    verdict, status = study.verdict(comparison)
    is_telling = comparison.is_study or len(comparison.those("not_computed")) < len(comparison.rows)
    compared = Compared(study.comparison_table(comparison), notes=[verdict])
    if is_telling:
        compared.compact = Result(study.comparison_table(comparison, compact=True))
    compared.summary = Result(study.summary_table(comparison))
    compared.status = status
    return compared


class Compared(Result):
    """Every published value beside the computed one, with a summary by table and a verdict."""

    compact: Result | None = None
    summary: Result
    status: int


@takes
def diff(
    old: Database,
    new: Database,
    *,
    tolerance: float = 1e-9,
    table: str | None = None,
    archive: Names | None = None,
    limits: Limits,
) -> Result:
    """What differs between two databases: settings, sources, and cells of every table.

    The caption is one screen: what changed, which accuracies differ by more than noise, and which
    problems flipped most.

    old: the database before
    new: the database after
    tolerance: how far apart two numbers may be, absolutely or relatively, and count as the same
    table: only the cells of this table
    archive: archives to compare, by name, or 'OLD=NEW' where they are called differently
    """
    from audit.output.diff import archive_pairs, differences, first_screen

    if table is not None:
        _require_table(table)
    pairs = archive_pairs(_as_names(archive))
    with (
        _opened(old, limits=limits) as before,
        _opened(new, limits=limits) as after,
    ):
        rows = differences(before, after, tolerance, pairs, table)
        return Result(rows, caption=first_screen(before, after, rows, pairs))


@takes
def demo(
    out: str | Path = "demo",
    *,
    simulated: bool = False,
    agents: bool = False,
    limits: Limits,
    progress: Callable[[str], Progress | None] | None = None,
) -> Result:
    """The shipped recorded attempts, loaded, replayed and reported: a row per thing made.

    The caption tells the finding. Whom to credit, or that the data are simulated, is in the notes.

    out: the folder for everything
    simulated: simulated archives in the study's shape instead
    agents: recorded agent runs instead, budgeted in dollars, under all five rules
    progress: gives the progress of each of the steps load, replay and report
    """
    from audit.report import report as write_report
    from audit.study import recorded

    if simulated and agents:
        raise AuditError("--simulated and --agents are two demonstrations; choose one")
    folder, show_of = Path(out), progress or (lambda step: None)
    db = folder / "audit.duckdb"
    made: list[tuple[str, Path]] = []
    shown = recorded.AGENTS if agents else recorded.OTIS
    if simulated:
        from audit.study.simulate import simulate

        files = simulate(folder / "archives")
        made.append(("archives", folder / "archives"))
    else:
        files = [shown.file]
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AuditError(f"{folder}: cannot be made a folder: {error.strerror}") from None
    answer, settings = ("boxed", {}) if simulated else (shown.answer, shown.settings)
    load(db, files, replace=True, answer=answer, progress=show_of("load"), limits=limits)
    replay(db, progress=show_of("replay"), **settings, limits=limits)
    made.append(("database", db))
    tables: dict[str, pa.Table] = {}
    with _opened(db, limits=limits) as con:
        written = write_report(con, folder / "report", progress=show_of("report"), keep=tables)
        notes = recorded.credits(con)
        finding = _finding(con, tables, agents=agents)
    made += [("page", path) for path in written]
    if simulated:
        notes.append("This is simulated data: it shows the tool, it says nothing about any model.")
    rows = text_table(("what", "where"), ((what, str(path)) for what, path in made))
    return Result(rows, caption=finding, notes=notes)


def _finding(con: duckdb.DuckDBPyConnection, tables: dict[str, pa.Table], *, agents: bool) -> str:
    """What a demonstration shows, in three lines and a table."""
    from audit.report.story import small_table, story_lines
    from audit.study import agents as runs

    if agents:
        return runs.finding(tables["curves"].to_pylist(), replayed_unit(con))
    return "\n".join([*story_lines(tables), "", small_table(tables["main"].to_pylist())])


def sql(name: str) -> Text:
    """The rendered SQL of a stage, rule, selector or table.

    name: the name, which is the stem of its file
    """
    if name not in engine.stage_names():
        raise AuditError(not_there("stage", name, engine.stage_names()))
    # A replay runs the policies that it is given; here all of them are shown.
    return Text(engine.render(name, engine.Plugins(policies=engine.plugins("policies"))))


def to_scorio(db: Database, attempts: int | None = None) -> dict[str, ScorioArrays]:
    """Each archive's (M, N) outcome and answer arrays, as the scorio library takes them.

    db: the database, a file or a connection
    attempts: take the first N attempts of every problem (default: all, which must be as many)
    """
    with _opened(db) as con:
        return arrays.to_scorio(con, attempts)
