"""`stss-language`: conversations from frozen scenes, without a simulation; judged by goal conditions."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import product
from typing import Any

from concord.benchmarks.stss import goals, system
from concord.benchmarks.stss.agent import Agent
from concord.benchmarks.stss.memory import Memory, Stream, Vectors
from concord.benchmarks.stss.mind import Now, Self, Thinker, converse, require_usable
from concord.benchmarks.stss.tasks import TITLES, SocialTask, task_from
from concord.benchmarks.stss.templates import first_day
from concord.benchmarks.stss.town import Clock, Place, Town
from concord.benchmarks.stss.trajectory import STAMP
from concord.conversation import Conversation, Message
from concord.errors import ConfigError
from concord.runs.benchmark import (
    Ask,
    Asking,
    Benchmark,
    Expected,
    Materials,
    Option,
    Play,
    Role,
    due_judgements,
    narrowing,
    prompt_versions,
)
from concord.runs.plans import PlayPlan
from concord.scenario import Scenario

NAME = "stss-language"
SCENARIO = "scenario"
"""The kind under which frozen scenes are stored."""
SUMMARY = "The partner’s summary"


def judge_values(conversation: Conversation) -> Mapping[str, Any]:
    """What the judge's template sees: the task, its conditions, the dialogue, the partner's summary."""
    context = conversation.context
    task = task_from(context["_task"])
    partner = context["Partner"]
    return {
        "task": task,
        "performer": task.performer,
        "partner": partner,
        "conditions": goals.conditions(task),
        "summary": context[SUMMARY],
        "said": [
            (task.performer if m.role == "assistant" else partner, m.content) for m in conversation.messages
        ],
    }


ASKING = Asking(
    goals.CONVERSATION.judge.template,
    goals.OnConversation,
    goals.CONVERSATION.criteria,
    judge_values,
    goals.reader("answers"),
    expected=(750, 250),
)
ON_SUMMARY = Asking(
    goals.PARTNER.judge.template,
    goals.OnSummary,
    goals.PARTNER.criteria,
    judge_values,
    goals.reader("own_summary", goals.SUMMARY),
    expected=(450, 150),
)


@dataclass
class Prepared:
    """What a performer planned for a task, before the first day: planned once and shared by all scenes.

    `keys` are those of the scenes' conversations: what one of them holds is not planned again.
    """

    keys: list[str]
    stored_conversation: Callable[[Sequence[str]], Conversation | None]
    notes: Mapping[str, Any] | None = None
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def prepare(self, mind: Thinker, me: Self, now: Now) -> None:
        """Give the performer its notes. The first scene makes them; a failed attempt is left to the next."""
        async with self.turn:
            if self.notes is None and (earlier := self.stored_conversation(self.keys)) is not None:
                self.notes = earlier.meta["reminders"]
            if self.notes is None:
                await mind.prepare(me, now)
                if not me.unusable:
                    self.notes = deepcopy(me.notes)
                return
        me.notes.update(deepcopy(dict(self.notes)))


async def play(
    ask: Ask,
    key: str,
    scenario: Scenario,
    town: Town,
    agent: Agent,
    facets: Mapping[str, str],
    prepared: Prepared,
) -> Conversation:
    """The two talk from the frozen moment on; then the partner writes down what it keeps of it.

    Raises CallFailed if any thought of either had no usable reply.
    """
    body = scenario.body
    task = task_from(body["task"])
    performer = task.performer
    partner = body["partner"]
    time = datetime.strptime(body["time"], STAMP)
    now = Now(town, Clock(time.date(), 1, 1), time.hour * 60 + time.minute)
    vectors = agent.vectors(ask)
    me = _self(body, performer, town, task, vectors)
    partner_self = _self(body, partner, town, None, vectors)
    mind, partner_mind = agent.minds(ask)
    await prepared.prepare(mind, me, Now(town, Clock(first_day(task), 1, 1), 0))
    pair = ((me, mind), (partner_self, partner_mind))
    transcript = await converse(*(pair if body["begins"] == performer else pair[::-1]), now)
    summary = await partner_mind.keeps(partner_self, me, transcript, now) if transcript else None
    # An unusable utterance ends a conversation, and a summary by habit would be judged: neither was said.
    for person in (me, partner_self):
        require_usable(person, share=0.0)
    return Conversation(
        benchmark=NAME,
        key=key,
        player=agent.player,
        messages=tuple(
            Message("assistant" if s == performer else "user", text, {"speaker": s}) for s, text in transcript
        ),
        language=system.LANGUAGE,
        facets=facets,
        context={
            "Task (known to the performer only)": f"{task.goal} {task.criteria}",
            "Type": TITLES[task.kind],
            "Performer": performer,
            "Partner": partner,
            SUMMARY: summary.summary if summary else "",
            "_task": body["task"],
        },
        meta=agent.meta | {"reminders": me.notes},
    )


def _self(
    body: Mapping[str, Any], name: str, town: Town, task: SocialTask | None, vectors: Vectors | None
) -> Self:
    """The resident as frozen: persona from the town, memories and occupation from the scenario."""
    state = body["states"][name]
    memories = [
        Memory(datetime.strptime(time, STAMP), text, importance, kind)
        for time, importance, kind, text in state["memories"]
    ]
    place = Place(*body["place"].split(":"))
    return Self(town.residents[name], place, task, Stream(memories, vectors), doing=state["doing"])


def plays(plan: PlayPlan, materials: Materials) -> Iterator[Play]:
    """Every frozen scenario × architecture × player × repeat of the plan, with its judgements."""
    options = plan.options
    scenarios = materials.scenarios(NAME, SCENARIO)
    scenarios = [s for s in scenarios if not options["tasks"] or s.body["task"]["id"] in options["tasks"]]
    if not scenarios:
        raise ConfigError(
            "There are no frozen scenes: run simulations with `concord run stss`, then `concord stss freeze`."
        )
    names = dict.fromkeys(s.body["town"] for s in scenarios)
    towns = {name: system.town_named(materials, name) for name in names}
    for scenario in scenarios:
        name = scenario.body["town"]
        for person in scenario.body["states"]:
            if person not in towns[name].residents:
                raise ConfigError(
                    f"The scene “{scenario.key}” is about {person}, who does not live in {name}."
                )
    ways = STSS_LANGUAGE.ways(materials, plan.models.get("judges", ()), options["version"])
    plans: dict[tuple[Any, ...], Prepared] = {}
    for repeat, scenario, agent in product(
        range(options["repeats"]), scenarios, system.agents(plan, materials, options["thoughts"])
    ):
        body = scenario.body
        key = agent.key((NAME, options["thoughts"], scenario.key), repeat)
        facets = {
            "task": body["task"]["id"],
            "type": task_from(body["task"]).kind,
            "scenario": scenario.key,
            "partner": body["partner"],
            **agent.facets(body["town"]),
            "version": options["thoughts"],
        }
        of_task = (json.dumps(body["task"]), body["town"], agent.architecture, agent.player, repeat)
        prepared = plans.setdefault(of_task, Prepared([], materials.stored_conversation))
        prepared.keys.append(key)
        town = towns[body["town"]]
        yield Play(
            key,
            partial(
                play, key=key, scenario=scenario, town=town, agent=agent, facets=facets, prepared=prepared
            ),
            (
                Expected(agent.player, 6, 650, 60),
                Expected(agent.residents, 4, 600, 60),
                *([Expected(agent.embeddings, 6, 130, 0)] if agent.embeddings else []),
            ),
            due_judgements(ways, options["judge_repeats"], key),
            player=agent.player,
            facets={**facets, "language": system.LANGUAGE},
        )


def _tasks(materials: Materials, options: Mapping[str, Any]) -> Sequence[str]:
    return list(dict.fromkeys(s.body["task"]["id"] for s in materials.scenarios(NAME, SCENARIO)))


STSS_LANGUAGE = Benchmark(
    name=NAME,
    title="STSS, language level",
    description="Performer and partner talk from scenes frozen out of simulations; a judge says which goal "
    "conditions are met.",
    roles=(
        Role("players", "Models that are the performer."),
        Role("residents", "Model that is the partner.", multiple=False),
        system.EMBEDDINGS,
        Role("judges", "Models that say which goal conditions are met.", required=False),
    ),
    options=(
        narrowing("tasks", "scenes of these tasks", _tasks),
        system.WHICH_ARCHITECTURES,
        Option("repeats", "Conversations of each scene, architecture and player.", "count", 1),
        Option("judge_repeats", "Times each judge answers (for test-retest).", "count", 1),
        prompt_versions(system.NAME, "v1", "thoughts", "residents' prompts"),
        prompt_versions(NAME, "v2", noun="judge's prompt"),
    ),
    prompts={"conversation": goals.OnConversation, "summary": goals.OnSummary},
    version="v2",
    asking=ASKING,
    further=(ON_SUMMARY,),
    facets=(*system.TASK_FACETS, "scenario", "partner", *system.SETTING, "version"),
    items=("task", "type", "scenario", "partner"),
    spotcheck_facets=("type",),
    plays=plays,
    speakers=system.SPEAKERS,
)
