"""Situations in which a verdict or its advice could mislead, simulated with a known truth.

Each is a way to draw answers of people and judges, and what would be wrong, and right, to say of them.
`bench/claims.py` counts how often a report says either; docs/agreement.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from concord.codes import Advice, Claim
from concord.estimate import Estimate
from concord.questions import YES_NO, Scale
from concord.rating import Criterion
from concord.reports.agreement_report import AgreementReport, Options, report_of
from concord.reports.flags import flags_of, on_criterion
from concord.statistics.claims import LOOKS, more_items
from concord.store.studies import FILE, Study
from concord.studies.studies import StudyRatings

Floats = npt.NDArray[np.float64]
Rng = np.random.Generator

PAIR = Scale((0.0, 1.0), ("A", "B"), "categories")


@dataclass(frozen=True)
class Answers:
    """Answers of people and of judges (raters × items; nan: none), the scale, and what items are like."""

    people: Floats
    judges: Floats
    scale: Scale | None = None
    groups: Mapping[str, npt.NDArray[np.str_]] = field(default_factory=dict)
    lengths: Floats | None = None
    players: npt.NDArray[np.str_] | None = None


@dataclass(frozen=True)
class Situation:
    """How answers are drawn, and what a page must not say of them (`wrong`), and should (`right`).

    Either is a set of what `said` gives; one of them said is enough. `start`: so many items are looked at
    first, then as many more as the advice says, once for each of the `looks`, by which the verdict goes.
    """

    draw: Callable[[Rng], Answers]
    wrong: frozenset[str]
    right: frozenset[str] = frozenset()
    start: int = 0
    looks: tuple[int, ...] = tuple(range(1, LOOKS + 1))


def yes_no(people: Floats, judges: Floats, **about: object) -> Answers:
    """Answers of a yes/no question."""
    return Answers(people, judges, YES_NO, **about)  # type: ignore[arg-type]


def flipped(truth: Floats, right: float, rng: Rng, raters: int) -> Floats:
    """Answers that are the truth with probability `right`, else the other one."""
    wrong = rng.random((raters, len(truth))) >= right
    return np.where(wrong, 1 - truth, truth)


def likert(quality: Floats, noise: float, rng: Rng, raters: int = 1) -> Floats:
    """Answers of 1 to 5 to what raters see of a quality around 3."""
    return np.clip(np.round(quality + noise * rng.normal(size=(raters, len(quality)))), 1, 5)


def coin(rng: Rng, n: int = 3000) -> Answers:
    """Three people with a κ of .07, and a judge that flips a coin."""
    truth = rng.integers(0, 2, n).astype(float)
    return yes_no(flipped(truth, 0.5 + np.sqrt(0.07) / 2, rng, 3), rng.integers(0, 2, (1, n)).astype(float))


def careless(rng: Rng, n: int = 150, random: bool = True) -> Answers:
    """Two people, one who answers anything, and a judge with twice a person's noise."""
    quality = rng.normal(3, 1, n)
    people = likert(quality, 0.6, rng, 3)
    if random:
        people[2] = rng.integers(1, 6, n)
    return Answers(people, likert(quality, 1.2, rng))


def careless_two(rng: Rng, n: int = 200) -> Answers:
    """The same of a yes/no question: people are right in 93 of 100, the judge in 80, one person by chance."""
    truth = rng.integers(0, 2, n).astype(float)
    people = flipped(truth, 0.93, rng, 3)
    people[2] = rng.integers(0, 2, n)
    return yes_no(people, flipped(truth, 0.8, rng, 1))


def rare(rng: Rng, n: int, people: int) -> Answers:
    """A yes in 20, people and judge alike: a latent quality and a noise of 0.8."""
    shown = rng.normal(size=n) + 0.8 * rng.normal(size=(people + 1, n))
    answers = (shown > 2.1).astype(float)
    return yes_no(answers[:people], answers[people:])


def compressed(rng: Rng, n: int = 150, people: int = 2, prefers: float = 0.0) -> Answers:
    """Longer replies are better; the judge spreads its scores half as far; `prefers` points for an SD."""
    quality = rng.normal(3, 1, n)
    length = 0.7 * (quality - 3) + np.sqrt(1 - 0.49) * rng.normal(size=n)
    judge = likert(3 + 0.5 * (quality - 3) + prefers * length, 0.4, rng)
    return Answers(likert(quality, 0.6, rng, people), judge, lengths=length)


def ignoring(rng: Rng, n: int = 150, people: int = 2) -> Answers:
    """Longer replies are better; the judge sees all of quality but what goes with length."""
    quality = rng.normal(3, 1, n)
    length = 0.7 * (quality - 3) + np.sqrt(1 - 0.49) * rng.normal(size=n)
    rest = (quality - 3 - 0.7 * length) / np.sqrt(1 - 0.49)
    return Answers(likert(quality, 0.6, rng, people), likert(3 + rest, 0.4, rng), lengths=length)


def equal_rows(rng: Rng, n: int = 40, people: int = 2) -> Answers:
    """An easy question of even answers, all raters right in 999 of 1,000; given only where all are equal."""
    while True:
        truth = (rng.random(n) < 0.5).astype(float)
        every = flipped(truth, 0.999, rng, people + 1)
        if (every == every[0]).all():
            return yes_no(every[:people], every[people:])


def compressed_groups(rng: Rng, n: int = 240) -> Answers:
    """Six players from bad to good, and a judge that spreads its scores half as far."""
    of = np.arange(n) % 6
    quality = np.linspace(1.8, 4.2, 6)[of] + 0.5 * rng.normal(size=n)
    judge = likert(3 + 0.5 * (quality - 3), 0.4, rng)
    return Answers(likert(quality, 0.5, rng, 2), judge, players=np.array([f"player {k}" for k in of]))


def family(rng: Rng, n: int = 240, favours: float = 0.6, spread: float = 0.5) -> Answers:
    """Six players, two of the judge's family and better than the others; it gives them `favours` points
    more.
    """
    of = np.arange(n) % 6
    quality = 3 + 0.4 * (of % 3 == 0) + 0.9 * rng.normal(size=n)
    judge = likert(3 + spread * (quality - 3) + favours * (of % 3 == 0), 0.4, rng)
    return Answers(likert(quality, 0.6, rng, 2), judge, players=np.array([f"player {k}" for k in of]))


def easy(rng: Rng, n: int = 10, yes: float = 0.5) -> Answers:
    """An easy question: judge and person are each right in 97 of 100; given only where all are equal."""
    while True:
        truth = (rng.random(n) < yes).astype(float)
        both = flipped(truth, 0.97, rng, 2)
        if (both[0] == both[1]).all() and len(set(both[0])) > 1:
            return yes_no(both[:1], both[1:])


def near_copy(rng: Rng, n: int = 200, copies: bool = True) -> Answers:
    """Two people who are right in 88 of 100, and a judge: one's answers in 96 of 100, or as they are."""
    truth = rng.integers(0, 2, n).astype(float)
    people = flipped(truth, 0.88, rng, 2)
    judge = flipped(people[0], 0.96, rng, 1) if copies else flipped(truth, 0.88, rng, 1)
    return yes_no(people, judge)


def one_bad(rng: Rng, n: int = 200, shift: float | None = None) -> Answers:
    """Three judges as good as people, but the last: random, or `shift` points higher."""
    quality = rng.normal(3, 1, n)
    judges = likert(quality, 0.6, rng, 3)
    judges[2] = rng.integers(1, 6, n) if shift is None else np.clip(judges[2] + shift, 1, 5)
    return Answers(likert(quality, 0.6, rng, 3), judges)


def failing_group(rng: Rng, inside: int = 60, n: int = 300, wrong: float = 0.3, groups: int = 5) -> Answers:
    """A judge wrong on 30 % of one group's items, on 4 % of others; two people who agree in 95 of 100."""
    topic = np.array(["medical"] * inside + [f"other {k % max(groups - 1, 1)}" for k in range(n - inside)])
    truth = rng.integers(0, 2, n).astype(float)
    bad = rng.random(n) < np.where(topic == "medical", wrong, 0.04)
    judge = np.where(bad, 1 - truth, truth)[None]
    return yes_no(flipped(truth, 0.98, rng, 2), judge, groups={"topic": topic})


def position(rng: Rng, n: int = 200, forced: float = 0.35) -> Answers:
    """Which of two is better; the judge says A to a share of pairs whatever they are."""
    better = rng.integers(0, 2, n).astype(float)
    judge = np.where(rng.random(n) < forced, 0.0, flipped(better, 0.9, rng, 1)[0])[None]
    return Answers(flipped(better, 0.9, rng, 2), judge, PAIR)


def own(rng: Rng, n: int = 200) -> Answers:
    """Judge and two people alike, four groups: nothing is there to be found."""
    return failing_group(rng, n // 4, n, 0.04, 4)


def below(rng: Rng, n: int = 4000) -> Answers:
    """People are right in 90 of 100 (κ .64), the judge in 83.75 (κ .54): 0.1 below."""
    truth = rng.integers(0, 2, n).astype(float)
    return yes_no(flipped(truth, 0.9, rng, 3), flipped(truth, 0.8375, rng, 1))


USE, DO_NOT_USE, REPAIR, COPY = "advice: use", "advice: do_not_use", "advice: repair_question", "copy"

SITUATIONS: dict[str, Situation] = {
    "people hardly agree (κ .07), the judge flips coins, 3,000 rows": Situation(coin, frozenset({USE})),
    "one of three people random, the judge with twice a person's noise": Situation(
        careless, frozenset({USE}), frozenset({"alone: p2"})
    ),
    "the same of yes and no": Situation(careless_two, frozenset({USE}), frozenset({"alone: p2"})),
    "the same without anybody random": Situation(
        lambda rng: careless(rng, random=False), frozenset({USE, "alone: p0", "alone: p1", "alone: p2"})
    ),
    "one person, 5 % yes, 200 rows, the judge as good as a person": Situation(
        lambda rng: rare(rng, 200, 1), frozenset({DO_NOT_USE}), frozenset({"advice: label_more"})
    ),
    "people exchangeable, 5 % yes, 60 rows": Situation(
        lambda rng: rare(rng, 60, 3),
        frozenset({REPAIR, DO_NOT_USE, "alone: p0", "alone: p1", "alone: p2"}),
        frozenset({"advice: label_more"}),
    ),
    "people exchangeable, 5 % yes, 600 rows": Situation(
        lambda rng: rare(rng, 600, 3),
        frozenset({REPAIR, DO_NOT_USE, "alone: p0", "alone: p1", "alone: p2"}),
        frozenset({USE}),
    ),
    "longer is better, the judge compresses, 2 people": Situation(
        compressed, frozenset({"length", "ignores_length"}), frozenset({"compresses"})
    ),
    "longer is better, the judge compresses, 1 person": Situation(
        lambda rng: compressed(rng, people=1),
        frozenset({"length", "ignores_length"}),
        frozenset({"compresses"}),
    ),
    "longer is better, the judge ignores length, 2 people": Situation(
        ignoring, frozenset({"length", "compresses"}), frozenset({"ignores_length"})
    ),
    "longer is better, the judge ignores length, 1 person": Situation(
        lambda rng: ignoring(rng, people=1),
        frozenset({"length", "compresses"}),
        frozenset({"ignores_length"}),
    ),
    "the judge compresses and prefers longer by 0.5 points": Situation(
        lambda rng: compressed(rng, prefers=0.5), frozenset(), frozenset({"length"})
    ),
    "players from bad to good, the judge compresses": Situation(
        compressed_groups, frozenset({"group"}), frozenset({"compresses"})
    ),
    "the judge compresses and favours its own family by 0.6 points": Situation(
        family, frozenset(), frozenset({"own_family"})
    ),
    "the judge compresses, its own family is better": Situation(
        lambda rng: family(rng, favours=0.0), frozenset({"own_family"})
    ),
    "the judge spreads its scores more, its own family is better": Situation(
        lambda rng: family(rng, favours=0.0, spread=1.4), frozenset({"own_family"})
    ),
    "ten equal rows on an easy task": Situation(easy, frozenset({"advice: check_copy"})),
    "forty equal rows on an easy task, 9 of 10 yes": Situation(
        lambda rng: easy(rng, 40, 0.9), frozenset({"advice: check_copy"})
    ),
    "100 equal rows of even answers, 2 people": Situation(
        lambda rng: equal_rows(rng, 100), frozenset({DO_NOT_USE, REPAIR}), frozenset({USE})
    ),
    "a near-copy (96 %) of one of two people": Situation(
        near_copy, frozenset({USE, "verdict: as_good", "verdict: slightly_below"}), frozenset({COPY})
    ),
    "no copy, two people": Situation(lambda rng: near_copy(rng, copies=False), frozenset({COPY})),
    "one of three judges random": Situation(one_bad, frozenset({"compresses"}), frozenset({"exclude: j2"})),
    "one of three judges 1 point higher": Situation(
        lambda rng: one_bad(rng, shift=1.0), frozenset(), frozenset({"exclude: j2", "level: j2"})
    ),
    "three judges alike": Situation(
        lambda rng: one_bad(rng, shift=0.0),
        frozenset({f"{what}: j{k}" for what in ("exclude", "level") for k in range(3)}),
    ),
    "wrong on 30 % of 60 medical rows, 4 % of 240 others": Situation(
        failing_group, frozenset({f"group: other {k}" for k in range(4)}), frozenset({"group: medical"})
    ),
    "the same in two groups": Situation(
        lambda rng: failing_group(rng, groups=2),
        frozenset({"group: other 0"}),
        frozenset({"group: medical"}),
    ),
    "the same, 30,000 rows": Situation(
        lambda rng: failing_group(rng, 6000, 30_000, 0.06),
        frozenset({f"group: other {k}" for k in range(4)}),
        frozenset({"group: medical"}),
    ),
    "the judge below by the margin, “label n more” followed up to five times": Situation(
        below, frozenset({USE}), start=60
    ),
    "the same, looks counted from the second": Situation(
        below, frozenset({USE}), start=60, looks=(0, *range(2, LOOKS + 1))
    ),
    "the same without counting": Situation(below, frozenset({USE}), start=60, looks=(0,) * LOOKS),
    "groups alike": Situation(own, frozenset({"group"})),
    "pairs, 35 % forced to A": Situation(position, frozenset(), frozenset({"position"})),
    "pairs, none forced": Situation(lambda rng: position(rng, forced=0.0), frozenset({"position"})),
}


def codes(situation: Situation, options: Options, rng: Rng) -> set[str]:
    """What the page of one drawing of a situation says at the end."""
    answers = situation.draw(rng)
    if not situation.start:
        return said(report(answers, options))
    n, every = situation.start, answers.people.shape[1]
    for look in situation.looks:
        options = replace(options, look=look)
        part = replace(answers, people=answers.people[:, :n], judges=answers.judges[:, :n])
        of = report(part, options)
        about = of.verdict()
        gap = next(iter(about.rows.rows), {}).get("difference")
        more = more_items(gap, options.margin) if isinstance(gap, Estimate) else None
        if about.advice != Advice.LABEL_MORE or n == every:
            break
        n = min(n + (more or n), every)
    return said(of)


def said(of: AgreementReport) -> set[str]:
    """What a page says, as codes: verdict, advice, claims, and whom or what these name."""
    about = of.verdict()
    codes = {f"verdict: {about.verdict}", f"advice: {about.advice}"}
    codes |= {f"exclude: {judge}" for judge in about.exclude}
    if about.decided_by:
        codes.add(f"alone: {about.decided_by}")
    for flag in [*flags_of(of), *on_criterion(of, about.criterion, about.members)]:
        codes.add(str(flag.claim))
        if flag.claim == Claim.ALONE:
            codes.add(f"alone: {flag.subject}")
        elif flag.subject or flag.judge:
            codes.add(f"{flag.claim}: {flag.subject or flag.judge}")
    return codes


def report(answers: Answers, options: Options) -> AgreementReport:
    """The report of answers, as of a table of labels."""
    n = answers.people.shape[1]
    every = np.concatenate([answers.people, answers.judges])
    names = np.array(
        [*(f"p{k}" for k in range(len(answers.people))), *(f"j{k}" for k in range(len(answers.judges)))]
    )
    rater, item = np.nonzero(~np.isnan(every))
    criterion = Criterion("label", "It is so.", **({"scale": answers.scale} if answers.scale else {}))
    players = np.array(["unknown"] * n) if answers.players is None else answers.players
    rows = {
        "unit": item,
        "conversation_id": item,
        "turn": np.full(len(item), np.nan),
        "player": players[item],
        "criterion": np.array(["label"])[np.zeros(len(item), dtype=int)],
        "rater": names[rater],
        "kind": np.where(rater < len(answers.people), "human", "judge"),
        "simulated": np.zeros(len(item)),
        "model": names[rater],
        "variant": np.array(["v1"])[np.zeros(len(item), dtype=int)],
        "score": every[rater, item],
    }
    facets = {name: dict(enumerate(of.tolist())) for name, of in answers.groups.items()}
    study = Study("s", (criterion,), source=FILE)
    of = StudyRatings(study, rows, ("label",), ("label",), {}, facets=facets)
    if answers.players is not None:
        families = tuple((name, f"family {int(name[-1]) % 3}") for name in {*players.tolist(), "j0"})
        options = replace(options, families=families)
    features = None
    if answers.lengths is not None:
        features = {"unit": np.arange(n), "reply_chars": 500 + 100 * answers.lengths}
    return report_of(of, options, features)
