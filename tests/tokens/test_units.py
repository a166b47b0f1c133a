"""Counting tokens where budgets do not count them."""

import pytest

from audit.errors import AuditError
from audit.tokens import tokenize
from tests.support.databases import TOY, ledger_database


def test_a_replay_in_another_unit_is_refused_in_one_line(tmp_path):
    with ledger_database(tmp_path, unit="steps", budgets=(1, 2)) as con:
        with pytest.raises(AuditError, match="count steps, and prefixes are cut at completion"):
            tokenize(con, TOY)
        assert con.execute("select count(*) from token_counts").fetchall() == [(0,)]
