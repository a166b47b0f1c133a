"""What differs between two databases: settings, sources, and the cells of every table."""

import math
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from audit import engine
from audit.engine.settings import last_settings
from audit.errors import AuditError
from audit.output.display import budget_name, text_table
from audit.output.headings import replayed_unit
from audit.output.terminal import DisplayColumn, lines_of
from audit.text import not_there, plural, shortened

Difference = tuple[str, str, str, str | None, str | None]
Rows = dict[tuple[Any, ...], dict[str, Any]]
# Old names of archives and the new ones.
Pairs = dict[str, str]
# Percent correct before and after, of each problem of an archive at a budget under a rule.
Problems = dict[tuple[str, float, str], dict[tuple[str, int], tuple[float, float]]]
MOST_LINES, MOST_FLIPPED = 8, 10
OTHERS = ("settings", "sources")


def archive_pairs(names: Sequence[str]) -> Pairs:
    """The archives to compare, old name and new name, from NAME or OLD=NEW; none means all."""
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
    """A row per difference; numbers are the same within the tolerance, absolute or relative."""
    if not (math.isfinite(tolerance) and tolerance >= 0):
        raise AuditError(f"--tolerance {tolerance:g}: a number of 0 or more")
    for side, con, asked in (("OLD", old, pairs.keys()), ("NEW", new, pairs.values())):
        archives = con.execute("select distinct archive from attempts order by archive").fetchall()
        loaded = [archive for (archive,) in archives]
        for name in asked:
            if name not in loaded:
                raise AuditError(f"--archive: {side}: {not_there('archive', name, loaded)}")
    rows = _differences(old, new, tolerance, pairs, table)
    return text_table(("what", "row", "column", "old", "new"), rows)


def _differences(
    old: duckdb.DuckDBPyConnection,
    new: duckdb.DuckDBPyConnection,
    tolerance: float,
    pairs: Pairs,
    table: str | None,
) -> Iterator[Difference]:
    if table is None:
        yield from _rows_differ("settings", _settings(old), _settings(new), tolerance)
        yield from _rows_differ("sources", _sources(old), _sources(new), tolerance)
    for name in engine.table_names() if table is None else [table]:
        tables = [_table(con, name) for con in (old, new)]
        if isinstance(tables[0], pa.Table) and isinstance(tables[1], pa.Table):
            keys = key_columns(name)
            yield from _columns_differ(name, tables[0].column_names, tables[1].column_names)
            left = _keyed(tables[0], keys, pairs)
            right = _keyed(tables[1], keys, {name: name for name in pairs.values()})
            yield from _rows_differ(name, left, right, tolerance)
        elif isinstance(tables[0], pa.Table) != isinstance(tables[1], pa.Table):
            shown = [f"{t.num_rows:,} rows" if isinstance(t, pa.Table) else t for t in tables]
            yield name, "", "", shown[0], shown[1]


def first_screen(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, rows: pa.Table, pairs: Pairs
) -> str:
    """One screen: what changed, which accuracies differ by more than noise, what flipped most."""
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
    problems = _paired(old, new, pairs)
    if problems:
        parts += ["", *_accuracies(problems, new), "", *_flipped(problems)]
    cells = [f"{name} {count:,}" for name, count in counts.items() if name not in OTHERS]
    if cells:
        parts += ["", textwrap.fill(f"Cells that differ: {', '.join(cells)}", 80)]
    hint = "Two archives of one database are compared by the table archive_comparisons."
    return "\n".join([*parts, "", hint])


def _first(lines: list[str], most: int) -> list[str]:
    return lines if len(lines) <= most else [*lines[:most], f"  … and {len(lines) - most:,} more"]


def _paired(
    old: duckdb.DuckDBPyConnection, new: duckdb.DuckDBPyConnection, pairs: Pairs
) -> Problems:
    """Percent correct of every problem in both databases, by archive, budget and rule."""
    sides = []
    for con in (old, new):
        try:
            rows = con.execute(
                "select archive, budget, rule, competition, question_id, "
                "100.0 * correct / replays from problem_scores "
                "where is_primary and correct is not null and replays > 0"
            ).fetchall()
        except duckdb.Error:
            return {}
        sides.append({row[:5]: row[5] for row in rows})
    problems: Problems = {}
    for (archive, *rest), before in sides[0].items():
        if pairs and archive not in pairs:
            continue
        named = pairs.get(archive, archive)
        after = sides[1].get((named, *rest))
        if after is not None:
            budget, rule, competition, question = rest
            place = problems.setdefault((named, budget, rule), {})
            place[competition, question] = (before, after)
    return problems


def _accuracies(problems: Problems, con: duckdb.DuckDBPyConnection) -> list[str]:
    """The accuracies that moved, with the interval of the paired difference over problems."""
    settings = last_settings(con)
    rng = np.random.default_rng(settings.bootstrap_seed)
    unit, lines = replayed_unit(con), []
    archives = list(dict.fromkeys(archive for archive, *_ in problems))
    for (archive, budget, rule), values in problems.items():
        shares = np.array(list(values.values()))
        gains, count = shares[:, 1] - shares[:, 0], len(shares)
        if not gains.any():
            continue
        low = high = math.nan
        if settings.replicates > 1 and count > 1:
            drawn = rng.multinomial(count, np.full(count, 1 / count), size=settings.replicates)
            low, high = np.quantile(drawn @ gains / count, (0.025, 0.975))
        before, after = shares.mean(axis=0)
        row = [shortened(archive, 30, archives), rule, budget_name(budget / unit.scale, unit)]
        row += [f"{before:.2f}", f"{after:.2f}"]
        row.append(f"{after - before:+.2f} [{low:+.2f}, {high:+.2f}]")
        mark = "" if low <= 0 <= high or math.isnan(low) else "*"
        lines.append((not mark, -abs(after - before), [*row, mark]))
    if not lines:
        return ["Accuracy: the same at every budget and under every rule."]
    ranked = [row for *_, row in sorted(lines)]
    telling = sum(bool(row[-1]) for row in ranked)
    heads = ("archive", "rule", "budget", "old", "new", "difference, 95 %", "")
    columns = [
        DisplayColumn(head, [row[place] for row in ranked[:MOST_LINES]], 2 <= place <= 5)
        for place, head in enumerate(heads)
    ]
    verdict = f"{telling} of {len(problems)} differ by more than noise (*)"
    title = f"Accuracy, paired over problems: {verdict}"
    more = len(ranked) - MOST_LINES
    table = lines_of(columns, min(len(ranked), MOST_LINES)).splitlines()
    return [title, *table, *([f"… and {more:,} more"] if more > 0 else [])]


def _flipped(problems: Problems) -> list[str]:
    """The problems whose accuracy moved most, over all budgets and rules of an archive."""
    moved: dict[tuple[str, str, int], list[float]] = {}
    for (archive, _, _), values in problems.items():
        for (competition, question), (before, after) in values.items():
            moved.setdefault((archive, competition, question), []).append(after - before)
    means = {key: sum(gains) / len(gains) for key, gains in moved.items()}
    ranked = sorted((key for key in means if means[key]), key=lambda key: (-abs(means[key]), key))
    if not ranked:
        return ["No problem's mean accuracy moved."]
    lines = [f"  {means[key]:+7.2f}  {key[0]}, {key[1]} {key[2]}" for key in ranked[:MOST_FLIPPED]]
    return [f"Problems that flipped most, in points (of {len(ranked):,} that moved):", *lines]


def _settings(con: duckdb.DuckDBPyConnection) -> Rows:
    try:
        rows = con.execute("select key, value from settings").fetchall()
    except duckdb.CatalogException:
        return {}
    return {(key,): {"value": value} for key, value in rows}


def _sources(con: duckdb.DuckDBPyConnection) -> Rows:
    """What was loaded, by archive and content: where a file lies makes no difference."""
    rows = con.execute(
        "select archive, sha256, sum(rows)::bigint from sources group by archive, sha256"
    ).fetchall()
    return {(archive, sha256[:12]): {"rows": count} for archive, sha256, count in rows}


def _table(con: duckdb.DuckDBPyConnection, name: str) -> pa.Table | str:
    """A table, or why there is none."""
    try:
        return engine.table(con, name)
    except AuditError as error:
        return str(error)


def key_columns(name: str) -> list[str]:
    """The columns that identify a row of a table, as its file says."""
    return engine.header(name)["grain"].split(", ")


def _keyed(table: pa.Table, keys: list[str], names: Pairs) -> Rows:
    """The rows by their keys, archives under their new names; other archives are left out."""
    keys = [key for key in keys if key in table.column_names]
    rows = table.to_pylist()
    for column in ("archive", "other"):
        if names and column in table.column_names:
            rows = [row for row in rows if row[column] is None or row[column] in names]
            rows = [row | {column: names.get(row[column])} for row in rows]
    return {tuple(row[key] for key in keys): row for row in rows}


def _columns_differ(name: str, old: list[str], new: list[str]) -> Iterator[Difference]:
    for column in sorted(set(old) ^ set(new)):
        sides = ["there" if column in columns else None for columns in (old, new)]
        yield name, "", column, sides[0], sides[1]


def _rows_differ(what: str, old: Rows, new: Rows, tolerance: float) -> Iterator[Difference]:
    for key in sorted({*old, *new}, key=lambda key: tuple(map(str, key))):
        row = ", ".join(map(str, key))
        if key not in old or key not in new:
            yield what, row, "", *("there" if key in side else None for side in (old, new))  # type: ignore[misc]
            continue
        for column in old[key]:
            if column in new[key]:
                before, after = old[key][column], new[key][column]
                if not _is_same(before, after, tolerance):
                    yield what, row, column, _value_text(before), _value_text(after)


def _is_same(before: Any, after: Any, tolerance: float) -> bool:
    numbers = [isinstance(v, int | float) and not isinstance(v, bool) for v in (before, after)]
    if all(numbers):
        return math.isclose(before, after, rel_tol=tolerance, abs_tol=tolerance)
    return before == after


def _value_text(value: Any) -> str | None:
    return None if value is None else repr(value) if isinstance(value, float) else str(value)
