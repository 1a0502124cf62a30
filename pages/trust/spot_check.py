"""Spot-checks: people look at what judges said, of conversations that somebody chose or of a random sample,
whose rate is unbiased.
"""

import streamlit as st

from concord.errors import ConcordError
from concord.runs.benchmark import Benchmark
from concord.runs.judged import system
from concord.store import conversations, ratings, spotchecks
from concord.studies import audits
from concord.studies.purposes import spotcheck
from concord.table import Table
from pages.desk import component, spot
from pages.parts import notice, person, table
from pages.parts.address import benchmark_chosen, link, listed
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.session import workspace

TRIAGE = "triage"
AUDIT = "audit"
MODES = {TRIAGE: "Chosen conversations", AUDIT: "Random audit"}
ICON = ":material/fact_check:"
MOST_CHOSEN = 100
"""Chosen conversations that an address may name."""


def page() -> None:
    """Draw what was found so far, or the work itself."""
    benchmark = _benchmark()
    if benchmark is None:
        return
    if st.query_params.get("work") in MODES:
        _work(benchmark, st.query_params["work"])
        return
    notice.show()
    reviewer = person.ask()
    _triage(benchmark)
    _audit(benchmark, reviewer)


def _benchmark() -> Benchmark | None:
    with workspace().read() as db:
        names_stored = conversations.values(db)["benchmark"]
        systems = [system(db, name) for name in names_stored]
        judged = [b for b in systems if b.criteria and ratings.judges(db, b.name)]
    working = st.query_params.get("work") in MODES
    if not working:
        heading("spot-check")
    if not judged:
        st.info("No judgements yet.")
        link("runs", "Start a run")
        return None
    # The benchmark whose replies judges score alone comes first: that is what the paper checks in this way.
    names = [b.name for b in sorted(judged, key=lambda b: not b.last_reply_only)]
    selected = benchmark_chosen(names, fixed=working)
    return next(b for b in judged if b.name == selected.name)


def _triage(benchmark: Benchmark) -> None:
    """What was found of conversations that somebody chose, and where to choose more."""
    with workspace().read() as db:
        findings = audits.findings(db, benchmark.name)
    st.subheader("Chosen conversations", anchor=False)
    st.caption(
        "On Conversations, sort by the lowest scores, by differences between judges or from annotators, by "
        "failed or truncated replies, or by refusals. Then choose *Spot-check these*."
    )
    with st.container(horizontal=True):
        if conversation_ids := _conversations_in_address():
            label = f"Look at these {len(conversation_ids)}"
            st.button(label, type="primary", icon=ICON, on_click=person.begin, args=(TRIAGE,))
        link("conversations", "Choose conversations", benchmark=benchmark.name, order="lowest")
    if findings.meta["items"]:
        _figures(findings)


def _conversations_in_address() -> tuple[int, ...]:
    """The conversations that the address names."""
    numbers = st.query_params.get("these", "").split()
    return tuple(int(one) for one in numbers if one.isdecimal() and len(one) < 16)[:MOST_CHOSEN]


def _audit(benchmark: Benchmark, reviewer: str) -> None:
    """What was found of judgements drawn at random, and the way to go on with them."""
    st.subheader("Random audit", anchor=False)
    st.caption(
        "An audit draws judgements at random. The share that reviewers find reasonable estimates the share "
        "of all judgements."
    )
    with workspace().read() as db:
        audits_by_name = {a.name: a for a in spotchecks.audits(db, benchmark.name)}
        pool = len(spotchecks.auditable(db, benchmark.name))
        judges = sorted({judge.name for judge in ratings.judges(db, benchmark.name)})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = None
        if names := list(audits_by_name):
            name = listed("Audit", "audit", names, names[0])
        with st.popover("Draw an audit", icon=":material/casino:"):
            _draw(benchmark, pool, judges, len(audits_by_name))
    if name is None:
        st.info(f"No audit yet. There are {pool:,} judgements to draw from.")
        return
    audit = audits_by_name[name]
    with workspace().read() as db:
        looked = [
            one.found_in is not None for one in spotchecks.drawn(db, name, spotcheck.rater_of(db, reviewer))
        ]
        findings = audits.findings(db, benchmark.name, name)
    st.markdown(
        f"**{audit.items}** judgements drawn from {audit.drawn_from:,} with seed {audit.seed}. "
        f"**{plain(reviewer)}** has checked {sum(looked)} of them, all reviewers together "
        f"{findings.meta['looked']}."
    )
    st.button(
        "Continue" if any(looked) else "Start",
        type="primary",
        icon=ICON,
        on_click=person.begin,
        disabled=all(looked),
        args=(AUDIT,),
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
        seed = st.number_input("Seed", 0, value=0, help="The same seed draws the same judgements.")
        judges_chosen = st.multiselect("Judges", judges, placeholder="all") if len(judges) > 1 else []
        if st.form_submit_button("Draw", type="primary"):
            try:
                with workspace().write() as db:
                    audit = audits.draw(
                        db, name.strip(), benchmark.name, n=int(n), seed=int(seed), judges=judges_chosen
                    )
                st.query_params["audit"] = audit.name
                notice.success(f"{audit.items} of {audit.drawn_from} judgements were drawn.")
            except ConcordError as error:
                notice.failure(error)
            st.rerun()


def _figures(findings: Table) -> None:
    st.markdown(f"**{plain(audits.summary(findings))}**")
    items = findings.meta["items"]
    sample_size = findings.meta["drawn"]
    if not sample_size:
        st.badge(
            "Chosen because something looked wrong; this is not the rate of all judgements", color="orange"
        )
    elif items < sample_size:
        st.badge(f"The rate rests on the first {items} of {sample_size} judgements so far", color="gray")
    table.draw(findings, key=f"findings {findings.meta['audit']}", titled=False)


def _work(benchmark: Benchmark, way: str) -> None:
    reviewer = person.reviewer_name()
    parameters = st.query_params
    audit = parameters.get("audit", "") if way == AUDIT else ""
    work = spot.CheckDesk(benchmark.name, reviewer, audit, () if audit else _conversations_in_address())
    title = f"{benchmark.title}: {MODES[way]}" + (f" “{audit}”" if audit else "")
    component.work(work.fixed(benchmark, title, "Spot-check"), work.apply, work.moving)


page()
