"""The mock models of SimulBench: simulators, a user agent, judges of three questions, a task generator."""

from collections.abc import Callable

from tests.mock.call import Answer, Call
from tests.mock.simulbench import judges, simulators

MODELS = (*simulators.lines()["manners"], *judges.EYES)


def question_of(call: Call) -> Callable[[Call], Answer] | None:
    """What answers this question of SimulBench's; None where it is none of them."""
    if call.names("user") and call.names("strategy" if not call.fields else "user"):
        return simulators.request
    if call.names("task_description"):
        return simulators.propose
    if call.fields:
        return None
    quoting = simulators.asked(call)
    if "=== The dialogue ===" in quoting:
        if "=== Reply A ===" in quoting:
            return judges.compare
        return judges.rate if "=== The last reply ===" in quoting else judges.challenge
    return simulators.simulate if call.messages[0].role == "user" and not call.wants_json else None


def answer(call: Call) -> Answer:
    """The reply to a request of SimulBench's prompts."""
    question = question_of(call)
    return question(call) if question else None
