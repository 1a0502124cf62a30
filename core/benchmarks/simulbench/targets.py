"""`simulbench`: target models answer scripts; judges score the last reply from 1 to 10, or compare two."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

from concord.benchmarks.simulbench import proposals
from concord.benchmarks.simulbench.proposals import Proposed
from concord.benchmarks.simulbench.scripts import HARD, KINDS, SCRIPT, Script, scripts_by_key
from concord.benchmarks.simulbench.tasks import BENCHMARK, TYPES, is_selected
from concord.conversation import Conversation, Message, Unit
from concord.errors import ConfigError
from concord.llm import verdicts
from concord.llm.places import JudgedText
from concord.llm.prompts import Prompt
from concord.llm.replies import Answer
from concord.rating import Preference, Rating
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

NAME = BENCHMARK

RUBRIC = rubric(NAME, "judge")
(QUALITY,) = RUBRIC.criteria

SUBSETS: Mapping[str, tuple[str, ...]] = {"all": KINDS, "hard": HARD} | {kind: (kind,) for kind in KINDS}


def ending(reply: Answer) -> str:
    """How a reply ended: “cut” at the length limit, “empty”, “refusal”, or “whole”.

    A refusal is what the endpoint marks as one.
    """
    if reply.meta.get("refused"):
        return "refusal"
    if reply.cut:
        return "cut"
    return "whole" if reply.text.strip() else "empty"


async def play(ask: Ask, key: str, script: Script, target: str, prompt: Prompt) -> Conversation:
    """The script and the target's reply to it, as it came: a terminal's silence is a reply, too."""
    rendered = prompt.render(script.history, task=script.act)
    replied = await ask("reply", target, rendered, may_be_empty=True)
    blank = outline(key, script, target, prompt)
    return replace(
        blank,
        messages=(*script.history, Message("assistant", replied.text, replied.meta)),
        facets={**blank.facets, "ending": ending(replied)},
    )


def outline(key: str, script: Script, target: str, prompt: Prompt) -> Conversation:
    """The conversation before the target has replied: its reply is empty."""
    return Conversation(
        benchmark=NAME,
        key=key,
        player=target,
        messages=(*script.history, Message("assistant", "")),
        language=script.language,
        facets=_facets(script, prompt.version),
        context={"Task": script.act, "_challenging": script.challenging, "_dialogue": script.dialogue},
        meta={"prompts": {"target": prompt.hash}},
    )


def _facets(script: Script, version: str) -> dict[str, str]:
    """What is known of a conversation before the target has replied."""
    return {
        "task": script.task,
        "kind": script.kind,
        "type": script.type,
        "script": script.key,
        "version": version,
        "source": script.source,
    }


def judge_values(conversation: Conversation) -> Mapping[str, Any]:
    """What the judge's template sees: task, dialogue, last reply, and whether that was cut off."""
    *history, last = conversation.messages
    return {
        "task": conversation.context["Task"],
        "dialogue": history,
        "response": last.content,
        "cut": bool(last.meta.get("cut")),
    }


def compare_values(first: Conversation, second: Conversation) -> Mapping[str, Any]:
    """What the pairwise template sees: the task's name, the common dialogue, and the two last replies."""
    *history, one = first.messages
    second_reply = second.messages[-1]
    return {
        "task": first.context["Task"],
        "dialogue": history,
        "first": one.content,
        "second": second_reply.content,
        "first_cut": bool(one.meta.get("cut")),
        "second_cut": bool(second_reply.meta.get("cut")),
    }


def read_score(conversation: Conversation, reply: str) -> tuple[Rating, ...]:
    """The score of the last reply. Raises Unusable for anything but a whole number from 1 to 10."""
    score, explanation = verdicts.whole_number(reply, 1, 10, JudgedText(conversation.texts()))
    return (Rating(Unit(conversation.key), QUALITY.name, score, explanation),)


def read_preference(first: Conversation, second: Conversation, reply: str) -> Preference:
    """Which of two last replies is better. Raises Unusable for anything but A, B or C."""
    return verdicts.preference(reply, JudgedText([*first.texts(), *second.texts()]))


ASKING = Asking(RUBRIC.judge.template, None, RUBRIC.criteria, judge_values, read_score, expected=(1900, 180))
PAIRWISE = Asking("pairwise", None, (), compare_values, read_preference, (2100, 200))


def plays(plan: PlayPlan, materials: Materials) -> Iterator[Play]:
    """Every target × script of the plan, with its judgements. Raises ConfigError without such scripts."""
    options = plan.options
    version = plan.options["version"]
    selected = [
        s
        for s in scripts_by_key(materials.scenarios(BENCHMARK, SCRIPT)).values()
        if s.kind in SUBSETS[options["subset"]] and is_selected(options, s.task, s.type, s.source)
    ]
    if not selected:
        raise ConfigError(
            "There are no such scripts in this workspace. Import some with `concord simulbench import "
            "scripts`, or collect dialogues with `concord run simulbench-dialogues` and cut scripts from "
            "them with `concord simulbench scripts extract --judge …`."
        )
    prompt = SIMULBENCH.prompt(materials, "target", version)
    ways = SIMULBENCH.ways(materials, plan.models.get("judges", ()), version)
    for script, target in product(selected, plan.models["targets"]):
        key = "/".join([NAME, version, script.key, target])
        size = sum(len(m.content) for m in script.history) // 4
        yield Play(
            key,
            partial(play, key=key, script=script, target=target, prompt=prompt),
            (Expected(target, 1, size, 250),),
            due_judgements(ways, options["judge_repeats"], key),
            player=target,
            facets={**_facets(script, version), "language": script.language},
            outline=partial(outline, key, script, target, prompt),
        )


def _of_scripts(field: str) -> Callable[[Materials, Mapping[str, Any]], Sequence[str]]:
    def values(materials: Materials, options: Mapping[str, Any]) -> Sequence[str]:
        known_scripts = scripts_by_key(materials.scenarios(BENCHMARK, SCRIPT)).values()
        return list(dict.fromkeys(getattr(script, field) for script in known_scripts))

    return values


SIMULBENCH = Benchmark(
    name=NAME,
    title="SimulBench",
    description="Target models answer scripts, the beginnings of dialogues with a simulator; judges score "
    "the last "
    "reply from 1 to 10.",
    roles=(
        Role("targets", "Models that answer the scripts."),
        Role("judges", "Models that score the last reply.", required=False),
    ),
    options=(
        Option(
            "subset", "All scripts, the hard ones, or one kind.", "choice", "all", lambda m, c: list(SUBSETS)
        ),
        narrowing("types", "scripts of stateless or of stateful tasks", lambda m, c: TYPES),
        narrowing("tasks", "scripts of these tasks", _of_scripts("task")),
        narrowing("sources", "scripts from here", _of_scripts("source")),
        Option("judge_repeats", "Times each judge scores a reply (for test-retest).", "count", 1),
        prompt_versions(NAME, "v1"),
    ),
    prompts={
        "target": None,
        "judge": None,
        "pairwise": None,
        "task_stateless": Proposed,
        "task_stateful": Proposed,
    },
    version="v1",
    asking=ASKING,
    facets=("task", "kind", "type", "ending", "version", "source"),
    items=("task", "kind", "type", "script", "ending"),
    speakers=("User", "Simulator"),
    plays=plays,
    proposals=proposals.calls,
    pairwise=PAIRWISE,
    scenario_facet="script",
    refusal="refusal",
    ending_facet="ending",
    spotcheck_facets=("kind", "type"),
    last_reply_only=True,
    preformatted=True,
)
