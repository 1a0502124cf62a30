"""How far people agree with each other, and judges with people. Ratings in as a long frame, figures out.

    read_ratings      check a long frame once (unit, criterion, rater, kind, score); every figure takes the frame or the result
    study_agreement   the study's figures as plain values, ready for JSON; `core.agreement.show` makes text, CSV and LaTeX of them

Beside them, one criterion at a time, as `Figures` (rows, basis, detail) unless said otherwise:

    reliability       people among themselves, by several coefficients
    nominal           people and judges on answers without an order, such as yes and no
    answers           how every rater uses the scale (a frame)
    judge_figures     judges and panels: order and level, with intervals
    held_out           judges beside a person who is held out
    ceilings          how high a correlation people's noise allows
    within_groups     judges inside each group of items, such as a player model
    levels            over everything, within groups, between groups
    feature_bias          whether judges lean on a feature of items, such as length, beyond what people make of it
    high_disagreement, bands  items on which people differ; parts of the scale
    largest_gaps      the items a judge sees most differently (a frame); item_scores: all items
    redundancy        how many independent judges a panel amounts to
    best_panel        the best of many panels, and what it is worth on other items (a `Search`)
    retest            repeated runs of one judge
    replacement       the alternative annotator test
    needed            how many items a narrower interval takes (a `Forecast`)
    default_panels    all judges, and every pair of them

Items are resampled with replacement, the same draws for all figures of a call; intervals are 95% percentile intervals. People's
mean on an item is over all who are present, a panel's over all its members or not at all. Nothing undefined has a number.
"""

from core.agreement.basis import Basis, Figures
from core.agreement.ceilings import ceilings, held_out
from core.agreement.feature_bias import feature_bias
from core.agreement.groups import levels, within_groups
from core.agreement.items import bands, high_disagreement, item_scores, largest_gaps
from core.agreement.judges import judge_figures
from core.agreement.nominal import nominal
from core.agreement.panels import Search, best_panel, default_panels, redundancy
from core.agreement.planning import Forecast, needed
from core.agreement.ratings import FINAL, Ratings, Scores, read_ratings
from core.agreement.reliability import answers, reliability
from core.agreement.replacement import replacement
from core.agreement.retest import retest
from core.agreement.study import study_agreement

__all__ = [
    "FINAL",
    "Basis",
    "Figures",
    "Forecast",
    "Ratings",
    "Scores",
    "Search",
    "answers",
    "bands",
    "best_panel",
    "ceilings",
    "default_panels",
    "feature_bias",
    "held_out",
    "high_disagreement",
    "item_scores",
    "judge_figures",
    "largest_gaps",
    "levels",
    "needed",
    "nominal",
    "read_ratings",
    "redundancy",
    "reliability",
    "replacement",
    "retest",
    "study_agreement",
    "within_groups",
]
