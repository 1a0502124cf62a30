"""Studies of pairs by page: made, dealt, compared; and what the browser is sent of them."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from concord.store import access, desk, studies
from concord.workspace import Workspace
from pages.desk import sent
from pages.parts.people import AnnotatorHere
from pages.parts.plain import plain
from tests import pairs as made
from tests.browser.made_simulbench import PLAYERS, make
from tests.pages.framed import FRAME
from tests.pairs import PAIRS

COMPARISONS, SAMPLES = "trust/comparisons.py", "annotate/samples.py"
ANNOTATORS, RATE = "annotate/annotators.py", "annotate/rate.py"


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """Three models, eight scripts; Ann and Bob are invited, Cleo's link was withdrawn, Robot is simulated."""
    make(workspace.path)
    with workspace.write() as db:
        for name in ("Ann", "Bob", "Cleo"):
            access.invite(db, name)
        access.revoke(db, "Cleo")
        access.invite(db, "Robot", simulated=True)
    return workspace


def page(file: str, **query: str) -> AppTest:
    shown = AppTest.from_string(FRAME.format(file=file), default_timeout=30)
    for name, value in query.items():
        shown.query_params[name] = value
    shown.run()
    assert not shown.exception
    return shown


def by(shown: AppTest, kind: str, key: str):  # type: ignore[no-untyped-def]
    """A widget by how its key begins."""
    return next(w for w in getattr(shown, kind) if (w.key or "").startswith(key))


def table(shown: AppTest, column: str):  # type: ignore[no-untyped-def]
    return next(t.value for t in shown.dataframe if column in t.value.columns)


def test_a_study_of_a_benchmarks_own_question_is_made_compared_and_dealt(workspace: Workspace) -> None:
    shown = page(COMPARISONS)
    by(shown, "number_input", "new pairs: number").set_value(6)
    by(shown, "text_input", "new pairs: name").set_value("own").run()
    by(shown, "button", "new pairs").click().run()
    assert not shown.exception
    shown = page(COMPARISONS, pairs="own")
    assert any("6 pairs of simulbench" in m.value for m in shown.markdown)
    shown = page(SAMPLES, study="own")
    assert not shown.exception
    who = next(w for w in shown.multiselect if w.label == "To")
    assert who.options == ["Ann", "Bob"], "neither the simulated nor the withdrawn"


def test_annotators_and_the_desk_show_the_pairs(workspace: Workspace) -> None:
    with workspace.write() as db:
        made.deal(db, ["Ann"], 5)
        ann = access.annotator_id(db, "Ann")
        first = made.on_desk(db, "Ann")[0].id
        desk.apply(db, ann, "browser", [{"n": 1, "item": first, "do": "answer", "score": 1}])
    people = table(page(ANNOTATORS), "skipped").set_index("name")
    assert people["items"].to_dict() == {"Ann": "1 of 5"} | dict.fromkeys(
        ("Bob", "Cleo", "Robot"), "no items"
    )
    shown = page(RATE)
    assert any("Ann" in m.value and "1 of 5 done" in m.value for m in shown.markdown)


def test_what_the_browser_is_sent_names_nobody(workspace: Workspace) -> None:
    with workspace.write() as db:
        made.deal(db, ["Ann", "Bob"], 6)
        ann, bob = (access.annotator_id(db, name) for name in ("Ann", "Bob"))
        theirs, mine = (
            [desk.Numbers(db, PAIRS, rater).shown(p.id) for p in made.on_desk(db, name)]
            for rater, name in ((bob, "Bob"), (ann, "Ann"))
        )
        answer = {
            "n": 1,
            "item": made.on_desk(db, "Ann")[0].id,
            "do": "answer",
            "score": -1,
            "text": "so it is",
        }
        desk.apply(db, ann, "b", [answer])
    with workspace.read() as db:
        study = studies.get(db, PAIRS)
        first = sent.moving(db, ann, study, None, ())
        again = sent.moving(db, ann, study, [mine[0], theirs[0], -1], ())
        fixed = sent.fixed(study, "Ann", "desk", "")
    assert first["strip"] == [[mine[0], "done", 0], *([number, "open", 0] for number in mine[1:])]
    assert [i["id"] for i in first["items"]] == mine[1:]
    # What was answered is seen again; another's pair is not there.
    assert [(i["id"], i["answers"], i["reasons"]) for i in again["items"]] == [
        (mine[0], {"": -1}, {"": "so it is"})
    ]
    text = repr([fixed, first, again])
    assert not [word for word in (*PLAYERS, "judge-", "simulbench/v1") if word in text]
    for one in first["items"]:
        assert set(one) == {
            "id",
            "turn",
            "language",
            "about",
            "context",
            "said",
            "sides",
            "answers",
            "reasons",
            "state",
            "reason",
            "flag",
            "asks",
            "told",
        }


def test_an_annotator_with_one_piece_of_work_is_led_to_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace.write() as db:
        made.deal(db, ["Ann"], 5)
        ann, bob = (access.annotator_id(db, name) for name in ("Ann", "Bob"))
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: AnnotatorHere(ann, "Ann"))
    shown = page(RATE)
    assert not shown.title, "the desk at once, no list"
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: AnnotatorHere(bob, "Bob"))
    assert re.search("Nothing to rate yet", page(RATE, study=PAIRS).title[0].value)


RUBRIC = """
title = "Which reply is clearer?"
unit = "last-reply"
[[criteria]]
name = "clearer"
type = "pairwise"
statement = "Which one is clearer?"
"""


def test_a_study_of_pairs_by_a_rubric_is_made_and_dealt_by_page(workspace: Workspace) -> None:
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "rubrics" / "clear.toml").write_text(RUBRIC)
    shown = page(COMPARISONS)
    by(shown, "selectbox", "new pairs: rubric").set_value("clear")
    by(shown, "number_input", "new pairs: number").set_value(6)
    by(shown, "text_input", "new pairs: name").set_value("side-1").run()
    by(shown, "button", "new pairs").click().run()
    assert not shown.exception
    assert "side-1” created" in shown.success[0].value.replace("\\", "")
    with workspace.read() as db:
        study, pairs = studies.get(db, "side-1"), studies.pairs(db, "side-1")
    assert (study.rubric, study.version, len(pairs)) == ("clear", 1, 6)
    assert [criterion.name for criterion in study.criteria] == ["clearer"]
    by(shown, "text_input", "new pairs: name").set_value("side-1").run()
    by(shown, "button", "new pairs").click().run()
    assert "exists already" in shown.error[0].value
    shown = page(SAMPLES, study="side-1")
    next(w for w in shown.multiselect if w.label == "To").set_value(["Ann"]).run()
    next(b for b in shown.button if b.label == "Assign").click().run()
    assert [s.value for s in shown.success] == [plain("Assigned. Ann: 6 items. Items of an annotator: 6.")]


def test_the_page_of_agreement_leads_from_a_study_of_pairs_to_comparisons(workspace: Workspace) -> None:
    with workspace.write() as db:
        made.deal(db, ["Ann"])
    shown = page("trust/agreement.py", study=PAIRS)
    ways = {link.proto.label: link.proto.query_string for link in shown.get("page_link")}
    assert ways["Comparisons"] == f"pairs={PAIRS}"
