"""Hostile files, names and SQL: nothing is lost, nothing runs, and nobody is let in."""

from tests.soak import fuzz


def test_damaged_files_of_every_format_load_or_are_refused_in_one_line(tmp_path):
    outcomes = fuzz.fuzz(20261116, range(200), tmp_path, tmp_path / "kept")
    assert outcomes["refused"] > 80 and outcomes["loaded"] > 20


def test_files_that_are_hostile_as_a_whole_load_or_are_refused_in_words(tmp_path):
    assert fuzz.check_special(tmp_path, large=1_000_000) > 40


def test_a_line_of_100_megabytes_loads_in_bounded_memory(tmp_path):
    fuzz.check_long_line(tmp_path)


def test_the_command_refuses_damaged_files_with_one_line(tmp_path):
    place = tmp_path / "case"
    place.mkdir()
    cases = (fuzz.write_case(20261116, number, place) for number in (0, 5))
    assert 2 in {fuzz.command(path, options, tmp_path)[0] for path, options, _ in cases}
