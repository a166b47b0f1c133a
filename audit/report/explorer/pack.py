"""The data that the page computes with: columns of `sql/report/page_….sql`, compressed."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy
import pyarrow as pa
import pyarrow.compute as pc

from audit import engine
from audit.database import has_answers
from audit.engine.settings import choose_budgets
from audit.engine.terminals import TERMINALS
from audit.output.captions import steady_orders
from audit.output.headings import replayed_unit
from audit.report import data
from audit.report.explorer.texts import Texts
from audit.rules import list_rules
from audit.text import steerless
from audit.units import read_budgets

# Bytes of selections and of bootstrap counts, before compression, that a page holds at most.
MOST_SELECTIONS = 24_000_000
MOST_COUNTS = 24_000_000
# The page shows one terminal: the first of these that the run has.
SHOWN_TERMINALS = ("forced", "forced_if_empty", "standing", "forced_after")

Columns = dict[str, pa.ChunkedArray]


def pack_walks(
    con: duckdb.DuckDBPyConnection,
    archives: Sequence[str] | None = None,
    texts: Texts | None = None,
) -> tuple[bytes | None, list[str]]:
    """Pack costs, orders, selections, labels and bootstrap counts; note what was left out."""
    settings = data.read_settings(con)
    if settings["orders"] == "0":
        return None, ["There is no curve to explore: no random orders were replayed (--orders 0)."]
    selectors = data.read(con, "page_selectors").to_pylist()
    banks = data.read(con, "page_banks", archives=None if archives is None else [*archives])
    ids, sizes = banks["bank_id"].to_pylist(), _to_numpy(banks["bank_size"])
    largest = min(max(int(cap) for cap in settings["caps"].split(",")), int(sizes.max()))
    positions = int(numpy.minimum(sizes, largest).sum()) * len(selectors)
    total = int(settings["orders"])
    orders = min(total, MOST_SELECTIONS // max(1, positions) - 1)
    if orders < 1:
        return None, [
            f"There is no curve to explore: {banks.num_rows:,} banks are too many for a page. "
            "Fewer archives (--archive) fit; the tables below hold everything."
        ]
    notes = []
    if orders < total:
        notes.append(
            f"For size this page keeps the first {orders:,} of {total:,} orders: its curve, live "
            "numbers and timelines are over those. The tables below are over all."
        )
    problems = _read_columns(con, "page_problems")
    drawn = int(settings["replicates"])
    replicates = min(drawn, MOST_COUNTS // max(1, len(problems["problem_competition"])))
    if replicates < drawn:
        notes.append(
            f"For size this page keeps the first {replicates:,} of {drawn:,} bootstrap replicates: "
            "its live intervals are over those. The tables below use all."
        )
    columns = _drop_keys("page_banks", banks) | problems
    columns |= _read_columns(con, "page_attempts", banks=ids)
    if columns["repaired"].equals(columns["label"]):
        del columns["repaired"]
    columns |= _read_columns(con, "page_orders", orders=orders)
    columns |= _read_columns(con, "page_selections", orders=orders, banks=ids)
    columns |= _read_columns(con, "page_eligible", banks=ids)
    columns |= _read_columns(con, "page_counts", replicates=replicates)
    if texts is not None:
        columns["bank_text"] = pa.chunked_array([texts.files])
    header = _read_settings(con, settings, selectors)
    header |= {"largest_cap": largest, "orders": orders, "replicates": replicates}
    header |= {"texts": texts.size} if texts is not None else {}
    for more, found in (_read_prices(con, banks), _read_checkpoints(con, ids)):
        header, columns = header | more, columns | found
    return _compress_columns(header, columns), notes


def _compress_columns(header: dict[str, Any], columns: Columns) -> bytes:
    """Compress a JSON header and the columns, each aligned to eight bytes.

    Texts become indices into a list of the header. Columns with nulls or without values are left
    out.
    """
    words: dict[str, list[str | None]] = {}
    places: dict[str, dict[str, Any]] = {}
    pieces: list[bytes] = []
    offset = 0
    for name, column in columns.items():
        if pa.types.is_list(column.type):
            column = pc.list_flatten(column)
        if pa.types.is_string(column.type):
            encoded = column.combine_chunks().dictionary_encode("encode")
            words[name] = [text and steerless(text) for text in encoded.dictionary.to_pylist()]
            column = pa.chunked_array([encoded.indices])
        if column.null_count or not len(column):
            continue
        array = _narrow_numbers(_to_numpy(column))
        kind = f"{array.dtype.kind}{array.dtype.itemsize}"
        places[name] = {"type": kind, "offset": offset, "length": array.size}
        pieces.append(array.tobytes() + bytes(-array.nbytes % 8))
        offset += len(pieces[-1])
    text = json.dumps(header | {"words": words, "arrays": places}, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return gzip.compress(b"".join([len(text).to_bytes(8, "little"), text, *pieces]), 4, mtime=0)


def _to_numpy(column: pa.ChunkedArray) -> numpy.ndarray:
    """Convert numbers without nulls; Arrow's own `to_numpy` would import pandas (0.3 s)."""
    return numpy.from_dlpack(column.combine_chunks())


def _narrow_numbers(values: numpy.ndarray) -> numpy.ndarray:
    """Convert numbers to the smallest little-endian type that JavaScript arrays have."""
    kind = numpy.min_scalar_type(values.max())
    is_short = values.dtype.kind in "iu" and values.min() >= 0 and kind.itemsize < 8
    return values.astype((kind if is_short else numpy.dtype("f8")).newbyteorder("<"))


def _read_columns(con: duckdb.DuckDBPyConnection, name: str, **values: Any) -> Columns:
    """Read the columns of a relation, without its keys, which the order of its rows implies."""
    return _drop_keys(name, data.read(con, name, **values))


def _drop_keys(name: str, table: pa.Table) -> Columns:
    """Return the columns of a relation without its keys."""
    keys = engine.read_header(name)["grain"].split(", ")
    return {column: table[column] for column in table.column_names if column not in keys}


def _read_settings(
    con: duckdb.DuckDBPyConnection, settings: dict[str, str], selectors: list[data.Row]
) -> dict[str, Any]:
    """Collect the settings of the run that the page needs."""
    unit = replayed_unit(con)
    return {
        "unit": {"name": unit.name, "scale": unit.scale},
        "rule": list_rules(settings["rules"].split(",")),
        "answered": has_answers(con),
        "caps": sorted(int(cap) for cap in settings["caps"].split(",")),
        "selectors": [
            {"name": row["selector"], "votes_on": row["votes_on"] or ""} for row in selectors
        ],
        "primary_selector": next(i for i, row in enumerate(selectors) if row["is_primary"]),
        "budgets": sorted(read_budgets(settings["budgets"], unit)),
        "primary_cap": int(settings["primary_cap"]),
        "curve_points": int(settings.get("curve_points", 200)),
        "steady_orders": steady_orders(con),
    }


def _read_checkpoints(
    con: duckdb.DuckDBPyConnection, banks: list[int]
) -> tuple[dict[str, Any], Columns]:
    """Read the terminal that the page shows, and its checkpoints; both empty without one."""
    used = {name for (name,) in con.execute("select terminal from used_terminals").fetchall()}
    shown = next((name for name in SHOWN_TERMINALS if name in used), None)
    if shown is None:
        return {}, {}
    asked = {"kind": TERMINALS[shown], "banks": banks}
    return {"terminal": shown}, _read_columns(con, "page_checkpoints", **asked)


def _read_prices(con: duckdb.DuckDBPyConnection, banks: pa.Table) -> tuple[dict[str, Any], Columns]:
    """Read prices and costs in money, for a run that has prices but counts another unit."""
    prices = {row["archive"]: row for row in con.table("prices").to_arrow_table().to_pylist()}
    if not prices or replayed_unit(con).name == "money":
        return {}, {}
    attempts = data.read(con, "page_money")
    header = {
        # The default budgets of a replay in money.
        "money_budgets": choose_budgets(attempts["money_cost"].to_pylist()),
        "prices": [
            [prices[name][kind] for kind in ("input", "output")]
            for name in dict.fromkeys(banks["bank_archive"].to_pylist())
        ],
    }
    own = attempts.filter(pc.is_in(attempts["bank_id"], value_set=banks["bank_id"]))
    return header, _drop_keys("page_money", own)
