"""Small databases with checkpoints, loaded from JSON lines, and random checkpoints."""

import audit
from tests.support.archives import ANSWERS
from tests.support.logs import lines


def loaded(folder, rows, checkpoints=None, **more):
    db = folder / "a.duckdb"
    db.unlink(missing_ok=True)
    source = lines(folder / "a.jsonl", rows)
    audit.load(db, [source], checkpoints=checkpoints, **more)
    return db


def rows_of(db, sql):
    with audit.connect(db) as con:
        return con.execute(sql).fetchall()


def with_checkpoints(rng, rows):
    """Give rows checkpoints of both kinds, some without an answer, some with a label."""
    forms = [form for line in ANSWERS[:3] for form in line[:2]]
    for row in rows:
        cost = row["completion_tokens"]
        row["checkpoints"] = [
            {
                "tokens": tokens,
                "kind": kind,
                "answer": rng.choice([*forms, "31", None, r"\text{ }"]),
                "cost": rng.randrange(4) if kind == "asked" else 0,
                "certain": None,
                "correct": rng.choice([None, None, None, True, False]),
            }
            for kind, share in (("asked", 0.6), ("written", 0.3))
            for tokens in range(1, cost + 1)
            if rng.random() < share
        ]
        if rng.random() < 0.15:
            row["checkpoints"] = []
    return rows
