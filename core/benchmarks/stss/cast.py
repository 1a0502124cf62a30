"""Notes for a score: residents in a trajectory that its task does not name, and names spelt in two ways."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator

from core.benchmarks.stss.tasks import SocialTask
from core.benchmarks.stss.trajectory import UNSEEN, Trajectory

ALIKE = 0.8
"""The least likeness (difflib's ratio, without case and spacing) at which one name may be a typo of another.
"""


def strangers(task: SocialTask, trajectory: Trajectory) -> Iterator[str]:
    """Residents that the task does not name, with their records; if it names nobody, names spelt twice."""
    if not task.cast:
        yield from _two_spellings(trajectory.residents)
        return
    known = (task.performer, *task.target, *task.cast)
    talkers = (name for talk in trajectory.talks for name in talk.pair)
    others = [n for n in dict.fromkeys([*trajectory.residents, *talkers]) if not task.counts(n)]
    if others:
        told = ", ".join(f"{name} ({_recorded(name, trajectory)})" for name in others)
        slips = [f" For {name}:{hint}" for name in others if (hint := meant(name, known))]
        yield f"Left out of “{task.id}”, whose all_chars does not name them: {told}.{''.join(slips)}"


def meant(name: str, known: Iterable[str]) -> str:
    """“ did you mean …?” with the nearest known name, ignoring case and spacing; empty if none is near."""
    plain = {_plain(other): other for other in known}
    near = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=ALIKE)
    return f" did you mean “{plain[near[0]]}”?" if near else ""


def _recorded(name: str, trajectory: Trajectory) -> str:
    life = trajectory.lives.get(name)
    moments = 0 if life is None else int((life != UNSEEN).sum())
    talks = sum(name in talk.pair for talk in trajectory.talks)
    counts = ((moments, "record"), (talks, "conversation"))
    return ", ".join(f"{n} {what}{'' if n == 1 else 's'}" for n, what in counts if n)


def _two_spellings(names: Iterable[str]) -> Iterator[str]:
    spelt: dict[str, list[str]] = {}
    for name in names:
        spelt.setdefault(_plain(name), []).append(name)
    for same in spelt.values():
        if len(same) > 1:
            listed = " and ".join(f"“{name}”" for name in same)
            yield f"{listed} differ only in case or spacing, and count as {len(same)} people: is it one?"


def _plain(name: str) -> str:
    return " ".join(name.split()).casefold()
