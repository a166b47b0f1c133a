"""Amounts are read and written in the unit of a replay, exactly."""

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.units import UNITS, read_budget, read_budgets, write_amount, write_exactly

NAMES = sorted(UNITS)


@pytest.mark.parametrize(
    ("written", "unit", "counted"),
    [
        ("4k", "completion", 4000),
        ("1.5M", "total", 1_500_000),
        ("4_000", "completion", 4000),
        (1e6, "completion", 1_000_000),
        ("0.05", "money", 50_000_000),
        ("$0.05", "money", 50_000_000),
        (0.1, "money", 100_000_000),
        (1e-05, "money", 10_000),
        ("$4k", "money", 4_000 * 10**9),
        ("90s", "seconds", 90_000),
        ("2m", "seconds", 120_000),
        ("1.5h", "seconds", 5_400_000),
        ("0.001", "seconds", 1),
        ("12.4 s", "seconds", 12_400),
        ("3 steps", "steps", 3),
        ("4,000 tokens", "completion", 4000),
        ("2m", "steps", 2_000_000),
    ],
)
def test_an_amount_is_read_in_its_unit(written, unit, counted):
    assert read_budget(written, unit) == counted


@pytest.mark.parametrize(
    ("written", "unit", "part"),
    [
        ("$4000", "completion", r"\$ is for --unit money"),
        ("90s", "money", "s is for --unit seconds"),
        ("1.5h", "completion", "h is for --unit seconds"),
        ("0.0005", "seconds", r"finer than 0\.001"),
        ("0.0000000005", "money", r"finer than 0\.000000001"),
        ("4.5", "steps", "not a whole number of steps"),
        ("4,096", "completion", "did you mean 4096"),
        ("$4,096", "money", "did you mean 4096"),
        ("1e6k", "completion", "not a number like"),
        ("-4k", "completion", "not a number like"),
        ("nan", "money", "not a number like"),
        (True, "completion", "not a number like"),
        ("five", "seconds", "not a number like 90"),
        ("2 tokens", "steps", "not a number like"),
    ],
)
def test_an_amount_that_means_nothing_is_refused(written, unit, part):
    with pytest.raises(ValueError, match=part):
        read_budget(written, unit)


def test_several_amounts_are_a_text_or_a_list():
    assert read_budgets("$0.05, 0.10", "money") == [50_000_000, 100_000_000]
    assert read_budgets([1, "2m", 0.5], "seconds") == [1000, 120_000, 500]
    with pytest.raises(ValueError, match="did you mean 16000"):
        read_budgets("8k,16,000", "completion")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.0374, "money", "$0.0374"),
        (0.00212776, "money", "$0.00213"),
        (0.1, "money", "$0.10"),
        (12.345, "money", "$12.35"),
        (1234.5, "money", "$1,234.50"),
        (2, "money", "$2"),
        (-0.0374, "money", "-$0.0374"),
        (12.4, "seconds", "12.4 s"),
        (12.444, "seconds", "12.4 s"),
        (5400.0, "seconds", "5,400 s"),
        (0.9999, "seconds", "1 s"),
        (3, "steps", "3 steps"),
        (1, "steps", "1 step"),
        (2.504, "steps", "2.5 steps"),
        (4000, "completion", "4,000 tokens"),
        (1534.27, "completion", "1,534 tokens"),
        (Fraction(1, 3), "completion", "0.333 tokens"),
        (0, "money", "$0"),
    ],
)
def test_an_amount_is_written_as_people_write_it(value, unit, text):
    assert write_amount(value, unit) == text


@given(st.integers(0, 10**15), st.sampled_from(NAMES))
def test_what_was_written_exactly_is_read_as_the_same_number(counted, unit):
    text = write_exactly(counted, unit)
    assert Decimal(text) * UNITS[unit].scale == counted
    assert read_budget(text, unit) == counted


@given(st.integers(0, 10**15), st.sampled_from(NAMES))
def test_what_people_read_is_the_same_number_where_nothing_was_rounded(counted, unit):
    value = Fraction(counted, UNITS[unit].scale)
    text = write_amount(value, unit)
    plain = text.replace(",", "")
    if Fraction(Decimal(plain.strip("$").split()[0])) == value:
        assert read_budget(plain, unit) == counted
        assert unit == "money" or read_budget(text, unit) == counted
    else:
        assert abs(Fraction(Decimal(plain.strip("$").split()[0])) - value) <= value / 100


@given(st.integers(0, 999), st.integers(0, 6), st.sampled_from(NAMES))
def test_three_digits_are_never_rounded(digits, places, unit):
    scale = UNITS[unit].scale
    value = Fraction(digits, 10**places)
    if (value * scale).denominator == 1:
        assert read_budget(write_amount(value, unit), unit) == value * scale
