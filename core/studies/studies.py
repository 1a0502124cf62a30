"""Studies, end to end: what is drawn and dealt, and the ratings as the figures of agreement want them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

import numpy as np
import numpy.typing as npt
from sqlite_utils import Database

from concord.arrays import Columns, coded, numbered, taken
from concord.conversation import Conversation
from concord.errors import StudyError, not_found
from concord.rating import Criterion
from concord.rubrics import guidance
from concord.scores import run_label
from concord.statistics.next_items import FLOOR, expected_error
from concord.store import (
    access,
    conversations,
    exclusions,
    frames,
    informed,
    known,
    ratings,
    registrations,
    settings,
    studies,
)
from concord.store.conversations import Filter
from concord.store.exclusions import Decision
from concord.store.informed import BlindAnswer, Informed
from concord.store.known import Check, Pair
from concord.store.registrations import Registration
from concord.store.studies import Study
from concord.studies import sampling
from concord.studies.dealing import deal_study as deal_study

if TYPE_CHECKING:
    import pandas as pd

    from concord.rubrics.shelf import Numbered

Runs = Literal["mean", "single"]
NextFor = Literal["", "mean", "players", "disagreement"]
Items = Literal["drawn", "weighed", "random"]
"""What figures describe: the items as they were drawn, what they were drawn from (each weighs the inverse of
its probability), or the simple random sample drawn beside them."""
REFUSED = "a judge saw a refusal"


@dataclass(frozen=True)
class StudyRatings:
    """A study's ratings ready for `concord.agreement`.

    `rows` has a row a unit, criterion and rater: unit, conversation_id, turn, player, criterion, rater,
    kind, simulated, score. `criteria` are shown, `counted` enter *final*; `left_out`: unit → reason why
    judges are not compared on it. `refused_by` says in how many of these units each judge saw a refusal,
    `flags` on which criteria.
    """

    study: Study
    rows: Columns | pd.DataFrame
    criteria: tuple[str, ...]
    counted: tuple[str, ...]
    left_out: Mapping[int, str]
    runs: Runs = "mean"
    cluster_by: tuple[str, ...] = ()
    clusters: Mapping[Hashable, Hashable] | None = None
    """Which units hang together, where they are to be resampled together: unit → the values of the facets
    in `cluster_by`.
    """
    too_few: str = ""
    """Why units that share a scenario are not resampled together, where they are not by default."""
    runs_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The judges whose runs are read one by one, with the names of the runs."""
    refused_by: Mapping[str, int] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
    order: Sequence[int] = ()
    """The units in an order that does not depend on the order in which they were stored."""
    chances: Mapping[int, float] = field(default_factory=dict)
    """The probability with which each conversation was drawn, where they differ."""
    items: Items = "drawn"
    """What figures describe."""
    extra: Columns = field(default_factory=dict)
    """People's extra ratings, given because the first raters differed; they are not among `rows`."""
    excluded: tuple[Decision, ...] = ()
    """The annotators left out by a decision; `rows` have their ratings only `with_excluded`."""
    with_excluded: bool = False
    repeats: tuple[Pair, ...] = ()
    """Answers to what came again. They are no ratings, and everybody's, whoever is left out."""
    checks: tuple[Check, ...] = ()
    """Answers to gold items, likewise."""
    adjudicated: tuple[Informed, ...] = ()
    """What adjudicators settled: one more rater's scores, in no figure but those of their own section."""
    revised: tuple[Informed, ...] = ()
    """Annotators' second answers, given in sight of a judge's scores; in no figure but those of anchoring."""
    blind: tuple[BlindAnswer, ...] = ()
    """The first answers one by one, where there are second ones."""
    registered: Registration | None = None
    """What was fixed before people rated, if it was; `present` is the same of the study as it is now."""
    present: Mapping[str, Any] = field(default_factory=dict)
    facets: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """The facets that divide the units into groups: name → unit → value."""
    waiting: Mapping[str, int] = field(default_factory=dict)
    """How many items are open by annotator who was dealt the study and has rated nothing of it."""
    sent: Mapping[str, str | None] = field(default_factory=dict)
    """The guidelines that judges were sent: see `concord.rubrics.guidance.sent`."""

    @cached_property
    def table(self) -> pd.DataFrame:
        """The rows as a frame."""
        import pandas as pd

        return pd.DataFrame(self.rows)

    def column(self, name: str) -> npt.NDArray[Any]:
        """A column of the rows."""
        return np.asarray(self.rows[name])

    @property
    def judges(self) -> tuple[str, ...]:
        """The judges, by name."""
        return tuple(sorted(set(self.column("rater")[self.column("kind") == "judge"].tolist())))

    @property
    def models_of_judges(self) -> dict[str, str]:
        """The model behind each judge, as models.toml names it; empty for ratings that were not stored."""
        return self._of_judges("model")

    @property
    def versions_of_judges(self) -> dict[str, str]:
        """The version of each judge's prompt; empty for ratings that were not stored."""
        return self._of_judges("variant")

    def _of_judges(self, column: str) -> dict[str, str]:
        if column not in self.rows:
            return {}
        judged = self.column("kind") == "judge"
        judges, values = (self.column(name)[judged].tolist() for name in ("rater", column))
        return dict(zip(judges, values, strict=True))

    @property
    def chance_of_units(self) -> dict[Hashable, float] | None:
        """The probability of each unit, where figures weigh items by it."""
        if self.items != "weighed":
            return None
        units, of = self.column("unit").tolist(), self.column("conversation_id").tolist()
        return {unit: self.chances[conversation] for unit, conversation in zip(units, of, strict=True)}

    @property
    def next_for(self) -> str:
        """The figure that the units were drawn to narrow; empty for a draw that is alike for all items."""
        return str(self.study.meta.get("drawn", {}).get("next_for", ""))

    @property
    def simulated(self) -> tuple[str, ...]:
        """The raters that are neither people nor language models."""
        return tuple(sorted(set(self.column("rater")[self.column("simulated").astype(bool)].tolist())))


@dataclass(frozen=True, eq=False)
class Sample:
    """A draw that is not stored: the candidates, the chosen ones, what they are spread over."""

    candidates: pd.DataFrame
    chosen: pd.DataFrame
    by: tuple[str, ...]
    wanted: Filter

    @property
    def strata(self) -> tuple[int, int]:
        """How many strata something was drawn of, and how many there are."""
        there = self.candidates.groupby(list(self.by), dropna=False).ngroups if self.by else 1
        return self.chosen.stratum.nunique(), there

    def margins(self) -> pd.DataFrame:
        """Candidates and drawn by each value of each column. Columns: of, value, candidates, drawn."""
        import pandas as pd

        def counts(table: pd.DataFrame) -> pd.Series[int]:
            return table[list(self.by)].fillna("").astype(str).melt(var_name="of").value_counts()

        if not self.by:
            return pd.DataFrame(columns=["of", "value", "candidates", "drawn"])
        found = pd.DataFrame({"candidates": counts(self.candidates), "drawn": counts(self.chosen)})
        return found.fillna(0).astype(int).sort_index().reindex(self.by, level="of").reset_index()


def draw(
    db: Database,
    n: int,
    *,
    wanted: Filter,
    by: Sequence[str] | None = None,
    seed: int = 0,
    allocation: sampling.Allocation = "even",
    exclude_refused: bool = False,
    next_for: NextFor = "",
    random_share: float = FLOOR,
    not_in: Sequence[str] = (),
) -> Sample:
    """Draw `n` stored conversations, storing nothing: the sample of `draw_study`.

    Raises StudyError, and NotFound for a study in `not_in`.
    """
    if exclude_refused:
        wanted = replace(wanted, refused=False)
    candidates = conversations.table(db, wanted)
    apart = [unit["conversation_id"] for study in not_in for unit in studies.units(db, study)]
    candidates = candidates[~candidates.id.isin(apart)]
    if next_for:
        return _draw_next(db, candidates, n, wanted, seed, next_for, random_share)
    if by is None:
        varied = candidates.drop(columns=["id", "key"]).nunique()
        by = [str(column) for column, values in varied.items() if 1 < values <= n]
    chosen = sampling.draw(candidates, n, seed=seed, by=by, allocation=allocation, name="key")
    return Sample(candidates, chosen, tuple(by), wanted)


def _draw_next(
    db: Database,
    candidates: pd.DataFrame,
    n: int,
    wanted: Filter,
    seed: int,
    next_for: NextFor,
    share: float,
) -> Sample:
    """The sample that narrows the corrected mean of all, or of each player, or where judges disagree."""
    import pandas as pd

    finals = frames.finals(db, candidates.id.tolist())
    if np.isnan(finals["judged"]).all():
        raise StudyError(
            "No judge has a final score here, so nothing tells where judges may err. Have one rate these "
            "conversations with `concord judge`, or draw without --next-for."
        )
    if next_for == "disagreement":
        spread = finals["spread"]
        if not (spread > 0).any():
            raise StudyError(
                "No two judges disagree on any of these conversations. Have a second one rate them with "
                "`concord judge`, or draw without --next-for."
            )
        size = np.where(np.isnan(spread), np.nanmean(spread), spread)
    else:
        size = expected_error(finals["judged"], finals["spread"], finals["people"])
    if next_for != "players":
        chosen = sampling.draw_by_chance(candidates, n, size, seed=seed, name="key", share=share)
        return Sample(candidates, chosen, (), wanted)
    each = sampling.draw(candidates, n, seed=seed, by=["player"], name="key").player.value_counts()
    parts = []
    for player in sorted(each.index):
        mine = (candidates.player == player).to_numpy()
        drawn = sampling.draw_by_chance(
            candidates[mine], int(each[player]), size[mine], seed=seed, name="key", share=share
        )
        parts.append(drawn.assign(stratum=player))
    return Sample(candidates, pd.concat(parts, ignore_index=True), ("player",), wanted)


def draw_study(
    db: Database,
    name: str,
    n: int,
    *,
    wanted: Filter,
    by: Sequence[str] | None = None,
    seed: int = 0,
    allocation: sampling.Allocation = "even",
    ask: Sequence[str] | Sequence[Criterion] = (),
    per_turn: bool = False,
    exclude_refused: bool = False,
    title: str = "",
    guidelines: str = "",
    overlap: int = 0,
    next_for: NextFor = "",
    random_share: float = FLOOR,
    rubric: Numbered | None = None,
    not_in: Sequence[str] = (),
    pilot_of: str = "",
) -> Study:
    """Draw `n` stored conversations into a new study, stratified; rated whole or, with `per_turn`, by turns.

    A rubric says what is asked and of what (`ask` and `per_turn` are then its own); its version is kept.

    `wanted` filters the candidates and must name a benchmark. Asked are its criteria in `ask` or criteria of
    your own, else those that enter final. `by` defaults to the player, the language and every facet that
    varies. Where strata are drawn with unequal probabilities, each conversation's is kept with the study for
    the estimators. Raises StudyError where there is too little to draw from.

    With `next_for` the conversations are those that narrow a figure most, in place of strata: people's mean
    of all (“mean”), or of each player, of which equally many are drawn (“players”). Each is drawn with a
    probability that follows how far people are expected to be from the judges there
    (`concord.statistics.next_items`), or how far judges are apart (“disagreement”). The `random_share` of
    them is a simple random sample, named with the study.

    No conversation of the studies `not_in` is drawn, and none of a pilot of this study; a pilot (`pilot_of`,
    whether that study is there or not) has none of its study or of other pilots.
    """
    if pilot_of == name:
        raise StudyError(f"“{name}” cannot be its own pilot. Name the study that comes after it.")
    not_in = list(dict.fromkeys([*not_in, *studies.beside(db, name, pilot_of)]))
    if rubric is None:
        criteria = _asked(db, wanted.benchmark, ask)
    else:
        if not rubric.rubric.criteria:
            raise StudyError(
                f"The rubric “{rubric.rubric.name}” asks only which of two is better. Make a study of pairs "
                "with `concord pairs new`."
            )
        rubric.publish(db)
        criteria, per_turn = rubric.rubric.criteria, rubric.rubric.per_turn
    sample = draw(
        db,
        n,
        wanted=wanted,
        by=by,
        seed=seed,
        allocation=allocation,
        exclude_refused=exclude_refused,
        next_for=next_for,
        random_share=random_share,
        not_in=not_in,
    )
    drawn: dict[str, Any] = {
        "benchmark": wanted.benchmark,
        "filter": {k: v for k, v in asdict(sample.wanted).items() if v},
        "n": n,
        "by": list(sample.by),
        "allocation": allocation,
        "candidates": len(sample.candidates),
    }
    if next_for:
        del drawn["allocation"]
        drawn["next_for"] = next_for
        drawn["random"] = sample.chosen.key[sample.chosen.random].tolist()
    keys, chance = sample.chosen.key.tolist(), sample.chosen.chance.tolist()
    if next_for or max(chance) - min(chance) > 1e-9:
        drawn["chance"] = dict(zip(keys, chance, strict=True))
    if not_in:
        drawn["not_in"] = not_in
    about: dict[str, Any] = {"drawn": drawn}
    if pilot_of:
        about["pilot_of"] = pilot_of
    if rubric is not None:
        told = rubric.rubric
        about["rubric"] = rubric.noted
        title, guidelines = title or told.title, guidelines or told.guidance
    study = Study(
        name, criteria, title, guidelines, per_turn=per_turn, overlap=overlap, seed=seed, meta=about
    )
    units: list[tuple[int, int | None, str]] = []
    for conversation, stratum in zip(sample.chosen.id.tolist(), sample.chosen.stratum, strict=True):
        turns: Sequence[int | None] = [None]
        if rubric is not None:
            turns = _asked_by(rubric, conversations.load(db, conversation))
        elif per_turn:
            turns = [t.number for t in conversations.load(db, conversation).turns() if t.reply is not None]
        units += [(conversation, turn, stratum) for turn in turns]
    if not units:
        raise StudyError(
            "None of these conversations can be rated by the rubric: see `concord rubric check`."
        )
    studies.create(db, study)
    studies.add_units(db, name, units)
    return studies.get(db, name)


def _asked_by(rubric: Numbered, conversation: Conversation) -> tuple[int | None, ...]:
    """The turns to be rated; none of a conversation that the rubric asks nothing of."""
    try:
        rubric.rubric.asked_of(conversation)
        return rubric.rubric.turns(conversation)
    except StudyError:
        return ()


def _asked(db: Database, benchmark: str, ask: Sequence[str] | Sequence[Criterion]) -> tuple[Criterion, ...]:
    own = [c for c in ask if isinstance(c, Criterion)]
    if own:
        return tuple(own)
    known = {c.name: c for c in ratings.criteria(db, benchmark)}
    if not known:
        raise StudyError(
            f"There are no criteria for “{benchmark}” in this workspace: "
            "generate conversations with `concord run`, or import some."
        )
    if not ask:
        return tuple(c for c in known.values() if c.counted)
    if unknown := [str(name) for name in ask if name not in known]:
        raise not_found("criterion", unknown[0], known)
    return tuple(known[str(name)] for name in ask)


def invite(
    db: Database, names: Sequence[str], base_url: str | None = None, days: int = access.LINK_DAYS
) -> dict[str, str]:
    """Links for annotators, by name, which expire after so many days (0: never). A link is returned once, not
    stored, and ends the one before it. Without `base_url` it leads to where the app last listened.
    """
    desk = f"{(base_url or settings.address(db)).rstrip('/')}/rate"
    return {name: f"{desk}?{urlencode({'token': access.invite(db, name, days=days)})}" for name in names}


def ratings_for_agreement(
    db: Database,
    name: str,
    *,
    runs: Runs = "mean",
    exclude_refused: bool = True,
    cluster_by: Sequence[str] | None = None,
    with_excluded: bool = False,
    nominal: bool = False,
    items: Items | None = None,
) -> StudyRatings:
    """A study's ratings, judges' repeats as one mean or each run as a judge of its own (“judge #1”, …).

    Of categories (of every criterion, where answers are `nominal`) the one given most often stands for a
    mean.
    Final is the mean of the counted criteria that people and, where there are any, judges rated. With
    `exclude_refused` judges are not compared on conversations in which one of them saw a refusal. Units alike
    in the facets of `cluster_by` are resampled together, by default those of one scenario. Annotators whom a
    decision left out are so unless `with_excluded`. `items` are weighed in a study drawn for a figure, and
    taken as drawn in others, unless told. Raises NotFound for an unknown study or facet, StudyError for a
    study without any rating, and for items that the study does not have.
    """
    study = studies.get(db, name)
    out = exclusions.excluded(db, name)
    without = [] if with_excluded else [one.rater for one in out.values()]
    rows, extra = _apart(frames.rows(db, name, without=without, with_extra=True))
    chances, items = _chances(db, study), _items(study, items)
    if items == "random":
        random = _random_units(db, study)
        rows, extra = (taken(of, np.isin(of["unit"], random)) for of in (rows, extra))
    if not len(rows["unit"]):
        raise StudyError(
            f"The study “{name}” has no ratings yet. Have judges rate its conversations with `concord "
            "judge`, and deal it to annotators with `concord study deal`."
        )
    categories = [c.name for c in study.criteria if nominal or c.scale.nominal]
    rows, runs_of = (_mean_of_runs(rows, categories), {}) if runs == "mean" else _single_runs(rows)
    saw = frames.refusals_seen(db, name) if exclude_refused else {}
    by = dict(Counter(judge for judges in saw.values() for judge in judges).most_common())
    reason = f"{REFUSED} ({', '.join(f'{judge} {n}' for judge, n in by.items())})"
    rated = {
        kind: set(rows["criterion"][rows["kind"] == kind].tolist()) for kind in set(rows["kind"].tolist())
    }
    compared = set.intersection(*rated.values())
    counted = tuple(c.name for c in study.criteria if c.counted and c.name in compared)
    criteria = tuple(c.name for c in study.criteria)
    places = frames.places(db, name)
    facets = frames.facet_values(db, name)
    by_facets, clusters, too_few = _clusters(study, facets, places, cluster_by)
    present: Mapping[str, Any] = {}
    if fixed := registrations.binding(registrations.every(db, name)):
        from concord.studies import registration  # loads pydantic

        present = registration.content_of(db, name)
    return StudyRatings(
        study,
        rows,
        criteria,
        counted,
        dict.fromkeys(saw, reason),
        runs,
        by_facets,
        clusters,
        too_few,
        runs_of,
        by,
        frames.refusal_criteria(db, name),
        order=[unit for unit, *_ in places],
        chances=chances,
        items=items,
        extra=extra,
        excluded=tuple(out.values()),
        with_excluded=with_excluded,
        repeats=tuple(known.pairs(db, name)),
        checks=tuple(known.checks(db, name)),
        adjudicated=tuple(informed.answers(db, name, "adjudicate")),
        revised=(revised := tuple(informed.answers(db, name, "revise"))),
        blind=tuple(informed.blind(db, name, without)) if revised else (),
        registered=fixed,
        present=present,
        facets={facet: of for facet, of in facets.items() if 1 < len(set(of.values())) < len(of)},
        waiting={a.name: a.items - a.skipped for a in access.annotators(db, name) if a.items and not a.done},
        sent=guidance.sent(db),
    )


def _items(study: Study, asked: Items | None) -> Items:
    """What figures of a study describe. Raises StudyError for what its draw does not allow."""
    usual, *others = describable(study)
    if asked in (None, usual, *others):
        return asked or usual
    if asked == "weighed":
        raise StudyError(f"The items of “{study.name}” were drawn alike: there is nothing to weigh.")
    raise StudyError(
        f"The study “{study.name}” holds no simple random sample: only draws for a figure (`concord "
        "study draw --next-for`) do."
    )


def describable(study: Study) -> tuple[Items, ...]:
    """What figures of a study can describe, the usual one first."""
    drawn = study.meta.get("drawn", {})
    if "chance" not in drawn:
        return ("drawn",)
    if not drawn.get("next_for"):
        return ("drawn", "weighed")
    return ("weighed", "drawn", "random") if "random" in drawn else ("weighed", "drawn")


def _random_units(db: Database, study: Study) -> list[int]:
    """The units of a study's simple random sample."""
    random = set(study.meta["drawn"]["random"])
    return [unit["id"] for unit in studies.units(db, study.name) if unit["key"] in random]


def _apart(rows: Columns) -> tuple[Columns, Columns]:
    """First ratings and judges', and extra ratings."""
    extra = rows["extra"]
    rows = {name: column for name, column in rows.items() if name != "extra"}
    return taken(rows, ~extra), taken(rows, extra)


def _chances(db: Database, study: Study) -> dict[int, float]:
    """The probability with which each conversation of a study was drawn; empty where they are alike."""
    kept = study.meta.get("drawn", {}).get("chance", {})
    units = studies.units(db, study.name) if kept else []
    return {unit["conversation_id"]: kept[unit["key"]] for unit in units if unit["key"] in kept}


CONVERSATION = "conversation"
"""What turns that are rated one by one share, beside facets."""

FEWEST_CLUSTERS = 8
"""Fewer scenarios than this are not resampled as a whole: no interval would be left."""


def scenario_facets(db: Database, name: str) -> tuple[str, ...]:
    """The facets by which a study's units are resampled together unless others are asked for."""
    return _clusters(studies.get(db, name), frames.facet_values(db, name), frames.places(db, name), None)[0]


def _clusters(
    study: Study,
    given: Mapping[str, Mapping[int, str]],
    places: Sequence[tuple[int, str, str, int]],
    by: Sequence[str] | None,
) -> tuple[tuple[str, ...], dict[Hashable, Hashable] | None, str]:
    """The facets by which units are resampled together, each unit's values of them, and why they are not."""
    if by is not None and not by:
        return (), None, ""
    facets = dict(given)
    if study.per_turn:
        facets[CONVERSATION] = {unit: f"{benchmark} {key}" for unit, benchmark, key, _ in places}
    if by is not None:
        for facet in by:
            if facet not in facets:
                raise not_found("facet", facet, facets)
        return tuple(by), _alike_in(by, facets), ""
    by = _scenario(facets, {benchmark for _, benchmark, _, _ in places})
    found = _alike_in(by, facets)
    count = len(set(found.values())) + len(places) - len(found)
    if not by or count == len(places):
        return (), None, ""
    if count < FEWEST_CLUSTERS:
        too_few = (
            f"Items share {count} values of {' and '.join(by)}, too few to be resampled together: intervals "
            "take items for independent, and may be too narrow."
        )
        return (), None, too_few
    return tuple(by), found, ""


def _scenario(facets: Mapping[str, Mapping[int, str]], benchmarks: set[str]) -> list[str]:
    """The facets that make a scenario: those that tell the benchmark's items apart, else “scenario”.

    Where there are none, turns of one conversation hang together.
    """
    by = ["scenario"] if "scenario" in facets else []
    if facets.keys() - {CONVERSATION} and len(benchmarks) == 1:
        from concord.runs.registry import BENCHMARKS  # loads every benchmark

        [benchmark] = benchmarks
        own = BENCHMARKS[benchmark].items if benchmark in BENCHMARKS else ()
        by = [facet for facet in own if facet in facets] or by
    return by or [facet for facet in (CONVERSATION,) if facet in facets]


def _alike_in(by: Sequence[str], facets: Mapping[str, Mapping[int, str]]) -> dict[Hashable, Hashable]:
    """Each unit's values of the facets; one that lacks a facet hangs together with nothing."""
    if not by:
        return {}
    shared = set.intersection(*(set(facets[facet]) for facet in by))
    return {unit: tuple(facets[facet][unit] for facet in by) for unit in sorted(shared)}


def _mean_of_runs(rows: Columns, categories: Sequence[str]) -> Columns:
    """One score for each unit, criterion and rater: the sum over turns and repeats, divided once.

    Of `categories`, the answer given most often: a mean of their numbers is another category, or none.
    """
    rows = dict(rows)
    repeat, total, n = rows.pop("repeat"), rows.pop("total"), rows.pop("n")
    if repeat.max() == 0:
        return rows | {"score": total / n}
    of, first = _alike(rows, "unit", "criterion", "rater", "kind")
    mean = np.bincount(of, total) / np.bincount(of, n)
    usual = _most_given(of, total / n, repeat)
    kept = taken(rows, first)
    return kept | {"score": np.where(np.isin(kept["criterion"].tolist(), categories), usual, mean)}


def _most_given(
    of: npt.NDArray[np.int64], score: npt.NDArray[np.float64], repeat: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    """The score given most often in each group `of` rows; of several, that of the earliest run.

    Leaving groups without one such score out would keep those of which a judge is sure.
    """
    code, known = coded(score)
    same, _ = numbered(of * len(known) + code)
    order = np.lexsort((repeat, -np.bincount(same)[same], of))
    _, begin = np.unique(of[order], return_index=True)
    return score[order][begin]


def _alike(rows: Columns, *columns: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows numbered by what they hold in these columns, in the order in which it first appears, and where."""
    key = np.zeros(len(rows[columns[0]]), dtype=np.int64)
    for column in columns:
        code, known = coded(rows[column])
        key = numbered(key * len(known) + code)[0]
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place[of], first[order]


def _single_runs(rows: Columns) -> tuple[Columns, dict[str, tuple[str, ...]]]:
    """Each run of a judge with several runs as a judge of its own, and the names of such a judge's runs."""
    rows = dict(rows)
    repeat = rows.pop("repeat").tolist()
    del rows["total"], rows["n"]
    given = list(zip(rows["rater"].tolist(), rows["kind"].tolist(), repeat, strict=True))
    runs: dict[str, set[int]] = {}
    for rater, kind, run in given:
        if kind == "judge":
            runs.setdefault(rater, set()).add(run)
    runs_of = {
        judge: {run: run_label(judge, run) for run in sorted(runs[judge])}
        for judge in sorted(runs)
        if len(runs[judge]) > 1
    }
    names = [
        runs_of[rater][run] if kind == "judge" and rater in runs_of else rater for rater, kind, run in given
    ]
    found = rows | {"rater": np.array(names, dtype=object)}
    return found, {judge: tuple(of.values()) for judge, of in runs_of.items()}


def reported(study: Study) -> tuple[str, Mapping[str, str]]:
    """The paper of the benchmark that a study was drawn from, and its figures for the language, if any."""
    from concord.runs.registry import BENCHMARKS  # loads every benchmark, of which few studies ask

    drawn = study.meta.get("drawn", {})
    benchmark = BENCHMARKS.get(drawn.get("benchmark", ""))
    if benchmark is None:
        return "", {}
    return benchmark.paper, benchmark.reported.get(drawn["filter"].get("language", ""), {})
