"""Count tokens and cut prefixes of attempts in parallel; store results beyond a replay."""

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple, TypeVar

import duckdb
import pyarrow as pa

from audit.ahead import in_order
from audit.answers.normal_form import rewrite_number
from audit.database import cursor, lacks_texts, require_attempts, require_replays, transaction
from audit.database.schema import KEY, read_fact, store_fact
from audit.engine import make_stale, render
from audit.errors import AuditError
from audit.output.headings import replayed_unit
from audit.progress import Progress
from audit.tokens import counting
from audit.tokens.counting import CountedText
from audit.tokens.encodings import DEFAULT, Encoding, find_encoding, name_encoding

Look = TypeVar("Look")
# Attempts between two commits: at most these are lost by an interrupt.
COMMIT_EVERY = 2000
# Texts read and handed to a thread at once, and batches waiting per thread: texts are long.
BATCH_TEXTS = 32
AHEAD = 2


@dataclass(frozen=True)
class TokenSummary:
    """The result of `tokenize`: the encoding, and numbers of attempts and tokens."""

    encoding: str
    attempts: int
    tokens: int
    reconciled: int


def tokenize(
    con: duckdb.DuckDBPyConnection,
    tokenizer: str | Encoding | None = None,
    *,
    everything: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TokenSummary:
    """Count tokens of the attempts at budget boundaries, or of all, and cut their prefixes.

    The default tokenizer is the one used last. Attempts that are counted already are skipped, and
    an interrupted run keeps what it has committed.
    """
    _require_texts(con)
    has_events = read_fact(con, "replays") == "fresh"
    if not everything:
        require_replays(con)
    if has_events:
        _require_tokens(con)
    if tokenizer is None:
        tokenizer = read_fact(con, "tokenizer") or DEFAULT
    with transaction(con):
        given, name = _name_tokenizer(tokenizer)
        store_fact(con, "tokenizer", given)
        store_fact(con, "encoding", name)
        attempts = _select_attempts(con, has_events, everything)
        # A missing tokenizer raises here, so that the transaction is rolled back.
        encoding = find_encoding(tokenizer) if attempts.num_rows else None
    done = tokens = reconciled = 0
    pending: list[CountedText] = []
    with closing(_process_texts(con, attempts, encoding, counting.count_text, threads)) as looks:
        for done, look in enumerate(looks, 1):
            pending.append(look)
            tokens += look.counted or 0
            reconciled += look.reconciled
            if len(pending) == COMMIT_EVERY:
                _store_counts(con, name, pending)
                pending.clear()
            if progress and (done % BATCH_TEXTS == 0 or done == attempts.num_rows):
                progress(f"{tokens:,} tokens", done, attempts.num_rows)
    _store_counts(con, name, pending)
    return TokenSummary(name, done, tokens, reconciled)


class WrittenSummary(NamedTuple):
    """The result of `write_checkpoints`: numbers of texts, checkpoints and unverified counts."""

    encoding: str
    attempts: int
    checkpoints: int
    unverified: int
    replays_dropped: bool


def write_checkpoints(
    con: duckdb.DuckDBPyConnection,
    tokenizer: str | Encoding | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> WrittenSummary:
    """Store each closed box of a text as a checkpoint, for attempts without such checkpoints.

    A text is skipped if its token count differs from the recorded one by more than one.
    """
    _require_texts(con)
    attempts = con.sql(render("unwritten")).to_arrow_table()
    tokenizer = tokenizer or read_fact(con, "tokenizer") or DEFAULT
    _, name = _name_tokenizer(tokenizer)
    encoding = find_encoding(tokenizer) if attempts.num_rows else None
    form = rewrite_number if read_fact(con, "numbers") else str
    rows: list[tuple[Any, ...]] = []
    unverified = done = 0
    with closing(_process_texts(con, attempts, encoding, counting.find_boxes, threads)) as found:
        for done, text in enumerate(found, 1):
            unverified += not text.reconciled
            rows += [
                (*text.key, at, "written", form(answer), 0, None) for at, answer in text.answers
            ]
            if progress and (done % BATCH_TEXTS == 0 or done == attempts.num_rows):
                progress(f"{len(rows):,} checkpoints", done, attempts.num_rows)
    is_stale = False
    if rows:
        with transaction(con):
            _insert_new(con, "checkpoints", rows, 6)
            is_stale = make_stale(con, "checkpoints were written")
    return WrittenSummary(name, done, len(rows), unverified, is_stale)


def _require_texts(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a database that holds no attempts, or no texts of them."""
    require_attempts(con)
    if lacks_texts(con):
        raise AuditError("tokenize needs texts, and a database made by 'gather' holds none")


def _require_tokens(con: duckdb.DuckDBPyConnection) -> None:
    """Refuse a replay whose budgets count another unit than completion tokens."""
    unit = replayed_unit(con)
    if unit.name != "completion":
        raise AuditError(
            f"tokenize: the last replay's budgets count {unit.measures}, and prefixes are "
            "cut at completion tokens; replay with --unit completion first"
        )


def _name_tokenizer(tokenizer: str | Encoding) -> tuple[str, str]:
    """Return the tokenizer as the user gave it, and the name stored with its counts."""
    if isinstance(tokenizer, Encoding):
        return tokenizer.name, tokenizer.name
    return tokenizer, name_encoding(tokenizer)


def _select_attempts(
    con: duckdb.DuckDBPyConnection, has_events: bool, everything: bool
) -> pa.Table:
    """Select the attempts to count: their keys, recorded tokens and cut positions."""
    queries = [render("awaited")] if has_events else []
    if everything:
        queries.append(f"select *, []::bigint[] as cuts from ({render('uncounted')})")
    key, union = ", ".join(KEY), " union all ".join(f"({query})" for query in queries)
    columns = f"{key}, any_value(recorded) as recorded, flatten(list(cuts)) as cuts"
    return con.sql(f"select {columns} from ({union}) group by {key}").to_arrow_table()


def _process_texts(
    con: duckdb.DuckDBPyConnection,
    attempts: pa.Table,
    encoding: Encoding | None,
    look_at: Callable[..., Look],
    threads: int | None,
) -> Generator[Look, None, None]:
    """Call `look_at` for the text of each attempt, in threads, with few texts in memory.

    `look_at` takes the encoding, the key, the text, and the other columns of `attempts`.
    """
    if encoding is None:
        return  # There are no attempts to count.

    def look_at_batch(batch: pa.RecordBatch) -> list[Look]:
        keys = zip(*(batch[name].to_pylist() for name in KEY), strict=True)
        others = (batch[name].to_pylist() for name in attempts.schema.names if name not in KEY)
        # One text at a time becomes a Python string.
        texts = (text.as_py() for text in batch["text"])
        return [look_at(encoding, *row) for row in zip(keys, texts, *others, strict=True)]

    # A second connection reads, because a commit on the first one would end the stream.
    with cursor(con) as reader:
        reader.register("attempts_to_count", attempts)
        batches = reader.sql(
            f"select * from texts inner join attempts_to_count using ({', '.join(KEY)})"
        ).to_arrow_reader(BATCH_TEXTS)
        threads = threads or os.cpu_count() or 1
        with closing(in_order(look_at_batch, batches, threads, AHEAD)) as looks:
            yield from chain.from_iterable(looks)


def _store_counts(con: duckdb.DuckDBPyConnection, name: str, texts: Sequence[CountedText]) -> None:
    """Insert the counts and cuts of a batch of attempts, and commit them."""
    counts = [(*text.key, name, text.counted, text.reconciled) for text in texts]
    cuts = [(*text.key, name, *cut) for text in texts for cut in text.cuts]
    with transaction(con):
        _insert_new(con, "token_counts", counts, 5)
        _insert_new(con, "prefix_cuts", cuts, 6)


def _insert_new(
    con: duckdb.DuckDBPyConnection, table: str, rows: Sequence[tuple[Any, ...]], keys: int
) -> None:
    """Insert rows into a table, except those whose first `keys` columns are already there.

    An attempt that a later replay cuts at another place already has its count.
    """
    if rows:
        names = con.sql(f"from {table}").columns
        columns = map(list, zip(*rows, strict=True))
        con.register("found", pa.table(dict(zip(names, columns, strict=True))))
        con.execute(
            f"insert into {table} by name "
            f"select found.* from found anti join {table} using ({', '.join(names[:keys])})"
        )
        con.unregister("found")
