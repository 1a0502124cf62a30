"""The sections of an agreement report: the question each answers, and its tables on one criterion.

Page, `concord agreement --section` and the bundle show the sections of this dict in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from concord.agreement.adjudicated import adjudication, extra
from concord.agreement.alt_test import alt_test
from concord.agreement.anchoring import anchoring
from concord.agreement.calibration import calibrated_players, calibration, calibration_curves
from concord.agreement.ceilings import ceilings, held_out
from concord.agreement.distribution import score_distribution
from concord.agreement.feature_bias import feature_bias
from concord.agreement.glance import glance, panel_gain
from concord.agreement.hidden import annotator_retest, gold_hits
from concord.agreement.items import bands, high_disagreement, levels, within_facets, within_groups
from concord.agreement.judges import judge_figures
from concord.agreement.missing import common_items, missing_ratings, without_rating
from concord.agreement.next_items import designs, saved
from concord.agreement.panels import best_panel, redundancy
from concord.agreement.planning import PEOPLE, answer, needed
from concord.agreement.ratings import FINAL, called
from concord.agreement.reliability import reliability, retest
from concord.agreement.severity import raters
from concord.agreement.study import (
    MOST_ANNOTATORS,
    annotators_table,
    every_two_table,
    judges_table,
    pairs_table,
    people_table,
)
from concord.agreement.systems import player_order, systems, ties
from concord.agreement.thresholds import pass_rates, thresholds
from concord.agreement.versions import judges_by_version
from concord.errors import StudyError
from concord.estimate import Estimate, undefined
from concord.reports.features import FEATURES
from concord.reports.registered import registered
from concord.store.informed import Informed
from concord.studies import hidden
from concord.studies.adjudication import scores_on
from concord.studies.reveal import moves
from concord.table import Note, Table

if TYPE_CHECKING:
    from concord.reports.agreement_report import AgreementReport

WIDTH = 0.1
"""The width of interval, from end to end, that a forecast of items is made for."""

Tables = Callable[["AgreementReport", str], Iterator[Table]]
"""The tables of a section on one criterion."""
Needs = Callable[["AgreementReport", str], str]
"""What a study lacks for a section on one criterion, as the end of a sentence; “” where it lacks nothing."""


def _nothing(_report: AgreementReport, _criterion: str) -> str:
    return ""


class Section(NamedTuple):
    """A question about the judges or the people of a study, and the tables that answer it.

    A section that `needs` what the study does not have has no tables.
    """

    title: str
    tables: Tables
    needs: Needs = _nothing


def _glance(report: AgreementReport, criterion: str) -> Iterator[Table]:
    beside = report.section("judges", criterion)
    yield glance(beside["judges"], beside["held_out"], report.names)
    if report.panels:
        given = {"panels": report.panels} | report.drawing
        yield panel_gain(report.ratings, criterion, report.names, **given)


def _criteria(report: AgreementReport, _criterion: str) -> Iterator[Table]:
    if len(report.criteria) > 1:
        yield judges_table(report.agreement, report.label)
    yield people_table(report.agreement, report.label)


def _judges(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield judge_figures(report.ratings, criterion, panels=report.panels, **report.drawing)
    yield held_out(report.ratings, criterion, panels=report.panels, **report.drawing)


def _versions(report: AgreementReport, _criterion: str) -> Iterator[Table]:
    models, versions = report.of.models_of_judges, report.of.versions_of_judges
    yield judges_by_version(report.ratings, models, versions, report.label, **report.drawing)


def _one_version(report: AgreementReport, _criterion: str) -> str:
    several = len({report.of.versions_of_judges.get(judge) for judge in report.ratings.judges}) > 1
    return "" if several and report.of.runs == "mean" else "all judges answered one version of the prompt"


def _missing(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield common_items(report.ratings, criterion, **report.drawing)
    yield missing_ratings(report.ratings, criterion)


def _complete(report: AgreementReport, criterion: str) -> str:
    return "" if without_rating(report.ratings, criterion) else "every judge rated every item"


def _distribution(report: AgreementReport, criterion: str) -> Iterator[Table]:
    scale = None if report.ratings.other_scale.get(criterion) else report.scale(criterion)
    word = scale.word if scale and scale.named else None
    yield score_distribution(report.ratings, criterion, report.answers(criterion), word)


def _players(report: AgreementReport, criterion: str) -> Iterator[Table]:
    ratings, panels, players = report.ratings, report.panels, report.players
    yield within_groups(ratings, criterion, players, panels=panels, **report.drawing)
    yield levels(ratings, criterion, players, panels=panels, **report.drawing)


def _scenarios(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield within_facets(report.ratings, criterion, report.facets, panels=report.panels, **report.drawing)


def _no_facet(report: AgreementReport, _criterion: str) -> str:
    return "" if report.facets else "no facet, such as a scenario, divides its items into groups"


def _people(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield reliability(report.ratings, criterion, **report.drawing)
    yield ceilings(report.ratings, criterion, panels=report.panels)
    part = report.agreement.criteria[criterion]
    if part.compared:
        yield pairs_table(part, report.label)
    if 0 < len(part.compared) <= MOST_ANNOTATORS:
        yield annotators_table(part, report.label)


def _annotators(report: AgreementReport, criterion: str) -> Iterator[Table]:
    part = report.agreement.criteria[criterion]
    yield annotators_table(part, report.label)
    yield every_two_table(part, report.label)


def _few_annotators(report: AgreementReport, criterion: str) -> str:
    few = len(report.agreement.criteria[criterion].compared) <= MOST_ANNOTATORS
    return f"no more than {MOST_ANNOTATORS} annotators, who stand together in one table" if few else ""


def _panels(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield redundancy(report.ratings, criterion, **report.drawing)
    yield best_panel(report.ratings, criterion, [[j] for j in report.ratings.judges], **report.drawing)
    if len(report.ratings.judges) > 2:
        yield best_panel(report.ratings, criterion, **report.drawing)


def _one_judge(report: AgreementReport, _criterion: str) -> str:
    if report.of.runs == "single":
        return "runs of a judge are looked at one by one"
    return "" if len(report.ratings.judges) > 1 else "there are not two judges"


def _retest(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield retest(report.ratings, criterion, report.of.runs_of, **report.drawing)


def _one_run(report: AgreementReport, _criterion: str) -> str:
    return "" if report.of.runs_of else "no judge rated the same items in several runs"


def _twice(report: AgreementReport, criterion: str) -> dict[str, tuple[list[float], list[float]]]:
    criteria = report.of.counted if criterion == FINAL else (criterion,)
    return hidden.answered_twice(report.of.repeats, criteria)


def _annotator_retest(report: AgreementReport, criterion: str) -> Iterator[Table]:
    asked = report.criterion(criterion)
    yield annotator_retest(
        _twice(report, criterion),
        nominal=bool(asked and asked.scale.nominal),
        excluded=[decision.annotator for decision in report.of.excluded],
        resamples=report.options.resamples,
        seed=report.options.seed,
    )


def _no_repeats(report: AgreementReport, criterion: str) -> str:
    return "" if _twice(report, criterion) else "nobody was given an item twice"


def _hits(report: AgreementReport, criterion: str) -> dict[str, list[tuple[bool, bool]]]:
    return hidden.hits(report.of.checks, "" if criterion == FINAL else criterion)


def _gold(report: AgreementReport, criterion: str) -> Iterator[Table]:
    out = [decision.annotator for decision in report.of.excluded]
    on = "" if criterion == FINAL else report.label(criterion)
    yield gold_hits(_hits(report, criterion), on=on, excluded=out)


def _no_gold(report: AgreementReport, criterion: str) -> str:
    return "" if _hits(report, criterion) else "there are no gold items"


def _settled(report: AgreementReport, criterion: str) -> dict[Hashable, float]:
    return scores_on(report.of.adjudicated, criterion, _means(report))


def _means(report: AgreementReport) -> dict[str, dict[Hashable, float]]:
    """People's mean of the criteria that count, criterion → unit → mean."""
    ratings = report.ratings
    return {
        name: dict(zip(ratings.units, ratings[name].target.tolist(), strict=True))
        for name in report.of.counted
        if name in ratings.criteria
    }


def _adjudication(report: AgreementReport, criterion: str) -> Iterator[Table]:
    settled = _settled(report, criterion)
    yield adjudication(report.ratings, criterion, settled, panels=report.panels, **report.drawing)


def _none_settled(report: AgreementReport, criterion: str) -> str:
    return "" if _settled(report, criterion) else "no item was adjudicated"


def _with_extra(report: AgreementReport, criterion: str) -> dict[Hashable, float]:
    """People's mean with extra ratings, of the units that have some."""
    ratings, of = report.ratings, report.of.extra
    if not of:
        return {}
    given: dict[tuple[int, str], list[float]] = {}
    for unit, name, score in zip(*(of[c].tolist() for c in ("unit", "criterion", "score")), strict=True):
        given.setdefault((unit, name), []).append(score)
    place = {unit: at for at, unit in enumerate(ratings.units)}
    means = []
    for (unit, name), more in given.items():
        if name in ratings.criteria and unit in place and (n := int(ratings[name].present[place[unit]])):
            total = float(ratings[name].target[place[unit]]) * n + sum(more)
            means.append(Informed(unit, name, total / (n + len(more)), "", "", 0, ""))
    return scores_on(means, criterion, _means(report))


def _extra(report: AgreementReport, criterion: str) -> Iterator[Table]:
    means = _with_extra(report, criterion)
    yield extra(report.ratings, criterion, means, panels=report.panels, **report.drawing)


def _no_extra(report: AgreementReport, criterion: str) -> str:
    return "" if _with_extra(report, criterion) else "no item has an extra rating"


def _anchoring(report: AgreementReport, criterion: str) -> Iterator[Table]:
    found = moves(report.of.blind, report.of.revised, criterion, report.of.counted)
    yield anchoring(report.ratings, criterion, found, **report.drawing)


def _none_revised(report: AgreementReport, criterion: str) -> str:
    found = moves(report.of.blind, report.of.revised, criterion, report.of.counted)
    return "" if found else "nobody answered again after seeing a judge's score"


def _registration(report: AgreementReport, _criterion: str) -> Iterator[Table]:
    yield registered(report)


def _not_registered(report: AgreementReport, _criterion: str) -> str:
    return "" if report.of.registered else "it was not registered before people rated"


def _disagreement(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield high_disagreement(report.ratings, criterion, panels=report.panels, **report.drawing)


def _bands(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield bands(report.ratings, criterion, panels=report.panels, **report.drawing)


def _alt_test(report: AgreementReport, criterion: str) -> Iterator[Table]:
    nominal, score = report.options.nominal, report.options.alt_score
    if nominal and score not in ("", "agreement"):
        raise StudyError(
            f"The alt-test of answers as categories cannot be scored by {score}: categories have no order. "
            "Leave out --nominal, or --alt-score."
        )
    found = alt_test(
        report.ratings,
        criterion,
        panels=report.panels,
        score=score or ("agreement" if nominal else "distance"),
    )
    if report.of.clusters:
        note = "items are taken for independent, though others are resampled together"
        first = found.notes[0]
        whole = Note(f"{first} · {note}", (*getattr(first, "parts", (first,)), note))
        found = replace(found, notes=(whole, *found.notes[1:]))
    yield found


def _thresholds(report: AgreementReport, criterion: str) -> Iterator[Table]:
    cut, note = report.cut(criterion)
    given = {"panels": report.panels, "note": note} | report.drawing
    yield thresholds(report.ratings, criterion, cut, **given)
    yield pass_rates(report.ratings, criterion, cut, report.players, **given)


def _calibration(report: AgreementReport, criterion: str) -> Iterator[Table]:
    given = {"panels": report.panels} | report.drawing
    yield calibration(report.ratings, criterion, **given)
    yield calibration_curves(report.ratings, criterion, **given)
    yield calibrated_players(report.ratings, criterion, report.players, **given)


def _system(report: AgreementReport, criterion: str) -> Iterator[Table]:
    given = {"panels": report.panels} | report.drawing
    yield systems(report.ratings, criterion, report.players, members=report.primary_panel, **given)
    yield player_order(report.ratings, criterion, report.players, **given)
    yield ties(report.ratings, criterion, **given)


def _bias(report: AgreementReport, criterion: str) -> Iterator[Table]:
    features, own = report.features, {"the player is of the judge's family": report.own_family}
    players, panels = report.players, report.panels
    found = feature_bias(
        report.ratings, criterion, features, own=own, players=players, panels=panels, **report.drawing
    )
    yield replace(found, notes=(*_unmeasured(report), *found.notes))


def _unmeasured(report: AgreementReport) -> list[str]:
    """The features that the section promises and the study does not let one measure, with the reason."""
    has = report.features
    missing = [
        "" if FEATURES["reply_chars"] in has else "length (replies do not differ in it, or have no text)",
        "" if {FEATURES["turn"], FEATURES["turns"]} & set(has) else "turn (all are of the same)",
        "" if any(name.startswith("language ") for name in has) else "language (all items are of one)",
    ]
    if not report.own_family:
        families = dict(report.options.families)
        models = {*report.of.models_of_judges.values()}
        known = models & set(families), set(report.players.values()) & set(families)
        why = (
            "no judge with a family met players of it and of others"
            if all(known)
            else 'models.toml says no family of judges or of players: add `family = "…"` to their tables'
        )
        missing.append(f"own family ({why})")
    missing = [*filter(None, missing)]
    return [f"Not measured in this study: {'; '.join(missing)}."] if missing else []


def _alike(report: AgreementReport, _criterion: str) -> str:
    varies = report.features or report.own_family
    return "" if varies else "items do not differ in length, turn, language or family of their player"


def _raters(report: AgreementReport, criterion: str) -> Iterator[Table]:
    yield from raters(report.ratings, criterion, report.players, **report.drawing)


def _forecast(report: AgreementReport, criterion: str) -> Iterator[Table]:
    wanted = [PEOPLE, *([report.primary_panel] if report.primary_panel else [])]
    elsewhere = {(called(PEOPLE), "alpha"): report.agreement.criteria[criterion].alpha["ordinal"]}
    if report.drawing["people"] == "these":
        elsewhere = {}  # their intervals take the annotators as given too
    elif report.ratings.judges:
        elsewhere |= {
            (str(row["rater"]), name): cell
            for table in report.section("judges", criterion).values()
            for row in table.rows
            for name, cell in row.items()
            if isinstance(cell, Estimate)
        }
    found = needed(report.ratings, criterion, wanted, width=WIDTH, elsewhere=elsewhere, **report.drawing)
    panel = called(report.primary_panel)
    said = answer(found, report.label(criterion)).replace(panel, report.names.get(panel, panel), 1)
    yield replace(found, caption=" ".join(filter(None, [said, found.caption])))


def _next(report: AgreementReport, criterion: str) -> Iterator[Table]:
    if report.ratings.judges:
        yield saved(report.ratings, criterion, panels=report.panels, **report.drawing)
    judges = report.primary_panel
    figures = report.section("judges", criterion)["judges"].rows if judges else ()
    found = next((row["spearman"] for row in figures if row["rater"] == called(judges)), None)
    rho = found if isinstance(found, Estimate) else undefined("no judge rated this")
    yield designs(report.ratings, criterion, rho)


SECTIONS: dict[str, Section] = {
    "glance": Section("At a glance", _glance),
    "criteria": Section("Every criterion", _criteria),
    "judges": Section("Judges and panels beside people", _judges),
    "versions": Section("Judges by version of their prompt", _versions, _one_version),
    "missing": Section("Missing ratings of judges", _missing, _complete),
    "distribution": Section("Score distribution", _distribution),
    "players": Section("Agreement by player and between players", _players),
    "scenarios": Section("Agreement by scenario", _scenarios, _no_facet),
    "people": Section("Agreement of people with each other", _people),
    "annotators": Section("Each and every two of many annotators", _annotators, _few_annotators),
    "panels": Section("Redundancy of judges, the best judge and the best pair", _panels, _one_judge),
    "retest": Section("Test–retest of each judge", _retest, _one_run),
    "annotator-retest": Section("Test–retest of each annotator", _annotator_retest, _no_repeats),
    "gold": Section("Gold items and attention checks", _gold, _no_gold),
    "adjudication": Section("Before and after adjudication", _adjudication, _none_settled),
    "extra": Section("Judges without and with extra ratings", _extra, _no_extra),
    "anchoring": Section("Second answers after the judge's score", _anchoring, _none_revised),
    "disagreement": Section("Items of high disagreement", _disagreement),
    "bands": Section("Agreement by part of the scale", _bands),
    "alt-test": Section("Alternative annotator test", _alt_test),
    "thresholds": Section("Pass or fail at a cut of the scale", _thresholds),
    "calibration": Section("What people's score a judge's score means", _calibration),
    "system": Section("Would the leaderboard's order be the people's?", _system),
    "bias": Section("Feature bias: length, turn, language, own family", _bias, _alike),
    "raters": Section("Severity and consistency of raters", _raters),
    "next": Section("What people should rate next", _next),
    "forecast": Section("How many more items a narrower interval needs", _forecast),
    "registration": Section("What was registered, and what differs", _registration, _not_registered),
}
"""Sections by name, as `--section` takes it."""

OVER_ALL = ("criteria", "versions", "registration")
"""The sections whose tables are over all criteria."""

APART = ("annotators",)
"""Sections that neither “all” nor a file of all figures has: their rows grow with the square of raters."""

IN_FILES = tuple(name for name in SECTIONS if name not in (*OVER_ALL, *APART))
"""The sections that a file of all figures has of every criterion."""

AT_ONCE = ("glance", "criteria", "panels")
"""The sections that `concord agreement` prints, or that its sentences rest on."""
