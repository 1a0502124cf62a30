"""What changed between two runs, two players, or two versions of the judges' prompt.

Scores are compared on common scenarios: of each, what one side was given less what the other was, judge by
judge and criterion by criterion.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sqlite_utils import Database

from concord.errors import ConcordError, NotFound, check_known
from concord.estimate import Estimate
from concord.rating import Criterion
from concord.reports.leaderboards import paired, panel_means
from concord.reports.sides import SideResults, configuration_table
from concord.runs import judged, planning
from concord.runs.plans import JudgePlan, PlayPlan, from_dict
from concord.runs.registry import known_or_imported
from concord.scores import DIGITS, FINAL
from concord.statistics.intervals import DIFFERENCE, described
from concord.store import conversations, ratings, runs, sides, tables
from concord.store.filters import Where
from concord.store.runs import Progress
from concord.table import Cell, Column, Table
from concord.workspace import Workspace

Of = Literal["runs", "players", "versions"]
"""What is compared: two runs, two players of a benchmark, or two versions of its judges' prompt."""

OFS: tuple[Of, ...] = get_args(Of)
PANEL = "mean of the judges"


@dataclass(frozen=True)
class JudgePair:
    """One judge, or the mean of all, by the names of its judges on both sides."""

    name: str
    one: tuple[str, ...]
    other: tuple[str, ...]


@dataclass(frozen=True)
class Differences:
    """Two sides, and the tables that say what changed from `one` to `other`."""

    one: SideResults
    other: SideResults
    criteria: tuple[Criterion, ...]
    labels: Mapping[str, str]
    """What the tables call each criterion, by name."""
    scores: Table
    """A row for each judge and criterion; `change` is the mean of `other` less `one` over `n` scenarios."""
    changes: Mapping[str, Table]
    """By criterion: a row for each scenario, the largest change first, with a conversation of each side."""
    configuration: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them; of the scenarios by *final*, or by the first criterion."""
        return (self.scores, *list(self.changes.values())[:1], self.configuration)


def comparable(db: Database, limit: int = 200) -> list[Progress]:
    """The latest runs that played or judged, newest first: others have no scores."""
    return [run for run in runs.recent(db, limit) if run.plan.get("kind", "play") in ("play", "judge")]


def before(known: Sequence[Progress], run: Progress) -> Progress | None:
    """The run to compare one with: the latest earlier one of its benchmark and language with another plan."""
    earlier = (r for r in known if r.id < run.id and r.benchmark == run.benchmark and r.plan != run.plan)
    return next((r for r in earlier if _language(r) == _language(run)), None)


def _language(run: Progress) -> Any:
    return run.plan.get("options", {}).get("language")


def versions(db: Database, benchmark: str) -> list[str]:
    """The versions of the judges' prompt by which conversations of a benchmark were rated."""
    return sorted({rater.variant for rater in ratings.judges(db, benchmark)} - {""})


def differences(
    workspace: Workspace,
    of: Of,
    one: str,
    other: str,
    *,
    benchmark: str = "",
    resamples: int = 1000,
    seed: int = 0,
) -> Differences:
    """What changed from `one` to `other`: numbers of runs, or names of players or versions of a benchmark.

    Raises NotFound for what there is not, ConcordError for runs of different benchmarks or without scores.
    """
    pair = tuple(_side(workspace, of, name, benchmark) for name in (one, other))
    if pair[0].benchmark != pair[1].benchmark:
        titles = (f"{side.name} is of {known_or_imported(side.benchmark).title}" for side in pair)
        raise ConcordError(
            f"{', '.join(titles)}: they have no scenario in common. Choose two of one benchmark."
        )
    if one == other:
        raise ConcordError(f"{pair[0].name} cannot be compared with itself. Choose another one.")
    with workspace.read() as db:
        return _compared(db, pair[0], pair[1], resamples, seed)


def _side(workspace: Workspace, of: Of, name: str, benchmark: str) -> SideResults:
    if of == "runs":
        return _run(workspace, name)
    with workspace.read() as db:
        known = conversations.values(db)["benchmark"]
        check_known("benchmark with conversations", benchmark, known)
        if of == "players":
            offered = conversations.values(db, benchmark)["player"]
        else:
            offered = versions(db, benchmark)
        check_known("player" if of == "players" else "version of the judges' prompt", name, offered)
        find = sides.of_player if of == "players" else sides.of_version
        ids, judgements = find(db, benchmark, name)
        where = {} if of == "players" else {tables.PROMPT: [name]}
        return _read(db, name, benchmark, ids, judgements, where)


def _run(workspace: Workspace, number: str) -> SideResults:
    with workspace.read() as db:
        if not number.isdecimal() or len(number) > 15:
            raise NotFound(f"“{number[:40]}” is not the number of a run.")
        run = runs.get(db, int(number))
    plan = from_dict(run.plan)
    if not isinstance(plan, PlayPlan | JudgePlan):
        raise ConcordError(f"Run {run.id} rated no conversations, so that it has no scores to compare.")
    named = dict(planning.named(workspace, plan))
    owed = [key for keys in named.values() for key in keys]
    with workspace.read() as db:
        ids, judgements = sides.of_keys(db, named, owed)
        side = _read(db, f"run {run.id}", run.benchmark, ids, judgements, {}, among=judgements)
    return replace(side, run=run)


def _read(
    db: Database,
    name: str,
    benchmark: str,
    ids: Sequence[int],
    judgements: Sequence[int],
    where: Where,
    among: Sequence[int] | None = None,
) -> SideResults:
    """A side of these conversations, with what judges gave them (in the judgements `among`)."""
    chosen: Where = {tables.ID: list(map(str, ids)), **where}
    given = tables.scores(db, benchmark, sides.answered(db, ids), chosen, among)
    judges = tables.judges(db, benchmark)
    raters = {judge: judges[judge] for judge in sorted(given.judge.unique())}
    talks = tables.conversations(db, benchmark, chosen)
    return SideResults(name, benchmark, tuple(ids), tuple(judgements), talks, given, raters)


def _compared(db: Database, one: SideResults, other: SideResults, resamples: int, seed: int) -> Differences:
    criteria, refusal = _criteria(db, one, other)
    judges, by_whom = _judges(one, other)
    about, matching = _about(db, one, other)
    labels = {c.name: c.label + (" (share)" if c.name == refusal else "") for c in criteria}
    scored = {
        judge.name: (
            _scored(one, judge.one, criteria, refusal, about),
            _scored(other, judge.other, criteria, refusal, about),
        )
        for judge in judges
    }
    rows: list[dict[str, Cell]] = []
    for judge, of in scored.items():
        for name, label in labels.items():
            # Conversations of several players about one scenario are one draw of it.
            means = _matched(of, name)[["one", "other"]].groupby("scenario").mean()
            both, figure = paired(
                means.one, means.other, resamples=resamples, seed=seed, of="common scenario"
            )
            if len(both):
                one_mean, other_mean = both.mean().round(DIGITS).tolist()
                row: dict[str, Cell] = {"judge": judge, "criterion": label, "change": figure}
                rows.append(row | {"one": one_mean, "other": other_mean, "n": len(both)})
    notes = [*by_whom, *matching]
    if refusal in labels:
        notes.append("Conversations in which a judge saw a refusal enter the rows of refusal alone.")
    for side in (one, other):
        failed = sides.unusable(db, side.judgements)
        if failed:
            by = ", ".join(f"{count:,} by {judge}" for judge, count in failed.items())
            notes.append(f"Judgements without a usable reply in {side.name}: {by}.")
    if not rows:
        notes.append("No judge scored the same scenario on both sides.")
    method = described([DIFFERENCE], resamples=resamples, seed=seed, of="scenarios")
    columns = (
        Column("judge"),
        Column("criterion"),
        Column("one", one.name),
        Column("other", other.name),
        Column("change", signed=True, interval="ends"),
        Column("n", "scenarios", help="Common scenarios with a score of both"),
    )
    table = Table(
        "differences",
        f"Scores: from {one.name} to {other.name}",
        columns,
        tuple(rows),
        f"Means over common scenarios; change is {other.name} less {one.name}. {method}.",
        tuple(notes),
        {"one": one.name, "other": other.name, "benchmark": one.benchmark, "seed": seed},
    )
    first = next(iter(scored), "")
    changes = {
        name: _changes(one, other, first, scored.get(first), name, label) for name, label in labels.items()
    }
    settings = configuration_table(db, one, other)
    return Differences(one, other, criteria, labels, table, changes, settings)


def _criteria(db: Database, one: SideResults, other: SideResults) -> tuple[tuple[Criterion, ...], str]:
    """*Final* and the criteria that judges of both sides rated, in their order; and the one of refusal."""
    system = known_or_imported(one.benchmark)
    known = {c.name: c for c in (*system.criteria, *ratings.criteria(db, one.benchmark))}
    used = judged.versions(db, one.benchmark)
    for variant in dict.fromkeys(rater.variant for side in (one, other) for rater in side.raters.values()):
        if variant in used:
            known |= {c.name: c for c in judged.system(db, one.benchmark, variant).criteria}
    both = set(one.criteria) & set(other.criteria)
    shared = [known.get(name) or Criterion(name, "") for name in [*known, *sorted(both - known.keys())]]
    shared = [c for c in shared if c.name in both]
    refusal = system.refusal or ratings.refusal(db, one.benchmark)
    whole = [Criterion(FINAL, "")] if sum(c.counted for c in shared) > 1 else []
    return (*whole, *shared), refusal


def _judges(one: SideResults, other: SideResults) -> tuple[list[JudgePair], list[str]]:
    """Judges of both sides: the same one, or the only one of a name under two versions of the prompt.

    Where several are common, their mean comes first; where none is, the means of all are compared.
    """
    common = one.raters.keys() & other.raters.keys()
    pairs = {label: (label, label) for label in common}
    notes = []
    rest = [{n: r for n, r in side.raters.items() if n not in common} for side in (one, other)]
    names = [sorted(r.name for r in of.values()) for of in rest]
    for name in dict.fromkeys(names[0]):
        if names[0].count(name) == names[1].count(name) == 1 and name not in pairs:
            was, now = (next(n for n, r in of.items() if r.name == name) for of in rest)
            pairs[name] = was, now
            of = [rest[at][label].variant or "no version" for at, label in enumerate((was, now))]
            notes.append(f"{name} answered {of[0]} of the prompt in {one.name}, {of[1]} in {other.name}.")
    for at, side in enumerate((one, other)):
        paired_here = {pair[at] for pair in pairs.values()}
        if alone := sorted({r.name for label, r in rest[at].items() if label not in paired_here}):
            notes.append(f"Judges in {side.name} alone: {', '.join(alone)}.")
    if not pairs and one.raters and other.raters:
        notes.append("No judge rated both, so the means of all judges are compared.")
        return [JudgePair(PANEL, tuple(one.raters), tuple(other.raters))], notes
    judges = [JudgePair(name, (pairs[name][0],), (pairs[name][1],)) for name in sorted(pairs)]
    if len(judges) > 1:
        judges.insert(0, JudgePair(PANEL, *(tuple(p[at] for _, p in sorted(pairs.items())) for at in (0, 1))))
    return judges, notes


def _about(db: Database, one: SideResults, other: SideResults) -> tuple[pd.DataFrame, list[str]]:
    """The scenario and the player that each conversation is matched by (index conversation), and sentences
    that say so.

    Where both sides hold the same conversations, these alone are compared. Where no player is common, those
    of one side are compared with those of the other.
    """
    system = known_or_imported(one.benchmark)
    names = (system.scenario_facet,) if system.scenario_facet else system.items
    every = pd.concat([one.talks, other.talks])
    every = every[~every.index.duplicated()]
    where = {tables.ID: list(map(str, every.index))}
    facets = tables.scenarios(db, one.benchmark, [n for n in names if n != system.ending_facet], where)
    several = every.language.nunique() > 1
    shared = set(one.ids) & set(other.ids)
    players = set(one.talks.player) & set(other.talks.player)
    notes = []
    if shared:
        notes.append(f"{len(shared):,} conversations of both: only what judges gave them can differ.")
        every = every[every.index.isin(shared)]
    elif players:
        for side in (one, other):
            if alone := sorted(set(side.talks.player) - players):
                notes.append(f"Players in {side.name} alone, not compared: {', '.join(alone)}.")
        every = every[every.player.isin(players)]
    full = [
        facets.get(n, f"{row.language} · {row.key}")
        for n, row in zip(every.index, every.itertuples(), strict=True)
    ]
    about = pd.DataFrame(
        {
            "scenario": [name if several else name.partition(" · ")[2] for name in full],
            "player": every.player if shared or players else "",
        },
        index=every.index,
    )
    return about, notes


def _scored(
    side: SideResults,
    panel: Sequence[str],
    criteria: Sequence[Criterion],
    refusal: str,
    about: pd.DataFrame,
) -> pd.DataFrame:
    """What a panel gave a side's conversations: index conversation; scenario, player, and each criterion.

    nan where a judge gave no score, or any saw a refusal (but for the criterion of refusal).
    """
    counted = dict.fromkeys((c.name for c in criteria if c.counted and c.name != FINAL), 1.0)
    others = [c.name for c in criteria if not c.counted]
    mine = about[about.index.isin(side.ids)]
    means = panel_means(mine.index, side.given, panel, counted, others)
    means.loc[means.index.isin(side.refused(refusal)), [name for name in means if name != refusal]] = np.nan
    return mine.join(means)


def _matched(scored: tuple[pd.DataFrame, pd.DataFrame], criterion: str) -> pd.DataFrame:
    """Where both sides have a score: index scenario and player; its mean on each side (one, other), and a
    conversation of each (conversation, beside).
    """
    parts = []
    for of, columns in zip(scored, (["one", "conversation"], ["other", "beside"]), strict=True):
        given = of.dropna(subset=criterion).reset_index(names="conversation")
        groups = given.groupby(["scenario", "player"], sort=True)
        parts.append(groups.agg({criterion: "mean", "conversation": "first"}).set_axis(columns, axis=1))
    return pd.concat(parts, axis=1, join="inner")


def _changes(
    one: SideResults,
    other: SideResults,
    judge: str,
    scored: tuple[pd.DataFrame, pd.DataFrame] | None,
    criterion: str,
    label: str,
) -> Table:
    """The scenarios by how much a criterion changed in them, by the mean of the judges (or the only one)."""
    rows: list[dict[str, Cell]] = []
    if scored is not None:
        both = _matched(scored, criterion)
        both["change"] = (both.other - both.one).round(DIGITS)
        both = both.reset_index().sort_values("change", key=lambda of: -of.abs(), kind="stable")
        rows = [{str(name): cell for name, cell in row.items()} for row in both.to_dict("records")]
    columns = (
        Column("scenario"),
        Column("player", file_only=len({row["player"] for row in rows}) < 2),
        Column("one", one.name),
        Column("other", other.name),
        Column("change", signed=True),
        *(Column(name, file_only=True) for name in ("conversation", "beside")),
    )
    title, who = f"Scenarios that changed most: {label}", f"the {judge}" if judge == PANEL else judge
    return Table("changed-scenarios", title, columns, tuple(rows), f"By {who}.")


def change(found: Differences, criterion: str) -> Estimate | None:
    """The change of a criterion by the mean of the judges, or the only one; None where it was not scored."""
    rows = (row for row in found.scores.rows if row["criterion"] == found.labels[criterion])
    cell = next((row["change"] for row in rows), None)
    return cell if isinstance(cell, Estimate) else None


def sentence(found: Differences) -> str:
    """What changed, in one sentence."""
    name = found.criteria[0].name if found.criteria else ""
    cell = change(found, name) if name else None
    if cell is None or not cell.defined:
        return f"{found.one.name} and {found.other.name} have no score of the same scenario."
    ends = f" ({cell.low:+z.2f} to {cell.high:+z.2f})" if cell.interval else ""
    label, who = found.labels[name], found.scores.rows[0]["judge"]
    by = f"the {who}" if who == PANEL else str(who)
    return (
        f"On {cell.n} common scenarios, {label} by {by} changed by {cell.value:+z.2f}{ends} "
        f"from {found.one.name} to {found.other.name}."
    )
