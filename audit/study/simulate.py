"""Simulate archives in the study's shape, calibrated on its published source-record audit."""

import math
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from audit.answers import normalize
from audit.database.leftovers import atomic_file
from audit.errors import AuditError
from audit.progress import Progress
from audit.sources.canonical import COLUMNS

Rng = np.random.Generator
Value = tuple[str, tuple[int, ...]]  # a kind of answer and the numbers in it

SEED = 20260906
FIRST_SEED = 1234
GENERATION_CAP = 32768
SHORTEST = 150  # every text, its last lines included, fits in this many tokens
RECORDS = 2400  # records behind each row of the audit table
MOST_RECORDS = 1_000_000  # of one archive and competition: they are held in memory together
ROW_GROUP = {"final": 4096, "full": 128}  # full texts are long: fewer of them at once


class Audit(NamedTuple):
    """One row of the study's source-record audit: counts, median cost and accuracy."""

    no_box: int
    length: int
    agreement: int
    median: float
    accuracy: float


class Kind(NamedTuple):
    """A kind of answer: its spellings share a normal form, except `apart`, which has another."""

    ranges: tuple[tuple[int, int], ...]  # of the numbers in it
    spellings: tuple[str, ...]
    apart: str | None = None


DATA: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("simulated.toml").read_text(encoding="utf-8")
)
AUDIT = {
    archive: {competition: Audit(**row) for competition, row in rows.items()}
    for archive, rows in DATA["audit"].items()
}
ANSWERS = {kind: Kind(**about) for kind, about in DATA["answers"].items()}
ANSWER_KINDS, CONFLICTS = DATA["answer_kinds"], DATA["conflicts"]
ENDINGS = (
    " as needed.\n\nTherefore the answer is $\\boxed{%s}$",
    " in total.\n\nThe final answer is\n\n\\[\n\\boxed{%s}\n\\]",
    " as needed.\n\n**Answer:** \\boxed{%s}",
    " in total. Thus we get\n\n$$\n\\boxed{%s}\n$$",
)
NO_BOX = " so the answer should be %s."
EMPTY_BOX = " and the final answer is $\\boxed{}$"
UNFINISHED_BOX = " so the answer is $\\boxed{%d"
EARLY_BOX = " Maybe the answer is $\\boxed{%s}$ but we should check.\n\n"
CUT_OFF = (" so the", " and we need", " which gives", " then the number of")

# The o200k pattern for ASCII text without apostrophes, and the pieces of the texts above that
# are more than one token.
PIECE = re.compile(
    r"[^\r\nA-Za-z0-9]?[A-Z]*[a-z]+|[^\r\nA-Za-z0-9]?[A-Z]+[a-z]*|[0-9]{1,3}"
    r"| ?[^\sA-Za-z0-9]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TWO_TOKENS = r"\boxed dfrac tfrac \sqrt \times \right \,\ {\, \] {}$ }}$ )}$ {("
LONG_PIECES = dict.fromkeys([*TWO_TOKENS.split(), "\\[\n", "$$\n", r" \,"], 2)
LONG_PIECES |= {r"\cdot": 3, "{,}": 3}


class Problem(NamedTuple):
    """A simulated problem, the same in both archives: difficulty, answers and references."""

    length: float  # standard score: how long its solutions are
    puzzle: float  # standard score: how hard it is to get right
    right: Value
    traps: list[Value]  # wrong answers that many attempts give
    pull: float  # share of its wrong answers that are traps
    prompt_tokens: int
    references: list[str]


class Stream(NamedTuple):
    """A long run of words that can be cut at any token."""

    text: str
    begins: list[int]  # where in the text each token begins
    paragraphs: list[int]  # tokens that begin a paragraph, with a text's worth of tokens to follow


FILE_COLUMNS = (
    "archive", "competition", "question_id", "seed", "prompt_tokens", "completion_tokens",
    "finish_reason", "text", "archive_answer", "correct", "mean_logprob", "references",
)  # fmt: skip
FILE_SCHEMA = pa.schema(
    {name: COLUMNS[name].type for name in FILE_COLUMNS} | {"text": pa.string()},
    metadata={
        "simulated": "true",
        "description": "Simulated attempts, calibrated on the published source-record audit; "
        "no model wrote them and they stand for no measurement.",
    },
)


def simulate(
    out: str | Path,
    *,
    problems: int = 30,
    attempts: int = 80,
    seed: int = SEED,
    texts: Literal["final", "full"] = "final",
    progress: Progress | None = None,
) -> list[Path]:
    """Write a simulated archive in the study's shape, labelled as simulated; return its files.

    out: the folder for the Parquet files
    problems: problems per competition
    attempts: attempts per problem
    seed: the seed of all chance in it
    texts: only the last lines of each text (final), or all of it (full)
    progress: called with what is done, how much of it, and how much there is
    """
    if problems < 1 or attempts < 1 or problems * attempts > MOST_RECORDS:
        raise AuditError(
            f"cannot simulate {problems} problems x {attempts} attempts: "
            f"give at least 1 of each, and a product of at most {MOST_RECORDS:,}"
        )
    if seed < 0:
        raise AuditError(f"cannot simulate with seed {seed}: give 0 or a positive integer")
    if texts not in ROW_GROUP:
        raise AuditError(f"cannot simulate texts {texts!r}: choose final or full")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise AuditError(f"cannot make the folder {out}: {error.strerror}; give another") from error
    stream = write_words(np.random.default_rng([seed, 0]))
    total = len(AUDIT) * len(ANSWER_KINDS) * problems * attempts
    done = 0
    paths = []
    for number, archive in enumerate(AUDIT):
        path = folder / f"{archive}.parquet"
        with (
            atomic_file(path) as partial,
            pq.ParquetWriter(
                partial, FILE_SCHEMA, compression="zstd", use_dictionary=False
            ) as writer,
        ):
            for t, competition in enumerate(ANSWER_KINDS):
                bank = draw_problems(np.random.default_rng([seed, 1, t]), competition, problems)
                rng = np.random.default_rng([seed, 2, t, number])
                columns = draw_columns(rng, archive, competition, bank, attempts)
                for batch in write_texts(rng, columns, stream, texts):
                    writer.write_batch(batch)
                    done += batch.num_rows
                    if progress:
                        progress("attempts", done, total)
        paths.append(path)
    return paths


def scale_count(count: int, records: int) -> int:
    """Scale a count of the audit table to another number of records."""
    return round(count * records / RECORDS)


def draw_scores(rng: Rng, count: int) -> np.ndarray:
    """Draw normal scores at even quantiles in random order, so that even few problems differ."""
    return rng.permutation([NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)])


def draw_value(rng: Rng, kind: str, other_than: Value | None = None) -> Value:
    """Draw a random answer of one kind, a fraction in lowest terms."""
    while True:
        numbers = tuple(int(rng.integers(low, high + 1)) for low, high in ANSWERS[kind].ranges)
        if (kind, numbers) != other_than and (kind != "fraction" or math.gcd(*numbers) == 1):
            return kind, numbers


def draw_problems(rng: Rng, competition: str, count: int) -> list[Problem]:
    """Draw the problems of a competition; the shortest has an answer of the first kind."""
    lengths = draw_scores(rng, count)
    puzzles = 0.6 * lengths + 0.8 * draw_scores(rng, count)
    ranks = lengths.argsort().argsort()
    problems = []
    for length, puzzle, rank in zip(lengths, puzzles, ranks, strict=True):
        right = draw_value(rng, ANSWER_KINDS[competition][rank % len(ANSWER_KINDS[competition])])
        traps = [draw_value(rng, right[0], right) for _ in range(3)]
        pull = float(rng.uniform(0.35, 0.8))
        prompt_tokens = int(rng.integers(150, 301))
        _, spellings, apart = ANSWERS[right[0]]
        forms = [spellings[0], spellings[1], apart or spellings[2]]
        references = [form % right[1] for form in forms[: rng.integers(1, 4)]]
        problems.append(Problem(length, puzzle, right, traps, pull, prompt_tokens, references))
    return problems


def draw_costs(
    rng: Rng, lengths: np.ndarray, attempts: int, audit: Audit
) -> tuple[np.ndarray, np.ndarray]:
    """Draw costs with the audit's median, capped at the generation limit; and their scores."""
    score = np.repeat(math.sqrt(0.6) * lengths, attempts)
    score += math.sqrt(0.4) * rng.standard_normal(len(score))
    rank = score.argsort(kind="stable")
    finished = len(score) - scale_count(audit.length, len(score))
    middle = float(np.median(score))
    cut = float(score[rank[finished:]].min(initial=math.inf))
    # One log-normal law that has the published median and passes the cap where the cut-off
    # attempts begin; if a row of the audit lacks one of both, use a spread like the others'.
    if audit.median < GENERATION_CAP:
        slope = math.log(GENERATION_CAP / audit.median) / max(cut - middle, 1e-9)
        spread = np.where(score < middle, 0.8, 1.0) * min(max(slope, 0.8), 1.8)
        logs = math.log(audit.median) + spread * (score - middle)
    else:
        logs = math.log(GENERATION_CAP) + 1.4 * (score - min(cut, float(score.max())))
    costs = np.exp(logs).round().astype(np.int64).clip(SHORTEST)
    # Put the middle cost, or the middle two, on the median itself.
    costs[rank[(len(rank) - 1) // 2]] = math.floor(audit.median)
    costs[rank[len(rank) // 2]] = math.ceil(audit.median)
    costs = np.minimum(costs, GENERATION_CAP - 1)
    costs[rank[finished:]] = GENERATION_CAP
    return costs, score


def draw_spelling(rng: Rng, value: Value) -> str:
    """Draw a spelling of an answer: mostly the first, rarely one with another normal form."""
    kind, numbers = value
    _, spellings, apart = ANSWERS[kind]
    pick = rng.random()
    if apart and pick > 0.96:
        return apart % numbers
    return spellings[int(pick / 0.3 * len(spellings)) if pick < 0.3 else 0] % numbers


def draw_columns(
    rng: Rng, archive: str, competition: str, bank: list[Problem], attempts: int
) -> dict[str, Any]:
    """Draw all attempts of an archive in a competition, as columns, without full texts."""
    audit = AUDIT[archive][competition]
    records = len(bank) * attempts
    lengths = np.array([problem.length for problem in bank])
    costs, score = draw_costs(rng, lengths, attempts, audit)
    capped = costs == GENERATION_CAP

    no_box = scale_count(audit.no_box, records)
    stopped_without = max(no_box - int(capped.sum()), min(scale_count(2, records), no_box))
    boxed = np.ones(records, dtype=bool)
    boxed[rng.permutation(np.flatnonzero(~capped))[:stopped_without]] = False
    boxed[rng.permutation(np.flatnonzero(capped))[: no_box - stopped_without]] = False

    wrong_labels = scale_count(CONFLICTS[archive][1], records) if competition == "HMMT25" else 0
    right = draw_right(rng, bank, score, boxed, round(audit.accuracy * records) + wrong_labels)

    # The archive's own parser misreads answers of the shortest problems: 2^{99} becomes 2.
    readable = np.argsort(np.repeat(lengths, attempts), kind="stable")
    readable = readable[boxed[readable]]
    misread = np.zeros(records, dtype=bool)
    misread[readable[: max(len(readable) - scale_count(audit.agreement, records), 0)]] = True
    rows = []
    for i in range(records):
        problem = bank[i // attempts]
        value = problem.right if right[i] else draw_wrong(rng, problem)
        early, ending, raw = write_solution(rng, problem, value, bool(capped[i]), bool(boxed[i]))
        right[i] &= raw is not None
        parsed = normalize(raw)
        answer = parsed if boxed[i] else None
        if misread[i] and parsed:
            parsed = parsed.partition("^")[0] if "^" in parsed else None
        rows.append((early, ending, answer, parsed))
    earlies, endings, answers, archive_answers = (list(c) for c in zip(*rows, strict=True))
    # A weak sign of correctness, so that the likeliest answer is a poorer choice than the vote.
    logprobs = 0.012 * right - 0.02 * score + 0.04 * rng.standard_normal(records) - 0.18
    logprobs[rng.random(records) < 0.004] = math.nan
    if competition == "HMMT25":
        right[draw_mislabelled(rng, bank, answers, CONFLICTS[archive])] = False
    return {
        "archive": [archive] * records,
        "competition": [competition] * records,
        "question_id": np.repeat(np.arange(len(bank)), attempts),
        "seed": np.tile(np.arange(FIRST_SEED, FIRST_SEED + attempts), len(bank)),
        "prompt_tokens": np.repeat([problem.prompt_tokens for problem in bank], attempts),
        "completion_tokens": costs,
        "finish_reason": np.where(capped, "length", "stop"),
        "archive_answer": archive_answers,
        "correct": right,
        "mean_logprob": logprobs.clip(max=-0.005),
        "references": [bank[i // attempts].references for i in range(records)],
        "early": earlies,
        "ending": endings,
    }


def draw_right(
    rng: Rng, bank: list[Problem], score: np.ndarray, boxed: np.ndarray, count: int
) -> np.ndarray:
    """Draw which attempts are right: `count` of them, all with a box.

    Attempts at hard problems are wrong more often, and long attempts most often.
    """
    puzzles = np.repeat([problem.puzzle for problem in bank], len(score) // len(bank))
    luck = rng.logistic(size=len(score)) - 2.9 * puzzles - 0.5 * score
    right = np.zeros(len(score), dtype=bool)
    ranked = np.argsort(np.where(boxed, -luck, np.inf), kind="stable")
    right[ranked[: min(count, int(boxed.sum()))]] = True
    return right


def draw_wrong(rng: Rng, problem: Problem) -> Value:
    """Draw a wrong answer: often one of the problem's traps, most often the first."""
    if rng.random() < problem.pull:
        return problem.traps[int(rng.random() ** 2 * len(problem.traps))]
    return draw_value(rng, problem.right[0], problem.right)


def write_solution(
    rng: Rng, problem: Problem, value: Value, capped: bool, boxed: bool
) -> tuple[str, str, str | None]:
    """Write an early box (or nothing) and the ending of a text; return both and the answer."""
    raw, pick, early = draw_spelling(rng, value), rng.random(), ""
    if rng.random() < 0.07:
        early = EARLY_BOX % draw_spelling(rng, value if rng.random() < 0.6 else problem.traps[0])
    if boxed and capped:
        return EARLY_BOX % raw, CUT_OFF[int(pick * len(CUT_OFF))], raw
    if boxed:
        return early, ENDINGS[int(pick * len(ENDINGS))] % raw, raw
    if capped and pick < 0.9:
        return "", CUT_OFF[int(pick / 0.9 * len(CUT_OFF))], None
    if pick < 0.5:
        return "", NO_BOX % raw, raw
    # The last box is empty or unfinished, so the early one is not the answer.
    return early, EMPTY_BOX if not capped and pick < 0.75 else UNFINISHED_BOX % value[1][0], None


def draw_mislabelled(
    rng: Rng, bank: list[Problem], answers: list[str | None], conflicts: tuple[int, int]
) -> list[int]:
    """Draw right answers to label as wrong, though equal answers are labelled right."""
    groups, labels = conflicts[0], scale_count(conflicts[1], len(answers))
    attempts = len(answers) // len(bank)
    picked: list[int] = []
    for q in rng.permutation(len(bank)):
        share = -(-(labels - len(picked)) // groups) if groups else 0
        accepted = normalize(bank[q].references[0])
        bucket = [i for i in range(q * attempts, (q + 1) * attempts) if answers[i] == accepted]
        if 0 < share <= len(bucket) / 2:
            picked += rng.permutation(bucket)[:share].tolist()
            groups -= 1
    return picked


def count_tokens(text: str) -> int:
    """Count the o200k tokens of a text that this module wrote."""
    return sum(LONG_PIECES.get(piece, 1) for piece in PIECE.findall(text))


def write_words(rng: Rng) -> Stream:
    """Write a stream of random sentences and paragraphs that is longer than any text."""
    openings, words = (np.array(DATA["vocabulary"][name].split()) for name in ("openings", "words"))
    pieces: list[str] = []
    paragraphs = []
    while len(pieces) < 2 * GENERATION_CAP:
        if len(pieces) < GENERATION_CAP // 2:
            paragraphs.append(len(pieces))
        for sentence in range(rng.integers(2, 7)):
            pieces.append(" " * bool(sentence) + openings[rng.integers(len(openings))])
            for clause in range(rng.integers(1, 4)):
                clause_words = words[rng.integers(len(words), size=rng.integers(3, 10))]
                pieces += [","] * bool(clause) + [" " + word for word in clause_words]
            pieces.append(".")
        pieces[-1] = ".\n\n"
    begins = np.cumsum([0] + [len(piece) for piece in pieces])
    return Stream("".join(pieces), begins.tolist(), paragraphs)


def write_texts(
    rng: Rng, columns: dict[str, Any], stream: Stream, texts: str
) -> Iterator[pa.RecordBatch]:
    """Write the texts of the attempts; yield record batches so that few are in memory."""
    recorded = columns["completion_tokens"]
    if texts == "final":
        lengths = rng.integers(60, 120, len(recorded))
    else:
        # A recorded count may include the end of the turn; one in twenty is simply off.
        turn = rng.integers(2, size=len(recorded)) * (recorded < GENERATION_CAP)
        off = rng.integers(2, 60, len(recorded)) * rng.choice([-1, 1], len(recorded))
        lengths = recorded - np.where(rng.random(len(recorded)) < 0.05, off, turn)
    for first in range(0, len(recorded), ROW_GROUP[texts]):
        rows = slice(first, first + ROW_GROUP[texts])
        batch = {name: columns[name][rows] for name in FILE_SCHEMA.names if name != "text"}
        parts = zip(columns["early"][rows], columns["ending"][rows], lengths[rows], strict=True)
        batch["text"] = [compose_text(rng, stream, *part) for part in parts]
        yield pa.RecordBatch.from_pydict(batch, schema=FILE_SCHEMA)


def compose_text(rng: Rng, stream: Stream, early: str, ending: str, tokens: int) -> str:
    """Write a text of `tokens` tokens: words, perhaps a box and more words, and the ending."""
    words = max(int(tokens) - count_tokens(early) - count_tokens(ending), 0)
    before = int(words * rng.uniform(0.2, 0.95)) if early else 0
    text = ""
    for length, part in ((before, early), (words - before, ending)):
        start = stream.paragraphs[rng.integers(len(stream.paragraphs))]
        text += stream.text[stream.begins[start] : stream.begins[start + length]] + part
    return text
