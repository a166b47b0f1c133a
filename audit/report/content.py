"""What every form of the report says, as plain values."""

import platform
import queue
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow as pa

from audit import __version__, engine
from audit.database import cursor, has_answers
from audit.errors import AuditError
from audit.load import provenance
from audit.output.display import DisplayColumn, display_columns
from audit.output.filters import Filter, filtered
from audit.output.headings import replayed_unit
from audit.progress import Progress
from audit.report import captions, data, findings
from audit.report.data import Row
from audit.report.figures.panels import rule_order
from audit.report.wording import (
    TOKENS,
    attempts,
    budget_name,
    macros,
    number,
    one_line,
    said,
    with_interval,
)
from audit.study import recorded
from audit.text import join_names
from audit.units import Unit, write_digits

MOST_ROWS = 200
# Much of a small table is one thread's work, so that two at a time take little more than one.
AT_A_TIME = 2
# With more archives than this, what is said of all of them stands before what is said of each.
MOST_TOLD_APART = 12
SIMULATED = "SIMULATED DATA"
SEVERITIES = ("fail", "warn")
VERSIONS = [
    ("budget-audit", __version__),
    ("duckdb", duckdb.__version__),
    ("numpy", numpy.__version__),
    ("pyarrow", pa.__version__),
    ("python", platform.python_version()),
]
# Checks that say nothing against the headline: what they find leaves it as it is, or is in it.
QUIET = {
    "banks_below_cap",
    "ended_by_bank",
    "never_binds",
    "logprobs_missing",
    "labels_in_conflict",
}


@dataclass(frozen=True)
class Section:
    """One table as the report shows it."""

    name: str
    purpose: str
    notes: list[str]
    columns: list[DisplayColumn] = field(default_factory=list)
    shown: int = 0
    total: int = 0


def tables(
    con: duckdb.DuckDBPyConnection,
    only: Filter | None = None,
    progress: Progress | None = None,
    left_out: Mapping[str, str] | None = None,
    at_a_time: int = AT_A_TIME,
) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """Every table in the order of the captions, and why the others cannot be had."""
    rows_by_name: dict[str, pa.Table] = {}
    unavailable = dict(left_out or {})
    names = engine.table_names()
    chosen = [name for name in captions.SAID["tables"] if name in names]
    chosen += [name for name in names if name not in chosen]
    chosen = [name for name in chosen if name not in unavailable]
    lanes = [con, *(cursor(con) for _ in range(at_a_time - 1))]
    free: queue.SimpleQueue[duckdb.DuckDBPyConnection] = queue.SimpleQueue()
    for lane in lanes:
        free.put(lane)
    words = {"unit": replayed_unit(con).name}

    def compute(name: str) -> pa.Table:
        lane = free.get()
        try:
            rows = engine.table(lane, name)
        finally:
            free.put(lane)
        rows = filtered(name, rows, only) if only else rows
        return rows.replace_schema_metadata(words)

    if progress:
        progress("intervals", 0, len(chosen) + 2)
    with engine.intervals_of(con, chosen, lanes[1:]), ThreadPoolExecutor(at_a_time) as pool:
        waiting = {name: pool.submit(compute, name) for name in chosen}
        try:
            for done, (name, rows) in enumerate(waiting.items()):
                if progress:
                    progress(name, done, len(chosen) + 2)
                try:
                    rows_by_name[name] = rows.result()
                except AuditError as error:
                    # A table may need more than a replay; the report goes on without it.
                    unavailable[name] = str(error)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for lane in lanes:
                lane.interrupt()
            raise
    for lane in lanes[1:]:
        lane.close()
    return rows_by_name, {name: unavailable[name] for name in names if name in unavailable}


def title(
    con: duckdb.DuckDBPyConnection,
    own_title: str | None,
    archives: Sequence[Row],
    sources: Sequence[Row],
) -> str:
    """What the report is called: as asked, or by the data."""
    if own_title or recorded.title(con):
        return own_title or str(recorded.title(con))
    files = {row["file"].split(".")[0] for row in sources}
    names = [one_line(row["archive"]) for row in archives]
    if len(files) == 1:
        return f"Budget audit of {one_line(files.pop())}"
    return f"Budget audit of {join_names(names) if len(names) <= 3 else f'{len(names):,} archives'}"


def content(
    con: duckdb.DuckDBPyConnection,
    tables: dict[str, pa.Table],
    unavailable: dict[str, str],
    own_title: str | None = None,
    only: Filter | None = None,
) -> dict[str, Any]:
    """All that the templates print, as plain values."""
    settings = data.settings(con)
    archives = [row for row in data.archives(con) if not only or row["archive"] in only.archives]
    sources = data.relation(con, "report_sources").to_pylist()
    simulated = data.is_simulated(con)
    named = data.relation(con, "problem_numbers")
    shown = tables | ({"problems": named} if named.num_rows else {})
    read = {
        "settings": con.table("settings").to_arrow_table(),
        "referenced_archives": data.relation(con, "referenced_archives"),
    }
    unit = replayed_unit(con)
    words = _words(archives, settings, unit, is_answered=has_answers(con))
    heading = title(con, own_title, archives, sources)
    checks = tables["data_quality"].to_pylist() if "data_quality" in tables else []
    quality = unfit(checks, settings)
    return {
        "title": (f"{SIMULATED}: " if simulated else "") + heading,
        "heading": heading,
        "simulated": simulated,
        "banner": f"{SIMULATED}: made by budget-audit simulate, not by a model",
        "scope": said(words.scope),
        "topics": findings.all_topics(tables | read, unit),
        "compared": [
            *((one_line(row["archive"]), said(words.holds, row)) for row in archives),
            *words.compared,
            ("Read as", provenance.notes(con, has_selectors=True)),
            *([("Shown", only.note().removeprefix("shown: "))] if only else []),
        ],
        "rules": [
            (rule, captions.rule_words(rule))
            for rule in rule_order({"rule": name} for name in settings["rules"].split(","))
        ],
        "selectors": _selectors(settings),
        "reading": captions.SAID["reading"]
        + ([captions.SAID["agents"]] if data.has_steps(con) else []),
        "unit": unit,
        "warnings": quality_warnings(quality, archives, settings, findings.headline(tables), unit),
        "unfit": {
            name: [str(row["check"]).replace("_", " ") for row in checks]
            for name, checks in data.by_archive(quality).items()
        },
        "archives": archives,
        "tables": shown,
        "unavailable": unavailable,
        "sources": [row for row in sources if not only or row["archive"] in only.archives],
        "credits": recorded.credits(con),
        "settings": sorted(settings.items()),
        "versions": VERSIONS,
    }


def _words(archives: list[Row], settings: dict[str, str], unit: Unit, *, is_answered: bool) -> Any:
    """The sentences about what was loaded and replayed."""
    shown = [budget_name(float(budget), unit) for budget in settings["budgets"].split(",")]
    values = {"archives": archives, "settings": settings, "shown": shown}
    path = Path(__file__).with_name("content.j2")
    return macros(path, unit, is_answered=is_answered, **values)


def unfit(rows: Sequence[Row], settings: dict[str, str]) -> list[Row]:
    """The checks that are not passed, without those of caps that are not the primary one."""
    primary = f"banks_below_cap_{settings['primary_cap']}"
    return [
        row
        for row in rows
        if row["severity"] in SEVERITIES
        and (row["check"] == primary or not row["check"].startswith("banks_below_cap"))
    ]


def quality_warnings(
    rows: Sequence[Row],
    archives: Sequence[Row],
    settings: dict[str, str],
    headline: str | None = None,
    unit: Unit = TOKENS,
) -> list[str]:
    """What is unfit in the records, a line each: worst first, then what moves the headline."""
    quiet = QUIET - (
        {"logprobs_missing"} if settings["primary_selector"] == "max_logprob" else set()
    )

    def rank(row: Row) -> tuple[Any, ...]:
        return (
            SEVERITIES.index(row["severity"]),
            _check(row)[0] in quiet,
            row["archive"] != headline,
            row["archive"] or "",
            *_check(row),
        )

    ranked = sorted(rows, key=rank)
    if len({row["archive"] for row in ranked}) > MOST_TOLD_APART:
        return _warnings_together(ranked, unit)
    sizes = {row["archive"]: row for row in archives}
    groups = data.group(ranked, lambda row: (row["severity"], row["archive"], _check(row)[0]))
    return [
        _below_cap(sizes[archive], checks[0], int(settings["primary_cap"]))
        if check == "banks_below_cap" and archive in sizes
        else f"{one_line(archive)}: {_check_words(checks, unit)}"
        + (f"; {checks[0]['advice']}" if checks[0]["advice"] else "")
        for (_, archive, check), checks in groups.items()
    ]


def _check(row: Row) -> tuple[str, float]:
    """A check without its level, and the level: a budget or a cap; 0 where there is none."""
    name, _, level = str(row["check"]).rpartition("_")
    return (name, float(level)) if re.fullmatch(r"[\d.]+", level) else (str(row["check"]), 0)


def _check_words(rows: Sequence[Row], unit: Unit) -> str:
    """A check with the levels at which it is not passed, or with what it counts at the only one."""
    words = _check(rows[0])[0].replace("_", " ")
    # A budget is in the unit; a cap is a number of attempts.
    kind = TOKENS if words == "banks below cap" else unit
    levels = [budget_name(level, kind) for _, level in map(_check, rows) if level]
    words += f" at {join_names(levels)}" if levels else ""
    (row, *others) = rows
    return words if others or not row["total"] else f"{words}, {row['count']:,} of {row['total']:,}"


def _below_cap(archive: Row, row: Row, cap: int) -> str:
    """What a bank below the primary cap means for the results."""
    most = archive["largest_bank"]
    means = (
        f"results at cap {cap} equal those at {most}"
        if most < cap
        else "their replays may end before the budget does"
    )
    return (
        f"{one_line(archive['archive'])}: {row['count']:,} of {row['total']:,} problems have "
        f"{attempts(archive['smallest_bank'], min(most, cap - 1))}; {means}."
    )


def _warnings_together(unfit: Sequence[Row], unit: Unit) -> list[str]:
    """The same warnings, each once for all archives that it is about."""
    groups = data.group(unfit, lambda row: (row["severity"], row["check"], row["advice"]))
    lines = []
    for (_, _, advice), rows in groups.items():
        named = [one_line(row["archive"]) for row in rows[:3]]
        named += [f"{len(rows) - 3:,} more"] if len(rows) > 3 else []
        count, total = (sum(row[name] or 0 for row in rows) for name in ("count", "total"))
        lines.append(
            _check_words(rows[:1], unit).split(",")[0]
            + (f", {count:,} of {total:,}" if total else "")
            + f" in {join_names(named)}"
            + (f"; {advice}" if advice else "")
        )
    return lines


def sections(values: dict[str, Any], most_rows: int) -> list[Section]:
    """Every table as it is printed, at most so many rows of each, and those that are missing."""
    settings = dict(values["settings"])
    available = [
        section(name, table, values["archives"], settings, most_rows)
        for name, table in values["tables"].items()
    ]
    return available + [
        Section(name, captions.purpose(name), [f"Not available: {why.removeprefix(f'{name}: ')}."])
        for name, why in values["unavailable"].items()
    ]


def section(
    name: str, table: pa.Table, archives: list[Row], settings: dict[str, str], most_rows: int
) -> Section:
    """One table as it is printed."""
    shown = table.slice(0, most_rows)
    rows = shown.to_pylist()
    notes = [] if table.num_rows else [captions.empty_reason(name, settings)]
    if table.num_rows > most_rows:
        notes.append(
            f"The first {most_rows:,} of {table.num_rows:,} rows; "
            f"budget-audit export {name} --out DIR writes them all."
        )
    notes += captions.null_reasons(name, rows, settings)
    notes += captions.missing_selectors(name, rows, archives, settings)
    columns = display_columns(name, shown)
    return Section(name, captions.purpose(name), notes, columns, shown.num_rows, table.num_rows)


def _selectors(settings: dict[str, str]) -> list[tuple[str, str]]:
    primary = settings["primary_selector"]
    names = settings["selectors"].split(",")
    return [
        (f"{name} (primary)" if name == primary else name, captions.selector_words(name))
        for name in [primary, *(name for name in names if name != primary)]
    ]


def joint(con: duckdb.DuckDBPyConnection, rows: dict[str, list[Row]]) -> Section:
    """Cap, cost, counts, rule and selector of every point of every curve, side by side."""
    settings, unit = data.settings(con), replayed_unit(con)
    curves = {(row["archive"], row["budget"], row["rule"]): row for row in rows.get("curves", [])}
    pools = {(row["archive"], row["budget"]): row for row in rows.get("pools", [])}
    means = data.relation(con, "mean_replays", cap=int(settings["primary_cap"])).to_pylist()
    # A filter has left out the points of other archives.
    points = [
        pools.get((row["archive"], row["budget"]), {}) | curves[key] | row
        for row in means
        if (key := (row["archive"], row["budget"], row["rule"])) in curves
    ]

    def column(header: str, cell: Callable[[Row], Any], numeric: bool = True) -> DisplayColumn:
        cells = [str(cell(row)) for row in points]
        return DisplayColumn(header, cells, numeric, heading=header)

    def decimal(value: float | None, decimals: int = 2) -> str:
        return "" if value is None else number(value, decimals)

    columns = [
        column("archive", lambda row: row["archive"], False),
        column("stopping rule", lambda row: row["rule"], False),
        column("budget B", lambda row: budget_name(row["budget"], unit)),
        column("at most K attempts", lambda row: settings["primary_cap"]),
        column("launched", lambda row: decimal(row["launched"])),
        column("returned", lambda row: decimal(row["returned"])),
        column("eligible", lambda row: decimal(row["eligible"])),
        column(unit.measures, lambda row: write_digits(round(row["cost"], 9), unit)),
        column("cost / B", lambda row: decimal(row["cost_ratio"])),
        column("prompt tokens", lambda row: decimal(row["prompt_tokens"], 0)),
        column("selector", lambda row: settings["primary_selector"], False),
        column("abstained, %", lambda row: decimal(row.get(f"{row['rule']}_abstention"))),
        column("accuracy, %", lambda row: with_interval(row, "accuracy")),
    ]
    notes = [] if points else [captions.empty_reason("curves", settings)]
    purpose = (
        "Means over the random orders of each problem, then over problems. A budget curve is "
        "readable only with all of these beside it."
    )
    return Section("joint", purpose, notes, columns, len(points), len(points))
