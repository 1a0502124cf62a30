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
from concord.reports.wording import capital, end, interval_words, listed, two
from concord.statistics.claims import (
    LOOKS,
    freedom_at,
    more_items,
    p_above,
    share_of_look,
    verdict_interval,
)
from concord.statistics.figures import population_words
from concord.statistics.held_out import rarer_answers
from concord.statistics.intervals import FEWEST_RARER, piled_up
from concord.statistics.majority import answer_of_people
from concord.statistics.ratings import panel_name
from concord.store.studies import FILE
from concord.table import Cell

OFF_LEVEL = 0.1
"""A level is off by more than this share of the scale."""

ENOUGH = 40
"""Items of which a verdict is possible where answers are even: `FEWEST_RARER` of either of two."""

FEWEST_FOR_RATE = 2
"""Rarer answers below which their share, and so how many items hold enough of them, is not known."""

SECOND = 200
SECOND_OF_RARE = 1000
"""Items at most that a second annotator is asked to rate: 200 give a κ of .6 an interval of about ±0.11. Of
rare answers it takes more."""

FARTHEST = 20
"""More items than this many times those there are is no plan."""


def action(
    standing: Standing,
    advice: Advice,
    use: Sequence[str],
    conditions: Sequence[UseCondition],
    exclude: Sequence[str],
) -> str:
    """What to do: the advice, what it is tied to, and whom a panel does better without."""
    if not standing.members:
        return messages.NO_JUDGE.format(criterion=_label(standing))
    parts = [_use(standing, use, exclude)] if advice == Advice.USE else [_advice(standing, advice)]
    names = {*use, *(() if use and panel_name(standing.members) not in use else standing.members)}
    leveled = dict.fromkeys(
        one.judge for one in standing.flags if one.claim == Claim.LEVEL and one.judge in names
    )
    failing = [one for one in standing.flags if one.failing and one.judge in names]
    values = {
        "judges": listed(leveled) or judge_name(standing.members),
        "failing": failing[0].failing if failing else "",
        "judge": failing[0].judge if failing else "",
    }
    parts += [messages.CONDITIONS[condition].format(**values) for condition in conditions]
    if failing and advice == Advice.KEEP_ANNOTATORS:
        rest = messages.CHECK_REST.format(judge=judge_name(standing.members), criterion=_label(standing))
        parts = [messages.FAILS_ON.format(**values), rest, *parts[1:]]
    elif failing and advice == Advice.LABEL_MORE:
        parts = [messages.FAILS_ON.format(**values), messages.CHECK_REST_TOO, *parts]
    if advice != Advice.EXCLUDE_JUDGE:
        parts += [
            (messages.EXCLUDE_SLIGHT if judge in standing.slight else messages.EXCLUDE).format(judge=judge)
            for judge in exclude
        ]
    return " ".join(filter(None, parts))


def reason(standing: Standing, advice: Advice, use: Sequence[str]) -> str:
    """The verdict in a sentence, unless the advice to use others has it, and the figures it rests on."""
    if not standing.members:
        return ""
    repeats = advice == Advice.USE  # The advice says it.
    finding = "" if repeats else f"On {_label(standing)}, {_finding(standing, advice)}"
    return " ".join(filter(None, [finding, _figures(standing, use), _look(standing)]))


def unknown(standing: Standing, unknowns: Sequence[Unknown]) -> str:
    """What is not known, a sentence each."""
    sentences = [
        messages.UNKNOWNS[one].format(
            judge=judge_name(standing.members),
            why=_reason(standing),
            n=len(standing.evidence.ratings[standing.criterion].people),
            unfinished=standing.evidence.data.unfinished,
        )
        for one in unknowns
    ]
    return " ".join(filter(None, sentences))


def symbol(standing: Standing) -> str:
    """How agreement is written: that of two answers, and of categories, is kappa."""
    if default_coefficient(standing.evidence, standing.criterion) == "kappa":
        return "κ ="
    return "weighted κ =" if standing.evidence.options.agreement == "absolute" else "ρ ="


def _label(standing: Standing) -> str:
    return standing.evidence.label(standing.criterion)


def _rater_words(standing: Standing, rater: str) -> str:
    """A judge or a panel of the table within a sentence; the panel asked about by its number."""
    if rater == panel_name(standing.members):
        return judge_name(standing.members)
    return standing.evidence.names.get(rater, rater)


def _use(standing: Standing, use: Sequence[str], exclude: Sequence[str] = ()) -> str:
    """The advice to use judges: which, why, and how the judges asked about stand if others are used."""
    rows = {str(row["rater"]): row for row in standing.table.rows}
    values = {"criterion": _label(standing)}
    names = [_rater_words(standing, rater) for rater in use]
    if len(use) > 1:
        first = messages.USE_ANY.format(judges=listed(names, "or"), **values)
    else:
        first = _use_one(standing, rows[use[0]], names[0], values)
    panel = panel_name(standing.members)
    if panel not in use and len(standing.members) > 1 and exclude and standing.verdict not in GOOD:
        # A panel that is to lose a judge needs no further labels.
        rest = [name for name in standing.members if name not in (*use, *exclude)]
        good = [str(row["name"]) for row in standing.alternatives if row["rater"] in rest]
        alternatives = messages.OTHERS_GOOD.format(judges=listed(good), is_="is" if len(good) == 1 else "are")
        return f"{first} {alternatives}" if good else first
    if panel not in use and len(standing.members) > 1:
        return f"{first} {_rest(standing, names[0])}"
    singles = [
        str(row["name"]) for row in standing.alternatives if row["rater"] in standing.evidence.ratings.judges
    ]
    if panel in use and singles and len(standing.members) > 1:
        is_ = "is" if len(singles) == 1 else "are"
        return f"{first} {messages.ALSO_GOOD.format(judges=listed(singles), is_=is_)}"
    return first


def _use_one(standing: Standing, row: Mapping[str, Cell], name: str, values: Mapping[str, Any]) -> str:
    """The advice to use one judge or panel: as good, better, slightly below, or for order alone."""
    code = Verdict(str(row["verdict"]))
    gap = row["difference"]
    if bias := off_level(standing, row):
        side = "higher" if (bias.value or 0.0) > 0 else "lower"
        return messages.USE_IN_ORDER.format(judge=name, points=abs(bias.value or 0.0), side=side, **values)
    if code == Verdict.AS_GOOD and isinstance(gap, Estimate) and _is_better(standing, gap):
        return messages.USE_BETTER.format(judge=name, **values)
    return messages.USE[code].format(judge=name, margin=_margin_of(standing, row), **values)


def off_level(standing: Standing, row: Mapping[str, Cell]) -> Estimate | None:
    """The bias of a judge whose verdict is about order, where its level is shown to be off by more than a
    tenth of the scale; None else.
    """
    bias = row.get("bias")
    scale = standing.evidence.scale(standing.criterion)
    if not isinstance(bias, Estimate) or bias.interval is None or scale is None:
        return None
    in_order = (
        default_coefficient(standing.evidence, standing.criterion) != "kappa"
        and standing.evidence.options.agreement == "order"
    )
    outside = (
        min(map(abs, bias.interval)) > OFF_LEVEL * scale.width and bias.interval[0] * bias.interval[1] > 0
    )
    return bias if in_order and outside else None


def _rest(standing: Standing, instead: str) -> str:
    """How the judges asked about stand, where others are used."""
    name = capital(judge_name(standing.members))
    if standing.verdict in GOOD and standing.better is not None:
        alone, joint = (
            two(figure)
            for figure in (standing.better["judge"], standing.row["judge"])
            if isinstance(figure, Estimate)
        )
        figures = f"{symbol(standing)} {alone}, all together {joint}"
        return messages.USE_ALONE.format(Judge=name, one=instead, figures=figures)
    return messages.REST.get(standing.verdict, "").format(
        Judge=name, more=_extra_items(standing), by=_raters(standing)
    )


def _advice(standing: Standing, advice: Advice) -> str:
    """Every advice but to use a judge."""
    person = standing.figure("person")
    copied = list(standing.copied)
    values = {
        "criterion": _label(standing),
        "judge": judge_name(standing.members),
        "symbol": symbol(standing),
        "person": two(person) if person else "",
        "where": "column" if standing.evidence.data.study.source == FILE else "answers of",
        "judges": listed(copied),
        "give": "they give" if len(copied) > 1 else "it gives",
        "decided_by": standing.decided_by,
        "more": _extra_items(standing),
        "by": _raters(standing),
        "same": _repeated(standing),
        "items": f"{_rated(standing):,}",
        "slight": listed(standing.slight),
        "agree": "agree" if len(standing.slight) > 1 else "agrees",
        "others": listed([judge for judge in standing.members if judge not in standing.slight]),
        "copied_from": listed(
            dict.fromkeys(one.subject for one in standing.flags if one.claim == Claim.COPY)
        ),
    }
    sentences = [messages.ADVICE[advice].format(**values)]
    if advice == Advice.LABEL_MORE:
        sentences = [_label_more(standing, values)]
        alone = standing.figure(default_coefficient(standing.evidence, standing.criterion))
        if _annotators(standing) == 1 and alone is not None and alone.defined:
            sentences.insert(0, messages.SECOND_NEEDED.format(same=_repeated(standing)))
    elif advice == Advice.KEEP_ANNOTATORS and standing.evidence.data.study.source != FILE:
        sentences.append(messages.CORRECTED)
    elif advice == Advice.DO_NOT_USE and _annotators(standing) == 1 and standing.constant is None:
        sentences.append(messages.SECOND_SHOWS.format(same=_repeated(standing)))
    if advice == Advice.ADD_ANNOTATOR and _is_rare(standing):
        sentences.append(_more_of_rarer(standing, messages.RARER_TOO, values))
    elif advice == Advice.ADD_ANNOTATOR and _rated(standing) < ENOUGH:
        sentences.append(messages.FEW_TOO.format(**values | {"more": _rounded(ENOUGH - _rated(standing))}))
    if advice in (Advice.CHECK_COPY, Advice.CHECK_DIRECTION, Advice.CHECK_ANNOTATOR) and (
        instead := _instead(standing)
    ):
        sentences.append(messages.INSTEAD.format(judges=instead))
    return " ".join(sentences)


def _instead(standing: Standing) -> str:
    return listed([_rater_words(standing, str(row["rater"])) for row in standing.alternatives], "or")


def _label_more(standing: Standing, values: dict[str, str]) -> str:
    """How many more items, and of which kind, are needed."""
    items = _rated(standing)
    if _is_rare(standing):
        request = _more_of_rarer(standing, messages.LABEL_RARER, values)
        if standing.evidence.data.study.source != FILE:  # conversations of a workspace are drawn on Samples
            return request
        return f"{request} {_more_of_rarer(standing, messages.FIND_RARER, values)}"
    if standing.verdict == Verdict.INCONCLUSIVE:
        first = " ".join(
            filter(None, [messages.ADVICE[Advice.LABEL_MORE].format(**values), _stays(standing)])
        )
        look = max(standing.evidence.look(standing.criterion), 1) + 1
        second = (
            messages.LOOK_AGAIN.format(look=look)
            if look <= LOOKS
            else messages.LOOKS_SPENT.format(looks=LOOKS)
        )
        return f"{first} {second}" if standing.evidence.data.study.source == FILE else first
    if items < ENOUGH:
        values = values | {"more": _rounded(ENOUGH - items)}
        return messages.ADVICE[Advice.LABEL_MORE].format(**values)
    return messages.LABEL_VARIED.format(**values)


def _is_rare(standing: Standing) -> bool:
    """Whether the rarer answers are too few for a verdict, and most items hold the commonest one."""
    rarer = rarer_answers(standing.evidence.ratings[standing.criterion])
    rare = 0 < rarer < FEWEST_RARER and piled_up(rarer, _rated(standing))
    return rare and default_coefficient(standing.evidence, standing.criterion) == "kappa"


def _more_of_rarer(standing: Standing, words: str, values: Mapping[str, str]) -> str:
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
        return messages.LABEL_VARIED.format(**values) if words == messages.LABEL_RARER else ""
    number = _rounded((FEWEST_RARER - n) * _rated(standing) / n) if n >= FEWEST_FOR_RATE else messages.MANY
    return words.format(**{**values, **counts, "more": number})


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
    options = question.scale.values if question and question.scale.two else tuple(sorted({*answers.tolist()}))
    counts = {value: int((answers == value).sum()) for value in options}
    if not counts:
        return 0, 0, ""
    commonest = max(counts, key=lambda value: counts[value])
    rest = {value: n for value, n in counts.items() if value != commonest}
    commonest_of_rest = max(rest, key=lambda value: rest[value], default=commonest)
    answer = word(commonest_of_rest) if len(rest) == 1 else f"not {word(commonest)}"
    return sum(rest.values()), len(answers), answer


def _raters(standing: Standing) -> str:
    """Who rates more items, between commas: every annotator, as many as now, or further ones; a second
    annotator where one rated.
    """
    scores = standing.evidence.ratings[standing.criterion]
    annotators = _annotators(standing)
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
    items = _rated(standing)
    largest = SECOND_OF_RARE if _is_rare(standing) else SECOND
    if items <= largest:
        return messages.SAME_ITEMS.format(n=f"{items:,}")
    return messages.ITEMS_PART.format(n=largest, items=f"{items:,}")


def _stays(standing: Standing) -> str:
    """What more items would show, should the difference stay; “” where their number is not known."""
    gap = standing.figure("difference")
    margin = _least_margin(standing)
    if gap is None or gap.value is None:
        return ""
    items = more_items(gap, margin)
    if items is None or items > FARTHEST * (gap.n or 0):
        return ""
    code = Verdict.AS_GOOD if gap.value > -margin / 2 else Verdict.WORSE
    return messages.STAYS[code].format(difference=end(gap.value, signed=True))


def _rounded(items: float) -> str:
    """So many more items, rounded up to two digits."""
    step = 10 ** max(len(str(int(items))) - 2, 0)
    return messages.ABOUT.format(n=ceil(items / step) * step)


def _extra_items(standing: Standing) -> str:
    """How many more items would decide the verdict."""
    gap = standing.figure("difference")
    if gap is None:
        return ""
    items = more_items(gap, _least_margin(standing))
    limit = FARTHEST * (gap.n or 0)
    if items is None or items > limit:
        return messages.MORE_THAN.format(n=limit)
    return messages.ABOUT.format(n=items)


def _annotators(standing: Standing) -> int:
    scores = standing.evidence.ratings[standing.criterion]
    return 0 if scores.unlinked else len(scores.people)


def _finding(standing: Standing, advice: Advice) -> str:
    """The verdict as a sentence, by what is most serious."""
    name = judge_name(standing.members)
    person = standing.figure("person")
    if advice == Advice.CHECK_COPY:
        give = "give" if len(standing.copied) > 1 else "gives"
        return messages.FINDING_COPY.format(judges=listed(standing.copied), give=give)
    if advice == Advice.EXCLUDE_JUDGE:
        return _finding_slight(standing)
    if (answer := standing.constant) is not None:
        return messages.FINDING_CONSTANT.format(
            judge=name, answer=word_of(standing.evidence, _label(standing))(answer)
        )
    if advice == Advice.REPAIR_QUESTION and person is not None:
        slight = person.interval is not None and person.interval[0] > 0
        words = messages.FINDING_DISAGREE_SLIGHT if slight else messages.FINDING_DISAGREE
        finding = words.format(symbol=symbol(standing), person=f"{two(person)}{interval_words(person)}")
        judge = standing.figure("judge")
        beats = judge is not None and judge.interval is not None and judge.interval[0] > 0
        return finding if beats else finding + messages.FINDING_NO_BETTER.format(judge=capital(name))
    if advice == Advice.CHECK_ANNOTATOR:
        return _finding_decided(standing, name)
    gap = standing.figure("difference")
    if gap is None or not gap.defined:
        return _finding_alone(standing, name)
    if advice == Advice.CHECK_DIRECTION:
        return messages.FINDING_TURNED.format(judge=name)
    if advice == Advice.DO_NOT_USE:
        return messages.FINDING_CHANCE.format(judge=name)
    if (
        standing.verdict == Verdict.WORSE
        and gap.interval is not None
        and gap.interval[1] < -_least_margin(standing)
    ):
        return messages.FINDING_CLEARLY_WORSE.format(judge=name, margin=_margin_of(standing, standing.row))
    if standing.verdict == Verdict.INCONCLUSIVE and gap.interval is not None:
        margin = _least_margin(standing)
        if gap.interval[0] > -margin or gap.interval[1] < 0:
            return messages.FINDING_NOT_SURE.format(judge=name)
        if gap.interval[1] > margin:
            return messages.FINDING_ANY_SIDE.format(judge=name)
    return messages.FINDINGS[standing.verdict].format(
        judge=name, why=_reason(standing), margin=_margin_of(standing, standing.row)
    )


def _finding_decided(standing: Standing, name: str) -> str:
    """That a verdict changes without one annotator, and how the judge stands without them."""
    rest = standing.row.get("difference_without")
    gap = standing.figure("difference")
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


def _finding_slight(standing: Standing) -> str:
    """How far the judges agree that hardly agree with annotators."""
    figures = {judge: standing.agreement_of(judge) for judge in standing.slight}
    reached = (
        f"{judge} reaches {symbol(standing)} {two(figure)}{interval_words(figure)}"
        for judge, figure in figures.items()
        if figure is not None
    )
    return f"{listed(reached)}."


def _finding_alone(standing: Standing, name: str) -> str:
    """The agreement with all annotators, where none can be held out."""
    figure = standing.figure(default_coefficient(standing.evidence, standing.criterion))
    if figure is None or not figure.defined:
        return messages.FINDINGS[Verdict.UNDEFINED].format(
            judge=name, why=figure.reason if figure else _reason(standing)
        )
    reference = "annotators' mean"
    if _annotators(standing) == 1:
        reference = "the annotator"
    elif default_coefficient(standing.evidence, standing.criterion) == "kappa":
        reference = "most annotators"
    words = messages.FINDING_ALONE
    if standing.facts.inverted:
        words = messages.FINDING_ROUND_ALONE
    elif figure.interval and figure.interval[0] <= 0:
        words = messages.FINDING_NO_CHANCE
    elif figure.interval and figure.interval[1] < WEAK:
        words = messages.FINDING_WEAK
    reached = f"{symbol(standing)} {two(figure)}{interval_words(figure)}, {figure.n} items"
    return words.format(judge=name, whom=reference, figure=reached)


def _reason(standing: Standing) -> str:
    """Why no annotator can be held out, or a difference has no interval."""
    gap = standing.figure("difference")
    return (
        gap.reason.removeprefix("no interval: ")
        if gap
        else next(iter(standing.table.notes), "").removesuffix(".")
    )


def _figures(standing: Standing, use: Sequence[str]) -> str:
    """The figures of the verdict, or of the one judge or panel to be used; “” where nothing is compared."""
    rows = {str(row["rater"]): row for row in standing.table.rows}
    rater = use[0] if len(use) == 1 else panel_name(standing.members)
    row = rows.get(rater, {})
    judge, person, gap = (row.get(name) for name in ("judge", "person", "difference"))
    if not isinstance(judge, Estimate) or not isinstance(person, Estimate) or not isinstance(gap, Estimate):
        return ""
    if gap.value is None:
        return ""
    population = population_words(standing.evidence.ratings, standing.criterion, standing.evidence.people)
    alone = rater in standing.evidence.ratings.judges
    figures = messages.FIGURES.format(
        Who=rater if alone else "Panel",
        symbol=symbol(standing),
        judge=two(judge),
        person=two(person),
        difference=f"{end(gap.value, signed=True)}{_interval_of(standing, gap)}",
        n=f"{row['n']:,}",
        about=f", {population}" if population else "",
    )
    if _is_better(standing, gap) and row.get("verdict") in GOOD:
        return f"{figures}{_z(row)}"  # Better needs no margin.
    return f"{figures} {messages.MARGIN.format(margin=_margin(standing, row))}"


def _is_better(standing: Standing, gap: Estimate) -> bool:
    """Whether a judge is shown to agree better than another annotator, at this look."""
    look = standing.evidence.look(standing.criterion)
    return p_above(gap, 0.0, freedom_part=freedom_at(look)) < share_of_look(look)


def _interval_of(standing: Standing, gap: Estimate) -> str:
    """The interval of the difference; nothing where the verdict has said why there is none."""
    stated_before = gap.interval is None and standing.verdict == Verdict.TOO_FEW
    return "" if stated_before else interval_words(gap, signed=True)


def _margin(standing: Standing, row: Mapping[str, Cell]) -> str:
    """What as good means: the margin, or half of another annotator's agreement where that is less."""
    margin = standing.evidence.options.margin
    if _least_margin(standing, row) < margin:
        return messages.WITHIN_HALF.format(margin=_margin_of(standing, row))
    return messages.WITHIN.format(margin=margin)


def _look(standing: Standing) -> str:
    """How many looks the verdict allows for, where it is not the only one."""
    look = standing.evidence.look(standing.criterion)
    if not look:
        return ""
    if look > LOOKS:
        return messages.LOOKS_SPENT.format(looks=LOOKS)
    share = share_of_look(look)
    gap = standing.figure("difference")
    ends = verdict_interval(gap, share, freedom_part=freedom_at(look)) if gap else None
    interval = f" ({end(ends[0], signed=True)} to {end(ends[1], signed=True)})" if ends else ""
    return messages.LOOK.format(look=look, looks=LOOKS, level=1 - 2 * share, interval=interval)
