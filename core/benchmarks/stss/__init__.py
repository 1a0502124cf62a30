"""STSS: social tasks in a small town over two days, scored by what residents do and by what they say.

After Wang et al., “Towards Objectively Benchmarking Social Intelligence for Language Agents at Action Level”.
"""

from concord.benchmarks.stss.language import STSS_LANGUAGE
from concord.benchmarks.stss.system import STSS

BENCHMARKS = (STSS, STSS_LANGUAGE)

__all__ = ["BENCHMARKS", "STSS", "STSS_LANGUAGE"]
