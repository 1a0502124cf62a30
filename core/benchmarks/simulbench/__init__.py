"""SimulBench (Jia et al., “SimulBench: Evaluating Language Models with Creative Simulation Tasks”).

Two benchmarks, one after the other: `simulbench-dialogues` collects dialogues and finds their challenging
turns, `simulbench` has target models answer scripts that are cut there.
"""

from concord.benchmarks.simulbench.dialogues import DIALOGUES
from concord.benchmarks.simulbench.targets import SIMULBENCH

BENCHMARKS = (SIMULBENCH, DIALOGUES)

__all__ = ["BENCHMARKS", "DIALOGUES", "SIMULBENCH"]
