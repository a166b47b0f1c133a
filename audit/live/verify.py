"""The comparison of a live run with the replay of an unrestricted run of the same problems."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb

from audit.database import connect, insert
from audit.database.connection import is_database
from audit.engine import paired_intervals, render, replay
from audit.errors import AuditError
from audit.live.judge import get_judge
from audit.load.load import load
from audit.options import Reading, Settings
from audit.output.result import Result
from audit.text import first_names, plural
from audit.units import write_amount

# The settings of a live run that `verify` assumes where neither option nor record names them.
DEFAULTS = {
    "unit": "completion", "rule": "strict", "policy": "none", "selector": "majority",
    "answer": "boxed",
}  # fmt: skip
NAMED = ("budget", "rule", "cap", "unit", "policy", "selector", "answer")
RESULTS = ("equal", "different", "other attempts", "missing")


def verify(
    live: str | Path,
    full: str | Path,
    *,
    budget: str | int | None = None,
    rule: str | None = None,
    policy: str | None = None,
    selector: str | None = None,
    unit: str | None = None,
    cap: int | None = None,
    partial: bool = False,
) -> Result:
    """Compare a live run with the replay of an unrestricted one: a row per problem.

    live: the live run: a log, a folder of them or a database
    full: the unrestricted run of the same problems
    budget: the live run's budget (default: as recorded)
    rule: its rule (default: as recorded, or strict)
    policy: its policy, or a .sql file of your own (default: as recorded, or none)
    selector: its selector, or a .sql file of your own (default: as recorded, or majority)
    unit: its unit (default: as recorded, or completion)
    cap: its cap (default: as recorded, or its largest number of attempts)
    partial: leave out problems that the live run lacks, instead of listing them as missing
    """
    asked = zip(NAMED, (budget, rule, cap, unit, policy, selector), strict=False)
    options = {name: value for name, value in asked if value is not None}
    with TemporaryDirectory() as folder, ExitStack() as open_files:

        def open_copy(source: str | Path, name: str, answer: str) -> duckdb.DuckDBPyConnection:
            path = Path(folder, name)
            return open_files.enter_context(closing(_open_source(str(source), path, answer)))

        con = open_copy(live, "live.duckdb", DEFAULTS["answer"])
        facts = _read_facts(con, str(live), options)
        if facts["answer"] != DEFAULTS["answer"]:
            con = open_copy(live, "reread.duckdb", facts["answer"])
        both = open_files.enter_context(duckdb.connect())
        _replay(con, both, "live", facts | {"policy": "none"}, orders=0)
        con = open_copy(full, "full.duckdb", facts["answer"])
        _replay(con, both, "full", facts, orders=Settings().orders)
        _match_problems(both, str(live), str(full))
        return _compare(both, facts, partial)


def _open_source(source: str, path: Path, answer: str) -> duckdb.DuckDBPyConnection:
    """Open a new database with a source's attempts: copied from a database or loaded from files."""
    if Path(source).is_file() and is_database(Path(source)):
        shutil.copy(source, path)
        return connect(path)
    con = connect(path)
    load(con, [source], texts=False, reading=Reading(answer=answer, force=True))
    return con


def _read_facts(
    con: duckdb.DuckDBPyConnection, live: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the live run's settings: from the options, else its records, else the defaults."""
    facts: dict[str, Any] = dict(options)
    recorded = {}
    rows = con.execute(render("live_facts")).fetchall()
    for fact in NAMED:
        values = [value for name, value in rows if name == fact]
        if len(values) > 1 and fact not in facts:
            raise AuditError(
                f"{live}: runs of several kinds ({fact}: {', '.join(values)}); verify each"
            )
        recorded[fact] = values[0] if len(values) == 1 else None
        facts.setdefault(fact, recorded[fact] or DEFAULTS.get(fact))
    if facts["cap"] is None:
        ((facts["cap"],),) = con.execute("select max(slot) + 1 from attempts").fetchall()
    if facts["budget"] is None:
        raise AuditError(f"{live}: does not say under which budget it was run; pass --budget")
    facts["cap"] = int(facts["cap"])
    # The judge refuses unknown names before anything is replayed.
    judge = get_judge(**{name: facts[name] for name in NAMED})
    facts["amount"] = write_amount(judge.in_unit(judge.budget), facts["unit"])
    facts["notes"] = [
        f"{live} was run with {name} {recorded[name]}: compared as if with {name} {value}"
        for name, value in judge.facts.items()
        if recorded[name] not in (None, str(value))
    ]
    return facts


def _replay(
    con: duckdb.DuckDBPyConnection,
    both: duckdb.DuckDBPyConnection,
    run: str,
    facts: Mapping[str, Any],
    orders: int,
) -> None:
    """Replay a database with the live run's settings, and copy the outcomes into `both`."""
    rule, cap = facts["rule"], facts["cap"]
    policy, policies = _split_plugin(facts["policy"])
    selector, selectors = _split_plugin(facts["selector"])
    replay(
        con,
        unit=facts["unit"],
        budgets=[facts["budget"]],
        caps=[cap],
        primary_cap=cap,
        primary_selector=selector,
        orders=orders,
        replicates=0,
        curve_points=0,
        policies=[] if policy == "none" else [policies],
        # A replay always has the rules strict and advisory.
        rules=None if rule in ("strict", "advisory") else rule,
        selectors=None if selectors == selector else selectors,
    )
    chosen = {"rule": rule, "policy": policy, "selector": selector, "cap": cap}
    outcomes = con.sql(render("run_outcomes"), params=chosen).to_arrow_table()
    attempts = con.sql(render("run_attempts")).to_arrow_table()
    insert(both, f"create table {run}_outcomes as", outcomes)
    insert(both, f"create table {run}_attempts as", attempts)


def _split_plugin(name: str) -> tuple[str, str]:
    """Return a plug-in's name and the option that finds it: the name, or its file's folder."""
    path = Path(name)
    return (path.stem, str(path.parent)) if path.suffix == ".sql" else (name, name)


def _match_problems(both: duckdb.DuckDBPyConnection, live: str, full: str) -> None:
    """Give a run's only archive the other's name; refuse problems that only the live run has."""
    archives = [
        both.execute(f"select distinct archive from {run}_outcomes").fetchall()
        for run in ("live", "full")
    ]
    if len(archives[0]) == len(archives[1]) == 1:
        for table in ("full_outcomes", "full_attempts"):
            both.execute(f"update {table} set archive = ?", archives[0][0])
    missing = both.execute(
        "select distinct archive, competition, problem from live_outcomes "
        "anti join full_outcomes using (archive, competition, problem) order by all"
    ).fetchall()
    if missing:
        raise AuditError(
            f"{full}: has no attempts at {', '.join(missing[0])}, one of {len(missing):,} problems "
            f"that are in {live} alone; verify needs an unrestricted run of the same problems"
        )


def _compare(both: duckdb.DuckDBPyConnection, facts: Mapping[str, Any], partial: bool) -> Result:
    """Return a row per problem that compares the two runs, with counts and notes below them."""
    left_out = "where result <> 'missing'" if partial else ""
    rows = both.sql(f"from ({render('verified_problems')}) {left_out}").to_arrow_table()
    problems = rows.to_pylist()
    results = [row["result"] for row in problems]
    equal, different, others, missing = (results.count(result) for result in RESULTS)
    caption = (
        f"{equal:,} of {len(results):,} problems equal the replay in the recorded order (launched, "
        f"cost, answer, label) at budget {facts['amount']} ({facts['unit']}), rule "
        f"{facts['rule']}, policy {facts['policy']}, cap {facts['cap']}"
    )
    notes = [*facts["notes"]]
    labels = [
        (row["live_correct"], row["correct"]) for row in problems if row["result"] != "missing"
    ]
    if unlabelled := sum(None in pair for pair in labels):
        notes.append(
            f"{plural(unlabelled, 'problem')} without a label in one of the runs: none is compared"
        )
    if different:
        notes.append(
            f"{plural(different, 'problem')} with a difference, although most attempts are equal"
        )
    if missing:
        lacking = [row for row in problems if row["result"] == "missing"]
        names = [f"{row['competition']} {row['problem']}" for row in lacking]
        notes.append(
            f"the live run lacks {plural(missing, 'problem')}: {first_names(names, 5)}; --partial "
            "verifies the others alone"
        )
    if others:
        notes.append(f"other attempts at {plural(others, 'problem')}: this is another sampling")
        notes += _describe_rerun(both)
    return Result(rows, caption=caption, notes=notes)


def _describe_rerun(both: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """Yield notes on the paired differences between a rerun and a replay over random orders."""
    settings = Settings()
    drawn = (settings.replicates, settings.bootstrap_seed)
    differences = render("rerun_differences")
    for row in paired_intervals(both, differences, ["measure"], *drawn).to_pylist():
        unit = "points of accuracy" if row["measure"] == "accuracy" else "of cost"
        ends = "" if row["low"] is None else f"95 % {row['low']:.2f} to {row['high']:.2f}, "
        yield (
            f"live minus replayed over random orders: {row['difference']:.2f} {unit} "
            f"({ends}{plural(row['problems'], 'problem')}, paired)"
        )
