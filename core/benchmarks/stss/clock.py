"""Town time: equal steps from midnight of the first day to midnight after the last."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from core.errors import ConfigError

DAY = 24 * 60


@dataclass(frozen=True)
class Clock:
    """A number of days in steps of some minutes, which must divide the day. Steps count from 0."""

    first_day: date
    days: int = 2
    step_minutes: int = 5

    def __post_init__(self) -> None:
        if self.step_minutes < 1 or DAY % self.step_minutes:
            raise ConfigError(
                f"A step of {self.step_minutes} minutes does not divide a day. Take 1, 5, 10, 15, 20 or 30."
            )
        if self.days < 1:
            raise ConfigError("A simulation needs at least one day.")

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.days * self.steps_a_day

    @property
    def steps_a_day(self) -> int:
        """The steps of one day."""
        return DAY // self.step_minutes

    def time(self, step: int) -> datetime:
        """The moment of a step."""
        return datetime.combine(self.first_day, time()) + timedelta(minutes=step * self.step_minutes)

    def minute(self, step: int) -> int:
        """Minutes since midnight."""
        return step * self.step_minutes % DAY

    def day(self, step: int) -> int:
        """Days since the first, which is 0."""
        return step // self.steps_a_day

    def span(self, minutes: float) -> int:
        """Steps that so many minutes take, rounded up."""
        return -int(-minutes // self.step_minutes)
