"""Pairs of the benchmark's question: which are drawn, who gets them, what browsers report; the commands."""

from collections import Counter

import pytest

from concord.errors import ConcordError, NotAllowed, NotFound, StudyError
from concord.store import access, conversations, placements, scenarios, studies
from concord.store import desk as stored_desk
from concord.store.desk import Refusal
from concord.studies import annotation_flow, comparisons, dealing, pairings, running
from tests import pairs as made
from tests.pairs import PAIRS
from tests.pairs import answered as said
from tests.simulbench import by_hand

SCRIPTS = ("s1", "s2", "s3", "s4")
PEOPLE = ("Ann", "Bob", "Cleo")


@pytest.fixture
def filled(workspace):
    """Four scripts answered by x, y and z: twelve pairs; three people with links."""
    with workspace.write() as db:
        by_hand.fill(db, {(s, p): [5] for s in SCRIPTS for p in ("x", "y", "z")})
        for name in PEOPLE:
            access.invite(db, name)
    return workspace


def deal(workspace, people, n=None, **options):
    with workspace.write() as db:
        return made.deal(db, people, n, **options)


def lying(db, rater):
    return placements.on_desk(db, rater, PAIRS)


def desk(workspace, person):
    """A person's pairs in their order: (number, script, player shown as A, player shown as B)."""
    with workspace.read() as db:
        both = [(p.id, [conversations.load(db, n) for n in p.shown]) for p in made.on_desk(db, person)]
    return [(number, a.facets["script"], a.player, b.player) for number, (a, b) in both]


def pairs(workspace, person):
    return [(script, frozenset((a, b))) for _, script, a, b in desk(workspace, person)]


def report(workspace, person, *events, client="browser"):
    with workspace.write() as db:
        return stored_desk.apply(db, access.annotator_id(db, person), client, events)


def test_conversations_and_votes_of_a_study_of_pairs_can_be_read_back(filled, fresh, run, tmp_path):
    deal(filled, PEOPLE, 4)
    with filled.write() as db:
        made.compare(db, "Ann", lambda *_: "A")
        both = {pair.shown for pair in made.on_desk(db, "Ann")}
        keys = {conversations.load(db, n).key for pair in both for n in pair}
    written, folder = tmp_path / "pairs.jsonl", tmp_path / "folder"
    assert run(filled, "export", "conversations", "--study", PAIRS, "--out", written).exit_code == 0
    assert run(filled, "export", "dataset", "--study", PAIRS, "--out", folder).exit_code == 0
    done = run(fresh, "import", "conversations", written)
    assert done.exit_code == 0, done.output
    with fresh.read() as theirs:
        assert set(conversations.existing(theirs, sorted(keys))) == keys
        assert not studies.names(theirs, pairs=True) + studies.names(theirs)
    done = run(fresh, "import", "dataset", folder, "--study", "votes")
    assert "New: 4 comparisons by annotators" in done.output


def test_every_two_models_get_as_many_and_every_person_as_many(filled):
    assert deal(filled, PEOPLE[:2], 8, overlap=1, seed=1) == {"Ann": 4, "Bob": 4}
    dealt = pairs(filled, "Ann") + pairs(filled, "Bob")
    assert len(set(dealt)) == 8, "with one person each no pair is dealt twice"
    # Eight over three: 3, 3 and 2.
    assert sorted(Counter(models for _, models in dealt).values()) == [2, 3, 3]


def test_overlap_is_how_many_people_see_a_pair(filled):
    deal(filled, PEOPLE, 6, overlap=2)
    dealt = Counter(pair for person in PEOPLE for pair in pairs(filled, person))
    assert (len(dealt), set(dealt.values())) == (6, {2})
    assert {len(pairs(filled, person)) for person in PEOPLE} == {4}
    deal(filled, PEOPLE, overlap=0)
    assert {len(pairs(filled, person)) for person in PEOPLE} == {6}, "0: everybody"


def test_everybody_has_an_order_of_their_own_and_numbers_are_unique(filled):
    deal(filled, PEOPLE[:2], seed=7)
    ann, bob = desk(filled, "Ann"), desk(filled, "Bob")
    assert pairs(filled, "Ann") != pairs(filled, "Bob")
    assert set(pairs(filled, "Ann")) == set(pairs(filled, "Bob"))
    sides = {(script, frozenset((a, b))): a for _, script, a, b in ann}
    assert {sides[script, frozenset((a, b))] == a for _, script, a, b in bob} == {True, False}
    assert {a < b for _, _, a, b in ann} == {True, False}, "no model is always shown first"
    with filled.write() as db:
        assert len(placements.reclaim(db, PAIRS, access.annotator_id(db, "Ann"))) == 12
    deal(filled, PEOPLE[:2])
    assert [row[1:] for row in desk(filled, "Ann")] == [row[1:] for row in ann]
    assert not {row[0] for row in desk(filled, "Ann")} & {row[0] for row in ann + bob}


def test_a_draw_can_be_narrowed_to_models_and_kinds(filled):
    deal(filled, ["Ann"], 2, players=["x", "y"], facets={"kind": ["FirstChan"]})
    assert set(pairs(filled, "Ann")) == {("s2", frozenset("xy")), ("s4", frozenset("xy"))}


def test_kinds_and_types_get_their_share(workspace):
    """Sixteen scripts, four of each kind and type: eight pairs of two models, two of each."""
    scripts = {
        f"t{i}": (("FirstChan", "SubseqChan")[i % 2], ("stateless", "stateful")[i // 2 % 2])
        for i in range(16)
    }
    with workspace.write() as db:
        for script, (kind, type_) in scripts.items():
            by_hand.KINDS[script], by_hand.TYPES[script], by_hand.TASK_OF[script] = kind, type_, script
            for player in ("x", "y"):
                by_hand.answer(db, script, player)
            for table in (by_hand.KINDS, by_hand.TYPES, by_hand.TASK_OF):
                del table[script]
        access.invite(db, "Ann")
    deal(workspace, ["Ann"], 8)
    assert set(Counter(scripts[script] for script, _ in pairs(workspace, "Ann")).values()) == {2}


@pytest.mark.parametrize(
    ("people", "n", "options", "error", "told"),
    [
        (["Dora"], 3, {}, NotFound, "Dora"),
        (["Gone"], 3, {}, StudyError, "was withdrawn"),
        (["Ann"], 13, {}, StudyError, "There are 12 pairs, not 13"),
        (["Ann"], 3, {"overlap": 2}, StudyError, "2 raters per unit need more than 1"),
        ([], 3, {}, StudyError, "No annotators to assign to"),
        (["Ann"], 3, {"players": ["x"]}, StudyError, "two models"),
        (["Ann"], 3, {"players": ["x", "w"]}, NotFound, "w"),
    ],
)
def test_what_cannot_be_dealt_is_refused_and_leaves_nothing(filled, people, n, options, error, told):
    with filled.write() as db:
        access.invite(db, "Gone")
        access.revoke(db, "Gone")
    with pytest.raises(error, match=told):
        deal(filled, people, n, **options)
    with filled.read() as db:
        assert studies.names(db, pairs=True) == []


def test_a_benchmark_whose_models_meet_in_nothing_says_so(filled):
    with filled.write() as db, pytest.raises(StudyError, match="no pairs to compare"):
        pairings.new(db, PAIRS, None, "pingpong")


def test_answers_are_comparisons_that_can_be_changed(filled):
    deal(filled, ["Ann"], 12)
    (first, _, a, b), (second, *_), *_ = desk(filled, "Ann")
    assert report(filled, "Ann", said(1, first, "A", "clearer"), said(2, second, "C")) == (2, [])
    with filled.read() as db:
        rater = access.annotator_id(db, "Ann")
        assert [state for _, state, _ in lying(db, rater)] == ["done"] * 2 + ["open"] * 10
        item = placements.numbered(db, rater, first)
        assert (item.answers, item.reasons) == ({"": 1}, {"": "clearer"})
        duels = comparisons.compared(db, "simulbench", resamples=0).duels
        won = {(d["one"], d["other"]): (d["won"], d["tied"], d["lost"]) for d in duels.rows}
    assert sum(map(sum, won.values())) == 2
    one, other = sorted((a, b))
    assert won[one, other][0 if one == a else 2] == 1
    report(filled, "Ann", said(3, first, "B"), said(4, second, None))
    with filled.read() as db:
        assert placements.numbered(db, rater, first).answers == {"": -1}
        assert placements.numbered(db, rater, second).answers == {}
        assert [(a.done, a.items) for a in access.annotators(db, PAIRS) if a.items] == [(1, 12)]


def test_another_study_of_the_same_pairs_has_answers_of_its_own(filled):
    for study in (PAIRS, "again"):
        deal(filled, ["Ann"], study=study)
    (number, *_), *_ = desk(filled, "Ann")
    report(filled, "Ann", said(1, number, "A"))
    with filled.read() as db:
        assert {p.state for p in made.on_desk(db, "Ann", "again")} == {"open"}
        assert comparisons.compared(db, PAIRS, resamples=0).basis["asked"] == 1
        with pytest.raises(ConcordError, match="No comparisons yet"):
            comparisons.compared(db, "again", resamples=0)
        assert comparisons.compared(db, "simulbench", resamples=0).basis["asked"] == 1


def test_a_pair_that_is_not_dealt_to_somebody_cannot_be_reached(filled):
    deal(filled, PEOPLE[:2], 12, overlap=1)
    [anns, *_], [bobs, *_] = desk(filled, "Ann"), desk(filled, "Bob")
    mark, refused = report(filled, "Ann", said(1, bobs[0], "A"), said(2, 10**9, "B"), said(3, anns[0], "B"))
    assert mark == 3
    assert [(r.n, r.item) for r in refused] == [(1, bobs[0]), (2, 10**9)]
    assert all("You no longer have this item" in r.message for r in refused)
    with filled.read() as db:
        assert db.execute("SELECT verdict FROM comparisons").fetchall() == [("B",)]
        with pytest.raises(NotAllowed):
            placements.numbered(db, access.annotator_id(db, "Ann"), bobs[0])


@pytest.mark.parametrize(
    "broken",
    [
        {"do": "answer", "score": "D"},
        {"do": "answer", "score": 1, "text": "x" * 4001},
        {},
        {"do": "answer", "score": [1]},
    ],
    ids=["letter", "long", "silent", "list"],
)
def test_an_event_that_is_none_is_refused_and_holds_up_nothing(filled, broken):
    deal(filled, ["Ann"], 2)
    (first, *_), (second, *_) = desk(filled, "Ann")
    mark, refused = report(filled, "Ann", {"n": 1, "item": first, **broken}, said(2, second, "A"))
    assert (mark, [r.item for r in refused]) == (2, [first])
    assert isinstance(refused[0], Refusal)
    with filled.read() as db:
        assert db.execute("SELECT count(*) FROM comparisons").fetchone() == (1,)


def test_a_report_that_comes_again_later_does_not_undo_what_was_said_since(filled):
    deal(filled, ["Ann"], 1)
    [(item, *_)] = desk(filled, "Ann")
    report(filled, "Ann", said(1, item, "A"), client="telephone")
    report(filled, "Ann", said(1, item, "B"), client="laptop")
    assert report(filled, "Ann", said(1, item, "A"), client="telephone") == (1, [])
    with filled.read() as db:
        assert placements.numbered(db, access.annotator_id(db, "Ann"), item).answers == {"": -1}


def test_undone_pairs_are_dealt_to_others_and_a_late_answer_is_refused(filled):
    deal(filled, ["Ann", "Bob"], 6, overlap=1)
    mine = desk(filled, "Ann")
    report(filled, "Ann", said(1, mine[2][0], "A"))
    with filled.write() as db:
        assert running.reassign(db, PAIRS, "Ann", "has left").endswith("who now have: Bob +2.")
    assert desk(filled, "Ann") == [mine[2]]
    _, refused = report(filled, "Ann", said(2, mine[0][0], "B"))
    assert len(refused) == 1
    assert deal(filled, ["Ann"], overlap=1) == {"Ann": 3, "Bob": 3}, "her answer counts among her three"


def test_pairs_of_scripts_set_aside_leave_the_desk(filled):
    deal(filled, ["Ann"], 12)
    lost = next(number for number, script, *_ in desk(filled, "Ann") if script == "s1")
    with filled.write() as db:
        by_hand.store_scripts(db, "s1", "s2")
        scenarios.decide(db, "simulbench", "script", "s1", "discarded", "Ada")
        assert [(a.done, a.items) for a in access.annotators(db, PAIRS) if a.items] == [(0, 9)]
    assert {script for script, _ in pairs(filled, "Ann")} == {"s2", "s3", "s4"}
    assert len(report(filled, "Ann", said(1, lost, "A"))[1]) == 1


def test_the_figures_of_judges_beside_people_rest_on_dealt_pairs(filled, run):
    deal(filled, PEOPLE[:2], 12, overlap=2)
    better = "xyz"
    for person in PEOPLE[:2]:
        mine = enumerate(desk(filled, person), 1)
        report(
            filled,
            person,
            *(said(n, i, "A" if better.index(a) < better.index(b) else "B") for n, (i, _, a, b) in mine),
        )
    with filled.read() as db:
        found = comparisons.compared(db, "simulbench", resamples=0)
    assert found.basis["people"] == 2
    _, match = found.matches.rows
    assert (match["a"], match["b"], match["equal"].n, match["equal"].value) == ("Ann", "Bob", 12, 1.0)


def test_by_command(filled, run):
    drawn = ("--benchmark", "simulbench", "--n", 6, "--models", "x,y,z", "--seed", 1)
    told = run(filled, "study", "pairs", PAIRS, *drawn, "--overlap", 2)
    assert told.exit_code == 0, told.output
    assert "“pairs”: 6 pairs of simulbench, asked: Which reply is better?." in told.stdout
    given = ("study", "deal", PAIRS, "--annotators", "Ann,Bob")
    assert "Ann 6 items, Bob 6 items" in run(filled, *given).stdout
    report(filled, "Ann", said(1, desk(filled, "Ann")[0][0], "A"))
    shown = run(filled, "study", "show", PAIRS).stdout
    rows = [line.split() for line in shown.splitlines()]
    assert next(row for row in rows if row[:1] == ["Ann"])[:4] == ["Ann", "6", "1", "0"]
    wrong = ("study", "pairs", "other", "--benchmark", "simulbench", "--where")
    assert "There are 3 pairs, not 4" in run(filled, *wrong, "kind=LastOnly", "--n", 4).output
    assert "FACET=VALUE" in run(filled, *wrong, "kind").output
    assert "There is no kind “Nope”. Known: " in run(filled, *wrong, "kind=Nope").output
    assert run(filled, "compare", PAIRS).exit_code == 0


def test_a_workspace_without_answers_has_nothing_to_deal(workspace):
    with workspace.write() as db, pytest.raises(ConcordError, match="two models"):
        pairings.new(db, PAIRS, None, "simulbench", 1)


def test_repeats_are_hidden_among_pairs(filled):
    with filled.write() as db:
        made.deal(db, ["Ann"])
        dealing.deal_study(db, PAIRS, ["Ann"], repeats=0.25)
        assert annotation_flow.hidden(db, PAIRS) == "Hidden among them: Ann 3 repeat items."
