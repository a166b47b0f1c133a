"""tau2-bench results: one document, a run per simulation, the agent's calls its steps."""

from collections.abc import Iterator
from typing import Any

from audit.sources.files import SourceFile, Unreadable
from audit.sources.formats import Context, Format, Record, column, renamed
from audit.sources.formats.trajectories import of_steps, spoken, step
from audit.sources.json_stream import UNREADABLE, file_members
from audit.sources.paths import items, walk

LISTED = "simulations"
# How a run ends that the agent or its user has ended; limits and errors are no end.
ENDED = {"user_stop": "stop", "agent_stop": "stop"}


def _members(file: SourceFile) -> Iterator[tuple[str, Any, int]]:
    """The members of the document and the simulations one by one, with the bytes read so far."""
    try:
        yield from file_members(file, LISTED)
    except UNREADABLE as error:
        raise Unreadable(f"{file.shown_name}: not readable as JSON: {error}") from None


def header(file: SourceFile) -> Record:
    """What the document says of the agent, before its simulations."""
    return next(({"info": value} for key, value, _ in _members(file) if key == "info"), {})


def records(file: SourceFile, header: Record) -> Iterator[tuple[int, Record, int, int]]:
    """The simulations of a document."""
    before = number = 0
    for key, value, done in _members(file):
        if key == LISTED and isinstance(value, dict):
            number += 1
            yield number, value, max(done - before, 1), done
            before = done


def prepare(record: Record, context: Context) -> Record | None:
    """A run with the calls of the agent as steps: what the user's model cost is not the agent's."""
    steps = [
        step(
            message["usage"],
            money=message.get("cost"),
            seconds=message.get("generation_time_seconds"),
        )
        for message in items(record.get("messages"))
        if walk(message, ("role",)) == "assistant" and walk(message, ("usage",)) is not None
    ]
    return record | {"@steps": steps or None}


def _text(record: Record, position: int, context: Context) -> Any:
    return spoken(record.get("messages"))


FORMAT = Format(
    name="tau2_bench",
    title="tau2-bench results",
    recognized_by=(("info.agent_info", "info.environment_info"),),
    header=header,
    records=records,
    prepare=prepare,
    fields=(
        column("archive", "@info.agent_info.llm"),
        column("competition", "@info.environment_info.domain_name"),
        column("question_id", "task_id"),
        column("seed", "trial"),
        *of_steps("messages.*.usage of the agent"),
        column("finish_reason", "termination_reason", read=renamed(ENDED)),
        column("text", "what the agent said in messages", look_up=_text),
        column("correct", "reward_info.reward"),
    ),
    has_answers=False,
)
