"""PingPong's version 1: the model that plays the user rates as it goes; its ratings are stored with the
conversation, once.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from concord.benchmarks.pingpong import play as pingpong
from concord.benchmarks.pingpong import v1
from concord.benchmarks.pingpong.v1 import PINGPONG_V1, RatedUtterance, likert, rates
from concord.conversation import Message
from concord.llm.replies import Answer, Unusable, read
from concord.rating import NOTHING_SPENT, Rater
from concord.reports import leaderboards
from concord.reports.leaderboard_table import leaderboard_table
from concord.reports.rated import gather
from concord.runs import engine, planning
from concord.runs.benchmark import Materials
from concord.runs.plans import PlayPlan
from concord.store import conversations, ratings
from concord.workspace import SHIPPED
from tests.mock.call import Call
from tests.mock.personas import reply

MATERIALS = Materials((SHIPPED / "prompts",), (SHIPPED / "data",))
MODELS = {"players": ("player",), "interrogator": ("user",), "judges": ("a",)}
ONE = {"characters": ["tully"], "situations": ["reality"]}


def plan(**options):
    defaults = {o.name: o.default for o in PINGPONG_V1.options}
    return PlayPlan(PINGPONG_V1.name, MODELS, {**defaults, **ONE, **options})


def said(score, refused=False):
    return RatedUtterance(
        is_refusal_explanation="r",
        is_refusal=refused,
        stay_in_character_explanation="c",
        stay_in_character_score=score,
        language_fluency_explanation="l",
        language_fluency_score=score and score - 1,
        entertainment_explanation="e",
        entertainment_score=score and score - 2,
        next_user_utterance="next",
    )


def played(scores=(None, 10, 9, 8, 3)):
    """The first conversation of a plan of four turns, and everything that was asked for it."""
    asked_for, given = [], iter(scores)

    async def ask(step, model, asked, check=None, /):
        asked_for.append((step, model, asked, check))
        return Answer("a reply", said(next(given)) if asked.reply else None, False, NOTHING_SPENT)

    [play] = v1.plays(plan(), MATERIALS)
    conversation = asyncio.run(play.play(ask))
    return play, conversation, asked_for


def test_one_model_speaks_and_rates_and_the_last_reply_is_rated_too():
    _, conversation, asked_for = played()
    assert [(step, model) for step, model, _, _ in asked_for] == [
        ("1 interrogator", "user"),
        ("1 player", "player"),
        ("2 interrogator", "user"),
        ("2 player", "player"),
        ("3 interrogator", "user"),
        ("3 player", "player"),
        ("4 interrogator", "user"),
        ("4 player", "player"),
        ("5 interrogator", "user"),
    ]
    assert [m.role for m in conversation.messages] == ["user", "assistant"] * 4
    assert len(conversation.meta["rated"]) == 4


def test_the_interrogator_gets_the_card_and_other_judges_may_rate():
    play, _, asked_for = played()
    card = pingpong.characters(MATERIALS.data, "en")["tully"]
    assert card.system_prompt in "\n".join(m.content for m in asked_for[0][2].messages)
    [owed] = play.judged
    assert (owed.judge, owed.prompt.version, owed.prompt.name) == ("a", "v2", "judge")


@pytest.mark.parametrize(("ten", "five"), [(1, 1), (10, 5), (5.5, 3), (4, 2 + 1 / 3)])
def test_ten_points_on_five(ten, five):
    """1 + (s − 1) · 4/9: for 4 it is 1 + 12/9 = 2.333."""
    assert likert(ten) == pytest.approx(five)


def test_what_it_gave_becomes_a_judgement_a_turn_and_criterion():
    play, conversation, _ = played()
    made = play.inline.judgement(conversation)
    assert made.judge == Rater("user", "judge", "v1")
    assert made.prompt == play.inline.prompt.hash != ""
    assert len(made.ratings) == 4 * 4
    first = [(r.criterion, r.score, r.explanation) for r in made.ratings if r.unit.turn == 1]
    assert first == [
        ("in_character", 5, "10 of 10. c"),
        ("entertaining", likert(8), "8 of 10. e"),
        ("fluency", likert(9), "9 of 10. l"),
        ("refusal", 0, "r"),
    ]
    assert json.loads(made.raw)[3]["stay_in_character_score"] == 3


def test_everything_is_rated_but_before_the_first_reply():
    _, _, asked_for = played()
    checks = {step: check for step, _, asked, check in asked_for if asked.reply}
    assert checks["1 interrogator"] is None
    assert all(checks[f"{turn} interrogator"] is rates for turn in range(2, 6))
    rates(said(4))
    with pytest.raises(Unusable, match='"stay_in_character_score" must be a whole number from 1 to 10'):
        rates(said(None))
    for wrong in (0, 11, 7.5):
        with pytest.raises(Unusable):
            read(json.dumps(said(5).model_dump() | {"entertainment_score": wrong}), RatedUtterance)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_mock_models_rates_what_was_said_last(language):
    """A vivid reply in the card's own words gets more for character than one that any assistant could
    give.
    """
    card = next(iter(pingpong.characters(MATERIALS.data, language).values()))
    situation = next(iter(pingpong.situations(MATERIALS.data, language).values()))
    prompt = PINGPONG_V1.prompt(MATERIALS, "interrogator", "v1")

    def asked(*messages):
        values = pingpong.Setting("k", "p", "i", card, situation, language, False).values
        sent = prompt.render(**values, messages=[Message(role, text) for role, text in messages])
        return read(reply(Call("mock-user", sent.messages)).strip("`json\n"), RatedUtterance)

    assert asked().stay_in_character_score is None
    dull = asked(("user", "?"), ("assistant", "How can I help you today?")).stay_in_character_score
    own = asked(("user", "?"), ("assistant", f"*smiles* {card.system_prompt[:300]}")).stay_in_character_score
    assert 1 <= dull < own <= 10


def test_a_run_stores_its_ratings_once_with_the_conversation(workspace):
    job = planning.job(workspace, plan())
    done = engine.execute(workspace, job)
    # One conversation and the judgement of version 2's judge; the interrogator's own comes with the
    # conversation.
    assert (done.state, done.done, done.planned) == ("finished", 2, 2)
    assert engine.execute(workspace, job).spent.calls == 0
    with workspace.read() as db:
        [found] = conversations.search(db, conversations.Filter(PINGPONG_V1.name))
        given = ratings.of_conversation(db, found.id)
    by = {(r.rater.name, r.rater.variant): 0 for r in given}
    for r in given:
        by[r.rater.name, r.rater.variant] += 1
    assert by == {("user", "v1"): 16, ("a", "v2"): 16}
    assert found.judges == 2


def test_its_leaderboard_takes_its_own_ratings_for_those_of_a_judge(workspace):
    engine.execute(workspace, planning.job(workspace, plan()))
    with workspace.read() as db:
        board = leaderboards.leaderboard(gather(db, PINGPONG_V1.name), judges=["user"], resamples=0)
    [row] = board.standings
    assert (row.player, row.n) == ("player", 1)
    assert 1 <= row.final.value <= 5


def test_judges_of_version_2_are_not_averaged_with_its_own(workspace):
    engine.execute(workspace, planning.job(workspace, plan()))
    with workspace.read() as db:
        rated = gather(db, PINGPONG_V1.name)
    board = leaderboards.leaderboard(rated, resamples=0)
    assert (rated.judges, board.judges) == (("a", "user"), ("user",))
    assert "Excluded because of another version of the prompt: a." in leaderboard_table(board).notes


def test_the_table_is_by_the_interrogator_who_rated_most(workspace):
    """“user” plays two conversations, “a” one: no conversation has both, and the table says by whom it is."""
    other = PlayPlan(PINGPONG_V1.name, {**MODELS, "interrogator": ("a",), "judges": ()}, plan().options)
    mine = PlayPlan(PINGPONG_V1.name, {**MODELS, "judges": ()}, plan(repeats=2).options)
    for each in (mine, other):
        engine.execute(workspace, planning.job(workspace, each))
    with workspace.read() as db:
        rated = gather(db, PINGPONG_V1.name)
    board = leaderboards.leaderboard(rated, resamples=0)
    assert (board.judges, board.passed_over) == (("user",), ("a",))
    assert [(row.n, row.judged) for row in board.standings] == [(2, 2)]
    assert any("with the most ratings; excluded: a." in note for note in leaderboard_table(board).notes)
    assert leaderboards.leaderboard(rated, judges=["a"], resamples=0).passed_over == ()


def test_a_workspace_with_version_1_has_no_faults(demo_workspace):
    """Answers of 1–10 that were mapped lie between those of people; `verify` once called them faults."""
    with demo_workspace.read() as db:
        criteria = {c.name: c for c in ratings.criteria(db, PINGPONG_V1.name)}
        mapped = {row["score"] for row in db["ratings"].rows_where("score != round(score)")}
    assert mapped
    assert all(score in criteria["fluency"].scale_of("judge") for score in mapped)
    assert criteria["fluency"].scale_of("human").offered == (1, 2, 3, 4, 5)
