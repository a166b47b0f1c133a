"""The commands as functions, and their numbers beside those of the scorio library."""

import ast
import inspect
import pydoc
import random
import re
import shutil
import subprocess
import sys
import tomllib

import numpy
import pyarrow
import pytest

import audit
from audit import engine
from audit.errors import AuditError
from tests.support.archives import attempt, random_archive, write_jsonl, write_parquet
from tests.support.command import ROOT
from tests.support.databases import SMALL, replayed
from tests.support.slow import seeds


@pytest.fixture
def archive(tmp_path):
    write_parquet(random_archive(random.Random(10)), tmp_path / "rows.parquet")
    return tmp_path / "rows.parquet"


@pytest.fixture(scope="module")
def replayed_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("api")
    write_parquet(random_archive(random.Random(10)), folder / "rows.parquet")
    audit.load(folder / "a.duckdb", folder / "rows.parquet")
    audit.replay(folder / "a.duckdb", **SMALL)
    return folder / "a.duckdb"


@pytest.fixture
def db(replayed_once, tmp_path):
    """A copy of a replayed database."""
    return shutil.copy(replayed_once, tmp_path / "a.duckdb")


def test_the_functions_are_the_commands(archive, tmp_path):
    db = tmp_path / "a.duckdb"
    loaded = audit.load(db, archive)
    assert loaded.column_names == ["archive", "attempts", "problems"]
    settings = audit.replay(db, **SMALL)
    assert ("orders", "3") in zip(*settings.to_pydict().values(), strict=True)
    main = audit.table(db, "main")
    counted = audit.query(db, "select archive, count(*) as attempts from attempts group by all")
    for result in (loaded, settings, main, counted):
        assert isinstance(result.to_arrow(), pyarrow.Table) and result.num_rows > 0
    assert sorted(counted["attempts"].to_pylist()) == sorted(loaded["attempts"].to_pylist())
    with audit.connect(db, read_only=True) as con:
        assert engine.compute_table(con, "main") == main


def test_a_connection_serves_as_well_as_a_path_and_stays_open(archive, tmp_path):
    with audit.connect(tmp_path / "a.duckdb") as con:
        audit.load(con, [archive])
        audit.replay(con, **SMALL)
        assert audit.table(con, "main").num_rows > 0
        assert con.execute("select count(*) > 0 from attempts").fetchall() == [(True,)]
    with audit.connect(tmp_path / "a.duckdb", read_only=True) as con:
        assert audit.query(con, "select 1 as one").to_pylist() == [{"one": 1}]


def test_a_refused_load_leaves_no_file(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n")
    for db, sources in ((tmp_path / "a.duckdb", tmp_path / "bad.csv"), (tmp_path / "b.duckdb", [])):
        with pytest.raises(AuditError):
            audit.load(db, sources)
        assert not db.exists()
    with pytest.raises(AuditError, match="no such database"):
        audit.table(tmp_path / "missing.duckdb", "main")


def test_what_the_package_does_not_have_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = audit.nothing


def equal_banks(seed):
    rows = random_archive(random.Random(seed), ragged=False, attempts=7, archives=2)
    # Votes beyond the budget are no test of a majority: everything is returned.
    settings = {"budgets": (10**6,), "caps": (50,), "primary_cap": 50, "orders": 2}
    return rows, settings


def arrays_of(con):
    """Return each archive's labels and eligible answers, a row per problem in canonical order."""
    banks = con.execute(
        """
        select archive, list(correct::bigint order by slot),
            list(case when eligible then answer end order by slot)
        from attempts inner join grades using (archive, competition, question_id, seed)
        group by archive, competition, question_id order by archive, competition, question_id
        """
    ).fetchall()
    for archive in dict.fromkeys(name for name, *_ in banks):
        labels, answers = zip(*[row[1:] for row in banks if row[0] == archive], strict=True)
        yield archive, numpy.array(labels), numpy.array(answers, dtype=object)


@pytest.mark.parametrize("seed", seeds(2, 3))
def test_our_majority_is_scorios_on_every_pool(tmp_path, seed):
    aggregate = pytest.importorskip("scorio.aggregate")
    rows, settings = equal_banks(seed)
    compared = 0
    with replayed(tmp_path, rows, **settings) as con:
        for archive, _, written in arrays_of(con):
            for size in range(1, written.shape[1] + 1):
                answers, index = aggregate.majority_vote(written[:, :size], return_index=True)
                ours = con.execute(
                    """
                    select candidates.answer, coalesce(candidates.slot, -1)
                    from walks
                    inner join used_selectors on used_selectors.selector = 'majority'
                    left join whole_picks as picks
                        on walks.walk_id = picks.walk_id
                        and used_selectors.selector_id = picks.selector_id
                        and $size >= picks.from_position
                        and $size < picks.until_position
                    left join candidates using (candidate_id)
                    where walks.repeat = 0 and walks.archive = $archive
                    order by walks.problem_id
                    """,
                    {"archive": archive, "size": size},
                ).fetchall()
                assert ours == list(zip(answers, index.tolist(), strict=True))
                compared += len(ours)
    assert compared > 0


@pytest.mark.parametrize("seed", seeds(1, 2))
def test_the_label_half_definition_is_scorios_maj_at_k(tmp_path, seed):
    evaluation = pytest.importorskip("scorio.eval")
    rows, settings = equal_banks(20 + seed)
    with replayed(tmp_path, rows, **settings) as con:
        found = {
            row["archive"]: row["strict_accuracy"]
            for row in audit.table(con, "majority_rules").to_pylist()
            if row["definition"] == "label_half"
        }
        for archive, labels, _ in arrays_of(con):
            expected = evaluation.maj_at_k(labels, labels.shape[1])
            assert found[archive] == pytest.approx(100 * expected)


# A first-class way in.

FUNCTIONS = [
    getattr(audit, name)
    for name in audit.__all__
    if name not in ("AuditError", "Result", "connect")
]


def test_the_package_shows_its_functions_before_the_engine_is_there():
    heavy = "{'duckdb', 'pyarrow', 'numpy', 'jinja2'} & set(sys.modules)"
    code = f"import sys, audit; print(*dir(audit)); assert not {heavy}; audit.table; assert {heavy}"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.split() == sorted(audit.__all__)


def test_the_package_shows_its_functions_alone_after_use_too():
    assert audit.tables().num_rows and dir(audit) == sorted(audit.__all__)
    assert not any(inspect.ismodule(getattr(audit, name)) for name in dir(audit))


def test_no_progress_of_duckdb_goes_into_the_output(db):
    code = f"import audit; print(audit.connect({str(db)!r}).execute({PROGRESS!r}).fetchall())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[(False,)]\n"


PROGRESS = "select current_setting('enable_progress_bar')"


def test_types_and_the_version_come_with_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"] and project["project"]["dynamic"] == ["version"]
    assert project["tool"]["hatch"]["version"] == {"path": "audit/__init__.py"}
    assert (ROOT / "audit" / "py.typed").exists()


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_help_names_types_and_explains_every_parameter(function):
    parameters = inspect.signature(function).parameters
    for one in parameters.values():
        assert one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL), one
        assert one.annotation is not one.empty, one
    assert inspect.signature(function).return_annotation is not inspect.Signature.empty
    helped = pydoc.plain(pydoc.render_doc(function))
    assert re.findall(r"^ {4}(\w+): \S", helped, re.MULTILINE) == list(parameters)


def test_the_command_line_calls_the_functions_and_no_room():
    allowed = {"audit", "audit.api", "audit.errors", "audit.options", "audit.progress"}
    allowed |= {"audit.text", "audit.units"}
    for path in (ROOT / "audit" / "cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "audit":
                is_own = node.module.startswith("audit.cli")
                # The type of what is printed, for the checker alone.
                is_type = node.module == "audit.output.result"
                assert is_own or is_type or node.module in allowed, (path, node.module)
                if node.module == "audit":
                    names = {alias.name for alias in node.names}
                    assert names <= {"api", "options", "__version__"}, (path, names)


def test_a_result_is_taken_by_whoever_takes_arrow(db):
    main = audit.table(db, "main")
    rows = main.to_pylist()
    assert len(main) == main.num_rows == len(rows) > 0 and list(main) == rows
    assert main["budget"].to_pylist() == [row["budget"] for row in rows]
    assert pyarrow.table(main) == main.to_arrow()
    assert pyarrow.RecordBatchReader.from_stream(main).read_all() == main.to_arrow()
    polars = pytest.importorskip("polars")
    assert main.to_polars().to_dicts() == rows and polars.DataFrame(main).to_dicts() == rows


def test_a_result_shows_itself(db):
    curves = audit.table(db, "curves")
    assert repr(curves).splitlines()[0].startswith("archive")
    assert "answers: the last boxed answer" in repr(curves) and "\x1b" not in repr(curves)
    shown = curves._repr_html_()
    assert shown.startswith("<table>") and shown.count("<tr>") == 1 + len(curves)
    many = audit.query(db, "from range(100)")
    assert "… 40 of 100 rows" in repr(many) and many._repr_html_().count("<tr>") == 41
    hostile = audit.query(db, "select '<script>' || chr(27) || '[31m' as \"<b>\"")
    assert "<script>" not in hostile._repr_html_() and "\x1b" not in hostile._repr_html_()
    assert "<b>" not in hostile._repr_html_() and "\x1b" not in repr(hostile)


def test_a_replay_says_that_an_edited_plug_in_runs_as_it_was(tmp_path):
    own = tmp_path / "own" / "two.sql"
    own.parent.mkdir()
    text = "select walk_id, cap, 2 as stop_position from tallies cross join caps group by all"
    own.write_text(text)
    db = tmp_path / "a.duckdb"
    write_jsonl([attempt(seed, 10, "1") for seed in range(4)], tmp_path / "a.jsonl")
    audit.load(db, tmp_path / "a.jsonl")
    few = {"orders": 1, "replicates": 0}
    assert not any("edited" in one for one in audit.replay(db, policies=own.parent, **few).notes)
    own.write_text(text.replace("2 as", "3 as"))
    (note,) = [one for one in audit.replay(db, **few).notes if "edited" in one]
    assert note.startswith(str(own)) and note.endswith("read it with --policies")
    assert not any("edited" in one for one in audit.replay(db, policies=own.parent, **few).notes)


def test_problems_are_found_by_their_names(tmp_path):
    rows = [
        attempt(seed, 10, "1", competition=competition) | {"question_id": name}
        for competition, name in (("C", "q2"), ("D", "q18"), ("D", "q8"))
        for seed in range(3)
    ]
    db = tmp_path / "a.duckdb"
    write_jsonl(rows, tmp_path / "a.jsonl")
    audit.load(db, tmp_path / "a.jsonl")
    # The competition is the first that has such a problem; a number is looked up last.
    assert "competition D, question q18" in audit.show(db, question="q18").caption
    assert "competition C, question q2" in audit.show(db, question=0).caption
    assert "competition D, question q8" in audit.show(db, question="1").caption
    with pytest.raises(AuditError, match="--question: no question 'q9'; there are q2, q18, q8"):
        audit.show(db, question="q9")
    # The first loaded problem is not replayed.
    audit.replay(db, orders=0, replicates=0, competition="D")
    for question, name in (("q8", "q8"), (None, "q18")):
        (note,) = audit.timeline(db, tmp_path / "t.svg", question=question).notes
        assert note.endswith(f"--competition D --question {name}")


def test_replays_of_another_version_are_to_be_made_again(db, tmp_path):
    with audit.connect(db) as con:
        con.execute("drop view frontier_totals; create view frontier_totals as select 1 as other")
        con.execute("drop view problem_draws")
    readers = {
        "report": lambda: audit.report(db, tmp_path / "report"),
        "table": lambda: audit.table(db, "frontier"),
        "query": lambda: audit.query(db, "bootstrap_by_hand"),
    }
    # What the same version made and somebody broke is not mended by that hint.
    for read in readers.values():
        with pytest.raises(Exception, match=r"Error") as met:
            read()
        assert "another version" not in str(met.value)
    with audit.connect(db) as con:
        con.execute("update meta set value = 'another' where key = 'replayed_by'")
    for read in readers.values():
        with pytest.raises(AuditError, match=r"another version .* run 'budget-audit replay' again"):
            read()
    audit.replay(db)
    assert readers["query"]().num_rows > 0
