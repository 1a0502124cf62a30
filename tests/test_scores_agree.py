"""List, conversation page, leaderboard and agreement give the same scores, whatever raters left out."""

from __future__ import annotations

from itertools import combinations
from math import isnan

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from concord.conversation import Conversation, Message, Unit
from concord.questions import YES_NO
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.leaderboards import panel_scores
from concord.scores import DIGITS, FINAL
from concord.statistics.ratings import read_ratings
from concord.store import access, conversations, database, ratings, summaries, tables
from concord.store import studies as stored
from concord.store.studies import Study
from concord.studies import studies

COUNTED = (Criterion("charm", "Charming."), Criterion("fluency", "Fluent."), Criterion("wit", "Witty."))
CRITERIA = (*COUNTED, Criterion("refusal", "Refused.", YES_NO, counted=False))
JUDGES, PEOPLE, KEYS, TURNS, REPEATS = ("a", "b", "c"), ("ann", "bob"), ("k0", "k1", "k2"), (1, 2, 3), (0, 1)

_score = st.integers(1, 5)
_judged = st.dictionaries(
    st.tuples(
        st.sampled_from(KEYS[1:]),
        st.sampled_from(JUDGES),
        st.sampled_from(REPEATS),
        st.sampled_from(TURNS),
        st.sampled_from([c.name for c in COUNTED]),
    ),
    _score,
    max_size=60,
)
_rated = st.dictionaries(
    st.tuples(st.sampled_from(KEYS[1:]), st.sampled_from(PEOPLE), st.sampled_from([c.name for c in COUNTED])),
    _score,
    max_size=12,
)


def filled(path, judged, rated):
    """Three conversations.

    Everybody rated the first completely, so that everybody is known to be asked everything.
    """
    database.prepare(path)
    db = database.connect(path)
    whole = {("k0", judge, 0, 1, c.name): 3 for judge in JUDGES for c in COUNTED} | judged
    with database.transaction(db):
        ratings.register(db, "bench", CRITERIA, refusal="refusal")
        talk = tuple(Message(role, "words") for _ in TURNS for role in ("user", "assistant"))
        ids = {key: conversations.save(db, Conversation("bench", key, "player", talk)) for key in KEYS}
        for key in KEYS:
            for judge in JUDGES:
                for repeat in REPEATS:
                    mine = [
                        Rating(Unit(key, turn), criterion, score)
                        for (k, j, r, turn, criterion), score in whole.items()
                        if (k, j, r) == (key, judge, repeat)
                    ]
                    if mine:
                        judgement = Judgement(
                            f"{key}|{judge}|{repeat}", key, Rater(judge, "judge"), tuple(mine), repeat=repeat
                        )
                        ratings.save_judgement(db, judgement)
        stored.create(db, Study("study", COUNTED))
        stored.add_units(db, "study", [(number, None, "") for number in ids.values()])
        for person in PEOPLE:
            access.invite(db, person)
            for key in KEYS:
                mine = [
                    Rating(Unit(key), c.name, 3 if key == "k0" else rated[key, person, c.name])
                    for c in COUNTED
                    if key == "k0" or (key, person, c.name) in rated
                ]
                ratings.insert(
                    db,
                    ids[key],
                    ratings.rater_id(db, Rater(person, "human")),
                    mine,
                    study_id=stored.study_id(db, "study"),
                )
        summaries.refresh(db)
    return db, ids


def panels():
    return [panel for size in (1, 2, 3) for panel in combinations(JUDGES, size)]


A, B = "a", "b"
THREE_AND_ONE = {("k1", A, 0, 1, c.name): 5 for c in COUNTED} | {("k1", B, 0, 1, "wit"): 1}


@settings(max_examples=40, deadline=None)
@given(judged=_judged, rated=_rated)
@example(judged=THREE_AND_ONE, rated={})
def test_the_same_judges_give_the_same_score_everywhere(tmp_path_factory, judged, rated):
    db, ids = filled(tmp_path_factory.mktemp("scores") / "concord.db", judged, rated)
    names = [c.name for c in COUNTED]
    weights = dict.fromkeys(names, 1.0)
    of_conversations, of_judges = tables.conversations(db, "bench"), tables.scores(db, "bench", names)
    boards = {panel: panel_scores(of_conversations, of_judges, panel, weights)[FINAL] for panel in panels()}
    of = studies.ratings_for_agreement(db, "study", exclude_refused=False)
    read = read_ratings(of.table, criteria=of.criteria, final_criteria=of.final_criteria)
    measured, place = read[FINAL], {unit: i for i, unit in enumerate(read.units)}
    unit_of = {unit["conversation_id"]: unit["id"] for unit in stored.units(db, "study")}

    def at(scores, number):
        """A conversation's score; nan where nobody rated it, so that agreement does not know it."""
        here = place.get(unit_of[number])
        return float("nan") if here is None else float(scores[here])

    for number in ids.values():
        found = conversations.listed(db, number)
        lines = {line.criterion: line for line in summaries.scorecard(db, number)}
        page = lines.get(FINAL)
        finals = {rater.name: value for rater, value in page.raters.items()} if page else {}
        for panel in panels():
            score = at(measured.panel(panel), number)
            board = float(boards[panel].get(number, float("nan")))
            if not set(panel) <= set(finals):
                assert isnan(score)
                assert isnan(board)
                continue
            assert board == round(score, DIGITS)
            assert board == pytest.approx(sum(finals[j] for j in panel) / len(panel), abs=1e-8)
        judges = tuple(j for j in JUDGES if j in finals)
        assert found.judges == len(judges)
        if judges:
            assert found.final == page.judges == boards[judges][number]
        else:
            assert found.final is None
        people = at(measured.target, number)
        assert found.people == (None if isnan(people) else round(people, DIGITS))
        assert found.people == (page.people if page else None)
    db.close()


def test_a_judge_who_gave_one_criterion_of_three_is_not_in_the_score(tmp_path):
    db, ids = filled(tmp_path / "concord.db", THREE_AND_ONE, {})
    found = conversations.listed(db, ids["k1"])
    assert (found.final, found.spread, found.judges) == (5.0, 0.0, 1), "not (5 + 1) / 2"
