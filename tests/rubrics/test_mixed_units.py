"""Questions about replies and about the conversation as a whole in one rubric, judge to figure and file."""

import json

import pytest

from concord.conversation import Unit
from concord.errors import ConfigError
from concord.rating import Rating
from concord.store import access, ratings, studies
from tests.annotated import Annotation, import_annotations
from tests.rubrics.judging_by_rubric_helpers import done, given, shop, write  # noqa: F401
from tests.rubrics.rubric_files_helpers import rubric

MIXED = """
unit = "each-reply"
[judge]
reasons = "none"
[[criteria]]
name = "polite"
statement = "The reply is polite."
type = "yes-no"
[[criteria]]
name = "outcome"
statement = "How did it end?"
unit = "conversation"
scale = "1..5"
"""
WHOLE = 'type = "yes-no"\nunit = "conversation"'


def test_a_question_about_the_whole_never_enters_final():
    polite, outcome = rubric(MIXED).criteria
    assert (polite.whole, outcome.whole, outcome.counted) == (False, True, False)
    with pytest.raises(ConfigError, match="every question is about the conversation"):
        rubric(MIXED.replace('type = "yes-no"', WHOLE))
    # Where conversations are rated anyway, it says nothing new.
    alone = rubric(MIXED.replace("each-reply", "conversation"))
    assert not alone.mixed
    assert alone.criteria[0].counted


def test_a_judge_is_told_which_is_which_and_answers_both_at_once(shop, run):  # noqa: F811
    write(shop, MIXED)
    sent = done(run(shop, "rubric", "show", "support"))
    assert "How did it end? (This question is about the conversation as a whole.)" in sent
    done(run(shop, "judge", "support", "--judges", "a"))
    turns = {(r.criterion, r.turn) for r in given(shop, "c1")}
    assert turns == {("polite", 1), ("polite", 2), ("outcome", None)}
    write(shop, MIXED.replace("each-reply", "last-reply"))
    done(run(shop, "judge", "support", "--judges", "b"))
    turns = {(r.criterion, r.turn) for r in given(shop, "c1") if r.rater.name == "b"}
    assert turns == {("polite", 2), ("outcome", None)}


def test_people_rate_replies_and_then_the_whole_and_both_have_figures(shop, run, fresh, tmp_path):  # noqa: F811
    write(shop, MIXED)
    done(run(shop, "judge", "support", "--judges", "a,b"))
    done(run(shop, "study", "draw", "s", "--n", "4", "--rubric", "support"))
    with shop.write() as db:
        units = studies.units(db, "s")
        assert [u["turn"] for u in units if u["key"] == "c1"] == [1, 2, None]
        for unit in units:
            asked = studies.criteria_of(db, "s", unit["conversation_id"], unit["turn"])
            assert [c.name for c in asked] == ["outcome" if unit["turn"] is None else "polite"]
    done(run(shop, "people", "invite", "Ann", "Bob", "--study", "s"))
    done(run(shop, "study", "deal", "s", "--annotators", "Ann,Bob"))
    answers = [
        Annotation(
            Rating(
                Unit(u["key"], u["turn"]),
                "outcome" if u["turn"] is None else "polite",
                1 + n % 5 if u["turn"] is None else n % 2,
            ),
            person,
        )
        for person in ("Ann", "Bob")
        for n, u in enumerate(units)
    ]
    with shop.write() as db:
        import_annotations(db, "s", answers)
        assert all(a.done == len(units) for a in access.annotators(db, "s"))
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    n = {name: told["sections"][name]["judges"]["judges"]["rows"][0]["n"] for name in ("polite", "outcome")}
    assert n == {"polite": 6, "outcome": 4}
    moved, scores = tmp_path / "s.jsonl", tmp_path / "s.csv"
    done(run(shop, "export", "conversations", "--study", "s", "--out", moved))
    done(run(shop, "export", "ratings", "--study", "s", "--out", scores))
    done(run(fresh, "import", "conversations", moved))
    done(run(fresh, "import", "ratings", scores, "--study", "s", "--append"))
    again = json.loads(done(run(fresh, "agreement", "--study", "s", "--format", "json")))
    assert again["criteria"] == told["criteria"]
    with fresh.read() as db:
        assert [c.whole for c in ratings.criteria(db, studies.scope("s"))] == [False, True]
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("item_id,turn,criterion,rater_type,rater,score\nc1,1,outcome,human,Cy,3\n")
    refused = run(shop, "import", "ratings", wrong, "--study", "crowd", "--rubric", "support")
    assert "has a turn: “outcome” is rated of whole conversations. Remove the turn," in " ".join(
        refused.output.split()
    )
