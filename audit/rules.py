"""The built-in stopping rules as data: every text, figure and page reads this table."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Rule:
    """A stopping rule: what happens to the attempt running at the budget B, in several wordings.

    `pool`: the rule whose attempts it returns; `price`: the rule whose costs it pays; `tool`: a
    tool that stops so.
    """

    name: str
    title: str
    sentence: str
    crossing: str
    cut: str
    tool: str
    pool: str
    price: str


# In the order of every list: cheapest first, and of two the one that loses the running attempt.
RULES = {
    rule.name: rule
    for rule in (
        Rule(
            name="strict",
            title="Strict: stops at B",
            sentence="stops at B: the running attempt is cut, paid for, and not returned",
            crossing="cut at the budget",
            cut="the running attempt is cut at B",
            tool="vLLM max_tokens",
            pool="strict",
            price="strict",
        ),
        Rule(
            name="step_lost",
            title="Step, lost: pays the running step and throws it away",
            sentence="lets the running step finish and throws it away: paid for, and not returned",
            crossing="the running step is thrown away",
            cut="the running step finishes and is thrown away",
            tool="Inspect token_limit, SWE-agent cost limit",
            pool="strict",
            price="step",
        ),
        Rule(
            name="step",
            title="Step: lets the running step finish",
            sentence="lets the running step finish; the attempt is returned if that was its last",
            crossing="the running step may finish",
            cut="the running step finishes, the attempt does not",
            tool="mini-swe-agent, OpenHands, verifiers",
            pool="step",
            price="step",
        ),
        Rule(
            name="attempt_lost",
            title="Attempt, lost: pays it whole and throws it away",
            sentence="pays for the whole run and counts it as lost if it ended past B",
            crossing="the attempt is thrown away",
            cut="the running attempt finishes and is thrown away",
            tool="thresholding finished runs",
            pool="strict",
            price="advisory",
        ),
        Rule(
            name="advisory",
            title="Advisory: lets the running attempt finish",
            sentence="launches nothing once B is spent; the running attempt may finish, past B",
            crossing="the attempt may finish",
            cut="",
            tool="",
            pool="advisory",
            price="advisory",
        ),
    )
}


def order_rules(names: Iterable[str]) -> list[str]:
    """Sort names of rules, without repeats: the built-in rules in their order, then the others."""
    present = set(names)
    return [*(rule for rule in RULES if rule in present), *sorted(present - set(RULES))]


def describe_rule(name: str) -> str:
    """Describe what a rule does, and name the tools that enforce it."""
    rule = RULES.get(name)
    if rule is None:
        return "a rule of your own: see the relation used_rules"
    return rule.sentence + (f"; enforced so by {rule.tool}" if rule.tool else "")


def list_rules(names: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return the built-in rules among these names as dictionaries, in their order."""
    present = set(names)
    return {name: asdict(rule) for name, rule in RULES.items() if name in present}
