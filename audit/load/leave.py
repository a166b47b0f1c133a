"""Leave attempts early: archives derived from others by an exit, a file of SQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import duckdb
import pyarrow as pa

from audit.database import check_schema, insert, require_attempts, transaction
from audit.database.schema import KEY, has_answers
from audit.engine import comment_relations, header, make_stale, quality, render
from audit.engine.plugins import Plugin, check_columns, check_plugin, plugins, read_plugin
from audit.errors import AuditError, explained, first_line
from audit.load.provenance import answer_kind, has_numbers, remember
from audit.load.staging import remove_archives
from audit.sources.files import excerpt
from audit.text import not_there

LARGEST_SIZE = 1_000_000
WORLDS = ("whole", "before", "half")


class Exit(NamedTuple):
    """An exit: its plug-in, the N that it counts with, and how it is called."""

    plugin: Plugin
    size: int
    name: str


def leave(
    con: duckdb.DuckDBPyConnection, exit: str, archive: str | None = None, new: str | None = None
) -> tuple[pa.Table, bool]:
    """Derive archives in which attempts leave at an exit; return counts, and if replays went."""
    chosen = find_exit(exit)
    check_schema(con)
    require_attempts(con)
    if not has_answers(con):
        raise AuditError("leave needs answers, and the attempts were loaded with --answer none")
    names = _derived_names(con, chosen.name, archive, new)
    try:
        with transaction(con), _exits(con, chosen, names):
            con.execute(f"create temp table left_attempts as {render('left_attempts')}")
            remove_archives(con, set(names.values()))
            _insert(con, chosen.name)
            counts = con.sql(render("left_counts")).to_arrow_table()
            remember(con, answer_kind(con), numbers=has_numbers(con))
            quality.count_records(con, [])
            dropped = make_stale(con, "an archive was derived")
            comment_relations(con)
            con.execute("drop table left_attempts")
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        raise AuditError(f"the database could not be written: {explained(error)}") from None
    return counts, dropped


def find_exit(written: str) -> Exit:
    """Return the exit of a name, with its N, or of a file."""
    ours = {plugin.name: plugin for plugin in plugins("exits")}
    name, colon, size = written.partition(":")
    if name in ours:
        default = header(name)["n"]
        if colon and not (size.isdecimal() and 1 <= int(size) <= LARGEST_SIZE):
            raise AuditError(
                f"--exit {written}: N must be a whole number from 1 to {LARGEST_SIZE:,}"
            )
        number = int(size or default)
        return Exit(ours[name], number, f"{name}:{number}")
    if not written.endswith(".sql") and not Path(written).is_file():
        raise AuditError(
            f"--exit {written}: {not_there('exit', name, sorted(ours))}, or a .sql file"
        )
    if not Path(written).is_file():
        raise AuditError(f"--exit {written}: no such file")
    plugin = read_plugin(Path(written))
    check_plugin("exits", plugin)
    return Exit(plugin, 1, plugin.name)


def _derived_names(
    con: duckdb.DuckDBPyConnection, exit: str, archive: str | None, new: str | None
) -> dict[str, str]:
    """Return the archives to derive from, each with the name of what is derived."""
    rows = con.execute(render("asked_archives")).fetchall()
    loaded = {name: is_derived for name, is_derived, _ in rows}
    asked = [name for name, _, checkpoints in rows if checkpoints]
    if archive is not None and archive not in loaded:
        raise AuditError(f"--archive: {not_there('archive', archive, sorted(loaded))}")
    if archive is not None and archive not in asked:
        raise AuditError(
            f"--archive {archive}: has no asked checkpoints; load its attempts with "
            "--checkpoints FILE"
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
    for name in names.values():
        if loaded.get(name) is False:
            raise AuditError(
                f"--as: archive {excerpt(name)} was loaded and not derived; choose another name"
            )
    return names


@contextmanager
def _exits(con: duckdb.DuckDBPyConnection, chosen: Exit, names: dict[str, str]) -> Iterator[None]:
    """Have `exits`: where attempts of these archives leave, after the exit kept its contract."""
    table = pa.table({"archive": list(names), "derived": list(names.values())})
    insert(con, "create temp table derived_archives as", table)
    for name in ("exit_attempts", "exit_checkpoints"):
        con.execute(f"create temp table {name} as {render(name)}")
    checkpoints = con.sql("from exit_checkpoints").to_arrow_table()
    with duckdb.connect(config={"enable_external_access": False}) as world:
        insert(world, "create table all_checkpoints as", checkpoints)
        world.execute(f"create table exit_size as select {chosen.size}::bigint as n")
        try:
            exits = _asked(world, chosen.plugin)
        except _Foresight as breach:
            key = f"select {', '.join(KEY)} from exit_attempts where attempt_id = ?"
            (found,) = con.execute(key, [breach.attempt_id]).fetchall()
            where = ", ".join(f"{k} {excerpt(v)}" for k, v in zip(KEY, found, strict=True))
            raise AuditError(
                f"{chosen.plugin.path}: looks ahead: it treats an attempt ({where}) otherwise when "
                f"the checkpoints after its {breach.step}. are cut off; an exit may look only at "
                "checkpoints up to the one where it leaves"
            ) from None
    insert(con, "create temp table exits as", exits)
    yield
    for name in ("exits", "exit_checkpoints", "exit_attempts", "derived_archives"):
        con.execute(f"drop table {name}")


class _Foresight(Exception):
    """An attempt that an exit treats otherwise when it sees no more than its first checkpoints."""

    def __init__(self, attempt_id: int, step: int) -> None:
        self.attempt_id, self.step = attempt_id, step


def _asked(world: duckdb.DuckDBPyConnection, plugin: Plugin) -> pa.Table:
    """Ask an exit where attempts leave, and again with later checkpoints cut off."""
    world.execute("create view exit_checkpoints as from all_checkpoints")
    check_columns(world, "exits", plugin)
    try:
        _run(world, "exits", plugin)
        for _, problem in world.execute(f"{render('broken_exits')} limit 1").fetchall():
            raise AuditError(f"{plugin.path}: {problem}; an exit gives one row per attempt")
        world.execute(f"create table exit_cuts as {render('exit_cuts')}")
        for name in WORLDS:
            world.execute(
                f"create or replace view cuts as from exit_cuts where world = '{name}'; "
                "create or replace view exit_checkpoints as select all_checkpoints.* from "
                "all_checkpoints inner join cuts using (attempt_id) where step <= last_step"
            )
            _run(world, "exits_again", plugin)
            for breach in world.execute(f"{render('foreseeing_exits')} limit 1").fetchall():
                raise _Foresight(*breach)
    except duckdb.Error as error:
        raise AuditError(f"{plugin.path}: {first_line(error)}") from None
    return world.sql("from exits").to_arrow_table()


def _run(world: duckdb.DuckDBPyConnection, name: str, plugin: Plugin) -> None:
    """Keep what an exit says of the checkpoints that are there."""
    world.execute(
        f"create or replace table {name} as select attempt_id::bigint as attempt_id, "
        f"step::bigint as step from ({plugin.sql}\n)"
    )


def _insert(con: duckdb.DuckDBPyConnection, exit: str) -> None:
    """Fill what a load would have filled for the derived archives."""
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
