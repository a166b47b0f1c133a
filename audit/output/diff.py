"""Differences between two databases: settings, sources, and the cells of every table."""

import math
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import duckdb
import pyarrow as pa

from audit import engine
from audit.database import insert
from audit.engine.build import render_file
from audit.engine.settings import read_last_settings
from audit.errors import AuditError, first_line
from audit.output.choose import select_rows
from audit.output.display import display_columns, is_number, text_table
from audit.output.export import too_many_pairs
from audit.output.filters import ARCHIVE_COLUMNS
from audit.output.headings import replayed_unit, set_unit
from audit.output.terminal import lay_out
from audit.text import literal, not_there, plural, shortened

Difference = tuple[str, str, str, str | None, str | None]
# Old names of archives and the new ones.
Pairs = dict[str, str]
MOST_LINES, MOST_FLIPPED, WIDEST_ARCHIVE = 8, 10, 30
OTHERS = ("settings", "sources")
# How many changed means are listed, and the columns of archive_comparisons with their formats.
MEASURES = {
    "accuracy": (8, ("other_accuracy", "accuracy", "delta", "delta_low", "delta_high")),
    "cost": (
        3,
        (
            "other_cost",
            "cost",
            "cost_difference",
            "cost_difference_low",
            "cost_difference_high",
        ),
    ),
}
HEADS = ("archive", "rule", "budget", "old", "new", "difference, 95 %", "")


def archive_pairs(names: Sequence[str]) -> Pairs:
    """Read the archives to compare, NAME or OLD=NEW, as a dictionary from old to new name."""
    pairs = {}
    for name in names:
        old, _, new = name.partition("=")
        pairs[old] = new or old
    return pairs


def find_differences(
    old: duckdb.DuckDBPyConnection,
    new: duckdb.DuckDBPyConnection,
    tolerance: float,
    pairs: Pairs,
    table: str | None,
) -> pa.Table:
    """Return one row per difference; numbers within the tolerance of each other count as equal."""
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise AuditError(f"--tolerance {tolerance:g}: a number of 0 or more")
    for side, con, asked in (("OLD", old, pairs.keys()), ("NEW", new, pairs.values())):
        archives = con.execute("select distinct archive from attempts order by archive").fetchall()
        loaded = [archive for (archive,) in archives]
        for name in asked:
            if name not in loaded:
                raise AuditError(f"--archive: {side}: {not_there('archive', name, loaded)}")
    skipped = find_skipped_tables(old, new)
    compared = [name for name in engine.list_tables() if name not in skipped]
    names = [*OTHERS, *compared] if table is None else [table]
    read = engine.find_relations_behind(names)
    with duckdb.connect() as both, engine.prepared(old, read), engine.prepared(new, read):
        rows = [row for name in names for row in _compare(name, (old, new), both, tolerance, pairs)]
    return text_table(("what", "row", "column", "old", "new"), rows)


def find_skipped_tables(*sides: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """Return the tables that are compared only when named, and why: too many pairs of archives."""
    counts = [
        con.execute("select count(distinct archive) from attempts").fetchall() for con in sides
    ]
    return too_many_pairs(max(counts)[0][0])


def _compare(
    name: str,
    sides: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
    both: duckdb.DuckDBPyConnection,
    tolerance: float,
    pairs: Pairs,
) -> Iterator[Difference]:
    """Yield the differences of one table, of the settings or of the sources."""
    found = [_read_rows(con, name) for con in sides]
    tables = [rows for rows in found if not isinstance(rows, str)]
    if len(tables) == 2 and name == "sources":
        for side, rows in zip(("old", "new"), tables, strict=True):
            insert(both, f"create table {side}_sources as", rows)
        for row in both.execute(engine.render("moved_sources")).fetchall():
            yield "sources", *row
    elif len(tables) == 2:
        keys = ["key"] if name == "settings" else key_columns(name)
        yield from _compare_cells(both, name, tables, keys, tolerance, pairs)
    elif tables:
        old, new = (rows if isinstance(rows, str) else f"{len(rows):,} rows" for rows in found)
        yield name, "", "", old, new


def _compare_cells(
    both: duckdb.DuckDBPyConnection,
    what: str,
    sides: Sequence[pa.Table],
    keys: Sequence[str],
    tolerance: float,
    pairs: Pairs,
) -> Iterator[Difference]:
    """Yield the columns that only one side has, then the cells and rows that differ."""
    before, after = (side.column_names for side in sides)
    for column in sorted({*before} ^ {*after}):
        yield what, "", column, *("there" if column in side else None for side in (before, after))
    shared = [column for column in before if column in after]
    # A problem's number may change when another problem is added; its name does not.
    named = ["problem" if key == "question_id" and "problem" in shared else key for key in keys]
    columns = {
        name: is_number(sides[0].schema.field(name).type)
        for name in shared
        if name not in (*named, *keys)
    }
    _insert_sides(both, "rows", sides, pairs)
    named = [key for key in named if key in shared]
    sql = render_file(
        "diff/cell_differences.jinja", keys=named, columns=columns, tolerance=tolerance
    )
    for row in both.execute(sql).fetchall():
        yield what, *row


def _insert_sides(
    both: duckdb.DuckDBPyConnection, name: str, sides: Sequence[pa.Table], pairs: Pairs
) -> None:
    """Insert both sides' rows of the archives to compare, archives under their new names."""
    for side, rows, names in zip(("old", "new"), sides, (pairs, pairs.values()), strict=True):
        columns = [column for column in ARCHIVE_COLUMNS if pairs and column in rows.column_names]
        renamed = f"map({_write_list(names)}, {_write_list(pairs.values())})"
        replaced = ", ".join(f"{renamed}[{column}] as {column}" for column in columns)
        kept = [f"({column} is null or {column} in {_write_list(names)})" for column in columns]
        insert(both, "create or replace temp table side as", rows)
        both.execute(
            f"create or replace temp table {side}_{name} as select * "
            f"{replaced and f'replace ({replaced})'} from side "
            f"where {' and '.join(kept) or 'true'}"
        )


def _write_list(names: Collection[str]) -> str:
    return f"[{', '.join(map(literal, names))}]"


def first_screen(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, rows: pa.Table, pairs: Pairs
) -> str:
    """Write one screen: changed settings, moved accuracies and costs, most changed problems."""
    counts = Counter(rows["what"].to_pylist())
    skipped = [
        f"Not compared: {name} ({why}); --table {name} compares it"
        for name, why in find_skipped_tables(old, new).items()
    ]
    if not counts:
        return "\n".join(["0 differences", *skipped])
    parts = [f"{plural(rows.num_rows, 'difference')}; --table NAME or --all shows them", *skipped]
    changed = [
        f"  {row['what']} {row['row']}: {row['old'] or 'not there'} -> {row['new'] or 'not there'}"
        for row in rows.to_pylist()
        if row["what"] in OTHERS
    ]
    if changed:
        parts += ["", "Settings and sources:", *changed[:MOST_LINES]]
    if len(changed) > MOST_LINES:
        parts.append(f"  … and {len(changed) - MOST_LINES:,} more")
    parts += _describe_moves(old, new, pairs)
    cells = [f"{name} {count:,}" for name, count in counts.items() if name not in OTHERS]
    if cells:
        parts += ["", textwrap.fill(f"Cells that differ: {', '.join(cells)}", 80)]
    hint = "Two archives of one database are compared by the table archive_comparisons."
    return "\n".join([*parts, "", hint])


def _describe_moves(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, pairs: Pairs
) -> list[str]:
    """List the accuracies, costs and problems that changed, over the problems that both have."""
    with duckdb.connect() as both:
        try:
            means = [con.sql(engine.render("problem_means")).to_arrow_table() for con in (old, new)]
        except duckdb.Error:
            return []
        _insert_sides(both, "means", means, pairs)
        both.execute(f"create table moved as {engine.render('moved_problems')}")
        settings = read_last_settings(new)
        keys = ("measure", "archive", "budget", "rule")
        drawn = (settings.replicates, settings.bootstrap_seed)
        intervals = engine.paired_intervals(both, "from moved", keys, *drawn)
        insert(both, "create table intervals as", intervals)
        scale = {"scale": replayed_unit(new).scale}
        rows = both.sql(engine.render("moved_means"), params=scale).to_arrow_table()
        rows = set_unit(new, rows)
        lines = [line for measure in MEASURES for line in ("", *_list_moved_means(measure, rows))]
        return [*lines, "", *_list_flipped(both)] if len(rows) else []


def _list_moved_means(measure: str, rows: pa.Table) -> list[str]:
    """List the archives, rules and budgets whose mean changed, with its paired interval."""
    most, names = MEASURES[measure]
    of_measure = select_rows(rows, f"measure = '{measure}'", "diff")
    moved = select_rows(of_measure, "is_moved", "diff").drop_columns(["measure", "is_moved"])
    if not len(moved):
        return [f"{measure.capitalize()}: the same at every budget and under every rule."]
    table = moved.rename_columns(["archive", "rule", "budget", *names, "mark"]).slice(0, most)
    columns = [
        replace(column, header=head)
        for column, head in zip(display_columns("archive_comparisons", table), HEADS, strict=True)
    ]
    archives = list(dict.fromkeys(rows["archive"].to_pylist()))
    cells = [shortened(name, WIDEST_ARCHIVE, archives) for name in columns[0].cells]
    columns[0] = replace(columns[0], cells=cells)
    clear = moved["mark"].to_pylist().count("*")
    title = (
        f"{measure.capitalize()}, paired over problems: "
        f"{clear} of {len(of_measure)} differ by more than noise (*)"
    )
    more = [f"… and {len(moved) - most:,} more"] if len(moved) > most else []
    return [title, *lay_out(columns, len(table)).splitlines(), *more]


def _list_flipped(both: duckdb.DuckDBPyConnection) -> list[str]:
    """List the problems whose accuracy changed most, averaged over budgets and rules."""
    rows = both.execute(
        "select avg(difference) as gain, archive, competition, problem from moved "
        "where measure = 'accuracy' group by all having gain <> 0 "
        "order by abs(gain) desc, archive, competition, problem"
    ).fetchall()
    if not rows:
        return ["No problem's mean accuracy moved."]
    lines = [f"  {row[0]:+7.2f}  {row[1]}, {row[2]} {row[3]}" for row in rows[:MOST_FLIPPED]]
    return [f"Problems that flipped most, in points (of {len(rows):,} that moved):", *lines]


def _read_rows(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table | str:
    """Return the rows of a table, of the settings or of the sources, or why they are missing."""
    try:
        if name == "settings":
            return con.sql("select key, value from settings").to_arrow_table()
        if name == "sources":
            return con.sql("select archive, file, sha256, rows from sources").to_arrow_table()
        return engine.compute_table(con, name)
    except (AuditError, duckdb.CatalogException) as error:
        return first_line(error)


def key_columns(name: str) -> list[str]:
    """Return the key columns of a table, which its SQL file names as its grain."""
    return engine.read_header(name)["grain"].split(", ")
