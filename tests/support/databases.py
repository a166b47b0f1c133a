"""Small databases for the tests, loaded and replayed through the tool itself."""

import random
import shutil
import tempfile
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path

from audit import database, engine
from audit.load.load import load
from audit.tokens import Encoding, tokenize
from tests.support.archives import random_archive, write_parquet
from tests.support.ledger import ledger_archive

SMALL = {
    "budgets": (10, 20, 45),
    "caps": (2, 4, 9),
    "primary_cap": 4,
    "orders": 3,
    "replicates": 20,
}


def three_bytes(text):
    """A toy tokenizer: every three bytes are a token, so that characters are cut in two."""
    whole = text.encode()
    return -(-len(whole) // 3), lambda cuts: (whole[: 3 * n].decode(errors="ignore") for n in cuts)


TOY = Encoding("three bytes", three_bytes)


@contextmanager
def _replayed(path, db, rows, answer, settings):
    write_parquet(rows, path)
    con = database.connect(db)
    try:
        load(con, [str(path)], force=True, answer=answer)
        engine.replay(con, **{**SMALL, **settings})
        yield con
    finally:
        con.close()


@contextmanager
def replayed(folder, rows, name="small", answer="boxed", **settings):
    """A replayed database of canonical rows, its tokens counted with a toy tokenizer."""
    path, db = folder / f"{name}.parquet", folder / f"{name}.duckdb"
    with _replayed(path, db, rows, answer, settings) as con:
        if settings.get("unit", "completion") == "completion":
            tokenize(con, TOY)
        yield con


def replayed_in_memory(folder, rows, name="small", answer="boxed", **settings):
    """The same without a file and without counted tokens, which costs a fifth less."""
    return _replayed(folder / f"{name}.parquet", ":memory:", rows, answer, settings)


@cache
def _made(kind, seed, settings):
    """A folder with the files of a small database, made once in a process."""
    # The object is kept by the cache and removes its folder at the end.
    folder = tempfile.TemporaryDirectory(prefix="small-databases-")
    with replayed(Path(folder.name), kind(random.Random(seed)), **dict(settings)):
        return folder


@contextmanager
def _copied(folder, kind, seed, settings):
    """A copy of a small database, which a test may change; files of one's own are read anew."""
    if any(isinstance(value, Path) for value in settings.values()):
        with replayed(folder, kind(random.Random(seed)), **settings) as con:
            yield con
        return
    plain = {key: tuple(v) if isinstance(v, list) else v for key, v in settings.items()}
    made = _made(kind, seed, tuple(sorted(plain.items())))
    shutil.copytree(made.name, folder, dirs_exist_ok=True)
    con = database.connect(folder / "small.duckdb")
    try:
        yield con
    finally:
        con.close()


def tables_of(con, names):
    """Some tables by name; the intervals that they read are made once for all of them."""
    with engine.prepared(con, engine.find_relations_behind(names)):
        return {name: engine.compute_table(con, name) for name in names}


def remember(monkeypatch, tables):
    """Have these tables at hand, for tests of what is made of them."""
    monkeypatch.setattr(engine, "compute_table", lambda con, name: tables[name])
    monkeypatch.setattr(engine, "prepared", lambda *_: nullcontext())


def small_rows(rng):
    """A random archive, full of ties and ragged banks."""
    return random_archive(rng, costs=(4, 6, 7, 9), empty=0.1)


def _ledger_rows(rng):
    return ledger_archive(rng, archives=2, empty=0.1)


def small_database(folder, seed=10, **settings):
    """A replayed random archive, full of ties and ragged banks; seed 10 leaves no table empty."""
    return _copied(folder, small_rows, seed, settings)


def ledger_database(folder, seed=3, **settings):
    """A replayed random archive whose attempts have steps and scores, read by some selector."""
    return _copied(folder, _ledger_rows, seed, {"selectors": "all", "rules": "all", **settings})
