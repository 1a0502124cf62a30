"""The mock models of SimulBench: simulators, a user agent, judges of three questions, a task generator."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.benchmarks.simulbench.mock import judges, simulators
from core.benchmarks.simulbench.mock.reading import question_of
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


def answer(call: Call) -> Answer:
    """The reply to a request of SimulBench's prompts."""
    question = question_of(call)
    return QUESTIONS[question](call) if question else None
