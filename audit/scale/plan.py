"""A run's plan: what is read, how it is replayed and with which versions, in one manifest."""

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow

from audit import __version__
from audit.database.leftovers import atomic_file
from audit.engine.plugins import KINDS, Plugin, Plugins, check_plugin
from audit.engine.scores import named_scores
from audit.engine.settings import (
    Settings,
    as_tuples,
    check,
    fits,
    resolve,
    resolve_plugins,
    typed,
)
from audit.engine.sql_files import resource
from audit.errors import AuditError, first_line
from audit.load.load import check_reading
from audit.options import Reading
from audit.sources.files import SourceFile, Unreadable, find_files
from audit.sources.missing import require
from audit.sources.opening import open_source, require_some
from audit.text import is_utf8

MOST_PARTS = 99_999


@dataclass(frozen=True)
class Manifest:
    """Everything that a worker needs to know; two runs with the same one have the same bytes."""

    id: str
    parts: int
    settings: Settings
    plugins: Plugins
    reading: Reading
    files: Sequence[SourceFile]
    # Why files were left out that could not even be opened.
    skipped: Sequence[str]
    sql: Mapping[str, str]
    versions: Mapping[str, str]


def plan(
    sources: Sequence[str],
    out: Path,
    parts: int,
    *,
    reading: Reading,
    settings: Mapping[str, Any],
) -> Manifest:
    """Check the options of `load` and `replay`, list the source files and write the manifest."""
    if not 1 <= parts <= MOST_PARTS:
        raise AuditError(f"--parts: a whole number from 1 to {MOST_PARTS:,}")
    if settings.get("orders") == "auto":
        raise AuditError(
            "--orders auto: a run draws its orders before anything is measured; plan it with a "
            "number, and use 'budget-audit replay --orders auto' on what is gathered"
        )
    check_reading(reading)
    # Workers may begin in another folder.
    beside = {name: getattr(reading, name) for name in ("references", "labels")}
    reading = replace(
        reading, **{name: os.path.abspath(path) for name, path in beside.items() if path}
    )
    files, skipped = _files(sources, reading)
    if settings.get("selectors") == "all":
        raise AuditError(
            "--selectors all: which scores there are is not known before files are read; name the "
            "selectors of the plan"
        )
    with duckdb.connect() as con:
        _foretell(con, reading, settings)
        resolved = resolve(con, settings)
        plugins = resolve_plugins(con, settings, resolved)
    if not resolved.budgets:
        raise AuditError(
            f"--budgets: what attempts cost in {resolved.unit} is not known before they are read; "
            "name the budgets of the plan"
        )
    content = {
        "parts": parts,
        "settings": asdict(resolved),
        "plugins": {kind: [asdict(plugin) for plugin in getattr(plugins, kind)] for kind in KINDS},
        "reading": asdict(reading),
        "files": [
            {"path": str(file.path), "name": file.name, "bytes": file.bytes} for file in files
        ],
        "skipped": skipped,
        "sql": _sql_hashes(),
        "versions": versions(),
    }
    text = json.dumps(_with_id(content), indent=2, sort_keys=True)
    _write(out, text)
    return read_manifest(out)


def _foretell(
    con: duckdb.DuckDBPyConnection, reading: Reading, settings: Mapping[str, Any]
) -> None:
    """Make what the options say of records that are not read yet: their answers and scores.

    That the scores are there, and can be weights, is looked at when everything is extracted.
    """
    con.execute("create table meta as select 'answer' as key, ? as value", [reading.answer])
    names = f"{settings.get('selectors') or ''},{settings.get('primary_selector') or ''}"
    scores = {score for name in names.split(",") for score in named_scores(name).values()}
    con.execute(
        "create table scores as select '' as archive, '' as competition, 0::bigint as question_id, "
        "unnest(?::varchar[]) as score, 0::double as value",
        [sorted(scores)],
    )


def _files(sources: Sequence[str], reading: Reading) -> tuple[list[SourceFile], list[str]]:
    """The source files, each of which can be opened, and why others are left out."""
    skipped: list[str] = []
    listed = find_files(sources, skipped if reading.skip_unreadable else None)
    require_some(listed, skipped)
    files = [SourceFile(Path(os.path.abspath(file.path)), file.name, file.bytes) for file in listed]
    for file in files:
        try:
            require(open_source(file, reading), reading)
        except Unreadable:
            # Its extract will say so: a file may be unreadable further on too.
            if not reading.skip_unreadable:
                raise
    return files, skipped


def _with_id(content: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest with the hash of all else in it."""
    text = json.dumps(content, sort_keys=True)
    return {**content, "id": hashlib.sha256(text.encode()).hexdigest()}


def _write(out: Path, text: str) -> None:
    """Write the manifest into a new folder; another one that is there is refused."""
    _refuse_name(out)
    path = out / "manifest.json"
    if path.exists():
        if json.loads(text)["id"] != read_manifest(out).id:
            raise AuditError(f"{out}: holds the plan of another run; choose another --out")
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise AuditError(f"{out}: is not empty; a run needs a folder of its own")
    except OSError as error:
        raise AuditError(f"{out}: cannot be made a folder: {first_line(error)}") from None
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


def _refuse_name(run: Path) -> None:
    if not is_utf8(os.path.abspath(run)):
        raise AuditError(f"{run}: DuckDB opens no name that is not UTF-8; rename the folder")


def read_manifest(run: Path) -> Manifest:
    """The plan of a run; one that somebody has changed is refused."""
    _refuse_name(run)
    path = run / "manifest.json"
    if path.exists() and not path.is_file():
        raise AuditError(f"{path}: cannot be read: not a file")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        is_whole = content == _with_id({key: content[key] for key in content if key != "id"})
    except FileNotFoundError:
        raise AuditError(f"{run}: no run is planned here; begin with 'budget-audit plan'") from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise AuditError(f"{path}: cannot be read: {first_line(error)}") from None
    if not is_whole:
        raise AuditError(f"{path}: has been changed since it was planned; plan the run again")
    try:
        return _manifest(content)
    except (KeyError, TypeError, ValueError, AttributeError, AuditError) as error:
        raise AuditError(
            f"{path}: holds no plan: {first_line(error)}; plan the run again"
        ) from None


def _manifest(content: Mapping[str, Any]) -> Manifest:
    """A manifest from its file, which may say anything although it is signed."""
    parts, skipped = content["parts"], as_tuples(content["skipped"])
    sql, versions = content["sql"], content["versions"]
    if not fits(parts, int) or not 1 <= parts <= MOST_PARTS:
        raise ValueError(f"parts is not a whole number from 1 to {MOST_PARTS:,}")
    if not fits(skipped, tuple[str, ...]) or not all(
        fits(texts, Mapping[str, str]) for texts in (sql, versions)
    ):
        raise ValueError("skipped, sql or versions is not of texts")
    reading = typed(Reading, content["reading"])
    check_reading(reading)
    files = [typed(_File, file) for file in content["files"]]
    if not files or any(file.bytes < 0 or not os.path.isabs(file.path) for file in files):
        raise ValueError("files is not a list of source files")
    by_kind = {
        kind: [typed(Plugin, plugin) for plugin in content["plugins"][kind]] for kind in KINDS
    }
    for kind, of_kind in by_kind.items():
        for plugin in of_kind:
            check_plugin(kind, plugin)
    settings = settings_of(content)
    plugins = Plugins(by_kind["rules"], by_kind["selectors"], by_kind["policies"], settings.unit)
    if settings.primary_selector not in {plugin.name for plugin in plugins.selectors}:
        raise AuditError(f"no selector '{settings.primary_selector}'")
    return Manifest(
        content["id"],
        parts,
        settings,
        plugins,
        reading,
        [SourceFile(Path(file.path), file.name, file.bytes) for file in files],
        skipped,
        sql,
        versions,
    )


@dataclass(frozen=True)
class _File:
    """A source file as the manifest names it."""

    path: str
    name: str
    bytes: int


def settings_of(content: Mapping[str, Any]) -> Settings:
    """The settings that a manifest or a receipt holds."""
    settings = typed(Settings, content["settings"])
    check(settings)
    return settings


def versions() -> dict[str, str]:
    """The versions on which bytes may depend; NumPy promises its streams for one version only."""
    return {
        "budget-audit": __version__,
        "duckdb": duckdb.__version__,
        "numpy": numpy.__version__,
        "pyarrow": pyarrow.__version__,
    }


@cache
def _sql_hashes() -> dict[str, str]:
    """The hash of every SQL file that ships with the project."""
    root = resource("sql")
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*.sql"))
    }


def same_plan(run: Path) -> Manifest:
    """The plan of a run; refused where the program is not the one that it was planned with."""
    manifest, here = read_manifest(run), versions()
    for name, version in manifest.versions.items():
        if here.get(name) != version:
            raise AuditError(
                f"{platform.node() or 'this worker'} has {name} {here.get(name)}, and the run was "
                f"planned with {version}; install that version on every worker"
            )
    if _sql_hashes() != manifest.sql:
        changed = {name for name, _ in _sql_hashes().items() ^ manifest.sql.items()}
        raise AuditError(
            f"{platform.node() or 'this worker'} has another sql/{min(changed)} than the run was "
            "planned with; install the same budget-audit on every worker"
        )
    return manifest
