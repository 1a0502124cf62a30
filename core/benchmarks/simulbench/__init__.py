"""SimulBench: scripts are cut from dialogues at challenging turns, target models answer them, judges score.

After Jia et al., “SimulBench: Evaluating Language Models with Creative Simulation Tasks”. Two benchmarks, one
after the other: `simulbench-dialogues` collects dialogues and finds their challenging turns, `simulbench`
puts scripts to target models.
"""

from __future__ import annotations

from core.benchmarks.simulbench.dialogues import DIALOGUES
from core.benchmarks.simulbench.targets import SIMULBENCH

BENCHMARKS = (SIMULBENCH, DIALOGUES)

__all__ = ["BENCHMARKS", "DIALOGUES", "SIMULBENCH"]
