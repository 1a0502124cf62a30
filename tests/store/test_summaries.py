"""Sums and summaries stay what a computation from the ratings themselves gives, whatever was done in which
order."""

from collections import defaultdict

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotAllowed, StudyError
from concord.questions import YES_NO, points
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import access, conversations, frames, placements, ratings, studies, summaries
from concord.store.studies import Study
from concord.workspace import Workspace
from tests.filled import assigned

CRITERIA = (
    Criterion("fluency", "Fluent."),
    Criterion("charm", "Charming."),
    Criterion("refusal", "Refused.", YES_NO, counted=False),
)
ASKED = CRITERIA[:2]
PEOPLE, JUDGES, KEYS, TURNS = ("ann", "bob"), ("one", "two"), ("k1", "k2"), (1, 2)


def workspace_at(folder):
    """Two conversations of two turns, and a study of both that two people were dealt."""
    workspace = Workspace.open(folder)
    messages = tuple(Message(role, "words") for _ in TURNS for role in ("user", "assistant"))
    with workspace.write() as db:
        ratings.register(db, "bench", CRITERIA, refusal="refusal")
        ids = [conversations.save(db, Conversation("bench", key, "player", messages)) for key in KEYS]
        studies.create(db, Study("study", ASKED))
        units = studies.add_units(db, "study", [(i, None, "") for i in ids])
        for person in PEOPLE:
            access.invite(db, person)
            placements.assign(db, access.annotator_id(db, person), units)
    return workspace


def expected(db):
    """Sums per conversation, rater, criterion and repeat; and the summary of each conversation, from the
    ratings alone."""
    rows = list(db.query("SELECT r.*, x.name, x.kind FROM ratings r JOIN raters x ON x.id = r.rater_id"))
    open_items = set(
        db.execute(
            "SELECT u.conversation_id, a.rater_id FROM placements a "
            "JOIN items u ON u.id = a.item_id WHERE a.state <> 'done'"
        ).fetchall()
    )
    counts = [
        r for r in rows if r["study_id"] is None or (r["conversation_id"], r["rater_id"]) not in open_items
    ]
    sums = defaultdict(list)
    for r in counts:
        sums[r["conversation_id"], r["rater_id"], r["criterion"], r["repeat"]].append(r["score"])
    summaries = {}
    for conversation in {r["conversation_id"] for r in counts}:
        means = defaultdict(lambda: defaultdict(list))
        for r in counts:
            if r["conversation_id"] == conversation and r["criterion"] != "refusal":
                means[r["kind"], r["name"]][r["criterion"]].append(r["score"])
        # Only who answered every counted criterion has a final.
        each = {
            rater: sum(sum(s) / len(s) for s in of.values()) / len(of)
            for rater, of in means.items()
            if set(of) == {c.name for c in ASKED}
        }
        judges = [mean for (kind, _), mean in each.items() if kind == "judge"]
        people = [mean for (kind, _), mean in each.items() if kind == "human"]
        refused = {
            r["name"]
            for r in counts
            if r["conversation_id"] == conversation and r["criterion"] == "refusal" and r["score"]
        }
        summaries[conversation] = (
            sum(judges) / len(judges) if judges else None,
            max(judges) - min(judges) if judges else None,
            sum(people) / len(people) if people else None,
            len(judges),
            len(refused),
        )
    return {key: (sum(scores), len(scores)) for key, scores in sums.items()}, summaries


class Desk(RuleBasedStateMachine):
    """Judges judge (or fail), people answer, take back, submit, skip and reopen, in any order."""

    @initialize(folder=st.just(None))
    def begin(self, folder):
        import tempfile

        self.folder = tempfile.TemporaryDirectory()
        self.workspace = workspace_at(self.folder.name)

    def teardown(self):
        self.folder.cleanup()

    @rule(
        key=st.sampled_from(KEYS),
        judge=st.sampled_from(JUDGES),
        repeat=st.integers(0, 1),
        fails=st.booleans(),
        asked=st.sampled_from([CRITERIA, CRITERIA[:1], CRITERIA[1:]]),
        data=st.data(),
    )
    def judges(self, key, judge, repeat, fails, asked, data):
        scores = [
            Rating(Unit(key, turn), c.name, float(data.draw(st.sampled_from(c.scale.values))))
            for turn in TURNS
            for c in asked
        ]
        with self.workspace.write() as db:
            ratings.save_judgement(
                db,
                Judgement(
                    f"{key}|{judge}|{repeat}",
                    key,
                    Rater(judge, "judge"),
                    () if fails else tuple(scores),
                    "no reply" if fails else None,
                    repeat=repeat,
                ),
            )

    @rule(
        person=st.sampled_from(PEOPLE),
        item=st.integers(0, 1),
        do=st.sampled_from(["answer", "answer", "answer", "take back", "submit", "skip", "reopen"]),
        criterion=st.sampled_from([c.name for c in ASKED]),
        score=st.sampled_from([1.0, 3.0, 5.0]),
    )
    def rates(self, person, item, do, criterion, score):
        with self.workspace.write() as db:
            rater = access.annotator_id(db, person)
            assignment = assigned(db, rater, "study")[item][0]
            if do == "answer":
                placements.answer(db, rater, assignment, criterion, score)
            elif do == "take back":
                placements.answer(db, rater, assignment, criterion, None)
            elif do == "skip":
                placements.skip(db, rater, assignment, "tired")
            elif do == "reopen":
                placements.reopen(db, rater, assignment)
            elif len(placements.get(db, rater, assignment).answers) == len(ASKED):
                placements.submit(db, rater, assignment)
            else:
                with pytest.raises(StudyError, match="Still to answer"):
                    placements.submit(db, rater, assignment)

    @invariant()
    def sums_and_summaries_are_those_of_the_ratings(self):
        with self.workspace.read() as db:
            sums, summaries = expected(db)
            stored = {
                tuple(key): (total, n)
                for *key, total, n in db.execute(
                    "SELECT conversation_id, rater_id, criterion, repeat, total, n FROM scores"
                )
            }
            assert stored == sums
            found = {
                c: values
                for c, *values in db.execute(
                    "SELECT conversation_id, final, spread, people, judges, refused FROM summaries"
                )
            }
            for conversation, values in found.items():
                assert values == pytest.approx(list(summaries.get(conversation, (None, None, None, 0, 0))))
            assert set(summaries) <= set(found)

    @invariant()
    def a_recomputation_of_everything_changes_nothing(self):
        with self.workspace.write() as db:
            before = [
                list(db.execute(f"SELECT * FROM {t} ORDER BY 1, 2, 3"))
                for t in ("scores", "finals", "summaries")
            ]
            summaries.refresh(db)
            assert [
                list(db.execute(f"SELECT * FROM {t} ORDER BY 1, 2, 3"))
                for t in ("scores", "finals", "summaries")
            ] == before


TestDesk = Desk.TestCase
TestDesk.settings = settings(max_examples=12, stateful_step_count=14, deadline=None)


@pytest.fixture
def workspace(tmp_path):
    return workspace_at(tmp_path / "workspace")


def ann(db):
    rater = access.annotator_id(db, "ann")
    return rater, [item for item, _, _ in assigned(db, rater, "study")]


def test_an_answer_counts_once_its_item_is_submitted(workspace):
    with workspace.write() as db:
        rater, (first, _) = ann(db)
        placements.answer(db, rater, first, "fluency", 4)
        placements.answer(db, rater, first, "charm", 2)
        assert frames.frame(db, "study").empty
        placements.submit(db, rater, first)
        assert sorted(frames.frame(db, "study").score) == [2.0, 4.0]
        placements.reopen(db, rater, first)
        assert frames.frame(db, "study").empty


def test_an_answer_to_a_turn_counts_once_its_item_is_submitted(workspace):
    with workspace.write() as db:
        studies.create(db, Study("turns", ASKED, per_turn=True))
        units = studies.add_units(db, "turns", [(1, turn, "") for turn in TURNS])
        raters = {person: access.annotator_id(db, person) for person in PEOPLE}
        for rater in raters.values():
            placements.assign(db, rater, units)
        desks = {person: [item for item, _, _ in assigned(db, raters[person], "turns")] for person in PEOPLE}
        for person in PEOPLE:
            for item in desks[person]:
                for criterion in ("fluency", "charm"):
                    placements.answer(db, raters[person], item, criterion, 4)
        assert frames.frame(db, "turns").empty, "answered, but nothing is submitted"
        placements.submit(db, raters["ann"], desks["ann"][0])
        placements.skip(db, raters["bob"], desks["bob"][0], "tired")
        counted = frames.frame(db, "turns")
        assert set(zip(counted.unit, counted.rater, counted.criterion, strict=True)) == {
            (units[0], "ann", "fluency"),
            (units[0], "ann", "charm"),
        }, "neither ann's other turn, nor what bob skipped or left open"
        placements.reopen(db, raters["ann"], desks["ann"][0])
        assert frames.frame(db, "turns").empty


def test_a_replaced_answer_is_kept_as_history(workspace):
    with workspace.write() as db:
        rater, (first, _) = ann(db)
        for score in (4, 4, 2, None, 5):
            placements.answer(db, rater, first, "fluency", score)
        kept = [
            row[0]
            for row in db.execute("SELECT value FROM answers WHERE superseded_at IS NOT NULL ORDER BY id")
        ]
        # 4 was replaced by 2, which was taken back; saying 4 twice is one answer, and 5 replaced nothing.
        assert kept == [4.0, 2.0]
        assert placements.get(db, rater, first).answers == {"fluency": 5.0}


def test_an_answer_after_submission_counts_at_once(workspace):
    with workspace.write() as db:
        rater, (first, _) = ann(db)
        for criterion in ("fluency", "charm"):
            placements.answer(db, rater, first, criterion, 4)
        placements.submit(db, rater, first)
        placements.answer(db, rater, first, "charm", 1)
        assert sorted(frames.frame(db, "study").score) == [1.0, 4.0]
        # Without an answer the item is no longer complete: nothing of it counts.
        placements.answer(db, rater, first, "charm", None)
        assert frames.frame(db, "study").empty


def test_what_is_not_asked_or_not_mine_is_refused(workspace):
    with workspace.write() as db:
        rater, (first, _) = ann(db)
        with pytest.raises(StudyError, match="not on the scale"):
            placements.answer(db, rater, first, "fluency", 6)
        with pytest.raises(NotAllowed, match="You no longer have this item"):
            placements.answer(db, access.annotator_id(db, "bob"), first, "fluency", 3)


def test_judges_under_two_prompts_are_two_raters(workspace):
    with workspace.write() as db:
        for variant, score in (("", 1), ("v1", 2), ("v2", 4)):
            rating = Rating(Unit("k1", 1), "fluency", score)
            ratings.save_judgement(
                db, Judgement(f"k1|{variant}", "k1", Rater("one", "judge", variant), (rating,))
            )
        frame = frames.frame(db, "study")
    assert dict(zip(frame.rater, frame.score, strict=True)) == {"one": 1.0, "one v1": 2.0, "one v2": 4.0}


@pytest.mark.parametrize(("width", "finals"), [(5, [3.0]), (3, [])])
def test_criteria_on_scales_of_different_width_have_no_final(tmp_path, width, finals):
    """Wit is 4 of 1 to 5, care 2 of 1 to `width`: their mean is 3 where both go to 5, else there is none."""
    workspace, judge = Workspace.open(tmp_path), Rater("one", "judge")
    with workspace.write() as db:
        asked = (Criterion("wit", "Witty."), Criterion("care", "Careful.", points(1, width)))
        ratings.register(db, "bench", asked)
        conversations.save(
            db, Conversation("bench", "k", "p", (Message("user", "Hi."), Message("assistant", "Ho.")))
        )
        given = (Rating(Unit("k"), "wit", 4.0), Rating(Unit("k"), "care", 2.0))
        ratings.save_judgement(db, Judgement("j", "k", judge, given))
        assert db.execute("SELECT final FROM finals").fetchall() == [(one,) for one in finals]
