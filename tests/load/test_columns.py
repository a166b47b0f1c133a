"""What an attempt costs, its steps and its scores: from every container into the tables."""

import json
import math
from pathlib import Path

import duckdb
import pytest

from audit.database.schema import NUMBERED
from audit.load.load import load
from audit.sources.canonical import COLUMNS, STEP_COLUMNS
from tests.support.logs import refusal, write

ROOT = Path(__file__).resolve().parents[2]
KEY = "archive, competition, question_id, seed"


def attempt(seed, **more):
    """One record without a cost of its own unless `more` has one."""
    return {
        "archive": "m",
        "competition": "C",
        "question_id": 0,
        "seed": seed,
        "finish_reason": "stop",
        "text": r"\boxed{1}",
        "correct": seed % 2 == 0,
    } | more


def step(prompt=None, cached=None, completion=None, money=None, seconds=None):
    return {
        "prompt_tokens": prompt,
        "cached_tokens": cached,
        "completion_tokens": completion,
        "money": money,
        "seconds": seconds,
    }


# By hand: seed 0 has its own counts, 1 and 2 the sums of their steps, 3 both.
RECORDS = [
    attempt(0, completion_tokens=50, prompt_tokens=9, cached_tokens=4, money=0.5, seconds=2.5,
            score_prm=0.25, score_judge_2=-3.0),
    attempt(1, steps=[step(10, 3, 7, 0.25, 1.5), step(20, None, 0, 0.5, 2.0)], score_prm=0.75),
    attempt(2, steps=[step(5, 0, 8, 0.1, None), step(None, None, 2, None, 4.0)]),
    attempt(3, steps=[step(1, 1, 4, 0.0, 0.0)], prompt_tokens=1, completion_tokens=4,
            seconds=9.0, score_prm=math.nan, score_judge_2=math.inf),
]  # fmt: skip
ATTEMPTS = [
    (0, 9, 50, 4, 0.5, 2.5),
    (1, 30, 7, 3, 0.75, 3.5),
    (2, 5, 10, 0, None, None),
    (3, 1, 4, 1, 0.0, 9.0),
]
STEP_ROWS = [
    (1, 1, 10, 3, 7, 0.25, 1.5),
    (1, 2, 20, None, 0, 0.5, 2.0),
    (2, 1, 5, 0, 8, 0.1, None),
    (2, 2, None, None, 2, None, 4.0),
    (3, 1, 1, 1, 4, 0.0, 0.0),
]
SCORE_ROWS = [(0, "judge_2", -3.0), (0, "prm", 0.25), (1, "prm", 0.75)]


def loaded(source, **options):
    con = duckdb.connect()
    load(con, [source], **options)
    return con


def table(con, columns, relation):
    return con.execute(f"select {columns} from {relation} order by all").fetchall()


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl", "a.jsonl.gz", "a.csv", "a.json"])
def test_costs_steps_and_scores_arrive_from_every_container(tmp_path, name):
    if name == "a.json":
        path = tmp_path / name
        path.write_text(json.dumps(RECORDS))
        source = str(path)
    else:
        source = write(tmp_path / name, RECORDS)
    with loaded(source) as con:
        costs = "seed, prompt_tokens, completion_tokens, cached_tokens, money, seconds"
        assert table(con, costs, "attempts") == ATTEMPTS
        fields = ", ".join(STEP_COLUMNS)
        assert table(con, f"seed, step, {fields}", "steps") == STEP_ROWS
        assert table(con, "seed, score, value", "recorded_scores") == SCORE_ROWS
        assert table(con, "seed, score, value", "scores") == SCORE_ROWS


def test_the_mean_log_probability_is_the_score_logprob(tmp_path):
    rows = [attempt(s, completion_tokens=5, mean_logprob=v) for s, v in enumerate((-0.5, math.nan))]
    with loaded(write(tmp_path / "a.jsonl", rows)) as con:
        assert table(con, "seed, score, value", "scores") == [(0, "logprob", -0.5)]
        assert table(con, "seed", "recorded_scores") == []


def refused(tmp_path, rows, name="a.jsonl", **options):
    """The one line of a refusal, which leaves nothing behind."""
    with duckdb.connect() as con:
        return refusal(con, write(tmp_path / name, rows), **options)


WRONG = {
    "a sum of completions": (
        {"completion_tokens": 6, "steps": [step(1, 0, 5)]},
        "column completion_tokens: is 6, but its steps add up to 5",
    ),
    "a sum of prompts": (
        {"prompt_tokens": 2, "steps": [step(1, 0, 5), step(2, 0, 5)]},
        "column prompt_tokens: is 2, but its steps add up to 3",
    ),
    "no cost": ({"steps": []}, "column completion_tokens: must be a whole number above 0, found"),
    "a cost of 0": ({"completion_tokens": 0}, "column completion_tokens: must be a whole number"),
    "money below 0": (
        {"completion_tokens": 5, "money": -0.1},
        "column money: must be a number of 0 or more, found -0.1",
    ),
    "money that is not finite": (
        {"completion_tokens": 5, "money": math.inf},
        "column money: must be a number of 0 or more, found inf",
    ),
    "seconds that are not a number": (
        {"completion_tokens": 5, "seconds": math.nan},
        "column seconds: must be a number of 0 or more, found nan",
    ),
    "more money than can be counted": (
        {"completion_tokens": 5, "money": 1e6 + 1},
        "column money: must be at most 1,000,000",
    ),
    "cached above prompt": (
        {"completion_tokens": 5, "prompt_tokens": 3, "cached_tokens": 4},
        "column cached_tokens: must be at most prompt_tokens (3), found 4",
    ),
    "cached without a prompt": (
        {"completion_tokens": 5, "cached_tokens": 1},
        "column cached_tokens: must be at most prompt_tokens (0), found 1",
    ),
    "cached above a step's prompt": (
        {"steps": [step(9, 0, 5), step(3, 4, 5)]},
        "column steps: step 2: cached_tokens must be at most its prompt_tokens (3), found 4",
    ),
    "a step with money below 0": (
        {"steps": [step(9, 0, 5, -1.0)]},
        "column steps: step 1: money must be a number of 0 or more, found -1.0",
    ),
    "a step with a negative count": (
        {"steps": [step(9, 0, -5)]},
        "column steps: step 1: completion_tokens must be a whole number of 0 or more, found -5",
    ),
    "a step of no known name": (
        {"steps": [step(9, 0, 5), {"tokens": 5}]},
        "column steps: step 2 must have any of prompt_tokens, cached_tokens",
    ),
    "a score that is a word": (
        {"completion_tokens": 5, "score_prm": "good"},
        "column score_prm: must be a number or null, found 'good'",
    ),
    "a score that is true": (
        {"completion_tokens": 5, "score_prm": True},
        "column score_prm: must be a number or null, found true",
    ),
    "a list of scores": (
        {"completion_tokens": 5, "score_prm": [0.5, 0.25]},
        "--map 'score_NAME=PATH[last]'",
    ),
    "the score logprob": (
        {"completion_tokens": 5, "score_logprob": -1.0},
        "pass --map mean_logprob=score_logprob",
    ),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_a_wrong_value_is_refused_with_its_row_and_column(tmp_path, case, name):
    if case == "a step of no known name" and name == "a.parquet":
        pytest.skip("a column of Parquet has every name in every step")
    wrong, words = WRONG[case]
    good = {"completion_tokens": 5, "steps": [step(1, 0, 5, 0.5, 0.5)]}
    rows = [attempt(0, **good), attempt(1, **wrong)]
    line = refused(tmp_path, rows, name)
    assert words in line and name in line
    if "logprob" not in case:
        assert "row 2, column" in line


def test_a_score_in_any_record_counts_and_log_probabilities_have_one_name(tmp_path):
    rows = [attempt(seed, completion_tokens=5) for seed in range(600)]
    rows[500]["score_late"] = 0.5
    with loaded(write(tmp_path / "a.jsonl", rows)) as con:
        assert table(con, "seed, score, value", "scores") == [(500, "late", 0.5)]
    rows[500]["score_logprob"] = -0.5
    assert "row 1, column score_logprob: no score has this name" in refused(tmp_path, rows)
    del rows[500]["score_logprob"]
    rows[0]["score_logprob"] = -0.5
    options = {"mapping": {"mean_logprob": "score_logprob"}}
    with loaded(write(tmp_path / "b.jsonl", rows), **options) as con:
        assert (0, "logprob", -0.5) in table(con, "seed, score, value", "scores")


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl", "a.csv"])
def test_a_score_in_words_is_left_out_of_every_container(tmp_path, name):
    rows = [attempt(seed, completion_tokens=5, score_match="CI"[seed]) for seed in range(2)]
    with loaded(write(tmp_path / name, rows)) as con:
        assert table(con, "seed, completion_tokens", "attempts") == [(0, 5), (1, 5)]
        assert table(con, "score", "scores") == []


def test_a_column_that_almost_names_a_score_is_refused(tmp_path):
    rows = [attempt(0, completion_tokens=5, score_PRM=0.5)]
    source = write(tmp_path / "a.jsonl", rows)
    line = refused(tmp_path, rows)
    assert "column 'score_PRM': a score's name is lower-case letters, digits and _" in line
    assert "pass --map score_NAME=score_PRM" in line
    with loaded(source, mapping={"score_prm": "score_PRM"}) as con:
        assert table(con, "score, value", "scores") == [("prm", 0.5)]


OF_LIST = {"last": 0.25, "min": 0.25, "mean": 0.5, "prod": 0.5 * 0.75 * 0.25}


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
@pytest.mark.parametrize("take", OF_LIST)
def test_a_list_of_step_scores_becomes_one_number(tmp_path, take, name):
    lists = [[0.5, 0.75, 0.25], [], None, [0.5, None]]
    rows = [attempt(s, completion_tokens=5, prm={"all": v}) for s, v in enumerate(lists)]
    mapping = {"score_prm": f"prm.all[{take}]"}
    with loaded(write(tmp_path / name, rows), mapping=mapping) as con:
        assert table(con, "seed, score, value", "scores") == [(0, "prm", OF_LIST[take])]


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ({"score_PRM": "x"}, "a score's name is lower-case letters, digits and _"),
        ({"score_a-b": "x"}, "a score's name is lower-case letters, digits and _"),
        ({"score_": "x"}, "a score's name is lower-case letters, digits and _"),
        ({"score_logprob": "x"}, "pass --map mean_logprob=x"),
        ({"score_prm": "x[median]"}, "there are [last], [min], [mean], [prod]"),
        ({"score_prm": "y[last]"}, "no column 'y'"),
        ({"completion_tokens": "a+z"}, "no column 'z'"),
    ],
)
def test_a_mapping_that_means_nothing_is_refused(tmp_path, mapping, words):
    rows = [attempt(0, completion_tokens=5, x=[0.5], a=3)]
    assert words in refused(tmp_path, rows, mapping=mapping)


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet", "a.csv"])
def test_two_columns_are_added(tmp_path, name):
    rows = [
        attempt(0, said=5, thought=7),
        attempt(1, said=6, thought=None),
        attempt(2, said=None, thought=9),
    ]
    with loaded(write(tmp_path / name, rows), mapping={"completion_tokens": "said+thought"}) as con:
        assert table(con, "seed, completion_tokens", "attempts") == [(0, 12), (1, 6), (2, 9)]
        ((origin,),) = con.execute("select mapping ->> 'completion_tokens' from sources").fetchall()
        assert origin == "said+thought"


@pytest.mark.parametrize("parts", [(500, -499), (-500, 5500), (500.5, 0.5), (5, float("inf"))])
def test_a_part_of_a_sum_is_a_count_too(tmp_path, parts):
    rows = [attempt(0, said=5, thought=7), attempt(1, said=parts[0], thought=parts[1])]
    mapping = {"completion_tokens": "said+thought"}
    assert "row 2, column completion_tokens" in refused(tmp_path, rows, mapping=mapping)


def test_what_else_is_called_steps_is_left_alone(tmp_path):
    rows = [attempt(s, completion_tokens=5, steps=["First,", "then"]) for s in range(300)]
    for name in ("a.jsonl", "a.parquet"):
        with loaded(write(tmp_path / name, rows)) as con:
            assert table(con, "step", "steps") == []
            assert con.execute("select count(*) from attempts").fetchall() == [(300,)]


def test_steps_without_any_completion_token_make_an_attempt(tmp_path):
    rows = [attempt(0, steps=[step(money=0.5)]), attempt(1, completion_tokens=3)]
    with loaded(write(tmp_path / "a.jsonl", rows)) as con:
        costs = table(con, "seed, completion_tokens, money", "attempts")
        assert costs == [(0, 0, 0.5), (1, 3, None)]


def test_an_archive_is_replaced_with_its_steps_and_scores(tmp_path):
    rows = [attempt(0, steps=[step(1, 0, 5)], score_prm=0.5)]
    source = write(tmp_path / "a.jsonl", rows)
    with loaded(source) as con:
        rows[0] |= {"steps": [step(1, 0, 4), step(1, 0, 4)], "score_prm": 0.25}
        write(tmp_path / "a.jsonl", rows)
        load(con, [source], replace=True)
        assert table(con, "step, completion_tokens", "steps") == [(1, 4), (2, 4)]
        assert table(con, "value", "scores") == [(0.25,)]


def test_a_problem_with_a_name_gets_its_new_number_in_every_table(tmp_path):
    known = {"archive_answer": "1", "references": ["1"], "steps": [step(1, 0, 5)], "score_prm": 0.5}
    known["checkpoints"] = [{"tokens": 1, "correct": True}]
    for name, archive in (("m", "one"), ("c", "two")):
        rows = [attempt(0, archive=archive, question_id=name, **known)]
        write(tmp_path / f"{archive}.jsonl", rows)
    with duckdb.connect() as con:
        load(con, [str(tmp_path / "one.jsonl")])
        for relation in ("token_counts", "prefix_cuts"):
            con.execute(f"insert into {relation} by name select {KEY} from attempts")
        left_out = "select distinct archive, competition, question_id from attempts"
        con.execute(f"insert into unreplayed_problems {left_out}")
        load(con, [str(tmp_path / "two.jsonl")])
        # A load forgets what the filters of a replay left out.
        assert table(con, "*", "unreplayed_problems") == []
        for relation in {*NUMBERED} - {"unreplayed_problems"}:
            numbers = dict(table(con, "archive, question_id", relation))
            assert numbers.pop("one") == 1 and numbers in ({}, {"two": 0}), relation


def test_the_documentation_lists_every_column():
    text = (ROOT / "audit" / "sources" / "README.md").read_text()
    lines = text.partition("## The canonical columns")[2].partition("\n## ")[0].splitlines()
    named = [line.split("|")[1].strip() for line in lines if line.startswith("| ")]
    assert ", ".join(named).replace("`", "").split(", ") == ["column", *COLUMNS, "score_NAME"]
    assert all(column.comment for column in COLUMNS.values())
