"""The budget card: what a budget figure must state, as JSON or as a record of Every Eval Ever."""

import json
import re
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import duckdb

from audit import __version__, engine
from audit.database import atomic_file, insert
from audit.errors import AuditError
from audit.output.filters import Filter, filter_rows
from audit.text import not_there

SCHEMA_FILE = Path(__file__).with_name("card.schema.json")
CARD_VERSION = 1
FORMATS = ("json", "every_eval_ever")


def write_card(
    con: duckdb.DuckDBPyConnection, out: Path, archives: Collection[str], form: str
) -> list[Path]:
    """Write one card of all archives, or one record per archive; return the files written."""
    if form not in FORMATS:
        raise AuditError(f"--format: {not_there('format', form, FORMATS)}")
    only = Filter(tuple(archives))
    rows = filter_rows("budget_card", engine.compute_table(con, "budget_card"), only)
    sources = con.sql(engine.render("card_sources")).to_arrow_table()
    files = filter_rows("card_sources", sources, only)
    settings = dict(con.execute("select key, value from settings order by key").fetchall())
    if form == "json":
        card = {
            "card_version": CARD_VERSION,
            "tool": {"name": "budget-audit", "version": __version__},
            "settings": settings,
            "data": files.to_pylist(),
            "rows": rows.to_pylist(),
        }
        return [_write_json(out, card)]
    with duckdb.connect() as both:
        insert(both, "create table card_rows as", rows)
        insert(both, "create table card_files as", files)
        facts = {"now": str(int(time.time())), "version": __version__}
        facts["replicates"] = settings["replicates"]
        records = both.execute(engine.render("evaluation_records"), facts).fetchall()
    if len(records) == 1:
        return [_write_json(out, json.loads(records[0][1]))]
    if out.suffix == ".json":
        raise AuditError(
            f"--out {out}: a record holds one archive, and here are {len(records)}; name a folder, "
            "or choose one with --archive"
        )
    out.mkdir(parents=True, exist_ok=True)
    return [
        _write_json(out / (re.sub(r"[^\w.-]", "_", archive) + ".json"), json.loads(record))
        for archive, record in records
    ]


def _write_json(path: Path, content: dict[str, Any]) -> Path:
    """Write a value as JSON to a file, and return the file."""
    with atomic_file(path) as temporary:
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        Path(temporary).write_text(text + "\n", encoding="utf-8")
    return path
