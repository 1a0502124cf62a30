"""Whether two runs, players, versions of the judges' prompt or conditions differ, by hand."""

from __future__ import annotations

import json

import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import ConcordError, NotFound
from concord.rating import Judgement, Rater, Rating, Spent
from concord.reports import differences
from concord.reports.leaderboards import leaderboard
from concord.reports.rated import gather
from concord.runs.plans import ComparePlan, JudgePlan, PlayPlan, as_dict
from concord.store import conversations, ratings, runs
from concord.store.runs import Failure
from concord.workspace import Workspace

CAST = ["arachne", "mizuki", "tully", "ambrose-pell"]
NAMES = ("in_character", "entertaining", "fluency")
SAID = (Message("user", "Hello."), Message("assistant", "Good day."))


def plan(interrogator, players=("p",), judges=("j", "k"), cast=CAST, **options):
    chosen = {"language": "en", "character_set": "own", "characters": cast, "situations": ["reality"]}
    chosen |= {"repeats": 1, "judge_repeats": 1, "symmetric": False, "version": "v2", **options}
    return PlayPlan(
        "pingpong", {"players": players, "interrogator": (interrogator,), "judges": judges}, chosen
    )


def start(db, of, **how):
    """A finished run of a plan; returns its number."""
    number = runs.start(db, of.benchmark, as_dict(of), 1, **how)
    runs.end(db, number, "finished")
    return str(number)


def play(db, interrogator, character, player="p", cost=0.0, situation="reality"):
    key = f"pingpong/v2/en/{character}/{situation}/{player}/{interrogator}/0"
    about = {"character": character, "situation": situation, "interrogator": interrogator}
    hashes = {"prompts": {"player": "aa", "interrogator": interrogator * 2}}
    conversations.save(
        db, Conversation("pingpong", key, player, SAID, facets=about, meta=hashes), Spent(2, 10, 5, cost)
    )
    return key


def rate(db, key, judge, score, *, refused=0, variant="v2", scores=None):
    """The same score on every criterion, or one on each."""
    given = scores or dict.fromkeys(NAMES, score)
    marks = [Rating(Unit(key, 1), name, value) for name, value in {**given, "refusal": refused}.items()]
    about = f"{key}|{judge}|{variant}|0", key, Rater(judge, "judge", variant)
    ratings.save_judgement(db, Judgement(*about, tuple(marks), prompt="bb"))


@pytest.fixture
def two_runs(fresh: Workspace) -> Workspace:
    """Run 1 and run 2 differ in the interrogator. Scores of judges j and k, the same on every criterion:

    arachne: 2, 4 → 4, 4. mizuki: 3, 3 → 5, 3. tully: 4, 4 → 1, 1, a refusal to k. ambrose-pell: run 1 alone.
    """
    scores = {
        "arachne": ((2, 4), (4, 4)),
        "mizuki": ((3, 3), (5, 3)),
        "tully": ((4, 4), (1, 1)),
        "ambrose-pell": ((5, 5),),
    }
    with fresh.write() as db:
        start(db, plan("u"))
        start(db, plan("w", cast=CAST), max_cost=5.0)
        for character, sides in scores.items():
            for interrogator, given in zip(("u", "w"), sides, strict=False):
                key = play(db, interrogator, character, cost=0.25)
                for judge, score in zip("jk", given, strict=True):
                    rate(db, key, judge, score, refused=int((score, judge) == (1, "k")))
        missing = "pingpong/v2/en/ambrose-pell/reality/p/w/0"
        failure = Failure("unusable", "It is empty.", "an empty reply", "", "pingpong", "w", "p")
        runs.save_failure(db, missing, failure, 2)
    return fresh


def of_runs(workspace, one="1", other="2"):
    return differences.difference(*differences.of_runs(workspace, one, other))


def of_board(workspace, of, one, other, **how):
    with workspace.read() as db:
        board = leaderboard(gather(db, "pingpong"), resamples=0, **how)
        return differences.difference(*differences.of_board(board, of, one, other))


def changed(table):
    return {
        row["criterion"]: (row["one"], row["other"], row["difference"].value, row["difference"].n)
        for row in table.rows
    }


def test_the_panels_scores_are_paired_on_common_scenarios(two_runs):
    table = of_runs(two_runs)
    # tully was refused in run 2, ambrose-pell not played in it: arachne and mizuki are left.
    # Means of j and k: (3 + 3) / 2 = 3 → (4 + 4) / 2 = 4.
    assert changed(table) == dict.fromkeys(("Final", "In character", "Entertaining", "Fluency"), (3, 4, 1, 2))
    assert table.caption == (
        "Whether Run 1 and Run 2 differ is not known: no interval: 2 items are too few, at least 8 are "
        "needed."
    )
    assert table.notes[0].startswith("Means over 2 common scenarios. 95% intervals")
    assert table.notes[1] == "Judges: j, k."


def test_final_is_the_mean_of_what_is_counted(fresh):
    with fresh.write() as db:
        for at, player in enumerate(("a", "b")):
            key = play(db, "u", "tully", player)
            rate(db, key, "j", 0, scores={"in_character": 1 + at, "entertaining": 3, "fluency": 5})
    figures = changed(of_board(fresh, "player", "a", "b"))
    # (1 + 3 + 5) / 3 = 3 → (2 + 3 + 5) / 3 = 3.33; replies of one length cost no points.
    whole = (3, pytest.approx(10 / 3), pytest.approx(1 / 3), 1)
    assert (figures["Score"], figures["Final"]) == (whole, whole)
    assert figures["In character"] == (1, 2, 1, 1)


def test_an_interval_rests_on_scenarios_not_on_conversations(fresh):
    situations = ("reality", "heckler", "outing", "hard-day")
    cast = CAST[:2]
    with fresh.write() as db:
        for interrogator in "uw":
            start(db, plan(interrogator, ("p", "q"), ("j",), cast, situations=list(situations)))
            for character in cast:
                for place, situation in enumerate(situations):
                    for player in "pq":
                        key = play(db, interrogator, character, player, situation=situation)
                        # p rises by 1 everywhere; q by 1 in the last two situations, and not in the others.
                        rise = interrogator == "w" and (player == "p" or place > 1)
                        rate(db, key, "j", 3 + rise)
    for table in (of_runs(fresh), of_board(fresh, "interrogator", "u", "w")):
        figure = table.rows[0]["difference"]
        # 2 characters × 4 situations: four changes of (1 + 0) / 2 = 0.5, four of 1. Their mean is 0.75.
        assert (table.rows[0]["criterion"], figure.n, figure.value) == ("Final", 8, 0.75)
        # The standard error is √(8 · 0.25² / 7 / 8) = 0.0945, t of 7 degrees of freedom 2.365: ±0.223.
        low, high = figure.interval
        assert (low, high) == (pytest.approx(0.527, abs=0.02), pytest.approx(0.973, abs=0.02))
        assert " scores higher than " in table.caption
        assert "beyond chance: +0.75 points" in table.caption
        assert table.caption.endswith("paired on the 8 scenarios that both have.")
    back = of_board(fresh, "interrogator", "w", "u")
    assert back.caption.startswith("w scores higher than u beyond chance: -0.75 points")


def test_a_judge_of_one_side_alone_is_left_out(two_runs):
    with two_runs.write() as db:
        start(db, plan("w", judges=("j", "m")))
    table = of_runs(two_runs, "1", "3")
    # Of j alone: arachne 2 → 4, mizuki 3 → 5, tully 4 → 1, to whom k saw a refusal.
    assert changed(table)["Final"] == (3, pytest.approx(10 / 3), pytest.approx(1 / 3), 3)
    assert "Judges: j." in table.notes


def test_judges_over_the_same_conversations_are_compared_on_these(two_runs):
    with two_runs.write() as db:
        for judge in "mn":
            start(db, JudgePlan("pingpong", (judge,)))
        for character, (m, n) in {"arachne": (2, 5), "mizuki": (3, 4)}.items():
            for judge, score in (("m", m), ("n", n)):
                rate(db, f"pingpong/v2/en/{character}/reality/p/u/0", judge, score)
    table = of_runs(two_runs, "3", "4")
    # (2 + 3) / 2 = 2.5 → (5 + 4) / 2 = 4.5, each conversation with itself.
    assert changed(table)["Final"] == (2.5, 4.5, 2, 2)
    assert "Judges: m (Run 3) and n (Run 4)." in table.notes


def test_versions_of_the_judges_prompt_are_compared_on_what_both_rated(two_runs):
    with two_runs.write() as db:
        rate(db, "pingpong/v2/en/arachne/reality/p/u/0", "j", 5, variant="stern")
    table = of_board(two_runs, "prompt", "v2", "stern")
    assert changed(table)["Final"] == (2, 5, 3, 1)
    assert "Judges: j v2 (v2) and j stern (stern)." in table.notes
    assert table.caption == "Whether v2 and stern differ is not known: they share one scenario."


def test_without_a_common_scenario_there_is_a_sentence(two_runs):
    with two_runs.write() as db:
        start(db, plan("u", cast=["mary-anning"]))
        rate(db, play(db, "u", "mary-anning"), "j", 3)
    table = of_runs(two_runs, "1", "3")
    assert table.caption == "Whether Run 1 and Run 3 differ is not known: no common scenario to average."
    assert {row["one"] for row in table.rows} == {None}


def test_a_run_is_compared_with_the_one_before_it_of_its_language(fresh):
    with fresh.write() as db:
        numbers = [
            start(db, each)
            for each in (
                plan("u"),
                plan("u", language="ru"),
                plan("w"),
                plan("w"),
                ComparePlan("pingpong", ()),
            )
        ]
        known = differences.comparable(db)
    assert [str(run.id) for run in known] == numbers[3::-1]
    # Run 4 continues run 3: what changed is what differs from run 1. Run 2 is in another language.
    earlier = {run.id: differences.before(known, run) for run in known}
    assert {number: of and of.id for number, of in earlier.items()} == {4: 1, 3: 1, 2: None, 1: None}


@pytest.mark.parametrize(
    ("one", "other", "error", "says"),
    [
        ("1", "9", NotFound, "There is no run “9”"),
        ("1", "x" * 300, NotFound, "is not the number of a run"),
        ("1", "²", NotFound, "is not the number of a run"),
        ("1", "1", ConcordError, "1 cannot be compared with itself"),
        ("1", "3", ConcordError, "Run 3 rated no conversations"),
        ("1", "4", ConcordError, "they have no scenario in common"),
        ("1", "5", ConcordError, "No judge has rated a conversation of run 5"),
    ],
)
def test_runs_that_cannot_be_compared_are_one_sentence(two_runs, one, other, error, says):
    with two_runs.write() as db:
        start(db, ComparePlan("pingpong", ("j",), ("p", "q")))
        start(db, JudgePlan("simulbench", ("j",)))
        start(db, plan("z"))
    with pytest.raises(error) as caught:
        of_runs(two_runs, one, other)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("of", "one", "other", "says"),
    [
        ("player", "p", "nobody", "There is no player “nobody”. Known: p, q."),
        ("interrogator", "u", "x", "There is no interrogator “x”. Known: u, w."),
        ("weather", "u", "w", "There is no condition in which its conversations differ “weather”."),
    ],
)
def test_what_a_leaderboard_does_not_hold_is_one_sentence(two_runs, of, one, other, says):
    with two_runs.write() as db:
        rate(db, play(db, "u", "arachne", "q"), "j", 2)
        rate(db, play(db, "u", "arachne", "q"), "k", 2)
    with pytest.raises(NotFound) as caught:
        of_board(two_runs, of, one, other)
    assert says in str(caught.value)


def test_the_command_prints_the_same(two_runs, run):
    shown = run(two_runs, "diff", "1", "2")
    assert shown.exit_code == 0, shown.output
    assert shown.output.startswith("Whether Run 1 and Run 2 differ is not known: ")
    assert "From Run 1 to Run 2" in shown.output
    table = json.loads(run(two_runs, "diff", "1", "2", "--format", "json").output)["tables"]["differences"]
    assert table["rows"][0]["difference"]["value"] == 1
    by_facet = run(two_runs, "diff", "u", "w", "--of", "interrogator", "--format", "csv")
    assert "Final,3.0,4.0,1.0" in by_facet.output
    players = run(two_runs, "diff", "p", "p", "--of", "player")
    assert (players.exit_code, "cannot be compared with itself" in players.output) == (1, True)
