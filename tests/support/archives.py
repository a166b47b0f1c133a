"""Small random archives full of ties, exact boundaries and awkward values, and their files."""

import csv
import json
import math
import random
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

Row = dict[str, Any]

SCHEMA = pyarrow.schema(
    [
        ("archive", pyarrow.string()),
        ("competition", pyarrow.string()),
        ("question_id", pyarrow.int64()),
        ("seed", pyarrow.int64()),
        ("prompt_tokens", pyarrow.int64()),
        ("completion_tokens", pyarrow.int64()),
        ("finish_reason", pyarrow.string()),
        ("text", pyarrow.string()),
        ("boxed_answer", pyarrow.string()),
        ("archive_answer", pyarrow.string()),
        ("correct", pyarrow.bool_()),
        ("mean_logprob", pyarrow.float64()),
        ("references", pyarrow.list_(pyarrow.string())),
    ]
)
COUNTS = [(n, pyarrow.int64()) for n in ("prompt_tokens", "cached_tokens", "completion_tokens")]
# Optional columns of the ledger; any other one is a score.
LEDGER = {
    "cached_tokens": pyarrow.int64(),
    "money": pyarrow.float64(),
    "seconds": pyarrow.float64(),
    "steps": pyarrow.list_(
        pyarrow.struct([*COUNTS, ("money", pyarrow.float64()), ("seconds", pyarrow.float64())])
    ),
}
CHECKPOINT = [
    ("tokens", pyarrow.int64()),
    *(("kind", pyarrow.string()), ("answer", pyarrow.string()), ("cost", pyarrow.int64())),
    *(("certain", pyarrow.bool_()), ("correct", pyarrow.bool_())),
]
LEDGER["checkpoints"] = pyarrow.list_(pyarrow.struct(CHECKPOINT))
ARCHIVES = ("low", "high", "\u00e4rchive_3", 'it\'s "quoted", really')
# U+FF21 and U+1D510 sort one way by code point and the other way in UTF-16.
COMPETITIONS = (
    "AIME24",
    "aime24",
    "007",
    'O\'Brien "Cup", 2025',
    "50%_{x};\\y",
    "\u6570\u5b66",
    "\uff2125",
    "\U0001d510ath",
)
QUESTIONS = (0, 1, 2, 3, 7, 10, 19, 2**33)
SEEDS = (-(2**62), -7, -1, 0, 1, 2, 3, 5, 9, 10, 11, 1234, 1235, 2**31, 2**62)
COSTS = (5, 5, 10, 10, 10, 15, 20, 20, 30, 40)
FINISH_REASONS = ("length", "length", "content_filter", "STOP", "stop ", "tool_calls")
LOGPROBS = (-0.5, -0.5, -0.25, -0.25, -1.0, 0.0, -0.0, 0.125, math.nan, math.inf, -math.inf, None)
# Each line is one answer in forms that normalize to the same thing; no two lines may meet.
ANSWERS = (
    ("7", " 7 ", "07", "+7", "$7$", r"\text{7}", r"{7\,}", r"\left7\right"),
    ("1234", "1,234", "1{,}234", r"1,\!234", "1 234", r"\(1234\)", r"\boxed{1{,}234}"),
    ("1, 234", "1 ,234", r"1,\;234", r"\text{1, 234}"),
    (r"\frac{1}{2}", r"\dfrac{1}{2}", r"\displaystyle\tfrac{1}{2}", r"\mathbf{\frac{ 1 }{ 2 }}"),
    ("0", "-0", "000", "+0", r"\[0\]"),
    (r"\{1\}", r"\left\{1\right\}", r"\{ 1~\}"),
    ("1/2",),
    ("7.",),
)
NOTHING = ("", "  ", r"\,", "{}", "$$", r"\text{ }")
UNBOXED = (
    "no box at all",
    "",
    r"\boxed 7",
    r"\boxed{7} and then \boxed{8",
    r"\boxed{}",
    r"\boxed{ }",
)


def random_text(rng: random.Random, answer: str | None) -> str:
    """A text that ends in this boxed answer, or has no usable last box."""
    if answer is None:
        return rng.choice(UNBOXED)
    before = rng.choice(
        ("", "So ", "first \\boxed{99}, no:\n", "\u2234 \\\\ ", "unfinished \\boxed{ ")
    )
    return before + "\\boxed{" + answer + "}" + rng.choice(("", ".", " \\{ done", "\n"))


def random_row(rng: random.Random, truth: int, choices: list[int], knobs: Row) -> Row:
    """The fields of one attempt below its key; truth and choices are lines of ANSWERS."""
    line = rng.choice(choices)
    forms = ANSWERS[line]
    answer = rng.choice(forms) if rng.random() > knobs["empty"] else None
    extracted: str | None = rng.choice(forms) if rng.random() < 0.8 else rng.choice(ANSWERS[truth])
    if rng.random() < 0.2:
        extracted = rng.choice((None, *NOTHING))
    correct = answer is not None and line == truth
    row: Row = {
        "prompt_tokens": rng.choice((None, 0, 3, 10)),
        "completion_tokens": rng.choice(knobs["costs"]),
        "finish_reason": "stop" if rng.random() < knobs["stop"] else rng.choice(FINISH_REASONS),
        "text": random_text(rng, answer),
        "boxed_answer": None,
        "archive_answer": extracted if knobs["archive_answers"] else None,
        "correct": correct != (rng.random() < knobs["mislabelled"]),
        "mean_logprob": rng.choice(LOGPROBS) if knobs["logprobs"] else rng.choice((None, math.nan)),
        "references": rng.choice(
            (None, [], [rng.choice(ANSWERS[truth])], [rng.choice(ANSWERS[truth]), "12", ""])
        ),
    }
    if rng.random() < knobs["textless"]:
        row["text"] = None
        row["boxed_answer"] = rng.choice(NOTHING[1:]) if answer is None else answer
    elif rng.random() < 0.1 and row["text"]:
        row["boxed_answer"] = "31"  # ignored: the text is there
    return row


def random_archive(
    rng: random.Random,
    *,
    archives: int | None = None,
    competitions: int | None = None,
    problems: int = 3,
    attempts: int = 8,
    ragged: bool = True,
    missing: float = 0.15,
    empty: float = 0.2,
    stop: float = 0.8,
    mislabelled: float = 0.15,
    textless: float = 0.1,
    costs: tuple[int, ...] | None = None,
    archive_answers: bool | None = None,
    logprobs: bool | None = None,
) -> list[Row]:
    """Canonical rows in no order; counts are upper bounds, None lets the generator decide.

    `missing` is the chance that an archive lacks a problem, `empty` that a text has no usable box,
    `stop` that an attempt finished, `mislabelled` that its label is flipped and `textless` that it
    comes with a boxed answer instead of a text.
    """
    names = rng.sample(ARCHIVES, archives or rng.randint(1, 3))
    asked = [
        (competition, question)
        for competition in rng.sample(COMPETITIONS, competitions or rng.randint(1, 3))
        for question in rng.sample(QUESTIONS, rng.randint(1, problems))
    ]
    truths = {problem: rng.randrange(len(ANSWERS)) for problem in asked}
    size = rng.randint(1, attempts)
    rows = []
    for name in names:
        knobs: Row = {
            "empty": 1.0 if rng.random() < 0.1 else empty,
            "stop": stop,
            "mislabelled": mislabelled,
            "textless": textless,
            "costs": costs or rng.choice((COSTS, COSTS, (10,), (4, 6, 7, 9), (*COSTS, 7, 33, 200))),
            "archive_answers": rng.random() < 0.8 if archive_answers is None else archive_answers,
            "logprobs": rng.random() < 0.8 if logprobs is None else logprobs,
        }
        kept = [problem for problem in asked if rng.random() >= missing] or asked[:1]
        for competition, question in kept:
            truth = truths[competition, question]
            # Few different answers, so that votes tie.
            one, two = rng.sample(range(len(ANSWERS)), 2)
            choices = rng.choice(([truth, one], [truth, one, one], [truth, truth, one, two]))
            count = rng.randint(1, attempts) if ragged else size
            for seed in rng.sample(SEEDS, count) if count <= len(SEEDS) else range(count):
                key = {"archive": name, "competition": competition, "question_id": question}
                rows.append(key | {"seed": seed} | random_row(rng, truth, choices, knobs))
    rng.shuffle(rows)
    return rows


def random_settings(rng: random.Random) -> Row:
    """Small replay settings whose budgets meet the costs' boundaries."""
    caps = sorted(rng.sample((1, 3, 4, 6, 8, 100), rng.randint(1, 3)))
    return {
        "budgets": sorted(rng.sample((5, 10, 15, 20, 30, 45, 60, 1000), rng.randint(1, 4))),
        "caps": caps,
        "primary_cap": rng.choice(caps),
        "orders": rng.choice((0, 1, 3, 5, 6)),
        "primary_selector": rng.choice(("majority", "majority", "archive_majority", "max_logprob")),
        "replicates": rng.choice((0, 1, 9, 40)),
    }


def write_parquet(rows: list[Row], path: Path) -> None:
    """Write canonical rows as Parquet, with the optional columns that some row has."""
    names = sorted({name for row in rows for name in row} - set(SCHEMA.names) - {"bank"})
    more = [(name, LEDGER.get(name, pyarrow.float64())) for name in names]
    schema = pyarrow.schema([*SCHEMA, *(pyarrow.field(*field) for field in more)])
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, schema), path)


def write_jsonl(rows: list[Row], path: Path) -> None:
    """Write canonical rows as JSON lines; JSON has no NaN, so what is not finite becomes null."""
    with open(path, "w", encoding="utf-8") as file:
        for row in rows:
            logprob = row.get("mean_logprob")
            if logprob is not None and not math.isfinite(logprob):
                row = row | {"mean_logprob": None}
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")


def write_csv(rows: list[Row], path: Path) -> None:
    """Write rows as CSV, lists and labels as JSON, and None as an empty cell."""
    with open(path, "w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        for row in rows:
            is_json = {name: isinstance(value, bool | list) for name, value in row.items()}
            writer.writerow({n: json.dumps(v) if is_json[n] else v for n, v in row.items()})


def attempt(seed, cost, answer, *, correct=False, finish="stop", archive="a", question=0, **more):
    text = "no box" if answer is None else rf"so \boxed{{{answer}}}"
    return {
        "archive": archive,
        "competition": "C",
        "question_id": question,
        "seed": seed,
        "completion_tokens": cost,
        "finish_reason": finish,
        "text": text,
        "correct": correct,
        **more,
    }
