"""Dealing pairs on the page of comparisons, and where else it shows: the desk a researcher sits down at, and
the list of annotators.
"""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from concord.store import access, desk, placements, studies
from concord.store.placements import Placement
from concord.studies import pairings
from concord.workspace import Workspace
from pages.desk import sent
from pages.parts.people import AnnotatorHere
from pages.parts.plain import plain
from tests.browser.made_simulbench import KINDS, PLAYERS, SCRIPTS, make
from tests.pages.test_navigation import FRAME

COMPARISONS, ANNOTATORS, RATE = "trust/comparisons.py", "annotate/annotators.py", "annotate/rate.py"


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


def pairs_of(db, rater: int) -> list[Placement]:  # type: ignore[no-untyped-def]
    """A person's pairs in their order."""
    numbers = [number for number, *_ in placements.on_desk(db, rater, "simulbench")]
    return [placements.numbered(db, rater, number) for number in numbers]


def test_pairs_are_dealt_on_the_page(workspace: Workspace) -> None:
    shown = page(COMPARISONS)
    assert by(shown, "multiselect", "pairs to").options == ["Ann", "Bob"], (
        "neither the simulated nor the withdrawn"
    )
    pairs = SCRIPTS * 3
    assert by(shown, "number_input", "pairs number").max == pairs
    by(shown, "number_input", "pairs number").set_value(6)
    by(shown, "number_input", "pairs overlap").set_value(2)
    by(shown, "button", "pairs deal").click().run()
    assert not shown.exception
    assert [s.value for s in shown.success] == [plain("Dealt. Ann: 6 pairs, Bob: 6 pairs.")]
    assert table(shown, "person")[["person", "pairs"]].values.tolist() == [
        ["Ann", "0 of 6"],
        ["Bob", "0 of 6"],
    ]
    # Fewer people: the overlap of two is no longer possible.
    by(shown, "multiselect", "pairs to").set_value(["Ann"]).run()
    assert by(shown, "number_input", "pairs overlap").value == 1
    by(shown, "selectbox", "pairs of").set_value("Bob").run()
    by(shown, "button", "pairs back").click().run()
    assert table(shown, "person").person.tolist() == ["Ann"]
    assert "6 pairs that Bob had not compared" in shown.success[0].value


def test_what_is_dealt_follows_the_filters_above(workspace: Workspace) -> None:
    shown = page(COMPARISONS)
    by(shown, "multiselect", "models").set_value(list(PLAYERS[:2]))
    by(shown, "multiselect", "kind").set_value(["FirstChan"]).run()
    scripts = [n for n in range(SCRIPTS) if KINDS[n % 4] == "FirstChan"]
    assert by(shown, "number_input", "pairs number").max == len(scripts)
    by(shown, "multiselect", "pairs to").set_value(["Ann"]).run()
    by(shown, "button", "pairs deal").click().run()
    with workspace.read() as db:
        [standing] = pairings.standings(db)
        dealt = pairs_of(db, access.annotator_id(db, standing.person))
        told = {
            db.execute("SELECT player FROM conversations WHERE id = ?", [p.shown[0]]).fetchone()[0]
            for p in dealt
        }
    assert (standing.person, standing.dealt) == ("Ann", len(scripts))
    assert told <= set(PLAYERS[:2])


def test_a_refusal_is_a_sentence(workspace: Workspace) -> None:
    shown = page(COMPARISONS)
    with workspace.write() as db:
        access.revoke(db, "Bob")
    by(shown, "button", "pairs deal").click().run()
    assert not shown.exception
    assert "no link that works" in shown.error[0].value


def test_annotators_and_the_desk_show_the_pairs(workspace: Workspace) -> None:
    with workspace.write() as db:
        pairings.deal(db, "simulbench", ["Ann"], 5)
        ann = access.annotator_id(db, "Ann")
        first = pairs_of(db, ann)[0].id
        desk.apply(db, ann, "browser", [{"n": 1, "item": first, "do": "answer", "score": 1}])
    people = table(page(ANNOTATORS), "skipped").set_index("name")
    assert people["items"].to_dict() == {"Ann": "1 of 5"} | dict.fromkeys(
        ("Bob", "Cleo", "Robot"), "nothing dealt"
    )
    shown = page(RATE)
    assert any("Ann" in m.value and "1 of 5 done" in m.value for m in shown.markdown)


def test_what_the_browser_is_sent_names_nobody(workspace: Workspace) -> None:
    with workspace.write() as db:
        pairings.deal(db, "simulbench", ["Ann", "Bob"], 6)
        ann, bob = (access.annotator_id(db, name) for name in ("Ann", "Bob"))
        numbers = {rater: desk.Numbers(db, "simulbench", rater) for rater in (ann, bob)}
        theirs, mine = ([numbers[rater].shown(p.id) for p in pairs_of(db, rater)] for rater in (bob, ann))
        answer = {"n": 1, "item": pairs_of(db, ann)[0].id, "do": "answer", "score": -1, "text": "so it is"}
        desk.apply(db, ann, "b", [answer])
    with workspace.read() as db:
        study = studies.get(db, "simulbench")
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
            *("id", "turn", "language", "about", "context", "said", "sides"),
            *("answers", "reasons", "state", "reason", "flag", "asks", "told"),
        }


def test_an_annotator_with_one_piece_of_work_is_led_to_it(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace.write() as db:
        pairings.deal(db, "simulbench", ["Ann"], 5)
        ann, bob = (access.annotator_id(db, name) for name in ("Ann", "Bob"))
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: AnnotatorHere(ann, "Ann"))
    shown = page(RATE)
    assert not shown.title, "the desk at once, no list"
    monkeypatch.setattr("pages.parts.session.who_is_here", lambda _: AnnotatorHere(bob, "Bob"))
    assert re.search("Nothing to rate yet", page(RATE, study="simulbench").title[0].value)


RUBRIC = """
title = "Which reply is clearer?"
unit = "last-reply"
[[criteria]]
name = "clearer"
type = "pairwise"
statement = "Which one is clearer?"
"""


def test_a_study_of_pairs_is_made_and_dealt_on_the_page(workspace: Workspace) -> None:
    assert any("criterion of the type pairwise" in m.value for m in page(COMPARISONS).markdown)
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "rubrics" / "clear.toml").write_text(RUBRIC)
    shown = page(COMPARISONS)
    by(shown, "number_input", "new pairs number").set_value(6)
    by(shown, "text_input", "new pairs name").set_value("side-1").run()
    by(shown, "button", "new pairs").click().run()
    assert not shown.exception
    assert "side-1” is made" in shown.success[0].value.replace("\\", "")
    with workspace.read() as db:
        [name] = studies.names(db, pairs=True)
        study, pairs = studies.get(db, name), studies.pairs(db, "side-1")
    assert (study.rubric, study.version, len(pairs)) == ("clear", 1, 6)
    assert [criterion.name for criterion in study.criteria] == ["clearer"]
    assert by(shown, "number_input", "pairs number").max == 6
    by(shown, "multiselect", "pairs to").set_value(["Ann"]).run()
    by(shown, "button", "pairs deal").click().run()
    assert [s.value for s in shown.success] == [plain("Dealt. Ann: 6 pairs.")]
    by(shown, "text_input", "new pairs name").set_value("side-1").run()
    by(shown, "button", "new pairs").click().run()
    assert "There is a study of pairs" in shown.error[0].value
