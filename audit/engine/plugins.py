"""Rules, selectors and policies: a file each, held to one contract whoever wrote it."""

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from audit.engine.lineage import relations_read
from audit.engine.sql_files import resource
from audit.errors import AuditError, first_line
from audit.text import visible

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class PluginKind:
    """A kind of plug-in: what its files may read, and the columns that they give."""

    name: str
    may_read: frozenset[str]
    columns: tuple[str, ...]
    # What a replay is run with where nothing is asked for, and what is always among the asked.
    default: tuple[str, ...] = ()
    always: tuple[str, ...] = ()

    @property
    def one(self) -> str:
        """Return what one plug-in of the kind is called."""
        return {"policies": "policy"}.get(self.name, self.name[:-1])


# A plug-in knows generated fields, orders and settings, never a label.
KINDS = {
    kind.name: kind
    for kind in (
        PluginKind(
            "rules",
            frozenset(
                {"budgeted_attempts", "last_launched", "reached_steps", "step_ends", "walks"}
            ),
            ("walk_id", "cap", "budget", "launched", "returned", "cost"),
            default=("advisory", "strict"),
            always=("advisory", "strict"),
        ),
        PluginKind(
            "selectors",
            frozenset({"walked_attempts", "candidate_scores", "candidates", "banks", "walks"}),
            ("walk_id", "position", "standing", "candidate_id"),
            default=("archive_majority", "majority", "max_logprob"),
        ),
        PluginKind(
            "policies",
            frozenset({"tallies", "caps", "binomial_tails"}),
            ("walk_id", "cap", "stop_position"),
            always=("none",),
        ),
    )
}
# An exit knows the asked checkpoints of attempts. It is no part of a replay.
EXITS = PluginKind("exits", frozenset({"exit_checkpoints", "exit_size"}), ("attempt_id", "step"))
EVERY_KIND = {**KINDS, "exits": EXITS}
# Before any order is walked, selectors are looked at on the canonical one.
CANONICAL = "with walked_attempts as (from canonical_attempts)"
# The selector that a replay of tasks without an answer has by default.
ANSWERLESS = "first"
# Another name of a selector: the best log-probability is the study's own.
SAME_SELECTOR = {"best_logprob": "max_logprob"}


@dataclass(frozen=True)
class Plugin:
    """A rule, selector or policy: its file's stem, text and path, and what its answers are."""

    name: str
    sql: str
    votes_on: str = "answer"
    path: str = ""

    @property
    def needs_answers(self) -> bool:
        """Return whether a selector votes, so that tasks without an answer have no use for it."""
        return bool(re.search(r"^-- needs: answers$", self.sql, re.MULTILINE))

    @property
    def is_own(self) -> bool:
        """Return whether it is a user's own, not one of the project's."""
        return not self.path.startswith("sql/")


@dataclass(frozen=True)
class Plugins:
    """What a replay is run with, each kind by ascending name."""

    rules: Sequence[Plugin] = field(default_factory=lambda: default_plugins("rules"))
    selectors: Sequence[Plugin] = field(default_factory=lambda: default_plugins("selectors"))
    policies: Sequence[Plugin] = ()
    unit: str = "completion"
    primary: str = "majority"

    @property
    def walks_on(self) -> bool:
        """Return whether one of the rules is a user's own, which may launch beyond the budget."""
        return any(rule.is_own or "budgeted_attempts" in rule.sql.lower() for rule in self.rules)

    def own(self, kind: str) -> list[Plugin]:
        """Return the plug-ins of a kind that are a user's own."""
        return [plugin for plugin in getattr(self, kind) if plugin.is_own]


@functools.cache
def plugins(kind: str) -> tuple[Plugin, ...]:
    """Return the project's own plug-ins of a kind, by ascending name."""
    return tuple(read_plugin(path) for path in sorted((resource("sql") / kind).glob("*.sql")))


def default_plugins(kind: str) -> list[Plugin]:
    """Return the plug-ins that a replay has where nothing is asked for."""
    return [plugin for plugin in plugins(kind) if plugin.name in KINDS[kind].default]


def chosen(
    kind: str,
    asked: str | Path | Sequence[str],
    available: Mapping[str, Plugin],
    always: Sequence[str] = (),
    left_out: Collection[str] = (),
) -> list[Plugin]:
    """Return the plug-ins of names, of `all` and of folders, with those that are always among them.

    `all` is all that are known but those to be left out.
    """
    parts = str(asked).split(",") if isinstance(asked, str | Path) else list(asked)
    by_name: dict[str, Plugin] = {}
    for part in (SAME_SELECTOR.get(part.strip(), part.strip()) for part in parts):
        if part == "all":
            by_name |= {name: plugin for name, plugin in available.items() if name not in left_out}
        elif part in available:
            by_name[part] = available[part]
        elif part and Path(part).is_dir():
            by_name |= {plugin.name: plugin for plugin in _folder(kind, part, available)}
        elif part:
            raise AuditError(
                f"--{kind}: no {KINDS[kind].one} or folder '{part}'; there are all, "
                f"{', '.join(sorted(available))}"
            )
    # A replay without policies has not even the one that never stops.
    if by_name or kind != "policies":
        by_name |= {name: available[name] for name in always if name in available}
    return [by_name[name] for name in sorted(by_name)]


def _folder(kind: str, folder: str, available: Mapping[str, Plugin]) -> list[Plugin]:
    """Return the plug-ins of a user's folder."""
    paths = sorted(Path(folder).glob("*.sql"))
    if not paths:
        raise AuditError(f"{folder}: no .sql file here; --{kind} takes a folder of them")
    for path in paths:
        if path.stem in available:
            raise AuditError(f"{path}: '{path.stem}' is built in; give the file another name")
    folder_plugins = [read_plugin(path) for path in paths]
    for plugin in folder_plugins:
        check_plugin(kind, plugin)
    return folder_plugins


def read_plugin(path: Path) -> Plugin:
    """Return the plug-in of a file."""
    try:
        sql = path.read_text(encoding="utf-8").strip().rstrip(";")
    except UnicodeDecodeError as error:
        raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    votes_on = re.search(r"^-- votes on: *(\w+)", sql, re.MULTILINE)
    is_ours = path.is_relative_to(resource("sql"))
    shown = f"sql/{path.relative_to(resource('sql')).as_posix()}" if is_ours else str(path)
    return Plugin(path.stem, sql, votes_on.group(1) if votes_on else "answer", shown)


def edited_plugins(con: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    """Return the files of used plug-ins that are not as the database holds them any more."""
    rows = con.execute(
        f"select path, sql from used_{kind} where not starts_with(path, 'sql/') order by path"
    ).fetchall()
    return [
        path for path, sql in rows if Path(path).is_file() and read_plugin(Path(path)).sql != sql
    ]


def check_plugin(kind: str, plugin: Plugin) -> None:
    """Refuse a plug-in without a name, or one that is not one select over unlabelled relations."""
    one = EVERY_KIND[kind].one
    if not NAME_PATTERN.fullmatch(str(plugin.name)):
        raise AuditError(
            f"{plugin.path}: '{visible(str(plugin.name)[:40])}' is not a valid {one} "
            "name: lower-case letters, digits and _"
        )
    try:
        read = relations_read(plugin.sql)
    except AuditError as error:
        raise AuditError(f"{plugin.path}: {error}") from None
    allowed = EVERY_KIND[kind].may_read
    if read - allowed:
        raise AuditError(
            f"{plugin.path}: reads {', '.join(sorted(read - allowed))}; "
            f"a {one} may read only {', '.join(sorted(allowed))}"
        )
    if plugin.votes_on not in ("answer", "archive_answer"):
        raise AuditError(f"{plugin.path}: '-- votes on:' names answer or archive_answer")


def check_columns(
    con: duckdb.DuckDBPyConnection, kind: str, plugin: Plugin, beside: str = ""
) -> None:
    """Refuse a plug-in whose select does not bind, or lacks a column of its kind.

    `beside` defines the common table expressions that it may read as well.
    """
    try:
        described = con.execute(f"describe {beside} select * from ({plugin.sql}\n)").fetchall()
    except duckdb.Error as error:
        raise AuditError(f"{plugin.path}: {first_line(error)}") from None
    types = {row[0]: row[1] for row in described}
    missing = [name for name in EVERY_KIND[kind].columns if name not in types]
    if missing:
        raise AuditError(
            f"{plugin.path}: gives no column {', '.join(missing)}; a {EVERY_KIND[kind].one} gives "
            f"{', '.join(EVERY_KIND[kind].columns)}"
        )
    for name in EVERY_KIND[kind].columns:
        if not types[name].endswith(("INT", "INTEGER")):
            raise AuditError(
                f"{plugin.path}: {name} is {types[name].lower()} and not a whole number"
            )


def check_contract(
    con: duckdb.DuckDBPyConnection, kind: str, checked: Sequence[Plugin], sql: str
) -> None:
    """Refuse the first plug-in whose rows break the contract, by its own path."""
    broken = con.execute(sql).fetchall()
    if broken:
        name, what = broken[0]
        plugin = next(plugin for plugin in checked if plugin.name == name)
        raise AuditError(f"{plugin.path}: {what}")
