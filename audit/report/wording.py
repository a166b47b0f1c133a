"""Numbers and names as people read them."""

import re
from typing import Any

from audit.output.display import round_half_up

Row = dict[str, Any]


def number(value: float | None, decimals: int = 2) -> str:
    """A number as the report prints it: halves up, separators in whole ones, a real minus sign."""
    if value is None:
        return "none"
    text = round_half_up(value, decimals)
    return (f"{int(text):,}" if decimals == 0 else text).replace("-", "−")


def signed(value: float, decimals: int = 2) -> str:
    """A difference, its sign always shown unless it is zero."""
    text = number(value, decimals)
    return text if text.startswith("−") or not text.strip("0.,") else f"+{text}"


def budget_name(budget: float) -> str:
    """A budget as people say it: 4k for 4000."""
    budget = int(budget) if budget == int(budget) else budget
    return f"{budget // 1000:,}k" if budget >= 1000 and budget % 1000 == 0 else f"{budget:,}"


def interval(row: Row, column: str, decimals: int = 2) -> str:
    """The interval in brackets after a space, or nothing where there is none."""
    low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
    if low is None or high is None:
        return ""
    return f" [{number(low, decimals)}, {number(high, decimals)}]"


def with_interval(row: Row, column: str, decimals: int = 2) -> str:
    """The estimate with its interval beside it."""
    return number(row[column], decimals) + interval(row, column, decimals)


def plural(count: int, noun: str) -> str:
    """A count with its noun: 1 attempt, 2 attempts."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def one_line(text: Any, limit: int = 60) -> str:
    """Text from an archive on one line, printable and not too long."""
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    shown = " ".join(shown.split())
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def minus(text: str) -> str:
    """A hyphen before a digit as a minus sign."""
    return re.sub(r"(?<!\w)-(?=[\d.])", "−", text)
