"""What changed between two runs, players or versions of the judges' prompt; conversations side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest

import streamlit as st

from concord.errors import ConcordError
from concord.estimate import Estimate
from concord.rating import Criterion
from concord.reports import differences
from concord.reports.differences import OFS, Differences, Of, SideResults
from concord.reports.names import short_names
from concord.store import conversations, ratings, sides
from concord.table import Cell
from pages.parts import table
from pages.parts.address import benchmark_chosen, choice, link, shown
from pages.parts.charts import forest
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import sentence, workspace
from pages.parts.transcript import transcript
from pages.study.run_form import described

LABELS: Mapping[Of, str] = {"runs": "Runs", "players": "Players", "versions": "Prompt versions"}
MOST = 500
"""Scenarios in the table on the page; the command writes all."""
TALL = 420


@st.cache_resource(max_entries=16, show_spinner="Measuring …")
def _differences(folder: str, stamp: object, of: Of, one: str, other: str, benchmark: str) -> Differences:
    """The tables; anew when the store has changed."""
    return differences.differences(workspace(), of, one, other, benchmark=benchmark)


def page() -> None:
    """Draw the choice of two, and what changed from one to the other."""
    heading("differences")
    with workspace().read() as db:
        known = differences.comparable(db)
    pair = next(([earlier, run] for run in known if (earlier := differences.before(known, run))), [])
    usual = "runs" if pair else "players"
    of = _of(choice("Compare", "of", OFS, usual, format_func=lambda name: LABELS[_of(name)]))
    try:
        if of == "runs":
            every = [*pair, *(run for run in known if run not in pair)]
            benchmark = ""
            offered = {str(r.id): f"Run {r.id} · {r.started[:10]} · {described(r)}" for r in every}
        else:
            benchmark, offered = _offered(of)
        if len(offered) < 2:
            st.info(f"There are no two {LABELS[of].lower()} with scores to compare yet.")
            return link("runs", "Start a run")
        one, other = _two(of, offered)
        compared = _differences(str(workspace().path), _stamp(), of, one, other, benchmark)
    except ConcordError as error:
        return sentence(error)
    return _draw(compared)


def _of(name: str) -> Of:
    return next(of for of in OFS if of == name)


def _stamp() -> object:
    with workspace().read() as db:
        return sides.stamp(db)


def _offered(of: Of) -> tuple[str, dict[str, str]]:
    """The benchmark chosen, and its players or versions of the judges' prompt."""
    with workspace().read() as db:
        names = conversations.values(db)["benchmark"]
    if not names:
        return "", {}
    benchmark = benchmark_chosen(names).name
    with workspace().read() as db:
        players, versions = conversations.values(db, benchmark)["player"], differences.versions(db, benchmark)
    return benchmark, {name: name for name in (players if of == "players" else versions)}


def _two(of: Of, offered: Mapping[str, str]) -> tuple[str, str]:
    """The two that the address names; the first two unless it does. Raises NotFound."""
    names, chosen, places = list(offered), list[str](), st.columns(2)
    ordered = sorted(names, key=int, reverse=True) if of == "runs" else names
    for place, (name, label) in enumerate(zip(("one", "other"), ("From", "To"), strict=True)):
        usual = st.query_params.get(name, names[place])
        listed = ordered if usual in ordered else [*ordered, usual]  # an older run, or none: the report says
        index = listed.index(usual)
        value = places[place].selectbox(
            label, listed, index=index, key=f"{of} {name}", format_func=lambda n: offered.get(n, n)
        )
        chosen.append(shown(name, value))
    return chosen[0], chosen[1]


def _draw(compared: Differences) -> None:
    st.markdown(f"**{plain(differences.sentence(compared))}**")
    names = compared.labels
    if compared.scores.rows:
        criterion = choice(
            "Criterion", "criterion", list(names), next(iter(names)), format_func=lambda n: plain(names[n])
        )
        rows = [row for row in compared.scores.rows if row["criterion"] == names[criterion]]
        figures = [(str(row["judge"]), row["change"]) for row in rows if isinstance(row["change"], Estimate)]
        title = f"{names[criterion]}: change from {compared.one.name} to {compared.other.name}"
        ends = [0.0, *(end for _, figure in figures for end in figure.interval or (figure.value or 0.0,))]
        domain = min(ends) - 0.05, max(ends) + 0.05
        forest(figures, title, "Change in points of the scale, 95% interval", domain=domain)
    table.draw(compared.configuration, wrapped=True)
    table.draw(compared.scores)
    if compared.scores.rows:
        _scenarios(compared, criterion)


def _scenarios(compared: Differences, criterion: str) -> None:
    every = compared.changes[criterion]
    more = f"The {MOST} with the largest change, of {len(every.rows):,}."
    notes = (more,) if len(every.rows) > MOST else ()
    listed = replace(every, rows=every.rows[:MOST], notes=notes)
    st.caption("Select a scenario to read its two conversations side by side, turn by turn.")
    key = f"changes {compared.one.name} {compared.other.name} {criterion}"
    with st.container(height=TALL if len(listed.rows) > 10 else "content"):
        row = table.draw(listed, key=key, selectable=True)
    if row is not None:
        _beside(compared, row)


def _beside(compared: Differences, row: Mapping[str, Cell]) -> None:
    """Two conversations, turn by turn; one that both sides share once, with the scores of both."""
    numbers = [int(str(row[name])) for name in ("conversation", "beside")]
    with workspace().read() as db:
        talks = [conversations.load(db, number) for number in numbers]
        given = [
            _scores(ratings.of_conversation(db, number), side, compared.criteria)
            for number, side in zip(numbers, (compared.one, compared.other), strict=True)
        ]
    st.subheader(plain(f"{row['scenario']}"), anchor=False)
    if numbers[0] == numbers[1]:
        link("conversations", f"Conversation {numbers[0]}", conversation=str(numbers[0]))
        for number in (None, *(turn.number for turn in talks[0].turns())):
            if number is not None:
                transcript(talks[0], only=number, speakers=("User", talks[0].player))
            places = st.columns(2, gap="medium")
            for place, side, scores in zip(places, (compared.one, compared.other), given, strict=True):
                with place:
                    _show_scores(scores, number, side.name)
        return
    names = [
        side.name if side.name == talk.player else f"{side.name}, {talk.player}"
        for side, talk in zip((compared.one, compared.other), talks, strict=True)
    ]
    for place, name, number, scores in zip(st.columns(2, gap="medium"), names, numbers, given, strict=True):
        with place:
            link("conversations", f"{name}: conversation {number}", conversation=str(number))
            _show_scores(scores, None)
    turns = zip_longest(*([turn.number for turn in talk.turns()] for talk in talks))
    for both in turns:
        for place, number, talk, scores in zip(st.columns(2, gap="medium"), both, talks, given, strict=True):
            if number is not None:
                with place:
                    transcript(talk, only=number, speakers=("User", talk.player))
                    _show_scores(scores, number)


Scores = Mapping[tuple[int | None, str], Sequence[str]]


def _scores(given: Sequence[ratings.Stored], side: SideResults, criteria: Sequence[Criterion]) -> Scores:
    """What the judges of a side gave, by turn and criterion: “strict 4”."""
    names = short_names([rater.name for rater in side.raters.values()])
    raters = set(side.raters.values())
    by_turn: dict[tuple[int | None, str], list[str]] = {}
    for criterion in criteria:
        for one in given:
            if one.criterion == criterion.name and one.rater in raters and one.study is None:
                by_turn.setdefault((one.turn, criterion.label), []).append(
                    f"{names[one.rater.name]} {criterion.scale_of('judge').word(one.score)}"
                )
    return by_turn


def _show_scores(scores: Scores, turn: int | None, name: str = "") -> None:
    """What judges gave a turn, or (None) the whole conversation: a line a criterion."""
    lines = [plain(f"{label}: {' · '.join(words)}") for (of, label), words in scores.items() if of == turn]
    if lines:
        st.caption("  \n".join([*([f"**{plain(name)}**"] if name else []), *lines]))


page()
