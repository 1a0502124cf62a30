"""Flags: findings about single raters, groups and scales that a reader of a verdict has to know.

What a claim needs to be stated, `concord.statistics.claims` says; its words stand in `concord.messages`.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from concord.codes import PLAYERS, Claim
from concord.estimate import Estimate, undefined, value_of
from concord.messages import NO_PREFERENCE, OWN_FAMILY_COMPARED, PANEL, SHOWN_FIRST
from concord.reports.coefficient import default_coefficient
from concord.reports.evidence import Evidence
from concord.reports.features import FEATURES
from concord.reports.sections import differing_groups, lone_annotators, section
from concord.reports.wording import capital, count_words, interval_words, listed, small, two
from concord.statistics.claims import CLAIMS, Flag, flag, p_above, p_below, ranked, statable, sure_of
from concord.statistics.held_out import HeldOutMeasure, without_members
from concord.statistics.intervals import FEWEST_RARER
from concord.statistics.judges import commonest
from concord.statistics.majority import answer_of_people
from concord.statistics.missing import Lacking, lacking
from concord.statistics.oddities import ALIKE, FEWEST, Copy, OnlyCopy, constants, one_answer
from concord.statistics.position import shares_of_first
from concord.statistics.ratings import Bools, CriterionScores, Floats, panel_name
from concord.statistics.spread import Spread, Taste, spread_estimates, tastes
from concord.statistics.study import RaterAgreement
from concord.studies import quality
from concord.table import Cell

MOST_NAMED = 5
"""Names in a sentence; of more only the number is said."""

COMPRESSED = 0.8
"""A judge compresses its scale where it is sure to move by less than this for a point of people."""

FEW_ITEMS = 30
"""Items below which a reader is told how many there are."""


def flags_of(evidence: Evidence) -> list[Flag]:
    """Flags over all criteria: raters that distort a figure, and which figure; made once.

    A flag that holds for several criteria is given once. *Final* is looked at only if it is all there is.
    """
    if "flags" not in evidence.flag_cache:
        ratings = evidence.ratings
        labels = evidence.first_criteria
        parts = {label: ratings[name] for label, name in labels.items()}
        of_order: list[Flag] = []
        if evidence.ordered:
            of_order = [*_inverted(evidence, labels), *_lacking(evidence, labels), *_scales(evidence, labels)]
        evidence.flag_cache["flags"] = ranked(
            [
                *of_order,
                *_copies(evidence),
                *_constant(evidence, parts),
                *_one_answer(evidence, parts),
                *_alone(evidence, labels),
                *careless(evidence),
            ]
        )
    return evidence.flag_cache["flags"]


def careless(evidence: Evidence) -> list[Flag]:
    """Flags of people whose way of rating deserves a look; of unnamed people only what hidden items show."""
    data = evidence.data
    if "careless" not in evidence.flag_cache:
        evidence.flag_cache["careless"] = [
            *quality.warnings(data.study.criteria, data.repeated_answers.get("repeat", ()), data.checks),
            *(
                []
                if data.study.anonymous
                else quality.suspicions(data.assigned_items, data.rows, data.study.criteria)
            ),
        ]
    return evidence.flag_cache["careless"]


def on_criterion(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> list[Flag]:
    """Flags of one criterion, made once: few items or rare answers, level, groups of items, length."""
    name = f"on {criterion}: {panel_name(members)}"
    if name not in evidence.flag_cache:
        of_order = (
            (_level, _length, _ignores_length, _compresses, _family)
            if evidence.ratings[criterion].ordered
            else ()
        )
        evidence.flag_cache[name] = [
            *_few_items(evidence, criterion),
            *_group(evidence, criterion, members),
            *_weakens(evidence, criterion, members),
            *_position(evidence, criterion, members),
            *(finding for flags in of_order for finding in flags(evidence, criterion, members)),
        ]
    return evidence.flag_cache[name]


FAVOURS = (Claim.LENGTH, Claim.IGNORES_LENGTH, Claim.OWN_FAMILY, Claim.POSITION)


def preferences(evidence: Evidence, criterion: str) -> list[str]:
    """What judges are shown to favour, or to reward less than annotators, a sentence each; where nothing is
    shown, that it is not, and for which judges the own family was compared.
    """
    flags = on_criterion(evidence, criterion, evidence.primary_panel)
    if texts := [one.text for one in flags if one.claim in FAVOURS]:
        return texts
    compared = listed(judge for judge in evidence.judges if judge in evidence.own_family)
    family = OWN_FAMILY_COMPARED.format(judges=compared) if compared else ""
    return [NO_PREFERENCE.format(family=family)]


def turned_round(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> bool:
    """Whether judges are shown to order items against people: ρ lies below 0, within the verdict's share."""
    part = evidence.agreement.criteria.get(criterion)
    row = part.rater(members) if part else None
    return row is not None and _p_against(row) <= (CLAIMS[Claim.VERDICT].share or 0.0)


def judge_name(members: Sequence[str]) -> str:
    """A judge, or “the panel of 3 judges”, within a sentence."""
    return members[0] if len(members) == 1 else PANEL.format(n=len(members))


def _p_against(row: RaterAgreement) -> float:
    """One-sided p that a judge's or panel's ρ with people's mean is no less than 0, the larger of two.

    On rare answers that never coincide resamples vary little about a ρ of -0.05, which proves nothing.
    """
    return max(p_below(row.spearman, 0.0, fisher=True), (row.p.value or 0.0) / 2)


def _few_items(evidence: Evidence, criterion: str) -> Iterable[Flag]:
    """How many items there are, and how many of the rarer of two answers, where these are few."""
    scores = evidence.ratings[criterion]
    question = evidence.criterion(criterion)
    largest = max(
        (int(np.isfinite(score + scores.target).sum()) for score in scores.judges.values()), default=0
    )
    if 0 < largest < FEW_ITEMS:
        yield flag(Claim.FEW, n=count_words(largest, "item was", "items were"))
    answers = answer_of_people(scores)
    answers = answers[np.isfinite(answers)]
    if question is None or not question.scale.two or not len(answers):
        return
    rarer = min(question.scale.values, key=lambda value: int((answers == value).sum()))
    n = int((answers == rarer).sum())
    part = "sensitivity" if rarer == question.scale.high else "specificity"
    if n < FEWEST_RARER and n < len(answers) / 2:
        yield flag(
            Claim.RARE,
            kind="most" if len(scores.people) > 1 else "one",
            answer=question.scale.word(rarer),
            n=n,
            items=count_words(len(answers), "item"),
            Part=part.capitalize(),
        )


def _level(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> Iterable[Flag]:
    """Judges that score higher or lower than people: each that does, the panel where all do, or none
    alone.
    """
    rows = {str(row["rater"]): row for row in section(evidence, "judges", criterion)["judges"].rows}
    singles: list[tuple[str, ...]] = [(judge,) for judge in members]
    subjects = singles if members in singles else [*singles, members]
    figures = [
        _figure(rows.get(panel_name(subject), {}), "bias") or undefined("no bias") for subject in subjects
    ]
    sure = dict(zip(subjects, _sure(Claim.LEVEL, figures), strict=True))
    biases = dict(zip(subjects, figures, strict=True))
    alone: list[tuple[str, ...]] = [subject for subject in subjects if len(subject) == 1 and sure[subject]]
    if sure[members] and (not alone or len(alone) == len(members)):
        alone = [members]
    for subject in sorted(alone, key=lambda one: -abs(biases[one].value or 0.0)):
        bias = biases[subject]
        if bias.value is None or bias.interval is None:
            continue
        low, high = sorted(map(abs, bias.interval))
        name = judge_name(subject)
        is_higher = bias.value > 0
        values: dict[str, Any] = {"judge": subject[0] if len(subject) == 1 else "", "Judge": capital(name)}
        if yes := _yes(evidence, criterion):
            values |= {"answer": yes, "side": "more" if is_higher else "less"}
            yield flag(
                Claim.LEVEL,
                kind="share",
                size=100 * abs(bias.value),
                low=100 * low,
                high=100 * high,
                **values,
            )
        else:
            values["side"] = "higher" if is_higher else "lower"
            yield flag(Claim.LEVEL, kind="points", size=abs(bias.value), low=low, high=high, **values)


def _group(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """The group of items on which a judge is surest to differ from people otherwise than elsewhere."""
    largest = next(iter(differing_groups(evidence, criterion)), None)
    if largest is None or largest.p > (CLAIMS[Claim.GROUP].share or 0.0):
        return
    yes = _yes(evidence, criterion)
    size = largest.inside - largest.outside
    values: dict[str, Any] = {
        "judge": largest.judge,
        "subject": largest.group,
        "where": f"“{largest.group}”" if largest.facet in PLAYERS else f"{largest.facet} “{largest.group}”",
        "n": largest.n,
        "p": small(largest.p),
        "compared": largest.compared,
        "inside": largest.inside,
        "outside": largest.outside,
        "size": abs(size),
        "answer": yes,
        "favours": "favours" if size > 0 else "disfavours",
    }
    fails = largest.measure in ("wrong", "distance") and largest.inside > largest.outside
    kind = "points" if largest.measure == "favours" else largest.measure
    yield flag(
        Claim.GROUP,
        kind=kind,
        failing=values["where"] if fails else "",
        group=(largest.facet, largest.group),
        **values,
    )


def _words_of_length(evidence: Evidence, criterion: str, feature: Floats, *, longer: bool) -> dict[str, Any]:
    """What a sentence on length says of its direction, of one step of length, and of the unit of scores."""
    yes = _yes(evidence, criterion)
    return {
        "kind": "share" if yes else "points",
        "which": "longer" if longer else "shorter",
        "side": "more" if longer else "less",
        "step": f"{np.nanstd(feature, ddof=1):.3g}",
        "answer": yes,
    }


def _length(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """The judge that likes longer replies, or shorter ones, beyond what people do on its scale."""
    feature, preferences = _tastes_of_length(evidence, criterion)
    p = [_p_of_taste(one) for one in preferences]
    sure = [
        one for one, significant in zip(preferences, statable(Claim.LENGTH, p), strict=True) if significant
    ]
    for one in sorted(sure, key=lambda preference: -abs(preference.slope.value or 0.0))[:1]:
        yield flag(
            Claim.LENGTH,
            judge=one.judge,
            size=min(abs(figure.value or 0.0) for figure in one.beyond),
            **_words_of_length(evidence, criterion, feature, longer=(one.slope.value or 0.0) > 0),
        )


def _ignores_length(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """Judges that reward length less than people do, on the judge's scale, and have no shown taste of their
    own against it.
    """
    feature, preferences = _tastes_of_length(evidence, criterion)
    for one in _ignoring(preferences):
        longer = (one.people.value or 0.0) > 0
        yield flag(
            Claim.IGNORES_LENGTH,
            judge=one.judge,
            theirs=abs(one.people.value or 0.0),
            own=(one.slope.value or 0.0) * (1 if longer else -1),
            **_words_of_length(evidence, criterion, feature, longer=longer),
        )


def _ignoring(preferences: Sequence[Taste]) -> list[Taste]:
    """Those that are shown to reward a feature less than people do, who are shown to reward it, and are not
    shown to like the opposite.
    """
    sure = statable(Claim.IGNORES_LENGTH, [_p_of_ignoring(one) for one in preferences])
    share = CLAIMS[Claim.LENGTH].share or 0.0
    return [one for one in compress(preferences, sure) if _p_of_taste(one) > share]


def _tastes_of_length(evidence: Evidence, criterion: str) -> tuple[Floats, list[Taste]]:
    """The length of replies, and each judge on it; none where it is not known."""
    feature = evidence.features.get(FEATURES["reply_chars"])
    if feature is None or not evidence.judges:
        return np.zeros(0), []
    if criterion not in evidence.length_cache:
        preferences = tastes(evidence.ratings, criterion, feature, evidence.judges, **evidence.resampling)
        evidence.length_cache[criterion] = preferences
    return feature, evidence.length_cache[criterion]


def _p_of_ignoring(one: Taste) -> float:
    """Two-sided p that people do not reward a feature, or that the judge does so as much on its scale."""
    longer = max(p_above(one.people, 0.0), *(p_below(figure, 0.0) for figure in one.beyond))
    shorter = max(p_below(one.people, 0.0), *(p_above(figure, 0.0) for figure in one.beyond))
    return min(1.0, 2 * min(longer, shorter))


def _p_of_taste(one: Taste) -> float:
    """Two-sided p that a judge does not like a feature beyond people: its own slope and all those beyond
    people on its scale have to lie on one side of 0 (an intersection-union test).
    """
    figures = (one.slope, *one.beyond)
    upper, lower = (max(p(figure, 0.0) for figure in figures) for p in (p_above, p_below))
    return min(1.0, 2 * min(upper, lower))


def _compresses(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """The judges that spread their scores less than people, where that is shown, the least first.

    A judge that answers at random, or ignores what people reward, moves little with people as well: its
    scores have to lie closer together than an annotator's. Among replies of one length, too, it has to move
    less; of a judge that ignores length that has to be shown.
    """
    if default_coefficient(evidence, criterion) == "kappa":
        return
    feature = evidence.features.get(FEATURES["reply_chars"])
    slopes = spread_estimates(evidence.ratings, criterion, evidence.judges, feature, **evidence.resampling)
    ignoring = {one.judge for one in _ignoring(_tastes_of_length(evidence, criterion)[1])}
    p = [_p_of_compression(one, ignoring=one.judge in ignoring) for one in slopes]
    for one in sorted(compress(slopes, statable(Claim.COMPRESSES, p)), key=lambda one: value_of(one.slope)):
        low, high = one.slope.interval or (0.0, 0.0)
        slope = one.slope.value or 0.0
        ratio = one.ratio.value or 0.0
        yield flag(Claim.COMPRESSES, judge=one.judge, slope=slope, ratio=ratio, low=low, high=high)


def _p_of_compression(one: Spread, *, ignoring: bool) -> float:
    """One-sided p that a judge spreads its scores as far as people; `ignoring`: it ignores length."""
    alike = one.alike
    if alike is not None and alike.value is not None and alike.value >= COMPRESSED:
        return 1.0
    figures = [one.slope, one.ratio, *([alike] if ignoring and alike is not None else [])]
    return max(p_below(figure, COMPRESSED) for figure in figures)


def _weakens(evidence: Evidence, criterion: str, members: tuple[str, ...]) -> Iterable[Flag]:
    """Judges without whom the panel is shown to agree better with annotators."""
    measure: HeldOutMeasure = "kappa" if default_coefficient(evidence, criterion) == "kappa" else "spearman"
    contrasts = without_members(evidence.ratings, criterion, members, measure, **evidence.resampling)
    sure = statable(Claim.WEAKENS_PANEL, [p_above(one.gain, 0.0) for one in contrasts])
    for one in compress(contrasts, sure):
        low, high = one.gain.interval or (0.0, 0.0)
        yield flag(
            Claim.WEAKENS_PANEL,
            judge=one.judge,
            symbol="κ =" if measure == "kappa" else "ρ =",
            without=f"{one.agreement_without:z.2f}",
            together=f"{one.agreement:z.2f}",
            low=low,
            high=high,
        )


def _position(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """Judges that choose the first of two more or less often than people, of a question about pairs."""
    question = evidence.criterion(criterion)
    answers = evidence.preferences(criterion)
    if question is None or not answers:
        return
    orders = evidence.orders(criterion)
    first = next(value for value, share in answers.items() if share == 1)
    shares = shares_of_first(evidence.ratings, criterion, answers, orders, **evidence.resampling)
    sure = _sure(Claim.POSITION, [one.difference for one in shares])
    for one in compress(shares, sure):
        low, high = one.difference.interval or (0.0, 0.0)
        yield flag(
            Claim.POSITION,
            kind="orders" if one.judge in orders else "",
            judge=one.judge,
            answer=SHOWN_FIRST if one.judge in orders else question.scale.word(first),
            judged=one.judged,
            rated=one.rated,
            size=100 * (one.difference.value or 0.0),
            low=100 * low,
            high=100 * high,
        )


def _family(evidence: Evidence, criterion: str, _members: tuple[str, ...]) -> Iterable[Flag]:
    """Judges that favour models of their own family, beyond people on the judge's scale."""
    pairs = [
        (one, family_items)
        for judge, family_items in evidence.own_family.items()
        for one in tastes(evidence.ratings, criterion, family_items, [judge], **evidence.resampling)
    ]
    sure = statable(
        Claim.OWN_FAMILY, [max(p_above(figure, 0.0) for figure in one.beyond) for one, _ in pairs]
    )
    for one, family_items in compress(pairs, sure):
        smallest = min(one.beyond, key=lambda figure: figure.value or 0.0)
        step = float(
            np.nanstd(
                family_items[np.isfinite(evidence.ratings[criterion].judges[one.judge] + family_items)],
                ddof=1,
            )
        )
        low, high = (end / step for end in smallest.interval or (0.0, 0.0))
        yes = _yes(evidence, criterion)
        size = (smallest.value or 0.0) / step
        kind = "share" if yes else "points"
        yield flag(Claim.OWN_FAMILY, kind=kind, judge=one.judge, answer=yes, size=size, low=low, high=high)


def _sure(claim: Claim, figures: Sequence[Estimate]) -> Bools:
    """Which figures a page may state to differ from 0."""
    return statable(claim, [min(1.0, 2 * min(p_above(f, 0.0), p_below(f, 0.0))) for f in figures])


def _yes(evidence: Evidence, criterion: str) -> str:
    """The word of the higher of two answers; “” of other scales."""
    question = evidence.criterion(criterion)
    return question.scale.labels[1] if question and question.scale.two else ""


def _inverted(evidence: Evidence, names: Mapping[str, str]) -> Iterable[Flag]:
    criteria = evidence.agreement.criteria
    rows = [
        (label, row) for label, name in names.items() if name in criteria for row in criteria[name].judges
    ]
    sure = statable(Claim.TURNED_ROUND, [_p_against(row) for _, row in rows])
    places: dict[str, dict[str, str]] = {}
    for label, row in compress(rows, sure):
        figures = f"ρ = {two(row.spearman)}{interval_words(row.spearman)} on {label}"
        places.setdefault(row.name, {})[label] = figures
    for judge, by_criterion in places.items():
        yield flag(
            Claim.TURNED_ROUND,
            judge=judge,
            criterion_keys=tuple(by_criterion),
            figures=listed(by_criterion.values()),
        )


def _copies(evidence: Evidence) -> Iterable[Flag]:
    """Judges that repeat one annotator's answers; of the only annotator beside the chance of it."""
    places: dict[tuple[str, str], dict[str, str]] = {}
    for name, copy, sure in evidence.repeated:
        if isinstance(copy, Copy) and sure:
            label = evidence.label(name)
            symbol = "κ" if default_coefficient(evidence, name) == "kappa" else "ρ"
            figures = f"{label} ({symbol} = {copy.rho:z.2f}, at most {copy.next:z.2f} with other annotators)"
            places.setdefault((copy.judge, copy.person), {})[label] = figures
    for (judge, person), figures_ in places.items():
        yield flag(
            Claim.COPY,
            kind="rho",
            judge=judge,
            subject=person,
            criterion_keys=tuple(figures_),
            figures=listed(figures_.values()),
        )
    for name, copy, sure in evidence.repeated:
        if isinstance(copy, OnlyCopy):
            subject_values: dict[str, Any] = {"judge": copy.judge, "subject": copy.person, "n": copy.n}
            subject_values["criterion_keys"] = (evidence.label(name),)
            if sure:
                yield flag(Claim.COPY, kind="only", kappa=ALIKE, p=small(copy.p), **subject_values)
            else:
                yield flag(Claim.EQUAL, **subject_values)


def _alone(evidence: Evidence, labels: Mapping[str, str]) -> Iterable[Flag]:
    """Annotators who agree with nobody, while the others agree with each other."""
    lone = [(label, name, one) for label, name in labels.items() for one in lone_annotators(evidence, name)]
    sure = statable(Claim.ALONE, [p_above(one.contrast, 0.0) for _, _, one in lone])
    for label, name, one in compress(lone, sure):
        yield flag(
            Claim.ALONE,
            subject=one.person,
            criterion_keys=(label,),
            criterion=label,
            symbol="κ" if default_coefficient(evidence, name) == "kappa" else "ρ",
            own=f"{one.with_annotator:z.2f}",
            others=f"{one.between_others:.2f}",
        )


def _constant(evidence: Evidence, parts: Mapping[str, CriterionScores]) -> Iterable[Flag]:
    """Raters with whom no correlation is defined: a fact, no accusation."""
    places: dict[tuple[str, str], dict[str, str]] = {}
    for label, scores in parts.items():
        for person, (answer, items) in constants(scores, evidence.ratings.people).items():
            places.setdefault((person, word_of(evidence, label)(answer)), {})[label] = (
                f"all {items} items on {label}"
            )
        for judge, score in scores.judges.items():
            answer_, share = commonest(score)
            if share == 1 and answer_ is not None and np.count_nonzero(~np.isnan(score)) >= FEWEST:
                yield flag(
                    Claim.CONSTANT,
                    kind="judge",
                    judge=judge,
                    criterion_keys=(label,),
                    criterion=label,
                    answer=word_of(evidence, label)(answer_),
                )
    if len(places) > MOST_NAMED:
        yield flag(Claim.CONSTANT, kind="several", n=len({person for person, _ in places}))
        return
    for (person, word), figures in places.items():
        yield flag(
            Claim.CONSTANT,
            kind="annotator",
            subject=person,
            criterion_keys=tuple(figures),
            answer=word,
            figures=listed(figures.values()),
        )


def _one_answer(evidence: Evidence, parts: Mapping[str, CriterionScores]) -> Iterable[Flag]:
    rows = []
    for label, scores in parts.items():
        people = {str(person): scores.scores_of(person) for person in scores.people.tolist()}
        if scores.unlinked:
            people = {"people": scores.target}
        rows += [(label, row) for row in one_answer(dict(scores.judges), people)] if people else []
    tests = sum(len(scores.judges) for scores in parts.values())
    for (label, row), sure in zip(
        rows, sure_of(Claim.ONE_ANSWER, [r.p for _, r in rows], tests), strict=True
    ):
        if sure and row.share < 1:
            yield flag(
                Claim.ONE_ANSWER,
                kind="judge",
                judge=row.name,
                criterion_keys=(label,),
                criterion=label,
                share=row.share,
                others=row.typical_share,
                answer=word_of(evidence, label)(row.answer),
            )


def _lacking(evidence: Evidence, names: Mapping[str, str]) -> Iterable[Flag]:
    # Who was not asked, because of their own answer to another question, lacks nothing.
    depends = {criterion.name for criterion in evidence.data.study.criteria if criterion.when}
    rows = [
        (label, row)
        for label, name in names.items()
        if name not in depends
        for row in lacking(evidence.ratings, name, evidence.data.clusters)
    ]
    by_judge: dict[str, list[tuple[str, Lacking, bool]]] = {}
    for (label, row), sure in zip(
        rows, statable(Claim.LACKS_RATINGS, [row.p for _, row in rows]), strict=True
    ):
        by_judge.setdefault(row.judge, []).append((label, row, bool(sure)))
    for judge, findings in by_judge.items():
        label, row, sure = min(findings, key=lambda one: one[1].p)
        counts = listed(
            f"{row.missing} of {row.rated + row.missing} items on {label}" for label, row, _ in findings
        )
        subject_values: dict[str, Any] = {
            "judge": judge,
            "criterion_keys": tuple(label for label, *_ in findings),
            "counts": counts,
        }
        if sure:
            yield flag(
                Claim.LACKS_RATINGS,
                kind="side",
                which="worse" if row.mean_missing < row.mean_rated else "better",
                criterion=label,
                missing=row.mean_missing,
                rated=row.mean_rated,
                p=small(row.p),
                **subject_values,
            )
        else:
            yield flag(Claim.INCOMPLETE, **subject_values)


def _scales(evidence: Evidence, names: Mapping[str, str]) -> Iterable[Flag]:
    ratings = evidence.ratings
    places: dict[tuple[str, str], list[str]] = {}
    for label, name in names.items():
        for note in dict.fromkeys(ratings.other_scale.get(name, {}).values()):
            places.setdefault(("of", note), []).append(label)
        for note in ratings.basis_notes.get(name, ()):
            if not note.startswith("scale guessed"):
                places.setdefault(("note", note), []).append(label)
    for (kind, note), labels in places.items():
        yield flag(Claim.SCALE, kind=kind, criterion_keys=tuple(labels), criteria=listed(labels), note=note)


def word_of(evidence: Evidence, label: str) -> Callable[[float], str]:
    """How answers on a criterion, by its label, are written."""
    name = next((name for name in evidence.ratings.criteria if evidence.label(name) == label), label)
    scale = evidence.scale(name)
    return scale.word if scale else "{:g}".format


def _figure(row: Mapping[str, Cell], name: str) -> Estimate | None:
    cell = row.get(name)
    return cell if isinstance(cell, Estimate) else None
