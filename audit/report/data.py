"""What the report reads from the database, in one place."""

from collections.abc import Callable, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from audit import database, engine

Row = dict[str, Any]
# Rows of tables that were computed before, by name.
Known = Mapping[str, list[Row]]


def rows(con: duckdb.DuckDBPyConnection, name: str, known: Known | None = None) -> list[Row]:
    """The rows of an INTERFACE table."""
    return known[name] if known and name in known else engine.table(con, name).to_pylist()


def query(con: duckdb.DuckDBPyConnection, sql: str, *values: Any) -> list[Row]:
    """The rows of a query over the relations."""
    cursor = con.execute(sql, list(values))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def settings(con: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """The settings of the last replay."""
    database.require_replays(con)
    found = query(con, "select key, value from settings order by key")
    return {row["key"]: row["value"] for row in found}


def sources(con: duckdb.DuckDBPyConnection) -> list[Row]:
    """The files behind the database."""
    return query(con, "select * from sources order by archive, file")


def named_problems(con: duckdb.DuckDBPyConnection) -> pa.Table:
    """The problems that go by a name, beside the number the tables show."""
    return con.sql(
        "select competition, question_id, name as label from problems where name is not null "
        "order by competition, question_id"
    ).to_arrow_table()


def is_simulated(con: duckdb.DuckDBPyConnection) -> bool:
    """True when any source is simulated."""
    return any(row["simulated"] for row in sources(con))


def joint(con: duckdb.DuckDBPyConnection) -> list[Row]:
    """What each point of a curve cost and held: one row per archive, budget and rule."""
    return query(
        con,
        """
        with per_problem as (
            select
                archive,
                budget,
                rule,
                competition,
                question_id,
                avg(launched) as launched,
                avg(returned) as returned,
                avg(eligible) as eligible,
                avg(completion_cost) as completion_cost,
                avg(prompt_cost) as prompt_cost
            from replays
            where repeat > 0 and cap = ?
            group by all
        )
        select
            archive,
            budget,
            rule,
            count(*) as problems,
            avg(launched) as launched,
            avg(returned) as returned,
            avg(eligible) as eligible,
            avg(completion_cost) as completion_cost,
            avg(completion_cost) / budget as cost_ratio,
            avg(prompt_cost) as prompt_cost
        from per_problem
        group by archive, budget, rule
        order by archive, budget, rule desc
        """,
        int(settings(con)["primary_cap"]),
    )


def archives(con: duckdb.DuckDBPyConnection) -> list[Row]:
    """One row per archive: how many problems and attempts it holds and what its banks lack."""
    return query(
        con,
        """
        with banks as (
            select archive, competition, question_id, count(*) as bank_size
            from attempts
            group by all
        ),
        sizes as (
            select
                archive,
                count(*) as problems,
                count(distinct competition) as competitions,
                min(bank_size) as smallest_bank,
                max(bank_size) as largest_bank
            from banks
            group by archive
        )
        select
            attempts.archive,
            any_value(sizes.problems) as problems,
            any_value(sizes.competitions) as competitions,
            any_value(sizes.smallest_bank) as smallest_bank,
            any_value(sizes.largest_bank) as largest_bank,
            count(*) as attempts,
            count(*) filter (attempts.eligible) as eligible,
            count(attempts.mean_logprob) as logprobs,
            count(attempts.archive_answer) as archive_answers,
            sum(attempts.prompt_tokens)::bigint as prompt_tokens
        from attempts
        join sizes on sizes.archive = attempts.archive
        group by attempts.archive
        order by attempts.archive
        """,
    )


def archives_with_references(con: duckdb.DuckDBPyConnection) -> list[str]:
    """The archives with a problem for which some archive names accepted references."""
    found = query(
        con,
        """
        select distinct attempts.archive
        from attempts
        semi join accepted_references
            on accepted_references.competition = attempts.competition
            and accepted_references.question_id = attempts.question_id
        order by attempts.archive
        """,
    )
    return [row["archive"] for row in found]


def example_replay(con: duckdb.DuckDBPyConnection) -> Row | None:
    """A replay worth drawing: the rules part, strict returns something, the picture is in scale."""
    found = query(
        con,
        """
        select archive, competition, question_id, repeat, budget
        from selections as strict
        join selections as advisory using (
            archive, competition, question_id, repeat, cap, budget, selector
        )
        join replays using (archive, competition, question_id, repeat, cap, budget)
        where strict.rule = 'strict'
            and advisory.rule = 'advisory'
            and replays.rule = 'advisory'
            and selector = ?
            and cap = ?
        order by
            advisory.correct and not strict.correct desc,
            repeat > 0 desc,
            budget,
            replays.launched between 3 and 6 desc,
            replays.launched > 1 desc,
            replays.completion_cost < 3 * budget desc,
            archive, competition, question_id, repeat
        limit 1
        """,
        settings(con)["primary_selector"],
        int(settings(con)["primary_cap"]),
    )
    return found[0] if found else None


def group(found: list[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Rows under their key, keys in order of first appearance."""
    groups: dict[Any, list[Row]] = {}
    for row in found:
        groups.setdefault(key(row), []).append(row)
    return groups
