"""What changed between two runs, two players, or two versions of the judges' prompt.

What a panel gives, as on a leaderboard, is paired on common scenarios: of each, what the other side has more
than the one, judge by judge and criterion by criterion.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sqlite_utils import Database

from concord import scores
from concord.configuration import Use
from concord.errors import ConcordError, NotFound, check_known
from concord.estimate import Estimate
from concord.rating import Criterion, Rater
from concord.reports.leaderboards import paired, panel_means
from concord.runs import judged, planning
from concord.runs.plans import JudgePlan, PlayPlan, as_dict, from_dict
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
Panels = tuple[tuple[str, ...], tuple[str, ...]]
"""The names of judges on one side, and of those on the other that they are compared with."""


@dataclass(frozen=True)
class SideResults:
    """One of the two: its conversations and judgements by id, and what judges gave."""

    name: str
    benchmark: str
    ids: tuple[int, ...]
    judgements: tuple[int, ...]
    talks: pd.DataFrame = field(repr=False, compare=False)
    """As `concord.store.tables.conversations` gives them."""
    given: pd.DataFrame = field(repr=False, compare=False)
    """As `concord.store.tables.scores` gives it."""
    raters: Mapping[str, Rater]
    """Who gave it, by name."""
    run: Progress | None = None


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
    pair = [_run(workspace, n) if of == "runs" else _named(workspace, of, n, benchmark) for n in (one, other)]
    if pair[0].benchmark != pair[1].benchmark:
        titles = (f"{side.name} is of {known_or_imported(side.benchmark).title}" for side in pair)
        raise ConcordError(
            f"{', '.join(titles)}: they have no scenario in common. Choose two of one benchmark."
        )
    if one == other:
        raise ConcordError(f"{pair[0].name} cannot be compared with itself. Choose another one.")
    with workspace.read() as db:
        return _compared(db, pair[0], pair[1], resamples, seed)


def _named(workspace: Workspace, of: Of, name: str, benchmark: str) -> SideResults:
    """A player, or a version of the judges' prompt."""
    with workspace.read() as db:
        known = conversations.values(db)["benchmark"]
        check_known("benchmark with conversations", benchmark, known)
        if of == "players":
            check_known("player", name, conversations.values(db, benchmark)["player"])
            return _side(db, name, benchmark, *sides.of_player(db, benchmark, name))
        check_known("version of the judges' prompt", name, versions(db, benchmark))
        by_version = sides.of_version(db, benchmark, name)
        return _side(db, name, benchmark, *by_version, where={tables.PROMPT: [name]})


def _run(workspace: Workspace, number: str) -> SideResults:
    with workspace.read() as db:
        if not number.isdecimal() or len(number) > 15:
            raise NotFound(f"“{number[:40]}” is not the number of a run.")
        run = runs.get(db, int(number))
    plan = from_dict(run.plan)
    if not isinstance(plan, PlayPlan | JudgePlan):
        raise ConcordError(f"Run {run.id} rated no conversations, so that it has no scores to compare.")
    named = dict(planning.named(workspace, plan))
    with workspace.read() as db:
        ids, judgements = sides.of_keys(db, named, [key for keys in named.values() for key in keys])
        return _side(db, f"run {run.id}", run.benchmark, ids, judgements, run=run)


def _side(
    db: Database,
    name: str,
    benchmark: str,
    ids: Sequence[int],
    judgements: Sequence[int],
    where: Where | None = None,
    run: Progress | None = None,
) -> SideResults:
    """These conversations, with what judges gave them; of a run in its own judgements alone."""
    chosen: Where = {tables.ID: list(map(str, ids)), **(where or {})}
    given = tables.scores(db, benchmark, sides.answered(db, ids), chosen, judgements if run else None)
    judges = tables.judges(db, benchmark)
    raters = {judge: judges[judge] for judge in sorted(given.judge.unique())}
    talks = tables.conversations(db, benchmark, chosen)
    return SideResults(name, benchmark, tuple(ids), tuple(judgements), talks, given, raters, run)


def _compared(db: Database, one: SideResults, other: SideResults, resamples: int, seed: int) -> Differences:
    criteria, refusal = _criteria(db, one, other)
    judges, by_whom = _judges(one, other)
    about, matching = _about(db, one, other)
    labels = {c.name: c.label + (" (share)" if c.name == refusal else "") for c in criteria}
    scored = {
        judge: tuple(
            _scored(side, panel, criteria, refusal, about)
            for side, panel in zip((one, other), panels, strict=True)
        )
        for judge, panels in judges.items()
    }
    matched = {(judge, name): _matched(of, name) for judge, of in scored.items() for name in labels}
    rows: list[dict[str, Cell]] = []
    for (judge, name), of in matched.items():
        # Conversations of several players about one scenario are one draw of it.
        means = of[["one", "other"]].groupby("scenario").mean()
        both, change = paired(means.one, means.other, resamples=resamples, seed=seed, of="common scenario")
        if len(both):
            row = dict(zip(("one", "other"), both.mean().round(DIGITS).tolist(), strict=True))
            rows.append({"judge": judge, "criterion": labels[name], **row, "change": change, "n": len(both)})
    notes = [*by_whom, *matching]
    if refusal in labels:
        notes.append("Conversations in which a judge saw a refusal enter the rows of refusal alone.")
    for side in (one, other):
        if failed := sides.unusable(db, side.judgements):
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
    first = next(iter(judges), "")
    changes = {
        name: _changes(one, other, first, matched.get((first, name)), label) for name, label in labels.items()
    }
    return Differences(one, other, criteria, labels, table, changes, _configuration(db, one, other))


def _criteria(db: Database, one: SideResults, other: SideResults) -> tuple[tuple[Criterion, ...], str]:
    """*Final* and the criteria that judges of both sides rated, in their order; and the one of refusal."""
    system = known_or_imported(one.benchmark)
    known = {c.name: c for c in (*system.criteria, *ratings.criteria(db, one.benchmark))}
    variants = dict.fromkeys(rater.variant for side in (one, other) for rater in side.raters.values())
    used = judged.versions(db, one.benchmark)
    for variant in [variant for variant in variants if variant in used]:
        known |= {c.name: c for c in judged.system(db, one.benchmark, variant).criteria}
    rated = [side.given.drop(columns=["conversation", "judge"]).notna().any() for side in (one, other)]
    both = set(rated[0].index[rated[0]]) & set(rated[1].index[rated[1]])
    names = [name for name in [*known, *sorted(both - known.keys())] if name in both]
    shared = [known.get(name) or Criterion(name, "") for name in names]
    whole = [Criterion(FINAL, "")] if sum(c.counted for c in shared) > 1 else []
    return (*whole, *shared), system.refusal or ratings.refusal(db, one.benchmark)


def _judges(one: SideResults, other: SideResults) -> tuple[dict[str, Panels], list[str]]:
    """Judges of both sides: the same one, or one model under other versions of the prompt.

    Of several their mean comes first; where no model judged both, the means of all are compared.
    """
    pairs: dict[str, Panels] = {label: ((label,), (label,)) for label in one.raters.keys() & other.raters}
    rest: list[dict[str, list[str]]] = [{}, {}]
    for side, versions_of in zip((one, other), rest, strict=True):
        for label, rater in side.raters.items():
            if label not in pairs:
                versions_of.setdefault(rater.name, []).append(label)
    shared = [name for name in rest[0] if name in rest[1] and name not in pairs]
    notes = []
    for name in shared:
        was, now = (
            " and ".join(side.raters[label].variant or "no version" for label in versions_of[name])
            for side, versions_of in zip((one, other), rest, strict=True)
        )
        notes.append(f"{name} answered {was} of the prompt in {one.name}, {now} in {other.name}.")
    notes += [
        f"Judges in {side.name} alone: {', '.join(alone)}."
        for side, versions_of in zip((one, other), rest, strict=True)
        if (alone := sorted(versions_of.keys() - set(shared)))
    ]
    pairs |= {name: (tuple(rest[0][name]), tuple(rest[1][name])) for name in shared}
    if not pairs and one.raters and other.raters:
        notes.append("No judge rated both, so the means of all judges are compared.")
        return {PANEL: (tuple(one.raters), tuple(other.raters))}, notes
    pairs = {name: pairs[name] for name in sorted(pairs)}
    left, right = (tuple(label for of in pairs.values() for label in of[at]) for at in (0, 1))
    return ({PANEL: (left, right)} if len(pairs) > 1 else {}) | pairs, notes


def _about(db: Database, one: SideResults, other: SideResults) -> tuple[pd.DataFrame, list[str]]:
    """The scenario and the player that each conversation is matched by (index conversation), and sentences
    that say so.

    Where both sides hold the same conversations, these alone are compared. Where no player is common, those
    of one side are compared with those of the other.
    """
    system = known_or_imported(one.benchmark)
    names = (system.scenario_facet,) if system.scenario_facet else system.items
    talks = pd.concat([one.talks, other.talks])
    talks = talks[~talks.index.duplicated()]
    where = {tables.ID: list(map(str, talks.index))}
    facets = tables.scenarios(db, one.benchmark, [n for n in names if n != system.ending_facet], where)
    whole = pd.Series(facets, dtype=object).reindex(talks.index).fillna(talks.language + " · " + talks.key)
    scenario = whole if talks.language.nunique() > 1 else whole.str.split(" · ", n=1).str[-1]
    shared = set(one.ids) & set(other.ids)
    players = set(one.talks.player) & set(other.talks.player)
    about = pd.DataFrame({"scenario": scenario, "player": talks.player if shared or players else ""})
    if shared:
        note = f"{len(shared):,} conversations of both: only what judges gave them can differ."
        return about[about.index.isin(shared)], [note]
    if not players:
        return about, []
    notes = [
        f"Players in {side.name} alone, not compared: {', '.join(alone)}."
        for side in (one, other)
        if (alone := sorted(set(side.talks.player) - players))
    ]
    return about[about.player.isin(players)], notes


def _scored(
    side: SideResults, panel: Sequence[str], criteria: Sequence[Criterion], refusal: str, about: pd.DataFrame
) -> pd.DataFrame:
    """What a panel gave a side's conversations: index conversation; scenario, player, and each criterion.

    nan where a judge gave no score, or any saw a refusal (but for the criterion of refusal).
    """
    counted = dict.fromkeys((c.name for c in criteria if c.counted and c.name != FINAL), 1.0)
    mine = about[about.index.isin(side.ids)]
    means = panel_means(mine.index, side.given, panel, counted, [c.name for c in criteria if not c.counted])
    if refusal in side.given:
        refused = side.given.conversation[side.given[refusal].map(scores.refused)]
        means.loc[means.index.isin(refused), [name for name in means if name != refusal]] = np.nan
    return mine.join(means)


def _matched(scored: Sequence[pd.DataFrame], criterion: str) -> pd.DataFrame:
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
    one: SideResults, other: SideResults, judge: str, matched: pd.DataFrame | None, label: str
) -> Table:
    """The scenarios by how much a criterion changed in them, by the mean of the judges (or the only one)."""
    rows: list[dict[str, Cell]] = []
    if matched is not None:
        both = matched.assign(change=(matched.other - matched.one).round(DIGITS)).reset_index()
        both = both.sort_values("change", key=lambda of: -of.abs(), kind="stable")
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


def sentence(of: Differences) -> str:
    """What changed in *final*, or the first criterion, by the mean of the judges: in one sentence."""
    first = next((row for row in of.scores.rows if row["criterion"] == next(iter(of.labels.values()))), {})
    change = first.get("change")
    if not isinstance(change, Estimate) or not change.defined:
        return f"{of.one.name} and {of.other.name} have no score of the same scenario."
    ends = f" ({change.low:+z.2f} to {change.high:+z.2f})" if change.interval else ""
    by = f"the {PANEL}" if first["judge"] == PANEL else first["judge"]
    return (
        f"On {change.n} common scenarios, {first['criterion']} by {by} changed by {change.value:+z.2f}{ends} "
        f"from {of.one.name} to {of.other.name}."
    )


def _configuration(db: Database, one: SideResults, other: SideResults) -> Table:
    """What the two were made with, as far as it differs."""
    settings = [dict(_settings(db, side)) for side in (one, other)]
    names = dict.fromkeys([*settings[0], *settings[1]])
    alike = [name for name in names if settings[0].get(name) == settings[1].get(name)]
    rows = tuple(
        {"what": name, "one": settings[0].get(name) or "–", "other": settings[1].get(name) or "–"}
        for name in names
        if name not in alike
    )
    caption = "Models, parameters, prompts and options are the same, as far as they were recorded."
    notes = (f"Alike: {', '.join(alike)}.",) if alike else ()
    columns = (Column("what", "setting"), Column("one", one.name), Column("other", other.name))
    title = "What differs in the configuration"
    return Table("configurations", title, columns, rows, "" if rows else caption, notes)


def _settings(db: Database, side: SideResults) -> Iterator[tuple[str, str]]:
    """The settings of a run's plan and its spending limit, the models and the prompts of a side, by name."""
    if side.run:
        for name, value in {"models": {}, **as_dict(from_dict(side.run.plan))}.items():
            if name != "benchmark":
                of = value if isinstance(value, Mapping) else {name: value}
                yield from ((key.replace("_", " "), _listed(each)) for key, each in of.items())
        if side.run.max_cost is not None:
            yield "spending limit", f"{side.run.max_cost:g}"
    for name, uses in sides.models(db, side.ids, side.judgements).items():
        yield f"model {name}", "; ".join(map(_with_parameters, uses))
    for name, hashes in sides.prompts(db, side.ids, side.judgements).items():
        yield f"prompt {name}", ", ".join(hashes)


def _listed(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _with_parameters(use: Use) -> str:
    assert use.configuration is not None
    parameters = ", ".join(f"{name} {value}" for name, value in use.configuration.parameters.items())
    return f"{use}" + (f"; {parameters}" if parameters else "")
