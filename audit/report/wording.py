"""Numbers and names as people read them, and the templates of sentences that hold them."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from audit.output.display import budget_name, round_half_up
from audit.report.data import Row
from audit.report.pages import template
from audit.text import capital, join_names, plural
from audit.units import UNITS, Unit, write_amount, write_digits

TOKENS = UNITS["completion"]


def number(value: float | None, decimals: int = 2) -> str:
    """Write a number as the report does: halves up, separators in whole ones, a real minus."""
    if value is None:
        return "none"
    text = round_half_up(value, decimals)
    return (f"{int(text):,}" if decimals == 0 else text).replace("-", "−")


def signed(value: float) -> str:
    """Return a difference, its sign always shown unless it is zero."""
    text = number(value)
    return text if text.startswith("−") or not text.strip("0.,") else f"+{text}"


def amount(value: float, unit: Unit = TOKENS) -> str:
    """Return a cost as people write it: 17,808 tokens, $0.0374, 12.4 s."""
    # Nine decimals: 7485.499999999999 is a 7485.5 that lost its last bit in a division.
    return write_amount(round(value, 9), unit).replace("-", "−")


def ends(row: Row, column: str) -> tuple[float, float] | None:
    """Return the ends of a column's interval, where there is one."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    return None if low is None or high is None else (low, high)


def signed_amount(row: Row, column: str, unit: Unit = TOKENS) -> str:
    """Return a difference of costs with its sign, and its interval where there is one."""
    text = amount(row[column], unit)
    if bounds := ends(row, column):
        shown = (write_digits(round(end, 9), unit).replace("-", "−") for end in bounds)
        text += f" [{', '.join(shown)}]"
    return f"+{text}" if row[column] > 0 else text


def interval(row: Row, column: str) -> str:
    """Return the interval in brackets after a space, or nothing where there is none."""
    bounds = ends(row, column)
    return f" [{number(bounds[0])}, {number(bounds[1])}]" if bounds else ""


def one_line(text: Any, limit: int = 60) -> str:
    """Text from an archive on one line, printable and not too long."""
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def contains_zero(row: Row, column: str) -> bool | None:
    """Return whether the interval contains zero; None where there is no interval."""
    bounds = ends(row, column)
    return bool(bounds[0] <= 0 <= bounds[1]) if bounds else None


def macros(path: Path, unit: Unit, **values: Any) -> Any:
    """Return the sentences of a template as functions, with the unit and these values."""
    plain = (number, signed, interval, contains_zero)
    texts = (one_line, plural, capital, join_names)
    in_unit = (budget_name, amount, signed_amount)
    words: dict[str, Any] = {word.__name__: word for word in (*plain, *texts)}
    words |= {word.__name__: partial(word, unit=unit) for word in in_unit}
    shared = template(Path(__file__).with_name("words.j2")).make_module(words | {"unit": unit})
    for name in ("attempts", "budget_words", "count_of", "interval_words"):
        words[name] = getattr(shared, name)
    return template(path).make_module(words | {"unit": unit} | values)


def said(macro: Callable[..., str], *values: Any) -> str:
    """Return what a template says, on one line however it is broken there."""
    return " ".join(macro(*values).split())
