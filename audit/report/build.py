"""The report: findings, what was compared, figures, every table, and where it all came from."""

import json
import platform
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow as pa
from markupsafe import Markup

import audit
from audit import database, engine
from audit.errors import AuditError, extra_hint
from audit.load import provenance
from audit.output.display import DisplayColumn, display_columns, round_half_up, tex_text, write_csv
from audit.output.filters import Filter, filtered
from audit.output.prices import Prices
from audit.output.prices import table as priced_table
from audit.progress import Progress
from audit.report import data, drawing, figures, findings, words
from audit.report.data import Row
from audit.report.pages import html_page, text_page
from audit.report.wording import budget_name, interval, number, one_line
from audit.text import steerless

FORMATS = ("html", "md", "tex", "csv")
MOST_ROWS = 200
WIDEST_CELL = 60
TEX_CELL = 32
NARROW_WIDTH = 350
SIMULATED = "SIMULATED DATA"


@dataclass(frozen=True)
class Section:
    """One table as the report shows it."""

    name: str
    purpose: str
    columns: list[DisplayColumn]
    shown: int
    total: int
    notes: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[list[tuple[str, bool]]]:
        """The cells row by row, each with whether it is a number."""
        return [
            [(clip(column.cells[index]), column.numeric) for column in self.columns]
            for index in range(self.shown)
        ]


@dataclass(frozen=True)
class Figure:
    """One figure, as specifications for a wide and a narrow page, with its words."""

    name: str
    caption: str
    warning: str
    wide: Any = None
    narrow: Any = None
    missing: str = ""


def report(
    con: duckdb.DuckDBPyConnection,
    out: Path | str,
    formats: Sequence[str] = ("html",),
    prices: Prices | None = None,
    only: Filter | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Write the report in the wanted formats into a folder and name the files written."""
    out = Path(out)
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise AuditError(
            f"report: no format {', '.join(map(repr, unknown)) or 'given'};"
            f" there are {', '.join(FORMATS)}"
        )
    if "html" in formats and not drawing.has_figures():
        raise AuditError(
            f"the HTML report needs altair and vl-convert: {extra_hint('report')}"
            " (md, tex and csv work without)"
        )
    if out.exists() and not out.is_dir():
        raise AuditError(f"{out}: is a file; --out names the folder for the report")
    database.require_replays(con)
    tell = progress or (lambda what, done, total: None)
    tables, unavailable = _tables(con, prices, only, tell)
    tell("pages and figures", len(engine.table_names()), len(engine.table_names()) + 1)
    content = _content(con, tables, unavailable, only)
    files: dict[Path, bytes] = {}
    if "html" in formats:
        files[out / "report.html"] = _html(content).encode()
    drawn: list[Figure] = content["figures"]
    for fmt, suffix, render in (("md", "svg", _markdown), ("tex", "pdf", _latex)):
        if fmt not in formats:
            continue
        files[out / f"report.{fmt}"] = render(content).encode()
        for figure in drawn:
            if figure.wide is not None:
                path = out / "figures" / f"{figure.name}.{suffix}"
                files[path] = drawing.figure_bytes(figure.wide, f".{suffix}")
    for path, text in files.items():
        drawing.write_whole(path, text)
    written = list(files)
    if "csv" in formats:
        folder = out / "csv"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise AuditError(f"cannot write {folder}: {error.strerror or error}") from None
        for name, table in tables.items():
            write_csv(table, folder / f"{name}.csv")
            written.append(folder / f"{name}.csv")
    tell("done", len(engine.table_names()) + 1, len(engine.table_names()) + 1)
    return written


def _tables(
    con: duckdb.DuckDBPyConnection, prices: Prices | None, only: Filter | None, tell: Progress
) -> tuple[dict[str, pa.Table], dict[str, str]]:
    """Every table in the order of the words, and why the others cannot be had."""
    tables: dict[str, pa.Table] = {}
    unavailable: dict[str, str] = {}
    known = engine.table_names()
    for name in [*(name for name in words.TABLES if name in known), *known]:
        if name in tables or name in unavailable:
            continue
        tell(name, len(tables) + len(unavailable), len(known) + 1)
        try:
            table = priced_table(con, name, prices)
            tables[name] = filtered(name, table, only) if only else table
        except AuditError as error:
            # A table may need more than a replay; the report goes on without it and says why.
            unavailable[name] = str(error)
    return tables, unavailable


def _content(
    con: duckdb.DuckDBPyConnection,
    tables: dict[str, pa.Table],
    unavailable: dict[str, str],
    only: Filter | None = None,
) -> dict[str, Any]:
    """All that the templates print, as plain values."""
    rows = {name: table.to_pylist() for name, table in tables.items() if name != "selection_events"}
    settings = data.settings(con)
    archives = [row for row in data.archives(con) if not only or row["archive"] in only.archives]
    simulated = data.is_simulated(con)
    sections = [
        _section(name, table, rows.get(name), archives, settings) for name, table in tables.items()
    ]
    sections += [
        Section(
            name,
            words.purpose(name, ""),
            [],
            0,
            0,
            [f"Not available: {reason.removeprefix(f'{name}: ')}."],
        )
        for name, reason in unavailable.items()
    ]
    named = data.named_problems(con)
    if named.num_rows:
        sections.append(_section("problems", named, None, archives, settings))
    budgets = [int(budget) for budget in settings["budgets"].split(",")]
    return {
        "title": (f"{SIMULATED}: " if simulated else "") + "Budget audit",
        "simulated": simulated,
        "banner": f"{SIMULATED}: made by budget-audit simulate, not by a model",
        "scope": _scope(archives, settings, budgets),
        "topics": findings.all_topics(
            rows, settings["primary_selector"], data.archives_with_references(con)
        ),
        "compared": [
            *_compared(archives, settings, budgets),
            ("Read as", provenance.notes(con, has_selectors=True)),
            *([("Shown", only.note().removeprefix("shown: "))] if only else []),
        ],
        "joint": _joint(con, rows, settings),
        "rules": [
            (rule, words.RULES.get(rule, "a rule of your own: see the relation rules"))
            for rule in figures.rule_order(rows.get("curves", [])) or list(words.RULES)
        ],
        "selectors": _selectors(settings),
        "reading": words.READING,
        "figures": _figures(con, rows),
        "sections": sections,
        "most_rows": MOST_ROWS,
        "sources": [r for r in _sources(con) if not only or r["archive"] in only.archives],
        "settings": sorted(settings.items()),
        "versions": [
            ("budget-audit", audit.__version__),
            ("duckdb", duckdb.__version__),
            ("numpy", numpy.__version__),
            ("pyarrow", pa.__version__),
            ("python", platform.python_version()),
        ],
    }


def _section(
    name: str,
    table: pa.Table,
    rows: list[Row] | None,
    archives: list[Row],
    settings: dict[str, str],
) -> Section:
    shown = table.slice(0, MOST_ROWS)
    rows = shown.to_pylist() if rows is None else rows
    notes = []
    if not table.num_rows:
        notes.append(words.empty_reason(name, settings))
    if table.num_rows > MOST_ROWS:
        notes.append(
            f"The first {MOST_ROWS} of {table.num_rows:,} rows; "
            f"budget-audit export {name} --out DIR writes them all."
        )
    notes += words.null_reasons(name, rows, settings)
    notes += words.missing_selectors(name, rows, archives, settings)
    return Section(
        name,
        words.purpose(name, engine.table_purpose(name) if name in engine.table_names() else ""),
        display_columns(name, shown),
        shown.num_rows,
        table.num_rows,
        notes,
    )


def clip(text: str) -> str:
    """A cell that cannot push its table apart; exports hold the whole text."""
    return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 1] + "…"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _scope(archives: list[Row], settings: dict[str, str], budgets: list[int]) -> str:
    count = len(archives)
    attempts = sum(row["attempts"] for row in archives)
    shown = [budget_name(budget) for budget in budgets]
    span = _listed(shown) if len(shown) <= 6 else f"{shown[0]} to {shown[-1]} ({len(shown)} steps)"
    return (
        f"{attempts:,} recorded attempts in {count} {'archive' if count == 1 else 'archives'}, "
        f"replayed under budgets of {span} completion tokens in "
        + (
            "their own order."
            if settings["orders"] == "0"
            else f"{settings['orders']} random orders."
        )
    )


def _compared(
    archives: list[Row], settings: dict[str, str], budgets: list[int]
) -> list[tuple[str, str]]:
    """The box: what was held fixed and what was varied."""
    return [
        *(
            (
                one_line(row["archive"]),
                f"{row['problems']:,} problems in {row['competitions']:,} "
                f"{'competition' if row['competitions'] == 1 else 'competitions'}, "
                f"{_range(row['smallest_bank'], row['largest_bank'])} attempts each; "
                f"{row['eligible']:,} of {row['attempts']:,} attempts finished with an answer",
            )
            for row in archives
        ),
        ("Varied", "the stopping rule and the budget B, in completion tokens"),
        (
            "Held fixed",
            "the recorded attempts, their order, which of them are eligible, and the selector",
        ),
        ("Budgets B", ", ".join(budget_name(budget) for budget in budgets)),
        (
            "Attempts",
            f"at most K = {settings['primary_cap']} per replay"
            f" (sensitivity: K = {settings['caps'].replace(',', ', ')})",
        ),
        (
            "Orders",
            f"{settings['orders']} random orders per problem, the same for both rules"
            if settings["orders"] != "0"
            else "the archive's own order only",
        ),
        (
            "Intervals",
            f"95 %, from {int(settings['replicates']):,} resamples of problems within competitions"
            if settings["replicates"] != "0"
            else "none: no resamples were drawn",
        ),
    ]


def _selectors(settings: dict[str, str]) -> list[tuple[str, str]]:
    primary = settings["primary_selector"]
    names = settings.get("selectors", primary).split(",")
    return [
        (
            f"{name} (primary)" if name == primary else name,
            words.SELECTORS.get(name, "a selector of your own: see the relation selectors"),
        )
        for name in [primary, *(name for name in names if name != primary)]
    ]


def _joint(
    con: duckdb.DuckDBPyConnection, rows: dict[str, list[Row]], settings: dict[str, str]
) -> Section:
    """Cap, cost, counts, rule and selector of every point of every curve, side by side."""
    curves = {(row["archive"], row["budget"], row["rule"]): row for row in rows.get("curves", [])}
    pools = {(row["archive"], row["budget"]): row for row in rows.get("pools", [])}
    # A filter has left out the points of other archives.
    found = [r for r in data.joint(con) if (r["archive"], r["budget"], r["rule"]) in curves]

    def abstained(row: Row) -> float | None:
        pool = pools.get((row["archive"], row["budget"]), {})
        return pool.get(f"{row['rule']}_abstention")

    def accuracy(row: Row) -> str:
        curve = curves[row["archive"], row["budget"], row["rule"]]
        return number(curve["accuracy"]) + interval(curve, "accuracy")

    def column(header: str, cell: Callable[[Row], Any], numeric: bool = True) -> DisplayColumn:
        return DisplayColumn(header, [str(cell(row)) for row in found], numeric)

    def decimal(value: float | None, decimals: int = 2) -> str:
        if value is None:
            return ""
        text = round_half_up(value, decimals)
        return f"{int(text):,}" if decimals == 0 else text

    columns = [
        column("archive", lambda row: row["archive"], False),
        column("stopping rule", lambda row: row["rule"], False),
        column("budget B", lambda row: budget_name(row["budget"])),
        column("at most K attempts", lambda row: settings["primary_cap"]),
        column("launched", lambda row: decimal(row["launched"])),
        column("returned", lambda row: decimal(row["returned"])),
        column("eligible", lambda row: decimal(row["eligible"])),
        column("completion tokens", lambda row: decimal(row["completion_cost"], 0)),
        column("cost / B", lambda row: decimal(row["cost_ratio"])),
        column("prompt tokens", lambda row: decimal(row["prompt_cost"], 0)),
        column("selector", lambda row: settings["primary_selector"], False),
        column("abstained, %", lambda row: decimal(abstained(row))),
        column("accuracy, %", accuracy),
    ]
    notes = [] if found else [words.empty_reason("curves", settings)]
    return Section(
        "joint",
        "Means over the random orders of each problem, then over problems. A budget curve is "
        "readable only with all of these beside it.",
        columns,
        len(found),
        len(found),
        notes,
    )


def _sources(con: duckdb.DuckDBPyConnection) -> list[Row]:
    return [
        {
            "file": Path(str(row["file"])).name,
            "archive": row["archive"],
            "format": row["format"],
            "bytes": f"{row['bytes']:,}" if row["bytes"] is not None else "",
            "rows": f"{row['rows']:,}" if row["rows"] is not None else "",
            "sha256": row["sha256"] or "",
            "mapping": _renamed(row["mapping"]),
            "simulated": "yes" if row["simulated"] else "no",
        }
        for row in data.sources(con)
    ]


def _renamed(mapping: str | None) -> str:
    """The columns that a source calls something else, as canonical name and source name."""
    columns = json.loads(mapping or "{}")
    return ", ".join(f"{name}: {origin}" for name, origin in columns.items() if name != origin)


def _figures(con: duckdb.DuckDBPyConnection, known: data.Known) -> list[Figure]:
    """Every figure, wide for a page and narrow for a phone."""
    example = data.example_replay(con)
    if example and example["archive"] not in {row["archive"] for row in known.get("main", [])}:
        example = None
    makers: dict[str, Callable[..., Any]] = {
        "budget_curves": figures.budget_curves,
        "cost_accuracy": figures.cost_accuracy,
        "length_strata": figures.length_strata,
    }
    if example is not None:
        key = {
            "archive": example["archive"],
            "competition": example["competition"],
            "question": example["question_id"],
            "repeat": example["repeat"],
            "budget": example["budget"],
        }
        makers["timeline"] = lambda con, columns=None, known=None, **options: figures.timeline(
            con, **key, **options
        )
    drawn = []
    for name, make in makers.items():
        caption, warning = words.FIGURES[name]
        if name == "timeline" and example is not None:
            caption += (
                " Another one: budget-audit timeline --archive … --competition … --question … "
                "--repeat … --budget …"
            )
        try:
            drawn.append(
                Figure(
                    name,
                    caption,
                    warning,
                    drawing.vega_lite_spec(make(con, known=known)),
                    drawing.vega_lite_spec(
                        make(con, columns=1, total_width=NARROW_WIDTH, known=known)
                    ),
                )
            )
        except AuditError as error:
            drawn.append(Figure(name, caption, warning, missing=str(error)))
    return drawn


# One renderer for each format.


def _own_ids(svg: str, prefix: str) -> str:
    """Several figures share a page, so the ids inside each get a prefix."""
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}-", svg)
    return re.sub(r'href="#', f'href="#{prefix}-', svg)


def _html(content: dict[str, Any]) -> str:
    drawn = [
        {
            "name": figure.name,
            "caption": figure.caption,
            "warning": figure.warning,
            "missing": figure.missing,
            "wide": Markup(_own_ids(drawing.svg(figure.wide), f"{figure.name}-wide"))
            if figure.wide is not None
            else "",
            "narrow": Markup(_own_ids(drawing.svg(figure.narrow), f"{figure.name}-narrow"))
            if figure.narrow is not None
            else "",
        }
        for figure in content["figures"]
    ]
    specs = {figure.name: figure.wide for figure in content["figures"] if figure.wide is not None}
    return html_page(
        "report.html.j2",
        **content
        | {
            "figures": drawn,
            "specs": Markup(drawing.script_json(specs)),
            "bundle": Markup(drawing.script_bundle()) if specs else "",
            "html_cell": _html_cell,
            "label": words.label,
            "tied": tied,
        },
    )


def tied(text: str) -> str:
    """The text with no line break between a number and its unit, or inside B = 4k."""
    return re.sub(r"(?<=\d) (?=%)|(?<=\bB) (?==)|(?<= =) (?=\d)|(?<=\d) (?=\[)", "\u00a0", text)


def _html_cell(text: str, numeric: bool) -> Markup:
    """A cell with a real minus sign, and its interval set apart from the estimate."""
    if not numeric:
        return Markup("{}").format(steerless(text))
    text = minus(text)
    value, bracket, rest = text.partition(" [")
    if not bracket:
        return Markup("{}").format(text)
    return Markup('{} <span class="interval">[{}</span>').format(value, rest)


def minus(text: str) -> str:
    """A hyphen before a digit as a minus sign."""
    return re.sub(r"(?<!\w)-(?=[\d.])", "−", text)


_MD = {c: "\\" + c for c in "\\`*_[]|~$#"} | {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def md_text(text: str) -> str:
    """Text on one line with the characters that Markdown reads as markup escaped."""
    return "".join(_MD.get(c, c if c.isprintable() else " ") for c in text)


def _markdown(content: dict[str, Any]) -> str:
    return text_page("report.md.j2", md_text, **content | {"label": words.label, "minus": minus})


# Characters that plain pdflatex sets by itself, and how to write the report's own others.
_TEX_KNOWN = re.compile(
    "[\x00-\x7f\u00a0-\u0125\u0128-\u0137\u0139-\u013e\u0141-\u0148\u014a-\u0165"
    "\u0168-\u017e\u2013\u2014\u2018-\u201a\u201c-\u201e\u2026→]"
)
_TEX_OWN = {
    "−": r"\ensuremath{-}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "√": r"\ensuremath{\surd}",
    "π": r"\ensuremath{\pi}",
    "∞": r"\ensuremath{\infty}",
}


def _tex_declarations(text: str) -> str:
    """A declaration for each character that plain pdflatex would stop at."""
    lines = []
    for c in sorted({c for c in text if not _TEX_KNOWN.match(c)}):
        shown = _TEX_OWN.get(c, rf"[U+{ord(c):04X}]\allowbreak{{}}")
        lines.append(rf"\DeclareUnicodeCharacter{{{ord(c):04X}}}{{{shown}}}")
    return "\n".join(lines)


def _tex_cell(text: str, numeric: bool, first: bool = False) -> Markup:
    shown = tex_text(minus(text) if numeric else one_line(text, TEX_CELL))
    # After \\ a bracket or a star would be read as its argument.
    return Markup(("{}" if first and shown[:1] in ("[", "*") else "") + shown)


def _tex_head(column: DisplayColumn) -> Markup:
    """A header broken into short lines, because numbers are narrower than their names."""
    lines: list[str] = []
    for word in words.label(column.header).split(" "):
        if lines and len(lines[-1]) + len(word) < 9:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    side = "r" if column.numeric else "l"
    stacked = r"\\".join(tex_text(line) for line in lines)
    return Markup(rf"\shortstack[{side}]{{{stacked}}}")


def _latex(content: dict[str, Any]) -> str:
    page = text_page(
        "report.tex.j2",
        tex_text,
        **content | {"cell": _tex_cell, "head": _tex_head},
    )
    return page.replace("%DECLARATIONS%", _tex_declarations(page))
