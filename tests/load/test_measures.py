"""What a load keeps of texts and files while it reads them is what reading them again gives."""

import random

import duckdb
import pyarrow as pa
import pytest

from audit import engine
from audit.engine import quality
from audit.load.load import load
from audit.load.reread import reread
from tests.support.archives import attempt, write_jsonl, write_parquet

# Ends of texts: boxes that are open or closed, escapes, and characters of several bytes.
ENDS = [
    *("", "x", "∑", "𝔐", "\\", "\n", "{", "}", r"\{", r"\}", r"\\", "\\\n", r"\boxe"),
    *(r"\boxed{", r"\boxed{5", r"\boxed{5}", r"\\boxed{", r"\boxed{\frac{1}{2}", r"\boxed{}"),
]
COUNTS = 'select * from quality_counts order by archive, "check"'


def ragged_texts(seed, count):
    """Texts of all lengths about the 4,096 characters that are looked at, some of them twice."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        end = "".join(rng.choices(ENDS, k=rng.randint(0, 12)))
        before = rng.choice(["", "∑" * rng.randint(4080, 4100), "word " * rng.randint(0, 1000)])
        made.append(rng.choice([r"\boxed{", ""]) + before + end)
    return [*made, *rng.sample(made, count // 5)]


def ragged_rows(seed=3, count=400):
    """Attempts with such texts in two archives, some of them unfinished or without a text."""
    rng = random.Random(seed)
    return [
        attempt(
            number,
            100 + number,
            "7",
            finish=rng.choice(["stop", "stop", "length"]),
            archive=rng.choice("ab"),
            question=number % 3,
            text=None if number % 17 == 0 else text,
        )
        for number, text in enumerate(ragged_texts(seed, count))
    ]


ENDINGS = [
    *(("", False), ("no box { here", False), (r"\boxed{5", True), (r"\boxed{5}", False)),
    *((r"\boxed{\frac{1}{2}", True), (r"\boxed{5} or \boxed{", True)),
    *((r"\boxed{5 or \boxed{6}", False), (r"\boxed{5\}", True), (r"\boxed{5\\}", False)),
    # As many opening as closing braces: the box itself is open.
    (r"\boxed{{}", True),
]


def test_a_text_ends_in_a_box_that_is_still_open():
    texts = {"text": [text for text, _ in ENDINGS], "seed": range(len(ENDINGS))}
    with duckdb.connect() as con:
        con.register("texts", pa.table(texts))
        found = con.sql(f"select ends_in_box from ({engine.render('text_measures')}) order by seed")
        assert found.fetchall() == [(is_open,) for _, is_open in ENDINGS]


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_a_load_counts_what_reading_the_stored_texts_counts(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    (write_parquet if suffix == "parquet" else write_jsonl)(ragged_rows(), path)
    with duckdb.connect() as con:
        load(con, [str(path)], force=True)
        counted = con.execute(COUNTS).fetchall()
        quality.count_records(con)
        assert con.execute(COUNTS).fetchall() == counted
        broken = {check: count for _, check, _, count, *_ in counted if count}
        assert {"duplicate_texts", "texts_cut"} <= broken.keys()
        # Another kind of answer and back again reads the stored texts, too.
        reread(con, "regex:(.+)", force=True)
        assert con.execute(COUNTS).fetchall() != counted
        reread(con, "boxed", force=True)
        assert con.execute(COUNTS).fetchall() == counted
        left = "select table_name from information_schema.tables where table_catalog = 'temp'"
        assert con.execute(left).fetchall() == []


def test_texts_that_are_not_kept_are_not_counted(tmp_path):
    write_parquet(ragged_rows(), tmp_path / "a.parquet")
    with duckdb.connect() as con:
        load(con, [str(tmp_path / "a.parquet")], texts=False, force=True)
        checks = {check for _, check, *_ in con.execute(COUNTS).fetchall()}
    assert not checks & {"duplicate_texts", "texts_cut"}
    assert "answered" in checks
