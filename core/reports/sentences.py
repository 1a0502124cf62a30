"""The words of a verdict: what to do, why, what is not known. `concord.messages` has the sentences, filled
here."""

from collections.abc import Mapping, Sequence
from math import ceil, inf
from typing import Any

from concord import messages
from concord.codes import GOOD, Advice, Claim, Unknown, UseCondition, Verdict
from concord.estimate import Estimate
from concord.reports.advice import WEAK
from concord.reports.coefficient import default_coefficient
from concord.reports.flags import judge_name, word_of
from concord.reports.standing import Standing
from concord.reports.wording import capital, end, listed, two, within
from concord.statistics.claims import (
    LOOKS,
    freedom_at,
    more_items,
    p_above,
    share_of_look,
    verdict_interval,
)
from concord.statistics.figures import whom
from concord.statistics.held_out import rarer_answers
from concord.statistics.intervals import FEWEST_RARER, piled_up
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import panel_name
from concord.store.studies import FILE
from concord.table import Cell

OFF = 0.1
"""A level is off by more than this share of the scale."""

ENOUGH = 40
"""Items of which a verdict is possible where answers are even: `FEWEST_RARER` of either of two."""

FEWEST_FOR_RATE = 2
"""Rarer answers below which their share, and so how many items hold enough of them, is not known."""

SECOND, SECOND_OF_RARE = 200, 1000
"""Items at most that a second annotator is asked to rate: 200 give a κ of .6 an interval of about ±0.11. Of
rare answers it takes more."""

FARTHEST = 20
"""More items than this many times those there are is no plan."""


def action(
    of: Standing,
    advice: Advice,
    use: Sequence[str],
    conditions: Sequence[UseCondition],
    exclude: Sequence[str],
) -> str:
    """What to do: the advice, what it is tied to, and whom a panel does better without."""
    if not of.members:
        return messages.NO_JUDGE.format(criterion=_label(of))
    parts = [_use(of, use, exclude)] if advice == Advice.USE else [_advice(of, advice)]
    names = {*use, *(() if use and panel_name(of.members) not in use else of.members)}
    leveled = dict.fromkeys(one.judge for one in of.flags if one.claim == Claim.LEVEL and one.judge in names)
    failing = [one for one in of.flags if one.failing and one.judge in names]
    about = {
        "judges": listed(leveled) or judge_name(of.members),
        "failing": failing[0].failing if failing else "",
        "judge": failing[0].judge if failing else "",
    }
    parts += [messages.CONDITIONS[condition].format(**about) for condition in conditions]
    if failing and advice == Advice.KEEP_ANNOTATORS:
        rest = messages.CHECK_REST.format(judge=judge_name(of.members), criterion=_label(of))
        parts = [messages.FAILS_ON.format(**about), rest, *parts[1:]]
    elif failing and advice == Advice.LABEL_MORE:
        parts = [messages.FAILS_ON.format(**about), messages.CHECK_REST_TOO, *parts]
    if advice != Advice.EXCLUDE_JUDGE:
        parts += [
            (messages.EXCLUDE_SLIGHT if judge in of.slight else messages.EXCLUDE).format(judge=judge)
            for judge in exclude
        ]
    return " ".join(filter(None, parts))


def why(of: Standing, advice: Advice, use: Sequence[str]) -> str:
    """The verdict in a sentence, unless the advice to use others has it, and the figures it rests on."""
    if not of.members:
        return ""
    repeats = advice == Advice.USE  # The advice says it.
    finding = "" if repeats else f"On {_label(of)}, {_finding(of, advice)}"
    return " ".join(filter(None, [finding, _figures(of, use), _look(of)]))


def unknown(of: Standing, unknowns: Sequence[Unknown]) -> str:
    """What is not known, a sentence each."""
    sentences = [
        messages.UNKNOWNS[one].format(
            judge=judge_name(of.members),
            why=_reason(of),
            n=len(of.evidence.ratings[of.criterion].people),
            unfinished=of.evidence.data.unfinished,
        )
        for one in unknowns
    ]
    return " ".join(filter(None, sentences))


def symbol(of: Standing) -> str:
    """How agreement is written: that of two answers, and of categories, is kappa."""
    if default_coefficient(of.evidence, of.criterion) == "kappa":
        return "κ ="
    return "weighted κ =" if of.evidence.options.agreement == "absolute" else "ρ ="


def _label(of: Standing) -> str:
    return of.evidence.label(of.criterion)


def _named(of: Standing, rater: str) -> str:
    """A judge or a panel of the table within a sentence; the panel asked about by its number."""
    if rater == panel_name(of.members):
        return judge_name(of.members)
    return of.evidence.names.get(rater, rater)


def _use(of: Standing, use: Sequence[str], exclude: Sequence[str] = ()) -> str:
    """The advice to use judges: which, why, and how the judges asked about stand if others are used."""
    rows = {str(row["rater"]): row for row in of.table.rows}
    about = {"criterion": _label(of)}
    names = [_named(of, rater) for rater in use]
    if len(use) > 1:
        first = messages.USE_ANY.format(judges=listed(names, "or"), **about)
    else:
        first = _use_one(of, rows[use[0]], names[0], about)
    own = panel_name(of.members)
    if own not in use and len(of.members) > 1 and exclude and of.verdict not in GOOD:
        # A panel that is to lose a judge needs no further labels.
        rest = [name for name in of.members if name not in (*use, *exclude)]
        good = [str(row["name"]) for row in of.others if row["rater"] in rest]
        also = messages.OTHERS_GOOD.format(judges=listed(good), is_="is" if len(good) == 1 else "are")
        return f"{first} {also}" if good else first
    if own not in use and len(of.members) > 1:
        return f"{first} {_rest(of, names[0])}"
    singles = [str(row["name"]) for row in of.others if row["rater"] in of.evidence.ratings.judges]
    if own in use and singles and len(of.members) > 1:
        is_ = "is" if len(singles) == 1 else "are"
        return f"{first} {messages.ALSO_GOOD.format(judges=listed(singles), is_=is_)}"
    return first


def _use_one(of: Standing, row: Mapping[str, Cell], name: str, about: Mapping[str, Any]) -> str:
    """The advice to use one judge or panel: as good, better, slightly below, or for order alone."""
    code, gap = Verdict(str(row["verdict"])), row["difference"]
    if bias := off_level(of, row):
        side = "higher" if (bias.value or 0.0) > 0 else "lower"
        return messages.USE_IN_ORDER.format(judge=name, points=abs(bias.value or 0.0), side=side, **about)
    if code == Verdict.AS_GOOD and isinstance(gap, Estimate) and _is_better(of, gap):
        return messages.USE_BETTER.format(judge=name, **about)
    return messages.USE[code].format(judge=name, margin=_margin_of(of, row), **about)


def off_level(of: Standing, row: Mapping[str, Cell]) -> Estimate | None:
    """The bias of a judge whose verdict is about order, where its level is shown to be off by more than a
    tenth of the scale; None else.
    """
    bias, scale = row.get("bias"), of.evidence.scale(of.criterion)
    if not isinstance(bias, Estimate) or bias.interval is None or scale is None:
        return None
    in_order = (
        default_coefficient(of.evidence, of.criterion) != "kappa" and of.evidence.options.agreement == "order"
    )
    off = min(map(abs, bias.interval)) > OFF * scale.width and bias.interval[0] * bias.interval[1] > 0
    return bias if in_order and off else None


def _rest(of: Standing, instead: str) -> str:
    """How the judges asked about stand, where others are used."""
    name = capital(judge_name(of.members))
    if of.verdict in GOOD and of.better is not None:
        alone, together = (
            two(figure) for figure in (of.better["judge"], of.row["judge"]) if isinstance(figure, Estimate)
        )
        figures = f"{symbol(of)} {alone}, all together {together}"
        return messages.USE_ALONE.format(Judge=name, one=instead, figures=figures)
    return messages.REST.get(of.verdict, "").format(Judge=name, more=_more(of), by=_raters(of))


def _advice(of: Standing, advice: Advice) -> str:
    """Every advice but to use a judge."""
    person = of.figure("person")
    copied = list(of.copied)
    about = {
        "criterion": _label(of),
        "judge": judge_name(of.members),
        "symbol": symbol(of),
        "person": two(person) if person else "",
        "where": "column" if of.evidence.data.study.source == FILE else "answers of",
        "judges": listed(copied),
        "give": "they give" if len(copied) > 1 else "it gives",
        "decided_by": of.decided_by,
        "more": _more(of),
        "by": _raters(of),
        "same": _repeated(of),
        "items": f"{_rated(of):,}",
        "slight": listed(of.slight),
        "agree": "agree" if len(of.slight) > 1 else "agrees",
        "others": listed([judge for judge in of.members if judge not in of.slight]),
        "copied_from": listed(dict.fromkeys(one.about for one in of.flags if one.claim == Claim.COPY)),
    }
    sentences = [messages.ADVICE[advice].format(**about)]
    if advice == Advice.LABEL_MORE:
        sentences = [_label_more(of, about)]
        alone = of.figure(default_coefficient(of.evidence, of.criterion))
        if _annotators(of) == 1 and alone is not None and alone.defined:
            sentences.insert(0, messages.SECOND_NEEDED.format(same=_repeated(of)))
    elif advice == Advice.KEEP_ANNOTATORS and of.evidence.data.study.source != FILE:
        sentences.append(messages.CORRECTED)
    elif advice == Advice.DO_NOT_USE and _annotators(of) == 1 and of.constant is None:
        sentences.append(messages.SECOND_SHOWS.format(same=_repeated(of)))
    if advice == Advice.ADD_ANNOTATOR and _is_rare(of):
        sentences.append(_more_of_rarer(of, messages.RARER_TOO, about))
    elif advice == Advice.ADD_ANNOTATOR and _rated(of) < ENOUGH:
        sentences.append(messages.FEW_TOO.format(**about | {"more": _about(ENOUGH - _rated(of))}))
    if advice in (Advice.CHECK_COPY, Advice.CHECK_DIRECTION, Advice.CHECK_ANNOTATOR) and (
        others := _instead(of)
    ):
        sentences.append(messages.INSTEAD.format(judges=others))
    return " ".join(sentences)


def _instead(of: Standing) -> str:
    return listed([_named(of, str(row["rater"])) for row in of.others], "or")


def _label_more(of: Standing, about: dict[str, str]) -> str:
    """How many more items, and of which kind, are needed."""
    items = _rated(of)
    if _is_rare(of):
        needed = _more_of_rarer(of, messages.LABEL_RARER, about)
        if of.evidence.data.study.source != FILE:  # conversations of a workspace are drawn on Samples
            return needed
        return f"{needed} {_more_of_rarer(of, messages.FIND_RARER, about)}"
    if of.verdict == Verdict.INCONCLUSIVE:
        first = " ".join(filter(None, [messages.ADVICE[Advice.LABEL_MORE].format(**about), _stays(of)]))
        look = max(of.evidence.look(of.criterion), 1) + 1
        again = (
            messages.LOOK_AGAIN.format(look=look)
            if look <= LOOKS
            else messages.LOOKS_SPENT.format(looks=LOOKS)
        )
        return f"{first} {again}" if of.evidence.data.study.source == FILE else first
    if items < ENOUGH:
        about = about | {"more": _about(ENOUGH - items)}
        return messages.ADVICE[Advice.LABEL_MORE].format(**about)
    return messages.LABEL_VARIED.format(**about)


def _is_rare(standing: Standing) -> bool:
    """Whether the rarer answers are too few for a verdict, and most items hold the commonest one."""
    rarer = rarer_answers(standing.evidence.ratings[standing.criterion])
    rare = 0 < rarer < FEWEST_RARER and piled_up(rarer, _rated(standing))
    return rare and default_coefficient(standing.evidence, standing.criterion) == "kappa"


def _more_of_rarer(standing: Standing, words: str, about: Mapping[str, str]) -> str:
    """How many more items are needed for enough of the rarer answer, in these words.

    As in the table and in flags an item has the answer of most annotators. Of those that have enough of it,
    while single answers are too few for an interval, no number is said.
    """
    n, items, answer = _rarer(standing)
    counts = {
        "one_judge": standing.members[0],
        "n": f"{n:,}",
        "items": f"{items:,}",
        "least": f"{FEWEST_RARER}",
        "answer": answer,
    }
    if n >= FEWEST_RARER:
        return messages.LABEL_VARIED.format(**about) if words == messages.LABEL_RARER else ""
    number = _about((FEWEST_RARER - n) * _rated(standing) / n) if n >= FEWEST_FOR_RATE else messages.MANY
    return words.format(**{**about, **counts, "more": number})


def _rated(standing: Standing) -> int:
    """Items that annotators rated."""
    return int((standing.evidence.ratings[standing.criterion].present > 0).sum())


def _rarer(standing: Standing) -> tuple[int, int, str]:
    """On how many items most annotators give another answer than the commonest, of how many on which they do
    not tie, and the word of that answer.
    """
    answers = answer_of_people(standing.evidence.ratings[standing.criterion])
    answers = answers[answers == answers]
    word = word_of(standing.evidence, _label(standing))
    question = standing.evidence.criterion(standing.criterion)
    offered = question.scale.values if question and question.scale.two else tuple(sorted({*answers.tolist()}))
    counts = {value: int((answers == value).sum()) for value in offered}
    if not counts:
        return 0, 0, ""
    most = max(counts, key=lambda value: counts[value])
    rest = {value: n for value, n in counts.items() if value != most}
    commonest_of_rest = max(rest, key=lambda value: rest[value], default=most)
    answer = word(commonest_of_rest) if len(rest) == 1 else f"not {word(most)}"
    return sum(rest.values()), len(answers), answer


def _raters(standing: Standing) -> str:
    """Who rates more items, between commas: every annotator, as many as now, or further ones; a second
    annotator where one rated.
    """
    scores, annotators = standing.evidence.ratings[standing.criterion], _annotators(standing)
    counts = scores.present[scores.present > 0]
    parts = []
    if annotators == 1:
        parts.append(messages.EACH_TWO)
    elif annotators == 2 and bool((counts == 2).all()):
        parts.append(messages.EACH_BOTH)
    elif annotators > 2 and bool((counts == annotators).mean() > 0.5):
        parts.append(messages.EACH_ALL.format(n=annotators))
    elif annotators:
        parts.append(messages.EACH_SOME)
    if standing.evidence.people == "like-these":
        parts.append(messages.OR_ANNOTATORS)
    return f", {', '.join(parts)}," if parts else ""


def _repeated(standing: Standing) -> str:
    """Which items a second annotator rates: all of the first one's, or a draw of many."""
    items, largest = _rated(standing), SECOND_OF_RARE if _is_rare(standing) else SECOND
    if items <= largest:
        return messages.SAME_ITEMS.format(n=f"{items:,}")
    return messages.ITEMS_PART.format(n=largest, items=f"{items:,}")


def _stays(standing: Standing) -> str:
    """What more items would show, should the difference stay; “” where their number is not known."""
    gap, margin = standing.figure("difference"), _least_margin(standing)
    if gap is None or gap.value is None:
        return ""
    items = more_items(gap, margin)
    if items is None or items > FARTHEST * (gap.n or 0):
        return ""
    code = Verdict.AS_GOOD if gap.value > -margin / 2 else Verdict.WORSE
    return messages.STAYS[code].format(difference=end(gap.value, signed=True))


def _about(more: float) -> str:
    """So many more items, rounded up to two digits."""
    step = 10 ** max(len(str(int(more))) - 2, 0)
    return messages.ABOUT.format(n=ceil(more / step) * step)


def _more(of: Standing) -> str:
    """How many more items would decide the verdict."""
    gap = of.figure("difference")
    if gap is None:
        return ""
    more, most = more_items(gap, _least_margin(of)), FARTHEST * (gap.n or 0)
    if more is None or more > most:
        return messages.MORE_THAN.format(n=most)
    return messages.ABOUT.format(n=more)


def _annotators(of: Standing) -> int:
    scores = of.evidence.ratings[of.criterion]
    return 0 if scores.unlinked else len(scores.people)


def _finding(of: Standing, advice: Advice) -> str:
    """The verdict as a sentence, by what is most serious."""
    name = judge_name(of.members)
    person = of.figure("person")
    if advice == Advice.CHECK_COPY:
        give = "give" if len(of.copied) > 1 else "gives"
        return messages.FINDING_COPY.format(judges=listed(of.copied), give=give)
    if advice == Advice.EXCLUDE_JUDGE:
        return _finding_slight(of)
    if (answer := of.constant) is not None:
        return messages.FINDING_CONSTANT.format(judge=name, answer=word_of(of.evidence, _label(of))(answer))
    if advice == Advice.REPAIR_QUESTION and person is not None:
        slight = person.interval is not None and person.interval[0] > 0
        words = messages.FINDING_DISAGREE_SLIGHT if slight else messages.FINDING_DISAGREE
        finding = words.format(symbol=symbol(of), person=f"{two(person)}{within(person)}")
        judge = of.figure("judge")
        beats = judge is not None and judge.interval is not None and judge.interval[0] > 0
        return finding if beats else finding + messages.FINDING_NO_BETTER.format(judge=capital(name))
    if advice == Advice.CHECK_ANNOTATOR:
        return _finding_decided(of, name)
    gap = of.figure("difference")
    if gap is None or not gap.defined:
        return _finding_alone(of, name)
    if advice == Advice.CHECK_DIRECTION:
        return messages.FINDING_TURNED.format(judge=name)
    if advice == Advice.DO_NOT_USE:
        return messages.FINDING_CHANCE.format(judge=name)
    if of.verdict == Verdict.WORSE and gap.interval is not None and gap.interval[1] < -_least_margin(of):
        return messages.FINDING_CLEARLY_WORSE.format(judge=name, margin=_margin_of(of, of.row))
    if of.verdict == Verdict.INCONCLUSIVE and gap.interval is not None:
        margin = _least_margin(of)
        if gap.interval[0] > -margin or gap.interval[1] < 0:
            return messages.FINDING_NOT_SURE.format(judge=name)
        if gap.interval[1] > margin:
            return messages.FINDING_ANY_SIDE.format(judge=name)
    return messages.FINDINGS[of.verdict].format(judge=name, why=_reason(of), margin=_margin_of(of, of.row))


def _finding_decided(standing: Standing, name: str) -> str:
    """That a verdict changes without one annotator, and how the judge stands without them."""
    rest, gap = standing.row.get("difference_without"), standing.figure("difference")
    names = {"judge": name, "decided_by": standing.decided_by}
    if not isinstance(rest, float):
        return messages.FINDING_ONE_DECIDES_UNDEFINED.format(**names)
    good = gap is not None and gap.interval is not None and gap.interval[0] > -_least_margin(standing)
    words = messages.FINDING_ONE_DECIDES if good else messages.FINDING_ONE_DECIDES_WORSE
    return words.format(difference=rest, **names)


def _least_margin(standing: Standing, row: Mapping[str, Cell] | None = None) -> float:
    """The margin of the verdict on a row (else that of the judges asked about): the smaller of that of the
    options and half of another annotator's agreement.
    """
    person = (standing.row if row is None else row).get("person")
    value = person.value if isinstance(person, Estimate) else None
    return min(standing.evidence.options.margin, value / 2 if value and value > 0 else inf)


def _margin_of(standing: Standing, row: Mapping[str, Cell]) -> str:
    """The margin of the verdict on a row, as a number."""
    return f"{_least_margin(standing, row):.2g}"


def _z(row: Mapping[str, Cell]) -> str:
    """How far the judge's agreement lies from annotators', in their standard deviations (Judge's Verdict)."""
    z = row.get("z") if row.get("verdict") == Verdict.AS_GOOD else None
    return messages.FINDING_Z.format(z=z) if isinstance(z, float) else ""


def _finding_slight(of: Standing) -> str:
    """How far the judges agree that hardly agree with annotators."""
    figures = {judge: of.agreement_of(judge) for judge in of.slight}
    reached = (
        f"{judge} reaches {symbol(of)} {two(figure)}{within(figure)}"
        for judge, figure in figures.items()
        if figure is not None
    )
    return f"{listed(reached)}."


def _finding_alone(of: Standing, name: str) -> str:
    """The agreement with all annotators, where none can be held out."""
    figure = of.figure(default_coefficient(of.evidence, of.criterion))
    if figure is None or not figure.defined:
        return messages.FINDINGS[Verdict.UNDEFINED].format(
            judge=name, why=figure.reason if figure else _reason(of)
        )
    kappa = default_coefficient(of.evidence, of.criterion) == "kappa"
    whom_ = "the annotator" if _annotators(of) == 1 else "most annotators" if kappa else "annotators' mean"
    words = messages.FINDING_ALONE
    if of.facts.turned:
        words = messages.FINDING_ROUND_ALONE
    elif figure.interval and figure.interval[0] <= 0:
        words = messages.FINDING_NO_CHANCE
    elif figure.interval and figure.interval[1] < WEAK:
        words = messages.FINDING_WEAK
    reached = f"{symbol(of)} {two(figure)}{within(figure)}, {figure.n} items"
    return words.format(judge=name, whom=whom_, figure=reached)


def _reason(of: Standing) -> str:
    """Why no annotator can be held out, or a difference has no interval."""
    gap = of.figure("difference")
    return (
        gap.reason.removeprefix("no interval: ") if gap else next(iter(of.table.notes), "").removesuffix(".")
    )


def _figures(of: Standing, use: Sequence[str]) -> str:
    """The figures of the verdict, or of the one judge or panel to be used; “” where nothing is compared."""
    rows = {str(row["rater"]): row for row in of.table.rows}
    rater = use[0] if len(use) == 1 else panel_name(of.members)
    row = rows.get(rater, {})
    judge, person, gap = (row.get(name) for name in ("judge", "person", "difference"))
    if not isinstance(judge, Estimate) or not isinstance(person, Estimate) or not isinstance(gap, Estimate):
        return ""
    if gap.value is None:
        return ""
    about = whom(of.evidence.ratings, of.criterion, of.evidence.people)
    alone = rater in of.evidence.ratings.judges
    figures = messages.FIGURES.format(
        Who=rater if alone else "Panel",
        symbol=symbol(of),
        judge=two(judge),
        person=two(person),
        difference=f"{end(gap.value, signed=True)}{_interval_of(of, gap)}",
        n=f"{row['n']:,}",
        about=f", {about}" if about else "",
    )
    if _is_better(of, gap) and row.get("verdict") in GOOD:
        return f"{figures}{_z(row)}"  # Better needs no margin.
    return f"{figures} {messages.MARGIN.format(margin=_margin(of, row))}"


def _is_better(of: Standing, gap: Estimate) -> bool:
    """Whether a judge is shown to agree better than another annotator, at this look."""
    look = of.evidence.look(of.criterion)
    return p_above(gap, 0.0, freedom_part=freedom_at(look)) < share_of_look(look)


def _interval_of(of: Standing, gap: Estimate) -> str:
    """The interval of the difference; nothing where the verdict has said why there is none."""
    said = gap.interval is None and of.verdict == Verdict.TOO_FEW
    return "" if said else within(gap, signed=True)


def _margin(standing: Standing, row: Mapping[str, Cell]) -> str:
    """What as good means: the margin, or half of another annotator's agreement where that is less."""
    margin = standing.evidence.options.margin
    if _least_margin(standing, row) < margin:
        return messages.WITHIN_HALF.format(margin=_margin_of(standing, row))
    return messages.WITHIN.format(margin=margin)


def _look(of: Standing) -> str:
    """How many looks the verdict allows for, where it is not the only one."""
    look = of.evidence.look(of.criterion)
    if not look:
        return ""
    if look > LOOKS:
        return messages.LOOKS_SPENT.format(looks=LOOKS)
    share, gap = share_of_look(look), of.figure("difference")
    ends = verdict_interval(gap, share, freedom_part=freedom_at(look)) if gap else None
    interval = f" ({end(ends[0], signed=True)} to {end(ends[1], signed=True)})" if ends else ""
    return messages.LOOK.format(look=look, looks=LOOKS, level=1 - 2 * share, interval=interval)
