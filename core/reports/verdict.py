"""What a study says of its judges, in words: the verdict beside one more person, why, flags, what to do next.

The only module that words verdicts. What a claim needs to be stated, `concord.statistics.claims` says;
docs/agreement.md has the rules and how often each claim is false.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

import numpy as np

from concord.estimate import Estimate, too_few, undefined, value_of
from concord.reports.coefficient import usual
from concord.reports.evidence import Evidence
from concord.reports.features import FEATURES
from concord.reports.names import renamed
from concord.reports.sections import section
from concord.statistics.claims import (
    CLAIMS,
    Flag,
    Word,
    more_items,
    p_above,
    p_below,
    ranked,
    stated,
    sure_of,
)
from concord.statistics.feature_bias import feature_bias
from concord.statistics.figures import whom
from concord.statistics.items import unlike
from concord.statistics.judges import commonest
from concord.statistics.majority import answer_of_people
from concord.statistics.missing import Lacking, lacking
from concord.statistics.oddities import FEWEST, constants, copies, one_answer
from concord.statistics.ratings import FINAL, Bools, CriterionScores, called
from concord.statistics.study import RaterAgreement
from concord.store.studies import FILE
from concord.studies import quality
from concord.table import Cell, Table

MOST_FLAGS = 3
"""Flags beside a verdict; all stand in what limits the answer."""

NAMED = 5
"""Names in a sentence; of more only the number is said."""

FEW, FEW_OF_ONE = 30, 20
"""Items, and items of one of two answers, below which a reader is told how many there are."""

WEAK = 0.4
"""An agreement that is sure to lie below it is called weak: κ is at most “fair” (Landis and Koch 1977)."""

FARTHEST = 20
"""More items than this many times those there are is no plan."""


@dataclass(frozen=True)
class Verdict:
    """How the judges of a study stand beside one more person on a criterion.

    `word` is “undefined” or “too few” where they cannot be compared, and `reason` says why. `rows` has every
    judge and panel with its word, `flags` the most serious first, `next` the advice; `repair` whether that
    is to repair the question, as people do not agree.
    """

    criterion: str
    members: tuple[str, ...]
    word: Word
    sentence: str
    reason: str
    rows: Table
    flags: tuple[Flag, ...]
    next: str
    repair: bool = False

    @property
    def sentences(self) -> list[str]:
        """The verdict, what to do next, why, and the flags."""
        return [*filter(None, [self.sentence, self.next, self.reason]), *(flag.text for flag in self.flags)]


def verdict(evidence: Evidence, criterion: str, members: Sequence[str] = ()) -> Verdict:
    """The verdict on judges (`members`, else all) on one criterion.

    Raises StudyError for an unknown criterion.
    """
    members = tuple(members) or evidence.primary_panel
    table, name = section(evidence, "glance", criterion)["glance"], usual(evidence, criterion)
    rows = {str(row["rater"]): row for row in table.rows}
    row = rows.get(called(members), {})
    if len(members) > 1 and max(value_of(row.get("judge")), value_of(row.get(name))) == float("-inf"):
        # Judges without a common item have no answer together: the best of them has.
        best = max(
            members, key=lambda judge: value_of(rows[judge].get(name)) if judge in rows else float("-inf")
        )
        members, row = (best,), rows.get(best, {})
    given = row.get("verdict")
    word: Word = given if isinstance(given, str) else "undefined"  # type: ignore[assignment]
    sentence, reason, advice = f"On {evidence.label(criterion)} no judge can be compared with people.", "", ""
    if members:
        sentence, reason, advice = _words(evidence, criterion, members, word, row, table)
    person, repair = _figure(row, "person"), False

    def _is_on(flag: Flag) -> bool:
        return criterion == FINAL or not flag.on or bool({criterion, evidence.label(criterion)} & {*flag.on})

    flags = ranked([*flags_of(evidence), *on_criterion(evidence, criterion, members)])
    copied = [flag.judge for flag in flags if flag.claim == "copy" and flag.judge in members]
    if copied := copied or _equal_to_the_person(evidence, criterion, members):
        where = "column" if evidence.of.study.source == FILE else "answers of"
        gives = "give" if len(copied) > 1 else "gives"
        sentence = (
            f"On {evidence.label(criterion)}, {_list(copied)} {gives} just the answers of one person: no "
            "verdict before that is explained."
        )
        advice = (
            f"First check the {where} {_list(copied)}: a judge hardly ever gives exactly one person's "
            "answers, and nothing here holds for a copy."
        )
    elif person is not None and _apart(person):
        repair = True
        who = f"the {len(members)} judges" if len(members) > 1 else members[0]
        sentence = (
            f"On {evidence.label(criterion)}, people are not shown to agree with each other: nothing can be "
            f"said of {who}."
        )
        advice = (
            f"Repair the question {evidence.label(criterion)} or its guidelines before more is rated: one "
            f"more person reaches {_symbol(evidence, criterion)} {_two(person)} alone."
        )
    return Verdict(
        criterion,
        members,
        word,
        sentence,
        reason,
        renamed(table, evidence.names),
        tuple(flag for flag in flags if CLAIMS[flag.claim].first and _is_on(flag))[:MOST_FLAGS],
        advice,
        repair,
    )


def _apart(person: Estimate) -> bool:
    """Whether people are not shown to agree, and agree weakly at most."""
    if person.interval is None:
        return person.value is not None and person.value <= 0
    return person.interval[0] <= 0 and person.interval[1] < WEAK


def _better_alone(table: Table, members: tuple[str, ...], judge: Estimate) -> Mapping[str, Cell] | None:
    """The row of the member that is at least as good, too, and agrees better alone than all (`judge`) do."""
    alone = {called((member,)) for member in members}
    better = [
        row
        for row in table.rows
        if row["rater"] in alone
        and row["verdict"] == "at least as good"
        and value_of(row["judge"]) > value_of(judge)
    ]
    return max(better, key=lambda row: value_of(row["judge"]), default=None)


def _conditions(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> str:
    """What the use of judges that order items well is tied to: their level, and items that they leave out."""
    flags = [*flags_of(evidence), *on_criterion(evidence, criterion, members)]
    level = any(flag.claim == "level" for flag in flags)
    leaves_out = any(flag.claim == "lacks ratings" and flag.judge in members for flag in flags)
    return (" Correct the level before scores are read as people's." if level else "") + (
        " Ask it again about the items it left out, or have people rate them." if leaves_out else ""
    )


def _equal_to_the_person(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> list[str]:
    """Judges who repeat the only person's answers to ten items or more, not all of them the same."""
    scores = evidence.ratings[criterion]
    if len(scores.people) != 1 or scores.unlinked:
        return []
    theirs = scores.of(scores.people.tolist()[0])
    return [
        judge
        for judge in members
        if np.isfinite(both := scores.judges[judge] - theirs).sum() >= FEWEST
        and not np.nan_to_num(both).any()
        and len({*theirs[np.isfinite(both)].tolist()}) > 1
    ]


def flags_of(evidence: Evidence) -> list[Flag]:
    """Flags over all criteria: raters that distort a figure, and which figure; made once.

    A flag that holds for several criteria is given once. *Final* is looked at only if it is all there is.
    """
    if "flags" not in evidence.worded:
        ratings = evidence.ratings
        names = [n for n in evidence.ordered if n != FINAL] or evidence.ordered or evidence.criteria
        labels = {evidence.label(name): name for name in names}
        parts = {label: ratings[name] for label, name in labels.items()}
        of_order: list[Flag] = []
        if evidence.ordered:
            of_order = [
                *_inverted(evidence, labels),
                *_copies(parts, ratings.people),
                *_lacking(evidence, labels),
                *_scales(evidence, labels),
            ]
        evidence.worded["flags"] = ranked(
            [
                *of_order,
                *_constant(evidence, parts),
                *_one_answer(evidence, parts),
                *careless(evidence),
            ]
        )
    return evidence.worded["flags"]


def careless(evidence: Evidence) -> list[Flag]:
    """Flags of people whose way of rating deserves a look; of unnamed people only what hidden items show."""
    of = evidence.of
    if "careless" not in evidence.worded:
        evidence.worded["careless"] = [
            *quality.warnings(of.study.criteria, of.again.get("repeat", ()), of.checks),
            *([] if of.study.anonymous else quality.suspicions(of.dealt, of.rows, of.study.criteria)),
        ]
    return evidence.worded["careless"]


def missing(evidence: Evidence) -> list[str]:
    """What keeps a study from answering how far to trust its judges, one sentence each with the remedy.

    Code stands between backticks.
    """
    study, waiting, ratings = evidence.of.study, evidence.of.waiting, evidence.ratings
    compared = [row.spearman for part in evidence.agreement.criteria.values() for row in part.judges]
    for name in evidence.criteria[len(evidence.ordered) :]:
        compared += section(evidence, "judges", name)["judges"].estimates("kappa")
    people = max((len(ratings[name].people) for name in evidence.criteria), default=0)
    have = "still open are " + _list(
        f"{n} item{'' if n == 1 else 's'} with {name}" if n else f"none with {name}"
        for name, n in waiting.items()
    )
    sentences, deal = [], f"`concord study deal {study.name}`"
    if not people:
        remedy = f": {have}." if waiting else f". Deal it with {deal} and invite annotators."
        sentences.append(f"Nobody has rated the study “{study.name}” yet{remedy}")
    if people == 1 and not study.anonymous:
        remedy = f"{have}." if waiting else f"deal it to a second annotator with {deal}."
        alone = f"One person alone rated the study “{study.name}”, so how far people agree is unknown"
        sentences.append(f"{alone}: {remedy}")
    if not ratings.judges:
        rate = "have one rate its conversations with `concord judge`"
        sentences.append(f"No judge has rated the study “{study.name}”: {rate}.")
    elif people and not any(figure.defined for figure in compared):
        reason = next((figure.reason for figure in compared), "")
        sentences.append(
            f"No judge of the study “{study.name}” can be compared with people ({reason}): more, and more "
            "varied, items have to be rated by both."
        )
    return sentences


def _words(
    evidence: Evidence,
    criterion: str,
    members: tuple[str, ...],
    word: Word,
    row: Mapping[str, Cell],
    table: Table,
) -> tuple[str, str, str]:
    """Sentence, reason and advice."""
    label, margin = evidence.label(criterion), evidence.options.margin
    ratings, several = evidence.ratings, len(members) > 1
    who = f"the {len(members)} judges together" if several else members[0]
    are, they, them = ("are", "they reach", "them") if several else ("is", "it reaches", members[0])
    no_use = f"Do not use {them} on {label}: look at what {'they are' if several else 'it is'} asked, "
    answers = [commonest(ratings[criterion].judges[judge]) for judge in members]
    vary = np.nanmin(of_people := ratings[criterion].target, initial=np.inf) < np.nanmax(
        of_people, initial=-np.inf
    )
    if len(set(answers)) == 1 and answers[0][1] == 1 and vary and np.isfinite(of_people).sum() >= FEWEST:
        same = _word(evidence, label)(answers[0][0] or 0.0)
        return (
            f"On {label}, {who} {'answer' if several else 'answers'} {same} to every item, which tells "
            "nothing apart.",
            "",
            f"{no_use}and at how replies are read.",
        )
    judge, person, gap = (_figure(row, name) for name in ("judge", "person", "difference"))
    if gap is None or judge is None or person is None or gap.interval is None:
        return _not_compared(evidence, criterion, members, word, row, who, table)
    about = whom(ratings, criterion, evidence.people)
    reason = (
        f"With the other people {they} {_symbol(evidence, criterion)} {_two(judge)}, one more person "
        f"{_two(person)}: difference "
        f"{_end(gap.value or 0.0, signed=True)}{_within(gap, signed=True)} on {row['n']} items"
        f"{about and f', {about}'}. As good means less than {margin:g} below."
    )
    good = [
        str(other["name"])
        for other in table.rows
        if other["verdict"] == "at least as good" and other["rater"] != called(members)
    ]
    singles = [name for name in good if name in ratings.judges]
    too = f" {_list(singles)} alone {'is' if len(singles) == 1 else 'are'} at least as good, too."
    instead = (
        f"Use {_list(good, 'or')}, at least as good as one more person on {label}; to use {who},"
        if good
        else "No judge replaces a person yet:"
    )
    if word == "at least as good":
        kappa = usual(evidence, criterion) == "kappa"
        together = "the answer of most judges" if kappa else "the mean of the judges"
        use, also, beside, used = together if several else who, "", too if singles else "", members
        if better := _better_alone(table, members, judge):
            use, used = str(better["rater"]), (str(better["rater"]),)
            also, symbol = f", and so is {use} alone", _symbol(evidence, criterion)
            alone = _two(_figure(better, "judge") or judge)
            beside = f" On these items it reaches {symbol} {alone}, all together {_two(judge)}."
        return (
            f"On {label}, {who} {are} at least as good as one more person{also}.",
            reason,
            f"Use {use} on {label} where one more person would rate.{beside}"
            f"{_conditions(evidence, criterion, used)}",
        )
    other = f" Use {_list(good, 'or')} in place." if good else ""
    if word == "worse" and _turned_round(evidence, criterion, members):
        order = "order" if several else "orders"
        return (
            f"On {label}, {who} {order} the items the other way round than people do.",
            reason,
            f"{_turn(label)}{other}",
        )
    if word == "worse" and ((judge.value if judge.low is None else judge.low) or 0.0) <= 0:
        return (
            f"On {label}, {who} {are} worse than one more person, and may be no better than chance.",
            reason,
            f"{no_use}or take another judge.{other}",
        )
    if word == "worse":
        stored = evidence.of.study.source != FILE
        correct = "; the leaderboard corrects judges by their ratings" if stored else ""
        return (
            f"On {label}, {who} {are} worse than one more person.",
            reason,
            f"{instead} have people rate, too{correct}.",
        )
    more = more_items(gap, margin)
    most = FARTHEST * (gap.n or 0)
    many = f"about {more:,} more items" if more and more <= most else f"more than {most:,} more items"
    others = ", or more annotators," if evidence.people == "like-these" else ""
    return (
        f"On {label}, it is not known yet whether {who} {are} as good as one more person.",
        reason,
        f"{instead} have people rate {many}{others} first.",
    )


def _turned_round(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> bool:
    """Whether judges are shown to order items against people: ρ lies below 0, within the verdict's share."""
    part = evidence.agreement.criteria.get(criterion)
    row = part.rater(members) if part else None
    return row is not None and _p_against(row) <= (CLAIMS["verdict"].share or 0.0)


def _p_against(row: RaterAgreement) -> float:
    """One-sided p that a judge's or panel's ρ with people's mean is no less than 0, the larger of two.

    On rare answers that never coincide resamples vary little about a ρ of -0.05, which proves nothing.
    """
    return max(p_below(row.spearman, 0.0, fisher=True), (row.p.value or 0.0) / 2)


def _turn(label: str) -> str:
    return (
        f"Is the scale of {label} turned round, in what judges are asked or in the table? Repair that before "
        "anything rests on these scores."
    )


def _symbol(evidence: Evidence, criterion: str) -> str:
    """How agreement is written: that of two answers, and of categories, is kappa."""
    return "κ =" if usual(evidence, criterion) == "kappa" else "ρ ="


def _not_compared(
    evidence: Evidence,
    criterion: str,
    members: tuple[str, ...],
    word: Word,
    row: Mapping[str, Cell],
    who: str,
    table: Table,
) -> tuple[str, str, str]:
    """The words where no annotator can be held out, or the difference has no interval."""
    label, scores = evidence.label(criterion), evidence.ratings[criterion]
    gap, figure = _figure(row, "difference"), _figure(row, usual(evidence, criterion))
    why = gap.reason if gap else next(iter(table.notes), "").removesuffix(".")
    if word == "too few":
        are = "are" if len(members) > 1 else "is"
        n = row["n"] if isinstance(row["n"], int) else 0
        return (
            f"On {label}, {too_few(n)} to say whether {who} {are} as good as one more person.",
            f"{why[0].upper()}{why[1:]}.",
            "Have people rate more items.",
        )
    if figure is None or not figure.defined:
        why = figure.reason if figure else why
        return f"On {label}, {who} cannot be compared with people: {why}.", "", ""
    agree = "agree" if len(members) > 1 else "agrees"
    kappa, person = usual(evidence, criterion) == "kappa", len(scores.people) == 1
    whom_ = "the person" if person else "most people" if kappa else "people's mean"
    reached = f"{_symbol(evidence, criterion)} {_two(figure)}{_within(figure)} on {figure.n} items"
    weak = figure.interval is not None and figure.interval[1] < WEAK
    sentence = f"On {label}, {who} {agree} {'weakly ' if weak else ''}with {whom_}: {reached}."
    reason = "One person alone answered: how far people agree with each other, what a judge can be held to, "
    reason += "is not known."
    if not person:
        reason = f"How one more person would agree is not known: {why}."
        part = evidence.agreement.criteria.get(criterion)
        if part and (alpha := part.alpha["ordinal"]).defined:
            reason += f" Among themselves people reach alpha = {_two(alpha)}{_within(alpha)}."
    few = (figure.n or 0) < FEW
    advice = "Have people rate more, and more varied, items."
    if scores.unlinked:
        advice = "Import people's ratings with their names to compare judges with one more person."
    elif person or (scores.present <= 1).all():
        advice = "Have a second person rate the same items to compare judges with one more person."
        if few:
            advice = f"Have two people rate more items: {figure.n} of one person alone are too few."
    if figure.interval and figure.interval[0] <= 0:
        are = "are" if len(members) > 1 else "is"
        sentence = f"On {label}, {who} {are} not shown to agree with {whom_} better than chance: {reached}."
    if not few and figure.interval and (weak or figure.interval[0] <= 0):
        advice = (
            f"Do not use {'them' if len(members) > 1 else who} on {label} yet: look at what is asked, or "
            "take another judge, before more is rated."
        )
        if person:
            advice += " A second person on some of the items shows whether judge or question is at fault."
    if _turned_round(evidence, criterion, members):
        order = "order" if len(members) > 1 else "orders"
        sentence = f"On {label}, {who} {order} the items the other way round than {whom_}: {reached}."
        advice = _turn(label)
    return sentence, reason, advice


def on_criterion(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> list[Flag]:
    """Flags of one criterion, made once: few items or rare answers, level, groups of items, length."""
    name = f"on {criterion}: {called(members)}"
    if name not in evidence.worded:
        of_order = (_level, _group, _length) if evidence.ratings[criterion].ordered else ()
        evidence.worded[name] = [
            *_few(evidence, criterion),
            *(flag for flags in of_order for flag in flags(evidence, criterion, members)),
        ]
    return evidence.worded[name]


def _few(evidence: Evidence, criterion: str) -> Iterable[Flag]:
    """How many items there are, and how many of the rarer of two answers, where these are few."""
    scores, asked = evidence.ratings[criterion], evidence.criterion(criterion)
    most = max((int(np.isfinite(score + scores.target).sum()) for score in scores.judges.values()), default=0)
    if 0 < most < FEW:
        were = "item was" if most == 1 else "items were"
        yield Flag(
            "few", f"{most} {were} answered by people and a judge: intervals are wide, and figures rough."
        )
    answers = answer_of_people(scores)
    answers = answers[np.isfinite(answers)]
    if asked is None or not asked.scale.two or not len(answers):
        return
    rarer = min(asked.scale.values, key=lambda value: int((answers == value).sum()))
    n, part = int((answers == rarer).sum()), "sensitivity" if rarer == asked.scale.high else "specificity"
    if n < FEW_OF_ONE and n < len(answers) / 2:
        yield Flag(
            "rare",
            f"People answer “{asked.scale.word(rarer)}” to {n} of {len(answers)} "
            f"{'item' if len(answers) == 1 else 'items'} alone, all that {part} rests on.",
        )


def _level(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> Iterable[Flag]:
    judged = section(evidence, "judges", criterion)["judges"].rows
    row: Mapping[str, Cell] = next((row for row in judged if row["rater"] == called(members)), {})
    bias = _figure(row, "bias")
    if bias is None or bias.value is None or bias.interval is None or not _sure("level", [bias])[0]:
        return
    low, high = sorted(map(abs, bias.interval))
    who = "The judges together" if len(members) > 1 else members[0]
    s, more = "" if len(members) > 1 else "s", bias.value > 0
    if yes := _yes(evidence, criterion):
        text = f"{who} say{s} “{yes}” {100 * abs(bias.value):.0f} percentage points "
        text += f"{'more' if more else 'less'} often than people "
        yield Flag("level", f"{text}({100 * low:.0f} to {100 * high:.0f}).")
    else:
        text = f"{who} score{s} {abs(bias.value):.2f} points {'higher' if more else 'lower'} than people "
        yield Flag("level", f"{text}({low:z.2f} to {high:z.2f}).")


def _group(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    facets = {"": evidence.players} if len(set(evidence.players.values())) > 1 else {}
    largest = unlike(
        evidence.ratings,
        criterion,
        {**facets, **evidence.facets},
        [(judge,) for judge in evidence.judges],
        clusters=evidence.of.clusters,
        seed=evidence.options.seed,
    )
    if largest is None or not stated("group", [largest.p])[0]:
        return
    yes, less = _yes(evidence, criterion), largest.inside - largest.outside
    where = f"{largest.facet} “{largest.group}”".strip()
    if yes and largest.distance:
        text = f"differs from {largest.inside:.0%} of people's answers on {where}, from {largest.outside:.0%}"
        text += " elsewhere"
    elif largest.distance:
        text = f"lies {largest.inside:.2f} points from people on {where}, {largest.outside:.2f} elsewhere"
    else:
        more = f"“{yes}” to {abs(less):.0%} of the items" if yes else f"{abs(less):.2f} points"
        text = f"gives {where} {more} {'more' if less > 0 else 'less'}, beside people, than the others"
    rests_on = f"{largest.n} items; the largest of {largest.compared} differences, p {_small(largest.p)}"
    yield Flag("group", f"{largest.rater} {text} ({rests_on}).")


def _length(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """The judge whose score moves most with the length of a reply, beside people."""
    name = FEATURES["reply_chars"]
    if name not in evidence.features or not evidence.judges:
        return
    given = {"features": {name: evidence.features[name]}} | evidence.drawing
    rows = feature_bias(evidence.ratings, criterion, **given).rows
    effects = [_figure(row, "effect") or undefined("no effect") for row in rows]
    sure = _sure("length", effects)
    stated_ = [(row, e) for row, e, of in zip(rows, effects, sure, strict=True) if of]
    if stated_:
        row, effect = max(stated_, key=lambda one: abs(one[1].value or 0.0))
        yes, size = _yes(evidence, criterion), abs(effect.value or 0.0)
        more = f"“{yes}” to {size:.0%} of the items more" if yes else f"{size:.2f} points more"
        longer, step = (effect.value or 0.0) > 0, str(row["step"]).removeprefix("+")
        yield Flag(
            "length",
            f"{row['rater']} prefers {'longer' if longer else 'shorter'} replies: {more} than people for "
            f"{step} characters {'more' if longer else 'less'}.",
        )


def _sure(claim: str, figures: Sequence[Estimate]) -> Bools:
    """Which figures a page may state to differ from 0."""
    return stated(claim, [min(1.0, 2 * min(p_above(f, 0.0), p_below(f, 0.0))) for f in figures])


def _yes(evidence: Evidence, criterion: str) -> str:
    """The word of the higher of two answers; “” of other scales."""
    asked = evidence.criterion(criterion)
    return asked.scale.labels[1] if asked and asked.scale.two else ""


def _inverted(evidence: Evidence, names: Mapping[str, str]) -> Iterable[Flag]:
    criteria = evidence.agreement.criteria
    rows = [(on, row) for on, name in names.items() for row in criteria[name].judges]
    sure = stated("other way round", [_p_against(row) for _, row in rows])
    where: dict[str, dict[str, str]] = {}
    for on, row in compress(rows, sure):
        figures = f"ρ = {_two(row.spearman)}{_within(row.spearman)} on {on}"
        where.setdefault(row.name, {})[on] = figures
    for judge, of in where.items():
        yield Flag(
            "other way round",
            f"{judge} orders the items the other way round than people do: {_list(of.values())}. Check the "
            "direction of its scale.",
            on=tuple(of),
        )


def _copies(parts: Mapping[str, CriterionScores], people: tuple[str, ...]) -> Iterable[Flag]:
    every = [(on, copy) for on, scores in parts.items() for copy in copies(scores, people)]
    tests = sum(len(scores.judges) for scores in parts.values())
    where: dict[tuple[str, str], dict[str, str]] = {}
    for (on, copy), sure in zip(every, sure_of("copy", [c.p for _, c in every], tests), strict=True):
        if sure:
            figures = f"{on} (ρ = {copy.rho:z.2f}, at most {copy.next:z.2f} with anybody else)"
            where.setdefault((copy.judge, copy.person), {})[on] = figures
    for (judge, person), figures_ in where.items():
        yield Flag(
            "copy",
            f"{judge} repeats the answers of {person} on {_list(figures_.values())}: its agreement with "
            f"people's mean is {person}'s own share in that mean.",
            judge,
            tuple(figures_),
        )


def _constant(evidence: Evidence, parts: Mapping[str, CriterionScores]) -> Iterable[Flag]:
    """Raters with whom no correlation is defined: a fact, no accusation."""
    where: dict[tuple[str, str], dict[str, str]] = {}
    for on, scores in parts.items():
        for person, (answer, items) in constants(scores, evidence.ratings.people).items():
            where.setdefault((person, _word(evidence, on)(answer)), {})[on] = f"all {items} items on {on}"
        for judge, score in scores.judges.items():
            answer_, share = commonest(score)
            if share == 1 and answer_ is not None and np.count_nonzero(~np.isnan(score)) >= FEWEST:
                yield Flag(
                    "constant",
                    f"{judge} gives every item the same answer ({_word(evidence, on)(answer_)}) on {on}: "
                    "agreement is undefined.",
                    on=(on,),
                )
    if len(where) > NAMED:
        yield Flag(
            "constant",
            f"{len({person for person, _ in where})} annotators give one and the same answer to all their "
            "items on a criterion, and are dropped from its correlations and its held-out comparison.",
        )
        return
    for (person, word), figures in where.items():
        yield Flag(
            "constant",
            f"{person} gives {word} to {_list(figures.values())}, and is dropped there from correlations and "
            "from the held-out comparison: no correlation with a constant is defined.",
            on=tuple(figures),
        )


def _one_answer(evidence: Evidence, parts: Mapping[str, CriterionScores]) -> Iterable[Flag]:
    every = []
    for on, scores in parts.items():
        people = {str(person): scores.of(person) for person in scores.people.tolist()}
        if scores.unlinked:
            people = {"people": scores.target}
        every += [(on, row) for row in one_answer(dict(scores.judges), people)] if people else []
    tests = sum(len(scores.judges) for scores in parts.values())
    for (on, row), sure in zip(every, sure_of("one answer", [row.p for _, row in every], tests), strict=True):
        if sure and row.share < 1:
            word = _word(evidence, on)(row.answer)
            yield Flag(
                "one answer",
                f"{row.name} gave {row.share:.0%} of the items the same score ({word}) on {on}, people "
                f"{row.others:.0%}: its agreement there says little.",
                on=(on,),
            )


def _lacking(evidence: Evidence, names: Mapping[str, str]) -> Iterable[Flag]:
    rows = [
        (on, row)
        for on, name in names.items()
        for row in lacking(evidence.ratings, name, evidence.of.clusters)
    ]
    by_judge: dict[str, list[tuple[str, Lacking, bool]]] = {}
    for (on, row), sure in zip(rows, stated("lacks ratings", [row.p for _, row in rows]), strict=True):
        by_judge.setdefault(row.judge, []).append((on, row, bool(sure)))
    for judge, of in by_judge.items():
        on, row, sure = min(of, key=lambda one: one[1].p)
        counts = _list(f"{row.missing} of {row.rated + row.missing} items on {on}" for on, row, _ in of)
        if sure:
            which = "worse" if row.mean_missing < row.mean_rated else "better"
            yield Flag(
                "lacks ratings",
                f"{judge} lacks ratings of {counts}, more often of the {which} ones: on {on} people's mean "
                f"is {row.mean_missing:z.2f} where it lacks them, elsewhere {row.mean_rated:z.2f} (p "
                f"{_small(row.p)}). Its figures are of the items that it rated.",
                judge,
                tuple(on for on, *_ in of),
            )
        else:
            yield Flag("incomplete", f"{judge} has no rating of {counts}.", on=tuple(on for on, *_ in of))


def _scales(evidence: Evidence, names: Mapping[str, str]) -> Iterable[Flag]:
    ratings = evidence.ratings
    where: dict[tuple[str, str], list[str]] = {}
    for on, name in names.items():
        for note in dict.fromkeys(ratings.other_scale.get(name, {}).values()):
            where.setdefault(("Scale of ", note), []).append(on)
        for note in ratings.basis_notes.get(name, ()):
            if not note.startswith("scale guessed"):
                where.setdefault(("", note), []).append(on)
    for (of, note), on_ in where.items():
        yield Flag("scale", f"{of}{_list(on_)}: {note}.", on=tuple(on_))


def _word(evidence: Evidence, on: str) -> Callable[[float], str]:
    name = next((name for name in evidence.ratings.criteria if evidence.label(name) == on), on)
    scale = evidence.scale(name)
    return scale.word if scale else "{:g}".format


def _figure(row: Mapping[str, Cell], name: str) -> Estimate | None:
    cell = row.get(name)
    return cell if isinstance(cell, Estimate) else None


def _small(p: float) -> str:
    return "< .001" if p < 0.001 else f"= {p:.3f}".replace("0.", ".")


def _two(figure: Estimate) -> str:
    return f"{figure.value:z.2f}"


def _within(figure: Estimate, *, signed: bool = False) -> str:
    if figure.interval is None:
        return f" ({figure.reason or 'no interval'})"
    low, high = (_end(end, signed=signed) for end in figure.interval)
    return f" ({low} to {high})"


def _end(value: float, *, signed: bool) -> str:
    """Two digits, or as many more, up to six, as show on which side of 0 it lies."""
    digits = next((d for d in range(2, 7) if round(value, d)), 2)
    return f"{value:+z.{digits}f}" if signed else f"{value:z.{digits}f}"


def _list(words: Iterable[str], last_word: str = "and") -> str:
    """“a, b and c”; “” of nothing."""
    *first, last = [*words] or [""]
    return f"{', '.join(first)} {last_word} {last}" if first else last
