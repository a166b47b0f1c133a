"""Archives as NumPy arrays, in the shape that the scorio library takes."""

from typing import Any, NamedTuple

import duckdb
import numpy as np

from audit.database import require_attempts
from audit.errors import AuditError


class ScorioArrays(NamedTuple):
    """M problems by N attempts in canonical order: labels as 0 and 1, and answers."""

    outcomes: np.ndarray[Any, np.dtype[np.int64]]
    answers: np.ndarray[Any, np.dtype[np.object_]]
    problems: list[tuple[str, int]]


def to_scorio(
    con: duckdb.DuckDBPyConnection, attempts: int | None = None
) -> dict[str, ScorioArrays]:
    """Return each archive's outcome and answer arrays; ineligible attempts answer None."""
    require_attempts(con)
    banks = con.execute(
        """
        select
            attempts.archive,
            attempts.competition,
            attempts.question_id,
            list(grades.correct::bigint order by attempts.slot),
            list(case when attempts.eligible then attempts.answer end order by attempts.slot),
        from attempts
        inner join grades
            on attempts.archive = grades.archive
            and attempts.competition = grades.competition
            and attempts.question_id = grades.question_id
            and attempts.seed = grades.seed
        group by attempts.archive, attempts.competition, attempts.question_id
        order by attempts.archive, attempts.competition, attempts.question_id
        """
    ).fetchall()
    by_archive: dict[str, list[tuple[Any, ...]]] = {}
    for archive, *bank in banks:
        by_archive.setdefault(archive, []).append(tuple(bank))
    return {archive: _arrays(archive, members, attempts) for archive, members in by_archive.items()}


def _arrays(archive: str, banks: list[tuple[Any, ...]], attempts: int | None) -> ScorioArrays:
    """Return one archive's arrays; every problem needs as many attempts as the others."""
    sizes = {len(labels) for _, _, labels, _ in banks}
    width = max(sizes) if attempts is None else attempts
    if width < 1 or min(sizes) < width:
        raise AuditError(
            f"archive {archive}: its problems have {min(sizes)} to {max(sizes)} attempts, and "
            f"scorio takes the same number of each; pass attempts={min(sizes)} or fewer to take "
            "the first ones"
        )
    answers = np.empty((len(banks), width), dtype=object)
    for row, (_, _, _, bank_answers) in enumerate(banks):
        answers[row, :] = bank_answers[:width]
    return ScorioArrays(
        np.array([labels[:width] for _, _, labels, _ in banks], dtype=np.int64),
        answers,
        [(competition, question_id) for competition, question_id, _, _ in banks],
    )
