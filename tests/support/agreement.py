"""The tables and relations of a database held to the slow reference."""

from audit import engine
from tests import reference
from tests.support.databases import tables_of
from tests.support.rows import differences, sort_key

# Tables whose slow reference is beside their own tests.
ELSEWHERE = {"prefix_boxes", "majority_rules", "truncation", "data_quality"}
ELSEWHERE |= {"terminals", "terminal_cost", "budget_card"}


def assert_agrees(con, rows, settings, names=None, unlabelled=None):
    """Hold these tables and relations, or all there are, to what the slow reference computes."""
    expected = reference.compute(rows, **settings, unlabelled=unlabelled)
    assert {*engine.list_tables()} - ELSEWHERE <= expected.keys()
    names = names or [name for name in expected if name not in ELSEWHERE]
    tables = tables_of(con, [name for name in names if name in engine.list_tables()])
    for name in names:
        want, is_table = expected[name], name in tables
        found = tables[name] if is_table else con.sql(f"from {name}").to_arrow_table()
        columns = list(want[0]) if want else found.column_names
        if is_table:
            # Names of problems are beside their numbers; the reference knows the numbers alone.
            numbered = [column for column in found.column_names if column != "problem"]
            assert columns in (numbered, found.column_names), name
        have = [{column: row[column] for column in columns} for row in found.to_pylist()]
        if not is_table:
            want, have = sorted(want, key=sort_key), sorted(have, key=sort_key)
        assert not list(differences(want, have, columns))[:3], name
