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
from audit.engine.scores import FOLDER, check_weights, scores
from audit.engine.settings import Settings, keep
from audit.engine.stages import STAGE_NAMES
from audit.errors import AuditError
from audit.load.gate import require_fit, settle_labels
from audit.load.load import incoming_files, refuse_duplicates
from audit.load.names import Numbering, number_problems
from audit.load.schema import create_schema
from audit.options import TaskLimits
from audit.output import filters
from audit.scale.folders import (
    appearing,
    folder_of,
    missing,
    own_receipt,
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
# What a load knows of the whole: made here too.
LOADED_ONCE = ("sources", "problem_names")


def number_keys(run: Path, limits: TaskLimits) -> dict[str, Any]:
    """Number what all parts share, unless that is done; return its receipt."""
    manifest = same_plan(run)
    folder = run / "keys"
    if receipt := own_receipt(folder, manifest.id):
        return receipt
    if waiting := missing(run, "attempts", len(manifest.files), manifest.id):
        raise AuditError(
            f"{run}: {len(waiting):,} of {len(manifest.files):,} files are not extracted yet, the "
            f"first is number {waiting[0]}; run 'budget-audit extract {run}'"
        )
    with appearing(folder) as partial, working(limits) as con:
        receipts, left_out = _read_counts(con, run, manifest)
        con.execute(f"create view extracted as from {_extracted(run, manifest, 'attempts')}")
        _refuse_twice(con, manifest)
        if not manifest.reading.force:
            _refuse_unfit(con, manifest.reading.answer)
        _describe_load(con, receipts)
        settings = _filtered(con, manifest.settings)
        _require_scores(con, manifest, settings)
        _number(con, manifest, settings)
        dealt = _deal(con.execute(render("problem_work")).fetchall(), manifest.parts)
        insert(con, "create table dealt as", dealt)
        rows = {}
        for name in (*HANDED_DOWN, *LOADED_ONCE, "settled", "dealt", "places"):
            path = literal(str(partial / f"{name}.parquet"))
            select = render("places") if name == "places" else f"from {name}"
            rows[name] = con.execute(f"copy ({select}) to {path}").fetchall()[0][0]
        content = {
            "manifest": manifest.id,
            "settings": asdict(settings),
            "notes": _notes(manifest, receipts),
            "left_out": left_out,
        }
        write_receipt(partial, content, rows)
    receipt = read_receipt(folder)
    assert receipt is not None
    return receipt


def _notes(manifest: Manifest, receipts: Sequence[Mapping[str, Any]]) -> list[str]:
    """The notes that a load of the files would report."""
    reasons = (receipt["skipped"] for receipt in receipts)
    skipped = [*manifest.skipped, *(reason for reason in reasons if reason)]
    read = [receipt["source"] for receipt in receipts if receipt["source"]]
    notes = [note for source in read for note in source["notes"]]
    return [*(f"left out: {reason}" for reason in skipped), *notes]


def _read_counts(
    con: duckdb.DuckDBPyConnection, run: Path, manifest: Manifest
) -> tuple[list[dict[str, Any]], list[tuple[str, int, int]]]:
    """Make `bank_counts` of every file's own, under the numbers that problems have in the run."""
    receipts = whole_receipts(run, "attempts", len(manifest.files), manifest.id)
    read = [receipt for receipt in receipts if not receipt["skipped"]]
    require_some(read, [*manifest.skipped, *(receipt["skipped"] for receipt in receipts)])
    create_schema(con)
    con.execute(
        "create table incoming as select *, question_id as read_id, archive as read_archive "
        f"from {_extracted(run, manifest, 'banks')}"
    )
    if manifest.reading.answer == "none":
        # An attempt without an answer may be picked where it is finished.
        con.execute("update incoming set eligible = coalesce(endings['stop'], 0)")
    if manifest.reading.runs == "separate":
        # Each file that repeats an archive's competition is an archive, as in a load.
        archives = con.sql(render("separate_archives")).to_arrow_table()
        _change(con, "archive", archives, ("file", "read_archive", "competition"))
    left_out = _settle(con, manifest.reading.unlabelled)
    number_problems(con, _name_problems(con, receipts))
    con.execute("alter table incoming rename to bank_counts")
    # All that is known of attempts are counts: views on those take the place of the tables.
    con.execute("drop view grades")
    con.execute("drop table attempts")
    return receipts, left_out


def _extracted(run: Path, manifest: Manifest, name: str) -> str:
    """One of the files of every extract, as a relation in SQL."""
    numbers = range(len(manifest.files))
    return parquet([folder_of(run, "attempts", n) / f"{name}.parquet" for n in numbers])


def _change(
    con: duckdb.DuckDBPyConnection, column: str, values: pa.Table, key: Sequence[str]
) -> None:
    """Give a column of `incoming` the values of a table, by these columns of both."""
    insert(con, "create temp table changed as", values)
    same = " and ".join(f"incoming.{name} = changed.{name}" for name in key)
    con.execute(f"update incoming set {column} = changed.{column} from changed where {same}")
    con.execute("drop table changed")


def append_runs(con: duckdb.DuckDBPyConnection) -> None:
    """Number the attempts in `incoming` that repeat those of a file before, as a load does."""
    rows = con.execute(render("appended_attempts")).fetchall()
    if not rows:
        return
    seeds: list[int] = []
    for _, of_bank in groupby(rows, key=lambda row: row[:3]):
        seeds += appended((file, seed) for *_, file, _, seed in of_bank)
    columns = {"file": [row[3] for row in rows], "place": [row[4] for row in rows], "seed": seeds}
    _change(con, "seed", pa.table(columns), ("file", "place"))


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
    numbering: Numbering = {}
    renamed = []
    for file, receipt in enumerate(receipts):
        for competition, name, read_id in receipt["names"]:
            at = numbering.setdefault((competition, name), -1 - len(numbering))
            key = {"file": file, "competition": competition, "read_id": read_id}
            renamed.append({**key, "question_id": at})
    if renamed:
        names = pa.Table.from_pylist(renamed)
        _change(con, "question_id", names, ("file", "competition", "read_id"))
    return numbering


def _refuse_twice(con: duckdb.DuckDBPyConnection, manifest: Manifest) -> None:
    """Refuse an attempt that occurs twice in the run, as a load does."""
    con.execute(f"create temp table doubtful_banks as {render('doubtful_banks')}")
    if manifest.reading.runs == "append":
        # What other files repeat is numbered anew.
        con.execute("delete from doubtful_banks where not is_repeated")
    con.execute(f"create temp table incoming as {render('doubtful_attempts')}")
    if manifest.reading.runs == "append":
        append_runs(con)
    refuse_duplicates(con, manifest.files)
    con.execute("drop table incoming")
    con.execute("drop table doubtful_banks")


def _refuse_unfit(con: duckdb.DuckDBPyConnection, answer: str) -> None:
    """Refuse an archive in which nothing can be picked, in the words of a load."""
    con.execute(f"create view attempts as {render('ended_attempts')}")
    archives = con.execute("select distinct archive from bank_counts").fetchall()
    require_fit(con, {archive for (archive,) in archives}, answer)
    con.execute("drop view attempts")


def _describe_load(con: duckdb.DuckDBPyConnection, receipts: Sequence[Mapping[str, Any]]) -> None:
    """Make what a load knows of the whole from counts alone."""
    for name in ("incoming", "attempts", "grades"):
        con.execute(f"create view {name} as {render('counted_attempts')}")
    read = {receipt["number"]: receipt["source"] for receipt in receipts if receipt["source"]}
    with incoming_files(con, read):
        con.execute(f"insert into sources {render('sources')}")


def _filtered(con: duckdb.DuckDBPyConnection, settings: Settings) -> Settings:
    """The settings, their filters as names that are there."""
    asked = (settings.archives, settings.competitions, settings.problems)
    return replace(settings, **vars(filters.loaded(con, *asked, prefix="only-")))


def _require_scores(con: duckdb.DuckDBPyConnection, manifest: Manifest, settings: Settings) -> None:
    """Refuse a selector of a score that no file has, or whose values are no weights."""
    con.execute(f"create or replace view scores as {render('extracted_scores')}")
    selectors = [s for s in manifest.plugins.selectors if s.path.startswith(FOLDER)]
    names = scores(con) if selectors else []
    for selector in selectors:
        score = selector.name.removeprefix(f"{Path(selector.path).stem}_")
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
        dealt.append((competition, question_id, attempts, rows_held, part))
        heapq.heappush(waiting, (work + rows_held + attempts, part))
    names = ("competition", "question_id", "attempts", "rows_held", "part")
    return pa.table(dict(zip(names, map(list, zip(*sorted(dealt), strict=True)), strict=True)))
