"""Colours of answers in the picture of how raters answer: an order only where answers have one."""

from __future__ import annotations

import pandas as pd
import pytest

from concord.questions import YES_NO, Scale, categories
from concord.table import Column, Table
from pages.parts.charts import COLOURS
from pages.trust.agreement_charts import distribution


def colours(scale: Scale, answers: int) -> list[str]:
    """The colours of so many answers of one rater."""
    rows = tuple({"rater": "Ada", "score": float(n), "share": 1 / answers, "n": 1} for n in scale.values)
    names = (Column("rater"), Column("score"), Column("share"), Column("n"))
    drawn = distribution(Table("score_distribution", "Answers", names, rows), scale).to_dict()
    found = pd.json_normalize(drawn).to_dict("records")[0]
    [ranges] = [value for key, value in found.items() if key.endswith("encoding.color.scale.range")]
    return list(ranges)


def test_categories_have_the_colours_of_names():
    assert colours(categories(("refund", "delivery", "other")), 3) == list(COLOURS[:3])


@pytest.mark.parametrize("scale", [Scale((1, 2, 3), ("poor", "fair", "good")), YES_NO])
def test_answers_with_an_order_go_from_blue_to_orange(scale):
    ends = colours(scale, len(scale.values))
    assert (ends[0], ends[-1]) == ("#2b5c9b", "#d9721e")
