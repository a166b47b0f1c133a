"""What the page computes with, as typed arrays in one compressed piece."""

import base64
import gzip
import itertools
import json
from collections.abc import Sequence
from typing import Any

import duckdb
import numpy
import pyarrow as pa
import pyarrow.compute as pc

from audit.database import has_answers
from audit.engine.settings import usual_budgets
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
# The terminal that the page shows: the first of these that the run has.
SHOWN_TERMINALS = ("forced", "forced_if_empty", "standing", "forced_after")
TYPES = {"u1": "<u1", "u2": "<u2", "u4": "<u4", "f8": "<f8", "i8": "<i8"}


def pack(header: dict[str, Any], arrays: dict[str, numpy.ndarray]) -> bytes:
    """Return a JSON header and arrays, each at a multiple of eight bytes, compressed."""
    places: dict[str, dict[str, Any]] = {}
    offset = 0
    for name, array in arrays.items():
        kind = _kind(array)
        places[name] = {"type": kind, "offset": offset, "length": array.size}
        offset += -(-array.nbytes // 8) * 8
    text = b""
    # Where the arrays begin depends on the length of the header, which names their beginnings.
    for _ in range(3):
        begin = 8 + -(-len(text) // 8) * 8
        moved = {
            name: place | {"offset": place["offset"] + begin} for name, place in places.items()
        }
        text = json.dumps(header | {"arrays": moved}, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
    pieces = [len(text).to_bytes(8, "little"), text]
    for array in arrays.values():
        raw = array.astype(TYPES[_kind(array)]).tobytes()
        pieces.append(raw + b"\0" * (-len(raw) % 8))
    return gzip.compress(b"".join(pieces), compresslevel=4, mtime=0)


def _kind(array: numpy.ndarray) -> str:
    return f"{array.dtype.kind}{array.dtype.itemsize}"


def base64_text(content: bytes) -> str:
    """Bytes as text that any script element can hold."""
    return base64.b64encode(content).decode()


def narrow(values: Any) -> numpy.ndarray:
    """Whole numbers in the smallest type that a page can read."""
    array = numpy.asarray(values)
    top = int(array.max()) if array.size else 0
    for kind in (numpy.uint8, numpy.uint16, numpy.uint32):
        if top <= numpy.iinfo(kind).max:
            return array.astype(kind)
    return array.astype(numpy.float64)


def walks(
    con: duckdb.DuckDBPyConnection,
    archives: Sequence[str] | None = None,
    texts: Texts | None = None,
) -> tuple[bytes | None, list[str]]:
    """Costs, orders, selections, labels and bootstrap counts; and what was left out, in words."""
    settings = data.settings(con)
    if settings["orders"] == "0":
        return None, ["There is no curve to explore: no random orders were replayed (--orders 0)."]
    largest = max(int(cap) for cap in settings["caps"].split(","))
    selectors = data.relation(con, "page_selectors").to_pylist()
    banks = data.relation(con, "page_banks", archives=None if archives is None else [*archives])
    ids = banks["bank_id"].to_pylist()
    sizes = banks["bank_size"].to_numpy().astype(numpy.int64)
    steps = numpy.minimum(sizes, largest)
    total = int(settings["orders"])
    orders = min(total, int(MOST_SELECTIONS // max(1, steps.sum() * len(selectors))) - 1)
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
    problems = data.relation(con, "page_problems")
    drawn = int(settings["replicates"])
    replicates = min(drawn, MOST_COUNTS // max(1, problems.num_rows))
    if replicates < drawn:
        notes.append(
            f"For size this page keeps the first {replicates:,} of {drawn:,} bootstrap replicates: "
            "its live intervals are over those. The tables below use all."
        )
    header, arrays = _records(con, banks, problems)
    money, priced = _money(con, banks)
    arrays |= _steps(data.relation(con, "page_steps", banks=ids)) | priced
    if "step_end" in arrays:
        # A rule that stops inside an attempt pays the prompts of the steps that were begun alone;
        # the page knows no prompt by itself, and says nothing of their money.
        arrays = {k: v for k, v in arrays.items() if k not in ("prompt_money", "output_price")}
    arrays |= _orders(con, banks, orders) | _selections(con, banks, steps, orders, selectors)
    arrays["weight"] = _counts(con, replicates, problems.num_rows)
    if texts is not None:
        arrays["bank_text"] = narrow(texts.files)
    asked, checkpoints = _checkpoints(con, ids)
    arrays |= checkpoints
    header |= money | asked
    header |= _settings_of(con, settings, selectors) | {
        **({"texts": texts.size} if texts is not None else {}),
        "largest_cap": int(min(largest, sizes.max())),
        "orders": orders,
        "replicates": replicates,
    }
    return pack(header, arrays), notes


def _settings_of(
    con: duckdb.DuckDBPyConnection, settings: dict[str, str], selectors: list[data.Row]
) -> dict[str, Any]:
    """Return what the page must know of the run."""
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


def _records(
    con: duckdb.DuckDBPyConnection, banks: pa.Table, problems: pa.Table
) -> tuple[dict[str, Any], dict[str, numpy.ndarray]]:
    """Names, and what is known of every attempt."""
    attempts = data.relation(con, "page_attempts", banks=banks["bank_id"].to_pylist())
    archives = banks["archive"].to_pylist()
    names = list(dict.fromkeys(archives))
    starts = [archives.index(name) for name in names] + [len(archives)]
    competitions = sorted(set(problems["competition"].to_pylist()))
    strings, answer, archive_answer = _coded(attempts["answer"], attempts["archive_answer"])
    reasons, finish = _coded(attempts["finish_reason"])
    label, repaired = (attempts[name].to_numpy() for name in ("label", "repaired"))
    of_bank = numpy.repeat(numpy.arange(banks.num_rows), banks["bank_size"].to_numpy())
    graded = [
        2 not in label[(of_bank >= first) & (of_bank < last)]
        for first, last in itertools.pairwise(starts)
    ]
    ids = {problem: place for place, problem in enumerate(problems["problem_id"].to_pylist())}
    header = {
        "archives": [steerless(name) for name in names],
        "competitions": [steerless(name) for name in competitions],
        "questions": problems["question_id"].to_pylist(),
        "names": [name and steerless(name) for name in problems["name"].to_pylist()],
        "strings": strings,
        "finish_reasons": reasons,
    }
    arrays = {
        "archive_start": numpy.array(starts, numpy.uint32),
        "archive_graded": numpy.array(graded, numpy.uint8),
        "problem_competition": narrow(
            [competitions.index(c) for c in problems["competition"].to_pylist()]
        ),
        "bank_problem": narrow([ids[problem] for problem in banks["problem_id"].to_pylist()]),
        "bank_size": narrow(banks["bank_size"].to_numpy()),
        "cost": narrow(attempts["cost"].to_numpy()),
        "seed": attempts["seed"].to_numpy().astype(numpy.int64),
        "label": label,
        **({} if (label == repaired).all() else {"repaired": repaired}),
        "answer": answer,
        "archive_answer": archive_answer,
        "finish": finish,
    }
    # In another unit than tokens nobody knows how much of a cut attempt was paid.
    if replayed_unit(con).name == "completion" and not attempts["prompt_money"].null_count:
        arrays["prompt_money"] = attempts["prompt_money"].to_numpy()
        arrays["output_price"] = attempts["output_price"].to_numpy()[
            numpy.searchsorted(of_bank, starts[:-1])
        ]
    return header, arrays


def _steps(steps: pa.Table) -> dict[str, numpy.ndarray]:
    """Return where the steps of attempts end; nothing if no attempt has several."""
    if not pc.max(steps["count"]).as_py():
        return {}
    ends = steps["step_ends"].combine_chunks().flatten().to_numpy()
    return {"step_count": narrow(steps["count"].to_numpy()), "step_end": narrow(ends)}


def _checkpoints(
    con: duckdb.DuckDBPyConnection, banks: list[int]
) -> tuple[dict[str, Any], dict[str, numpy.ndarray]]:
    """Return the terminal that the page shows and the checkpoints it takes; nothing without one."""
    used = {name for (name,) in con.execute("select terminal from used_terminals").fetchall()}
    shown = next((name for name in SHOWN_TERMINALS if name in used), None)
    if shown is None:
        return {}, {}
    found = data.relation(con, "page_checkpoints", kind=TERMINALS[shown], banks=banks)
    lists = ("gaps", "costs", "answers", "labels")
    gaps, costs, answers, labels = (pc.list_flatten(found[name]) for name in lists)
    strings, coded = _coded(answers)
    arrays = {
        "checkpoint_count": narrow(found["count"].to_numpy()),
        "checkpoint_gap": narrow(gaps.to_numpy()),
        "checkpoint_cost": narrow(costs.to_numpy()),
        "checkpoint_answer": coded,
        "checkpoint_label": narrow(labels.to_numpy()),
    }
    return {"terminal": shown, "checkpoint_strings": strings}, arrays


def _money(
    con: duckdb.DuckDBPyConnection, banks: pa.Table
) -> tuple[dict[str, Any], dict[str, numpy.ndarray]]:
    """Prices, and the same records counted in money, where a run in another unit has prices."""
    prices = {row["archive"]: row for row in con.table("prices").to_arrow_table().to_pylist()}
    if not prices or replayed_unit(con).name == "money":
        return {}, {}
    attempts = data.relation(con, "page_money")
    names = dict.fromkeys(banks["archive"].to_pylist())
    header = {
        # Those that a replay in money would choose by itself.
        "money_budgets": usual_budgets(attempts["cost"].to_pylist()),
        "prices": [[prices[name][kind] for kind in ("input", "output")] for name in names],
    }
    own = attempts.filter(pc.field("bank_id").isin(banks["bank_id"].to_pylist()))
    arrays = {"cost": narrow(own["cost"].to_numpy())} | _steps(own)
    return header, {f"money_{name}": array for name, array in arrays.items()}


def _coded(*columns: pa.ChunkedArray) -> tuple[Any, ...]:
    """Columns of texts as numbers into one list of distinct texts, the first of which is null."""
    together = pa.chunked_array([c for column in columns for c in column.chunks], pa.string())
    encoded = together.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(numpy.int64) + 1
    strings = [None, *(steerless(text) for text in encoded.dictionary.to_pylist())]
    parts = []
    for column in columns:
        parts.append(narrow(numbers[: len(column)]))
        numbers = numbers[len(column) :]
    return strings, *parts


def _orders(
    con: duckdb.DuckDBPyConnection, banks: pa.Table, orders: int
) -> dict[str, numpy.ndarray]:
    """Return the slots of every order; banks of one problem and one size share theirs."""
    drawn = data.relation(con, "page_orders", orders=orders)
    drawn_keys, bank_keys = (
        zip(rows["problem_id"].to_pylist(), rows["bank_size"].to_pylist(), strict=True)
        for rows in (drawn, banks)
    )
    places = {pair: place for place, pair in enumerate(dict.fromkeys(drawn_keys))}
    return {
        "bank_pair": narrow([places[pair] for pair in bank_keys]),
        "pair_size": narrow([size for _, size in places]),
        "order_slot": narrow(drawn["slots"].combine_chunks().flatten().to_numpy()),
    }


def _selections(
    con: duckdb.DuckDBPyConnection,
    banks: pa.Table,
    steps: numpy.ndarray,
    orders: int,
    selectors: list[data.Row],
) -> dict[str, numpy.ndarray]:
    """Return what each selector picks from each prefix, and which attempts it may pick at all."""
    ids = banks["bank_id"].to_numpy()
    numbers = numpy.array([row["selector_id"] for row in selectors])
    starts = numpy.concatenate([[0], numpy.cumsum(steps * (orders + 1))])
    picks = numpy.zeros(starts[-1] * len(selectors), numpy.min_scalar_type(steps.max()))
    sizes = banks["bank_size"].to_numpy().astype(numpy.int64)
    attempts = numpy.concatenate([[0], numpy.cumsum(sizes)])
    eligible = numpy.zeros(attempts[-1] * len(selectors), numpy.uint8)
    for batch in data.batches(con, "page_selections", orders=orders, banks=ids.tolist()):
        selector = numpy.searchsorted(numbers, batch["selector_id"].to_numpy())
        bank = numpy.searchsorted(ids, batch["bank_id"].to_numpy())
        repeat = batch["repeat"].to_numpy().astype(numpy.int64)
        position = batch["position"].to_numpy().astype(numpy.int64)
        chosen = batch["selected_position"].fill_null(0).to_numpy()
        inside = position <= steps[bank]
        place = selector * starts[-1] + starts[bank] + repeat * steps[bank] + position - 1
        picks[place[inside]] = chosen[inside]
        # The recorded order shows every attempt of a bank.
        recorded = (repeat == 0) & batch["is_eligible"].fill_null(False).to_numpy(False)
        slot = selector * attempts[-1] + attempts[bank] + position - 1
        eligible[slot[recorded]] = 1
    return {"pick": narrow(picks), "eligible": eligible}


def _counts(con: duckdb.DuckDBPyConnection, replicates: int, problems: int) -> numpy.ndarray:
    """Bootstrap counts, replicate by replicate."""
    if not replicates:
        return numpy.zeros(0, numpy.uint8)
    drawn = data.relation(con, "page_counts", replicates=replicates)
    counts = drawn["counts"].combine_chunks().flatten().to_numpy()
    assert counts.size == replicates * problems
    return narrow(counts)
