"""The page's arithmetic in Node, held to the engine's tables and to fresh replays."""

import gzip
import json
import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from audit import engine
from audit.output.display import display_columns
from audit.output.headings import replayed_unit, set_unit
from audit.report.explorer import pack, page
from audit.report.wording import amount, budget_name
from audit.rules import RULES
from audit.units import UNITS
from tests.support.archives import random_archive
from tests.support.checkpoints import with_checkpoints
from tests.support.databases import (
    ledger_database,
    replayed_in_memory,
    small_database,
    tables_of,
)
from tests.support.ledger import BUDGETS
from tests.support.missing import skip

SCRIPT = Path(__file__).parent / "arithmetic.test.js"
ARITHMETIC = Path(pack.__file__).parent / "arithmetic.js"
TABLES = (
    "main",
    "curves",
    "selectors",
    "by_competition",
    "cap_sensitivity",
    "pools",
    "matched_cost",
    "budget_curve",
    "power",
)


@pytest.fixture(scope="module")
def node():
    """The command `node`; without it the tests are skipped."""
    found = shutil.which("node")
    if found is None:
        skip("no node on PATH: apt-get install nodejs", "BROWSER")
    return found


def tables(con, names=TABLES):
    known = [name for name in names if name in engine.list_tables()]
    found = {name: table.to_pylist() for name, table in tables_of(con, known).items()}
    return found | {
        name: con.sql(sql).to_arrow_table().to_pylist() for name, sql in LOOKED_UP.items()
    }


# The ways to set every control at once, and every single replay: no table holds them.
LOOKED_UP = {
    "controls": """
        select archive, competition, selector, cap, budget, rule, count(*) as replays,
            count(*) filter (correct) as correct,
            count(*) filter (repaired_correct) as repaired,
            count(*) filter (abstained) as abstained,
            count(*) filter (covered) as covered,
            count(*) filter (returned >= repaired_from) as repaired_covered
        from selections
        inner join replays
            using (archive, competition, question_id, repeat, cap, budget, rule)
        left join (
            select archive, competition, question_id, repeat, min(position) as repaired_from
            from prefixes
            inner join attempts using (archive, competition, question_id, seed)
            inner join grades using (archive, competition, question_id, seed)
            where eligible and repaired_correct
            group by all
        ) as repaired using (archive, competition, question_id, repeat)
        where repeat > 0
        group by all
        order by all
    """,
    "eligible": """
        select archive, competition, question_id, selector,
            coalesce(list(seed::varchar order by slot) filter (is_eligible), []) as seeds
        from (
            select *, 'majority' as selector, eligible as is_eligible from attempts
            union all by name
            select *, 'archive_majority' as selector,
                finish_reason = 'stop' and archive_answer is not null as is_eligible
            from attempts
        )
        where slot < (select max(cap) from caps)
            and selector in (select selector from used_selectors)
        group by all
    """,
    "banks_that_end": """
        select archive, budget, 100 * avg((cost < budget)::integer) as ended
        from replays
        where repeat > 0 and cap = 4 and rule = 'strict'
        group by all
    """,
    "money": """
        select archive, budget, rule, selector, sum(money) / count(*) as money
        from results
        where money is not null
        group by all
        order by all
    """,
    "order_errors": f"""
        select archive, budget / (select scale from unit) as budget, max(order_error) as order_error
        from ({engine.render("order_errors")})
        where rule in ('strict', 'advisory')
        group by all
        order by all
    """,
    "replays": """
        select archive, competition, question_id, repeat, cap, budget, rule, selector, launched,
            returned, replays.cost, prefix_cost, seed::varchar as seed, answer, correct
        from replays
        inner join selections
            using (archive, competition, question_id, repeat, cap, budget, rule)
    """,
}
# One order hides every mistake in telling orders apart, so that most archives have several.
# Banks are larger than the largest cap of the last two: the page has less than all of an order.
RUNS = {10: (5, 40, (2, 4, 9)), 4: (1, 1, (2, 4, 9)), 3: (2, 9, (1, 4)), 8: (3, 9, (2, 4))}


def header(path):
    """What a packed file says of itself."""
    raw = gzip.decompress(Path(path).read_bytes())
    return json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])


def is_ragged(con):
    sizes = "select count(distinct bank_size) > 1 from banks group by archive_id"
    return any(row[0] for row in con.execute(sizes).fetchall())


# All of it takes more than half a minute: some always, and everything with the slow tests.
@pytest.mark.parametrize(
    ("runs", "units"),
    [((8,), ("completion",)), pytest.param((*RUNS,), (*BUDGETS,), marks=pytest.mark.slow)],
    ids=["some", "everything"],
)
def test_the_page_computes_what_the_tables_say_at_any_budget(node, tmp_path, runs, units):
    cases, ragged, cut = [], [], []
    for seed in runs:
        orders, replicates, caps = RUNS[seed]
        rng = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        settings = {"orders": orders, "replicates": replicates, "caps": caps}
        with small_database(folder, seed=seed, **settings) as con:
            packed, left_out = pack.pack_walks(con)
            assert packed is not None and left_out == []
            (folder / "walks.gz").write_bytes(packed)
            ragged.append(is_ragged(con))
            largest = con.execute("select max(bank_size) from banks").fetchall()
            cut.append(largest[0][0] > max(caps))
            case = {"walks": str(folder / "walks.gz"), "curve_points": 200}
            cases.append(case | {"name": f"archive {seed}", "tables": tables(con)})
            # Budgets that were not replayed when the page was packed.
            budgets = sorted(rng.sample(range(1, 46), 12))
            fresh = settings | {"budgets": budgets, "primary_cap": 4}
            engine.replay(con, **fresh)
            names = [name for name in TABLES if name != "budget_curve"]
            cases.append(case | {"name": f"fresh {seed}", "tables": tables(con, names)})
    for unit in units:
        budgets = BUDGETS[unit]
        folder = tmp_path / unit
        folder.mkdir()
        settings = {"orders": 4, "replicates": 9, "unit": unit, "budgets": budgets}
        with ledger_database(folder, seed=len(unit), **settings) as con:
            archives = [name for (name,) in con.sql("select archive from archives").fetchall()]
            # Completion tokens with prices: the page shows money beside them.
            prices = {
                "prices": [
                    (name, 2_500_000 + place, 250_000, 10**7 * (place + 1))
                    for place, name in enumerate(archives)
                ]
            }
            priced = prices if unit == "completion" else {}
            if priced:
                engine.replay(con, rules="all", caps=(2, 4, 9), primary_cap=4, **settings, **priced)
            packed, _ = pack.pack_walks(con)
            (folder / "walks.gz").write_bytes(packed)
            case = {"walks": str(folder / "walks.gz"), "curve_points": 200}
            cases.append(case | {"name": f"unit {unit}", "tables": tables(con)})
            if priced:
                # The page's switch to money: the same page against a replay in money.
                fresh = settings | {"unit": "money", "budgets": None} | priced
                done = engine.replay(con, rules="all", caps=(2, 4, 9), primary_cap=4, **fresh)
                assert header(case["walks"])["money_budgets"] == list(done.settings.budgets)
                cases.append(case | {"name": "in money", "in_money": True, "tables": tables(con)})
    assert any(ragged) and any(cut)
    assert all(
        header(case["walks"])["rule"].keys() == RULES.keys() for case in cases[-len(units) :]
    )
    assert any("step_end" in header(case["walks"])["arrays"] for case in cases)
    assert any(
        "prompt_money" not in header(case["walks"])["arrays"] and case["tables"]["money"]
        for case in cases
    )
    assert any("repaired" in header(case["walks"])["arrays"] for case in cases)
    assert all(case["tables"]["main"] for case in cases)
    check_cases(node, tmp_path, cases)


def test_the_page_takes_the_checkpoints_that_the_terminals_take(node, tmp_path):
    rng, cases = random.Random(5), []
    rows = with_checkpoints(rng, random_archive(rng, costs=(4, 6, 7, 9, 14)))
    sql = """
        select replays.*, selections.answer, selections.correct, selections.is_checkpoint
        from terminal_replays as replays
        inner join terminal_selections as selections
            using (archive, competition, question_id, repeat, budget, terminal)
        where terminal <> 'none' and selector = 'majority'
    """
    with replayed_in_memory(tmp_path, rows, orders=2) as con:
        for name in pack.SHOWN_TERMINALS:
            engine.replay(con, terminals=(name,))
            taken = con.sql(sql).to_arrow_table().to_pylist()
            assert any(row["is_checkpoint"] for row in taken)
            (tmp_path / f"{name}.gz").write_bytes(pack.pack_walks(con)[0])
            case = {"name": name, "walks": str(tmp_path / f"{name}.gz"), "curve_points": 9}
            cases.append(case | {"tables": {"taken": taken}})
    check_cases(node, tmp_path, cases)


def check_cases(node, folder, cases):
    """Run the tests of the page's arithmetic over packed walks and the tables they are held to."""
    (folder / "cases.json").write_text(json.dumps(cases))
    done = subprocess.run(
        [node, "--test", SCRIPT],
        env={**os.environ, "BUDGET_AUDIT_PAGE_CASES": str(folder / "cases.json")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    failed = [part for part in done.stdout.split("# Subtest: ") if "not ok" in part]
    assert done.returncode == 0, "".join(failed)[:6000]
    assert "# fail 0" in done.stdout or "ℹ fail 0" in done.stdout


def test_the_page_writes_amounts_as_the_package_does(node):
    """Costs in whole numbers of every unit, by `units.py` and by the page."""
    rng = random.Random(7)
    units = {name: unit.scale for name, unit in UNITS.items()}
    sizes = [rng.randrange(1, 10**power) for power in range(1, 12) for _ in range(20)]
    amounts = [1, 3, 999, 1000, 12_400, 37_400_000, 50_000_000, 2 * 10**9, *sizes]
    asked = [(name, scale, cost) for name, scale in units.items() for cost in amounts]
    script = (
        f"const A = require({json.dumps(str(ARITHMETIC))});"
        f"console.log(JSON.stringify({json.dumps(asked)}.map(([name, scale, cost]) => "
        "[A.amount({ name, scale }, cost), A.budgetName({ name, scale }, cost)])))"
    )
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    for (name, scale, cost), (shown, budget) in zip(asked, json.loads(done.stdout), strict=True):
        value = cost / scale
        assert shown == amount(value, UNITS[name]), (name, cost)
        if float(f"{value:.3g}") == value or value == int(value):
            assert budget == budget_name(value, UNITS[name]), (name, cost)


@pytest.mark.parametrize("unit", [pytest.param("completion", marks=pytest.mark.slow), "money"])
def test_the_page_prints_tables_as_the_command_line_does(node, tmp_path, unit):
    """Every cell of every table, from the values that the page carries."""
    settings = {"unit": unit, "budgets": BUDGETS[unit], "orders": 2, "replicates": 9}
    with ledger_database(tmp_path, rules="all", policies="all", **settings) as con:
        names = [name for name in engine.list_tables() if name != "prefix_boxes"]
        found = {name: set_unit(con, table) for name, table in tables_of(con, names).items()}
        kind = replayed_unit(con)
    packed = {name: page._pack_columns(name, table, kind) for name, table in found.items()}
    header = {"name": kind.name, "scale": kind.scale}
    script = f"""
        const A = require({json.dumps(str(ARITHMETIC))}), unit = {json.dumps(header)};
        const text = require("fs").readFileSync({json.dumps(str(tmp_path / "in"))});
        const cells = ({{ values, columns }}) => columns.map((column) =>
          values[column.name].map((value) => A.cell(unit, column.format, value)));
        const tables = Object.entries(JSON.parse(text));
        console.log(JSON.stringify(Object.fromEntries(tables.map(([n, t]) => [n, cells(t)]))));
    """
    (tmp_path / "in").write_text(json.dumps(packed))
    done = subprocess.run([node, "-e", script], capture_output=True, text=True, check=True)
    for name, cells in json.loads(done.stdout).items():
        printed = [
            [cell.partition(" [")[0] if column.numeric else cell for cell in column.cells]
            for column in display_columns(name, found[name])
        ]
        assert cells == printed, name
