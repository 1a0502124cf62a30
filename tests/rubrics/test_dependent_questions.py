"""Questions that depend on an answer: read, asked of judges and of people, measured, exchanged."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import ConfigError, StudyError
from concord.exchange import label_studio
from concord.llm.replies import Unusable
from concord.llm.replies import read as read_reply
from concord.rating import Dependence, Judgement, Rater, Rating, asked
from concord.reports.agreement_report import agreement_report
from concord.rubrics import writing
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import Rubric
from concord.rubrics.rubric_store import Numbered
from concord.runs import rubric_judge
from concord.store import access, answers, conversations, frames, placements, ratings, studies
from concord.store.conversations import Filter
from concord.studies import dealing
from concord.studies.studies import StudyDraw, draw_study
from concord.workspace import Workspace

QUESTIONS = """
[[criteria]]
name = "verdict"
statement = "Did it work?"
categories = ["pass", "fail", "unclear"]
[[criteria]]
name = "score"
statement = "How good is it?"
scale = "1..5"
reason = { below = 3 }
[[criteria]]
name = "faults"
statement = "Which faults?"
type = "multi-label"
categories = ["late", "rude"]
when = { verdict = ["fail", "unclear"] }
[[criteria]]
name = "effort"
statement = "How much effort?"
type = "number"
[[criteria]]
name = "kind"
statement = "Was it kind?"
type = "yes-no"
"""
RUDE = """
[[criteria]]
name = "how_rude"
statement = "How rude was it?"
scale = "1..5"
when = { faults = "rude", score = { below = 4 } }
"""


def rubric(more: str = RUDE) -> Rubric:
    return rubric_of("support", tomllib.loads(QUESTIONS + more), "support.toml")


def dependent(when: str) -> Rubric:
    return rubric(f'[[criteria]]\nname = "why"\nstatement = "Why?"\nscale = "1..3"\nwhen = {when}\n')


@pytest.mark.parametrize(
    ("when", "conditions"),
    [
        ('{ verdict = "fail" }', {"verdict": Dependence((1,))}),
        ('{ verdict = ["Fail", "unclear"] }', {"verdict": Dependence((1, 2))}),
        ("{ verdict = 2 }", {"verdict": Dependence((2,))}),
        ("{ score = { below = 3 } }", {"score": Dependence((), 3)}),
        ("{ score = { above = 1, below = 3.5 } }", {"score": Dependence((), 3.5, 1)}),
        ("{ score = [1, 2] }", {"score": Dependence((1, 2))}),
        ('{ faults = "rude" }', {"faults": Dependence((2,))}),
        ('{ faults = "(none)" }', {"faults": Dependence((0,))}),
        ("{ effort = { above = 80 } }", {"effort": Dependence((), None, 80)}),
        ("{ kind = false }", {"kind": Dependence((0,))}),
        ('{ kind = "no", verdict = "fail" }', {"kind": Dependence((0,)), "verdict": Dependence((1,))}),
    ],
)
def test_the_answers_that_a_question_depends_on(when: str, conditions: dict[str, Dependence]) -> None:
    question = dependent(when).criteria[-1]
    assert question.when == conditions
    assert (question.conditional, question.counted) == (True, False)


@pytest.mark.parametrize(
    ("when", "says"),
    [
        ('{ verdct = "fail" }', "no question “verdct”. Did you mean “verdict”"),
        ('{ why = "2" }', "“why” depends on “why”"),
        ('{ verdict = "flop" }', "“flop” is no answer. Name some of: “pass”, “fail”"),
        ("{ verdict = [] }", "names no answer"),
        ("{ score = {} }", "names no answer"),
        ("{ verdict = { below = 2 } }", "have no order"),
        ("{ score = { below = 1 } }", "no answer from 1 to 5 is below 1"),
        ("{ score = { above = 2, below = 3 } }", "no answer from 1 to 5 is above 2 and below 3"),
        ("{ effort = { above = 40, below = 41 } }", "no answer from 0 to 100"),
        ("{ score = { above = 0 } }", "every answer from 1 to 5 is above 0"),
        ('{ verdict = ["pass", "fail", "unclear"] }', "every answer is listed"),
        ("{ score = 9 }", "“9” is no answer"),
        ("{ faults = 2 }", "“2” is no answer"),
        ("{ score = true }", "is no answer"),
        ("{ score = { lower = 3 } }", "no field “lower”"),
        ('"fail"', "“when” names questions before this one"),
    ],
)
def test_a_mistake_names_the_place_and_the_remedy(when: str, says: str) -> None:
    with pytest.raises(ConfigError, match=r"support.toml: criterion .*why") as error:
        dependent(when)
    assert says in str(error.value)


def test_questions_precede_their_dependents_without_a_circle() -> None:
    two = '[[criteria]]\nname = "a"\nstatement = "a"\ntype = "yes-no"\nwhen = {{ b = "yes" }}\n'
    two += '[[criteria]]\nname = "b"\nstatement = "b"\ntype = "yes-no"\n{}'
    with pytest.raises(ConfigError, match="“b” is asked later"):
        rubric_of("r", tomllib.loads(two.format("")), "r.toml")
    with pytest.raises(ConfigError, match="“a” depends on “b”, “b” depends on “a”"):
        rubric_of("r", tomllib.loads(two.format('when = { a = "no" }')), "r.toml")


def test_a_reply_does_not_depend_on_the_whole_nor_a_mean_on_some_items() -> None:
    text = 'unit = "each-reply"\n[[criteria]]\nname = "a"\nstatement = "a"\ntype = "yes-no"\n'
    text += 'unit = "conversation"\n[[criteria]]\nname = "b"\nstatement = "b"\nwhen = { a = "yes" }\n'
    with pytest.raises(ConfigError, match="“a” is about the conversation as a whole"):
        rubric_of("r", tomllib.loads(text), "r.toml")
    with pytest.raises(ConfigError, match="cannot be part of a mean"):
        dependent('{ verdict = "fail" }\ncounted = true')
    words = 'unit = "last-reply"\n[[criteria]]\nname = "a"\nstatement = "a"\ntype = "passages"\n'
    words += '[[criteria]]\nname = "b"\nstatement = "b"\nwhen = { a = { above = 0 } }\n'
    with pytest.raises(ConfigError, match="no value of a scale"):
        rubric_of("r", tomllib.loads(words), "r.toml")


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({}, {"verdict", "score", "effort", "kind"}),
        ({"verdict": 0, "faults": 2, "score": 1}, {"verdict", "score", "effort", "kind"}),
        ({"verdict": 1}, {"verdict", "score", "effort", "kind", "faults"}),
        ({"verdict": 1, "faults": 3, "score": 4}, {"verdict", "score", "effort", "kind", "faults"}),
        (
            {"verdict": 2, "faults": 3, "score": 3},
            {"verdict", "score", "effort", "kind", "faults", "how_rude"},
        ),
    ],
)
def test_what_is_asked_follows_the_answers_in_any_order(given: dict[str, float], names: set[str]) -> None:
    """Of labels any that applies; of several conditions all; what depends on a hidden question is hidden."""
    criteria = rubric().criteria
    assert {criterion.name for criterion in asked(criteria, given)} == names
    assert {criterion.name for criterion in asked(criteria[::-1], given)} == names


def test_a_rubric_is_written_and_read_again(tmp_path: Path) -> None:
    first = rubric()
    again = rubric_of("support", tomllib.loads(writing.toml(first.body)), "again.toml")
    assert (again.hash, again.criteria) == (first.hash, first.criteria)
    with Workspace.open(tmp_path).write() as db:
        ratings.register(db, "study:s", first.criteria)
        assert ratings.criteria(db, "study:s") == first.criteria


SAID = Conversation("b", "k", "p", (Message("user", "Late."), Message("assistant", "Well.")))


def reply(**answers: Any) -> tuple[Rating, ...]:
    given = {"verdict": "pass", "score": 4, "faults": None, "effort": 3, "kind": True, "how_rude": None}
    values = given | answers
    values |= {f"{name}_reason": None if value is None else "because" for name, value in values.items()}
    return rubric_judge.read(rubric(), SAID, read_reply(json.dumps(values), rubric_judge.reply_of(rubric())))


def test_a_judge_is_told_on_what_a_question_depends() -> None:
    prompt = rubric_judge.prompt_of(rubric(), "support v1")
    text = prompt.render(**rubric_judge.values(rubric(), SAID)).messages[0].content
    assert "Answer only if Verdict is “fail” or “unclear”; else null." in text
    assert "Answer only if Faults is “rude” and Score is below 4; else null." in text
    assert '"how_rude": <1 to 5> or null' in text
    assert '"verdict": "pass" or "fail" or "unclear",' in text
    [answer] = [
        part
        for part in rubric_judge.reply_of(rubric()).model_json_schema()["properties"].items()
        if part[0] == "how_rude"
    ]
    assert {"type": "null"} in answer[1]["anyOf"]


def test_a_judge_answers_what_is_asked_and_nothing_else() -> None:
    assert {rating.criterion for rating in reply()} == {"verdict", "score", "effort", "kind"}
    # What is answered though it is not asked is no answer, and what depends on it is not asked.
    unasked = {rating.criterion for rating in reply(faults=["rude"], how_rude=3, score=1)}
    assert unasked == {"verdict", "score", "effort", "kind"}
    [rude] = [
        r for r in reply(verdict="fail", faults=["rude"], how_rude=3, score=1) if r.criterion == "how_rude"
    ]
    assert rude.score == 3
    with pytest.raises(Unusable, match="“faults” must be answered, because Verdict is “fail” or “unclear”"):
        reply(verdict="fail")
    with pytest.raises(Unusable, match="“how_rude” must be answered"):
        reply(verdict="fail", faults=["rude"], score=1)


@pytest.fixture
def study(tmp_path: Path) -> Workspace:
    """Forty conversations in a study by the rubric, dealt to two annotators."""
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        for n in range(40):
            conversations.save(db, Conversation("b", f"k{n:02}", "p", SAID.messages))
        draw_study(db, "s", StudyDraw(40, Filter("b"), strata=(), rubric=Numbered(rubric(), 1)))
        for name in ("ann", "bob"):
            access.invite(db, name)
        dealing.deal_study(db, "s", ["ann", "bob"])
    return workspace


def give(db: Any, person: str, item: int, **scores: float) -> int:
    rater = access.annotator_id(db, person)
    placement = placements.find_id(db, rater, item)
    for name, score in scores.items():
        placements.answer(db, rater, placement, name, score, "because" if name == "score" else "")
    return placement


def held(db: Any) -> dict[str, float]:
    return dict(db.execute("SELECT criterion, score FROM ratings ORDER BY criterion").fetchall())


def test_people_submit_what_is_asked_and_keep_the_rest_until_then(study: Workspace) -> None:
    with study.write() as db:
        ann = access.annotator_id(db, "ann")
        item = studies.units(db, "s")[0]["id"]
        placement = give(db, "ann", item, verdict=1, faults=2, how_rude=3, effort=1, kind=1)
        give(db, "ann", item, verdict=0)
        assert placements.get(db, ann, placement).answers["how_rude"] == 3, "it is there again when asked"
        with pytest.raises(StudyError, match="Still to answer: Score"):
            placements.submit(db, ann, placement)
        placements.answer(db, ann, placement, "score", 2)
        with pytest.raises(StudyError, match="Still to give a reason for: Score"):
            placements.submit(db, ann, placement)
        placements.answer(db, ann, placement, "score", 3)  # needs none
        placements.submit(db, ann, placement)
        assert held(db) == {"verdict": 0, "score": 3, "effort": 1, "kind": 1}
        # On an item that is submitted an answer that asks more opens it again; one that asks less takes away.
        give(db, "ann", item, verdict=1)
        assert (placements.get(db, ann, placement).state, held(db)) == ("open", {})
        give(db, "ann", item, faults=2)
        with pytest.raises(StudyError, match="Still to answer: How rude"):
            placements.submit(db, ann, placement)
        give(db, "ann", item, how_rude=5)
        placements.submit(db, ann, placement)
        assert held(db)["how_rude"] == 5
        give(db, "ann", item, score=4)
        assert placements.get(db, ann, placement).state == "done"
        assert held(db) == {"verdict": 1, "score": 4, "faults": 2, "effort": 1, "kind": 1}


def test_figures_rest_on_the_items_on_which_both_were_asked(study: Workspace) -> None:
    """Ann says fail on items 0 to 19, Bob on 10 to 29, the judge on 5 to 24. Of the faults people are
    compared on 10 items (10 to 19), the judge with Ann on 15 (5 to 19), with Bob on 15, with both on 20.
    """
    with study.write() as db:
        for n, unit in enumerate(studies.units(db, "s")):
            key, fail = unit["key"], int(unit["key"][1:])
            for person, begin in (("ann", 0), ("bob", 10)):
                verdict = begin <= fail < begin + 20
                scores = {"verdict": verdict, "score": 4, "effort": fail, "kind": 1}
                more = {"faults": 1 + fail % 2 * 2, "how_rude": 1} if verdict else {}
                placement = give(db, person, unit["id"], **scores, **more)
                placements.submit(db, access.annotator_id(db, person), placement)
            said = {"verdict": 5 <= fail < 25, "score": 4, "effort": fail, "kind": 1}
            said |= {"faults": 1 + fail % 2 * 2} if said["verdict"] else {}
            given = tuple(Rating(Unit(key), name, float(score), "") for name, score in said.items())
            ratings.save_judgement(db, Judgement(f"j{n}", key, Rater("j", "judge", "support v1"), given))
    with study.read() as db:
        report = agreement_report(db, "s")
        rows = frames.frame(db, "s")
    faults = rows[rows.criterion == "faults"]
    assert faults.groupby("rater").size().to_dict() == {"ann": 20, "bob": 20, "j": 20}
    pairs = report.section("people", "faults")["nominal"].rows
    n = {
        frozenset((row["a"], row["b"])): row["value"].n
        for row in pairs
        if row["coefficient"] == "kappa" and "majority" not in f"{row['a']} {row['b']}"
    }
    assert n == {frozenset(("ann", "bob")): 10, frozenset(("ann", "j")): 15, frozenset(("bob", "j")): 15}
    [judge] = report.section("judges", "faults")["judges"].rows
    assert judge["kappa"].n == 20
    [note] = [note for note in report.notes if note.startswith("Faults is asked only where")]
    assert "Verdict is “fail” or “unclear”" in note
    assert "annotators were asked on 30 of 40 items, judges were asked on 20 of 40 items" in note
    assert not [sentence for sentence in report.limits if "no rating of" in sentence and "faults" in sentence]


def test_ratings_come_back_from_a_file(study: Workspace, tmp_path: Path, run: Any) -> None:
    with study.write() as db:
        for unit in studies.units(db, "s"):
            fail = int(unit["key"][1:]) % 2
            more = {"faults": 1} if fail else {}
            placement = give(db, "ann", unit["id"], verdict=fail, score=4, effort=1, kind=1, **more)
            placements.submit(db, access.annotator_id(db, "ann"), placement)
    file = tmp_path / "ratings.csv"
    run(study, "export", "ratings", "--study", "s", "--out", str(file))
    (study.path / "rubrics").mkdir(exist_ok=True)
    (study.path / "rubrics" / "support.toml").write_text(writing.toml(rubric().body))
    run(study, "import", "ratings", str(file), "--study", "again", "--rubric", "support")
    with study.read() as db:
        first = {(a.item, a.criterion, a.score) for a in answers.answers(db, "s", "first")}
        again = {(a.item, a.criterion, a.score) for a in answers.answers(db, "again", "first")}
        assert len(first) == len(again) == 40 * 4 + 20
        by_name = {criterion.name: criterion for criterion in studies.get(db, "again").criteria}
        assert by_name["faults"].when == {"verdict": Dependence((1, 2))}


def test_label_studio_shows_it_where_it_is_asked(study: Workspace) -> None:
    with study.read() as db:
        config = label_studio.configuration(studies.get(db, "s"))
    assert (
        '<View visibleWhen="choice-selected" whenTagName="verdict" whenChoiceValue="fail,unclear">' in config
    )
    assert 'whenTagName="score" whenChoiceValue="1,2,3"' in config
    assert config.count("<View") == config.count("</View>")


def test_known_answers_do_not_contradict_what_is_asked(study: Workspace, tmp_path: Path, run: Any) -> None:
    with study.write() as db:
        conversations.save(db, Conversation("b", "beside", "p", SAID.messages))
    file = tmp_path / "gold.csv"
    file.write_text(
        "key,turn,criterion,answer,tolerance,explanation,attention\nbeside,,verdict,pass,,,\nbeside,,faults,rude,,,\n"
    )
    refused = run(study, "study", "gold", "s", str(file))
    assert "“faults” is not asked where verdict is “pass”" in refused.output
    assert refused.exit_code == 1
    file.write_text(file.read_text().replace("pass", "fail"))
    assert run(study, "study", "gold", "s", str(file)).exit_code == 0


def test_the_command_says_on_what_a_question_depends(study: Workspace, run: Any) -> None:
    (study.path / "rubrics").mkdir(exist_ok=True)
    (study.path / "rubrics" / "support.toml").write_text(writing.toml(rubric().body))
    shown = run(study, "rubric", "show", "support").output
    assert "Which faults? Asked where Verdict is “fail” or “unclear”." in shown


def test_fifty_questions_that_depend_on_all_before_them_take_no_time() -> None:
    """Each way through them tried by itself would take longer than the world is old."""
    text = ""
    for n in range(50):
        when = ", ".join(f'q{before} = "yes"' for before in range(n))
        text += f'[[criteria]]\nname = "q{n}"\nstatement = "?"\ntype = "yes-no"\nwhen = {{ {when} }}\n'
    criteria = rubric_of("r", tomllib.loads(text), "r.toml").criteria
    assert len(asked(criteria, {f"q{n}": 1 for n in range(50)})) == 50
    assert len(asked(criteria[::-1], {f"q{n}": float(n != 30) for n in range(50)})) == 31
