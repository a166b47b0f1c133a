"""A live run beside the replay of an unrestricted one: is it what the replay says?"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np

from audit.database import connect, insert
from audit.database.connection import is_database
from audit.engine import render, replay
from audit.errors import AuditError
from audit.live.judge import judge_for
from audit.load.load import load
from audit.options import Reading, Settings
from audit.output.result import Result
from audit.units import write_amount

# What `verify` needs to know of the live run, and what stands in where its records do not say.
DEFAULTS = {
    "unit": "completion", "rule": "strict", "policy": "none", "selector": "majority",
    "answer": "boxed",
}  # fmt: skip
NAMED = ("budget", "rule", "cap", "unit", "policy", "selector", "answer")
RESULTS = ("equal", "different", "other attempts")


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
) -> Result:
    """A live run beside the replay of an unrestricted one: a row per problem, the first difference.

    live: the live run: a log, a folder of them or a database
    full: the unrestricted run of the same problems
    budget: the live run's budget, where its records do not say it
    rule: its rule, likewise (strict)
    policy: its policy, likewise (none), or a .sql file of your own
    selector: its selector, likewise (majority)
    unit: its unit, likewise (completion)
    cap: its cap, likewise (its largest number of attempts)
    """
    asked = zip(NAMED, (budget, rule, cap, unit, policy, selector), strict=False)
    options = {name: value for name, value in asked if value is not None}
    with TemporaryDirectory() as folder, ExitStack() as open_files:

        def database(source: str | Path, name: str, answer: str) -> duckdb.DuckDBPyConnection:
            path = Path(folder, name)
            return open_files.enter_context(closing(_database(str(source), path, answer)))

        con = database(live, "live.duckdb", DEFAULTS["answer"])
        facts = _facts(con, str(live), options)
        if facts["answer"] != DEFAULTS["answer"]:
            con = database(live, "reread.duckdb", facts["answer"])
        both = open_files.enter_context(duckdb.connect())
        _replay(con, both, "live", facts | {"policy": "none"}, orders=0)
        con = database(full, "full.duckdb", facts["answer"])
        _replay(con, both, "full", facts, orders=Settings().orders)
        _pair(both, str(live), str(full))
        return _verified(both, facts)


def _database(source: str, path: Path, answer: str) -> duckdb.DuckDBPyConnection:
    """A database of our own with what a source holds: a copy of one, or the files loaded."""
    if Path(source).is_file() and is_database(Path(source)):
        shutil.copy(source, path)
        return connect(path)
    con = connect(path)
    load(con, [source], texts=False, reading=Reading(answer=answer, force=True))
    return con


def _facts(con: duckdb.DuckDBPyConnection, live: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What the live run was run with: as given, as its records say, or by default."""
    facts: dict[str, Any] = dict(options)
    recorded = {}
    said = con.execute(render("live_facts")).fetchall()
    for fact in NAMED:
        values = [value for name, value in said if name == fact]
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
    # Names that are not there are refused before anything is replayed.
    judge = judge_for(**{name: facts[name] for name in NAMED})
    facts["amount"] = write_amount(judge.printed(judge.budget), facts["unit"])
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
    """Replay a database as the live run was run, and put its outcomes where both runs are."""
    rule, cap = facts["rule"], facts["cap"]
    policy, policies = _own(facts["policy"])
    selector, selectors = _own(facts["selector"])
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
        # The two of the study are always among the rules.
        rules=None if rule in ("strict", "advisory") else rule,
        selectors=None if selectors == selector else selectors,
    )
    chosen = {"rule": rule, "policy": policy, "selector": selector, "cap": cap}
    outcomes = con.sql(render("run_outcomes"), params=chosen).to_arrow_table()
    attempts = con.sql(render("run_attempts")).to_arrow_table()
    insert(both, f"create table {run}_outcomes as", outcomes)
    insert(both, f"create table {run}_attempts as", attempts)


def _own(name: str) -> tuple[str, str]:
    """The name of a plug-in, and what asks for it: itself, or the folder of a user's file."""
    path = Path(name)
    return (path.stem, str(path.parent)) if path.suffix == ".sql" else (name, name)


def _pair(both: duckdb.DuckDBPyConnection, live: str, full: str) -> None:
    """Have both runs under the same archive names; two single archives need no common name."""
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


def _verified(both: duckdb.DuckDBPyConnection, facts: Mapping[str, Any]) -> Result:
    """The comparison of every problem, and what they come to."""
    rows = both.sql(render("verified_problems")).to_arrow_table()
    results = rows["result"].to_pylist()
    equal, different, others = (results.count(result) for result in RESULTS)
    caption = (
        f"{equal:,} of {len(results):,} problems equal the replay (launched, cost, answer, "
        f"label) at budget {facts['amount']} ({facts['unit']}), rule {facts['rule']}, policy "
        f"{facts['policy']}, cap {facts['cap']}"
    )
    notes = [*facts["notes"]]
    labels = zip(rows["live_correct"].to_pylist(), rows["correct"].to_pylist(), strict=True)
    if unlabelled := sum(None in pair for pair in labels):
        notes.append(f"{unlabelled:,} problems have no label in one of the runs: none is compared")
    if different:
        notes.append(f"{different:,} problems differ although their attempts are equal")
    if others:
        notes.append(f"{others:,} problems have other attempts: this is another sampling")
        notes += _predicted(both)
    return Result(rows, caption=caption, notes=notes)


def _predicted(both: duckdb.DuckDBPyConnection) -> Iterator[str]:
    """How far a genuine rerun lies from what the replay predicts over random orders, paired."""
    rows = both.sql(render("rerun_differences")).to_arrow_table().to_pylist()
    for name, unit, scale in (("correct", "points of accuracy", 100), ("cost", "of cost", 1)):
        paired = [(row["competition"], row[name]) for row in rows if row[name] is not None]
        if paired:
            mean, low, high = (scale * value for value in _interval(paired))
            yield (
                f"live minus replayed: {mean:.2f} {unit} (95 % {low:.2f} to {high:.2f}, "
                f"{len(paired):,} problems, paired)"
            )


def _interval(differences: Sequence[tuple[str, float]]) -> tuple[float, float, float]:
    """The mean, and the 95 % interval over problems drawn anew within each competition."""
    settings = Settings()
    rng = np.random.default_rng(settings.bootstrap_seed)
    values = np.array([value for _, value in differences])
    competitions = [competition for competition, _ in differences]
    sizes = [competitions.count(name) for name in dict.fromkeys(competitions)]
    drawn = [
        rng.multinomial(size, np.full(size, 1 / size), size=settings.replicates) for size in sizes
    ]
    means = np.hstack(drawn) @ values / len(values)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(values.mean()), float(low), float(high)
