"""Numbers and names as people read them."""

from typing import Any

from audit.output.display import budget_name, round_half_up
from audit.report.data import Row
from audit.units import UNITS, Unit, write_amount, write_digits

TOKENS = UNITS["completion"]


def number(value: float | None, decimals: int = 2) -> str:
    """A number as the report prints it: halves up, separators in whole ones, a real minus sign."""
    if value is None:
        return "none"
    text = round_half_up(value, decimals)
    return (f"{int(text):,}" if decimals == 0 else text).replace("-", "−")


def signed(value: float) -> str:
    """A difference, its sign always shown unless it is zero."""
    text = number(value)
    return text if text.startswith("−") or not text.strip("0.,") else f"+{text}"


def budget_words(budget: float, unit: Unit = TOKENS) -> str:
    """The same with the word that tokens and steps need: 4k tokens, $0.25, 3 steps."""
    name = budget_name(budget, unit)
    return name if unit.symbol else f"{name} {unit.one if name == '1' else unit.many}"


def amount(value: float, unit: Unit = TOKENS) -> str:
    """A cost as people write it: 17,808 tokens, $0.0374, 12.4 s."""
    # Nine decimals: 7485.499999999999 is a 7485.5 that lost its last bit in a division.
    return write_amount(round(value, 9), unit).replace("-", "−")


def ends(row: Row, column: str) -> tuple[float, float] | None:
    """The ends of a column's interval, where there is one."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    return None if low is None or high is None else (low, high)


def signed_amount(row: Row, column: str, unit: Unit = TOKENS) -> str:
    """A difference of costs with its sign, and its interval where there is one."""
    text = amount(row[column], unit)
    if bounds := ends(row, column):
        shown = (write_digits(round(end, 9), unit).replace("-", "−") for end in bounds)
        text += f" [{', '.join(shown)}]"
    return f"+{text}" if row[column] > 0 else text


def interval(row: Row, column: str) -> str:
    """The interval in brackets after a space, or nothing where there is none."""
    bounds = ends(row, column)
    return f" [{number(bounds[0])}, {number(bounds[1])}]" if bounds else ""


def with_interval(row: Row, column: str) -> str:
    """The estimate with its interval beside it."""
    return number(row[column]) + interval(row, column)


def one_line(text: Any, limit: int = 60) -> str:
    """Text from an archive on one line, printable and not too long."""
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
