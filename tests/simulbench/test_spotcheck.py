"""What is found of chosen conversations and of an audit, a random sample apart from them, is no rating."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from concord.errors import NotFound, StudyError
from concord.estimate import undefined
from concord.store import conversations, ratings, spotchecks
from concord.store.studies import names
from concord.studies import audits, studies
from concord.studies.purposes import spotcheck
from concord.table import as_text
from concord.workspace import Workspace
from tests.simulbench import by_hand

SCORES = {
    ("s1", "x"): [9, 8],
    ("s2", "x"): [2, 2],
    ("s3", "x"): [9, 3],
    ("s4", "x"): [8, None],
    ("s1", "y"): [8, 8],
    ("s2", "y"): [1, 4],
    ("s3", "y"): [7, 7],
    ("s4", "y"): [4, 4],
}


@pytest.fixture
def filled(workspace):
    with workspace.write() as db:
        by_hand.fill(db, SCORES, s1_y="empty", s3_y="cut", s2_x="refusal")
    return workspace


def number(db, script, player):
    return conversations.find_id(db, by_hand.key(script, player))


def judgement(db, script, player, judge="j1"):
    seen = spotchecks.judgements(db, number(db, script, player), "quality")
    return next(s.id for s in seen if s.judge == judge)


def left(db, audit, person):
    """The judgements of an audit of which somebody has found nothing yet."""
    drawn = spotchecks.drawn(db, audit, spotcheck.rater_of(db, person))
    return [one.judgement for one in drawn if one.found_in is None]


def test_one_screen_shows_everything(filled):
    with filled.read() as db:
        screen = spotcheck.screen(db, number(db, "s4", "x"))
    # j2's verdict cannot be read.
    assert [(j.judge, j.score, j.explanation) for j in screen.judgements] == [("j1", 8, "I say 8.")]
    assert screen.conversation.player == "x"
    assert screen.criterion.name == "quality"


def test_a_conversation_stays_until_each_of_its_judgements_was_looked_at(filled):
    with filled.write() as db:
        by_hand.answer(db, "s1", "z")
        here, other, unjudged = (number(db, *of) for of in (("s2", "x"), ("s1", "x"), ("s1", "z")))

        def checked(person):
            return spotchecks.checked(db, [other, unjudged, here], spotcheck.rater_of(db, person))

        assert [*checked("Ada").items()] == [(other, False), (here, False)], "in the order that was given"
        spotcheck.verify(db, judgement(db, "s2", "x"), "Ada", "reasonable")
        assert not checked("Ada")[here], "j2 gave a score, too"
        spotcheck.verify(db, judgement(db, "s2", "x", "j2"), "Ada", "too_low")
        assert checked("Ada") == {other: False, here: True}
        assert checked("Ben") == {other: False, here: False}
        spotcheck.withdraw(db, judgement(db, "s2", "x"), "Ada")
        assert not checked("Ada")[here]


def test_an_unreadable_verdict_is_no_part_of_a_spot_check(filled):
    with filled.write() as db:
        here = number(db, "s4", "x")
        [unread] = db.execute("SELECT id FROM judgements WHERE failure IS NOT NULL").fetchone()
        with pytest.raises(NotFound, match="no judgement with a score"):
            spotcheck.verify(db, unread, "Ada", "reasonable")
        spotcheck.verify(db, judgement(db, "s4", "x"), "Ada", "too_high")
        assert spotchecks.checked(db, [here], spotcheck.rater_of(db, "Ada")) == {here: True}
        assert audits.findings(db, "simulbench").rows[0]["n"] == 1
        by_hand.judge(db, "s4", "x", "j2", 1)  # asked for again, and read
        assert spotchecks.checked(db, [here], spotcheck.rater_of(db, "Ada")) == {here: False}
        assert spotcheck.screen(db, here, "Ada").judgements[1].finding is None
        spotcheck.verify(db, unread, "Ada", "reasonable")
        assert audits.findings(db, "simulbench").rows[0]["n"] == 2


def test_a_finding_is_no_rating_and_an_earlier_one_is_kept(filled, run):
    with filled.write() as db:
        here = number(db, "s1", "x")
        spotcheck.verify(db, judgement(db, "s1", "x"), "Ada", "too_low", "no")
        spotcheck.verify(db, judgement(db, "s1", "x"), "Ada", "too_high", "still no")
        kept = "SELECT value, reason, shown, superseded_at IS NULL FROM answers ORDER BY id"
        assert db.execute(kept).fetchall() == [(-1, "no", 9, 0), (1, "still no", 9, 1)]
        assert not [r for r in ratings.of_conversation(db, here) if r.rater.kind == "human"]
        assert conversations.listed(db, here).people is None
        seen = spotcheck.screen(db, here, "Ada").judgements[0]
        assert (seen.finding, seen.comment) == ("too_high", "still no")
        with pytest.raises(NotFound, match="no study"):
            studies.ratings_for_agreement(db, "spot-check-simulbench")
    rows = [
        json.loads(line)
        for line in run(
            filled, "export", "apart", "--study", "spot-check-simulbench", "--format", "jsonl"
        ).stdout.splitlines()
    ]
    assert [(r["judge"], r["criterion"], r["score"], r["explanation"], r["shown"]) for r in rows] == [
        ("j1", "", 1, "still no", 9),
    ]
    assert {(r["kind"], r["rater"], r["item_id"]) for r in rows} == {
        ("spot-check", "Ada", by_hand.key("s1", "x"))
    }
    for what in ("ratings", "conversations"):
        refused = run(filled, "export", what, "--study", "spot-check-simulbench")
        assert refused.exit_code == 1
        assert "export apart --study spot-check-simulbench` writes its findings" in refused.output


def test_the_same_finding_again_is_no_other_one(filled):
    with filled.write() as db:
        for comment in ("yes", "yes", "no"):
            spotcheck.verify(db, judgement(db, "s1", "x"), "Ada", "reasonable", comment)
        kept = "SELECT value, reason, superseded_at IS NULL FROM answers ORDER BY id"
        assert db.execute(kept).fetchall() == [(0, "yes", 0), (0, "no", 1)]


def test_two_checkers_of_the_same_judgements_are_compared(filled):
    with filled.write() as db:
        pool = [j for _, j in spotchecks.auditable(db, "simulbench")][:4]
        # Equal on three of four, by chance on (2 · 1 + 1 · 1 + 1 · 2) ÷ 16: κ = (12 − 5) ÷ (16 − 5).
        for j, ada, ben in zip(
            pool,
            ("reasonable", "reasonable", "too_high", "too_low"),
            ("too_low", "reasonable", "too_high", "too_low"),
            strict=True,
        ):
            spotcheck.verify(db, j, "Ada", ada)
            spotcheck.verify(db, j, "Ben", ben)
        *_, said = audits.findings(db, "simulbench").notes
    assert said == "Ada and Ben checked 4 judgements both: 75.0% equal, κ is 0.64."


def test_reasonable_makes_no_rating_and_no_study(filled):
    with filled.write() as db:
        spotcheck.verify(db, judgement(db, "s1", "x"), "Ada", "reasonable", "quite so")
        assert names(db) == []
        assert not [r for r in ratings.of_conversation(db, number(db, "s1", "x")) if r.rater.kind == "human"]


def test_an_audit_is_seeded_and_takes_no_unreadable_verdicts(filled):
    with filled.write() as db:
        audits.draw(db, "one", "simulbench", n=6, seed=4)
        audits.draw(db, "two", "simulbench", n=6, seed=4)
        audits.draw(db, "three", "simulbench", n=6, seed=5)
        one, two, three = (spotchecks.drawn(db, name) for name in ("one", "two", "three"))
        assert one == two != three
        whole = audits.draw(db, "all", "simulbench", n=15)
        assert whole.drawn_from == 15, "16 judgements, one of them unreadable"
        with pytest.raises(StudyError, match="15 judgements to draw from"):
            audits.draw(db, "more", "simulbench")
        with pytest.raises(StudyError, match="“one” exists already"):
            audits.draw(db, "one", "simulbench", n=3)
        with pytest.raises(StudyError, match="needs a name"):
            audits.draw(db, " ", "simulbench", n=3)
        only = audits.draw(db, "some", "simulbench", n=1, judges=["j2"])
        assert only.drawn_from == 7
        assert [a.name for a in spotchecks.audits(db)] == ["some", "all", "three", "two", "one"]


def test_an_audit_is_drawn_alike_whatever_the_order_of_storing(tmp_path, filled):
    other = Workspace.open(tmp_path / "other")
    with other.write() as db:
        by_hand.fill(db, dict(reversed(SCORES.items())))

    def drawn(workspace):
        with workspace.write() as db:
            audits.draw(db, "audit", "simulbench", n=6, seed=1)
            return [
                (
                    conversations.listed(db, c).key,
                    next(s.judge for s in spotchecks.judgements(db, c, "quality") if s.id == j),
                )
                for j, c, _ in spotchecks.drawn(db, "audit")
            ]

    assert drawn(filled) == drawn(other)


def test_findings_of_an_audit_and_of_triage_are_kept_apart(filled):
    with filled.write() as db:
        audits.draw(db, "audit", "simulbench", n=5, seed=2)
        found = ["reasonable", "too_high", "too_high", "too_low", "reasonable"]
        for finding in found:
            spotcheck.verify(db, left(db, "audit", "Ada")[0], "Ada", finding, audit="audit")
        assert not left(db, "audit", "Ada")
        assert len(left(db, "audit", "Ben")) == 5
        audited = {j for j, _, _ in spotchecks.drawn(db, "audit")}
        outside = [j for _, j in spotchecks.auditable(db, "simulbench") if j not in audited][:2]
        for j in outside:
            spotcheck.verify(db, j, "Ben", "too_high")
        audit, triage = audits.findings(db, "simulbench", "audit"), audits.findings(db, "simulbench")
    assert (
        audit.rows[0]["n"],
        audit.rows[0]["reasonable"].value,
        audit.rows[0]["optimism"].value,
    ) == (5, 0.4, 2 / 3)
    assert (audit.meta["drawn"], audit.meta["items"], audit.meta["people"]) == (5, 5, ["Ada"])
    assert (triage.rows[0]["n"], triage.rows[0]["reasonable"].value, triage.meta["people"]) == (
        2,
        0.0,
        ["Ben"],
    )
    for column in ("judge", "kind", "type", "player", "person"):
        assert sum(row["n"] for row in audit.rows if row["by"] == column) == 5
    assert "40.0%" in as_text(audit)
    assert audits.summary(audit) == (
        "Reviewers find 40% of 5 judgements reasonable (95% CI 12% to 77%). Too high: 2, too low: 1."
    )
    assert audits.summary(triage) == (
        "Reviewers find 0 of these 2 judgements reasonable. They were chosen because something seemed wrong: "
        "this is not the judges' rate. Too high: 2."
    )
    assert "randomly drawn" in " ".join(audit.notes)
    assert "not the rate of all judgements" in " ".join(triage.notes)
    assert (triage.rows[0]["of"], triage.rows[0]["too_high"]) == ("all", 2)


def test_findings_of_triage_stay_when_an_audit_draws_them_later(filled):
    with filled.write() as db:
        pool = [j for _, j in spotchecks.auditable(db, "simulbench")]
        for j in pool[:3]:
            spotcheck.verify(db, j, "Ada", "too_high")
        spotcheck.verify(db, pool[0], "Ben", "reasonable")
        audits.draw(db, "all", "simulbench", n=15)
        triage = audits.findings(db, "simulbench")
        # Four findings of three judgements, all of which the audit has drawn since.
        assert (triage.meta["items"], triage.rows[0]["n"], triage.meta["looked"]) == (4, 4, 3)
        by_person = (row for row in triage.rows if row["by"] == "person")
        assert {row["of"]: row["n"] for row in by_person} == {"Ada": 3, "Ben": 1}
        # Before she has opened the audit, Ada's three are done.
        assert len(left(db, "all", "Ada")) == 12
        while ahead := left(db, "all", "Ada"):
            spotcheck.verify(db, ahead[0], "Ada", "reasonable", audit="all")
        audit, again = audits.findings(db, "simulbench", "all"), audits.findings(db, "simulbench")
        # A finding is a finding: 15 judgements, three of them as triage had found them.
        assert (audit.meta["items"], audit.meta["looked"], audit.rows[0]["reasonable"].value) == (15, 15, 0.8)
        assert again == triage
        # Said anew at the audit's desk it is still what triage brought up.
        spotcheck.verify(db, pool[1], "Ada", "too_low", audit="all")
        assert audits.findings(db, "simulbench").rows[0]["n"] == 4
    assert "4, on 3 judgements." in " ".join(again.notes)


def test_what_triage_settled_further_on_does_not_lean_an_audit_under_way(filled):
    with filled.write() as db:
        audits.draw(db, "audit", "simulbench", n=5, seed=2)
        order = [j for j, _, _ in spotchecks.drawn(db, "audit")]
        spotcheck.verify(db, order[3], "Ben", "too_high")  # met in triage
        spotcheck.verify(db, order[0], "Ada", "reasonable")
        spotcheck.verify(db, order[1], "Ada", "too_low")
        spotcheck.verify(db, order[1], "Ben", "reasonable")  # a second reader does not count it again
        audit = audits.findings(db, "simulbench", "audit")
        # 1 and 2 in the random order, as first found: reasonable, too low. The fourth waits for the third.
        assert (audit.meta["items"], audit.rows[0]["n"], audit.rows[0]["reasonable"].value) == (2, 2, 0.5)
        spotcheck.verify(db, order[2], "Ada", "reasonable")
        assert audits.findings(db, "simulbench", "audit").meta["items"] == 4


def test_before_anybody_looked_nothing_is_made_up(filled):
    with filled.write() as db:
        audits.draw(db, "audit", "simulbench", n=5)
        none = audits.findings(db, "simulbench", "audit")
        with pytest.raises(NotFound, match="audit “adit”"):
            audits.findings(db, "simulbench", "adit")
    nothing = undefined("nothing was found", n=0)
    assert (none.rows[0]["n"], none.rows[0]["reasonable"], none.rows[0]["optimism"]) == (0, nothing, nothing)
    assert "all, reasonable, optimism: nothing was found" in as_text(none)


def test_the_interval_by_hand():
    # 83 of 100, as in the paper: z² = 3.8415, middle 0.83 + 0.019207 = 0.849207, half 1.95996 · √(0.001411 +
    # 0.000096) = 0.076087, both over 1.038415: 0.7445 to 0.8911.
    assert audits.proportion(83, 100).interval == pytest.approx((0.7445, 0.8911), abs=5e-5)
    assert audits.proportion(83, 100).value == 0.83
    assert not audits.proportion(0, 0).defined
    # Nothing of 10: from 0 to z²/(n + z²) = 3.8415 / 13.8415.
    assert audits.proportion(0, 10).interval == pytest.approx((0, 3.8415 / 13.8415), abs=1e-5)


@given(st.integers(1, 2000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_share_and_mirrors(kn):
    k, n = kn
    low, high = audits.proportion(k, n).interval
    assert 0 <= low <= k / n <= high <= 1
    assert audits.proportion(n - k, n).interval == pytest.approx((1 - high, 1 - low))


def test_the_interval_of_a_share_is_that_of_scipy() -> None:
    for n in (1, 2, 7, 100, 1739):
        for k in {0, 1, n // 3, n - 1, n}:
            figure, expected = audits.proportion(k, n), binomtest(k, n).proportion_ci(method="wilson")
            assert (figure.value, figure.n) == (k / n, n)
            assert figure.interval == pytest.approx((expected.low, expected.high), abs=1e-14)
