"""Studies end to end: drawn from what is stored, dealt and dealt anew, and read for agreement."""

import shutil
from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import NotFound, StudyError
from concord.estimate import Estimate
from concord.questions import Scale
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports.agreement_report import AS_DRAWN, Options, agreement_report, report_of
from concord.store import access, conversations, frames, placements, ratings
from concord.store import studies as stored
from concord.store.conversations import Filter
from concord.store.studies import Study
from concord.studies import clusters, studies
from concord.workspace import Workspace
from tests.filled import assigned, fill

PINGPONG = Filter("pingpong")


@pytest.fixture(scope="module")
def unrated_once(tmp_path_factory):
    """The folder of a workspace without people, which `db` copies."""
    made = Workspace.open(tmp_path_factory.mktemp("unrated"))
    with made.write() as db:
        fill(db, people=False)
    return made.path


@pytest.fixture
def db(tmp_path, unrated_once):
    with Workspace(shutil.copytree(unrated_once, tmp_path / "workspace")).write() as opened:
        yield opened


def draw(db, n=16, **options):
    return studies.draw_study(db, "s", studies.StudyDraw(n, options.pop("selection", PINGPONG), **options))


def queues(db, name="s"):
    dealt = {}
    for unit, person, *_ in placements.queues(db, name):
        dealt.setdefault(person, []).append(unit)
    return dealt


def rate(db, person, items, score=3.0, name="s"):
    rater = access.annotator_id(db, person)
    for item, _, _ in assigned(db, rater, name)[:items]:
        for criterion in stored.get(db, name).criteria:
            placements.answer(db, rater, item, criterion.name, score)
        placements.submit(db, rater, item)


class TestApart:
    def test_not_in_names_any_study(self, db):
        studies.draw_study(db, "first", studies.StudyDraw(40, PINGPONG))
        later = studies.draw_study(db, "later", studies.StudyDraw(24, PINGPONG, not_in=["first"]))
        assert (later.sample.candidates, later.sample.not_in) == (24, ("first",))
        first, second = ({u["key"] for u in stored.units(db, n)} for n in ("first", "later"))
        assert not first & second
        with pytest.raises(NotFound, match="“frist”"):
            studies.draw_study(db, "x", studies.StudyDraw(1, PINGPONG, not_in=["frist"]))


class TestDraw:
    def test_strata_drawn_unequally_are_noted(self, db):
        """Situations have equally many conversations, so that of an even draw nothing is kept; when most are
        of one situation, its own are drawn with a lower probability.
        """
        study = draw(db, 16, strata=["player"])
        assert study.sample.chance is None
        situations = conversations.table(db, PINGPONG).situation
        db.execute(
            "UPDATE facets SET value = ? WHERE name = 'situation' AND conversation_id % 3 > 0",
            [situations.iloc[0]],
        )
        sizes = conversations.table(db, PINGPONG).situation.value_counts()
        study = studies.draw_study(
            db, "uneven", studies.StudyDraw(2 * len(sizes), PINGPONG, strata=["situation"])
        )
        assert study.sample.chance == pytest.approx([2 / sizes.max(), 2 / sizes.min()])
        for name, noted in (("s", False), ("uneven", True)):
            report = agreement_report(db, name, Options(resamples=0))
            assert (AS_DRAWN in report.notes) == noted

    def test_it_is_spread_over_what_varies_and_says_how(self, db):
        study = draw(db, 16, seed=5)
        # 64 conversations of 4 players × 4 characters × 4 situations; one interrogator, one language: those
        # do not vary.
        assert study.sample.facets == ("player", "character", "situation")
        assert (study.sample.candidates, study.seed) == (64, 5)
        found = [conversations.listed(db, u["conversation_id"]) for u in stored.units(db, "s")]
        assert set(Counter(f.player for f in found).values()) == {4}
        assert set(Counter(f.facets["situation"] for f in found).values()) == {4}
        assert [c.name for c in study.criteria] == ["in_character", "entertaining", "fluency"]

    def test_refusal_is_asked_only_when_named(self, db):
        assert [c.name for c in draw(db, ask=["fluency", "refusal"]).criteria] == ["fluency", "refusal"]
        with pytest.raises(NotFound, match="“charm”"):
            studies.draw_study(db, "t", studies.StudyDraw(2, PINGPONG, ask=["charm"]))

    def test_own_criteria(self, db):
        own = Criterion("helpful", "It helps.", Scale((0, 1), ("no", "yes")))
        assert draw(db, ask=[own]).criteria == (own,)

    def test_every_turn_with_a_reply(self, db):
        draw(db, 5, per_turn=True)
        units = stored.units(db, "s")
        assert len(units) == 10
        assert [u["turn"] for u in units[:4]] == [1, 2, 1, 2]

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"n": 65}, "64 candidates for 65"),
            ({"selection": Filter("pingpong", players=("nobody",))}, "0 candidates"),
            ({"selection": Filter("other")}, "no criteria for “other”"),
            ({"strata": ["mood"]}, "“mood”. What varies here: player, language, character"),
        ],
    )
    def test_what_cannot_be_drawn_says_why_and_makes_no_study(self, db, options, sentence):
        with pytest.raises(StudyError, match=sentence):
            draw(db, **options)
        assert stored.names(db) == []


class TestDeal:
    @pytest.fixture(autouse=True)
    def _invited(self, db):
        draw(db, 12)
        studies.invite(db, ["ann", "bob", "cy", "dee"])

    def test_overlap_and_own_orders(self, db):
        assert studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2) == {"ann": 8, "bob": 8, "cy": 8}
        dealt = queues(db)
        assert Counter(u for mine in dealt.values() for u in mine) == {
            u["id"]: 2 for u in stored.units(db, "s")
        }
        shared = [u for u in dealt["ann"] if u in dealt["bob"]]
        assert shared != [u for u in dealt["bob"] if u in dealt["ann"]]
        assert stored.get(db, "s").overlap == 2

    def test_dealing_again_changes_nothing(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=2)
        before = placements.queues(db, "s")
        studies.deal_study(db, "s")
        assert placements.queues(db, "s") == before

    def test_a_newcomer_takes_what_others_have_not_begun(self, db):
        studies.deal_study(db, "s", ["ann", "bob"], overlap=1)
        rate(db, "ann", 2)
        before = queues(db)
        # 12 units once: 6 and 6 become 4 each; the first in everyone's queue stay.
        assert studies.deal_study(db, "s", ["cy"]) == {"ann": 4, "bob": 4, "cy": 4}
        after = queues(db)
        assert after["ann"] == before["ann"][:4]
        assert after["bob"] == before["bob"][:4]
        assert sorted(after["cy"]) == sorted(before["ann"][4:] + before["bob"][4:])

    def test_who_has_done_more_than_a_fair_share_keeps_it(self, db):
        studies.deal_study(db, "s", ["ann"], overlap=1)
        rate(db, "ann", 9)
        assert studies.deal_study(db, "s", ["bob"]) == {"ann": 9, "bob": 3}

    def test_who_left_keeps_what_they_finished_and_others_get_the_rest(self, db):
        studies.deal_study(db, "s", ["ann", "bob"], overlap=1)
        rate(db, "ann", 2)
        rater = access.annotator_id(db, "ann")
        begun = next(item for item, state, _ in assigned(db, rater, "s") if state == "open")
        placements.answer(db, rater, begun, "fluency", 3)
        access.revoke(db, "ann")
        # ann finished 2 and broke one off: bob has his 6, the 3 she had not begun, and the one broken off.
        assert studies.deal_study(db, "s") == {"ann": 3, "bob": 10}
        with pytest.raises(StudyError, match="link of “ann” was withdrawn"):
            studies.deal_study(db, "s", ["ann"])

    def test_a_smaller_overlap_takes_back_what_was_not_begun(self, db):
        studies.deal_study(db, "s", ["ann", "bob", "cy"], overlap=0)
        rate(db, "ann", 1)
        dealt = studies.deal_study(db, "s", overlap=1)
        assert sum(dealt.values()) == 12
        assert max(dealt.values()) - min(dealt.values()) <= 1

    def test_turns_of_a_conversation_stay_together(self, db):
        studies.draw_study(db, "t", studies.StudyDraw(6, PINGPONG, per_turn=True))
        studies.deal_study(db, "t", ["ann", "bob", "cy"], overlap=2)
        units = {u["id"]: (u["key"], u["turn"]) for u in stored.units(db, "t")}
        for mine in queues(db, "t").values():
            seen = [units[unit] for unit in mine]
            assert [turn for _, turn in seen] == [1, 2] * (len(seen) // 2)
            assert all(a[0] == b[0] for a, b in zip(seen[::2], seen[1::2], strict=True))

    def test_somebody_unknown_is_not_dealt_to(self, db):
        with pytest.raises(NotFound, match="Did you mean “ann”"):
            studies.deal_study(db, "s", ["anne"])
        with pytest.raises(StudyError, match="Invite some first"):
            studies.deal_study(db, "s")

    def test_a_link_names_the_desk_and_its_token_opens_it(self, db):
        (link,) = studies.invite(db, ["ann"], "https://example.org/").values()
        assert link.startswith("https://example.org/rate?token=")
        assert access.of_token(db, link.split("=")[1])[1] == "ann"


class TestForAgreement:
    def test_judges_are_not_compared_on_refused_conversations(self, db):
        draw(db, 64)
        seen = frames.refusals_seen(db, "s")
        found = studies.ratings_for_agreement(db, "s")
        assert set(found.left_out) == set(seen)
        by = Counter(judge for judges in seen.values() for judge in judges)
        assert found.refused_by == by
        report = report_of(found, Options(resamples=5))
        assert report.agreement.items == 64
        (out,) = report.as_json()["left_out"]
        assert (out["units"], out["by"]) == (len(seen), by)
        assert out["reason"].startswith(studies.REFUSAL)
        for judge, n in by.items():
            assert f"{judge} {n}" in report.agreement.criteria["final"].basis
        kept = report_of(studies.ratings_for_agreement(db, "s", exclude_refused=False), Options(resamples=5))
        given = [np.isfinite(r.ratings["final"].judges["strict"]).sum() for r in (kept, report)]
        assert given == [64, 64 - len(seen)]
        assert kept.left_out == []

    def test_the_mean_of_runs_is_divided_once(self, db):
        draw(db, 1)
        key = stored.units(db, "s")[0]["key"]
        for repeat, score in enumerate((1, 2, 2)):
            given = (Rating(Unit(key), "fluency", score),)
            ratings.save_judgement(
                db, Judgement(f"r{repeat}", key, Rater("runner", "judge"), given, repeat=repeat)
            )
        of = studies.ratings_for_agreement(db, "s", exclude_refused=False)
        mean = of.table
        # (1 + 2 + 2) / 3, rounded only where scores are compared
        assert list(mean[mean.rater == "runner"].score) == [5 / 3]
        # Of judges with several runs alone is each run kept.
        assert set(of.repeats["rater"].tolist()) == {"runner"}
        assert dict(zip(of.repeats["repeat"], of.repeats["score"], strict=True)) == {0: 1, 1: 2, 2: 2}

    def test_final_counts_what_people_and_judges_both_rated(self, db):
        draw(db, 4, ask=["fluency", "entertaining", "refusal"])
        studies.invite(db, ["ann"])
        studies.deal_study(db, "s", ["ann"])
        assert studies.ratings_for_agreement(db, "s").final_criteria == (
            "fluency",
            "entertaining",
        )  # nobody rated yet: what judges rated
        rate(db, "ann", 4, score=1.0)
        found = studies.ratings_for_agreement(db, "s")
        assert found.criteria == ("fluency", "entertaining", "refusal")
        assert found.final_criteria == ("fluency", "entertaining")

    def test_an_empty_study_says_what_to_do(self, db):
        stored.create(db, stored.Study("empty", (Criterion("f", "f"),)))
        with pytest.raises(StudyError, match="“empty” has no ratings yet"):
            studies.ratings_for_agreement(db, "empty")
        with pytest.raises(NotFound, match=r"no study “emty”\. Did you mean “empty”"):
            studies.ratings_for_agreement(db, "emty")


def test_units_of_one_scenario_are_resampled_together(filled):
    """Every character × situation is one cluster: its units, by whatever player, are drawn together or not at
    all.
    """
    with filled.read() as db:
        [name] = stored.names(db)
        together = studies.ratings_for_agreement(db, name, cluster_by=["character", "situation"])
        assert studies.ratings_for_agreement(db, name).clusters == together.clusters
        alone = studies.ratings_for_agreement(db, name, cluster_by=())
        plain = report_of(alone, Options(resamples=100)).as_json()
        rows = db.execute(
            "SELECT u.id, c.key FROM items u JOIN conversations c ON c.id = u.conversation_id"
        ).fetchall()
        with pytest.raises(NotFound, match=r"“characters”.*“character”"):
            studies.ratings_for_agreement(db, name, cluster_by=["characters"])
    # The key says the same: pingpong/v2/en/CHARACTER/SITUATION/PLAYER/…
    assert together.clusters == {unit: tuple(key.split("/")[3:5]) for unit, key in rows}
    clustered = report_of(together, Options(resamples=100)).as_json()
    rated = set(together.table.unit[together.table.kind == "human"])
    assert clustered["clusters"] == len({together.clusters[unit] for unit in rated}) < len(rated)
    tables = (found["sections"]["final"]["judges"]["judges"] for found in (clustered, plain))
    of, alone = (table["rows"][0]["spearman"] for table in tables)
    assert of["value"] == alone["value"]
    assert of["ci"] != alone["ci"]
    assert "clusters" not in plain


def test_every_interval_draws_scenarios_or_says_that_it_does_not(filled_report):
    """Where units of one scenario are resampled together, no table draws items one by one in silence."""
    tables = filled_report.tables(filled_report.main)
    silent = [
        name
        for name, table in tables.items()
        if any(isinstance(cell, Estimate) and cell.interval for row in table.rows for cell in row.values())
        and "clusters of items" not in " ".join(table.notes)
    ]
    assert silent == []
    assert "independent" in " ".join(tables["alt_test"].notes)


@pytest.fixture
def filled_report(filled):
    with filled.read() as db:
        return agreement_report(db, stored.names(db)[0], Options(resamples=50))


def test_too_few_scenarios_are_not_resampled_together_and_that_is_said(db):
    """Four situations of one character are four clusters: no interval would be left."""
    draw(db, 16, selection=Filter("pingpong", facets={"character": ("robot",)}))
    found = studies.ratings_for_agreement(db, "s")
    assert found.clusters is None
    assert found.too_few == (
        "Items share only 4 values of character and situation, too few for cluster resampling. Intervals "
        "assume independent items and may be too narrow."
    )
    assert found.too_few in report_of(found).notes


def test_turns_of_one_conversation_are_resampled_together(db):
    """Nine conversations of two turns each, of no known scenario."""
    study = Study("t", (Criterion("fluency", "?"),), per_turn=True)
    stored.create(db, study)
    said = [Message(role, "…") for role in ("user", "assistant") * 2]
    ids = [conversations.save(db, Conversation("own", f"k{n}", "p", tuple(said))) for n in range(9)]
    stored.add_units(db, "t", [(number, turn, "") for number in ids for turn in (1, 2)])
    places = frames.places(db, "t")
    facets = clusters.facets_for(db, study, places, None)
    assert clusters.clusters(study, facets, places, None)[0] == ("conversation",)


def test_answers_to_one_prompt_are_resampled_together(db):
    """Sixteen prompts with two answers each, of no known scenario: sixteen clusters, unless switched off."""
    stored.create(db, Study("t", (Criterion("fluency", "?"),)))
    for prompt, player in product(range(16), "ab"):
        said = (Message("user", f"Question {prompt}"), Message("assistant", "…"))
        number = conversations.save(db, Conversation("own", f"{player}{prompt}", player, said))
        stored.add_units(db, "t", [(number, None, "")])
        key = f"{player}{prompt}"
        given = (Rating(Unit(key), "fluency", 1 + prompt % 5),)
        ratings.save_judgement(db, Judgement(f"j {key}", key, Rater("j", "judge"), given))
    of = studies.ratings_for_agreement(db, "t")
    assert (of.cluster_by, len(set(of.clusters.values()))) == (("first message",), 16)
    assert "first message" not in of.facets
    assert studies.ratings_for_agreement(db, "t", cluster_by=()).clusters is None


@pytest.mark.parametrize(
    ("opening", "turns", "together"),
    [("Hi!", 2, False), ("Hi!", 1, True), ("What is the mass of the Earth?", 2, True)],
)
def test_a_greeting_that_dialogues_begin_with_is_no_prompt(db, opening, turns, together):
    """Twenty dialogues, of which ten begin alike; before a single reply it is a prompt."""
    stored.create(db, Study("t", (Criterion("fluency", "?"),)))
    for number in range(20):
        first = opening if number < 10 else f"A question of its own, number {number}"
        later = [Message(role, f"{number}") for role in ("user", "assistant") * (turns - 1)]
        said = (Message("user", first), Message("assistant", "…"), *later)
        stored.add_units(
            db, "t", [(conversations.save(db, Conversation("own", f"k{number}", "p", said)), None, "")]
        )
    assert len(set(frames.first_messages(db, "t").values())) == (11 if together else 20)


def test_what_can_be_counted_of_units_is_read_beside_their_ratings(filled):
    with filled.read() as db:
        [name] = stored.names(db)
        features = pd.DataFrame(frames.feature_rows(db, name)).set_index("unit")
        # Of 16 scenes by four players, every third conversation: characters and situations come again, the
        # interrogator is one.
        assert frames.varied(frames.facet_values(db, name)) == ["character", "situation"]
        for unit in stored.units(db, name)[:6]:
            replies = [t.reply.content for t in conversations.load(db, unit["key"]).turns()]
            assert features.reply_chars[unit["id"]] == sum(map(len, replies)) / len(replies)
    assert features.turn.isna().all()
