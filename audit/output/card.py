"""The budget card: what a budget figure must state, as JSON or as a record of Every Eval Ever."""

import json
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import duckdb

from audit import __version__, engine
from audit.database import atomic_file
from audit.errors import AuditError
from audit.text import not_there

SCHEMA_FILE = Path(__file__).with_name("card.schema.json")
CARD_VERSION = 1
EEE_VERSION = "0.3.0"
FORMATS = ("json", "every_eval_ever")
# What tells the rows of a card apart, and what a figure states beside its accuracy.
PARAMETERS = ("budget", "unit", "rule", "terminal", "policy", "cap", "selector", "answer")
Record = dict[str, Any]


def write_card(
    con: duckdb.DuckDBPyConnection, out: Path, archives: Collection[str], form: str
) -> list[Path]:
    """Write the card of some archives, or a record for each of them; return the files."""
    if form not in FORMATS:
        raise AuditError(f"--format: {not_there('format', form, FORMATS)}")
    card = make_card(con, archives)
    if form == "json":
        return [_write(out, card)]
    names = sorted({row["archive"] for row in card["rows"]})
    if len(names) == 1:
        return [_write(out, evaluation_record(card, names[0]))]
    if out.suffix == ".json":
        raise AuditError(
            f"--out {out}: a record holds one archive, and here are {len(names)}; name a folder, "
            "or choose one with --archive"
        )
    out.mkdir(parents=True, exist_ok=True)
    files = [out / f"{_file_name(name)}.json" for name in names]
    return [
        _write(file, evaluation_record(card, name)) for file, name in zip(files, names, strict=True)
    ]


def make_card(con: duckdb.DuckDBPyConnection, archives: Collection[str] = ()) -> Record:
    """Return the rows of budget_card with the data, settings and tool behind them."""
    rows = engine.table(con, "budget_card").to_pylist()
    data = con.sql(engine.render("card_sources")).to_arrow_table().to_pylist()
    if archives:
        rows = [row for row in rows if row["archive"] in archives]
        data = [row for row in data if row["archive"] in archives]
    settings = dict(con.execute("select key, value from settings order by key").fetchall())
    return {
        "card_version": CARD_VERSION,
        "tool": {"name": "budget-audit", "version": __version__},
        "settings": settings,
        "data": data,
        "rows": rows,
    }


def evaluation_record(card: Record, archive: str) -> Record:
    """Return the figures of one archive as an aggregate record of Every Eval Ever."""
    data = [row for row in card["data"] if row["archive"] == archive]
    now = str(int(time.time()))
    return {
        "schema_version": EEE_VERSION,
        "evaluation_id": f"budget-audit/{archive}/{now}",
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "budget-audit",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
            "additional_details": {row["file"]: row["sha256"] or "" for row in data},
        },
        "eval_library": card["tool"],
        "model_info": {"name": archive, "id": archive},
        "evaluation_results": [
            _result(row, card, data)
            for row in card["rows"]
            if row["archive"] == archive and row["accuracy"] is not None
        ],
    }


def _result(row: Record, card: Record, data: list[Record]) -> Record:
    """Return one row of a card as a result: its accuracy, and all that it must state."""
    known = {name: row[name] for name in PARAMETERS if row[name] is not None}
    rest = {
        name: str(value)
        for name, value in row.items()
        if name not in (*PARAMETERS, "archive", "accuracy", "accuracy_low", "accuracy_high")
        and value is not None
    }
    competitions = sorted({name for source in data for name in source["competitions"]})
    interval = {"lower": row["accuracy_low"], "upper": row["accuracy_high"]}
    uncertainty: Record = {"num_samples": row["problems"]}
    if row["accuracy_low"] is not None:
        uncertainty["num_bootstrap_samples"] = int(card["settings"]["replicates"])
        method = {"confidence_level": 0.95, "method": "bootstrap over problems"}
        uncertainty["confidence_interval"] = interval | method
    return {
        "evaluation_result_id": ":".join(str(row[name]) for name in PARAMETERS),
        "evaluation_name": ", ".join(competitions),
        "source_data": {"dataset_name": ", ".join(competitions), "source_type": "other"},
        "metric_config": {
            "metric_id": "budget_audit.accuracy",
            "metric_name": "accuracy under a cumulative budget",
            "metric_kind": "accuracy",
            "metric_unit": "percent",
            "metric_parameters": known,
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 100,
        },
        "score_details": {
            "score": row["accuracy"],
            "details": rest,
            "uncertainty": uncertainty,
        },
    }


def _write(path: Path, content: Record) -> Path:
    with atomic_file(path) as temporary:
        text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
        Path(temporary).write_text(text + "\n", encoding="utf-8")
    return path


def _file_name(archive: str) -> str:
    """Return an archive's name as a file's: letters, digits and a few marks."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in archive)
