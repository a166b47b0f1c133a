"""Derive archives whose attempts end early, at the checkpoint that an exit (SQL) chooses."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from audit.database import check_schema, insert, require_attempts, transaction
from audit.database.schema import KEY, has_answers
from audit.engine import comment_relations, make_stale, quality, read_header, render
from audit.engine.plugins import Plugin, check_columns, check_plugin, load_plugins, read_plugin
from audit.errors import AuditError, first_line
from audit.load.provenance import answer_kind, has_numbers, store_provenance
from audit.load.schema import temporary_tables
from audit.load.staging import remove_archives
from audit.sources.files import excerpt
from audit.text import not_there

LARGEST_SIZE = 1_000_000


class Exit(NamedTuple):
    """An exit: the SQL that ends attempts early, its parameter N, and its name."""

    plugin: Plugin
    size: int
    name: str


def leave(
    con: duckdb.DuckDBPyConnection, exit: str, archive: str | None = None, new: str | None = None
) -> tuple[pa.Table, bool]:
    """Derive archives whose attempts end at an exit; return counts and if replays became stale."""
    chosen = find_exit(exit)
    check_schema(con)
    require_attempts(con)
    if not has_answers(con):
        raise AuditError("leave needs answers, and the attempts were loaded with --answer none")
    names = _name_derived(con, chosen.name, archive, new)
    with transaction(con), _run_exit(con, chosen, names), temporary_tables(con, "left_attempts"):
        remove_archives(con, set(names.values()))
        _insert_derived(con, chosen.name)
        counts = con.sql(render("left_counts")).to_arrow_table()
        store_provenance(con, answer_kind(con), numbers=has_numbers(con))
        quality.count_records(con, [])
        dropped = make_stale(con, "an archive was derived")
        comment_relations(con)
    return counts, dropped


def find_exit(option: str) -> Exit:
    """Read an exit from the value of --exit: a name, NAME:N, or a .sql file."""
    ours = {plugin.name: plugin for plugin in load_plugins("exits")}
    name, colon, size = option.partition(":")
    if name in ours:
        default = read_header(name)["n"]
        if colon and not (size.isdecimal() and 1 <= int(size) <= LARGEST_SIZE):
            raise AuditError(
                f"--exit {option}: N must be a whole number from 1 to {LARGEST_SIZE:,}"
            )
        number = int(size or default)
        return Exit(ours[name], number, f"{name}:{number}")
    if not option.endswith(".sql") and not Path(option).is_file():
        raise AuditError(
            f"--exit {option}: {not_there('exit', name, sorted(ours))}, or a .sql file"
        )
    if not Path(option).is_file():
        raise AuditError(f"--exit {option}: no such file")
    plugin = read_plugin(Path(option))
    check_plugin("exits", plugin)
    return Exit(plugin, 1, plugin.name)


def _name_derived(
    con: duckdb.DuckDBPyConnection, exit: str, archive: str | None, new: str | None
) -> dict[str, str]:
    """Choose the archives to derive from; return the name of the new archive for each."""
    rows = con.execute(render("asked_archives")).fetchall()
    asked = [name for name, _, checkpoints in rows if checkpoints]
    if archive is not None and archive not in asked:
        raise AuditError(
            f"--archive: {not_there('archive with asked checkpoints', archive, asked)}; load its "
            "attempts with --checkpoints FILE"
        )
    if not asked:
        raise AuditError("no archive has asked checkpoints; load attempts with --checkpoints FILE")
    bases = asked if archive is None else [archive]
    if new is not None and len(bases) > 1:
        raise AuditError(
            f"--as {new}: {len(bases)} archives have asked checkpoints; choose one with --archive"
        )
    if new is not None and not new.strip():
        raise AuditError("--as: must not be empty")
    names = {base: new or f"{base}, {exit}" for base in bases}
    for name, is_derived, _ in rows:
        if name in names.values() and not is_derived:
            raise AuditError(
                f"--as: archive {excerpt(name)} was loaded and not derived; choose another name"
            )
    return names


@contextmanager
def _run_exit(con: duckdb.DuckDBPyConnection, exit: Exit, names: dict[str, str]) -> Iterator[None]:
    """Run and check an exit; keep its result in the temporary table `exits` for a block."""
    table = pa.table({"archive": list(names), "derived": list(names.values())})
    insert(con, "create temp table derived_archives as", table)
    con.execute(f"create temp table exit_size as select {exit.size}::bigint as n")
    with temporary_tables(con, "exit_attempts", "exit_checkpoints"):
        try:
            _fill_exits(con, exit.plugin)
        except duckdb.Error as error:
            raise AuditError(f"{exit.plugin.path}: {first_line(error)}") from None
        yield
    con.execute("drop table exits; drop table exit_size; drop table derived_archives")


def _fill_exits(con: duckdb.DuckDBPyConnection, plugin: Plugin) -> None:
    """Run the SQL of an exit into `exits`; refuse one that reads checkpoints after its exit."""
    check_columns(con, "exits", plugin)
    asked = f"select attempt_id::bigint as attempt_id, step::bigint as step from ({plugin.sql}\n)"
    con.execute(f"create temp table exits as {asked}")
    for _, problem in con.execute(f"{render('broken_exits')} limit 1").fetchall():
        raise AuditError(f"{plugin.path}: {problem}; an exit gives one row per attempt")
    with temporary_tables(con, "exit_cuts", "cut_checkpoints"):
        # The exit now reads copies of the attempts, cut off at several steps.
        again = f"with exit_checkpoints as (from cut_checkpoints) {asked}"
        con.execute(f"create temp table exits_again as {again}")
        for step, *found in con.execute(f"{render('foreseeing_exits')} limit 1").fetchall():
            where = ", ".join(f"{k} {excerpt(v)}" for k, v in zip(KEY, found, strict=True))
            raise AuditError(
                f"{plugin.path}: looks ahead: it treats an attempt ({where}) otherwise without the "
                f"checkpoints after number {step}; an exit may read checkpoints only up to the one "
                "where it leaves"
            )
        con.execute("drop table exits_again")


def _insert_derived(con: duckdb.DuckDBPyConnection, exit: str) -> None:
    """Insert the attempts, answers, labels, references and source of the derived archives."""
    order = ", ".join(KEY)
    con.execute(f"insert into attempts by name {render('derived_attempts')}")
    rest = "competition, question_id, seed"
    con.execute(
        f"insert into raw_answers by name select derived as archive, {rest}, raw_answer "
        f"from left_attempts where raw_answer is not null order by {order}"
    )
    con.execute(
        f"insert into labels by name select derived as archive, {rest}, correct, "
        f"correct as recorded, references_id from left_attempts order by {order}"
    )
    con.execute(
        "insert into accepted_references select accepted_references.* replace (derived as archive) "
        "from accepted_references inner join derived_archives using (archive) order by all"
    )
    con.execute(f"insert into sources by name {render('derived_sources')}", {"exit": exit})
