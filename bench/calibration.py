"""Players' calibrated and corrected means beside those of cje-eval, on the same simulated conversations.

    pip install cje-eval && python -m bench.calibration [--conversations 250] [--labelled 60]

Judges see people's quality with noise on a scale of their own, and favour the last player by half a point.
Printed for each player: the truth, then value and interval of cje-eval's calibrated direct estimate without
and with its correction by people's items, and of Concord's calibrated mean and PPI++. cje-eval is no
dependency of Concord: without it only Concord's figures are printed, and it is said.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from concord.statistics.calibration import calibrated_means
from concord.statistics.corrected import corrected_mean
from concord.statistics.intervals import bounded, resampled
from concord.statistics.ratings import Floats, Ints
from concord.statistics.resampling import bootstrap

MEANS = (2.6, 3.0, 3.1, 3.6)
"""The players' quality, on the people's scale of 1 to 5."""


def simulated(conversations: int, seed: int = 0) -> tuple[Floats, Floats, Ints]:
    """People's and judges' scores of every conversation, and its player."""
    rng = np.random.default_rng(seed)
    player = np.repeat(np.arange(len(MEANS)), conversations)
    quality = np.array(MEANS)[player] + rng.normal(0, 0.7, len(player))
    people = np.clip(quality + rng.normal(0, 0.4, len(player)), 1, 5)
    favour = 0.5 * (player == len(MEANS) - 1)
    judge = np.clip(np.round(4 * (quality + favour) - 2 + rng.normal(0, 2, len(player))), 0, 20)
    return people, judge, player


def concords(people: Floats, judge: Floats, player: Ints, labelled: Floats) -> dict[str, list[str]]:
    """Concord's calibrated mean and PPI++ of each player."""
    target = np.where(labelled > 0, people, np.nan)
    means = calibrated_means(judge, target, player, len(MEANS))
    each = [lambda weights, place=place: means(weights)[place] for place in range(len(MEANS))]
    own, drawn = bootstrap(each, len(judge), resamples=1000, seed=0)  # type: ignore[arg-type]
    found: dict[str, list[str]] = {"Concord, calibrated": [], "Concord, PPI++": []}
    for place, (value, many) in enumerate(zip(own.tolist(), drawn, strict=True)):
        figure = resampled(value, many, n=int(labelled.sum()), kind=bounded(1, 5))
        found["Concord, calibrated"].append(_shown(figure.value, figure.interval))
        mine, there = player == place, labelled > 0
        other = corrected_mean(people[mine & there], judge[mine & there], judge[mine & ~there], scale=(1, 5))
        found["Concord, PPI++"].append(_shown(other.value.value, other.value.interval))
    return found


def cjes(people: Floats, judge: Floats, player: Ints, labelled: Floats) -> dict[str, list[str]]:
    """cje-eval's estimate of each player without and with its correction; empty where it is not installed."""
    try:
        import cje
    except ImportError:
        return {}
    draws: dict[str, list[dict[str, object]]] = {}
    for item, (y, f, who) in enumerate(zip(people.tolist(), judge.tolist(), player.tolist(), strict=True)):
        label = y if labelled[item] else None
        row = {"prompt_id": str(item), "judge_score": f, "oracle_label": label}
        draws.setdefault(f"player {who}", []).append(row)
    found = {}
    for name, augmented in (("cje-eval, calibrated", False), ("cje-eval, corrected", True)):
        result = cje.analyze_dataset(
            fresh_draws_data=draws,
            fresh_oracle_scale=(1, 5),
            output_scale=(1, 5),
            fresh_judge_scale=(0, 20),
            estimator_config={"use_augmented_estimator": augmented},
        )
        found[name] = [_shown(*both) for both in zip(result.estimates, result.ci(), strict=True)]
    return found


def _shown(value: float | None, ends: tuple[float, float] | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" + (f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--conversations", type=int, default=250, metavar="N", help="of each player")
    parser.add_argument("--labelled", type=int, default=60, metavar="N", help="of these with people")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    people, judge, player = simulated(asked.conversations)
    labelled = (np.arange(len(judge)) % asked.conversations < asked.labelled).astype(float)
    truth = [f"{people[player == place].mean():.3f}" for place in range(len(MEANS))]
    rows = {"truth": truth} | cjes(people, judge, player, labelled)
    rows |= concords(people, judge, player, labelled)
    if "cje-eval, corrected" not in rows:
        print("cje-eval is not installed: pip install cje-eval\n")
    print("| estimate | " + " | ".join(f"player {place}" for place in range(len(MEANS))) + " |")
    print("|---|" + "--:|" * len(MEANS))
    for name, values in rows.items():
        print(f"| {name} | {' | '.join(values)} |")


if __name__ == "__main__":
    main()
