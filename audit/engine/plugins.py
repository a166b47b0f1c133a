"""Rules and selectors: a file each, the project's own and those of a user's folder."""

import re
from dataclasses import dataclass
from pathlib import Path

from audit.engine.lineage import relations_read
from audit.engine.sql_files import resource
from audit.errors import AuditError, first_line

# What a rule or a selector may read: generated fields, orders and settings, never a label.
RULE_MAY_READ = {"budgeted_steps", "crossings", "walks"}
SELECTOR_MAY_READ = {"steps", "candidates", "banks", "walks"}
NAME_PATTERN = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Plugin:
    """A rule or a selector: the SQL file's stem, its text, and the field its answers come from."""

    name: str
    sql: str
    votes_on: str
    is_built_in: bool = True


def plugins(kind: str, folder: str | Path | None = None) -> list[Plugin]:
    """The project's rules or selectors and those of a user's folder, by ascending name."""
    files = {path.stem: path for path in (resource("sql") / kind).glob("*.sql")}
    if folder is not None:
        own = sorted(Path(folder).glob("*.sql"))
        if not own:
            raise AuditError(f"{folder}: no .sql file here; --{kind} takes a folder of them")
        for path in own:
            if not NAME_PATTERN.fullmatch(path.stem):
                raise AuditError(
                    f"{path}: the file's name is the {kind[:-1]}'s: lower-case letters, digits, _"
                )
            if path.stem in files:
                raise AuditError(f"{path}: '{path.stem}' is built in; give the file another name")
            check_plugin(kind, _plugin(path), str(path))
            files[path.stem] = path
    return [_plugin(files[name]) for name in sorted(files)]


def _plugin(path: Path) -> Plugin:
    try:
        sql = path.read_text(encoding="utf-8").strip().rstrip(";")
    except UnicodeDecodeError as error:
        raise AuditError(f"{path}: not UTF-8 text: {first_line(error)}") from None
    votes_on = re.search(r"^-- votes on: *(\w+)", sql, re.MULTILINE)
    return Plugin(
        path.stem,
        sql,
        votes_on.group(1) if votes_on else "answer",
        path.is_relative_to(resource("sql")),
    )


def check_plugin(kind: str, plugin: Plugin, where: str) -> None:
    """What is not the project's own must be one select over relations that carry no label."""
    try:
        read = relations_read(plugin.sql)
    except AuditError as error:
        raise AuditError(f"{where}: {error}") from None
    allowed = RULE_MAY_READ if kind == "rules" else SELECTOR_MAY_READ
    if read - allowed:
        raise AuditError(
            f"{where}: reads {', '.join(sorted(read - allowed))}; "
            f"a {kind[:-1]} may read only {', '.join(sorted(allowed))}"
        )
    if plugin.votes_on not in ("answer", "archive_answer"):
        raise AuditError(f"{where}: '-- votes on:' names answer or archive_answer")
