"""Passages that are marked in a reply, and replies as they should be: from rubric to figure and back."""

import json

import krippendorff
import numpy as np
import pytest

from concord import questions
from concord.conversation import Conversation, Message
from concord.errors import ConfigError, StudyError
from concord.llm.replies import Unusable
from concord.runs.rubric_judge import read, reply_of
from concord.store import access, conversations, placements, ratings, studies
from tests.rubrics.judging_by_rubric_helpers import done, given, shop, write  # noqa: F401
from tests.rubrics.rubric_files_helpers import rubric

WORDS = """
unit = "each-reply"
[[criteria]]
name = "wrong"
statement = "Mark what is wrong."
type = "passages"
[[criteria]]
name = "better"
statement = "Write the reply as it should be."
type = "correction"
"""


def test_passages_are_kept_in_one_form():
    text = "Send it back. Thanks, great. Thanks, great."
    assert questions.marked("5-9 0-6", text) == "0-9 of 43"
    assert questions.marked("", text) == "of 43"
    assert questions.quoted(["Thanks,  great.", "Thanks, great."], text) == "14-28 29-43 of 43"
    assert questions.marked_share("0-9 of 43") == 9 / 43
    assert questions.marked_share("of 0") == 0
    for wrong in ("5-5", "40-44", "9-2", "a-b", "1-2;3-4"):
        with pytest.raises(ValueError, match="passage"):
            questions.marked(wrong, text)
    for quotes in (["nothing of it"], [" "]):
        with pytest.raises(ValueError, match=r"is not in the reply\. Quote its words exactly"):
            questions.quoted(quotes, text)
    assert questions.in_common("0-9 20-30 of 43", "5-25 of 43") == (9, 19, 20, 43)
    with pytest.raises(ValueError, match="different texts"):
        questions.in_common("0-9 of 43", "0-9 of 44")


@pytest.mark.parametrize(
    ("one", "other", "edits"),
    [
        ("kitten", "sitting", 3),
        ("saturday", "sunday", 3),
        ("", "abc", 3),
        ("same", "same", 0),
        ("ab", "ba", 2),
    ],
)
def test_the_edit_distance_is_levenshteins_as_a_share_of_the_longer_text(one, other, edits):
    assert questions.edit_distance(one, other) == edits / max(len(one), len(other), 1)
    assert questions.edit_distance(other, one) == questions.edit_distance(one, other)
    assert questions.texts_in_common(one, other)[0] == 1 - questions.edit_distance(one, other)


def test_they_are_asked_of_replies_alone_and_never_enter_final():
    wrong, better = rubric(WORDS).criteria
    assert not wrong.counted
    assert not better.counted
    with pytest.raises(ConfigError, match="it is about the words of one reply"):
        rubric(WORDS.replace("each-reply", "conversation"))
    with pytest.raises(ConfigError, match="a passages question has no reason"):
        rubric(WORDS.replace('type = "passages"', 'type = "passages"\nreason = "optional"'))


def test_quotes_are_found_and_missing_words_are_asked_for_again():
    asked = rubric(WORDS.replace("each-reply", "last-reply"))
    conversation = Conversation(
        "shop", "c", "m", (Message("user", "Late."), Message("assistant", "It is\nnot our fault."))
    )
    reply = reply_of(asked).model_validate({"wrong": ["is not our"], "better": "I am sorry."})
    wrong, better = read(asked, conversation, reply)
    assert (wrong.explanation, wrong.score) == ("3-13 of 20", 0.5)
    assert (better.explanation, better.score) == (
        "I am sorry.",
        questions.edit_distance("I am sorry.", "It is\nnot our fault."),
    )
    off = reply_of(asked).model_validate({"wrong": ["your fault"], "better": ""})
    with pytest.raises(Unusable, match=r"“wrong”: “your fault” is not in the reply\. Quote its words"):
        read(asked, conversation, off)
    unchanged = reply_of(asked).model_validate({"wrong": [], "better": ""})
    assert [rating.score for rating in read(asked, conversation, unchanged)] == [0, 0]


def answered(workspace, run, person, wrong, better):
    """What somebody marks and writes of every item, by its place, at the desk."""
    with workspace.write() as db:
        [rater] = [a.id for a in access.annotators(db) if a.name == person]
        for place, (number, *_) in enumerate(sorted(placements.on_desk(db, rater, "s"))):
            item = placements.find_id(db, rater, number)
            placements.answer(db, rater, item, "wrong", 1.0, wrong(place))
            placements.answer(db, rater, item, "better", 1.0, better(place))
            placements.submit(db, rater, item)


def rated(workspace, run):
    write(workspace, WORDS)
    done(run(workspace, "judge", "support", "--judges", "a,b"))
    done(run(workspace, "study", "draw", "s", "--n", "4", "--rubric", "support"))
    done(run(workspace, "people", "invite", "Ann", "Bob", "--study", "s"))
    done(run(workspace, "study", "deal", "s", "--annotators", "Ann,Bob"))
    answered(workspace, run, "Ann", lambda n: "0-4" if n else "", lambda n: "Please send it back.")
    answered(workspace, run, "Bob", lambda n: "2-7" if n else "", lambda n: "" if n else "Sorry.")


def test_what_people_mark_is_measured_by_characters_beside_judges(shop, run, fresh, tmp_path):  # noqa: F811
    rated(shop, run)
    assert {r.criterion for r in given(shop, "c1")} == {"wrong", "better"}
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    table = told["sections"]["wrong"]["overlap"]["overlap"]
    rows = {(row["coefficient"], row["a"], row["b"]): row for row in table["rows"]}
    # Five items: Ann 0–4, Bob 2–7, both 2–4: 2 · 2 ÷ (4 + 5); on the sixth nobody marked anything.
    f1 = rows["f1_characters", "", ""]
    assert f1["value"]["value"] == pytest.approx(4 / 9)
    with shop.read() as db:
        lengths = [
            len(conversation.reply(unit["turn"]))
            for unit in studies.units(db, "s")
            for conversation in [conversations.load(db, unit["key"])]
        ]
        kept = [r for r in ratings.exported(db, "s") if r["rater"] == "Ann" and r["criterion"] == "wrong"]
    units = {name: [] for name in ("Ann", "Bob")}
    empty = next(int(r["explanation"].split()[-1]) for r in kept if r["score"] == 0)
    lengths.remove(empty)
    for length in lengths:
        units["Ann"] += [1] * 4 + [0] * (length - 4)
        units["Bob"] += [0] * 2 + [1] * 5 + [0] * (length - 7)
    data = np.array([units[name] + [0] * empty for name in units])
    alpha = krippendorff.alpha(data, level_of_measurement="nominal")
    assert rows["alpha_characters", "", ""]["value"]["value"] == pytest.approx(alpha)
    assert ("f1_characters", "a", "all people") in rows
    similar = told["sections"]["better"]["overlap"]["overlap"]["rows"]
    assert {row["coefficient"] for row in similar} == {"similarity"}
    # The share that is marked, and how far the correction is, are numbers with the usual figures.
    assert told["sections"]["wrong"]["people"]["people"]["rows"][0]["value"]["value"] is not None
    moved, scores = tmp_path / "s.jsonl", tmp_path / "s.csv"
    done(run(shop, "export", "conversations", "--study", "s", "--out", moved))
    done(run(shop, "export", "ratings", "--study", "s", "--out", scores))
    done(run(fresh, "import", "conversations", moved))
    done(run(fresh, "import", "ratings", scores, "--study", "s", "--append"))
    again = json.loads(done(run(fresh, "agreement", "--study", "s", "--format", "json")))
    assert again["sections"]["wrong"]["overlap"] == told["sections"]["wrong"]["overlap"]
    shown = done(run(shop, "agreement", "--study", "s", "--section", "overlap", "--criterion", "wrong"))
    assert "Overlap of two answers" in shown
    refused = run(shop, "export", "label-studio", "--study", "s", "--out", tmp_path / "ls")
    assert "“wrong” is answered in words of a reply" in refused.output
    refused = run(shop, "export", "argilla", "--study", "s", "--out", tmp_path / "rg")
    assert "or for words of a reply" in refused.output


def test_the_store_makes_the_score_of_what_a_desk_sends(shop, run):  # noqa: F811
    rated(shop, run)
    with shop.write() as db:
        [rater] = [a.id for a in access.annotators(db) if a.name == "Ann"]
        number = placements.on_desk(db, rater, "s")[0][0]
        item = placements.find_id(db, rater, number)
        length = int(placements.get(db, rater, item).reasons["wrong"].split()[-1])
        placements.answer(db, rater, item, "wrong", 0.0, "0-2")
        after = placements.get(db, rater, item)
        assert (after.answers["wrong"], after.reasons["wrong"]) == (2 / length, f"0-2 of {length}")
        for wrong in (f"0-{length + 1}", "<b>"):
            with pytest.raises(StudyError, match="This cannot be stored: "):
                placements.answer(db, rater, item, "wrong", 0.5, wrong)
        assert placements.get(db, rater, item).reasons["wrong"] == f"0-2 of {length}"
