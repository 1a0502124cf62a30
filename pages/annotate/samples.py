"""Studies and their samples: draw one, deal it, follow its progress, read what was skipped and flagged."""

import pandas as pd
import streamlit as st

from concord.demo.workspace import VISITOR
from concord.store import access, closings, progress
from concord.store import studies as stored
from concord.store.studies import Study
from concord.studies import annotation_flow, dealing, matching, quality, running
from concord.studies.purposes import repeat
from pages.annotate import samples_draw as drawing
from pages.annotate import samples_more
from pages.parts import notice
from pages.parts.address import go, link, listed, of_conversation
from pages.parts.drafted import TextDraft
from pages.parts.navigation import heading
from pages.parts.plain import plain
from pages.parts.reports import studies_called
from pages.parts.session import workspace
from pages.parts.table import draw

VIEWS = (drawing.STUDIES, "Draw a new one")


def page() -> None:
    """Draw the page."""
    heading("samples")
    with workspace().read() as db:
        names = [*stored.ranked(db), *stored.names(db, pairs=True)]
    notice.show()
    if not names:
        drawing.form()
        return
    # Set beforehand instead of by default: keeping a draw sets it as well.
    st.session_state.setdefault(drawing.VIEW, VIEWS[not {"rubric", "draw"}.isdisjoint(st.query_params)])
    view = st.segmented_control("View", VIEWS, required=True, key=drawing.VIEW, label_visibility="collapsed")
    if view == VIEWS[0]:
        _study(names)
    else:
        drawing.form()


def _study(names: list[str]) -> None:
    name = listed("Study", "study", names, names[0], format_func=studies_called())
    with workspace().read() as db:
        study = stored.get(db, name)
        items = progress.items(db, name)
        people = access.annotators(db)
        units = stored.units(db, name)
        signs = quality.signs(db, name)
        hidden = annotation_flow.hidden(db, name)
    st.subheader("1 · Draw", anchor=False)
    _facts(study, len({unit["key"] for unit in units}) if study.pairs else len(units))
    with st.expander("Guidelines", icon=":material/menu_book:"):
        _guidelines(TextDraft(f"the guidelines of {name}", study.guidelines, "text"), name)
    if not study.anonymous:
        st.subheader("2 · Assign", anchor=False)
        _deal(
            study, [a.name for a in people if a.can_enter and not a.simulated], {i.annotator for i in items}
        )
    samples_more.sections_of(study)
    st.subheader("3 · Follow", anchor=False)
    if not study.anonymous:
        if signs.table.rows:
            draw(signs.table)
        if hidden:
            st.caption(plain(hidden))
        for flag in signs.suspicions:
            st.warning(plain(flag.text), icon=":material/speed:")
    _remarks(items)
    _ways_on(study)
    _running(study.name)


def _facts(study: Study, items: int) -> None:
    parts = [f"**{plain(study.title)}**", f"{items} {study.counting_unit}"]
    if not study.pairs:
        parts.append("rated turn by turn" if study.per_turn else "rated as whole conversations")
    if study.overlap:
        parts.append(f"{study.overlap} {'person' if study.overlap == 1 else 'people'} each")
    else:
        parts.append("everybody rates everything")
    if study.sample:
        parts.append(f"drawn from {study.sample.candidates} with seed {study.seed}")
    elif study.source != "drawn":
        parts.append(f"from {plain(study.source)}")
    parts.append("asked: " + ", ".join(plain(c.label) for c in study.criteria))
    st.markdown(" · ".join(parts))
    if study.anonymous:
        st.info(
            "The annotators of this study have no names, so no further items can be assigned. Draw a new "
            "study from the same conversations."
        )


def _deal(study: Study, invited: list[str], have: set[str]) -> None:
    with workspace().read() as db:
        facets = ["", *matching.matchable(db, study.name)]
        labelled = bool(access.labels(db))
    with st.container(border=True):
        if not [name for name in invited if name != VISITOR]:
            st.markdown(
                "To assign it to more annotators, invite them first."
                if have
                else "No annotators yet. Invite some, then assign items."
            )
            if st.button("Invite annotators", type="primary", icon=":material/group_add:"):
                go("annotators")
            if not invited:
                return
        annotators_field, overlap_field, repeats_field, last = st.columns(
            [5, 3, 3, 1], vertical_alignment="bottom"
        )
        default = [name for name in invited if name in have]
        # Whoever opens the demo rates there; it is not them whom a new study is dealt to by one click.
        default = default or [name for name in invited if name != VISITOR]
        annotators = annotators_field.multiselect("To", invited, default=default)
        overlap = overlap_field.number_input(
            "Annotators for each item (0: all)", min_value=0, value=study.overlap
        )
        share = study.repeats
        repeats = repeats_field.number_input(
            "Share of repeat items",
            0.0,
            repeat.MOST_SHARE,
            share,
            0.05,
            help="Items that each annotator rates twice, unannounced, to measure consistency. 0: none.",
            key=f"repeats of {study.name}",
        )
        matched = study.match
        match = matched
        if labelled or matched:
            match = st.selectbox(
                "Only to annotators with the conversation's",
                facets,
                facets.index(matched) if matched in facets else 0,
                format_func=lambda one: one.replace("_", " ") or "any (no language or skill needed)",
                key=f"match of {study.name}",
                help="Set languages and skills on the page Annotators.",
            )
        else:
            st.caption("To assign by language or skill, set them on the page Annotators.")
        last.button(
            "Assign",
            type="primary",
            disabled=not annotators,
            on_click=_assign_items,
            args=(
                study.name,
                annotators,
                int(overlap),
                repeats if repeats != share else None,
                match if match != matched else None,
            ),
        )


def _remarks(items: list[progress.Item]) -> None:
    noted = sorted((i for i in items if i.remarked), key=lambda i: i.submitted or "", reverse=True)
    if not noted:
        return
    st.subheader("Skipped and flagged", anchor=False)
    rows = [
        {
            "what": "skipped" if i.state == "skipped" else "flagged",
            "annotator": i.annotator,
            "said": i.reason if i.state == "skipped" else i.flag,
            "conversation": of_conversation(i.conversation_id),
            "turn": i.turn,
        }
        for i in noted
    ]
    st.dataframe(
        pd.DataFrame(rows).dropna(axis=1, how="all"),
        hide_index=True,
        column_config={"conversation": st.column_config.LinkColumn(display_text="open")},
    )


def _ways_on(study: Study) -> None:
    """The ways to a study's figures, annotators and files."""
    if study.pairs:
        link("comparisons", "Comparisons", pairs=study.name)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button("See agreement", type="primary", icon=":material/balance:"):
            go("agreement", study=study.name)
        link("annotators", "Annotators and their links")
        if study.rubric:
            link("runs", "Let judges rate by the same rubric", rubric=study.rubric, study=study.name)
        link("export", "Export", study=study.name)


def _running(name: str) -> None:
    """Close the study or open it again, with a reason that is kept."""
    with workspace().read() as db:
        closed = closings.is_closed(db, name)
    with st.popover("Reopen the study" if closed else "Close the study", icon=":material/lock_clock:"):
        reason = st.text_input("Reason", max_chars=1000, key=f"reason {name} {closed}")
        st.button("Reopen" if closed else "Close", on_click=_closed, args=(name, closed, reason))


def _assign_items(
    name: str, annotators: list[str], overlap: int, repeats: float | None, match: str | None = None
) -> None:
    with notice.writing() as db:
        have = dealing.deal_study(db, name, annotators, overlap=overlap, repeats=repeats, match=match)
        items = ", ".join(f"{annotator}: {count} items" for annotator, count in sorted(have.items()))
        notice.success(f"Assigned. {items}. {dealing.plan(db, name).balance}")


def _closed(name: str, closed: bool, reason: str) -> None:
    with notice.writing() as db:
        (running.reopen if closed else running.close)(db, name, reason)
        notice.success(f"The study “{name}” is {'open again' if closed else 'closed'}.")


def _guidelines(draft: TextDraft, study: str) -> None:
    """The editor of a study's guidelines; what was typed is kept, and no version is lost unseen."""
    text = draft.text
    drawing.editor(text, key=draft.key, on_change=draft.keep)
    if draft.stale:
        return draft.versions("markdown")
    is_saved = text == draft.saved
    st.button(
        "Save the guidelines", key="save guidelines", disabled=is_saved, on_click=_save, args=(draft, study)
    )
    draft.line()


def _save(draft: TextDraft, study: str) -> None:
    with notice.writing() as db:
        if stored.get(db, study).guidelines != draft.base:
            return  # saved elsewhere since the page was drawn: the next run shows both versions
        stored.write_guidelines(db, study, st.session_state[draft.key])
        notice.success("The guidelines are saved.")
    draft.discard()


page()
