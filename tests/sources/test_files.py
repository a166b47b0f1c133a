"""Files: each found once, read whole as they were found, or refused and, if asked, left out."""

import gzip
import json
import os

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.errors import AuditError
from audit.load.load import load
from audit.options import Reading
from audit.sources.files import find_files
from audit.sources.opening import open_source
from audit.sources.readers import chunks
from tests.support import logs
from tests.support.logs import lines
from tests.support.waiting import within

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


def rows(count):
    return [ROW | {"seed": seed} for seed in range(count)]


def refusal(path, **options):
    with duckdb.connect() as con:
        return logs.refusal(con, path, **options)


# Files that change


def write_as(path, count):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows(count)), path, row_group_size=10)
    elif path.suffix == ".csv":
        cells = "".join(f"a,c,0,{seed},5,stop,\\boxed{{1}},1\n" for seed in range(count))
        path.write_text(",".join(ROW) + "\n" + cells)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows(count)))
    else:
        lines(path, rows(count))


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv", "json"])
@pytest.mark.parametrize("change", ["cut", "grown", "replaced", "gone"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, suffix, change):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 10)
    path = tmp_path / f"a.{suffix}"
    write_as(path, 60)
    (file,) = find_files([str(path)])
    reading = open_source(file, Reading()).chunks
    next(reading)
    if change == "cut":
        os.truncate(path, path.stat().st_size // 3)
    elif change == "grown":
        with open(path, "ab") as stream:
            stream.write(b"\n")
    elif change == "replaced":
        write_as(tmp_path / f"b.{suffix}", 60)
        os.replace(tmp_path / f"b.{suffix}", path)
    else:
        path.unlink()
    with pytest.raises(AuditError, match=rf"^a\.{suffix}: (changed|went away) while it was read"):
        list(reading)


def test_a_file_that_changed_since_it_was_found_is_refused(tmp_path):
    path = lines(tmp_path / "a.jsonl", rows(3))
    (file,) = find_files([str(path)])
    lines(path, rows(2))
    with pytest.raises(AuditError, match="changed while it was read; load it when it is written"):
        list(open_source(file, Reading()).chunks)


def test_a_parquet_file_that_is_cut_during_a_load_changes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 10)
    path = tmp_path / "a.parquet"
    write_as(path, 60)
    size = path.stat().st_size

    def cut(label, done, total):
        os.truncate(path, size // 3)

    with duckdb.connect() as con:
        with pytest.raises(AuditError, match=r"a\.parquet: changed while it was read"):
            load(con, [str(path)], progress=cut)
        assert con.execute("show tables").fetchall() == []


# What is found


def test_a_pipe_in_a_folder_is_refused_and_not_waited_for(tmp_path):
    lines(tmp_path / "a.jsonl", rows(2))
    for name in ("p.jsonl", "q.json"):
        os.mkfifo(tmp_path / name)
        with within(10):
            assert f"{tmp_path}/{name}: neither a file nor a folder" == refusal(tmp_path)
            with duckdb.connect() as con:
                summary = load(con, [str(tmp_path)], skip_unreadable=True)
                assert summary.rows == 2
                assert f"left out: {tmp_path}/{name}: neither" in "".join(summary.notes)
        os.unlink(tmp_path / name)


def test_a_git_lfs_pointer_is_called_that(tmp_path):
    for name in ("a.parquet", "a.jsonl", "a.eval"):
        (tmp_path / name).write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
        )
        line = refusal(tmp_path / name)
        assert line == f"{name}: is a Git LFS pointer and not the file; run 'git lfs pull'"


@pytest.mark.slow
def test_unreadable_files_are_named_or_left_out_and_told(tmp_path):
    lines(tmp_path / "a.jsonl", rows(3))
    bad = {
        "b.jsonl": b'{"archive": "a",\n',
        "c.parquet": b"PAR1 and no more",
        "d.csv": b"archive,seed\n",
        "e.jsonl.gz": gzip.compress(b"{}\n" * 99)[:-9],
        "f.jsonl": b"",
        "g.eval": b"PK\3\4 no zip",
        "h.json": b'[{"archive": "a"',
        "i.jsonl": lines(tmp_path / "x.jsonl", [ROW | {"seed": 7}]).read_bytes() + b"{,\n",
    }
    os.unlink(tmp_path / "x.jsonl")
    for name, content in bad.items():
        (tmp_path / name).write_bytes(content)
        assert refusal(tmp_path).startswith(f"{name}: ")
        with duckdb.connect() as con:
            summary = load(con, [str(tmp_path)], skip_unreadable=True)
            # No row of a file that ends badly is in.
            assert summary.rows == 3, name
            assert [note for note in summary.notes if note.startswith(f"left out: {name}: ")]
        os.unlink(tmp_path / name)
    # A value that is wrong is no damage: the file says something, and it is not left out.
    lines(tmp_path / "j.jsonl", [ROW | {"completion_tokens": 0}])
    assert "j.jsonl: row 1, column completion_tokens" in refusal(tmp_path, skip_unreadable=True)
    (tmp_path / "k").mkdir()
    (tmp_path / "k" / "only.csv").write_text("x\n")
    line = refusal(tmp_path / "k", skip_unreadable=True)
    assert line.startswith("no file can be read: only.csv: holds no rows")
