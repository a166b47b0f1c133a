"""An option is declared once and arrives everywhere; what it is given is checked by type."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy
import pytest

import audit
from audit import database, engine, options
from audit.cli import main
from audit.engine.prices import read_prices
from audit.engine.settings import read_last_settings, resolve_settings
from audit.errors import AuditError
from audit.options import Planned, Reading, Settings, write_arguments
from tests.support.archives import attempt, write_parquet
from tests.support.command import ROOT, parameters
from tests.support.databases import SMALL
from tests.support.missing import skip


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loaded")
    rows = [
        attempt(seed, 4 + seed, str(seed % 3), question=question, correct=seed % 3 == 0)
        for question in range(2)
        for seed in range(5)
    ]
    write_parquet(rows, folder / "a.parquet")
    audit.load(folder / "a.duckdb", folder / "a.parquet")
    return folder / "a.duckdb"


@pytest.fixture
def db(loaded, tmp_path):
    """A copy, which a test may replay."""
    return shutil.copy(loaded, tmp_path / "a.duckdb")


def refused(function, *args, **kwargs):
    with pytest.raises(AuditError) as error:
        function(*args, **kwargs)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize(
    ("given", "part"),
    [
        ({"orders": True}, "--orders: True is not a whole number"),
        ({"orders": 2.5}, "--orders: 2.5 is not a whole number"),
        ({"orders": "many"}, "--orders: 'many' is neither a whole number nor auto"),
        ({"primary_cap": "8"}, "--primary-cap: '8' is not a whole number"),
        ({"primary_selector": 3}, "--primary-selector: 3 is not a text"),
        ({"effect": "big"}, "--effect: 'big' is not a number"),
        ({"effect": float("nan")}, "--effect: nan is not a number"),
        ({"unit": "euro"}, "--unit euro: must be completion or total"),
        ({"budgets": True}, "--budgets: 'True' is not a number"),
        ({"budgets": b"4k"}, "--budgets: b'4k' is not a number"),
        ({"selectors": 5}, "--selectors: 5 is not a text"),
        ({"budgets": [None]}, "--budgets: 'None' is not a number"),
        ({"archive": [3]}, "--archive: 3 is not a text"),
        ({"threads": True}, "--threads: True is not a whole number"),
        ({"memory": "much"}, "--memory: 'much' is not an amount"),
    ],
)
def test_a_value_of_another_type_is_refused_before_anything_is_written(db, given, part):
    before = db.read_bytes()
    assert part in refused(audit.replay, db, **given)
    assert db.read_bytes() == before


def test_what_is_always_in_a_run_is_in_one_that_names_nothing(db):
    given = {**SMALL, "rules": [], "selectors": [], "policies": []}
    found = dict(zip(*audit.replay(db, **given).to_pydict().values(), strict=True))
    kinds = [found[kind] for kind in ("rules", "selectors", "policies")]
    assert kinds == ["advisory,strict", "majority", ""]


def test_numbers_of_numpy_are_numbers(db):
    settings = {**SMALL, "orders": numpy.int64(2), "budgets": numpy.array([10, 20])}
    found = dict(zip(*audit.replay(db, **settings).to_pydict().values(), strict=True))
    assert found["orders"] == "2" and found["budgets"] == "10,20"


def test_a_stored_setting_that_cannot_be_read_is_replaced_by_the_replay_that_gives_it(db):
    audit.replay(db, **SMALL)
    with database.open_database(db, write=True) as con:
        con.execute("update settings set value = 'True' where key in ('orders', 'replicates')")
    assert "setting orders cannot be read" in refused(audit.replay, db)
    assert "setting orders cannot be read" in refused(audit.table, db, "main")
    assert "setting replicates cannot be read" in refused(audit.replay, db, orders=2)
    audit.replay(db, orders=2, replicates=3)
    with database.open_database(db) as con:
        assert read_last_settings(con) == replace(Settings(**SMALL), orders=2, replicates=3)
        assert con.execute("select count(distinct repeat) from repeats").fetchall() == [(3,)]


def test_a_stored_unit_that_nobody_knows_is_replaced_with_its_budgets(db):
    audit.replay(db, **SMALL)
    with database.open_database(db, write=True) as con:
        con.execute("update settings set value = 'pounds' where key = 'unit'")
        assert "setting unit cannot be read" in refused(resolve_settings, con, {})
        assert "setting unit cannot be read" in refused(resolve_settings, con, {"budgets": "10"})
        found = resolve_settings(con, {"unit": "completion"})
    assert found == replace(Settings(**SMALL), budgets=Settings().budgets)


def test_every_setting_is_written_and_read_by_its_type(db):
    told = {
        "archives": ("a",),
        "competitions": ("C",),
        "problems": (("C", 1),),
        "curve_points": 4,
        "order_seed": 5,
    }
    with database.open_database(db, write=True) as con:
        engine.replay(con, **SMALL, **told)
        assert read_last_settings(con) == Settings(**SMALL, **told)


def test_a_reading_is_written_as_the_arguments_that_give_it():
    reading = Reading(
        mapping={"text": "output.0", "seed": "n"}, finished=("eos", "end"), force=True, archive="m"
    )
    assert list(write_arguments(reading)) == [
        *("--map", "text=output.0", "--map", "seed=n", "--archive", "m"),
        *("--finished", "eos,end", "--force"),
    ]
    assert list(write_arguments(Reading())) == []


def test_the_sets_share_no_parameter_of_a_plan():
    names = [*options.parameters(Reading), *options.parameters(Planned)]
    assert len(names) == len(set(names))
    assert "add_budgets" not in names and "only_archive" in names


# Type checkers and help.

FUNCTIONS = {
    name: getattr(audit, name)
    for name in audit.__all__
    if name not in ("AuditError", "Result", "connect")
}


def calls():
    """Calls of every public function, each with whether a type checker accepts it."""
    for name, function in FUNCTIONS.items():
        parameters = inspect.signature(function).parameters.values()
        required = [one.name for one in parameters if one.default is one.empty]
        given = {one: "1" if one in ("parts", "number") else "'a'" for one in required}
        yield call(name, given), True
        for wrong in ("bugdets", *(one.name for one in parameters)):
            yield call(name, given | {wrong: "object()"}), False


def call(name, given):
    """A call with these arguments."""
    return f"audit.{name}({', '.join(map('='.join, given.items()))})"


def rejected(checker, tmp_path):
    """The lines of a file of calls that a type checker rejects, and those that it should."""
    file = tmp_path / "calls.py"
    lines = list(calls())
    file.write_text("import audit\n" + "\n".join(call for call, _ in lines) + "\n")
    done = subprocess.run([*checker, str(file)], cwd=ROOT, capture_output=True, text=True)
    found = re.findall(r"calls\.py:(\d+)\S* (?:- )?error", done.stdout)
    assert found, done.stdout + done.stderr
    expected = {call for call, is_right in lines if not is_right}
    return {lines[int(number) - 2][0] for number in found}, expected


def test_mypy_rejects_a_misspelt_or_mistyped_argument(tmp_path):
    found, expected = rejected([sys.executable, "-m", "mypy", "--no-error-summary"], tmp_path)
    assert found == expected and len(expected) > 200


@pytest.mark.slow
def test_pyright_rejects_a_misspelt_or_mistyped_argument(tmp_path):
    places = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    pyright = shutil.which("pyright", path=places)
    # The package of PyPI fetches the checker itself from npm when it is first run.
    if not pyright or subprocess.run([pyright, "--version"], capture_output=True).returncode:
        skip("pyright is not installed: pip install 'pyright[nodejs]'", "PYRIGHT")
    found, expected = rejected([pyright, "--pythonpath", sys.executable], tmp_path)
    assert found == expected and len(expected) > 200


@pytest.mark.parametrize("name", sorted(main.commands))
def test_help_of_a_command_explains_every_parameter_of_its_function(name):
    taken = {one.name: one for one in parameters(name)}
    for parameter in inspect.signature(FUNCTIONS[name]).parameters.keys() - {"progress"}:
        option = taken[parameter]
        assert option.param_type_name == "argument" or option.help, parameter


def test_help_says_what_an_option_takes_as_its_field_does():
    taken = {one.name: one for one in parameters("load")}
    assert (taken["map"].metavar, taken["sql"].metavar) == ("CANONICAL=PATH", "FILE|TEXT")
    assert taken["sql"].help.endswith("canonical columns: a .sql file or the text.")


def test_an_argument_that_no_function_takes_is_refused_with_the_nearest(db):
    with pytest.raises(TypeError, match="no keyword argument 'bugdets'; did you mean 'budgets'"):
        audit.replay(db, bugdets=[1])


# Prices.


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "lacks the column archive"),
        ("archive,input,output\n", "holds no price"),
        ("archive,input\na,1\n", "lacks the column output"),
        ("archive,input,output,output\na,1,2,3\n", "column 'output' stands there twice"),
        ("archive,input,output,tax\na,1,2,3\n", "column 'tax' is not a price column"),
        ("archive,input,output\na,1\n", "row 2: has 2 cells for 3 columns"),
        ("archive,input,output\na,1,50,2\n", "decimals take a point"),
        ("archive,input,output\na,1,2\na,1,2\n", "row 3: archive 'a' stands there twice"),
        ("archive,input,output\na,1,-1\n", "a price is a number from 0"),
        ("archive,input,output\na,1,x\n", "output 'x' is not a number"),
        ("archive,input,output\na,1,nan\n", "output 'nan' is not a number"),
        ("archive,input,output\na,1,0.0000001\n", "at most six decimals"),
    ],
)
def test_a_doubtful_file_of_prices_is_refused_by_row(tmp_path, text, part):
    (tmp_path / "p.csv").write_text(text)
    line = refused(read_prices, tmp_path / "p.csv")
    assert part in line and line.startswith("--prices ")


def test_a_name_that_no_file_can_have_is_refused(tmp_path):
    assert refused(read_prices, "a\0b").startswith("--prices a")
    assert read_prices("none") == read_prices("") == ()


def test_prices_are_whole_millionths_in_the_order_of_archives(tmp_path):
    text = "archive,output,input,cached_input\nb,0.2,0.05,\na,10,1.25,0.000001\n"
    (tmp_path / "p.csv").write_text(text)
    assert read_prices(tmp_path / "p.csv") == (
        ("a", 1_250_000, 1, 10_000_000),
        ("b", 50_000, 50_000, 200_000),
    )


@pytest.mark.parametrize(("cached", "noted"), [("2", 1), ("1", 0), ("", 0)])
def test_cached_tokens_that_cost_more_than_others_are_noted(db, tmp_path, cached, noted):
    # 1,5 and 2 with decimal commas, or 5 with a price of cached tokens above that of others.
    (tmp_path / "p.csv").write_text(f"archive,input,output,cached_input\na,1,5,{cached}\n")
    notes = audit.replay(db, prices=tmp_path / "p.csv", orders=1, replicates=20).notes
    assert (
        sum("cached tokens of archive a cost more than others" in note for note in notes) == noted
    )
