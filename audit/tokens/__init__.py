"""Token counts, and what the interrupted prefixes of boundary events already show.

A prefix is cut on the tokens of the full text, never by tokenizing the prefix again: that would
change the count. Counts and cuts depend on texts alone, so they outlive a replay and a load.
"""

import base64
import functools
import hashlib
import os
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import numpy as np
import pyarrow as pa

from audit.answers import BOX, BRACE, boxed_answer, normalize
from audit.database import lacks_texts, require_attempts, require_replays, transaction
from audit.engine import render
from audit.errors import AuditError, first_line

DEFAULT = "o200k_harmony"
# Both have these ranks; they differ in special tokens, and none of those is read here.
O200K = ("o200k_base", "o200k_harmony")
O200K_TOKENS = 199_998
O200K_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_LEADING, _CONTRACTION = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K_PATTERN = "|".join(
    (
        f"{_LEADING}{_UPPER}*{_LOWER}+{_CONTRACTION}",
        f"{_LEADING}{_UPPER}+{_LOWER}*{_CONTRACTION}",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

# Attempts between two commits: what an interrupt can cost.
COMMIT_EVERY = 2000
# Texts read and handed to a thread at once, and batches waiting per thread: texts are long.
BATCH_TEXTS = 32
AHEAD = 2

KEY = ("archive", "competition", "question_id", "seed")
COUNTS = pa.schema(
    [
        ("archive", pa.string()),
        ("competition", pa.string()),
        ("question_id", pa.int64()),
        ("seed", pa.int64()),
        ("encoding", pa.string()),
        ("counted", pa.int64()),
        ("reconciled", pa.bool_()),
    ]
)
CUTS = pa.schema(
    [
        *(COUNTS.field(name) for name in (*KEY, "encoding")),
        ("remaining", pa.int64()),
        ("any_box", pa.bool_()),
        ("last_box", pa.bool_()),
        ("answer", pa.string()),
    ]
)

Progress = Callable[[str, int, int], None]
Prefixes = Callable[[Sequence[int]], Iterator[str]]


@dataclass(frozen=True)
class Encoding:
    """A tokenizer: the number of a text's tokens, and what gives the text of its first n."""

    name: str
    encode: Callable[[str], tuple[int, Prefixes]]


class Look(NamedTuple):
    """What was found in one attempt; a text that the tokenizer gives up on has no count."""

    key: tuple[str, str, int, int]
    counted: int | None
    reconciled: bool
    cuts: list[tuple[int, bool, bool, str | None]]


@dataclass(frozen=True)
class TokenSummary:
    """What a run has tokenized, and with what."""

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
    """Count the attempts that boundary events wait for, or all, and cut their prefixes.

    Without a tokenizer it is the one used last. What is there already is not done again, and what
    an interrupted run has committed stays.
    """
    require_attempts(con)
    if lacks_texts(con):
        raise AuditError("tokenize needs the texts, and the run that was gathered keeps none")
    is_replayed = con.execute("select 1 from meta where key = 'replays' and value = 'fresh'")
    has_events = bool(is_replayed.fetchall())
    if not everything:
        require_replays(con)
    if tokenizer is None:
        used = con.execute("select value from meta where key = 'tokenizer'").fetchall()
        tokenizer = used[0][0] if used else DEFAULT
    with transaction(con):
        name = _remember(con, tokenizer)
        wanted = _wanted(con, has_events, everything)
        # A tokenizer that cannot be had changes nothing, and none is needed where nothing waits.
        encoding = _encoding(tokenizer) if wanted.num_rows else Encoding(name, _no_encode)
    found = TokenSummary(name, 0, 0, 0)
    pending: list[Look] = []
    with closing(_looks(con, wanted, encoding, threads or os.cpu_count() or 1)) as looks:
        for done, look in enumerate(looks, 1):
            pending.append(look)
            found = TokenSummary(
                name, done, found.tokens + (look.counted or 0), found.reconciled + look.reconciled
            )
            if len(pending) == COMMIT_EVERY:
                _keep(con, name, pending)
                pending.clear()
            if progress and (done % BATCH_TEXTS == 0 or done == wanted.num_rows):
                progress(f"{found.tokens:,} tokens", done, wanted.num_rows)
    _keep(con, name, pending)
    return found


def _remember(con: duckdb.DuckDBPyConnection, tokenizer: str | Encoding) -> str:
    """Make this the current tokenizer; the name of its encoding."""
    asked = tokenizer.name if isinstance(tokenizer, Encoding) else tokenizer
    name = asked if isinstance(tokenizer, Encoding) else encoding_name(tokenizer)
    con.execute("delete from meta where key in ('tokenizer', 'encoding')")
    con.execute("insert into meta values ('tokenizer', ?), ('encoding', ?)", [asked, name])
    return name


def _wanted(con: duckdb.DuckDBPyConnection, has_events: bool, everything: bool) -> pa.Table:
    """The attempts to look at: key, recorded tokens, and where to cut."""
    queries = [render("awaited")] if has_events else []
    if everything:
        queries.append(f"select *, []::bigint[] as cuts from ({render('uncounted')})")
    return con.sql(
        f"""
        select {", ".join(KEY)}, any_value(recorded) as recorded, flatten(list(cuts)) as cuts,
        from ({" union all ".join(f"({query})" for query in queries)})
        group by {", ".join(KEY)}
        """
    ).to_arrow_table()


def _looks(
    con: duckdb.DuckDBPyConnection, wanted: pa.Table, encoding: Encoding, threads: int
) -> Generator[Look, None, None]:
    """Look at every wanted text, in parallel, holding only a few at a time."""
    if not wanted.num_rows:
        return
    # Its own connection: a commit on the other one would end the reading.
    with con.cursor() as reader, ThreadPoolExecutor(threads) as pool:
        reader.register("wanted", wanted)
        batches = reader.sql(
            f"select * from texts inner join wanted using ({', '.join(KEY)})"
        ).to_arrow_reader(BATCH_TEXTS)
        waiting: deque[Future[list[Look]]] = deque()
        try:
            for batch in batches:
                waiting.append(pool.submit(_look_at_batch, encoding, batch))
                if len(waiting) > AHEAD * threads:
                    yield from waiting.popleft().result()
            while waiting:
                yield from waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def _look_at_batch(encoding: Encoding, batch: pa.RecordBatch) -> list[Look]:
    keys = zip(*(batch[name].to_pylist() for name in KEY), strict=True)
    recorded, cuts = (batch[name].to_pylist() for name in ("recorded", "cuts"))
    # One text at a time becomes a Python string.
    texts = (text.as_py() for text in batch["text"])
    return [look(encoding, *row) for row in zip(keys, texts, recorded, cuts, strict=True)]


def look(
    encoding: Encoding,
    key: tuple[str, str, int, int],
    text: str,
    recorded: int,
    cuts: Sequence[int],
) -> Look:
    """Count one text; if the recorded count is the same or one more, cut it and look for boxes."""
    try:
        counted, prefixes = encoding.encode(text)
    except BaseException as error:
        # Not an Exception, so that nobody catches it: how tiktoken ends at a million spaces.
        if type(error).__name__ != "PanicException":
            raise
        return Look(key, None, False, [])
    if recorded - counted not in (0, 1):
        return Look(key, counted, False, [])
    opening = text.find(BOX) if cuts else -1
    found = []
    for remaining, prefix in zip(cuts, prefixes(cuts), strict=True):
        shown = boxes(prefix) if 0 <= opening < len(prefix) else (False, False, None)
        found.append((remaining, *shown))
    return Look(key, counted, True, found)


def boxes(prefix: str) -> tuple[bool, bool, str | None]:
    """Whether there is any box, whether the parser accepts the last one, and the last one's answer.

    The answer is that of the last complete box, by its opening, that normalizes to something.
    """
    last = boxed_answer(prefix)
    answer = last_complete_answer(prefix) if last is None else last
    return answer is not None, last is not None, answer


def last_complete_answer(text: str) -> str | None:
    """The normalized body of the last box that is complete and not empty."""
    complete = sorted(_complete_boxes(text), reverse=True)
    answers = functools.cache(lambda place: normalize(text[slice(*complete[place])]))
    first = 0
    while first < len(complete):
        # A run of boxes each inside the next. Where one is empty so are those inside it, so that
        # a search by halves finds the innermost full one, however deep the boxes nest.
        last = first + 1
        while last < len(complete) and complete[last][1] > complete[last - 1][1]:
            last += 1
        found = bisect_left(
            range(last), True, lo=first, key=lambda place: answers(place) is not None
        )
        if found < last:
            return answers(found)
        first = last
    return None


def _complete_boxes(text: str) -> Iterator[tuple[int, int]]:
    """Where the body of every complete box begins and ends."""
    start = text.find(BOX)
    if start < 0:
        return
    # From the beginning of a run of backslashes, so that they pair as TeX pairs them.
    while start > 0 and text[start - 1] == "\\":
        start -= 1
    openings: list[tuple[bool, int]] = []
    for match in BRACE.finditer(text, start):
        if match[0] in ("{", BOX):
            openings.append((match[0] == BOX, match.end()))
        elif match[0] == "}" and openings:
            is_box, body = openings.pop()
            if is_box:
                yield body, match.start()


def _keep(con: duckdb.DuckDBPyConnection, encoding: str, looks: Sequence[Look]) -> None:
    """Commit what was found."""
    if not looks:
        return
    counts = [(*look.key, encoding, look.counted, look.reconciled) for look in looks]
    cuts = [(*look.key, encoding, *cut) for look in looks for cut in look.cuts]
    with transaction(con):
        for name, schema, rows in (("token_counts", COUNTS, counts), ("prefix_cuts", CUTS, cuts)):
            columns = list(zip(*rows, strict=True)) or [()] * len(schema)
            con.register("looked_at", pa.table([list(c) for c in columns], schema=schema))
            # An attempt that a later replay cuts elsewhere has its count already.
            grain = ", ".join((*KEY, "encoding", *(["remaining"] if rows is cuts else [])))
            con.execute(
                f"insert into {name} by name "
                f"select looked_at.* from looked_at anti join {name} using ({grain})"
            )
            con.unregister("looked_at")


def _no_encode(text: str) -> tuple[int, Prefixes]:
    raise AssertionError("nothing was to be tokenized")


def is_file(tokenizer: str) -> bool:
    """Whether a tokenizer is given as a file and not by name."""
    path = Path(tokenizer)
    return tokenizer.endswith(".json") or path.name != tokenizer or path.is_file()


def encoding_name(tokenizer: str) -> str:
    """What counts are filed under: a file's name says nothing of its content, so its hash is in."""
    if not is_file(tokenizer):
        return tokenizer
    path = Path(tokenizer)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise AuditError(
            f"--tokenizer {tokenizer}: cannot be read: {error.strerror}; give an encoding's name "
            "or a Hugging Face tokenizer.json"
        ) from None
    return f"{path.name} sha256:{hashlib.sha256(content).hexdigest()[:16]}"


def _encoding(tokenizer: str | Encoding) -> Encoding:
    """The tokenizer itself."""
    if isinstance(tokenizer, Encoding):
        return tokenizer
    if is_file(tokenizer):
        return hugging_face_encoding(tokenizer)
    return o200k_encoding(tokenizer) if tokenizer in O200K else tiktoken_encoding(tokenizer)


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise AuditError(
            f"counting tokens needs {name}, which is not installed; "
            "run: pip install 'budget-audit[tokens]'"
        ) from None


def o200k_ranks() -> tuple[list[bytes], bytes]:
    """The o200k tokens by rank, and their file, from the wheel that carries them; no download."""
    source = _library("splintr").Tokenizer.from_pretrained("o200k_base")
    tokens = [source.decode_token_bytes(rank) for rank in range(O200K_TOKENS)]
    file = b"".join(base64.b64encode(token) + b" %d\n" % rank for rank, token in enumerate(tokens))
    if hashlib.sha256(file).hexdigest() != O200K_SHA256:
        raise AuditError(
            "splintr-rs carries other o200k ranks than the published ones "
            f"(sha256 {O200K_SHA256[:16]}…); run: pip install 'budget-audit[tokens]'"
        )
    return tokens, file


@functools.cache  # Building it takes a second.
def o200k_encoding(name: str) -> Encoding:
    """The o200k encoding; special tokens are read as the text they are spelled in."""
    tiktoken = _library("tiktoken")
    tokens, file = o200k_ranks()
    lengths = np.array([len(token) for token in tokens], dtype=np.int32)
    fast = _library("splintr").Tokenizer.from_bytes(file, O200K_PATTERN)
    ranks = {token: rank for rank, token in enumerate(tokens)}
    exact = functools.cache(
        lambda: tiktoken.Encoding(
            name, pat_str=O200K_PATTERN, mergeable_ranks=ranks, special_tokens={}
        )
    )

    def encode(text: str) -> tuple[int, Prefixes]:
        # splintr is several times as fast as tiktoken and gives the same tokens but for one
        # letter: ſ is an s when case is ignored, and the two disagree whether 'ſ is then 's.
        if "ſ" in text:
            ids = np.array(exact().encode_ordinary(text), dtype=np.uint32)
        else:
            ids = np.frombuffer(fast.encode_flat(text), dtype="<u4")
        return len(ids), _cutter(text, ids, lengths)

    return Encoding(name, encode)


@functools.cache
def tiktoken_encoding(name: str) -> Encoding:
    """One of tiktoken's encodings, which it may have to download."""
    tiktoken = _library("tiktoken")
    if name not in (known := sorted({*tiktoken.list_encoding_names(), *O200K})):
        raise AuditError(
            f"--tokenizer {name}: no such encoding; there are {', '.join(known)}, "
            "or give the path of a Hugging Face tokenizer.json"
        )
    try:
        encoding = tiktoken.get_encoding(name)
    except Exception as error:
        # Whatever the download ends with.
        raise AuditError(
            f"--tokenizer {name}: tiktoken could not download it ({type(error).__name__}); "
            f"{' and '.join(O200K)} need no download"
        ) from None
    lengths = np.zeros(encoding.n_vocab, dtype=np.int32)
    for token in encoding.token_byte_values():
        lengths[encoding.encode_single_token(token)] = len(token)

    def encode(text: str) -> tuple[int, Prefixes]:
        ids = np.array(encoding.encode_ordinary(text), dtype=np.uint32)
        return len(ids), _cutter(text, ids, lengths)

    return Encoding(name, encode)


def hugging_face_encoding(path: str) -> Encoding:
    """The tokenizer of a tokenizer.json; special tokens are neither added nor recognized."""
    name = encoding_name(path)
    try:
        tokenizer = _library("tokenizers").Tokenizer.from_file(path)
    except AuditError:
        raise
    except Exception as error:
        raise AuditError(
            f"--tokenizer {path}: not a Hugging Face tokenizer.json: {first_line(error)}"
        ) from None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True

    def encode(text: str) -> tuple[int, Prefixes]:
        try:
            # Only the batch call lets other threads run.
            (encoded,) = tokenizer.encode_batch([text], add_special_tokens=False)
        except Exception as error:
            raise AuditError(f"--tokenizer {path}: {first_line(error)}") from None
        count = len(encoded)

        def prefix(n: int) -> str:
            if n == 0 or n >= count:
                return text if n else ""
            # Two tokens of one character both span it: the next one's start leaves it out.
            (_, end), (start, _) = encoded.token_to_chars(n - 1), encoded.token_to_chars(n)
            return text[: min(end, start)]

        return count, functools.partial(map, prefix)

    return Encoding(name, encode)


def _cutter(text: str, ids: np.ndarray, lengths: np.ndarray) -> Prefixes:
    """What cuts a text after so many tokens, by the lengths of all tokens in bytes."""

    def prefixes(cuts: Sequence[int]) -> Iterator[str]:
        sizes = lengths.take(ids[: max(cuts, default=0)])
        ends = (int(sizes[:n].sum()) for n in cuts)
        if text.isascii():
            return (text[:end] for end in ends)
        whole = text.encode()
        # What is invalid in a piece of valid UTF-8 is a last character that is not whole.
        return (whole[:end].decode(errors="ignore") for end in ends)

    return prefixes
