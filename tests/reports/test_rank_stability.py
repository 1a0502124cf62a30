"""How stable a leaderboard's order is: from stored conversations to every figure, by hand; the command; other
people's files.
"""

from __future__ import annotations

import csv
import io
import json

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ConcordError, NotFound
from concord.reports import leaderboards, rank_stability
from concord.reports.rated import gather
from concord.store import conversations
from concord.workspace import Workspace
from tests.mutual import GIVEN, fill

WITH_PEOPLE = "ρ with annotators"


@pytest.fixture
def grove(tmp_path):
    """Models that play and judge each other, under two interrogators."""
    made = Workspace.open(tmp_path / "grove")
    with made.write() as db:
        fill(db)
    return made


def board_of(db, *, judges=(), resamples=0):
    return leaderboards.leaderboard(gather(db, "pingpong"), judges=judges, resamples=resamples)


def found(workspace, *, study="", **kwargs):
    """Every table by its name."""
    with workspace.read() as db:
        return {t.name: t for t in rank_stability.rank_stability(db, board_of(db, **kwargs), study=study)}


def filled(tmp_path, *args, **kwargs):
    made = Workspace.open(tmp_path / "other")
    with made.write() as db:
        fill(db, *args, **kwargs)
    return made


def tau(found, by, a, b):
    return next(row["tau"] for row in found[f"tau-by-{by}"].rows if (row["a"], row.get("b")) == (a, b))


def mean(found, varies="judge", fixed="every conversation"):
    """The mean of the taus of a set of rankings."""
    rows = found["rank-stability"].rows
    return next(row["tau"] for row in rows if (row["varies"], row["fixed"]) == (varies, fixed))


def scores(found, by):
    """The players' scores in each ranking."""
    table = found[f"orders-by-{by}"]
    names = [c.name.removeprefix("by ") for c in table.columns if c.name.startswith("by ")]
    return {n: {r["player"]: r[f"by {n}"] for r in table.rows if f"by {n}" in r} for n in names}


def pool(found, name):
    """The judges' weights in a pool, those of weight 0 left out; or the reason why it is undefined."""
    cells = {row["judge"]: row[name] for row in found["panels"].rows if row["judge"] != WITH_PEOPLE}
    reasons = {cell.reason for cell in cells.values()}
    return {j: c.value for j, c in cells.items() if c.value} if reasons == {""} else reasons.pop()


# By judge


def test_each_judges_own_order_and_their_taus(grove):
    made = found(grove)
    # The second interrogator's oak is rated as the first one's yew: both end at the mean of the two.
    assert scores(made, "judge") == {
        "ash": {"elm": 4, "ash": 5, "oak": 2.5, "yew": 2.5},
        "elm": {"elm": 4, "ash": 3, "oak": 1.5, "yew": 1.5},
        "oak": {"elm": 4, "ash": 2, "oak": 3, "yew": 3},
    }
    # Of six pairs of players oak–yew is tied everywhere. ash and elm disagree on ash–elm alone: (4 − 1) / √(5
    # × 5); ash and oak on
    # ash–elm, ash–oak, ash–yew: (2 − 3) / 5; elm and oak on ash–oak and ash–yew: (3 − 2) / 5.
    assert tau(made, "judge", "ash", "elm").value == pytest.approx(3 / 5)
    assert tau(made, "judge", "ash", "oak").value == pytest.approx(-1 / 5)
    assert tau(made, "judge", "elm", "oak").value == pytest.approx(1 / 5)
    assert mean(made).value == pytest.approx((3 - 1 + 1) / 5 / 3)
    assert made["orders-by-judge"].meta["conversations"] == dict.fromkeys(GIVEN, 24)


def test_only_conversations_of_the_whole_panel_without_refusals_count(grove):
    with grove.write() as db:
        db.execute(
            "DELETE FROM scores WHERE rater_id = (SELECT id FROM raters WHERE name = 'oak') AND "
            "conversation_id = 1"
        )
        db.execute(
            "UPDATE scores SET total = 1 WHERE criterion = 'refusal' AND conversation_id = 2 AND rater_id = 1"
        )
    assert f"over the {24 - 2} conversations" in found(grove)["rank-stability"].notes[0]
    # A panel without oak has conversation 1 as well.
    without = found(grove, judges=["ash", "elm"])["rank-stability"]
    assert f"over the {24 - 1} conversations" in without.notes[0]


def test_two_players_have_no_tau(tmp_path):
    made = filled(tmp_path, {j: {"elm": s["elm"], "ash": s["ash"]} for j, s in GIVEN.items()}, ["guest"])
    taus = found(made)["tau-by-judge"].estimates("tau")
    assert {t.reason for t in taus} == {"2 players in common, at least 3 are needed"}
    assert mean(found(made)).value is None


def test_a_judge_who_scores_all_alike_has_no_order(tmp_path):
    made = filled(tmp_path, {"ash": GIVEN["ash"], "flat": dict.fromkeys(GIVEN["ash"], 3)})
    assert mean(found(made)).reason == "flat gives all of them the same score"


def test_a_panel_of_one_is_compared_with_nobody(grove):
    one = found(grove, judges=["ash"])
    assert mean(one).reason == "fewer than two rankings to compare"
    assert [pool(one, "top two"), pool(one, "PageRank")] == [
        "the panel has no more than two judges",
        "one model here judges and plays too, at least 3 are needed",
    ]


def test_intervals_come_from_the_draws_and_repeat(grove):
    first = found(grove, resamples=200)
    low, high = mean(first).interval
    assert -1 <= low < high <= 1
    # oak and yew are tied only because two interrogators balance: other draws tell them apart.
    assert low != mean(first).value
    assert first == found(grove, resamples=200)


def test_where_nothing_was_rated_by_all_it_is_said(tmp_path):
    made = filled(tmp_path, {"ash": GIVEN["ash"]}, ["guest"])
    with made.write() as db:
        fill(db, {"elm": GIVEN["elm"], "oak": GIVEN["oak"]}, ["stranger"])
    with pytest.raises(ConcordError, match="Choose fewer judges"):
        found(made, judges=["ash", "elm"])
    # Nobody named a panel: it is one of those who rated most, and one ranking is compared with none.
    assert mean(found(made)).reason == "fewer than two rankings to compare"


# By interrogator


def test_the_panels_order_by_interrogator(grove):
    made = found(grove)
    by = scores(made, "interrogator")
    third = pytest.approx
    # guest: ash (5 + 3 + 2)/3, elm 4, oak (3 + 2 + 5)/3, yew (2 + 1 + 1)/3; for the stranger oak and yew
    # change places.
    assert by["guest"] == third({"ash": 10 / 3, "elm": 4, "oak": 10 / 3, "yew": 4 / 3})
    assert by["stranger"] == third({"ash": 10 / 3, "elm": 4, "oak": 4 / 3, "yew": 10 / 3})
    # ash–elm, elm–oak, elm–yew agree, oak–yew does not; ash–oak is tied for one, ash–yew for the other: (3 −
    # 1) / √(5 × 5).
    assert tau(made, "interrogator", "guest", "stranger").value == pytest.approx(2 / 5)
    assert made["orders-by-interrogator"].meta["conversations"] == {"guest": 12, "stranger": 12}


def test_one_interrogator_is_compared_with_none(tmp_path):
    made = filled(tmp_path, GIVEN, ["guest"])
    assert not any("interrogator" in name for name in found(made))


def test_a_player_an_interrogator_never_met_is_left_out_of_its_pairs(grove):
    with grove.write() as db:
        said = (Message("user", "?"), Message("assistant", "!"))
        conversations.save(db, Conversation("pingpong", "odd", "fir", said, "en", {"interrogator": "guest"}))
        number = conversations.find_id(db, "odd")
        db.execute(
            "INSERT INTO scores (conversation_id, study_id, rater_id, criterion, repeat, total, n, extra) "
            "SELECT ?, study_id, rater_id, criterion, repeat, total, n, extra FROM scores "
            "WHERE conversation_id = 1",
            [number],
        )
    made = found(grove)
    by = scores(made, "interrogator")
    assert "fir" in by["guest"]
    assert "fir" not in by["stranger"]
    assert tau(made, "interrogator", "guest", "stranger").n == 4
    assert tau(made, "interrogator", "guest", "stranger").value == pytest.approx(2 / 5), "as without it"


# Pools


def test_pagerank_holds_its_own_equation(grove):
    ranks = found(grove)["panels"].meta["pagerank"]
    # ash gives elm 4 and oak 2.5; elm gives ash 3 and oak 1.5; oak gives ash 2 and elm 4. yew judges nobody
    # and has no part in it.
    assert sum(ranks.values()) == pytest.approx(1)
    assert ranks["ash"] == pytest.approx(0.05 + 0.85 * (ranks["elm"] * 3 / 4.5 + ranks["oak"] * 2 / 6))
    assert ranks["elm"] == pytest.approx(0.05 + 0.85 * (ranks["ash"] * 4 / 6.5 + ranks["oak"] * 4 / 6))
    assert ranks["oak"] == pytest.approx(0.05 + 0.85 * (ranks["ash"] * 2.5 / 6.5 + ranks["elm"] * 1.5 / 4.5))


def test_the_pools_without_people(grove):
    made = found(grove)
    assert pool(made, "uniform") == pytest.approx(dict.fromkeys(GIVEN, 1 / 3))
    assert made["panels"].meta["top_two_by"] == "PageRank"
    assert pool(made, "PageRank") == pytest.approx(made["panels"].meta["pagerank"])
    # elm is praised most, then ash; oak least.
    assert pool(made, "top two") == {"elm": 0.5, "ash": 0.5}
    assert scores(made, "panel")["uniform"] == pytest.approx(
        {"ash": 10 / 3, "elm": 4, "oak": 7 / 3, "yew": 7 / 3}
    )
    assert scores(made, "panel")["top two"] == {"ash": 4, "elm": 4, "oak": 2, "yew": 2}
    # uniform tells ash from elm, the best two do not; oak–yew is tied in both: 4 / √(5 × 4).
    assert tau(made, "panel", "uniform", "top two").value == pytest.approx(4 / 20**0.5)


def test_the_uniform_pool_is_the_tables_own_final(grove):
    with grove.read() as db:
        board = board_of(db)
    assert scores(found(grove), "panel")["uniform"] == pytest.approx(
        {s.player: s.final.value for s in board.standings}, abs=1e-8
    )


def test_the_best_two_are_those_nearest_to_people(tmp_path):
    made = filled(tmp_path, people="oak")
    pools = found(made)
    # People follow oak, ρ = 1. Their ranks of the four kinds of items are 2 3 4 1, elm's 3 4 2 1, ash's 4 3 2
    # 1:
    # ρ(elm) = 1 − 6 · 6 / 60 = 0.4, ρ(ash) = 1 − 6 · 8 / 60 = 0.2.
    assert pool(pools, "top two") == {"oak": 0.5, "elm": 0.5}
    assert pools["panels"].meta["top_two_by"] == "agreement with annotators in the study “grove”"
    assert scores(pools, "panel")["top two"] == {"ash": 2.5, "elm": 4, "oak": 2.25, "yew": 2.25}
    assert found(made, study="grove") == pools
    with pytest.raises(NotFound, match="Did you mean “grove”"):
        found(made, study="grave")


def test_fewer_than_three_models_that_judge_each_other_have_no_pagerank(tmp_path):
    made = filled(tmp_path, {"ash": GIVEN["ash"], "elm": GIVEN["elm"], "critic": GIVEN["oak"]})
    made = found(made)
    assert pool(made, "PageRank") == "2 models here judge and play too, at least 3 are needed"
    assert "no study with annotators has figures of two judges, and 2 models" in pool(made, "top two")


def test_a_judge_who_does_not_play_weighs_nothing_by_pagerank(tmp_path):
    made = filled(tmp_path, {**GIVEN, "critic": GIVEN["oak"]})
    weights = pool(found(made), "PageRank")
    assert set(weights) == set(GIVEN)
    assert sum(weights.values()) == pytest.approx(1)


# Each condition with each judge


def test_every_interrogator_has_a_judge_and_every_judge_one(grove):
    made = found(grove)
    # ash gives guest's elm, ash, oak, yew 4 5 3 2, the stranger's 4 5 2 3: one pair of six is turned round,
    # (5 − 1) / 6. elm gives 4 3 2 1 and 4 3 1 2, likewise.
    for judge in ("ash", "elm"):
        assert mean(made, "interrogator", f"judged by {judge}").value == pytest.approx(4 / 6)
    # oak gives 4 2 5 1 and 4 2 1 5: of elm, ash, oak, yew the pairs elm–oak, elm–yew, ash–oak, ash–yew and
    # oak–yew are turned round, elm–ash is not: (1 − 5) / 6.
    assert mean(made, "interrogator", "judged by oak").value == pytest.approx(-4 / 6)
    assert mean(made, "interrogator", "judged by the panel").value == pytest.approx(2 / 5)
    # With guest, ash 4 5 3 2, elm 4 3 2 1, oak 4 2 5 1. ash–elm: elm–ash is turned round: 4 / 6. ash–oak:
    # elm–ash, elm–oak, ash–oak: 0. elm–oak: elm–oak, ash–oak: 2 / 6. The mean is (4 + 0 + 2) / 18.
    assert mean(made, "judge", "interrogator guest").value == pytest.approx(6 / 18)
    row = next(row for row in made["rank-stability"].rows if row["fixed"] == "interrogator guest")
    assert (row["rankings"], row["least"]) == (3, pytest.approx(0))


def test_panels_have_their_correlation_with_annotators(tmp_path):
    made = found(filled(tmp_path, people="oak"))
    row = next(row for row in made["panels"].rows if row["judge"] == WITH_PEOPLE)
    # The top two, oak and elm, give guest's elm, ash, oak, yew 4, 2.5, 3.5, 1, people 4, 2, 5, 1; with the
    # stranger, oak and yew change places. Twice the four kinds: ranks 4 2 3 1 and 3 2 4 1: 1 − 6 · 2 / 60.
    assert row["top two"].value == pytest.approx(0.8)
    assert row["top two"].n == 24
    without = next(
        row for row in found(filled(tmp_path / "none"))["panels"].rows if row["judge"] == WITH_PEOPLE
    )
    assert without["uniform"].reason == "no study with annotators has conversations of this leaderboard"


# The command


@pytest.fixture
def other(tmp_path):
    file = tmp_path / "other.csv"
    file.write_text("model,score\nELM,3\nash,2\noak,1\nyew,4\n=fir,9\n")
    return file


def test_every_format_has_the_same_figures(grove, run, other):
    asked = ("leaderboard", "pingpong", "--stability", "--resamples", 100, "--against", other, "--format")
    table, values, lines = (run(grove, *asked, form) for form in ("table", "json", "csv"))
    document = json.loads(values.stdout)["tables"]
    first = document["rank-stability"]["rows"][0]
    assert first["tau"]["value"] == pytest.approx(1 / 5)
    assert document["panels"]["top_two_by"] == "PageRank"
    against = document["against"]["rows"][0]
    assert against["spearman"]["n"] == 4
    rows = list(csv.DictReader(io.StringIO(lines.stdout)))
    spearman = next(row for row in rows if row["figure"] == "spearman")
    assert float(spearman["value"]) == against["spearman"]["value"]
    assert f"{against['spearman']['value']:.3f}" in table.stdout
    for done in (table, values, lines):
        assert done.exit_code == 0


def test_largest_rises_and_falls_and_the_published_figure(grove, run, other):
    done = run(grove, "leaderboard", "pingpong", "--against", other, "--format", "markdown")
    # Here elm 4, ash 10/3, oak and yew 7/3; there yew, elm, ash, oak.
    assert "Largest rises: elm from 2 to 1, ash from 3 to 2, oak from 4 to 3.5." in done.stdout
    assert "Largest falls: yew from 1 to 3.5." in done.stdout
    assert "0.53 (en; PingPong, section 5)" in done.stdout


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        (("pingpang",), "Did you mean “pingpong”?"),
        (("pingpong", "--judges", "esh"), "Did you mean “ash”?"),
        (("pingpong", "--where", "language=xx"), "There is no language “xx”"),
        (("pingpong", "--weights", "1"), "--weights needs 3 numbers"),
        (("pingpong", "--study", "grove"), "no other yet."),
        (("stss",), "there is no such table"),
    ],
)
def test_wrong_arguments_are_answered_with_a_sentence(grove, run, asked, part):
    done = run(grove, "leaderboard", "--stability", *asked)
    assert done.exit_code == 1
    assert part in done.stderr
    assert "Traceback" not in done.output


def test_the_demo_prints_rank_stability(demo_workspace, run):
    asked = ("pingpong-v1", "--where", "language=en", "--where", "prompt=v2", "--resamples", 50)
    done = run(demo_workspace, "leaderboard", *asked, "--stability", "--format", "json")
    tables = json.loads(done.stdout)["tables"]
    fixed = {(row["varies"], row["fixed"]) for row in tables["rank-stability"]["rows"]}
    assert ("interrogator", "judged by mock-judge-noisy") in fixed
    assert ("judge", "interrogator mock-user") in fixed
    assert sum(tables["panels"]["pagerank"].values()) == pytest.approx(1)


def test_one_judge_is_compared_with_those_of_the_fullest_version(demo_workspace, run):
    """An interrogator that rates as it goes is a judge of its own conversations alone."""
    asked = ("leaderboard", "pingpong-v1", "--where", "language=en", "--resamples", 20, "--stability")
    done = run(demo_workspace, *asked, "--format", "json")
    assert json.loads(done.stdout)["tables"]["rank-stability"]["judges"] == [
        "mock-judge-lenient v2",
        "mock-judge-noisy",
        "mock-judge-strict v2",
    ]
