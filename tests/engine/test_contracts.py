"""What every SQL file promises: its header, its grain, what it may read (threat model, e)."""

import random
import re
import sys

import pytest

from audit import engine
from audit.database.schema import LOADED
from audit.engine.lineage import scan_relations
from audit.engine.plugins import KINDS, Plugins
from audit.engine.sql_files import split_names
from audit.engine.stages import (
    BLIND_FOLDERS,
    DRAWN,
    LAZY,
    PORTIONED,
    REPLAY_RELATIONS,
    TABLES,
    TOKEN_RELATIONS,
)
from tests.support.archives import random_archive
from tests.support.checkpoints import with_checkpoints
from tests.support.databases import ledger_database, replayed, small_database, tables_of

SQL = engine.find_folder("sql")
# Macros are statements that the selects of formats share.
FILES = [path for path in sorted(SQL.rglob("*.sql")) if path.parent.name != "macros"]
# The selects of formats read sources, and no relation of a database.
READERS = [path for path in FILES if path.parent.name != "formats"]
QUERIES = sorted(engine.find_folder("queries").glob("*.sql"))
# One test of a folder looks at all of its files: a test of each would be a thousand.
FOLDERS = sorted({path.parent for path in FILES})
by_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.stem)
STAGES = [name for name in engine.STAGE_NAMES if name not in DRAWN]
BLIND = [
    stage.rpartition("/")[2]
    for stage in engine.STAGES
    if stage.partition("/")[0] in BLIND_FOLDERS and stage.rpartition("/")[2] not in DRAWN
]
LABELLED = {"labels", "grades", "accepted_references", "checkpoint_labels", "checkpoint_grades"}
# Folders with a file for each stage of the pipeline.
PIPELINE = (
    *("keys", "walks", "budgets", "evaluation", "bootstrap", "intervals", "diagnostics"),
    *("relations", "terminals"),
)
# Rendered where they are needed, never kept as a relation.
PUT_IN = {
    *("prefix_weights", "cut_replays", "policy_ledger", "prompt_money", "replay_selections"),
    *("policy_choices", "changed_answers", "changed_costs", "whole_coverage", "policy_results"),
    *("terminal_choices", "card_replays", "length_halves", "curve_changes", "boundary_events"),
    *("paired_labels", "majority_votes", "scored_votes"),
}
UNBUILT = {*PUT_IN, "dealt_labels", "budgeted_attempts", "last_launched", "reached_steps"}


def identifier(path):
    return str(path.relative_to(SQL))


@by_folder
def test_every_sql_file_says_what_a_row_means_and_its_grain(folder):
    for path in folder.glob("*.sql"):
        said = engine.read_header(path.stem)
        assert [*said][:2] == [path.stem, "grain"]
        assert len(said[path.stem]) >= 20, path
        assert re.fullmatch(r"\w+( row)?(, \w+)*", said["grain"]), path
        assert re.fullmatch("(table|on demand)( by walks)?", said.get("kept", "table")), path


def test_a_sentence_of_a_header_goes_on_where_a_line_is_indented():
    said = engine.read_header("votes_by_definition")
    assert said["votes_by_definition"].count(". ") == 1 and "\n" not in said["votes_by_definition"]
    assert said["grain"] == "order_votes_id, definition_id"


# A CTE, and the file that stands in it if there is one.
EXPRESSION = re.compile(
    r"(?<!window )\b(\w+)(?: \([\w, ]+\))? as (?:(?:not )?materialized )?\(\n"
    r"(?:\{% include '[\w/]+/(\w+)\.sql' %\}\n)?"
)


def test_no_expression_of_a_file_hides_a_relation():
    """One with a relation's name is that relation, kept at hand."""
    relations = {*engine.STAGE_NAMES, *engine.SETTING_RELATIONS, *engine.list_tables(), *LOADED}
    relations |= {file.stem for file in FILES if file.parent.name in ("load", "report", "scale")}
    for path in (*READERS, *SQL.rglob("*.jinja"), *QUERIES):
        for name, included in EXPRESSION.findall(path.read_text(encoding="utf-8")):
            # Selectors read walked_attempts and walks; others may stand in the place of those.
            is_same = name in (included, "walked_attempts", "walks")
            assert name not in relations or is_same, (path, name)


@by_folder
def test_every_sql_file_renders_to_one_select_in_lower_case(folder):
    for path in folder.glob("*.sql"):
        engine.parse_relations(engine.render(path.stem))
        code = re.sub(r"--.*|'[^']*'", "", path.read_text(encoding="utf-8"))
        assert code == code.lower(), path
        assert not re.search(r"\b(create|insert|update|delete|drop)\b", code), path


def test_a_file_that_is_no_template_is_its_own_sql():
    built_in = engine.Plugins()
    chosen = {"rules": built_in.rules, "policies": (), "walks_on": False}
    chosen |= {"unit": built_in.unit, "primary": built_in.primary}
    chosen["numbered"] = [*enumerate(built_in.selectors, 1)]
    chosen["rule"] = {rule.name: rule.sql for rule in built_in.rules}
    templates = sys.modules["audit.engine.build"]._load_templates()
    for path in FILES:
        if path.parent.name == "intervals":
            rows = path.read_text(encoding="utf-8").removesuffix("\n").replace("\n", "\n    ")
            assert f"    {rows}\n)" in engine.render(path.stem), path
        else:
            template = templates.get_template(identifier(path))
            assert engine.render(path.stem) == template.render(chosen), path


def test_no_two_sql_files_have_the_same_name():
    assert len({path.stem for path in FILES}) == len(FILES)


def test_the_pipeline_names_every_stage_that_has_a_file():
    files = {identifier(path) for folder in PIPELINE for path in (SQL / folder).glob("*.sql")}
    staged = {f"{stage}.sql" for stage in engine.STAGES if stage.rpartition("/")[2] not in DRAWN}
    assert {file for file in files if file.split("/")[1][:-4] not in UNBUILT} == staged
    assert not list(SQL.glob("*.sql"))


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    with small_database(tmp_path_factory.mktemp("contracts"), policies="all") as con:
        yield con


@pytest.fixture(scope="module")
def tables(con):
    return tables_of(con, engine.list_tables())


def rows_of(con, name, tables):
    """The relation, or the table's rows under a name of their own."""
    if name in STAGES:
        return name
    if name in PUT_IN:
        return f"({engine.render(name)}\n)"
    con.register("table_rows", tables[name])
    return "table_rows"


# Stages that are empty where there is no step, score, weight or price.
LEDGER_STAGES = ("step_ends", "candidate_scores", "scored_votes", "prefix_weights", "prompt_money")


@pytest.fixture(scope="module")
def stepped(tmp_path_factory):
    with ledger_database(tmp_path_factory.mktemp("ledger"), primary_selector="vote_reward") as con:
        names = [name for (name,) in con.sql("select archive from archives").fetchall()]
        engine.replay(con, prices=tuple((name, 1, 1, 1) for name in names))
        yield con


# Stages that are empty where there is no checkpoint.
TERMINAL_STAGES = ("admitted_grades", "opening_runs", "terminal_changes")


@pytest.fixture(scope="module")
def forced(tmp_path_factory):
    rng = random.Random(5)
    rows = with_checkpoints(rng, random_archive(rng, archives=2, costs=(4, 6, 7, 9)))
    with replayed(tmp_path_factory.mktemp("forced"), rows, terminals=("all",)) as con:
        yield con


def test_the_grain_identifies_a_row(con, stepped, forced, tables):
    wrong = []
    for name in (*STAGES, *sorted(PUT_IN), *engine.list_tables()):
        at = stepped if name in LEDGER_STAGES else con
        is_of_terminals = engine.find_file(name).startswith("terminals") or name in TERMINAL_STAGES
        at = forced if is_of_terminals else at
        keys = ", ".join(f'"{key}"' for key in split_names(engine.read_header(name)["grain"]))
        ((rows, distinct),) = at.execute(
            f"select count(*), count(distinct ({keys})) from {rows_of(at, name, tables)}"
        ).fetchall()
        wrong += [(name, rows, distinct)] if not rows == distinct > 0 else []
    assert wrong == []


def test_a_table_is_sorted_by_its_grain(tables):
    for name in engine.list_tables():
        rows = tables[name].select(split_names(engine.read_header(name)["grain"])).to_pylist()
        # Rows without another archive come first.
        keys = [tuple("" if cell is None else cell for cell in row.values()) for row in rows]
        assert keys == sorted(keys), name


def reached(name, reads):
    """What a relation is made from, directly or through another."""
    seen, ahead = set(), [name]
    while ahead:
        for relation in reads.get(ahead.pop(), frozenset()) - seen:
            seen.add(relation)
            ahead.append(relation)
    return seen


def test_no_stage_of_a_blind_folder_reads_a_label_directly_or_through_another():
    unkept = [name for name in UNBUILT if engine.find_file(name).startswith(BLIND_FOLDERS)]
    reads = {name: engine.parse_relations(engine.render(name)) for name in [*STAGES, *unkept]}
    for name in [*BLIND, *unkept]:
        assert not reached(name, reads) & LABELLED, name


def test_what_is_built_in_portions_is_told_by_lineage():
    """A stage that looks at some walks at a time reads the variables, itself or through a view."""
    plugins = Plugins(policies=engine.load_plugins("policies"))
    reads = {name: engine.parse_relations(engine.render(name, plugins)) for name in STAGES}
    views = {name: read for name, read in reads.items() if name not in {*TABLES, *LAZY}}
    portioned = {
        name
        for name in (*TABLES, *LAZY)
        if name in reads and "getvariable()" in reached(name, {**views, name: reads[name]})
    }
    # The canonical orders go through a view that may look at some walks; they are made before.
    assert {*PORTIONED} <= portioned
    assert portioned & {*TABLES} - {"eligible_attempts"} <= {*PORTIONED}
    first = min(STAGES.index(name) for name in PORTIONED)
    assert STAGES.index("eligible_attempts") < first


def test_plugins_read_only_what_they_may():
    for kind in KINDS:
        for plugin in engine.load_plugins(kind):
            assert engine.parse_relations(plugin.sql) <= KINDS[kind].may_read, plugin.name


def test_every_stage_reads_only_what_was_built_before_it():
    built = {"attempts", "raw_answers", "grades", *engine.SETTING_RELATIONS}
    built |= {"texts", "token_counts", "prefix_cuts", "problem_names", "meta", "steps", "scores"}
    built |= {"checkpoints", "checkpoint_grades"}
    for stage in engine.STAGE_NAMES:
        if stage not in DRAWN:
            read = engine.parse_relations(engine.render(stage)) - {"getvariable()"}
            assert read <= built, stage
        built.add(stage)


def test_names_after_from_and_join_tell_of_our_files_what_is_parsed():
    plugins = Plugins(policies=engine.load_plugins("policies"))
    relations = {*REPLAY_RELATIONS, *LOADED}
    for name in (*STAGES, *engine.list_tables()):
        sql = engine.render(name, plugins)
        named, read = scan_relations(sql) & relations, engine.parse_relations(sql) & relations
        # Some files name what they put in as common table expressions.
        assert named - {"walked_attempts"} == read - {"walked_attempts"} or (
            name == "majority_rules" and named > read
        ), name
        assert bool(named & TOKEN_RELATIONS) == bool(read & TOKEN_RELATIONS), name


def test_lineage_sees_through_common_table_expressions_and_subqueries():
    sql = """
        with a as (select * from banks)
        select * from a, (select 1 from grades) where 1 in (from labels)
    """
    assert engine.parse_relations(sql) == {"banks", "grades", "labels"}


def test_selection_builds_without_any_label_in_the_database(tmp_path):
    with small_database(tmp_path) as con:
        compared = ("picks", "stops")
        kept = {name: con.sql(f"from {name} order by all").fetchall() for name in compared}
        con.execute("attach ':memory:' as blind")
        con.execute("use blind")
        needed = ("attempts", "steps", "scores", "problem_names", "drawn_orders")
        for name in (*needed, *engine.SETTING_RELATIONS):
            con.execute(f"create table {name} as from small.{name}")
        for name in BLIND:
            engine.build(con, name, engine.Plugins())
        assert not {"labels", "grades"} & {
            name
            for (name,) in con.execute(
                "select table_name from duckdb_tables() where database_name = 'blind'"
            ).fetchall()
        }
        for name in compared:
            assert con.sql(f"from {name} order by all").fetchall() == kept[name]
