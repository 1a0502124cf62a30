"""The hours that a persona's words name: when somebody gets up, goes to bed and works."""

import re
from typing import NamedTuple

from concord.benchmarks.stss.town import Resident, hour_of

DAY = 24 * 60
CLOCK = r"(?P<clock>midnight|noon|midday|(?:2[0-4]|[01]?\d)(?::[0-5]\d)?(?:\s*[ap]\.?m\b)?)(?![\d:])"
CLOCKS = re.compile(rf"\b{CLOCK}(?!\s*(?:hours?|people|years?|days?|times)\b)", re.I)
BETWEEN = r"[^.,;\d]{0,30}?\b"
"""A few words between what somebody does and its hour, within one part of a sentence."""
EXCEPTIONS = r"(?!\s+(?:in|late|until|till)\b)"
BED = re.compile(
    rf"\b(?:to bed|to sleep|asleep|sleeps|bedtime|turns in|retires){EXCEPTIONS}{BETWEEN}{CLOCK}", re.I
)
RISING = re.compile(rf"\b(?:a?wakes?|awakens?|gets up|rises|up|sleeps (?:until|till)){BETWEEN}{CLOCK}", re.I)


class Habit(NamedTuple):
    """Minutes after midnight of getting up and going to bed, None where the words name none.

    Going to bed after midnight counts on: 2 am is 26 hours.
    """

    wakes: int | None
    sleeps: int | None

    @property
    def late(self) -> bool:
        """Whether somebody goes to bed after midnight."""
        return self.sleeps is not None and self.sleeps > DAY


def habit(words: str) -> Habit:
    """When a persona gets up and goes to bed, by its habits in words."""
    wakes, sleeps = (
        _minute(match["clock"]) if (match := pattern.search(words)) else None for pattern in (RISING, BED)
    )
    if sleeps is not None and sleeps < DAY // 2:  # midnight and later belong to the day before
        sleeps += DAY
    return Habit(wakes, sleeps)


def own_hours(lifestyle: str, plan: str) -> dict[str, object]:
    """What a persona's words say of `wakes`, `sleeps` and `hours`, as a resident has them.

    Days end at midnight, so that who goes to bed later does so then. Hours of work are the two times that the
    `plan` of a day names. What the words leave open, or what cannot be planned by, has no entry.
    """
    wakes, sleeps = habit(lifestyle)
    values: dict[str, object] = {}
    if wakes is not None and (sleeps is None or wakes < min(sleeps, DAY)):
        values["wakes"] = hour_of(wakes)
    if sleeps is not None and (wakes is None or wakes < min(sleeps, DAY)):
        values["sleeps"] = hour_of(min(sleeps, DAY))
    times = [_minute(match["clock"]) for match in CLOCKS.finditer(plan)]
    if len(times) == 2 and None not in times and times[0] < times[1]:  # type: ignore[operator]
        values["hours"] = [hour_of(time) for time in times if time is not None]
    return values


def up_to(resident: Resident) -> str:
    """Until when a resident is up, as prompts say it."""
    return "after midnight" if habit(resident.lifestyle).late else resident.sleeps


def _minute(clock: str) -> int | None:
    """Minutes after midnight of “11pm”, “17:30”, “midnight”; None for no time of the day."""
    words = clock.lower().replace(".", "").replace(" ", "")
    if words in ("midnight", "noon", "midday"):
        return 0 if words == "midnight" else DAY // 2
    half = words[-2:] if words.endswith(("am", "pm")) else ""
    hours, _, minutes = words.removesuffix(half).partition(":")
    hour = int(hours)
    if half and 1 <= hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    total = hour * 60 + int(minutes or 0)
    return total if total <= DAY else None
