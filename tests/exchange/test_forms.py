"""Every form that is recognised has a whole file in `forms`, which is read as meant, and no text is lost."""

import json
import unicodedata
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from concord.errors import ImportRefused
from concord.exchange import conversations_file, entries, records, rows
from concord.exchange.conversations_file import FileOptions
from concord.exchange.embedded_text import parsed
from concord.exchange.row_paths import CHAT, JSON_TEXT, TALK
from concord.exchange.row_reader import Reading
from concord.exchange.shapes import forms
from tests.exchange.forms_helpers import EXAMPLES

DOCS = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
ASK, REPLY = ("user", "How warm is it?"), ("assistant", "18 degrees.")
WARM, BRIEF = ("assistant", "Warm."), ("system", "Be brief.")
CALL, RESULT = ("tool", 'look({"at": "Oslo"})'), ("tool", "18")
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
    "HH-RLHF": [("chosen", [ASK, REPLY]), ("rejected", [ASK, WARM])],
    "HH-RLHF with prompts": [("chosen", [ASK, REPLY]), ("rejected", [ASK, WARM])],
    "RewardBench": [("elm", [ASK, REPLY]), ("oak", [ASK, WARM])],
    "JudgeBench": [("elm", [ASK, REPLY]), ("elm", [ASK, WARM])],
    "Stanford Human Preferences (SHP)": [("c1", [ASK, REPLY]), ("c2", [ASK, WARM])],
    "HelpSteer preferences": [("response 1", [ASK, REPLY]), ("response 2", [ASK, WARM])] * 2,
    "HelpSteer": [("unknown", [ASK, REPLY])],
    "AlpacaEval annotations": [("elm", [ASK, REPLY]), ("oak", [ASK, WARM])],
    "two responses": [("response 0", [ASK, REPLY]), ("response 1", [ASK, WARM])],
    "Nectar": [("elm", [ASK, REPLY]), ("oak", [ASK, WARM]), ("fir", [ASK, ("assistant", "Hot.")])],
    "UltraFeedback": [("elm", [ASK, REPLY]), ("oak", [ASK, WARM])],
    "PRISM conversations": [
        ("elm", [ASK, REPLY]),
        ("oak", [ASK, WARM]),
        ("elm", [ASK, REPLY, ("user", "And there?"), ("assistant", "20.")]),
    ],
    "PRISM utterances": PLAIN,
    "MT-Bench answers": [("elm", [HAIKU[0], ("assistant", "Rain."), HAIKU[1], ("assistant", "Sun.")])],
    "OASST trees": [("unknown", [ASK, REPLY, ("user", "Thanks.")]), ("unknown", [ASK, WARM])],
    "OASST messages": [
        ("unknown", [ASK, REPLY]),
        ("unknown", [ASK, WARM]),
        ("unknown", [("user", "Hi"), ("assistant", "Hello")]),
    ],
    "ChatGPT export": [("elm", [ASK, WARM]), ("elm", [ASK, REPLY])],
    "Claude export": [("Claude", [ASK, REPLY])],
    "OpenTelemetry GenAI spans": [("elm", [BRIEF, ASK, CALL, RESULT, REPLY])],
    "OpenTelemetry GenAI events": [("elm", [BRIEF, ASK, REPLY])],
    "Pydantic Evals reports": [("unknown", [ASK, REPLY])],
    "Humanloop logs": [("elm", [BRIEF, ASK, REPLY])],
    "AI SDK spans": [("elm", [BRIEF, ASK, CALL, RESULT, REPLY])],
    "batch requests": [("elm", [ASK, REPLY]), ("elm", [BRIEF, ASK, REPLY])],
    "Gemini contents": [("elm", [BRIEF, ASK, CALL, ("tool", '{"t": 18}'), REPLY])],
    "OpenAI responses": [("elm", [BRIEF, ASK, CALL, RESULT, REPLY])],
    "a turn a row": [("elm", [ASK, REPLY]), ("oak", [("user", "Hi"), ("assistant", "Hello")])],
    "DeepEval conversations": [("unknown", [ASK, REPLY])],
    "DeepEval test cases": [("unknown", [ASK, REPLY])],
    "TRL unpaired preferences": [("unknown", [ASK, REPLY])],
    "Ragas conversations": [("unknown", [ASK, CALL, RESULT, REPLY])],
    "logged calls": [("elm", [ASK, REPLY]), ("elm", [BRIEF, ASK, REPLY])],
    "OpenAI completions": [("elm", [ASK, REPLY]), ("elm", [REPLY])],
    "OpenInference spans": PLAIN * 2,
    "lm-evaluation-harness samples": [("unknown", [ASK, REPLY])],
    "Open WebUI export": [("oak", [ASK, WARM]), ("elm", [ASK, REPLY])],
    "a dialogue as text": PLAIN,
    "LangWatch traces": PLAIN,
    "Phoenix experiments": [("unknown", [ASK, REPLY])],
    "Codex rollouts": [("unknown", [ASK, CALL, RESULT, REPLY])],
    "LLaMA-Factory preferences": [("chosen", [ASK, REPLY]), ("rejected", [ASK, WARM])],
    "LLaMA-Factory instructions": [
        (
            "unknown",
            [BRIEF, ("user", "Hi"), ("assistant", "Hello"), ASK, ("assistant", "Where?"), ASK, REPLY],
        )
    ],
    "promptfoo table": [("openai:elm", [ASK, REPLY]), ("openai:oak", [ASK, WARM])],
    **dict.fromkeys(
        (
            "Arena-Hard answers",
            "Braintrust",
            "Claude Code sessions",
            "Helicone requests",
            "LibreChat export",
            "OpenInference messages",
            "Opik experiment items",
            "Opik export",
            "Weave calls",
            "WildBench results",
        ),
        PLAIN,
    ),
    **{
        name: [("unknown", [ASK, REPLY])]
        for name in (
            "AutoGen chats (0.2)",
            "AutoGen state",
            "Azure AI evaluation",
            "DiscordChatExporter",
            "LangGraph state",
            "Lighteval details",
            "MultiWOZ dialogues",
            "OpenAI threads",
            "Opik table",
            "Opik traces",
            "Slack export",
            "WhatsApp chat",
            "UltraChat",
            "Weave evaluations",
            "inputs and outputs",
        )
    },
    **{
        name: [("elm", [BRIEF, ASK, REPLY])]
        for name in (
            "Amazon Bedrock invocation logs",
            "DSPy history",
            "OpenAI eval items",
            "OpenLLMetry spans",
        )
    },
    "OpenAI evals log": [("unknown", [BRIEF, ASK, REPLY])],
    "Arena-Hard answers (choices)": [("elm", [REPLY])],
    "USR dialogues": [
        ("Elm", [("user", "How warm is it?\nAnd there?"), REPLY]),
        ("Oak", [("user", "How warm is it?\nAnd there?"), WARM]),
    ],
    "SillyTavern chats": [("unknown", [("assistant", "Hello, traveller."), ASK, REPLY])],
    "HELM scenario state": [
        ("openai/elm", [("user", "Answer.\n\nHow warm is it?"), ("assistant", " 18 degrees.")])
    ],
    "CrewAI tasks": [("Researcher", [("user", "Find how warm it is."), REPLY])],
    "two outputs": [("1", [ASK, REPLY]), ("2", [ASK, WARM])],
    "a list of messages": [("elm", [BRIEF, ASK, CALL, ("tool", "18 C"), LOOKED])],
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
    "JudgeBench": ["b/p1/elm/a", "b/p1/elm/b"],
    "RewardBench": ["b/alpacaeval-easy/7/elm", "b/alpacaeval-easy/7/oak"],
    "PRISM conversations": ["b/c1/elm/a", "b/c1/oak", "b/c1/elm/c"],
    "MT-Bench answers": ["b/81"],
    "OASST messages": ["b/m1/unknown/a", "b/m1/unknown/b", "b/n1"],
    "a turn a row": ["b/c1", "b/c2"],
    "batch requests": ["b/r1", "b/r2"],
}
VOTES = {
    "Chatbot Arena": [("arena_user_9", "human", "", "A"), ("voters of b", "human", "", "C")],
    "MT-Bench or Arena votes": [("expert_5", "human", "", "B"), ("gpt-4", "judge", "pair-v2", "C")],
    "Chatbot Arena (columns)": [("voters of b", "human", "", "B")],
    "OpenAI fine-tuning preferences": [("voters of b", "human", "", "A")],
    "preferences": [("voters of b", "human", "", "A")],
    "HH-RLHF": [("voters of b", "human", "", "A")],
    "LLaMA-Factory preferences": [("voters of b", "human", "", "A")],
    "HH-RLHF with prompts": [("voters of b", "human", "", "A")],
    "RewardBench": [("gold", "gold", "", "A")],
    "JudgeBench": [("gold", "gold", "", "B")],
    "Stanford Human Preferences (SHP)": [("voters of b", "human", "", "A")],
    "HelpSteer preferences": [("voters of b", "human", "", "A"), ("voters of b", "human", "", "B")],
    "AlpacaEval annotations": [("weighted_gpt4", "judge", "", "A")],
    "two responses": [("voters of b", "human", "", "B")],
    "Nectar": [("gpt-4", "judge", "", verdict) for verdict in "AAC"],
    "two outputs": [("voters of b", "human", "", "A")],
}
STRONG = {"HelpSteer preferences": [True, False]}
SCORES = {
    "MLflow traces": [("helpful", 4, "judge", "gpt", None), ("helpful", 5, "human", "ann", None)],
    "MLflow traces (table)": [("helpful", 1, "human", "ann", None)],
    "promptfoo results": [("score", 1, "judge", "", None), ("brief", 0.5, "judge", "", None)],
    "LangWatch traces": [("helpful", 0.5, "judge", "", None), ("exact", 0, "judge", "code", None)],
    "OpenTelemetry GenAI events": [("helpful", 0.5, "human", "ann", None)],
    "Pydantic Evals reports": [
        ("helpful", 0.5, "judge", "", None),
        ("exact", 0, "judge", "code", None),
    ],
    "Humanloop logs": [("helpful", 4, "human", "", None), ("exact", 1, "judge", "code", None)],
    "Phoenix experiments": [("helpful", 0.5, "judge", "", None), ("exact", 0, "judge", "code", None)],
    "Langfuse traces": [("helpful", 4, "judge", "", None), ("helpful", 5, "human", "ann", None)],
    "Inspect log": [("match", 1, "judge", "code", None)],
    "Prometheus feedback": [("score", 4, "judge", "", None)],
    "lm-evaluation-harness samples": [("exact_match", 1, "judge", "code", None)],
    "HelpSteer": [
        (name, score, "human", "", None)
        for name, score in zip(
            ("helpfulness", "correctness", "coherence", "complexity", "verbosity"),
            (4, 3, 4, 1, 0),
            strict=True,
        )
    ],
    "UltraFeedback": [
        *((name, 4, "judge", "", None) for name in ("helpfulness", "honesty")),
        ("overall", 8, "judge", "", None),
        ("fine-grained", 4.5, "judge", "", None),
        *((name, 2, "judge", "", None) for name in ("helpfulness", "honesty")),
        ("overall", 3, "judge", "", None),
    ],
    "PRISM conversations": [("score", score, "human", "user1", None) for score in (80, 20, 90)],
    "PRISM utterances": [("score", 80, "human", "user1", None)],
    "DeepEval conversations": [("Completeness", 0.5, "judge", "gpt", None)],
    "DeepEval test cases": [("Relevancy", 0.9, "judge", "gpt", None)],
    "TRL unpaired preferences": [("label", 1, "human", "", None)],
    "Opik traces": [("Hallucination", 0, "judge", "", None), ("helpful", 1, "human", "ann", None)],
    "Opik export": [
        ("helpful", 5, "human", "ann", None),
        ("helpful", 3, "human", "bob", None),
        ("Hallucination", 0, "judge", "", None),
    ],
    "Lighteval details": [("exact_match", 1, "judge", "code", None)],
    "FED dialogues": [("Coherent", 2, "human", f"position {n}", None) for n in (1, 2)],
    "PingPong results": [
        ("in_character", 5, "judge", "gpt", 1),
        ("is_refusal", 0, "judge", "gpt", 1),
        ("in_character", 4, "human", "", None),
    ],
}


UNKNOWN = {
    "LangSmith runs": {"helpful": 1},
    "Pydantic Evals reports": {"own": 1},
    "Braintrust": {"Factuality": 1, "Near": 1},
    "Opik export": {"len": 1},
    "Opik table": {"helpful": 1},
    "Opik experiment items": {"equals_metric": 1},
    "OpenAI eval items": {"String check": 1},
    "Weave evaluations": {"match/correct": 1},
    "promptfoo table": {"score": 2, "brief": 1},
    "Helicone requests": {"x": 1},
}
"""Criteria of scores whose scorer the file does not say."""


@pytest.fixture(params=list(EXPECTED))
def read(request, tmp_path):
    """The name of a form, and what its example in the documentation holds."""
    ending, text = EXAMPLES[request.param]
    file = tmp_path / f"b.{ending}"
    file.write_text(text, encoding="utf-8")
    return request.param, conversations_file.survey(file)


def test_every_form_has_an_example():
    assert {shape.name for shape in forms().shapes} == set(EXPECTED) == set(EXAMPLES)


def table_row(shape):
    """The line of docs/formats.md about a form."""
    needs = "; ".join(" or ".join(f"`{name}`" for name in one.split("|")) for one in shape.has)
    several = f"a conversation for each of {_or(shape.several.entries)}" if shape.several else ""
    turns = "a conversation of several rows" if shape.turns else ""
    turns = "a conversation of several spans" if shape.spans else turns
    pairs = "two conversations" if len(shape.sides) == 2 else ""
    votes = ("votes by judges" if shape.votes.rater_kind == "judge" else "votes") if shape.votes else ""
    people = {score.scorer == "human" or bool(score.people) for score in shape.scores}
    scores = [name for name, has in (("scores", False), ("scores by people", True)) if has in people]
    gives = ", ".join(filter(None, [turns, several, pairs, votes, *scores])) or "a conversation"
    return f"| {shape.name} | {shape.holds} | {needs} | {gives} |"


def _or(paths):
    return " or ".join(f"`{path}`" for path in paths)


def test_the_documentation_has_one_table_of_the_forms():
    start = DOCS.index("| form | what has it |")
    lines = DOCS[start:].partition("\n\n")[0].splitlines()[2:]
    assert lines == [table_row(shape) for shape in forms().shapes]
    assert all(shape.holds for shape in forms().shapes)


def test_the_documentation_names_what_is_joined():
    assert all(f"| {one.name} |" in DOCS for one in forms().joins)


def test_it_is_recognised_and_its_dialogues_are_read(read):
    name, found = read
    assert (found.name, found.wrong, found.unread) == (name, [], {})
    entries = [entry for _, entry in found.examples]
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
    entries = [entry for _, entry in found.examples]
    votes = [
        (v.rater.name, v.rater.kind, v.rater.variant, v.verdict) for entry in entries for v in entry.votes
    ]
    assert votes == VOTES.get(name, [])
    strong = [vote.strong for entry in entries for vote in entry.votes]
    assert strong == STRONG.get(name, [False] * len(votes))
    scores = [
        (s.criterion, s.score, s.rater.kind, s.rater.name, s.unit.turn)
        for entry in entries
        for s in entry.scores
    ]
    assert scores == SCORES.get(name, [])
    assert found.unknown == UNKNOWN.get(name, {})


def test_thoughts_stand_beside_the_message_that_they_precede(tmp_path):
    file = tmp_path / "log.json"
    file.write_text(EXAMPLES["Inspect log"][1], encoding="utf-8")
    (_, entry), *_ = conversations_file.survey(file).examples
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
    "{'answer': '18'}",
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
        return written(text).join('""') if isinstance(value, str) and value[:1] == '"' else text
    first, *rest = path
    if first == "~":
        return json.dumps(with_text(json.loads(value), rest, text), ensure_ascii=False)
    copy = value.copy()
    copy[first] = with_text(value[first], rest, text)
    return copy


@pytest.mark.parametrize("name", list(EXPECTED))
def test_what_was_said_is_never_changed(name, tmp_path):
    """A text of the example is replaced by each that looks like structure, and is said as it is."""
    ending, example = EXAMPLES[name]
    file = tmp_path / f"b.{ending}"
    file.write_text(example, encoding="utf-8")
    (shape,) = (shape for shape in forms().shapes if shape.name == name)
    declared = {
        path.rstrip(JSON_TEXT + TALK + CHAT)
        for side in shape.sides
        for _, paths in side.parts
        for path in paths
        if path.endswith((JSON_TEXT, TALK, CHAT))
    }

    def contents(fields):
        entry = entries.read(fields, Reading(shape, "b"), "here")
        return {m.content for c in entry.conversations for m in c.messages}

    replaced = dict.fromkeys(JSON_REPLIES, 0)
    for row in records.read(file, rows.kind_of(file), shape):
        before = contents(row.fields)
        for (path, said), text in product(texts_of(row.fields), JSON_REPLIES):
            # A text in a column of JSON is a list of texts there, or is written in quotes.
            if said not in before or ".".join(map(str, path)) in declared:
                continue
            new = contents(with_text(row.fields, path, text)) - before
            # Nothing is new where the text stands twice in the row, and the other one is said.
            assert all(text in each for each in new), (path, text)
            replaced[text] += len(new)
    assert all(replaced.values()) or any(side.talk for side in shape.sides)


def places(entry):
    """What an entry keeps beside the words of its messages, as texts."""
    for c in entry.conversations:
        yield from (c.key, c.player, c.language, *c.facets.values())
        yield json.dumps([c.context, c.meta, [m.meta for m in c.messages]], ensure_ascii=False)
    for one in (*entry.scores, *entry.unread):
        yield json.dumps(vars_of(one), ensure_ascii=False, default=str)
    for vote in entry.votes:
        yield json.dumps([vote.rater.name, vote.rater.variant, vote.explanation], ensure_ascii=False)


def vars_of(one):
    return one if isinstance(one, str) else [one.criterion, one.rater.name, one.explanation]


STRUCTURE = {
    "role",
    "type",
    "content_type",
    "part_kind",
    "kind",
    "source",
    "source_type",
    "status",
    "mimeType",
    "lc",
    "children",
}
STRUCTURE |= {
    "id",
    "parent",
    "message_id",
    "parent_id",
    "message_tree_id",
    "parentId",
    "messageId",
    "parentMessageId",
    "uuid",
    "childrenIds",
    "currentId",
    "toolCallId",
}
"""What says how the rest is to be read, and nothing that anybody said."""


def unnamed(path, left_out):
    """Whether no name of what is left out leads to the place of a text."""
    here = [name for part in path for name in str(part).split(".")]
    for name in left_out:
        way = iter(here)
        parts = name.partition(" (")[0].removeprefix("@.").split(".")
        if all(part in way or part in ("…", "messages") for part in parts):
            return False
    return True


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    drawn=st.text(st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=20),
    json_like=st.booleans(),
)
@pytest.mark.parametrize("name", list(EXPECTED))
def test_every_text_stands_once_or_is_named_as_left_out(name, tmp_path, drawn, json_like):
    """Each text of the example is replaced by another, kept, said once, or named; no other changes."""
    ending, example = EXAMPLES[name]
    file = tmp_path / f"b.{ending}"
    file.write_text(example, encoding="utf-8")
    (shape,) = (shape for shape in forms().shapes if shape.name == name)
    text = f'{{"q{drawn}": "§"}}' if json_like else f"§{drawn}"
    for row in records.read(file, rows.kind_of(file), shape):
        whole = entries.read(row.fields, Reading(shape, "b"), "here")
        for path, _ in texts_of(row.fields):
            if STRUCTURE & {*map(str, path[-2:])} or (shape.turns and path[-1] in told(shape)):
                continue
            fields = with_text(row.fields, path, text)
            try:
                entry = entries.read(fields, Reading(shape, "b"), "here")
            except ImportRefused:
                continue  # a word that the form needs, such as who speaks
            metadata, left_out = entry.reader.metadata(entry.conversations[0].meta, around=True)
            said = [m.content for c in entry.conversations for m in c.messages]
            for c in entry.conversations:
                assert sum(text in m.content for m in c.messages) <= 1, (path, "twice")
            ways = (text, written(text), *(["§"] if entry.unread else []))
            kept = any(form in place for form in ways for place in said)
            # Names are kept in the composed form of Unicode.
            names = (*ways, *(unicodedata.normalize("NFC", form) for form in ways))
            kept |= any(form in place for form in names for place in places(entry))
            assert kept or not unnamed(path, left_out), (path, left_out, metadata)
            before = {m.content for c in whole.conversations for m in c.messages}
            new = set(said) - before
            assert all(any(form in each for form in ways) for each in new), (path, new)


def told(shape):
    """The columns that say to which conversation a row belongs, and where in it."""
    return (*shape.turns.conversation, *shape.turns.order)


def written(text):
    """A text as it stands in JSON."""
    return json.dumps(text, ensure_ascii=False)[1:-1]


def test_a_form_that_is_not_known_is_mapped(tmp_path):
    file = tmp_path / "own.jsonl"
    file.write_text(
        '{"uid": 5, "log": {"turns": [{"who": "x", "sender": "Kunde", "text": "Hi"}, {"sender": "bot", '
        '"text": "Hello"}]}, "bot": "elm", "stars": "4", "topic": "greeting"}\n'
    )
    with pytest.raises(ImportRefused, match=r"an unknown format.*Its fields are uid, log, bot, stars"):
        conversations_file.survey(file)
    told = {"messages": "log.turns", "key": "uid", "player": "bot", "score:stars": "stars"}
    asked = FileOptions("b", {**told, "facet:topic": "topic"}, {"kunde": "user"})
    (_, entry), *_ = conversations_file.survey(file, asked).examples
    (one,) = entry.conversations
    assert (one.key, one.player, one.facets["topic"]) == ("b/5", "elm", "greeting")
    assert [(m.role, m.content) for m in one.messages] == [("user", "Hi"), ("assistant", "Hello")]
    assert [(s.criterion, s.score) for s in entry.scores] == [("stars", 4.0)]


def test_a_known_form_is_mapped_in_part(tmp_path):
    file = tmp_path / "chat.csv"
    file.write_text("prompt,response,engine\nHi,Hello,elm\n")
    (_, entry), *_ = conversations_file.survey(file, FileOptions("b", {"player": "engine"})).examples
    assert entry.conversations[0].player == "elm"


def test_a_path_that_leads_nowhere_is_an_error(tmp_path):
    file = tmp_path / "chat.csv"
    file.write_text("prompt,response,engine\nHi,Hello,elm\n")
    with pytest.raises(
        ImportRefused, match=r"--map player=engin: no row .* Its fields are prompt, response, engine"
    ):
        conversations_file.survey(file, FileOptions("b", {"player": "engin"}))


def test_lists_and_dicts_in_cells_that_pandas_wrote_are_read(tmp_path):
    """`mlflow.search_traces().to_csv()`: Python's way to write what the cells hold."""
    feedback = {"assessment_name": "helpful", "feedback": {"value": 4}, "source": {"source_type": "HUMAN"}}
    row = {"trace_id": "t", "request": {"messages": [{"role": "user", "content": 'It\'s "warm"?'}]}}
    row |= {"response": {"role": "assistant", "content": "18"}, "assessments": [feedback]}
    file = tmp_path / "b.csv"
    pd.DataFrame([row]).to_csv(file, index=False)
    ((_, entry),) = conversations_file.survey(file).examples
    said = [(m.role, m.content) for m in entry.conversations[0].messages]
    assert said == [("user", 'It\'s "warm"?'), ("assistant", "18")]
    assert [(s.criterion, s.score, s.rater.kind) for s in entry.scores] == [("helpful", 4.0, "human")]


def test_an_array_in_a_cell_that_pandas_wrote_is_read(tmp_path):
    """A column of lists that came from Parquet holds arrays, which have no commas between their objects."""
    said = [{"content": "It's\n}\n {", "role": "user"}, {"content": "18", "role": "assistant"}]
    file = tmp_path / "b.csv"
    pd.DataFrame({"messages": [np.array(said)]}).to_csv(file, index=False)
    assert "}\n {" in file.read_text()
    ((_, entry),) = conversations_file.survey(file).examples
    messages = entry.conversations[0].messages
    assert [{"content": m.content, "role": m.role} for m in messages] == said


def test_a_frame_that_pandas_wrote_by_column_is_rows(tmp_path):
    file = tmp_path / "traces.json"
    pd.DataFrame({"prompt": ["Hi", "Ho"], "response": ["Hello", "18"], "model": ["elm", "oak"]}).to_json(file)
    (_, one), (_, two) = conversations_file.survey(file).examples
    assert [m.content for m in one.conversations[0].messages] == ["Hi", "Hello"]
    assert [m.content for m in two.conversations[0].messages] == ["Ho", "18"]
