"""Write numbers and names for readers, and render templates of sentences."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from audit.output.display import round_half_up
from audit.report.data import Row
from audit.report.pages import load_template
from audit.text import capital, join_names, plural
from audit.units import UNITS, Unit, budget_name, write_amount, write_digits

TOKENS = UNITS["completion"]


def number(value: float | None, decimals: int = 2) -> str:
    """Write a number: rounded half up, whole ones with separators, with a real minus sign."""
    if value is None:
        return "none"
    text = round_half_up(value, decimals)
    return (f"{int(text):,}" if decimals == 0 else text).replace("-", "−")


def signed(value: float) -> str:
    """Write a difference with its sign, + included; zero has none."""
    text = number(value)
    return text if text.startswith("−") or not text.strip("0.,") else f"+{text}"


def amount(value: float, unit: Unit = TOKENS) -> str:
    """Write a cost with its unit: 17,808 tokens, $0.0374, 12.4 s."""
    # Nine decimals first: a division turns 7485.5 into 7485.499999999999.
    return write_amount(round(value, 9), unit).replace("-", "−")


def ends(row: Row, column: str) -> tuple[float, float] | None:
    """Return the low and high end of a column's interval; None without one."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    return None if low is None or high is None else (low, high)


def signed_amount(row: Row, column: str, unit: Unit = TOKENS) -> str:
    """Write a difference of costs with its sign, and with its interval if it has one."""
    text = amount(row[column], unit)
    if bounds := ends(row, column):
        shown = (write_digits(round(end, 9), unit).replace("-", "−") for end in bounds)
        text += f" [{', '.join(shown)}]"
    return f"+{text}" if row[column] > 0 else text


def interval(row: Row, column: str) -> str:
    """Write a column's interval in brackets after a blank; an empty text without one."""
    bounds = ends(row, column)
    return f" [{number(bounds[0])}, {number(bounds[1])}]" if bounds else ""


def one_line(text: Any, limit: int = 60) -> str:
    """Make a text from an archive printable: on one line, cut at `limit` characters."""
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def contains_zero(row: Row, column: str) -> bool | None:
    """Return whether a column's interval contains zero; None without an interval."""
    bounds = ends(row, column)
    return bool(bounds[0] <= 0 <= bounds[1]) if bounds else None


def load_macros(path: Path, unit: Unit, **values: Any) -> Any:
    """Load a template whose macros write sentences; they see the unit and these values."""
    plain = (number, signed, interval, contains_zero)
    texts = (one_line, plural, capital, join_names)
    in_unit = (budget_name, amount, signed_amount)
    words: dict[str, Any] = {word.__name__: word for word in (*plain, *texts)}
    words |= {word.__name__: partial(word, unit=unit) for word in in_unit}
    shared = load_template(Path(__file__).with_name("words.j2")).make_module(words | {"unit": unit})
    for name in ("attempts", "budget_words", "count_of", "interval_words"):
        words[name] = getattr(shared, name)
    return load_template(path).make_module(words | {"unit": unit} | values)


def render_line(macro: Callable[..., str], *values: Any) -> str:
    """Call a macro of a template with these values, and join its lines to one."""
    return " ".join(macro(*values).split())
