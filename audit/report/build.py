"""Write the report: an interactive HTML page, Markdown and LaTeX with figures, CSV."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine
from audit.errors import AuditError
from audit.output.export import too_many_pairs
from audit.output.filters import Filter
from audit.output.write import write_rows
from audit.progress import Progress
from audit.report import captions, data, figures
from audit.report.content import MOST_ROWS, collect_content, list_sections, read_tables
from audit.report.explorer import page
from audit.report.explorer.texts import Texts, write_texts
from audit.report.figures import drawing
from audit.report.pages import render_latex, render_markdown

FORMATS = ("html", "md", "tex", "csv")


@dataclass(frozen=True)
class Figure:
    """One figure: its caption and its Vega-Lite specification, or why it is missing."""

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
    """Write the report in these formats into a folder; return the files written.

    `texts`, if given, is `some` or `all`: the attempts' texts are written beside the page. The
    tables, which took most of the time, are added to `keep` for further use.
    """
    out = Path(out)
    _check_options(out, formats, texts)
    database.require_replays(con)
    if only and not only.archives:
        # A filter that matches every archive is left empty.
        only = None
    archives = len(only.archives) if only else len(data.read_archives(con))
    left_out = _list_left_out(con, archives, formats)
    names = [name for name in engine.list_tables() if name not in left_out]
    with engine.prepared(con, engine.find_relations_behind(names)):
        tables_by_name, unavailable = read_tables(con, names, only, progress)
        values = collect_content(con, tables_by_name, unavailable | left_out, title, only)
        files = _render_files(con, out, formats, values)
    beside: Texts | None = None
    if "html" in formats:
        if progress:
            progress("page", len(names), len(names) + 2)
        if texts is not None:
            shown = [row["archive"] for row in values["archives"]]
            beside = write_texts(con, out / "texts", shown, is_all=texts == "all")
        files = {out / "report.html": page.render_page(con, values, beside).encode(), **files}
    for path, text in files.items():
        drawing.write_whole(path, text)
    written = [*files, *([beside.folder] if beside else [])]
    written += _csv_files(out / "csv", tables_by_name) if "csv" in formats else []
    if keep is not None:
        keep.update(tables_by_name)
    if progress:
        progress("done", len(names) + 2, len(names) + 2)
    return written


def _csv_files(folder: Path, tables: dict[str, pa.Table]) -> list[Path]:
    """Write every table as a CSV file at full precision; return the files."""
    drawing.make_folder(folder)
    for name, table in tables.items():
        write_rows(table, folder / f"{name}.csv", "csv")
    return [folder / f"{name}.csv" for name in tables]


def _check_options(out: Path, formats: Sequence[str], texts: str | None) -> None:
    """Refuse invalid options before anything is computed."""
    unknown = [repr(name) for name in formats if name not in FORMATS]
    if unknown or not formats:
        wrong = f"no format {', '.join(unknown) or 'given'}"
        raise AuditError(f"report: {wrong}; there are {', '.join(FORMATS)}")
    if out.exists() and not out.is_dir():
        raise AuditError(f"{out}: is a file; --out names the folder for the report")
    if texts is not None and (texts not in ("some", "all") or "html" not in formats):
        raise AuditError("report --texts: goes with the HTML page, and is 'all' or nothing more")


def _render_files(
    con: duckdb.DuckDBPyConnection, out: Path, formats: Sequence[str], values: dict[str, Any]
) -> dict[Path, bytes]:
    """Render the report as Markdown or LaTeX, with its figures; return contents by path."""
    kinds = {"md": (".svg", render_markdown), "tex": (".pdf", render_latex)}
    if kinds.keys().isdisjoint(formats):
        return {}
    drawn = _draw_figures(con, values)
    values = values | {"figures": drawn, "sections": list_sections(values, MOST_ROWS)}
    files: dict[Path, bytes] = {}
    for fmt in kinds.keys() & set(formats):
        suffix, render = kinds[fmt]
        files[out / f"report.{fmt}"] = render(values).encode()
        for figure in drawn:
            if figure.wide is not None:
                path = out / "figures" / f"{figure.name}{suffix}"
                files[path] = drawing.figure_bytes(figure.wide, suffix)
    return files


def _list_left_out(
    con: duckdb.DuckDBPyConnection, archives: int, formats: Sequence[str]
) -> dict[str, str]:
    """Return the tables that the report leaves out, as empty or too large, and why."""
    if set(formats) != {"html"}:
        pairs = too_many_pairs(archives).items()
        return {name: f"{why}; budget-audit table {name} prints them" for name, why in pairs}
    reasons = page.list_left_out(archives)
    if not con.execute("select 1 from used_terminals where terminal <> 'none'").fetchall():
        why = "no terminal rule was replayed; budget-audit replay --terminals all asks the cut"
        reasons |= dict.fromkeys(("terminals", "terminal_cost"), why)
    return reasons


def _draw_figures(con: duckdb.DuckDBPyConnection, values: dict[str, Any]) -> list[Figure]:
    """Draw every figure of the report; note why one is missing."""
    archives = [row["archive"] for row in values["archives"]]
    drawn = []
    for name, (caption, warning) in captions.FIGURES.items():
        try:
            if name == "timeline":
                examples = data.read(con, "example_replay").to_pylist()
                if not examples or examples[0]["archive"] not in archives:
                    continue
                chart = figures.timeline(con, *examples[0].values())
                caption += (
                    " Another one: budget-audit timeline --archive … --competition … "
                    "--question … --repeat … --budget …"
                )
            elif name == "policies" and not values["tables"][name].num_rows:
                continue
            else:
                chart = figures.FIGURES[name](con, archives)()
            drawn.append(Figure(name, caption, warning, chart))
        except AuditError as error:
            drawn.append(Figure(name, caption, warning, missing=str(error)))
    return drawn
