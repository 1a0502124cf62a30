"""The table of players: every figure beside its arithmetic by hand."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from concord.cli import main
from concord.codes import IntervalMethod
from concord.conversation import Conversation, Message, Unit
from concord.errors import ConcordError, NotFound
from concord.estimate import Estimate, undefined
from concord.questions import LIKERT_5, between
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.reports import leaderboards
from concord.reports.leaderboard_table import UNLIKE, first_two, leaderboard_table
from concord.reports.leaderboards import length_factor, ranks, standings
from concord.reports.rated import gather
from concord.runs.registry import get
from concord.statistics.intervals import percentile
from concord.store import conversations, ratings, tables
from concord.table import Column, Table, as_latex
from concord.workspace import Workspace
from tests.filled import JUDGES, fill

ALIKE = {"in_character": 1.0, "fluency": 1.0}
panel_scores = partial(leaderboards.panel_scores, refusal="refusal")


def frame(*rows, columns):
    return pd.DataFrame(list(rows), columns=columns)


def stored(*rows):
    """Conversations: (number, player, turns, reply_chars)."""
    return (
        frame(*rows, columns=["conversation", "player", "turns", "reply_chars"])
        .set_index("conversation")
        .assign(cut_replies=0, simulated=0)
    )


def given(*rows):
    """Ratings: (conversation, judge, in_character, fluency, refusal)."""
    return frame(*rows, columns=["conversation", "judge", "in_character", "fluency", "refusal"])


def only(found):
    assert len(found) == 1
    return found[0]


def test_conversations_only_part_of_the_panel_rated_enter_no_column():
    whole = [(1, j, 4.0, 4.0, 0.0) for j in "ab"] + [(2, "a", 2.0, 2.0, 1.0), (2, "b", 2.0, 2.0, 0.0)]
    half = [(number, "a", 5.0, 5.0, 0.0) for number in (3, 4, 5)]
    known = stored((1, "p", 1, 100), (2, "p", 1, 300), (3, "p", 1, 900), (4, "p", 1, 900), (5, "p", 1, 900))
    row = only(
        standings(panel_scores(known, given(*whole, *half), ["a", "b"], ALIKE), list(ALIKE), resamples=0)
    )
    # Both judges rated 1 and 2, and one saw a refusal in 2: ratio 1/2, length (100 + 300) / 2 replies; 3 to 5
    # are left out of both.
    assert (row.refusal_ratio, row.reply_chars) == (0.5, 200.0)
    assert (row.n, row.refused, row.incomplete, row.judged) == (1, 1, 3, 5)


def test_conversations_that_no_judge_could_rate_are_counted():
    unusable = pd.DataFrame({"conversation": [2, 2, 3], "judge": ["a", "b", "z"]})
    known = stored((1, "p", 1, 100), (2, "p", 1, 300), (3, "p", 1, 900))
    rows = given((1, "a", 4.0, 4.0, 0.0), (1, "b", 2.0, 2.0, 0.0))
    scored = panel_scores(known, rows, ["a", "b"], ALIKE, unusable=unusable)
    row = only(standings(scored, list(ALIKE), resamples=0))
    # Conversation 3 was given to a judge that is not of the panel.
    assert (row.n, row.incomplete, row.judged) == (1, 1, 2)


def test_a_panels_score_is_the_mean_over_judges():
    scored = panel_scores(
        stored((1, "p", 4, 400)), given((1, "a", 4.0, 5.0, 0.0), (1, "b", 3.0, 2.0, 0.0)), ["a", "b"], ALIKE
    )
    row = scored.loc[1]
    # in character (4 + 3) / 2 = 3.5; fluency (5 + 2) / 2 = 3.5; final (3.5 + 3.5) / 2
    assert (row.in_character, row.fluency, row.final) == (3.5, 3.5, 3.5)


def test_weights_count_a_criterion_more():
    weights = {"in_character": 2.0, "fluency": 1.0}
    scored = panel_scores(stored((1, "p", 4, 400)), given((1, "a", 4.0, 1.0, 0.0)), ["a"], weights)
    assert scored.final[1] == 3.0, "(2 × 4 + 1 × 1) / 3"


def test_the_panel_asked_for_is_the_only_one_that_counts():
    ratings_ = given((1, "a", 4.0, 4.0, 0.0), (1, "b", 2.0, 2.0, 1.0))
    scored = panel_scores(stored((1, "p", 4, 400)), ratings_, ["a"], ALIKE)
    assert scored.final[1] == 4.0
    assert not scored.refused[1], "only b saw a refusal"


def test_a_refusal_one_judge_saw_is_counted_and_left_out_of_the_means():
    scored = panel_scores(
        stored((1, "p", 4, 400), (2, "p", 4, 400), (3, "p", 4, 400)),
        given(
            (1, "a", 4.0, 4.0, 0.0),
            (1, "b", 2.0, 2.0, 0.0),
            (2, "a", 5.0, 5.0, 0.25),
            (2, "b", 5.0, 5.0, 0.0),  # a refused turn among four
            (3, "a", 3.0, 3.0, 0.0),
            (3, "b", 4.0, 4.0, 0.0),
        ),
        ["a", "b"],
        ALIKE,
    )
    row = only(standings(scored, list(ALIKE)))
    assert (row.judged, row.refused, row.incomplete, row.n) == (3, 1, 0, 2)
    assert row.refusal_ratio == pytest.approx(1 / 3)
    assert row.final.value == 3.25, "conversation 1: 3, conversation 3: 3.5, conversation 2 left out"


def test_a_conversation_one_judge_did_not_rate_is_excluded_from_means():
    scored = panel_scores(
        stored((1, "p", 4, 400), (2, "p", 4, 400)),
        given((1, "a", 4.0, 4.0, 0.0), (1, "b", 2.0, 2.0, 0.0), (2, "a", 5.0, 5.0, 0.0)),
        ["a", "b"],
        ALIKE,
    )
    row = only(standings(scored, list(ALIKE)))
    assert (row.judged, row.refused, row.incomplete, row.n) == (2, 0, 1, 1)
    assert row.final.value == 3.0, "with the generous a alone, conversation 2 would have drawn it up to 4"


def test_a_judge_who_left_a_criterion_out_has_not_rated_the_conversation():
    scored = panel_scores(stored((1, "p", 4, 400)), given((1, "a", 4.0, np.nan, 0.0)), ["a"], ALIKE)
    row = only(standings(scored, list(ALIKE)))
    assert (row.n, row.incomplete) == (0, 1)


def test_a_player_without_a_scored_conversation_has_no_figures_and_no_rank():
    scored = panel_scores(
        stored((1, "refuser", 1, 10), (2, "player", 1, 10)),
        given((1, "a", 5.0, 5.0, 1.0), (2, "a", 1.0, 1.0, 0.0)),
        ["a"],
        ALIKE,
    )
    first, last = standings(scored, list(ALIKE))
    assert (first.player, first.rank) == ("player", 1)
    assert (last.player, last.rank) == ("refuser", None)
    assert last.final == undefined("no conversation to average", n=0)
    assert last.score.reason == "no conversation to average"
    assert last.refusal_ratio == 1.0


@pytest.mark.parametrize(
    ("length", "middle", "factor"),
    [
        (300, 300, 1.0),
        (600, 300, 0.965),  # 1 + (300/600 − 1) × 0.07 = 1 − 0.035
        (1000, 250, 0.9475),  # 1 + (0.25 − 1) × 0.07 = 1 − 0.0525
        (150, 300, 1.0),  # 1 + (2 − 1) × 0.07 = 1.07, held at 1
        (1e9, 300, 0.93),  # never less than 0.93
        (0, 300, 1.0),  # silence is not too long
        (None, 300, None),
    ],
)
def test_long_replies_cost_up_to_seven_percent(length, middle, factor):
    found = length_factor(length, middle)
    assert found is None if factor is None else found == pytest.approx(factor, abs=1e-7)


def test_the_score_is_final_times_the_length_factor():
    # Reply lengths: 400/4 = 100, 800/4 = 200, 1600/4 = 400: median 200.
    scored = panel_scores(
        stored((1, "short", 4, 400), (2, "middle", 4, 800), (3, "long", 4, 1600)),
        given((1, "a", 4.0, 4.0, 0.0), (2, "a", 4.0, 4.0, 0.0), (3, "a", 4.0, 4.0, 0.0)),
        ["a"],
        ALIKE,
    )
    found = {s.player: s for s in standings(scored, list(ALIKE))}
    assert [found[p].reply_chars for p in ("short", "middle", "long")] == [100, 200, 400]
    assert [found[p].score.value for p in ("short", "middle")] == [4.0, 4.0]
    assert found["long"].score.value == 3.86, "4 × (1 + (200/400 − 1) × 0.07) = 4 × 0.965"
    assert found["long"].final.value == 4.0, "the plain mean knows no lengths"


def test_lengths_are_averaged_over_replies_not_over_conversations():
    scored = panel_scores(
        stored((1, "p", 4, 400), (2, "p", 8, 1600)),
        given((1, "a", 4.0, 4.0, 0.0), (2, "a", 4.0, 4.0, 0.0)),
        ["a"],
        ALIKE,
    )
    row = only(standings(scored, list(ALIKE)))
    assert row.reply_chars == pytest.approx(2000 / 12), "not (100 + 200) / 2"


def test_ranks_are_shared_within_the_margin_of_the_groups_first():
    # 4.50 and 4.44 are 0.06 apart: one group. 4.43 is 0.07 from its first, so it opens the third place,
    # though 0.01 from its neighbour.
    assert ranks([4.50, 4.44, 4.43, 4.37, 4.30]) == [1, 1, 3, 3, 5]
    assert ranks([]) == []


def test_the_interval_resamples_conversations_by_seed():
    values = [3.0, 4.0, 5.0, 4.0]
    scored = panel_scores(
        stored(*((i, "p", 1, 10) for i in range(4))),
        given(*((i, "a", v, v, 0.0) for i, v in enumerate(values))),
        ["a"],
        ALIKE,
    )
    drawn = {"scales": {"final": (1.0, 5.0)}, "resamples": 4000, "seed": 1}
    row = only(standings(scored, list(ALIKE), **drawn))
    assert row.final.value == 4.0
    # 3, 4, 5, 4: squares 2, at most 3 · 1 a value, so that 1 and 5 count (2 + 3) / (5 · 3) = 1/3 each: 14/3
    # values with mean (16 + 6/3) / (14/3) = 27/7, squares 2 + 4/49 + (20² + 8²) / 49 / 3 = 110/21, over 11/3
    # and 14/3: 15/49. t with 11/3 degrees is 2.8789: 3.857 ± 2.8789 · 0.5533 = 3.857 ± 1.593, in the scale.
    assert row.final.interval == pytest.approx((27 / 7 - 1.593, 5), abs=0.01)
    assert row == only(standings(scored, list(ALIKE), **drawn))


def test_one_conversation_has_a_mean_and_no_interval():
    scored = panel_scores(stored((1, "p", 1, 10)), given((1, "a", 4.0, 4.0, 0.0)), ["a"], ALIKE)
    found = only(standings(scored, list(ALIKE))).final
    assert found == Estimate(4.0, n=1, reason="no interval: it rests on a single conversation")


def test_equal_ratings_have_an_interval_with_width():
    scored = panel_scores(
        stored((1, "p", 1, 10), (2, "p", 1, 10)),
        given((1, "a", 4.0, 4.0, 0.0), (2, "a", 4.0, 4.0, 0.0)),
        ["a"],
        ALIKE,
    )
    found = only(standings(scored, list(ALIKE), scales={"final": (1.0, 5.0)})).final
    # 4, 4, 1 and 5: mean 3.5, variance 3, t₃ = 3.1824: 3.5 ± 2.756.
    assert found.interval == pytest.approx((1, 5))
    found = only(standings(scored, list(ALIKE))).final
    assert found.reason == "no interval: 2 items are too few, at least 8 are needed"


def test_the_weights_on_offer_are_all_alike_or_one_counted_twice():
    offered = [tuple(w.values()) for w in leaderboards.weightings(get("pingpong").criteria).values()]
    assert offered == [(1, 1, 1), (2, 1, 1), (1, 2, 1), (1, 1, 2)]


def test_criteria_on_scales_of_different_width_are_ranked_one_by_one():
    wit, effort = (
        Criterion(name, "", scale) for name, scale in (("wit", LIKERT_5), ("effort", between(0, 100)))
    )
    assert leaderboards.weightings([wit, effort]) == {
        "Wit alone": {"wit": 1.0},
        "Effort alone": {"effort": 1.0},
    }
    assert leaderboards._weights({"wit": 1.0}, [wit, effort]) == {"wit": 1.0, "effort": 0.0}
    with pytest.raises(ConcordError, match=r"different widths.*Or give the others the weight 0"):
        leaderboards._weights(None, [wit, effort])


def test_a_grid_has_the_mean_of_each_pair_of_facets():
    scored = panel_scores(
        stored((1, "p", 1, 10), (2, "p", 1, 10), (3, "p", 1, 10), (4, "other", 1, 10), (5, "p", 1, 10)),
        given(
            (1, "a", 4.0, 4.0, 0.0),
            (2, "a", 2.0, 2.0, 0.0),
            (3, "a", 5.0, 5.0, 1.0),
            (4, "a", 1.0, 1.0, 0.0),
            (5, "a", 5.0, 5.0, 0.0),
        ),
        ["a"],
        ALIKE,
    )
    facets = pd.DataFrame(
        {"character": ["x", "x", "y", "x", "y"], "situation": ["s", "s", "s", "s", "t"]},
        index=[1, 2, 3, 4, 5],
    )
    board = SimpleNamespace(
        benchmark="b", rated=SimpleNamespace(facets=facets), usable=scored[scored.counted]
    )
    table = leaderboards.grid(board, "p", "character", "situation")
    assert table.rows == (
        {"character": "x", "s": 3.0},
        {"character": "y", "t": 5.0},
    )


def test_the_first_of_a_table_is_named_where_intervals_lie_apart():
    def words(*figures: Estimate) -> str:
        rows = tuple({"model": name, "All": figure} for name, figure in zip("abc", figures, strict=False))
        columns = (Column("model"), Column("All"))
        return leaderboards.foremost(Table("t", "T", columns, rows, meta={"first by": "All"}))

    high, middle, low = Estimate(3.0, 2.5, 3.5), Estimate(2.4, 2.0, 2.8), Estimate(1.0, 0.5, 1.5)
    assert words(high, low) == "a scores significantly higher than all others."
    assert (
        words(high, middle, low) == "Inconclusive which of a and b scores highest: their intervals overlap."
    )
    assert words(high, low, undefined("no script")) == "a scores significantly higher than all others."
    assert words(high, middle, Estimate(1.0)) == (
        "Inconclusive which of a, b and c scores highest: their intervals overlap."
    )
    assert words(replace(high, n=7)) == "a has a mean score of 3.00 (n = 7). Run another model to compare."
    alone = Estimate(3.0, n=2, reason="2 scripts are too few")
    assert words(alone, low) == (
        "a has the highest mean score, 3.00 (n = 2), without an interval: 2 scripts are too few."
    )
    assert words() == words(undefined("no script"), low) == ""


# From the store


@pytest.fixture
def workspace(tmp_path):
    made = Workspace.open(tmp_path / "workspace")
    with made.write() as db:
        ratings.register(db, "pingpong", get("pingpong").criteria)
    return made


def judged(db, key, scores, *, judge="a", variant="v2", repeat=0, player="p", language="en", scene="s"):
    """One conversation with a turn for each score, all criteria alike."""
    said = [m for _ in scores for m in (Message("user", "?"), Message("assistant", "word"))]
    conversations.save(
        db,
        Conversation("pingpong", key, player, tuple(said), language, {"character": "x", "situation": scene}),
    )
    ratings.save_judgement(
        db,
        Judgement(
            f"{key}|{judge}|{variant}|{repeat}",
            key,
            Rater(judge, "judge", variant),
            tuple(
                Rating(Unit(key, turn), name, value)
                for turn, score in enumerate(scores, start=1)
                for name, value in (
                    ("in_character", score),
                    ("entertaining", score),
                    ("fluency", score),
                    ("refusal", 0.0),
                )
            ),
            repeat=repeat,
        ),
    )


def test_a_judges_score_is_the_mean_over_turns_and_repeats(workspace):
    with workspace.write() as db:
        judged(db, "k", (4.0, 2.0))
        judged(db, "k", (5.0, 5.0), repeat=1)
    with workspace.read() as db:
        table = leaderboards.leaderboard(gather(db, "pingpong"))
    assert only(table.standings).final.value == 4.0, "(4 + 2 + 5 + 5) / 4"


def test_one_model_with_two_versions_of_its_prompt_is_two_judges(workspace):
    with workspace.write() as db:
        judged(db, "k", (4.0,))
        judged(db, "k", (2.0,), variant="v3")
    with workspace.read() as db:
        rated = gather(db, "pingpong")
        other = gather(db, "pingpong", {"prompt": ["v3"]})
    assert rated.judges == ("a v2", "a v3")
    assert only(leaderboards.leaderboard(rated, judges=["a v3"]).standings).final.value == 2.0
    # Unless asked, a judge of another version than the benchmark's own has no part: 4, not (4 + 2) / 2.
    board = leaderboards.leaderboard(rated)
    assert (board.judges, only(board.standings).final.value) == (("a v2",), 4.0)
    assert any("another version of the prompt: a v3" in note for note in leaderboard_table(board).notes)
    assert leaderboards.leaderboard(other).judges == ("a v3",)


def test_judges_of_another_version_are_not_the_benchmarks_own(workspace):
    with workspace.write() as db:
        judged(db, "k", (2.0,), variant="v3")
    with workspace.read() as db:
        rated = gather(db, "pingpong")
    with pytest.raises(ConcordError, match="Ask for it with `--where prompt=v3`"):
        leaderboards.leaderboard(rated)
    assert only(leaderboards.leaderboard(rated, judges=["a"]).standings).final.value == 2.0


def test_a_table_says_which_conditions_it_mixes(workspace):
    with workspace.write() as db:
        judged(db, "k1", (4.0,))
        judged(db, "k2", (2.0,), language="ru")
    with workspace.read() as db:
        both = leaderboard_table(leaderboards.leaderboard(gather(db, "pingpong")))
        one = leaderboard_table(leaderboards.leaderboard(gather(db, "pingpong", {"language": ["ru"]})))
    assert "2 values of language are mixed (en, ru); `--where language=en` takes one." in both.notes
    assert both.meta["mixed"] == {"language": ["en", "ru"]}
    assert not any("mixed" in note for note in one.notes)
    assert one.title == "PingPong (language ru)"


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ((1.0, 1.5) * 5, "one scores significantly higher than two: +1.25 points"),
        ((1.0, -1.0, 1.0, -1.0, 0.8) * 2, "one and two do not differ significantly: +0.16"),
        ((1.0,), "Unknown whether two and one differ: they share one scenario."),
    ],
)
def test_whether_the_first_two_differ_is_said_by_their_common_scenarios(workspace, gaps, said):
    with workspace.write() as db:
        for place, gap in enumerate(gaps):
            for player, score in (("one", 3.0 + gap), ("two", 3.0)):
                judged(db, f"{player} {place}", (score,), player=player, scene=str(place))
        judged(db, "alone", (1.0,), player="two", scene="of its own")
    with workspace.read() as db:
        board = leaderboards.leaderboard(gather(db, "pingpong"))
    assert said in leaderboard_table(board).caption
    with workspace.read() as db:
        nobody = replace(board, standings=board.standings[:1])
    assert first_two(nobody) == ""


def test_scores_beside_one_players_are_paired_on_common_scenarios(workspace):
    """Four gaps of 0.5 and four of 1: their mean is 0.75, its standard error √(8 · 0.25² / 7 / 8) = 0.0945,
    t of 7 degrees of freedom 2.365, half the width 0.223. A scenario of one player alone counts for nobody.
    """
    with workspace.write() as db:
        for place in range(8):
            judged(db, f"one {place}", (3.5 + 0.5 * (place > 3),), player="one", scene=str(place))
            judged(db, f"two {place}", (3.0,), player="two", scene=str(place))
        judged(db, "alone", (1.0,), player="two", scene="of its own")
        judged(db, "elsewhere", (1.0,), player="three", scene="elsewhere")
    with workspace.read() as db:
        board = leaderboards.leaderboard(gather(db, "pingpong"))
    gaps = leaderboards.differences_to(board, "two")
    assert (gaps["one"].value, gaps["one"].n) == (0.75, 8)
    assert gaps["one"].interval == (pytest.approx(0.527, abs=0.02), pytest.approx(0.973, abs=0.02))
    assert gaps["three"].reason == "no common scenario to average"
    back = leaderboards.differences_to(board, "one")["two"]
    assert (back.value, back.low) == (-0.75, pytest.approx(-gaps["one"].high, abs=0.02))
    table = leaderboard_table(board, "two")
    assert [row["less"] for row in table.rows] == [gaps.get(row["player"]) for row in table.rows]
    assert next(c.help for c in table.columns if c.name == "less") == table.notes[0]
    assert table.notes[0].startswith("Difference: score less that of two, paired by scenario")
    with pytest.raises(NotFound, match="no player with a score “four”"):
        leaderboards.differences_to(board, "four")
    workspace_at = ["--workspace", str(workspace.path), "leaderboard", "pingpong", "--beside", "two"]
    printed = CliRunner().invoke(main, [*workspace_at, "--format", "csv"])
    assert "less,less_low,less_high" in printed.output


@pytest.mark.parametrize(
    ("gap", "said"),
    [(1.0, "one scores significantly higher than all others."), (0.0, "one and two do not differ")],
)
def test_without_scenarios_it_is_said_who_may_be_first(workspace, gap, said):
    """Ten scores each that vary by 0.1: a mean 1 above is far beyond Welch's t, an equal one is not."""
    with workspace.write() as db:
        for place in range(10):
            for player, score in (("one", 3.0 + gap), ("two", 3.0)):
                judged(db, f"{player} {place}", (score + place % 2 / 10,), player=player)
    with workspace.read() as db:
        board = leaderboards.leaderboard(gather(db, "pingpong"))
    assert first_two(replace(board, rated=replace(board.rated, scenarios={}))).startswith(said)


def test_a_language_and_a_facet_choose_the_conversations(workspace):
    with workspace.write() as db:
        judged(db, "k1", (4.0,))
        judged(db, "k2", (2.0,), language="ru")
    with workspace.read() as db:
        russian = leaderboards.leaderboard(gather(db, "pingpong", {"language": ["ru"]}))
        assert only(russian.standings).final.value == 2.0
        assert len(tables.conversations(db, "pingpong", {"character": ["x"]})) == 2
        assert tables.conversations(db, "pingpong", {"character": ["y"]}).empty


def test_what_cannot_be_measured_is_said(workspace):
    with (
        workspace.read() as db,
        pytest.raises(ConcordError, match="No judge has rated any PingPong conversation yet"),
    ):
        gather(db, "pingpong")
    with workspace.read() as db, pytest.raises(ConcordError, match="there is no such table"):
        gather(db, "simulbench-dialogues")
    with workspace.write() as db:
        judged(db, "k", (4.0,))
    with workspace.read() as db:
        rated = gather(db, "pingpong")
    with pytest.raises(NotFound, match="no judge “b”"):
        leaderboards.leaderboard(rated, judges=["b"])
    with pytest.raises(ConcordError, match="at least one must be above 0"):
        leaderboards.leaderboard(rated, weights={"fluency": 0.0})


def test_the_stamp_moves_with_what_the_table_rests_on(workspace):
    def stamp():
        with workspace.read() as db:
            return tables.stamp(db)

    before = stamp()
    with workspace.write() as db:
        judged(db, "k", (4.0,))
    after = stamp()
    assert before != after
    with workspace.write() as db:
        judged(db, "k", (4.0,), judge="b")
    assert stamp() != after


# The command


@pytest.fixture
def called(tmp_path):
    made = Workspace.open(tmp_path / "workspace")
    with made.write() as db:
        fill(db)
    return lambda *args: CliRunner().invoke(
        main, ["--workspace", str(made.path), "leaderboard", "pingpong", *args]
    )


def test_every_format_tells_the_same(called):
    document = json.loads(called("--format", "json").stdout)
    found = document["tables"]["leaderboard-pingpong"]
    assert document["schema"] == 1
    assert found["judges"] == sorted(JUDGES)
    assert found["rows"][0]["player"] == "alder"
    rows = list(csv.DictReader(io.StringIO(called("--format", "csv").stdout)))
    assert [r["player"] for r in rows] == [p["player"] for p in found["rows"]]
    assert float(rows[0]["score"]) == found["rows"][0]["score"]["value"]
    assert f"{found['rows'][0]['score']['value']:.2f}" in called("--format", "latex").stdout
    assert f"{found['rows'][0]['score']['value']:.2f}" in called().stdout
    assert "Some results come from rule-based mock models" in called().stdout
    assert "Some results come from rule-based mock models" in called("--format", "csv").stderr


def test_undefined_figures_are_null_beside_their_reason(called):
    table = json.loads(called("--format", "json", "--resamples", "0").stdout)
    figure = table["tables"]["leaderboard-pingpong"]["rows"][0]["final"]
    assert figure["ci"] is None
    assert figure["reason"] == "no interval: no resamples were drawn"


def test_wrong_arguments_are_answered_with_a_sentence(called):
    for wrong, said in (
        (["--judges", "kin"], "Did you mean “kind”?"),
        (["--weights", "1,2"], "--weights needs 3 numbers"),
        (["--where", "language=xx"], "There is no language “xx”"),
        (["--where", "judge=x"], "There is no facet “judge”"),
    ):
        result = called(*wrong)
        assert result.exit_code == 1
        assert said in result.stderr
        assert "Traceback" not in result.output


def test_latex_escapes_names(workspace):
    with workspace.write() as db:
        judged(db, "k", (4.0,), player="a_b&c")
    with workspace.read() as db:
        table = leaderboards.leaderboard(gather(db, "pingpong"))
    assert r"a\_b\&c" in as_latex(leaderboard_table(table))


REFUSING = [
    # scenario A: p answers (4), q refuses (5); scenario B: p answers (2), q answers (3)
    (1, "a", 4.0, 4.0, 0.0),
    (2, "a", 5.0, 5.0, 1.0),
    (3, "a", 2.0, 2.0, 0.0),
    (4, "a", 3.0, 3.0, 0.0),
]


def test_refusals_are_left_out_of_the_means():
    known = stored((1, "p", 1, 100), (2, "q", 1, 100), (3, "p", 1, 100), (4, "q", 1, 100))
    scored = panel_scores(known, given(*REFUSING), ["a"], ALIKE)
    found = {row.player: (row.final.value, row.n) for row in standings(scored, list(ALIKE), resamples=0)}
    assert found == {"p": (3.0, 2), "q": (3.0, 1)}  # p: (4 + 2) / 2; q: 3 alone


def test_players_who_refuse_unlike_shares_are_pointed_out(tmp_path):
    with Workspace.open(tmp_path / "workspace").write() as db:
        fill(db, people=False)
        board = leaderboards.leaderboard(gather(db, "pingpong"), resamples=0)
    shares = {s.player: s.refusal_ratio for s in board.standings}
    most, least = max(shares, key=shares.get), min(shares, key=shares.get)
    assert shares[most] - shares[least] >= UNLIKE
    said = (
        f"{most} refuses {shares[most]:.0%}, {least} {shares[least]:.0%}: without refusals, the models "
        "are compared"
    )
    assert any(note.startswith(said) for note in leaderboard_table(board).notes)


def test_a_percentile_interval_is_the_middle_of_the_resamples():
    drawn = np.arange(1001.0)
    # Of 0 to 1000 the 2.5th percentile is 25, the 97.5th 975.
    assert percentile(500.0, drawn, n=9).interval == pytest.approx((25.0, 975.0))
    assert percentile(500.0, drawn[:0], n=9).interval is None


def test_the_papers_own_case_is_4_62_with_0_07_by_percentile():
    # Half of 64 conversations 0.28 above 4.62, half below: SD 0.28, so 1.96 · 0.28 / √64 = 0.0686.
    rows = [(i, "p", 4, 400) for i in range(64)]
    marks = [
        (i, "a", 4.62 + (0.28 if i % 2 else -0.28), 4.62 + (0.28 if i % 2 else -0.28), 0) for i in range(64)
    ]
    scored = panel_scores(stored(*rows), given(*marks), ["a"], ALIKE)
    ends = {"final": (1.0, 5.0)}
    by_percentile = only(
        standings(scored, list(ALIKE), scales=ends, intervals=IntervalMethod.PERCENTILE)
    ).score
    padded = only(standings(scored, list(ALIKE), scales=ends)).score
    assert f"{by_percentile.value:.2f} ± {by_percentile.half_width:.2f}" == "4.62 ± 0.07"
    assert by_percentile.half_width == pytest.approx(1.96 * 0.28 / 8, rel=0.06)
    assert padded.half_width > by_percentile.half_width


def test_the_command_prints_percentile_intervals_with_half_their_width(called):
    def board(*options):
        done = called("--format", "json", *options)
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)["tables"]["leaderboard-pingpong"]

    usual, paper = board(), board("--intervals", "percentile")
    assert [usual["intervals"], paper["intervals"]] == ["padded", "percentile"]
    assert "half_width" not in usual["rows"][0]
    assert any(row["score"]["ci"] for row in paper["rows"])
    for before, row in zip(usual["rows"], paper["rows"], strict=True):
        assert [row["score"]["value"], row["places"]] == [before["score"]["value"], before["places"]]
        if row["score"]["ci"]:
            low, high = row["score"]["ci"]
            assert row["half_width"] == pytest.approx((high - low) / 2)
    refused = called("--intervals", "percentile", "--study", "main")
    assert refused.exit_code == 1
    assert "--intervals" in refused.output
