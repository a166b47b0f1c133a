"""Every figure draws the rows of its table, and fits where it is wanted."""

import re

import pyarrow as pa
import pytest

import audit
from audit import engine
from audit.errors import AuditError
from audit.report import figures
from audit.report.figures import Look, drawing
from audit.report.figures.timeline import timeline
from audit.text import shortened
from tests.support.archives import attempt
from tests.support.databases import remember, replayed, replayed_in_memory
from tests.support.pages import Page


def all_rows(spec):
    """Every row of data in a specification, wherever it stands."""
    if isinstance(spec, list):
        return [row for part in spec for row in all_rows(part)]
    if not isinstance(spec, dict):
        return []
    rows = [row for row in spec.get("values", []) if isinstance(row, dict)]
    return rows + all_rows(list(spec.values()))


def words_of(spec):
    """Every sentence of a timeline."""
    return " ".join(line for lane in spec["vconcat"] for line in lane["title"]["subtitle"])


def test_budget_curves_draw_the_rows_of_the_table(simulated):
    drawn = all_rows(figures.budget_curve(simulated)())
    key = ("archive", "rule", "budget", "accuracy", "cost")
    lines = {tuple(row[name] for name in key) for row in drawn if "rule" in row}
    curves = engine.compute_table(simulated, "curves").to_pylist()
    assert {tuple(row[name] for name in key) for row in curves} <= lines
    curve = engine.compute_table(simulated, "budget_curve").to_pylist()
    assert len(curve) > 200
    assert [row for row in drawn if "band_low" in row] == [
        row for row in curve if row["band_low"] is not None
    ]
    for rule in ("strict", "advisory"):
        own = ("archive", "budget", f"{rule}_accuracy", f"{rule}_cost")
        wanted = {(row[own[0]], rule, *(row[name] for name in own[1:])) for row in curve}
        assert wanted <= lines


def test_cost_accuracy_draws_strict_at_the_cost_of_each_advisory_point(simulated):
    drawn = all_rows(figures.cost_accuracy(simulated)())
    matched = engine.compute_table(simulated, "matched_cost").to_pylist()
    assert matched and all(row in drawn for row in matched)


def test_length_strata_draw_both_halves_with_intervals(simulated):
    drawn = all_rows(figures.length_strata(simulated)())
    assert {row["stratum"] for row in drawn if "stratum" in row} == {"shorter", "longer"}
    assert all(row["delta_low"] <= row["delta_high"] for row in drawn if "delta_low" in row)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf", ".html"])
def test_save_figure_writes_by_suffix(hostile, tmp_path, suffix):
    con, _ = hostile
    path = figures.save_figure(timeline(con), tmp_path / "new" / f"figure{suffix}")
    start = {".svg": b"<svg", ".png": b"\x89PNG", ".pdf": b"%PDF", ".html": b"<!doctype html>"}
    content = path.read_bytes()
    assert content.startswith(start[suffix])
    if suffix == ".html":
        assert [a for a in Page(content.decode()).addresses if a != "data:,"] == []


def test_save_figure_refuses_another_suffix(tmp_path):
    with pytest.raises(AuditError, match=r"\.svg, \.pdf, \.png, \.html"):
        figures.save_figure({}, tmp_path / "figure.gif")


def test_timeline_draws_the_ledger_of_its_replay(simulated):
    ((archive, competition, question, repeat, budget),) = simulated.execute(
        """
        select archive, competition, question_id, repeat, budget from replays
        where rule = 'strict' and cap = 16 and prefix_cost > 0 and returned > 0 and repeat > 0
        order by all limit 1
        """
    ).fetchall()
    spec = timeline(simulated, archive, competition, question, repeat, budget)
    drawn = all_rows(spec)
    rules = {
        row[0]: row[1:]
        for row in simulated.execute(
            """
            select rule, launched, returned, cost, prefix_cost from replays
            where archive = ? and competition = ? and question_id = ? and repeat = ?
                and budget = ? and cap = 16
            """,
            [archive, competition, question, repeat, budget],
        ).fetchall()
    }
    cut = [row for row in drawn if row.get("kind") == "paid, not returned"]
    assert [row["stop"] - row["start"] for row in cut] == [rules["strict"][3]]
    text = words_of(spec)
    assert f"Pays {rules['strict'][2]:,} tokens, {rules['strict'][3]:,} tokens for" in text
    assert f"Pays {rules['advisory'][2]:,} tokens" in text
    (past,) = (row for row in drawn if "past" in row and "cost" in row)
    assert past["cost"] - past["past"] == rules["advisory"][2] - budget


def test_timeline_looks_a_budget_up_that_was_not_replayed(simulated):
    def words(budget):
        return words_of(timeline(simulated, repeat=1, budget=budget))

    assert simulated.execute("select count(*) from budgets where budget = 6000").fetchone() == (0,)
    assert words("6k") == words(6000) != words("4k")
    # One token more than a replayed budget: strict pays at most that one token more.
    paid = [int(re.search(r"Pays ([\d,]+)", words(b))[1].replace(",", "")) for b in (4000, 4001)]
    assert paid[1] - paid[0] in (0, 1)


def test_timeline_without_a_key_draws_the_first_replay(simulated):
    spec = timeline(simulated)
    subtitle = " ".join(spec["title"]["subtitle"])
    assert "simulated_high · AIME24 question 0 · canonical order · at most 16 attempts" in subtitle


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ({"archive": "nope"}, "no archive 'nope'; there are simulated_high, simulated_low"),
        ({"competition": "nope"}, "no competition 'nope'; there are AIME24"),
        ({"question": 99}, "no question '99'; there are 0, 1, 2"),
        ({"repeat": 7}, "no repeat '7'; there are 0, 1, 2, 3, 4"),
        ({"budget": 0}, "--budget 0: a budget is above 0"),
        ({"budget": "much"}, "--budget: 'much' is not a number like 4000"),
        ({"cap": 5}, "no cap '5'; there are 8, 16, 32"),
    ],
)
def test_timeline_names_what_exists(simulated, key, message):
    with pytest.raises(AuditError, match=re.escape(message)):
        timeline(simulated, **key)


def fitted(con, name, inches):
    """A figure that is as wide as asked."""
    return drawing.fit_figure(figures.FIGURES[name](con), Look(width=round(96 * inches)))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "inches"), [("cost_accuracy", 6.9), ("length_strata", 3.3)])
def test_a_figure_is_as_wide_as_the_column_it_is_for(simulated, name, inches, monkeypatch):
    rows = engine.compute_table(simulated, "length_strata").to_pylist()
    copies = [row | {"archive": f"{row['archive']}-{copy}"} for row in rows for copy in range(4)]
    if name == "length_strata":
        remember(monkeypatch, {name: pa.Table.from_pylist(copies)})
    width, height = drawing.measure_svg(drawing.render_svg(fitted(simulated, name, inches)))
    assert abs(width - 96 * inches) < 3
    assert inches > 4 or height <= 4 * 96


@pytest.mark.parametrize("archives", [2, 6])
def test_a_curve_of_one_column_is_four_inches_high_and_names_every_budget(
    simulated, archives, monkeypatch
):
    """Many archives share the height without their costs, and the caption speaks of none."""
    copied = {
        name: pa.Table.from_pylist(
            [
                row | {"archive": f"{row['archive']}-{copy}"}
                for row in engine.compute_table(simulated, name).to_pylist()
                for copy in range(archives // 2)
            ]
        )
        for name in ("curves", "budget_curve")
    }
    remember(monkeypatch, copied)
    chart = fitted(simulated, "budget_curve", 3.3)
    picture = drawing.render_svg(chart)
    width, height = drawing.measure_svg(picture)
    assert abs(width - 96 * 3.3) < 3 and height <= 4 * 96
    assert all(picture.count(f">{name}<") == archives for name in ("4k", "8k", "16k", "32k"))
    assert (">cost / B<" in picture) == (archives == 2) == ("usermeta" not in chart)


def test_a_title_of_ones_own_stands_alone_and_keeps_the_mark(simulated):
    spec = figures.budget_curve(simulated)(look=Look(title="Mine"))
    assert spec["title"]["text"] == ["Mine"]
    assert spec["title"]["subtitle"] == ["SIMULATED DATA, not a model's output"]


def test_a_figure_draws_only_the_archives_wanted(simulated):
    spec = figures.budget_curve(simulated, ["simulated_low"])()
    assert {row["archive"] for row in all_rows(spec) if "archive" in row} == {"simulated_low"}


def test_names_are_cut_in_the_middle_so_that_what_differs_stays():
    assert shortened("short", 10) == "short"
    assert shortened("model-a-with-a-long-name-low", 13) == "model-…me-low"
    one, other = "common-" * 4 + "alpha-" + "end" * 8, "common-" * 4 + "gamma-" + "end" * 8
    cut = [shortened(name, 20, [one, other]) for name in (one, other)]
    assert cut[0] != cut[1] and all(len(name) <= 20 for name in cut)
    assert "alpha" in cut[0] and "gamma" in cut[1]


def policy_rows():
    return [
        {
            "archive": "a",
            "policy": policy,
            "rule": rule,
            "budget": budget,
            "accuracy": 40.0 + budget / 1000 + (rule == "advisory"),
            "cost": budget * (0.8 if policy != "none" else 1.0),
            "delta": 0.0,
            "delta_low": -1.0,
            "delta_high": 1.0,
        }
        for policy in ("none", "decided")
        for rule in ("strict", "advisory")
        for budget in (4000, 8000)
    ]


def test_policies_are_drawn_with_their_frontier(simulated, monkeypatch):
    remember(monkeypatch, {"policies": pa.Table.from_pylist(policy_rows())})
    drawn = all_rows(figures.policies(simulated)())
    assert len([row for row in drawn if "policy" in row]) >= 8
    frontier = [row for row in drawn if set(row) == {"cost", "accuracy"}]
    assert [row["cost"] for row in frontier] == [3200.0, 6400.0]


def test_points_at_which_the_bank_ran_out_are_hollow(tmp_path):
    # Two attempts of 10 tokens under a cap of 9: at 45 tokens every replay ran out of attempts.
    rows = [attempt(seed, 10, "4", correct=True) for seed in range(2)]
    with replayed(tmp_path, rows, caps=(9,), primary_cap=9) as con:
        drawn = all_rows(figures.budget_curve(con)())
    marks = {(row["budget"], row["is_bank_end"]) for row in drawn if "is_bank_end" in row}
    assert marks == {(10, False), (20, False), (45, True)}


def test_the_panels_of_a_figure_come_in_the_order_that_is_asked_for(simulated, tmp_path):
    def panels(**more):
        page = audit.figure(simulated, "length_strata", tmp_path / "order.html", **more).read_text()
        return sorted(names, key=lambda name: page.index(f'"text": "{name}"'))

    names = [
        name for (name,) in simulated.execute("select archive from archives order by 1").fetchall()
    ]
    assert panels() == panels(archive="*") == names
    assert panels(order=f"{names[1]}, {names[0]}") == panels(order=names[1]) == names[::-1]
    with pytest.raises(AuditError, match="--order: no archive 'x'"):
        panels(order="x")


def test_a_pdf_is_as_wide_as_it_is_asked_to_be(simulated, tmp_path):
    """A PDF has 72 points to the inch; pixels written as points make it a third too wide."""
    drawn = audit.figure(simulated, "cost_accuracy", tmp_path / "one.pdf", width=round(3.3 * 96))
    (box,) = re.findall(rb"/MediaBox ?\[0 0 ([\d.]+)", drawn.read_bytes())
    assert float(box) / 72 == pytest.approx(3.3, abs=0.02)


def test_no_point_of_cost_accuracy_is_left_without_its_budget(simulated):
    drawn = all_rows(figures.cost_accuracy(simulated)())
    labels = [(row["archive"], row["rule"], row["label"]) for row in drawn if "label" in row]
    ((points,),) = simulated.execute(
        "select count(*) from (select distinct archive, rule, budget from replays)"
    ).fetchall()
    assert len(set(labels)) == points and all(label for *_, label in labels)


def test_timeline_draws_steps_and_what_every_rule_pays_and_keeps(tmp_path):
    """Two attempts of 10 and 12, the second made of steps that end at 4, 9 and 12; B = 16."""
    steps = [{"completion_tokens": cost} for cost in (4, 5, 3)]
    rows = [
        attempt(0, 10, "7", correct=True),
        attempt(1, 12, "8", steps=steps),
    ]
    with replayed(tmp_path, rows, rules="all", budgets=(16,), caps=(2,), primary_cap=2) as con:
        spec = timeline(con, repeat=0, budget=16)
        paid = {
            rule: (returned, cost, lost)
            for rule, returned, cost, lost in con.execute(
                "select rule, returned, cost, prefix_cost from replays where repeat = 0"
            ).fetchall()
        }
    assert paid == {
        "strict": (1, 16, 6),
        "step": (1, 19, 9),
        "step_lost": (1, 19, 9),
        "advisory": (2, 22, 0),
        "attempt_lost": (1, 22, 12),
    }
    drawn, said = all_rows(spec), words_of(spec)
    for returned, cost, lost in paid.values():
        assert f"Pays {cost} tokens" in said
        assert f"returns {returned} attempt" in said
        assert not lost or f"{lost} tokens for" in said
    cut = [row["stop"] for row in drawn if row.get("kind") == "paid, not returned"]
    assert sorted(cut) == [16, 19, 19, 22]
    assert {end for row in drawn for end in row.get("steps", [])} == {14, 19, 22}
    assert sorted(row["cost"] for row in drawn if "past" in row and "cost" in row) == [
        19,
        19,
        22,
        22,
    ]


def test_timeline_tells_where_a_cut_attempt_was_asked_and_what_it_answered(tmp_path):
    """Of its 12 tokens the cut attempt has 6 before B = 16; it was asked after 3 and after 6."""
    checkpoints = [
        {"tokens": 3, "kind": "asked", "answer": "8", "cost": 1, "correct": True},
        {"tokens": 5, "kind": "written", "answer": None},
        {"tokens": 6, "kind": "asked", "answer": "9", "cost": 1, "correct": False},
    ]
    rows = [
        attempt(0, 10, None, finish="length"),
        attempt(1, 12, "7", correct=True) | {"checkpoints": checkpoints},
    ]
    settings = {"budgets": (16,), "caps": (2,), "primary_cap": 2}
    with replayed_in_memory(tmp_path, rows, terminals=("all",), **settings) as con:
        spec = timeline(con, repeat=0, budget=16)
        unreplayed = timeline(con, repeat=0, budget=17)
    words = words_of(spec)
    assert "With standing: takes no answer from attempt 2." in words
    assert (
        "With forced, forced_if_empty: after 3 tokens, attempt 2 is asked and answers 8, correct; "
        "selects 8." in words
    )
    assert "With forced_after: after 6 tokens" in words and "answers 9, incorrect" in words
    assert [row["asked"] for row in all_rows(spec) if "asked" in row] == [13, 16]
    assert not any("asked" in row for row in all_rows(unreplayed))
