"""Studies of pairs: which two are compared, what is refused, and judges who compare them by a rubric."""

import sys
import tomllib

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ConcordError, ConfigError, NotFound, StudyError
from concord.rating import Comparison, Rater
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric_store import Numbered
from concord.store import (
    access,
    conversations,
    crowds,
    desk,
    known,
    placements,
    ratings,
    studies,
)
from concord.store import comparisons as compared
from concord.store.comparisons import PairQuestion
from concord.store.crowds import Crowd, Visitor
from concord.studies import annotation_flow, comparisons, crowd, dealing, pairings, running
from concord.studies import studies as study_figures
from concord.studies.purposes import adjudicate, gold

RUBRIC = """
title = "Side by side"
[[criteria]]
name = "better"
type = "pairwise"
statement = "Which one helps more?"
"""
STRICT = RUBRIC + "ties = false\n"


def rubric(text=RUBRIC, **fields):
    told = tomllib.loads(text) | fields
    return Numbered(rubric_of("side", told, "side.toml"), 1)


def talk(player, prompt, reply="Yes.", follow=""):
    said = (Message("user", f"Question {prompt}?"), Message("assistant", reply))
    said += (Message("user", "And then?"), Message("assistant", follow)) if follow else ()
    return Conversation("chats", f"{player}{prompt}", player, said)


@pytest.fixture
def filled(workspace):
    """Three prompts, answered by x and y; the first also by z; two people with links."""
    with workspace.write() as db:
        for player, prompt in ("x0", "y0", "z0", "x1", "y1", "x2", "y2"):
            conversations.save(db, talk(player, prompt))
        for name in ("Ann", "Ben"):
            access.invite(db, name)
    return workspace


def keys(workspace, study="s"):
    with workspace.read() as db:
        return sorted((one, other) for _, _, one, _, other in studies.pairs(db, study))


def names(workspace):
    with workspace.read() as db:
        return studies.names(db, pairs=True)


def test_two_players_replies_to_one_prompt_are_a_pair(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        pairings.new(db, "two", rubric(), "chats", 2, players=["x", "y"], seed=1)
        pairings.new(db, "again", rubric(), "chats", 2, players=["x", "y"], seed=1)
    assert keys(filled) == [("x0", "y0"), ("x0", "z0"), ("x1", "y1"), ("x2", "y2"), ("y0", "z0")]
    assert len(keys(filled, "two")) == 2
    assert keys(filled, "two") == keys(filled, "again")


def test_last_replies_are_compared_where_the_dialogues_before_them_are_one(workspace):
    with workspace.write() as db:
        conversations.save(db, talk("x", "0", "Yes.", "Wait."))
        conversations.save(db, talk("y", "0", "Yes.", "Call."))
        conversations.save(db, talk("x", "1", "Yes.", "Wait."))
        conversations.save(db, talk("y", "1", "No.", "Call."))
        pairings.new(db, "s", rubric(unit="last-reply"), "chats")
        pairings.new(db, "whole", rubric(), "chats")
    assert keys(workspace) == [("x0", "y0")]
    assert keys(workspace, "whole") == [("x0", "y0"), ("x1", "y1")]


def test_a_pair_shares_what_tells_items_apart(workspace):
    """The same first message to two characters is no pair; one character's other first message is."""
    with workspace.write() as db:
        for key, player, character, prompt in (
            ("x0", "x", "Ann", "0"),
            ("y0", "y", "Bob", "0"),
            ("y1", "y", "Ann", "1"),
        ):
            facets = {"character": character, "situation": "rain"}
            said = talk(player, prompt).messages
            conversations.save(db, Conversation("pingpong", key, player, said, facets=facets))
        pairings.new(db, "s", rubric(), "pingpong")
        [(scenario, *_)] = studies.pairs(db, "s")
    assert keys(workspace) == [("x0", "y1")]
    assert scenario == "Ann / rain"


def test_where_no_scenario_is_named_a_pair_shares_what_is_shown_beside_it(workspace):
    with workspace.write() as db:
        for player, card in (("x", "A pirate."), ("y", "A nurse."), ("z", "A nurse.")):
            said = talk(player, "0").messages
            context = {"Character": card, "_temperature": player}
            conversations.save(db, Conversation("chats", f"{player}0", player, said, context=context))
        pairings.new(db, "s", rubric(), "chats")
    assert keys(workspace) == [("y0", "z0")]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"players": ["x"]}, "needs two models"),
        ({"players": ["x", "nobody"]}, "nobody"),
        ({"n": 6}, "There are 5 pairs, not 6"),
        ({"rubric": RUBRIC.replace("pairwise", "yes-no")}, "has no pairwise question"),
    ],
)
def test_what_cannot_be_drawn_is_refused(filled, how, told):
    text = how.pop("rubric", RUBRIC)
    with filled.write() as db, pytest.raises((StudyError, NotFound), match=told):
        pairings.new(db, "s", rubric(text), "chats", **how)


def test_one_player_only(workspace):
    with workspace.write() as db:
        conversations.save(db, talk("x", "0"))
        with pytest.raises(StudyError, match="needs two models"):
            pairings.new(db, "s", rubric(), "chats")


def test_a_name_that_is_taken_is_refused(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        with pytest.raises(StudyError, match="The study of pairs “s” exists already"):
            pairings.new(db, "s", rubric(), "chats")
        with pytest.raises(StudyError, match="name of conversations"):
            pairings.new(db, "chats", rubric(), "chats")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('scale = "1..5"', "has no scale"),
        ("required = false", "has no required"),
        ('reason = "optional"', "has no reason"),
    ],
)
def test_a_pairwise_question_has_no_field_of_other_types(line, told):
    with pytest.raises(ConfigError, match=told):
        rubric(RUBRIC + line)


def test_ties_belong_to_pairwise_questions():
    with pytest.raises(ConfigError, match="has no ties"):
        rubric(STRICT.replace("pairwise", "yes-no"))


def report(workspace, person, *events):
    with workspace.write() as db:
        rater = access.annotator_id(db, person)
        numbered = [{"n": n, **event} for n, event in enumerate(events, 1)]
        return [no.message for no in desk.apply(db, rater, "b", numbered)[1]]


def dealt(workspace, person):
    with workspace.read() as db:
        rater = access.annotator_id(db, person)
        return [placements.numbered(db, rater, number) for number, *_ in placements.on_desk(db, rater, "s")]


def test_a_tie_is_refused_where_the_question_allows_none(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(STRICT), "chats")
        dealing.deal_study(db, "s", ["Ann"])
    one, other, *_ = [pair.id for pair in dealt(filled, "Ann")]
    told = report(
        filled,
        "Ann",
        {"item": one, "do": "answer", "criterion": "better", "score": 0},
        {"item": one, "do": "answer", "criterion": "better", "score": 2},
        {"item": one, "do": "answer", "criterion": "other", "score": 1},
        {"item": other, "do": "answer", "criterion": "better", "score": -1},
    )
    assert [text.split()[1] for text in told] == ["is", "is", "is"], told
    assert [pair.answers["better"] for pair in dealt(filled, "Ann") if pair.answers] == [-1]


def test_a_pair_is_skipped_and_taken_up_again(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        dealing.deal_study(db, "s", ["Ann"])
    one = dealt(filled, "Ann")[0].id
    report(filled, "Ann", {"item": one, "do": "skip", "text": "unclear"})
    with filled.write() as db:
        [ann] = [a for a in access.annotators(db, "s") if a.items]
        assert (ann.done, ann.skipped, dealt(filled, "Ann")[0].reason) == (0, 1, "unclear")
        assert len(placements.reclaim(db, "s", ann.id)) == 4, "what was skipped stays"
    report(
        filled,
        "Ann",
        {"item": one, "do": "skip", "text": "unclear"},
        {"item": one, "do": "answer", "criterion": "better", "score": 1},
    )
    assert dealt(filled, "Ann")[0].state == "done"


def test_sides_are_drawn_for_each_person_and_kept_with_the_answer(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        dealing.deal_study(db, "s", ["Ann", "Ben"])
    shown = {name: {frozenset(p.shown): p.shown[0] for p in dealt(filled, name)} for name in ("Ann", "Ben")}
    assert {shown["Ann"][pair] == shown["Ben"][pair] for pair in shown["Ann"]} == {True, False}
    pair = dealt(filled, "Ben")[0]
    report(filled, "Ben", {"item": pair.id, "do": "answer", "criterion": "better", "score": 1})
    with filled.read() as db:
        kept = db.execute("SELECT first_id, verdict, rubric, criterion FROM comparisons").fetchall()
    assert kept == [(pair.shown[0], "A", "side", "better")]


LONGER = """
def judge(told):
    sides = [len(told[side]["messages"][-1]["content"]) for side in ("first", "second")]
    return {"better": "A" if sides[0] > sides[1] else "tie" if sides[0] == sides[1] else "B"}


def always_first(told):
    return {"better": "A"}


def tied(told):
    return {"better": "tie"}
"""
MODELS = "".join(
    f'[models.{name}]\nkind = "program"\nfunction = "metric:{function}"\n'
    for name, function in (("longer", "judge"), ("first", "always_first"), ("tied", "tied"))
)


@pytest.fixture
def judged(workspace, monkeypatch):
    """Two pairs; x writes more in both."""
    # A module of this name was imported from the workspace of another test.
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "metric", raising=False)
    with workspace.write() as db:
        for prompt in "01":
            conversations.save(db, talk("x", prompt, "A long answer."))
            conversations.save(db, talk("y", prompt, "Short."))
    (workspace.path / "rubrics").mkdir()
    (workspace.path / "metric.py").write_text(LONGER)
    (workspace.path / "models.toml").write_text(MODELS)
    return workspace


def test_programs_compare_the_pairs_of_a_study_in_both_orders(judged, run):
    (judged.path / "rubrics" / "side.toml").write_text(RUBRIC)
    assert run(judged, "study", "pairs", "s", "--rubric", "side").exit_code == 0
    told = run(judged, "compare", "s", "--judges", "longer,first")
    assert told.exit_code == 0, told.output
    with judged.read() as db:
        found = comparisons.compared(db, "s", resamples=0)
        rows = list(compared.exported(db, "chats"))
    assert (found.basis["question"], found.basis["once"]) == (PairQuestion("side", "better"), ())
    duels = {row["rater"]: (row["won"], row["tied"], row["lost"]) for row in found.duels.rows}
    assert (duels["longer"], duels["first"]) == ((2, 0, 0), (0, 2, 0))
    flips = {row["rater"]: (row["n"], row["flips"], row["first"]) for row in found.bias.rows}
    assert flips == {"longer": (2, 0, 0), "first": (2, 2, 2)}
    assert {(r["rubric"], r["criterion"], r["variant"]) for r in rows} == {("side", "better", "side v1")}
    assert "0 to generate" in run(judged, "compare", "s", "--judges", "longer", "--estimate").output


def test_a_judges_tie_where_none_is_allowed_is_a_failure(judged, run):
    (judged.path / "rubrics" / "side.toml").write_text(STRICT)
    run(judged, "study", "pairs", "s", "--rubric", "side")
    run(judged, "compare", "s", "--judges", "tied")
    with judged.read() as db:
        found = comparisons.compared(db, "s", resamples=0)
    assert (found.basis["asked"], found.basis["failed"]) == (4, 4)


def test_a_rubric_of_pairs_alone_is_not_judged_one_by_one(judged, run):
    (judged.path / "rubrics" / "side.toml").write_text(RUBRIC)
    told = run(judged, "judge", "side", "--judges", "longer")
    assert told.exit_code != 0
    assert " study pairs" in told.output
    told = run(judged, "study", "draw", "pilot", "--n", "1", "--rubric", "side")
    assert " study pairs" in told.output


def test_votes_of_one_order_count_as_they_are_and_say_so(judged):
    rubric_used = rubric()
    with judged.write() as db:
        pairings.new(db, "s", rubric_used, "chats")
        for prompt in "01":
            two = f"x{prompt}", f"y{prompt}"
            about = {"rubric": "side", "criterion": "better"}
            compared.save(db, Comparison("|".join(two), *two, Rater("arena", "judge"), "A", **about))
        found = comparisons.compared(db, "s", resamples=0)
    [duel] = found.duels.rows
    assert (found.basis["once"], duel["won"], duel["incomplete"]) == (("arena",), 2, 0)
    assert found.bias.rows == ()
    notes = " ".join(comparisons.result_tables(found)[0].notes)
    assert "one order only: arena" in notes
    assert "wins in both orders" not in notes


def test_an_unknown_study_or_question_is_named(judged):
    with judged.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        with pytest.raises(NotFound, match="other"):
            comparisons.compared(db, "s", question=PairQuestion("side", "other"))
        access.invite(db, "Ann")
        with pytest.raises(NotFound, match="nothing"):
            dealing.deal_study(db, "nothing", ["Ann"])
        with pytest.raises(ConcordError, match="concord compare s --judges"):
            comparisons.compared(db, "s")


def test_answers_by_a_rubric_are_exported_and_read_again(judged, run, tmp_path):
    (judged.path / "rubrics" / "side.toml").write_text(STRICT)
    run(judged, "study", "pairs", "s", "--rubric", "side")
    run(judged, "compare", "s", "--judges", "longer,first")
    file = tmp_path / "votes.csv"
    assert run(judged, "export", "comparisons", "--format", "csv", "--out", file).exit_code == 0
    with judged.write() as db:
        before = comparisons.compared(db, "s", resamples=0)
        db.execute("DELETE FROM comparisons")
    again = run(judged, "import", "comparisons", file)
    assert again.exit_code == 0, again.output
    with judged.read() as db:
        assert comparisons.compared(db, "s", resamples=0) == before
    told = run(judged, "export", "ratings", "--study", "s")
    assert told.exit_code == 1
    assert "For a study of pairs, export comparisons." in told.output


def test_a_study_of_pairs_and_another_one_have_two_names(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        with pytest.raises(StudyError, match="another name"):
            studies.create(db, studies.Study("s", ()))
        studies.create(db, studies.Study("t", ()))
        with pytest.raises(StudyError, match="another name"):
            pairings.new(db, "t", rubric(), "chats")


@pytest.fixture
def dealt_twice(filled):
    """All pairs to both, with a repeat each."""
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats", seed=3)
        dealing.deal_study(db, "s", ["Ann", "Ben"], overlap=0, repeats=0.4)
    return filled


def answer(workspace, person, prefers):
    """Answer everything on a desk: the reply whose key comes first in an order is better."""
    with workspace.write() as db:
        rater = access.annotator_id(db, person)
        for n, (number, *_) in enumerate(placements.on_desk(db, rater, "s"), 1):
            first, second = (
                conversations.load(db, c).key for c in placements.numbered(db, rater, number).shown
            )
            event = {"n": n, "item": number, "do": "answer", "criterion": "better"}
            score = 1 if prefers(first) < prefers(second) else -1
            assert desk.apply(db, rater, "tab", [event | {"score": score}])[1] == []


def test_pairs_come_again_and_are_compared_with_the_first_answer(dealt_twice):
    answer(dealt_twice, "Ann", lambda key: key)
    answer(dealt_twice, "Ben", lambda key: key[::-1])
    with dealt_twice.read() as db:
        again = known.pairs(db, "s")
        turned = db.execute(
            "SELECT count(*) FROM placements p JOIN placements q ON q.item_id = p.item_id "
            "AND q.rater_id = p.rater_id AND q.purpose = 'repeat' WHERE p.purpose = 'first' "
            "AND p.swapped <> q.swapped"
        ).fetchone()
    assert [(one.annotator, one.first == one.second) for one in again] == [("Ann", True)] * 2 + [
        ("Ben", True)
    ] * 2
    assert turned[0] > 0, "a repeat draws its own sides"


def test_the_answer_to_a_gold_pair_counts_on_its_sides(dealt_twice, tmp_path):
    with dealt_twice.write() as db:
        conversations.save(db, talk("z", "1"))
        conversations.save(db, talk("w", "1"))
        file = tmp_path / "gold.csv"
        file.write_text("key,other,criterion,answer\nz1,w1,better,A\n")
        running.set_gold(db, "s", gold.read_gold(db, "s", file))
        assert annotation_flow.hidden(db, "s").startswith(
            "Hidden among them: Ann 1 gold items, Ann 2 repeat items, "
        )
    answer(dealt_twice, "Ann", lambda key: key != "z1")
    answer(dealt_twice, "Ben", lambda key: key != "w1")
    with dealt_twice.read() as db:
        hits = {one.annotator: one.hit for one in known.checks(db, "s")}
    assert hits == {"Ann": True, "Ben": False}


def test_pairs_on_which_people_differ_are_settled(dealt_twice):
    answer(dealt_twice, "Ann", lambda key: key)
    answer(dealt_twice, "Ben", lambda key: key if "0" in key else tuple(-ord(c) for c in key))
    with dealt_twice.write() as db:
        adjudicate.set_rule(db, "s", adjudicate.Rule(least=1))
        found = annotation_flow.look(db, "adjudicate", "s", None)
        disputed = {key_of(db)[item] for item in found.items}
        eve, first = ratings.rater_id(db, Rater("Eve", "human")), next(iter(found.items))
        for score in (1, -1):  # the other answer is another one, however the pair lies on her desk
            annotation_flow.answer(db, "adjudicate", "s", eve, first, "better", score, "It answers.")
            looked_at = annotation_flow.look(db, "adjudicate", "s", eve)
            assert looked_at.answered_items == {first}
            assert looked_at.items[first][0].answer.score == score
    assert disputed == {"x1 | y1", "x2 | y2"}


def key_of(db):
    return {unit["id"]: unit["key"] for unit in studies.units(db, "s")}


def test_a_crowd_compares_pairs(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        studies.set_overlap(db, "s", 0)
        address = crowd.open_link(db, Crowd("s", "prolific", 2, 3, 60), "https://x")
        link = crowds.of_study(db, "s")
        worker = crowd.enter(db, link, Visitor("p1", "s1"))
        rater = worker.rater
        assert "PROLIFIC_PID" in address
        assert len(placements.on_desk(db, rater, "s")) == 3
        assert all(
            len(placements.numbered(db, rater, n).shown) == 2 for n, *_ in placements.on_desk(db, rater, "s")
        )


def test_figures_of_ratings_are_not_made_of_pairs(filled):
    with filled.write() as db:
        pairings.new(db, "s", rubric(), "chats")
        with pytest.raises(StudyError, match="concord compare s"):
            study_figures.ratings_for_agreement(db, "s")
