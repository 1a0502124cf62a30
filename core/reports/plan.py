"""A plan of labels as tables: how many rows, which ones, how wide the intervals will be, what it costs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from concord import messages
from concord.codes import LabelDraw, PlanFigure
from concord.errors import ConcordError, StudyError, check_known
from concord.messages import LABEL_DRAWS, PLAN_FIGURES
from concord.questions import Scale
from concord.reports.evidence import Evidence
from concord.statistics.majority import answer_of_people
from concord.statistics.planning import (
    FEWEST,
    CrossedAnswers,
    Design,
    DrawnRows,
    LabelCount,
    ScorePair,
    annotator_study,
    drawn_rows,
    expected_joint,
    judging,
    labels_for_bar,
    labels_for_width,
    pilot_joint,
)
from concord.statistics.ratings import Floats
from concord.studies.studies import StudyRatings
from concord.table import Cell, Column, Table

USUAL_LABELS = (25, 50, 100, 200, 400, 800, 1600)
USUAL_PARTS = (1_000, 5_000, 20_000, 100_000)
EXPECTED = 0.7
"""Agreement that is expected where nobody says and no pilot shows it."""
LEAST_AGREEMENT = 0.1
"""Agreement of annotators below which no judge is planned to be compared with one of them."""
DEFAULT_LABELS = 400
"""Labels that a log's plan takes, where no goal says how many."""


@dataclass(frozen=True)
class PlanOptions:
    """What is wanted and what it costs.

    `half_width` or `bar` is the goal, for `figure`. `agreement` is expected, else a pilot's, else `EXPECTED`.
    `price` and `seconds` are those of a label, `judge_price` that of a judged row. `log` is how many rows the
    judge may be applied to; 0 is the table itself.
    """

    figure: PlanFigure = PlanFigure.AGREEMENT
    half_width: float | None = None
    bar: float | None = None
    agreement: float | None = None
    annotators: int = 1
    price: float = 0.0
    seconds: float = 0.0
    judge_price: float = 0.0
    log: int = 0
    labels: int = 0


@dataclass(frozen=True, eq=False)
class LabelPlan:
    """A plan: its tables, the answer in sentences, and what `rows` needs to draw the rows to label."""

    tables: tuple[Table, ...]
    sentences: tuple[str, ...]
    labels: int
    answers: Mapping[LabelDraw, Mapping[float, int] | None]
    judge: Floats
    units: tuple[object, ...]

    def rows(self, draw: LabelDraw, labels: int, seed: int) -> DrawnRows:
        """The rows to label, as places of `units`; as many as the plan says where `labels` is 0."""
        of_answer = self.answers.get(draw)
        if draw == LabelDraw.BY_ANSWER and of_answer is None:
            raise StudyError("--draw by_answer is for pass/fail and categories. Scores are drawn at random.")
        return drawn_rows(self.judge, dict(of_answer) if of_answer else None, labels or self.labels, seed)


def plan(ratings: StudyRatings, criterion: str, judge: str, options: PlanOptions) -> LabelPlan:
    """The plan of labels for one judge on one criterion, from its scores and those of people, if any.

    Raises NotFound for an unknown name, StudyError where the judge has too few answers, ConcordError for a
    goal that does not fit the answers.
    """
    evidence = Evidence.read(ratings)
    if criterion:
        check_known("criterion", criterion, evidence.criteria)
    name = criterion or evidence.main
    scores = evidence.ratings[name]
    if judge:
        check_known("judge", judge, scores.judges)
    judge = judge or next(iter(scores.judges), "")
    if scores.sets:
        raise StudyError(f"{name} has sets of labels, for which Concord cannot plan. Plan for single labels.")
    if not judge:
        raise StudyError(f"No judge answered {name}, so nothing can be planned.")
    scale = evidence.scale(name)
    people = scores.target if scores.ordered and not _is_two(scale) else answer_of_people(scores)
    units = tuple(evidence.ratings.units)
    return plan_of(evidence.label(name), judge, scores.judges[judge], people, scale, options, units)


def plan_of(
    label: str,
    judge: str,
    answers: Floats,
    people: Floats,
    scale: Scale | None,
    options: PlanOptions,
    units: tuple[object, ...] = (),
) -> LabelPlan:
    """The plan of labels from a judge's answers `answers` and those of people, of the same items (nan: none).

    Raises StudyError where the judge has too few answers, ConcordError for a goal that does not fit them.
    """
    defined = answers[np.isfinite(answers)]
    if len(defined) < FEWEST:
        raise StudyError(f"{judge} answered fewer than {FEWEST} rows, so nothing can be planned.")
    two = _is_two(scale) and set(defined.tolist()) <= {0.0, 1.0}
    crossed = two or (scale is not None and not scale.ordered)
    _check(options, two=two, crossed=crossed)
    design: Design
    words: dict[float, str] = {}
    if crossed:
        design, words, basis = _crossed(people, answers, options, scale)
    else:
        design, basis = _scores(people, answers, options, scale)
    return _plan(label, judge, design, words, basis, options, answers, units)


def _check(options: PlanOptions, *, two: bool, crossed: bool) -> None:
    """Raise ConcordError for a goal that does not fit the answers."""
    of_two = (PlanFigure.SENSITIVITY, PlanFigure.SPECIFICITY)
    if options.figure in of_two and not two:
        raise ConcordError(f"--for {options.figure} is for pass/fail.")
    if options.figure == PlanFigure.RATE and crossed and not two:
        raise ConcordError("--for rate is for pass/fail or scores; categories have no mean.")
    if options.figure == PlanFigure.ANNOTATOR:
        if not crossed:
            raise ConcordError("--for annotator is for pass/fail or categories. Use --for agreement.")
        if options.annotators < 2:
            raise ConcordError("--for annotator needs two annotators on each row: add --annotators 2.")
        if options.half_width is not None or options.bar is not None:
            raise ConcordError("--for annotator has its own goal, the margin. Remove --width and --bar.")


def _crossed(
    people: Floats, judge: Floats, options: PlanOptions, scale: Scale | None
) -> tuple[CrossedAnswers, dict[float, str], str]:
    """The design of two answers or categories, the words of answers, and what is assumed."""
    has_judge = np.isfinite(judge)
    has_both = has_judge & np.isfinite(people)
    pilot = options.agreement is None and int(has_both.sum()) >= FEWEST
    samples = [judge[has_judge], people[has_both]] if pilot else [judge[has_judge]]
    answers = np.unique(np.concatenate([*samples, [0.0, 1.0]] if _is_two(scale) else samples))
    shares = np.array([(judge[has_judge] == answer).mean() for answer in answers])
    words = {float(answer): scale.word(float(answer)) if scale else f"{answer:g}" for answer in answers}
    if pilot:
        people_codes, judge_codes = (np.searchsorted(answers, side[has_both]) for side in (people, judge))
        joint = pilot_joint(people_codes, judge_codes, shares)
        basis = f"as in the pilot of {int(has_both.sum())} labels"
    else:
        agreement = EXPECTED if options.agreement is None else options.agreement
        joint = expected_joint(shares, agreement)
        basis = (
            "as you expect"
            if options.agreement is not None
            else "an assumption; set it with --expect, or label a pilot"
        )
    return CrossedAnswers(joint, int(has_judge.sum())), words, basis


def _is_two(scale: Scale | None) -> bool:
    return scale is not None and (scale.low, scale.high) == (0, 1) and len(scale.values) == 2


def _scores(
    people: Floats, judge: Floats, options: PlanOptions, scale: Scale | None
) -> tuple[ScorePair, str]:
    """The design of scores, and what is assumed."""
    has_judge = np.isfinite(judge)
    has_both = has_judge & np.isfinite(people)
    judge_answers = judge[has_judge]
    ends = (scale.low, scale.high) if scale else (float(judge_answers.min()), float(judge_answers.max()))
    pilot = options.agreement is None and int(has_both.sum()) >= FEWEST
    if pilot and np.ptp(people[has_both]) > 0 and np.ptp(judge[has_both]) > 0:
        agreement = float(np.corrcoef(people[has_both], judge[has_both])[0, 1])
        mean = float(people[has_both].mean())
        deviation = float(people[has_both].std(ddof=1))
        basis = f"as in the pilot of {int(has_both.sum())} labels"
    else:
        agreement = EXPECTED if options.agreement is None else options.agreement
        mean = float(judge_answers.mean())
        deviation = float(judge_answers.std(ddof=1))
        basis = (
            "as you expect"
            if options.agreement is not None
            else "an assumption; set it with --expect, or label a pilot"
        )
    return ScorePair(agreement, mean, deviation, ends, int(has_judge.sum())), basis


def _plan(
    label: str,
    judge: str,
    design: Design,
    words: Mapping[float, str],
    basis: str,
    options: PlanOptions,
    scores: Floats,
    units: tuple[object, ...],
) -> LabelPlan:
    figures = _figures(design)
    draws = [LabelDraw.RANDOM, *([LabelDraw.BY_ANSWER] if isinstance(design, CrossedAnswers) else [])]
    goals = _goals(design, options, draws)
    labels = options.labels or next((goal.labels for goal in goals.values() if goal.labels), 0)
    labels = min(labels or DEFAULT_LABELS, design.items)
    answers: dict[LabelDraw, Mapping[float, int] | None] = {}
    aim = options.figure if options.figure in figures else PlanFigure.AGREEMENT
    if isinstance(design, CrossedAnswers):
        stratified = goals.get(LabelDraw.BY_ANSWER)
        number = (stratified.labels if stratified and not options.labels else 0) or labels
        allocated = design.allocated(aim, number).tolist()
        answers[LabelDraw.BY_ANSWER] = dict(zip(words, allocated, strict=True))
    sentences = _sentences(label, judge, design, words, basis, options, goals, answers)
    tables = [_widths(design, figures, draw, aim, options, label) for draw in draws]
    if options.log or options.judge_price:
        part = _judging(design, options, labels)
        tables.append(part)
        sentences = [*_enough(part, labels, design), *sentences]
    meta = {
        "judge": judge,
        "criterion": label,
        "expected": design.value(PlanFigure.AGREEMENT),
        "basis": basis,
    }
    meta |= {"goals": {draw.value: goal.labels for draw, goal in goals.items()}}
    first, *rest = tables
    tables = [Table(first.name, first.title, first.columns, first.rows, notes=first.notes, meta=meta), *rest]
    return LabelPlan(tuple(tables), tuple(sentences), labels, answers, scores, units)


def planned_figures(scores: Floats, scale: Scale | None) -> tuple[PlanFigure, ...]:
    """The figures that labels can be planned for, by a judge's answers (nan: none) and their scale."""
    if _is_two(scale) and set(scores[np.isfinite(scores)].tolist()) <= {0.0, 1.0}:
        return PlanFigure.AGREEMENT, PlanFigure.RATE, PlanFigure.SENSITIVITY, PlanFigure.SPECIFICITY
    ordered = scale is None or scale.ordered
    return (PlanFigure.AGREEMENT, PlanFigure.RATE) if ordered else (PlanFigure.AGREEMENT,)


def _figures(design: Design) -> tuple[PlanFigure, ...]:
    """The figures that are planned for a kind of answers."""
    if isinstance(design, ScorePair):
        return PlanFigure.AGREEMENT, PlanFigure.RATE
    if len(design.joint) > 2:
        return (PlanFigure.AGREEMENT,)
    return PlanFigure.AGREEMENT, PlanFigure.RATE, PlanFigure.SENSITIVITY, PlanFigure.SPECIFICITY


def _goals(design: Design, options: PlanOptions, draws: list[LabelDraw]) -> dict[LabelDraw, LabelCount]:
    """How many labels reach the goal, by draw; none without a goal."""
    if options.figure == PlanFigure.ANNOTATOR:
        assert isinstance(design, CrossedAnswers)
        agreement = design.value(PlanFigure.AGREEMENT)
        if agreement < LEAST_AGREEMENT:
            raise ConcordError(
                f"The agreement to plan with is κ = {agreement:.2f}. If annotators hardly agree, no judge "
                "can be compared with them. Set the agreement that you expect: --expect 0.6"
            )
        study = annotator_study(design.shares, agreement, options.annotators)
        return {LabelDraw.RANDOM: LabelCount(study.labels, study.margin)}
    if options.half_width is not None:
        return {draw: labels_for_width(design, options.figure, options.half_width, draw) for draw in draws}
    if options.bar is not None:
        return {draw: labels_for_bar(design, options.figure, options.bar, draw) for draw in draws}
    return {}


def _sentences(
    label: str,
    judge: str,
    design: Design,
    words: Mapping[float, str],
    basis: str,
    options: PlanOptions,
    goals: Mapping[LabelDraw, LabelCount],
    answers: Mapping[LabelDraw, Mapping[float, int] | None],
) -> list[str]:
    """The answer first, then what it assumes."""
    kind = "κ" if isinstance(design, CrossedAnswers) else "ρ"
    expected = f"{kind} = {design.value(PlanFigure.AGREEMENT):.2f}"
    sentences = []
    for draw, goal in goals.items():
        goal_words = _goal_words(options, goal, kind)
        sizes = answers.get(draw)
        parts = ", ".join(f"{n:,} × {words[answer]}" for answer, n in sizes.items()) if sizes else ""
        draw_words = f"{LABEL_DRAWS[draw]}{f' ({parts})' if parts else ''}"
        if goal.labels is None:
            sentences.append(f"The {design.items:,} rows are too few, {LABEL_DRAWS[draw]}, {goal_words}.")
        else:
            lacking = f" (the table has {design.items:,})" if goal.labels > design.items else ""
            sentences.append(
                f"Label {goal.labels:,} rows{lacking} {draw_words} {goal_words}{_cost(goal.labels, options)}."
            )
    shares = ""
    if isinstance(design, CrossedAnswers):
        of_words = zip(words.values(), design.shares.tolist(), strict=True)
        shares = ": " + ", ".join(f"{share:.1%} {word}" for word, share in of_words)
    sentences.append(
        f"{judge} judged {design.items:,} rows on {label}{shares}. Expected {expected}, {basis}."
    )
    return sentences


def _goal_words(options: PlanOptions, goal: LabelCount, kind: str) -> str:
    figure = PLAN_FIGURES[options.figure] if options.figure != PlanFigure.AGREEMENT else kind
    if options.figure == PlanFigure.ANNOTATOR:
        return (
            f"with {options.annotators} annotators each, to show that a judge as good as another annotator "
            f"loses less than {goal.half_width:.2g}, in 4 of 5 cases"
        )
    if options.half_width is not None:
        reached = "" if goal.labels else f": all of them give ± {goal.half_width:.2g}"
        return f"for ± {options.half_width:g} on {figure}{reached}"
    return f"to show that {figure} is above or below {options.bar:g}, in 4 of 5 cases"


def _cost(labels: int, options: PlanOptions) -> str:
    """What so many rows cost, in words."""
    parts = []
    if options.seconds:
        parts.append(f"{labels * options.annotators * options.seconds / 3600:,.1f} h")
    if options.price:
        parts.append(f"{labels * options.annotators * options.price:,.2f} for labels")
    return f": {', '.join(parts)}" if parts else ""


def _widths(
    design: Design,
    figures: tuple[PlanFigure, ...],
    draw: LabelDraw,
    aim: PlanFigure,
    options: PlanOptions,
    label: str,
) -> Table:
    """Half of the width of each figure's interval, by the number of labels."""
    rows: list[dict[str, Cell]] = []
    sizes = [n for n in USUAL_LABELS if n <= design.items]
    if options.labels and options.labels <= design.items and options.labels not in sizes:
        sizes = sorted([*sizes, options.labels])
    for labels in sizes or [design.items]:
        row: dict[str, Cell] = {"labels": labels}
        for figure in figures:
            row[figure.value] = design.half_width(figure, labels, draw)
        work = labels * options.annotators
        row |= {"hours": work * options.seconds / 3600, "price": work * options.price}
        rows.append(row)
    shares = isinstance(design, CrossedAnswers)
    columns = [Column("labels", "Rows labelled")]
    for figure in figures:
        is_share = shares and figure != PlanFigure.AGREEMENT
        digits = 3 if figure == PlanFigure.AGREEMENT or shares else 2
        columns.append(Column(figure.value, f"± {PLAN_FIGURES[figure]}", digits=digits, percent=is_share))
    columns.append(Column("hours", "Hours", digits=1, file_only=not options.seconds))
    columns.append(Column("price", "Price", file_only=not options.price))
    note = "Half of the width that 95% intervals are expected to have."
    if draw == LabelDraw.BY_ANSWER:
        note += f" Of each of the judge's answers as many as {PLAN_FIGURES[aim]} needs."
    title = f"{label}: {LABEL_DRAWS[draw]}"
    return Table(f"plan_{draw.value}", title, tuple(columns), tuple(rows), notes=(note,))


ENOUGH = 0.05
"""A part of a log is enough where its interval is at most this much wider than that of all."""


def _enough(table: Table, labels: int, design: Design) -> list[str]:
    """That judging a part of a log is enough, with the intervals and prices of the part and of all."""
    *parts, log = table.rows
    for part in parts:
        if float(str(part["beyond"])) <= ENOUGH:
            sentence = messages.part_is_enough(
                int(str(part["judged"])),
                int(str(log["judged"])),
                labels,
                (float(str(part["half_width"])), float(str(log["half_width"]))),
                (float(str(part["judging"])), float(str(log["judging"]))),
                percent=isinstance(design, CrossedAnswers),
            )
            return [sentence]
    return []


def _judging(design: Design, options: PlanOptions, labels: int) -> Table:
    """Judging a random part of a log and correcting it, against judging all: intervals and prices."""
    log = max(options.log or design.items, design.items)
    if isinstance(design, CrossedAnswers):
        if len(design.joint) > 2:
            raise ConcordError("--rows is for pass/fail or scores; categories have no mean.")
        rate = design.value(PlanFigure.RATE)
        deviation = math.sqrt(rate * (1 - rate))
        inside = float((design.shares * design.spread(PlanFigure.RATE)).sum())
        correlation = math.sqrt(max(1 - inside / deviation**2, 0)) if deviation else 0.0
    else:
        deviation = design.deviation
        correlation = design.correlation
    parts = sorted({part for part in (labels, *USUAL_PARTS, log) if labels <= part <= log})
    people = labels * options.annotators * options.price
    designs = judging(deviation, correlation, labels, log, parts, price=options.judge_price)
    half_width_of_all = designs[-1].half_width
    rows: list[dict[str, Cell]] = []
    for part_design in designs:
        beyond = 0.0
        if half_width_of_all:
            beyond = part_design.half_width / half_width_of_all - 1
        rows.append(
            {
                "judged": part_design.judged,
                "half_width": part_design.half_width,
                "judging": part_design.price,
                "total": part_design.price + people,
                "beyond": beyond,
            }
        )
    shares = isinstance(design, CrossedAnswers)
    columns = (
        Column("judged", "Rows judged, at random"),
        Column("half_width", f"± {PLAN_FIGURES[PlanFigure.RATE]}", percent=shares, digits=4 if shares else 3),
        Column("beyond", "Wider than judging all", percent=True, digits=3),
        Column("judging", "Judging", file_only=not options.judge_price),
        Column("total", "With labels", file_only=not (options.judge_price and options.price)),
    )
    note = (
        f"{labels:,} labels on a random part of the judged rows correct the judge's mean. The log has "
        f"{log:,} rows; the plan assumes that the table is a random sample of it."
    )
    return Table("plan_judging", "Judge a part of the log, or all", columns, tuple(rows), notes=(note,))
