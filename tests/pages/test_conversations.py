"""The list of conversations: its figures, which judges lack a final, and where a row leads."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import conversations, ratings
from concord.workspace import Workspace
from tests.pages.test_navigation import FRAME

CRITERIA = (Criterion("wit", "It is witty."), Criterion("tact", "It is tactful."))


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """One conversation: “whole” rates both criteria, “half” one of them, with two versions of its prompt."""
    with workspace.write() as db:
        ratings.register(db, "b", CRITERIA)
        said = (Message("user", "?"), Message("assistant", "!"))
        conversations.save(db, Conversation("b", "c", "p", said, facets={"turns": "many", "mood": "odd"}))
        given = {
            Rater("whole", "judge"): (3, 4),
            Rater("half", "judge", "v1"): (5,),
            Rater("half", "judge", "v2"): (1,),
        }
        for rater, scores in given.items():
            rated = tuple(Rating(Unit("c"), c.name, s) for c, s in zip(CRITERIA, scores, strict=False))
            ratings.save_judgement(db, Judgement(f"{rater.name} {rater.variant}", "c", rater, rated))
    return workspace


def test_the_list_names_the_judges_that_lack_a_final(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30).run()
    assert not page.exception
    [listed] = (table.value for table in page.dataframe)
    [row] = listed.to_dict("records")
    assert row["final"] == 3.5, "(3 + 4) / 2 by the judge who gave both"
    assert row["incomplete"] == "half v1, half v2"
    assert row["turns"] == 1, "a facet of the same name is another column"


def test_the_calls_of_one_judge_are_told_apart_by_their_prompts(workspace: Workspace) -> None:
    """A judge of two calls has two judgements of one version; each can be chosen and read."""
    with workspace.write() as db:
        number = conversations.find_id(db, "c")
        for name, criterion in (("said", "wit"), ("noted", "tact")):
            ratings.remember_prompt(db, name, "b", "v2", name, "{}")
            rating = Rating(Unit("c"), criterion, 2)
            made = Judgement(name, "c", Rater("twice", "judge", "v2"), (rating,), raw=name, prompt=name)
            ratings.save_judgement(db, made)
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30)
    page.query_params["conversation"] = str(number)
    page.session_state["requests of c"] = True  # the expander is open: a folded one renders no request
    page.run()
    assert not page.exception
    (chosen,) = (box for box in page.selectbox if box.label == "Judgement")
    assert {"twice v2 · said", "twice v2 · noted"} <= set(chosen.options)
    assert chosen.options.count("whole") == 1
