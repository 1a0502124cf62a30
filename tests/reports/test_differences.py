"""What changed between two runs, players or versions of the judges' prompt, by hand."""

from __future__ import annotations

import json

import pytest

from concord.conversation import Conversation, Message, Unit
from concord.errors import ConcordError, NotFound
from concord.rating import Judgement, Rater, Rating, Spent
from concord.reports import differences
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


def changed(found, criterion="Final"):
    rows = (row for row in found.scores.rows if row["criterion"] == criterion)
    return {row["judge"]: (row["one"], row["other"], row["change"].value, row["n"]) for row in rows}


def test_each_judges_scores_are_paired_on_common_scenarios(two_runs):
    found = differences.differences(two_runs, "runs", "1", "2")
    # tully was refused in run 2, ambrose-pell not played in it: arachne and mizuki are left.
    # j: (2 + 3) / 2 = 2.5 → (4 + 5) / 2 = 4.5. k: (4 + 3) / 2 = 3.5 both times.
    # Their mean: (3 + 3) / 2 = 3 → (4 + 4) / 2 = 4.
    expected = {"mean of the judges": (3, 4, 1, 2), "j": (2.5, 4.5, 2, 2), "k": (3.5, 3.5, 0, 2)}
    assert changed(found) == expected
    assert changed(found, "Fluency") == expected
    # Of arachne, mizuki and tully, k saw a refusal of one in run 2, j none: 1/3, and 1/6 for both.
    refusals = changed(found, "Refusal (share)")
    assert refusals["k"] == (0, pytest.approx(1 / 3), pytest.approx(1 / 3), 3)
    assert refusals["mean of the judges"][2] == pytest.approx(1 / 6)
    assert "Final by the mean of the judges changed by +1.00" in differences.sentence(found)
    assert "2 are too few" not in differences.sentence(found)
    reasons = [row["change"].reason for row in found.scores.rows if row["judge"] == "j"]
    assert "no interval: 2 items are too few, at least 8 are needed" in reasons


def test_final_is_the_mean_of_what_is_counted(fresh):
    with fresh.write() as db:
        for at, player in enumerate(("a", "b")):
            key = play(db, "u", "tully", player)
            rate(db, key, "j", 0, scores={"in_character": 1 + at, "entertaining": 3, "fluency": 5})
    found = differences.differences(fresh, "players", "a", "b", benchmark="pingpong")
    # (1 + 3 + 5) / 3 = 3 → (2 + 3 + 5) / 3 = 3.33. Where one judge rated, there is no mean of several.
    assert changed(found) == {"j": (3, pytest.approx(10 / 3), pytest.approx(1 / 3), 1)}
    assert changed(found, "In character") == {"j": (1, 2, 1, 1)}


def test_scenarios_stand_by_what_they_changed_with_a_conversation_of_each_side(two_runs):
    with two_runs.write() as db:
        rate(db, play(db, "w", "ambrose-pell"), "j", 2)  # k has not rated it: the mean has no score
    found = differences.differences(two_runs, "runs", "1", "2")
    rows = found.changes["final"].rows
    # mizuki: (3 + 3) / 2 = 3 → (5 + 3) / 2 = 4; arachne: (2 + 4) / 2 = 3 → 4: as much, so by name.
    assert [(row["scenario"], row["one"], row["other"], row["change"]) for row in rows] == [
        ("arachne · reality", 3, 4, 1),
        ("mizuki · reality", 3, 4, 1),
    ]
    with two_runs.read() as db:
        for row in rows:
            both = [conversations.load(db, row[name]) for name in ("conversation", "beside")]
            assert [talk.facets["interrogator"] for talk in both] == ["u", "w"]
            assert {talk.facets["character"] for talk in both} == {row["scenario"].split(" · ")[0]}


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
    found = differences.differences(fresh, "runs", "1", "2")
    [row] = [row for row in found.scores.rows if row["criterion"] == "Final"]
    # 2 characters × 4 situations: four changes of (1 + 0) / 2 = 0.5, four of 1. Their mean is 0.75.
    assert (row["n"], row["change"].n, row["change"].value) == (8, 8, 0.75)
    # The standard error is √(8 · 0.25² / 7 / 8) = 0.0945, t of 7 degrees of freedom 2.365: ±0.223.
    low, high = row["change"].interval
    assert (low, high) == (pytest.approx(0.527, abs=0.02), pytest.approx(0.973, abs=0.02))
    assert len(found.changes["final"].rows) == 16  # of each player by itself


def test_what_differs_in_the_configuration_is_named_and_nothing_else(two_runs):
    found = differences.differences(two_runs, "runs", "1", "2")
    rows = {row["what"]: (row["one"], row["other"]) for row in found.configuration.rows}
    assert rows == {
        "interrogator": ("u", "w"),
        "spending limit": ("–", "5"),
        "prompt interrogator": ("uu", "ww"),
    }
    [alike] = found.configuration.notes
    assert {"players", "judges", "version", "prompt player"} <= set(alike[7:-1].split(", "))


def test_judgements_that_failed_and_judges_of_one_side_are_told(two_runs):
    key = "pingpong/v2/en/mizuki/reality/p/w/0|m|v2|0"
    with two_runs.write() as db:
        start(db, plan("w", judges=("j", "m")))
        judged = Judgement(key, key.partition("|")[0], Rater("m", "judge", "v2"), failure="No JSON.")
        ratings.save_judgement(db, judged)
    found = differences.differences(two_runs, "runs", "1", "3")
    assert set(changed(found)) == {"j"}
    assert any("Judges in run 1 alone: k" in note for note in found.scores.notes)
    assert "Judgements without a usable reply in run 3: 1 by m." in found.scores.notes
    assert not any("in run 1: 1 by" in note for note in found.scores.notes)


def test_judges_over_the_same_conversations_are_compared_on_these(two_runs):
    with two_runs.write() as db:
        for judge in "mn":
            start(db, JudgePlan("pingpong", (judge,)))
        for character, (m, n) in {"arachne": (2, 5), "mizuki": (3, 4)}.items():
            for judge, score in (("m", m), ("n", n)):
                rate(db, f"pingpong/v2/en/{character}/reality/p/u/0", judge, score)
    found = differences.differences(two_runs, "runs", "3", "4")
    # (2 + 3) / 2 = 2.5 → (5 + 4) / 2 = 4.5, each conversation with itself.
    assert changed(found) == {"mean of the judges": (2.5, 4.5, 2, 2)}
    assert all(row["conversation"] == row["beside"] for row in found.changes["final"].rows)
    assert any("No judge rated both" in note for note in found.scores.notes)


def test_versions_of_the_judges_prompt_are_compared_on_what_both_rated(two_runs):
    with two_runs.write() as db:
        rate(db, "pingpong/v2/en/arachne/reality/p/u/0", "j", 5, variant="stern")
    found = differences.differences(two_runs, "versions", "v2", "stern", benchmark="pingpong")
    assert changed(found) == {"j": (2, 5, 3, 1)}
    assert "Judges in v2 alone: k." in found.scores.notes
    assert "j answered v2 of the prompt in v2, stern in stern." in found.scores.notes


def test_several_versions_of_a_judge_in_one_row_are_named(fresh):
    """One side holds a judge under two versions: its row is their mean, and a note names them."""
    with fresh.write() as db:
        for player in "pq":
            play(db, "u", "mizuki", player)
        key = "pingpong/v2/en/mizuki/reality/{}/u/0".format
        for player, score, variant in (("p", 2, "v2"), ("p", 4, "stern"), ("q", 5, "kind")):
            rate(db, key(player), "j", score, variant=variant)
    found = differences.differences(fresh, "players", "p", "q", benchmark="pingpong")
    assert changed(found) == {"j": (3, 5, 2, 1)}
    assert "j answered stern and v2 of the prompt in p, kind in q." in found.scores.notes


def test_without_a_common_scenario_there_is_a_sentence(two_runs):
    with two_runs.write() as db:
        start(db, plan("u", cast=["mary-anning"]))
        rate(db, play(db, "u", "mary-anning"), "j", 3)
    found = differences.differences(two_runs, "runs", "1", "3")
    assert differences.sentence(found) == "run 1 and run 3 have no score of the same scenario."
    assert found.scores.rows == found.changes["final"].rows == ()


def test_a_run_without_any_result_is_compared_all_the_same(fresh):
    with fresh.write() as db:
        start(db, plan("u"))
        start(db, plan("w"))
    found = differences.differences(fresh, "runs", "1", "2")
    assert differences.sentence(found) == "run 1 and run 2 have no score of the same scenario."
    assert {row["what"] for row in found.configuration.rows} == {"interrogator"}


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
    ("of", "one", "other", "error", "says"),
    [
        ("runs", "1", "9", NotFound, "There is no run “9”"),
        ("runs", "1", "x" * 300, NotFound, "is not the number of a run"),
        ("runs", "1", "²", NotFound, "is not the number of a run"),
        ("runs", "1", "1", ConcordError, "run 1 cannot be compared with itself"),
        ("runs", "1", "3", ConcordError, "Run 3 rated no conversations"),
        ("runs", "1", "4", ConcordError, "they have no scenario in common"),
        ("players", "p", "nobody", NotFound, "There is no player “nobody”. Known: p."),
        ("versions", "v2", "v7", NotFound, "version of the judges' prompt “v7”"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(two_runs, of, one, other, error, says):
    with two_runs.write() as db:
        start(db, ComparePlan("pingpong", ("j",), ("p", "q")))
        start(db, JudgePlan("simulbench", ("j",)))
    with pytest.raises(error) as caught:
        differences.differences(two_runs, of, one, other, benchmark="pingpong")
    assert says in str(caught.value)


def test_the_command_prints_the_same(two_runs, run, monkeypatch):
    monkeypatch.setattr("concord.commands.diff.SHOWN", 1)
    found = differences.differences(two_runs, "runs", "1", "2")
    shown = run(two_runs, "diff", "1", "2")
    assert shown.exit_code == 0, shown.output
    assert "Scores: from run 1 to run 2" in shown.output
    assert ("arachne · reality" in shown.output, "mizuki · reality" in shown.output) == (True, False)
    by_name = json.loads(run(two_runs, "diff", "1", "2", "--format", "json").output)["tables"]
    assert by_name["differences"]["rows"][0]["change"]["value"] == found.scores.rows[0]["change"].value
    assert len(by_name["changed-scenarios"]["rows"]) == 2
    players = run(two_runs, "diff", "p", "p", "--of", "players")
    assert (players.exit_code, "cannot be compared with itself" in players.output) == (1, True)
