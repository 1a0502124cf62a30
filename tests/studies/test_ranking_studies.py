"""Studies of groups that are put in order: what is drawn, the desk, judges, and the figures."""

import json
import sys
import tomllib

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ConfigError, ImportRefused, StudyError
from concord.questions import ranks_of
from concord.rating import Rater
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import access, conversations, crowds, desk, placements, ratings, studies
from concord.store import comparisons as compared
from concord.store.crowds import Crowd
from concord.studies import annotation_flow, comparisons, crowd, dealing, pairings
from concord.studies.purposes import adjudicate, gold
from pages.desk import sent
from pages.desk.shown_answers import ShownAnswersDesk
from tests.conftest import toml

RUBRIC = """
title = "In order"
[[criteria]]
name = "order"
type = "ranking"
statement = "Which one helps most?"
"""
PLAYERS = "wxyz"


def rubric(text=RUBRIC):
    return Numbered(rubric_of("sorted", tomllib.loads(text), "sorted.toml"), 1)


@pytest.fixture
def filled(workspace):
    """Three prompts, answered by four players, the first in the alphabet at greatest length; two people."""
    with workspace.write() as db:
        for prompt in "012":
            for place, player in enumerate(PLAYERS):
                said = (
                    Message("user", f"Question {prompt}?"),
                    Message("assistant", "Thanks. " + "Yes. " * (9 - 2 * place)),
                )
                conversations.save(db, Conversation("chats", f"{player}{prompt}", player, said))
        for name in ("Ann", "Ben"):
            access.invite(db, name)
        pairings.new(db, "s", rubric(), "chats")
    return workspace


def report(workspace, person, *events):
    with workspace.write() as db:
        rater = access.annotator_id(db, person)
        mark = desk.mark(db, desk.of(rater), "tab")
        numbered = [event | {"n": mark + n} for n, event in enumerate(events, 1)]
        return dealing.reported(db, "s", rater, "tab", numbered)[1]


def dealt(workspace, person):
    with workspace.read() as db:
        rater = access.annotator_id(db, person)
        return [placements.numbered(db, rater, number) for number, *_ in placements.on_desk(db, rater, "s")]


def answer(item, order):
    """The event of an order in which players are named, the best first, such as “w > x = y > z”."""
    return {"item": item.id, "do": "answer", "criterion": "order", "score": order}


def order(workspace, person, wanted):
    """Put every group on a desk in an order of the players, such as “w > x = y > z”."""
    for item in dealt(workspace, person):
        if len(item.shown) < len(PLAYERS):
            continue
        with workspace.read() as db:
            shown = [conversations.load(db, number).player for number in item.shown]
        letters = wanted.translate({ord(player): "ABCD"[shown.index(player)] for player in PLAYERS})
        ranks = int("".join(map(str, ranks_of(letters, 4))))
        assert not report(workspace, person, answer(item, ranks))


def deal(workspace, *people, **how):
    with workspace.write() as db:
        dealing.deal_study(db, "s", people, **how)


def verdicts(workspace):
    with workspace.read() as db:
        rows = compared.exported(db, "chats")
        return {(r["rater"], r["first"], r["second"]): r["verdict"] for r in rows}


def test_a_group_has_all_pairs_of_a_prompt_and_groups_are_drawn_whole(filled):
    with filled.write() as db:
        assert pairings.count(db, rubric(), "chats") == 3
        pairings.new(db, "two", rubric(), "chats", 2, seed=1)
        assert len(studies.units(db, "s")) == 3 * 6
        assert len(studies.units(db, "two")) == 2 * 6
        with pytest.raises(StudyError, match="There are 3 groups, not 4"):
            pairings.new(db, "four", rubric(), "chats", 4)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [("B > A = C > D", (2, 1, 2, 4)), ("[d, c, b, a]", (4, 3, 2, 1)), ("A=B=C=D", (1, 1, 1, 1))],
)
def test_letters_are_read_as_ranks(text, ranks):
    assert ranks_of(text, 4) == ranks


@pytest.mark.parametrize("text", ["A > B > C", "A > B > C > C", "A > B > C > D > E", "", "The best is A"])
def test_letters_that_are_no_order(text):
    with pytest.raises(ValueError, match="must name each of A, B, C, D once"):
        ranks_of(text, 4)


def test_more_than_eight_are_not_put_in_order(workspace):
    with workspace.write() as db:
        for player in "abcdefghi":
            said = (Message("user", "Question?"), Message("assistant", "Yes."))
            conversations.save(db, Conversation("chats", player, player, said))
        with pytest.raises(StudyError, match="at most 8 replies"):
            pairings.new(db, "s", rubric(), "chats")
        pairings.new(db, "s", rubric(), "chats", players=[*"abcdefgh"])
        assert len(studies.units(db, "s")) == 28


def test_a_rubric_asks_for_an_order_or_which_of_two_is_better():
    with pytest.raises(ConfigError, match="Write two rubrics"):
        rubric(RUBRIC + '[[criteria]]\nname = "better"\ntype = "pairwise"\nstatement = "Which?"\n')


def test_a_group_is_one_item_of_a_desk_in_an_order_of_its_own(filled):
    deal(filled, "Ann", "Ben", overlap=0)
    mine, theirs = dealt(filled, "Ann"), dealt(filled, "Ben")
    assert [len(item.shown) for item in mine] == [4, 4, 4]
    by_set = {frozenset(item.shown): item.shown for item in theirs}
    assert by_set.keys() == {frozenset(item.shown) for item in mine}
    assert any(by_set[frozenset(item.shown)] != item.shown for item in mine)
    with filled.read() as db:
        study, rater = studies.get(db, "s"), access.annotator_id(db, "Ann")
        news = sent.moving(db, rater, study, None, ())
        assert placements.studies_of(db, rater) == [("s", "In order", 0, 3)]
    assert [len(item["sides"]) for item in news["items"]] == [4, 4, 4]
    assert not any(f"{player}{n}" in str(news) for player in PLAYERS for n in "012")


def test_an_order_is_stored_as_what_it_says_of_every_two(filled):
    deal(filled, "Ann")
    [item, other, _] = dealt(filled, "Ann")
    assert not report(filled, "Ann", answer(item, 2124))
    a, b, c, d = item.shown
    with filled.read() as db:
        rows = db.execute("SELECT first_id, second_id, verdict FROM comparisons ORDER BY 1, 2").fetchall()
    given = {(first, second): verdict for first, second, verdict in rows}
    assert given == {(a, b): "B", (a, c): "C", (a, d): "A", (b, c): "A", (b, d): "A", (c, d): "A"}
    [again, *_] = (each for each in dealt(filled, "Ann") if each.id == item.id)
    assert (again.answers, again.state) == ({"order": 2124}, "done")
    # Two that share a rank take up the next: 1 1 2 2 is read as 1 1 3 3.
    report(filled, "Ann", answer(item, 1122))
    assert next(each.answers for each in dealt(filled, "Ann") if each.id == item.id) == {"order": 1133}
    assert len(verdicts(filled)) == 6
    report(filled, "Ann", answer(item, None))
    assert verdicts(filled) == {}
    assert other.answers == {}


@pytest.mark.parametrize("order", [123, 12345, 1235, 1230, 12.5, -1])
def test_what_is_no_order_is_refused_and_nothing_is_kept(filled, order):
    deal(filled, "Ann")
    item = dealt(filled, "Ann")[0]
    [refusal] = report(filled, "Ann", answer(item, order))
    assert refusal.message == "A ranking needs a rank for each reply, from 1 to 4."
    assert verdicts(filled) == {}


def test_a_tie_is_refused_where_none_is_allowed(workspace, filled):
    with filled.write() as db:
        pairings.new(db, "strict", rubric(RUBRIC + "ties = false\n"), "chats")
        dealing.deal_study(db, "strict", ["Ann"])
        rater = access.annotator_id(db, "Ann")
        number = placements.on_desk(db, rater, "strict")[0][0]
        with pytest.raises(StudyError, match="the same rank"):
            placements.rank(db, rater, number, "order", 1124)
        placements.rank(db, rater, number, "order", 1324)
    assert len(verdicts(filled)) == 6


def test_a_group_is_skipped_and_taken_up_again_as_one(filled):
    deal(filled, "Ann")
    item = dealt(filled, "Ann")[0]
    report(filled, "Ann", answer(item, 1234), {"item": item.id, "do": "skip", "text": "Broken."})
    with filled.read() as db:
        rater = access.annotator_id(db, "Ann")
        assert {state for number, state, _ in placements.on_desk(db, rater, "s") if number == item.id} == {
            "skipped"
        }
        assert placements.studies_of(db, rater) == [("s", "In order", 1, 3)]
    assert verdicts(filled) == {}
    report(filled, "Ann", {"item": item.id, "do": "reopen"})
    assert len(verdicts(filled)) == 6


def test_groups_are_dealt_whole(filled):
    deal(filled, "Ann", "Ben", overlap=1)
    groups = [[len(item.shown) for item in dealt(filled, name)] for name in ("Ann", "Ben")]
    assert sorted(map(len, groups)) == [1, 2]
    assert {size for of in groups for size in of} == {4}


def test_pairs_on_which_orders_differ_are_settled_as_pairs(filled):
    deal(filled, "Ann", "Ben")
    order(filled, "Ann", "w > x > y > z")
    order(filled, "Ben", "w > y > x > z")
    eve = ShownAnswersDesk("adjudicate", "s", "Eve")
    with filled.write() as db:
        adjudicate.set_rule(db, "s", adjudicate.Rule(least=1))
        rater = ratings.rater_id(db, Rater("Eve", "human"))
        disputed = annotation_flow.look(db, "adjudicate", "s", None).items
        [question] = eve.fixed(db, "s", "")["criteria"]
        shown = eve.moving(db, None).items
        first = next(iter(disputed))
        annotation_flow.answer(db, "adjudicate", "s", rater, first, "order", 1, "So.")
        [given, *_] = annotation_flow.look(db, "adjudicate", "s", rater).items[first]
    assert [len(item["sides"]) for item in shown] == [2, 2, 2], "x and y of each prompt"
    assert (question["widget"], [o["value"] for o in question["options"]]) == ("options", [1, 0, -1])
    assert given.answer.score == 1


def test_an_extra_rater_gets_what_differs_as_one_item(filled):
    with filled.write() as db:
        access.invite(db, "Cy")
        rule = adjudicate.Rule(least=1)
        dealing.deal_study(db, "s", ["Ann", "Ben", "Cy"], overlap=2, extra=rule)
    before = {name: len(dealt(filled, name)) for name in ("Ann", "Ben", "Cy")}
    assert before == {"Ann": 2, "Ben": 2, "Cy": 2}
    orders = {"Ann": "w > x > y > z", "Ben": "w > y > x > z", "Cy": "w > z > y > x"}
    for name, wanted in orders.items():
        order(filled, name, wanted)
    extra = [item for name in orders for item in dealt(filled, name) if item.purpose == "extra"]
    assert sum(len(item.shown) for item in extra) == 2 + 3 + 3, "two of one prompt, three of the others"
    for name in orders:
        for item in dealt(filled, name):
            if item.purpose == "extra":
                ranks = int("".join(map(str, range(1, len(item.shown) + 1))))
                assert not report(filled, name, answer(item, ranks))
    assert all(item.state == "done" for name in orders for item in dealt(filled, name))


def test_a_crowd_puts_whole_groups_in_order(filled):
    with filled.write() as db:
        studies.set_overlap(db, "s", 0)
        crowd.open_link(db, Crowd("s", "prolific", 3, 2, 60), "https://x")
        units = crowd.share(db, crowds.of_study(db, "s"), "w1")
    assert len(units) == 2 * 6


def test_what_groups_do_not_have_is_refused(filled, tmp_path):
    file = tmp_path / "gold.csv"
    file.write_text("key,other,criterion,answer\nw0,x1,order,A\n")
    with filled.write() as db:
        with pytest.raises(ImportRefused, match="a ranking cannot have a known answer"):
            gold.read_gold(db, "s", file)
        with pytest.raises(StudyError, match="Remove --repeats"):
            dealing.deal_study(db, "s", ["Ann"], repeats=0.2)


PROGRAMS = """
def order(told):
    lengths = {"ABCD"[n]: len(side["messages"][-1]["content"]) for n, side in enumerate(told["sides"])}
    return {"order": " > ".join(sorted(lengths, key=lengths.get, reverse=True))}


def missing(told):
    return {"order": "A > B > C"}


def twice(told):
    return {"order": "A > B > C > C"}
"""


@pytest.fixture
def judged(filled, monkeypatch):
    # A module of this name was imported from the workspace of another test.
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # a file is changed within a second
    monkeypatch.delitem(sys.modules, "metric", raising=False)
    (filled.path / "rubrics").mkdir()
    (filled.path / "rubrics" / "sorted.toml").write_text(RUBRIC)
    (filled.path / "metric.py").write_text(PROGRAMS)
    with filled.models_path.open("a") as file:
        for name in ("order", "missing", "twice"):
            file.write(f'\n[models.{name}]\nkind = "program"\nfunction = "metric:{name}"\n')
    return filled


def test_a_judge_puts_a_group_in_order_in_one_call(judged, run):
    told = run(judged, "compare", "s", "--judges", "order")
    assert told.exit_code == 0, told.output
    given = verdicts(judged)
    assert len(given) == 3 * 6
    longer = {(a, b): "A" if a < b else "B" for _, a, b in given}
    assert given == {("order", *pair): verdict for pair, verdict in longer.items()}
    with judged.read() as db:
        assert db.execute("SELECT sum(raw <> '') FROM comparisons").fetchone()[0] == 3
        firsts = {shown for (shown,) in db.execute("SELECT first_id FROM comparisons WHERE raw <> ''")}
        assert len({conversations.load(db, n).player for n in firsts}) > 1, "shown in one order"
    assert "0 to generate" in run(judged, "compare", "s", "--judges", "order", "--estimate").output
    run(judged, "compare", "s", "--judges", "order", "--judge-repeats", "2")
    with judged.read() as db:
        rows = db.execute("SELECT repeat, first_id, second_id, raw <> '' FROM comparisons").fetchall()
    assert [sum(repeat == n for repeat, *_ in rows) for n in (0, 1)] == [18, 18]
    shown = [{(a, b) for repeat, a, b, first in rows if first and repeat == n} for n in (0, 1)]
    assert shown[0] != shown[1], "shown in another order"


@pytest.mark.parametrize("judge", ["missing", "twice"])
def test_a_reply_that_is_no_order_is_one_failure_and_asked_again(judged, run, judge):
    run(judged, "compare", "s", "--judges", judge)
    with judged.read() as db:
        assert db.execute("SELECT count(*), count(failure) FROM comparisons").fetchone() == (3, 3)
    (judged.path / "metric.py").write_text(PROGRAMS.replace('"A > B > C > C"', '"A > B > C > D"'))
    del sys.modules["metric"]
    run(judged, "compare", "s", "--judges", judge, "--retry-failed")
    with judged.read() as db:
        found = db.execute("SELECT count(*), count(failure) FROM comparisons").fetchone()
    assert found == ((3, 3) if judge == "missing" else (18, 0))


def test_a_mock_model_answers(judged, run, mock):
    with judged.models_path.open("a") as file:
        file.write(toml(mock, strict='model = "mock-judge-strict"', noisy='model = "mock-judge-noisy"'))
    told = run(judged, "compare", "s", "--judges", "strict,noisy")
    assert told.exit_code == 0, told.output
    with judged.read() as db:
        assert db.execute("SELECT count(*), count(failure) FROM comparisons").fetchone() == (36, 0)


def test_orders_have_wins_strengths_and_agreement(judged, run):
    """Ann and the judge give w x y z, Ben w y x z."""
    deal(judged, "Ann", "Ben")
    order(judged, "Ann", "w > x > y > z")
    order(judged, "Ben", "w > y > x > z")
    run(judged, "compare", "s", "--judges", "order")
    with judged.read() as db:
        found = comparisons.compared(db, "s", resamples=0)
    people = next(row for row in found.matches.rows if row["b"] == "each other")
    # Five of the six pairs of each group alike: τ = 2 · 5 / 6 − 1 = 2 / 3.
    assert (people["equal"].value, people["equal"].n) == (pytest.approx(5 / 6), 18)
    by_people = [row for row in found.duels.rows if row["rater"] == "people"]
    duels = {(row["one"], row["other"]): (row["won"], row["tied"], row["lost"]) for row in by_people}
    assert duels["w", "x"] == (3, 0, 0)
    assert duels["x", "y"] == (0, 3, 0)
    names = [table.name for table in comparisons.result_tables(found)]
    assert names == ["duels", "strengths", "agreement"]


def test_orders_are_exported_and_read_again(judged, run, tmp_path):
    deal(judged, "Ann", "Ben")
    order(judged, "Ann", "w > x = y > z")
    run(judged, "compare", "s", "--judges", "order")
    before = verdicts(judged)
    file = tmp_path / "votes.csv"
    assert run(judged, "export", "comparisons", "--out", file).exit_code == 0
    with judged.write() as db:
        db.execute("DELETE FROM comparisons")
    told = run(judged, "import", "comparisons", file)
    assert told.exit_code == 0, told.output
    assert verdicts(judged) == before
    with judged.read() as db:
        [judge] = comparisons.compared(db, "s", resamples=0).matches.rows
    assert (judge["equal"].value, judge["equal"].n) == (pytest.approx(5 / 6), 18), "x and y tie for Ann"


def test_ranks_of_a_file_are_orders_of_its_judge(judged, run, tmp_path):
    rows = [
        {
            "prompt": f"Human: Question {n}? Assistant: ",
            "answers": [{"answer": f"Yes, {m}.", "model": m, "rank": rank} for m, rank in ranks.items()],
        }
        for n, ranks in enumerate(({"w": 1.0, "x": 2.0, "y": 2.0}, {"w": 3.0, "x": 2.0, "y": 1.0}))
    ]
    file = tmp_path / "ranked.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    told = run(judged, "import", "conversations", file, "--rubric", "sorted")
    assert told.exit_code == 0, told.output
    assert run(judged, "study", "pairs", "f", "--rubric", "sorted", "--benchmark", "ranked").exit_code == 0
    with judged.read() as db:
        votes = list(compared.exported(db, "ranked"))
        table = comparisons.compared(db, "f", resamples=0).duels
    assert [(r["rater"], r["model_first"], r["model_second"], r["verdict"]) for r in votes] == [
        ("gpt-4", "w", "x", "A"),
        ("gpt-4", "w", "y", "A"),
        ("gpt-4", "x", "y", "tie"),
        ("gpt-4", "w", "x", "B"),
        ("gpt-4", "w", "y", "B"),
        ("gpt-4", "x", "y", "B"),
    ]
    assert [(row["won"], row["tied"], row["lost"]) for row in table.rows] == [(1, 0, 1), (1, 0, 1), (0, 1, 1)]
