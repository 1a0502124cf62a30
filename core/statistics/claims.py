"""Claims: the findings that a report may state, and how sure each has to be for a page to be right.

A page states a false finding in at most 5 of 100 studies. The verdict has half of that, and each other kind
of claim a share of the rest; within a kind Holm (1979) adjusts over judges, criteria and people.
`bench/claims.py` measures how often each is stated where it is false and where it is true; docs/agreement.md
has its table.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from concord import messages
from concord.codes import GOOD, Claim, Verdict
from concord.estimate import Estimate
from concord.statistics.intervals import FEWEST, ROUNDING, holm, student
from concord.statistics.ratings import Bools, Floats

MARGIN = 0.1
"""How much lower than another annotator's a judge's agreement may be to count as as good; never more than
half of it: see `verdict_of`."""

LOOKS = 5
"""Looks at a growing study that a verdict can allow for."""

LOOK_FREEDOM = 1 / 3
"""The part of a difference's degrees of freedom that a look of several goes by. Far out in the tail intervals
of 60 items are too narrow, as a lucky difference has a small standard error as well: with all of them looks
were wrong in 4.0 of 100 studies, with half of them in 3.0 (docs/agreement.md has what a third gives)."""

ONE_FLAG = 0.001
"""The share of each kind of flag."""


class ClaimKind(NamedTuple):
    """A kind of claim: the rate at which all of its kind together may be false on a page, and what it says.

    A fact, which is a count and holds wherever it is printed, has no rate. What is `first` stands beside the
    verdict, the rest in what limits the answer.
    """

    share: float | None
    says: str
    first: bool = True


CLAIMS = {
    Claim.VERDICT: ClaimKind(0.025, "the judges are as good as another annotator, or worse"),
    Claim.OTHER_JUDGES: ClaimKind(0.005, "another judge or panel is as good as another annotator, or worse"),
    Claim.TOLD_APART: ClaimKind(0.002, "two models differ significantly for annotators"),
    Claim.CONSTANT: ClaimKind(None, "a rater gave one answer to all items"),
    Claim.TURNED_ROUND: ClaimKind(ONE_FLAG, "a judge orders the items in reverse of annotators"),
    Claim.COPY: ClaimKind(ONE_FLAG, "a judge repeats one annotator's answers"),
    Claim.ALONE: ClaimKind(ONE_FLAG, "an annotator does not agree with the others"),
    Claim.ONE_ANSWER: ClaimKind(ONE_FLAG, "a judge gives one answer more often than annotators do"),
    Claim.FEW: ClaimKind(None, "few items were answered by judge and annotators"),
    Claim.RARE: ClaimKind(None, "annotators gave one of two answers to few items"),
    Claim.WEAKENS_PANEL: ClaimKind(
        ONE_FLAG, "a panel agrees better with annotators without one of its judges"
    ),
    Claim.GROUP: ClaimKind(0.003, "a judge rates a group of items differently from annotators"),
    Claim.POSITION: ClaimKind(
        ONE_FLAG, "a judge chooses the first of two, or the second, more often than annotators"
    ),
    Claim.OWN_FAMILY: ClaimKind(
        ONE_FLAG, "a judge favours models of its own family, compared with annotators"
    ),
    Claim.LENGTH: ClaimKind(
        ONE_FLAG, "a judge prefers longer replies, or shorter ones, compared with annotators"
    ),
    Claim.IGNORES_LENGTH: ClaimKind(
        ONE_FLAG, "a judge does not reward longer replies, or shorter ones, as annotators do"
    ),
    Claim.COMPRESSES: ClaimKind(ONE_FLAG, "a judge uses a narrower range than annotators"),
    Claim.LACKS_RATINGS: ClaimKind(
        ONE_FLAG, "a judge lacks ratings of the worse items, or of the better ones"
    ),
    Claim.CARELESS: ClaimKind(
        ONE_FLAG, "an annotator gives one answer more often than others to the same items"
    ),
    Claim.GOLD: ClaimKind(ONE_FLAG, "an annotator answers too few gold items correctly"),
    Claim.REPEATS: ClaimKind(ONE_FLAG, "an annotator repeats too few answers on repeat items"),
    Claim.LEVEL: ClaimKind(ONE_FLAG, "a judge scores higher or lower than annotators"),
    Claim.EQUAL: ClaimKind(None, "a judge gave exactly the answers of the only annotator"),
    Claim.TOO_FAST: ClaimKind(None, "an annotator was faster than the replies can be read"),
    Claim.ATTENTION: ClaimKind(None, "an annotator missed an attention check", first=False),
    Claim.INCOMPLETE: ClaimKind(None, "a judge has no rating of some items", first=False),
    Claim.SCALE: ClaimKind(None, "a rater answers on another scale", first=False),
}
"""Every kind of claim that a report words, by name, the most serious flags first."""


def statable(claim: Claim, p: Sequence[float] | Floats) -> Bools:
    """Which claims of one kind a page may state: their p-values, adjusted by Holm, are within its share."""
    share = CLAIMS[claim].share
    assert share is not None
    return np.asarray(holm(np.asarray(p, dtype=np.float64)) <= share)


def sure_of(claim: Claim, p: Sequence[float], tests: int) -> list[bool]:
    """`stated` of these p-values out of so many tests; of those that are not listed p is 1."""
    padded = np.array([*p, *np.ones(max(tests - len(p), 0))])
    return [bool(sure) for sure in statable(claim, padded)[: len(p)]]


def p_above(figure: Estimate, bound: float, *, fisher: bool = False, freedom_part: float = 1.0) -> float:
    """One-sided p that a figure's truth is no more than `bound`, from its interval; 1 without one.

    The interval is value ± t·SE, with the figure's degrees of freedom (else its items less 1), with `fisher`
    on Fisher's z scale. p has `freedom_part` of them.
    """
    if figure.value is None or figure.interval is None:
        return 1.0
    freedom = figure.freedom if figure.freedom is not None else (figure.n or math.inf) - 1
    value = figure.value
    low = figure.interval[0]
    limit = bound
    if fisher:
        value, low, limit = np.arctanh(np.clip([value, low, limit], -1 + 1e-9, 1 - 1e-9)).tolist()
    error = (value - low) / student(freedom)
    return _tail((value - limit) / error, max(freedom_part * freedom, 1.0)) if error > 0 else 1.0


def p_below(figure: Estimate, bound: float, *, fisher: bool = False, freedom_part: float = 1.0) -> float:
    """One-sided p that a figure's truth is no less than `bound`: see `p_above`."""
    if figure.value is None or figure.interval is None:
        return 1.0
    low, high = figure.interval
    mirrored = Estimate(-figure.value, -high, -low, figure.n, freedom=figure.freedom)
    return p_above(mirrored, -bound, fisher=fisher, freedom_part=freedom_part)


def verdict_interval(
    figure: Estimate, share: float, *, freedom_part: float = 1.0
) -> tuple[float, float] | None:
    """The interval of a difference whose ends are each wrong in `share` of studies: a verdict goes by it.

    As in `p_above`, from the 95% interval and a part of its degrees of freedom. None without an interval.
    """
    if figure.value is None or figure.interval is None or not 0 < share < 0.5:
        return None
    from scipy import special

    freedom = figure.freedom if figure.freedom is not None else (figure.n or math.inf) - 1
    error = (figure.interval[1] - figure.interval[0]) / 2 / student(freedom)
    part = max(freedom_part * freedom, 1.0)
    t = special.ndtri(1 - share) if math.isinf(part) else special.stdtrit(part, 1 - share)
    return figure.value - float(t) * error, figure.value + float(t) * error


def look_at(items: int, earlier: Sequence[int]) -> int:
    """Which look at a growing study this is, with so many items: one more than it had at fewer.

    `earlier` are the numbers of items at which it was read. 0 of the first look, which has all of the error.
    """
    fewer = len({size for size in earlier if size < items})
    return fewer + 1 if fewer else 0


def share_of_look(look: int) -> float:
    """The share of error of the verdict at a look, of at most `LOOKS`; all of it at the only one (0).

    Error is spent as Lan and DeMets (1983) do after Pocock: α · ln(1 + (e − 1) t) at the t-th part of all
    looks, and a look has what is added to what was spent before. Looks are taken for independent
    (Bonferroni), which needs no knowledge of how much each has added, and spends less than α. No error is
    left after the last look.
    """
    share = CLAIMS[Claim.VERDICT].share or 0.0
    if not look:
        return share
    spending = [math.log(1 + (math.e - 1) * min(elapsed / LOOKS, 1.0)) for elapsed in (look - 1, look)]
    return share * (spending[1] - spending[0])


def freedom_at(look: int) -> float:
    """The part of degrees of freedom that a verdict goes by at a look; all of them at the only one (0)."""
    return LOOK_FREEDOM if look else 1.0


class Contrasts(NamedTuple):
    """A judge or a panel beside a held-out annotator: agreement of both with the others, and two contrasts.

    `difference` is judge less annotator, `half` is judge less half of the annotator; cells of a table that
    hold no Estimate are None. `n` counts the items.
    """

    judge: Estimate | None
    difference: Estimate | None
    half: Estimate | None
    n: int


def verdict_of(contrasts: Contrasts, *, margin: float, share: float, freedom_part: float = 1.0) -> Verdict:
    """The verdict on one judge or panel, whose error is at most `share` on either side.

    The judge may lose `margin`, and no more than half of what an annotator reaches: as good where the lower
    bounds of difference + margin, of `half` and of the judge's own agreement all lie above 0 (an
    intersection-union test, Berger 1982: no adjustment is needed). On κ and ρ a constant answer and a coin
    both have 0, so that the last bound is the best constant answer's too. An upper bound of the difference
    below 0 shows that the judge agrees less.
    """
    if contrasts.difference is None:
        return Verdict.UNDEFINED
    if contrasts.difference.interval is None:
        return (
            Verdict.UNDEFINED
            if not contrasts.difference.defined and contrasts.n >= FEWEST
            else Verdict.TOO_FEW
        )
    share *= 1 - ROUNDING
    losses = (
        p_above(contrasts.difference, -margin, freedom_part=freedom_part),
        *(
            p_above(figure, 0.0, freedom_part=freedom_part)
            for figure in (contrasts.half, contrasts.judge)
            if figure
        ),
    )
    within_margin = len(losses) == 3 and max(losses) < share
    below = p_below(contrasts.difference, 0.0, freedom_part=freedom_part) < share
    if within_margin:
        return Verdict.SLIGHTLY_BELOW if below else Verdict.AS_GOOD
    return Verdict.WORSE if below else Verdict.INCONCLUSIVE


def verdicts(compared: Sequence[Contrasts], first: int, *, margin: float, look: int = 0) -> list[Verdict]:
    """The verdict of each judge or panel at a look; that at `first` is the page's.

    It has `share_of_look` on either side; the others have that of `OTHER_JUDGES` together (Bonferroni).
    """
    competitors = (
        sum(bool(contrasts.difference and contrasts.difference.interval) for contrasts in compared) - 1
    )
    first_share = share_of_look(look)
    later_share = (CLAIMS[Claim.OTHER_JUDGES].share or 0.0) / max(competitors, 1)
    return [
        verdict_of(
            contrasts,
            margin=margin,
            share=first_share if place == first else min(later_share, first_share),
            freedom_part=freedom_at(look),
        )
        for place, contrasts in enumerate(compared)
    ]


def adjusted(
    compared: Sequence[Contrasts], codes: Sequence[Verdict], *, margin: float
) -> tuple[list[int], float]:
    """The places of judges or panels whose verdict, one of `codes`, the number of them changes, and the level
    of the intervals by which all verdicts but the first go.

    Their 95% interval would give another verdict.
    """
    share = CLAIMS[Claim.VERDICT].share or 0.0
    single = [verdict_of(row, margin=margin, share=share) for row in compared]
    tested = sum(bool(row.difference and row.difference.interval) for row in compared) - 1
    share_of_one = (CLAIMS[Claim.OTHER_JUDGES].share or 0.0) / max(tested, 1)
    places = [place for place, pair in enumerate(zip(codes, single, strict=True)) if pair[0] != pair[1]]
    return places, 1 - 2 * min(share_of_one, share)


def decided_by(verdict: Verdict, without_each: Mapping[str, tuple[float, float]], *, margin: float) -> str:
    """The annotator without whom a verdict would fall, “” where there is none.

    `without_each` has the agreement of the judge and of a held-out annotator without each annotator in turn.
    A verdict falls where it does not hold of these figures: the judge loses the margin, or half of what the
    annotator reaches, or, where it is worse, nothing. Of several annotators the one who moves it most. That
    takes verdicts back, and makes none.
    """
    falls = dict[str, float]()
    for name, (judge, person) in without_each.items():
        if verdict in GOOD:
            falls[name] = -min(judge - person + margin, judge - person / 2, judge)
        elif verdict == Verdict.WORSE:
            falls[name] = judge - person
    name = max(falls, key=lambda one: falls[one], default="")
    return name if name and falls[name] >= 0 else ""


def more_items(difference: Estimate, margin: float) -> int | None:
    """About how many more items would decide the verdict 4 times of 5, should the difference stay.

    The standard error has to fall to the distance from the nearer bound over 1.96 + 0.84, and falls with the
    square root of the items. None without an interval; rounded up to two digits.
    """
    if difference.value is None or difference.interval is None or not difference.n:
        return None
    freedom = math.inf if difference.freedom is None else difference.freedom
    error = (difference.interval[1] - difference.interval[0]) / 2 / student(freedom)
    distance = max(difference.value + margin, -difference.value, 1e-9)
    target_error = distance / (student(math.inf) + 0.8416)
    extra = max(difference.n * ((error / target_error) ** 2 - 1), 1.0)
    step: int = 10 ** max(math.floor(math.log10(extra)) - 1, 0)
    return int(math.ceil(extra / step) * step)


def _tail(t: float, freedom: float) -> float:
    from scipy import special  # a tenth of the import time of scipy.stats

    return float(special.ndtr(-t) if math.isinf(freedom) else special.stdtr(freedom, -t))


class Flag(NamedTuple):
    """A finding that a reader has to know: its code, its words, whom or what it is about, and on which
    criteria (none: all).

    `judge` is the judge whose use it bears on, `subject` the annotator or the group that it names, `failing`
    the items on which the judge is shown to fail, in words.
    """

    claim: Claim
    text: str
    judge: str = ""
    criterion_keys: tuple[str, ...] = ()
    subject: str = ""
    failing: str = ""
    group: tuple[str, str] = ("", "")
    """The facet and the value of the group that it names."""


def flag(
    claim: Claim,
    *,
    kind: str = "",
    judge: str = "",
    criterion_keys: tuple[str, ...] = (),
    subject: str = "",
    failing: str = "",
    group: tuple[str, str] = ("", ""),
    **values: Any,
) -> Flag:
    """A flag in the words of `concord.messages.FLAGS`, of a claim with several wordings in those of
    `kind`.
    """
    words = messages.FLAGS[f"{claim}/{kind}" if kind else claim]
    return Flag(
        claim,
        words.format(judge=judge, about=subject, **values),
        judge,
        criterion_keys,
        subject,
        failing,
        group,
    )


def ranked(flags: Sequence[Flag]) -> list[Flag]:
    """Flags in the order of `CLAIMS`, the most serious first; equal ones as they come."""
    order = list(CLAIMS)
    return sorted(flags, key=lambda flag: order.index(flag.claim))
