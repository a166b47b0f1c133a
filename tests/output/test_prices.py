"""Prices: what a token budget costs in money, beside the tables as they are."""

import pytest

from audit import engine
from audit.errors import AuditError
from audit.output.export import export
from audit.output.prices import COLUMNS, Prices, prices, table
from tests.support.archives import attempt
from tests.support.databases import replayed, small_database

MILLION = 1_000_000


@pytest.fixture(scope="module")
def con(tmp_path_factory):
    with small_database(tmp_path_factory.mktemp("prices"), policies="all") as con:
        yield con


@pytest.mark.parametrize("name", sorted(set(COLUMNS) & set(engine.table_names())))
def test_a_priced_table_is_the_table_with_columns_at_its_end(con, name):
    plain, priced = engine.table(con, name), table(con, name, Prices(2.0, 8.0))
    assert plain.num_rows > 0
    assert priced.column_names == [*plain.column_names, *COLUMNS[name]]
    assert priced.select(plain.column_names) == plain
    assert table(con, name) == plain


def test_a_table_without_costs_has_no_price(con):
    assert table(con, "grading", Prices(2.0, 8.0)) == engine.table(con, "grading")


def test_the_price_of_a_replay_is_worked_out_by_hand(tmp_path):
    # Two attempts of 7 prompt and 10 completion tokens; prices of 3 and 5 for a million.
    #   budget  4: strict pays 4 tokens, advisory 10, both one prompt
    #   budget 14: strict pays 14, advisory 20, both two prompts
    rows = [attempt(seed, 10, "4", prompt_tokens=7) for seed in (1, 2)]
    with replayed(tmp_path, rows, budgets=(4, 14), caps=(9,), primary_cap=9) as con:
        at = Prices(3.0, 5.0)
        assert [
            (row["strict_price"] * MILLION, row["advisory_price"] * MILLION)
            for row in table(con, "main", at).to_pylist()
        ] == [
            (pytest.approx(7 * 3 + 4 * 5), pytest.approx(7 * 3 + 10 * 5)),
            (pytest.approx(14 * 3 + 14 * 5), pytest.approx(14 * 3 + 20 * 5)),
        ]
        assert {
            (row["budget"], row["rule"]): row["price"] * MILLION
            for row in table(con, "curves", at).to_pylist()
        } == {
            (4, "strict"): pytest.approx(41),
            (4, "advisory"): pytest.approx(71),
            (14, "strict"): pytest.approx(112),
            (14, "advisory"): pytest.approx(142),
        }
        compared = table(con, "cost_comparisons", at).to_pylist()
        (crossed,) = (r for r in compared if (r["advisory_budget"], r["strict_budget"]) == (4, 14))
        assert crossed["price_difference"] * MILLION == pytest.approx(71 - 112)
        # The prefix that strict pays for and discards: 4 tokens each time.
        prefixes = table(con, "prefix_cost", at).to_pylist()
        assert [row["prefix_price"] * MILLION for row in prefixes] == [20, 20]
        (longer, *_) = table(con, "length_strata", at).to_pylist()
        assert longer["extra_price"] * MILLION == pytest.approx(6 * 5)


def test_a_cached_prompt_has_a_price_of_its_own(tmp_path):
    # Two attempts of 7 prompt and 10 completion tokens: at budget 14 both are launched.
    rows = [attempt(seed, 10, "4", prompt_tokens=7) for seed in (1, 2)]
    (tmp_path / "prices.csv").write_text("archive,input,output,cached_input\na,3,5,1\n")
    at = prices(None, None, tmp_path / "prices.csv")
    with replayed(tmp_path, rows, budgets=(4, 14), caps=(9,), primary_cap=9) as con:
        found = [row["strict_price"] * MILLION for row in table(con, "main", at).to_pylist()]
    assert found == [pytest.approx(7 * 3 + 4 * 5), pytest.approx(7 * 3 + 7 * 1 + 14 * 5)]


def test_prompts_at_any_budget_are_those_of_a_replay_there(con):
    asked = con.execute("select distinct archive, budget from replays order by all").fetchall()
    pairs = [{"archive": archive, "budget": budget} for archive, budget in asked]
    found = con.execute(engine.render("prompts_at_budget"), {"asked": pairs}).fetchall()
    expected = con.execute(
        """
        select archive, budget, count(*), sum(prompt_tokens)
        from replays
        where repeat > 0 and rule = 'strict' and cap = (select cap from caps where is_primary)
        group by archive, budget
        order by archive, budget
        """
    ).fetchall()
    assert [row[:4] for row in found] == expected and len(found) > 2


def test_prices_of_a_comparison_are_over_the_problems_of_both(tmp_path):
    # The archives share question 0: 7 + 10 tokens in a, 7 + 30 in b. Question 1 is a's alone.
    rows = [
        attempt(1, 10, "4", prompt_tokens=7),
        attempt(1, 500, "4", question=1, prompt_tokens=7),
        attempt(1, 30, "4", archive="b", prompt_tokens=7),
    ]
    with replayed(tmp_path, rows, budgets=(1000,), caps=(9,), primary_cap=9) as con:
        found = con.execute(engine.render("priced_comparisons")).fetchall()
    assert {row[:2] + row[3:4] + row[5:] for row in found} == {
        ("a", "b", "strict", 21, 21, 30), ("a", "b", "advisory", 21, 21, 30),
        ("b", "a", "strict", 21, 21, 90), ("b", "a", "advisory", 21, 21, 90),
    }  # fmt: skip


def test_prices_agree_with_the_replays_relation(con):
    expected = con.execute(
        """
        select archive, budget, rule, avg(2 * prompt_tokens + 8 * cost) / 1000000 as price
        from replays
        where repeat > 0 and cap = (select cap from caps where is_primary)
        group by archive, budget, rule
        order by archive, budget, rule
        """
    ).fetchall()
    found = table(con, "curves", Prices(2.0, 8.0)).to_pylist()
    assert [(r["archive"], r["budget"], r["rule"], pytest.approx(r["price"])) for r in found] == (
        expected
    )


def test_exported_cost_tables_carry_the_prices(con, tmp_path):
    list(export(con, tmp_path, ["main", "grading"], prices=Prices(2.0, 8.0)))
    assert (
        (tmp_path / "main.csv").read_text().splitlines()[0].endswith("strict_price,advisory_price")
    )
    assert "price" not in (tmp_path / "grading.csv").read_text().splitlines()[0]


def test_one_price_alone_or_an_impossible_one_is_refused():
    assert prices(None, None) is None
    assert prices(0, 8) == Prices(0, 8)
    with pytest.raises(AuditError, match="give both"):
        prices(2.0, None)
    with pytest.raises(AuditError, match="give both"):
        prices(None, 2.0)
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(AuditError, match="--price-output"):
            prices(1.0, wrong)
