"""How often `concord drift` is wrong: “moved” where nothing did, “same” where the change is the margin; with
--follow how often streams that do not change raise an alarm, and how soon a fall is seen.
"""

import numpy as np

from concord.codes import FINDINGS, DriftOutcome, StreamFigure
from concord.statistics.drift import drift
from concord.statistics.intervals import Ends
from concord.statistics.ratings import Floats
from concord.statistics.sequences import ERROR, confidence_sequence
from concord.statistics.stream import closeness, expected_range, follow

MARGIN = 0.1
RUNS = 2000
STREAMS = 400


def changes(rng: np.random.Generator, n: int, flips: float, shift: float) -> Floats:
    """Changes of pass and fail: this share flips, with this mean."""
    drawn = rng.random(n)
    up = (flips + shift) / 2
    return np.where(drawn < up, 1.0, np.where(drawn < flips, -1.0, 0.0))


def stream(rng: np.random.Generator, n: int, accuracy: float) -> tuple[Floats, Floats]:
    """What people and a judge of this accuracy say of items, of which people pass 6 of 10."""
    truth = rng.random(n) < 0.6
    return truth.astype(float), np.where(rng.random(n) < accuracy, truth, ~truth).astype(float)


def look(people: Floats, judge: Floats, agreement: Ends, rate: Ends | None, error: float) -> int | None:
    """After how many items the first alarm came."""
    alarms = [
        one.place
        for one in follow(people, judge, (0.0, 1.0), agreement=agreement, rate=rate, error=error)
        if one.state in FINDINGS and one.figure != StreamFigure.CORRECTED_MEAN
    ]
    return min((since for since in alarms if since is not None), default=None)


def of_streams(rng: np.random.Generator) -> None:
    """Print false alarms, delays, and how wide sequences are beside intervals for one look."""
    for accuracy, n in ((0.9, 500), (0.9, 3000), (0.97, 3000)):
        missed, widths = 0, []
        for _ in range(STREAMS):
            low, high = confidence_sequence((rng.random(n) < accuracy) * 1.0).interval
            missed += not low <= accuracy <= high
            widths.append(high - low)
        one_look = 2 * 1.96 * (accuracy * (1 - accuracy) / n) ** 0.5
        wide = float(np.median(widths)) / one_look
        print(
            f"a share of {accuracy}, {n} looks: ever missed {missed / STREAMS:.3f}, {wide:.2f} times as wide"
        )
    for old, n in ((200, 1000), (1000, 3000)):
        alarms = 0
        for _ in range(STREAMS):
            people, judge = stream(rng, old, 0.9)
            near = closeness(people, judge, (0.0, 1.0), ordered=False)
            agreement = expected_range(near, (0.0, 1.0), error=ERROR / 4)[0], 1.0
            rate = expected_range(judge, (0.0, 1.0), error=ERROR / 4)
            alarms += look(*stream(rng, n, 0.9), agreement, rate, ERROR / 2) is not None
        print(f"OLD of {old}, {n} looks at an equal stream: false alarms {alarms / STREAMS:.3f}")
    for before, after in ((0, 0.75), (1000, 0.75), (1000, 0.82)):
        delays = []
        for _ in range(STREAMS // 2):
            parts = zip(stream(rng, before, 0.92), stream(rng, 3000, after), strict=True)
            people, judge = (np.concatenate(of) for of in parts)
            shown = look(people, judge, (0.87, 1.0), None, ERROR)
            delays.append(3000 if shown is None else shown + 1 - before)
        late, early = np.quantile(delays, 0.9), np.mean(np.array(delays) <= 0)
        print(
            f"{before} items at .92, then {after}, bound .87: seen after {np.median(delays):.0f} items "
            f"(9 of 10: {late:.0f}); before the fall {early:.3f}"
        )


def main() -> None:
    """Print shares of runs."""
    of_streams(np.random.default_rng(1))
    rng = np.random.default_rng(0)
    for n, flips in ((50, 0.1), (200, 0.1), (200, 0.12), (1000, 0.2)):
        outcomes = [
            [drift(np.zeros(n), changes(rng, n, flips, shift), MARGIN, (0, 1)).outcome for _ in range(RUNS)]
            for shift in (0.0, MARGIN)
        ]
        moved, edge = (
            outcomes[0].count(DriftOutcome.MOVED) / RUNS,
            outcomes[1].count(DriftOutcome.UNCHANGED) / RUNS,
        )
        same = outcomes[0].count(DriftOutcome.UNCHANGED) / RUNS
        print(
            f"{n} items, {flips:.0%} flip: moved {moved:.3f}, same at the margin {edge:.3f}; same {same:.3f}"
        )


if __name__ == "__main__":
    main()
