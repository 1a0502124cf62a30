"""Near-copies among proposed tasks: what says much the same, in much the same order, as another task."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from concord.benchmarks.simulbench.tasks import SimulationTask

ALIKE = 0.7
"""ROUGE-L from which a task is a near-copy, as in Self-Instruct (Wang et al. 2023)."""
MOST_WORDS = 400
"""Words of a description that are compared."""
_WORD = re.compile(r"\w+")


class NearCopy(NamedTuple):
    """The task that a proposal resembles most, and how much: 0 to 1."""

    task: str
    alike: float


def near_copies(
    proposals: Sequence[SimulationTask], catalogue_tasks: Iterable[SimulationTask]
) -> dict[str, NearCopy]:
    """The proposals that are near-copies of a known task, or of a proposal before them, by id.

    A task is compared with those of any type but itself; one without words is no copy.
    """
    words_of_tasks = [(task.id, _words(task)) for task in catalogue_tasks]
    copies: dict[str, NearCopy] = {}
    for proposal in proposals:
        words = _words(proposal)
        alike = [
            NearCopy(name, rouge_l(words, task_words))
            for name, task_words in words_of_tasks
            if name != proposal.id
        ]
        nearest = max(alike, key=lambda copy: copy.alike, default=None)
        if nearest is not None and nearest.alike >= ALIKE:
            copies[proposal.id] = nearest
        words_of_tasks.append((proposal.id, words))
    return copies


def rouge_l(first: Sequence[str], second: Sequence[str]) -> float:
    """2·L / (m + n), with L the longest common subsequence of m and n words (Lin 2004).

    0 where it is below `ALIKE` for certain, by the words that both have in any order.
    """
    total = len(first) + len(second)
    shared = sum((Counter(first) & Counter(second)).values())
    if not total or 2 * shared < ALIKE * total:
        return 0.0
    longest = [0] * (len(second) + 1)
    for word in first:
        before = 0
        for place, second_word in enumerate(second, start=1):
            previous = longest[place]
            longest[place] = before + 1 if word == second_word else max(previous, longest[place - 1])
            before = previous
    return 2 * longest[-1] / total


def _words(task: SimulationTask) -> list[str]:
    return _WORD.findall(task.task_description.lower())[:MOST_WORDS]
