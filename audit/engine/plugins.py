"""Rules, selectors and policies: one SQL file each, checked alike whoever wrote it."""

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb

from audit.engine.lineage import parse_relations
from audit.engine.sql_files import find_folder
from audit.errors import AuditError, first_line
from audit.text import visible

NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class PluginKind:
    """A kind of plug-in: what its selects may read, and the columns they must return."""

    name: str
    may_read: frozenset[str]
    columns: tuple[str, ...]
    # Names used by default, and names added to every choice.
    default: tuple[str, ...] = ()
    always: tuple[str, ...] = ()

    @property
    def one(self) -> str:
        """Return the singular of the kind, such as `policy`."""
        return {"policies": "policy"}.get(self.name, self.name[:-1])


# A plug-in may read generated fields, orders and settings, never a label.
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
# An exit reads the asked checkpoints of attempts. It is not part of a replay.
EXITS = PluginKind("exits", frozenset({"exit_checkpoints", "exit_size"}), ("attempt_id", "step"))
EVERY_KIND = {**KINDS, "exits": EXITS}
# The columns of selectors are checked on the canonical order, before any other is walked.
CANONICAL = "with walked_attempts as (from canonical_attempts)"
# The selector that a replay of tasks without an answer has by default.
ANSWERLESS = "first"
# Another name of a selector: the best log-probability is the study's own.
SAME_SELECTOR = {"best_logprob": "max_logprob"}


@dataclass(frozen=True)
class Plugin:
    """A rule, selector or policy: name, SQL and path of its file, and the answers it votes on."""

    name: str
    sql: str
    votes_on: str = "answer"
    path: str = ""

    @property
    def needs_answers(self) -> bool:
        """Tell whether a selector votes on answers, and is useless for tasks without any."""
        return bool(re.search(r"^-- needs: answers$", self.sql, re.MULTILINE))

    @property
    def is_own(self) -> bool:
        """Tell whether the user wrote it, not the project."""
        return not self.path.startswith("sql/")


@dataclass(frozen=True)
class Plugins:
    """The plug-ins of a replay, each kind sorted by name."""

    rules: Sequence[Plugin] = field(default_factory=lambda: find_default_plugins("rules"))
    selectors: Sequence[Plugin] = field(default_factory=lambda: find_default_plugins("selectors"))
    policies: Sequence[Plugin] = ()
    unit: str = "completion"
    primary: str = "majority"

    @property
    def walks_on(self) -> bool:
        """Tell whether a rule may launch attempts beyond the budget, as one of the user may."""
        return any(rule.is_own or "budgeted_attempts" in rule.sql.lower() for rule in self.rules)

    def own(self, kind: str) -> list[Plugin]:
        """Return the plug-ins of a kind that the user wrote."""
        return [plugin for plugin in getattr(self, kind) if plugin.is_own]


@functools.cache
def load_plugins(kind: str) -> tuple[Plugin, ...]:
    """Return the built-in plug-ins of a kind, sorted by name."""
    return tuple(read_plugin(path) for path in sorted((find_folder("sql") / kind).glob("*.sql")))


def find_default_plugins(kind: str) -> list[Plugin]:
    """Return the plug-ins of a kind that a replay uses by default."""
    return [plugin for plugin in load_plugins(kind) if plugin.name in KINDS[kind].default]


def choose_plugins(
    kind: str,
    asked: str | Path | Sequence[str],
    available: Mapping[str, Plugin],
    always: Sequence[str] = (),
    left_out: Collection[str] = (),
) -> list[Plugin]:
    """Return the plug-ins that an option names: names, folders or `all`, and those of `always`.

    `all` means every available plug-in except `left_out`.
    """
    parts = str(asked).split(",") if isinstance(asked, str | Path) else list(asked)
    by_name: dict[str, Plugin] = {}
    for part in (SAME_SELECTOR.get(part.strip(), part.strip()) for part in parts):
        if part == "all":
            by_name |= {name: plugin for name, plugin in available.items() if name not in left_out}
        elif part in available:
            by_name[part] = available[part]
        elif part and Path(part).is_dir():
            by_name |= {plugin.name: plugin for plugin in _read_folder(kind, part, available)}
        elif part:
            raise AuditError(
                f"--{kind}: no {KINDS[kind].one} or folder '{part}'; there are all, "
                f"{', '.join(sorted(available))}"
            )
    # A replay without policies lacks even the policy `none`.
    if by_name or kind != "policies":
        by_name |= {name: available[name] for name in always if name in available}
    return [by_name[name] for name in sorted(by_name)]


def _read_folder(kind: str, folder: str, available: Mapping[str, Plugin]) -> list[Plugin]:
    """Read and check the plug-ins of a folder of the user."""
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
    """Read a plug-in from its file."""
    try:
        sql = path.read_text(encoding="utf-8").strip().rstrip(";")
    except UnicodeDecodeError as error:
        raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    votes_on = re.search(r"^-- votes on: *(\w+)", sql, re.MULTILINE)
    is_ours = path.is_relative_to(find_folder("sql"))
    shown = f"sql/{path.relative_to(find_folder('sql')).as_posix()}" if is_ours else str(path)
    return Plugin(path.stem, sql, votes_on.group(1) if votes_on else "answer", shown)


def edited_plugins(con: duckdb.DuckDBPyConnection, kind: str) -> list[str]:
    """Return the files of plug-ins of the last replay that were edited since."""
    rows = con.execute(
        f"select path, sql from used_{kind} where not starts_with(path, 'sql/') order by path"
    ).fetchall()
    return [
        path for path, sql in rows if Path(path).is_file() and read_plugin(Path(path)).sql != sql
    ]


def check_plugin(kind: str, plugin: Plugin) -> None:
    """Refuse an invalid name, more than one select, or a relation the kind may not read."""
    one = EVERY_KIND[kind].one
    if not NAME_PATTERN.fullmatch(str(plugin.name)):
        raise AuditError(
            f"{plugin.path}: '{visible(str(plugin.name)[:40])}' is not a valid {one} "
            "name: lower-case letters, digits and _"
        )
    try:
        read = parse_relations(plugin.sql)
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
