"""A run's plan: what is read, how it is replayed and with which versions, in one manifest."""

import hashlib
import json
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow

from audit import __version__
from audit.database.leftovers import atomic_file
from audit.engine.batches import batches
from audit.engine.plugins import KINDS, Plugin, Plugins
from audit.engine.scores import named_scores
from audit.engine.settings import Settings, as_tuples, resolve, resolve_plugins
from audit.engine.sql_files import resource
from audit.errors import AuditError, first_line
from audit.load.load import check_reading
from audit.options import Reading
from audit.sources.files import SourceFile, Unreadable, find_files
from audit.sources.missing import require
from audit.sources.opening import open_source, require_some
from audit.text import is_utf8

MOST_PARTS = 99_999
# Files up to this size together are read by one task.
EXTRACT_BYTES = 32_000_000


@dataclass(frozen=True)
class Manifest:
    """Everything that a worker needs to know; two runs with the same one have the same bytes."""

    id: str
    parts: int
    settings: Settings
    plugins: Plugins
    reading: Reading
    files: Sequence[SourceFile]
    # The numbers of the files that one extract reads: small files are read together.
    extracts: Sequence[Sequence[int]]
    # Why files were left out that could not even be opened.
    skipped: Sequence[str]
    # The hash of all SQL files, and the versions of the libraries.
    sql: str
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
    check_reading(reading)
    _refuse_later_facts(reading, settings)
    # Workers may begin in another folder.
    beside = {name: getattr(reading, name) for name in ("references", "labels")}
    reading = replace(
        reading, **{name: os.path.abspath(path) for name, path in beside.items() if path}
    )
    files, skipped = _files(sources, reading)
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
        "extracts": [[number for number, _ in batch] for batch in _extracts(files)],
        "skipped": skipped,
        "sql": hash_sql(),
        "versions": versions(),
    }
    text = json.dumps(_with_id(content), indent=2, sort_keys=True)
    _write(out, text)
    return read_manifest(out)


def _refuse_later_facts(reading: Reading, settings: Mapping[str, Any]) -> None:
    """Refuse options that ask for what is known only when all files are read."""
    if settings.get("orders") == "auto":
        raise AuditError(
            "--orders auto: a run draws its orders before anything is measured; plan it with a "
            "number, and use 'budget-audit replay --orders auto' on what is gathered"
        )
    if settings.get("selectors") == "all":
        raise AuditError(
            "--selectors all: which scores there are is not known before files are read; name the "
            "selectors of the plan"
        )
    terminals = ",".join(settings.get("terminals") or ())
    if terminals not in ("", "none"):
        raise AuditError(
            "--terminals: a run replays no terminals; plan it without, and use 'budget-audit "
            f"replay --terminals {terminals}' on what is gathered"
        )
    if reading.sql is not None:
        raise AuditError(
            "--sql: a plan reads files one by one; load with --sql, and plan the export"
        )
    if reading.checkpoints is not None:
        raise AuditError(
            "--checkpoints: a run reads checkpoints from a column of its files; load the archives "
            "that have a file of them on one machine"
        )


def _foretell(
    con: duckdb.DuckDBPyConnection, reading: Reading, settings: Mapping[str, Any]
) -> None:
    """Create `meta` and `scores` as the options promise them, for records that are not read yet.

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
    """Return the source files, each of which can be opened, and why others are left out."""
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


def _extracts(files: Sequence[SourceFile]) -> Iterator[list[tuple[int, SourceFile]]]:
    """Batch the files that are read by one task: a process for each small file costs more."""
    return batches(enumerate(files), lambda item: (item[1].bytes,), (EXTRACT_BYTES,))


def _with_id(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest with the hash of all else in it."""
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
    """Return the plan of a run; refuse one that was changed or cut (threat model, d)."""
    _refuse_name(run)
    path = run / "manifest.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        is_whole = content == _with_id({key: content[key] for key in content if key != "id"})
    except FileNotFoundError:
        raise AuditError(f"{run}: no run is planned here; begin with 'budget-audit plan'") from None
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise AuditError(f"{path}: cannot be read: {first_line(error)}") from None
    if not is_whole:
        raise AuditError(f"{path}: has been changed since it was planned; plan the run again")
    settings = settings_of(content)
    by_kind = {kind: [Plugin(**plugin) for plugin in content["plugins"][kind]] for kind in KINDS}
    files = [SourceFile(Path(f["path"]), f["name"], f["bytes"]) for f in content["files"]]
    reading = {name: as_tuples(value) for name, value in content["reading"].items()}
    return Manifest(
        content["id"],
        content["parts"],
        settings,
        Plugins(by_kind["rules"], by_kind["selectors"], by_kind["policies"], settings.unit),
        Reading(**reading),
        files,
        content["extracts"],
        content["skipped"],
        content["sql"],
        content["versions"],
    )


def settings_of(content: Mapping[str, Any]) -> Settings:
    """Return the settings that a manifest or a receipt holds."""
    return Settings(**{name: as_tuples(value) for name, value in content["settings"].items()})


def versions() -> dict[str, str]:
    """Return the versions on which bytes may depend; NumPy promises its streams per version."""
    return {
        "budget-audit": __version__,
        "duckdb": duckdb.__version__,
        "numpy": numpy.__version__,
        "pyarrow": pyarrow.__version__,
    }


@cache
def hash_sql() -> str:
    """Return one hash of all SQL files that ship with the project."""
    root = resource("sql")
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.sql")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def same_plan(run: Path) -> Manifest:
    """Return the plan of a run; refuse it where versions or SQL differ from the plan's."""
    manifest, here = read_manifest(run), versions()
    worker = platform.node() or "this worker"
    for name, version in manifest.versions.items():
        if here.get(name) != version:
            raise AuditError(
                f"{worker} has {name} {here.get(name)}, and the run was planned with {version}; "
                "install that version on every worker"
            )
    if hash_sql() != manifest.sql:
        raise AuditError(
            f"{worker} has other SQL files than the run was planned with; install the same "
            "budget-audit on every worker"
        )
    return manifest
