"""Units of budgets, and how to read and write amounts in them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

Amount = int | float | str
Amounts = Amount | Iterable[Amount]

SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
# 10^15 dollars in billionths have 24 digits; the default context keeps 28, a product may need more.
EXACT = Context(prec=60)


@dataclass(frozen=True)
class Unit:
    """A unit of budgets; amounts are stored as integers, and printed divided by `scale`."""

    name: str
    scale: int
    measures: str
    one: str
    many: str
    symbol: str = ""
    # Suffixes of a number, and how much of the printed unit each means.
    sizes: Mapping[str, int] = field(default_factory=lambda: SIZES)
    examples: str = "4000, 4_000, 4.5k or 1e6"


_CLOCK = {"": 1, "k": 10**3, "s": 1, "m": 60, "h": 3600}
UNITS = {
    unit.name: unit
    for unit in (
        Unit("completion", 1, "completion tokens", "token", "tokens"),
        Unit("total", 1, "prompt and completion tokens", "token", "tokens"),
        Unit("money", 10**9, "money", "$", "$", "$", SIZES, "0.05, $0.05 or 4k"),
        Unit("seconds", 10**3, "seconds", "s", "s", "s", _CLOCK, "90, 0.5s, 2m or 1.5h"),
        Unit("steps", 1, "steps", "step", "steps"),
    )
}
# For numbers of attempts or orders, which are read like budgets.
COUNT = Unit("count", 1, "whole numbers", "", "")
# A number, its power of ten and its suffix; digits may be grouped by _.
WRITTEN = re.compile(r"(\d+(?:_\d+)*(?:\.\d+)?|\.\d+)(e[+-]?\d{1,2})?\s*([a-z]*)")
GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?\s*([a-z$]*)")


def unit_named(unit: str | Unit) -> Unit:
    """Return the unit of this name; a unit is returned as it is."""
    return unit if isinstance(unit, Unit) else UNITS[unit]


def read_budget(written: Amount, unit: str | Unit) -> int:
    """Parse an amount such as 4k or $0.05 to an integer of the unit, or raise ValueError."""
    kind = unit_named(unit)
    given = str(written).strip()
    text = given.lower()
    if "$" in text:
        if kind.symbol != "$":
            raise ValueError(f"'{given}': $ is for --unit money; budgets count {kind.measures}")
        text = text.removeprefix("$").lstrip()
    if grouped := GROUPED.fullmatch(text):
        # Commas separate budgets: '4,000' is an error, '4,000 tokens' is not.
        plain = text.replace(",", "")
        if not grouped[3] or grouped[3] not in (kind.one, kind.many):
            raise ValueError(f"'{given}': did you mean {plain}? a comma separates budgets")
        text = plain
    match = WRITTEN.fullmatch(text)
    size = _size(match[3], kind, given) if match else None
    if not match or size is None or isinstance(written, bool) or (match[2] and size > 1):
        raise ValueError(f"'{given}' is not a number like {kind.examples}")
    number = Decimal(match[1].replace("_", "") + (match[2] or ""))
    amount = Fraction(number) * size * kind.scale
    if amount.denominator != 1 and kind.scale == 1:
        raise ValueError(f"'{given}' is not a whole number of {kind.many}".removesuffix(" of "))
    if amount.denominator != 1:
        least = f"{write_exactly(1, kind)}, the smallest {kind.measures} that is counted"
        raise ValueError(f"'{given}' is finer than {least}")
    return int(amount)


def _size(word: str, kind: Unit, given: str) -> int | None:
    """Return the factor of a suffix: 1000 for k; None for an unknown one."""
    if word in kind.sizes:
        return kind.sizes[word]
    if word in ("s", "h"):
        raise ValueError(f"'{given}': {word} is for --unit seconds; budgets count {kind.measures}")
    return 1 if word and word in (kind.one, kind.many) else None


def read_budgets(written: Amounts, unit: str | Unit) -> list[int]:
    """Parse amounts from '4k,8k', from one amount or from several; refuse '4,096' as ambiguous."""
    if isinstance(written, str):
        # No budget begins with 0: in '4,096' the comma groups digits.
        if grouped := re.search(r"\$?\d+(?:,\d{3})*,0\d\d(?:,\d{3})*", written):
            meant = grouped[0].replace(",", "")
            raise ValueError(f"'{written}': did you mean {meant}? a comma separates budgets")
        return [read_budget(part, unit) for part in map(str.strip, written.split(",")) if part]
    if isinstance(written, Iterable):
        return [number for item in written for number in read_budgets(item, unit)]
    return [read_budget(written, unit)]


def write_exactly(counted: int, unit: str | Unit) -> str:
    """Write a stored amount in the printed unit with all its digits, such as 0.05."""
    value = EXACT.divide(Decimal(counted), Decimal(unit_named(unit).scale))
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write_amount(value: int | float | Decimal | Fraction, unit: str | Unit) -> str:
    """Write an amount with its unit: $0.0374, 12.4 s, 3 steps, 4,000 tokens."""
    kind = unit_named(unit)
    digits = write_digits(value, kind)
    sign = "-" if digits.startswith("-") else ""
    if kind.symbol == "$":
        return f"{sign}${digits.removeprefix('-')}"
    word = kind.one if digits.removeprefix("-") == "1" else kind.many
    return f"{digits} {word}".rstrip()


def write_cost(value: int | float | Decimal | Fraction, unit: str | Unit) -> str:
    """Write an amount for a table's cell: $0.0374 or 12.4 s, but 4,000 without a word."""
    return (write_amount if unit_named(unit).symbol else write_digits)(value, unit)


def write_digits(value: int | float | Decimal | Fraction, unit: str | Unit) -> str:
    """Write an amount with three significant digits, but with all digits before the point.

    Money has no decimals or at least two.
    """
    kind = unit_named(unit)
    if isinstance(value, Fraction):
        number = EXACT.divide(Decimal(value.numerator), Decimal(value.denominator))
    else:
        number = Decimal(str(value))
    if number == number.to_integral_value():
        return f"{int(number):,}"
    is_money = kind.symbol == "$"
    before = number.adjusted() + 1
    decimals = max(3 - before, 2 if is_money and before > 0 else 0)
    rounded = number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, EXACT)
    text = f"{rounded:,f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    whole, point, rest = text.partition(".")
    return f"{whole}.{rest:0<2}" if is_money and point else text


def round_float(value: float | Decimal) -> Decimal:
    """Round away the error that a sum of floats has: 7485.499999999999 becomes 7485.5."""
    return Decimal(str(round(value, 9)))


def budget_name(budget: float | Decimal, unit: Unit) -> str:
    """Write a budget in short: 4k, $0.25, 90 s."""
    if unit.many == "tokens" and budget and budget % 1000 == 0:
        return f"{int(budget) // 1000:,}k"
    return write_cost(round_float(budget), unit)
