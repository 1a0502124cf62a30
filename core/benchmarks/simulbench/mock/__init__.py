"""The mock models of SimulBench: simulators, a user agent, judges of three questions, a task generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.benchmarks.simulbench.mock import judges, simulators
from core.demo.mock.call import Answer, Call

MODELS = (*simulators.lines()["manners"], *judges.EYES)
QUESTIONS: Mapping[str, Callable[[Call], Answer]] = {
    "request": simulators.request,
    "simulate": simulators.simulate,
    "challenge": judges.challenge,
    "rate": judges.rate,
    "compare": judges.compare,
    "propose": simulators.propose,
}


def question_of(call: Call) -> str | None:
    """Which of SimulBench's questions this is; None where it is none of them."""
    if call.names("user") and call.names("strategy" if not call.fields else "user"):
        return "request"
    if call.names("task_description"):
        return "propose"
    if call.fields:
        return None
    quoting = simulators.asked(call)
    if "=== The dialogue ===" in quoting:
        if "=== Reply A ===" in quoting:
            return "compare"
        return "rate" if "=== The last reply ===" in quoting else "challenge"
    return "simulate" if call.messages[0].role == "user" and not call.wants_json else None


def answer(call: Call) -> Answer:
    """The reply to a request of SimulBench's prompts."""
    question = question_of(call)
    return QUESTIONS[question](call) if question else None
