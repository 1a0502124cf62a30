"""Asks the mock models' personas directly, without a server; replies may come late, out of order, or not at
all.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

from concord.benchmarks.stss import STSS, system
from concord.benchmarks.stss.agent import Agent
from concord.codes import Failure
from concord.errors import CallFailed
from concord.llm import labelled, replies
from concord.llm.completions import Completion
from concord.rating import Spent
from concord.runs.benchmark import Materials
from tests.mock.call import read_call
from tests.mock.personas import reply

ROOT = Path(__file__).resolve().parents[2]
MATERIALS = Materials((ROOT / "prompts",), (ROOT / "data",))
TOWN = system.town_named(MATERIALS, system.TOWN)
PROMPTS = {name: STSS.prompt(MATERIALS, name) for name in STSS.prompts}


class Asking:
    """Answers from personas; `replies` is as in models.toml.

    `delay` shuffles the order of arrival; `spoil` may take a reply's place (by step), or raise.
    """

    def __init__(
        self,
        delay: int | None = None,
        spoil: Callable[[str, str], str] | None = None,
        replies: str = "json_schema",
    ):
        self.replies = replies
        self.delay = random.Random(delay) if delay is not None else None
        self.spoil = spoil
        self.asked: dict[str, tuple[str, replies.Answer | None, str]] = {}

    async def __call__(self, step, model, asked, check=None):
        assert step not in self.asked, f"the step “{step}” was asked twice"
        asked = asked.asked_as(self.replies)
        prompt = "\n".join(m.content for m in asked.messages)
        self.asked[step] = (model, None, prompt)
        if self.delay is not None:
            for _ in range(self.delay.randrange(5)):
                await asyncio.sleep(0)

        async def call(step, messages):
            body = {"model": model, "messages": [{"role": m.role, "content": m.content} for m in messages]}
            if asked.schema:
                schema = {"name": "reply", "schema": asked.schema, "strict": True}
                body["response_format"] = {"type": "json_schema", "json_schema": schema}
            text = reply(read_call(body))
            return Completion(self.spoil(step, text) if self.spoil else text, False, Spent(1))

        reader = labelled.read if asked.labelled else None
        answer = await replies.answer(call, step, asked.messages, asked.reply, check, reader=reader)
        self.asked[step] = (model, answer, prompt)
        return answer


def simulate(
    ask,
    task_id="harvest-supper",
    architecture="GA",
    model="mock-outgoing",
    task=None,
    step=15,
    embeddings="",
):
    """One simulation with mock models; steps of a quarter of an hour keep it short."""
    task = task or system.tasks_of(MATERIALS, system.TOWN)[task_id]
    agent = Agent(model, architecture, "mock-resident", embeddings, PROMPTS)
    return asyncio.run(system.simulate(ask, "key", task, TOWN, agent, step, {"town": system.TOWN}))


def failing(step: str, kind: str) -> Callable[[str, str], str]:
    """Spoils every reply whose step ends so: unusable text, or a failure of the endpoint."""

    def spoil(asked: str, text: str) -> str:
        if step not in asked:
            return text
        if kind == "unparseable":
            return "I would rather not say."
        raise CallFailed("The endpoint is gone.", code=Failure(kind))

    return spoil
