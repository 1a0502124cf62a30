"""Two answers, such as pass and fail, or categories: what a judge says where people say one or the other.

People's answer is that of most of them; items on which they tie are excluded. The corrected pass rate is that
of people on all items, by prediction-powered inference (`concord.statistics.corrected`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np

from concord.estimate import Estimate, undefined
from concord.glossary import explain
from concord.statistics import columns
from concord.statistics.corrected import corrected_mean, rogan_gladen
from concord.statistics.figures import Drawing, PointEstimate, tabulate
from concord.statistics.hidden import share
from concord.statistics.inclusion import DrawnAnswers, weighted_share
from concord.statistics.intervals import of_kappa
from concord.statistics.majority import answer_of_people, ties_of_people
from concord.statistics.nominal import kappa, rarer, why_no_kappa
from concord.statistics.ratings import DIGITS, Bools, Floats, Inclusion, Panels, Ratings
from concord.table import Cell, Column, Table

COUNTS = (("both_pass", 1, 1), ("judge_only", 0, 1), ("people_only", 1, 0), ("both_fail", 0, 0))
"""The cells of the two answers crossed: name in files, people's answer, the judge's."""


def answer_columns(words: Sequence[str], *, unrated: bool) -> tuple[Column, ...]:
    """Columns of `two_answers` in the words of 0 and 1; `unrated`: some items have no person's answer."""
    no, yes = words
    layout: dict[str, Any] = {"percent": True, "interval": "ends", "n": True}
    return (
        columns.RATER,
        columns.KAPPA,
        columns.ACCURACY,
        replace(columns.N, file_only=True),
        Column("sensitivity", f"Sensitivity (“{yes}”)", help=explain("sensitivity"), **layout),
        Column("specificity", f"Specificity (“{no}”)", help=explain("specificity"), **layout),
        Column("precision", f"Precision (“{yes}”)", help=explain("precision"), **layout),
        Column("judge", f"Judge: “{yes}”", percent=True, n=True, help="Of all items it answered."),
        Column(
            "people",
            f"Annotators: “{yes}”",
            percent=True,
            n=True,
            help="Of the items that annotators answered.",
        ),
        Column(
            "corrected",
            f"“{yes}”, all items",
            percent=True,
            interval="ends",
            help="Share that annotators would give on all items.",
            file_only=not unrated,
        ),
        Column(
            "rogan_gladen",
            f"“{yes}”, all items (Rogan–Gladen)",
            percent=True,
            interval="ends",
            help=explain("Rogan–Gladen estimate"),
            file_only=not unrated,
        ),
        *(Column(name, file_only=True) for name, *_ in COUNTS),
    )


def two_answers(
    people: Floats, judge: Floats, words: Sequence[str], inclusion: Inclusion | None = None
) -> dict[str, Cell]:
    """A judge's answers, 0 or 1, beside people's (nan: none), a row but for its name and kappa.

    `accuracy` is the share of items with equal answers, `sensitivity` the share of people's 1 that the judge
    gives 1, `specificity` the share of their 0 that it gives 0, `precision` the share of its 1 that people
    give 1, each with the number of these items; undefined without any. Intervals add an observation at each
    end (Agresti and Coull). With `inclusion` items count by their weights; counts stay those of items.
    """
    common = ~np.isnan(people) & ~np.isnan(judge)
    alone = np.isnan(people) & ~np.isnan(judge)
    counts = {name: int((common & (people == o) & (judge == i)).sum()) for name, o, i in COUNTS}
    no, yes = words
    parts: dict[str, Any] = {}
    if inclusion is not None:
        strata = None if inclusion.strata is None else inclusion.strata[common]
        parts = {"weights": inclusion.weights[common], "strata": strata}
    mean = corrected_mean(people[common], judge[common], judge[alone], scale=(0.0, 1.0), **parts)
    y = people[common]
    f = judge[common]
    sampled = None if inclusion is None else DrawnAnswers.from_answers(y, f, **parts)
    if sampled is not None:
        y = sampled.people
        f = sampled.judge

    def of_items(subset: Bools, empty_reason: str) -> Estimate:
        hits = subset & (y == f)
        if sampled is None:
            return share(int(hits.sum()), int(subset.sum()), empty_reason)
        return weighted_share(hits, subset, sampled, empty_reason)

    sensitivity = of_items(y == 1, f"annotators answer {yes} to no item")
    specificity = of_items(y == 0, f"annotators answer {no} to no item")
    return {
        "n": int(common.sum()),
        **counts,
        "accuracy": of_items(y == y, "no item was answered by both"),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "precision": of_items(f == 1, f"the judge answers {yes} to no item"),
        **{"judge": mean.judges, "people": mean.people, "corrected": mean.value},
        "rogan_gladen": rogan_gladen(mean.judges, sensitivity, specificity)
        if inclusion is None
        else undefined("items are weighted", n=int(common.sum())),
    }


def decisions(
    table: Ratings, criterion: str, kappas: Mapping[str, Cell], words: Sequence[str] = ("fail", "pass")
) -> Table:
    """Judges that give one of two answers, 0 or 1, beside people who do, one row a judge, with its kappa;
    none for other scores, of a judge or of people. `words` are those of 0 and 1.
    """
    scores = table[criterion]
    people = answer_of_people(scores)
    between = [judge for judge, score in scores.judges.items() if not _is_binary(np.append(people, score))]
    rows = tuple(
        {"rater": judge, **two_answers(people, score, words, table.inclusion), "kappa": kappas[judge]}
        for judge, score in scores.judges.items()
        if judge not in between
    )
    unrated = any(((scores.present == 0) & ~np.isnan(score)).any() for score in scores.judges.values())
    ties = ties_of_people(scores)
    notes = [f"The annotators' answer is their majority; {ties:,} items with ties are excluded."]
    if rows and unrated:
        notes.append(
            "“All items”: the annotators' share, extended by the judge (PPI++), assuming that the rated "
            "items are a random sample. Rogan–Gladen assumes the same sensitivity and specificity on all "
            "items."
            if table.inclusion is None
            else "“All items”: the annotators' share, extended by the judge; items are weighted."
        )
    if rows and between:
        notes.append(
            f"Excluded: {', '.join(between)}, because not every score is 0 or 1 (for example, runs differ)."
        )
    meta = {"weighted": table.inclusion is not None}
    return Table(
        "decisions",
        "Sensitivity, specificity and precision",
        answer_columns(words, unrated=unrated),
        rows,
        notes=tuple(notes),
        meta=meta,
    )


def decisions_at(
    table: Ratings,
    criterion: str,
    cut: float,
    *,
    panels: Panels = None,
    note: str = "",
    **drawing: Unpack[Drawing],
) -> Table:
    """Judges and panels as two answers, pass and fail: from `cut` on a score passes, as people's mean does.

    `note` says where the cut comes from. Undefined where judge and people answer on different scales.
    """

    def to_decisions(score: Floats) -> Floats:
        return np.where(np.isnan(score), np.nan, np.round(score, DIGITS) >= round(cut, DIGITS))

    people = to_decisions(table[criterion].target)
    rows: list[dict[str, Any]] = []
    for judge in table[criterion].contenders(panels):
        decision = to_decisions(table.level(criterion, judge))
        common = ~np.isnan(people + decision)
        reason, _ = why_no_kappa(judge.name, "people", decision[common], people[common])
        reason = table.no_level(criterion, judge.members) or reason
        kind = of_kappa(rarer(decision[common], people[common]), int(common.sum()))
        agreement = PointEstimate(kappa(decision, people), int(common.sum()), reason=reason, kind=kind)
        rows.append(
            {
                "rater": judge.name,
                **two_answers(people, decision, ("fail", "pass"), table.inclusion),
                "kappa": agreement,
            }
        )
    form = Table(
        "thresholds",
        "Pass or fail: judges and panels compared with annotators",
        answer_columns(("fail", "pass"), unrated=True),
        (),
        "A judge with κ near 0 decides no better than chance.",
    )
    of_people = f"annotators pass an item if their mean is {cut:g} or more, a judge if its score is"
    notes = [of_people + (f" ({note})" if note else ""), "shares assume independent items"]
    return tabulate(form, table, criterion, rows, notes=notes, meta={"cut": cut}, **drawing)


def _is_binary(scores: Floats) -> bool:
    """Whether all scores there are say pass (1) or fail (0)."""
    return set(scores[~np.isnan(scores)].tolist()) <= {0.0, 1.0}


def crossed(table: Ratings, criterion: str, judge: str, word: Callable[[float], str]) -> Table:
    """How often the judge gave each answer (columns) where people gave each (rows), by `word`."""
    scores = table[criterion]
    people = answer_of_people(scores)
    score = scores.judges[judge]
    common = ~np.isnan(people) & ~np.isnan(score)
    answers = np.unique(np.concatenate([people[common], score[common]])).tolist()
    names = {answer: f"{judge}: {word(answer)}" for answer in answers}
    rows = tuple(
        {"people": f"annotators: {word(people_answer)}"}
        | {
            names[judge_answer]: int((common & (people == people_answer) & (score == judge_answer)).sum())
            for judge_answer in answers
        }
        for people_answer in answers
    )
    columns = (Column("people", " "), *(Column(name, name) for name in names.values()))
    return Table("crossed", "Answers crossed", columns, rows)


def mistaken(table: Ratings, criterion: str, judge: str, word: Callable[[float], str]) -> str:
    """The two answers that a judge confuses most often, people's first, with how often; “” without any."""
    scores = table[criterion]
    people = answer_of_people(scores)
    score = scores.judges[judge]
    wrong = np.flatnonzero(np.isfinite(people) & np.isfinite(score) & (people != score))
    if not len(wrong):
        return ""
    pairs, counts = np.unique(np.stack([people[wrong], score[wrong]]), axis=1, return_counts=True)
    people_answer, judge_answer = pairs[:, counts.argmax()].tolist()
    total = int((np.isfinite(score) & (people == people_answer)).sum())
    return f"{word(people_answer)} → {word(judge_answer)}, {counts.max()} of {total}"
