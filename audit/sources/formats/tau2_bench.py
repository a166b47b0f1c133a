"""tau2-bench results: one document, a run per simulation, the agent's calls its steps."""

from collections.abc import Iterator

from audit.sources.files import Row, SourceFile
from audit.sources.formats import Context, Format, Record, column, renamed
from audit.sources.formats.trajectories import of_steps, spoken, step
from audit.sources.json_stream import file_members, listed, stream_records
from audit.sources.paths import items, walk

LISTED = "simulations"
DAMAGED = "not readable as JSON"
# How a run ends that the agent or its user has ended; limits and errors are no end.
ENDED = {"user_stop": "stop", "agent_stop": "stop"}


def header(file: SourceFile) -> Record:
    """What the document says of the agent, before its simulations."""
    members = file_members(file, LISTED, DAMAGED)
    return next(({key: value} for key, value in members if key == "info"), {})


def records(file: SourceFile, header: Record) -> Iterator[Row]:
    """The simulations of a document."""
    return stream_records(file, listed(LISTED), DAMAGED)


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
        column(
            "text",
            "what the agent said in messages",
            make=lambda record: spoken(record.get("messages")),
        ),
        column("correct", "reward_info.reward"),
    ),
    has_answers=False,
)
