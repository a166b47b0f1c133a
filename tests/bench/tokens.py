"""Tokens per second of `tokenize` beside the bare libraries, on simulated full texts.

    python -m tests.bench tokens [--problems 8] [--attempts 20] [--rounds 5] [--threads 2]

`tokenize` reads the texts from the database, counts them, cuts the prefixes, looks for boxes and
commits; the bare libraries get the texts in memory and keep nothing. Rounds alternate, so that a
busy machine slows all of them; the best round counts.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from audit import database, engine, tokens
from audit.load.load import load
from audit.study.simulate import simulate
from audit.tokens import encodings


def main(arguments: list[str]) -> None:
    """Print one line per way of counting."""
    parser = argparse.ArgumentParser("python -m tests.bench tokens")
    for name, default in (("problems", 8), ("attempts", 20), ("rounds", 5), ("threads", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder)
        files = simulate(
            out / "full", problems=asked.problems, attempts=asked.attempts, texts="full"
        )
        con = database.connect(out / "bench.duckdb", threads=asked.threads)
        load(con, [str(path) for path in files])
        engine.replay(con, replicates=0)
        measure(con, asked.rounds, asked.threads)
        con.close()


def measure(con, rounds: int, threads: int) -> None:
    """Alternate the ways of counting the same texts."""
    texts = [text for (text,) in con.execute("select text from texts").fetchall()]
    import splintr
    import tiktoken

    ranks, file = encodings.o200k_ranks()
    slow = tiktoken.Encoding(
        "o200k",
        pat_str=encodings.O200K_PATTERN,
        mergeable_ranks={token: rank for rank, token in enumerate(ranks)},
        special_tokens={},
    )
    fast = splintr.Tokenizer.from_bytes(file, encodings.O200K_PATTERN)
    encodings.o200k_encoding(encodings.DEFAULT)
    pool = ThreadPoolExecutor(threads)

    def whole_command() -> int:
        con.execute("delete from token_counts")
        con.execute("delete from prefix_cuts")
        begun = time.perf_counter()
        found = tokens.tokenize(con, everything=True, threads=threads)
        seconds.append(time.perf_counter() - begun)
        return found.tokens

    def timed(count: Callable[[], int]) -> int:
        begun = time.perf_counter()
        total = count()
        seconds.append(time.perf_counter() - begun)
        return total

    ways: dict[str, Callable[[], int]] = {
        "tiktoken, bare": lambda: timed(
            lambda: sum(map(len, slow.encode_ordinary_batch(texts, num_threads=threads)))
        ),
        "splintr, bare": lambda: timed(
            lambda: sum(len(ids) // 4 for ids in pool.map(fast.encode_flat, texts))
        ),
        "budget-audit tokenize --all": whole_command,
    }
    best: dict[str, float] = {}
    counts = set()
    for _ in range(rounds):
        for name, count in ways.items():
            seconds: list[float] = []
            counts.add(count())
            best[name] = min(best.get(name, float("inf")), *seconds)
    (total,) = counts  # All three must have counted the same.
    print(f"{len(texts):,} texts, {total:,} tokens, {threads} threads, best of {rounds} rounds")
    for name, spent in best.items():
        beside = ", ".join(
            f"{best[other] / spent:5.2f} x {other.removesuffix(', bare')}"
            for other in list(ways)[:2]
        )
        print(f"{name:28} {total / spent / 1e6:6.2f} M tokens/s  {beside}")
