"""The recorded agent runs: five rules at every budget, beside what a plain loop says."""

import pytest

import audit
from audit.errors import AuditError
from audit.study import recorded

# Percent solved and mean dollars an issue, by a plain loop over the recorded calls with the prices.
PLAIN = {
    0.25: {
        "strict": (19.2, 0.2378),
        "step": (21.0, 0.2462),
        "step_lost": (19.2, 0.2462),
        "attempt_lost": (19.2, 0.4609),
    },
    0.50: {
        "strict": (58.2, 0.3665),
        "step": (58.6, 0.3711),
        "step_lost": (58.2, 0.3711),
        "attempt_lost": (58.2, 0.4609),
    },
    1.00: {
        "strict": (71.8, 0.4319),
        "step": (71.8, 0.4329),
        "step_lost": (71.8, 0.4329),
        "attempt_lost": (71.8, 0.4609),
    },
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    return folder, audit.demo(folder / "demo", agents=True)


@pytest.mark.slow
def test_every_rule_solves_and_costs_what_a_plain_loop_says(made):
    folder, _ = made
    curves = audit.table(folder / "demo" / "audit.duckdb", "curves").to_pylist()
    found = {(row["budget"], row["rule"]): (row["accuracy"], row["cost"]) for row in curves}
    assert {budget for budget, _ in found} == {0.1, 0.25, 0.5, 1.0, 2.0}
    for budget, rules in PLAIN.items():
        for rule, (solved, paid) in {**rules, "advisory": (74.2, 0.4609)}.items():
            accuracy, cost = found[budget, rule]
            assert accuracy == pytest.approx(solved) and cost == pytest.approx(paid, abs=5e-5)


@pytest.mark.slow
def test_the_demonstration_tells_three_lines_and_a_table(made):
    folder, result = made
    lines = result.caption.splitlines()
    assert lines[0].startswith(
        "At $0.50 an issue, 58.2 % are solved when the budget cuts, 58.6 % when the running step "
        "may finish and 74.2 % when the attempt may finish."
    )
    assert "an agent that is told its budget may act otherwise" in lines[2]
    assert lines[4].split() == ["rule", "$0.10", "$0.25", "$0.50", "$1", "$2"]
    assert [line.split(",")[0] for line in lines[6:16:2]] == [
        *("strict", "step_lost", "step", "attempt_lost", "advisory"),
    ]
    assert "58.6 %" in lines[10]
    assert "the running step may finish, paid" in lines[11] and "$0.371" in lines[11]
    # The table fits a terminal of 80 columns.
    assert max(map(len, lines[4:])) <= 80
    assert "Lieret" in result.notes[0] and "d12a71a (MIT)" in result.notes[0]
    assert (folder / "demo" / "report" / "report.html").is_file()


def test_two_demonstrations_at_once_are_refused(tmp_path):
    with pytest.raises(AuditError, match="choose one"):
        audit.demo(tmp_path, agents=True, simulated=True)


def test_credit_and_licence_stand_beside_the_data():
    for one, words in (
        (recorded.AGENTS, ("MIT", "Kilian A. Lieret and Carlos E. Jimenez", "d12a71a")),
        (recorded.OTIS, ("CC BY 4.0", "Epoch AI", "list prices")),
        (recorded.FORCED, ("MIT", "Copyright (c) 2025 Hao AI Lab", "6a22a59", "Dynasor")),
    ):
        text = one.file.with_suffix(".txt").read_text(encoding="utf-8")
        assert all(word in text for word in words)
