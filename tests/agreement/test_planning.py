"""How many more items, and raters of each, a narrower interval needs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from concord.estimate import estimate, undefined
from concord.statistics.planning import NEEDED, answer, designs, needed
from concord.statistics.ratings import read_ratings
from tests.agreement.frames import flat, people, study


def test_what_one_more_rater_and_item_buy_by_hand():
    """Items (1, 2), (3, 3), (5, 6), (1, 1): raters' means 2.5 and 3, squares of items 2·(1.25² + .25² + 2.75²
    + 1.75²) = 24.5, of raters 8·.25² = .5 and ½ left: mean squares 49/6, 1/2 and 1/6. Variances σ²ᵢ = 4, σ²ᵣ
    = (1/3)/4 = 1/12, σ²ₑ = 1/6.
    """
    table = read_ratings(people({"ann": [1, 3, 5, 1], "bob": [2, 3, 6, 1]}))
    widths = designs(table, "quality")

    def half(raters, items):
        return 1.96 * math.sqrt(4 / items + 1 / 12 / raters + 1 / 6 / raters / items)

    assert flat(widths).set_index("raters").half[3] == pytest.approx(half(3, 4))
    assert f"takes {half(2, 4) - half(3, 4):.3f} from the ± {half(2, 4):.3f} of" in widths.notes[0]
    assert "of people's mean over 4 items by 2 annotators" in widths.notes[0]
    assert f"one more item takes {half(2, 4) - half(2, 5):.3f}" in widths.notes[0]


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        (people({"ann": [1, 2, 3, 4]}), "fewer than two people"),
        (people({"ann": [1, 2, 1, 2], "bob": [2, 1, 2, 1]}), "do not agree on any difference"),
        (people({"ann": [3] * 4, "bob": [3] * 4}), "all ratings are equal"),
        (people({"ann": [1, 2, None, None], "bob": [None, None, 3, 1]}), "are not told apart"),
    ],
    ids=["one annotator", "opposite", "constant", "no item in common"],
)
def test_designs_that_cannot_be_compared_have_a_reason(ratings, why):
    found = flat(designs(read_ratings(ratings), "quality"))
    assert found.half.isna().all()
    assert why in found.reason[0]


def test_more_items_are_named_for_every_headline_figure():
    """Bias of differences 0, 2, 0, 2 …, of SD 1 on 200 items: 2·1.96/√200 = 0.277 wide, and half on 800."""
    rng = np.random.default_rng(0)
    quality = rng.normal(3, 1, 200)
    given = {name: quality + rng.normal(0, 0.5, 200) for name in ("ann", "bob", "cy")}
    target = np.mean(list(given.values()), axis=0)
    table = read_ratings(study(given, {"j": target + np.tile([0.0, 2.0], 100)}))
    found = flat(needed(table, "quality", [["j"]], resamples=400)).set_index("figure")
    assert [name.split(" of ")[0] for name in found.index] == [
        "Spearman's ρ",
        "Difference",
        "Bias",
        "MAE",
    ]
    assert found.width["Bias of j"] == pytest.approx(0.277, rel=0.05)
    assert found.half["Bias of j"] == pytest.approx(800, rel=0.15)
    assert (found.half_more == found.half - 200).all()


def test_how_many_more_items_halve_the_interval_is_said_of_the_judges() -> None:
    rows = (
        {"figure": "People's alpha", "column": "alpha", "half_more": estimate(681), "half": estimate(931)},
    )
    judges = {"figure": "ρ of j", "column": "spearman", "half_more": estimate(607), "half": estimate(831)}
    table = replace(NEEDED, rows=(*rows, judges, {"figure": "MAE", "column": "mae"}))
    said = answer(table, "Final")
    assert "half as wide on Final (ρ of j), about 607 more items (831 in all), for these annotators" in said
    assert "about 681 more" in answer(replace(NEEDED, rows=rows), "Final")
    unknown = {"figure": "ρ", "column": "spearman", "half_more": undefined("no"), "half": undefined("no")}
    assert answer(replace(NEEDED, rows=(unknown,)), "Final") == ""
