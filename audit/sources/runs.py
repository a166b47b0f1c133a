"""Several runs of one task: the same attempts' numbers again, in another file."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from audit.sources.canonical import find_problem_key, parse_whole_number
from audit.sources.files import Chunk, Source
from audit.sources.stand_ins import read_value_rows


class Runs:
    """The attempts of earlier files of a load, and how --runs renames those that clash with them.

    `separate` makes an archive of each file that repeats an archive's competition; `append` gives
    an attempt whose number is taken the next free one of its problem.
    """

    def __init__(self, kind: str | None) -> None:
        self._kind = kind
        self._files: dict[tuple[str, str], list[int]] = {}
        self._used: dict[tuple[str, str, str], set[int]] = {}
        self._count = 0

    def without_clashes(self, source: Source) -> Source:
        """Rename archives or renumber attempts that clash with those of earlier files."""
        if self._kind is None:
            return source
        self._count += 1
        chunks = (
            self._separate_archives(source)
            if self._kind == "separate"
            else self._append_attempts(source)
        )
        return replace(source, chunks=chunks)

    def _separate_archives(self, source: Source) -> Iterator[Chunk]:
        """Yield the chunks, with the number of the run in repeated archives: `NAME run 2`."""
        number = self._count
        for chunk in source.chunks:
            archives = []
            for archive, competition in read_value_rows(chunk, "archive", "competition"):
                files = self._files.setdefault((str(archive), str(competition)), [])
                if number not in files:
                    files.append(number)
                run = files.index(number) + 1
                is_named = isinstance(archive, str) and archive and run > 1
                archives.append(f"{archive} run {run}" if is_named else archive)
            yield replace(chunk, values={**chunk.values, "archive": archives})

    def _append_attempts(self, source: Source) -> Iterator[Chunk]:
        """Yield the chunks, with new numbers for attempts whose numbers are taken."""
        before = {key: set(seeds) for key, seeds in self._used.items()}
        for chunk in source.chunks:
            names = ("archive", "competition", "question_id", "seed")
            seeds = []
            for archive, competition, problem, seed in read_value_rows(chunk, *names):
                number = parse_whole_number(seed)
                if number is None:
                    seeds.append(seed)  # The column's own rule says what is wrong.
                    continue
                key = (str(archive), str(competition), find_problem_key(problem))
                used = self._used.setdefault(key, set())
                seeds.append(_find_free(number, used, before.get(key, ())))
            yield replace(chunk, values={**chunk.values, "seed": seeds})


def append_numbers(attempts: Iterable[tuple[int, int]]) -> Iterator[int]:
    """Yield the numbers that `append` gives attempts, each a pair of file and own number."""
    used: set[int] = set()
    for _, of_file in groupby(attempts, key=lambda attempt: attempt[0]):
        before = set(used)
        for _, number in of_file:
            yield _find_free(number, used, before)


def _find_free(number: int, used: set[int], before: Collection[int]) -> int:
    """Return a number, or the next free one where an earlier file uses it.

    A number that a file itself repeats is a mistake of its own, and is refused later.
    """
    free = max(used) + 1 if number in before else number
    used.add(free)
    return free
