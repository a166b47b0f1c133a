"""Archives, problems and banks of the whole run, numbered once, and problems dealt to parts."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.engine import build, render
from audit.engine.scores import FOLDER, check_weights, score_of, scores
from audit.engine.settings import Settings, keep
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError
from audit.load.gate import require_fit, settle_labels
from audit.load.load import incoming_files, refuse_duplicates
from audit.load.names import number_problems
from audit.load.schema import create_schema
from audit.options import TaskLimits
from audit.output import filters
from audit.scale.folders import (
    appearing,
    folder_of,
    missing,
    parquet,
    read_receipt,
    whole_receipts,
    working,
    write_receipt,
)
from audit.scale.plan import Manifest, same_plan
from audit.sources.opening import require_some
from audit.sources.runs import appended
from audit.text import literal, not_there

# Stages that need all archives, or all problems: made once, and handed down to every part.
HANDED_DOWN = ("replayed_problems", "archives", "problems", "banks", "graded_archives")
# Tables of a load that need all files.
LOADED_ONCE = ("sources", "problem_names")
# The attempts of every part, and the work of every problem.
DEALT = {
    "dealt_problems": "from dealt_problems order by part, competition, question_id",
    "dealt": "select dealt_problems.part, incoming.* from incoming "
    "inner join dealt_problems using (competition, question_id) "
    "order by part, competition, question_id, file, place",
}


def number_keys(run: Path, limits: TaskLimits) -> dict[str, Any]:
    """Number what all parts share, unless that is done; return its receipt."""
    manifest = same_plan(run)
    folder = run / "keys"
    if receipt := read_receipt(folder, manifest.id):
        return receipt
    if waiting := missing(run, "attempts", len(manifest.extracts), manifest.id):
        raise AuditError(
            f"{run}: {len(waiting):,} of {len(manifest.extracts):,} extracts are missing, the "
            f"first is number {waiting[0]}; run 'budget-audit extract {run}'"
        )
    receipts = whole_receipts(run, "attempts", len(manifest.extracts), manifest.id)
    read = dict(pair for receipt in receipts for pair in receipt["sources"])
    skipped = [*manifest.skipped, *(reason for r in receipts for reason in r["skipped"])]
    require_some([*read], skipped)
    with appearing(folder) as partial, working(limits) as con:
        left_out = _read_keys(con, run, manifest, read)
        settings = _find_filters(con, manifest.settings)
        _require_scores(con, manifest, settings)
        _number(con, manifest, settings)
        dealt = _deal(con.execute(render("problem_work")).fetchall(), manifest.parts)
        insert(con, "create table dealt_problems as", dealt)
        selects = {name: f"from {name}" for name in (*HANDED_DOWN, *LOADED_ONCE)} | DEALT
        con.execute("set preserve_insertion_order = true")
        rows = {}
        for name, select in selects.items():
            path = literal(str(partial / f"{name}.parquet"))
            rows[name] = con.execute(f"copy ({select}) to {path}").fetchall()[0][0]
        notes = [f"left out: {reason}" for reason in skipped]
        content = {
            "manifest": manifest.id,
            "settings": asdict(settings),
            "notes": [*notes, *(note for source in read.values() for note in source["notes"])],
            "left_out": left_out,
        }
        write_receipt(partial, content, rows)
    return read_receipt(folder, manifest.id) or {}


def _read_keys(
    con: duckdb.DuckDBPyConnection,
    run: Path,
    manifest: Manifest,
    read: Mapping[int, Mapping[str, Any]],
) -> list[tuple[str, int, int]]:
    """Create `incoming` from the keys of all attempts, and settle it as a load does."""
    reading = manifest.reading
    create_schema(con)
    con.execute(f"create view extracted as from {attempts_of(run, range(len(manifest.extracts)))}")
    con.execute(f"create table incoming as {render('extracted_keys')}")
    con.execute(f"create table met as {render('met_problems')}")
    _change(con, "question_id", "from met", "problem_name = met.name", ("competition",))
    if reading.runs == "separate":
        archives = f"from ({render('separate_archives')})"
        key = ("file", "archive", "competition")
        _change(con, "archive", archives, "true", key, value="run_archive")
    if reading.runs == "append":
        _append_runs(con)
    left_out = settle_labels(con, reading.unlabelled)
    names = con.execute("select competition, name, question_id from met").fetchall()
    number_problems(con, {(competition, name): at for competition, name, at in names})
    refuse_duplicates(con, manifest.files)
    # Stages and the gate read tables of a load: views on the keys replace them.
    for kind, name in (("view", "grades"), ("table", "attempts")):
        con.execute(f"drop {kind} {name}; create view {name} as from incoming")
    if not reading.force:
        rows = con.execute("select distinct archive from incoming").fetchall()
        require_fit(con, {archive for (archive,) in rows}, reading.answer)
    with incoming_files(con, read):
        con.execute(f"insert into sources {render('sources')}")
    return left_out


def attempts_of(run: Path, extracts: Iterable[int]) -> str:
    """Return the attempts of some extracts as a relation in SQL."""
    return parquet([folder_of(run, "attempts", n) / "attempts.parquet" for n in extracts])


def _change(
    con: duckdb.DuckDBPyConnection,
    column: str,
    values: str,
    where: str,
    key: Sequence[str],
    value: str | None = None,
) -> None:
    """Set a column of `incoming` to that of the rows of a select that have the same key."""
    same = " and ".join([where, *(f"incoming.{name} = met.{name}" for name in key)])
    con.execute(
        f"update incoming set {column} = met.{value or column} from ({values}) as met where {same}"
    )


def _append_runs(con: duckdb.DuckDBPyConnection) -> None:
    """Number the attempts that repeat those of an earlier file, as a load does."""
    rows = con.execute(render("appended_attempts")).fetchall()
    seeds: list[int] = []
    for _, of_bank in groupby(rows, key=lambda row: row[:3]):
        seeds += appended((file, seed) for *_, file, _, seed in of_bank)
    if rows:
        columns = {"file": [row[3] for row in rows], "place": [row[4] for row in rows]}
        insert(con, "create table appended as", pa.table({**columns, "seed": seeds}))
        _change(con, "seed", "from appended", "true", ("file", "place"))


def _find_filters(con: duckdb.DuckDBPyConnection, settings: Settings) -> Settings:
    """Return the settings with their filters as names that are in the files."""
    asked = (settings.archives, settings.competitions, settings.problems)
    return replace(settings, **vars(filters.loaded(con, *asked, prefix="only-")))


def _require_scores(con: duckdb.DuckDBPyConnection, manifest: Manifest, settings: Settings) -> None:
    """Refuse a selector of a score that no file has, or whose values are no weights."""
    con.execute(f"create or replace view scores as {render('extracted_scores')}")
    selectors = [s for s in manifest.plugins.selectors if s.path.startswith(FOLDER)]
    names = scores(con) if selectors else []
    for selector in selectors:
        score = score_of(selector)
        if score not in names:
            raise AuditError(
                f"--selectors {selector.name}: {not_there('score', score, names)}; plan another run"
            )
    if selectors:
        check_weights(con, selectors, settings)


def _number(con: duckdb.DuckDBPyConnection, manifest: Manifest, settings: Settings) -> None:
    """Build the stages that every part is handed."""
    keep(con, settings, manifest.plugins)
    for name in STAGE_NAMES:
        if name in HANDED_DOWN:
            build(con, name, manifest.plugins)
    if not con.execute("select 1 from banks limit 1").fetchall():
        raise AuditError(
            "--only-archive, --only-competition and --problems together leave no problem to "
            "replay; plan another run"
        )


def _deal(problems: Iterable[tuple[str, int, int, int]], parts: int) -> pa.Table:
    """Give every problem to the part with the least work so far, the largest problem first."""
    waiting = [(0, part) for part in range(parts)]
    dealt = []
    largest_first = sorted(problems, key=lambda row: (-row[3], -row[2], row[0], row[1]))
    for competition, question_id, attempts, rows_held in largest_first:
        work, part = heapq.heappop(waiting)
        dealt.append((competition, question_id, rows_held, part))
        heapq.heappush(waiting, (work + rows_held + attempts, part))
    names = ("competition", "question_id", "rows_held", "part")
    return pa.table(dict(zip(names, map(list, zip(*dealt, strict=True)), strict=True)))
