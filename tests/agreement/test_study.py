"""The study's JSON: its shape, its figures by hand, what is undefined, and FED computed independently."""

import json

import krippendorff
import numpy as np
import pandas as pd
import pytest
from scipy import stats

from concord.errors import StudyError
from concord.statistics.ratings import FINAL, default_panels, read_ratings
from concord.statistics.resampling import draws
from concord.statistics.study import as_json
from concord.statistics.study import study_agreement as measured

from .frames import ends, fed, frame, judges, matrix, people, study

PEOPLE = {"ann": [1, 2, 3, 4, 5, 3], "bob": [2, 2, 3, 5, 4, None], "cy": [1, 3, None, 4, 5, 2]}
JUDGES = {"j": [1, 3, 3, 4, 4, 2], "k": [2, 1, 5, 4, 4, 3], "l": [4, 1, 2, 5, 3, 1.5]}


def study_agreement(rows, **options):
    reading = ("criteria", "counted", "without_judges", "anonymous_people")
    table = read_ratings(rows, **{name: options.pop(name) for name in reading if name in options})
    return as_json(measured(table, **options))


def random_study(seed=0, items=40):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=items)
    likert = lambda: np.clip(np.round(3 + quality + rng.normal(size=items)), 1, 5).tolist()  # noqa: E731
    persons = {f"p{i}": [s if rng.random() < 0.7 else None for s in likert()] for i in range(4)}
    return study(persons, {f"j{i}": likert() for i in range(3)})


def test_exactly_this_shape():
    people, judges = ({name: 2 * row for name, row in rows.items()} for rows in (PEOPLE, JUDGES))
    result = study_agreement(study(people, judges), resamples=100, study="tiny")
    assert list(result) == ["schema", "study", "items", "resamples", "seed", "people", "criteria"]
    assert (result["study"], result["items"], result["resamples"], result["seed"]) == ("tiny", 12, 100, 0)
    assert list(result["criteria"]) == ["quality", FINAL]
    part = result["criteria"]["quality"]
    assert list(part) == ["humans", "judges", "panels"]
    assert list(part["humans"]) == ["raters", "items", "alpha", "pairs", "each"]
    assert (part["humans"]["raters"], part["humans"]["items"]) == (3, 12)
    for metric in ("ordinal", "interval"):
        assert list(part["humans"]["alpha"][metric]) == ["value", "ci"]
    assert all(list(row) == ["a", "b", "spearman", "n"] for row in part["humans"]["pairs"])
    assert all(list(row) == ["rater", "vs_all", "vs_others", "n"] for row in part["humans"]["each"])
    figures = ["spearman", "p", "ci", "n"]
    assert all(list(row) == ["rater", *figures] for row in part["judges"])
    assert all(list(row) == ["judges", *figures] for row in part["panels"])
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_judges_and_panels_against_scipy():
    part = study_agreement(study(PEOPLE, JUDGES), resamples=10)["criteria"]["quality"]
    target = matrix(people(PEOPLE)).mean(axis=0)
    # Unit 0: (1 + 2 + 1)/3; unit 2: (3 + 3)/2; unit 5: (3 + 2)/2.
    assert target.tolist() == pytest.approx([4 / 3, 7 / 3, 3, 13 / 3, 14 / 3, 2.5])
    scores = matrix(judges(JUDGES), "judge")
    for row in part["judges"] + part["panels"]:
        score = scores.loc[row.get("judges", [row.get("rater")])].mean(axis=0)
        rho = stats.spearmanr(score, target)
        assert row["spearman"] == pytest.approx(rho.statistic)
        assert row["p"] == pytest.approx(rho.pvalue)
        assert row["n"] == 6
    assert [row["judges"] for row in part["panels"]] == [["j", "k", "l"], ["j", "k"], ["j", "l"], ["k", "l"]]


def test_people_against_all_and_against_the_others():
    part = study_agreement(study(PEOPLE, JUDGES), resamples=10)["criteria"]["quality"]["humans"]
    pair = next(row for row in part["pairs"] if (row["a"], row["b"]) == ("bob", "cy"))
    assert pair["n"] == 4  # unit 2 is not cy's, unit 5 not bob's
    assert pair["spearman"] == pytest.approx(stats.spearmanr([2, 2, 5, 4], [1, 3, 4, 5]).statistic)
    cy = next(row for row in part["each"] if row["rater"] == "cy")
    assert cy["n"] == 5
    others = [1.5, 2, 4.5, 4.5, 3]  # ann and bob; on unit 5 ann alone
    everyone = [4 / 3, 7 / 3, 13 / 3, 14 / 3, 2.5]
    assert cy["vs_others"] == pytest.approx(stats.spearmanr([1, 3, 4, 5, 2], others).statistic)
    assert cy["vs_all"] == pytest.approx(stats.spearmanr([1, 3, 4, 5, 2], everyone).statistic)


def test_the_ceiling_counts_only_items_that_somebody_else_rated():
    # On units 3 to 5 ann is alone: there the mean of all is her own rating, which would flatter her.
    rows = people({"ann": [1, 2, 3, 4, 5, 1], "bob": [3, 2, 1, None, None, None]})
    ann = study_agreement(rows, resamples=10)["criteria"]["quality"]["humans"]["each"][0]
    assert (ann["n"], ann["vs_others"]) == (3, -1)
    assert ann["vs_all"] is None  # (1+3)/2 = (2+2)/2 = (3+1)/2
    assert ann["reason"] == "the mean of all is constant on the items in common"


def test_intervals_are_those_of_the_drawn_items():
    rows = random_study()
    part = study_agreement(rows, resamples=60, seed=5)["criteria"]["quality"]
    persons, machines = matrix(rows).reindex(columns=range(40)), matrix(rows, "judge")
    target = persons.mean(axis=0)
    rated = np.flatnonzero(target.notna())
    assert len(rated) < 40  # an item that no person rated is not drawn
    alphas, rhos, panel = [], [], []
    for weights in np.concatenate(list(draws(40, 60, 5, among=rated)), axis=1).T.astype(int):
        drawn = np.repeat(np.arange(40), weights)
        drawn_target = target[drawn].to_numpy()
        kept = ~np.isnan(drawn_target)
        alphas.append(krippendorff.alpha(persons[drawn].to_numpy(), level_of_measurement="ordinal"))
        rhos.append(stats.spearmanr(machines.loc["j1"][drawn][kept], drawn_target[kept]).statistic)
        panel.append(stats.spearmanr(machines[drawn].mean(axis=0)[kept], drawn_target[kept]).statistic)
    alpha, judge, both = part["humans"]["alpha"]["ordinal"], part["judges"][1], part["panels"][0]
    several = int((persons.notna().sum() >= 2).sum())
    assert tuple(alpha["ci"]) == ends(alpha["value"], alphas, several, "z")
    assert tuple(judge["ci"]) == ends(judge["spearman"], rhos, judge["n"], "z")
    assert tuple(both["ci"]) == ends(both["spearman"], panel, both["n"], "z")


def test_the_order_of_rows_and_the_names_of_raters_change_nothing():
    rows = random_study(1)
    result = study_agreement(rows, resamples=50)
    assert study_agreement(rows.sample(frac=1, random_state=0), resamples=50) == result
    swapped = rows.assign(rater=rows["rater"].replace({"p0": "p3", "p3": "p0"}))
    own, other = (r["criteria"]["quality"] for r in (result, study_agreement(swapped, resamples=50)))
    assert own["judges"] == other["judges"]
    assert own["humans"]["alpha"]["ordinal"]["value"] == pytest.approx(
        other["humans"]["alpha"]["ordinal"]["value"]
    )
    assert own["humans"]["each"][0]["vs_others"] == pytest.approx(other["humans"]["each"][3]["vs_others"])


def test_a_panel_needs_all_its_members_on_an_item():
    rows = study({"ann": [1, 2, 3, 4, 5]}, {"j": [1, 2, 3, 4, None], "k": [5, 2, 3, None, 4]})
    panel = study_agreement(rows, resamples=10)["criteria"]["quality"]["panels"]
    assert [(row["judges"], row["n"]) for row in panel] == [(["j", "k"], 3)]
    # Means 3, 2, 3 against 1, 2, 3: ranks 2.5, 1, 2.5; (−1·.5 + 0·−1 + 1·.5)/… = 0.
    assert panel[0]["spearman"] == 0


def test_chosen_panels():
    rows = study(PEOPLE, JUDGES)
    part = study_agreement(rows, resamples=10, panels=[["l", "j"], ("j", "l"), ["k"]])["criteria"]["quality"]
    assert [row["judges"] for row in part["panels"]] == [["j", "l"], ["k"]]
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
    result = study_agreement(rows, resamples=10)["criteria"][FINAL]
    ann, bob, j, k = sum(parts.values())
    assert result["humans"]["pairs"][0]["spearman"] == pytest.approx(stats.spearmanr(ann, bob).statistic)
    assert result["judges"][0]["spearman"] == pytest.approx(stats.spearmanr(ann + bob, j).statistic)
    assert result["panels"][0]["spearman"] == pytest.approx(stats.spearmanr(ann + bob, j + k).statistic)
    expected = krippendorff.alpha([ann, bob], level_of_measurement="ordinal")
    assert result["humans"]["alpha"]["ordinal"]["value"] == pytest.approx(expected)


def test_clusters_widen_an_interval():
    # Ten scenarios of eight items that all say the same: there are ten observations, not eighty.
    rng = np.random.default_rng(0)
    quality = np.repeat(rng.integers(1, 6, 10), 8)
    judge = np.repeat(rng.integers(1, 6, 10) + quality[::8], 8)
    rows = study({"ann": quality.tolist()}, {"j": judge.tolist()})
    width = []
    for clusters in (None, {unit: unit // 8 for unit in range(80)}):
        low, high = study_agreement(rows, resamples=300, clusters=clusters)["criteria"]["quality"]["judges"][
            0
        ]["ci"]
        width.append(high - low)
    assert width[1] > 1.5 * width[0]


def test_constant_ratings_are_undefined():
    part = study_agreement(
        study({"ann": [3, 3, 3, 3], "bob": [3, 3, 3, 3]}, {"j": [1, 2, 3, 4]}), resamples=20
    )
    part = part["criteria"]["quality"]
    assert part["humans"]["alpha"]["ordinal"] == {
        "value": None,
        "ci": None,
        "reason": "all ratings are equal",
    }
    assert part["humans"]["pairs"][0]["reason"] == "ann and bob are constant on the items in common"
    assert part["judges"][0]["reason"] == "people's mean is constant on the items in common"
    part = study_agreement(study(PEOPLE, {"j": [4] * 6}), resamples=20)["criteria"]["quality"]
    undefined = {"spearman": None, "p": None, "ci": None, "n": 6}
    assert part["judges"] == [{"rater": "j", **undefined, "reason": "j is constant on the items in common"}]


def test_one_person():
    part = study_agreement(study({"ann": [1, 2, 3, 4, 5]}, {"j": [1, 2, 3, 5, 4]}), resamples=20)["criteria"][
        "quality"
    ]
    assert part["humans"]["alpha"]["interval"]["reason"] == "no item was rated by two people"
    assert part["humans"]["pairs"] == part["humans"]["each"] == []
    assert part["humans"]["reason"] == "one person alone cannot be compared"
    assert part["judges"][0]["spearman"] == pytest.approx(0.9)  # 1 − 6·2/(5·24)


def test_no_judges_no_people_no_ratings():
    without_judges = study_agreement(people(PEOPLE), resamples=20)["criteria"]["quality"]
    assert (without_judges["judges"], without_judges["panels"]) == ([], [])
    assert without_judges["reason"] == "the study has no judges"
    assert without_judges["humans"]["alpha"]["ordinal"]["value"] > 0.5
    without_people = study_agreement(judges(JUDGES), resamples=20)["criteria"]["quality"]
    assert (without_people["humans"]["raters"], without_people["humans"]["items"]) == (0, 0)
    assert without_people["humans"]["reason"] == "no person rated this criterion"
    assert {row["reason"] for row in without_people["judges"]} == {"no person's rating to compare with"}
    nothing = study_agreement(frame([]), resamples=20)
    assert (nothing["items"], nothing["criteria"]) == (0, {})
    assert nothing["reason"] == "the study has no ratings"
    waiting = study_agreement(frame([]), resamples=20, criteria=["fun"])
    assert waiting["criteria"]["fun"]["humans"]["alpha"]["ordinal"]["value"] is None
    assert (
        waiting["criteria"][FINAL]["humans"]["reason"] == "no person rated every criterion that enters final"
    )


def test_every_two_of_more_than_twelve_annotators_are_not_listed_and_that_is_said():
    for number, listed in ((12, 66), (13, 0)):
        persons = {f"p{n}": [1 + (n + item) % 5 for item in range(6)] for n in range(number)}
        humans = study_agreement(study(persons, {}), resamples=0)["criteria"]["quality"]["humans"]
        assert len(humans["pairs"]) == listed
        assert humans.get("pairs_reason", "").startswith("13 annotators") == (not listed)


def test_few_items():
    rows = study({"ann": [1, 2, 3], "bob": [1, 3, 2]}, {"j": [1, 2, 3], "k": [2, 1, None]})
    j, k = study_agreement(rows, resamples=200)["criteria"]["quality"]["judges"]
    # Means 1, 2.5, 2.5: ranks 1, 2.5, 2.5 against 1, 2, 3: 1.5/√(2·1.5).
    assert j["spearman"] == pytest.approx(1.5 / np.sqrt(3))
    assert (j["p"], j["ci"], j["n"]) == (None, None, 3)
    assert (
        "p: 3 items are too few for a p-value; no interval: 3 items are too few, at least 8 are needed"
        in j["reason"]
    )
    assert k["spearman"] is None
    assert k["reason"] == "2 items in common, at least 3 are needed"


def test_anonymous_people_are_not_compared():
    rows = pd.concat([study(PEOPLE, JUDGES, "a"), study(PEOPLE, JUDGES, "b")])
    result = study_agreement(rows, resamples=20, anonymous_people=True)["criteria"]
    humans = result["a"]["humans"]
    assert humans["pairs"] == humans["each"] == []
    assert humans["reason"] == "people's positions are unnamed: they are not persons"
    expected = krippendorff.alpha(matrix(people(PEOPLE)), level_of_measurement="ordinal")
    assert humans["alpha"]["ordinal"]["value"] == pytest.approx(expected)  # alpha asks how often, not who
    assert result[FINAL]["humans"]["alpha"]["ordinal"]["reason"] == humans["reason"]
    assert result[FINAL]["judges"][0]["spearman"] == pytest.approx(result["a"]["judges"][0]["spearman"])


def test_what_closes_units_to_judges_changes_no_figure_of_people():
    rows = study(PEOPLE, JUDGES)
    every = study_agreement(rows, resamples=20)["criteria"]["quality"]
    closed = dict.fromkeys((0, 3), "refused")
    some = study_agreement(rows, resamples=20, without_judges=closed)["criteria"]["quality"]
    fewer = study_agreement(rows[~rows["unit"].isin([0, 3])], resamples=20)["criteria"]["quality"]
    assert some["humans"] == every["humans"]
    for of in ("judges", "panels"):
        assert [row["spearman"] for row in some[of]] == [row["spearman"] for row in fewer[of]]
        assert [row["n"] for row in some[of]] == [row["n"] for row in fewer[of]]


def test_fed_against_an_independent_computation():
    rows = fed()
    names = ["Coherent", "Diverse", "Likeable", "Informative", "Overall"]
    result = study_agreement(rows, criteria=names, counted=[], resamples=200, anonymous_people=True)
    assert (result["items"], list(result["criteria"])) == (125, names)
    for name in names:
        part, own = result["criteria"][name], rows[rows["criterion"] == name]
        persons, runs = matrix(own), matrix(own, "judge")
        target = persons.mean(axis=0)
        for row in part["judges"]:
            rho = stats.spearmanr(runs.loc[row["rater"]], target)
            assert (row["spearman"], row["p"]) == pytest.approx((rho.statistic, rho.pvalue))
            assert row["ci"][0] < row["spearman"] < row["ci"][1]
        assert len(part["panels"][0]["judges"]) == 5
        # Sums, so that no rounding splits the ties of the five runs' mean.
        mean_of_runs = stats.spearmanr(runs.sum(axis=0), np.round(target, 9)).statistic
        assert part["panels"][0]["spearman"] == pytest.approx(mean_of_runs)
        for metric in ("ordinal", "interval"):
            expected = krippendorff.alpha(persons.to_numpy(), level_of_measurement=metric)
            assert part["humans"]["alpha"][metric]["value"] == pytest.approx(expected)
        assert part["humans"]["pairs"] == []
