"""Note columns that a load leaves out but that may be costs or distinguish archives.

Two checks of `data_quality` read these notes from the mapping of a file.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, MutableMapping
from contextlib import suppress

import duckdb

from audit.errors import AuditError
from audit.sources.columns import COST, COSTLIKE
from audit.sources.evidence import MOST_ROWS, Evidence, Leaf, open_evidence
from audit.sources.files import Source
from audit.sources.paths import EACH

NOT_COSTS = re.compile(r"max_|limit|budget|per_|id$")
# Parts of a cost that is loaded, and sums with its prompt.
KNOWN_PARTS = re.compile(r"prompt|input|cache|total_?tok|reason|think|detail")
STAR = re.compile(r"(select|,)\s*(\w+\.)?\*", re.IGNORECASE)
SELECTED = re.compile(r'([\w.]+)\s+as\s+"?(\w+)"?', re.IGNORECASE)


def keep_unused(source: Source) -> None:
    """Note suspicious columns that the mapping of a file leaves out, in the mapping itself."""
    used = {path.partition("~")[0].partition("[")[0] for path in source.mapping.values()}
    first = {path.partition(".")[0] for path in used}
    is_whole = all(record.keys() <= first for record in source.sample)
    if is_whole or any(EACH in path.split(".") for path in used):
        return
    # These are only checks: the load itself refuses an unreadable file.
    with suppress(AuditError, duckdb.Error), open_evidence(source.records()) as evidence:
        _keep_facts(evidence, dict(source.mapping), used, source.mapping, source.notes)


def keep_unselected(
    con: duckdb.DuckDBPyConnection,
    view: str,
    text: str,
    kept: MutableMapping[str, str],
    notes: Counter[str],
) -> None:
    """Note suspicious columns of a view that a select does not name in its text."""
    words = set(re.findall(r"\w+", text.lower()))
    names = {name.lower() for name in con.sql(f"from {view}").columns}
    if names <= words or STAR.search(text):
        return
    con.execute(f"create or replace temp table records as from {view} limit {MOST_ROWS}")
    evidence = Evidence(con)
    used = {leaf.path for leaf in evidence.leaves if leaf.name in words}
    paths = {alias.lower(): path for path, alias in SELECTED.findall(text)}
    _keep_facts(evidence, paths, {*used, "filename"}, kept, notes)
    con.execute("drop table records")


def _keep_facts(
    evidence: Evidence,
    paths: Mapping[str, str],
    used: Iterable[str],
    kept: MutableMapping[str, str],
    notes: Counter[str],
) -> None:
    """Note unused columns that look like costs, or that split each problem's rows evenly."""
    taken = set(used)
    costs = [
        _compare_costs(evidence, leaf, evidence.leaf(paths.get(COST)))
        for leaf in evidence.leaves
        if leaf.path not in taken
        and leaf.is_number
        and leaf.distinct > 1
        and COSTLIKE.search(leaf.path.lower())
        and not NOT_COSTS.search(leaf.name)
        and not KNOWN_PARTS.search(leaf.path.lower())
    ]
    problem, archive = (evidence.leaf(paths.get(name)) for name in ("question_id", "archive"))
    keys = [leaf.sql for leaf in (problem, archive) if leaf]
    arms = [leaf.path for leaf in evidence.arms(keys, taken)] if problem else []
    for name, found, words in (
        ("unused_costs", costs, "looks like a cost and is not loaded"),
        ("told_apart_by", arms, "splits the repeats of a problem, and is not loaded"),
    ):
        if found:
            kept[name] = ", ".join(found)
            notes[f"column {words}: {kept[name]}"] = len(found)


def _compare_costs(evidence: Evidence, leaf: Leaf, cost: Leaf | None) -> str:
    """Return a column's path and how many times the loaded cost its sum is."""
    if cost is None or not cost.is_number:
        return leaf.path
    query = f"select sum({leaf.sql}::double) / nullif(sum({cost.sql}::double), 0) from records"
    ratio = evidence.con.execute(query).fetchall()[0][0]
    return leaf.path if ratio is None else f"{leaf.path} ({ratio:.3g} times what is loaded)"
