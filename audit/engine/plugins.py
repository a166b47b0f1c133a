"""Rules, selectors and policies: a file each, held to one contract whoever wrote it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from audit.engine.lineage import relations_read
from audit.engine.sql_files import resource, stage_file
from audit.errors import AuditError, first_line

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Kind:
    """A kind of plug-in: what its files may read, and the columns that they give."""

    name: str
    may_read: frozenset[str]
    columns: tuple[str, ...]

    @property
    def one(self) -> str:
        """What one of them is called."""
        return {"policies": "policy"}.get(self.name, self.name[:-1])


# A plug-in knows generated fields, orders and settings, never a label.
KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "rules",
            frozenset({"budgeted_attempts", "last_launched", "walks"}),
            ("walk_id", "cap", "budget", "launched", "returned", "cost"),
        ),
        Kind(
            "selectors",
            frozenset({"walked_attempts", "candidates", "banks", "walks"}),
            ("walk_id", "position", "is_eligible", "selected_position"),
        ),
        Kind(
            "policies",
            frozenset({"tallies", "caps", "binomial_tails"}),
            ("walk_id", "cap", "stop_position"),
        ),
    )
}


@dataclass(frozen=True)
class Plugin:
    """A rule, selector or policy: its file's stem, text and path, and what its answers are."""

    name: str
    sql: str
    votes_on: str = "answer"
    path: str = ""


@dataclass(frozen=True)
class Plugins:
    """What a replay is run with, each kind by ascending name."""

    rules: Sequence[Plugin] = field(default_factory=lambda: plugins("rules"))
    selectors: Sequence[Plugin] = field(default_factory=lambda: plugins("selectors"))
    policies: Sequence[Plugin] = ()


def plugins(kind: str, folder: str | Path | None = None) -> list[Plugin]:
    """The project's plug-ins of a kind and those of a user's folder, by ascending name."""
    found = {path.stem: read_plugin(path) for path in (resource("sql") / kind).glob("*.sql")}
    if folder is not None:
        own = sorted(Path(folder).glob("*.sql"))
        if not own:
            raise AuditError(f"{folder}: no .sql file here; --{kind} takes a folder of them")
        for path in own:
            if not NAME_PATTERN.fullmatch(path.stem):
                raise AuditError(
                    f"{path}: the file's name is the {KINDS[kind].one}'s: lower-case letters, "
                    "digits, _"
                )
            if path.stem in found:
                raise AuditError(f"{path}: '{path.stem}' is built in; give the file another name")
            found[path.stem] = read_plugin(path)
    for plugin in found.values():
        check_lineage(kind, plugin)
    return [found[name] for name in sorted(found)]


def read_plugin(path: Path) -> Plugin:
    """The plug-in of a file."""
    try:
        sql = path.read_text(encoding="utf-8").strip().rstrip(";")
    except UnicodeDecodeError as error:
        raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    votes_on = re.search(r"^-- votes on: *(\w+)", sql, re.MULTILINE)
    is_ours = path.is_relative_to(resource("sql"))
    shown = f"sql/{path.relative_to(resource('sql')).as_posix()}" if is_ours else str(path)
    return Plugin(path.stem, sql, votes_on.group(1) if votes_on else "answer", shown)


def check_lineage(kind: str, plugin: Plugin) -> None:
    """A plug-in is one select over relations that carry no label."""
    try:
        read = relations_read(plugin.sql)
    except AuditError as error:
        raise AuditError(f"{plugin.path}: {error}") from None
    allowed = KINDS[kind].may_read
    if read - allowed:
        raise AuditError(
            f"{plugin.path}: reads {', '.join(sorted(read - allowed))}; "
            f"a {KINDS[kind].one} may read only {', '.join(sorted(allowed))}"
        )
    if plugin.votes_on not in ("answer", "archive_answer"):
        raise AuditError(f"{plugin.path}: '-- votes on:' names answer or archive_answer")


def check_columns(con: duckdb.DuckDBPyConnection, kind: str, plugin: Plugin) -> None:
    """A plug-in's select binds to the relations that are there, and gives the columns asked for."""
    try:
        described = con.execute(f"describe select * from ({plugin.sql}\n)").fetchall()
    except duckdb.Error as error:
        raise AuditError(f"{plugin.path}: {first_line(error)}") from None
    missing = [name for name in KINDS[kind].columns if name not in {row[0] for row in described}]
    if missing:
        raise AuditError(
            f"{plugin.path}: gives no column {', '.join(missing)}; a {KINDS[kind].one} gives "
            f"{', '.join(KINDS[kind].columns)}"
        )


def check_contract(
    con: duckdb.DuckDBPyConnection, kind: str, found: Sequence[Plugin], sql: str
) -> None:
    """Refuse the first plug-in whose rows break the contract, by its own path."""
    broken = con.execute(sql).fetchall()
    if broken:
        name, what = broken[0]
        plugin = next(plugin for plugin in found if plugin.name == name)
        raise AuditError(f"{plugin.path}{_or_what_it_reads(plugin)}: {what}")


def _or_what_it_reads(plugin: Plugin) -> str:
    """The files that may be wrong in the place of a plug-in of the project's own."""
    if (resource("sql") / plugin.path.removeprefix("sql/")).is_file():
        read = sorted(relations_read(plugin.sql))
        return f" (or what it reads: {', '.join(f'sql/{stage_file(name)}' for name in read)})"
    return ""
