"""What changed between two runs, two players, or two versions of the judges' prompt.

Scores are compared on common scenarios: of each, what one side was given less what the other was, judge by
judge and criterion by criterion.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sqlite_utils import Database

from concord import scores
from concord.configuration import Use
from concord.errors import ConcordError, NotFound, not_found
from concord.estimate import Estimate
from concord.rating import Criterion, Rater
from concord.runs import judged, planning
from concord.runs.plans import JudgePlan, PlayPlan, as_dict, from_dict
from concord.runs.registry import known_or_imported
from concord.runs.status import duration
from concord.scores import DIGITS, FINAL
from concord.statistics.intervals import DIFFERENCE, described
from concord.statistics.resampling import mean_estimates
from concord.store import conversations, ratings, runs, sides
from concord.store.runs import Progress
from concord.table import Cell, Column, Table
from concord.workspace import Workspace

Of = Literal["runs", "players", "versions"]
"""What is compared: two runs, two players of a benchmark, or two versions of its judges' prompt."""

OFS: tuple[Of, ...] = get_args(Of)
PANEL = "mean of the judges"


@dataclass(frozen=True)
class SideResults:
    """One of the two: its conversations and judgements by id, and what judges gave."""

    name: str
    benchmark: str
    ids: tuple[int, ...]
    judgements: tuple[int, ...]
    talks: pd.DataFrame = field(repr=False, compare=False)
    """Index conversation; key, player, language, turns, reply_chars, cut_replies."""
    given: pd.DataFrame = field(repr=False, compare=False)
    """Conversation, rater, criterion, score."""
    raters: Mapping[int, Rater]
    run: Progress | None = None
    works: frozenset[str] = frozenset()
    """The keys of what a run was to make."""


@dataclass(frozen=True)
class JudgePair:
    """One judge (or the mean of all) on both sides: the columns of `Differences.marks` that are theirs."""

    name: str
    one: tuple[int, ...]
    other: tuple[int, ...]


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
    counts: Table

    @property
    def tables(self) -> tuple[Table, ...]:
        """All of them; of the scenarios by *final*, or by the first criterion."""
        return (self.scores, *list(self.changes.values())[:1], self.configuration, self.counts)


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
        if benchmark not in known:
            raise not_found("benchmark with conversations", benchmark, known)
        if of == "players":
            offered = conversations.values(db, benchmark)["player"]
        else:
            offered = versions(db, benchmark)
        if name not in offered:
            raise not_found("player" if of == "players" else "version of the judges' prompt", name, offered)
        find = sides.of_player if of == "players" else sides.of_version
        ids, judgements = find(db, benchmark, name)
        given = sides.scores(db, ids)
        raters = sides.raters(db, set(map(int, given.rater)))
        if of == "versions":
            raters = {number: rater for number, rater in raters.items() if rater.variant == name}
            given = given[given.rater.isin(raters)]
        return SideResults(
            name, benchmark, tuple(ids), tuple(judgements), sides.talks(db, ids), given, raters
        )


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
        given = sides.scores(db, ids, judgements)
        raters = sides.raters(db, set(map(int, given.rater)))
        talks = sides.talks(db, ids)
    works = frozenset([*named, *owed])
    return SideResults(
        f"run {run.id}", run.benchmark, tuple(ids), tuple(judgements), talks, given, raters, run, works
    )


def _compared(db: Database, one: SideResults, other: SideResults, resamples: int, seed: int) -> Differences:
    criteria, refusal = _criteria(db, one, other)
    judges, told = _judges(one, other)
    about, matching = _about(db, one, other)
    marks = [_marks(side, at, judges, criteria, refusal, about) for side, at in ((one, 0), (other, 1))]
    labels = {c.name: c.label + (" (share)" if c.name == refusal else "") for c in criteria}
    rows = _score_rows(marks, judges, labels, resamples, seed)
    changes = {name: _changes(one, other, marks, judges, name, labels[name]) for name in labels}
    notes = [*told, *matching]
    if refusal and any(c.name == refusal for c in criteria):
        notes.append("Conversations in which a judge saw a refusal enter the rows of refusal alone.")
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
    return Differences(
        one, other, criteria, labels, table, changes, _configuration(db, one, other), _counts(db, one, other)
    )


def _criteria(db: Database, one: SideResults, other: SideResults) -> tuple[tuple[Criterion, ...], str]:
    """*Final* and the criteria that judges of both sides rated, in their order; and the one of refusal."""
    system = known_or_imported(one.benchmark)
    known = {c.name: c for c in (*system.criteria, *ratings.criteria(db, one.benchmark))}
    used = judged.versions(db, one.benchmark)
    for variant in dict.fromkeys(rater.variant for side in (one, other) for rater in side.raters.values()):
        if variant in used:
            known |= {c.name: c for c in judged.system(db, one.benchmark, variant).criteria}
    both = set(one.given.criterion) & set(other.given.criterion)
    found = [known.get(name) or Criterion(name, "") for name in [*known, *sorted(both - known.keys())]]
    found = [c for c in found if c.name in both]
    refusal = system.refusal or ratings.refusal(db, one.benchmark)
    whole = [Criterion(FINAL, "")] if sum(c.counted for c in found) > 1 else []
    return (*whole, *found), refusal


def _judges(one: SideResults, other: SideResults) -> tuple[list[JudgePair], list[str]]:
    """Judges of both sides: the same rater, or the only one of a name under two versions of the prompt.

    Where several are common, their mean comes first; where none is, the means of all are compared.
    """
    common = sorted(one.raters.keys() & other.raters.keys())
    pairs = {label: ((number,), (number,)) for number, label in _labels(one.raters, common).items()}
    told = []
    rest = [{n: r for n, r in side.raters.items() if n not in common} for side in (one, other)]
    names = [sorted(r.name for r in of.values()) for of in rest]
    for name in dict.fromkeys(names[0]):
        if names[0].count(name) == names[1].count(name) == 1 and name not in pairs:
            found = [next(n for n, r in of.items() if r.name == name) for of in rest]
            pairs[name] = (found[0],), (found[1],)
            of = [rest[at][found[at]].variant or "no version" for at in (0, 1)]
            told.append(f"{name} answered {of[0]} of the prompt in {one.name}, {of[1]} in {other.name}.")
    for at, side in ((0, one), (1, other)):
        alone = sorted(r.name for n, r in rest[at].items() if not any((n,) == p[at] for p in pairs.values()))
        if alone:
            told.append(f"Judges in {side.name} alone: {', '.join(dict.fromkeys(alone))}.")
    if not pairs and one.raters and other.raters:
        told.append("No judge rated both, so the means of all judges are compared.")
        return [JudgePair(PANEL, tuple(one.raters), tuple(other.raters))], told
    found_pairs = [JudgePair(name, *pairs[name]) for name in sorted(pairs)]
    if len(found_pairs) > 1:
        every = (tuple(p.one[0] for p in found_pairs), tuple(p.other[0] for p in found_pairs))
        return [JudgePair(PANEL, *every), *found_pairs], told
    return found_pairs, told


def _labels(raters: Mapping[int, Rater], which: Sequence[int]) -> dict[int, str]:
    names = scores.labels(raters[n] for n in which)
    return {n: names[raters[n]] for n in which}


def _about(
    db: Database, one: SideResults, other: SideResults
) -> tuple[dict[int, tuple[str, str]], list[str]]:
    """The scenario and the player that each conversation is matched by, and sentences that say so.

    Where both sides hold the same conversations, these alone are compared. Where no player is common, those
    of one side are compared with those of the other.
    """
    system = known_or_imported(one.benchmark)
    names = (system.scenario_facet,) if system.scenario_facet else system.items
    names = tuple(name for name in names if name != system.ending_facet)
    every = pd.concat([one.talks, other.talks])
    every = every[~every.index.duplicated()]
    facets = sides.facets(db, list(map(int, every.index)), names)
    several = every.language.nunique() > 1
    shared = set(one.ids) & set(other.ids)
    players = set(one.talks.player) & set(other.talks.player)
    told = []
    if shared:
        told.append(f"{len(shared):,} conversations of both: only what judges gave them can differ.")
        every = every[every.index.isin(shared)]
    elif players:
        for side in (one, other):
            if alone := sorted(set(side.talks.player) - players):
                told.append(f"Players in {side.name} alone, not compared: {', '.join(alone)}.")
        every = every[every.player.isin(players)]
    found = {}
    for number, key, language, player in zip(
        map(int, every.index), every.key, every.language, every.player, strict=True
    ):
        scenario = facets.get(number) or str(key)
        found[number] = (
            f"{language} · {scenario}" if several else scenario,
            player if shared or players else "",
        )
    return found, told


def _marks(
    side: SideResults,
    at: int,
    judges: Sequence[JudgePair],
    criteria: Sequence[Criterion],
    refusal: str,
    about: Mapping[int, tuple[str, str]],
) -> pd.DataFrame:
    """A side's conversations: index conversation; scenario, player, and a column for each (judge, criterion).

    nan where the judge gave no score, or where a judge saw a refusal (but for the criterion of refusal).
    """
    mine = [number for number in side.ids if number in about]
    wide = side.given.pivot(index="conversation", columns=["rater", "criterion"], values="score")
    wide = wide.reindex(mine)
    empty = pd.Series(np.nan, index=wide.index)
    refused = pd.Series(False, index=wide.index)
    for number in side.raters:
        if (number, refusal) in wide:
            refused |= wide[number, refusal].map(scores.refused)
    counted = [c.name for c in criteria if c.counted and c.name != FINAL]
    data: dict[tuple[str, str], pd.Series] = {}
    for judge in judges:
        of_raters = judge.one if at == 0 else judge.other
        for criterion in criteria:
            given = []
            for number in of_raters:
                if criterion.name == FINAL:
                    given.append(scores.final([wide.get((number, name), empty) for name in counted]))
                else:
                    given.append(wide.get((number, criterion.name), empty))
            value = scores.panel(given).round(DIGITS)
            data[judge.name, criterion.name] = value if criterion.name == refusal else value.mask(refused)
    found = pd.DataFrame(data, index=wide.index)
    found[("", "scenario")] = [about[n][0] for n in mine]
    found[("", "player")] = [about[n][1] for n in mine]
    return found


def _matched(
    marks: Sequence[pd.DataFrame], judge: str, criterion: str
) -> tuple[pd.DataFrame, tuple[dict[Any, int], dict[Any, int]]]:
    """Both sides' means by scenario and player, where both have one, and a conversation of each."""
    means, first = [], []
    for of in marks:
        part = pd.DataFrame(
            {"scenario": of["", "scenario"], "player": of["", "player"], "score": of[judge, criterion]}
        ).dropna(subset="score")
        groups = part.groupby(["scenario", "player"], sort=True)
        means.append(groups.score.mean())
        first.append({key: int(rows.index[0]) for key, rows in groups})
    both = pd.concat(means, axis=1, join="inner", keys=["one", "other"])
    return both, (first[0], first[1])


def _score_rows(
    marks: Sequence[pd.DataFrame],
    judges: Sequence[JudgePair],
    labels: Mapping[str, str],
    resamples: int,
    seed: int,
) -> list[dict[str, Cell]]:
    rows: list[dict[str, Cell]] = []
    for judge in judges:
        for criterion, label in labels.items():
            both, _ = _matched(marks, judge.name, criterion)
            if both.empty:
                continue
            # Conversations of several players about one scenario are one draw of it.
            by_scenario = both.groupby("scenario").mean()
            change = (by_scenario.other - by_scenario.one).round(DIGITS)
            [found] = mean_estimates(
                change.to_numpy(float)[:, None], resamples=resamples, seed=seed, of="common scenario"
            )
            one, other = (round(float(by_scenario[at].mean()), DIGITS) for at in ("one", "other"))
            row: dict[str, Cell] = {"judge": judge.name, "criterion": label, "change": found}
            rows.append(row | {"one": one, "other": other, "n": len(by_scenario)})
    return rows


def _changes(
    one: SideResults,
    other: SideResults,
    marks: Sequence[pd.DataFrame],
    judges: Sequence[JudgePair],
    criterion: str,
    label: str,
) -> Table:
    """The scenarios by how much a criterion changed in them, by the mean of the judges (or the only one)."""
    both, first = _matched(marks, judges[0].name, criterion) if judges else (pd.DataFrame(), ({}, {}))
    means = [
        (key, float(was), float(is_)) for key, (was, is_) in zip(both.index, both.to_numpy(), strict=True)
    ]
    means.sort(key=lambda found: (-abs(round(found[2] - found[1], DIGITS)), found[0]))
    rows: list[dict[str, Cell]] = [
        {"scenario": key[0], "player": key[1], "one": was, "other": is_}
        | {"change": round(is_ - was, DIGITS), "conversation": first[0][key], "beside": first[1][key]}
        for key, was, is_ in means
    ]
    players = len({row["player"] for row in rows}) > 1
    columns = (
        Column("scenario"),
        Column("player", file_only=not players),
        Column("one", one.name),
        Column("other", other.name),
        Column("change", signed=True),
        *(Column(name, file_only=True) for name in ("conversation", "beside")),
    )
    who = judges[0].name if judges else ""
    return Table(
        "changed-scenarios",
        f"Scenarios that changed most: {label}",
        columns,
        tuple(rows),
        f"By the {who}." if who == PANEL else f"By {who}.",
    )


def _configuration(db: Database, one: SideResults, other: SideResults) -> Table:
    """What the two were made with, as far as it differs."""
    told = [_settings(db, side) for side in (one, other)]
    names = list(dict.fromkeys([*told[0], *told[1]]))
    rows = tuple(
        {"what": name, "one": told[0].get(name, "–") or "–", "other": told[1].get(name, "–") or "–"}
        for name in names
        if told[0].get(name) != told[1].get(name)
    )
    alike = [name for name in names if told[0].get(name) == told[1].get(name)]
    columns = (Column("what", "setting"), Column("one", one.name), Column("other", other.name))
    notes = (f"Alike: {', '.join(alike)}.",) if alike else ()
    caption = (
        "" if rows else "Models, parameters, prompts and options are the same, as far as they were recorded."
    )
    return Table("configurations", "What differs in the configuration", columns, rows, caption, notes)


def _settings(db: Database, side: SideResults) -> dict[str, str]:
    found = dict(_planned(side.run)) if side.run else {}
    for name, uses in sides.models(db, side.ids, side.judgements).items():
        found[f"model {name}"] = "; ".join(map(_told, uses))
    for name, hashes in sides.prompts(db, side.ids, side.judgements).items():
        found[f"prompt {name}"] = ", ".join(hashes)
    return found


def _planned(run: Progress) -> Iterator[tuple[str, str]]:
    """The settings of a run's plan, and its spending limit."""
    plan = as_dict(from_dict(run.plan))
    for name, value in {"models": {}, **plan}.items():
        if name == "benchmark":
            continue
        if isinstance(value, Mapping):
            yield from ((key.replace("_", " "), _listed(of)) for key, of in value.items())
        else:
            yield name.replace("_", " "), _listed(value)
    if run.max_cost is not None:
        yield "spending limit", f"{run.max_cost:g}"


def _listed(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _told(use: Use) -> str:
    configuration = use.configuration
    assert configuration is not None
    parameters = ", ".join(f"{name} {value}" for name, value in configuration.parameters.items())
    return f"{use}" + (f"; {parameters}" if parameters else "")


def _counts(db: Database, one: SideResults, other: SideResults) -> Table:
    """What each side came to, and what failed."""
    told = [_totals(db, side) for side in (one, other)]
    rows = tuple(
        {"what": name, "one": told[0].get(name, "0"), "other": told[1].get(name, "0")}
        for name in dict.fromkeys([*told[0], *told[1]])
    )
    columns = (Column("what", "count"), Column("one", one.name), Column("other", other.name))
    return Table(
        "failures",
        "Results, failures and cost",
        columns,
        rows,
        "Of all results that belong to each, whichever run made them.",
    )


def _totals(db: Database, side: SideResults) -> dict[str, str]:
    talks, spent = side.talks, sides.spent(db, side.ids, side.judgements)
    refusal = known_or_imported(side.benchmark).refusal or ratings.refusal(db, side.benchmark)
    saw = side.given[(side.given.criterion == refusal) & side.given.score.map(scores.refused)]
    replies = int(talks.turns.sum())
    numbers = {
        "conversations": len(talks),
        "judgements": len(side.judgements),
        **({"conversations with a refusal": saw.conversation.nunique()} if refusal else {}),
        "conversations with a reply cut at the length limit": int((talks.cut_replies > 0).sum()),
        "calls": spent.calls,
        "tokens": spent.input_tokens + spent.output_tokens,
    }
    found = {name: f"{number:,}" for name, number in numbers.items()}
    found["characters of a reply, mean"] = (
        f"{int(talks.reply_chars.sum()) / replies:,.0f}" if replies else "–"
    )
    found["cost"] = spent.price()
    if side.run:
        found["started (UTC)"] = side.run.started[:16].replace("T", " ")
        found["state"] = side.run.stands
        found["took"] = duration(side.run.elapsed)
    for judge, n in sides.unusable(db, side.judgements).items():
        found[f"unusable judgements by {judge}"] = f"{n:,}"
    for reason, n in sides.not_made(db, side.works).items():
        found[f"failed: {reason}"] = f"{n:,}"
    return found


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
