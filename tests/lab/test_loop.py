"""The loop of the judge lab on simulated judges: parts, differences, choice, and the sealed part."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace

import numpy as np
import pytest

from concord.conversation import Unit
from concord.errors import ConfigError, StudyError
from concord.lab import comparing, measuring, parts, variants
from concord.lab.measuring import Candidate
from concord.rating import Judgement, Rater, Rating
from concord.rubrics import rubric_store
from concord.store import lab, ratings, studies
from concord.workspace import Workspace
from tests.conftest import toml
from tests.mock import lab as mock

JUDGE = "mock-judge"


@pytest.fixture
def shop(fresh: Workspace) -> Workspace:
    """A study of 60 items of 30 scenarios, divided; its judge takes length for merit, a variant does not."""
    mock.made(fresh)
    of = mock.divided(fresh)
    base = rubric_store.find(fresh, mock.RUBRIC)
    with fresh.write() as db:
        better = mock.variant(db, of, base, mock.CURE, "without length")
        for used in (base, better):
            mock.answer(db, used, of.keys(""), JUDGE)
    return fresh


def bench(workspace: Workspace) -> measuring.Bench:
    with workspace.read() as db:
        return measuring.read(db, mock.STUDY, resamples=300)


def two(of: measuring.Bench) -> tuple[Candidate, Candidate]:
    return of.find(JUDGE, "shop v1"), of.find(JUDGE, "shop v2")


def test_parts_keep_scenarios_whole_and_are_alike(shop):
    of = bench(shop)
    assert [len(of.parts.units_of(part)) for part in parts.PARTS] == [20, 20, 20]
    for scenario in {unit.scenario for unit in of.parts.units}:
        assert len({unit.part for unit in of.parts.units if unit.scenario == scenario}) == 1
    level = (of.people["helpful"].target + of.people["polite"].target) / 2
    means = [level[of.marked(part)].mean() for part in parts.PARTS]
    assert np.ptp(means) < 0.2  # of a scale of 1 to 5; 30 scenarios at random differ by 0.3 on average


def test_dividing_again_moves_nothing_and_places_what_is_new(shop):
    before = bench(shop).parts
    with shop.write() as db:
        again = parts.divide(db, mock.STUDY, seed=99)
    assert again.units == before.units
    with shop.write() as db:
        division = lab.division(db, mock.STUDY)
        assert division.seed == 0
        moved = {key: part for key, part in division.parts.items() if "/7/" not in key}
        lab.divide(db, mock.STUDY, replace(division, parts=moved), "test")
        now = {unit.key: unit.part for unit in parts.divide(db, mock.STUDY).units}
    assert {key: now[key] for key in moved} == moved
    assert len(now) == 60


def test_another_seed_divides_otherwise(fresh):
    mock.made(fresh)
    divided = []
    for seed in (1, 2):
        with fresh.write() as db:
            divided.append(parts.divide(db, mock.STUDY, seed=seed).units)
            lab.divide(db, mock.STUDY, lab.Division("", 0, {}), "forgotten")
    assert divided[0] != divided[1]


@pytest.mark.parametrize(
    ("scenarios", "each", "words"),
    [
        (11, 2, "22 items"),
        (2, 20, "2 values of scenario"),
        (1, 30, "1 value of scenario"),
        (8, 3, "would have 6"),
    ],
)
def test_too_few_items_or_scenarios_are_a_sentence(fresh, scenarios, each, words):
    mock.made(fresh, scenarios=scenarios, each=each)
    with pytest.raises(StudyError, match=words), fresh.write() as db:
        parts.divide(db, mock.STUDY)
    with fresh.read() as db:
        assert lab.division(db, mock.STUDY) is None


def test_agreement_is_what_it_says(shop):
    of = bench(shop)
    one, _ = two(of)
    scores = of.people["polite"]
    by_hand = 1 - abs(of.answers[one]["polite"][0] - scores.target[0]) / 4
    assert of.agreement(one, "polite")[0] == pytest.approx(by_hand)
    both = (of.agreement(one, "polite") + of.agreement(one, "helpful")) / 2
    np.testing.assert_allclose(of.agreement(one), both)


def test_differences_are_paired_and_find_the_repair(shop):
    of = bench(shop)
    one, other = two(of)
    table = comparing.differences(of, "develop", one, other)
    change = table.rows[0]["change"]
    gap = (of.agreement(other) - of.agreement(one))[of.marked("develop")]
    assert change.value == pytest.approx(gap.mean())
    assert change.interval[0] > 0
    assert "better than" in comparing.gain(table)
    assert table.rows[0]["better"] == (gap > 1e-9).sum()
    assert [row["criterion"] for row in table.rows] == ["all criteria", "Helpful", "Polite"]
    back = comparing.differences(of, "develop", other, one).rows[0]["change"]
    assert (back.low, back.high) == pytest.approx((-change.high, -change.low))


def test_a_judge_beside_itself_gains_nothing(shop):
    of = bench(shop)
    one, _ = two(of)
    sentence = comparing.gain(comparing.differences(of, "select", one, one))
    assert "better" not in sentence


def test_the_cheapest_that_is_not_worse_is_chosen(shop):
    of = bench(shop)
    _, better = two(of)
    used = rubric_store.find(shop, mock.RUBRIC, 2)
    with shop.write() as db:
        mock.answer(db, used, of.parts.keys("select"), "mock-cheap", cost=0.0001)
        mock.answer(db, used, of.parts.keys("select")[:5], "mock-slow")
    of = bench(shop)
    table, best = comparing.choose(of, "select", list(of.answers), margin=0.2)
    assert best.variant == "shop v2"
    assert "mock-cheap" in table.notes[0]
    assert "at 0.10 instead of 1.00" in table.notes[0] or best.model == "mock-cheap"
    assert "mock-slow" in " ".join(table.notes)
    alone, _ = comparing.choose(of, "select", [better])
    assert alone.notes[0].endswith("No other judge to compare it with.")


def test_each_opening_of_the_sealed_part_is_counted_and_told(shop):
    for before in range(3):
        with shop.write() as db:
            of = measuring.read(db, mock.STUDY, resamples=100)
            table = comparing.report(db, of, *two(of), f"look {before}")
        assert table.meta["opened before"] == before
        told = [note for note in table.notes if "was opened" in note]
        assert bool(told) == bool(before)
        if before == 2:
            assert "2 times" in told[0]
            assert "draw and rate a new study" in told[0]
    with shop.read() as db:
        assert [one.detail for one in lab.openings(db, mock.STUDY)] == ["look 0", "look 1", "look 2"]


def test_the_report_of_a_divided_study_says_that_it_holds_the_sealed_part(shop, run):
    outcome = run(shop, "agreement", "--study", mock.STUDY, "--resamples", 100, "--format", "json")
    assert outcome.exit_code == 0, outcome.output
    assert "include its sealed part" in outcome.output


def test_examples_are_balanced_and_never_shown_beside_their_scenario(shop):
    of = bench(shop)
    base = rubric_store.find(shop, mock.RUBRIC)
    with shop.read() as db:
        chosen = variants.pick_examples(db, of, base.rubric, 5, two(of)[0])
    develop = set(of.parts.keys("develop"))
    assert len(chosen) == 5
    assert {one["key"] for one in chosen} <= develop
    assert len({one["apart"]["scenario"] for one in chosen}) == 5
    levels = {one["answers"].split(";")[0] for one in chosen}
    assert len(levels) >= 4
    from concord.runs import rubric_judge
    from concord.store import conversations

    body = variants.changed(base.rubric, examples=chosen)
    with shop.write() as db:
        kept = variants.keep(db, of.parts, body, parent=base, note="examples")
        sibling = chosen[0]["key"][:-1] + ("1" if chosen[0]["key"].endswith("0") else "0")
        for key, shown in ((chosen[0]["key"], 4), (sibling, 4), (of.parts.keys("select")[0], 5)):
            [prompt] = rubric_judge.requests(kept.rubric, kept.variant, conversations.load(db, key))
            assert prompt.messages[0].content.count("People answered:") == shown


def test_answers_on_another_scale_are_placed_on_peoples(shop):
    """Of 1 to 10, 10 is 5 of 1 to 5, and 5.5, its middle, is 3."""
    of, base = bench(shop), rubric_store.find(shop, mock.RUBRIC)
    body = base.rubric.body
    body = body | {"criteria": [entry | {"scale": "1..10"} for entry in body["criteria"]]}
    first, second = of.parts.keys("develop")[:2]
    with shop.write() as db:
        kept = variants.keep(db, of.parts, body, parent=base, note="1 to 10")
        rater = Rater(JUDGE, "judge", kept.variant, simulated=True)
        for key, score in ((first, 10.0), (second, 5.5)):
            given = tuple(Rating(Unit(key), name, score) for name in mock.CRITERIA)
            ratings.save_judgement(db, Judgement(f"{kept.variant} {key}", key, rater, given, raw="{}"))
    of = bench(shop)
    for key, score in ((first, 5), (second, 3)):
        place = of.units.index(next(unit.id for unit in of.parts.units if unit.key == key))
        assert of.answers[Candidate(JUDGE, kept.variant)]["helpful"][place] == score


def test_versions_keep_parent_author_and_note(shop, run):
    shown = run(shop, "lab", "show", mock.STUDY, "--format", "json")
    rows = json.loads(shown.output)["tables"]["lab-variants"]["rows"]
    of = next(row for row in rows if row["version"] == "shop v2")
    assert (of["parent"], of["note"]) == ("shop v1", "without length")
    assert of["by"]


def test_the_loop_by_command_against_a_mock_server(workspace, run):
    """Split, variant, run on develop, compare, choose on select, report on test; nothing is paid twice."""
    mock.made(workspace, scenarios=12)
    address = tomllib.loads(workspace.models_path.read_text())["models"]["a"]["base_url"]
    judges = {"a": 'model = "mock-judge-strict"', "b": 'model = "mock-judge-lenient"'}
    workspace.models_path.write_text(toml(address, **judges))
    outcome = run(workspace, "lab", "compare", mock.STUDY, "--judge", "a", "--from", 1, "--to", 2)
    assert outcome.exit_code == 1
    assert " lab split shop" in outcome.output
    outcome = run(workspace, "lab", "split", mock.STUDY)
    assert outcome.exit_code == 0, outcome.output
    told = workspace.path / "told.txt"
    told.write_text("Length is no merit.")
    outcome = run(workspace, "lab", "variant", mock.STUDY, "--instructions", told, "--note", "short")
    assert "shop v2 is saved" in outcome.output, outcome.output
    assert "is stored already" in run(workspace, "lab", "variant", mock.STUDY, "--reasons", "before").output
    for part in ("develop", "select"):
        asked = ("lab", "run", mock.STUDY, "--judges", "a,b", "--versions", "1,2", "--part", part)
        assert "to generate" in run(workspace, *asked, "--estimate").output
        outcome = run(workspace, *asked)
        assert outcome.exit_code == 0, outcome.output
        assert run(workspace, *asked).output.count("all answered before") == 2
    with workspace.read() as db:
        divided = parts.read(db, mock.STUDY)
        assert not lab.judge_uses(db, divided.conversations("test"))
    compared = ("--judge", "a", "--from", 1, "--to", 2)
    outcome = run(workspace, "lab", "compare", mock.STUDY, *compared, "--resamples", 100)
    assert outcome.exit_code == 0, outcome.output
    assert "items of develop" in outcome.output
    unanswered = run(workspace, "lab", "compare", mock.STUDY, *compared, "--to-judge", "c").output
    assert "c by shop v2 has not answered any item of “shop” yet" in unanswered
    assert " lab run shop --judges c --versions 2" in unanswered
    assert "Best on select" in run(workspace, "lab", "choose", mock.STUDY).output
    report = ("lab", "report", mock.STUDY, *compared, "--reason", "done")
    answer = ("lab", "run", mock.STUDY, "--judges", "a", "--part", "test", "--versions")
    assert run(workspace, *answer, "1").exit_code == 0
    refused = run(workspace, *report)
    assert (refused.exit_code, "--judges a --versions 2 --part test" in refused.output) == (1, True)
    with workspace.read() as db:
        assert not lab.openings(db, mock.STUDY), "what was refused has opened nothing"
    assert run(workspace, *answer, "2").exit_code == 0
    outcome = run(workspace, *report)
    assert outcome.exit_code == 0, outcome.output
    assert "items of test" in outcome.output
    outcome = run(workspace, "lab", "run", mock.STUDY, "--judges", "a", "--max-cost", 1)
    assert "all answered before" in outcome.output
    with workspace.read() as db:
        assert studies.get(db, mock.STUDY).rubric == mock.RUBRIC


def test_a_rubric_that_asks_just_the_questions_is_offered_first(fresh):
    """The study asks helpful and polite: “all” asks one more, “wit” neither, “no” is not valid."""
    mock.made(fresh)
    asks = '[[criteria]]\nname = "{0}"\nstatement = "It is {0}."\nscale = "1..5"\n'.format
    for name, text in {
        "all": asks("helpful") + asks("polite") + asks("wit"),
        "wit": asks("wit"),
        "no": "title = 1",
    }.items():
        (rubric_store.folder(fresh) / f"{name}.toml").write_text(text)
    with fresh.read() as db:
        criteria = studies.get(db, mock.STUDY).criteria
    assert variants.fitting(fresh, criteria) == ["shop", "all"]
    before = mock.divided(fresh)
    with fresh.write() as db:
        after = parts.divide(db, mock.STUDY, rubric="all")
    assert (before.rubric, after.rubric) == ("shop", "all")
    assert after.units == before.units


def test_a_rubric_with_other_questions_is_refused(fresh):
    mock.made(fresh)
    of = mock.divided(fresh)
    file = rubric_store.folder(fresh) / "shop.toml"
    file.write_text('[[criteria]]\nname = "wit"\nstatement = "It is witty."\nscale = "1..5"\n')
    with pytest.raises(StudyError, match="Give the questions the study's names"):
        variants.current(fresh, of)
    with pytest.raises(ConfigError), fresh.write() as db:
        variants.keep(db, of, {"criteria": []}, parent=None, note="")
