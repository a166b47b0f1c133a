"""Leaving attempts early: derived archives against plain loops, and what an exit may not do."""

import random
from collections import Counter

import pytest

import audit
from audit.errors import AuditError
from tests.support.archives import attempt
from tests.support.checkpoints import loaded, rows_of


def random_rows(rng, archive="a", attempts=60):
    """Attempts with checkpoints, some of them unsure or without an answer."""
    rows = []
    for seed in range(attempts):
        cost = rng.randrange(10, 60)
        places = sorted(rng.sample(range(1, cost + 1), rng.randrange(0, 9)))
        checkpoints = [
            {
                "tokens": tokens,
                "answer": rng.choice(["1", "1", "1", "2", None]),
                "cost": rng.randrange(4),
                "certain": rng.choice([True, None, None, False]),
            }
            for tokens in places
        ]
        if rng.random() < 0.3:
            checkpoints.append({"tokens": cost, "kind": "written", "answer": "3"})
        end = rng.choice(["stop", "stop", "length"])
        row = attempt(seed % 4, cost, rng.choice("12"), archive=archive, question=seed // 4)
        rows.append(row | {"finish_reason": end, "checkpoints": checkpoints, "references": ["1"]})
        rows[-1]["correct"] = rows[-1]["text"] == r"so \boxed{1}"
    return rows


def agreement(seen, n):
    last = seen[-n:]
    answers = {c["answer"] for c in last}
    is_sure = all(c["certain"] is not False for c in last)
    return len(seen) >= n and len(answers) == 1 and None not in answers and is_sure


def window(seen, n):
    answers = [c["answer"] for c in seen[-n:] if c["answer"] is not None]
    return len(answers) >= 3 and 5 * max(Counter(answers).values()) >= 4 * len(answers)


def left_slowly(row, leaves):
    """What an attempt costs, how it ends and what it answers, checkpoint by checkpoint."""
    asked = [c for c in row["checkpoints"] if c.get("kind") != "written"]
    for at in range(1, len(asked) + 1):
        if leaves(asked[:at]):
            paid = asked[at - 1]["tokens"] + sum(c["cost"] for c in asked[:at])
            answer = asked[at - 1]["answer"]
            return paid, "stop", answer, answer == "1"
    paid = row["completion_tokens"] + sum(c["cost"] for c in asked)
    answer = row["text"][-2]
    return paid, row["finish_reason"], answer, row["correct"]


@pytest.mark.parametrize(
    ("exit", "leaves"),
    [
        ("agreement:1", lambda seen: agreement(seen, 1)),
        ("agreement:2", lambda seen: agreement(seen, 2)),
        ("agreement", lambda seen: agreement(seen, 5)),
        ("window", lambda seen: window(seen, 5)),
        ("window:9", lambda seen: window(seen, 9)),
    ],
)
def test_derived_attempts_are_those_of_a_plain_loop(tmp_path, exit, leaves):
    rows = random_rows(random.Random(exit), attempts=200)
    db = loaded(tmp_path, rows)
    derived = audit.leave(db, exit, new="b").to_pylist()
    expected = [left_slowly(row, leaves) for row in rows]
    sql = (
        "select completion_tokens, finish_reason, answer, correct from attempts "
        "inner join grades using (archive, competition, question_id, seed) "
        "where archive = 'b' order by question_id, seed"
    )
    assert rows_of(db, sql) == expected
    changed = sum(e[0] < r["completion_tokens"] for e, r in zip(expected, rows, strict=True))
    assert derived[0]["left_early"] >= changed > 1
    sources = "select format, json_extract_string(mapping, 'derived_from') from sources"
    assert rows_of(db, f"{sources} where archive = 'b'") == [("derived", "a")]


def test_every_archive_is_derived_and_a_second_time_replaced(tmp_path):
    rng = random.Random(1)
    db = loaded(
        tmp_path, random_rows(rng) + random_rows(rng, "b") + [attempt(0, 5, "1", archive="c")]
    )
    names = "select distinct archive from attempts order by archive"
    for _ in range(2):
        audit.leave(db, "agreement:2")
        assert rows_of(db, f"select archive from ({names})") == [
            ("a",), ("a, agreement:2",), ("b",), ("b, agreement:2",), ("c",),
        ]  # fmt: skip
    audit.replay(db, budgets="20", caps="4", orders=2, replicates=10)
    assert len(audit.table(db, "main").to_pylist()) == 5
    # What is derived goes with what it was derived from, and with another kind of answer.
    notes = " ".join(audit.load(db, [tmp_path / "a.jsonl"], replace=True).notes)
    assert "removed archive 'a, agreement:2': it was derived" in notes and "'c'" not in notes
    assert rows_of(db, names) == [("a",), ("b",), ("c",)]
    audit.leave(db, "window", archive="a")
    assert "1 derived archives are gone" in " ".join(audit.answers(db, "boxed").notes)
    assert rows_of(db, names) == [("a",), ("b",), ("c",)]


def test_unlabelled_stays_unlabelled_and_undecided_is_wrong(tmp_path):
    checkpoints = [{"tokens": 2, "answer": "4"}]
    rows = [attempt(0, 9, "7", correct=None) | {"checkpoints": checkpoints}]
    rows += [attempt(0, 9, "7", archive="b") | {"checkpoints": checkpoints}]
    db = loaded(tmp_path, rows)
    audit.leave(db, "agreement:1")
    assert rows_of(db, "select correct from checkpoint_grades") == [(None,), (None,)]
    labels = "select correct from grades where archive like '%, agreement:1' order by archive"
    assert rows_of(db, labels) == [(None,), (False,)]


def test_what_cannot_be_derived_is_refused(tmp_path):
    rng = random.Random(2)
    rows = random_rows(rng) + random_rows(rng, "b") + [attempt(0, 5, "1", archive="c")]
    db = loaded(tmp_path, rows)
    for options, problem in (
        ({"exit": "agreement:0"}, "--exit agreement:0: N must be a whole number from 1 to"),
        ({"exit": "agreement:x"}, "--exit agreement:x: N must be a whole number from 1 to"),
        ({"exit": "agreemnt"}, "--exit agreemnt: no exit 'agreemnt'; did you mean"),
        ({"exit": "own.sql"}, "--exit own.sql: no such file"),
        ({"archive": "d"}, "--archive: no archive with asked checkpoints 'd'; "),
        ({"archive": "c"}, "--archive: no archive with asked checkpoints 'c'; "),
        ({"new": "d"}, "--as d: 2 archives have asked checkpoints; choose one with --archive"),
        ({"new": "c", "archive": "a"}, "archive 'c' was loaded and not derived"),
    ):
        with pytest.raises(AuditError) as refused:
            audit.leave(db, **{"exit": "agreement", **options})
        assert problem in str(refused.value)
    audit.leave(db, "agreement", archive="a")
    with pytest.raises(AuditError, match="no archive with asked checkpoints"):
        audit.leave(db, "agreement", archive="a, agreement:5")
    with pytest.raises(AuditError, match="no archive has asked checkpoints"):
        audit.leave(loaded(tmp_path, rows[-1:]), "agreement")


LAST = "select attempt_id, max(step) as step from exit_checkpoints group by attempt_id"
OWN_EXITS = {
    "first": ("select attempt_id, 1 as step from exit_checkpoints where step = 1", None),
    "last": (LAST, "looks ahead: it treats an attempt (archive 'a', competition 'C'"),
    "before_the_last": (f"select attempt_id, step - 1 as step from ({LAST})", "does not have"),
    "when_others_follow": (
        "select a.attempt_id, min(a.step) as step from exit_checkpoints as a "
        "inner join exit_checkpoints as b on a.attempt_id = b.attempt_id and a.step + 1 = b.step "
        "group by a.attempt_id",
        "looks ahead",
    ),
    "when_none_follows": (f"from ({LAST}) where step = 4", "looks ahead"),
    "twice": (
        "select attempt_id, step from exit_checkpoints",
        "rows for an attempt; an exit gives",
    ),
    "no_step": ("select attempt_id from exit_checkpoints", "gives no column step"),
    "too_far": ("select distinct attempt_id, 99 as step from exit_checkpoints", "does not have"),
    "grades": (
        "select 1 as attempt_id, 1 as step from checkpoint_grades",
        "reads checkpoint_grades",
    ),
}


@pytest.fixture(scope="module")
def own_db(tmp_path_factory):
    return loaded(tmp_path_factory.mktemp("own"), random_rows(random.Random(3)))


@pytest.mark.parametrize("name", OWN_EXITS)
def test_an_own_exit_keeps_the_contract_or_is_refused(own_db, tmp_path, name):
    sql, problem = OWN_EXITS[name]
    file = tmp_path / f"{name}.sql"
    file.write_text(sql)
    if problem is None:
        (row,) = audit.leave(own_db, str(file)).to_pylist()
        assert row["archive"] == f"a, {name}" and row["left_early"] > 30
        return
    with pytest.raises(AuditError) as refused:
        audit.leave(own_db, str(file))
    assert problem in str(refused.value) and "\n" not in str(refused.value)
    assert str(file) in str(refused.value)
