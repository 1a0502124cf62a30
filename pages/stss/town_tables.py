"""The town's tables: who counted, who came close and why not, the conversations. Cells are never Markdown."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import streamlit as st

from concord.benchmarks.stss.evidence import Deed
from concord.benchmarks.stss.trajectory import STAMP, Talk
from concord.benchmarks.stss.views import Simulation, Spoken
from pages.parts.plain import plain
from pages.parts.table import rows_as_cards

Go = Callable[[datetime, str], None]
"""Shows a moment and a resident on the map."""
WHY = 380
"""Pixels that a reason needs."""


def clock(time: datetime) -> str:
    """A moment for readers: Tue 14 Feb, 19:00."""
    return f"{time:%a} {time.day} {time:%b, %H:%M}"


def events(of: Simulation) -> None:
    """What has to be done: the words, the window, the place."""
    for number, s in enumerate(of.task.subgoals, start=1):
        when = f"from {clock(s.start)} to {s.end:%H:%M}" if s.start and s.end else "at any time"
        where = f"at {s.location}" if s.location else "anywhere"
        words = " or ".join(f"“{word}”" for word in s.keywords)
        event = f"**Event {number}**" if len(of.task.subgoals) > 1 else "**What counts**"
        st.markdown(f"{event}: doing something with {plain(words)} in it, {plain(where)}, {when}")


def repairs(of: Simulation) -> None:
    """What residents' models replied that could not be used as it was, and what was done instead."""
    found = of.lived.extra.get("repairs") or []
    if not found:
        return
    own = sum(name == of.task.performer for _, name, _ in found)
    heading = f"Repairs: {len(found):,}, of the performer {own:,}"
    with st.expander(plain(heading), icon=":material/build:"):
        rows = [{"time": time, "resident": name, "what": text} for time, name, text in found]
        st.dataframe(rows, hide_index=True, alt="Repairs")


def planned(what: Mapping[str, str]) -> None:
    """What the performer had planned for its task; nothing where it did not."""
    if what:
        with st.expander("What the performer planned (TDP)", icon=":material/checklist:"):
            for heading, text in what.items():
                st.caption(heading)
                st.text(text)


def counted(of: Simulation, go: Go) -> None:
    """Who counted: when, where, which words, and whether the performer had told them."""
    rows = [e for e in of.score.evidence if e.counted]
    st.markdown(f"**Who counted** ({len(rows)})")
    if not rows:
        st.caption("Nobody.")
        return
    _evidence(of, rows, go, "counted", ("told", "until", "where", "did", "words", "note"))


def close(of: Simulation, go: Go) -> None:
    """Who came close, and how they missed it; those who were told come first."""
    rows = sorted((e for e in of.score.evidence if not e.counted), key=lambda e: e.told is None)
    st.markdown(f"**Who came close, and why it did not count** ({len(rows)})")
    if not rows:
        st.caption("Nobody else was near, or had been told.")
        return
    st.caption(plain(_summed([e for e in rows if e.agent != of.task.performer])))
    _evidence(of, rows, go, "close", ("told", "missed", "why", "where", "did", "words"))


def _summed(rows: Sequence[Deed]) -> str:
    """Counts of how the invited missed it."""
    told = Counter(e.how for e in rows if e.told)
    others = sum(e.told is None for e in rows)
    parts = [f"{n} {how}" for how, n in told.most_common()]
    said = f"Told and missed: {', '.join(parts)}." if parts else ""
    return f"{said} Not told by the performer: {others}.".strip() if others else said


def _cells(e: Deed) -> dict[str, Any]:
    """What the two tables show of a piece of evidence."""
    return {
        "who": e.agent,
        "event": e.subgoal,
        "when": clock(datetime.strptime(e.time, STAMP)) if e.time else "",
        "told": clock(datetime.strptime(e.told, STAMP)) if e.told else "",
        "missed": e.how or "",
        "until": e.until[11:16] if e.until and e.until != e.time else "",
        "where": e.place,
        "did": e.action,
        "words": ", ".join(e.words),
        "why": e.why,
        "note": e.why,
    }


def _evidence(of: Simulation, rows: Sequence[Deed], go: Go, key: str, columns: tuple[str, ...]) -> None:
    event = ("event",) if len(of.task.subgoals) > 1 else ()
    table = [{name: _cells(e)[name] for name in ("who", *event, "when", *columns)} for e in rows]

    def selected(place: int | None) -> None:
        if place is not None and rows[place].time:
            go(datetime.strptime(rows[place].time or "", STAMP), rows[place].agent)

    _table(table, key, selected, {"why": st.column_config.TextColumn(width=WHY)})


def _table(
    rows: list[dict[str, Any]],
    key: str,
    selected: Callable[[int | None], None],
    config: dict[str, Any],
    **more: Any,
) -> None:
    """Rows without their empty columns; `selected` is called with the place of the row that is chosen."""
    empty = {name for name in rows[0] if all(row[name] == "" for row in rows)}
    rows = [{name: cell for name, cell in row.items() if name not in empty} for row in rows]
    if rows_as_cards(key, rows, selected):
        return

    def chosen() -> None:
        selected(next(iter(st.session_state[key]["selection"]["rows"]), None))

    st.dataframe(
        rows,
        hide_index=True,
        height="content" if len(rows) <= 12 else "auto",
        placeholder="",
        key=key,
        on_select=chosen,
        selection_mode="single-row",
        alt=key,
        column_config=config,
        **more,
    )


def talks(
    of: Simulation, spoken: Sequence[Spoken], opened: int | None, choose: Callable[[int | None], None]
) -> None:
    """The conversations; `choose` is called with the number of the one selected, or None."""
    first_told = {id(talk) for talk in of.told.values()}
    rows = [
        {
            "": s.number,
            "when": clock(s.talk.time),
            "who": " and ".join(s.talk.pair),
            "where": s.talk.place,
            "about the task": s.about,
            "told first": id(s.talk) in first_told,
            "messages": len(s.talk.messages),
        }
        for s in spoken
    ]

    def selected(place: int | None) -> None:
        choose(None if place is None else spoken[place].number)

    default = {"selection": {"rows": [n for n, s in enumerate(spoken) if s.number == opened]}}
    first = "Counts for the conversation ratio: the first time the performer tells somebody before that day."
    config = {
        "about the task": st.column_config.CheckboxColumn(help="Somebody says one of the task's words."),
        "told first": st.column_config.CheckboxColumn(help=first),
    }
    _table(rows, "talks", selected, config, selection_default=default)


def transcript(talk: Talk, performer: str) -> None:
    """What was said, as plain text, and what each of the two kept of it."""
    for speaker, text in talk.messages:
        icon = ":material/flag:" if speaker == performer else ":material/person:"
        with st.chat_message("assistant" if speaker == performer else "user", avatar=icon):
            st.caption(plain(speaker))
            st.text(text or "(nothing)")
    if not talk.summary:
        return
    st.markdown("**What each kept of it**")
    for place, name in zip(st.columns(2), talk.pair, strict=True):
        with place.container(border=True):
            st.caption(plain(name))
            st.text(talk.summary.get(name) or "(nothing)")
