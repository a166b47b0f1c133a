"""Archives, problems and banks of the whole run, numbered once, and problems dealt to parts."""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from audit.database import insert
from audit.engine import build, render
from audit.engine.settings import keep
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError
from audit.load.gate import settle_labels
from audit.load.load import refuse_duplicates
from audit.load.names import Numbering, number_problems
from audit.load.provenance import remember
from audit.load.schema import create_schema
from audit.scale.folders import (
    Limits,
    appearing,
    check_files,
    folder_of,
    is_done,
    parquet,
    read_receipt,
    working,
    write_receipt,
)
from audit.scale.plan import Manifest, read_manifest, require_same_program

# Stages that need all archives, or all problems: made once, and handed down to every part.
HANDED_DOWN = ("replayed_problems", "archives", "problems", "banks", "graded_archives")
# What a load knows of the whole: made here too.
LOADED = ("sources", "problem_names", "meta")


def missing_files(run: Path, manifest: Manifest) -> list[int]:
    """The source files that have not been extracted yet."""
    numbers = range(len(manifest.files))
    return [number for number in numbers if not is_done(run, "attempts", number, manifest.id)]


def number_keys(run: Path, limits: Limits) -> dict[str, Any]:
    """Number what all parts share, unless that is done; return its receipt."""
    manifest = read_manifest(run)
    require_same_program(manifest)
    folder = run / "keys"
    receipt = read_receipt(folder)
    if receipt is not None:
        if receipt["manifest"] != manifest.id:
            raise AuditError(f"{folder}: was made by another plan; remove it and run it again")
        return receipt
    if missing := missing_files(run, manifest):
        raise AuditError(
            f"{run}: {len(missing):,} of {len(manifest.files):,} files are not extracted yet, the "
            f"first is number {missing[0]}; run 'budget-audit extract {run}'"
        )
    with appearing(folder) as partial, working(limits) as con:
        receipts, left_out = _read_counts(con, run, manifest)
        _refuse_twice(con, run, manifest)
        _describe_load(con, manifest, receipts)
        _number(con, manifest)
        dealt = _deal(con.execute(render("problem_work")).fetchall(), manifest.parts)
        insert(con, "create table dealt as", dealt)
        _place(con)
        rows = {}
        for name in (*HANDED_DOWN, *LOADED, "settled", "dealt", "places"):
            path = str(partial / f"{name}.parquet").replace("'", "''")
            ordered = "from places order by part, file" if name == "places" else f"from {name}"
            rows[name] = con.execute(f"copy ({ordered}) to '{path}'").fetchall()[0][0]
        notes = [note for receipt in receipts for note in receipt["source"]["notes"]]
        content = {"manifest": manifest.id, "notes": notes, "left_out": left_out}
        write_receipt(partial, content, rows)
    found = read_receipt(folder)
    assert found is not None
    return found


def check_extracted(run: Path, manifest: Manifest) -> list[dict[str, Any]]:
    """The receipts of all extracted files; one that is missing, swapped or damaged is named."""
    receipts = []
    for number in range(len(manifest.files)):
        folder = folder_of(run, "attempts", number)
        receipt = read_receipt(folder)
        if receipt is None or receipt["manifest"] != manifest.id or receipt["number"] != number:
            raise AuditError(f"{folder}: does not hold file {number} of this run; run it again")
        check_files(folder, receipt)
        receipts.append(receipt)
    return receipts


def _read_counts(
    con: duckdb.DuckDBPyConnection, run: Path, manifest: Manifest
) -> tuple[list[dict[str, Any]], list[tuple[str, int, int]]]:
    """Make `bank_counts` of every file's own, under the numbers that problems have in the run."""
    receipts = check_extracted(run, manifest)
    folders = [folder_of(run, "attempts", number) for number in range(len(manifest.files))]
    counted = parquet([folder / "banks.parquet" for folder in folders])
    create_schema(con)
    con.execute(f"create table incoming as select *, question_id as read_id from {counted}")
    left_out = _settle(con, manifest.unlabelled)
    number_problems(con, _name_problems(con, receipts))
    con.execute("alter table incoming rename to bank_counts")
    return receipts, left_out


def _settle(con: duckdb.DuckDBPyConnection, unlabelled: str | None) -> list[tuple[str, int, int]]:
    """Do with missing labels what a load does, on the counts of the archives that miss some."""
    con.execute(f"create table settled as {render('unsettled_archives')}")
    if not con.execute("select 1 from settled limit 1").fetchall():
        return []
    con.execute("alter table incoming rename to bank_counts")
    con.execute(
        f"create temp table incoming as from ({render('counted_attempts')}) "
        "semi join settled using (archive)"
    )
    left_out = settle_labels(con, unlabelled)
    con.execute(
        "delete from bank_counts where archive in (from settled) "
        "and (archive, competition, question_id) not in "
        "(select (archive, competition, question_id) from incoming)"
    )
    con.execute("update bank_counts set labels = attempts where archive in (from settled)")
    con.execute("drop table incoming")
    con.execute("alter table bank_counts rename to incoming")
    return left_out


def _name_problems(
    con: duckdb.DuckDBPyConnection, receipts: Sequence[Mapping[str, Any]]
) -> Numbering:
    """One provisional number for a name in whatever files it is met."""
    numbering = Numbering()
    renamed = []
    for number, receipt in enumerate(receipts):
        for competition, name, read_id in receipt["names"]:
            at = numbering.names.setdefault((competition, name), -1 - len(numbering.names))
            renamed.append((number, competition, read_id, at))
    if renamed:
        columns = ("file", "competition", "read_id", "question_id")
        values = zip(columns, zip(*renamed, strict=True), strict=True)
        insert(con, "create temp table renamed as", pa.table({name: list(c) for name, c in values}))
        con.execute(
            "update incoming set question_id = renamed.question_id from renamed "
            "where incoming.file = renamed.file and incoming.competition = renamed.competition "
            "and incoming.read_id = renamed.read_id"
        )
        con.execute("drop table renamed")
    return numbering


def _refuse_twice(con: duckdb.DuckDBPyConnection, run: Path, manifest: Manifest) -> None:
    """Refuse an attempt that occurs twice in the run, as a load does."""
    files = [folder_of(run, "attempts", n) / "attempts.parquet" for n in range(len(manifest.files))]
    con.execute(f"create view extracted as from {parquet(files)}")
    con.execute(f"create temp table incoming as {render('doubtful_attempts')}")
    refuse_duplicates(con, manifest.files)
    con.execute("drop table incoming")
    con.execute("drop view extracted")


def _describe_load(
    con: duckdb.DuckDBPyConnection, manifest: Manifest, receipts: Sequence[Mapping[str, Any]]
) -> None:
    """Make what a load knows of the whole from counts alone."""
    con.execute("drop view grades")
    con.execute("drop table attempts")
    for name in ("incoming", "attempts", "grades"):
        con.execute(f"create view {name} as {render('counted_attempts')}")
    columns = ("name", "format", "bytes", "sha256", "mapping", "simulated")
    described = {name: [receipt["source"][name] for receipt in receipts] for name in columns}
    con.register("incoming_files", pa.table({"file": list(range(len(receipts))), **described}))
    con.execute(f"insert into sources {render('sources')}")
    con.unregister("incoming_files")
    remember(con, manifest.choices.answer)


def _number(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """Build the stages that every part is handed."""
    keep(con, manifest.settings, manifest.plugins)
    for name in STAGE_NAMES:
        if name in HANDED_DOWN:
            build(con, name, manifest.plugins)
    if not con.execute("select 1 from banks limit 1").fetchall():
        raise AuditError("the filters leave no problem to replay; plan the run with others")


def _deal(problems: Iterable[tuple[str, int, int, int]], parts: int) -> pa.Table:
    """Give every problem to the part with the least work so far, the largest problem first."""
    waiting = [(0, part) for part in range(parts)]
    dealt = []
    largest_first = sorted(problems, key=lambda row: (-row[3], -row[2], row[0], row[1]))
    for competition, question_id, attempts, prefixes in largest_first:
        work, part = heapq.heappop(waiting)
        dealt.append((competition, question_id, attempts, prefixes, part))
        heapq.heappush(waiting, (work + prefixes + attempts, part))
    names = ("competition", "question_id", "attempts", "prefixes", "part")
    return pa.table(dict(zip(names, map(list, zip(*sorted(dealt), strict=True)), strict=True)))


def _place(con: duckdb.DuckDBPyConnection) -> None:
    """Make `places`: which problems of which part are in which file, and under which number."""
    con.execute(
        "create table places as select distinct dealt.part, bank_counts.file, bank_counts.archive, "
        "bank_counts.competition, bank_counts.read_id, bank_counts.question_id "
        "from bank_counts inner join dealt using (competition, question_id)"
    )
