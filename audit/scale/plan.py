"""The plan of a run: its files, options, plug-ins and versions, written as one manifest."""

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pyarrow as pa

from audit import __version__
from audit.database.leftovers import atomic_file
from audit.engine.batches import group_batches
from audit.engine.plugins import KINDS, Plugin, Plugins
from audit.engine.prices import read_prices
from audit.engine.scores import find_named_scores
from audit.engine.settings import Settings, as_tuples, resolve_plugins, resolve_settings
from audit.engine.sql_files import digest_sql
from audit.errors import AuditError, first_line
from audit.load.load import check_reading
from audit.options import Planned, Reading, Sources, public
from audit.output import filters
from audit.output.result import Result
from audit.sources.files import SourceFile, find_files
from audit.sources.missing import require_columns
from audit.sources.opening import open_source, require_files
from audit.study.fetch import download_sources

MOST_PARTS = 99_999
# Files up to this size together are read by one task: a process for each small file costs more.
EXTRACT_BYTES = 32_000_000
# The ends of messages that refuse options which need all files at once.
REPLAY = "which is known when all files are read; plan without, and use it in 'budget-audit replay'"
LOAD = "but a run reads its files one by one; load them on one machine"


@dataclass(frozen=True)
class Manifest:
    """The plan that every worker reads; runs with equal manifests give the same bytes."""

    id: str
    parts: int
    settings: Settings
    plugins: Plugins
    reading: Reading
    files: Sequence[SourceFile]
    # The numbers of the files that one extract reads: small files are read together.
    extracts: Sequence[Sequence[int]]
    # For each file that could not be opened, the reason why it was left out.
    skipped: Sequence[str]
    # The versions of the libraries, and the hash of all SQL files.
    versions: Mapping[str, str]

    def count(self, kind: str) -> int:
        """Return the number of extracts or parts of the run."""
        return self.parts if kind == "part" else len(self.extracts)

    def require(self, kind: str, number: int) -> None:
        """Refuse a number outside those of the run's extracts or parts."""
        if not 0 <= number < self.count(kind):
            raise AuditError(
                f"the run has no {kind} {number}; they are 0 to {self.count(kind) - 1}"
            )


@public
def plan(
    sources: Sources, out: str | Path, parts: int, *, reading: Reading, settings: Planned
) -> Result:
    """Plan a run past one machine, which workers share as a folder: a row per source file.

    It takes what `load` and `replay` take, checks it and writes the manifest; nothing is read yet.

    out: the run's folder, which every worker sees under the same name
    parts: into how many parts the problems go
    """
    asked: dict[str, Any] = {**settings, "prices": read_prices(settings.get("prices", ""))}
    if "problems" in settings:
        asked["problems"] = filters.read_problems(Path(settings["problems"]))
    manifest = write_plan(download_sources(sources), Path(out), parts, reading, asked)
    size = sum(file.bytes for file in manifest.files)
    caption = (
        f"{len(manifest.files):,} file(s), {size:,} bytes, {len(manifest.extracts):,} extract(s), "
        f"{parts:,} part(s) in {out}"
    )
    rows = [
        {"extract": number, "file": manifest.files[n].shown_name, "bytes": manifest.files[n].bytes}
        for number, read in enumerate(manifest.extracts)
        for n in read
    ]
    notes = [f"note: left out: {reason}" for reason in manifest.skipped]
    return Result(pa.Table.from_pylist(rows), caption=caption, notes=notes)


def write_plan(
    sources: Sequence[str], out: Path, parts: int, reading: Reading, settings: Mapping[str, Any]
) -> Manifest:
    """Check the options of `load` and `replay`, list the source files and write the manifest."""
    if not 1 <= parts <= MOST_PARTS:
        raise AuditError(f"--parts: a whole number from 1 to {MOST_PARTS:,}")
    check_reading(reading)
    _refuse_later_facts(reading, settings)
    # Workers may begin in another folder.
    for name in ("references", "labels"):
        if path := getattr(reading, name):
            reading = replace(reading, **{name: os.path.abspath(path)})
    files, skipped = _list_files(sources, reading)
    with duckdb.connect() as con:
        _create_promised_tables(con, reading, settings)
        resolved = resolve_settings(con, settings)
        plugins = resolve_plugins(con, settings, resolved)
    if not resolved.budgets:
        raise AuditError(
            f"--budgets: what attempts cost in {resolved.unit} is not known before they are read; "
            "name the budgets of the plan"
        )
    extracts = group_batches(enumerate(files), lambda item: (item[1].bytes,), (EXTRACT_BYTES,))
    content = {
        "parts": parts,
        "settings": asdict(resolved),
        "plugins": asdict(plugins),
        "reading": asdict(reading),
        "files": [
            {"path": str(file.path), "name": file.name, "bytes": file.bytes} for file in files
        ],
        "extracts": [[number for number, _ in batch] for batch in extracts],
        "skipped": skipped,
        "versions": read_versions(),
    }
    _write_manifest(out, {**content, "id": _hash_content(content)})
    return read_manifest(out)


def _refuse_later_facts(reading: Reading, settings: Mapping[str, Any]) -> None:
    """Refuse options whose meaning is known only after all files are read."""
    asked = {
        "--orders auto": (settings.get("orders") == "auto", REPLAY),
        "--selectors all": (settings.get("selectors") == "all", REPLAY),
        "--terminals": ({*(settings.get("terminals") or ())} - {"none"}, REPLAY),
        "--sql": (reading.sql, LOAD),
        "--checkpoints": (reading.checkpoints, LOAD),
    }
    for option, (is_asked, instead) in asked.items():
        if is_asked:
            raise AuditError(f"{option} asks for all records, {instead}")


def _create_promised_tables(
    con: duckdb.DuckDBPyConnection, reading: Reading, settings: Mapping[str, Any]
) -> None:
    """Create `meta` and `scores` with what the options name, so that these can be checked.

    Whether the files have these scores is checked once everything is extracted.
    """
    con.execute("create table meta as select 'answer' as key, ? as value", [reading.answer])
    names = f"{settings.get('selectors') or ''},{settings.get('primary_selector') or ''}"
    scores = {score for name in names.split(",") for score in find_named_scores(name)}
    con.execute(
        "create table scores as select '' as archive, '' as competition, 0::bigint as question_id, "
        "unnest(?::varchar[]) as score, 0::double as value",
        [sorted(scores)],
    )


def _list_files(sources: Sequence[str], reading: Reading) -> tuple[list[SourceFile], list[str]]:
    """Return the source files and why others are skipped; refuse options they do not fit."""
    skipped: list[str] = []
    listed = find_files(sources, skipped if reading.skip_unreadable else None)
    require_files(listed, skipped)
    files = [SourceFile(Path(os.path.abspath(file.path)), file.name, file.bytes) for file in listed]
    if not reading.skip_unreadable:
        # Options that do not fit the first file mostly fit none.
        require_columns(open_source(files[0], reading), reading)
    return files, skipped


def _hash_content(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a manifest's content."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _write_manifest(out: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest into a new folder; refuse a folder that holds anything else."""
    path = out / "manifest.json"
    if path.exists():
        if content["id"] != read_manifest(out).id:
            raise AuditError(f"{out}: holds the plan of another run; choose another --out")
        return
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise AuditError(f"{out}: is not empty; a run needs a folder of its own")
    except OSError as error:
        raise AuditError(f"{out}: cannot be made a folder: {first_line(error)}") from None
    with atomic_file(path) as partial:
        partial.write_text(json.dumps(content, indent=2, sort_keys=True), encoding="utf-8")


def read_manifest(run: Path) -> Manifest:
    """Return a run's manifest; refuse one that was edited, and a worker with other versions."""
    path = run / "manifest.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        is_whole = content.pop("id") == (digest := _hash_content(content))
    except FileNotFoundError:
        raise AuditError(f"{run}: no run is planned here; begin with 'budget-audit plan'") from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AuditError(f"{path}: cannot be read: {first_line(error)}") from None
    if not is_whole:
        raise AuditError(f"{path}: has been changed since it was planned; plan the run again")
    here = read_versions()
    for name, version in content["versions"].items():
        if here.get(name) != version:
            raise AuditError(
                f"{platform.node() or 'this worker'} has {name} {here.get(name)}, and the run was "
                f"planned with {version}; install the same on every worker"
            )
    plugins = content["plugins"]
    by_kind = {kind: [Plugin(**plugin) for plugin in plugins[kind]] for kind in KINDS}
    read = {
        "settings": read_settings(content),
        "plugins": Plugins(**plugins | by_kind),
        "files": [SourceFile(Path(f["path"]), f["name"], f["bytes"]) for f in content["files"]],
        "reading": Reading(**{name: as_tuples(one) for name, one in content["reading"].items()}),
    }
    return Manifest(id=digest, **content | read)


def read_settings(content: Mapping[str, Any]) -> Settings:
    """Return the replay settings that are stored in a manifest or a receipt."""
    return Settings(**{name: as_tuples(value) for name, value in content["settings"].items()})


def read_versions() -> dict[str, str]:
    """Return the versions of everything that could change the bytes of a result."""
    return {
        "budget-audit": __version__,
        "duckdb": duckdb.__version__,
        "numpy": numpy.__version__,
        "pyarrow": pa.__version__,
        "SQL files": digest_sql(),
    }
