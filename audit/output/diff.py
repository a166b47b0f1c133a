"""What differs between two databases: settings, sources, and the cells of every table."""

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from audit import engine
from audit.database import cursor, insert
from audit.engine.build import render_file
from audit.engine.settings import last_settings
from audit.errors import AuditError
from audit.output.display import budget_name, text_table
from audit.output.headings import replayed_unit
from audit.output.terminal import DisplayColumn, lines_of
from audit.text import not_there, plural, shortened
from audit.units import Unit, write_digits

Difference = tuple[str, str, str, str | None, str | None]
# Old names of archives and the new ones.
Pairs = dict[str, str]
MOST_LINES, MOST_COSTS, MOST_FLIPPED = 8, 3, 10
OTHERS = ("settings", "sources")
NUMBERS = ("int", "float", "double", "decimal")
ARCHIVE_COLUMNS = ("archive", "other")


def archive_pairs(names: Sequence[str]) -> Pairs:
    """Return the archives to compare, old name and new name, from NAME or OLD=NEW."""
    pairs = {}
    for name in names:
        old, _, new = name.partition("=")
        pairs[old] = new or old
    return pairs


def differences(
    old: duckdb.DuckDBPyConnection,
    new: duckdb.DuckDBPyConnection,
    tolerance: float,
    pairs: Pairs,
    table: str | None,
) -> pa.Table:
    """Return a row per difference; numbers are equal within the tolerance, absolute or relative."""
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise AuditError(f"--tolerance {tolerance:g}: a number of 0 or more")
    for side, con, asked in (("OLD", old, pairs.keys()), ("NEW", new, pairs.values())):
        archives = con.execute("select distinct archive from attempts order by archive").fetchall()
        loaded = [archive for (archive,) in archives]
        for name in asked:
            if name not in loaded:
                raise AuditError(f"--archive: {side}: {not_there('archive', name, loaded)}")
    read = engine.relations_behind(engine.table_names() if table is None else [table])
    with (
        duckdb.connect() as both,
        engine.prepared(old, read),
        engine.prepared(new, read),
    ):
        rows = list(_differences((old, new), both, tolerance, pairs, table))
    return text_table(("what", "row", "column", "old", "new"), rows)


def _differences(
    sides: tuple[duckdb.DuckDBPyConnection, duckdb.DuckDBPyConnection],
    both: duckdb.DuckDBPyConnection,
    tolerance: float,
    pairs: Pairs,
    table: str | None,
) -> Iterator[Difference]:
    """Yield the differences of settings, sources and tables."""
    if table is None:
        settings = [_rows(con, "select key, value from settings", "key, value") for con in sides]
        yield from _cells(both, "settings", settings, ["key"], tolerance, {})
        columns = "archive, file, sha256, rows"
        for name, con in zip(("old_sources", "new_sources"), sides, strict=True):
            insert(both, f"create table {name} as", _rows(con, f"select {columns} from sources"))
        for row in both.execute(engine.render("moved_sources")).fetchall():
            yield "sources", *row
    for name in engine.table_names() if table is None else [table]:
        tables = [_table(con, name) for con in sides]
        found = [rows for rows in tables if isinstance(rows, pa.Table)]
        if len(found) == 2:
            yield from _cells(both, name, found, key_columns(name), tolerance, pairs)
        elif found:
            shown = [f"{t.num_rows:,} rows" if isinstance(t, pa.Table) else t for t in tables]
            yield name, "", "", shown[0], shown[1]


def _cells(
    both: duckdb.DuckDBPyConnection,
    what: str,
    sides: Sequence[pa.Table],
    keys: Sequence[str],
    tolerance: float,
    pairs: Pairs,
) -> Iterator[Difference]:
    """Yield the columns that one side lacks, then the cells and rows in which both differ."""
    before, after = (side.column_names for side in sides)
    for column in sorted({*before} ^ {*after}):
        there = ["there" if column in columns else None for columns in (before, after)]
        yield what, "", column, *there
    # The number of a problem may shift where another one is added; its name does not.
    is_named = "problem" in before and "problem" in after
    named = ["problem" if key == "question_id" and is_named else key for key in keys]
    named = [key for key in named if key in before and key in after]
    is_number = {
        field.name: str(field.type).startswith(NUMBERS)
        for field in sides[0].schema
        if field.name in after and field.name not in (*named, *keys)
    }
    for name, side, archives in zip(("old", "new"), sides, (pairs, _same(pairs)), strict=True):
        insert(both, "create or replace temp table side as", side)
        both.execute(f"create or replace temp table {name}_rows as {_paired(side, archives)}")
    sql = render_file(
        "diff/cell_differences.jinja", keys=named, columns=is_number, tolerance=tolerance
    )
    for row in both.execute(sql).fetchall():
        yield what, *row


def _paired(side: pa.Table, pairs: Pairs) -> str:
    """Return the select of a side's rows, archives under their new names and others left out."""
    columns = [name for name in ARCHIVE_COLUMNS if name in side.column_names]
    if not pairs or not columns:
        return "from side"
    names = ", ".join(f"({_text(old)}, {_text(new)})" for old, new in pairs.items())
    new_names = f"(select new from (values {names}) as pairs (old, new) where old = {{0}}) as {{0}}"
    renamed = ", ".join(new_names.format(column) for column in columns)
    kept = " and ".join(
        f"({column} is null or {column} in ({', '.join(map(_text, pairs))}))" for column in columns
    )
    return f"select * replace ({renamed}) from side where {kept}"


def _text(value: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"


def _same(pairs: Pairs) -> Pairs:
    """Return the new names of pairs, each as itself."""
    return {name: name for name in pairs.values()}


def first_screen(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, rows: pa.Table, pairs: Pairs
) -> str:
    """Return one screen: what changed, accuracies and costs that moved, what flipped most."""
    counts = Counter(rows["what"].to_pylist())
    if not counts:
        return "0 differences"
    parts = [f"{plural(rows.num_rows, 'difference')}; --table NAME or --all shows them"]
    changed = [
        f"  {row['what']} {row['row']}: {row['old'] or 'not there'} -> {row['new'] or 'not there'}"
        for row in rows.to_pylist()
        if row["what"] in OTHERS
    ]
    if changed:
        parts += ["", "Settings and sources:", *_first(changed, MOST_LINES)]
    parts += _moved(old, new, pairs)
    cells = [f"{name} {count:,}" for name, count in counts.items() if name not in OTHERS]
    if cells:
        parts += ["", textwrap.fill(f"Cells that differ: {', '.join(cells)}", 80)]
    hint = "Two archives of one database are compared by the table archive_comparisons."
    return "\n".join([*parts, "", hint])


def _first(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], f"  … and {len(lines) - most:,} more"]


def _moved(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, pairs: Pairs
) -> list[str]:
    """Return the accuracies, costs and problems that moved, over the problems of both databases."""
    with duckdb.connect() as both:
        try:
            for name, con, archives in (("old", old, pairs), ("new", new, _same(pairs))):
                means = _rows(con, engine.render("problem_means"))
                insert(both, "create or replace temp table side as", means)
                both.execute(f"create table {name}_means as {_paired(means, archives)}")
            both.execute(f"create table moved as {engine.render('moved_problems')}")
        except duckdb.Error:
            return []
        settings, unit = last_settings(new), replayed_unit(new)
        keys = ("measure", "archive", "budget", "rule")
        drawn = (settings.replicates, settings.bootstrap_seed)
        intervals = engine.paired_intervals(both, "from moved", keys, *drawn)
        insert(both, "create table intervals as", intervals)
        lines = []
        for measure, most in (("accuracy", MOST_LINES), ("cost", MOST_COSTS)):
            rows = both.sql(
                "select *, coalesce(low > 0 or high < 0, false) as is_clear from intervals "
                "natural join (select measure, archive, budget, rule, avg(old) as old, "
                "avg(new) as new, count(*) filter (difference <> 0) as moves from moved "
                "group by all) where measure = ? "
                "order by is_clear desc, abs(difference) desc, archive, budget, rule",
                params=[measure],
            )
            lines += ["", *_moves(measure, rows.to_arrow_table().to_pylist(), most, unit)]
        return [*lines, "", *_flipped(both)] if len(intervals) else []


def _moves(measure: str, rows: list[dict[str, Any]], most: int, unit: Unit) -> list[str]:
    """Return the archives, rules and budgets whose mean moved, with the paired interval."""
    word = measure.capitalize()
    moved = [row for row in rows if row["moves"]]
    if not moved:
        return [f"{word}: the same at every budget and under every rule."]

    def write(value: float | None, sign: str = "") -> str:
        if value is None:
            return ""
        if measure == "accuracy":
            return f"{value:{sign}.2f}"
        written = write_digits(abs(value) / unit.scale, unit)
        return ("-" if value < 0 else sign) + (unit.symbol if unit.symbol == "$" else "") + written

    archives = list(dict.fromkeys(row["archive"] for row in rows))
    lines = []
    for row in moved[:most]:
        budget = budget_name(row["budget"] / unit.scale, unit)
        ends = (
            "" if row["low"] is None else f" [{write(row['low'], '+')}, {write(row['high'], '+')}]"
        )
        cells = [shortened(row["archive"], 30, archives), row["rule"], budget]
        cells += [write(row["old"]), write(row["new"]), write(row["difference"], "+") + ends]
        lines.append([*cells, "*" if row["is_clear"] else ""])
    heads = ("archive", "rule", "budget", "old", "new", "difference, 95 %", "")
    columns = [
        DisplayColumn(head, [line[place] for line in lines], 2 <= place <= 5)
        for place, head in enumerate(heads)
    ]
    clear = sum(row["is_clear"] for row in moved)
    title = f"{word}, paired over problems: {clear} of {len(rows)} differ by more than noise (*)"
    more = [f"… and {len(moved) - most:,} more"] if len(moved) > most else []
    return [title, *lines_of(columns, len(lines)).splitlines(), *more]


def _flipped(both: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the problems whose accuracy moved most, over all budgets and rules of an archive."""
    rows = both.execute(
        "select avg(difference) as gain, archive, competition, problem from moved "
        "where measure = 'accuracy' group by all having gain <> 0 "
        "order by abs(gain) desc, archive, competition, problem"
    ).fetchall()
    if not rows:
        return ["No problem's mean accuracy moved."]
    lines = [f"  {row[0]:+7.2f}  {row[1]}, {row[2]} {row[3]}" for row in rows[:MOST_FLIPPED]]
    return [f"Problems that flipped most, in points (of {len(rows):,} that moved):", *lines]


def _rows(con: duckdb.DuckDBPyConnection, sql: str, none: str = "") -> pa.Table:
    """Return the rows of a select; no rows with these columns where there is no such relation."""
    try:
        return con.sql(sql).to_arrow_table()
    except duckdb.CatalogException:
        if not none:
            raise
        return (
            cursor(con).sql(f"select '' as {none.replace(', ', ',  as ')} limit 0").to_arrow_table()
        )


def _table(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table | str:
    """Return a table, or why there is none."""
    try:
        return engine.table(con, name)
    except AuditError as error:
        return str(error)


def key_columns(name: str) -> list[str]:
    """Return the columns that identify a row of a table, as its file says."""
    return engine.header(name)["grain"].split(", ")
