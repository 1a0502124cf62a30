"""How far people agree with each other, and judges with people: ratings in as a long frame, Estimates out.

`ratings.read_ratings` checks a frame (unit, criterion, rater, kind, score), `study.study_agreement` gives the
figures of every criterion, and the other modules a Table of one criterion each. Items are resampled with
replacement, the same draws for all figures of a call; `intervals` makes 95% intervals of them. People's mean
on an item is over all who are present, a panel's over all its members or not at all.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any


class _Agreement(ModuleType):
    """This package, which is also the function `concord.agreement`: both have this name."""

    def __call__(self, ratings: Any, **how: Any) -> Any:
        """How well judges agree with people: see `concord.library.study.agreement`."""
        return import_module("concord.library.study").agreement(ratings, **how)


sys.modules[__name__].__class__ = _Agreement
