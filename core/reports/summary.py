"""How far the judges of a study can be trusted, in sentences, and what keeps it from being known."""

from collections.abc import Iterable, Mapping, Sequence

from concord.estimate import Estimate
from concord.statistics.figures import whom
from concord.statistics.ratings import FINAL, Ratings, called
from concord.statistics.study import Labels, StudyAgreement
from concord.table import Cell, Table

Rows = Sequence[Mapping[str, Cell]]

TWICE = "items rated by two or more"


def summary(
    ratings: Ratings,
    found: StudyAgreement,
    tables: Mapping[str, Table],
    criterion: str,
    members: Sequence[str],
    label: Labels,
) -> list[str]:
    """Sentences about “the judges” (`members`) on one criterion; none where nothing is compared.

    `tables` are those of the criterion. A difference is stated only where its interval leaves out 0. The
    strongest and the weakest criterion are named with their intervals, and called unsettled where these
    overlap. Where intervals are for annotators like these, those that are not say so.
    """
    row = found.criteria[criterion].rater(members)
    if row is None or not row.spearman.defined:
        return []
    rows = {
        name: [row for row in table.rows if row.get("rater") == called(members)]
        for name, table in tables.items()
    }
    several = len(members) > 1
    these = " for these annotators" if found.people == "like-these" else ""
    they = "the judges together" if several else members[0]
    who = f"the {len(members)} judges together (their mean)" if several else they
    rho = f"ρ = {_two(row.spearman)}{_within(row.spearman)} on {row.n} items"
    sentences = [
        f"On {label(criterion)}, {_follows(row.spearman, who, several)} {rho}"
        f"{_whom(ratings, criterion, found)}.",
        _held_out(found, criterion, they, several, rows["held_out"]),
        _criteria(found, members, label) if len(ratings.judges) == 1 or several else "",
        _within_players(rows["levels"], these),
        _level(f"{they} {'score' if several else 'scores'}", rows["judges"]),
        _players(rows["players"], these),
    ]
    return [sentence for sentence in sentences if sentence]


def choice(
    best: Table | None,
    gain: Table | None,
    names: Mapping[str, str],
    *,
    alone: Mapping[str, Estimate],
    these: str,
) -> list[str]:
    """Sentences on which judge to use: the best single one, and whether the first panel is better than it.

    `best` is the search for the best judge, `gain` panels beside their best judge; None where there is none.
    The best judge has its interval as in other tables, from `alone` (judge → Spearman on its own items),
    where these are the items of the search. Other intervals are for the annotators that `these` names. A lead
    or gain whose interval holds 0 is said to be undecided.
    """
    said = []
    first, *others = best.rows if best else [{}]
    rho, lead = _figure([first], "spearman"), _figure([first], "lead")
    if best and rho and rho.defined and others:
        one, other = (names.get(str(row["rater"]), str(row["rater"])) for row in (first, others[0]))
        own = alone.get(str(first["rater"]))
        over = f"simultaneous over the {len(best.rows)} judges{these and f', {these}'}"
        if own and own.n == rho.n and _two(own) == _two(rho):
            figure = f"{_two(own)}{_within(own)}"
        else:
            ends = f"{_within(rho)[:-1]}, {over})" if rho.interval else _within(rho)
            figure = f"{_two(rho)}{ends} on the {rho.n} items that all of them rated"
        said.append(f"Of single judges {one} agrees best with people, ρ = {figure}.")
        if lead and lead.value is not None:
            settled = lead.interval is not None and lead.interval[0] > 0
            how = (
                f"It leads {other}, the next, by" if settled else f"These items do not tell it from {other}:"
            )
            said[0] += f" {how} {_end(lead.value, signed=True)}"
            said[0] += f"{_within(lead, signed=True)[:-1]}, {over})." if lead.interval else "."
    elif rho and rho.reason and others:
        said.append(f"Which single judge agrees best is undefined: {rho.reason}.")
    more = _figure(gain.rows, "difference") if gain else None
    if gain and more and more.value is not None:
        panel, judge = (str(gain.rows[0][name]) for name in ("name", "best"))
        low, high = more.interval or (0.0, 0.0)
        how = "does better than" if low > 0 else "does worse than" if high < 0 else "is not told from"
        said.append(
            f"The mean of {panel} {how} {judge} alone: {more.value:+z.2f}{_within(more, signed=True)} on "
            f"{gain.rows[0]['n']} common items{these and f', {these}'}."
        )
    return said


def advice(best: Table | None, gain: Table | None, names: Mapping[str, str], label: str) -> str:
    """Which judge or panel to use on a criterion (`label`), in one sentence; “” where there is no choice.

    `best`, `gain` and `names` are those of `choice`. None is advised where no figure is above 0 beyond
    chance.
    """
    if best is None or len(best.rows) < 2:
        return ""
    rho, lead = _figure(best.rows, "spearman"), _figure(best.rows, "lead")
    more = _figure(gain.rows, "difference") if gain else None
    if rho is None or rho.interval is None:
        return ""
    one, other = (names.get(str(row["rater"]), str(row["rater"])) for row in best.rows[:2])
    ahead = bool(lead and lead.interval and lead.interval[0] > 0)
    alone = one if ahead else f"{one} or {other}, which cannot be told apart"
    low, high = more.interval if more and more.interval else (None, None)
    panel = f"the mean of {gain.rows[0]['name']}" if gain and gain.rows else ""
    if low is not None and low > 0:
        return f"For {label}, use {panel}; where only one judge can be paid for, {alone}."
    if rho.interval[0] <= 0:
        return f"For {label}, rely on none of them yet: no single judge is shown to follow people."
    if ahead:
        too = f"; {panel} is not shown to be better" if panel else ""
        return f"For {label}, use {one}{too}."
    also = f", or {panel}" if panel and not (high is not None and high < 0) else ""
    return f"For {label}, {one} and {other} cannot be told apart: use either{also}."


def missing(
    study: str,
    *,
    people: int,
    judges: Iterable[str],
    compared: Sequence[Estimate],
    anonymous: bool,
    waiting: Mapping[str, int],
) -> list[str]:
    """What keeps a study from answering how far to trust its judges, one sentence each with the remedy.

    `people` is how many rated, `compared` the figures of judges with people, `waiting` how many items are
    open by annotator who has the study and has rated nothing of it. Code stands between backticks.
    """
    judges = list(judges)
    deal = f"`concord study deal {study}`"
    have = "still open are " + _and(
        f"{n} item{'' if n == 1 else 's'} with {name}" if n else f"none with {name}"
        for name, n in waiting.items()
    )
    reason = next((figure.reason for figure in compared), "")
    found = [
        (
            not people,
            f"Nobody has rated the study “{study}” yet"
            + (f": {have}." if waiting else f". Deal it with {deal} and invite annotators."),
        ),
        (
            people == 1 and not anonymous,
            f"One person alone rated the study “{study}”, so how far people agree is unknown: "
            + (f"{have}." if waiting else f"deal it to a second annotator with {deal}."),
        ),
        (
            not judges,
            f"No judge has rated the study “{study}”: have one rate its conversations with `concord judge`.",
        ),
        (
            people and judges and not any(figure.defined for figure in compared),
            f"No judge of the study “{study}” can be compared with people ({reason}): "
            "more, and more varied, items have to be rated by both.",
        ),
    ]
    return [sentence for lacking, sentence in found if lacking]


def _and(parts: Iterable[str]) -> str:
    *first, last = [*parts] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _follows(rho: Estimate, who: str, several: bool) -> str:
    """Whether judges follow people's mean: not known where `rho` has no interval, or one that holds 0."""
    low, high = rho.interval or (0.0, 0.0)
    if low > 0:
        return f"{who} {'follow' if several else 'follows'} people's mean with"
    if high < 0:
        return f"{who} {'order' if several else 'orders'} the items the other way round than people's mean,"
    return f"it is not known yet whether {who} {'follow' if several else 'follows'} people's mean:"


def _held_out(found: StudyAgreement, criterion: str, they: str, several: bool, rows: Rows) -> str:
    """Judge and held-out annotator against the same others."""
    judge, person, gap = (_figure(rows, name) for name in ("judge", "person", "difference"))
    if judge is None or person is None or gap is None or gap.value is None:
        why = f" ({gap.reason})" if gap else ""
        return (
            f"What a person would reach is undefined{why}, so there is no human ceiling to set beside it."
            f"{_alpha(found, criterion)}"
        )
    figures = f"ρ = {_two(judge)} against {_two(person)}, difference {gap.value:+z.2f}"
    if gap.interval is None:
        return (
            f"With the mean of the other people {they} {'reach' if several else 'reaches'} {figures}; "
            "the interval of the difference is undefined."
        )
    if gap.interval[0] <= 0 <= gap.interval[1]:
        agree = f"{'agree' if several else 'agrees'} more or less closely with the other people than a single"
        return (
            f"These items do not tell whether {they} {agree} person does: "
            f"{figures}{_within(gap, signed=True)}."
        )
    how = "more" if gap.interval[0] > 0 else "less"
    agree = f"{they} {'agree' if several else 'agrees'} with the other people {how} closely"
    said = f"{agree} than a single person does: {figures}{_within(gap, signed=True)}"
    return f"Beside a held-out annotator, {said}."


def _alpha(found: StudyAgreement, criterion: str) -> str:
    """How far people agree, where there is no ceiling: their alpha, or its range over the criteria."""
    alpha = found.criteria[criterion].alpha["ordinal"]
    if alpha.defined:
        return f" Among themselves people reach alpha = {_two(alpha)}{_within(alpha)} on {alpha.n} {TWICE}."
    alphas = [part.alpha["ordinal"] for part in found.criteria.values()]
    known = [(value, one.n or 0) for one in alphas if (value := one.value) is not None]
    if not known:
        return ""
    values, sizes = zip(*known, strict=True)
    on = f"{min(sizes)}" if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"
    return (
        f" Among themselves people reach alphas of {min(values):z.2f} to {max(values):z.2f}, by criterion, "
        f"on {on} {TWICE}."
    )


def _criteria(found: StudyAgreement, members: Sequence[str], label: Labels) -> str:
    ranked = sorted(
        (row.spearman.value, row.spearman.interval, name)
        for name, part in found.criteria.items()
        if name != FINAL and (row := part.rater(members))
        if row.spearman.value is not None and row.spearman.interval
    )
    if len(ranked) < 2:
        return ""
    (low, low_ends, worst), (high, high_ends, best) = ranked[0], ranked[-1]
    hedge = "; the intervals overlap, so this order is not settled" if high_ends[0] <= low_ends[1] else ""
    return (
        f"Strongest on {label(best)} ({high:z.2f}, {high_ends[0]:z.2f} to {high_ends[1]:z.2f}), "
        f"weakest on {label(worst)} ({low:z.2f}, {low_ends[0]:z.2f} to {low_ends[1]:z.2f}){hedge}."
    )


def _within_players(rows: Rows, these: str) -> str:
    """Stated where the correlation inside players lies, with its interval, below the one over everything."""
    overall, within = ([row for row in rows if row["level"] == level] for level in ("overall", "within"))
    over, rho = _figure(overall, "spearman"), _figure(within, "spearman")
    if not (over and over.value is not None and rho and rho.interval and rho.interval[1] < over.value):
        return ""
    return (
        f"Within one player agreement is lower{these}, ρ = {_two(rho)}{_within(rho)} on average over "
        f"{within[0]['groups']}: part of the agreement is telling players apart."
    )


def _level(they_score: str, rows: Rows) -> str:
    bias = _figure(rows, "bias")
    if bias is None or bias.value is None or bias.interval is None:
        return ""
    if bias.interval[0] <= 0 <= bias.interval[1]:
        return f"No shift of level is visible: {bias.value:+z.2f} points{_within(bias, signed=True)}."
    low, high = sorted(map(abs, bias.interval))
    way = "higher" if bias.value > 0 else "lower"
    return (
        f"In level, {they_score} {abs(bias.value):z.2f} points {way} than people ({low:z.2f} to {high:z.2f})."
    )


def _players(rows: Rows, these: str) -> str:
    beyond = [
        (bias, row)
        for row in rows
        if (bias := _figure([row], "bias")) and bias.interval and bias.interval[0] * bias.interval[1] > 0
    ]
    if not beyond or len(rows) < 2:
        return ""
    bias, row = max(beyond, key=lambda one: abs(one[0].value or 0.0))
    return (
        f"Farthest from people on the player {row['group']}: {bias.value:+z.2f} points"
        f"{_within(bias, signed=True)}{these}, n = {row['n']} "
        f"(of {len(rows)} players the one with the largest bias, which by that choice may look too large)."
    )


def _figure(rows: Rows, name: str) -> Estimate | None:
    cell = rows[0].get(name) if rows else None
    return cell if isinstance(cell, Estimate) else None


def _whom(ratings: Ratings, criterion: str, found: StudyAgreement) -> str:
    about = whom(ratings, criterion, found.people)
    return f", {about}" if about else ""


def _two(figure: Estimate) -> str:
    return f"{figure.value:z.2f}"


def _within(figure: Estimate, *, signed: bool = False) -> str:
    if figure.interval is None:
        return f" ({figure.reason or 'no interval'})"
    low, high = (_end(end, signed=signed) for end in figure.interval)
    return f" ({low} to {high})"


def _end(value: float, *, signed: bool) -> str:
    """Two digits, or as many more, up to six, as show on which side of 0 it lies."""
    digits = next((d for d in range(2, 7) if round(value, d)), 2)
    return f"{value:+z.{digits}f}" if signed else f"{value:z.{digits}f}"
