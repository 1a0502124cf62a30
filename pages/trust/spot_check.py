"""Spot-checks: people look at what judges said, first at what looks wrong, or at a random sample whose rate
is unbiased."""

from typing import Any

import streamlit as st

from concord.errors import ConcordError
from concord.runs.benchmark import Benchmark
from concord.runs.judged import system
from concord.store import conversations, ratings, spotchecks
from concord.studies import audits, triage
from concord.studies.purposes import spotcheck
from concord.table import Table
from pages.desk import component, spot
from pages.parts import notice, person, table
from pages.parts.address import (
    begun_with,
    benchmark_chosen,
    choice,
    link,
    listed,
    several,
)
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import workspace

TRIAGE, AUDIT = "triage", "audit"
MODES = {TRIAGE: "Triage", AUDIT: "Random audit"}
LISTED = 15
FILTER = 230
"""Pixels of a filter; those that do not fit beside others stand below."""


def page() -> None:
    """Draw what there is to check, or the work itself."""
    benchmark = _benchmark()
    if benchmark is None:
        return
    if st.query_params.get("work") in MODES:
        _work(benchmark, st.query_params["work"])
        return
    look: dict[str, Any] = {"format_func": MODES.__getitem__, "label_visibility": "collapsed"}
    mode = choice("Way", "mode", list(MODES), TRIAGE, **look)
    notice.show()
    (_triage if mode == TRIAGE else _audit)(benchmark)


def _benchmark() -> Benchmark | None:
    with workspace().read() as db:
        known = conversations.values(db)["benchmark"]
        every = [system(db, name) for name in known]
        judged = [b for b in every if b.criteria and ratings.judges(db, b.name)]
    working = st.query_params.get("work") in MODES
    if not working:
        heading("spot-check")
    if not judged:
        st.info("No judge has judged anything yet.")
        link("runs", "Start a run")
        return None
    # The benchmark whose replies judges score alone comes first: that is what the paper checks in this way.
    names = [b.name for b in sorted(judged, key=lambda b: not b.last_reply_only)]
    chosen = benchmark_chosen(names, fixed=working)
    return next(b for b in judged if b.name == chosen.name)


# -- triage


def _triage(benchmark: Benchmark) -> None:
    st.caption(
        "Ordered by what deserves a person's eye: low scores, judges far apart or far from people, cut off, "
        "empty or refusing replies, unreadable verdicts."
    )
    with workspace().read() as db:
        values = conversations.values(db, benchmark.name)
        judges = sorted({judge.name for judge in ratings.judges(db, benchmark.name)})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = person.ask()
        facets = {
            name: several(name.capitalize(), name, values[name], width=FILTER)
            for name in benchmark.spotcheck_facets
            if len(values.get(name, ())) > 1
        }
        players = several("Model", "player", values["player"], width=FILTER)
        about = "Only what one of them judged, and only their judgements are shown"
        by = several("Judge", "judge", judges, width=FILTER, help=about)
    where = {**facets, "player": players}
    among: dict[str, Any] = {"person": who, "where": where, "judges": by}
    with workspace().read() as db:
        line = triage.queue(db, benchmark.name, **among)
    counts = triage.counts(line)
    offered = [reason for reason in triage.REASONS if reason in counts]
    reasons = (
        st.pills(
            "Because of",
            offered,
            selection_mode="multi",
            key="reason",
            bind="query-params",
            format_func=lambda r: f"{triage.REASONS[r]} · {counts[r]}",
        )
        if offered
        else []
    )
    wanted = triage.because(line, reasons or [])
    queue = wanted[:LISTED]
    with workspace().read() as db:
        of = [conversations.listed(db, s.conversation_id).facets for s in queue]

    def begin(at: str = "") -> None:
        # As chosen at the click, which may come before the page is drawn anew.
        chosen = {name: st.session_state.get(name) or [] for name in (*where, "judge", "reason")}
        person.begin(TRIAGE, chosen, at=at)

    if not queue:
        st.info("Nothing is left that deserves a look, as far as these filters go.")
    else:
        st.button(
            f"Start with the first of {len(wanted):,}",
            type="primary",
            icon=":material/search:",
            on_click=begin,
        )
        kept = [name for name in benchmark.facets if name != benchmark.ending_facet]
        shown_of = [{name: facets_of.get(name, "") for name in kept} for facets_of in of]
        table.draw(
            triage.queue_table(queue, line, len(wanted), shown_of),
            key="queue",
            select=lambda row: begin(str(row["conversation"])),
        )
    with workspace().read() as db:
        findings = audits.findings(db, benchmark.name)
    if findings.meta["items"]:
        st.subheader("Found so far in triage", anchor=False)
        _figures(findings)


# -- the audit


def _audit(benchmark: Benchmark) -> None:
    st.caption(
        "Judgements drawn at random, whatever they say: the share that people find reasonable is "
        "that of all judgements they were drawn from."
    )
    with workspace().read() as db:
        drawn = {a.name: a for a in spotchecks.audits(db, benchmark.name)}
        pool = len(spotchecks.auditable(db, benchmark.name))
        judges = sorted({judge.name for judge in ratings.judges(db, benchmark.name)})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        who = person.ask()
        name = None
        if names := list(drawn):
            name = listed("Audit", "audit", names, names[0])
        with st.popover("Draw an audit", icon=":material/casino:"):
            _draw(benchmark, pool, judges, len(drawn))
    if name is None:
        st.info(f"No audit was drawn yet. There are {pool:,} judgements to draw from.")
        return
    audit = drawn[name]
    with workspace().read() as db:
        looked = [one.found_in is not None for one in spotchecks.drawn(db, name, spotcheck.rater_of(db, who))]
        findings = audits.findings(db, benchmark.name, name)
    st.markdown(
        f"**{audit.items}** judgements drawn from {audit.drawn_from:,} with seed {audit.seed}. "
        f"**{plain(who)}** has looked at {sum(looked)} of them, all people together at "
        f"{findings.meta['looked']}."
    )
    st.button(
        "Go on" if any(looked) else "Begin",
        type="primary",
        icon=":material/fact_check:",
        on_click=person.begin,
        disabled=all(looked),
        args=(AUDIT, {}),
        kwargs={"audit": name},
    )
    if findings.rows[0]["n"]:
        _figures(findings)


def _draw(benchmark: Benchmark, pool: int, judges: list[str], number: int) -> None:
    with st.form("draw", border=False):
        name = st.text_input("Name", f"audit-{number + 1}", max_chars=60)
        n = st.number_input(
            "Judgements", 1, max(1, pool), min(audits.SIZE, max(1, pool)), help=f"There are {pool:,}."
        )
        seed = st.number_input(
            "Seed", 0, value=0, help="The same seed draws the same from the same judgements."
        )
        only = st.multiselect("Judges", judges, placeholder="all") if len(judges) > 1 else []
        if st.form_submit_button("Draw", type="primary"):
            try:
                with workspace().write() as db:
                    drawn = audits.draw(
                        db, name.strip(), benchmark.name, n=int(n), seed=int(seed), judges=only
                    )
                st.query_params["audit"] = drawn.name
                notice.done(f"{drawn.items} of {drawn.drawn_from} judgements were drawn.")
            except ConcordError as error:
                notice.refused(error)
            st.rerun()


def _figures(findings: Table) -> None:
    items, drawn = findings.meta["items"], findings.meta["drawn"]
    if not drawn:
        st.badge("Chosen because something looked wrong: not the judges' rate", color="orange")
    elif items < drawn:
        st.badge(f"The rate rests on the first {items} of {drawn} so far", color="gray")
    table.draw(findings, titled=False)


# -- the work


def _work(benchmark: Benchmark, way: str) -> None:
    who = person.named()
    given = st.query_params
    audit = given.get("audit", "") if way == AUDIT else ""
    at = given.get("at", "")
    work = spot.CheckDesk(
        benchmark.name,
        who,
        audit,
        reasons=[r for r in given.get_all("of_reason") if r in triage.REASONS],
        where=begun_with([*benchmark.spotcheck_facets, "player"]),
        judges=given.get_all("of_judge"),
        first=int(at) if at.isdecimal() and len(at) < 16 else None,
    )
    title = f"{benchmark.title}: {MODES[way]}" + (f" “{audit}”" if way == AUDIT else "")
    component.work(work.fixed(benchmark, title, "Spot-check"), work.apply, work.moving)


page()
