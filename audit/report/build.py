"""The report as files: an HTML page to explore, Markdown and LaTeX with figures, CSV."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database
from audit.errors import AuditError
from audit.output.export import too_many_pairs
from audit.output.filters import Filter
from audit.output.write import write_rows
from audit.progress import Progress
from audit.report import captions, data, figures
from audit.report.content import MOST_ROWS, content, sections, tables
from audit.report.explorer import page
from audit.report.explorer.texts import Texts, write_texts
from audit.report.figures import drawing
from audit.report.pages import latex, markdown

FORMATS = ("html", "md", "tex", "csv")
# Tables behind the figures and the table of all points.
# fmt: off
FIGURE_TABLES = (
    "budget_curve", "curves", "length_strata", "main", "matched_cost", "policies", "pools",
)
# fmt: on


@dataclass(frozen=True)
class Figure:
    """One figure as a specification, with its words; or why it is missing."""

    name: str
    caption: str
    warning: str
    wide: Any = None
    missing: str = ""


def report(
    con: duckdb.DuckDBPyConnection,
    out: Path | str,
    formats: Sequence[str] = ("html",),
    only: Filter | None = None,
    progress: Progress | None = None,
    *,
    title: str | None = None,
    texts: str | None = None,
    keep: dict[str, pa.Table] | None = None,
) -> list[Path]:
    """Write the report in the wanted formats into a folder and name the files written.

    `texts`, if given, is `some` or `all`: what attempts wrote is put beside the page. A dictionary
    given as `keep` takes the tables, which took most of the time.
    """
    out = Path(out)
    _refuse(out, formats, texts)
    database.require_replays(con)
    if only and not only.archives:
        # All archives were asked for: that is no filter.
        only = None
    archives = len(data.archives(con))
    left_out = _left_out(con, len(only.archives) if only else archives, formats)
    tables_by_name, unavailable = tables(con, only, progress, left_out)
    if keep is not None:
        keep.update(tables_by_name)
    values = content(con, tables_by_name, unavailable, title, only)
    files: dict[Path, bytes] = {}
    beside: Texts | None = None
    total = len(tables_by_name) + len(unavailable) + 2
    if "html" in formats:
        if progress:
            progress("page", total - 2, total)
        if texts is not None:
            names = [row["archive"] for row in values["archives"]]
            beside = write_texts(con, out / "texts", names, is_all=texts == "all")
        files[out / "report.html"] = page.page(con, values, beside).encode()
    if "md" in formats or "tex" in formats:
        files |= _texts_and_figures(con, out, formats, tables_by_name, values)
    for path, text in files.items():
        drawing.write_whole(path, text)
    written = [*files, *([beside.folder] if beside else [])]
    written += _csv_files(out / "csv", tables_by_name) if "csv" in formats else []
    if progress:
        progress("done", total, total)
    return written


def _csv_files(folder: Path, tables: dict[str, pa.Table]) -> list[Path]:
    """Return every table as a file of full precision."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"cannot write {folder}: {error.strerror or error}") from None
    for name, table in tables.items():
        write_rows(table, folder / f"{name}.csv", "csv")
    return [folder / f"{name}.csv" for name in tables]


def _refuse(out: Path, formats: Sequence[str], texts: str | None) -> None:
    """Say what is wrong with the options before anything is computed."""
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise AuditError(
            f"report: no format {', '.join(map(repr, unknown)) or 'given'};"
            f" there are {', '.join(FORMATS)}"
        )
    if out.exists() and not out.is_dir():
        raise AuditError(f"{out}: is a file; --out names the folder for the report")
    if texts is not None and (texts not in ("some", "all") or "html" not in formats):
        raise AuditError("report --texts: goes with the HTML page, and is 'all' or nothing more")


def _texts_and_figures(
    con: duckdb.DuckDBPyConnection,
    out: Path,
    formats: Sequence[str],
    tables: dict[str, pa.Table],
    values: dict[str, Any],
) -> dict[Path, bytes]:
    """Return the report in Markdown and LaTeX, and the figures beside it."""
    computed = {name: tables[name].to_pylist() for name in FIGURE_TABLES if name in tables}
    values |= {
        "figures": _figures(con, computed),
        "sections": sections(values, MOST_ROWS),
    }
    files: dict[Path, bytes] = {}
    for fmt, suffix, render in (("md", "svg", markdown), ("tex", "pdf", latex)):
        if fmt not in formats:
            continue
        files[out / f"report.{fmt}"] = render(values).encode()
        for figure in values["figures"]:
            if figure.wide is not None:
                path = out / "figures" / f"{figure.name}.{suffix}"
                files[path] = drawing.figure_bytes(figure.wide, f".{suffix}")
    return files


def _left_out(
    con: duckdb.DuckDBPyConnection, archives: int, formats: Sequence[str]
) -> dict[str, str]:
    """Return tables that would say nothing, or too much with so many archives, and why."""
    if set(formats) != {"html"}:
        pairs = too_many_pairs(archives).items()
        return {name: f"{why}; budget-audit table {name} prints them" for name, why in pairs}
    reasons = page.left_out(archives)
    if not con.execute("select 1 from used_terminals where terminal <> 'none'").fetchall():
        why = "no terminal rule was replayed; budget-audit replay --terminals all asks the cut"
        reasons |= dict.fromkeys(("terminals", "terminal_cost"), why)
    return reasons


def _figures(con: duckdb.DuckDBPyConnection, computed: data.Computed) -> list[Figure]:
    """Return every figure that the tables allow."""
    makers: dict[str, Callable[..., Any]] = dict(figures.FIGURES)
    if not computed.get("policies"):
        del makers["policies"]
    example = data.example_replay(con)
    shown = {row["archive"] for row in computed.get("main", [])}
    if example is not None and example["archive"] in shown:
        makers["timeline"] = lambda con, computed: figures.timeline(con, *example.values())
    drawn = []
    for name, make in makers.items():
        caption, warning = captions.FIGURES[name]
        if name == "timeline":
            caption += (
                " Another one: budget-audit timeline --archive … --competition … --question … "
                "--repeat … --budget …"
            )
        try:
            drawn.append(Figure(name, caption, warning, make(con, computed=computed)))
        except AuditError as error:
            drawn.append(Figure(name, caption, warning, missing=str(error)))
    return drawn
