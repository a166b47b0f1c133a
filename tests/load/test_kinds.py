"""Tasks without an answer, failed attempts, decimals as numbers and references from a file."""

import os

import duckdb
import pytest

from audit import database, engine
from audit.answers.normal_form import rewrite_number
from audit.database import has_answers
from audit.errors import AuditError
from audit.load.load import load
from audit.load.provenance import notes
from audit.load.reread import reread
from tests.support import archives
from tests.support.logs import write


def attempt(seed, **more):
    answer, known = str(seed % 3), {"archive": "m", "question": seed // 4}
    row = archives.attempt(seed, 10 + seed, answer, correct=seed % 3 == 1, **known)
    return row | {"archive_answer": answer} | more


def bank(**more):
    return [attempt(seed, **more) for seed in range(12)]


def without(rows, *names):
    return [{name: value for name, value in row.items() if name not in names} for row in rows]


def rows_of(con, columns, relation="attempts"):
    return con.execute(f"select {columns} from {relation} order by seed").fetchall()


# Tasks without an answer


def test_without_answers_whatever_is_finished_may_be_picked(tmp_path):
    rows = bank()
    rows[5]["finish_reason"] = "length"
    with duckdb.connect() as con:
        load(con, [write(tmp_path / "a.jsonl", rows)], answer="none")
        found = rows_of(con, "answer, archive_answer, eligible")
        assert found == [(None, None, seed != 5) for seed in range(12)]
        assert not has_answers(con)
        assert notes(con).startswith("answers: none, attempts pass or fail; ")
        # Every record has no box, and what the source extracted is kept for another kind.
        engine.replay(con, budgets=[50], caps=[2], primary_cap=2, orders=1, replicates=0)


def test_without_answers_no_text_and_no_extraction_is_needed(tmp_path):
    rows = without(bank(), "text", "archive_answer")
    with duckdb.connect() as con:
        source = write(tmp_path / "a.parquet", rows)
        with pytest.raises(AuditError, match="missing column text"):
            load(con, [source])
        load(con, [source], answer="none")
        assert rows_of(con, "eligible") == [(True,)] * 12


def test_kinds_are_not_mixed_and_another_kind_is_read_in_place(tmp_path):
    one = write(tmp_path / "one.jsonl", bank())
    two = write(tmp_path / "two.jsonl", bank(archive="n"))
    with duckdb.connect() as con:
        load(con, [one])
        before = rows_of(con, "answer, archive_answer, eligible")
        with pytest.raises(AuditError, match="--answer none: the answers of archive 'm' were read"):
            load(con, [two], answer="none")
        reread(con, "none")
        assert rows_of(con, "answer, archive_answer, eligible") == [(None, None, True)] * 12
        load(con, [two], answer="none")
        reread(con, "archive")
        assert has_answers(con)
        assert rows_of(con, "answer, archive_answer, eligible")[::2] == before
        reread(con, "none")
        reread(con, "boxed")
        assert rows_of(con, "answer, archive_answer, eligible")[::2] == before


def test_labels_that_answers_made_need_answers(tmp_path):
    source = write(tmp_path / "a.jsonl", bank(references=["1"]))
    with duckdb.connect() as con:
        with pytest.raises(AuditError, match="--grade references compares answers"):
            load(con, [source], answer="none", grade="references")
        load(con, [source], grade="references")
        with pytest.raises(AuditError, match="labels were made by comparing answers"):
            reread(con, "none")
        assert rows_of(con, "correct", "labels") == [(seed % 3 == 1,) for seed in range(12)]


def test_after_another_kind_of_answer_replays_are_said_to_be_stale_for_that(tmp_path):
    with duckdb.connect() as con:
        load(con, [write(tmp_path / "a.jsonl", bank())])
        engine.replay(con, budgets=[50], caps=[2], primary_cap=2, orders=1, replicates=0)
        reread(con, "archive")
        with pytest.raises(
            AuditError, match="the replays are stale: answers were read again since"
        ):
            database.require_replays(con)
        engine.replay(con, budgets=[50], caps=[2], primary_cap=2, orders=1, replicates=0)
        load(con, [str(tmp_path / "a.jsonl")], replace=True, answer="archive")
        with pytest.raises(AuditError, match="the replays are stale: archives were loaded since"):
            database.require_replays(con)


# Failed attempts


def failed_bank():
    """Three failed attempts, and one that has a text but no count: that one did not fail."""
    rows = bank()
    rows[2] |= {"text": "", "archive_answer": None, "completion_tokens": 0}
    rows[7] |= {"text": None, "archive_answer": None, "completion_tokens": None}
    rows[11] |= {"text": " ", "archive_answer": "", "completion_tokens": 0, "finish_reason": "stop"}
    return rows


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_failed_attempts_are_refused_left_out_or_counted(tmp_path, name):
    source = write(tmp_path / name, failed_bank())
    with duckdb.connect() as con:
        with pytest.raises(AuditError) as error:
            load(con, [source])
        assert str(error.value) == (
            f"{name}: row 3, column completion_tokens: attempts without text and tokens, 3 in this "
            "file; pass --failed drop to leave them out, or --failed count to keep them as "
            "unfinished attempts at cost 1"
        )
        summary = load(con, [source], failed="drop")
        assert summary.notes == (f"{name}: 3 attempts failed (no tokens): left out",)
        assert rows_of(con, "seed") == [(s,) for s in range(12) if s not in (2, 7, 11)]
        assert "; failed attempts: 3 left out; " in notes(con)
    with duckdb.connect() as con:
        load(con, [source], failed="count")
        found = rows_of(con, "seed, completion_tokens, finish_reason, eligible")
        kept = [row for row in found if row[0] in (2, 7, 11)]
        assert kept == [(seed, 1, "error", False) for seed in (2, 7, 11)]
        assert len(found) == 12
        assert "; failed attempts: 3 counted as unfinished at cost 1; " in notes(con)


def test_a_text_without_a_count_failed_where_the_user_says_so(tmp_path):
    rows = bank()
    rows[4]["completion_tokens"] = 0
    source = write(tmp_path / "a.jsonl", rows)
    with duckdb.connect() as con, pytest.raises(AuditError, match=r"row 5.*above 0, found 0"):
        load(con, [source])
    with duckdb.connect() as con:
        load(con, [source], failed="count")
        found = rows_of(con, "seed, completion_tokens, finish_reason")
        assert [row for row in found if row[1] == 1] == [(4, 1, "error")]


def test_a_file_in_which_all_failed_is_refused(tmp_path):
    rows = bank(text="", archive_answer=None, completion_tokens=0)
    with duckdb.connect() as con, pytest.raises(AuditError, match="all of its 12 attempts failed"):
        load(con, [write(tmp_path / "a.jsonl", rows)], failed="drop")


# Decimals as numbers


@pytest.mark.parametrize(
    ("form", "number"),
    [
        ("160.0", "160"), ("160", "160"), ("160.", "160"), ("0.50", "0.5"), (".5", "0.5"),
        ("-0.0", "0"), ("-1.50", "-1.5"), ("+2.0", "2"), ("007.10", "7.1"), ("-.5", "-0.5"),
        ("1e3", "1e3"), ("1/2", "1/2"), (".", "."), ("", ""), ("-", "-"), ("1.2.3", "1.2.3"),
        ("1,000.0", "1,000.0"), ("x", "x"), ("٣.0", "٣.0"), (None, None),
    ],
)  # fmt: skip
def test_a_plain_decimal_has_one_form_as_a_number(form, number):
    assert rewrite_number(form) == number


def test_decimals_are_compared_as_numbers_where_that_is_asked_for(tmp_path):
    rows = bank(references=["160"], text=r"\boxed{160.0}", archive_answer="160.00")
    source = write(tmp_path / "a.jsonl", rows)
    with duckdb.connect() as con:
        load(con, [source], grade="references")
        assert rows_of(con, "answer, archive_answer") == [("160.0", "160.00")] * 12
        assert rows_of(con, "correct", "grades") == [(False,)] * 12
        assert "numbers" not in notes(con)
    with duckdb.connect() as con:
        load(con, [source], grade="references", numbers=True)
        assert rows_of(con, "answer, archive_answer") == [("160", "160")] * 12
        assert rows_of(con, "correct", "grades") == [(True,)] * 12
        assert notes(con).startswith("answers: the last boxed answer, decimals as numbers; ")
        reread(con, "archive")
        assert rows_of(con, "answer") == [("160",)] * 12
        assert "decimals as numbers" in notes(con)
        other = write(tmp_path / "b.jsonl", bank(archive="n"))
        with pytest.raises(AuditError, match="archive 'm' was loaded with --numbers"):
            load(con, [other], answer="archive")


# References from a file


def test_a_name_that_is_not_utf_8_is_a_name(tmp_path):
    rows = bank()
    for suffix in (".parquet", ".jsonl"):
        path = os.fsencode(tmp_path) + b"/caf\xe9" + suffix.encode()
        os.replace(write(tmp_path / f"plain{suffix}", rows), path)
        with duckdb.connect() as con:
            load(con, [os.fsdecode(path)])
            ((name,),) = con.execute("select file from sources").fetchall()
            assert name == rf"caf\udce9{suffix}"


# What a second archive, a second name or another row must not disturb


def test_missing_labels_count_as_incorrect_in_every_archive_that_has_others(tmp_path):
    rows = []
    for archive in ("a", "b", "none"):
        labels = [None if seed % 4 == 0 or archive == "none" else True for seed in range(12)]
        rows += [attempt(seed, archive=archive, correct=labels[seed]) for seed in range(12)]
    with duckdb.connect() as con:
        load(con, [write(tmp_path / "a.jsonl", rows)], unlabelled="wrong")
        for archive in ("a", "b"):
            found = rows_of(con, "correct, recorded", f"labels where archive = '{archive}'")
            assert found == [(seed % 4 != 0, None if seed % 4 == 0 else True) for seed in range(12)]
        assert rows_of(con, "correct", "labels where archive = 'none'") == [(None,)] * 12


def test_recorded_answers_follow_a_problem_that_gets_another_number(tmp_path):
    def of(archive, name, answer):
        rows = [attempt(seed, archive=archive, archive_answer=answer) for seed in range(4)]
        return [row | {"question_id": name} for row in rows]

    with duckdb.connect() as con:
        load(con, [write(tmp_path / "m.jsonl", of("m", "middle", "5"))])
        # `early` comes before `middle`, which becomes problem 1.
        load(con, [write(tmp_path / "n.jsonl", of("n", "early", "6") + of("n", "middle", "7"))])
        reread(con, "archive")
        query = "select distinct archive, question_id, answer from attempts order by all"
        assert con.execute(query).fetchall() == [("m", 1, "5"), ("n", 0, "6"), ("n", 1, "7")]


def test_labels_are_made_again_by_the_references_of_each_attempts_own_row(tmp_path):
    # The box says 0, 1 or 2 and the source's extraction always 1; rows of a problem differ.
    rows = [
        attempt(seed, references=[str(seed % 2)], archive_answer="1", correct=None)
        for seed in range(12)
    ]
    with duckdb.connect() as con:
        load(con, [write(tmp_path / "a.jsonl", rows)], grade="references")
        assert rows_of(con, "correct", "labels") == [(s % 3 == s % 2,) for s in range(12)]
        reread(con, "archive")
        assert rows_of(con, "correct", "labels") == [(s % 2 == 1,) for s in range(12)]
        reread(con, "boxed")
        assert rows_of(con, "correct", "labels") == [(s % 3 == s % 2,) for s in range(12)]
