"""Every form that is recognised is documented by a whole file, which is read as it is meant."""

import re
from pathlib import Path

import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file
from concord.exchange.conversations_file import Asked
from concord.exchange.shapes import known

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
EXAMPLES = {
    name: (ending, text)
    for name, ending, text in re.findall(r"^#### (.+?)\n.*?```(\w+)\n(.*?)```", DOCS, re.M | re.S)
}
ASK, REPLY = ("user", "How warm is it?"), ("assistant", "18 degrees.")
LOOKED = ("assistant", "Let me look.\n\n18 degrees.")
PLAIN = [("elm", [ASK, REPLY])]
HAIKU = [("user", "Write a haiku."), ("user", "Another.")]
EXPECTED = {
    "MLflow traces": PLAIN,
    "MLflow traces (table)": PLAIN,
    "LangSmith runs": PLAIN,
    "promptfoo results": PLAIN,
    "Langfuse traces": PLAIN,
    "Inspect log": [("elm", [ASK, ("tool", 'look({"at": "Oslo"})'), ("tool", "18"), LOOKED])],
    "Chatbot Arena": [
        ("elm", [ASK, REPLY]),
        ("oak", [ASK, ("assistant", "Warm.")]),
        ("oak", [("user", "What is it?\n[image: https://example.org/cat.png]"), ("assistant", "A dog.")]),
        ("elm", [("user", "What is it?"), ("assistant", "A cow.")]),
    ],
    "MT-Bench or Arena votes": [
        ("elm", [HAIKU[0], ("assistant", "Rain.")]),
        ("oak", [HAIKU[0], ("assistant", "Snow.")]),
        ("elm", [HAIKU[0], ("assistant", "Rain."), HAIKU[1], ("assistant", "Sun.")]),
        ("oak", [HAIKU[0], ("assistant", "Snow."), HAIKU[1], ("assistant", "Fog.")]),
    ],
    "Chatbot Arena (columns)": [
        ("elm", [ASK, REPLY, ("user", "And there?"), ("assistant", "20.")]),
        ("oak", [ASK, ("assistant", "Warm."), ("user", "And there?"), ("assistant", "Warmer.")]),
    ],
    "WildChat": PLAIN,
    "LMSYS chats": PLAIN,
    "FED dialogues": PLAIN,
    "ShareGPT": [
        (
            "unknown",
            [("system", "Be brief."), ASK, ("tool", '{"name": "look"}'), ("tool", "18"), REPLY],
        )
    ],
    "OpenAI fine-tuning preferences": [
        ("preferred", [ASK, REPLY]),
        ("not preferred", [ASK, ("assistant", "Warm.")]),
    ],
    "preferences": [("elm", [ASK, REPLY]), ("oak", [ASK, ("assistant", "Warm.")])],
    "OpenAI chat": [
        (
            "elm",
            [
                ("system", "Be brief."),
                ("user", "What is it?\n[image: https://example.org/cat.png]"),
                ("tool", 'look({"at": 1})'),
                ("tool", "cat"),
                ("assistant", "A cat."),
            ],
        )
    ],
    "conversation": [("unknown", [ASK, REPLY])],
    "prompts and responses": PLAIN,
    "PingPong results": PLAIN,
}
KEYS = {
    "MLflow traces": ["b/tr-1"],
    "promptfoo results": ["b/r1"],
    "Inspect log": ["b/1/1"],
    "Chatbot Arena": ["b/q1/elm", "b/q1/oak", "b/q2/oak", "b/q2/elm"],
    "MT-Bench or Arena votes": ["b/81/elm@1", "b/81/oak@1", "b/81/elm@2", "b/81/oak@2"],
    "Chatbot Arena (columns)": ["b/30192/elm", "b/30192/oak"],
    "WildChat": ["b/ab12"],
    "preferences": ["b/7/elm", "b/7/oak"],
}
VOTES = {
    "Chatbot Arena": [("arena_user_9", "human", "", "A"), ("voters of b", "human", "", "C")],
    "MT-Bench or Arena votes": [("expert_5", "human", "", "B"), ("gpt-4", "judge", "pair-v2", "C")],
    "Chatbot Arena (columns)": [("voters of b", "human", "", "B")],
}
SCORES = {
    "MLflow traces": [("helpful", 4, "judge", "gpt", None), ("helpful", 5, "human", "ann", None)],
    "MLflow traces (table)": [("helpful", 1, "human", "ann", None)],
    "LangSmith runs": [("helpful", 0.5, "judge", "", None)],
    "promptfoo results": [("score", 1, "judge", "", None), ("brief", 0.5, "judge", "", None)],
    "Langfuse traces": [("helpful", 4, "judge", "", None), ("helpful", 5, "human", "ann", None)],
    "Inspect log": [("match", 1, "judge", "", None)],
    "PingPong results": [
        ("in_character", 5, "judge", "gpt", 1),
        ("is_refusal", 0, "judge", "gpt", 1),
        ("in_character", 4, "human", "", None),
    ],
}


@pytest.fixture(params=list(EXPECTED))
def read(request, tmp_path):
    """The name of a form, and what its example in the documentation holds."""
    ending, text = EXAMPLES[request.param]
    file = tmp_path / f"b.{ending}"
    file.write_text(text, encoding="utf-8")
    return request.param, conversations_file.survey(file)


def test_every_form_has_an_example():
    assert {shape.name for shape in known()} == set(EXPECTED) <= set(EXAMPLES)


def test_it_is_recognised_and_its_dialogues_are_read(read):
    name, found = read
    assert (found.name, found.wrong, found.unread) == (name, [], {})
    entries = [entry for _, entry in found.shown]
    said = [
        (c.player, [(m.role, m.content) for m in c.messages])
        for entry in entries
        for c in entry.conversations
    ]
    assert said == EXPECTED[name]
    keys = [c.key for entry in entries for c in entry.conversations]
    assert KEYS.get(name, keys) == keys
    assert all(key.startswith("b/") for key in keys)


def test_its_votes_and_scores_are_read(read):
    name, found = read
    entries = [entry for _, entry in found.shown]
    votes = [
        (v.rater.name, v.rater.kind, v.rater.variant, v.verdict) for entry in entries for v in entry.votes
    ]
    assert votes == VOTES.get(name, [])
    scores = [(s.criterion, s.score, s.kind, s.by, s.turn) for entry in entries for s in entry.scores]
    assert scores == SCORES.get(name, [])


def test_thoughts_stand_beside_the_message_that_they_precede(tmp_path):
    file = tmp_path / "log.json"
    file.write_text(EXAMPLES["Inspect log"][1], encoding="utf-8")
    (_, entry), *_ = conversations_file.survey(file).shown
    assert entry.conversations[0].messages[1].meta["thinking"] == "Look it up."
    assert entry.conversations[0].context == {"Reference": "18"}
    assert entry.conversations[0].facets == {"scenario": "1", "task": "weather", "epoch": "1"}


def test_a_form_that_is_not_known_is_mapped(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text(
        '{"uid": 5, "log": {"turns": [{"who": "x", "sender": "Kunde", "text": "Hi"}, {"sender": "bot", '
        '"text": "Hello"}]}, "bot": "elm", "stars": "4", "topic": "greeting"}\n'
    )
    with pytest.raises(ImportRefused, match=r"in no form that is known.*its fields are uid, log, bot, stars"):
        conversations_file.survey(file)
    told = {"messages": "log.turns", "key": "uid", "player": "bot", "score:stars": "stars"}
    asked = Asked("b", {**told, "facet:topic": "topic"}, {"kunde": "user"})
    (_, entry), *_ = conversations_file.survey(file, asked).shown
    (one,) = entry.conversations
    assert (one.key, one.player, one.facets["topic"]) == ("b/5", "elm", "greeting")
    assert [(m.role, m.content) for m in one.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert [(s.criterion, s.score) for s in entry.scores] == [("stars", 4.0)]


def test_a_known_form_is_mapped_in_part(tmp_path):
    file = tmp_path / "chat.csv"
    file.write_text("prompt,response,engine\nHi,Hello,elm\n")
    (_, entry), *_ = conversations_file.survey(file, Asked("b", {"player": "engine"})).shown
    assert entry.conversations[0].player == "elm"
