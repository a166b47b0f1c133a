"""A run's folder that somebody else has had in hands: nothing of it is believed."""

import copy
import functools
import json
import os
import random
import shutil
import threading
import time
from itertools import product

import duckdb
import pytest

from audit import database
from audit.database.schema import LINKED
from audit.errors import AuditError
from audit.options import TaskLimits
from audit.query.run import query
from audit.scale import extract, gather, part, plan, run
from audit.scale.folders import appearing, check_files, read_receipt
from tests.support.archives import attempt, write_parquet
from tests.support.runs import copy_of, made, planned

LIMITS = TaskLimits()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("strange")
    rows = [
        attempt(seed, 4 + seed, str(seed % 3), question=question, correct=seed % 3 == 0)
        for question in range(3)
        for seed in range(5)
    ]
    write_parquet(rows, folder / "a.parquet")
    return made(planned(folder / "run", [folder / "a.parquet"], 2))


@pytest.fixture(scope="module")
def kept(tmp_path_factory, whole):
    """A folder with a copy of the run and a database that is linked to it, and a spare one."""
    folder = tmp_path_factory.mktemp("linked")
    gather.gather(copy_of(whole, folder / "used" / "run"), folder / "used" / "g.duckdb", link=True)
    shutil.copytree(folder / "used", folder / "spare")
    return folder


@pytest.fixture
def linked(kept):
    """A run and a database that is linked to it, which a test may spoil: the next finds another."""
    yield kept / "used" / "run", kept / "used" / "g.duckdb"
    # The database names the place of the run, so that the spare one has to take the same.
    shutil.rmtree(kept / "used")
    shutil.copytree(kept / "spare", kept / "used")


def line(function, *arguments, **options):
    with pytest.raises(AuditError) as error:
        function(*arguments, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


# Links and views.


def in_place_of_parts(folder):
    folder.joinpath("parts").rename(folder / "elsewhere")
    folder.joinpath("parts").symlink_to("/")


def in_place_of_a_part(folder):
    folder.joinpath("parts", "00000").rename(folder / "elsewhere")
    folder.joinpath("parts", "00000").symlink_to(folder / "elsewhere")


def in_place_of_a_file(folder):
    path = folder / "parts" / "00001" / "walked_attempts.parquet"
    path.rename(folder / "elsewhere.parquet")
    path.symlink_to(folder / "elsewhere.parquet")


def in_place_of_the_run(folder):
    folder.rename(folder.with_name("elsewhere"))
    folder.symlink_to(folder.with_name("elsewhere"))


@pytest.mark.parametrize(
    "spoil",
    [in_place_of_parts, in_place_of_a_part, in_place_of_a_file, in_place_of_the_run],
    ids=lambda value: value.__name__,
)
def test_a_linked_database_whose_run_holds_a_link_is_refused(linked, spoil):
    folder, db = linked
    spoil(folder)
    assert "which holds the link" in line(database.connect, db, read_only=True)


def replaced_by_a_pipe(path):
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize("spoil", [replaced_by_a_pipe, os.unlink], ids=["a pipe", "nothing"])
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("manifest.json", "which is not there; put it back"),
        ("parts/00001/walked_attempts.parquet", "where there is no file"),
    ],
)
def test_a_linked_database_waits_for_nothing_in_the_place_of_a_file(linked, spoil, name, words):
    folder, db = linked
    spoil(folder / name)
    assert words in line(database.connect, db, read_only=True)


@pytest.mark.parametrize("name", ["manifest.json", "parts/00001/walked_attempts.parquet"])
def test_a_run_with_a_pipe_in_the_place_of_a_file_is_not_gathered(tmp_path, whole, name):
    folder = copy_of(whole, tmp_path / "run")
    replaced_by_a_pipe(folder / name)
    line(gather.gather, folder, tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()


def test_a_run_that_holds_a_link_is_not_gathered(tmp_path, whole):
    folder = copy_of(whole, tmp_path / "run")
    in_place_of_a_file(folder)
    assert "is a link" in line(gather.gather, folder, tmp_path / "none.duckdb")
    assert not (tmp_path / "none.duckdb").exists()


@pytest.mark.parametrize(
    "sql",
    [
        "from read_text('{run}/manifest.json')",
        "from read_parquet(['{run}/keys/banks.parquet'])",
        "from read_parquet(['{run}/parts/00000/../../keys/banks.parquet'])",
        "select * from read_parquet(['{run}/parts/00000/planted.parquet']) limit 1",
        "from read_csv('{run}/parts/00000/receipt.json')",
    ],
)
def test_a_planted_view_is_refused(linked, sql):
    folder, db = linked
    shutil.copy(
        folder / "parts" / "00000" / "attempts.parquet",
        folder / "parts" / "00000" / "planted.parquet",
    )
    with duckdb.connect(str(db)) as con:
        con.execute(f"create view planted as {sql.format(run=folder)}")
    said = line(database.connect, db, read_only=True)
    assert "the view 'planted' reads files that are not its run's" in said


def test_a_linked_database_reaches_the_files_of_its_views_alone(linked):
    folder, db = linked
    with database.opened(db, sandbox=True) as con:
        assert query(con, "from walked_attempts").table.num_rows > 0
        for other in ("parts/00000/receipt.json", "parts/00000/attempts.parquet", "manifest.json"):
            with pytest.raises(AuditError, match="Permission"):
                query(con, f"select * from read_blob('{folder / other}')")


def test_a_database_that_calls_another_folder_its_run_is_refused(linked, tmp_path):
    folder, db = linked
    shutil.copytree(folder, tmp_path / "other")
    with duckdb.connect(str(db)) as con:
        con.execute("update meta set value = ? where key = ?", [str(tmp_path / "other"), LINKED])
    assert "reads files" in line(database.connect, db, read_only=True)


# Two runs at a time.


def test_what_another_process_is_writing_stays_and_what_a_dead_one_left_goes(tmp_path, whole):
    folder = copy_of(whole, tmp_path / "run")
    begun, may_end = threading.Event(), threading.Event()

    def write():
        with appearing(folder / "parts" / "00007") as partial:
            begun.set()
            assert may_end.wait(60)
            (partial / "receipt.json").write_text("{}")

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(60)
    host = next((folder / "parts").glob(".00007.*")).name.split(".")[2].rsplit("-", 2)[0]
    dead = folder / "parts" / f".00003.{host}-{2**22 + 1}-ab12"
    elsewhere = folder / "parts" / ".00004.another-host-1-ab12"
    long_gone = folder / "parts" / ".00005.another-host-1-ab12"
    for one in (dead, elsewhere, long_gone):
        one.mkdir()
    os.utime(long_gone, (time.time() - 10**6,) * 2)
    assert run.run(folder) == (0, 0)
    assert not dead.exists() and not long_gone.exists() and elsewhere.exists()
    may_end.set()
    writer.join()
    assert (folder / "parts" / "00007" / "receipt.json").exists()


# A manifest that is tampered with and signed anew.


def signed(folder, content):
    """Write a manifest with the hash of what it holds."""
    rest = {key: value for key, value in content.items() if key != "id"}
    (folder / "manifest.json").write_text(json.dumps(plan._with_id(rest)))


def places(content, path=()):
    """The paths of every value in a manifest or receipt; of many alike the first two."""
    if isinstance(content, dict):
        items = list(content.items())
    elif isinstance(content, list):
        items = list(enumerate(content))[:2]
    else:
        return
    if path and path[-1] in ("sql", "versions", "files"):
        items = items[:2]
    for key, value in items:
        if key != "id":
            yield (*path, key)
            yield from places(value, (*path, key))


def spoiled(content, path, value):
    """A copy with another value in one place, or without the place."""
    found = copy.deepcopy(content)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return found


WRONG = (..., None, True, -1, 2.5, "x", "", [], ["x"], [[1]], {}, {"x": 1}, 10**400, "\x00")
# One of three always, which has every place and every value; all with the slow tests.
STRIDES = pytest.mark.parametrize("stride", [3, pytest.param(1, marks=pytest.mark.slow)])


def wrongs(content, stride):
    """Places and values that are wrong there, one of so many."""
    return list(product(places(content), WRONG))[::stride]


@STRIDES
def test_a_manifest_that_is_signed_anew_gives_one_line_or_a_plan(tmp_path, whole, stride):
    folder = copy_of(whole, tmp_path / "run")
    content = json.loads((folder / "manifest.json").read_text())
    refused = accepted = 0
    for path, value in wrongs(content, stride):
        signed(folder, spoiled(content, path, value))
        try:
            plan.read_manifest(folder)
            accepted += 1
        except AuditError as error:
            assert "\n" not in str(error), (path, value)
            refused += 1
    assert refused > 500 / stride and accepted > 50 / stride


@pytest.mark.slow
def test_what_is_accepted_of_such_a_manifest_ends_in_one_line_or_works(tmp_path, whole):
    content = json.loads((whole / "manifest.json").read_text())
    rng = random.Random(5)
    asked = wrongs(content, 1)
    tried = 0
    for number, (path, value) in enumerate(rng.sample(asked, len(asked))):
        folder = tmp_path / str(number)
        folder.mkdir()
        signed(folder, spoiled(content, path, value))
        try:
            plan.read_manifest(folder)
        except AuditError:
            continue
        tried += 1
        try:
            extract.extract(folder, 0, LIMITS)
            part.part(folder, 0, LIMITS)
            part.part(folder, 1, LIMITS)
            gather.gather(folder, folder / "g.duckdb")
        except AuditError as error:
            assert "\n" not in str(error), (path, value)
        if tried == 12:
            break
    assert tried == 12


@STRIDES
@pytest.mark.parametrize("place", ["attempts/00000", "keys", "parts/00000"])
def test_a_receipt_that_says_something_else_gives_one_line_or_is_one(
    tmp_path, whole, place, stride
):
    folder = copy_of(whole, tmp_path / "run") / place
    content = json.loads((folder / "receipt.json").read_text())
    for path, value in wrongs(content, stride):
        held = functools.reduce(lambda inner, key: inner[key], path, content)
        (folder / "receipt.json").write_text(json.dumps(spoiled(content, path, value)))
        try:
            receipt = read_receipt(folder)
        except AuditError as error:
            assert "\n" not in str(error), (path, value)
            continue
        # A text may say anything and a list may be empty; a number stays one.
        if isinstance(held, bool | int | float):
            read = functools.reduce(lambda inner, key: inner[key], path, receipt)
            assert type(read) is type(held) or isinstance(held, float), (path, value)


def test_a_part_is_not_made_of_a_receipt_that_is_tampered_with(tmp_path, whole):
    folder = copy_of(whole, tmp_path / "run")
    shutil.rmtree(folder / "parts")
    content = json.loads((folder / "keys" / "receipt.json").read_text())
    content["settings"]["caps"] = "x"
    (folder / "keys" / "receipt.json").write_text(json.dumps(content))
    with pytest.raises(AuditError, match=r"keys.receipt.json: is damaged: caps is not"):
        part.part(folder, 0, LIMITS)


def test_a_receipt_that_leaves_out_a_file_of_its_folder_is_refused(tmp_path, whole):
    folder = sorted((copy_of(whole, tmp_path / "run") / "parts").iterdir())[0]
    content = json.loads((folder / "receipt.json").read_text())
    name = sorted(content["files"])[0]
    del content["files"][name]
    with pytest.raises(AuditError, match=f"does not name {name}.parquet; remove"):
        check_files(folder, content)
