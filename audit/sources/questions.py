"""What `describe` asks: a question for each column that decides a number and has no exact name.

Nothing that decides a number is guessed. A question lists the columns that it could be, with how
many values each has; the user answers with an option, or in the select that `--write` leaves.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from audit.answers.extract import NO_ANSWER
from audit.options import Reading
from audit.sources.columns import COST, COSTLIKE, file_stem
from audit.sources.containers import CONTAINERS
from audit.sources.evidence import Evidence, Leaf
from audit.sources.files import Source, SourceFile
from audit.sources.formats import is_grade
from audit.sources.missing import missing_columns
from audit.sources.paths import EACH

HOLE = "???"
CANDIDATES_SHOWN = 5
# What a column may be called; a name alone decides nothing, it only makes a candidate.
CALLED = {
    "archive": r"model|llm|engine|system|config|agent|strategy|prompt_?(name|type|style)|arm|"
    r"method|variant|temperature|effort|scaffold|setting|policy|budget",
    "question_id": r"(^|_)(id|idx|index|key|uid|no)$|id$|problem|question|task|instance|case|"
    r"puzzle|scenario|item|prompt|input|doc|name",
    "seed": r"seed|sample|attempt|run|rollout|trial|repeat|epoch|iter|^(idx|index|k|n|i)$|try",
    "completion_tokens": COSTLIKE.pattern,
    "finish_reason": r"finish|stop|end|status|error|exception|limit|exit|terminat|trunc|reason|"
    r"state|complete",
    "text": r"resp|output|gen|compl|text|solution|trace|content|reply|said|code|message|raw",
    "archive_answer": r"pred|answer|extract|pars|final|^ans$|boxed|choice",
    "correct": r"correct|score|label|acc|right|pass|reward|judg|^ok$|match|grade|verdict|resolved|"
    r"solved|success|outcome|result|status",
    "references": r"gold|target|truth|^gt$|ref|expected|answer|solution",
}
# A prompt is no text of a model's, a limit no finish reason.
NEVER = {
    "text": r"prompt|question|problem|input|instruct|system|type|_id$|url|path|model|name",
    "question_id": r"model|token|session|request|text|resp",
    "finish_reason": r"until|stop_(seq|words|strings)|max_|time(stamp|_)|_at$|date",
    "correct": r"token|count|time|id$|reason|finish|stop|trunc",
    "completion_tokens": r"max_|limit",
}
LOOKED_AT = ("temperature", "top_p", "total_tokens", "reasoning_tokens")
WORDS = {
    "archive": "the archive (one model configuration)",
    "question_id": "the problem",
    "seed": "the number of an attempt",
    "completion_tokens": "what an attempt cost in completion tokens",
    "finish_reason": "how an attempt ended",
    "text": "the text that an attempt answered",
    "archive_answer": "the answer",
    "correct": "the label",
}


@dataclass(frozen=True)
class Question:
    """What is not known: the column or option, the words, and what could be it."""

    column: str
    words: str
    candidates: tuple[str, ...] = ()
    # The option with its hole, where it is no --map of the column.
    option: tuple[str, str] | None = None

    def lines(self) -> Iterator[str]:
        """Return the question, and a line for each candidate."""
        yield f"  ? {self.words}"
        for candidate in self.candidates[:CANDIDATES_SHOWN]:
            yield f"      {candidate}"
        if len(self.candidates) > CANDIDATES_SHOWN:
            yield f"      and {len(self.candidates) - CANDIDATES_SHOWN} more: --all shows them"


class Guess(NamedTuple):
    """An option that was filled in, and why; a serious one decides a number."""

    column: str
    why: str
    is_serious: bool = False


@dataclass
class Proposal:
    """The options that are filled in, why, and what has to be asked."""

    options: dict[str, Any] = field(default_factory=dict)
    mapping: dict[str, str] = field(default_factory=dict)
    guesses: list[Guess] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def ask(self, column: str, words: str, *candidates: str, option: Any = None) -> None:
        """Add a question, once for each column."""
        if all(question.column != column for question in self.questions):
            self.questions.append(Question(column, words, candidates, option))


class Asker:
    """What is known of some files of one kind, and what has to be asked."""

    def __init__(
        self,
        source: Source,
        files: Sequence[SourceFile],
        evidence: Evidence,
        reading: Reading,
        lists: Sequence[str],
    ) -> None:
        self.source, self.files, self.evidence, self.reading = source, files, evidence, reading
        self.lists = lists
        self.paths = {n: self._plain(p) for n, p in source.mapping.items()}
        self.proposal = Proposal(mapping=dict(reading.mapping))
        self.missing = missing_columns(source, reading)

    def propose(self) -> Proposal:
        """Fill in names, and ask about everything else that is missing."""
        for name in ("question_id", "archive", "competition", "seed"):
            if name in self.missing:
                getattr(self, f"_find_{name}")()
        for name in ("completion_tokens", "finish_reason", "text"):
            if name in self.missing:
                getattr(self, f"_find_{name}")()
        if "correct" not in self.paths and self.reading.grade is None:
            self._find_correct()
        return self.proposal

    # What the records show

    def _plain(self, path: str) -> str:
        return path.partition("~")[0].partition("[")[0].replace(f".{EACH}", "")

    def _option(self, leaf: Leaf) -> str:
        """Return the path as --map takes it: a list of attempts goes by `*`."""
        first, dot, rest = leaf.path.partition(".")
        return f"{first}.{EACH}{dot}{rest}" if first in self.lists else leaf.path

    def _taken(self) -> set[str]:
        """Return the columns that count; what checks alone look at does not."""
        return {path for name, path in self.paths.items() if name not in LOOKED_AT}

    def unused(self) -> list[Leaf]:
        """Return the columns that no canonical column comes from."""
        used = self._taken()
        return [leaf for leaf in self.evidence.leaves if leaf.path not in used and leaf.present]

    def _called(self, column: str) -> list[Leaf]:
        """Return the unused columns whose names could be a column's."""
        # A tool's own format says where everything is: what it lacks is nowhere.
        never = NEVER.get(column, "^$")
        leaves = self.unused() if self.source.format in CONTAINERS else []
        return [
            leaf
            for leaf in leaves
            # Usage is an object: what it counts is in the path.
            if re.search(CALLED[column], leaf.path.lower() if column == COST else leaf.name)
            and not re.search(never, leaf.name)
        ]

    def _key(self, *names: str) -> list[str]:
        """Return the expressions of the columns that are known to be in the records."""
        found = (self.evidence.leaf(self.paths.get(name)) for name in names)
        return [leaf.sql for leaf in found if leaf is not None]

    def _shown(self, leaves: Sequence[Leaf]) -> tuple[str, ...]:
        """Return the evidence of each candidate, with how its values repeat."""
        return tuple(
            leaf.evidence.replace(leaf.path, self._option(leaf), 1) + self._repeats(leaf)
            for leaf in leaves
        )

    def _repeats(self, leaf: Leaf) -> str:
        if leaf.is_list or leaf.distinct < 2:
            return ""
        rows = leaf.present / leaf.distinct
        return ", each in one row" if rows == 1 else f", {rows:.3g} rows each"

    def ask(self, column: str, leaves: Sequence[Leaf], *others: str, words: str = "") -> None:
        words = words or f"which column is {WORDS[column]} ({column})?"
        option = ("--map", f"{column}={HOLE}")
        self.proposal.ask(column, words, *self._shown(leaves), *others, option=option)

    # Names, which decide no number where there is one file

    def _find_archive(self) -> None:
        several = [leaf for leaf in self._called("archive") if not leaf.is_list]
        single = [leaf for leaf in several if leaf.distinct == 1 and leaf.name.startswith("model")]
        varied = [leaf for leaf in several if 1 < leaf.distinct < max(leaf.rows / 2, 3)]
        problem = self._key("question_id")
        varied = [v for v in varied if not problem or not self._is_of_problem(v, problem[0])]
        is_open = len(self.files) > 1 and self.source.format in CONTAINERS
        if varied or is_open:
            places = (f"@file ({len(self.files):,} files)",) if len(self.files) > 1 else ()
            name = f"or one archive for all of it: --archive {self._name()}"
            self.ask("archive", varied, *places, name)
        else:
            name = single[0].shown[0] if single else self._name()
            self._fill("archive", name, f"archive {name!r}: no column names the model")

    def _is_of_problem(self, leaf: Leaf, key: str) -> bool:
        return self.evidence.is_constant_within(leaf, key)

    def _find_competition(self) -> None:
        name = self._name()
        self._fill("competition", name, f"competition {name!r}: no column names the benchmark")

    def _name(self) -> str:
        """Return the name of the file, or of the folder of several."""
        paths = [file.path.resolve() for file in self.files]
        if len(paths) == 1:
            return file_stem(paths[0].name) or "all"
        return os.path.basename(os.path.commonpath([path.parent for path in paths])) or "all"

    def _fill(self, option: str, value: str, why: str) -> None:
        self.proposal.options[option] = value
        self.proposal.guesses.append(Guess(option, why))

    # What an attempt is

    def _find_question_id(self) -> None:
        leaves = [leaf for leaf in self._called("question_id") if not leaf.is_list]
        leaves = [leaf for leaf in leaves if leaf.distinct > 1 or leaf.rows == 1]
        places = (f"@file ({len(self.files):,} files)",) if len(self.files) > 1 else ()
        row = ("@row (each row is a problem)",)
        self.ask("question_id", sorted(leaves, key=self._likeness), *places, *row)

    def _likeness(self, leaf: Leaf) -> tuple[bool, int]:
        return not re.search(r"task|problem|question|instance|case", leaf.name), leaf.distinct

    def _find_seed(self) -> None:
        keys = self._key("question_id", "archive", "competition")
        if not self._key("question_id"):
            if "question_id" in self.missing:
                self.ask("seed", self._called("seed"))
            else:
                self.proposal.mapping["seed"] = "@row"
            return
        rows = self.evidence.most_repeats(*keys)
        if rows == 1:
            why = "attempt numbers from the rows: each problem has one row"
            self.proposal.mapping["seed"] = "@row"
            self.proposal.guesses.append(Guess("seed", why))
            return
        for leaf in self.find_arms():
            words = f"problems repeat in {rows} rows; is {leaf.path} the archive, or a part of it?"
            self.ask("archive", [leaf], words=words)
        numbers = [leaf for leaf in self._called("seed") if leaf.distinct > 1]
        self.ask("seed", numbers, f"@row (the order of the rows, {rows} for a problem)")

    def find_arms(self) -> list[Leaf]:
        """Return columns that split the repeats of every problem evenly, as archives would."""
        keys = self._key("question_id", "archive", "competition")
        if not self._key("question_id") or self.lists or self.source.format not in CONTAINERS:
            return []
        arms = self.evidence.arms(keys, self._taken())
        return [leaf for leaf in arms if re.search(CALLED["archive"], leaf.name)]

    def find_differing(self) -> list[Leaf]:
        """Return columns that differ between attempts under one number."""
        keys = self._key("archive", "competition", "question_id", "seed")
        found = self.evidence.varying(keys) if keys else []
        return [leaf for leaf in found if leaf.path not in self._taken()]

    def is_label_of_problem(self) -> bool:
        """Tell whether a label says one thing for all attempts at each problem."""
        return self._says_one_thing("correct")

    def is_answer_of_problem(self) -> bool:
        """Tell whether an answer is one for all attempts at a problem, or is the reference."""
        answer, reference = self._key("archive_answer"), self._key("references")
        is_reference = bool(answer and reference) and self.evidence.is_same(answer[0], reference[0])
        return is_reference or self._says_one_thing("archive_answer")

    def _says_one_thing(self, column: str) -> bool:
        leaf, keys = self.evidence.leaf(self.paths.get(column)), self._key("archive", "question_id")
        if leaf is None or not self._key("question_id"):
            return False
        return self.evidence.is_constant_within(leaf, ", ".join(keys))

    # What decides numbers

    def _find_completion_tokens(self) -> None:
        costs = self._called("completion_tokens")
        numbers = [leaf for leaf in costs if leaf.present == leaf.numbers and leaf.distinct > 1]
        is_counted = "text" in self.source.mapping
        count = "or count the tokens of the texts: --count-tokens o200k_base"
        if numbers:
            self.ask("completion_tokens", numbers, *([count] if is_counted else []))
        elif is_counted:
            self.proposal.options["count_tokens"] = "o200k_base"
            why = "costs counted from the texts with o200k_base: no token counts are recorded"
            self.proposal.guesses.append(Guess("count_tokens", why, is_serious=True))
        else:
            self.ask("completion_tokens", [])

    def _find_finish_reason(self) -> None:
        leaves = [leaf for leaf in self._called("finish_reason") if not leaf.is_list]
        leaves = [leaf for leaf in leaves if leaf.distinct > 1 or not leaf.is_number]
        if leaves:
            stop = "or every attempt ended by itself: --finish-reason stop"
            self.ask("finish_reason", leaves, stop)
            return
        self.proposal.options["finish_reason"] = "stop"
        why = "every attempt counts as completed: no finish reason is recorded"
        self.proposal.guesses.append(Guess("finish_reason", why))

    def _find_text(self) -> None:
        texts = [leaf for leaf in self._called("text") if not leaf.is_number and leaf.length > 1]
        answers = [leaf for leaf in self._called("archive_answer") if not leaf.is_list]
        problem = self._key("question_id")
        if problem:
            # A column that says one thing for all attempts at a problem is none's answer.
            texts, answers = (
                [leaf for leaf in found if not self._is_of_problem(leaf, problem[0])]
                for found in (texts, answers)
            )
        listed = list(dict.fromkeys((*texts, *answers)))
        if listed:
            none = f"or nothing is voted on: --answer {NO_ANSWER}"
            words = "what does an attempt answer: its text (text), or an answer (archive_answer)?"
            self.proposal.ask(
                "text", words, *self._shown(listed), none, option=("--map", f"text={HOLE}")
            )
        else:
            self.proposal.options["answer"] = NO_ANSWER
            why = "no text and no answer is recorded: attempts pass or fail by their label"
            self.proposal.guesses.append(Guess("answer", why))

    def _find_correct(self) -> None:
        labels = [
            leaf
            for leaf in self._called("correct")
            if leaf.is_label or (leaf.distinct and all(map(is_grade, leaf.shown)))
        ]
        shares = [leaf for leaf in self._called("correct") if leaf.is_number and leaf not in labels]
        if labels or [leaf for leaf in shares if leaf.most is not None and leaf.most <= 1]:
            leave = "or none of them: leave this out, and accuracy is unknown"
            self.ask("correct", [*labels, *shares], leave)
        elif "references" in self.source.mapping and self.reading.answer != NO_ANSWER:
            self.proposal.options["grade"] = "references"
            why = "labels by comparing answers with the references"
            self.proposal.guesses.append(Guess("grade", why, is_serious=True))
