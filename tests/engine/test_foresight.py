"""A plug-in that reads attempts not yet launched is refused (threat model, e)."""

import random

import duckdb
import pytest

from audit import engine
from audit.engine import foresight
from audit.engine.check import check
from audit.errors import AuditError
from tests.support.archives import random_archive
from tests.support.databases import SMALL, ledger_database, small_database
from tests.support.databases import replayed_in_memory as replayed
from tests.support.plugins import EVERYTHING, FIRST, GRACE
from tests.support.slow import seeds

# A select whose standing alone tells it from one that looks at nothing to come.
BEST = """
select walked_attempts.walk_id, walked_attempts.position, walked_attempts.candidate_id,
    case when best.position = walked_attempts.position then 1000 else -walked_attempts.position end
        as standing
from walked_attempts
inner join (
    select walk_id, arg_min(position, cost) filter (is_eligible) as position
    from walked_attempts group by walk_id
) as best on walked_attempts.walk_id = best.walk_id
where is_eligible
"""
BANK = """
select walk_id, position, candidate_id,
    case when walked_attempts.cost <= costs.cost then position else -position end as standing
from walked_attempts
inner join (select bank_id, avg(cost) as cost from candidates group by bank_id)
    as costs on walked_attempts.bank_id = costs.bank_id
where is_eligible
"""
LAST_RULE = """
select walk_id, cap, budget,
    max(position) filter (cumulative_cost <= budget or position = 0) as launched,
    max(position) filter (cumulative_cost <= budget or position = 0) as returned,
    max(cumulative_cost) filter (cumulative_cost <= budget or position = 0) as cost
from budgeted_attempts group by walk_id, cap, budget
"""
STANDING = "-position as standing"
RANKED = FIRST.replace(
    STANDING, "case when logprob_rank = 3 then 1000 - position else -position end as standing"
)
OTHERS = """
select attempts.walk_id, attempts.position, attempts.candidate_id,
    attempts.position * (2 * (others.launched % 2) - 1) as standing
from walked_attempts as attempts
inner join walks on attempts.walk_id = walks.walk_id
inner join (
    select walks.archive_id, walks.problem_id, count(*) as launched
    from walked_attempts
    inner join walks on walked_attempts.walk_id = walks.walk_id
    group by all
) as others on walks.archive_id = others.archive_id and walks.problem_id = others.problem_id
where is_eligible
"""
MOST = FIRST.replace(
    STANDING,
    "case when cost = (select mode(cost) from walked_attempts) then position else -position end "
    "as standing",
)
# A walk that turns out cheap is ended early; of what is left of a walk there is less to pay.
CHEAP_RULE = """
with totals as (
    select walk_id, cap, budget, max(cumulative_cost) < 20 as is_cheap,
        max(position) as last, max(cumulative_cost) as cost,
        max(cumulative_cost) filter (position <= 1) as first_cost
    from budgeted_attempts group by walk_id, cap, budget
)
select walk_id, cap, budget,
    case when is_cheap then 1 else last end as launched,
    case when is_cheap then 1 else last end as returned,
    case when is_cheap then first_cost else cost end as cost
from totals
"""
AHEAD = {
    "selectors": {
        "a rank in the bank": RANKED,
        "other walks of the bank": OTHERS,
        "what attempts of other banks cost": MOST,
        "a group by walk": BEST,
        "a window without an order": FIRST.replace(
            STANDING,
            "position * (2 * (count(*) over (partition by walk_id) % 2) - 1) as standing",
        ),
        "the next attempt": FIRST.replace(
            STANDING,
            "case when lead(cost) over (partition by walk_id order by position) > cost "
            "then position else -position end as standing",
        ),
        "the rest of the bank": BANK,
    },
    "policies": {
        "the leader at the end": """
            select tallies.walk_id, caps.cap, min(tallies.position) as stop_position
            from tallies
            inner join caps on tallies.position <= caps.cap
            inner join (
                select walk_id, max(leader_votes) as votes from tallies group by walk_id
            ) as ends on tallies.walk_id = ends.walk_id and tallies.leader_votes = ends.votes
            group by tallies.walk_id, caps.cap
        """,
        "what the walk will cost": """
            select walk_id, cap, 1 as stop_position from tallies cross join caps
            group by walk_id, cap having max(cumulative_cost) > 20
        """,
    },
    "rules": {
        "whether the next attempt fits": LAST_RULE,
        "whether the walk will be cheap": CHEAP_RULE,
    },
}


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    with small_database(tmp_path_factory.mktemp("foresight"), orders=6, policies="all") as con:
        yield con


def own(folder, kind, sql, name="sly"):
    (folder / kind).mkdir(exist_ok=True)
    (folder / kind / f"{name}.sql").write_text(sql)
    return {kind: str(folder / kind)}


@pytest.mark.parametrize(
    ("kind", "sql"),
    [
        pytest.param(kind, sql, id=f"{kind}: {what}")
        for kind, files in AHEAD.items()
        for what, sql in files.items()
    ],
)
def test_a_plug_in_that_looks_ahead_is_refused_by_file_walk_and_position(con, tmp_path, kind, sql):
    before = con.sql("from settings order by key").fetchall()
    named = rf"{kind}/sly\.sql: looks ahead: at position \d+ of \w+, .+ \d+, repeat \d+ it says"
    with pytest.raises(AuditError, match=named):
        engine.replay(con, **own(tmp_path, kind, sql))
    assert con.sql("from settings order by key").fetchall() == before
    assert con.sql("select count(*) from used_rules where name = 'sly'").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("position", "paid"),
    [
        ("position", "0"),
        ("position", "cumulative_cost + 1"),
        ("position", "case when position > 1 then cumulative_cost - cost - 1 else 0 end"),
        ("0", "1"),
    ],
    ids=["nothing", "more than it launches", "less than it returns", "for no attempt"],
)
def test_a_rule_pays_for_what_it_returns_and_no_more_than_it_launches(
    con, tmp_path, position, paid
):
    sql = f"""
        select walk_id, cap, budget, {position} as launched, {position} as returned, {paid} as cost
        from last_launched
    """
    with pytest.raises(AuditError, match=r"rules/sly\.sql: .*cost of what it returns"):
        engine.replay(con, **own(tmp_path, "rules", sql))


# As many as the cap allows, where a smaller bank has come to its end.
LONG = """
    case
        when position = bank_size then least(cap, (select max(bank_size) from walks))
        else position
    end
"""


@pytest.mark.parametrize(
    ("launched", "returned"),
    [(LONG, "position"), (LONG, LONG)],
    ids=["launches", "launches and returns"],
)
def test_a_rule_launches_no_more_than_the_bank_holds(con, tmp_path, launched, returned):
    sql = f"""
        select walk_id, cap, budget, {launched} as launched, {returned} as returned,
            cumulative_cost as cost
        from last_launched
        inner join walks using (walk_id)
    """
    with pytest.raises(AuditError, match=r"rules/sly\.sql: needs .*no more than the bank holds"):
        engine.replay(con, **own(tmp_path, "rules", sql))


@pytest.mark.parametrize(
    ("where", "paid", "told"),
    [
        ("where cap in (2, 4, 9)", "cumulative_cost", "exactly one row"),
        ("", "case when cap in (2, 4, 9) then cumulative_cost else 0 end", "cost of what it"),
    ],
    ids=["rows", "pay"],
)
def test_a_rule_keeps_its_contract_where_a_policy_stops(con, tmp_path, where, paid, told):
    sql = f"""
        select walk_id, cap, budget, position as launched, position as returned, {paid} as cost
        from last_launched {where}
    """
    with pytest.raises(AuditError, match=rf"rules/sly\.sql: .*{told}"):
        engine.replay(con, **own(tmp_path, "rules", sql))


def test_check_finds_a_stored_plug_in_that_looks_ahead(tmp_path):
    honest = own(tmp_path, "selectors", FIRST, "sly")
    with small_database(tmp_path, orders=6, **honest):
        pass
    path = tmp_path / "small.duckdb"
    assert {row["check"]: row["violations"] for row in rows_of(path)}["no_foresight"] == 0
    with duckdb.connect(str(path)) as con:
        con.execute("update used_selectors set sql = ? where name = 'sly'", [BEST])
    rows = {row["check"]: row for row in rows_of(path)}
    assert rows["no_foresight"]["violations"] > 0 and rows["no_foresight"]["looked_at"] > 0


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("selectors", ("-position", "-1.0 * position"), "standing is decimal"),
        (
            "selectors",
            ("candidate_id", "candidate_id::text as candidate_id"),
            "candidate_id is var",
        ),
        ("selectors", ("candidate_id", "null::int as candidate_id"), ".*must not be null"),
        (
            "selectors",
            ("candidate_id", "first_value(candidate_id) over () as candidate_id"),
            "candidate_id must be that of an attempt of the walk",
        ),
        ("rules", ("11 * budget // 10", "1.1 * budget"), "cost is decimal"),
        ("rules", ("from budgeted_attempts", "from budgeted_attempts, steps"), "reads steps"),
    ],
)
def test_what_a_plug_in_gives_is_of_the_type_that_it_stands_for(con, tmp_path, kind, given, told):
    honest = {"selectors": FIRST, "rules": GRACE}[kind]
    assert given[0] in honest
    with pytest.raises(AuditError, match=rf"{kind}/sly\.sql: {told}"):
        engine.replay(con, **own(tmp_path, kind, honest.replace(*given)))


def rows_of(path):
    return check(path).to_pylist()


def test_sampled_walks_lose_attempts_only_where_they_are_cut_off(con):
    rows = con.sql(engine.render("sampled_walks")).to_arrow_table().to_pylist()
    assert {row["change"] for row in rows} == {"cut off", "in another order", "kept as they are"}
    for row in rows:
        whole = row["kept"] if row["change"] == "cut off" else row["bank_size"]
        assert len(set(row["slots"])) == len(row["slots"]) == whole, row


# An attempt that does not fit costs nothing.
REFUND = """
select walk_id, cap, budget,
    max(position) filter (cumulative_cost - cost < budget) as launched,
    coalesce(max(position) filter (cumulative_cost <= budget), 0) as returned,
    coalesce(max(cumulative_cost) filter (cumulative_cost <= budget), 0) as cost
from budgeted_attempts group by walk_id, cap, budget
"""


def test_plug_ins_that_keep_to_their_prefixes_are_accepted(tmp_path):
    chosen = own(tmp_path, "selectors", FIRST, "earliest")
    for name, sql in (("grace", GRACE), ("everything", EVERYTHING), ("refund", REFUND)):
        chosen |= own(tmp_path, "rules", sql, name)
    rows = random_archive(random.Random(1), costs=(4, 6, 7, 9))
    with replayed(tmp_path, rows, **{**SMALL, "budgets": (5, 20)}, **chosen) as con:
        found = con.sql("select min(returned) from replays where rule = 'refund'").fetchall()
        assert found == [(0,)]


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_the_projects_own_plug_ins_never_look_ahead(tmp_path, seed):
    rows = random_archive(random.Random(seed), costs=(4, 6, 7, 9), empty=0.1)
    found = engine.Plugins(policies=engine.load_plugins("policies"))
    with replayed(tmp_path, rows, **SMALL, policies="all") as con:
        assert not foresight.find_breaches(con, found, list(foresight.OUTPUT_STAGE))


BEST_OF_BANK = """
select walked_attempts.walk_id, walked_attempts.position, walked_attempts.candidate_id,
    -position as standing
from walked_attempts
inner join candidate_scores as scored
    on walked_attempts.candidate_id = scored.candidate_id
    and scored.score = 'logprob'
where scored.exp_weight = 1000000000
"""


def test_a_weight_that_tells_the_best_attempt_of_the_bank_looks_ahead(tmp_path):
    with (
        ledger_database(tmp_path) as con,
        pytest.raises(AuditError, match=r"selectors/sly\.sql: looks ahead"),
    ):
        engine.replay(con, **own(tmp_path, "selectors", BEST_OF_BANK))


def test_a_vote_of_scores_passes_beside_a_file_of_ones_own(tmp_path):
    chosen = {"selectors": ["all", own(tmp_path, "selectors", FIRST, "earliest")["selectors"]]}
    with ledger_database(tmp_path, **chosen) as con:
        assert ("earliest",) in con.sql("select selector from used_selectors").fetchall()
