"""The benchmarks Concord knows, by name: one module (or package) each, exporting one Benchmark value."""

from __future__ import annotations

from core.benchmarks.benchmark import Benchmark
from core.benchmarks.pingpong import PINGPONG, PINGPONG_V1
from core.benchmarks.simulbench import DIALOGUES, SIMULBENCH
from core.benchmarks.stss import STSS, STSS_LANGUAGE
from core.errors import not_found

BENCHMARKS: dict[str, Benchmark] = {
    b.name: b for b in (PINGPONG, PINGPONG_V1, SIMULBENCH, DIALOGUES, STSS, STSS_LANGUAGE)
}


def get(name: str) -> Benchmark:
    """A benchmark by name. Raises NotFound."""
    if name not in BENCHMARKS:
        raise not_found("benchmark", name, BENCHMARKS)
    return BENCHMARKS[name]
