"""Damaged and hostile files of every format: each loads, or is refused in one line and no harm.

A case is a number and a seed: `python -m tests.soak.fuzz SEED NUMBER FOLDER` writes its file again.
Cases run in a process of their own, which is ended when it hangs, dies or takes too much memory.
"""

import copy
import csv
import gzip
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from audit.errors import AuditError
from audit.load.describe import describe
from audit.load.load import load
from audit.load.schema import SCHEMA
from audit.sources.containers import LONGEST_LINE
from audit.sources.zips import DEFLATED, STORED, ZSTD
from tests.support.archives import random_archive, write_csv, write_jsonl, write_parquet
from tests.support.logs import FORMATS, expected, members, write_zip

ROOT = Path(__file__).resolve().parents[2]
FILES = 20_000
# One file in so many also goes through the command itself.
COMMAND_EVERY = 500
SECONDS = 30
# The files are small: what this bounds is the tool, DuckDB and Arrow together.
RESIDENT_BYTES = 1_000_000_000
LONGEST_MESSAGE = 4_000
# A line of so many bytes, and what the command may hold to load it.
LARGE = 100_000_000
LARGE_BYTES = 1_500_000_000

# What JSON text may hold where something else was expected.
RAW = (
    "null", "true", "false", "0", "-0", "-1", "1", "7", "0.5", "1.0", "1e3", "1e18", "1e400",
    "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "9223372036854775807",
    "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e999999999",
    "9" * 400, "9" * 5000, '""', '" "', '"x"', '"7"', '"1e400"', '"NaN"', '"stop"', '"length"',
    r'"\ud800"', r'"\udfff\ud800"', r'"\u0000"', r'"a\u0000b"', r'"\u001b[31mred\u001b[0m"',
    r'"\r\n\u2028"', r'"\u202etxt"', r'"\\boxed{"', '"' + r"\\boxed{" * 300 + '"',
    r'"\\boxed{\u0000}"', r'"{{ 7 }}"', '"attachment://none"', '"' + "x" * 70_000 + '"',
    "[]", "[null]", "[[]]", "[{}]", '["x"]', '["x", 7, null]', "[1, 2]", '[{"a": [{"b": 1}]}]',
    "{}", '{"a": 1}', '{"": null}', '{"a": 1, "a": 2}', '{"logprob": NaN}', '[{"logprob": 1e400}]',
    f'[{{"logprob": {"9" * 400}}}]',
    "[" * 300 + "]" * 300, "[" * 990 + "]" * 990, "[" * 20_000 + "]" * 20_000, "[" * 20_000,
    '{"a":' * 300 + "1" + "}" * 300, '{"a":' * 900 + "1" + "}" * 900, '{"a":' * 20_000,
    "", "undefined", "'x'", "1,", "0x10", "1_000", "+1", ".5", "\x00", '"\x01"', '"', "}", "]", ":",
)  # fmt: skip
ROW = {
    "archive": "a",
    "competition": "c",
    "question_id": 0,
    "seed": 0,
    "completion_tokens": 5,
    "finish_reason": "stop",
    "text": r"\boxed{1}",
    "correct": True,
}
# Odd columns that are texts after all, or hold nothing.
READ_AS_TEXT = ("text with NUL", "large text", "dictionary", "null", "null text", "boolean")
# Stands in a record until it is text.
MARK = "a mark that no record holds"


@dataclass(frozen=True)
class Original:
    """A file that loads: how it is made, its name and the options that settle what it lacks."""

    kind: str
    name: str
    content: Any
    options: dict[str, Any] = field(default_factory=dict)


# The files as they should be


def originals() -> list[Original]:
    """A sound file of every format that the loader reads, and of what may stand beside it."""
    rows = random_archive(random.Random(5), problems=2, attempts=3)
    named = {"archive": "m", "competition": "c"}
    graded = named | {"grade": "references"}
    referenced = graded | {"references": str(FORMATS / "references.jsonl")}
    counted = {"count_tokens": "o200k_base", "finish_reason": "stop"}
    records = {path.name: _records(path) for path in FORMATS.glob("*.jsonl")}
    log = {name: members(FORMATS / name) for name in ("inspect_zstd.eval", "inspect_deflate.eval")}
    (lm_eval,) = (name for name in records if name.startswith("samples_"))
    return [
        Original("parquet", "canonical.parquet", _table(rows)),
        Original("jsonl", "canonical.jsonl", _as_records(rows)),
        Original("jsonl.gz", "canonical.jsonl.gz", _as_records(rows)),
        Original("csv", "canonical.csv", _as_cells(rows)),
        Original("csv.gz", "canonical.csv.gz", _as_cells(rows)),
        Original("jsonl", "flat.jsonl", records["flat.jsonl"], graded),
        Original("eval", "log.eval", (log["inspect_zstd.eval"], ZSTD), named),
        Original("eval", "log.eval", (log["inspect_deflate.eval"], DEFLATED)),
        Original("eval", "log.eval", (log["inspect_deflate.eval"], STORED)),
        Original("json", "log.json", _whole_log(log["inspect_zstd.eval"])),
        Original("json.gz", "log.json.gz", _whole_log(log["inspect_zstd.eval"])),
        Original("jsonl", lm_eval, records[lm_eval], named | graded | counted),
        Original("parquet", "lighteval.parquet", pq.read_table(FORMATS / "lighteval.parquet"),
                 graded | {"finish_reason": "stop"}),
        Original("jsonl", "batch.jsonl", records["batch_output.jsonl"], referenced),
        Original("jsonl", "n5.jsonl", records["completions_n5.jsonl"], referenced | counted),
        Original("jsonl", "output-rs3.jsonl", _nemo_records(), named),
        Original("jsonl", "aime24.jsonl", scorio_records()),
        Original("parquet", "aime24.parquet", pa.Table.from_pylist(scorio_records())),
        Original("references", "references.jsonl", records["references.jsonl"], graded),
        Original("json", "array.json", _as_records(rows)),
        Original("json.gz", "columns.json.gz", _as_columns(_as_records(rows))),
        Original("jsonl", "lists.jsonl", list_records(), named),
        Original("json", "lists.json", list_records(), named),
        Original("parquet", "lists.parquet", pa.Table.from_pylist(list_records()), named),
        Original("jsonl", "vllm.jsonl", vllm_records(), named),
    ]  # fmt: skip


def _records(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def _table(rows: list[Any]) -> pa.Table:
    with tempfile.TemporaryDirectory() as folder:
        write_parquet(rows, Path(folder, "a"))
        return pq.read_table(Path(folder, "a"))


def _as_records(rows: list[Any]) -> list[Any]:
    with tempfile.TemporaryDirectory() as folder:
        write_jsonl(rows, Path(folder, "a"))
        return _records(Path(folder, "a"))


def _as_cells(rows: list[Any]) -> list[list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        write_csv(rows, Path(folder, "a"))
        return list(csv.reader(Path(folder, "a").open(encoding="utf-8", newline="")))


def _as_columns(records: list[Any]) -> Any:
    """An object of arrays, with the columns that every record has."""
    names = set.intersection(*(set(record) for record in records))
    return {name: [record[name] for record in records] for name in sorted(names)}


def list_records() -> list[Any]:
    """One problem per row, its attempts in lists."""
    return [
        {
            "id": problem,
            "responses": [r"\boxed{1}", r"\boxed{2}", "so"],
            "token_counts": [5, 6, 7],
            "finish_reasons": ["stop", "stop", "length"],
            "scores": [1, 0, 0],
            "samples": [{"note": 1}, {"note": 2}, {"note": 3}],
        }
        for problem in range(3)
    ]


def vllm_records() -> list[Any]:
    """Two requests of two outputs."""
    output = {"text": r"\boxed{1}", "token_ids": [1, 2], "cumulative_logprob": -1.0}
    outputs = [output | {"index": at, "finish_reason": "stop"} for at in range(2)]
    return [{"request_id": str(at), "prompt": f"p{at}", "outputs": outputs} for at in range(2)]


def _whole_log(content: dict[str, bytes]) -> Any:
    """An Inspect log as one JSON document."""
    found = [json.loads(data) for name, data in content.items() if name.startswith("samples/")]
    return json.loads(content["header.json"]) | {"samples": found}


def _nemo_records() -> list[Any]:
    return [
        {
            "id": attempt["problem_id"],
            "generation": rf"… \boxed{{{attempt['boxed']}}}",
            "num_generated_tokens": attempt["completion_tokens"],
            "finish_reason": attempt["finish"],
            "predicted_answer": attempt["boxed"],
            "expected_answer": attempt["reference"],
            "judgement": "Judgement: No",
            "logprobs": [-0.5, -0.25],
        }
        for attempt in expected()
        if attempt["attempt"] == 3
    ]


def scorio_records() -> list[Any]:
    return [
        {
            "seed": 1234 + attempt["attempt"],
            "data_id": 7,
            "model": "gpt-oss-20b_low",
            "output": {
                "finish_reason": attempt["finish"],
                "num_completion_tokens": attempt["completion_tokens"],
                "completion": rf"… \boxed{{{attempt['boxed']}}}",
            },
            "tokens": {"completion_avg_logprob": -0.25},
            "processed_results": {"is_correct": int(attempt["correct"]), "extracted_answer": "1"},
            "ground_truth": attempt["reference"],
        }
        for attempt in expected()[:5]
    ]


# What is done to them


def make(rng: random.Random, original: Original) -> bytes:
    """The file with something wrong in what it says, in its bytes, or in both."""
    content = copy.deepcopy(original.content) if original.kind != "parquet" else original.content
    inside = rng.random() < 0.7
    kind, _, zipped = original.kind.partition(".")
    if kind == "parquet":
        data = _parquet(rng, content, inside)
    elif kind == "csv":
        data = _csv(rng, content, inside)
    elif kind == "eval":
        data = _eval(rng, *content, inside)
    elif kind == "json":
        data = _json(rng, content, inside)
    else:
        data = _jsonl(rng, content, inside)
    if zipped:
        data = gzip.compress(data if rng.random() < 0.7 else _damage(rng, data), 1)
    if not inside or rng.random() < 0.1:
        for _ in range(rng.choice((1, 1, 2, 8))):
            data = _damage(rng, data)
    return data


def _damage(rng: random.Random, data: bytes) -> bytes:
    """The bytes cut, flipped, overwritten, repeated or filled with what does not belong there."""
    if not data:
        return data
    at = rng.randrange(len(data))
    # The ends are where Parquet, zip and gzip keep what the rest is read by.
    if rng.random() < 0.4:
        at = max(0, len(data) - 1 - rng.randrange(min(len(data), 400)))
    size = rng.choice((1, 1, 4, 16, 300))
    way = rng.randrange(7)
    if way == 0:
        return data[:at]
    if way == 1:
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
    if way == 2:
        return data[:at] + rng.randbytes(size) + data[at + size :]
    if way == 3:
        return data[:at] + data[at + size :]
    if way == 4:
        return data[:at] + data[at : at + size] * rng.choice((2, 50)) + data[at + size :]
    if way == 5:
        odd = (b"\x00", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\r", b"\n", b'"', b"\xef\xbb\xbf")
        return data[:at] + rng.choice(odd) * rng.choice((1, size)) + data[at:]
    number = struct.pack("<I", rng.choice((0, 1, 2**31 - 1, 2**31, 2**32 - 1)))
    return data[:at] + number + data[at + 4 :]


def _wreck(rng: random.Random, value: Any) -> Any:
    """A record with one thing in it taken out, renamed, wrapped or marked for a raw text."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = rng.choice(list(value))
        way = rng.random()
        if way < 0.75:
            value[key] = _wreck(rng, value[key])
        elif way < 0.85:
            del value[key]
        elif way < 0.95:
            value[rng.choice(("", "text", "seed", "archive", f"{key}.x", "\x00"))] = value.pop(key)
        else:
            return [value]
        return value
    if isinstance(value, list) and value and rng.random() < 0.8:
        at = rng.randrange(len(value))
        value[at] = _wreck(rng, value[at])
        return value * rng.choice((1, 1, 1, 3))
    return MARK


def _text(rng: random.Random, value: Any) -> str:
    """JSON, what was marked in it replaced by something hostile, a key perhaps said twice."""
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    if MARK in text:
        raw = rng.choice(RAW)
        text = text.replace(f'"{MARK}"', raw) if rng.random() < 0.9 else text.replace(MARK, "x")
    if rng.random() < 0.02 and text.startswith("{") and len(text) > 2:
        text = "{" + text[1 : text.find(",") + 1 or 1] + text[1:]
    return text


def _jsonl(rng: random.Random, records: list[Any], inside: bool) -> bytes:
    if inside:
        for _ in range(rng.choice((1, 1, 1, 3))):
            # The first record decides what a file is.
            at = 0 if rng.random() < 0.4 else rng.randrange(len(records))
            records[at] = _wreck(rng, records[at])
    end = rng.choice(("\n", "\n", "\n", "\r\n", "\n\n", "\r", " "))
    return end.join(_text(rng, record) for record in records).encode("utf-8", "surrogatepass")


def _json(rng: random.Random, log: Any, inside: bool) -> bytes:
    return _text(rng, _wreck(rng, log) if inside else log).encode("utf-8", "surrogatepass")


def _eval(rng: random.Random, content: dict[str, bytes], method: int, inside: bool) -> bytes:
    if inside:
        name = rng.choice(list(content))
        way = rng.random()
        if way < 0.8:
            value = json.loads(content[name])
            content[name] = _text(rng, _wreck(rng, value)).encode("utf-8", "surrogatepass")
        elif way < 0.9:
            del content[name]
        else:
            content[rng.choice(("samples/\x1b.json", "samples/", "header.json"))] = content[name]
    with tempfile.TemporaryDirectory() as folder:
        return write_zip(Path(folder, "a"), content.items(), method).read_bytes()


def _csv(rng: random.Random, rows: list[list[str]], inside: bool) -> bytes:
    if inside:
        for _ in range(rng.choice((1, 1, 3))):
            row = rng.choice(rows) if rng.random() < 0.8 else rows[0]
            if row:
                at = rng.randrange(len(row))
                row[at] = rng.choice((*RAW, "=1+1", "['a' 'b']", "['a', None]", "a,b", 'say "x"'))
            if rng.random() < 0.1:
                row.append("x")
            if rng.random() < 0.1:
                del row[:1]
    stream = io.StringIO(newline="")
    delimiter = rng.choice((",", ",", ",", ",", ";", "\t"))
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=rng.choice(("\n", "\r\n")))
    writer.writerows(rows)
    return stream.getvalue().encode("utf-8", "surrogatepass")


def odd_arrays(count: int) -> dict[str, pa.Array]:
    """Columns of types and values that no canonical column has, by name."""
    invalid = pa.array([b"\xff\xfe"] * count, pa.binary())
    made = {
        "list of structs": pa.array([[{"a": 1, "b": "x"}]] * count),
        "struct": pa.array([{"a": 1}] * count),
        "map": pa.array([[("a", 1)]] * count, pa.map_(pa.string(), pa.int64())),
        "binary": invalid,
        "large binary": invalid.cast(pa.large_binary()),
        "text that is no UTF-8": pa.Array.from_buffers(pa.string(), count, invalid.buffers()),
        "text with NUL": pa.array(["\0"] * count),
        "large text": pa.array(["x"] * count, pa.large_string()),
        "dictionary": pa.array(["x"] * count).dictionary_encode(),
        "dictionary of binary": invalid.dictionary_encode(),
        "decimal": pa.array([10**37] * count, pa.decimal128(38, 0)),
        "large decimal": pa.array([10**75] * count, pa.decimal256(76, 0)),
        "half float": pa.array([float("nan")] * count, pa.float32()).cast(pa.float16()),
        "infinities": pa.array([float("inf")] * count),
        "NaN": pa.array([float("nan")] * count),
        "large float": pa.array([1e300] * count),
        "unsigned": pa.array([2**64 - 1] * count, pa.uint64()),
        "negative": pa.array([-(2**63)] * count, pa.int64()),
        "byte": pa.array([1] * count, pa.int8()),
        "null": pa.nulls(count),
        "null text": pa.nulls(count, pa.string()),
        "time stamp": pa.array([2**62] * count, pa.timestamp("ns")),
        "far time stamp": pa.array([2**62] * count, pa.timestamp("us", "UTC")),
        "date": pa.array([2**31 - 1] * count, pa.date32()),
        "time": pa.array([1] * count, pa.time64("ns")),
        "duration": pa.array([2**62] * count, pa.duration("ns")),
        "fixed binary": pa.array([b"abcd"] * count, pa.binary(4)),
        "list of lists": pa.array([[[1]]] * count),
        "list of nulls": pa.array([[None]] * count, pa.list_(pa.string())),
        "fixed list": pa.array([[1.0, 2.0]] * count, pa.list_(pa.float64(), 2)),
        "large list": pa.array([["x"]] * count, pa.large_list(pa.string())),
        "list of binary": pa.array([[b"\xff"]] * count),
        "boolean": pa.array([None] * count, pa.bool_()),
    }
    made["uuid"] = pa.array([b"a" * 16] * count, pa.uuid())
    return made


def _parquet(rng: random.Random, table: pa.Table, inside: bool) -> bytes:
    for _ in range(rng.choice((1, 1, 2)) if inside else 0):
        at = rng.randrange(table.num_columns)
        name, column = table.column_names[at], table.column(at).combine_chunks()
        way = rng.random()
        if way < 0.75:
            table = table.set_column(at, name, _odd(rng, column))
        elif way < 0.8:
            table = table.remove_column(at)
        elif way < 0.85:
            table = table.append_column(name, column)
        elif way < 0.9:
            table = table.rename_columns(
                [rng.choice(("", "text", "\x1b[2J", one)) for one in table.column_names]
            )
        elif way < 0.95:
            table = table.slice(0, rng.choice((0, 1)))
        else:
            table = pa.concat_tables([table, table])
        if not table.num_columns:
            break
    stream = io.BytesIO()
    packing = rng.choice(("snappy", "none", "zstd", "gzip"))
    pq.write_table(
        table,
        stream,
        compression=packing,
        use_dictionary=rng.random() < 0.5,
        row_group_size=rng.choice((1, 3, 1000)),
        data_page_version=rng.choice(("1.0", "2.0")),
        store_schema=rng.random() < 0.8,
    )
    return stream.getvalue()


def _odd(rng: random.Random, column: pa.Array) -> pa.Array:
    """A column of another type, or one within a struct of it."""
    if pa.types.is_struct(column.type) and column.type.num_fields and rng.random() < 0.8:
        fields = [column.type.field(at).name for at in range(column.type.num_fields)]
        arrays = column.flatten()
        at = rng.randrange(len(fields))
        arrays[at] = _odd(rng, arrays[at])
        return pa.StructArray.from_arrays(arrays, fields)
    odd = rng.choice(list(odd_arrays(len(column)).values()))
    if odd.type == column.type and len(column) > 1:
        return pa.concat_arrays([odd[:1], column[1:]])
    return odd


# One case


class Bench:
    """A database with something in it, to try files on; a load that succeeds makes a new one."""

    def __init__(self, folder: Path) -> None:
        folder = Path(tempfile.mkdtemp(dir=folder))
        self.original, self.path = folder / "original.duckdb", folder / "audit.duckdb"
        rows = random_archive(random.Random(1), archives=1, problems=2, attempts=3)
        for row in rows:
            row["archive"], row["competition"] = "kept", "kept"
        write_parquet(_distinct(rows), folder / "kept.parquet")
        with duckdb.connect(str(self.original)) as con:
            load(con, [str(folder / "kept.parquet")])
            self.before, self.kept = fingerprint(con), fingerprint(con, "kept")
        self.renew()

    def renew(self) -> None:
        """Go on with a database that nothing has happened to."""
        shutil.copy(self.original, self.path)
        self.con = duckdb.connect(str(self.path), config={"threads": 1})

    def check(self, path: Path, options: dict[str, Any], label: str) -> str | None:
        """Load and describe a file: the line that refuses it, if any, or an AssertionError."""
        described = refused(lambda: describe([str(path)], **options), label)
        # Whether an archive is fit for a replay is another question than whether a file is read.
        taken = options | {"force": True, "unlabelled": "wrong"}
        line = refused(lambda: load(self.con, [str(path)], **taken), label)
        if line is not None:
            assert fingerprint(self.con) == self.before, "a refused load changed the database"
            return line
        assert described is None, f"it loads, but is not described: {described}"
        assert fingerprint(self.con, "kept") == self.kept, "an archive was changed by another"
        assert is_sound(self.con), "what was loaded is not sound"
        self.con.close()
        self.renew()
        return None


def _distinct(rows: list[Any]) -> list[Any]:
    """The rows, each attempt once."""
    return list({(row["question_id"], row["seed"]): row for row in rows}.values())


def refused(act: Any, label: str) -> str | None:
    """The line that something is refused with; anything but a clean refusal is a failure."""
    try:
        act()
    except AuditError as error:
        line = str(error)
        assert label in line, f"the file is not named: {line[:300]}"
        assert line.isprintable(), f"not one printable line: {line[:300]!r}"
        assert len(line) <= LONGEST_MESSAGE, f"a message of {len(line)}: {line[:300]}"
        return line
    return None


def fingerprint(con: duckdb.DuckDBPyConnection, archive: str | None = None) -> list[Any]:
    """The tables there are, their sizes, and a sum over all that is in them, or in an archive."""
    made = con.execute("select table_name, temporary from duckdb_tables() order by all").fetchall()
    where = "" if archive is None else f"where archive = '{archive}'"
    sums = (
        f"select '{name}', count(*), bit_xor(hash({name})), sum(hash({name})) from {name} {where}"
        for name, columns in SCHEMA.items()
        if archive is None or "archive" in columns
    )
    return [*made, *con.execute(" union all ".join(sums) + " order by all").fetchall()]


def is_sound(con: duckdb.DuckDBPyConnection) -> bool:
    """Whether what was loaded is as the README says it is."""
    ((count, odd),) = con.execute(
        """
        select count(*), count(*) filter (
            not (question_id >= 0 and prompt_tokens >= 0 and completion_tokens > 0)
            or archive = '' or competition = '' or answer = '' or finish_reason is null
            or not coalesce(isfinite(mean_logprob), true)
        ) from attempts
        """
    ).fetchall()
    ((labelled, distinct),) = con.execute(
        "select count(*), count(distinct (archive, competition, question_id, seed)) "
        "from labels semi join attempts using (archive, competition, question_id, seed)"
    ).fetchall()
    return count == labelled == distinct and odd == 0


def write_case(seed: int, number: int, folder: Path) -> tuple[Path, dict[str, Any], str]:
    """The file of a case, the options it is loaded with, and the file that a message names."""
    rng = random.Random(f"{seed} {number}")
    known = originals_once()
    original = known[number % len(known)]
    data = make(rng, original)
    path = folder / original.name
    path.write_bytes(data)
    if original.kind == "references":
        beside = folder / "batch.jsonl"
        beside.write_bytes((FORMATS / "batch_output.jsonl").read_bytes())
        return beside, original.options | {"references": str(path)}, ""
    return path, original.options, original.name


def originals_once(made: list[Original] = []) -> list[Original]:  # noqa: B006
    """The originals, made once."""
    made.extend([] if made else originals())
    return made


# Files that are hostile as a whole


def special(folder: Path, large: int) -> Iterator[tuple[Path, str]]:
    """Each file, and what the line says that refuses it; where it says nothing, the file loads."""
    line = json.dumps(ROW)
    for kind, text, message in (
        ("long_line", line.replace("1}", "1}" + "x" * large), ""),
        ("long_open_line", line[:-1] + ', "more": "' + "x" * large, "line 1: not readable"),
        ("deep_line", line[:-1] + ', "more": ' + "[" * large, "line 1: not readable as JSON"),
        ("long_number", line.replace("5", "5" * large), "line 1: not readable as JSON"),
        ("deep_object", line + "\n" + '{"a":' * 100_000, "line 2: not readable as JSON"),
        ("repeated_key", line[:-1] + ', "seed": 1}', "key 'seed' occurs twice"),
        ("not_a_number", line[:-1] + ', "mean_logprob": NaN}', ""),
        ("infinity", line[:-1] + ', "mean_logprob": -Infinity}', ""),
        ("infinite_tokens", line.replace("5", "1e400"), "column completion_tokens"),
        ("nul", line.replace('"a"', r'"a\u0000"'), ""),
        ("surrogate", line.replace('"a"', r'"a\ud800"'), "must be valid Unicode"),
    ):
        path = folder / f"{kind}.jsonl"
        path.write_text(text)
        yield path, message
        path.unlink()
    start = members(FORMATS / "inspect_zstd.eval")["_journal/start.json"]
    zeros = bytes(LONGEST_LINE + 1)
    for name, method in (("deflate", DEFLATED), ("zstd", ZSTD)):
        # Some kilobytes that expand to more than may be held, said openly and then denied.
        content = [("_journal/start.json", start), ("samples/a.json", zeros)]
        path = write_zip(folder / f"bomb_{name}.eval", content, method)
        yield path, f"is larger than {LONGEST_LINE // 1_000_000} MB"
        told = struct.pack("<I", len(zeros))
        path.write_bytes(path.read_bytes().replace(told, struct.pack("<I", 1000)))
        yield path, "is damaged"
    path = folder / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"{" + zeros, 1))
    yield path, f"line 1: is longer than {LONGEST_LINE // 1_000_000} MB"
    path = folder / "bytes.jsonl"
    path.write_bytes(line.encode().replace(b'"a"', b'"\xff"'))
    yield path, "line 1: is not valid UTF-8"
    path = folder / "long_cell.csv"
    path.write_text(",".join(ROW) + "\n" + ",".join(map(str, ROW.values())) + "x" * large)
    yield path, "column correct"
    for name, array in odd_arrays(1).items():
        path = folder / f"{name.replace(' ', '_')}.parquet"
        pq.write_table(
            pa.table({name: [value] for name, value in ROW.items()} | {"text": array}), path
        )
        yield path, "" if name in READ_AS_TEXT else "column text"


def check_special(folder: Path, large: int) -> int:
    """Try each of them; how many there are."""
    bench, place = Bench(folder), folder / "special"
    place.mkdir()
    count = 0
    for path, message in special(place, large):
        line = bench.check(path, {}, path.name)
        assert (line is None) == (message == "") and message in (line or ""), f"{path.name}: {line}"
        count += 1
    return count


# Many cases


def _work(seed: int, folder: str, connection: Connection) -> None:
    """Try each case that is asked for, and answer what came of it."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bench = Bench(Path(folder))
    place = Path(folder, "case")
    place.mkdir(exist_ok=True)
    while (number := connection.recv()) is not None:
        try:
            line = bench.check(*write_case(seed, number, place))
            connection.send("loaded" if line is None else "refused")
        except BaseException as error:
            connection.send(f"{type(error).__name__}: {error}")
            bench.con.close()
            bench.renew()


class Worker:
    """The process that cases run in; one that hangs, dies or grows too large is replaced."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(
            target=_work, args=(self.seed, str(self.folder), theirs), daemon=True
        )
        self.process.start()
        theirs.close()
        self.is_fresh = True

    def run(self, number: int) -> str:
        """What came of a case."""
        self.connection.send(number)
        patience = SECONDS * (3 if self.is_fresh else 1)
        self.is_fresh = False
        try:
            if not self.connection.poll(patience):
                outcome = f"it took more than {patience} s"
            else:
                outcome = self.connection.recv()
                peak = _peak_bytes(self.process.pid)
                if peak <= RESIDENT_BYTES:
                    return outcome
                outcome = f"it took {peak:,} bytes"
        except (EOFError, ConnectionError):
            self.process.join()
            outcome = f"the process ended with status {self.process.exitcode}"
        self.stop()
        self.start()
        return outcome

    def stop(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


def _peak_bytes(pid: int | None) -> int:
    """The most memory that a process has held."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if "VmHWM" in line)


def fuzz(seed: int, numbers: range, folder: Path, kept: Path, workers: int = 1) -> Counter[str]:
    """Try cases by their numbers, in so many processes; a file that breaks a promise is kept."""
    broken: list[str] = []

    def share(part: range) -> Counter[str]:
        outcomes: Counter[str] = Counter()
        worker = Worker(seed, Path(tempfile.mkdtemp(dir=folder)))
        for number in part:
            outcome = worker.run(number)
            if outcome not in ("refused", "loaded"):
                here = kept / f"{seed}-{number}"
                here.mkdir(parents=True, exist_ok=True)
                write_case(seed, number, here)
                broken.append(f"case {seed} {number} ({here}): {outcome}")
                print(broken[-1], file=sys.stderr, flush=True)
            outcomes[outcome] += 1
        worker.stop()
        return outcomes

    with ThreadPoolExecutor(workers) as pool:
        outcomes = sum(pool.map(share, (numbers[at::workers] for at in range(workers))), Counter())
    assert not broken, f"{len(broken)} of {len(numbers)} files: {broken[0]}"
    return outcomes


def command(path: Path, options: dict[str, Any], folder: Path) -> tuple[int, int]:
    """Load a file through the command itself: its status, 0 or 2, and the bytes it held at most."""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    database, said = folder / "command.duckdb", folder / "stderr"
    with said.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "audit", "load", str(path), "--db", str(database), *given],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=stream,
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    errors = said.read_text()
    assert process.returncode in (0, 2), f"{path}: status {process.returncode}: {errors}"
    assert "Traceback" not in errors
    if process.returncode == 2:
        assert errors.startswith("error: ") and errors.count("\n") == 1, errors
        assert not database.exists(), "a refused load left a database behind"
    database.unlink(missing_ok=True)
    return process.returncode, usage.ru_maxrss * 1024


def check_long_line(folder: Path) -> None:
    """A line of 100 MB loads through the command, in bounded memory."""
    path = next(path for path, _ in special(folder, LARGE) if path.stem == "long_line")
    status, peak = command(path, {}, folder)
    assert status == 0 and peak < LARGE_BYTES, f"status {status}, {peak:,} bytes"


def soak(seed: int) -> str:
    """Many damaged files, some of them through the command itself."""
    kept = Path(tempfile.gettempdir(), "budget-audit-fuzz")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = check_special(folder, LARGE)
        check_long_line(folder)
        outcomes = fuzz(seed, range(FILES), folder, kept, os.cpu_count() or 1)
        place = folder / "command"
        place.mkdir()
        statuses = Counter(
            command(*write_case(seed, number, place)[:2], folder)[0]
            for number in range(0, FILES, COMMAND_EVERY + 1)
        )
    return (
        f"{FILES:,} files of {len(originals())} kinds: {outcomes['refused']:,} refused in one "
        f"line, {outcomes['loaded']:,} loaded; {statuses.total()} of them by the command; "
        f"{whole} hostile as a whole"
    )


if __name__ == "__main__":
    Path(sys.argv[3]).mkdir(parents=True, exist_ok=True)
    print(*write_case(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
