import json
import shutil
import tracemalloc
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit import engine
from audit.load import staging
from audit.load.load import load
from audit.load.schema import SCHEMA, VIEWS, create_schema
from audit.sources.readers import chunks
from tests.support.logs import refusal, write

RELATIONS = ("attempts", "texts", "labels", "accepted_references", "grades")
FORMATS = ("parquet", "jsonl", "jsonl.gz", "csv")


def row(**changed):
    """One good row, with what a test changes; a column set to ... is left out."""
    values = {
        "archive": "model_low",
        "competition": "AIME24",
        "question_id": 0,
        "seed": 1234,
        "prompt_tokens": 100,
        "completion_tokens": 2000,
        "finish_reason": "stop",
        "text": r"so \boxed{7}.",
        "boxed_answer": None,
        "archive_answer": "7",
        "correct": True,
        "mean_logprob": -0.5,
        "references": ["7"],
    }
    return {name: value for name, value in (values | changed).items() if value is not ...}


def varied_rows():
    """Rows with everything that a format might treat in its own way."""
    return [
        row(
            text='two\nlines, "quoted" ∑ \\boxed{\\dfrac{1}{2}}', references=["1/2", r"\frac{1}{2}"]
        ),
        row(seed=1235, text=r"\boxed{1{,}000}", archive_answer=" 1000 ", mean_logprob=None),
        row(seed=-3, text="no box", archive_answer=None, correct=False, references=None),
        row(
            question_id=1, text=None, boxed_answer=r"\text{ 12 }", prompt_tokens=None, references=[]
        ),
        row(
            archive="a 'quoted' \"name\"; {{ x }}",
            finish_reason="length",
            mean_logprob=float("nan"),
        ),
        row(
            competition="HMMT25",
            question_id=29,
            completion_tokens=10**12,
            mean_logprob=-float("inf"),
        ),
    ]


def contents(con, relations=RELATIONS):
    """Every row of the relations, in an order of its own."""
    return {
        name: con.execute(f"select * from {name} order by all").fetchall() for name in relations
    }


# What is loaded


def test_every_format_gives_the_same_relations(tmp_path):
    loaded = []
    for suffix in FORMATS:
        with duckdb.connect() as con:
            load(con, [write(tmp_path / f"a.{suffix}", varied_rows())], force=True)
            loaded.append(contents(con))
    assert len(loaded[0]["attempts"]) == len(varied_rows())
    assert all(relations == loaded[0] for relations in loaded[1:])


def test_attempts_hold_normalized_answers_and_no_label(con, tmp_path):
    load(con, [write(tmp_path / "a.parquet", varied_rows())], force=True)
    found = con.execute(
        "select answer, archive_answer, mean_logprob, prompt_tokens, eligible from attempts "
        "where archive = 'model_low' order by competition, question_id, seed"
    ).fetchall()
    assert found == [
        (None, None, -0.5, 100, False),
        (r"\frac{1}{2}", "7", -0.5, 100, True),
        ("1000", "1000", None, 100, True),
        ("12", "7", -0.5, 0, True),
        ("7", "7", None, 100, True),
    ]
    columns = [column[0] for column in con.execute("describe attempts").fetchall()]
    assert "correct" not in columns


def test_a_text_decides_even_when_a_recorded_box_differs(con, tmp_path):
    rows = [
        row(text=r"\boxed{1}", boxed_answer="2"),
        row(text="none", boxed_answer="2", seed=2),
        row(text=None, boxed_answer="2", seed=3),
    ]
    load(con, [write(tmp_path / "a.jsonl", rows)])
    answers = con.execute("select seed, answer from attempts order by seed").fetchall()
    assert answers == [(2, None), (3, "2"), (1234, "1")]


def test_slot_is_the_rank_of_the_seed_in_its_bank(con, tmp_path):
    seeds = [9, -1, 4]
    rows = [row(question_id=q, seed=seed) for q in (0, 1) for seed in seeds]
    load(con, [write(tmp_path / "a.csv", rows)])
    slots = con.execute("select seed, slot from attempts order by question_id, seed").fetchall()
    assert slots == [(-1, 0), (4, 1), (9, 2)] * 2


def test_references_are_normalized_and_united_over_the_rows_of_a_problem(con, tmp_path):
    rows = [
        row(references=["7", None, " 07 "]),
        row(seed=2, references=[r"\text{seven}", "$ $"]),
        row(seed=3, references=None),
    ]
    load(con, [write(tmp_path / "a.jsonl", rows)])
    found = con.execute("select reference from accepted_references order by all").fetchall()
    # What the third row accepts, which names none, stands there under 0.
    assert found == [("7",), ("7",), ("seven",), ("seven",)]


def test_repaired_label_takes_references_from_every_archive(con, tmp_path):
    rows = [
        row(archive="one", correct=False, references=None),
        row(archive="one", seed=2, correct=False, text="no box", references=None),
        row(archive="one", seed=3, correct=True, text=r"\boxed{8}", references=None),
        row(archive="one", seed=4, correct=False, text=r"\boxed{8}", references=None),
        row(archive="one", question_id=1, correct=False, references=None),
        row(archive="two", correct=False, text=r"\boxed{9}", references=["7", " 7"]),
    ]
    load(con, [write(tmp_path / "a.parquet", rows)])
    grades = con.execute(
        "select question_id, seed, correct, repaired_correct from grades "
        "order by archive, question_id, seed"
    ).fetchall()
    assert grades == [
        (0, 2, False, False),  # no answer equals no reference
        (0, 3, True, True),  # a true label stays
        (0, 4, False, False),
        (0, 1234, False, True),  # repaired by the other archive's reference
        (1, 1234, False, False),  # a reference of another problem
        (0, 1234, False, False),
    ]


def test_texts_are_left_out_on_request_but_answers_are_not(con, tmp_path):
    source = write(tmp_path / "a.parquet", varied_rows())
    load(con, [source], texts=False, force=True)
    assert con.execute("select count(*) from texts").fetchone() == (0,)
    assert con.execute("select count(answer) from attempts").fetchone() == (5,)


def test_summary_counts_what_was_loaded(con, tmp_path):
    source = write(tmp_path / "a.csv", varied_rows())
    summary = load(con, [source], force=True)
    assert summary.archives.to_pylist() == [
        {"archive": "a 'quoted' \"name\"; {{ x }}", "attempts": 1, "problems": 1},
        {"archive": "model_low", "attempts": 5, "problems": 3},
    ]
    assert (summary.files, summary.rows, summary.notes) == (1, 6, ())
    assert not summary.replays_dropped
    assert con.execute("select count(text) from texts").fetchone() == (5,)


def test_sources_record_file_hash_rows_and_mapping(con, tmp_path):
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    write(folder / "sub" / "a.csv", [row(), row(seed=2), row(archive="simulated_x")])
    write(folder / "b.parquet", [row(archive="other", id="3")], metadata={"simulated": "true"})
    shutil.copy(folder / "b.parquet", tmp_path / "c.parquet")
    load(con, [str(folder)])
    found = con.execute(
        "select file, archive, format, rows, simulated, length(sha256) from sources order by all"
    ).fetchall()
    assert found == [
        ("b.parquet", "other", "parquet", 1, True, 64),
        ("sub/a.csv", "model_low", "csv", 2, False, 64),
        ("sub/a.csv", "simulated_x", "csv", 1, True, 64),
    ]
    load(con, [str(tmp_path / "c.parquet")], replace=True, mapping={"question_id": "id"})
    ((file, size, mapping),) = con.execute(
        "select file, bytes, mapping from sources where archive = 'other'"
    ).fetchall()
    assert (file, size) == ("c.parquet", (tmp_path / "c.parquet").stat().st_size)
    assert json.loads(mapping)["question_id"] == "id"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"seed": 8.0}, {"seed": 8}),
        ({"seed": "8"}, {"seed": 8}),
        ({"prompt_tokens": "17.0"}, {"prompt_tokens": 17}),
        ({"seed": -(2**63)}, {"seed": -(2**63)}),
        ({"mean_logprob": "nan"}, {"mean_logprob": None}),
        ({"mean_logprob": "-0.25"}, {"mean_logprob": -0.25}),
        ({"mean_logprob": -1}, {"mean_logprob": -1.0}),
        ({"finish_reason": "stop "}, {"eligible": False}),
        ({"text": "nul \0 \\boxed{\0}"}, {"answer": "\0"}),
    ],
)
def test_other_spellings_of_a_value_are_read(con, tmp_path, changed, expected):
    load(con, [write(tmp_path / "a.jsonl", [row(**changed)])], force=True)
    (column,) = expected
    assert con.execute(f"select {column} from attempts").fetchone() == (expected[column],)


@pytest.mark.parametrize("value", [True, 1, 1.0, "true", "TRUE", "1"])
def test_a_label_may_be_spelt_in_several_ways(con, tmp_path, value):
    load(con, [write(tmp_path / "a.jsonl", [row(correct=value)])])
    assert con.execute("select correct from labels").fetchone() == (True,)


@pytest.mark.parametrize(
    ("cell", "references"),
    [
        ('["7", "1/2"]', ["1/2", "7"]),
        ("['7', \"x'\", None]", ["7", "x'"]),
        ("['\\\\frac{1}{2}']", [r"\frac{1}{2}"]),
        ("7, 8", ["7,8"]),
        ("[]", []),
        ("", []),
    ],
)
def test_a_csv_cell_holds_references_as_json_python_or_plain(con, tmp_path, cell, references):
    load(con, [write(tmp_path / "a.csv", [row(references=cell)])])
    found = con.execute("select reference from accepted_references order by all").fetchall()
    assert found == [(reference,) for reference in references]


@pytest.mark.parametrize(
    "convert",
    [
        lambda table: table.cast(
            pa.schema(
                [
                    pa.field(f.name, pa.large_string() if pa.types.is_string(f.type) else f.type)
                    for f in table.schema
                ]
            )
        ),
        lambda table: table.set_column(0, "archive", table["archive"].dictionary_encode()),
        lambda table: table.set_column(2, "question_id", table["question_id"].cast(pa.float64())),
        lambda table: table.set_column(3, "seed", table["seed"].cast(pa.decimal128(20, 0))),
        lambda table: table.set_column(5, "completion_tokens", table[5].cast(pa.uint64())),
        lambda table: table.set_column(10, "correct", table["correct"].cast(pa.int8())),
        lambda table: table.set_column(11, "mean_logprob", table[11].cast(pa.float32())),
    ],
    ids=["large strings", "dictionary", "float", "decimal", "unsigned", "0 and 1", "float32"],
)
def test_parquet_columns_of_related_types_are_read(con, tmp_path, convert):
    path = Path(write(tmp_path / "a.parquet", varied_rows()))
    load(con, [str(path)], force=True)
    before = contents(con)
    pq.write_table(convert(pq.read_table(path)), path)
    load(con, [str(path)], replace=True, force=True)
    assert contents(con) == before


# What is refused


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("archive", None, "must be text, found null"),
        ("archive", "", "must not be empty"),
        ("archive", 5, "must be text, found 5"),
        ("competition", None, "must be text, found null"),
        ("question_id", -1, "must be a whole number of 0 or more, found -1"),
        ("question_id", None, "must be a whole number of 0 or more, found null"),
        ("question_id", True, "must be a whole number of 0 or more, found true"),
        ("question_id", 2**63, f"must be at most {2**63 - 1}, found {2**63}"),
        ("seed", "12a", "must be a whole number of at most 64 bits, found '12a'"),
        ("seed", -(2**63) - 1, f"must be a whole number of at most 64 bits, found -{2**63 + 1}"),
        ("seed", 1e300, "must be a whole number of at most 64 bits, found 1e+300"),
        ("prompt_tokens", -1, "must be a whole number of 0 or more, found -1"),
        ("completion_tokens", 0, "must be a whole number above 0, found 0"),
        ("completion_tokens", -5, "must be a whole number above 0, found -5"),
        ("completion_tokens", 1.5, "must be a whole number above 0, found 1.5"),
        ("completion_tokens", None, "must be a whole number above 0, found null"),
        ("completion_tokens", "many", "must be a whole number above 0, found 'many'"),
        ("completion_tokens", float("inf"), "must be a whole number above 0, found inf"),
        ("completion_tokens", 10**12 + 1, f"must be at most {10**12}, found {10**12 + 1}"),
        ("finish_reason", None, "must be text, found null"),
        ("text", 5, "must be text, found 5"),
        ("text", [{"a": 1}], "must be text, found [{'a': 1}]"),
        ("boxed_answer", 5, "must be text, found 5"),
        ("archive_answer", ["7"], "must be text, found ['7']"),
        ("correct", 2, "must be true or false (or 1 or 0), found 2"),
        ("correct", "yes", "must be true or false (or 1 or 0), found 'yes'"),
        ("mean_logprob", "low", "must be a number or null, found 'low'"),
        ("mean_logprob", True, "must be a number or null, found true"),
        ("mean_logprob", [1], "must be a number or null, found [1]"),
        ("references", "7", "must be a list of strings, found '7'"),
        ("references", [7], "must be a list of strings, found [7]"),
        ("text", "\ud800", "must be valid Unicode, found '\\ud800'"),
        ("references", ["\ud800"], "must be valid Unicode, found '\\ud800'"),
    ],
)
def test_a_bad_value_is_refused_with_file_row_and_column(con, tmp_path, column, value, message):
    source = write(tmp_path / "bad.jsonl", [row(), row(seed=2) | {column: value}])
    assert refusal(con, source) == f"bad.jsonl: row 2, column {column}: {message}"


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("archive", ["a", ""], "must not be empty"),
        ("question_id", [0, -1], "must be a whole number of 0 or more, found -1"),
        ("completion_tokens", [1, 0], "must be a whole number above 0, found 0"),
        ("completion_tokens", [1, None], "must be a whole number above 0, found null"),
        ("completion_tokens", [1.0, 1.5], "must be a whole number above 0, found 1.5"),
        ("finish_reason", ["stop", None], "must be text, found null"),
        ("correct", [1, 2], "must be true or false (or 1 or 0), found 2"),
        ("text", [None, [{"a": "b"}]], "must be text, found [{'a': 'b'}]"),
        ("references", [["7"], None], None),
        ("references", [None, [7]], "must be a list of strings, found [7]"),
    ],
)
def test_a_bad_parquet_value_is_found_in_a_whole_column(con, tmp_path, column, values, message):
    path = Path(write(tmp_path / "bad.parquet", [row(), row(seed=2)]))
    table = pq.read_table(path)
    place = table.schema.names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(values)), path)
    if message is None:
        assert load(con, [str(path)]).rows == 2
    else:
        assert refusal(con, path) == f"bad.parquet: row 2, column {column}: {message}"


def test_a_bad_csv_value_is_refused_by_its_data_row(con, tmp_path):
    rows = [row(text="two\nlines"), row(seed=2), row(seed=3, completion_tokens=0)]
    source = write(tmp_path / "attempts.csv", rows)
    assert refusal(con, source) == (
        "attempts.csv: row 3, column completion_tokens: must be a whole number above 0, found '0'"
    )


@pytest.mark.parametrize("cell", ["[7]", "['a' 'b']", "[", "['a', b]", r"['\x']", "[" * 100_000])
def test_a_csv_cell_that_is_no_list_of_strings_is_refused(con, tmp_path, cell):
    line = refusal(con, write(tmp_path / "a.csv", [row(references=cell)]))
    assert line.startswith("a.csv: row 1, column references: must be a list of strings, found ")


def test_invalid_utf8_is_refused_with_its_place(con, tmp_path):
    table = pq.read_table(write(tmp_path / "a.parquet", [row(), row(seed=2)]))
    broken = pa.array([b"fine", b"\xff"]).view(pa.string())
    for column in ("text", "archive"):
        place = table.schema.names.index(column)
        pq.write_table(table.set_column(place, column, broken), tmp_path / "a.parquet")
        line = refusal(con, tmp_path / "a.parquet")
        assert line == f"a.parquet: row 2, column {column}: must be valid UTF-8"
    for suffix in ("jsonl", "csv"):
        path = Path(write(tmp_path / f"b.{suffix}", [row(text="x"), row(seed=2, text="@")]))
        path.write_bytes(path.read_bytes().replace(b"@", b"\xff"))
        line = refusal(con, path)
        assert line.startswith(f"b.{suffix}: row 2, column text: must be valid Unicode")


def test_a_long_value_is_cut_and_stays_on_one_line(con, tmp_path):
    source = write(tmp_path / "a.jsonl", [row(seed="long\n" * 100)])
    line = refusal(con, source)
    assert len(line) < 200
    assert r"'long\nlong\n" in line


def test_missing_columns_are_named_with_those_that_exist(con, tmp_path):
    for suffix in FORMATS:
        source = write(tmp_path / f"a.{suffix}", [row(seed=..., finish_reason=..., label="1")])
        line = refusal(con, source)
        assert line.startswith(f"a.{suffix}: missing columns seed, finish_reason; it has archive, ")
        assert "label" in line
        assert "--map seed=" in line
    unanswered = row(text=..., boxed_answer=..., archive_answer=...)
    line = refusal(con, write(tmp_path / "b.jsonl", [unanswered]))
    assert "missing column text (or boxed_answer, or archive_answer); it has" in line


@pytest.mark.parametrize("kept", ["boxed_answer", "archive_answer"])
def test_text_may_be_missing_when_an_answer_is_given(con, tmp_path, kept):
    rows = [row(text=..., boxed_answer=..., archive_answer=...) | {kept: "7"}]
    load(con, [write(tmp_path / "a.parquet", rows)], force=True)
    column = "answer" if kept == "boxed_answer" else kept
    assert con.execute(f"select {column} from attempts").fetchone() == ("7",)


def test_a_mapping_must_name_columns_that_exist(con, tmp_path):
    source = write(tmp_path / "a.csv", [row()])
    line = refusal(con, source, mapping={"tokens": "seed"})
    assert line.startswith("--map tokens=seed: no column 'tokens' in the canonical schema; it has ")
    line = refusal(con, source, mapping={"seed": "run"})
    assert line.startswith("a.csv: --map seed=run: no column 'run'; it has archive, ")


def test_a_duplicate_attempt_is_refused_with_both_places(con, tmp_path):
    write(tmp_path / "a.jsonl", [row(), row(seed=2)])
    write(tmp_path / "b.csv", [row(seed=3), row(seed=2)])
    line = refusal(con, tmp_path)
    assert line.startswith("b.csv: row 2, column seed: attempt (archive 'model_low'")
    assert "is already in a.jsonl: row 2" in line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"seed": 1', "Expecting ',' delimiter"),
        ("[1, 2]", "must be an object, found [1, 2]"),
        ("null", "must be an object, found null"),
        ('{"seed": 1, "seed": 2}', "key 'seed' occurs twice"),
        ('{"a": ' * 200_000, "nested too deep"),
        ('{"seed": ' + "9" * 5000 + "}", "Exceeds the limit"),
    ],
    ids=["cut off", "list", "null", "duplicate key", "deep", "huge integer"],
)
def test_an_unreadable_json_line_is_refused_with_its_number(con, tmp_path, line, message):
    path = Path(write(tmp_path / "a.jsonl", [row()]))
    path.write_text(path.read_text() + "\n" + line + "\n")
    assert refusal(con, path).startswith(f"a.jsonl: not readable as JSON: row 2: {message}")


def test_a_record_beyond_the_limit_is_refused_before_it_is_parsed(con, tmp_path, monkeypatch):
    monkeypatch.setattr("audit.sources.containers.LONGEST_LINE", 1_000_000)
    source = write(tmp_path / "a.jsonl.gz", [row(), row(seed=2, text="x" * 9_000_000)])
    assert refusal(con, source).endswith("row 2: holds a value longer than 1 MB")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{header}\n{cells},x\n", "row 1: has 14 cells, but the header has 13"),
        ("{header}\n{cells}\na,b\n", "row 2: has 2 cells, but the header has 13"),
        ("{header},seed\n{cells},1\n", "header: column 'seed' occurs twice"),
        ('{header}\n"{cells}\n', "row 1: not readable as CSV: unexpected end of data"),
        ("{header}\n", "holds no rows"),
    ],
    ids=["too many cells", "too few cells", "duplicate header", "unterminated quote", "no rows"],
)
def test_a_malformed_csv_is_refused_with_its_place(con, tmp_path, text, message):
    path = Path(write(tmp_path / "a.csv", [row(text="t", references=None)]))
    header, cells = path.read_text().splitlines()
    path.write_text(text.format(header=header, cells=cells))
    assert refusal(con, path).startswith(f"a.csv: {message}")


def test_damaged_and_empty_files_are_refused(con, tmp_path):
    whole = Path(write(tmp_path / "a.parquet", varied_rows())).read_bytes()
    damaged = {
        "cut.parquet": whole[: len(whole) // 2],
        "torn.parquet": whole[len(whole) // 2 :],
        "swapped.parquet": whole[:200] + bytes(200) + whole[400:],
    }
    for name, content in damaged.items():
        (tmp_path / name).write_bytes(content)
        assert refusal(con, tmp_path / name).startswith(f"{name}: not a readable Parquet file")
    pq.write_table(pq.read_table(tmp_path / "a.parquet").slice(0, 0), tmp_path / "none.parquet")
    assert refusal(con, tmp_path / "none.parquet").startswith("none.parquet: holds no rows")
    zipped = Path(write(tmp_path / "a.jsonl.gz", varied_rows())).read_bytes()
    (tmp_path / "cut.jsonl.gz").write_bytes(zipped[:-20])
    line = "cut.jsonl.gz: the file ends early or is damaged"
    assert refusal(con, tmp_path / "cut.jsonl.gz").startswith(line)
    line = refusal(con, tmp_path / "cut.jsonl.gz", format="jsonl")
    assert "Compressed file ended before" in line
    for content in (b"", b" \n\n"):
        (tmp_path / "empty.csv").write_bytes(content)
        assert refusal(con, tmp_path / "empty.csv").startswith("empty.csv: is empty")


def test_sources_with_nothing_to_load_are_refused(con, tmp_path):
    (tmp_path / "readme.txt").write_text("hello")
    assert "nothing to load here; looked for .parquet" in refusal(con, tmp_path)
    assert "no file matches" in refusal(con, tmp_path / "*.csv")
    assert "no such file or folder" in refusal(con, tmp_path / "a.csv")
    assert "nothing to load" in refusal(con)


# One transaction


def test_an_archive_that_is_there_is_refused_unless_replaced(con, tmp_path):
    first = write(tmp_path / "a.jsonl", [row(seed=s, references=["1"]) for s in range(3)])
    load(con, [first, write(tmp_path / "other.csv", [row(archive="other")])])
    second = write(tmp_path / "b.parquet", [row(archive="new"), row(seed=9, references=["2"])])
    line = refusal(con, second)
    assert "b.parquet: archive 'model_low' is already in the database" in line
    assert "--replace" in line
    load(con, [second], replace=True)
    with duckdb.connect() as fresh:
        load(fresh, [second, str(tmp_path / "other.csv")])
        assert contents(con, (*RELATIONS, "sources")) == contents(fresh, (*RELATIONS, "sources"))


def test_replacing_meets_an_archive_in_the_middle_of_a_stream(con, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 2)
    old = [row(archive="old", seed=seed) for seed in range(5)]
    load(con, [write(tmp_path / "a.jsonl", old)])
    rows = [row(archive="new", seed=seed) for seed in range(5)]
    rows += [row(archive="old", seed=seed + 3) for seed in range(5)]
    load(con, [write(tmp_path / "b.jsonl", rows)], replace=True)
    stored = con.execute("select archive, seed from texts order by all").fetchall()
    assert stored == sorted((values["archive"], values["seed"]) for values in rows)


def test_progress_reaches_the_size_of_all_files(con, tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 3)
    for number, suffix in enumerate(FORMATS):
        write(tmp_path / f"a.{suffix}", [row(question_id=number, seed=seed) for seed in range(10)])
    calls = []
    load(con, [str(tmp_path)], progress=lambda *call: calls.append(call))
    done = [call[1] for call in calls]
    assert done == sorted(done)
    assert done[-1] == calls[-1][2] == sum(path.stat().st_size for path in tmp_path.iterdir())


def test_loading_drops_replays_and_marks_them_stale(con, tmp_path):
    source = write(tmp_path / "a.csv", [row()])
    load(con, [source])
    assert con.execute("select value from meta where key = 'replays'").fetchone() == ("none",)
    engine.replay(con, budgets=[3000], caps=[2], primary_cap=2, orders=1, replicates=0)
    settings = con.execute("from settings order by key").fetchall()
    for dropped in (True, False):  # Stale replays stay stale when more is loaded.
        assert load(con, [source], replace=True).replays_dropped == dropped
        assert con.execute("select value from meta where key = 'replays'").fetchone() == (
            "stale: archives were loaded",
        )
        kept = {name for (name,) in con.execute("show tables").fetchall()}
        assert kept == {*SCHEMA, *VIEWS, "replay_relations", *engine.SETTING_RELATIONS}
    assert con.execute("from settings order by key").fetchall() == settings


def test_loading_never_touches_what_a_user_made(con, tmp_path):
    source = write(tmp_path / "a.csv", [row()])
    load(con, [source])
    con.execute('create table "my notes" as select 1 as i; create table "odd ""name" (i integer)')
    con.execute("create table mine as from attempts; create view seen as select seed from attempts")
    con.execute("create view judged as select * from grades where correct")
    # Before a replay even this name is a user's.
    con.execute("create table replays as select 7 as i")
    load(con, [source], replace=True)
    assert con.execute("from replays").fetchall() == [(7,)]
    con.execute("drop table replays")
    engine.replay(con, budgets=[3000], caps=[2], primary_cap=2, orders=1, replicates=0)
    load(con, [source], replace=True)
    assert con.execute('from "my notes"').fetchall() == [(1,)]
    assert con.execute('select count(*) from "odd ""name"').fetchall() == [(0,)]
    assert con.execute("select count(*) from mine").fetchall() == [(1,)]
    assert con.execute("from seen").fetchall() == [(1234,)]
    assert con.execute("select seed from judged").fetchall() == [(1234,)]


def test_a_database_of_another_program_or_version_is_refused(con, tmp_path):
    source = write(tmp_path / "a.csv", [row()])
    con.execute("create table customers (id integer)")
    assert "tables of another program (customers)" in refusal(con, source)
    con.execute("create table meta (other integer)")
    assert "tables of another program (customers, meta)" in refusal(con, source)
    con.execute("drop table meta; drop table customers")
    create_schema(con)
    con.execute("update meta set value = '99' where key = 'schema_version'")
    assert "newer budget-audit (schema version 99, this one reads 7)" in refusal(con, source)


def test_schema_is_created_once_and_grades_work_under_another_name(tmp_path):
    path = tmp_path / "a.duckdb"
    with duckdb.connect() as con:
        con.execute(f"attach '{path}' as inner_name; use inner_name")
        create_schema(con)
        create_schema(con)
        load(con, [write(tmp_path / "a.csv", [row()])])
    with duckdb.connect(path, read_only=True) as con:
        assert con.execute("select repaired_correct from grades").fetchall() == [(True,)]
        assert con.execute("select count(*) from meta").fetchone() == (2,)


# Memory


def test_more_rows_than_a_row_group_arrive(tmp_path):
    count = 130_000
    columns = {
        "archive": ["a"] * count, "competition": ["C"] * count, "question_id": [0] * count,
        "seed": range(count), "completion_tokens": [5] * count, "finish_reason": ["stop"] * count,
        "text": [r"\boxed{1}"] * count, "correct": [True] * count,
    }  # fmt: skip
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with duckdb.connect() as con:
        assert load(con, [tmp_path / "a.parquet"]).rows == count
        assert con.execute("select count(*) from attempts").fetchall() == [(count,)]


@pytest.mark.slow
def test_python_memory_does_not_grow_with_the_input(tmp_path, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_ROWS", 16)
    monkeypatch.setattr(staging, "TOGETHER_BYTES", 5_000)
    for suffix in ("jsonl.gz", "csv"):
        peaks = []
        for size in (100, 400):
            rows = [row(seed=seed, text="word " * 2000 + r"\boxed{1}") for seed in range(size)]
            source = write(tmp_path / f"{size}.{suffix}", rows)
            del rows
            with duckdb.connect() as con:
                tracemalloc.start()
                load(con, [source])
                peaks.append(tracemalloc.get_traced_memory()[1])
                tracemalloc.stop()
        assert peaks[1] < 1.5 * peaks[0]
