"""A plan takes what `load` and `replay` take, and its run has the bytes of one machine."""

import json
import random
from itertools import product

import pytest

import audit
from audit.errors import AuditError
from tests.support.archives import attempt, random_archive, write_jsonl, write_parquet
from tests.support.command import ROOT, parameters
from tests.support.command import read_streams as command
from tests.support.databases import SMALL
from tests.support.runs import (
    differing,
    done,
    exported,
    gathered,
    made,
    one_machine,
    planned,
)

README = ROOT / "audit" / "scale" / "README.md"
# What `plan` calls otherwise, because `load` has the name.
RENAMED = {"--archive": "--only-archive", "--competition": "--only-competition"}


def options(name):
    """The options of a command."""
    return {option for param in parameters(name) for option in param.opts} - {"sources"}


def same(tmp_path, sources, reading=None, parts=2, **settings):
    """Both ways, which have the same bytes and say the same; the files of one machine."""
    expected = one_machine(tmp_path / "one", sources, reading, **settings)
    folder = made(planned(tmp_path / "run", sources, parts, reading, **settings))
    assert differing(gathered(folder, tmp_path / "gathered"), expected) == []
    return expected


def refused(function, *arguments, **options):
    """The line with which something is refused."""
    with pytest.raises(AuditError) as error:
        function(*arguments, **options)
    return str(error.value)


def test_every_option_of_load_and_replay_is_one_of_plan_or_is_explained():
    explained = README.read_text(encoding="utf-8").partition("## What `plan` leaves out")[2]
    explained = explained.partition("\n## ")[0]
    for name in ("load", "replay"):
        for option in options(name):
            is_taken = {option, RENAMED.get(option)} & options("plan")
            assert is_taken or f"`{option}`" in explained, (name, option)
    assert set(RENAMED.values()) <= options("plan")


def runs_of_one_task(folder, problem):
    """Files that repeat the attempts of two archives, some with numbers of their own."""
    rng, sources = random.Random(4), []
    for number, seeds in enumerate(((0, 1, 2, 3), (2, 3, 9, 0, 1), (5, 1, 2, 9))):
        rows = [
            attempt(seed, rng.randint(4, 12), str(rng.randint(0, 2)), correct=rng.random() < 0.5)
            | {"archive": archive, "question_id": name, "competition": competition}
            for competition, names in (("C", ("beta", "alpha")), ("D", ("7", "11")))
            for name in names
            for archive in ("a", "b")[: 2 if number else 1]
            for seed in seeds
            if (archive, name) != ("b", "alpha")
        ]
        rng.shuffle(rows)
        rows = [{problem if k == "question_id" else k: v for k, v in row.items()} for row in rows]
        if problem == "question_id":
            rows = bundled(rows)
        sources.append(folder / f"{number}.jsonl")
        write_jsonl(rows, sources[-1])
    return sources


def bundled(rows):
    """Rows that hold the attempts of a problem, in the order in which they come."""
    found = {}
    for row in rows:
        key = {name: row.pop(name) for name in ("archive", "competition", "question_id")}
        found.setdefault(tuple(key.values()), key | {"outputs": []})["outputs"].append(row)
    return list(found.values())


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["separate", "append"])
def test_runs_of_one_task_and_names_of_problems_are_those_of_a_load(tmp_path, kind):
    # One of the two names its problems in another column, and has a part more than problems; the
    # other has rows that hold several attempts, which are appended in the order of reading.
    problem = "problem" if kind == "separate" else "question_id"
    more = {"explode": "outputs"} if kind == "append" else {"mapping": {"question_id": problem}}
    reading = {"runs": kind, **more}
    parts = 5 if kind == "separate" else 2
    found = same(tmp_path, runs_of_one_task(tmp_path, problem), reading, parts)
    assert found["problem_names.csv"].splitlines()[1:] == [b"C,0,alpha", b"C,1,beta"]
    if kind == "separate":
        assert b"a run 3" in found["attempts.csv"] and b"b run 2" in found["attempts.csv"]
    else:
        # The 4 + 5 + 4 attempts of one problem have 13 numbers, the last of them 17: 9 is the
        # largest of the second file, and in the third 5 is free and 1, 2 and 9 are not.
        lines = [line.split(b",") for line in found["attempts.csv"].splitlines()]
        seeds = [int(line[3]) for line in lines if line[:3] == [b"a", b"C", b"0"]]
        assert len(seeds) == len(set(seeds)) == 13 and {0, 3, 5, 9} <= set(seeds)


def test_an_attempt_that_a_file_itself_repeats_is_refused_with_runs_too(tmp_path):
    sources = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    write_parquet([attempt(1, 5, "1"), attempt(2, 5, "1")], sources[0])
    write_parquet([attempt(3, 5, "1"), attempt(1, 5, "2"), attempt(3, 5, "1")], sources[1])
    for kind in ("append", "separate"):
        reading = {"runs": kind}
        expected = refused(one_machine, tmp_path / f"one-{kind}", sources, reading)
        assert "b.parquet: row 3" in expected and "b.parquet: row 1" in expected
        folder = planned(tmp_path / kind, sources, 2, reading)
        assert refused(made, folder) == expected


def spoiled(folder):
    """Files of which most cannot be read: empty, cut off, or links to nothing."""
    folder.mkdir()
    write_parquet(random_archive(random.Random(10)), folder / "0.parquet")
    (folder / "1.parquet").write_bytes((folder / "0.parquet").read_bytes()[:-100])
    (folder / "2.jsonl").write_text("")
    rows = [attempt(seed, 5, "1", archive="cut") for seed in range(3)]
    # A value that means nothing comes before the line that cannot be read.
    write_jsonl([rows[0] | {"completion_tokens": -5}, *rows], folder / "3.jsonl")
    (folder / "3.jsonl").write_text((folder / "3.jsonl").read_text()[:-40])
    (folder / "4.jsonl").symlink_to("gone")


def test_a_run_of_which_nothing_can_be_read_is_refused_as_a_load_is(tmp_path):
    spoiled(tmp_path / "traces")
    reading = {"skip_unreadable": True}
    sources = [tmp_path / "traces" / "[123]*"]
    expected = refused(one_machine, tmp_path / "one", sources, reading)
    assert expected.startswith("no file can be read: 1.parquet")
    folder = planned(tmp_path / "run", sources, 2, reading)
    assert refused(done, folder, workers=1) == expected
    sources = [tmp_path / "traces" / "[234]*"]
    expected = refused(one_machine, tmp_path / "first", sources, reading)
    assert "4.jsonl" in expected
    assert refused(made, planned(tmp_path / "later", sources, 2, reading)) == expected
    sources = [tmp_path / "traces" / "4*"]
    expected = refused(one_machine, tmp_path / "none", sources, reading)
    assert refused(planned, tmp_path / "nothing", sources, 2, reading) == expected


@pytest.fixture
def archives(tmp_path):
    rows = [
        attempt(seed, 4 + seed, str(seed % 3), correct=seed % 3 == question % 3, archive=archive)
        | {"question_id": question, "competition": competition}
        for archive in ("x_high", "x_low", "y_high")
        for competition in ("C", "D")
        for question in range(3)
        for seed in range(6)
    ]
    sources = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for number, path in enumerate(sources):
        write_parquet(rows[number::2], path)
    return sources


@pytest.mark.slow
def test_the_filters_of_a_replay_are_those_of_a_plan(tmp_path, archives):
    (tmp_path / "only.csv").write_text("competition,question_id\nD,2\nC,1\nD,2\n")
    only = {"archive": "*_high", "competition": ["D", "C"], "problems": tmp_path / "only.csv"}
    audit.load(tmp_path / "one.duckdb", archives, texts=False)
    replayed = audit.replay(tmp_path / "one.duckdb", **SMALL, **only)
    planned = {f"only_{name}": value for name, value in only.items() if name != "problems"}
    audit.plan(archives, tmp_path / "run", 2, problems=only["problems"], **planned, **SMALL)
    made(tmp_path / "run")
    gathered = audit.gather(tmp_path / "run", tmp_path / "g.duckdb")
    assert gathered.to_pylist() == replayed.to_pylist()
    assert {"key": "archives", "value": '["x_high", "y_high"]'} in gathered.to_pylist()
    # Both competitions are all of them, which is no filter.
    assert {"key": "competitions", "value": "[]"} in gathered.to_pylist()
    assert set(replayed.notes) <= set(gathered.notes)
    one = exported(tmp_path / "one.duckdb", tmp_path / "one")
    assert differing(exported(tmp_path / "g.duckdb", tmp_path / "g"), one) == []


@pytest.mark.parametrize(
    ("answer", "finish", "said"),
    [
        (None, "stop", "none of its 8 finished attempts has an answer: --answer archive gives 4"),
        ("1", "eos", "none of its 8 attempts counts as finished: finish_reason is 'eos' (6), 'x'"),
    ],
)
def test_an_archive_in_which_nothing_can_be_picked_is_refused_before_any_part(
    tmp_path, answer, finish, said
):
    sources = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for number, path in enumerate(sources):
        rows = [attempt(seed, 5, "1", archive="good", question=number) for seed in range(3)]
        rows += [
            attempt(seed, 5, answer, archive="unfit", question=number)
            | {"archive_answer": "1" if seed < 2 else None}
            | {"finish_reason": "x" if seed == 3 and finish != "stop" else finish}
            for seed in range(4)
        ]
        write_parquet(rows, path)
    expected = refused(audit.load, tmp_path / "one.duckdb", sources, texts=False)
    assert expected.startswith("archive 'unfit': ") and said in expected
    audit.plan(sources, tmp_path / "run", 2, **SMALL)
    assert refused(made, tmp_path / "run") == expected
    assert not (tmp_path / "run" / "parts").exists()
    assert refused(audit.part, tmp_path / "run", 0) == expected


@pytest.mark.slow
def test_workers_in_another_folder_find_what_stands_beside_the_sources(tmp_path, monkeypatch):
    rows = [
        attempt(seed, 5 + seed, str(seed % 2), question=question)
        for question in range(3)
        for seed in range(3)
    ]
    for row in rows:
        del row["correct"]
    write_jsonl(rows, tmp_path / "rows.jsonl")
    (tmp_path / "labels.json").write_text(json.dumps(["1", "2"]))
    monkeypatch.chdir(tmp_path)
    reading = {"labels": "labels.json"}
    expected = one_machine(tmp_path / "one", ["rows.jsonl"], reading)
    folder = planned(tmp_path / "run", ["rows.jsonl"], 2, reading)
    monkeypatch.chdir(tmp_path / "one")
    assert differing(gathered(made(folder), tmp_path / "gathered"), expected) == []


def test_orders_are_a_number_and_budgets_are_not_added(tmp_path, archives):
    plan = ("plan", *archives, "--out", "run", "--parts", 2)
    _, message = command(tmp_path, *plan, "--orders", "auto", status=2)
    assert message.startswith("error: --orders auto asks for all records") and "replay" in message
    _, message = command(tmp_path, *plan, "--add-budgets", "6k", status=2)
    assert "--add-budgets" in message
    _, message = command(tmp_path, *plan, "--terminals", "forced", status=2)
    assert message.startswith("error: --terminals asks for all records")
    _, message = command(tmp_path, *plan, "--sql", "from source", status=2)
    assert message.startswith("error: --sql asks for all records") and "one machine" in message
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_the_commands_are_functions(tmp_path, archives):
    planned = audit.plan(archives, tmp_path / "run", 2, finished="eos,end", **SMALL)
    assert planned.to_pydict()["extract"] == [0, 0]
    assert "1 extract(s), 2 part(s)" in planned.caption
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["reading"]["finished"] == ["eos", "end"]
    assert "no extract 1" in refused(audit.extract, tmp_path / "run", 1)
    assert audit.extract(tmp_path / "run").to_pydict() == {"number": [0], "attempts": [108]}
    first = audit.part(tmp_path / "run", 0)
    assert first.to_pydict() == {"part": [0], "banks": [9]}
    assert audit.part(tmp_path / "run", 0).caption == "part 0: nothing to do"
    done = audit.run(tmp_path / "run", workers=1)
    assert done.to_pydict() == {"task": ["extract", "part"], "done": [0, 1]}
    gathered = audit.gather(tmp_path / "run", tmp_path / "g.duckdb")
    assert gathered.caption.endswith(f"18 banks in {tmp_path / 'g.duckdb'}")
    before = audit.table(tmp_path / "g.duckdb", "main").num_rows
    audit.replay(tmp_path / "g.duckdb", add_budgets=[15])
    assert audit.table(tmp_path / "g.duckdb", "main").num_rows > before > 0
    assert "must be local, spark or ray" in refused(audit.run, tmp_path / "run", on="dask")
    assert "--workers" in refused(audit.run, tmp_path / "run", workers=0)


def stepped(folder):
    """Two files of attempts with money, seconds, steps and scores, some of them missing."""
    rng, sources = random.Random(8), []
    for number in range(2):
        rows = []
        for archive, question, seed in product("ab", range(3), range(number, 8, 2)):
            steps = [
                {
                    "prompt_tokens": rng.randint(1, 9),
                    "cached_tokens": 1,
                    "completion_tokens": rng.randint(1, 6),
                    "money": rng.randint(0, 90) / 1000,
                    "seconds": rng.randint(0, 900) / 100,
                }
                for _ in range(rng.randint(1, 4))
            ]
            row = attempt(seed, 1, str(seed % 3), correct=seed % 3 == 0, archive=archive)
            row |= {"question_id": question, "steps": steps, "score_prm": rng.random()}
            row |= {"prompt_tokens": None, "completion_tokens": None}
            row |= {"score_length": None if rng.random() < 0.2 else rng.gauss(0, 1)}
            row |= {"checkpoints": [{"tokens": 1, "answer": str(seed % 2)}]}
            rows.append(row)
        sources.append(folder / f"{number}.jsonl")
        write_jsonl(rows, sources[-1])
    return sources


PRICES = (("a", 1_250_000, 125_000, 10_000_000), ("b", 50_000, 50_000, 400_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked",
    [
        {"unit": "money", "budgets": ("$0.00001", 0.0001), "prices": PRICES, "effect": 2.5},
        {"unit": "steps", "budgets": (2, 5, 9), "rules": "step_lost", "policies": "all"},
    ],
    ids=lambda asked: "-".join(map(str, asked.values())).replace(" ", "")[:40],
)
def test_units_prices_rules_and_selectors_of_scores_come_along(tmp_path, asked):
    scores = {"selectors": "best_prm,exp_vote_length,vote_prm", "primary_selector": "vote_prm"}
    found = same(tmp_path, stepped(tmp_path), **asked, **(scores if "policies" in asked else {}))
    assert found["main.csv"].count(b"\n") > 4
    assert found["steps.csv"].count(b"\n") > 60 and b"length" in found["scores.csv"]
    assert found["checkpoints.csv"].count(b"\n") == 49
    header, first, *_ = found["attempts.csv"].decode().splitlines()
    assert ",cached_tokens,money,seconds," in header and first.count(",") == header.count(",")
    selections = found["selections.csv"]
    for name in (b"best_prm", b"exp_vote_length"):
        assert (name in selections) == ("policies" in asked)
    assert (b"majority" in selections) == ("policies" not in asked)


def test_a_selector_of_a_score_that_does_not_fit_is_refused_before_any_part(tmp_path):
    sources = stepped(tmp_path)
    for selector, said in (
        ("vote_length", "--selectors vote_length: "),
        ("best_nothing", "--selectors: no score 'nothing'"),
    ):
        folder = planned(tmp_path / selector, sources, 2, selectors=selector)
        assert said in refused(made, folder)
        assert not list(folder.glob("parts/*"))
    said = refused(planned, tmp_path / "all", sources, 2, selectors="all")
    assert said.startswith("--selectors all asks for all records")
