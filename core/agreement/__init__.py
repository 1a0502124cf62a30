"""How far people agree with each other, and judges with people. Ratings in as a long frame, figures out.

read_ratings      check a long frame once (unit, criterion, rater, kind, score); every figure takes the frame or the result
study_agreement   every figure of a study as plain values, ready for JSON
default_panels    all judges, and every pair of them
"""

from core.agreement.ratings import FINAL, Ratings, Scores, read_ratings
from core.agreement.study import default_panels, study_agreement

__all__ = ["FINAL", "Ratings", "Scores", "default_panels", "read_ratings", "study_agreement"]
