"""Named queries and ad hoc SQL: figures to check by eye, and many ways to misbehave."""

import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import audit
from audit import database, engine
from audit.cli import main
from audit.errors import AuditError
from audit.query.run import find_query, read_named_queries
from audit.query.run import query as ask
from tests.support.archives import write_jsonl
from tests.support.databases import replayed
from tests.support.slow import every_other

ROOT = Path(__file__).resolve().parents[2]
NAMES = [known.name for known in read_named_queries()]
SETTINGS = {
    "budgets": (100, 200, 600),
    "caps": (2, 3),
    "primary_cap": 3,
    "orders": 2,
    "replicates": 0,
}


def attempt(archive, question, seed, cost, text, correct, logprob=-0.5, finish="stop", **more):
    """One canonical row; every prompt has 10 tokens."""
    return {
        "archive": archive,
        "competition": "Cup",
        "question_id": question,
        "seed": seed,
        "prompt_tokens": 10,
        "completion_tokens": cost,
        "finish_reason": finish,
        "text": text,
        "archive_answer": more.get("archive_answer", re.sub(r".*\{|\}.*", "", text)),
        "correct": correct,
        "mean_logprob": logprob,
        "references": more.get("references"),
    }


# steady has three problems and slow one; two random orders (PROTOCOL's, asserted below).
#
#   steady 0: one attempt, cost 60, right.
#   steady 1: order 1 is seeds 12, 11, 10: 9 (cost 50), 9 (50), 8 (40); sums 50, 100, 140
#             order 2 is seeds 10, 12, 11: 8 (cost 40), 9 (50), 9 (50); sums 40, 90, 140
#             8 is right and the likeliest, 9 is wrong.
#   steady 2: order 1 is seeds 11, 10, 12: cut at the length limit (150), no box (120), 5 (90);
#             sums 150, 270, 360
#             order 2 is seeds 12, 10, 11: sums 90, 210, 360
#             The 5 of the cut attempt is labelled right, the 5 of seed 12 wrong; 5 is a reference.
#   slow 0:   one attempt, cost 500, right.
#
# What each replay costs, and what the majority answers (+ right, - wrong, . abstains):
#
#                   strict 100  advisory 100  strict 200  advisory 200  strict 600  advisory 600
#   steady 0 1, 2       60 +          60 +        60 +          60 +        60 +          60 +
#   steady 1 1         100 -         100 -       140 -         140 -       140 -         140 -
#   steady 1 2         100 +         140 -       140 -         140 -       140 -         140 -
#   steady 2 1         100 .         150 .       200 .         270 .       360 -         360 -
#   steady 2 2         100 -         210 -       200 -         210 -       360 -         360 -
#   slow 0 1, 2        100 .         500 +       200 .         500 +       500 +         500 +
ROWS = [
    attempt("steady", 0, 10, 60, r"\boxed{7}", True),
    attempt("steady", 1, 10, 40, r"\boxed{8}", True, -0.1),
    attempt("steady", 1, 11, 50, r"\boxed{9}", False, -0.9),
    attempt("steady", 1, 12, 50, r"\boxed{9}", False, -0.9),
    attempt("steady", 2, 10, 120, "I think it is 6", False, archive_answer="6"),
    attempt("steady", 2, 11, 150, r"\boxed{5} but", True, finish="length", references=["5"]),
    attempt("steady", 2, 12, 90, r"\boxed{5}", False),
    attempt("slow", 0, 10, 500, r"\boxed{7}", True),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the replayed database small.duckdb and the file it was loaded from."""
    folder = tmp_path_factory.mktemp("queries")
    with replayed(folder, ROWS, **SETTINGS):
        pass
    return folder


@contextmanager
def reading(folder, place, **options):
    """A reader of a copy of the database; one process opens a file in one way at a time."""
    shutil.copy(folder / "small.duckdb", place)
    con = database.connect(place / "small.duckdb", read_only=True, **options)
    try:
        yield con
    finally:
        con.close()


@pytest.fixture(scope="module")
def con(folder, tmp_path_factory):
    """A reader for all that only ask."""
    with reading(folder, tmp_path_factory.mktemp("con"), sandbox=True) as con:
        yield con


def query(con, name_or_sql, params=None):
    """The rows of a query as an Arrow table."""
    return ask(con, name_or_sql, params).table


def rows(con, name, *columns, **params):
    """The rows of a query as tuples, of these columns only."""
    found = query(con, name, params)
    cells = ([_rounded(value) for value in found[column].to_pylist()] for column in columns)
    return list(zip(*cells, strict=True))


def _rounded(value):
    return round(value, 2) if isinstance(value, float) else value


def run(*arguments, status=0):
    """What the command prints; a mistake is one line."""
    done = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert done.exit_code == status, done.output
    if status:
        assert done.output.startswith("error: ") and done.output.count("\n") == 1, done.output
        return done.output
    return done.stdout


# The named queries.


def test_there_are_queries_enough_and_each_asks_a_question():
    assert len(NAMES) >= 14
    for known in read_named_queries():
        assert known.question.endswith("?") and len(known.question) <= 100, known.name


@pytest.mark.parametrize("name", NAMES)
def test_named_query_is_plain_sql_over_public_relations(name):
    known = find_query(name)
    # A query may end with a line that says why it has no answer.
    assert engine.parse_relations(known.sql) <= {*engine.PUBLIC_RELATIONS, "error()"}
    assert "{" not in known.sql
    code = re.sub(r"--.*|'[^']*'", "", known.sql)
    assert code == code.lower()
    assert re.findall(r"\border by [\w.]+", code), "rows come in no particular order"
    assert set(re.findall(r"\$(\w+)", code)) == set(known.defaults)


@pytest.fixture(scope="module")
def by_threads(folder, tmp_path_factory):
    """A reader with one thread, and one with four."""
    with (
        reading(folder, tmp_path_factory.mktemp("one"), threads=1) as one,
        reading(folder, tmp_path_factory.mktemp("four"), threads=4) as four,
    ):
        yield one, four


@pytest.mark.parametrize("name", NAMES)
def test_named_query_answers_with_its_defaults_whatever_the_threads(by_threads, name):
    found = [query(con, name) for con in by_threads]
    assert found[0].num_rows > 0
    assert found[0] == found[1]


def test_orders_are_the_ones_the_figures_assume(con):
    sql = "select list(slot order by position) from orders where bank_size = 3 and repeat > 0"
    found = query(con, f"{sql} group by question_id, repeat order by question_id, repeat")
    assert found.column(0).to_pylist() == [[2, 1, 0], [0, 2, 1], [1, 0, 2], [2, 0, 1]]


def test_cost_per_correct(con):
    columns = ("archive", "budget", "rule", "accuracy", "cost_per_correct")
    found = rows(con, "cost_per_correct", *columns, "prompt_tokens_per_correct")
    # strict: 60 + 60 + 100 + 100 + 100 + 100 = 520 for 3; 1 + 1 + 2 + 3 + 1 + 2 prompts of 10.
    assert ("steady", 100, "strict", 50.0, 173.33, 33.33) in found
    # advisory: 60 + 60 + 100 + 140 + 150 + 210 = 720 for 2; the same prompts.
    assert ("steady", 100, "advisory", 33.33, 360.0, 50.0) in found
    assert ("slow", 100, "strict", 0.0, None, None) in found
    assert ("slow", 100, "advisory", 100.0, 500.0, 10.0) in found
    assert len(found) == 2 * 3 * 2


def test_at_budget(con):
    columns = ("archive", "rule", "budget", "accuracy", "coverage", "cost")
    assert rows(con, "at_budget", *columns, budget="100") == [
        ("slow", "advisory", 100, 100.0, 100.0, 500.0),
        ("slow", "strict", 100, 0.0, 0.0, 100.0),
        # 60, 60, 100, 140, 150 and 210 tokens; 60, 60 and four times 100.
        ("steady", "advisory", 100, 33.33, 50.0, 120.0),
        ("steady", "strict", 100, 50.0, 50.0, 86.67),
    ]
    # 60, 60, 140, 140, 200 and 200 tokens: no replay was made at 0.2k but at 200.
    assert rows(con, "at_budget", "cost", budget="0.2k")[3] == (133.33,)
    # By 41 one attempt of one replay in six is done, and right: seed 10 of steady 1 in order 2.
    assert rows(con, "at_budget", "accuracy", "cost", budget="41")[3] == (16.67, 41.0)
    smallest = str(min(SETTINGS["budgets"]))
    assert rows(con, "at_budget", *columns) == rows(con, "at_budget", *columns, budget=smallest)


def test_a_mean_of_labels_says_how_to_write_it(con):
    with pytest.raises(AuditError, match=r"write avg\(correct::integer\)"):
        query(con, "select avg(correct) from results")


def test_budget_for(con):
    columns = ("archive", "rule", "budget", "cost", "kept_budget", "kept_cost")
    # The cheapest first.
    assert rows(con, "budget_for", *columns, accuracy="50") == [
        # Each first attempt: 60, 60, 50, 40, 150 and 90 tokens; wrong votes come later.
        ("steady", "strict", 60, 60.0, None, None),
        ("steady", "advisory", 1, 75.0, None, None),
        ("slow", "advisory", 1, 500.0, 1, 500.0),
        ("slow", "strict", 500, 500.0, 500, 500.0),
    ]
    assert rows(con, "budget_for", *columns, accuracy="33.3333")[0] == (
        *("steady", "strict", 60, 60.0, 60, 60.0),
    )
    first = rows(con, "budget_for", "budget", accuracy="100")
    assert first == [(1,), (500,), (None,), (None,)]
    # Without a budget slow is always right, and steady in 33 1/3 percent of its orders.
    columns = ("archive", "rule", "budget", "accuracy")
    for lose, accuracy in (("0", 33.3333), ("20", 13.3333)):
        found = {row[:3] for row in rows(con, "budget_for", *columns, lose=lose)}
        steady = {row[:3] for row in rows(con, "budget_for", *columns, accuracy=str(accuracy))}
        assert {row for row in found if row[0] == "steady"} == {
            row for row in steady if row[0] == "steady"
        }
        assert {row for row in found if row[0] == "slow"} == {
            ("slow", "advisory", 1),
            ("slow", "strict", 500),
        }


def test_advisory_harms(con):
    columns = ("archive", "question_id", "repeat", "budget", "strict_answer", "advisory_answer")
    assert rows(con, "advisory_harms", *columns) == [("steady", 1, 2, 100, "8", "9")]


def test_selectors_disagree(con):
    columns = ("question_id", "replays", "split_replays", "split_and_one_is_right", "answers")
    # Problem 1: two nines outvote the likeliest 8 in both orders. Problem 2, order 1: the archive
    # read a 6 where there is no box, before the 5; in order 2 the 5 comes first.
    assert rows(con, "selectors_disagree", *columns) == [
        (1, 2, 2, 2, "8 | 9"),
        (2, 2, 1, 0, "5 | 6"),
    ]
    # At 100 the strict pools of problem 1 are 9 9 and 8 9: a tie goes to the 8, the likeliest.
    assert rows(con, "selectors_disagree", *columns, budget="100") == []
    assert rows(con, "selectors_disagree", *columns, budget="100", rule="advisory") == [
        (1, 2, 1, 1, "8 | 9"),
    ]


def test_unfinished_prefixes(con):
    columns = ("archive", "question_id", "cut_replays", "prefix_cost", "percent_of_its_cost")
    # Problem 2: 100 + 10 of 200; problem 1: order 2 is cut 10 tokens into its third attempt.
    assert rows(con, "unfinished_prefixes", *columns, "percent_of_all_prefixes") == [
        ("slow", 0, 2, 200, 100.0, 100.0),
        ("steady", 2, 2, 110, 55.0, 91.67),
        ("steady", 1, 1, 10, 5.0, 8.33),
        ("steady", 0, 0, 0, 0.0, 0.0),
    ]
    assert len(rows(con, "unfinished_prefixes", "archive", top="1")) == 2


def test_emptied_pools(con):
    columns = ("archive", "budget", "empty_under_strict", "emptied_by_the_cut", "empty_anyway")
    assert rows(con, "emptied_pools", *columns) == [
        ("slow", 100, 2, 2, 0),
        ("slow", 200, 2, 2, 0),
        ("slow", 600, 0, 0, 0),
        ("steady", 100, 1, 0, 1),
        ("steady", 200, 1, 0, 1),
        ("steady", 600, 0, 0, 0),
    ]


def test_replay_ledger(con):
    chosen = {"archive": "steady", "competition": "Cup", "question_id": "1", "repeat": "2"}
    columns = ("position", "seed", "answer", "cost", "cumulative_cost", "strict_pays")
    assert rows(con, "replay_ledger", *columns, "strict_returns", **chosen, budget="100") == [
        (1, 10, "8", 40, 40, 40, True),
        (2, 12, "9", 50, 90, 50, True),
        (3, 11, "9", 50, 140, 10, False),
    ]
    # Order 1 hits the budget exactly with its second attempt; a third is not launched.
    assert rows(con, "replay_ledger", *columns, **{**chosen, "repeat": "1"}, budget="100") == [
        (1, 12, "9", 50, 50, 50),
        (2, 11, "9", 50, 100, 50),
    ]
    # Nothing given: the first archive, problem and random order at the smallest budget.
    columns = ("archive", "question_id", "repeat", "budget", "strict_pays", "strict_returns")
    assert rows(con, "replay_ledger", *columns) == [("slow", 0, 1, 100, 100, False)]


def test_problem_answers(con):
    columns = ("answer", "attempts", "votes", "labelled_correct", "labelled_wrong", "mean_tokens")
    chosen = {"archive": "steady", "question_id": "1"}
    assert rows(con, "problem_answers", *columns, **chosen) == [
        ("9", 2, 2, 0, 2, 50.0),
        ("8", 1, 1, 1, 0, 40.0),
    ]
    # The cut attempt's 5 has no vote; (150 + 90) / 2 = 120.
    assert rows(con, "problem_answers", *columns, archive="steady", question_id="2") == [
        ("5", 2, 1, 1, 1, 120.0),
        (None, 1, None, 0, 1, 120.0),
    ]


def test_hardest_problems(con):
    columns = ("archive", "question_id", "replays", "attempts_in_bank", "eligible_attempts")
    assert rows(con, "hardest_problems", *columns, "correct_attempts", "median_tokens") == [
        ("steady", 2, 2, 3, 1, 1, 120.0)
    ]


def test_overshoot(con):
    columns = ("archive", "budget", "over_budget", "mean_ratio", "median_ratio", "largest_ratio")
    found = rows(con, "overshoot", *columns)
    # 0.6, 0.6, 1.0, 1.4, 1.5, 2.1: an exact hit is not over; the median is (1.0 + 1.4) / 2.
    assert ("steady", 100, 3, 1.2, 1.2, 2.1) in found
    assert ("slow", 100, 2, 5.0, 5.0, 5.0) in found
    assert ("slow", 600, 0, 0.83, 0.83, 0.83) in found


def test_order_luck(con):
    columns = ("archive", "budget", "rule", "worst_order", "mean_order", "best_order")
    found = rows(con, "order_luck", *columns, "canonical_order")
    # Of three problems order 1 gets one right and order 2 two, the canonical one two: 8 comes
    # before the 9 that the budget leaves.
    assert ("steady", 100, "strict", 33.33, 50.0, 66.67, 66.67) in found
    assert ("steady", 100, "advisory", 33.33, 33.33, 33.33, 33.33) in found


def test_next_budget(con):
    columns = ("archive", "rule", "budget", "next_budget", "accuracy", "next_accuracy")
    found = rows(con, "next_budget", *columns, "points_gained", "cost_per_extra_correct")
    # Two answers gained for 2 x (500 - 200) tokens.
    assert ("slow", "strict", 200, 600, 0.0, 100.0, 100.0, 300.0) in found
    assert ("steady", "strict", 100, 200, 50.0, 33.33, -16.67, None) in found
    assert len(found) == 2 * 2 * 2


def test_attempts_by_budget(con):
    columns = ("archive", "budget", "rule", "launched", "returned", "eligible")
    found = rows(con, "attempts_by_budget", *columns, "percent_with_a_cut", "percent_empty")
    # launched 1 + 1 + 2 + 3 + 1 + 2 = 10; returned 1 + 1 + 2 + 2 + 0 + 1 = 7, all eligible.
    assert ("steady", 100, "strict", 1.67, 1.17, 1.17, 50.0, 16.67) in found
    # The advisory rule returns all ten, of which the cut one and those without a box do not count.
    assert ("steady", 100, "advisory", 1.67, 1.67, 1.33, 0.0, 16.67) in found


def test_label_conflicts(con):
    columns = ("archive", "question_id", "answer", "labelled_correct", "labelled_wrong")
    assert rows(con, "label_conflicts", *columns, "correct_after_repair", "is_settled") == [
        ("steady", 2, "5", 1, 1, 2, True)
    ]


def test_prompt_share(con):
    found = rows(con, "prompt_share", "archive", "budget", "rule", "percent_prompts")
    # 100 of 520 + 100, and of 720 + 100.
    assert ("steady", 100, "strict", 16.13) in found
    assert ("steady", 100, "advisory", 12.2) in found


def test_loaded_sources(con, folder):
    data = (folder / "small.parquet").read_bytes()
    columns = ("archive", "format", "rows", "bytes", "sha256", "simulated")
    digest = hashlib.sha256(data).hexdigest()
    assert rows(con, "loaded_sources", *columns) == [
        ("slow", "parquet", 1, len(data), digest, False),
        ("steady", "parquet", 7, len(data), digest, False),
    ]


def test_finish_reasons(con):
    columns = ("archive", "finish_reason", "attempts", "eligible", "correct", "tokens")
    # 40, 50, 50, 60, 90, 120: 410 tokens, the median between 50 and 60.
    assert rows(con, "finish_reasons", *columns, "median_tokens") == [
        ("slow", "stop", 1, 1, 1, 500, 500.0),
        ("steady", "length", 1, 0, 1, 150, 150.0),
        ("steady", "stop", 6, 5, 2, 410, 55.0),
    ]


def test_missed_answers(con):
    found = rows(con, "missed_answers", "archive", "budget", "rule", "coverage", "missed")
    # The 8 of problem 1 in order 2 is chosen by one rule and outvoted in the other.
    assert ("steady", 100, "strict", 50.0, 0) in found
    assert ("steady", 100, "advisory", 50.0, 1) in found


def test_pool_sizes(con):
    columns = ("archive", "rule", "eligible", "replays", "correct_answers", "accuracy")
    assert rows(con, "pool_sizes", *columns)[2:] == [
        ("steady", "advisory", 1, 4, 2, 50.0),
        ("steady", "advisory", 3, 2, 0, 0.0),
        ("steady", "strict", 1, 4, 2, 50.0),
        ("steady", "strict", 3, 2, 0, 0.0),
    ]


def test_binding_caps(con):
    columns = ("archive", "cap", "budget", "ended_by_cap", "ended_by_bank", "cost")
    found = rows(con, "binding_caps", *columns)
    # Two attempts: 60 + 60 (all there is) + 100 + 90 + 270 + 210 = 790 over six replays.
    assert ("steady", 2, 600, 4, 2, 131.67) in found


def test_first_correct(con):
    columns = ("archive", "orders", "found", "median_attempts", "median_cost", "p90_cost")
    # 40, 60, 60 and 140 tokens; nine tenths of the way: 60 + 0.7 x 80. Problem 2 has none.
    assert rows(con, "first_correct", *columns, "most_cost") == [
        ("slow", 2, 2, 1.0, 500.0, 500.0, 500),
        ("steady", 6, 4, 1.0, 60.0, 116.0, 140),
    ]


def test_unboxed_texts(con):
    columns = ("archive", "question_id", "seed", "archive_answer", "ending")
    found = rows(con, "unboxed_texts", *columns, characters="7")
    assert found == [("steady", 2, 10, "6", "it is 6")]


def test_problems_are_shown_and_chosen_by_their_names(tmp_path):
    named = [{**row, "question_id": f"q{8 + row['question_id']}"} for row in ROWS]
    write_jsonl(named, tmp_path / "a.jsonl")
    audit.load(tmp_path / "a.duckdb", tmp_path / "a.jsonl")
    audit.replay(tmp_path / "a.duckdb", **SETTINGS)
    with database.connect(tmp_path / "a.duckdb", read_only=True) as con:
        for name in NAMES:
            columns = query(con, name).column_names
            assert ("problem" in columns) == ("question_id" in columns), name
        for name in ("replay_ledger", "problem_answers"):
            found = rows(con, name, "archive", "problem", archive="steady", question_id="q10")
            assert set(found) == {("steady", "q10")}


# The command.


def test_listing_shows_each_name_and_its_question_and_needs_no_database(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = run("query").splitlines()
    assert [line.split()[0] for line in lines] == NAMES
    for line, known in zip(lines, read_named_queries(), strict=True):
        defaults = ", ".join(f"{name}={value}" for name, value in known.defaults.items())
        assert line.endswith(f"  {known.question}" + (f"  ({defaults})" if defaults else ""))
    assert "  (budget=)" in run("query")


def test_sql_text_and_sql_file_are_run(folder, tmp_path):
    db = folder / "small.duckdb"
    text = "select count(*) as attempts from attempts"
    assert run("query", text, "--db", db, "--format", "csv") == "attempts\n8\n"
    path = tmp_path / "own question.sql"
    path.write_text(
        f"-- How many?\n-- $least = 100\n{text} where completion_tokens >= $least::int;"
    )
    assert run("query", path, "--db", db, "--format", "csv") == "attempts\n3\n"
    more = ("--param", "least=150", "--format", "csv")
    assert run("query", path, "--db", db, *more) == "attempts\n2\n"


def test_a_column_is_compared_with_a_parameter_as_it_is(folder):
    sql = "select distinct rule from replays where budget = $budget and rule = $rule"
    more = ("--param", "budget=200", "--param", "rule=strict", "--format", "csv")
    assert run("query", sql, "--db", folder / "small.duckdb", *more) == "rule\nstrict\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["pool_sizes", "--param", "buget=50"], "no parameter $buget; its own: $budget"),
        (["overshoot", "--param", "budget=1"], "no parameter $budget; its own: none"),
        (["select $one, $two", "--param", "one=1"], "no value for $two; give --param"),
        (["select $one", "--param", "one"], "'one' is not of the form name=value"),
        (["select ?"], "no value for $1"),
        (["replay_ledger", "--param", "budget=much"], "--param budget: 'much' is not a number"),
        (["budget_for", "--param", "money=x"], "--param money: 'x' is not a number like 0.05"),
        (["budget_for", "--param", "money=1"], "money is not known: replay with --unit money, or"),
        (["no_such_query"], "no query 'no_such_query'; there are advisory_harms,"),
        (
            ["cost-per-correct"],
            "no query 'cost-per-correct'; did you mean 'cost_per_correct'? there are",
        ),
        (["no such.sql"], "no such.sql: cannot be read: No such file or directory"),
        (["select * from nothing"], "Table with name nothing does not exist"),
        (["select 1 +"], "syntax error"),
        (["select '\udcff'"], "not valid UTF-8"),
        (["select $a", "--param", "a=\udcff"], "not valid UTF-8"),
        ([""], "give exactly one statement that reads"),
        (["--", "-- only a comment"], "give exactly one statement that reads"),
        (["select 1; select 2"], "give exactly one statement that reads"),
        (["select 1; drop table meta"], "give exactly one statement that reads"),
        (["select 1", "--timeout", "0"], "--timeout: a number of seconds above 0"),
        (["select 1", "--timeout", "nan"], "--timeout: a number of seconds above 0"),
        (["select 1", "--timeout", "soon"], "'soon' is not a valid float"),
        (["select 1", "--memory", "much"], "--memory"),
        (["select 1", "--format", "xml"], "'xml' is not one of"),
        (["select 1", "--db", "nowhere.duckdb"], "nowhere.duckdb: no such database; make it with"),
    ],
)
def test_a_mistake_is_one_line(folder, arguments, message):
    db = ["--db", folder / "small.duckdb"] if "--db" not in arguments else []
    assert message in run("query", *db, *arguments, status=2)


# Where labels or answers are missing, a query says nothing rather than 0.


# What of a named query rests on labels.
LABELLED = {
    "at_budget": "accuracy coverage",
    "budget_for": "budget cost accuracy kept_budget",
    "bootstrap_by_hand": "delta delta_low delta_high",
    "cost_per_correct": "correct_answers accuracy cost_per_correct",
    "finish_reasons": "correct",
    "first_correct": "found median_attempts most_cost",
    "missed_answers": "coverage accuracy missed percent_missed",
    "next_budget": "accuracy next_accuracy points_gained cost_per_extra_correct",
    "order_luck": "worst_order mean_order best_order canonical_order",
    "pool_sizes": "correct_answers accuracy",
    "problem_answers": "labelled_correct labelled_wrong correct_after_repair",
    "problem_attempts": "correct",
    "replay_ledger": "correct",
    "selectors_disagree": "split_and_one_is_right",
}
# Queries about labels alone have no rows without them.
ABOUT_LABELS = {"advisory_harms", "label_conflicts", "hardest_problems"}


@pytest.mark.parametrize("name", every_other(NAMES))
def test_what_rests_on_labels_is_empty_without_them(unlabelled, name):
    found = query(unlabelled, name)
    ((selectors,),) = unlabelled.execute("select count(distinct selector) from results").fetchall()
    is_alone = name == "selectors_disagree" and selectors == 1
    assert (found.num_rows == 0) == (name in ABOUT_LABELS or is_alone)
    for column in LABELLED.get(name, "").split():
        assert found[column].null_count == found.num_rows, column
    rest = set(found.column_names) - set(LABELLED.get(name, "").split())
    words = {"accuracy", "correct", "coverage", "labelled", "right"}
    rests_on_labels = [column for column in rest if set(column.split("_")) & words]
    known = {"prompt_tokens_per_correct", "money_per_correct", "accuracy_low", "accuracy_high"}
    assert set(rests_on_labels) <= known or name in ABOUT_LABELS


@pytest.fixture(
    scope="module",
    params=[
        "completion",
        pytest.param("money", marks=pytest.mark.slow),
        "steps without answers",
    ],
)
def unlabelled(request, tmp_path_factory):
    """Attempts without labels: in tokens, in money, and in steps without an answer to vote on."""
    unit, _, is_bare = request.param.partition(" ")
    folder = tmp_path_factory.mktemp("unlabelled")
    bare = [stepped({**row, "correct": None, "references": None}, unit) for row in ROWS]
    budgets = [b if unit == "completion" else b / UNITS[unit] for b in SETTINGS["budgets"]]
    settings = {**SETTINGS, "unit": unit, "budgets": budgets, "rules": "all"}
    with replayed(folder, bare, answer="none" if is_bare else "boxed", **settings):
        pass
    con = database.connect(folder / "small.duckdb", read_only=True, sandbox=True)
    yield con
    con.close()


# Every unit, and tasks without an answer.

# How many tokens are one of each unit: steps have ten tokens, a money or a second is a thousand.
UNITS = {"completion": 1, "total": 1, "money": 1000, "seconds": 1000, "steps": 10}


def stepped(row, unit):
    """The row with the steps that its attempt was made of; the first one has the prompt."""
    prompt = 0 if unit == "total" else row["prompt_tokens"]
    steps = [
        {"prompt_tokens": 0, "completion_tokens": 10, "money": 0.01, "seconds": 0.01}
        for _ in range(row["completion_tokens"] // 10)
    ]
    steps[0]["prompt_tokens"] = prompt
    return row | {"prompt_tokens": prompt, "steps": steps}


@pytest.fixture(scope="module")
def by_unit(tmp_path_factory):
    """The same attempts, replayed in a unit once somebody asks for it."""
    with ExitStack() as opened:

        @cache
        def replayed_in(unit):
            folder, scale = tmp_path_factory.mktemp(unit), UNITS[unit]
            write_jsonl([stepped(row, unit) for row in ROWS], folder / "a.jsonl")
            audit.load(folder / "a.duckdb", folder / "a.jsonl")
            budgets = [b if scale == 1 else b / scale for b in SETTINGS["budgets"]]
            settings = {**SETTINGS, "budgets": budgets, "replicates": 20, "unit": unit}
            audit.replay(folder / "a.duckdb", **settings, rules="all")
            con = database.connect(folder / "a.duckdb", read_only=True, sandbox=True)
            return opened.enter_context(closing(con))

        yield replayed_in


@pytest.fixture(scope="module")
def in_tokens(by_unit):
    """What a named query says of completion tokens, asked once."""
    return cache(lambda name: query(by_unit("completion"), name))


@pytest.mark.parametrize("unit", ["money"])
@pytest.mark.parametrize("name", NAMES)
def test_a_named_query_says_the_same_in_every_unit(by_unit, in_tokens, name, unit):
    scale = UNITS[unit]
    expected, found = in_tokens(name), query(by_unit(unit), name)
    assert found.column_names == expected.column_names
    if name == "budget_for":
        # It begins with the cheapest; rules that cost the same within a token may change places.
        keys = [("archive", "ascending"), ("rule", "ascending")]
        found, expected = found.sort_by(keys), expected.sort_by(keys)
    for column in found.column_names:
        if column in ("sha256", "bytes", "file", "mapping", "money", "money_per_correct"):
            continue
        if "prompt" in column and unit != "completion":
            continue
        factor = scale if engine.find_column_meaning("", column).unit == "cost" else 1
        for one, other in zip(found[column].to_pylist(), expected[column].to_pylist(), strict=True):
            if column in ("budget", "kept_budget") and name == "budget_for" and one is not None:
                # A token, a step or a billionth: the smallest budget that there is.
                assert one * factor == pytest.approx(other, abs=10 if unit == "steps" else 1)
            elif isinstance(one, float):
                assert one * factor == pytest.approx(other), column
            else:
                assert one == other or one * factor == other, column


# The sandbox (threat model, c).

# One statement per way out: writes, files, addresses, extensions, settings, this process.
HOSTILE = {
    "insert": "insert into meta values ('a', 'b')",
    "create table": "create table more as select 1",
    "create temporary table": "create temp table more as select 1",
    "create macro": "create temp macro twice(x) as 2 * x",
    "copy to": "copy attempts to '{folder}/new.csv'",
    "copy from": "copy meta from '{folder}/old.csv'",
    "attach a file": "attach '{folder}/new.duckdb' as other",
    "install": "install httpfs",
    "load": "load json",
    "update extensions": "update extensions",
    "set external access": "set enable_external_access = true",
    "unlock": "set lock_configuration = false",
    "pragma that imports": "pragma import_database('{folder}')",
    "checkpoint": "checkpoint;",
    "explain analyze a write": "explain analyze create temp table more as select 1",
    "writing expression": "with mine as (insert into meta values ('a', 'b') returning *) from mine",
    "two at once": "select 1; delete from meta",
    "comment trick": "/* select */ delete from meta -- select",
    "read_csv, put together": "from read_csv('{folder}' || '/old' || '.csv')",
    "read_blob": "from read_blob('{folder}/old.csv')",
    "parquet_metadata": "from parquet_metadata('{folder}/small.parquet')",
    "glob": "from glob('{folder}/*')",
    "file name as table": "from '{folder}/old.csv'",
    "system file": "from read_text('/etc/passwd')",
    "url as table": "from 'http://127.0.0.1:{port}/old.csv'",
    "python variable": "from hostage",
    "environment": "select getenv('PATH')",
    "logging to a file": "from enable_logging(storage = 'file', storage_path = '{folder}/new')",
    "query function that reads": "from query('from read_csv(''{folder}/old.csv'')')",
    "query function of two": "from query('select 1; delete from meta')",
    "serialized statement": "from json_execute_serialized_sql(json_serialize_sql("
    "'from read_csv(''{folder}/old.csv'')'))",
    "standard input": "from read_csv('/dev/stdin')",
    "temporary folder": "set temp_directory = '{folder}/new'",
    "python pointer": "from pandas_scan(4096)",
    "text after NUL": "select 1\x00; delete from meta",
}


@pytest.fixture(scope="module")
def trap(folder, tmp_path_factory):
    """What a hostile statement would like to read, and a port that nobody may knock on.

    All of them are put to one connection, which has to stay as it is.
    """
    place = tmp_path_factory.mktemp("trap")
    (place / "old.csv").write_text("a,b\n1,2\n")
    shutil.copy(folder / "small.parquet", place)
    shutil.copy(folder / "small.duckdb", place / "other.duckdb")
    with (
        socket.create_server(("127.0.0.1", 0)) as server,
        reading(folder, place, sandbox=True) as con,
    ):
        server.setblocking(False)
        yield place, server, con


def snapshot(folder):
    """The files and folders of a folder, and what is in the files."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.mark.parametrize("way", HOSTILE)
def test_hostile_sql_is_refused_as_text_and_as_file_and_changes_nothing(trap, tmp_path, way):
    folder, server, con = trap
    hostage = pa.table({"secret": [1]})
    sql = HOSTILE[way].format(folder=folder, port=server.getsockname()[1])
    path = tmp_path / "hostile.sql"
    path.write_text(f"-- Is this harmless?\n-- It asks for no parameter.\n{sql}\n")
    before = snapshot(folder)
    for given in (sql, str(path)):
        with pytest.raises(AuditError, match=r"^query: "):
            query(con, given)
    # Whatever it was, the next question is still answered, and under the same limits.
    assert query(con, "select count(*) as n from attempts").to_pylist() == [{"n": 8}]
    with pytest.raises(AuditError, match="file system operations are disabled"):
        query(con, f"from '{folder}/old.csv'")
    assert snapshot(folder) == before
    assert hostage.num_rows == 1
    with pytest.raises(BlockingIOError):
        server.accept()


@pytest.mark.parametrize(
    "value",
    ["'; delete from meta; --", "' or 1 = 1 --", "$$; drop table attempts", "{{ 1 }}", "\x00", ""],
)
def test_a_parameter_is_a_value_and_never_sql(trap, value):
    folder, _, con = trap
    before = snapshot(folder)
    assert query(con, "select $it as it", {"it": value}).to_pylist() == [{"it": value}]
    found = query(con, "select seed from attempts where archive = $it", {"it": value})
    assert found.num_rows == 0
    with pytest.raises(AuditError, match=r"^query: (it has no parameter|no value)"):
        query(con, "select $it", {value: "1"})
    assert snapshot(folder) == before


SETTINGS_OF_A_CONNECTION = "from duckdb_settings() order by name"


def test_a_connection_that_is_handed_over_is_used_as_it_is_and_stays_so(folder, tmp_path):
    (tmp_path / "copy.duckdb").write_bytes((folder / "small.duckdb").read_bytes())
    for options in ({}, {"read_only": True}):
        con = database.connect(tmp_path / "copy.duckdb", **options)
        before = con.execute(SETTINGS_OF_A_CONNECTION).fetchall()
        counted = audit.query(con, "select count(*) as n from attempts")
        assert counted.to_pylist() == [{"n": 8}]
        assert con.execute(SETTINGS_OF_A_CONNECTION).fetchall() == before
        con.execute("set threads = 1")
        con.close()
    with database.connect(tmp_path / "copy.duckdb") as con:
        con.execute("create table mine as select 1 as one")
        assert audit.query(con, "from mine").to_pylist() == [{"one": 1}]


@pytest.mark.parametrize(
    "sql",
    [
        "delete from meta",
        "create temp table x as select 1",
        "with gone as (delete from meta returning *) select * from gone",
        "set threads = 1",
        "explain analyze delete from meta",
        "create table x as pivot attempts on archive using count(*)",
        "select 1; delete from meta",
        "copy meta to 'x.csv'",
    ],
)
def test_a_connection_that_could_write_is_never_used_for_it(folder, tmp_path, monkeypatch, sql):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "copy.duckdb").write_bytes((folder / "small.duckdb").read_bytes())
    with database.connect(tmp_path / "copy.duckdb") as con:
        meta = con.execute("from meta order by key").fetchall()
        with pytest.raises(AuditError, match=r"^query: "):
            audit.query(con, sql)
        assert con.execute("from meta order by key").fetchall() == meta
        assert "x" not in database.relations(con)
    assert not (tmp_path / "x.csv").exists()


# What reads and is no select.


def test_a_mistake_keeps_the_engines_candidates_and_place(folder):
    db = ("--db", folder / "small.duckdb")
    line = run("query", "select\n  anser\nfrom attempts", *db, status=2)
    assert 'Candidate bindings: "answer"' in line and "(line 2, at 'anser')" in line
    line = run("query", "from atempts", *db, status=2)
    assert 'Did you mean "attempts"' in line and "(line 1, at 'atempts')" in line
    try:
        audit.query(folder / "small.duckdb", "select anser from attempts")
    except AuditError as error:
        assert "^^^^^" in error.__notes__[0]


def test_standard_input_is_a_query_and_show_prints_the_sql(folder):
    db = str(folder / "small.duckdb")
    done = CliRunner().invoke(
        main, ["query", "-", "--db", db, "--format", "csv"], input="select 7 as seven"
    )
    assert done.output == "seven\n7\n"  # No line about records that it does not read.
    done = CliRunner().invoke(main, ["query", "-", "--db", db], input=" ")
    assert done.exit_code == 2 and "holds no SQL" in done.output
    shown = run("query", "overshoot", "--show")
    assert shown == (engine.find_folder("queries") / "overshoot.sql").read_text()


def test_a_limit_cuts_the_rows_and_says_so_on_standard_error(folder):
    arguments = ["query", "from range(5)", "--db", str(folder / "small.duckdb"), "--format", "csv"]
    done = CliRunner().invoke(main, [*arguments, "--limit", "2"])
    assert done.stdout == "range\n0\n1\n"
    assert done.stderr == "… 2 of 5 rows; --limit 0 shows all\n"
    assert CliRunner().invoke(main, arguments).stdout.count("\n") == 6
    limited = audit.query(folder / "small.duckdb", "from range(5)", limit=2)
    assert len(limited) == 2 and limited.caption == "… 2 of 5 rows"


# Runaways, in processes of their own: one that is not stopped would take the tests with it.

NEVER_ENDS = {
    "a join of everything": "select count(*) from range(10000000000) as a, range(10000000000) as b",
    "a recursion": "with recursive t as (select 1 as i union all from t) select max(i) from t",
}
FILLS_MEMORY = {
    "a list": "select list(range) from range(10000000000)",
    "a sort": "select * from range(100000000) order by hash(range)",
}


def stopped(folder, sql, *arguments):
    """The one line that a runaway ends with; nothing is left beside the database."""
    before = snapshot(folder)
    done = subprocess.run(
        [sys.executable, "-m", "audit", "query", sql, "--db", "small.duckdb", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 2 and done.stdout == "", done.stderr
    assert done.stderr.count("\n") == 1
    assert snapshot(folder) == before
    return done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("kind", NEVER_ENDS)
def test_timeout_stops_a_runaway(folder, kind):
    line = stopped(folder, NEVER_ENDS[kind], "--timeout", "0.5")
    assert line == "error: query: stopped after 0.5 s; raise --timeout\n"


@pytest.mark.slow
@pytest.mark.parametrize("kind", FILLS_MEMORY)
def test_memory_stops_a_runaway(folder, kind):
    line = stopped(folder, FILLS_MEMORY[kind], "--memory", "50MB")
    assert line == "error: query: it needs more than 47.6 MiB of memory; raise --memory\n"
