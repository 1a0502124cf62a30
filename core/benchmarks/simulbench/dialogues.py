"""`simulbench-dialogues`: a user agent makes requests of a simulator; a judge names the challenging turn."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Annotated, Any

from pydantic import BeforeValidator

from concord.benchmarks.simulbench.tasks import (
    BENCHMARK,
    CATALOGUE,
    TYPES,
    SimulationTask,
    Strategy,
    catalogue,
    is_selected,
    tasks,
)
from concord.conversation import Conversation, Message, Unit
from concord.llm import verdicts
from concord.llm.places import JudgedText
from concord.llm.prompts import Prompt
from concord.llm.replies import Reply, Text
from concord.rating import Rating
from concord.rubrics.shipped import rubric
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

NAME = "simulbench-dialogues"
TURNS = 4
"""Of a dialogue."""

RUBRIC = rubric(NAME, "judge")
(CHALLENGING,) = RUBRIC.criteria
"""The number of a turn, which is no score: nothing is averaged over it."""


class Next(Reply):
    """The way the user agent chose, by its number, and what it says next."""

    strategy: Annotated[str, BeforeValidator(str)]
    request: Text


class UserReply(Reply):
    """A reply of the user agent."""

    user: Next


async def play(
    ask: Ask,
    key: str,
    task: SimulationTask,
    simulator: str,
    user: str,
    language: str,
    prompts: Mapping[str, Prompt],
    facets: Mapping[str, str],
) -> Conversation:
    """The dialogue: the task's description and a reply, then requests of the user agent and replies."""
    messages = [Message("user", task.task_description)]
    for turn in range(1, TURNS + 1):
        if turn > 1:
            prompt = prompts["user"].render(
                task=task.act, messages=messages, strategies=task.ways, request_type=task.request_type
            )
            answer = await ask(f"{turn} user", user, prompt)
            next_turn = answer.value.user
            way = strategy_named(next_turn.strategy, task.ways)
            messages.append(Message("user", next_turn.request.strip(), {"strategy": way, **answer.meta}))
        prompt = prompts["simulator"].render(messages, task=task.act)
        # As it came: in a drawing or a terminal's output every space counts, and an empty reply may be right.
        replied = await ask(f"{turn} simulator", simulator, prompt, may_be_empty=True)
        messages.append(Message("assistant", replied.text, replied.meta))
    return Conversation(
        benchmark=NAME,
        key=key,
        player=simulator,
        messages=tuple(messages),
        language=language,
        facets=facets,
        context={"Task": task.act, "_task": task.id},
        meta={"prompts": {name: prompts[name].hash for name in ("simulator", "user")}},
    )


def strategy_named(text: str, ways: Sequence[Strategy]) -> str:
    """The strategy's title by the number given, with what was added; the user agent's words without one."""
    match = re.match(r"\W*(\d+)\W*(.*)", text, re.S)
    if not match or not 1 <= int(match.group(1)) <= len(ways):
        return text.strip() or "not said"
    title = ways[int(match.group(1)) - 1].title
    remainder = match.group(2).strip(' "[]().')
    return title if not remainder or remainder.lower().startswith(title.lower()) else f"{title}: {remainder}"


def judge_values(conversation: Conversation) -> Mapping[str, Any]:
    """What the judge's template sees: the task's name and the turns."""
    return {"task": conversation.context["Task"], "turns": list(conversation.turns())}


def read_turn(conversation: Conversation, reply: str) -> tuple[Rating, ...]:
    """The first challenging turn, 0 for none. Raises Unusable for a turn the dialogue does not have."""
    last = sum(t.reply is not None for t in conversation.turns())
    turn, explanation = verdicts.whole_number(reply, 0, last, JudgedText(conversation.texts()))
    return (Rating(Unit(conversation.key), CHALLENGING.name, turn, explanation),)


ASKING = Asking(RUBRIC.judge.template, None, RUBRIC.criteria, judge_values, read_turn, expected=(2200, 250))


def plays(plan: PlayPlan, materials: Materials) -> Iterator[Play]:
    """Every simulator × task × repeat of the plan, with the judgements it is owed."""
    options = plan.options
    language = options["language"]
    version = options["version"]
    all_tasks = tasks(materials, language)
    selected = [task for task in all_tasks.values() if is_selected(options, task.id, task.type, task.source)]
    user = plan.one("user")
    ways = DIALOGUES.ways(materials, plan.models.get("judges", ()), version)
    prompts = {name: DIALOGUES.prompt(materials, name, version) for name in DIALOGUES.prompts}
    play_dialogue = partial(play, user=user, language=language, prompts=prompts)
    for repeat, task, simulator in product(range(options["repeats"]), selected, plan.models["simulators"]):
        key = "/".join((NAME, version, language, task.id, simulator, user, str(repeat)))
        facets = {
            "task": task.id,
            "type": task.type,
            "user": user,
            "version": version,
            "source": task.source,
        }
        yield Play(
            key,
            partial(play_dialogue, key=key, task=task, simulator=simulator, facets=facets),
            (Expected(simulator, TURNS, 900, 250), Expected(user, TURNS - 1, 1200, 80)),
            due_judgements(ways, options["judge_repeats"], key),
            player=simulator,
            facets={**facets, "language": language},
        )


def _sources(materials: Materials, options: Mapping[str, Any]) -> Sequence[str]:
    known_tasks = tasks(materials, options["language"]).values()
    return list(dict.fromkeys(task.source for task in known_tasks)) or [CATALOGUE]


def _languages(materials: Materials, options: Mapping[str, Any]) -> Sequence[str]:
    languages = {p.name for folder in materials.data for p in (folder / BENCHMARK).glob("*") if p.is_dir()}
    return sorted(name for name in languages if catalogue(materials.data, name))


DIALOGUES = Benchmark(
    name=NAME,
    title="SimulBench dialogues",
    description="A user agent keeps a simulator busy for some turns; a judge names the first turn that was "
    "too "
    "hard. Scripts are cut from the result.",
    roles=(
        Role("simulators", "Models that simulate what a task describes."),
        Role("user", "Model that makes the requests.", multiple=False),
        Role("judges", "Models that look for the first challenging turn.", required=False),
    ),
    options=(
        Option("language", "Language of the catalogue.", "choice", "en", _languages),
        narrowing("tasks", "these tasks", lambda m, c: list(tasks(m, c["language"]))),
        narrowing("types", "stateless or only stateful tasks", lambda m, c: TYPES),
        narrowing("sources", "tasks from here, such as catalogue", _sources),
        Option("repeats", "Dialogues per simulator and task.", "count", 3),
        Option("judge_repeats", "Times each judge looks at a dialogue (for test-retest).", "count", 1),
        prompt_versions(NAME, "v1"),
    ),
    prompts={"simulator": None, "user": UserReply, "judge": None},
    version="v1",
    asking=ASKING,
    facets=("task", "type", "user", "version", "source"),
    spotcheck_facets=("type",),
    preformatted=True,
    items=("task", "type"),
    speakers=("User", "Simulator"),
    plays=plays,
)
