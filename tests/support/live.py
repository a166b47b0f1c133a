"""What live runs are compared with, and what only their environment has."""

import audit
from tests.support.missing import skip

OUTCOMES = """
select question_id, launched, {p}replays.cost, answer, correct
from {p}replays
inner join {p}selections
    using (archive, competition, question_id, repeat, cap, budget, rule{key})
where repeat = 0 and selector = 'majority' and {p}replays.archive = $archive
    and budget = $budget and rule = $rule {policy}
order by question_id
"""


def require(module):
    """Import a module that only that environment has; there, its absence is a failure."""
    try:
        return __import__(module)
    except ImportError:
        skip(f"{module} is not installed (extra inspect)", "INSPECT")


def replayed(db, archive, budget, rule, policy=None):
    """What the replay says of every problem in the canonical order."""
    key, where = (", policy", f"and policy = '{policy}'") if policy else ("", "")
    sql = OUTCOMES.format(p="policy_" if policy else "", key=key, policy=where)
    params = {"archive": archive, "budget": budget, "rule": rule}
    return [tuple(row.values()) for row in audit.query(db, sql, params).to_pylist()]


def ran(db, archive, budget, rule):
    """What a live run has done: all that it holds was launched."""
    sql = "select count(*) as launched from attempts where archive = $archive group by question_id"
    counts = audit.query(db, f"{sql} order by question_id", {"archive": archive}).to_pylist()
    rows = replayed(db, archive, budget, rule)
    return [
        (problem, row["launched"], *rest)
        for row, (problem, _, *rest) in zip(counts, rows, strict=True)
    ]


def replay(db, cap, **settings):
    """Replay the canonical order under every rule."""
    audit.replay(
        db,
        caps=[cap],
        primary_cap=cap,
        orders=0,
        replicates=0,
        curve_points=0,
        rules="all",
        **settings,
    )
