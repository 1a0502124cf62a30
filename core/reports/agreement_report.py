"""The agreement report of a study: what page, command, JSON and bundle show."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, takewhile
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sqlite_utils import Database

from concord.agreement.alt_test import Score
from concord.agreement.distribution import of_people
from concord.agreement.figures import People
from concord.agreement.items import item_scores, largest_differences
from concord.agreement.nominal import nominal
from concord.agreement.ratings import DIGITS, FINAL, Floats, Ratings, called, default_panels, read_ratings
from concord.agreement.study import (
    StudyAgreement,
    as_json,
    correlations_table,
    study_agreement,
)
from concord.arrays import Columns
from concord.errors import not_found
from concord.estimate import Estimate
from concord.files.plain import plain_line
from concord.rating import Criterion, Scale
from concord.reports import summary
from concord.reports.cautions import cautions
from concord.reports.scales import final_scale, other_scales, said_of_scales, scales
from concord.reports.sections import APART, AT_ONCE, IN_FILES, OVER_ALL, SECTIONS
from concord.store import frames
from concord.studies import quality, studies
from concord.studies.scales import SharedScale
from concord.studies.studies import Runs, StudyRatings
from concord.table import (
    SCHEMA,
    Column,
    Table,
    as_csv,
    as_document,
    as_figures_csv,
    as_values,
    latex_text,
    markdown_text,
)

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 110
"""Columns of a terminal whose width is not known."""


@dataclass(frozen=True)
class Options:
    """How a study is measured: equal options on equal data give equal figures.

    `panels` are measured beside the usual ones. Items alike in all facets of `cluster_by` are resampled
    together, by default those of one scenario; with `()` items are drawn one by one. `people` says whom
    intervals are about; None leaves it to the design. With `nominal` answers are categories: nominal alpha
    and kappa in place of the other figures. `scales` declare the scale of a criterion (“” for every one) on
    which people and judges answer. `alt_score` is how the alt-test scores answers: by distance unless told,
    of categories by agreement.
    """

    runs: Runs = "mean"
    exclude_refused: bool = True
    panels: tuple[tuple[str, ...], ...] = ()
    resamples: int = 1000
    seed: int = 0
    cluster_by: tuple[str, ...] | None = None
    people: People | None = None
    nominal: bool = False
    cuts: tuple[tuple[str, float], ...] = ()
    """Criteria with the score from which people pass an item; of the others it is the middle of the scale."""
    scales: tuple[tuple[str, Scale], ...] = ()
    alt_score: Score | Literal[""] = ""
    families: tuple[tuple[str, str], ...] = ()
    """Models with their family, as models.toml has them."""
    with_excluded: bool = False
    """Whether figures have the ratings of annotators whom a decision left out."""


FEATURES = {
    "reply_chars": "characters of a reply",
    "turns": "turns of the dialogue",
    "turn": "turn",
    "place": "place in the annotators' order",
}
"""Features of units as readers see them."""


@dataclass(frozen=True, eq=False)
class AgreementReport:
    """A study's ratings and options; figures, tables and sentences are computed when asked for, and kept."""

    of: StudyRatings
    ratings: Ratings
    options: Options = Options()
    given_features: Columns = field(default_factory=dict)
    scales: Mapping[str, SharedScale] = field(default_factory=dict)
    unordered: Ratings | None = None
    """The ratings of criteria whose answers are categories, where others have an order: these alone have the
    figures of categories, and no other.
    """
    _kept: dict[tuple[str, str], dict[str, Table]] = field(default_factory=dict)
    _cut: dict[tuple[str, float], AgreementReport] = field(default_factory=dict)

    @property
    def criteria(self) -> tuple[str, ...]:
        """What people were asked or judges answered, *final* last."""
        return tuple(self.ratings.criteria)

    @property
    def main(self) -> str:
        """The criterion a reader asks for first: *final*, else the only one that counts, else the last."""
        return FINAL if FINAL in self.ratings.criteria else (*self.criteria[-1:], *self.of.counted)[-1]

    @property
    def asked_panels(self) -> tuple[tuple[str, ...], ...]:
        """The panels asked for, their judges in order; one with an unknown judge is passed over."""
        judges = self.ratings.judges
        known = [panel for panel in self.options.panels if len(panel) > 1 and set(panel) <= set(judges)]
        return tuple(dict.fromkeys(tuple(j for j in judges if j in panel) for panel in known))

    @property
    def panels(self) -> tuple[tuple[str, ...], ...]:
        """The panels looked at closely: all judges (unless they are runs of one), and those asked for."""
        judges = self.ratings.judges
        everybody = (judges,) if len(judges) > 1 and self.of.runs == "mean" else ()
        return tuple(dict.fromkeys([*everybody, *self.asked_panels]))

    @property
    def primary_panel(self) -> tuple[str, ...]:
        """Who is meant by “the judges”: the panel of all, else the only judge, else the first run."""
        return self.panels[0] if self.panels else self.ratings.judges[:1]

    @cached_property
    def features(self) -> dict[str, Floats]:
        """The features that vary, as numbers by item, for feature bias; a language is one against the others.

        The commonest language has no feature of its own.
        """
        if not len(self.given_features.get("unit", ())):
            return {}
        where = {unit: row for row, unit in enumerate(self.given_features["unit"].tolist())}
        rows = np.array([where.get(unit, -1) for unit in self.ratings.units], dtype=np.int64)
        there = rows >= 0
        found: dict[str, Floats] = {}
        for name, values in self.given_features.items():
            if name == "language":
                spoken = Counter(values[rows[there]].tolist()).most_common()
                for language, _ in spoken[1:]:
                    own = (values[rows] == language).astype(np.float64)
                    found[f"language {language}"] = np.where(there, own, np.nan)
            elif name != "unit":
                found[FEATURES.get(name, name)] = np.where(there, values[rows], np.nan)
        return {name: of for name, of in found.items() if len(set(of[~np.isnan(of)].tolist())) > 1}

    @cached_property
    def own_family(self) -> dict[str, Floats]:
        """Each judge with a family: 1 for the items of a player of this family, 0 for those of another.

        Families stand in models.toml. An item whose player has none is nan; a judge who met only its own
        family, or none of it, is left out.
        """
        families = dict(self.options.families)
        by_unit = self.players
        of_items = [families.get(by_unit.get(unit, "")) for unit in self.ratings.units]
        found = {}
        for judge, model in self.of.models_of_judges.items():
            if judge in self.ratings.judges and (mine := families.get(model)):
                own = np.array([np.nan if of is None else float(of == mine) for of in of_items])
                if len(set(own[~np.isnan(own)].tolist())) == 2:
                    found[judge] = own
        return found

    def criterion(self, name: str) -> Criterion | None:
        """The question behind a criterion; None for *final*, which nobody was asked."""
        return next((c for c in self.of.study.criteria if c.name == name), None)

    @cached_property
    def names(self) -> dict[str, str]:
        """What readers see for the names of judges and panels in tables: “all 3 judges”, “kind + strict”."""
        judges = self.ratings.judges
        short = short_names(judges)
        found = {called((judge,)): judge for judge in judges}
        for panel in [*default_panels(judges), *self.asked_panels]:
            found[called(panel)] = " + ".join(short[judge] for judge in panel)
        if len(judges) > 2:
            found[called(judges)] = f"all {len(judges)} judges"
        return found

    def label(self, name: str) -> str:
        """A criterion as a reader sees it."""
        asked = self.criterion(name)
        return asked.label if asked else name.capitalize()

    @cached_property
    def agreement(self) -> StudyAgreement:
        """Alpha and correlations on every criterion.

        Panels are the mean of all judges, every pair, and those asked for; single runs of one judge are a
        test–retest, so of them only the panels asked for.
        """
        usual = [] if self.of.runs == "single" else default_panels(self.ratings.judges)
        return study_agreement(
            self.ratings, panels=[*usual, *self.asked_panels], study=self.of.study.name, **self.drawing
        )

    @cached_property
    def nominal(self) -> Table:
        """Nominal alpha and kappas of every criterion that people are asked, the criterion's name first."""
        return self._as_categories(self.ratings, self.of.criteria)

    @cached_property
    def categories(self) -> Table | None:
        """The same of the criteria whose answers are categories, beside others; None where there are none."""
        return (
            None if self.unordered is None else self._as_categories(self.unordered, self.unordered.criteria)
        )

    def _as_categories(self, ratings: Ratings, criteria: Iterable[str]) -> Table:
        found = {name: nominal(ratings, name, **self.drawing) for name in criteria}
        widest = max(found.values(), key=lambda table: len(table.columns))
        return Table(
            widest.name,
            f"{widest.title} of study {self.of.study.name}",
            (Column("criterion"), *widest.columns),
            tuple({"criterion": name, **row} for name, table in found.items() for row in table.rows),
            notes=tuple(f"{name}: {note}" for name, table in found.items() for note in table.notes),
        )

    @cached_property
    def overview(self) -> tuple[Table, ...]:
        """The tables over all criteria: what the command prints, and the page shows first."""
        if self.options.nominal:
            return (self.nominal,)
        tables = [*self.section("glance", self.main).values(), *self.section("criteria", self.main).values()]
        return (*tables, *filter(None, [self.categories]))

    def section(self, name: str, criterion: str) -> dict[str, Table]:
        """The tables of a section of `concord.reports.sections` on one criterion, by name; computed once.

        Raises StudyError for an unknown criterion.
        """
        if (name, criterion) not in self._kept:
            found = () if self.lacks(name, criterion) else SECTIONS[name].tables(self, criterion)
            self._kept[name, criterion] = {table.name: table for table in found}
        return self._kept[name, criterion]

    def lacks(self, name: str, criterion: str) -> str:
        """What the study lacks for a section on one criterion, as the end of a sentence; else “”."""
        return SECTIONS[name].needs(self, criterion)

    def steps(
        self, form: str = "json", *, sections: Sequence[str] = (), criterion: str = ""
    ) -> list[tuple[str, str]]:
        """The sections, each with a criterion, that `document` needs and that are not measured yet.

        Who calls `section` for one after the other can say how far the document is. Raises NotFound as it
        does.
        """
        if self.options.nominal and not sections:
            return []
        if sections:
            every = [(name, criterion or self.main) for name in self._named(sections, criterion)]
        elif form in ("json", "csv"):
            every = [(name, self.main) for name in OVER_ALL]
            every += [(name, each) for each in self.criteria for name in IN_FILES]
        else:
            every = [(name, self.main) for name in AT_ONCE]
        return [step for step in every if step not in self._kept]

    def _named(self, sections: Sequence[str], criterion: str) -> list[str]:
        """The names of these sections, “all” being all but `APART`.

        Raises NotFound for an unknown section or criterion.
        """
        for section in sections:
            if section not in (*SECTIONS, "all"):
                raise not_found("section", section, [*SECTIONS, "all"])
        if criterion and criterion not in self.criteria:
            raise not_found("criterion", criterion, self.criteria)
        every = [name for name in SECTIONS if "all" in sections and name not in APART]
        return [*dict.fromkeys([*every, *(name for name in sections if name != "all")])]

    def asked(self, sections: Sequence[str], criterion: str = "") -> list[Table]:
        """The tables of these sections (“all”: of all but `APART`) on a criterion, else on the main one.

        Raises NotFound for an unknown section or criterion.
        """
        names = self._named(sections, criterion)
        return [table for of in names for table in self.section(of, criterion or self.main).values()]

    def tables(self, criterion: str) -> dict[str, Table]:
        """The tables on one criterion of all sections, by name; those over all criteria on the main one."""
        names = [name for name in SECTIONS if criterion == self.main or name not in OVER_ALL]
        found = {name: table for of in names for name, table in self.section(of, criterion).items()}
        if self.categories is not None and criterion == self.main:
            found[self.categories.name] = self.categories
        return found

    @cached_property
    def summary(self) -> list[str]:
        """Sentences on the main criterion, then those on single raters; none for categories.

        Where the judges cannot be compared together on the main criterion, it is the first on which they
        can; where there is none, each judge has the sentences of its own.
        """
        if self.options.nominal:
            return []
        told = (self._said(criterion, members) for criterion, members in self._summarised())
        sentences = list(chain.from_iterable(told))
        if len(set(self.players.values())) > 1 and not self.ratings[self.main].same_items:
            from concord.agreement.raters import severity_sentence  # loads scipy.optimize and scipy.stats

            sentences.append(severity_sentence(self.section("raters", self.main)))
        return [*filter(None, sentences), *self.limits]

    def said(self, criterion: str) -> list[str]:
        """Sentences on one criterion, of all judges together or else of each; none without a comparison."""
        found = self._first(self.primary_panel, [criterion])
        alone = (self._first((judge,), [criterion]) for judge in self.ratings.judges)
        of = found or chain.from_iterable(alone)
        return [sentence for _, members in of for sentence in self._said(criterion, members)]

    def choice(self, criterion: str) -> list[str]:
        """Which single judge agrees best on one criterion, and whether the panel of all is better than it."""
        alone = self.section("panels", criterion).get("best_judge")
        return summary.choice(alone, self.section("glance", criterion).get("panel_gain"), self.names)

    @cached_property
    def limits(self) -> list[str]:
        """Sentences on single raters who mislead, and on scales, over all criteria."""
        warned = quality.warnings(self.of.study.criteria, self.of.repeats, self.of.checks)
        return [*cautions(self.ratings, self.agreement, self.label), *warned]

    def _said(self, criterion: str, members: tuple[str, ...]) -> list[str]:
        tables = self.section("judges", criterion) | self.section("players", criterion)
        return summary.summary(self.ratings, self.agreement, tables, criterion, members, self.label)

    def _first(self, members: tuple[str, ...], names: Iterable[str]) -> list[tuple[str, tuple[str, ...]]]:
        """The first of these criteria on which these judges can be compared, with them."""
        rows = ((name, self.agreement.criteria[name].rater(members)) for name in names)
        return [(name, members) for name, row in rows if row and row.spearman.defined][:1]

    def _summarised(self) -> list[tuple[str, tuple[str, ...]]]:
        """The criteria, with the judges, that the summary is about."""
        names = [*dict.fromkeys([self.main, *self.criteria])]
        found = self._first(self.primary_panel, names)
        return found or [one for judge in self.ratings.judges for one in self._first((judge,), names)]

    @cached_property
    def missing(self) -> list[str]:
        """What keeps the study from answering how far its judges can be trusted, with the remedies."""
        if self.options.nominal:
            people = max((len(self.ratings[name].people) for name in self.of.criteria), default=0)
            kappas = [row for row in self.nominal.rows if row["a"] in self.ratings.judges]
            compared = [row["value"] for row in kappas if isinstance(row["value"], Estimate)]
        else:
            parts = self.agreement.criteria.values()
            people = max((part.people for part in parts), default=0)
            compared = [row.spearman for part in parts for row in part.judges]
        study, judges = self.of.study, self.ratings.judges
        return summary.missing(
            study.name, people=people, judges=judges, compared=compared, anonymous=study.anonymous
        )

    @property
    def notes(self) -> list[str]:
        """What a reader of the figures has to know: what is left out, what is simulated, what final is."""
        of = self.of
        notes = [
            f"{'Counted, though' if of.with_excluded else 'Left out:'} {decision.annotator}"
            f"{' was left out' if of.with_excluded else ''} on {decision.decided[:10]}: {decision.reason}"
            f"{'' if decision.reason.endswith('.') else '.'}"
            + ("" if of.with_excluded else " --with-excluded counts them.")
            for decision in of.excluded
        ]
        notes += [
            f"Judges are not compared on {n} of {len(self.ratings.units)} units: {reason}. People's own "
            "figures are on all. --keep-refused compares judges on all."
            for reason, n in Counter(of.left_out.values()).items()
        ]
        if of.too_few:
            notes.append(of.too_few)
        if of.simulated:
            notes.append(f"Mock models, neither people nor language models: {', '.join(of.simulated)}.")
        if of.next_for:
            notes.append(
                "Drawn where people were expected to differ from the judges: the figures describe this "
                "sample, which is harder than all conversations. The corrected leaderboard weighs it."
            )
        if of.study.anonymous:
            notes.append("People's ratings have no names: no figure compares one person with another.")
        if not self.options.nominal and 1 < len(of.counted) < len(
            [c for c in of.study.criteria if c.counted]
        ):
            notes.append(f"Final is the mean of what people and judges both rated: {', '.join(of.counted)}.")
        return notes

    def as_json(self) -> dict[str, Any]:
        """All figures and sentences as plain values: over all criteria, and every section on every one."""
        said: dict[str, Any] = {"summary": self.summary, "missing": self.missing, "notes": self.notes}
        said["left_out"] = self.left_out
        said["excluded"] = [
            {"annotator": one.annotator, "reason": one.reason, "decided": one.decided}
            for one in self.of.excluded
        ]
        said["with_excluded"] = self.of.with_excluded
        if self.options.nominal:
            figures = [_flat(row) for row in self.nominal.rows]
            return {"schema": SCHEMA, "study": self.of.study.name, "figures": figures} | said
        found = {
            criterion: {
                name: {table.name: as_values(table) for table in self.section(name, criterion).values()}
                for name in IN_FILES
            }
            for criterion in self.criteria
        }
        if self.unordered is not None:
            said["categories"] = [_flat(row) for row in (self.categories or self.nominal).rows]
        return as_json(self.agreement) | said | {"main": self.main, "sections": found}

    @property
    def left_out(self) -> list[dict[str, Any]]:
        """On how many units judges are not compared, why, and by the word of which judge (units by name)."""
        counted = Counter(self.of.left_out.values())
        return [
            {"reason": reason, "units": n, "by": dict(self.of.refused_by)} for reason, n in counted.items()
        ]

    def document(
        self, form: str, *, sections: Sequence[str] = (), criterion: str = "", width: int = WIDTH
    ) -> str:
        """The report in one of `concord.table.FORMS`: the summary, and the figures of the main criterion.

        JSON has everything, CSV every figure on a line of its own. With names of `sections` (“all” for every
        one), their tables on `criterion` (else the main one). Text is made for a terminal of `width` columns.
        Raises NotFound for an unknown section or criterion.
        """
        if sections:
            tables = self.asked(sections, criterion)
        elif form == "json":
            return json.dumps(self.as_json(), ensure_ascii=False, indent=2) + "\n"
        elif form == "csv":
            return as_csv(self.nominal) if self.options.nominal else as_figures_csv(self._figures)
        else:
            tables = [*self.overview]
        if form in ("json", "csv"):
            return as_document(tables, form)
        named = [renamed(table, self.names) for table in tables]
        if sections:
            return as_document(named, form, width=width)
        text = _listed([*self.summary, *self.notes], form, width) + as_document(named, form, width=width)
        more = [f"More: `--section NAME`, where NAME is {', '.join(SECTIONS)} or all."]
        return text if form != "table" or self.options.nominal else f"{text}\n{_listed(more, form, width)}"

    @property
    def _figures(self) -> list[Table]:
        """The tables that hold every figure, the criterion's name in every row."""
        found = [correlations_table(self.agreement, self.label)]
        found += [table for name in OVER_ALL for table in self.section(name, self.main).values()]
        for criterion in self.criteria:
            tables = (table for name in IN_FILES for table in self.section(name, criterion).values())
            found += [_of(table, self.label(criterion)) for table in tables]
        return [*found, *filter(None, [self.categories])]

    def points(self, criterion: str, members: Sequence[str]) -> pd.DataFrame:
        """A judge's (or a panel's) score beside people's mean, one row an item that has both.

        Columns: unit, conversation_id, turn, player, mean, spread and people (of the people on the item),
        score. Equal averages are equal.
        """
        items = item_scores(self.ratings, criterion, [tuple(members)])
        items = items.rename(columns={called(members): "score"}).dropna(subset=["mean", "score"])
        return self._located(items.round({"mean": DIGITS, "score": DIGITS}))

    def largest_differences(self, criterion: str, members: Sequence[str], count: int = 20) -> pd.DataFrame:
        """The items on which a judge is farthest from people: the columns of `points` and difference."""
        return self._located(largest_differences(self.ratings, criterion, members, count=count))

    def answers(self, criterion: str) -> Floats:
        """The answers a score is counted with: the scale's; else whole numbers from end to end."""
        scale = self.scale(criterion)
        if scale is not None and not scale.continuous and not self.ratings.other_scale.get(criterion):
            return np.array(scale.values, dtype=np.float64)
        scores = self.ratings[criterion]
        ends = [scale.low, scale.high] if scale else []
        seen = np.concatenate([of_people(scores), *scores.judges.values(), ends])
        seen = seen[~np.isnan(seen)]
        return np.arange(np.floor(seen.min()), np.ceil(seen.max()) + 1) if len(seen) else np.zeros(1)

    def cut(self, criterion: str) -> tuple[float, str]:
        """The score from which people pass an item, and in words where it comes from."""
        if criterion in dict(self.options.cuts):
            return dict(self.options.cuts)[criterion], ""
        asked = self.criterion(criterion)
        parts = [asked] if asked else [c for c in self.of.study.criteria if c.name in self.ratings.counted]
        if parts:
            middles = [(part.scale.low + part.scale.high) / 2 for part in parts]
            return sum(middles) / len(middles), "the middle of the scale"
        answers = self.answers(criterion)
        return float(answers[0] + answers[-1]) / 2, "the middle of all answers"

    def with_cut(self, criterion: str, cut: float) -> AgreementReport:
        """The report with another cut of a criterion, kept for the next time."""
        if (criterion, cut) not in self._cut:
            cuts = {**dict(self.options.cuts), criterion: cut}
            options = replace(self.options, cuts=tuple(cuts.items()))
            self._cut[criterion, cut] = replace(self, options=options, _kept={}, _cut={})
        return self._cut[criterion, cut]

    def scale(self, criterion: str) -> Scale | None:
        """The scale people answer on; for *final* the one that its criteria share, if they do."""
        shared = self.scales.get(criterion)
        return shared.scale if shared else final_scale(self.scales, self.ratings.counted)

    @property
    def drawing(self) -> dict[str, Any]:
        """How resamples are drawn: their number and seed, and what is drawn together."""
        drawn: dict[str, Any] = {"resamples": self.options.resamples, "seed": self.options.seed}
        drawn |= {"clusters": self.of.clusters, "alike": " and ".join(self.of.cluster_by)}
        return drawn | {"people": self.people}

    @property
    def people(self) -> People:
        """Whom intervals are about: who is asked for, else annotators like these where the design allows."""
        usual: People = "like-these" if self.ratings.several_people else "these"
        return self.options.people or usual

    @cached_property
    def players(self) -> dict[Hashable, str]:
        """The player of each unit."""
        return dict(zip(self.of.column("unit").tolist(), self.of.column("player").tolist(), strict=True))

    @cached_property
    def _items(self) -> pd.DataFrame:
        return self.of.table.drop_duplicates("unit")[["unit", "conversation_id", "turn", "player"]]

    def _located(self, items: pd.DataFrame) -> pd.DataFrame:
        return items.merge(self._items, on="unit", how="left").reset_index(drop=True)


def agreement_report(db: Database, study: str, options: Options = Options()) -> AgreementReport:
    """The report of a study.

    Raises NotFound for an unknown study or a panel with an unknown judge, StudyError for a study without any
    rating.
    """
    of = studies.ratings_for_agreement(
        db,
        study,
        runs=options.runs,
        exclude_refused=options.exclude_refused,
        cluster_by=options.cluster_by,
        with_excluded=options.with_excluded,
        nominal=options.nominal,
    )
    for judge in chain.from_iterable(options.panels):
        if judge not in of.judges:
            raise not_found("judge", judge, of.judges)
    for criterion, _ in options.cuts:
        if criterion not in (*of.criteria, FINAL):
            raise not_found("criterion", criterion, (*of.criteria, FINAL))
    return report_of(of, options, frames.feature_rows(db, study))


def report_of(
    of: StudyRatings, options: Options = Options(), features: Columns | None = None
) -> AgreementReport:
    """The report of ratings that were read; `features` are columns of numbers beside “unit”, for feature
    bias.

    Raises NotFound for a scale that is declared for an unknown criterion.
    """
    found = scales(of, options.scales)
    apart = () if options.nominal else tuple(c.name for c in of.study.criteria if c.scale.nominal)
    if apart and not set(of.criteria) - set(apart):
        options, apart = replace(options, nominal=True), ()
    # The final of one criterion would say everything twice.
    counted = () if options.nominal or len(of.counted) < 2 else of.counted
    read = partial(
        read_ratings,
        of.rows,
        without_judges=of.left_out,
        flags=of.flags,
        anonymous_people=of.study.anonymous,
        order=of.order,
        other_scale=other_scales(found),
        said=_with_exclusions(of, said_of_scales(found, counted)),
    )
    ratings = read(criteria=[name for name in of.criteria if name not in apart], counted=counted)
    unordered = read(criteria=apart, counted=()) if apart else None
    given = {} if features is None else features
    return AgreementReport(of, ratings, options, given, found, unordered)


def _with_exclusions(of: StudyRatings, said: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What basis lines add, with whom a decision left out; the reasons stand in the notes of the report."""
    if not of.excluded:
        return said
    names = ", ".join(decision.annotator for decision in of.excluded)
    how = (
        f"with {names}, left out by default" if of.with_excluded else f"without {names}, left out by decision"
    )
    return {name: (*said.get(name, ()), how) for name in (*of.criteria, FINAL)}


def renamed(table: Table, names: Mapping[str, str]) -> Table:
    """A table with the names of judges and panels that readers see, a panel's also within a text.

    What `meta` has by name, such as the curves of a picture, has these names too.
    """
    panels = {name: said for name, said in names.items() if name.startswith("Avg(")}

    def said(text: str) -> str:
        for panel, name in panels.items():
            text = text.replace(panel, name)
        return names.get(text, text)

    rows = (
        {name: said(cell) if isinstance(cell, str) else cell for name, cell in row.items()}
        for row in table.rows
    )
    columns = (replace(c, heading=names[c.title]) if c.title in names else c for c in table.columns)
    meta = {
        key: {names.get(name, name): of for name, of in value.items()}
        if isinstance(value, Mapping)
        else value
        for key, value in table.meta.items()
    }
    return replace(table, rows=tuple(rows), columns=tuple(columns), meta=meta)


def _of(table: Table, criterion: str) -> Table:
    """A table of one criterion with the criterion's name in every row."""
    rows = tuple({"criterion": criterion, **row} for row in table.rows)
    return replace(table, columns=(Column("criterion"), *table.columns), rows=rows)


def _listed(sentences: Sequence[str], form: str, width: int) -> str:
    """Sentences as a list in a form for readers."""
    if not sentences:
        return ""
    if form == "latex":
        return "\n".join(
            [r"\begin{itemize}", *(rf"\item {latex_text(s)}" for s in sentences), r"\end{itemize}", "", ""]
        )
    if form == "markdown":
        return "\n".join([*(f"- {markdown_text(sentence)}" for sentence in sentences), "", ""])
    return "\n".join([*(fill(s, width, subsequent_indent="  ") for s in map(plain_line, sentences)), "", ""])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A figure of answers as categories: value, low, high and reason beside the names."""
    value, agreement = row["value"], row["agreement"].value
    return {
        **{name: row[name] for name in ("criterion", "coefficient", "a", "b")},
        **{"value": value.value, "low": value.low, "high": value.high, "agreement": agreement, "n": row["n"]},
        "reason": "; ".join(filter(None, [row.get("note"), value.reason])),
    }


def at(points: pd.DataFrame, mean: float, score: float) -> pd.DataFrame:
    """The items at one place of a scatter."""
    return points[(points["mean"] == round(mean, DIGITS)) & (points["score"] == round(score, DIGITS))]


def short_names(judges: Sequence[str]) -> dict[str, str]:
    """Judges' names without the words that all of them begin with, for where there is little room."""
    words = {judge: re.split(r"(?<=[-_/ :])", judge) for judge in judges}
    places = zip(*words.values(), strict=False)
    alike = sum(1 for _ in takewhile(lambda place: len(set(place)) == 1, places)) if len(words) > 1 else 0
    return {
        judge: "".join(of[min(alike, min(map(len, words.values())) - 1) :]) for judge, of in words.items()
    }
