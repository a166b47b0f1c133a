"""The recorded attempts with forced answers: what a terminal buys at every budget."""

import pytest

import audit
from audit.study import recorded

# Percent right of Qwen3-8B at 4,000 tokens.
PLAIN = {"none": 45.08, "standing": 53.80, "forced": 78.62}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forced")
    return folder, audit.demo(folder / "demo", forced=True)


@pytest.mark.slow
def test_a_terminal_buys_what_a_plain_loop_says(made):
    folder, _ = made
    rows = audit.table(folder / "demo" / "audit.duckdb", "terminals").to_pylist()
    assert {row["budget"] for row in rows} == {1000, 2000, 4000, 8000, 16000, 32000}
    found = {
        row["terminal"]: row["accuracy"]
        for row in rows
        if (row["archive"], row["budget"]) == ("Qwen3-8B development", 4000)
    }
    for terminal, accuracy in PLAIN.items():
        assert found[terminal] == pytest.approx(accuracy, abs=5e-3)


@pytest.mark.slow
def test_the_demonstration_tells_three_lines_and_a_table(made):
    folder, result = made
    lines = result.caption.splitlines()
    assert lines[0] == (
        "Qwen3-8B development at 4k tokens: 45.1 % are right when the running attempt is cut, "
        "53.8 % with the box that stands in its text, 78.6 % with one forced answer at the same "
        "4,000 tokens, 89.2 % when the attempt may finish, for 7,567 tokens."
    )
    assert lines[1].startswith("R1-Distill-Qwen-7B") and "generation limit" in lines[2]
    assert lines[4].split() == ["budget", "1k", "2k", "4k", "8k", "16k", "32k"]
    assert len(lines) == 6 + 2 * 7 and max(map(len, lines[4:])) <= 80
    assert "Hao AI Lab (MIT)" in result.notes[0]
    assert (folder / "demo" / "report" / "report.html").is_file()


def test_the_licence_stands_beside_the_data():
    licence = (recorded.FOLDER / "governor_LICENSE.txt").read_text(encoding="utf-8")
    assert licence.startswith("MIT License") and "Permission is hereby granted" in licence
