"""PingPong's characters and situations: read, imported from settings of the authors, chosen for a run."""

from collections.abc import Mapping, Sequence

import streamlit as st

from concord.benchmarks.pingpong import files
from concord.benchmarks.pingpong.files import Settings
from concord.benchmarks.pingpong.play import (
    OWN_SET,
    PINGPONG,
    Character,
    Situation,
    character_sets,
    characters,
    situations,
)
from concord.errors import ConcordError
from concord.runs.planning import materials
from concord.table import Cell, Column, Table
from pages.parts import notice, person, table
from pages.parts.address import link, listed
from pages.parts.navigation import heading
from pages.parts.plain import plain, quantity
from pages.parts.session import sentence, workspace
from pages.parts.upload import upload_of

LAST = "the last import of characters"
LARGEST = 20
"""Megabytes of a settings file at most."""
TITLES = {OWN_SET: "shipped and your own"}


def page() -> None:
    """Draw the page."""
    heading("characters")
    notice.show()
    if LAST in st.session_state:
        st.button("Undo the import", icon=":material/undo:", on_click=_undo, shortcut="u")
    try:
        _set()
    except ConcordError as error:
        sentence(error)
    with st.expander("Import settings of the authors", icon=":material/upload_file:", key="settings"):
        _import()


def _undo() -> None:
    name = st.session_state.pop(LAST)
    with person.as_here():
        files.remove(workspace(), name)
    if st.query_params.get("character_set") == name:
        del st.query_params["character_set"]
    notice.success(f"The character set {name} was removed.")


def _title(name: str) -> str:
    return TITLES.get(name, name)


def _languages() -> list[str]:
    option = next(option for option in PINGPONG.options if option.name == "language")
    return list(option.values(materials(workspace()), {})) if option.values else []


def _set() -> None:
    """A set of a language: its characters, its situations, and the way to a run."""
    folders = materials(workspace()).data
    left, right = st.columns(2)
    languages = _languages()
    with left:
        language = listed("Language", "language", languages, "en" if "en" in languages else languages[0])
    sets = character_sets(folders, language)
    with right:
        name = listed(
            "Character set",
            "character_set",
            sets,
            OWN_SET,
            format_func=_title,
        )
    cards = characters(folders, language, name)
    scenes = situations(folders, language, name)
    conversations = quantity(len(cards) * len(scenes), "conversation")
    turns = quantity(len(cards) * sum(scene.num_turns for scene in scenes.values()), "judged turn")
    st.markdown(
        f"**{quantity(len(cards), 'character')} × {quantity(len(scenes), 'situation')}**: "
        f"{conversations} and {turns} per player."
    )
    _characters(cards)
    _situations(scenes)
    with st.container(horizontal=True):
        link(
            "runs",
            "Start a run with this set",
            benchmark=PINGPONG.name,
            language=language,
            character_set=name,
        )
        link("leaderboard", "Leaderboard", benchmark=PINGPONG.name)


def _characters(cards: Mapping[str, Character]) -> None:
    rows: tuple[dict[str, Cell], ...] = tuple(
        {"name": card.char_name, "summary": card.summary, "file": slug} for slug, card in cards.items()
    )
    columns = (Column("name"), Column("summary", "what the interrogator knows"), Column("file"))
    cast = Table("characters", "Characters", columns, rows, "Select a row to read the card.")
    row = table.draw(cast, selectable=True)
    if row is None:
        return
    card = cards[str(row["file"])]
    with st.container(border=True):
        st.markdown(f"**{plain(card.char_name)}**")
        for label, text in (
            ("Card", card.system_prompt),
            ("Sample dialogue", card.example_prompt),
            ("Greeting", card.greeting),
        ):
            if text:
                st.caption(label)
                st.text(text)


def _situations(scenes: Mapping[str, Situation]) -> None:
    rows: tuple[dict[str, Cell], ...] = tuple(
        {"id": scene.id, "turns": scene.num_turns, "text": scene.text} for scene in scenes.values()
    )
    columns = tuple(map(Column, ("id", "turns", "text")))
    listing = Table("situations", "Situations", columns, rows, "Select a row to read the situation.")
    if row := table.draw(listing, selectable=True):
        with st.container(border=True):
            st.text(scenes[str(row["id"])].text)


def _import() -> None:
    """A settings file, counted before it is imported under a new name."""
    file = st.file_uploader(
        "A settings file (JSON): for each language the characters and situations",
        type=["json"],
        max_upload_size=LARGEST,
        key="settings file",
    )
    if file is None:
        st.caption("It becomes a character set of its own; runs can play it alone.")
        return
    upload = upload_of(file.file_id, file)
    try:
        settings = files.read(upload.path)
    except ConcordError as error:
        st.error(plain(upload.sentence(error)), icon=":material/error:")
        return
    for language, cards in settings.characters.items():
        scenes = settings.situations[language]
        st.markdown(
            plain(
                f"{language}: {quantity(len(cards), 'character')} ({', '.join(cards)}), "
                f"{quantity(len(scenes), 'situation')}"
            )
        )
    name = files.slug(
        st.text_input("Name of the character set", file.name.rpartition(".")[0], max_chars=60, key="set name")
    )
    names = _set_names(list(settings.characters))
    if name in names:
        st.warning(plain(f"“{name}” is there already. Choose another name."), icon=":material/error:")
    st.button(
        "Import this set",
        type="primary",
        icon=":material/upload_file:",
        disabled=not name or name in names,
        on_click=_store,
        args=(settings, name),
    )


def _set_names(languages: Sequence[str]) -> set[str]:
    """The names of the sets of these languages."""
    folders = materials(workspace()).data
    return {name for language in languages for name in character_sets(folders, language)}


def _store(settings: Settings, name: str) -> None:
    try:
        with person.as_here():
            files.bring(workspace(), settings, name)
    except ConcordError as error:
        notice.failure(error)
        return
    st.session_state[LAST] = name
    first = next(iter(settings.characters))
    st.query_params.update({"language": first, "character_set": name})
    notice.success(f"The character set {name} was imported.")


page()
