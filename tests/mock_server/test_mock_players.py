"""Players and the interrogator: they read their prompts, differ as designed, and say the same to the same."""

import json
import re
from dataclasses import replace
from statistics import mean

import pytest

from concord.conversation import Message
from tests.mock.call import Call
from tests.mock.material import load
from tests.mock.personas import models, reply
from tests.mock.pingpong.features import features_of, misspelt
from tests.mock.pingpong.reading import card_of, facts_of, language_of, read_card, scene_of

from .dialogues import call, cast, dialogue, known, scenes

PLAYERS = ("mock-vivid", "mock-bland", "mock-parrot", "mock-typist")
CHARACTERS = {"en": ("mizuki", "arachne", "sancho-panza"), "ru": ("korga", "domovoi", "vakhtyor")}
SITUATIONS = ("heckler", "practical-help", "few-words")


def some(player, language):
    return [dialogue(player, language, c, s) for c in CHARACTERS[language] for s in SITUATIONS]


def figure(player, language, name):
    turns = [
        f
        for c in some(player, language)
        for f in features_of(
            tuple((t.user.content, t.reply.content) for t in c.turns()), read_card(c.context["Character"])
        )
    ]
    return mean(getattr(f, name) for f in turns)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_players_differ_as_their_names_say(language):
    own, repeat, slip, words = (
        {p: figure(p, language, name) for p in PLAYERS} for name in ("own", "repeat", "slip", "words")
    )
    assert own["mock-vivid"] > own["mock-bland"] + 0.2  # the card's own words
    assert repeat["mock-parrot"] > 4 * repeat["mock-vivid"]  # trigrams said before
    assert slip["mock-typist"] > 10 * slip["mock-vivid"]  # misspelt words
    assert words["mock-vivid"] > 2 * words["mock-bland"]


def test_russian_characters_speak_russian():
    for player in PLAYERS:
        for conversation in some(player, "ru"):
            letters = [c for m in conversation.messages for c in m.content if c.isalpha()]
            assert sum("а" <= c.lower() <= "я" or c in "ёЁ" for c in letters) > 0.95 * len(letters)


def test_a_russian_card_within_english_instructions_is_played_in_russian():
    scene = scenes("ru")["heckler"]
    asked = call("mock-vivid", "player", [Message("user", "ok")], **known(cast("ru")["korga"], scene))
    assert language_of(asked.messages[0].content.splitlines()[0]) == "en"
    assert language_of(reply(asked)) == "ru"


def test_instructions_do_not_pass_for_the_card():
    card = cast("en")["mizuki"]
    asked = call("mock-vivid", "player", [Message("user", "hi")], **known(card, scenes("en")["heckler"]))
    read = card_of(asked)
    assert read.name == "Mizuki Hoshikawa"
    assert read.text == card.system_prompt.strip()
    merged = "\n\n".join([asked.messages[0].content, "hi"])
    assert card_of(Call("mock-vivid", (Message("user", merged),))).text == read.text


def test_the_refuser_refuses_in_a_fifth_to_a_quarter_of_a_usual_mix():
    refusals = [line for code in ("en", "ru") for line in load("pingpong", code, "player")["refusals"]]
    refused = [
        any(m.content in refusals for m in c.messages)
        for language in ("en", "ru")
        for c in (dialogue("mock-refuser", language, c, s) for c in cast(language) for s in scenes(language))
    ]
    assert len(refused) == 128
    assert 0.15 <= mean(refused) <= 0.3


def test_the_same_request_gets_the_same_reply_and_another_seed_another():
    asked = call(
        "mock-vivid",
        "player",
        [Message("user", "Who are you, and what do you want here?")],
        **known(cast("en")["tully"], scenes("en")["heckler"]),
    )
    assert reply(asked) == reply(replace(asked))
    assert len({reply(replace(asked, seed=seed)) for seed in range(5)}) > 1
    assert len({reply(replace(asked, own_seed=seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize(
    ("card", "told"),
    [
        ("You are tired and very good at your work.", "I am tired and very good at my work."),
        ("You have a hamster who recruited you.", "I have a hamster who recruited me."),
        ("Nell carries the lamp up herself every night.", None),
        ("She keeps her late father's lamp lit.", None),
        ("I dread brooms, wasps and rain.", "I dread brooms, wasps and rain."),
    ],
)
def test_english_facts_are_turned_round_where_that_is_safe(card, told):
    assert facts_of(card, "en") == ((told,) if told else ())


@pytest.mark.parametrize(
    ("card", "told"),
    [
        ("Ты водишь чужие суда и спишь сидя.", "Я вожу чужие суда и сплю сидя."),
        ("На поясе у тебя колокольчик без языка.", "На поясе у меня колокольчик без языка."),
        ("Она играет на скрипке с восьми лет.", None),
    ],
)
def test_russian_facts_are_turned_round_where_that_is_safe(card, told):
    assert facts_of(card, "ru") == ((told,) if told else ())


def test_slips_are_seen_and_words_of_the_card_are_not_slips():
    known_words = {"zymurgy", "causeway"}
    assert misspelt("I have teh lamp befor me", "en", known_words) == ("teh", "befor")
    assert misspelt("I keep the zymurgy of the causeway", "en", known_words) == ()
    assert misspelt("Сеггодня тебе говрить про экзоскелет", "ru", set()) == ("Сеггодня", "говрить")
    assert misspelt("вот mаяк", "ru", set()) == ("mаяк",)  # a Latin m before Cyrillic letters


def test_the_interrogator_reads_the_situation_and_what_was_said():
    messages = [
        Message("user", "ok"),
        Message("assistant", "Sit down.\n\nThe lamp is lit, user: and player."),
        Message("user", "hm"),
    ]
    asked = call(
        "mock-user", "interrogator", messages, **known(cast("en")["tully"], scenes("en")["few-words"])
    )
    scene = scene_of(asked)
    assert scene.situation == scenes("en")["few-words"].text
    assert scene.said == (("user", "ok"), ("player", messages[1].content), ("user", "hm"))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_interrogator_suits_the_situation(language):
    few = dialogue("mock-vivid", language, CHARACTERS[language][0], "few-words")
    assert all(len(m.content.split()) <= 4 for m in few.messages if m.role == "user")
    acting = dialogue("mock-vivid", language, CHARACTERS[language][0], "shifting-world")
    assert all(re.fullmatch(r"\*[^*]+\*", m.content) for m in acting.messages if m.role == "user")


def test_the_interrogator_does_not_repeat_itself():
    for language in ("en", "ru"):
        said = [
            m.content
            for m in dialogue("mock-vivid", language, CHARACTERS[language][1], "life-story").messages
            if m.role == "user"
        ]
        assert len(said) == len(set(said)) == 8


def test_whatever_they_are_asked_they_answer():
    for model in models():
        assert reply(Call(model, (Message("user", "ok"),))).strip()
        assert reply(Call(model, (Message("system", "Be brief."),))).strip()
        json.loads(reply(Call(model, (Message("user", "Some JSON, please."),), "json_object")))
