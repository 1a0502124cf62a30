"""Dialogues for tests, made by asking the personas directly, with the prompts and the data that ship."""

import json
from functools import cache
from pathlib import Path

from concord.benchmarks.pingpong.play import NextUtterance, Scores, characters, situations
from concord.conversation import Conversation, Message
from concord.llm.prompts import load_prompt
from tests.mock.call import Call
from tests.mock.personas import reply

ROOT = Path(__file__).parents[2]
REPLIES = {"player": None, "interrogator": NextUtterance, "judge": Scores}


@cache
def cast(language):
    return characters([ROOT / "data"], language)


@cache
def scenes(language):
    return situations([ROOT / "data"], language)


@cache
def prompt(name):
    return load_prompt([ROOT / "prompts"], "pingpong", "v2", name, REPLIES[name])


def call(model, name, history=(), *, replies="json_schema", **values):
    asked = prompt(name).render(history, **values, messages=history)
    schema = REPLIES[name].model_json_schema() if REPLIES[name] else None
    if schema is None or replies != "json_schema":
        return Call(model, asked.messages)
    return Call(model, asked.messages, "json_schema", schema)


def known(character, situation):
    return {
        "character": character,
        "char_summary": character.summary,
        "char_description": character.description,
        "situation": situation.text,
        "symmetric": False,
    }


@cache
def dialogue(player, language, character, situation):
    """The conversation of a player and `mock-user`."""
    card, scene = cast(language)[character], scenes(language)[situation]
    messages = []
    for _ in range(scene.num_turns):
        asked = call("mock-user", "interrogator", messages, **known(card, scene))
        messages.append(Message("user", json.loads(reply(asked))["next_utterance"]))
        asked = call(player, "player", messages, **known(card, scene))
        messages.append(Message("assistant", reply(asked)))
    return Conversation(
        "pingpong",
        f"{language}/{character}/{situation}/{player}",
        player,
        tuple(messages),
        language,
        context={"Character": card.description, "_situation": scene.text},
    )


def judged(judge, conversation, **how):
    """The verdicts of a judge, by turn."""
    asked = judge_call(judge, conversation, **how)
    return json.loads(reply(asked))["scores"]


def judge_call(judge, conversation, **how):
    values = {"char_description": conversation.context["Character"]}
    return call(judge, "judge", conversation.messages, **values, **how)
