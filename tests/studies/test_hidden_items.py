"""Repeats and gold items: where they lie, that they count nowhere else, and what a file of them may hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from sqlite_utils import Database

from concord.conversation import Conversation, Message
from concord.errors import ImportRefused, NotAllowed, StudyError
from concord.rating import Criterion
from concord.reports.agreement_report import agreement_report
from concord.store import access, acts, conversations, desk, exclusions, frames, known, placements, progress
from concord.store import studies as stored
from concord.store.known import Check, Pair
from concord.store.purposes import UNRATED
from concord.studies import annotation_flow, quality, running, studies
from concord.studies.purposes import gold
from concord.workspace import Workspace
from pages.desk import sent

CRITERIA = (Criterion("fluency", "It is fluent."), Criterion("wit", "It is witty."))
SAID = (Message("user", "a"), Message("assistant", "b"))
OWN, BESIDE = 40, 3
"""Items of the study, and conversations beside it."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A study of 40 items for two annotators, not dealt, and three conversations beside it."""
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        stored.create(db, stored.Study("s", CRITERIA))
        ids = [conversations.save(db, Conversation("x", f"k{i}", "p", SAID)) for i in range(OWN + BESIDE)]
        stored.add_units(db, "s", [(i, None, "") for i in ids[:OWN]])
        studies.invite(db, ["ann", "bob"])
    return workspace


@pytest.fixture
def db(workspace: Workspace):
    with workspace.write() as opened:
        yield opened


def queue(db: Database, person: str) -> list[int]:
    """The conversations on a desk, in their order."""
    rater = access.annotator_id(db, person)
    return [
        placements.numbered(db, rater, item).conversation_id
        for item, _, _ in placements.on_desk(db, rater, "s")
    ]


def rate(db: Database, person: str, answers, *, items: int | None = None) -> None:
    """Rate the items of a desk in their order; `answers(nth time, conversation)` gives both scores."""
    rater, seen = access.annotator_id(db, person), Counter[int]()
    events = []
    for item, _, _ in placements.on_desk(db, rater, "s")[:items]:
        conversation = placements.numbered(db, rater, item).conversation_id
        for name, score in zip(("fluency", "wit"), answers(seen[conversation], conversation), strict=True):
            events.append({"item": item, "do": "answer", "criterion": name, "score": score})
        events.append({"item": item, "do": "submit", "seconds": 4.0})
        seen[conversation] += 1
    numbered = [event | {"n": n} for n, event in enumerate(events, desk.mark(db, desk.of(rater), "tab") + 1)]
    assert desk.apply(db, rater, "tab", numbered)[1] == []


class TestRepeats:
    def test_a_tenth_comes_again_after_at_least_so_many_others(self, db):
        assert studies.deal_study(db, "s", ["ann", "bob"], repeats=0.1) == {
            "ann": 40,
            "bob": 40,
        }
        for person in ("ann", "bob"):
            order = queue(db, person)
            again = [c for c, n in Counter(order).items() if n == 2]
            assert (len(order), len(again)) == (44, 4)
            for conversation in again:
                first = order.index(conversation)
                second = order.index(conversation, first + 1)
                others = set(order[first + 1 : second])
                assert len(others) >= 20
        assert queue(db, "ann") != queue(db, "bob")

    def test_dealing_again_leaves_them_where_they_are(self, db):
        studies.deal_study(db, "s", ["ann"], repeats=0.2)
        before = placements.on_desk(db, access.annotator_id(db, "ann"), "s")
        studies.deal_study(db, "s")
        assert placements.on_desk(db, access.annotator_id(db, "ann"), "s") == before

    def test_fewer_of_them_and_none_begun_is_lost(self, db):
        studies.deal_study(db, "s", ["ann"], repeats=0.2)
        rate(db, "ann", lambda again, c: (3, 3), items=36)
        rater = access.annotator_id(db, "ann")
        begun = [item.id for item in placements.placed(db, "s", ["repeat"], rater) if item.begun]
        assert 0 < len(begun) < 8
        at_hand = [item for item, state, _ in placements.on_desk(db, rater, "s") if state == "open"][:2]
        studies.deal_study(db, "s", repeats=0)
        there = [item.id for item in placements.placed(db, "s", ["repeat"], rater)]
        assert [item for item in there if item not in at_hand] == begun

    def test_one_that_may_be_before_somebody_is_not_taken_back(self, db):
        studies.deal_study(db, "s", ["ann"], repeats=0.2)
        rater = access.annotator_id(db, "ann")
        rate(db, "ann", lambda again, c: (3, 3), items=len(placements.on_desk(db, rater, "s")) - 2)
        last_two = [item for item, state, _ in placements.on_desk(db, rater, "s") if state == "open"]
        repeats = {item.id for item in placements.placed(db, "s", ["repeat"], rater)}
        assert repeats & {*last_two}
        studies.deal_study(db, "s", repeats=0)
        assert {item.id for item in placements.placed(db, "s", ["repeat"], rater)} == repeats

    def test_who_leaves_keeps_only_what_was_begun(self, db):
        studies.deal_study(db, "s", ["ann", "bob"], overlap=1, repeats=0.5)
        rate(db, "bob", lambda again, c: (3, 3), items=3)
        access.revoke(db, "bob")
        studies.deal_study(db, "s", ["ann"])
        assert placements.placed(db, "s", ["repeat"], access.annotator_id(db, "bob")) == []
        order = queue(db, "ann")
        assert (len(set(order)), len(order)) == (37, 37 + 18)  # round(0.5 · 37) = 18

    def test_nothing_new_is_put_behind_somebody(self, db):
        studies.deal_study(db, "s", ["ann"])
        rate(db, "ann", lambda again, c: (3, 3), items=30)
        studies.deal_study(db, "s", repeats=0.1)
        states = [state for _, state, _ in placements.on_desk(db, access.annotator_id(db, "ann"), "s")]
        assert states == ["done"] * 30 + ["open"] * 14

    def test_at_most_half_of_them_and_of_few_items_each_after_half(self, db):
        with pytest.raises(StudyError, match=r"0 to 0\.5, not 0\.6"):
            studies.deal_study(db, "s", ["ann"], repeats=0.6)
        studies.deal_study(db, "s", ["ann", "bob"], overlap=1, repeats=0.5)
        order = queue(db, "ann")
        again = [c for c, n in Counter(order).items() if n == 2]
        assert (len(order), len(again)) == (30, 10)
        for conversation in again:
            first = order.index(conversation)
            second = order.index(conversation, first + 1)
            assert len(set(order[first + 1 : second])) >= 10

    def test_second_answers_count_nowhere_but_in_test_retest(self, db):
        studies.deal_study(db, "s", ["ann"], repeats=0.2)
        rate(db, "ann", lambda again, c: (2, 4) if not again else (5, 4))
        assert db.execute("SELECT count(*), sum(score) FROM ratings").fetchone() == (80, 40 * 2 + 40 * 4)
        assert sorted(set(frames.frame(db, "s").score)) == [2.0, 4.0]
        assert db.execute("SELECT DISTINCT people FROM summaries").fetchall() == [(3.0,)]
        rater = access.annotator_id(db, "ann")
        again = placements.placed(db, "s", ["repeat"], rater)[0].id
        placements.reopen(db, rater, again)
        assert len(known.pairs(db, "s")) == 14, "an item taken up again does not count"
        placements.submit(db, rater, again)
        report = agreement_report(db, "s")
        [row] = report.section("annotator-retest", "fluency")["annotator_retest"].rows
        # Eight items twice, 2 and then 5: never the same, three points higher each time.
        assert (row["n"], row["exact"].value, row["difference"].value) == (8, 0.0, 3.0)
        [row] = report.section("annotator-retest", "final")["annotator_retest"].rows
        assert row["difference"].value == 1.5  # the mean of (2, 4) is 3, of (5, 4) 4.5
        assert report.as_json()["sections"]["wit"]["annotator-retest"]["annotator_retest"]["rows"]

    def test_the_annotator_counts_them_and_marks_change(self, db):
        studies.deal_study(db, "s", ["ann"], repeats=0.1)
        rater = access.annotator_id(db, "ann")
        assert placements.studies_of(db, rater) == [("s", "s", 0, 44)]
        before = progress.mark(db, "s")
        rate(db, "ann", lambda again, c: (3, 3))
        assert placements.studies_of(db, rater) == [("s", "s", 44, 44)]
        assert progress.mark(db, "s") != before

    def test_their_answers_obey_the_rules_of_the_desk(self, db):
        studies.deal_study(db, "s", ["ann", "bob"], repeats=0.1)
        ann, bob = (access.annotator_id(db, name) for name in ("ann", "bob"))
        item = placements.placed(db, "s", UNRATED, ann)[0].id
        with pytest.raises(StudyError, match="Still to answer: Fluency, Wit"):
            placements.submit(db, ann, item)
        with pytest.raises(StudyError, match="9 is not on the scale"):
            placements.answer(db, ann, item, "wit", 9)
        with pytest.raises(NotAllowed, match="You no longer have this item"):
            placements.answer(db, bob, item, "wit", 3)
        placements.answer(db, ann, item, "wit", 3)
        placements.answer(db, ann, item, "fluency", 4)
        placements.submit(db, ann, item)
        assert (placements.get(db, ann, item).state, placements.get(db, ann, item).answers) == (
            "done",
            {"wit": 3, "fluency": 4},
        )
        placements.answer(db, ann, item, "wit", None)
        assert placements.get(db, ann, item).state == "open"

    def test_a_browser_cannot_tell_which_item_is_hidden(self, db):
        studies.deal_study(db, "s", ["ann"], repeats=0.1)
        rater, study = access.annotator_id(db, "ann"), stored.get(db, "s")
        items = [item for item, _, _ in placements.on_desk(db, rater, "s")]
        numbers = desk.Numbers(db, "s", rater)
        news = sent.moving(db, rater, study, [numbers.shown(item) for item in items], [])
        assert [number for number, _, _ in news["strip"]] == [item["id"] for item in news["items"]]
        assert [numbers.item(item["id"]) for item in news["items"]] == items
        # All lie within 2⁴⁸ numbers, those of hidden items on both sides of others.
        hidden = {one.id for one in placements.placed(db, "s", ["repeat"], rater)}
        shown = sorted((numbers.shown(item), item in hidden) for item in items)
        assert all(2**48 <= number < 2**49 for number, _ in shown)
        where = [place for place, (_, is_hidden) in enumerate(shown) if is_hidden]
        assert where != [*range(len(items) - 4, len(items))]
        kinds = {tuple(sorted(item)) for item in news["items"]}
        assert len(kinds) == 1, "every item has the same fields"
        event = numbers.meant({"n": 1, "item": news["items"][0]["id"], "do": "skip", "text": "why"})
        assert desk.apply(db, rater, "tab", [event])[1] == []
        assert placements.on_desk(db, rater, "s")[0][1] == "skipped"
        assert desk.Numbers(db, "s", rater + 1).shown(items[0]) != numbers.shown(items[0])


HEAD = "key,turn,criterion,answer,tolerance,explanation,attention\n"


class TestGold:
    def write(self, tmp_path: Path, *lines: str) -> Path:
        file = tmp_path / "gold.csv"
        file.write_text(HEAD + "\n".join(lines) + "\n", encoding="utf-8")
        return file

    def test_they_are_spread_over_every_desk_and_hits_have_a_tolerance(self, db, tmp_path):
        studies.deal_study(db, "s", ["ann", "bob"])
        file = self.write(
            tmp_path,
            "k40,,fluency,4,1,Clear English.,",
            "k40,,wit,2,0,,",
            "k41,,fluency,5,,,yes",
            "k42,,wit,Agree,0,,",
        )
        golds = gold.read_gold(db, "s", file)
        assert [(g.criterion, g.answer, g.tolerance, g.attention) for g in golds] == [
            ("fluency", 4.0, 1.0, False),
            ("wit", 2.0, 0.0, False),
            ("fluency", 5.0, 0.0, True),
            ("wit", 4.0, 0.0, False),
        ]
        running.set_gold(db, "s", golds)
        assert annotation_flow.hidden(db, "s") == "Hidden among them: ann 3 gold items, bob 3 gold items."
        order = queue(db, "ann")
        places = sorted(order.index(c) for c in order if c > OWN)
        # Each lies in its own third of the 40 items.
        assert [place * 3 // 43 for place in places] == [0, 1, 2]
        # k40 is hit by 3 (4 ± 1) and 2; k41, an attention check, is missed by 3; k42 is missed by 2.
        rate(db, "ann", lambda again, c: (3, 2))
        assert sorted(gold.hits(known.checks(db, "s"))["ann"]) == [
            (False, False),
            (False, True),
            (True, False),
        ]
        report = agreement_report(db, "s")
        [row] = report.section("gold", "final")["gold_items"].rows
        assert (row["n"], row["hits"].value, row["checks"], row["passed"]) == (3, 1 / 3, 1, 0)
        assert len(frames.frame(db, "s")) == 80, "a gold item is no rating"

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ("k40,,fluency,,,,", r"line 2: the answer is missing"),
            ("nowhere,,fluency,3,,,", r"line 2: there is no conversation “nowhere”"),
            (
                "k40,,charm,3,,,",
                r"line 2: “charm” is not a criterion of this study; its criteria are "
                r"fluency, wit",
            ),
            ("k40,,fluency,7,,,", r"line 2: the answer 7 is not on the scale of “fluency”, 1 to 5"),
            ("k40,,fluency,so so,,,", r"line 2: the answer so so is not on the scale"),
            ("k40,1,fluency,3,,,", r"line 2: the study rates whole conversations"),
            ("k40,,fluency,3,-1,,", r"line 2: the tolerance “-1” is not a number of at least 0"),
            ("k40,,fluency,3,wide,,", r"line 2: the tolerance “wide” is not a number"),
            ("k40,,fluency,3,,,maybe", r"line 2: attention is yes or no"),
            ("k1,,fluency,3,,,", r"line 2: “k1” is in the study already"),
            ("k40,,fluency,3,,,\nk40,,fluency,4,,,", r"line 3: the item has an answer on this criterion"),
        ],
    )
    def test_a_line_that_cannot_be_used_is_said_with_its_number(self, db, tmp_path, line, sentence):
        with pytest.raises(ImportRefused, match=sentence):
            gold.read_gold(db, "s", self.write(tmp_path, line))
        assert known.gold(db, "s") == []

    def test_a_file_without_its_columns_or_rows(self, db, tmp_path):
        file = tmp_path / "gold.csv"
        file.write_text("key,criterion\nk40,wit\n", encoding="utf-8")
        with pytest.raises(ImportRefused, match="the column answer is missing"):
            gold.read_gold(db, "s", file)
        with pytest.raises(ImportRefused, match="there is no gold item"):
            gold.read_gold(db, "s", self.write(tmp_path))

    def test_another_file_replaces_what_nobody_has_begun(self, db, tmp_path):
        studies.deal_study(db, "s", ["ann"])
        for key in ("k40", "k41"):
            golds = gold.read_gold(db, "s", self.write(tmp_path, f"{key},,wit,3,,,"))
            running.set_gold(db, "s", golds)
        assert len(queue(db, "ann")) == 41
        assert (OWN + 2 in queue(db, "ann"), OWN + 1 in queue(db, "ann")) == (True, False)


class TestWarnings:
    def test_gold_items_and_attention_checks(self):
        checks = [Check("ann", i, "wit", i < 2, i == 11) for i in range(12)]
        # 2 of 12 hit: who hits 70% does so with p = .0002; item 11 is an attention check, and missed.
        attention, gold = [flag.text for flag in quality.warnings(CRITERIA, [], checks)]
        assert attention == "ann missed 1 of 1 attention checks."
        assert gold.startswith("ann answered 2 of 12 (")
        # 2 of 5 happen to who hits 70% one time in six.
        assert quality.warnings(CRITERIA, [], checks[:5]) == []

    def test_repeats(self):
        # A quarter of 1 to 5 is 1: 2 of 12 items are rated alike; with 70% so few happen with p = .0002.
        pairs = [Pair("ann", i, "wit", 2.0, 3.0 if i < 2 else 4.0) for i in range(12)]
        [flag] = quality.warnings(CRITERIA, pairs, [])
        assert flag.text.startswith("ann repeated its answers on 2 of 12 (")
        assert quality.warnings(CRITERIA, [p._replace(second=3.0) for p in pairs], []) == []
        assert quality.warnings(CRITERIA, pairs[:8], []) == [], "2 of 8 are too few items"


def test_the_commands_of_a_study_with_hidden_items(workspace, run, tmp_path):
    assert run(workspace, "study", "deal", "s", "--annotators", "ann", "--repeats", "0.6").exit_code == 2
    dealt = run(workspace, "study", "deal", "s", "--annotators", "ann,bob", "--repeats", "0.2")
    assert "Hidden among them: ann 8 repeat items, bob 8 repeat items" in dealt.output
    file = tmp_path / "gold.csv"
    file.write_text(HEAD + "k40,,wit,5,0,,yes\n", encoding="utf-8")
    mixed = run(workspace, "study", "gold", "s", file).output
    assert "attention checks among them: 1." in mixed
    assert "ann 1 gold items, ann 8 repeat items, bob 1 gold items" in mixed
    with workspace.write() as db:
        rate(db, "ann", lambda again, c: (1 + c % 5, 1 + c % 5 if not again else 5 - c % 5))
    excluded = run(workspace, "study", "exclude", "s", "ann", "--reason", "Missed the check")
    assert excluded.exit_code == 0
    shown = run(workspace, "study", "show", "s").output
    assert "Test–retest of annotators" in shown
    assert "Gold items of annotators" in shown
    assert "excluded ann by researcher: Missed the check" in shown
    again = run(workspace, "study", "include", "s", "ann", "--reason", "The check was wrong")
    assert "ann is in the figures of “s” again." in again.output
    refused = run(workspace, "study", "include", "s", "ann", "--reason", "once more")
    assert refused.exit_code == 1


class TestExclusion:
    @pytest.fixture(autouse=True)
    def _rated(self, db):
        studies.deal_study(db, "s", ["ann", "bob"])
        rate(db, "ann", lambda again, c: (1 + c % 5, 3))
        rate(db, "bob", lambda again, c: (5 - c % 5, 2))

    def test_a_decision_leaves_out_and_is_said_and_undone(self, db):
        before = progress.mark(db, "s")
        exclusions.exclude(db, "s", "bob", "Missed three of five gold items")
        assert progress.mark(db, "s") != before
        report = agreement_report(db, "s")
        assert set(report.data.column("rater")) == {"ann"}
        assert report.notes[0].startswith("Excluded: bob on 2")
        assert report.notes[0].endswith(": Missed three of five gold items.")
        assert [one["annotator"] for one in report.as_json()["excluded"]] == ["bob"]
        exclusions.include(db, "s", "bob", "The gold items were wrong")
        assert set(agreement_report(db, "s").data.column("rater")) == {"ann", "bob"}
        assert [(act.act, act.detail) for act in acts.of_study(db, "s")] == [
            ("excluded", "Missed three of five gold items"),
            ("included", "The gold items were wrong"),
        ]

    @pytest.mark.parametrize(
        ("who", "reason", "sentence"),
        [("bob", " ", "needs its reason"), ("cy", "why", "no items and no ratings"), ("ann", "x", "already")],
    )
    def test_what_is_no_decision(self, db, who, reason, sentence):
        studies.invite(db, ["cy"])
        exclusions.exclude(db, "s", "ann", "first")
        with pytest.raises(StudyError, match=sentence):
            exclusions.exclude(db, "s", who, reason)
        with pytest.raises(StudyError, match="is not excluded from the study"):
            exclusions.include(db, "s", "bob", "why")
