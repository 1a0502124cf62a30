"""Action-level scores of the STSS paper: pure functions from a task and a trajectory to a score.

Where the paper and its authors' code differ, this follows the paper: who came early and stayed takes part.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from core.benchmarks.stss.matching import ONLY_TALK, Fit, Mask, fit, told
from core.benchmarks.stss.near_misses import How, miss
from core.benchmarks.stss.tasks import TITLES, Kind, SocialTask
from core.benchmarks.stss.trajectory import STAMP, UNSEEN, Talk, Trajectory
from core.errors import ConfigError

OUT_OF_ORDER = 0.5
ELSEWHERE = 0.5
"""The scores of an errand run in the wrong order, and of an appointment kept in two rooms."""
ALIKE = 0.8
"""The least likeness (difflib's ratio, without case and spacing) of a name and its possible typo."""

Invited = Mapping[str, Talk]
"""Whom the performer told about the task before the day of the event, with the first such conversation."""


@dataclass(frozen=True)
class Evidence:
    """One resident and one subgoal (from 1): what was done when, where, with which words; or why not.

    `told` is when the performer first told them before the day of the event, or None.
    """

    agent: str
    subgoal: int
    counted: bool
    time: str | None = None
    until: str | None = None
    action: str = ""
    place: str = ""
    words: tuple[str, ...] = ()
    why: str = ""
    how: How | None = None
    told: str | None = None


@dataclass(frozen=True)
class Score:
    """A simulation's score, 0 to 1. `conversation_ratio` may exceed 1; it is None for errands."""

    task: str
    kind: Kind
    value: float
    conversation_ratio: float | None
    evidence: tuple[Evidence, ...] = ()
    notes: tuple[str, ...] = ()


def score(task: SocialTask, trajectory: Trajectory) -> Score:
    """The score of a task on a trajectory. Raises ConfigError if the trajectory cannot be about the task."""
    notes = check(task, trajectory)
    invited = told(task, trajectory)
    value, evidence = RULES[task.kind](task, trajectory, invited)
    # Errands want no number of people.
    ratio = None if task.kind == "help" or task.wanted < 2 else len(invited) / (task.wanted - 1)
    times = {name: talk.time.strftime(STAMP) for name, talk in invited.items()}
    found = tuple(replace(e, told=times.get(e.agent)) for e in evidence)
    return Score(task.id, task.kind, value, ratio, found, notes)


def check(task: SocialTask, trajectory: Trajectory) -> tuple[str, ...]:
    """Notes for readers of a score. Raises ConfigError where there can be no score."""
    for name in (task.performer, *task.target):
        if name not in trajectory.lives:
            hint = _meant(name, trajectory.residents)
            raise ConfigError(
                f"The task “{task.id}” names {name}, who is not in the "
                f"trajectory{':' + hint if hint else '.'} It holds: {', '.join(trajectory.residents)}."
            )
    first, last = trajectory.times[0], trajectory.times[-1]
    notes = []
    for subgoal in task.subgoals:
        if subgoal.start is None or subgoal.end is None:
            continue
        if subgoal.end < first:
            raise ConfigError(
                f"The task “{task.id}” has its event at {subgoal.start:%Y-%m-%d %H:%M}, "
                f"before the trajectory begins ({first:%Y-%m-%d %H:%M})."
            )
        if subgoal.start > last:
            notes.append(
                f"The trajectory ends at {last:%Y-%m-%d %H:%M}, "
                f"before the event of {subgoal.start:%Y-%m-%d %H:%M}."
            )
    for name in task.cast:
        if name not in trajectory.lives:
            notes.append(f"{name} belongs to the task and is not in the trajectory.")
    return (*notes, *_strangers(task, trajectory))


def _strangers(task: SocialTask, trajectory: Trajectory) -> Iterator[str]:
    """Notes on residents whom the task does not name; if it names nobody, on names with two spellings."""
    if not task.cast:
        yield from _two_spellings(trajectory.residents)
        return
    known = (task.performer, *task.target, *task.cast)
    talkers = (name for talk in trajectory.talks for name in talk.pair)
    others = [n for n in dict.fromkeys([*trajectory.residents, *talkers]) if not task.counts(n)]
    if others:
        told = ", ".join(f"{name} ({_recorded(name, trajectory)})" for name in others)
        slips = [f" For {name}:{hint}" for name in others if (hint := _meant(name, known))]
        yield f"Left out of “{task.id}”, whose all_chars does not name them: {told}.{''.join(slips)}"


def _meant(name: str, known: Iterable[str]) -> str:
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


def attendance(task: SocialTask, trajectory: Trajectory, invited: Invited) -> tuple[float, list[Evidence]]:
    """Public and online activities: others who match at any moment, mean over subgoals, ÷ (wanted − 1)."""
    came, evidence = 0, []
    for number, subgoal in enumerate(task.subgoals, start=1):
        found = fit(trajectory, subgoal)
        for name in _others(task, trajectory):
            mask = found.matches(name)
            if mask.any():
                came += 1
                evidence.append(_counted(found, name, number, mask))
            else:
                evidence += _close(found, name, number, name in invited)
    return min(1.0, came / len(task.subgoals) / (task.wanted - 1)), evidence


def company(task: SocialTask, trajectory: Trajectory, invited: Invited) -> tuple[float, list[Evidence]]:
    """Companions: others who match at the performer's best moment ÷ (wanted − 1), at most 1.

    A location named in the action counts like the place.
    """
    others = _others(task, trajectory)
    best: tuple[float, list[Evidence]] = (-1.0, [])
    for number, subgoal in enumerate(task.subgoals, start=1):
        found = fit(trajectory, subgoal, action_may_name_place=True)
        own = found.matches(task.performer)
        each = {name: found.matches(name) for name in others}
        number_there = np.sum(list(each.values()), axis=0) * own if each else np.zeros(len(own), dtype=int)
        moment = int(np.argmax(number_there))
        value = min(1.0, float(number_there[moment]) / (task.wanted - 1))
        evidence = []
        if own.any():
            # Where nobody came, the performer's own first moment is shown.
            shown = moment if value else int(np.argmax(own))
            evidence.append(_counted(found, task.performer, number, _stretch(own, shown), "the performer"))
        else:
            evidence += _close(found, task.performer, number, invited=False)
        # Without a fixed time, those who are elsewhere while the performer does it miss it.
        during = own if own.any() and subgoal.start is None else None
        for name, mask in each.items():
            if value and mask[moment]:
                evidence.append(_counted(found, name, number, _stretch(mask, moment)))
            elif mask.any():
                when = "at the best-attended moment" if value else f"when {task.performer} did"
                evidence.append(_shown(found, name, number, mask, f"did it, but not {when}", "not together"))
            else:
                evidence += _close(found, name, number, name in invited, during)
        if value > best[0]:
            best = (value, evidence)
    return max(0.0, best[0]), best[1]


def meeting(task: SocialTask, trajectory: Trajectory, invited: Invited) -> tuple[float, list[Evidence]]:
    """Appointment: performer and target do it at one moment, in the same sector and arena 1, elsewhere 0.5.

    “Conversing about” it is not doing it. Of several targets or subgoals the best one counts.
    """
    best: tuple[float, list[Evidence]] = (-1.0, [])
    known = {state.room: i for i, state in enumerate(trajectory.states)}
    rooms = np.array([known[state.room] for state in trajectory.states])
    keeps = np.array([ONLY_TALK not in state.action.lower() for state in trajectory.states], dtype=bool)
    for number, subgoal in enumerate(task.subgoals, start=1):
        found = fit(trajectory, subgoal)
        own = _keeping(found, task.performer, keeps)
        for target in task.target:
            theirs = _keeping(found, target, keeps)
            both = own & theirs
            together = both & (rooms[trajectory.lives[task.performer]] == rooms[trajectory.lives[target]])
            value = 1.0 if together.any() else ELSEWHERE if both.any() else 0.0
            if value:
                shown = together if value == 1 else both
                why = "" if value == 1 else "at the same time, in different rooms"
                stretch = _stretch(shown, int(np.argmax(shown)))
                evidence = [_counted(found, name, number, stretch, why) for name in (task.performer, target)]
            else:
                each = ((task.performer, own), (target, theirs))
                evidence = [_apart(found, name, number, mask) for name, mask in each]
            if value > best[0]:
                best = (value, evidence)
    return best


def errands(task: SocialTask, trajectory: Trajectory, invited: Invited) -> tuple[float, list[Evidence]]:
    """Help: the best other person's share of subgoals done; all done out of order 0.5, all in order 1."""
    fits = [fit(trajectory, subgoal) for subgoal in task.subgoals]
    best, helpers, evidence = 0.0, [], []
    for name in _others(task, trajectory):
        masks = [found.matches(name) for found in fits]
        done = [bool(mask.any()) for mask in masks]
        if not any(done):
            if name in invited:
                why = "was asked, and did no part of it"
                evidence.append(Evidence(name, 1, False, why=why, how="never did it"))
            continue
        value = sum(done) / len(done)
        if all(done):
            value = 1.0 if _in_order(masks) else OUT_OF_ORDER
        helpers.append((value, name, masks))
        best = max(best, value)
    for value, name, masks in helpers:
        why = "all done, out of order" if all(m.any() for m in masks) and value < 1 else ""
        for number, (found, mask) in enumerate(zip(fits, masks, strict=True), start=1):
            if mask.any() and value == best:
                evidence.append(_counted(found, name, number, mask, why))
            elif mask.any():
                evidence.append(_shown(found, name, number, mask, why or "somebody else did more of it"))
            else:
                missed = Evidence(name, number, False, why="did not do this part", how="never did it")
                evidence += _close(found, name, number, invited=False) or [missed]
    return best, evidence


Rule = Callable[[SocialTask, Trajectory, Invited], tuple[float, list[Evidence]]]

RULES: dict[Kind, Rule] = {
    "public": attendance,
    "online": attendance,
    "companions": company,
    "appointment": meeting,
    "help": errands,
}


def report(scores: Sequence[Score]) -> dict[str, Any]:
    """What `concord stss score` prints: each task's score with evidence, and means by type and overall."""
    kinds = [kind for kind in TITLES if any(s.kind == kind for s in scores)]
    by_type = {kind: _mean(s.value for s in scores if s.kind == kind) for kind in kinds}
    return {
        "tasks": [
            {
                "id": s.task,
                "type": s.kind,
                "score": s.value,
                "conversation_ratio": s.conversation_ratio,
                "evidence": [asdict(e) for e in s.evidence],
                "notes": list(s.notes),
            }
            for s in scores
        ],
        "by_type": by_type,
        "overall": _mean(s.value for s in scores),
    }


def _others(task: SocialTask, trajectory: Trajectory) -> list[str]:
    return [name for name in trajectory.residents if name != task.performer and task.counts(name)]


def _keeping(found: Fit, name: str, keeps: Mask) -> Mask:
    return found.doing(name) & keeps[found.trajectory.lives[name]] & found.timed


def _in_order(masks: Sequence[Mask]) -> bool:
    """Whether each part was done at a moment not before that of the part that precedes it."""
    moment = 0
    for mask in masks:
        later = np.flatnonzero(mask[moment:])
        if not len(later):
            return False
        moment += int(later[0])
    return True


def _stretch(mask: Mask, moment: int) -> Mask:
    """The unbroken stretch of a mask around a moment that is in it."""
    before = np.flatnonzero(~mask[:moment])
    after = np.flatnonzero(~mask[moment:])
    first = int(before[-1]) + 1 if len(before) else 0
    last = moment + int(after[0]) if len(after) else len(mask)
    found = np.zeros_like(mask)
    found[first:last] = True
    return found


def _evidence(
    found: Fit, name: str, number: int, first: int, last: int, counted: bool, why: str, how: How | None
) -> Evidence:
    """What a resident did where at a moment, up to another."""
    state, times = found.trajectory.at(name, first), found.trajectory.times
    action, place = state or ("", "")
    span = (times[first].strftime(STAMP), times[last].strftime(STAMP))
    return Evidence(name, number, counted, *span, action, place, found.words_at(name, first), why, how)


def _shown(
    found: Fit, name: str, number: int, mask: Mask, why: str, how: How | None = None, *, counted: bool = False
) -> Evidence:
    """The first unbroken stretch of a mask."""
    first = int(np.argmax(mask))
    last = int(np.flatnonzero(_stretch(mask, first))[-1])
    return _evidence(found, name, number, first, last, counted, why, how)


def _counted(found: Fit, name: str, number: int, mask: Mask, why: str = "") -> Evidence:
    return _shown(found, name, number, mask, why, counted=True)


def _close(found: Fit, name: str, number: int, invited: bool, during: Mask | None = None) -> list[Evidence]:
    """How a resident missed it; nothing for one who was neither told nor near."""
    missed = miss(found, name, invited, during)
    if missed is None:
        return []
    if missed.moment is None:
        return [Evidence(name, number, False, why=missed.why, how=missed.how)]
    return [_evidence(found, name, number, missed.moment, missed.moment, False, missed.why, missed.how)]


def _apart(found: Fit, name: str, number: int, mask: Mask) -> Evidence:
    """How one of two missed an appointment."""
    if mask.any():
        return _shown(found, name, number, mask, "did it, but not when the other did", "not together")
    doing = found.doing(name)
    if (doing & found.timed).any():
        return _shown(found, name, number, doing & found.timed, "only talked about it", "only talked")
    if doing.any():
        start = found.subgoal.start
        early = start is not None and found.trajectory.times[int(np.argmax(doing))] < start
        how: How = "too early" if early else "too late"
        return _shown(found, name, number, doing, "did it, but at another time", how)
    return Evidence(name, number, False, why="never did it", how="never did it")


def _mean(values: Iterable[float]) -> float | None:
    found = list(values)
    return sum(found) / len(found) if found else None
