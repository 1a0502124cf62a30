"""Every form that is recognised is documented by a whole file, which is read as it is meant."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file, entries, rows
from concord.exchange.conversations_file import FileOptions
from concord.exchange.entries import Reading
from concord.exchange.shapes import JSON_TEXT, parsed, shapes

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
    "Prometheus feedback": [("unknown", [ASK, REPLY])],
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
    "Prometheus feedback": [("score", 4, "judge", "", None)],
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
    assert {shape.name for shape in shapes()} == set(EXPECTED) <= set(EXAMPLES)


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


JSON_REPLIES = [
    '{"answer": "18"}',
    '["a","b"]',
    '[{"role": "user", "content": "x"}]',
    '{"message": {"role": "user", "content": "x"}}',
    '"18"',
    "[laughs] 18",
    "  18\n\n",
    "null",
]


def texts_of(value, path=()):
    """(path, text) of every text of a row. A step "~" enters a text that holds a JSON list or object."""
    if isinstance(value, str):
        inner = parsed(value)
        if isinstance(inner, dict | list):
            yield from texts_of(inner, (*path, "~"))
        else:
            yield path, inner
    elif isinstance(value, dict | list):
        for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts_of(inner, (*path, name))


def with_text(value, path, text):
    """A row with another text at a path, written as JSON where a text in quotes stood."""
    if not path:
        return json.dumps(text) if isinstance(value, str) and value[:1] == '"' else text
    first, *rest = path
    if first == "~":
        return json.dumps(with_text(json.loads(value), rest, text))
    copy = value.copy()
    copy[first] = with_text(value[first], rest, text)
    return copy


@pytest.mark.parametrize("text", JSON_REPLIES)
@pytest.mark.parametrize("name", list(EXPECTED))
def test_what_was_said_is_never_changed(name, text, tmp_path):
    """A text of the example is replaced by one that looks like structure, and is said as it is."""
    ending, example = EXAMPLES[name]
    file = tmp_path / f"b.{ending}"
    file.write_text(example, encoding="utf-8")
    (shape,) = (shape for shape in shapes() if shape.name == name)
    declared = {
        path.removesuffix(JSON_TEXT)
        for side in shape.sides
        for _, paths in side.said
        for path in paths
        if path.endswith(JSON_TEXT)
    }

    def contents(fields):
        entry = entries.read(fields, Reading(shape, "b"), "here")
        return {m.content for c in entry.conversations for m in c.messages}

    replaced = 0
    for row in rows.read(file, rows.kind_of(file)):
        before = contents(row.fields)
        for path, said in texts_of(row.fields):
            # A text in a column of JSON is a list of texts there, or is written in quotes.
            if said not in before or ".".join(map(str, path)) in declared:
                continue
            new = contents(with_text(row.fields, path, text)) - before
            # Nothing is new where the text stands twice in the row, and the other one is said.
            assert all(text in each for each in new), path
            replaced += len(new)
    assert replaced


def test_a_form_that_is_not_known_is_mapped(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text(
        '{"uid": 5, "log": {"turns": [{"who": "x", "sender": "Kunde", "text": "Hi"}, {"sender": "bot", '
        '"text": "Hello"}]}, "bot": "elm", "stars": "4", "topic": "greeting"}\n'
    )
    with pytest.raises(ImportRefused, match=r"in no form that is known.*its fields are uid, log, bot, stars"):
        conversations_file.survey(file)
    told = {"messages": "log.turns", "key": "uid", "player": "bot", "score:stars": "stars"}
    asked = FileOptions("b", {**told, "facet:topic": "topic"}, {"kunde": "user"})
    (_, entry), *_ = conversations_file.survey(file, asked).shown
    (one,) = entry.conversations
    assert (one.key, one.player, one.facets["topic"]) == ("b/5", "elm", "greeting")
    assert [(m.role, m.content) for m in one.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert [(s.criterion, s.score) for s in entry.scores] == [("stars", 4.0)]


def test_a_known_form_is_mapped_in_part(tmp_path):
    file = tmp_path / "chat.csv"
    file.write_text("prompt,response,engine\nHi,Hello,elm\n")
    (_, entry), *_ = conversations_file.survey(file, FileOptions("b", {"player": "engine"})).shown
    assert entry.conversations[0].player == "elm"


def test_a_path_that_leads_nowhere_is_an_error(tmp_path):
    file = tmp_path / "chat.csv"
    file.write_text("prompt,response,engine\nHi,Hello,elm\n")
    with pytest.raises(
        ImportRefused, match=r"--map player=engin: no row .* Its fields are prompt, response, engine"
    ):
        conversations_file.survey(file, FileOptions("b", {"player": "engin"}))


def test_a_frame_that_pandas_wrote_by_column_is_rows(tmp_path):
    file = tmp_path / "traces.json"
    pd.DataFrame({"prompt": ["Hi", "Ho"], "response": ["Hello", "18"], "model": ["elm", "oak"]}).to_json(file)
    (_, one), (_, two) = conversations_file.survey(file).shown
    assert [m.content for m in one.conversations[0].messages] == ["Hi", "Hello"]
    assert [m.content for m in two.conversations[0].messages] == ["Ho", "18"]
