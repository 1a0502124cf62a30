"""How often the judge lab repairs a judge with a planted flaw, and how often it claims a gain that is none.

    nice -n 15 python -m bench.lab [--seeds 50] [--resamples 300]

A study has 60 items of 30 scenarios, 20 in each part, and three simulated people. The judge sees the quality
of an item with noise. With the flaw eight tenths of what it answers are the length of the reply; its reasons
say so, and a simulated proposer who reads them writes that length is no merit. Without the flaw nothing that
anybody proposes changes what the judge sees.

Aims: repaired, with a gain above 0 on the test part, in at least 45 of 50; no gain claimed where there is
none in at least 47 of 50.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

from concord.lab import improving
from concord.lab.improving import Trial
from concord.workspace import Workspace
from tests.lab.loop import JUDGE, answering, proposer
from tests.mock import lab as mock


def improved(seed: int, flaw: float, resamples: int) -> Trial:
    """One study, divided and improved."""
    with TemporaryDirectory() as folder:
        workspace = Workspace.open(folder)
        mock.made(workspace, seed=seed)
        mock.divided(workspace, seed)
        return improving.improve(
            workspace,
            mock.STUDY,
            JUDGE,
            proposer(),
            answering(workspace, seed=seed, flaw=flaw),
            rounds=2,
            resamples=resamples,
        )


def claims_gain(outcome: Trial) -> bool:
    """Whether the lab says that the chosen version is better."""
    return bool(outcome.gain and outcome.gain.interval and outcome.gain.interval[0] > 0)


def main(arguments: list[str] | None = None) -> None:
    """Print both counts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--resamples", type=int, default=300)
    given = parser.parse_args(arguments)
    started, seeds = time.time(), range(given.seeds)
    print("| judge | says | aim | measured |\n|---|---|---|--:|")
    found = [improved(seed, 0.8, given.resamples) for seed in seeds]
    cured = sum(claims_gain(one) and mock.CURE in one.choice.rubric.judge.instructions for one in found)
    print(f"| with a planted flaw | repaired, a gain on test | ≥ 45 of 50 | {cured} of {given.seeds} |")
    idle = sum(not claims_gain(improved(seed, 0.0, given.resamples)) for seed in seeds)
    print(f"| without one | no gain | ≥ 47 of 50 | {idle} of {given.seeds} |")
    print(f"\n{time.time() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
