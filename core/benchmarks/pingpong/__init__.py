"""PingPong: role-play. Version 2 has interrogator, player and judges; in version 1 the interrogator judges.

After Gusev, “PingPong: A Benchmark for Role-Playing Language Models with User Emulation and Multi-Model
Evaluation”.
"""

from concord.benchmarks.pingpong.play import PINGPONG
from concord.benchmarks.pingpong.v1 import PINGPONG_V1

BENCHMARKS = (PINGPONG, PINGPONG_V1)

__all__ = ["BENCHMARKS", "PINGPONG", "PINGPONG_V1"]
