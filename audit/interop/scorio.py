"""Archives as NumPy arrays, in the shape that the scorio library takes."""

from itertools import groupby
from operator import itemgetter
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
            archive,
            competition,
            question_id,
            list(correct::bigint order by slot),
            list(case when eligible then answer end order by slot),
        from attempts
        inner join grades using (archive, competition, question_id, seed)
        group by archive, competition, question_id
        order by archive, competition, question_id
        """
    ).fetchall()
    return {
        archive: _make_arrays(archive, list(rows), attempts)
        for archive, rows in groupby(banks, key=itemgetter(0))
    }


def _make_arrays(archive: str, banks: list[tuple[Any, ...]], attempts: int | None) -> ScorioArrays:
    """Return one archive's arrays; every problem needs as many attempts as the others."""
    sizes = {len(labels) for *_, labels, _ in banks}
    width = max(sizes) if attempts is None else attempts
    if width < 1 or min(sizes) < width:
        raise AuditError(
            f"archive {archive}: its problems have {min(sizes)} to {max(sizes)} attempts, and "
            f"scorio takes the same number of each; pass attempts={min(sizes)} or fewer to take "
            "the first ones"
        )
    answers = np.empty((len(banks), width), dtype=object)
    for row, (*_, bank_answers) in enumerate(banks):
        answers[row, :] = bank_answers[:width]
    return ScorioArrays(
        np.array([labels[:width] for *_, labels, _ in banks], dtype=np.int64),
        answers,
        [(competition, question_id) for _, competition, question_id, *_ in banks],
    )
