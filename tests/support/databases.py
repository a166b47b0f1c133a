"""Small databases for the tests, loaded and replayed through the tool itself."""

import random
from contextlib import contextmanager

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
def replayed(folder, rows, name="small", answer="boxed", **settings):
    """A replayed database of canonical rows, its tokens counted with a toy tokenizer."""
    write_parquet(rows, folder / f"{name}.parquet")
    con = database.connect(folder / f"{name}.duckdb")
    try:
        load(con, [str(folder / f"{name}.parquet")], force=True, answer=answer)
        engine.replay(con, **{**SMALL, **settings})
        if settings.get("unit", "completion") == "completion":
            tokenize(con, TOY)
        yield con
    finally:
        con.close()


def small_database(folder, seed=10, **settings):
    """A replayed random archive, full of ties and ragged banks; seed 10 leaves no table empty."""
    rows = random_archive(random.Random(seed), costs=(4, 6, 7, 9), empty=0.1)
    return replayed(folder, rows, **settings)


def ledger_database(folder, seed=3, **settings):
    """A replayed random archive whose attempts have steps and scores, read by some selector."""
    rows = ledger_archive(random.Random(seed), archives=2, empty=0.1)
    return replayed(folder, rows, **{"selectors": "all", "rules": "all", **settings})
