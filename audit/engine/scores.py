"""Find the scores of attempts, and make the selectors of each score."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePath

import duckdb

from audit.database.schema import relations
from audit.engine.build import render_file
from audit.engine.lineage import parse_relations
from audit.engine.plugins import SAME_SELECTOR, Plugin
from audit.engine.sql_files import find_folder
from audit.errors import AuditError
from audit.options import Settings
from audit.text import visible

# The largest score that a vote can add up exactly, in whole billionths.
LARGEST_WEIGHT = 10**6
FOLDER = "sql/scores/"
# The name under which mean log-probabilities are a score.
LOGPROB = "logprob"
SCORE_NAME = re.compile(r"[a-z0-9_]+")


def list_scores(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the names of the loaded scores, among them `logprob`."""
    if "scores" not in relations(con):
        return []
    rows = con.execute("select distinct score from scores").fetchall()
    return sorted(name for (name,) in rows if SCORE_NAME.fullmatch(name))


def render_score_selectors(con: duckdb.DuckDBPyConnection) -> list[Plugin]:
    """Render a selector for every loaded score and every file of sql/scores."""
    selectors = []
    loaded = list_scores(con)
    for path in _list_score_files():
        for score in loaded:
            name = f"{path.stem}_{score}"
            if name not in SAME_SELECTOR:
                sql = render_file(f"scores/{path.name}", score=score)
                selectors.append(Plugin(name, sql, path=f"{FOLDER}{path.name}"))
    return selectors


def find_used_scores(con: duckdb.DuckDBPyConnection, selectors: Sequence[Plugin]) -> list[str]:
    """Return the scores that some selector reads; one of the user may read all."""
    reading = [
        plugin
        for plugin in selectors
        # Few texts have the word, in any case of its letters; those are parsed.
        if "candidate_scores" in plugin.sql.lower()
        and "candidate_scores" in parse_relations(plugin.sql)
    ]
    if any(not plugin.path.startswith(FOLDER) for plugin in reading):
        return list_scores(con)
    return sorted({find_score(plugin) for plugin in reading})


def _list_score_files() -> list[Path]:
    return sorted((find_folder("sql") / "scores").glob("*.sql"))


def find_score(selector: Plugin) -> str:
    """Return the score of a selector from sql/scores: the end of its name."""
    return selector.name.removeprefix(f"{PurePath(selector.path).stem}_")


def find_named_scores(selector: str) -> set[str]:
    """Return the possible scores in the name of a selector, such as `prm` in `vote_prm`."""
    named = {selector.removeprefix(f"{path.stem}_") for path in _list_score_files()} - {selector}
    return {score for score in named if SCORE_NAME.fullmatch(score)}


def count_scores(
    con: duckdb.DuckDBPyConnection, score: str, settings: Settings
) -> list[tuple[str, int, int]]:
    """Count the values of a score, and those that are no weights, by archive of a replay."""
    return con.execute(
        f"""
        select
            archive,
            count(*) filter (value not between 0 and {LARGEST_WEIGHT}) as outside,
            count(*),
        from scores
        where
            score = $score
            and (len($archives) = 0 or list_contains($archives, archive))
            and (len($competitions) = 0 or list_contains($competitions, competition))
            and (
                len($problems) = 0
                or list_contains($problems, [competition, question_id::varchar])
            )
        group by archive
        order by archive
        """,
        {
            "score": score,
            "archives": list(settings.archives),
            "competitions": list(settings.competitions),
            "problems": [[name, str(number)] for name, number in settings.problems],
        },
    ).fetchall()


def find_unfit_selectors(con: duckdb.DuckDBPyConnection, settings: Settings) -> set[str]:
    """Return the selectors that `all` leaves out: of scores missing, or too large to add up."""
    unfit = set()
    for score in {*list_scores(con), LOGPROB}:
        counted = count_scores(con, score, settings) if score in list_scores(con) else []
        if not counted:
            names = {f"{path.stem}_{score}" for path in _list_score_files()}
            unfit |= {SAME_SELECTOR.get(name, name) for name in names}
        elif any(outside for _, outside, _ in counted):
            unfit.add(f"vote_{score}")
    return unfit


def check_weights(
    con: duckdb.DuckDBPyConnection, selectors: Sequence[Plugin], settings: Settings
) -> None:
    """Refuse a vote that adds up scores which are no weights."""
    for selector in selectors:
        if selector.path != f"{FOLDER}vote.sql":
            continue
        score = find_score(selector)
        for archive, outside, total in count_scores(con, score, settings):
            if outside:
                raise AuditError(
                    f"--selectors {selector.name}: {outside:,} of {total:,} scores of archive "
                    f"{visible(archive)} lie outside 0 to {LARGEST_WEIGHT:,}; exp_vote_{score} "
                    "takes any"
                )


def find_weight(plugin: Plugin) -> tuple[str | None, str | None]:
    """Return the score by which a selector weighs votes, and the column of its weights."""
    for start, column in (("exp_vote", "exp_weight"), ("vote", "weight")):
        if plugin.path == f"{FOLDER}{start}.sql":
            return find_score(plugin), column
    return None, None
