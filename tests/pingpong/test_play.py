"""PingPong: who knows what, how a dialogue goes, and what a verdict must cover."""

from __future__ import annotations

import asyncio

import pytest

from concord.benchmarks.pingpong import play as pingpong
from concord.benchmarks.pingpong.play import PINGPONG, NextUtterance, Scores, TurnScore
from concord.codes import Failure
from concord.conversation import Conversation, Message
from concord.errors import CallFailed, ConfigError
from concord.llm.models import Model
from concord.llm.prompts import load_prompt
from concord.llm.replies import Answer, Unusable
from concord.rating import NOTHING_SPENT
from concord.runs.benchmark import Materials
from concord.runs.judging import verdict
from concord.runs.plans import PlayPlan
from concord.workspace import SHIPPED

MATERIALS = Materials((SHIPPED / "prompts",), (SHIPPED / "data",))


def planned(**options):
    defaults = {o.name: o.default for o in PINGPONG.options}
    models = {"players": ("p",), "interrogator": ("i",), "judges": ("j",)}
    return list(pingpong.plays(PlayPlan("pingpong", models, {**defaults, **options}), MATERIALS))


def played(**options):
    """The first conversation of a plan, and everything that was asked for it."""
    asked_for = []

    async def ask(step, model, asked, check=None, /):
        asked_for.append((step, model, asked))
        value = NextUtterance(next_utterance=f"user {step}") if asked.reply else None
        return Answer(f" {model} {step} ", value, False, NOTHING_SPENT)

    [play] = planned(**{"characters": ["tully"], "situations": ["reality"], **options})
    return asyncio.run(play.play(ask)), asked_for


@pytest.mark.parametrize("language", ["en", "ru"])
def test_sixty_four_conversations_and_288_judged_turns_a_player(language):
    plays = planned(language=language)
    assert len(plays) == len({p.key for p in plays}) == 8 * 8
    assert sum(p.expected[1].calls for p in plays) == 8 * (7 * 4 + 8) == 288


def test_repeats_symmetry_and_versions_have_keys_of_their_own():
    keys = {p.key for options in ({}, {"symmetric": True}, {"repeats": 3}) for p in planned(**options)}
    assert len(keys) == 64 * (3 + 1)


def test_the_dialogue_alternates_and_each_side_is_asked_by_its_model():
    conversation, asked_for = played()
    assert [m.role for m in conversation.messages] == ["user", "assistant"] * 4
    assert [(step, model) for step, model, _ in asked_for[:4]] == [
        ("1 interrogator", "i"),
        ("1 player", "p"),
        ("2 interrogator", "i"),
        ("2 player", "p"),
    ]
    assert conversation.messages[1].content == "p 1 player"
    assert conversation.player == "p"
    assert dict(conversation.facets) == {
        "character": "tully",
        "situation": "reality",
        "interrogator": "i",
        "version": "v2",
        "symmetric": "no",
    }


def text_of(asked):
    return "\n".join(m.content for m in asked.messages)


@pytest.mark.parametrize("symmetric", [False, True])
def test_the_player_gets_the_card_and_the_interrogator_the_situation(symmetric):
    card = pingpong.characters(MATERIALS.data, "en")["tully"]
    situation = pingpong.situations(MATERIALS.data, "en")["reality"]
    _, asked_for = played(symmetric=symmetric)
    for step, _, asked in asked_for:
        knows_card, knows_situation = card.system_prompt in text_of(asked), situation.text in text_of(asked)
        if step.endswith("player"):
            assert (knows_card, knows_situation) == (True, symmetric)
        else:
            assert (knows_card, knows_situation) == (symmetric, True)
            assert card.summary in text_of(asked)


def test_the_published_parameters():
    _, asked_for = played()
    assert dict(asked_for[0][2].params) == {"temperature": 0.8, "top_p": 0.95, "max_tokens": 1024}
    assert (asked_for[1][2].params["temperature"], asked_for[1][2].params["top_p"]) == (0.6, 0.9)
    judge = PINGPONG.prompt(MATERIALS, "judge")
    assert dict(judge.params) == {"temperature": 0.1, "top_p": 0.95, "max_tokens": 4096}


def test_a_player_cut_off_at_the_length_limit_is_marked():
    async def ask(step, model, asked, check=None, /):
        return Answer("text", NextUtterance(next_utterance="x") if asked.reply else None, True, NOTHING_SPENT)

    [play] = planned(characters=["tully"], situations=["reality"])
    conversation = asyncio.run(play.play(ask))
    assert [m.meta for m in conversation.messages if m.role == "assistant"] == [{"cut": True}] * 4


def score(turn, points=3, refused=False):
    return TurnScore(
        turn=turn,
        is_refusal_explanation="r",
        is_refusal=refused,
        in_character_explanation="c",
        in_character_score=points,
        entertaining_explanation="e",
        entertaining_score=points,
        fluency_explanation="f",
        fluency_score=points,
    )


TWO_TURNS = Conversation(
    "pingpong",
    "k",
    "p",
    (Message("user", "a"), Message("assistant", "b"), Message("user", "c"), Message("assistant", "d")),
)


def test_a_verdict_gives_a_rating_for_every_turn_and_criterion():
    ratings = pingpong.read_scores(TWO_TURNS, Scores(scores=[score(1, 4), score(2, 2, refused=True)]))
    assert len(ratings) == 2 * 4
    assert [(r.unit.turn, r.criterion, r.score) for r in ratings[4:]] == [
        (2, "in_character", 2),
        (2, "entertaining", 2),
        (2, "fluency", 2),
        (2, "refusal", 1),
    ]


@pytest.mark.parametrize("turns", [[], [1], [2, 1], [1, 1], [1, 2, 3], [0, 1]])
def test_a_verdict_that_does_not_cover_exactly_the_turns_is_sent_back(turns):
    with pytest.raises(Unusable, match=r"turns \[1, 2\]"):
        pingpong.read_scores(TWO_TURNS, Scores(scores=[score(t) for t in turns]))


def test_a_conversation_that_was_not_played_here_cannot_be_judged():
    with pytest.raises(ConfigError, match="“k” has no character card"):
        pingpong.judge_values(TWO_TURNS)


def test_the_authors_own_templates_would_render(tmp_path):
    """The names their templates use, in templates of our own wording."""
    place = tmp_path / "pingpong" / "theirs"
    place.mkdir(parents=True)
    (place / "player_system.jinja").write_text(
        "{{character.char_name}}: {{character.system_prompt}}\n"
        "{%- if character.example_prompt %}Example: {{character.example_prompt}}\n{% endif -%}\n"
        "{%- if character.initial_message %}First: {{character.initial_message}}\n{% endif -%}\n"
    )
    (place / "interrogator_user.jinja").write_text(
        "{{char_summary}} {{situation}}{% for m in messages %}\n"
        '{% if m.role in ("assistant",) %}player{% else %}{{m.role}}{% endif %}: {{m.content}}{% endfor %}'
    )
    (place / "judge_user.jinja").write_text(
        "{{char_description}} {{char.description}}{% for m in messages %}{% if loop.index % 2 == 1 %}\n"
        "Turn {{(loop.index + 1) // 2}}:{% endif %} {{m.role}}: {{m.content.strip()}}{% endfor %}"
    )
    folders = (tmp_path, SHIPPED / "prompts")
    theirs = Materials(folders, MATERIALS.data)
    assert "theirs" in next(o for o in PINGPONG.options if o.name == "version").values(theirs, {})
    conversation, _ = played()
    judge = load_prompt(folders, "pingpong", "theirs", "judge", Scores, "v2")
    said = text_of(judge.render(**pingpong.judge_values(conversation)))
    assert "Turn 4: user: user 4 interrogator assistant: p 4 player" in said
    options = {o.name: o.default for o in PINGPONG.options} | {
        "version": "theirs",
        "characters": ["tully"],
        "situations": ["reality"],
    }
    [play] = pingpong.plays(
        PlayPlan("pingpong", {"players": ("p",), "interrogator": ("i",)}, options), theirs
    )
    assert play.key.startswith("pingpong/theirs/")


def test_a_judges_schema_holds_the_turns_that_were_played():
    conversation, _ = played()
    [owed] = planned(characters=["tully"], situations=["reality"])[0].judged
    sent = []

    async def ask(step, model, asked, check=None, /):
        sent.append(asked.schema)
        raise CallFailed("no reply", code=Failure.EMPTY)

    model = Model(name="j")
    [judged] = asyncio.run(verdict(ask, [conversation], owed, model))
    assert judged.failure == "no reply"
    assert sent[0]["$defs"]["TurnScore"]["properties"]["turn"]["enum"] == [1, 2, 3, 4]
    assert sent[0]["properties"]["scores"]["minItems"] == 4
