"""What could be a missing column: guessed by name and by values, and every guess with its reason.

A guess is never the last word: `describe` marks it, and the load that it leads to is tried.
"""

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from audit.answers.extract import NO_ANSWER
from audit.options import Reading
from audit.sources.canonical import ANSWERING
from audit.sources.columns import LONGEST_ANSWER, TURNS, file_stem
from audit.sources.files import Source, SourceFile, excerpt, safe_name
from audit.sources.formats import is_grade, is_number
from audit.sources.formats.flat import is_answer, is_count, is_flag, is_name, is_text, is_whole
from audit.sources.json_stream import small_document
from audit.sources.missing import missing_columns
from audit.sources.paths import EACH, walk
from audit.sources.readers.documents import KEY

# Where the name of a file is the problem.
OF_FILE = "@file"
# Who says what an attempt says, in a list of messages.
SPEAKERS = {"assistant", "model", "agent", "ai", "gpt"}
# Columns side by side that hold a row's attempts.
SIDE_BY_SIDE = re.compile(
    r"(attempt|response|answer|sample|output|generation|completion|pred|prediction|run|try|trial|"
    r"rollout|solution)_?\d+"
)
WRITTEN_LIST = re.compile(r"""\[\s*["'].*["']\s*,?\s*\]""", re.DOTALL)
# What numbers the stages of a training: each is a model of its own.
STAGES = re.compile(r"(^|_)(step|checkpoint|ckpt)$")
# What a row says once, also where it holds several attempts.
PER_ROW = ("question_id", "archive", "competition", "references")
NOTHING_TO_VOTE_ON = "no answer to vote on: attempts are right or wrong by label alone"
LONGEST_NAME = 80
LARGEST_HEADER = 4_000_000


class Guess(NamedTuple):
    """A column or option that was guessed, and why."""

    what: str
    why: str
    # Whether numbers depend on it; a name alone changes none.
    is_serious: bool = True


@dataclass(frozen=True)
class Hint:
    """What a column may be called, what such a column is never called, what its values are."""

    called: str
    fits: Callable[[Any], bool]
    never: str = r"^$"


ASKED = r"prompt|input|question|problem|query|instruct|system|template|task|doc"
HINTS = {
    "archive": Hint(r"model|llm|engine|system|config", is_text, r"prompt|input|output|resp|answer"),
    "competition": Hint(
        r"bench|dataset|task|subject|competition|subset", is_text, r"_id$|idx|desc"
    ),
    "question_id": Hint(
        r"^(id|idx|index|key|uid|no)$|_(id|idx|no|key|uid|index)$|problem|question|instance|^task$|"
        r"^prompt$|^input$|^doc$",
        is_name,
        r"token|len|session|request|run|sample|attempt|seed|trial|rollout|model|type|level|user|"
        r"conversation|_answer|turn|round|step|trace|span|event|eval|message|batch|response|chat",
    ),
    "seed": Hint(
        r"seed|sample|attempt|run|rollout|trial|repeat|epoch|^(idx|index|k|n|try)$|try_",
        is_whole,
        r"turn|round|step|iter|revis|depth|token|len|num_|count|problem|question|time",
    ),
    "prompt_tokens": Hint(
        r"(prompt|input).*(tok|len)|(tok|usage).*(prompt|input)$", is_count, r"max|limit|cache|cost"
    ),
    "completion_tokens": Hint(
        r"tok|len|usage.*(output|completion)$",
        is_count,
        r"prompt|input|max|limit|cache|context|ctx|budget|reason|think|thought|text|per_|cost|"
        r"^(?!.*(output|compl|gener|answer)).*total",
    ),
    "finish_reason": Hint(r"finish|stop|end_?reason|status", is_text, r"stopped|_at$|time"),
    "text": Hint(
        r"resp|out|gen|compl|text|solution|trace|cot|content|^ys?$|reply|said|code|rationale|think|"
        r"predict|raw",
        is_text,
        rf"{ASKED}|time|date|created|stamp|step|target|refer|gold|truth|expected|path|url|^model$|"
        r"^gt|_gt$|human|name|_id$|^id$|type|level|subject|role|error|reason$|version|class|_dir$|"
        r"status|answer$|provider|config",
    ),
    "archive_answer": Hint(
        r"pred|answer|extract|pars|final|^ans$|^boxed$", is_answer, r"score|prompt|token"
    ),
    "correct": Hint(
        r"correct|score|label|acc|right|pass|reward|judg|^ok$|^r$|match|grade|verdict|resolved|"
        r"solved|status$",
        lambda value: is_flag(value) or is_grade(value),
        r"finish|done|success|complet|trunc|sample|loop|flag|stop|valid|error|cache|stream|train|"
        r"time|len|tok|count|num|pass(word|age)|account|accept",
    ),
    "mean_logprob": Hint(r"(mean|avg|average).*log_?prob", is_number),
    "references": Hint(
        r"gold|target|truth|^gt$|ref|answer|expected|solution",
        is_answer,
        r"pred|model|gen|extract|_id$|index$|idx$|refus",
    ),
}
# Objects that hold what was asked, so that no text in them is the model's.
ASKING = re.compile(r"(^|\.)(inputs?|prompt|question|query|instructions?)\.")
# What a model's text is called, and what a worked answer is called, a model's or the problem's.
GENERATED = r"resp|gen|compl|output|reply|said|^ys?$|^code$"
SOLVED = r"solution|rationale|cot|trace|explanation"
OTHER_MODELS = r"judg|grader|scorer|verif|user|embed|reward_model|teacher"
# Where letters are grades.
GRADED = r"grade|verdict|judg|correct|result|status$"
# What finished and cut attempts are called by tools: one of these tells a finish reason.
REASONS = {
    "stop", "length", "eos", "end_turn", "max_tokens", "stop_sequence", "eos_token", "completed",
    "tool_calls", "content_filter", "endoftext", "finished", "abort",
}  # fmt: skip
ENDED = {"stop", "length", "end_turn", "max_tokens", "completed", "finished"}
# Numbers that generation or a judge gave an attempt, and what each is called as a score.
SCORE_NAMES = {
    "reward_model_score": "reward_model", "reward": "reward", "prm_score": "prm",
    "prm_scores": "prm", "orm_score": "orm", "verifier_score": "verifier", "agg_scores": "agg",
    "confidence": "confidence", "min_conf": "min_conf", "pred_score": "pred",
}  # fmt: skip
# Where a text says its answer without a box.
PATTERNS = (
    r"(?i:answer is|answer:)\s*\**\s*\(?([A-J])\)?\**\.?\s*(?:\n|$)",
    r"ANSWER:\s*(.+)",
    r"####\s*(.+)",
    r"(?i)answer\s*:\s*\**\s*(.+?)\.?\s*(?:\n|$)",
    r"(?i)answer is\s*:?\s*\**\s*(.+?)\.?\**\s*(?:\n|$)",
    r"(?s)<answer>\s*(.+?)\s*</answer>",
)
# What stands before a number that counts runs, parts or problems.
COUNTED = {
    "run", "seed", "r", "sample", "attempt", "trial", "rollout", "epoch", "repeat", "rep", "try",
    "iter", "part", "shard", "chunk", "rank", "worker", "batch", "fold", "output", "out", "result",
    "response", "generation", "gen", "problem", "question", "q", "p", "task", "item", "instance",
    "id", "idx", "index", "row", "case", "example", "ex", "",
}  # fmt: skip
NUMBERED_NAME = re.compile(r"(.*?)(\d+)(\D*)")


class Values:
    """The values of the first records by path, one list for each record."""

    def __init__(self, peeks: Sequence[Source]) -> None:
        self.by_path: dict[str, dict[int, list[Any]]] = {}
        self.file_of: list[int] = []
        for number, peek in enumerate(peeks):
            for record in peek.sample:
                at = len(self.file_of)
                self.file_of.append(number)
                for path, value in _values(record, ""):
                    self.by_path.setdefault(path, {}).setdefault(at, []).append(value)

    def turn(self, path: str) -> str | None:
        """A path into messages or parts of one as the only one that says something; else None.

        The items of such a list build on one another: none of them is an attempt.
        """
        prefix = path.split(f".{EACH}")[0]
        roles, kinds = (self.by_path.get(f"{prefix}.{EACH}.{key}") for key in ("role", "type"))
        if roles is None and (kinds is None or not path.endswith((".text", ".content"))):
            return path
        places = {
            tuple(at for at, role in enumerate(roles[row]) if role in SPEAKERS)
            if roles is not None
            else tuple(range(len(values)))
            for row, values in (roles or self.by_path[path]).items()
        }
        place = places.pop() if len(places) == 1 else ()
        return path.replace(EACH, str(place[0]), 1) if len(place) == 1 else None

    def present(self, path: str) -> list[Any]:
        """All values of a path that are not null."""
        return [
            v for values in self.by_path.get(path, {}).values() for v in values if v is not None
        ]

    def lengths(self, path: str) -> dict[int, int]:
        """How many values each record has there."""
        return {at: len(values) for at, values in self.by_path.get(path, {}).items()}

    def is_constant(self, path: str) -> bool:
        """Whether a path says the same everywhere."""
        return len({_key(value) for value in self.present(path)}) < 2

    def groups(self, path: str | None) -> list[list[int]]:
        """The records by what a path says; every record by itself where there is none."""
        if path is None or (path != OF_FILE and path not in self.by_path):
            return [[at] for at in range(len(self.file_of))]
        groups: dict[Any, list[int]] = {}
        keys = ((at, _key(values[0])) for at, values in self.by_path.get(path, {}).items())
        for at, key in enumerate(self.file_of) if path == OF_FILE else keys:
            groups.setdefault(key, []).append(at)
        return list(groups.values())

    def varies(self, path: str, problem: str | None) -> bool:
        """Whether a path varies within problems, or over all where each has one value."""
        within = self.varies_within(path, problem)
        if within is None:
            return len(self.by_path[path]) < 2 or not self.is_constant(path)
        return within

    def varies_within(self, path: str, problem: str | None) -> bool | None:
        """Whether a path varies within problems; None where each of them has one value."""
        values = self.by_path[path]
        groups = [
            [_key(v) for at in group for v in values.get(at, ()) if v is not None]
            for group in self.groups(problem)
        ]
        several = [group for group in groups if len(group) > 1]
        return any(len(set(group)) > 1 for group in several) if several else None

    def is_same_within(self, path: str, problem: str | None) -> bool:
        """Whether a path says one thing for each problem."""
        values = self.by_path[path]
        return all(
            len({_key(v) for at in group for v in values.get(at, ())}) < 2
            for group in self.groups(problem)
        )


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _values(value: Any, path: str, is_listed: bool = False) -> Iterator[tuple[str, Any]]:
    """Every value of a record with its path; the items of a list go by `*`."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _values(inner, f"{path}.{key}" if path else key, is_listed)
    elif isinstance(value, list) and not is_listed:
        for item in value:
            yield from _values(item, f"{path}.{EACH}", True)
    else:
        yield path, value


def unused_paths(mapping: Mapping[str, str], values: Values) -> list[str]:
    """The paths that no column comes from."""
    origins = [origin.partition("~")[0].partition("[")[0] for origin in mapping.values()]
    return [
        path
        for path in values.by_path
        if not any(
            o == path or o.startswith(path + ".") or path.startswith(o + ".") for o in origins
        )
    ]


def is_listed(path: str) -> bool:
    """Whether a path leads to the items of a list."""
    return EACH in path.split(".")


def _last_name(path: str) -> str:
    """The last name of a path, in small letters and with `_` between its words."""
    last = path.removesuffix(f".{EACH}").rsplit(".", 1)[-1]
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", last).lower())


def _counted_name(path: str) -> str:
    """The last name, with the one before it where that says what is counted: usage.output."""
    names = [_last_name(name) for name in path.replace(f".{EACH}", "").split(".")[-2:]]
    return "_".join(names) if re.search("usage|tok", names[0]) else names[-1]


def candidates(
    column: str, values: Values, paths: Sequence[str], attempts_at: str | None
) -> list[str]:
    """The paths that could be a column, going by their names and values."""
    hint = HINTS[column]
    sizes = values.lengths(attempts_at) if attempts_at else {}
    # Where a row has several attempts, what it says once can only be about all of them.
    is_once = column in (*PER_ROW, "finish_reason") or all(size == 1 for size in sizes.values())
    fitting = []
    for path in paths:
        present = values.present(path)
        name = _counted_name(path) if column.endswith("_tokens") else _last_name(path)
        if not present or not all(map(hint.fits, present)) or re.search(hint.never, name):
            continue
        if not re.search(hint.called, name) and not re.search(hint.called, name.removesuffix("s")):
            continue
        if is_listed(path):
            is_beside = attempts_at is not None and values.lengths(path) == sizes
            may_lead = attempts_at is None and column in ("text", "archive_answer")
            if column in PER_ROW or not (is_beside or may_lead):
                continue
        elif attempts_at is not None and not is_once:
            continue
        fitting.append(path)
    return fitting


class _Proposer:
    """Fills what a file lacks, column by column; what was filled is in `mapping` and `guesses`."""

    def __init__(
        self, peeks: Sequence[Source], files: Sequence[SourceFile], options: Reading
    ) -> None:
        self.source = peeks[0]
        self.files = files
        self.values = Values(peeks)
        self.options = options
        self.mapping = dict(options.mapping)
        self.missing = missing_columns(self.source, options)
        self.guesses: list[Guess] = []
        self.extra: dict[str, Any] = {}

    # What is known so far

    def origin(self, column: str) -> str | None:
        """The path that a column comes from, if it is a path of the records."""
        path = self.mapping.get(column, self.source.mapping.get(column))
        return path if path in self.values.by_path else None

    def group(self) -> str | None:
        """What tells the problems of the rows apart: a path of the records, or their file."""
        place = self.mapping.get("question_id", "")
        of_file = place.startswith(("@path", "@file", "@folder"))
        return OF_FILE if of_file else self.origin("question_id")

    def is_several(self) -> bool:
        """Whether a problem has several attempts."""
        if self.attempts_at is not None:
            return True
        return any(len(group) > 1 for group in self.values.groups(self.group()))

    def has(self, column: str) -> bool:
        """Whether a column is there, or was guessed."""
        return column in self.mapping or column in self.source.mapping or column in self.extra

    @property
    def attempts_at(self) -> str | None:
        """The list of attempts, if the layout has one."""
        paths = (*self.mapping.values(), *self.source.mapping.values())
        return next((p for p in paths if is_listed(p) and p in self.values.by_path), None)

    def free(self) -> list[str]:
        """The paths that nothing comes from yet."""
        return unused_paths(self.source.mapping | self.mapping, self.values)

    def candidates(self, column: str) -> list[str]:
        """The paths that could be a column."""
        return candidates(column, self.values, self.free(), self.attempts_at)

    def take(self, column: str, path: str, why: str, is_serious: bool = True) -> None:
        """Take a column from a path or place."""
        self.mapping[column] = path
        self.guesses.append(Guess(column, why, is_serious))

    def take_from(
        self, column: str, path: str, what: str, more: str = "", *, is_serious: bool = True
    ) -> None:
        """Take a column from a path of the records, and say what comes from there."""
        self.take(column, path, f"{what} from {safe_name(path)}{more}", is_serious)

    def settle(self, option: str, value: Any, why: str, is_serious: bool = True) -> None:
        """Take an option that stands in for a column."""
        self.extra[option] = value
        self.guesses.append(Guess(option, why, is_serious))

    # Columns

    def propose_text(self) -> None:
        """The text of an attempt: it varies within a problem, and is longer than its reference."""
        self.refuse_side_by_side()
        paths = [
            path
            for path in self.candidates("text")
            if not TURNS.search(path.split(".")[0].lower())
            and not ASKING.search(path.lower())
            and self.values.turn(path)
        ]
        in_lists = [path for path in paths if is_listed(self.values.turn(path) or "")]
        problem = self.problem_path()
        paths = [p for p in in_lists or paths if self.values.varies(p, problem)]
        # A solution may be the problem's own: that it varies within one tells it is not.
        paths = [
            path
            for path in paths
            if not re.search(SOLVED, _last_name(path)) or self.values.varies_within(path, problem)
        ]
        for preferred in (GENERATED, r"^(?!.*(reason|think))"):
            paths = [p for p in paths if re.search(preferred, _last_name(p))] or paths
        for path in sorted(paths, key=self._length, reverse=True):
            turn = self.values.turn(path)
            if turn is not None and self._length(path) > self._reference_length(path):
                self.take_from("text", turn, "text", ", the longest text that varies")
                return

    def take_long_answer(self) -> None:
        """What goes by an answer's name, and is too long to be voted on, is the text."""
        path = self.origin("archive_answer")
        is_named = "archive_answer" in self.mapping or self.has("text")
        if path and not is_named and self._length(path) > LONGEST_NAME:
            self.take_from("text", path, "text", ": it is too long for an answer")
            self.propose_answer()

    def refuse_side_by_side(self) -> None:
        """Refuse rows that hold their attempts in columns of one name and a number."""
        names = dict.fromkeys(path.split(".")[0] for path in self.values.by_path)
        beside = [name for name in names if SIDE_BY_SIDE.fullmatch(_last_name(name))]
        if len(beside) > 1:
            raise self.files[0].error(
                f"{safe_name(beside[0])} and {safe_name(beside[1])} are attempts side by side; "
                "write a row or an object for each attempt"
            )

    def refuse_written_lists(self) -> None:
        """Refuse texts that are lists of attempts, written into a cell."""
        path = self.mapping.get("text", self.source.mapping.get("text", ""))
        cells = self.values.present(path)
        if cells and all(isinstance(v, str) and WRITTEN_LIST.match(v.strip()) for v in cells):
            raise self.files[0].error(
                f"{safe_name(path)} holds lists that are written as text; write them as JSON "
                "lines, with a list for each problem or a line for each attempt"
            )

    def _length(self, path: str) -> float:
        texts = [value for value in self.values.present(path) if isinstance(value, str)]
        return sum(map(len, texts)) / max(len(texts), 1)

    def _reference_length(self, text: str) -> float:
        paths = [self.origin("references"), *self.candidates("references")]
        short = [p for p in paths if p not in (None, text) and self._length(p) < LONGEST_NAME]
        return max(map(self._length, short), default=0)

    def problem_path(self) -> str | None:
        """What names the problem, as far as it can be told from the rows."""
        if named_path := self.origin("question_id"):
            return named_path
        paths = self.candidates("question_id")
        if "sample_id" in self.values.by_path:
            # Beside an id that repeats, a sample's whole number is the attempt's.
            is_last = any(map(self._repeats, paths)) and all(
                map(is_whole, self.values.present("sample_id"))
            )
            paths = [*paths, "sample_id"] if is_last else ["sample_id", *paths]
        repeated = [p for p in paths if self._repeats(p)]
        varied = [p for p in paths if not self.values.is_constant(p)]
        ids = [p for p in paths if re.search(r"id|idx|index|key|no$", _last_name(p))]
        # One id that all rows share may be that of the run: anything that varies goes before it.
        for kind in (varied, paths):
            for chosen in ([p for p in repeated if p in ids], repeated, ids, paths):
                if fitting := [path for path in chosen if path in kind]:
                    return fitting[0]
        return None

    def _repeats(self, path: str) -> bool:
        groups = self.values.groups(path)
        return 1 < len(groups) < len(self.values.file_of) or (
            len(groups) == 1 and len(self.values.file_of) > 1 and self.attempts_at is None
        )

    def propose_problem(self) -> None:
        """Ids in the rows go before names of files, and both before the number of a row."""
        path = self.problem_path()
        several = len(self.files) > 1
        pattern = number_pattern(self.files, is_of_problems=True) if several else None
        if path is not None and self._length(path) < 20 * LONGEST_NAME:
            if self.source.mapping.get("seed") == path:
                self.missing.append("seed")
                self.take("seed", "@row", f"{path} names the problem, so rows number the attempts")
            self.take_from("question_id", path, "problem")
        elif several and self._rows_per_file() == 1 and self._repeat_names():
            self.take("question_id", "@folder", "problem from the folder: one attempt a file")
            if pattern and "seed" not in self.mapping:
                self.take("seed", pattern, "attempt from the number in the file's name")
        elif several and self._rows_per_file() == 1:
            self.take("question_id", "@file", "problem from the file's name: one record a file")
        elif several and self._rows_are_attempts():
            place = "@folder" if self._repeat_names() else "@file"
            why = f"problem from the {place[1:]}'s name: rows number attempts and name no problem"
            self.take("question_id", place, why)
        elif pattern:
            self.take("question_id", pattern, "problem from the number in the file's name")
        elif several or (self.attempts_at is not None and len(self.values.file_of) > 1):
            self.take("question_id", "@row", "problem from the number of the row")

    def _repeat_names(self) -> bool:
        """Whether files in several folders go by the same names."""
        folders = {file.path.parent for file in self.files}
        return len(folders) > 1 and len({file.path.name for file in self.files}) < len(self.files)

    def _rows_are_attempts(self) -> bool:
        """Whether a column numbers the rows of each file, and none tells their problems apart."""
        references = [self.origin("references"), *self.candidates("references")]
        if any(path and not self.values.is_same_within(path, OF_FILE) for path in references):
            return False
        return any(
            len(values) == len({(self.values.file_of[at], _key(v)) for at, v in values.items()})
            for path in (self.origin("seed"), *self.candidates("seed"))
            if path is not None and (values := self.values.by_path[path])
        )

    def _rows_per_file(self) -> int:
        return max((self.values.file_of.count(f) for f in set(self.values.file_of)), default=0)

    def propose_seed(self) -> None:
        """An attempt's number, if a column tells attempts of a problem apart; else the row's."""
        problem = self.mapping.get("question_id", self.source.mapping.get("question_id", ""))
        self.refuse_turns()
        is_once = all(len(set(ids)) == len(ids) for ids in self._ids())
        if self._are_runs() and self.attempts_at is None and is_once:
            pattern = number_pattern(self.files)
            assert pattern is not None
            self.take("seed", pattern, "attempt from the number in the file's name: ids repeat")
            return
        for candidate in self.candidates("seed"):
            keys = [
                (self.values.file_of[at], problem, _key(self._value(candidate, at)))
                for at, problem in self._problems().items()
            ]
            if keys and len(set(keys)) == len(keys):
                self.take_from("seed", candidate, "attempt")
                return
        if self.attempts_at is None and problem and problem != "@row":
            self.take("seed", "@row", "attempts in the order of the rows")

    def refuse_turns(self) -> None:
        """Refuse rows that are turns of one attempt: a number of the turn tells them apart."""
        problem = self.origin("question_id")
        for path in self.free():
            if not TURNS.search(_last_name(path)) or not all(
                map(is_whole, self.values.present(path))
            ):
                continue
            groups = [group for group in self.values.groups(problem) if len(group) > 1]
            if groups and self.values.varies(path, problem):
                raise self.files[0].error(
                    f"{path} numbers turns that build on one another, not attempts; "
                    f"pass --map seed={path} to load each as an attempt all the same"
                )

    def _value(self, path: str, at: int) -> Any:
        return next(iter(self.values.by_path[path].get(at, ())), None)

    def _problems(self) -> dict[int, str]:
        """The problem of each record, where the records name it."""
        path = self.origin("question_id")
        names = self.values.by_path[path] if path is not None else {}
        return {at: _key(values[0]) for at, values in names.items()}

    def _ids(self) -> list[list[str]]:
        """The problems of each file that was looked at."""
        ids: list[list[str]] = [[] for _ in set(self.values.file_of)]
        for at, problem in self._problems().items():
            ids[self.values.file_of[at]].append(problem)
        return ids

    def _are_runs(self) -> bool:
        """Whether files differ by a number and repeat one another's problems."""
        ids = self._ids()
        return (
            len(ids) > 1
            and not any(self._is_stage(path) for path in self.values.by_path)
            and number_pattern(self.files) is not None
            and bool(set(ids[0]) & set(ids[1]))
        )

    def _is_stage(self, path: str) -> bool:
        """Whether a path numbers a stage of training, the same throughout a file."""
        if not STAGES.search(_last_name(path)):
            return False
        return self.values.is_same_within(path, OF_FILE) and not self.values.is_constant(path)

    def repeats_runs(self) -> bool:
        """Whether files of one archive repeat the numbers of one another's attempts."""
        if self.mapping.get("seed", "").startswith("@path") or "archive" in self.mapping:
            return False
        seed = self.origin("seed")
        if self.has("seed") and seed is None and self.attempts_at is None:
            return self._are_runs() and self.mapping.get("seed") == "@row"
        seen: dict[tuple[str, str], int] = {}
        for at, problem in self._problems().items():
            key = (problem, _key(self._value(seed, at) if seed else None))
            if seen.setdefault(key, self.values.file_of[at]) != self.values.file_of[at]:
                return self._are_runs()
        return False

    def propose_archive(self) -> None:
        """The model: a column, a header beside the records, else names of files and folders."""
        if "archive" not in self.missing:
            self._ask_for_one_archive()
        elif path := self._short("archive"):
            self.take_from("archive", path, "archive", is_serious=False)
        elif self._is_key_of_archives():
            self.take("archive", KEY, "archive from the key of each list: problems repeat in them")
        elif model := model_beside(self.files):
            self.settle("archive", model[0], f"archive from {model[1]} beside the records", False)
        elif len(self.files) > 1 and self._are_several():
            place = "@folder" if self._repeat_names() else "@file"
            why = f"each {place[1:]} is taken for an archive, because no column names the model"
            self.take("archive", place, why)
        else:
            self.settle("archive", _common_name(self.files), "archive named after the file", False)

    def _is_key_of_archives(self) -> bool:
        """Whether lists under keys hold attempts at the same problems."""
        problems = self._problems()
        groups = self.values.groups(KEY) if KEY in self.free() else []
        names = [{problems[at] for at in group if at in problems} for group in groups]
        return len(names) > 1 and bool(names[0] & names[1])

    def _ask_for_one_archive(self) -> None:
        """Say that files which repeat problems are one archive, where their names are no runs'."""
        ids, path = self._ids(), self.origin("archive")
        repeated = len(ids) > 1 and bool(set(ids[0]) & set(ids[1]))
        if path and repeated and self.values.is_constant(path) and not number_pattern(self.files):
            model = safe_name(str(self.values.present(path)[0]))
            why = f"all files are one archive, {model}; --map archive=@file makes each its own"
            self.guesses.append(Guess("archive", why))

    def _are_several(self) -> bool:
        """Whether files are models of their own: those of one name and a number are runs."""
        places = (self.mapping.get("question_id", ""), self.mapping.get("seed", ""))
        if self._repeat_names() and not places[0].startswith("@folder"):
            return True
        from_name = any(place.startswith(("@path", "@file", "@folder")) for place in places)
        seeds_from_name = self.source.mapping.get("seed", "") == "file name"
        ids = self._ids()
        is_numbered = number_pattern(self.files) is not None
        is_one_row = self._rows_per_file() == 1
        are_parts = len(ids) > 1 and not set(ids[0]) & set(ids[1]) and (is_numbered or is_one_row)
        is_single = self.attempts_at is None and is_one_row
        return not (from_name or seeds_from_name or is_single or are_parts or self._are_runs())

    def _short(self, column: str) -> str | None:
        """A column of short names that does not change with every row."""
        paths = [p for p in self.candidates(column) if self._length(p) < LONGEST_NAME]
        # Who judges, or plays the user, is not whose attempts these are.
        paths = [p for p in paths if not re.search(OTHER_MODELS, p.lower())]
        total = len(self.values.file_of)
        paths = [p for p in paths if len(self.values.groups(p)) <= max(total // 2, 1)]
        return paths[0] if len(paths) == 1 else None

    def propose_competition(self) -> None:
        """The set of problems: a column, else the name of the file or folder."""
        if path := self._short("competition"):
            self.take_from("competition", path, "competition", is_serious=False)
        else:
            name = _common_name(self.files)
            self.settle("competition", name, "competition named after the file", False)

    def propose_tokens(self) -> None:
        """What an attempt cost; a count that never changes is a limit."""
        paths = [
            path
            for path in self.candidates("completion_tokens")
            if len(self.values.present(path)) < 2 or not self.values.is_constant(path)
        ]
        strong = [p for p in paths if re.search(r"compl|output|gen|resp", _counted_name(p))]
        paths = strong if len(strong) == 1 else paths
        paths = paths[:1] if self._say_the_same(paths) else paths
        if len(paths) == 1:
            self.take_from("completion_tokens", paths[0], "cost")
        elif self.has("text"):
            why = "tokens counted from the texts, because no column is plainly their number"
            self.settle("count_tokens", self.options.count_tokens or "o200k_base", why)

    def propose_prompt_tokens(self) -> None:
        """What a prompt cost, where one column plainly says it."""
        paths = self.candidates("prompt_tokens")
        if len(paths) == 1:
            self.take_from("prompt_tokens", paths[0], "prompt tokens", is_serious=False)

    def propose_finish_reason(self) -> None:
        """A column with words that tools use; else every attempt counts as completed."""
        words = {
            path: {str(value).lower() for value in self.values.present(path)}
            for path in self.free()
        }
        called = [path for path in self.candidates("finish_reason") if REASONS & words[path]]
        # Nothing else has these words alone, whatever it is called; 'eos' may be where to stop.
        worded = [path for path in words if words[path] <= REASONS and words[path] & ENDED]
        if called:
            self.take_from("finish_reason", called[0], "finish reason")
        elif worded and is_listed(worded[0]):
            raise self.files[0].error(
                f"{safe_name(worded[0])} holds finish reasons, but not one for each attempt; "
                "write as many as there are attempts, or one for all of a row"
            )
        elif worded:
            self.take_from("finish_reason", worded[0], "finish reason")
        else:
            why = "every attempt counts as completed: none is recorded"
            self.settle("finish_reason", "stop", why)

    def propose_label(self) -> None:
        """A label by its name and two values; never one that is constant. Else by references."""
        paths = [p for p in self.candidates("correct") if self._may_be_label(p)]
        if len(paths) > 1:
            plain = [p for p in paths if re.search(r"correct|right|pass|resolved", p.lower())]
            paths = paths[:1] if self._say_the_same(paths) else plain
        if len(paths) == 1:
            labels = sorted({excerpt(value) for value in self.values.present(paths[0])})
            self.take_from("correct", paths[0], "label", f" ({', '.join(labels[:4])})")
        elif self.options.grade is None and (self.has("references") or self._take_references()):
            self.settle("grade", "references", "labels by comparing answers with the references")

    def _say_the_same(self, paths: Sequence[str]) -> bool:
        return all(self.values.present(p) == self.values.present(paths[0]) for p in paths)

    def _may_be_label(self, path: str) -> bool:
        """Whether a column of two values says of each attempt whether it is right.

        What is the same for all attempts at a problem is the problem's, as a class to predict is.
        """
        if self.values.is_constant(path):
            return False
        name, values = _last_name(path), self.values.present(path)
        # C and I are Inspect's; A to D, or yes and no, may be what was chosen.
        letters = {str(value).strip().upper() for value in values}
        is_inspect = "I" in letters and letters <= {"C", "I", "N", "P"}
        is_graded = all(map(is_grade, values))
        if is_graded and not is_inspect and not re.search(GRADED, name):
            return False
        if name.endswith("status") and not is_graded:
            return False
        if re.search(r"correct|right|resolved|solved|passed|grade", name):
            return True
        within = self.values.varies_within(path, self.group())
        return within if within is not None else name != "label"

    def _take_references(self) -> bool:
        paths = [
            path
            for path in self.candidates("references")
            if self.values.is_same_within(path, self.group()) and self._length(path) < LONGEST_NAME
        ]
        # An answer is the reference where attempts at a problem share it, or have their own.
        is_shared = self.is_several() or self.has("archive_answer")
        if len(paths) > 1:
            paths = [path for path in paths if "answer" in _last_name(path)]
        if len(paths) != 1 or (_last_name(paths[0]) == "answer" and not is_shared):
            return False
        self.take_from("references", paths[0], "references")
        return True

    def propose_answer(self) -> None:
        """The log's own extraction, for who has no box."""
        paths = [
            path
            for path in self.candidates("archive_answer")
            if self.values.varies(path, self.group())
            and self._length(path) < LONGEST_ANSWER
            # Beside a text, a list that is no attempts' may hold several answers of one.
            and not (is_listed(path) and self.attempts_at is None and self.has("text"))
        ]
        if len(paths) > 1:
            paths = [p for p in paths if re.search("pred|extract|pars", p.lower())]
        if len(paths) == 1 and (
            self.is_several() or is_listed(paths[0]) or _last_name(paths[0]) != "answer"
        ):
            self.take_from("archive_answer", paths[0], "answers", is_serious=False)

    def propose_scores(self) -> None:
        """Known names of scores; two values, or the label's own, may be the label and are asked."""
        label = self.origin("correct")
        for path in self.free():
            name = SCORE_NAMES.get(_last_name(path))
            values = self.values.present(path)
            is_of_row = is_listed(path) and self.attempts_at is None
            has_list = is_of_row or any(isinstance(value, list) for value in values)
            if name is None:
                continue
            numbers = [
                n for value in values for n in (value if isinstance(value, list) else [value])
            ]
            if not numbers or not all(map(is_number, numbers)) or len(set(numbers)) < 3:
                continue
            if label is not None and self.values.present(label) == values:
                continue
            path = path.removesuffix(f".{EACH}") if is_of_row else path
            place = f"{path}[last]" if has_list else path
            of_list = ", of a list the last" if has_list else ""
            why = f"score {name} from {safe_name(path)}{of_list}"
            self.take(f"score_{name}", place, why, is_serious=False)


def propose(
    peeks: Sequence[Source], files: Sequence[SourceFile], options: Reading
) -> tuple[Reading, list[Guess]]:
    """Options under which files of one kind may load, and what was guessed for them."""
    proposer = _Proposer(peeks, files, options)
    missing = proposer.missing
    if not proposer.has("text") and {"text", "archive_answer", "completion_tokens"} & set(missing):
        proposer.propose_text()
    proposer.take_long_answer()
    proposer.refuse_written_lists()
    if "question_id" in missing:
        proposer.propose_problem()
    if not proposer.has("archive_answer"):
        proposer.propose_answer()
    if "seed" in missing and "seed" not in proposer.mapping:
        proposer.propose_seed()
    proposer.propose_archive()
    if "competition" in missing:
        proposer.propose_competition()
    if "completion_tokens" in missing and "completion_tokens" not in proposer.source.ambiguous:
        proposer.propose_tokens()
    if "finish_reason" in missing:
        proposer.propose_finish_reason()
    if not proposer.has("correct") and "correct" not in proposer.source.ambiguous:
        proposer.propose_label()
    if not proposer.has("prompt_tokens") and not proposer.has("steps"):
        proposer.propose_prompt_tokens()
    proposer.propose_scores()
    if (
        options.answer == "boxed"
        and proposer.has("correct")
        and not any(map(proposer.has, ANSWERING))
    ):
        proposer.settle("answer", NO_ANSWER, NOTHING_TO_VOTE_ON)
    if options.runs is None and proposer.repeats_runs():
        proposer.settle("runs", "append", "files repeat problems: their attempts are put together")
    return replace(options, mapping=proposer.mapping, **proposer.extra), proposer.guesses


def number_pattern(files: Sequence[SourceFile], *, is_of_problems: bool = False) -> str | None:
    """The pattern of the only number by which the names of files differ."""
    matches = [NUMBERED_NAME.fullmatch(file.path.name) for file in files]
    parts = {(match[1], match[3]) for match in matches if match}
    numbers = {
        (file.path.parent, match[2]) for file, match in zip(files, matches, strict=True) if match
    }
    if not all(matches) or len(parts) != 1 or len(numbers) != len(files):
        return None
    before, after = parts.pop()
    # The number of gpt-4 or of a 7b is a model's: files of several models are no runs of one.
    word = re.split(r"[^a-z0-9]+", before.lower().rstrip("-_. "))[-1].removesuffix("s")
    counts = sorted(int(number) for _, number in numbers)
    is_series = len(counts) > 2 and counts in ([*range(len(counts))], [*range(1, len(counts) + 1)])
    is_counted = word in COUNTED or is_series or (is_of_problems and word.isdecimal())
    if not is_counted or not after.startswith("."):
        return None
    return rf"@path~{re.escape(before[-12:])}(\d+){re.escape(after)}"


def _common_name(files: Sequence[SourceFile]) -> str:
    """A name for what has none: the file's own, or the folder's where there are several."""
    paths = [file.path.resolve() for file in files]
    if len(paths) == 1:
        return file_stem(paths[0].name)
    return Path(os.path.commonpath([path.parent for path in paths])).name


def model_beside(files: Sequence[SourceFile]) -> tuple[str, str] | None:
    """The model that a header or results file beside the records names, and that file's name."""
    folder = files[0].path.resolve().parent
    records = {file.path.resolve() for file in files}
    pattern = re.compile(r"(header|results?|config|args|meta(data)?|summary|run|metrics).*\.json")
    try:
        beside = sorted(path for path in folder.iterdir() if pattern.fullmatch(path.name))
    except OSError:
        return None
    for path in beside:
        if path not in records and (model := _model_in(path)):
            return model, path.name
    return None


def _model_in(path: Path) -> str | None:
    """The model that a file of settings names, itself or in one of its objects."""
    is_small = path.is_file() and path.stat().st_size <= LARGEST_HEADER
    header = small_document(path) if is_small else None
    objects = [header, *header.values()] if isinstance(header, dict) else []
    names = ("model", "model_name", "model_id", "model_name_or_path", "model_path", "llm")
    models = (walk(settings, (name,)) for settings in objects for name in names)
    return next((model for model in models if isinstance(model, str) and model), None)
