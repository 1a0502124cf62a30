"""Warnings of a study's summary about single raters."""

from __future__ import annotations

import numpy as np
import pytest

from concord.estimate import Estimate
from tests.reports.test_agreement_report import frame, measured

RNG = np.random.default_rng(3)
QUALITY = RNG.integers(1, 6, (40, 2)).astype(float)


def seen(noise: float = 1.0) -> list[list[float]]:
    return np.clip(np.round(QUALITY + RNG.normal(0, noise, QUALITY.shape)), 1, 5).tolist()


PEOPLE = {("human", name): seen() for name in ("Ada", "Bo", "Chi")}


def summary(scores: dict[tuple[str, str], list[list[float]]]) -> str:
    return " ".join(measured(frame({**PEOPLE, **scores})).summary)


def test_an_ordinary_study_has_no_cautions() -> None:
    said = summary({("judge", "j"): seen()})
    for word in ("other way round", "repeats", "dropped", "no rating of", "one rater", "Scale of"):
        assert word not in said


def test_a_judge_turned_round_is_told_with_its_criteria() -> None:
    upside_down = [[6 - wit, care] for wit, care in seen(0.5)]
    said = summary({("judge", "j"): upside_down, ("judge", "k"): seen()})
    assert "j orders the items the other way round than people do: ρ = −0." in said.replace("-", "−")
    assert "on Wit. Check the direction" in said
    assert "k orders" not in said


def test_a_judge_that_goes_nowhere_near_people_is_told_without_more_certainty() -> None:
    # A judge who sees nothing of the items; its ρ on Wit is turned until it lies below 0.
    blind = np.random.default_rng(0).integers(1, 6, 40)

    def rated(sign: int) -> dict[tuple[str, str], list[list[float]]]:
        return {
            ("judge", "j"): [
                [3 + sign * (wit - 3), care] for wit, (_, care) in zip(blind, seen(), strict=True)
            ]
        }

    def rho(sign: int) -> Estimate:
        return measured(frame({**PEOPLE, **rated(sign)})).agreement.criteria["wit"].judges[0].spearman

    sign = min((1, -1), key=lambda of: rho(of).value or 0.0)
    below = rho(sign)
    assert below.value is not None
    assert below.interval
    assert below.value < 0 < below.interval[1]
    said = summary(rated(sign))
    assert f"It is not known yet whether j follows people: ρ = {below.value:.2f}" in said
    assert "j does not follow" not in said


def test_a_copy_of_one_person_is_told() -> None:
    said = summary({("judge", "j"): PEOPLE["human", "Ada"], ("judge", "k"): seen()})
    assert "j repeats the answers of Ada on Wit (ρ = 1.00, at most" in said
    assert "and Care (ρ = 1.00" in said
    assert "k repeats" not in said


def test_a_constant_person_and_a_duplicate_are_told() -> None:
    flat = [[3.0, care] for _, care in seen()]
    said = summary({("human", "Di"): flat, ("human", "Ed"): PEOPLE["human", "Bo"], ("judge", "j"): seen()})
    assert "Di gives 3 to all 40 items on Wit, and is dropped there" in said
    assert "Bo and Ed gave the same answers to the same items on Wit and Care" in said


def test_many_constant_people_are_counted() -> None:
    flat = {("human", f"p{n}"): [[3.0, 3.0]] * 40 for n in range(9)}
    said = summary({**flat, ("judge", "j"): seen()})
    assert "9 annotators give one and the same answer" in said
    assert "p3 gives" not in said


@pytest.mark.parametrize("bad", [True, False])
def test_ratings_that_are_missing_where_people_rate_low_are_told(bad: bool) -> None:
    mean = np.mean([PEOPLE["human", name] for name in ("Ada", "Bo", "Chi")], axis=0)[:, 0]
    order = np.argsort(mean)
    lost = set(order[:8].tolist() if bad else order[::5].tolist())
    j = [[None, None] if item in lost else row for item, row in enumerate(seen())]
    said = summary({("judge", "j"): j, ("judge", "k"): seen()})  # type: ignore[dict-item]
    assert "j has no rating of 8 of 40 items on Wit and 8 of 40 items on Care" in said
    assert ("fails on the worse ones: on Wit people's mean there is" in said) == bad
    assert ("nothing shows that these differ" in said) != bad


def test_judges_that_rated_different_criteria_still_have_a_summary() -> None:
    wit = [[a, None] for a, _ in seen()]
    care = [[None, b] for _, b in seen()]
    said = summary({("judge", "j"): wit, ("judge", "k"): care})  # type: ignore[dict-item]
    assert "On Wit, j follows people's mean" in said
    assert "On Care, k follows people's mean" in said


def test_a_judge_on_another_scale_is_told() -> None:
    said = summary({("judge", "j"): [[2 * a, b] for a, b in seen()], ("judge", "k"): seen()})
    assert "Scale of Wit:" in said
    assert "answers of j are off the scale 1 to 5" in said
