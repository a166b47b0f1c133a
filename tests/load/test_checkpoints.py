"""Checkpoints: what attempts would have answered before their end."""

import pyarrow
import pyarrow.parquet
import pytest

import audit
from audit.errors import AuditError
from tests.support.archives import attempt
from tests.support.checkpoints import loaded, rows_of
from tests.support.logs import lines

KEY = {"archive": "a", "competition": "C", "question_id": 0, "seed": 0}
WRITTEN = [
    {"tokens": 4, "answer": " 07 ", "cost": 3, "certain": True},
    {"tokens": 9, "kind": "written", "answer": "7"},
    {"tokens": 9, "kind": "asked", "answer": r"\text{ }", "cost": 2},
]
KEPT = [
    (4, "asked", "7", 3, True),
    (9, "asked", None, 2, None),
    (9, "written", "7", 0, None),
]


def write_file(folder, form, rows):
    path = folder / f"checkpoints.{form}"
    if form == "jsonl":
        return lines(path, rows)
    if form == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        return path
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [["" if row.get(name) is None else str(row[name]) for name in names] for row in rows]
    path.write_text("\n".join(",".join(line) for line in [names, *cells]) + "\n")
    return path


KEPT_SQL = "select tokens, kind, answer, cost, certain from checkpoints order by all"


@pytest.mark.parametrize("form", ["column", "jsonl", "parquet", "csv"])
def test_a_column_and_every_form_of_file_load_alike(tmp_path, form):
    rows = [attempt(0, 10, "7", correct=True), attempt(1, 12, "8")]
    checkpoints = [{**dict.fromkeys(WRITTEN[0] | WRITTEN[1]), **c} for c in WRITTEN]
    if form == "column":
        db = loaded(tmp_path, [rows[0] | {"checkpoints": WRITTEN}, rows[1]])
    else:
        file = write_file(tmp_path, form, [KEY | c for c in checkpoints])
        db = loaded(tmp_path, rows, file)
        sources = "select file, format, rows from sources where format = 'checkpoints'"
        assert rows_of(db, sources) == [(file.name, "checkpoints", 3)]
    assert rows_of(db, KEPT_SQL) == KEPT
    loaded_again = "select count(*) from checkpoints"
    audit.load(db, [tmp_path / "a.jsonl"], replace=True)
    assert rows_of(db, loaded_again) == [(3 if form == "column" else 0,)]


def test_column_and_file_are_a_union(tmp_path):
    rows = [attempt(0, 10, "7", correct=True) | {"checkpoints": WRITTEN[:1]}]
    file = lines(tmp_path / "more.jsonl", [KEY | c for c in WRITTEN[1:]])
    assert rows_of(loaded(tmp_path, rows, file), KEPT_SQL) == KEPT


def test_problems_that_go_by_names_have_their_checkpoints(tmp_path):
    rows = [attempt(0, 10, "7", question=name) for name in ("zeta", "alpha")]
    file = lines(tmp_path / "c.jsonl", [KEY | {"question_id": "zeta", **WRITTEN[0]}])
    assert rows_of(loaded(tmp_path, rows, file), "select question_id from checkpoints") == [(1,)]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"seed": 5}, "seed: no attempt of this load has archive a, competition C, question_id 0"),
        ({"tokens": 11}, "tokens: must be at most the attempt's completion_tokens (10), found 11"),
        ({"tokens": 0}, "tokens: must be a whole number above 0, found"),
        ({"tokens": 4}, "tokens: must differ between the asked checkpoints of an attempt, found 4"),
        ({"cost": -1}, "cost: must be a whole number of 0 or more, found"),
        ({"kind": "written"}, "cost: must be 0 where kind is written, found 3"),
        ({"kind": "guessed"}, "kind: must be written or asked, found 'guessed'"),
        ({"certain": "perhaps"}, "certain: must be true or false (or 1 or 0), found 'perhaps'"),
    ],
)
@pytest.mark.parametrize("form", ["csv", "column"])
def test_a_faulty_checkpoint_is_refused_with_its_place(tmp_path, change, problem, form):
    rows = [attempt(0, 10, "7")]
    checkpoints = [WRITTEN[0], {"tokens": 5, "answer": "7", "cost": 3, **change}]
    checkpoints = [{"kind": None, "certain": None, "seed": 0, **c} for c in checkpoints]
    if form == "column":
        if "seed" in change:
            pytest.skip("a column has no seed of its own")
        rows[0]["checkpoints"], file = checkpoints, None
        place = "a.jsonl: row 1, column checkpoints: checkpoint 2: {} "
    else:
        file = write_file(tmp_path, form, [KEY | c for c in checkpoints])
        place = f"checkpoints.{form}: row 2, column {{}}: "
    with pytest.raises(AuditError) as refused:
        loaded(tmp_path, rows, file)
    column, _, problem = problem.partition(": ")
    assert str(refused.value).startswith(place.format(column) + problem)
    assert not (tmp_path / "a.duckdb").exists()


def test_a_file_that_is_no_file_of_checkpoints_is_refused_in_one_line(tmp_path):
    rows = [attempt(0, 10, "7")]
    for name, text, problem in (
        ("a.csv", "archive,competition,question_id,seed\na,C,0,0\n", "no column tokens; it has"),
        ("b.jsonl", '{"archive": "a"\n', "cannot be read"),
        ("c.jsonl", "", "is empty"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(AuditError, match=problem) as refused:
            loaded(tmp_path, rows, tmp_path / name)
        assert "\n" not in str(refused.value)


def test_labels_of_checkpoints_follow_references_and_equal_answers(tmp_path):
    def asked(*answers, **more):
        return [{"tokens": 1 + at, "answer": a, **more} for at, a in enumerate(answers)]

    rows = [
        # Accepted by reference; another answer is wrong.
        attempt(0, 10, "7", correct=True, references=["7"])
        | {"checkpoints": asked("7", "8", None)},
        # Right by an attempt of another archive, but only under the same references.
        attempt(0, 10, "5", archive="b", question=1) | {"checkpoints": asked("3", "4")},
        attempt(0, 10, "3", archive="a", question=1, correct=True),
        attempt(1, 10, "6", archive="b", question=1, references=["9"])
        | {"checkpoints": asked("3")},
        attempt(2, 10, "6", archive="b", question=1, references=["10"]),
        # Nothing is known: undecided, but for a label of its own.
        attempt(0, 10, "5", archive="b", question=2) | {"checkpoints": asked("5", "6")},
        attempt(0, 10, "5", archive="b", question=3) | {"checkpoints": asked("5", correct=True)},
    ]
    rows += [attempt(0, 10, "1", archive="a", question=number) for number in (2, 3)]
    db = loaded(tmp_path, rows, unlabelled=None)
    sql = "select question_id, seed, tokens, correct from checkpoint_grades order by all"
    assert rows_of(db, sql) == [
        (0, 0, 1, True),
        (0, 0, 2, False),
        (0, 0, 3, False),
        (1, 0, 1, True),
        (1, 0, 2, False),
        (1, 1, 1, False),
        (2, 0, 1, None),
        (2, 0, 2, None),
        (3, 0, 1, True),
    ]


def test_answers_count_as_the_same_under_the_same_references(tmp_path):
    checkpoints = [{"tokens": 3, "answer": "3"}]
    rows = [
        attempt(0, 10, "3", correct=True, references=["9", "10"]),
        attempt(1, 10, "5", references=["10", "9"]) | {"checkpoints": checkpoints},
        attempt(2, 10, "5", references=["9"]) | {"checkpoints": checkpoints},
    ]
    sql = "select seed, correct from checkpoint_grades order by all"
    assert rows_of(loaded(tmp_path, rows), sql) == [(1, True), (2, False)]


def test_numbers_and_what_is_dropped_hold_for_checkpoints_too(tmp_path):
    rows = [attempt(0, 10, "7", correct=True), attempt(0, 10, "8", question=1)]
    del rows[1]["correct"]
    file = lines(
        tmp_path / "c.jsonl",
        [KEY | {"tokens": 3, "answer": "7.0"}, KEY | {"question_id": 1, "tokens": 3}],
    )
    db = loaded(tmp_path, rows, file, numbers=True, unlabelled="drop")
    assert rows_of(db, "select question_id, answer from checkpoints") == [(0, "7")]


def test_describe_counts_checkpoints(tmp_path):
    source = lines(tmp_path / "a.jsonl", [attempt(0, 10, "7") | {"checkpoints": WRITTEN}])
    assert "3 checkpoints" in audit.describe([source])


def test_show_tells_the_checkpoints_of_an_attempt_whose_text_was_not_kept(tmp_path):
    db = loaded(tmp_path, [attempt(0, 10, "7") | {"checkpoints": WRITTEN}], texts=False)
    lines = str(audit.show(db, seed=0)).splitlines()
    assert [line.split() for line in lines] == [
        ["4", "asked", "7"], ["9", "asked", "(no", "answer)"], ["9", "written", "7"],
    ]  # fmt: skip
