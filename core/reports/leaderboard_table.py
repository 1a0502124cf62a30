"""A leaderboard as a table: one row a player, with notes on what the figures rest on."""

from dataclasses import replace

from concord.codes import IntervalMethod
from concord.reports.leaderboards import (
    MARGIN,
    MOCKS,
    Leaderboard,
    differences_to,
    failure_notes,
    unrated_notes,
)
from concord.table import Column, Table, record

UNLIKE = 0.1
"""Players whose shares of refusals differ by this much are not compared on the same conversations."""

HALF_WIDTH = "Half of the width of the score's interval, as papers print it"

TOO_NARROW = (
    "Percentile intervals are too narrow for few conversations and near the ends of the scale. “Places” "
    "and differences do not use them."
)


def leaderboard_table(board: Leaderboard, compared_player: str = "") -> Table:
    """The leaderboard as a table: one row a player, and how far its score lies above that of an
    `compared_player`.

    Raises NotFound for an `compared_player` without a score.
    """
    criteria = {c.name: c.label for c in board.rated.system.criteria}
    percentile = board.intervals is IntervalMethod.PERCENTILE
    columns = (
        Column(
            "rank",
            "#",
            help=f"Rank by score alone. Models within {MARGIN} points of the first of a group share its "
            "rank. This margin is fixed and ignores chance; “places” takes chance into account.",
        ),
        Column("player", board.player_heading),
        Column(
            "places",
            help="The ranks that the model may have with 95% confidence (Welch's t, Bonferroni). If the "
            "places of two models do not overlap, one is significantly better.",
        ),
        Column(
            "score",
            interval="ends",
            help="Overall score with a penalty for replies longer than the median model's",
        ),
        *((Column("half_width", "±", digits=2, help=HALF_WIDTH),) if percentile else ()),
        *(
            (
                Column(
                    "less", "difference", signed=True, interval="ends", help=_difference_help(compared_player)
                ),
            )
            if compared_player
            else ()
        ),
        Column("final", "overall", help="Weighted mean of the criteria"),
        *(Column(name, criteria[name].lower()) for name in board.weights),
        Column(
            "refusal_ratio",
            help="Share of the conversations rated by the whole panel in which a judge saw a refusal",
        ),
        Column("reply_chars", "reply length", digits=0, help="Mean characters of a reply"),
        Column("n", help="Number of conversations in the means"),
        _count_column(
            board, "incomplete", "Excluded conversations: a judge of the panel has no usable rating of them"
        ),
        _count_column(board, "failed", "Failed conversations: a reply of the model stayed empty or unusable"),
        _count_column(board, "cut", "Conversations with a truncated reply; they are included"),
        Column("simulated", file_only=len({s.simulated for s in board.standings}) < 2),
        *(Column(name, file_only=True) for name in ("refused", "judged", "length_factor")),
    )
    gaps = differences_to(board, compared_player) if compared_player else {}
    rows = tuple(
        {**record(s), **s.criteria, "less": gaps.get(s.player), "half_width": s.score.half_width}
        for s in board.standings
    )
    return Table(
        f"leaderboard-{board.benchmark}",
        board.rated.title(),
        columns,
        rows,
        " ".join(filter(None, (first_two(board), _left_out(board)))),
        notes=(*([_difference_help(compared_player)] if compared_player else []), *_notes(board)),
        meta=board.basis,
    )


def _count_column(board: Leaderboard, name: str, help: str) -> Column:
    """A column of counts, which readers see where one is above 0."""
    return Column(name, help=help, file_only=not any(getattr(s, name) for s in board.standings))


def _difference_help(compared_player: str) -> str:
    """What the column of `beside` shows."""
    return f"Difference: score less that of {compared_player}, paired by scenario, over those that both have."


def first_two(board: Leaderboard) -> str:
    """Whether the first player is better than the second, in words: paired on their common scenarios.

    What is compared is the score, so with the penalty for length. Without scenarios it is said who may be
    first; “” where there are not two players.
    """
    ranked = [s for s in board.standings if s.rank is not None]
    if len(ranked) < 2:
        return ""
    if not board.rated.scenarios:
        leading = [s.player for s in ranked if s.places.split()[0] == "1"]
        if len(leading) == 1:
            return f"{leading[0]} scores significantly higher than all others."
        names = f"{', '.join(leading[:-1])} and {leading[-1]}"
        return f"{names} do not differ significantly: each may be first."
    first = ranked[0].player
    second = ranked[1].player
    gap = differences_to(replace(board, resamples=max(board.resamples, 200)), second)[first]
    if gap.value is None or gap.low is None or gap.high is None:
        reason = gap.reason if gap.n != 1 else "they share one scenario"
        return f"Unknown whether {second} and {first} differ: {reason}."
    points = f"{gap.value:+z.2f} points ({gap.low:+z.2f} to {gap.high:+z.2f})"
    basis = f"paired on the {gap.n} scenarios that both have"
    if gap.low <= 0 <= gap.high:
        return f"{first} and {second} do not differ significantly: {points}, {basis}."
    better, worse = (first, second) if gap.low > 0 else (second, first)
    caveat = " The two ranks are from different conversations." if better == second else ""
    return f"{better} scores significantly higher than {worse}: {points}, {basis}.{caveat}"


def uncounted_criteria(board: Leaderboard) -> str:
    """Which criteria have no column, and why; “” where all have one."""
    labels = [c.label for c in board.rated.system.criteria if c.counted and c.name not in board.weights]
    reason = "is on another scale and cannot be averaged with the others: choose it under the weights"
    return f"{', '.join(labels)} {reason}." if labels else ""


def _left_out(board: Leaderboard) -> str:
    """Whose refusals the headline excludes; “” where it excludes none."""
    largest = max(board.standings, key=lambda s: s.refusal_ratio or 0.0)
    if not largest.refused:
        return ""
    return (
        f"Refusals are excluded: {largest.player} refuses {largest.refusal_ratio:.0%} of its conversations."
    )


def _notes(board: Leaderboard) -> list[str]:
    means = f"Means over conversations and the panel {', '.join(board.judges)}"
    sentences = [
        ". ".join(filter(None, [means, board.method])) + ".",
        *([TOO_NARROW] if board.intervals is IntervalMethod.PERCENTILE else []),
        f"#: rank by score alone; models within {MARGIN} points of the first of a group share its rank. "
        "Places: the ranks that a model may have with 95% confidence.",
        *board.rated.notes([*board.judges, *board.passed_over]),
    ]
    if board.passed_over:
        sentences.append(
            "No conversation was rated by all judges, so the panel is the judge with the most ratings; "
            f"excluded: {', '.join(board.passed_over)}. You can choose another panel."
        )
    sentences += filter(None, [uncounted_criteria(board)])
    if len(set(board.weights.values())) > 1:
        weights = ", ".join(f"{name} {weight:g}" for name, weight in board.weights.items())
        sentences.append(f"Weights of the overall score: {weights}.")
    sentences += _refusal_notes(board)
    if incomplete := sum(s.incomplete for s in board.standings):
        sentences.append(
            f"{incomplete} conversations are excluded because a judge of the panel has no usable rating of "
            "them. Choose fewer judges, or have these judges rate the rest."
        )
    sentences += unrated_notes(board.unrated)
    sentences += failure_notes(board.rated.failed)
    return [*sentences, MOCKS] if board.mocks else sentences


def _refusal_notes(board: Leaderboard) -> list[str]:
    """What refusals do here, and whether players refuse unlike shares."""
    refusals = sum(s.refused for s in board.standings)
    if not refusals:
        return []
    count_words = f"{refusals} conversations in which a judge saw a refusal"
    effect = f"{count_words} are counted but excluded from the means."
    shares = {s.player: s.refusal_ratio for s in board.standings if s.refusal_ratio is not None}
    highest = max(shares, key=lambda name: shares[name])
    lowest = min(shares, key=lambda name: shares[name])
    if shares[highest] - shares[lowest] < UNLIKE:
        return [effect]
    return [
        effect,
        f"{highest} refuses {shares[highest]:.0%}, {lowest} {shares[lowest]:.0%}: without refusals, the "
        "models are "
        "compared on different conversations.",
    ]
