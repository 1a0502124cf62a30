"""The judge lab: improve a judge on one part of a study, choose on another, report once on the sealed one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import streamlit as st

from concord.errors import ConcordError, StudyError
from concord.lab import (
    card,
    comparing,
    disagreements,
    measuring,
    parts,
    robustness,
    running,
    variants,
)
from concord.lab.measuring import Bench, Candidate
from concord.lab.parts import DEVELOP, SELECT, TEST
from concord.llm.models import load_models
from concord.rubrics import rubric_store
from concord.rubrics.rubric_store import Numbered
from concord.store import conversations, lab, studies
from pages.desk import component
from pages.desk.review import ReviewDesk
from pages.parts import notice, person, table
from pages.parts.address import bound_value, empty_page, link, listed, one_of, read, returned
from pages.parts.drafted import TextDraft
from pages.parts.navigation import heading
from pages.parts.plain import first_words, plain, quantity
from pages.parts.reports import studies_called
from pages.parts.session import workspace
from pages.parts.transcript import FIRST_WORDS
from pages.study import run_watch
from pages.study.run_form import estimate

STEPS = {
    "bench": "Prompt bench",
    "review": "Where it differs",
    "choose": "Choose",
    "test": "Sealed test",
    "card": "Judge card",
}
LONGEST = 100_000
LISTED = 10
"""Items on which a judge differs most that are listed."""


def page() -> None:
    """A divided study, step by step; or the way to divide it."""
    if st.query_params.get("work") == "review":
        return _review_desk()
    returned("lab")
    heading("lab")
    with workspace().read() as db:
        names = [name for name in studies.ranked(db) if studies.conversations_rated(db, name)]
        # Only what a rubric asks can be improved here.
        names.sort(key=lambda name: not studies.get(db, name).rubric)
    if not names:
        return empty_page(
            "No ratings by annotators yet. The lab improves a judge against annotators' ratings.",
            ("samples", "Draw a study"),
        )
    study = listed("Study", "study", names, names[0], format_func=studies_called())
    notice.show()
    with workspace().read() as db:
        division = lab.division(db, study)
    if division is None:
        return _divide(study)
    with workspace().read() as db:
        bench = measuring.read(db, study)
    run_watch.draw(bench.parts.benchmark)
    step = bound_value("step", "bench", _steps, read=one_of(list(STEPS)), always=True)
    draw = {"bench": _bench, "review": _review, "choose": _choose, "test": _test, "card": _card}
    draw[step](bench)
    return None


def _steps(key: str) -> str:
    look: dict[str, Any] = {"format_func": STEPS.__getitem__, "label_visibility": "collapsed"}
    return str(st.segmented_control("Step", list(STEPS), required=True, key=key, **look))


def _divide(study: str) -> None:
    """Divide a study, once."""
    st.markdown(
        "The lab divides the rated items into three parts: it improves judges on the first, chooses one on "
        "the second, and measures the gain **once** on the third. Items of a scenario stay together."
    )
    with workspace().read() as db:
        rated_study = studies.get(db, study)
    rubric = rated_study.rubric
    fitting = [] if rated_study.rubric else variants.fitting(workspace(), rated_study.criteria)
    if not rubric and not fitting:
        questions = ", ".join(criterion.label for criterion in rated_study.criteria)
        return empty_page(f"No rubric asks {questions} yet.", ("rubrics", "Write a rubric"))
    if not rubric:
        rubric = st.selectbox("Rubric of the judges", fitting, key="lab rubric")
    with workspace().read() as db:
        warning = parts.small(len(parts.levels(db, study)))
    if warning:
        st.warning(warning, icon=":material/science:")
    if st.button("Divide the items", type="primary", icon=":material/call_split:"):
        with notice.writing() as db:
            divided = parts.divide(db, study, rubric=rubric or "")
            notice.success(f"{len(divided.units)} items were divided into three parts.")
        st.rerun()
    return None


def _bench(bench: Bench) -> None:
    """Make a version, have a judge answer by it, compare."""
    with workspace().read() as db:
        table.draw(variants.table(db, bench))
    versions = _versions(bench)
    with st.expander("Create a version", icon=":material/edit:", expanded=len(versions) < 2):
        _edit(bench, versions)
    _answering(bench, DEVELOP, versions)
    _compared(bench, DEVELOP)


def _answering(bench: Bench, part: str, versions: Sequence[Numbered]) -> None:
    """Have a judge answer a part by a version."""
    left, right = st.columns(2)
    judge = _judge(left, bench)
    version = _version_chosen(right, "Version", versions, f"lab {part} version")
    if judge and version:
        st.caption(f"{plain(version.variant)} on the items of “{part}”. Stored answers are not paid again.")
        # The rubric's file is kept as a version when a run by it begins.
        number = bench.versions.get(version.variant, 0)
        estimate(running.plan_of(bench.parts, part, [judge], number), key=f"lab {part}")


def _versions(bench: Bench) -> list[Numbered]:
    """The versions of the rubric that are kept, the one of its file last where it is new."""
    with workspace().read() as db:
        stored_versions = [
            rubric_store.used(db, bench.parts.rubric, number) for number in sorted(bench.versions.values())
        ]
    try:
        current = variants.current(workspace(), bench.parts)
    except ConcordError as error:
        st.warning(plain(str(error)))
        return stored_versions
    return stored_versions if current.variant in bench.versions else [*stored_versions, current]


def _edit(bench: Bench, versions: Sequence[Numbered]) -> None:
    """Other instructions, or examples, as a version; what else a rubric says is changed in its file."""
    base = _version_chosen(st, "Begin with", versions, "lab edit base")
    if base is None:
        return
    subject = f"the instructions of {base.variant} in the lab of {bench.parts.study}"
    draft = TextDraft(subject, base.rubric.judge.instructions, "text")
    st.session_state[draft.key] = draft.text
    text = st.text_area(
        "Instructions to the judge", height=200, max_chars=LONGEST, key=draft.key, on_change=draft.keep
    )
    draft.line()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        note = st.text_input("Goal of the change", key="lab note", max_chars=300)
        examples = int(st.number_input("Examples from develop", 0, 50, key="lab examples"))
        if st.button("Save as a version", type="primary", icon=":material/save:"):
            with notice.writing() as db:
                picked = variants.pick_examples(db, bench, base.rubric, examples) if examples else None
                body = variants.changed(base.rubric, instructions=text, examples=picked)
                new_version = variants.keep(db, bench.parts, body, parent=base, note=note)
                notice.success(f"{new_version.variant} is saved.")
                draft.discard(db)
            st.rerun()
    link("rubrics", "Change other parts, and see the prompt", rubric=bench.parts.rubric)


def _version_chosen(place: Any, label: str, versions: Sequence[Numbered], key: str) -> Numbered | None:
    """The version that is chosen: the newest, until another is. A new one makes another widget of it, because
    the browser goes on sending what was chosen in the one before.
    """
    names = {one.variant: one for one in versions}
    newest = next(reversed(names), "")
    selected = place.selectbox(label, list(names), index=max(0, len(names) - 1), key=f"{key} {newest}")
    return names.get(str(selected))


def _judge(place: Any, bench: Bench) -> str:
    """A model that can judge; those who have answered the study come first."""
    candidates = [
        name for name, model in load_models(workspace().models_path).items() if model.kind == "chat"
    ]
    judges_with_answers = {judge.model for judge in bench.answers}
    return str(
        place.selectbox("Judge", sorted(candidates, key=lambda name: name not in judges_with_answers)) or ""
    )


def _two(bench: Bench, part: str, key: str) -> tuple[Candidate, Candidate] | None:
    """Two judges that answered a part, chosen on the page; at first a model by its last two versions."""
    judges = bench.judges_of_part(part)
    version = bench.versions.get
    of_model = Counter(judge.model for judge in judges)
    ordered = sorted(judges, key=lambda j: (of_model[j.model] > 1, j.model, version(j.variant, 0)))
    if len(ordered) < 2:
        st.info(f"Fewer than two judges or versions have answered “{part}”.")
        return None
    left, right = st.columns(2)
    one = left.selectbox("From", ordered, len(ordered) - 2, format_func=str, key=f"{key} one")
    second = right.selectbox("To", ordered, len(ordered) - 1, format_func=str, key=f"{key} other")
    return (one, second) if one != second else None


def _compared(bench: Bench, part: str) -> None:
    """Two versions on the same items."""
    st.subheader("Compare two on the same items", anchor=False)
    two = _two(bench, part, "lab compare")
    if two is None:
        return
    differences = comparing.differences(bench, part, *two)
    st.markdown(f"**{plain(comparing.gain(differences))}**")
    table.draw(differences)
    st.caption("The step *Where it differs* shows which items still differ, and why.")


def _choose(bench: Bench) -> None:
    """Every judge on *select*, and the cheapest that is not worse than the best."""
    judges = bench.judges_of_part(SELECT)
    is_short = len(judges) < 2
    with st.expander("Let a judge answer “select”", icon=":material/play_arrow:", expanded=is_short):
        _answering(bench, SELECT, _versions(bench))
    if not judges:
        st.info(f"No judge has answered “{SELECT}” yet. Start one above for each version to compare.")
        return
    choice, _ = comparing.choose(bench, SELECT, list(bench.answers))
    st.markdown(f"**{plain(choice.notes[0])}**")
    table.draw(choice)


def _test(bench: Bench) -> None:
    """Open the sealed part, deliberately."""
    with workspace().read() as db:
        table.draw(parts.table(db, bench.parts))
    answering = st.container()
    two = _two(bench, SELECT, "lab test")
    missing = [(judge, n) for judge in two or () if (n := bench.unanswered(judge, TEST))]
    with answering.expander(
        "Let a judge answer “test”", icon=":material/play_arrow:", expanded=bool(missing)
    ):
        _answering(bench, TEST, _versions(bench))
    if two is None:
        return
    for judge, n in missing:
        items = quantity(n, "conversation")
        st.info(plain(f"{judge} has not answered {items} of “{TEST}” yet. Let it answer them above first."))
    reason = st.text_input("Why the sealed part is opened now", key="lab reason", max_chars=300)
    sure = st.checkbox("I have chosen a judge. This look is counted and cannot be undone.", key="lab sure")
    if st.button(
        "Open the test part",
        type="primary",
        icon=":material/lock_open:",
        disabled=bool(missing) or not (sure and reason.strip()),
    ):
        with notice.writing() as db:
            report = comparing.report(db, bench, *two, reason)
            st.session_state["lab report"] = (bench.parts.study, two[1], report)
        st.rerun()
    study, judge, report = st.session_state.get("lab report", ("", None, None))
    if report is not None and study == bench.parts.study:
        st.markdown(f"**{plain(report.notes[0])}**")
        table.draw(report)
        version = bench.versions.get(judge.variant)
        if version is not None and comparing.better(report):
            _adopt(bench, judge.variant, version)


def _adopt(bench: Bench, variant: str, version: int) -> None:
    """Make a version that is shown to be better the rubric's file."""
    if st.button(f"Adopt {variant}", icon=":material/check:", help="Save it as the rubric's file"):
        with notice.writing() as db:
            variants.adopt(db, workspace(), bench.parts, version)
            notice.success(f"{variant} is now the rubric's file.")
        st.rerun()


def _card(bench: Bench) -> None:
    """A judge on one page, to download, with the checks that need no people."""
    judges = [judge for judge in bench.judges_of_part(SELECT) if judge.variant in bench.versions]
    if not judges:
        st.info(f"A card needs figures of “{SELECT}”, but no judge has answered it yet.")
        return
    judge = st.selectbox("Judge", judges, len(judges) - 1, str, key="lab card judge")
    checks = st.session_state.setdefault("lab checks", {})
    with st.container(horizontal=True, vertical_alignment="bottom"):
        limit = st.number_input("Stop the checks at a cost of", min_value=0.0, value=None, key="lab limit")
        is_requested = st.button(
            "Check robustness",
            icon=":material/shield:",
            help=f"Asks about each item of “{DEVELOP}” up to seven times. Stored answers are not paid again",
        )
    if is_requested:
        rubric_version = variants.current(workspace(), bench.parts, bench.versions[judge.variant])
        with st.spinner("Asking the judge again …"):
            checks[bench.parts.study, judge] = robustness.checked(
                workspace(), bench.parts, judge.model, rubric_version, running.SharedBudget(limit)
            )
    judge_card = card.card(workspace(), bench, judge, robustness=checks.get((bench.parts.study, judge)))
    page = judge_card.as_html(date.today())
    st.download_button("Download the card", page, "card.html", icon=":material/download:", on_click="ignore")
    st.caption(plain(" ".join(judge_card.sentences)))
    for card_table in judge_card.tables:
        table.draw(card_table)


def _review(bench: Bench) -> None:
    """Where a judge differs on *develop*, and why."""
    judges = bench.judges_of_part(DEVELOP)
    if not judges:
        st.info(f"No judge has answered “{DEVELOP}” yet. Let one answer it in the step for prompts.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        judge = st.selectbox("Judge", judges, format_func=str, key="lab review judge")
        person.ask()
    with workspace().read() as db:
        differing = disagreements.largest(db, bench, judge)
        causes = disagreements.causes(db, bench, judge, differing)
    st.button(
        "Mark why they differ",
        type="primary",
        icon=":material/fact_check:",
        on_click=person.begin,
        args=("review",),
        kwargs={"model": judge.model, "variant": judge.variant, "study": bench.parts.study},
        disabled=not differing,
    )
    if causes.rows:
        table.draw(causes)
    else:
        st.caption(plain(causes.notes[0]))
    items = disagreements.listed(judge, differing[:LISTED])
    numbers = [one.unit.conversation for one in differing[:LISTED]]
    with workspace().read() as db:
        openings = conversations.openings(db, set(numbers))
    rows = tuple(
        {**row, "item": first_words(openings.get(number) or str(row["item"]), FIRST_WORDS)}
        for row, number in zip(items.rows, numbers, strict=True)
    )
    items = replace(items, rows=rows, caption="Select a row to read the conversation.")
    row = table.draw(items, selectable=True)
    if row is not None:
        place = next(number for number, one in enumerate(rows) if one is row)
        read(numbers[place], "lab", numbers)


def _review_desk() -> None:
    parameters = st.query_params
    annotator = person.reviewer_name()
    study = parameters.get("study", "")
    with workspace().read() as db:
        bench = measuring.read(db, study)
        judge = bench.find(parameters.get("model", ""), parameters.get("variant", ""))
        differing = disagreements.largest(db, bench, judge)
    if not differing:
        raise StudyError(f"{judge} and the annotators agree on every item of “{DEVELOP}”.")
    work = ReviewDesk(study, annotator, judge, differing)
    component.work(work.fixed(f"Why {judge} differs from annotators"), work.apply, work.moving)


page()
