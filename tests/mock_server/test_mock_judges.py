"""Judges and simulated annotators: they read what they are sent, and agree with each other neither fully nor
not at all.
"""

import json
from dataclasses import replace
from statistics import mean

import krippendorff
import numpy as np
import pytest
from scipy.stats import spearmanr

from concord.benchmarks.pingpong.play import Scores
from concord.conversation import Conversation, Message
from tests.mock.call import Call
from tests.mock.material import load
from tests.mock.personas import reply
from tests.mock.pingpong.features import CRITERIA, rate
from tests.mock.pingpong.reading import transcript_of

from .dialogues import cast, dialogue, judge_call, judged, scenes

LIKERT = load("pingpong", "en", "judge")["likert"]
JUDGES = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy")
PLAYERS = ("mock-vivid", "mock-bland", "mock-parrot", "mock-typist")


@pytest.fixture(scope="module")
def study():
    """Four players, eight characters, two situations: 64 conversations, judged by three and rated by five."""
    conversations = [
        dialogue(p, "en", c, s) for p in PLAYERS for c in cast("en") for s in ("heckler", "practical-help")
    ]
    judges = {
        j: {
            c: np.array(
                [mean(t[f"{c}_score"] for t in judged(j, conversation)) for conversation in conversations]
            )
            for c in CRITERIA
        }
        for j in JUDGES
    }
    people = {c: np.array([[rate(x, c, a) for x in conversations] for a in range(5)]) for c in CRITERIA}
    return conversations, judges, people


def test_judges_tell_players_apart_as_designed(study):
    conversations, judges, _ = study
    names = np.array([c.player for c in conversations])

    def of(player, criterion):
        return mean(judges[j][criterion][names == player].mean() for j in JUDGES)

    assert of("mock-vivid", "in_character") > of("mock-bland", "in_character") + 1
    assert of("mock-vivid", "entertaining") > of("mock-parrot", "entertaining") + 0.5
    assert of("mock-vivid", "fluency") > of("mock-typist", "fluency") + 1
    strict, lenient = (np.mean([judges[j][c] for c in CRITERIA]) for j in JUDGES[:2])
    assert lenient > strict + 0.3


def test_people_agree_somewhat_and_use_the_whole_scale(study):
    _, _, people = study
    for criterion in CRITERIA:
        alpha = krippendorff.alpha(people[criterion], level_of_measurement="ordinal")
        assert 0.25 < alpha < 0.65
        assert set(people[criterion].ravel()) == {1, 2, 3, 4, 5}


def test_judges_agree_with_people_somewhat_the_noisy_one_least(study):
    _, judges, people = study
    target = sum(people.values()).sum(axis=0)
    final = {j: sum(judges[j].values()) for j in JUDGES}
    rho = {j: spearmanr(final[j], target).statistic for j in JUDGES}
    panel = spearmanr(sum(final.values()), target).statistic
    assert all(0.2 < r < 0.85 for r in rho.values())
    assert rho["mock-judge-noisy"] == min(rho.values())
    assert panel > mean(rho.values())


def test_a_judge_reads_every_turn_whole():
    said = [
        Message("user", "Tell me.\n\nTurn it up!"),
        Message("assistant", "First line.\n\n=====\nassistant of mine: no.\nLast line."),
        Message("user", "And then?"),
        Message("assistant", "There are 2 turns in me."),
    ]
    conversation = Conversation(
        "pingpong", "k", "p", tuple(said), context={"Character": "Nell\n\nYou are Nell. The lamp is yours."}
    )
    read = transcript_of(judge_call("mock-judge-strict", conversation))
    assert [(t.number, t.user, t.reply) for t in read.turns] == [
        (1, said[0].content, said[1].content),
        (2, said[2].content, said[3].content),
    ]
    assert read.card.text == "Nell\n\nYou are Nell. The lamp is yours."
    assert read.card.name == "Nell"


@pytest.mark.parametrize("language", ["en", "ru"])
def test_verdicts_fit_the_schema_and_open_with_words_of_the_turn(language):
    character = next(iter(cast(language)))
    conversation = dialogue("mock-typist", language, character, "life-story")
    replies = [" ".join(r.split()) for r in conversation.replies]
    for judge in JUDGES:
        text = reply(judge_call(judge, conversation))
        scores = Scores.model_validate_json(text).scores
        assert [s.turn for s in scores] == list(range(1, 9))
        for score, judged_reply in zip(scores, replies, strict=True):
            for criterion in CRITERIA:
                said = getattr(score, f"{criterion}_explanation")
                assert said.startswith("'")
                assert said[1 : said.rindex("' ")] in judged_reply
                assert said.endswith(f"so I {LIKERT[getattr(score, f'{criterion}_score') - 1]}.")


def test_refusals_are_seen_and_playing_is_not_refusing():
    refusing = [
        c
        for c in (dialogue("mock-refuser", "en", c, s) for c in cast("en") for s in scenes("en"))
        if "As an AI" in str(c.messages) or "role-play" in str(c.messages)
    ]
    assert len(refusing) >= 3
    for conversation in refusing:
        assert any(t["is_refusal"] for t in judged("mock-judge-strict", conversation))
        assert rate(conversation, "refusal", 0) == 1
    playing = [dialogue("mock-vivid", "en", c, "heckler") for c in cast("en")]
    assert not any(t["is_refusal"] for c in playing for t in judged("mock-judge-strict", c))
    assert not any(rate(c, "refusal", 0) for c in playing)


def test_a_judge_answers_in_the_fields_and_bounds_it_is_asked_for():
    conversation = dialogue("mock-vivid", "en", "tully", "heckler")
    item = {
        "type": "object",
        "properties": {
            "turn": {"type": "integer"},
            "wit_explanation": {"type": "string"},
            "wit_score": {"type": "integer", "minimum": 1, "maximum": 10},
            "odd": {"type": "boolean"},
        },
    }
    schema = {
        "type": "object",
        "properties": {"scores": {"type": "array", "items": item}, "note": {"type": "string"}},
    }
    rows = json.loads(reply(replace(judge_call("mock-judge-lenient", conversation), schema=schema)))
    assert set(rows) == {"scores", "note"}
    assert [set(r) for r in rows["scores"]] == [set(item["properties"])] * 4
    assert all(1 <= r["wit_score"] <= 10 and r["odd"] is False for r in rows["scores"])
    assert max(r["wit_score"] for r in rows["scores"]) > 5  # a judge of 1 to 5 would not get there


def test_without_a_schema_a_judge_answers_in_a_fenced_block():
    conversation = dialogue("mock-vivid", "en", "tully", "heckler")
    text = reply(judge_call("mock-judge-strict", conversation, replies="text"))
    assert text.startswith("```json\n")
    assert Scores.model_validate_json(text.removeprefix("```json\n").removesuffix("\n```")).scores


def test_the_erratic_judge_fails_sometimes_and_mostly_mends():
    conversations = [dialogue("mock-vivid", "en", c, s) for c in cast("en") for s in scenes("en")]

    def usable(asked, turns):
        try:
            return [s.turn for s in Scores.model_validate_json(reply(asked)).scores] == turns
        except ValueError:
            return False

    first, later = [], []
    for c in conversations:
        turns = [t.number for t in c.turns()]
        asked = judge_call("mock-judge-erratic", c)
        first.append(usable(asked, turns))
        again = [
            replace(asked, messages=(*asked.messages, Message("user", f"Once more ({i})."))) for i in range(3)
        ]
        later.append(first[-1] or any(usable(a, turns) for a in again))
    assert 0.5 < mean(first) < 0.85
    assert mean(first) + 0.1 < mean(later) < 1


def test_a_prompt_without_turns_gets_something_valid():
    asked = Call(
        "mock-judge-strict", (Message("user", "Judge this."),), "json_schema", Scores.model_json_schema()
    )
    assert Scores.model_validate_json(reply(asked)).scores


def test_an_annotator_is_steady_and_not_like_the_others():
    conversation = dialogue("mock-vivid", "en", "tully", "heckler")
    assert rate(conversation, "fluency", 3, 7) == rate(conversation, "fluency", 3, 7)
    assert len({rate(conversation, "entertaining", a, 7) for a in range(12)}) > 1
    assert {rate(conversation, c, a) for c in ("wit", "in_character") for a in range(9)} <= {1, 2, 3, 4, 5}
    assert 1 <= rate(conversation, "fluency", 0, turn=2) <= 5
    assert rate(replace(conversation, messages=()), "fluency", 0) == 1
