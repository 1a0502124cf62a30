"""One function turns a score into the words of its question, wherever people read it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message, Unit
from concord.errors import StudyError
from concord.exchange import argilla, label_studio
from concord.questions import LIKERT_5, YES_NO, Scale, between, categories, points
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports import site
from concord.store import access, answers, conversations, desk, placements, ratings
from concord.store import studies as stored
from concord.studies import annotation_flow, quality, studies
from concord.studies.purposes import second
from concord.studies.purposes.adjudicate import Rule, queue_table, set_rule, summary
from concord.workspace import Workspace
from pages.desk.shown_answers import ShownAnswersDesk

KIND = Criterion("kind", "What it is.", categories(["joke", "insult", "praise"]))
FLUENT = Criterion("fluent", "It is fluent.")
SAID = (Message("user", "a"), Message("assistant", "b"))
# A judge's two runs on k0 and k1: joke and insult, which tie, and twice praise.
RUNS = ((0, 2), (1, 2))


@pytest.fixture
def db(tmp_path: Path):
    """Two items answered by two people, joke and insult both times, and judged twice."""
    with Workspace.open(tmp_path / "workspace").write() as opened:
        stored.create(opened, stored.Study("s", (KIND, FLUENT)))
        ids = [conversations.save(opened, Conversation("x", f"k{i}", "p", SAID)) for i in range(2)]
        stored.add_units(opened, "s", [(i, None, "") for i in ids])
        studies.invite(opened, ["ann", "bob"])
        studies.deal_study(opened, "s", ["ann", "bob"])
        for score, person in enumerate(("ann", "bob")):
            rater = access.annotator_id(opened, person)
            rows = opened.execute("SELECT id FROM placements WHERE rater_id = ?", [rater]).fetchall()
            for (assignment,) in rows:
                placements.answer(opened, rater, assignment, "kind", score)
                placements.answer(opened, rater, assignment, "fluent", 4)
                placements.submit(opened, rater, assignment)
        for repeat, scores in enumerate(RUNS):
            for i, score in enumerate(scores):
                given = (Rating(Unit(f"k{i}"), "kind", score, "so"), Rating(Unit(f"k{i}"), "fluent", 4 + i))
                judged = Judgement(f"j{i}{repeat}", f"k{i}", Rater("j", "judge"), given, repeat=repeat)
                ratings.save_judgement(opened, judged)
        yield opened


@pytest.mark.parametrize(
    ("scale", "score", "word", "level"),
    [
        (KIND.scale, 1, "insult", "insult"),
        (KIND.scale, 0.5, "0.5", "0.5"),
        (YES_NO, 1, "Yes", "Yes"),
        (LIKERT_5, 4, "4", "4 Agree"),
        (LIKERT_5, 13 / 3, "4.333", "4.333"),
        (points(1, 10), 7, "7", "7"),
        (Scale((0, 100), ("none", "all"), "number"), 37.5, "37.5", "37.5"),
    ],
)
def test_a_score_in_the_words_of_its_question(scale, score, word, level):
    assert (scale.word(score), scale.word(score, level=True)) == (word, level)


def test_several_answers_in_one_line():
    assert KIND.scale.words([2, 0, 2]) == "praise × 2, joke"
    assert LIKERT_5.words([4, 2, 4]) == "4 2 4"


def test_adjudication_names_categories_at_the_desk_and_in_the_table(db: Database):
    set_rule(db, "s", Rule(2, criterion="kind"))
    look = annotation_flow.look(db, "adjudicate", "s", None)
    assert look
    assert "different answers on “Kind”: 2 items" in summary(look)
    assert Rule(2).words([KIND, FLUENT]) == (
        "answers at least 2 apart, of categories different ones, on a criterion"
    )
    assert Rule(2).words([FLUENT]) == "answers at least 2 apart on a criterion"
    unit, carl = stored.units(db, "s")[0]["id"], ratings.rater_id(db, Rater("carl", "human"))
    with pytest.raises(StudyError, match="Give a reason why “Kind” is praise"):
        annotation_flow.answer(db, "adjudicate", "s", carl, unit, "kind", 2, "")
    annotation_flow.answer(db, "adjudicate", "s", carl, unit, "kind", 2, "it is kind")
    look = annotation_flow.look(db, "adjudicate", "s", carl)
    assert look
    first = queue_table(db, look).rows[0]
    assert (first["answers"], first["settled"]) == ("joke, insult", "praise")
    work = ShownAnswersDesk("adjudicate", "s", "carl")
    question = work.fixed(db, "", "")["criteria"][0]
    assert [option["label"] for option in question["options"]] == ["joke", "insult", "praise"]
    number = desk.Numbers(db, "s", "carl").shown(unit)
    number = desk.Numbers(db, "s", "carl").shown(unit)
    assert work.moving(db, [number]).items[0]["beside"]["kind"]["marks"] == ["●", "●", ""]
    work.apply(db, desk.Event(item=number, do="time", seconds=4))
    settled = "SELECT state, seconds FROM placements WHERE purpose = 'adjudicate'"
    assert db.execute(settled).fetchall() == [("done", 4)]


def test_a_judge_is_revealed_by_the_category_it_gave_most_often(db: Database):
    second.show_judge(db, "s", "j")
    rater = access.annotator_id(db, "ann")
    annotation_flow.begin(db, "revise", "s", rater)
    shown = [
        [*item["beside"].values()] for item in ShownAnswersDesk("revise", "s", "ann").moving(db, None).items
    ]
    # On k0 joke and insult tie: there is no answer between them, as their mean ½ would be.
    assert [[q["score"] for q in questions] for questions in shown] == [
        ["the judge 4 · you 4"],
        ["the judge praise · you joke", "the judge 5 · you 4"],
    ]
    assert shown[1][0]["said"] == [["the judge praise", "so\nso"]]
    [first, *_] = ShownAnswersDesk("revise", "s", "ann").moving(db, None).items
    again = {
        "item": first["id"],
        "do": "answer",
        "criterion": next(iter(first["beside"])),
        "score": 4,
        "seconds": 3,
    }
    ShownAnswersDesk("revise", "s", "ann").apply(db, desk.Event.model_validate(again))
    revised = "SELECT state, seconds FROM placements WHERE purpose = 'revise' AND seconds > 0"
    assert db.execute(revised).fetchall() == [("done", 3)]


def test_others_answers_are_categories_by_name(db: Database):
    second.show_others(db, "s", True)
    rater = access.annotator_id(db, "ann")
    annotation_flow.begin(db, "discuss", "s", rater)
    shown = ShownAnswersDesk("discuss", "s", "ann").moving(db, None).items[0]["beside"]["kind"]["score"]
    assert shown.removeprefix("A ").removeprefix("B ") == "insult · you joke"


def test_exports_offer_categories_by_name_and_levels_with_theirs():
    config = "\n".join(label_studio._question(KIND, "kind"))
    assert '<Choice value="insult"/>' in config
    asked = next(argilla._questions(KIND, "kind"))
    assert [option["text"] for option in asked["settings"]["options"]] == ["joke", "insult", "praise"]
    fluent = next(argilla._questions(FLUENT, "fluent"))
    assert "4 Agree" in fluent["description"]


def test_a_published_page_has_no_mean_of_categories(db: Database):
    found = next(one for one in site._conversations(db) if one.key == "k0")
    scores = site._scores(db, found, {"ann": "ann", "bob": "bob"})
    assert dict(scores["lines"])["Kind"]["j"] == "joke, insult"
    assert scores["by_turn"][0].scores["Kind"]["j"] == "joke, insult"


def test_one_answer_throughout_is_named():
    given = pd.concat(
        pd.DataFrame(
            {"kind": "human", "rater": name, "criterion": "kind", "unit": range(20), "score": scores}
        )
        for name, scores in {"Ada": [1.0] * 20, "Bo": [0.0, 1.0] * 10, "Cy": [0.0, 1.0] * 10}.items()
    )
    [flag] = quality.suspicions([], given, [KIND])
    assert flag.text == (
        "Ada answered insult on kind to 100% of 20 items; the other annotators to 50% of them."
    )


def test_the_blind_answers_stay_numbers(db: Database):
    assert {one.score for one in answers.blind(db, "s") if one.criterion == "kind"} == {0, 1}


@pytest.mark.parametrize(
    ("scale", "read"),
    [
        (LIKERT_5, {"4": 4, " agree ": 4, "4 Agree": 4, "4.5": 4.5, "9": 9, "rather": None, "": None}),
        (YES_NO, {"yes": 1, "No": 0, "1": 1, "nan": None, "1_0": None}),
        (categories(["2", "1", "north"]), {"1": 1, "2": 0, "NORTH": 2, "0": 0, "south": None}),
        (between(0, 1), {"0.25": 0.25, ".5": 0.5, "1e-2": 0.01, "0": 0}),
    ],
)
def test_an_answer_is_read_by_its_word_or_its_number(scale, read):
    assert {text: scale.read(text) for text in read} == read
