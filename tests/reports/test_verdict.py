"""The verdict on a study's judges, its reason and advice, and flags about single raters."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from concord.codes import GOOD, Advice, Claim, Unknown, UseCondition, Verdict
from concord.estimate import Estimate
from concord.questions import YES_NO
from concord.reports.agreement_report import AgreementReport, report_of
from concord.reports.flags import careless, flags_of, turned_round
from concord.reports.pictures import forest
from concord.reports.verdict import MOST_FLAGS, Assessment
from concord.reports.wording import interval_words
from concord.statistics.claims import CLAIMS, Flag, ranked
from concord.store.studies import AskedRubric, Study
from concord.studies.studies import StudyRatings
from tests.reports.agreement_report_helpers import CRITERIA, FEW, frame, measured, simulated
from tests.reports.verdict_helpers import two_judges
from tests.studies.quality_helpers import item


def quality():
    """What both criteria of 40 items deserve."""
    return np.random.default_rng(3).integers(1, 6, (40, 2)).astype(float)


QUALITY = quality()


def scores_of(seed: int, noise: float = 1.0) -> list[list[float]]:
    rng = np.random.default_rng([3, seed])
    return np.clip(np.round(QUALITY + rng.normal(0, noise, QUALITY.shape)), 1, 5).tolist()


PEOPLE = {("human", name): scores_of(seed) for seed, name in enumerate(("Ada", "Bo", "Chi"))}


def flags_about(scores: dict[tuple[str, str], list[list[float]]]) -> list[tuple[Claim, str, tuple[str, ...]]]:
    """The flags of a study with these scores too: the claim, whom it is about, the criteria."""
    flags = flags_of(measured(frame({**PEOPLE, **scores})))
    return [(flag.claim, flag.judge or flag.subject, flag.criterion_keys) for flag in flags]


def summary(scores: dict[tuple[str, str], list[list[float]]]) -> str:
    report = measured(frame({**PEOPLE, **scores}))
    return " ".join([*report.summary, *report.limits])


def verdict(**noise: float) -> Assessment:
    return measured(simulated(**noise)).verdict()  # type: ignore[arg-type]


def test_a_judge_as_good_as_an_annotator_may_be_used() -> None:
    found = verdict(judge_noise=0.1, person_noise=1.2)
    assert (found.verdict, found.advice, found.use) == (Verdict.AS_GOOD, Advice.USE, ("j",))
    assert found.conditions == ()
    [row] = found.rows.rows
    assert row["name"] == "j"
    assert row["judge"].value > row["person"].value
    assert row["difference"].low > 0


def test_a_judge_that_orders_well_on_another_level_is_corrected_first() -> None:
    shifted = verdict(judge_noise=0.1, person_noise=1.2, shift=0.8)
    assert shifted.verdict == Verdict.AS_GOOD
    assert shifted.conditions == (UseCondition.CORRECT_LEVEL,)


def test_a_judge_that_agrees_better_alone_is_used_alone() -> None:
    """With 20 items a panel of a fine judge and a poor one is as good as a person; the fine one is better."""
    both = two_judges(0.05, 1.5, 1.2)
    rows = {str(row["name"]): row for row in both.verdict().rows.rows}
    assert both.verdict().verdict == rows["j"]["verdict"] == Verdict.AS_GOOD
    alone, together = (rows[name]["judge"].value for name in ("j", "j + k"))
    assert alone > together
    assert both.verdict().use == ("j",)
    assert f"ρ = {alone:.2f}, all together {together:.2f}" in both.verdict().action


def test_advice_to_repair_a_question_says_nothing_of_use() -> None:
    """A judge on another level may lie within a wide margin of people who do not agree."""
    answers = np.random.default_rng(3).integers(1, 4, (3, 200, 2))
    apart = {
        ("human", name): given.tolist() for name, given in zip(("Ada", "Bo", "Chi"), answers, strict=True)
    }
    judge = (np.random.default_rng(4).integers(1, 4, (200, 2)) + 2).tolist()
    scores = {**apart, ("judge", "j"): judge}
    found = measured(frame(scores), options=replace(FEW, margin=0.5)).verdict()
    assert found.advice == Advice.REPAIR_QUESTION
    assert (found.use, found.conditions) == ((), ())


def test_a_coin_is_not_used_however_little_annotators_agree() -> None:
    """Annotators reach κ 0.05, so that a coin lies within 0.1 of them: half of 0.05 is the margin."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 6000)
    right = 0.5 + np.sqrt(0.05) / 2
    rows = np.where(rng.random((3, 6000)) < right, truth, 1 - truth).astype(float)
    scores = {("human", name): given for name, given in zip(("Ada", "Bo", "Chi"), rows, strict=True)}
    scores["judge", "j"] = rng.integers(0, 2, 6000).astype(float)
    asked = (replace(CRITERIA[0], scale=YES_NO),)
    name = asked[0].name
    table = frame({rater: [[one, 3.0] for one in of] for rater, of in scores.items()})
    of = StudyRatings(Study("s", asked), table.query("criterion == @name"), (name,), (name,), {}, "mean")
    found = report_of(of, FEW).verdict()
    difference = next(row["difference"] for row in found.rows.rows)
    assert difference.low > -0.1, "it lies within the margin in points"
    assert found.verdict not in GOOD
    assert found.advice != Advice.USE


def test_weak_agreement_with_the_only_person_is_no_agreement() -> None:
    table = simulated(items=300, judge_noise=30.0, person_noise=0.5)
    found = measured(table[table.rater.isin(["Ada", "j"])]).verdict("wit")
    assert found.verdict == Verdict.UNDEFINED
    assert found.advice == Advice.DO_NOT_USE
    assert found.unknowns == (Unknown.ONE_ANNOTATOR,)


def test_a_judge_worse_than_a_person_replaces_nobody() -> None:
    found = verdict(judge_noise=3.0, person_noise=0.3)
    assert (found.verdict, found.advice, found.use) == (Verdict.WORSE, Advice.KEEP_ANNOTATORS, ())
    assert two_judges(3.0, 2.0, 0.3).verdict().advice == Advice.KEEP_ANNOTATORS


def test_a_judge_that_may_be_no_better_than_chance_has_its_sentence() -> None:
    """Its interval holds 0, which shows nothing; that it is worse than a person is shown."""
    found = verdict(judge_noise=30.0, person_noise=0.3)
    [row] = found.rows.rows
    assert row["judge"].low <= 0 <= row["judge"].high
    assert row["difference"].high < 0
    assert found.verdict == row["verdict"] == Verdict.WORSE
    assert found.advice == Advice.DO_NOT_USE


def turned(people: int) -> AgreementReport:
    """Two judges who give 6 less what they see."""
    rng = np.random.default_rng(5)
    quality = rng.integers(1, 6, (40, 2))

    def given(of: np.ndarray) -> list[list[float]]:
        return np.clip(np.round(of + rng.normal(0, 1, of.shape)), 1, 5).tolist()

    scores = {("human", name): given(quality) for name in ("Ada", "Bo", "Chi")[:people]}
    return measured(frame({**scores, **{("judge", name): given(6 - quality) for name in ("j", "k")}}))


@pytest.mark.parametrize("people", [1, 3])
def test_judges_that_all_run_against_people_are_called_turned_round(people: int) -> None:
    report = turned(people)
    found = report.verdict("wit")
    assert found.verdict == (Verdict.WORSE if people > 1 else Verdict.UNDEFINED)
    row = report.agreement.criteria["wit"].rater(("j", "k"))
    assert row
    assert row.spearman.value
    assert row.spearman.value < -0.6
    assert found.advice == Advice.CHECK_DIRECTION


def test_judges_below_0_by_chance_are_not_called_turned_round() -> None:
    """Of 100 studies with a judge that answers anything, a share of 0.025 is 2 or 3."""
    rng, said = np.random.default_rng(8), 0
    for _ in range(100):
        people = rng.integers(1, 6, 30).astype(float)
        scores = {
            ("human", name): [[s, 3.0] for s in np.clip(people + rng.integers(-1, 2, 30), 1, 5)]
            for name in ("Ada", "Bo")
        }
        anything = [[s, 3.0] for s in rng.integers(1, 6, 30).astype(float)]
        options = replace(FEW, resamples=100)
        report = measured(frame({**scores, ("judge", "j"): anything}), options=options)
        said += turned_round(report, "wit", ("j",))
    assert said <= 6, "P(X > 6) of 100 at 0.025 is 0.01"


def test_a_rubric_leads_with_its_first_question_and_a_benchmark_with_final() -> None:
    table = simulated(judge_noise=0.5, person_noise=0.5)
    assert measured(table).main == "final"
    assert measured(table, asked_rubric=AskedRubric("r", 1)).main == "wit"


def test_an_interval_that_leaves_out_0_shows_on_which_side_it_lies() -> None:
    """The claim that goes with 0.004 to 0.57 would not be believed beside “0.00 to 0.57”."""
    assert interval_words(Estimate(0.28, 0.004, 0.57, 50)) == " (95% CI 0.004 to 0.57)"
    assert interval_words(Estimate(-0.28, -0.57, -0.0004, 50), signed=True) == " (95% CI -0.57 to -0.0004)"
    assert interval_words(Estimate(0.0304, 0.0301, 0.0349, 50), signed=True) == " (95% CI +0.0301 to +0.0349)"


def test_what_items_cannot_tell_is_planned() -> None:
    # Judge and people see with the same noise.
    found = verdict(items=40, judge_noise=0.7, person_noise=0.7)
    assert (found.verdict, found.advice) == (Verdict.INCONCLUSIVE, Advice.LABEL_MORE)
    assert re.search(r"\d+ more items", found.action)


def test_where_people_do_not_agree_the_question_is_repaired_first() -> None:
    answers = np.random.default_rng(3).integers(1, 6, (3, 40, 2))
    apart = {
        ("human", name): given.tolist() for name, given in zip(("Ada", "Bo", "Chi"), answers, strict=True)
    }
    found = measured(frame({**apart, ("judge", "j"): scores_of(3)})).verdict()
    person = next(row["person"] for row in found.rows.rows)
    assert person.low <= 0
    assert person.high < 0.4
    assert found.advice == Advice.REPAIR_QUESTION
    assert "more items" not in found.action


def test_the_margin_decides_what_as_good_means() -> None:
    table = simulated(items=40, judge_noise=0.7, person_noise=0.7)
    wide = measured(table, options=replace(FEW, margin=0.5)).verdict()
    assert wide.verdict in GOOD
    assert "half of another annotator's agreement" in wide.reason


def test_a_single_judge_may_be_good_where_the_panel_is_not() -> None:
    report = two_judges(0.05, 8.0, 1.2)
    words = {str(row["name"]): row["verdict"] for row in report.verdict().rows.rows}
    assert words["j"] == Verdict.AS_GOOD
    found = report.verdict()
    assert found.verdict not in GOOD
    assert (found.advice, found.use) == (Advice.USE, ("j",))


@pytest.mark.parametrize("anonymous", [False, True])
def test_without_a_second_person_the_verdict_says_what_is_missing(anonymous: bool) -> None:
    table = simulated(judge_noise=0.5, person_noise=0.5)
    if not anonymous:
        table = table[table.rater.isin(["Ada", "j"])]
    found = measured(table, anonymous=anonymous).verdict("wit")
    assert found.verdict == Verdict.UNDEFINED
    assert found.unknowns == ((Unknown.NOT_COMPARED if anonymous else Unknown.ONE_ANNOTATOR),)
    assert ("no names" in found.unknown) == anonymous
    assert found.advice == (Advice.NAME_ANNOTATORS if anonymous else Advice.ADD_ANNOTATOR)


def test_a_shift_of_level_is_flagged_with_its_side() -> None:
    def flags(shift: float) -> dict[Claim, str]:
        return {f.claim: f.text for f in verdict(judge_noise=0.5, person_noise=0.5, shift=shift).flags}

    assert "points higher than annotators" in flags(0.8)[Claim.LEVEL]
    assert "points lower than annotators" in flags(-0.8)[Claim.LEVEL]
    assert Claim.LEVEL not in flags(0.0)


def test_flags_are_few_and_the_most_serious_first() -> None:
    upside_down = [[6 - wit, 6 - care] for wit, care in scores_of(4, 0.5)]
    flat = [[3.0 if i else 4.0, care] for i, (_, care) in enumerate(scores_of(5))]
    scores = {
        ("human", "Di"): flat,
        ("judge", "j"): upside_down,
        ("judge", "k"): flat,
        ("judge", "l"): PEOPLE["human", "Ada"],
    }
    report = measured(frame({**PEOPLE, **scores}))
    flags = report.verdict().flags
    assert len(flags) == MOST_FLAGS
    assert [*flags] == ranked(flags)
    assert [flag.claim for flag in flags][:2] == [Claim.TURNED_ROUND, Claim.COPY]
    assert len(report.limits) > MOST_FLAGS
    assert {flag.claim for flag in flags} <= set(CLAIMS)


def test_careless_people_stand_in_the_report_and_in_what_limits_it() -> None:
    report = measured(simulated(judge_noise=0.5, person_noise=0.5))
    dealt = tuple(item(name, n, state="done", seconds=1) for name in ("Ada", "Bo", "Chi") for n in range(20))
    report = replace(
        report, data=replace(report.data, assigned_items=dealt), table_cache={}, flag_cache={}, lone_cache={}
    )
    assert [flag.claim for flag in careless(report)] == [Claim.TOO_FAST] * 3
    for where in (report.limits, report.summary):
        assert sum(flag.text in where for flag in careless(report)) == 3
    assert "20 of 20 items" in report.document("markdown")


def test_a_player_treated_otherwise_is_named_a_uniform_shift_is_not() -> None:
    def flags(shift: float) -> dict[Claim, Flag]:
        table = simulated(items=90, judge_noise=0.4, person_noise=0.4, shift=shift)
        rows = (table.kind == "judge") & (table.player == "cedar")
        table.loc[rows, "score"] = np.clip(table.score[rows] + (0.0 if shift else 1.2), 1, 5)
        return {flag.claim: flag for flag in measured(table).verdict("wit").flags}

    favours = flags(0)[Claim.GROUP]
    assert (favours.judge, favours.group[1], favours.failing) == ("j", "cedar", "")
    assert Claim.GROUP not in flags(0.9)


def test_an_ordinary_study_has_no_cautions() -> None:
    assert flags_about({("judge", "j"): scores_of(6)}) == []


def test_a_judge_turned_round_is_told_with_its_criteria() -> None:
    upside_down = [[6 - wit, care] for wit, care in scores_of(7, 0.5)]
    found = flags_about({("judge", "j"): upside_down, ("judge", "k"): scores_of(8)})
    assert found == [(Claim.TURNED_ROUND, "j", ("Wit",))]


def test_a_correlation_below_0_that_may_be_chance_is_no_flag() -> None:
    blind = np.random.default_rng(0).integers(1, 6, 40)
    for sign in (1, -1):
        turned = [[3 + sign * (wit - 3), care] for wit, (_, care) in zip(blind, scores_of(9), strict=True)]
        report = measured(frame({**PEOPLE, ("judge", "j"): turned, ("judge", "k"): scores_of(10)}))
        assert Claim.TURNED_ROUND not in {flag.claim for flag in flags_of(report)}


def test_a_copy_of_one_person_is_told() -> None:
    copy = {("judge", "j"): PEOPLE["human", "Ada"]}
    flags = flags_of(measured(frame({**PEOPLE, **copy, ("judge", "k"): scores_of(11)})))
    assert [(flag.claim, flag.judge, flag.subject) for flag in flags] == [(Claim.COPY, "j", "Ada")]
    assert flags[0].criterion_keys == ("Wit", "Care")
    assert measured(frame({**PEOPLE, **copy})).verdict().advice == Advice.CHECK_COPY


def test_a_constant_person_is_told() -> None:
    flat = [[3.0, care] for _, care in scores_of(12)]
    found = flags_about({("human", "Di"): flat, ("judge", "j"): scores_of(13)})
    assert found[0] == (Claim.CONSTANT, "Di", ("Wit",))


def test_many_constant_people_are_counted() -> None:
    flat = {("human", f"p{n}"): [[3.0, 3.0]] * 40 for n in range(9)}
    scores = {**flat, ("judge", "j"): scores_of(14)}
    assert flags_about(scores) == [(Claim.CONSTANT, "", ())]
    assert "9 annotators" in summary(scores)


@pytest.mark.parametrize("bad", [True, False])
def test_ratings_that_are_missing_where_people_rate_low_are_told(bad: bool) -> None:
    mean = np.mean([PEOPLE["human", name] for name in ("Ada", "Bo", "Chi")], axis=0)[:, 0]
    order = np.argsort(mean)
    lost = set(order[:8].tolist() if bad else order[::5].tolist())
    j = [[None, None] if item in lost else row for item, row in enumerate(scores_of(15))]
    scores = {("judge", "j"): j, ("judge", "k"): scores_of(16)}
    claim = Claim.LACKS_RATINGS if bad else Claim.INCOMPLETE
    assert flags_about(scores) == [(claim, "j", ("Wit", "Care"))]  # type: ignore[arg-type]
    assert summary(scores).count("8 of 40 items") >= 2  # type: ignore[arg-type]


def test_judges_of_different_criteria_are_summarised_by_the_first() -> None:
    wit = [[a, None] for a, _ in scores_of(17)]
    care = [[None, b] for _, b in scores_of(18)]
    said = summary({("judge", "j"): wit, ("judge", "k"): care})  # type: ignore[dict-item]
    assert "On Wit, " in said


def test_a_judge_on_another_scale_is_told() -> None:
    scores = {("judge", "j"): [[2 * a, b] for a, b in scores_of(19)], ("judge", "k"): scores_of(20)}
    assert flags_about(scores) == [(Claim.SCALE, "", ("Wit",))]
    assert "off the scale 1 to 5" in summary(scores)


def test_one_answer_to_nearly_everything_is_told_beside_people() -> None:
    table = frame(
        {
            ("human", "Ada"): [[i % 5 + 1, i % 5 + 1] for i in range(40)],
            ("judge", "j"): [[4 if i else 1, i % 5 + 1] for i in range(40)],
        }
    )
    flags = {flag.claim: flag for flag in flags_of(measured(table))}
    assert (flags[Claim.ONE_ANSWER].judge, flags[Claim.ONE_ANSWER].criterion_keys) == ("j", ("Wit",))
    # 39 of 40 answers: 97.5%, which prints as 98%
    assert re.findall(r"\d+%", flags[Claim.ONE_ANSWER].text) == ["98%", "20%"]


def test_one_answer_to_everything_is_told_of_ten_items_and_more() -> None:
    def claims(items: int) -> dict[Claim, str]:
        people, judge = [[i % 5 + 1, i % 5 + 1] for i in range(items)], [[4, i % 5 + 1] for i in range(items)]
        report = measured(frame({("human", "Ada"): people, ("judge", "j"): judge}))
        return {flag.claim: flag.judge for flag in flags_of(report)}

    assert claims(10)[Claim.CONSTANT] == "j"
    assert Claim.CONSTANT not in claims(9)


def test_rare_answers_that_never_coincide_do_not_order_the_other_way_round() -> None:
    """Of 200 items ten are a yes to people, ten others to the judge: ρ = −0.05, and ± 0.02 by resamples."""
    people = [[5.0 if n < 10 else 1.0, 3.0 + n % 2] for n in range(200)]
    judge = [[5.0 if 10 <= n < 20 else 1.0, 3.0 + n % 2] for n in range(200)]
    report = measured(frame({("human", "Ada"): people, ("human", "Bo"): people, ("judge", "j"): judge}))
    rho = report.agreement.criteria["wit"].judges[0].spearman
    assert rho.interval
    assert rho.interval[1] < 0
    assert not any("other way round" in one for one in report.limits)


def test_a_picture_names_the_bar_of_one_more_person_where_it_has_one() -> None:
    table = simulated(judge_noise=0.5, person_noise=0.5)
    first = table[table.kind == "human"].rater.iloc[0]
    for people, barred in ((table, True), (table[(table.kind == "judge") | (table.rater == first)], False)):
        report = measured(people)
        picture = forest(report.section("glance", report.main)["glance"])
        assert picture["rows"]
        assert any(row["person"] is not None for row in picture["rows"]) == barred
        assert ("grey bar: another annotator" in picture["axis"]) == barred


@pytest.mark.parametrize(("yes", "advice"), [(3, Advice.LABEL_MORE), (60, Advice.DO_NOT_USE)])
def test_a_judge_that_never_says_the_rarer_answer_may_do_so_by_chance(yes: int, advice: Advice) -> None:
    """Of 120 items 3 are a yes: a judge as good as people says none with (117/120)¹²⁰ = .05, of 60 with
    .5¹²⁰.
    """
    people = [1.0] * yes + [0.0] * (120 - yes)
    other = [*people[1:], people[0]]
    scores = {("human", "Ada"): people, ("human", "Bo"): other, ("judge", "j"): [0.0] * 120}
    asked = (replace(CRITERIA[0], scale=YES_NO),)
    name = asked[0].name
    table = frame({rater: [[one, 3.0] for one in of] for rater, of in scores.items()})
    of = StudyRatings(Study("s", asked), table.query("criterion == @name"), (name,), (name,), {}, "mean")
    assert report_of(of, FEW).verdict().advice == advice
