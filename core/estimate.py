"""Estimate: a figure as it travels from statistics to pages, commands and files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from html import escape
from typing import Any


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95% interval, the number of items `n`, and the method of the interval.

    - `value`: None if the figure is undefined; then `reason` says why.
    - `low`, `high`: the ends of the interval; None without one. If an interval was expected, `reason` says
      why there is none.
    - `n`: the number of items that the figure rests on.
    - `freedom`: the degrees of freedom, if the interval is from Student's t.
    - `mark`: a sign that readers see after the value, such as a star.

    An Estimate works as a number: `float(rho)`, `rho > 0.6`, `f"{rho:.2f}"`. An undefined one is nan, and
    every comparison with it is False. Two are equal if all their fields are, `freedom` and `mark` aside.

    Raises ValueError for nan and infinity, for an undefined figure without a reason, and for an interval
    without a value.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    method: str = ""
    reason: str = ""
    freedom: float | None = field(default=None, compare=False, repr=False)
    mark: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        for number in (self.value, self.low, self.high):
            if number is not None and not math.isfinite(number):
                raise ValueError(
                    "an estimate holds finite numbers or None; use `estimate` for a number that may be nan"
                )
        if self.value is None and not self.reason:
            raise ValueError("an undefined estimate needs a reason")
        if (self.low is None) != (self.high is None) or (self.value is None and self.low is not None):
            raise ValueError("an interval has two ends and a value")

    @property
    def defined(self) -> bool:
        """True if there is a value."""
        return self.value is not None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The ends of the 95% interval; None without one."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None without one. The value is often not in the middle."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def __float__(self) -> float:
        """The value; nan if it is undefined."""
        return math.nan if self.value is None else self.value

    def __lt__(self, other: Estimate | float) -> bool:
        return float(self) < float(other)

    def __le__(self, other: Estimate | float) -> bool:
        return float(self) <= float(other)

    def __gt__(self, other: Estimate | float) -> bool:
        return float(self) > float(other)

    def __ge__(self, other: Estimate | float) -> bool:
        return float(self) >= float(other)

    def __format__(self, form: str) -> str:
        """The value in a format of numbers, “undefined” where there is none; without a format as `str`."""
        if not form:
            return str(self)
        return "undefined" if self.value is None else format(self.value, form)

    def __str__(self) -> str:
        """For readers: 0.712 [0.640, 0.771], n 60; or that it is undefined, and why."""
        if self.value is None:
            return f"undefined: {self.reason}"
        ends = "" if self.interval is None else f" [{self.low:z.3f}, {self.high:z.3f}]"
        return f"{self.value:z.3f}{ends}" + (f", n {self.n:,}" if self.n is not None else "")

    def _repr_html_(self) -> str:
        """What a notebook shows; a reason may hold names, so that it is escaped."""
        return escape(str(self))

    def as_json(self) -> dict[str, Any]:
        """Plain values: `value`, `ci` ([low, high] or None) and `n`, `method`, `reason`."""
        fields: dict[str, Any] = {"value": self.value, "ci": list(self.interval) if self.interval else None}
        if self.n is not None:
            fields["n"] = self.n
        return fields | {
            key: text for key, text in (("method", self.method), ("reason", self.reason)) if text
        }


def estimate(
    value: float,
    low: float = math.nan,
    high: float = math.nan,
    *,
    n: int | None = None,
    method: str = "",
    reason: str = "",
) -> Estimate:
    """An Estimate of numbers that may be nan, as arrays hold them.

    A nan value is undefined for `reason` (“undefined” where none is given); an interval needs two finite
    ends.
    """
    if not math.isfinite(value):
        return undefined(reason or "undefined", n=n)
    if not (math.isfinite(low) and math.isfinite(high)):
        return Estimate(float(value), n=n, reason=reason)
    return Estimate(float(value), float(low), float(high), n, method, reason)


def undefined(reason: str, *, n: int | None = None) -> Estimate:
    """A figure without a value, and why."""
    return Estimate(None, n=n, reason=reason)


def value_of(cell: object) -> float:
    """The value of a figure, for its place in an order; −∞ where it is undefined or is none."""
    return cell.value if isinstance(cell, Estimate) and cell.value is not None else -math.inf


def too_few(n: int, least: int = 0, of: str = "") -> str:
    """A reason: that n items, such as those “in common”, are too few, and how many are needed."""
    words = ("1 item", of, "is too few") if n == 1 else (f"{n} items", of, "are too few")
    return " ".join(filter(None, words)) + (f", at least {least} are needed" if least else "")
