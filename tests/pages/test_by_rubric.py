"""Conversations from elsewhere on the pages Leaderboard and Spot-check, by what a rubric's judges said."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message, Unit
from concord.errors import StudyError
from concord.questions import categories
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.rubrics.rubric_store import Numbered
from concord.store import conversations, ratings, spotchecks
from concord.store.desk import Event
from concord.studies import audits
from concord.studies.purposes import spotcheck
from concord.workspace import Workspace
from pages.desk.spot import CheckDesk
from tests.pages.framed import FRAME
from tests.rubrics.rubric_files_helpers import GOOD, rubric

SAID = (Message("user", "It is broken."), Message("assistant", "Send it back."))


@pytest.fixture
def shop(workspace: Workspace) -> Workspace:
    """Four conversations of two players, rated by two judges from 1 to 7; m1 is two points better."""
    with workspace.write() as db:
        Numbered(rubric(GOOD.replace("each-reply", "conversation")), 1).publish(db)
        for number in range(4):
            key, player = f"c{number}", f"m{number % 2}"
            about = {"scenario": f"s{number // 2}", "topic": f"t{number % 2}"}
            conversations.save(db, Conversation("shop", key, player, SAID, facets=about))
            for judge, score in (("a", 3), ("b", 4)):
                given = (Rating(Unit(key), "solved", score + 2 * (number % 2)),)
                rater = Rater(judge, "judge", "support v1")
                ratings.save_judgement(db, Judgement(f"{key} {judge}", key, rater, given))
    return workspace


def page(file: str) -> AppTest:
    shown = AppTest.from_string(FRAME.format(file=file), default_timeout=60).run()
    assert not shown.exception
    return shown


def test_players_stand_on_the_leaderboard(shop: Workspace) -> None:
    board = next(t.value for t in page("results/leaderboard.py").dataframe if "player" in t.value.columns)
    assert board[["player", "final"]].values.tolist() == [["m1", 5.5], ["m0", 3.5]]


def test_what_a_list_shows_goes_to_a_spot_check(shop: Workspace) -> None:
    shown = page("study/conversations.py")
    [link] = [each.proto for each in shown.get("page_link") if each.proto.page == "spot-check"]
    assert link.query_string == "benchmark=shop&these=4+3+2+1"
    audit = page("trust/spot_check.py")
    assert "8 judgements to draw from" in audit.info[0].value
    assert "reasonable" in "\n".join(str(e.value) for e in audit.get("caption"))


def test_answers_by_name_are_wrong_and_neither_too_high_nor_too_low(workspace: Workspace) -> None:
    named = """
title = "Support"
unit = "conversation"
[[criteria]]
name = "tone"
statement = "How does it sound?"
categories = ["warm", "neutral", "cold"]
"""
    with workspace.write() as db:
        Numbered(rubric(named), 1).publish(db)
        for number in range(4):
            conversations.save(db, Conversation("shop", f"c{number}", "m0", SAID))
            rater = Rater("a", "judge", "support v1")
            given = (Rating(Unit(f"c{number}"), "tone", 0),)
            ratings.save_judgement(db, Judgement(f"c{number} a", f"c{number}", rater, given))
        [seen] = spotcheck.screen(db, conversations.find_id(db, "c0")).judgements
        work = CheckDesk("shop", "Ann", audits.draw(db, "all", "shop", n=4).name)
        [shown] = work.moving(db, [seen.id]).items
        [question] = shown["questions"]
        assert [(o["label"], o["key"]) for o in question["options"]] == [("Reasonable", "r"), ("Wrong", "x")]
        answer = {"item": seen.id, "do": "answer", "criterion": str(seen.id)}
        work.apply(db, Event.model_validate(answer | {"score": "wrong"}))
        [seen] = spotcheck.screen(db, conversations.find_id(db, "c0"), "Ann").judgements
        assert seen.finding == "wrong"
        with pytest.raises(StudyError, match=r"has a score on “Tone”\. Choose one of: reasonable, wrong\."):
            work.apply(db, Event.model_validate(answer | {"score": "too_high"}))
        for one in spotchecks.drawn(db, "all", spotcheck.rater_of(db, "Ann")):
            if one.found_in is None:
                spotcheck.verify(db, one.judgement, "Ann", "reasonable", audit="all")
        table = audits.findings(db, "shop", "all")
    assert (table.rows[0]["wrong"], table.rows[0]["n"], table.rows[0]["reasonable"].value) == (1, 4, 0.75)
    assert [c.name for c in table.columns] == ["of", "by", "n", "reasonable", "wrong"]
    assert "Optimism" not in "".join(table.notes)
    with workspace.write() as db:  # of several turns the most frequent category, not one between them
        number = conversations.save(db, Conversation("shop", "turns", "m0", SAID * 3))
        given = tuple(Rating(Unit("turns", turn), "tone", score) for turn, score in ((1, 0), (2, 2), (3, 2)))
        ratings.save_judgement(db, Judgement("turns a", "turns", Rater("a", "judge", "support v1"), given))
        assert [one.score for one in spotcheck.screen(db, number).judgements] == [2]
    shown_page = AppTest.from_string(FRAME.format(file="trust/spot_check.py"), default_timeout=60)
    shown_table = shown_page.run().dataframe[0].value
    assert "Wrong" in " ".join(map(str, shown_table.columns)).replace("wrong", "Wrong")


def test_a_conversation_shows_categories_by_name_and_no_mean_of_them(workspace: Workspace) -> None:
    tone = Criterion("tone_of_voice", "How does it sound?", categories(["warm", "neutral", "cold"]), "Tone")
    with workspace.write() as db:
        number = conversations.save(db, Conversation("shop", "c0", "m0", SAID))
        ratings.register(db, "rubric:support v1", [tone])
        for judge, score in (("a", 0), ("b", 2)):
            given = (Rating(Unit("c0"), "tone_of_voice", score),)
            rater = Rater(judge, "judge", "support v1")
            ratings.save_judgement(db, Judgement(f"c0 {judge}", "c0", rater, given))
    frame = FRAME.format(file="study/conversations.py")
    shown = AppTest.from_string(frame, default_timeout=60)
    shown.query_params["conversation"] = str(number)
    table = shown.run().table[0].value
    assert not shown.exception
    assert table.index.tolist() == ["Tone"]
    assert table.loc["Tone"].tolist() == ["warm", "cold", "–", "–"]  # a, b, the judges' mean, the people's
