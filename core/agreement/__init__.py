"""How far people agree with each other, and judges with people. Ratings in as a long frame, Estimates out.

    read_ratings        checks a long frame (unit, criterion, rater, kind, score); every function takes either
    study_agreement     the figures of a study on every criterion (a StudyAgreement)

Each of the others gives a Table of one criterion:

    reliability         people among themselves, by several coefficients
    nominal             people and judges on answers without an order, such as yes and no
    score_distribution  how often each rater gives which answer
    judge_figures       judges and panels: order and level
    held_out            judges beside a held-out annotator
    ceilings            how high a correlation people's noise allows
    within_groups       judges inside each group of items, such as a player model
    levels              Spearman over everything, within groups, between groups
    feature_bias        whether a feature such as length goes with judges' scores beyond people's scores
    high_disagreement   judges on items on which people agree and differ
    bands               bias by part of the scale
    redundancy          the effective number of judges of a panel
    best_panel          the best of many panels, and what it is worth on other items
    retest              repeated runs of one judge
    alt_test            the alternative annotator test
    needed              how many items a narrower interval takes

and a frame of items: item_scores (all), largest_differences (those a judge sees most differently).

Items are resampled with replacement, the same draws for all figures of a call; intervals are 95% percentile
intervals. People's mean on an item is over all who are present, a panel's over all its members or not at all.
"""

from core.agreement.alt_test import alt_test
from core.agreement.ceilings import ceilings, held_out
from core.agreement.distribution import score_distribution
from core.agreement.feature_bias import feature_bias
from core.agreement.groups import levels, within_groups
from core.agreement.items import bands, high_disagreement, item_scores, largest_differences
from core.agreement.judges import judge_figures
from core.agreement.nominal import nominal
from core.agreement.panels import best_panel, default_panels, redundancy
from core.agreement.planning import needed
from core.agreement.ratings import FINAL, CriterionScores, Ratings, read_ratings
from core.agreement.reliability import reliability
from core.agreement.retest import retest
from core.agreement.study import study_agreement

__all__ = [
    "FINAL",
    "CriterionScores",
    "Ratings",
    "alt_test",
    "bands",
    "best_panel",
    "ceilings",
    "default_panels",
    "feature_bias",
    "held_out",
    "high_disagreement",
    "item_scores",
    "judge_figures",
    "largest_differences",
    "levels",
    "needed",
    "nominal",
    "read_ratings",
    "redundancy",
    "reliability",
    "retest",
    "score_distribution",
    "study_agreement",
    "within_groups",
]
