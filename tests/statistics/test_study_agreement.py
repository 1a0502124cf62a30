"""The figures of a study: by hand, what is undefined, and FED computed independently."""

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.errors import StudyError
from concord.estimate import undefined
from concord.statistics.correlation import rank_correlation
from concord.statistics.ratings import FINAL, default_panels, read_ratings
from concord.statistics.resampling import draws
from concord.statistics.study import study_agreement as measured
from concord.statistics.study import with_others
from tests.statistics.frames import ends, fed, frame, judges, matrix, people, study

PEOPLE = {"ann": [1, 2, 3, 4, 5, 3], "bob": [2, 2, 3, 5, 4, None], "cy": [1, 3, None, 4, 5, 2]}
JUDGES = {"j": [1, 3, 3, 4, 4, 2], "k": [2, 1, 5, 4, 4, 3], "l": [4, 1, 2, 5, 3, 1.5]}


def study_agreement(rows, **options):
    reading = ("criteria", "final_criteria", "without_judges", "anonymous_people")
    table = read_ratings(rows, **{name: options.pop(name) for name in reading if name in options})
    return measured(table, **options).criteria


def pair(rows, a, b, criterion="quality", **reading):
    table = read_ratings(rows, **reading)
    one, other = (table[criterion].scores_of(table.people.index(name)) for name in (a, b))
    return rank_correlation(one, other, a, b)


def each(rows, criterion="quality", **reading):
    return with_others(read_ratings(rows, **reading), criterion)


def random_study(seed=0, items=40):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    likert = lambda: np.clip(np.round(3 + quality + rng.normal(size=items)), 1, 5).tolist()  # noqa: E731
    persons = {f"p{i}": [s if rng.random() < 0.7 else None for s in likert()] for i in range(4)}
    return study(persons, {f"j{i}": likert() for i in range(3)})


def test_judges_and_panels_against_scipy():
    part = study_agreement(study(PEOPLE, JUDGES), resamples=10)["quality"]
    target = matrix(people(PEOPLE)).mean(axis=0)
    # Unit 0: (1 + 2 + 1)/3; unit 2: (3 + 3)/2; unit 5: (3 + 2)/2.
    assert target.tolist() == pytest.approx([4 / 3, 7 / 3, 3, 13 / 3, 14 / 3, 2.5])
    scores = matrix(judges(JUDGES), "judge")
    for row in part.raters:
        rho = stats.spearmanr(scores.loc[list(row.members)].mean(axis=0), target)
        assert row.spearman.value == pytest.approx(rho.statistic)
        assert row.p.value == pytest.approx(rho.pvalue)
        assert row.spearman.n == 6
    assert [row.members for row in part.panels] == [("j", "k", "l"), ("j", "k"), ("j", "l"), ("k", "l")]


def test_people_against_each_other_and_the_others():
    both = pair(people(PEOPLE), "bob", "cy")
    assert both.n == 4  # unit 2 is not cy's, unit 5 not bob's
    assert both.value == pytest.approx(stats.spearmanr([2, 2, 5, 4], [1, 3, 4, 5]).statistic)
    others = [1.5, 2, 4.5, 4.5, 3]  # ann and bob; on unit 5 ann alone
    cy = each(people(PEOPLE))["cy"]
    assert cy.n == 5
    assert cy.value == pytest.approx(stats.spearmanr([1, 3, 4, 5, 2], others).statistic)


def test_only_items_that_somebody_else_rated_count():
    rows = people({"ann": [1, 2, 3, 4, 5, 1], "bob": [3, 2, 1, None, None, None]})
    ann = each(rows)["ann"]
    assert (ann.n, ann.value) == (3, -1)


def test_intervals_are_those_of_the_drawn_items():
    rows = random_study()
    part = study_agreement(rows, resamples=60, seed=5)["quality"]
    persons, machines = matrix(rows).reindex(columns=range(40)), matrix(rows, "judge")
    target = persons.mean(axis=0)
    rated = np.flatnonzero(target.notna())
    assert len(rated) < 40  # an item that no person rated is not drawn
    alphas, rhos, panel = [], [], []
    for weights in np.concatenate(list(draws(40, 60, 5, subset=rated)), axis=1).T.astype(int):
        drawn = np.repeat(np.arange(40), weights)
        drawn_target = target[drawn].to_numpy()
        kept = ~np.isnan(drawn_target)
        alphas.append(krippendorff.alpha(persons[drawn].to_numpy(), level_of_measurement="ordinal"))
        rhos.append(stats.spearmanr(machines.loc["j1"][drawn][kept], drawn_target[kept]).statistic)
        panel.append(stats.spearmanr(machines[drawn].mean(axis=0)[kept], drawn_target[kept]).statistic)
    alpha, judge, both = part.alpha["ordinal"], part.judges[1].spearman, part.panels[0].spearman
    several = int((persons.notna().sum() >= 2).sum())
    assert alpha.interval == ends(alpha.value, alphas, several, "z")
    assert judge.interval == ends(judge.value, rhos, judge.n, "z")
    assert both.interval == ends(both.value, panel, both.n, "z")


def test_the_order_of_rows_and_the_names_of_raters_change_nothing():
    rows = random_study(1)
    own = study_agreement(rows, resamples=50)["quality"]
    mixed = study_agreement(rows.sample(frac=1, random_state=0), resamples=50)["quality"]
    assert (mixed.alpha, mixed.raters) == (own.alpha, own.raters)
    swapped = rows.assign(rater=rows["rater"].replace({"p0": "p3", "p3": "p0"}))
    other = study_agreement(swapped, resamples=50)["quality"]
    assert own.judges == other.judges
    assert own.alpha["ordinal"].value == pytest.approx(other.alpha["ordinal"].value)
    assert each(rows)["p0"].value == pytest.approx(each(swapped)["p3"].value)


def test_a_panel_needs_all_its_members_on_an_item():
    rows = study({"ann": [1, 2, 3, 4, 5]}, {"j": [1, 2, 3, 4, None], "k": [5, 2, 3, None, 4]})
    [panel] = study_agreement(rows, resamples=10)["quality"].panels
    assert (panel.members, panel.spearman.n) == (("j", "k"), 3)
    # Means 3, 2, 3 against 1, 2, 3: ranks 2.5, 1, 2.5; (−1·.5 + 0·−1 + 1·.5)/… = 0.
    assert panel.spearman.value == 0


def test_chosen_panels():
    rows = study(PEOPLE, JUDGES)
    part = study_agreement(rows, resamples=10, panels=[["l", "j"], ("j", "l"), ["k"]])["quality"]
    assert [row.members for row in part.panels] == [("j", "l"), ("k",)]
    with pytest.raises(StudyError, match="“gpt”, who is not in this study"):
        study_agreement(rows, panels=[["j", "gpt"]])
    assert default_panels(["a"]) == []
    assert default_panels(["a", "b"]) == [("a", "b")]


def test_final_over_criteria():
    rng = np.random.default_rng(2)
    parts = {name: rng.integers(1, 6, (4, 20)) for name in ("character", "fluency", "fun")}
    rows = pd.concat(
        [
            study(
                {"ann": s[0].tolist(), "bob": s[1].tolist()}, {"j": s[2].tolist(), "k": s[3].tolist()}, name
            )
            for name, s in parts.items()
        ]
    )
    result = study_agreement(rows, resamples=10)[FINAL]
    ann, bob, j, k = sum(parts.values())
    assert pair(rows, "ann", "bob", FINAL).value == pytest.approx(stats.spearmanr(ann, bob).statistic)
    assert result.judges[0].spearman.value == pytest.approx(stats.spearmanr(ann + bob, j).statistic)
    assert result.panels[0].spearman.value == pytest.approx(stats.spearmanr(ann + bob, j + k).statistic)
    expected = krippendorff.alpha([ann, bob], level_of_measurement="ordinal")
    assert result.alpha["ordinal"].value == pytest.approx(expected)


def test_clusters_widen_an_interval():
    # Ten scenarios of eight items that all say the same: there are ten observations, not eighty.
    rng = np.random.default_rng(0)
    quality = np.repeat(rng.integers(1, 6, 10), 8)
    judge = np.repeat(rng.integers(1, 6, 10) + quality[::8], 8)
    rows = study({"ann": quality.tolist()}, {"j": judge.tolist()})
    width = []
    for clusters in (None, {unit: unit // 8 for unit in range(80)}):
        part = study_agreement(rows, resamples=300, clusters=clusters)["quality"]
        low, high = part.judges[0].spearman.interval
        width.append(high - low)
    assert width[1] > 1.5 * width[0]


def test_constant_ratings_are_undefined():
    rows = study({"ann": [3, 3, 3, 3], "bob": [3, 3, 3, 3]}, {"j": [1, 2, 3, 4]})
    part = study_agreement(rows, resamples=20)["quality"]
    assert part.alpha["ordinal"].value is None
    assert part.alpha["ordinal"].reason == "all ratings are equal"
    assert pair(rows, "ann", "bob").reason == "ann and bob are constant on the items in common"
    assert part.judges[0].spearman.reason == "people's mean is constant on the items in common"
    [judge] = study_agreement(study(PEOPLE, {"j": [4] * 6}), resamples=20)["quality"].judges
    assert judge.spearman == undefined("j is constant on the items in common", n=6)
    assert judge.p.value is None


def test_one_person():
    rows = study({"ann": [1, 2, 3, 4, 5]}, {"j": [1, 2, 3, 5, 4]})
    part = study_agreement(rows, resamples=20)["quality"]
    assert part.alpha["interval"].reason == "no item was rated by two annotators"
    assert each(rows) == {}
    assert part.judges[0].spearman.value == pytest.approx(0.9)  # 1 − 6·2/(5·24)


def test_no_judges_no_people_no_ratings():
    without_judges = study_agreement(people(PEOPLE), resamples=20)["quality"]
    assert without_judges.raters == ()
    assert without_judges.alpha["ordinal"].value > 0.5
    without_people = study_agreement(judges(JUDGES), resamples=20)["quality"]
    assert (without_people.people, without_people.items) == (0, 0)
    assert {row.spearman.reason for row in without_people.judges} == {"no annotator's rating to compare with"}
    assert study_agreement(frame([]), resamples=20) == {}
    waiting = study_agreement(frame([]), resamples=20, criteria=["fun"])
    assert waiting["fun"].alpha["ordinal"].value is None
    assert (waiting[FINAL].people, waiting[FINAL].items) == (0, 0)


def test_few_items():
    rows = study({"ann": [1, 2, 3], "bob": [1, 3, 2]}, {"j": [1, 2, 3], "k": [2, 1, None]})
    j, k = study_agreement(rows, resamples=200)["quality"].judges
    # Means 1, 2.5, 2.5: ranks 1, 2.5, 2.5 against 1, 2, 3: 1.5/√(2·1.5).
    assert j.spearman.value == pytest.approx(1.5 / np.sqrt(3))
    assert (j.spearman.interval, j.spearman.n) == (None, 3)
    assert j.p == undefined("3 items are too few for a p-value", n=3)
    assert j.spearman.reason == "no interval: 3 items are too few, at least 8 are needed"
    assert k.spearman.value is None
    assert k.spearman.reason == "2 items in common, at least 3 are needed"


def test_anonymous_people_are_not_compared():
    rows = pd.concat([study(PEOPLE, JUDGES, "a"), study(PEOPLE, JUDGES, "b")])
    result = study_agreement(rows, resamples=20, anonymous_people=True)
    part = result["a"]
    assert each(rows, "a", anonymous_people=True) == {}
    assert (part.people, result[FINAL].people) == (3, 3)
    expected = krippendorff.alpha(matrix(people(PEOPLE)), level_of_measurement="ordinal")
    assert part.alpha["ordinal"].value == pytest.approx(expected)  # alpha asks how often, not who
    assert "annotators have no names" in result[FINAL].alpha["ordinal"].reason
    assert result[FINAL].judges[0].spearman.value == pytest.approx(part.judges[0].spearman.value)


def test_what_closes_units_to_judges_changes_no_figure_of_people():
    rows = study(PEOPLE, JUDGES)
    every = study_agreement(rows, resamples=20)["quality"]
    closed = dict.fromkeys((0, 3), "refused")
    some = study_agreement(rows, resamples=20, without_judges=closed)["quality"]
    fewer = study_agreement(rows[~rows["unit"].isin([0, 3])], resamples=20)["quality"]
    assert some.alpha == every.alpha
    assert each(rows, without_judges=closed) == each(rows)
    for one, other in zip(some.raters, fewer.raters, strict=True):
        assert (one.spearman.value, one.spearman.n) == (other.spearman.value, other.spearman.n)


def test_fed_against_an_independent_computation():
    rows = fed()
    names = ["Coherent", "Diverse", "Likeable", "Informative", "Overall"]
    result = study_agreement(rows, criteria=names, final_criteria=[], resamples=200, anonymous_people=True)
    assert list(result) == names
    for name in names:
        part, own = result[name], rows[rows["criterion"] == name]
        assert part.items == 125
        persons, runs = matrix(own), matrix(own, "judge")
        target = persons.mean(axis=0)
        for row in part.judges:
            rho = stats.spearmanr(runs.loc[row.name], target)
            assert (row.spearman.value, row.p.value) == pytest.approx((rho.statistic, rho.pvalue))
            assert row.spearman.low < row.spearman.value < row.spearman.high
        assert len(part.panels[0].members) == 5
        # Sums, so that no rounding splits the ties of the five runs' mean.
        mean_of_runs = stats.spearmanr(runs.sum(axis=0), np.round(target, 9)).statistic
        assert part.panels[0].spearman.value == pytest.approx(mean_of_runs)
        for metric in ("ordinal", "interval"):
            expected = krippendorff.alpha(persons.to_numpy(), level_of_measurement=metric)
            assert part.alpha[metric].value == pytest.approx(expected)
