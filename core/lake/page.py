"""An estimate of a lake as a page."""

from datetime import date

from concord.lake.estimate import LakeEstimate


def page(value: LakeEstimate, *, created: date) -> str:
    """The page."""
    raise NotImplementedError
