"""Guess the options under which files load, and ask about those that change a number."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import duckdb

from audit.answers.extract import NO_ANSWER
from audit.errors import AuditError, first_line
from audit.load.load import DIFFER, ONCE, TWO_RUNS
from audit.load.trial import Trial, try_load
from audit.options import Reading
from audit.sources.columns import explode_record, find_list_paths
from audit.sources.containers import CONTAINERS
from audit.sources.evidence import MOST_ROWS, Evidence, open_evidence
from audit.sources.files import Source, SourceFile
from audit.sources.formats import load_formats
from audit.sources.questions import Asker, Guess, Proposal, Question

# Another kind of answer is tried where boxes give fewer than this share of its answers.
MOST = 0.9
FAILED = "attempts without text and tokens stay, unfinished, at cost 1; --failed drop drops them"
# Patterns of answers that are not in a box.
PATTERNS = (
    r"(?i:answer is|answer:)\s*\**\s*\(?([A-J])\)?\**\.?\s*(?:\n|$)",
    r"ANSWER:\s*(.+)",
    r"####\s*(.+)",
    r"(?i)answer\s*:\s*\**\s*(.+?)\.?\s*(?:\n|$)",
    r"(?i)answer is\s*:?\s*\**\s*(.+?)\.?\**\s*(?:\n|$)",
    r"(?s)<answer>\s*(.+?)\s*</answer>",
)


@dataclass
class Settled:
    """Files of one format: their options, guesses, open questions, and the trial load."""

    reading: Reading
    proposal: Proposal
    trial: Trial
    # Columns of the records that no canonical column comes from.
    unused: tuple[str, ...] = ()

    def leave_open(self, questions: Sequence[Question]) -> None:
        """Put these questions first, and remove the mapped columns that they ask about."""
        asked = {question.column for question in questions}
        kept = {name: path for name, path in self.reading.mapping.items() if name not in asked}
        self.reading = replace(self.reading, mapping=kept)
        self.proposal.questions[:0] = questions


def settle(peeks: Sequence[Source], files: Sequence[SourceFile], reading: Reading) -> Settled:
    """Guess options that change no number, try the load, and ask about the others."""
    source = peeks[0]
    lists = find_list_paths(source.mapping)
    is_flat = source.format in CONTAINERS
    records = chain.from_iterable(p.records() if is_flat else p.sample for p in peeks)
    exploded = chain.from_iterable(
        explode_record(record, lists) for record in islice(records, MOST_ROWS)
    )
    try:
        with open_evidence(exploded) as evidence:
            asker = Asker(source, files, evidence, reading, lists)
            proposal = asker.propose()
            options = {"mapping": proposal.mapping, **proposal.options}
            settled = Settled(replace(reading, **options), proposal, Trial())
            settled.unused = tuple(leaf.path for leaf in asker.unused())
            if proposal.questions:
                settled.trial.refusal = "questions are left"
            else:
                _test_load(settled, files, source, asker)
            if not proposal.questions and not settled.trial.refusal:
                _ask_about_numbers(settled, settled.trial, source)
                _ask_about_arms(settled, evidence, source)
                is_open = is_flat and "correct" not in reading.mapping
                if is_open and asker.is_of_problem("correct"):
                    words = "each problem has one label for all its attempts: is it each attempt's?"
                    yes = f"yes: --map correct={source.mapping['correct']}"
                    proposal.ask("correct", words, yes)
    except (AuditError, duckdb.Error) as error:
        return Settled(reading, Proposal(), Trial(refusal=first_line(error)))
    return settled


def _ask_about_arms(settled: Settled, evidence: Evidence, source: Source) -> None:
    """Ask whether an unmapped column that splits repeated problems names the archive."""
    asker = Asker(source, [], evidence, settled.reading, ())
    if leaves := asker.find_arms():
        words = f"problems repeat for each {leaves[0].path}; is that the archive, or a part of it?"
        asker.proposal = settled.proposal
        asker.ask("archive", leaves, "or all of it is one archive: --archive NAME", said=words)


def _ask_about_numbers(settled: Settled, trial: Trial, source: Source) -> None:
    """Ask whether names such as `x-1`, `x-2`, each with one attempt, number the attempts."""
    mark, origin = trial.split.get("mark"), source.mapping.get("question_id", "")
    if source.format not in CONTAINERS:
        # A request has the custom_id that the user gave it.
        origin = "custom_id" if any("custom_id" in record for record in source.sample) else ""
    is_numbered = origin == "custom_id" or settled.proposal.mapping.get("seed") == "@row"
    is_said = "question_id" in settled.reading.mapping
    if not mark or trial.counts["most"] > 1 or is_said or not is_numbered or not origin:
        return
    words = "every problem has one attempt: do these names number attempts?"
    parts = {"question_id": rf"(.+){mark}\d+", "seed": rf".+{mark}(\d+)"}
    yes = " ".join(shlex.join(("--map", f"{name}={origin}~{p}")) for name, p in parts.items())
    settled.proposal.ask("question_id", words, f"yes: {yes}", f"no: --map question_id={origin}")


def _test_load(settled: Settled, files: Sequence[SourceFile], source: Source, asker: Asker) -> None:
    """Try the load; turn the error that refuses it into a question or an option."""
    proposal = settled.proposal
    trial = settled.trial = try_load(files, settled.reading)
    refusal = trial.refusal or ""
    if "--failed" in refusal:
        settled.reading = replace(settled.reading, failed="count")
        proposal.guesses.append(Guess("failed", FAILED))
        _test_load(settled, files, source, asker)
        return
    if re.search(r"completion_tokens.*above 0, found (0|null)", refusal):
        words = "what becomes of attempts without a cost (0 or null)?"
        count = "count: they stay, unfinished, at cost 1"
        drop = "drop: they are left out"
        proposal.ask("failed", words, refusal, count, drop)
    elif ONCE in refusal:
        _ask_about_repeats(proposal, refusal, asker)
    elif "--unlabelled" in refusal:
        words = "what becomes of attempts without a label?"
        wrong = "wrong: they count as incorrect"
        drop = "drop: their problems are left out"
        proposal.ask("unlabelled", words, refusal, wrong, drop)
    elif "--grade references needs" in refusal:
        bare = replace(settled.reading, grade=None, references=None, force=True)
        _ask_about_numbers(settled, try_load(files, bare), source)
    elif refusal:
        forced = try_load(files, replace(settled.reading, force=True))
        if forced.refusal:
            return
        if not forced.counts["finished"]:
            _ask_about_reasons(proposal, forced)
        else:
            _find_answer(settled, files, forced, asker)
    elif settled.reading.answer == "boxed":
        _find_answer(settled, files, trial, asker)
    trial = settled.trial
    if settled.reading.grade and not trial.refusal and not trial.counts["correct"]:
        words = "no answer matches the references: what are the labels?"
        proposal.ask("correct", words)


def _ask_about_repeats(proposal: Proposal, refusal: str, asker: Asker) -> None:
    """Ask which column distinguishes attempts that have the same number."""
    if TWO_RUNS in refusal:
        words = "files repeat attempts: are they separate archives, or further attempts?"
        proposal.ask("runs", words, refusal, "separate", "append")
        return
    words = "attempts repeat under one number: what is another archive, or the number?"
    names = re.split(", | and ", refusal.partition(DIFFER)[2])
    differing = [f"differs: {leaf.evidence}" for leaf in asker.unused() if leaf.path in names]
    options = "--map archive=COLUMN or --map seed=COLUMN; seed=@row is the order of the rows"
    # If an unmapped column could be the archive, the question is about the archive.
    column = "archive" if asker.find_arms() else "seed"
    proposal.ask(column, words, *differing, refusal, options)


def _ask_about_reasons(proposal: Proposal, trial: Trial) -> None:
    """Ask which finish reasons count as finished; limits and errors are not offered."""
    attempts = Counter[str]()
    for found in trial.reasons:
        attempts[found["reason"]] += found["attempts"]
    reasons = [f"{reason!r} ({count:,} attempts)" for reason, count in attempts.most_common()]
    words = "no attempt ended with 'stop': which finish reasons mean finished?"
    reasons = reasons or ["those recorded are all limits or errors; --force loads it as it is"]
    proposal.ask("finished", words, *reasons)


def _find_answer(settled: Settled, files: Sequence[SourceFile], trial: Trial, asker: Asker) -> None:
    """Choose the log's own answers if few texts have boxes; ask if another pattern matches."""
    counts, proposal = trial.counts, settled.proposal
    finished = max(counts["finished"], 1)
    boxed, recorded = counts["pickable"] / finished, counts["own"] / finished
    is_own = recorded >= 0.5 and boxed < MOST * recorded and settled.reading.answer != "archive"
    if is_own and asker.is_answer_of_problem():
        words = "the log's own answer is one for all attempts at a problem: what is voted on?"
        none = "none: attempts pass or fail"
        proposal.ask("answer", words, "archive: it is each attempt's", none)
        return
    if is_own:
        why = f"answers are the log's own: {recorded:.0%} have one, and a box {boxed:.0%}"
        _fill_answer(settled, files, "archive", why)
        return
    matches = {
        pattern: sum(re.search(pattern, text) is not None for text in trial.texts)
        for pattern in PATTERNS
    }
    found = max(matches, key=lambda pattern: matches[pattern])
    if trial.texts and boxed < MOST * (share := matches[found] / len(trial.texts)) and share >= 0.5:
        words = f"boxes answer {boxed:.0%} of the attempts: which answer is voted on?"
        pattern = f"'regex:{found}' matches in {share:.0%}"
        proposal.ask("answer", words, pattern, "none: attempts pass or fail")
        return
    is_run = counts["steps"] or not getattr(
        load_formats().get(asker.source.format), "has_answers", True
    )
    is_labelled = counts["labelled"] == counts["attempts"]
    if not boxed and settled.reading.grade is None and (is_labelled or is_run):
        _fill_answer(settled, files, NO_ANSWER, "no answer to vote on: attempts pass or fail")


def _fill_answer(settled: Settled, files: Sequence[SourceFile], answer: str, why: str) -> None:
    """Set the kind of answer, note the reason, and try the load again."""
    settled.reading = replace(settled.reading, answer=answer)
    settled.proposal.guesses.append(Guess("answer", why))
    settled.trial = try_load(files, settled.reading)
