"""The agreement report of a study: what page, command, JSON and bundle show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sqlite_utils import Database

from concord.agreement.alt_test import Score
from concord.agreement.distribution import of_people
from concord.agreement.figures import People, whom
from concord.agreement.items import item_scores, largest_differences
from concord.agreement.nominal import nominal
from concord.agreement.ratings import DIGITS, FINAL, Floats, Ratings, called, default_panels, read_ratings
from concord.agreement.severity import severity_sentence
from concord.agreement.study import (
    StudyAgreement,
    study_agreement,
)
from concord.arrays import Columns
from concord.errors import not_found
from concord.estimate import Estimate
from concord.rating import Criterion, Scale
from concord.reports import summary
from concord.reports.cautions import cautions
from concord.reports.document import WIDTH, document, report_json
from concord.reports.features import features, own_family
from concord.reports.names import reader_names
from concord.reports.notes import as_drawn, notes, of_draw, with_exclusions
from concord.reports.scales import final_scale, other_scales, said_of_scales, scales
from concord.reports.sections import APART, AT_ONCE, IN_FILES, OVER_ALL, SECTIONS
from concord.store import frames
from concord.studies import quality, studies
from concord.studies.scales import SharedScale
from concord.studies.studies import Items, Runs, StudyRatings
from concord.table import (
    Column,
    Table,
)

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 60
"""A facet with more values than this is no division of the items that a reader could look through."""


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
    items: Items | None = None
    """What figures describe: see `concord.studies.studies.Items`; None leaves it to the draw."""


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
        """The features of units that vary, by item."""
        return features(self.given_features, self.ratings.units)

    @cached_property
    def own_family(self) -> dict[str, Floats]:
        """Each judge with a family: which items are by a player of this family."""
        families, players = dict(self.options.families), self.players
        of_items = [players.get(unit, "") for unit in self.ratings.units]
        return own_family(families, self.of.models_of_judges, self.ratings.judges, of_items)

    def criterion(self, name: str) -> Criterion | None:
        """The question behind a criterion; None for *final*, which nobody was asked."""
        return next((c for c in self.of.study.criteria if c.name == name), None)

    @cached_property
    def names(self) -> dict[str, str]:
        """What readers see for the names of judges and panels in tables."""
        return reader_names(self.ratings.judges, self.asked_panels)

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
            self._kept[name, criterion] = {table.name: as_drawn(self.of, table) for table in found}
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

    def without(self, sections: Sequence[str], criterion: str = "") -> list[str]:
        """A sentence for each of these sections that has no figures on a criterion, else on the main one.

        It names the criteria on which there are some. Raises NotFound as `asked` does.
        """
        said, on = [], criterion or self.main
        for name in self._named([name for name in sections if name != "all"], criterion):
            if why := self.lacks(name, on):
                about = "" if name in OVER_ALL else f" on {self.label(on)}"
                sentence = f"No figures of section {name}{about}: {why}."
                if others := [each for each in self.criteria if not self.lacks(name, each)]:
                    sentence += f" There are some with --criterion {' or '.join(others)}."
                said.append(sentence)
        return said

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
        about = self._summarised()
        sentences = self._with_choice(about)
        if len(set(self.players.values())) > 1 and not self.ratings[self.main].same_items:
            sentences.append(severity_sentence(self.section("raters", self.main)))
        return [*filter(None, sentences), *self.limits]

    def said(self, criterion: str) -> list[str]:
        """Sentences on one criterion, of all judges together or else of each, and on which judge to use.

        None without a comparison.
        """
        found = self._first(self.primary_panel, [criterion])
        alone = (self._first((judge,), [criterion]) for judge in self.ratings.judges)
        of = found or chain.from_iterable(alone)
        return self._with_choice([*of])

    def _with_choice(self, about: Sequence[tuple[str, tuple[str, ...]]]) -> list[str]:
        """Sentences on criteria, each with its judges; which judge to use stands after the first two."""
        said = [sentence for criterion, members in about for sentence in self._said(criterion, members)]
        if not about:
            return said
        criterion = about[0][0]
        return [*said[:2], *self.choice(criterion), *said[2:], *filter(None, [self.advice(criterion)])]

    def choice(self, criterion: str) -> list[str]:
        """Which single judge agrees best on one criterion, and whether the panel of all is better than it."""
        alone = {row.name: row.spearman for row in self.agreement.criteria[criterion].judges}
        these = whom(self.ratings, criterion, "these") if self.people == "like-these" else ""
        return summary.choice(*self._chosen_by(criterion), self.names, alone=alone, these=these)

    def advice(self, criterion: str) -> str:
        """Which judge or panel to use on one criterion, in one sentence."""
        return summary.advice(*self._chosen_by(criterion), self.names, self.label(criterion))

    def _chosen_by(self, criterion: str) -> tuple[Table | None, Table | None]:
        alone = self.section("panels", criterion).get("best_judge")
        return alone, self.section("glance", criterion).get("panel_gain")

    @cached_property
    def limits(self) -> list[str]:
        """Sentences on single raters who mislead, and on scales, over all criteria."""
        warned = quality.warnings(self.of.study.criteria, self.of.repeats, self.of.checks)
        return [*cautions(self.ratings, self.agreement, self.label, self.scale), *warned]

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
            study.name,
            people=people,
            judges=judges,
            compared=compared,
            anonymous=study.anonymous,
            waiting=self.of.waiting,
        )

    @property
    def notes(self) -> list[str]:
        """What a reader of the figures has to know."""
        return notes(self.of, len(self.ratings.units), nominal=self.options.nominal)

    def as_json(self) -> dict[str, Any]:
        """All figures and sentences as plain values: over all criteria, and every section on every one."""
        return report_json(self)

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
        """The report as text: see `concord.reports.document`."""
        return document(self, form, sections=sections, criterion=criterion, width=width)

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

    @property
    def facets(self) -> dict[str, Mapping[int, str]]:
        """The facets that divide the items into at most `MOST_GROUPS` groups: name → unit → value."""
        return {name: of for name, of in self.of.facets.items() if len(set(of.values())) <= MOST_GROUPS}

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
        items=options.items,
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
        said=of_draw(of, with_exclusions(of, said_of_scales(found, counted))),
        chances=of.chance_of_units,
    )
    ratings = read(criteria=[name for name in of.criteria if name not in apart], counted=counted)
    unordered = read(criteria=apart, counted=()) if apart else None
    given = {} if features is None else features
    return AgreementReport(of, ratings, options, given, found, unordered)


def at(points: pd.DataFrame, mean: float, score: float) -> pd.DataFrame:
    """The items at one place of a scatter."""
    return points[(points["mean"] == round(mean, DIGITS)) & (points["score"] == round(score, DIGITS))]
