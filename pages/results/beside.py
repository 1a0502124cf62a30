"""Two players side by side: the scenarios of both, and two conversations of one scenario, turn by turn."""

from collections.abc import Callable
from functools import partial

import streamlit as st
from sqlite_utils import Database

from concord.conversation import Turn
from concord.reports import leaderboards
from concord.reports.leaderboards import Leaderboard
from concord.store import conversations, ratings
from pages.parts import table
from pages.parts.address import held, link, one_of
from pages.parts.plain import plain
from pages.parts.session import workspace
from pages.parts.transcript import transcript

NOBODY = ""
MANY, TALL = 10, 480
"""With more scenarios than this the table scrolls within so many pixels."""


def draw(board: Leaderboard, player: str) -> None:
    """Let the reader choose another player; the scenarios of both, and the chosen one's conversations."""
    others = [s.player for s in board.standings if s.player != player and s.n]
    if not others or not board.rated.scenarios:
        return

    def choose(key: str) -> str:
        return str(
            st.selectbox(
                f"{player} beside",
                [NOBODY, *others],
                key=key,
                format_func=lambda name: name or "Choose a player to compare turn by turn",
            )
        )

    other = held("beside", NOBODY, choose, read=one_of(others))
    if not other:
        return
    found = leaderboards.matched(board, player, other)
    difference = found.meta["difference"]
    if not difference.defined:
        st.caption(plain(f"{player} and {other} have no scored conversation of the same scenario."))
        return
    ends = f" ({difference.low:+z.2f} to {difference.high:+z.2f})" if difference.interval else ""
    st.markdown(
        f"On the {difference.n} scenarios of both, {plain(player)} less {plain(other)} is "
        f"{difference.value:+z.2f}{ends} points."
    )
    with st.container(height=TALL if len(found.rows) > MANY else "content"):
        row = table.draw(found, key=f"beside {player} {other}", selectable=True)
    if row is None:
        st.caption("Select a scenario to read both conversations side by side.")
        return
    numbers = [int(str(row[name])) for name in ("conversation", "beside")]
    with workspace().read() as db:
        talks = [conversations.load(db, number) for number in numbers]
        beside = [_scores(db, number, board.judges) for number in numbers]
    sides = zip(st.columns(2, gap="medium"), (player, other), numbers, talks, beside, strict=True)
    for place, name, number, talk, scores in sides:
        with place:
            link("conversations", name, conversation=str(number))
            scores(None)
            transcript(talk, beside=scores)


def _scores(db: Database, number: int, judges: tuple[str, ...]) -> Callable[[Turn | None], None]:
    """Draws what judges gave a turn of a conversation, or (None) the whole of it: a line a criterion."""
    given: dict[tuple[int | None, str], list[str]] = {}
    for one in ratings.of_conversation(db, number):
        if one.rater.kind == "judge" and one.study is None:
            given.setdefault((one.turn, one.criterion), []).append(f"{one.score:g}")
    return partial(_told, given)


def _told(given: dict[tuple[int | None, str], list[str]], turn: Turn | None) -> None:
    at = None if turn is None else turn.number
    lines = [f"{plain(name)}: {', '.join(scores)}" for (of, name), scores in given.items() if of == at]
    if lines:
        st.caption("  \n".join(lines))
