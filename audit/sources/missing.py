"""Required columns: what is lost without each of them, and the option that supplies it."""

from typing import NamedTuple

from audit.answers.extract import NO_ANSWER
from audit.options import Reading
from audit.sources.canonical import ANSWERING, COLUMNS
from audit.sources.files import Source


class Need(NamedTuple):
    """A missing column in words: its name, what is lost without it, and what to pass."""

    what: str
    cost: str
    option: str


NEEDS = {
    "archive": Need("archive", "the attempts belong to no model", "--archive NAME"),
    "competition": Need("competition", "the problems belong to no set", "--competition NAME"),
    "question_id": Need(
        "problem id", "attempts cannot be told apart by problem", "--map question_id=PATH"
    ),
    "seed": Need("attempt number", "attempts of a problem have no order", "--map seed=PATH"),
    "completion_tokens": Need(
        "token counts",
        "attempts have no cost",
        "--count-tokens ENCODING (such as o200k_base) to count the tokens of the texts",
    ),
    "finish_reason": Need(
        "finish reason",
        "every attempt would count as completed",
        "--finish-reason stop to accept that",
    ),
    "correct": Need(
        "label",
        "accuracy is unknown",
        "--grade references to compare answers with the references",
    ),
    "text": Need("text, box or extracted answer", "attempts answer nothing", "--map text=PATH"),
    # Not required.
    "prompt_tokens": Need("prompt tokens", "prompts cost nothing", "--map prompt_tokens=PATH"),
    "archive_answer": Need(
        "extracted answers", "archive_majority is left out", "--map archive_answer=PATH"
    ),
    "mean_logprob": Need("log-probabilities", "max_logprob is left out", "--map mean_logprob=PATH"),
    "references": Need("references", "labels cannot be checked or repaired", "--references FILE"),
}
OPTIONAL = tuple(name for name in NEEDS if name != "text" and not COLUMNS[name].is_required)


def find_missing_columns(source: Source, reading: Reading) -> list[str]:
    """Return the required columns that the file lacks and no option supplies."""
    mapping = source.mapping
    missing = [
        name
        for name, column in COLUMNS.items()
        # A column that several things could be is asked about; sums of steps are costs.
        if name not in mapping
        and (column.is_required or name in source.ambiguous)
        and not (name == "completion_tokens" and "steps" in mapping)
    ]
    kinds: dict[str, tuple[str, ...]] = {NO_ANSWER: (), "boxed": ANSWERING}
    kinds["archive"] = ("archive_answer",)
    answered = kinds.get(reading.answer, ("text",))
    return missing if set(answered) & mapping.keys() else [*missing, *answered[:1]]


def explain_missing(source: Source, column: str) -> str:
    """Say what is lost without a missing column, and the option that supplies it."""
    what, cost, option = NEEDS[column]
    why = source.ambiguous.get(column) or source.absent.get(column)
    if column == "correct" and "references" not in source.mapping:
        option = "--labels FILE (pass or fail per run), or --references FILE --grade references"
    if column == "finish_reason" and why and why.endswith((" holds lists", " holds objects")):
        # Passing 'stop' would contradict what the file says.
        return f"no {what} for each attempt: {why}; write one for each attempt, or one for all"
    if column == "completion_tokens" and "text" not in source.mapping:
        option = "--map completion_tokens=PATH"
    return f"no {what}: {cost}; pass {option}" + (f" ({why})" if why else "")


def require_columns(source: Source, reading: Reading) -> None:
    """Refuse a file that lacks required columns; name all of them and what to pass."""
    missing = find_missing_columns(source, reading)
    if not missing:
        return
    any_of = "text (or boxed_answer, or archive_answer)"
    names = [any_of if name == "text" and reading.answer == "boxed" else name for name in missing]
    what = f"missing column{'s'[: len(missing) > 1]} {', '.join(names)}; {source.has}"
    if source.format == "sql":
        none = ", or --answer none where nothing is voted on" if "text" in missing else ""
        raise source.file.error(
            f"{what}; add {', '.join(f'… as {name}' for name in missing)}{none}"
        )
    explained = "; ".join(explain_missing(source, name) for name in missing)
    renamed = "what goes by another name is named with --map CANONICAL=PATH"
    raise source.file.error(f"{what}; {explained}; {renamed}")
