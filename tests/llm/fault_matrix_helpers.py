"""What several tests take from `test_fault_matrix`: ROLES."""

from __future__ import annotations

from concord.rubrics.reading import read as read_rubric
from concord.runs.registry import BENCHMARKS
from concord.runs.rubric_judge import reply_of
from concord.workspace import SHIPPED

ROLES = {
    f"{benchmark.name} {prompt}": reply
    for benchmark in BENCHMARKS.values()
    for prompt, reply in benchmark.prompts.items()
}
"""Every prompt of every benchmark, and the schema of its replies; None for a text."""


ROLES["judge of a rubric"] = reply_of(read_rubric(SHIPPED / "data" / "examples" / "support.toml"))
