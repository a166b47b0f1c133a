"""What every SQL file promises: its header, its grain, and what it may read."""

import re

import pytest

from audit import engine
from audit.engine.plugins import RULE_MAY_READ, SELECTOR_MAY_READ
from tests.support.databases import small_database

SQL = engine.resource("sql")
FILES = sorted(SQL.rglob("*.sql"))
STAGES = [name for name, kept_as in engine.PIPELINE if kept_as != "drawn"]
LABELLED = {"labels", "grades", "accepted_references", "candidate_grades", "coverage", "ledger"}


def header(path):
    return path.read_text(encoding="utf-8").split("\n")[:2]


def grain(path):
    return header(path)[1].removeprefix("-- grain: ").split(", ")


def identifier(path):
    return str(path.relative_to(SQL))


@pytest.mark.parametrize("path", FILES, ids=identifier)
def test_every_sql_file_says_what_a_row_means_and_its_grain(path):
    first, second = header(path)
    assert re.fullmatch(rf"-- {path.stem}: .{{20,}}", first)
    assert re.fullmatch(r"-- grain: \w+( row)?(, \w+)*", second)


@pytest.mark.parametrize("path", FILES, ids=identifier)
def test_every_sql_file_renders_to_one_select_in_lower_case(path):
    sql = engine.render(path.stem)
    engine.relations_read(sql)
    code = re.sub(r"--.*|'[^']*'", "", path.read_text(encoding="utf-8"))
    assert code == code.lower()
    assert not re.search(r"\b(create|insert|update|delete|drop)\b", code)


def test_no_two_sql_files_have_the_same_name():
    assert len({path.stem for path in FILES}) == len(FILES)


def test_the_pipeline_names_every_stage_that_has_a_file():
    assert {path.stem for path in SQL.glob("*.sql")} == set(STAGES)


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    with small_database(tmp_path_factory.mktemp("contracts")) as con:
        yield con


@pytest.mark.parametrize("name", [*STAGES, *engine.table_names()])
def test_the_grain_identifies_a_row(con, name):
    path = SQL / engine.stage_file(name)
    keys = ", ".join(f'"{key}"' for key in grain(path))
    ((rows, distinct),) = con.execute(
        f"select count(*), count(distinct ({keys})) from ({engine.render(name)})"
    ).fetchall()
    assert rows == distinct > 0


@pytest.mark.parametrize("name", engine.table_names())
def test_a_table_is_sorted_by_its_grain(con, name):
    rows = engine.table(con, name).select(grain(SQL / "tables" / f"{name}.sql")).to_pylist()
    keys = [tuple(row.values()) for row in rows]
    assert keys == sorted(keys)


def test_nothing_before_coverage_reads_a_label():
    for name, kept_as in engine.PIPELINE:
        if name == engine.FIRST_LABELLED:
            break
        if kept_as != "drawn":
            assert not engine.relations_read(engine.render(name)) & LABELLED, name


def test_rules_and_selectors_read_only_what_they_may():
    for rule in engine.plugins("rules"):
        assert engine.relations_read(rule.sql) <= RULE_MAY_READ, rule.name
    for selector in engine.plugins("selectors"):
        assert engine.relations_read(selector.sql) <= SELECTOR_MAY_READ, selector.name


def test_every_stage_reads_only_what_was_built_before_it():
    built = {"attempts", "raw_answers", "grades", *engine.SETTING_RELATIONS}
    built |= {"texts", "token_counts", "prefix_cuts", "problem_names", "meta"}
    for name, kept_as in engine.PIPELINE:
        if kept_as != "drawn":
            assert engine.relations_read(engine.render(name)) <= built, name
        built.add(name)


def test_lineage_sees_through_common_table_expressions_and_subqueries():
    sql = """
        with a as (select * from steps)
        select * from a, (select 1 from grades) where 1 in (from labels)
    """
    assert engine.relations_read(sql) == {"steps", "grades", "labels"}


def test_selection_builds_without_any_label_in_the_database(tmp_path):
    with small_database(tmp_path) as con:
        stages = dict(engine.PIPELINE)
        before = list(stages)[: list(stages).index(engine.FIRST_LABELLED)]
        compared = ("choices", "stops")
        kept = {name: con.sql(f"from {name} order by all").fetchall() for name in compared}
        con.execute("attach ':memory:' as blind")
        con.execute("use blind")
        for name in ("attempts", "problem_names", "order_slots", *engine.SETTING_RELATIONS):
            con.execute(f"create table {name} as from small.{name}")
        for name in before:
            if stages[name] != "drawn":
                engine.build(con, name, stages[name])
        assert not {"labels", "grades"} & {
            name
            for (name,) in con.execute(
                "select table_name from duckdb_tables() where database_name = 'blind'"
            ).fetchall()
        }
        for name in compared:
            assert con.sql(f"from {name} order by all").fetchall() == kept[name]
