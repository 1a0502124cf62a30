"""Page modules that only one benchmark has, in `pages/<slice>/`."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from core.benchmarks import BENCHMARKS, slice_of
from pages.parts.navigation import PAGES


def part(benchmark: str, module: str) -> ModuleType | None:
    """A page module of a benchmark's slice, such as “leaderboard”; None if there is none."""
    if benchmark not in BENCHMARKS:
        return None
    slice_name = slice_of(benchmark)
    there = (PAGES / slice_name / f"{module}.py").is_file()
    return import_module(f"pages.{slice_name}.{module}") if there else None
