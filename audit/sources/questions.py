"""What `describe` asks: a question for each column that decides a number and has no exact name.

Nothing that decides a number is guessed. A question lists the columns that it could be, with how
many values each has; the user answers with an option, or in the select that `--write` leaves.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from audit.answers.extract import NO_ANSWER
from audit.options import Reading
from audit.sources.canonical import COLUMNS
from audit.sources.columns import COST, COSTLIKE, remove_suffix
from audit.sources.containers import CONTAINERS
from audit.sources.evidence import Evidence, Leaf
from audit.sources.files import Source, SourceFile
from audit.sources.formats import is_grade, split_words
from audit.sources.missing import find_missing_columns
from audit.sources.paths import EACH

HOLE = "???"
CANDIDATES_SHOWN = 5


class Asked(NamedTuple):
    """A column in words, and the patterns of names that may mean it (known) or never do."""

    words: str
    known: str
    never: str = "^$"


# A name alone decides nothing, it makes a candidate.
ASKED = {
    "archive": Asked(
        "the archive (one model configuration)",
        r"model|llm|engine|system|config|agent|strategy|prompt_?(name|type|style)|arm|method|"
        r"variant|temperature|effort|scaffold|setting|policy|budget",
    ),
    "question_id": Asked(
        "the problem",
        r"(^|_)(id|idx|index|key|uid|no)$|id$|problem|question|task|instance|case|puzzle|scenario|"
        r"item|prompt|input|doc|name",
        "model|token|session|request|text|resp",
    ),
    "seed": Asked(
        "the number of an attempt",
        r"seed|sample|attempt|run|rollout|trial|repeat|epoch|iter|try|"
        r"(^|_)(idx|index|no|num|number|k|n|i)(_|$)",
    ),
    COST: Asked("what an attempt cost in completion tokens", COSTLIKE.pattern, "max_|limit"),
    "finish_reason": Asked(
        "how an attempt ended",
        r"finish|stop|end|status|error|exception|limit|exit|terminat|trunc|reason|state|complete|"
        r"timed?_?out|abort|interrupt|killed|cut_?off",
        r"until|stop_(seq|words|strings)|max_|time(stamp|_(?!out))|_at$|date",
    ),
    "text": Asked(
        "the text",
        r"resp|output|gen|compl|text|solution|trace|content|reply|said|code|message|raw",
        r"prompt|question|problem|input|instruct|system|type|_id$|url|path|model|name",
    ),
    "archive_answer": Asked("the answer", r"pred|answer|extract|pars|final|^ans$|boxed|choice"),
    "correct": Asked(
        "the label",
        r"correct|score|label|acc|right|pass|reward|judg|^ok$|match|grade|verdict|resolved|solved|"
        r"success|outcome|result|status",
        r"token|count|time|id$|reason|finish|stop|trunc",
    ),
}
# Names of columns that may mean a benchmark as well as a problem.
BENCHMARKS = ("task", "scenario", "key")
# Columns that only checks read: they are still candidates for other columns.
LOOKED_AT = ("temperature", "top_p", "total_tokens", "reasoning_tokens")
# Options that decide a number.
SERIOUS = ("count_tokens", "grade", "failed")


@dataclass(frozen=True)
class Question:
    """A question of `describe`: the column or option, the words, and the candidates."""

    column: str
    words: str
    candidates: tuple[str, ...] = ()

    @property
    def option(self) -> tuple[str, str]:
        """Return the option that answers the question, with ??? for the value."""
        is_column = self.column in COLUMNS
        return ("--map", f"{self.column}={HOLE}") if is_column else (f"--{self.column}", HOLE)

    def lines(self) -> Iterator[str]:
        """Yield the question, then a line for each candidate."""
        yield f"  ? {self.words}"
        for candidate in self.candidates[:CANDIDATES_SHOWN]:
            yield f"      {candidate}"
        if len(self.candidates) > CANDIDATES_SHOWN:
            yield f"      and {len(self.candidates) - CANDIDATES_SHOWN} more: --all shows them"


class Guess(NamedTuple):
    """A column or option that was filled in, and why."""

    column: str
    why: str

    @property
    def is_serious(self) -> bool:
        """Tell whether it decides a number."""
        return self.column in SERIOUS


@dataclass
class Proposal:
    """The options that are filled in, why, and what has to be asked."""

    options: dict[str, Any] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    guesses: list[Guess] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def ask(self, column: str, words: str, *candidates: str) -> None:
        """Add a question, unless its column was asked about before."""
        if all(question.column != column for question in self.questions):
            self.questions.append(Question(column, words, candidates))

    def fill(self, option: str, value: str, why: str) -> None:
        """Set an option, and record why."""
        self.options[option] = value
        self.guesses.append(Guess(option, why))


class Asker:
    """Files of one kind, from which `propose` makes options and questions."""

    def __init__(
        self,
        source: Source,
        files: Sequence[SourceFile],
        evidence: Evidence,
        reading: Reading,
        lists: Sequence[str],
    ) -> None:
        self.source, self.evidence, self.reading, self.lists = source, evidence, reading, lists
        self.paths = {
            name: path.partition("~")[0].partition("[")[0].replace(f".{EACH}", "")
            for name, path in source.mapping.items()
        }
        self.proposal = Proposal(mapping=dict(reading.mapping))
        self.missing = find_missing_columns(source, reading)
        # A tool's own format says where everything is: what it lacks is nowhere.
        self.is_open = source.format in CONTAINERS
        # Columns already in use, without those that only checks read.
        self.taken = {path for name, path in self.paths.items() if name not in LOOKED_AT}
        self.places = [f"@file ({len(files):,} files)"] if len(files) > 1 else []
        paths = [file.path.resolve() for file in files]
        folder = os.path.basename(os.path.commonpath([p.parent for p in paths])) if paths else ""
        self.name = (remove_suffix(paths[0].name) if len(paths) == 1 else folder) or "all"

    def propose(self) -> Proposal:
        """Propose names and options for missing columns, and questions where nothing decides."""
        for name in split_words(
            "question_id archive competition seed completion_tokens finish_reason text"
        ):
            # Where an answer may come from, another column may be missing instead of the text.
            if name in self.missing:
                getattr(self, f"_find_{name}")()
        if "question_id" not in {*self.missing, *self.reading.mapping}:
            self._doubt_question_id()
        # No error at all says little where another column tells endings apart.
        error = self.evidence.leaf(self.paths.get("finish_reason"))
        endings = [
            v for v in self._find_called("finish_reason") if v.distinct > 1 and not v.is_number
        ]
        if error and not error.present and endings:
            self.ask("finish_reason", endings, f"{error.path} (null throughout)")
        if "correct" not in self.paths and self.reading.grade is None:
            self._find_correct()
        return self.proposal

    def unused(self) -> list[Leaf]:
        """Return the columns that no canonical column comes from."""
        return [v for v in self.evidence.leaves if v.path not in self.taken and v.present]

    def _find_called(self, column: str) -> list[Leaf]:
        """Return the unused columns whose names fit a canonical column; lists fit texts only."""
        asked = ASKED[column]
        # Usage is an object: what it counts is in the path.
        return [
            leaf
            for leaf in (self.unused() if self.is_open else [])
            if re.search(asked.known, leaf.path.lower() if column == COST else leaf.name)
            and not re.search(asked.never, leaf.name)
            and (column in (COST, "text", "correct") or not leaf.is_list)
        ]

    def _find_varied(self, column: str) -> list[Leaf]:
        """Return unused columns with several values: those whose names fit, or else all."""
        leaves = [v for v in self.unused() if self.is_open and v.distinct > 1 and not v.is_list]
        called = self._find_called(column)
        return [v for v in leaves if v in called] or leaves

    def _find_keys(self, *names: str) -> list[str]:
        """Return the SQL of canonical columns; empty where the records do not have the problem."""
        found = {name: self.evidence.leaf(self.paths.get(name)) for name in names}
        if "question_id" in found and found["question_id"] is None:
            return []
        return [leaf.sql for leaf in found.values() if leaf is not None]

    def ask(self, column: str, leaves: Iterable[Leaf], *others: str, said: str = "") -> None:
        """Ask which of some columns is meant; show paths as --map takes them, then `others`."""
        shown = []
        for leaf in leaves:
            first, dot, rest = leaf.path.partition(".")
            path = f"{first}.{EACH}{dot}{rest}" if first in self.lists else leaf.path
            shown.append(leaf.evidence.replace(leaf.path, path, 1))
        which = f"which column is {ASKED[column].words} ({column})?"
        self.proposal.ask(column, said or which, *shown, *others)

    # Names, which decide no number where there is one file

    def _find_archive(self) -> None:
        leaves = self._find_called("archive")
        single = [v for v in leaves if v.distinct == 1 and v.name.startswith("model")]
        spread = self.evidence.spread(keys) if (keys := self._find_keys("question_id")) else {}
        varied = [
            leaf
            for leaf in leaves
            if 1 < leaf.distinct < max(leaf.rows / 2, 3) and spread.get(leaf.path) != (1, 1)
        ]
        if varied or (self.places and self.is_open):
            one = f"or one archive for all of it: --archive {self.name}"
            self.ask("archive", varied, *self.places, one)
        else:
            name = single[0].shown[0] if single else self.name
            origin = f"from {single[0].path}" if single else "no column names the model"
            self.proposal.fill("archive", name, f"archive {name!r}: {origin}")

    def _find_competition(self) -> None:
        why = f"competition {self.name!r}: no column names the benchmark"
        self.proposal.fill("competition", self.name, why)

    # What an attempt is

    def _find_question_id(self) -> None:
        leaves = self._find_varied("question_id")
        named = re.compile("task|problem|question|instance|case")
        leaves.sort(key=lambda leaf: (not named.search(leaf.name), leaf.distinct))
        self.ask("question_id", leaves, *self.places, "@row (each row is a problem)")

    def _doubt_question_id(self) -> None:
        """Ask about a `task` that all rows share: another column may be the problem."""
        leaf = self.evidence.leaf(self.paths["question_id"])
        others = [v for v in self._find_called("question_id") if v.distinct > 1]
        if leaf and leaf.name in BENCHMARKS and leaf.distinct == 1 < leaf.rows and others:
            self.ask("question_id", [leaf, *others], *self.places)

    def _find_seed(self) -> None:
        keys = self._find_keys("question_id", "archive", "competition")
        rows = self.evidence.most_repeats(keys) if keys else 1
        numbers = [leaf for leaf in self._find_called("seed") if leaf.distinct > 1]
        if "question_id" in self.missing:
            self.ask("seed", numbers, "@row (the order of the rows)")
        elif rows > 1:
            for leaf in self.find_arms():
                said = (
                    f"problems repeat in {rows} rows; is {leaf.path} the archive, or a part of it?"
                )
                self.ask("archive", [leaf], said=said)
            self.ask("seed", numbers, f"@row (the order of the rows, {rows} for a problem)")
        else:
            self.proposal.mapping["seed"] = "@row"
            if keys:
                why = "attempt numbers from the rows: each problem has one row"
                self.proposal.guesses.append(Guess("seed", why))

    def find_arms(self) -> list[Leaf]:
        """Return columns whose values occur equally often in each problem, as archives would."""
        keys = self._find_keys("question_id", "archive", "competition")
        if not keys or self.lists or not self.is_open:
            return []
        # A column that differs in each attempt may number it, unless its name fits an archive.
        repeats, named = self.evidence.most_repeats(keys), ASKED["archive"].known
        arms = self.evidence.arms(keys, self.taken)
        return [v for v in arms if v.distinct < repeats or re.search(named, v.name)]

    def is_answer_of_problem(self) -> bool:
        """Tell whether the attempts at a problem share one answer, or it is the reference."""
        both = [*self._find_keys("archive_answer"), *self._find_keys("references")]
        is_reference = len(both) == 2 and self.evidence.is_same(*both)
        return is_reference or self.is_of_problem("archive_answer")

    def is_of_problem(self, column: str) -> bool:
        """Tell whether a column, or a path, has one value for all attempts at each problem."""
        keys = self._find_keys("archive", "question_id")
        path = self.paths.get(column, column)
        return bool(keys) and self.evidence.spread(keys).get(path) == (1, 1)

    # What decides numbers

    def _find_completion_tokens(self) -> None:
        numbers = [v for v in self._find_called(COST) if v.present == v.numbers and v.distinct > 1]
        has_text = "text" in self.source.mapping
        if numbers or not has_text:
            count = "or count the tokens of the texts: --count-tokens o200k_base"
            self.ask(COST, numbers, *([count] if has_text else []))
        else:
            why = "costs counted from the texts with o200k_base: no token counts are recorded"
            self.proposal.fill("count_tokens", "o200k_base", why)

    def _find_finish_reason(self) -> None:
        leaves = [
            v for v in self._find_called("finish_reason") if v.distinct > 1 or not v.is_number
        ]
        if leaves:
            stop = "or every attempt ended by itself: --finish-reason stop"
            self.ask("finish_reason", leaves, stop)
        else:
            why = "every attempt counts as completed: no finish reason is recorded"
            self.proposal.fill("finish_reason", "stop", why)

    def _find_text(self) -> None:
        texts = [v for v in self._find_called("text") if not v.is_number and v.length > 1]
        found = dict.fromkeys((*texts, *self._find_called("archive_answer")))
        # A column that says one thing for all attempts at a problem is none's answer.
        if listed := [leaf for leaf in found if not self.is_of_problem(leaf.path)]:
            said = "what does an attempt answer: its text (text), or an answer (archive_answer)?"
            self.ask("text", listed, f"or nothing is voted on: --answer {NO_ANSWER}", said=said)
        else:
            why = "no text and no answer is recorded: attempts pass or fail by their label"
            self.proposal.fill("answer", NO_ANSWER, why)

    def _find_correct(self) -> None:
        leaves = [v for v in self._find_called("correct") if v.distinct]
        labels = [
            leaf
            for leaf in leaves
            if any(map(is_grade, leaf.shown))
            or (leaf.distinct == 2 if leaf.is_number else leaf.distinct <= 2 and leaf.length < 15)
        ]
        shares = [v for v in leaves if v.is_number and v not in labels]
        if not leaves and self.proposal.questions:
            labels = [v for v in self._find_varied("correct") if v.distinct == 2]
        if labels or any(leaf.most is not None and leaf.most <= 1 for leaf in shares):
            leave = "or none of them: leave this out, and accuracy is unknown"
            self.ask("correct", [*labels, *shares], leave)
        elif "references" in self.source.mapping and self.reading.answer != NO_ANSWER:
            why = "labels by comparing answers with the references"
            self.proposal.fill("grade", "references", why)
