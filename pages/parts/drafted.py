"""What was typed on a page and not saved: Back, a reload and a lost session find it again."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import streamlit as st
from sqlite_utils import Database

from concord.errors import ConcordError
from concord.store import drafts
from pages.parts import person
from pages.parts.session import workspace


class TextDraft(NamedTuple):
    """A text that is edited in one field, and saved as a whole.

    `subject` names it among drafts, `saved` is the saved text now, `noun` is the word for it on the page.
    """

    subject: str
    saved: str
    noun: str

    @property
    def key(self) -> str:
        """The key of the field in the session's state."""
        return f"text of {self.subject}"

    @property
    def _base_key(self) -> str:
        return f"base of {self.subject}"

    @property
    def text(self) -> str:
        """The text in the field: as it was typed, else the draft that was kept, else the saved one.

        Where somebody else saved another one meanwhile, a text without changes follows it.
        """
        state = st.session_state
        if self.key not in state:
            with person.as_here(), workspace().read() as db:
                draft = drafts.get(db, self.subject)
            state[self.key], state[self._base_key] = draft or drafts.Draft(self.saved, self.saved)
        if self.stale and state[self.key] in (state[self._base_key], self.saved):
            state[self.key] = state[self._base_key] = self.saved
            self.forget()
        return str(state[self.key])

    @property
    def stale(self) -> bool:
        """Whether somebody else saved another text since these changes were begun."""
        return str(st.session_state.get(self._base_key, self.saved)) != self.saved

    @property
    def base(self) -> str:
        """The saved text on which the text in the field is based."""
        return str(st.session_state.get(self._base_key, self.saved))

    def keep(self) -> None:
        """Keep the text as a draft; called when it changes."""
        draft = drafts.Draft(st.session_state[self.key], self.base)
        with person.writing() as db:
            drafts.keep(db, self.subject, draft)

    def forget(self) -> None:
        """Remove the draft."""
        with person.writing() as db:
            drafts.remove(db, self.subject)

    def discard(self, db: Database | None = None) -> None:
        """Go back to what is saved; `db` is the store where it is open for writing."""
        if db is None:
            self.forget()
        else:
            drafts.remove(db, self.subject)
        st.session_state.pop(self.key, None)

    def line(self) -> None:
        """Say that changes are kept, with the way back to what is saved; nothing without changes."""
        if self.text != self.saved:
            _draft_line(self.subject, self.discard)

    def versions(self, language: str) -> None:
        """Both versions of a text that somebody else saved, of which the reader takes one."""
        st.error(
            f"Another version of this {self.noun} was saved after you began. Choose a version; nothing is "
            "saved before that.",
            icon=":material/call_split:",
        )
        left, right = st.columns(2)
        with left.container(border=True):
            st.markdown("**Saved now**")
            st.code(self.saved, language=language, height=240, wrap_lines=True)
            st.button("Use the saved version", on_click=self.discard, key=f"take {self.subject}")
        with right.container(border=True):
            st.markdown("**Yours**")
            st.code(self.text, language=language, height=240, wrap_lines=True)
            st.button(
                "Use my version and overwrite the other", on_click=self._keep_mine, key=f"keep {self.subject}"
            )

    def _keep_mine(self) -> None:
        st.session_state[self._base_key] = self.saved
        self.keep()


class FormDraft:
    """The fields of a form that differ from what it begins with, kept until the form is sent."""

    def __init__(self, subject: str) -> None:
        self.subject = subject
        with person.as_here(), workspace().read() as db:
            draft = drafts.get(db, subject)
        self._draft: dict[str, Any] = json.loads(draft.text) if draft else {}
        self._defaults: dict[str, Any] = {}

    def field(self, name: str, default: Any, options: Sequence[Any] | None = None) -> str:
        """The key of a widget, whose value begins as the draft has it, else as `default`.

        A value that is none of the `options` is not taken from the draft; of a list of values those are taken
        that are. A widget with the default value follows where that becomes another.
        """
        state = st.session_state
        key = f"{self.subject}: {name}"
        default = [*default] if isinstance(default, list | tuple) else default
        if key not in state or state[key] == state.get(f"usual {key}", default):
            state[key] = self._begin(name, default, options) if key not in state else default
        state[f"usual {key}"] = self._defaults[name] = default
        return key

    def value(self, name: str) -> Any:
        """What a widget of the form holds now."""
        return st.session_state[f"{self.subject}: {name}"]

    def _begin(self, name: str, default: Any, options: Sequence[Any] | None) -> Any:
        value = self._draft.get(name, default)
        if options is None:
            return value
        if isinstance(value, list):
            return [one for one in value if one in options]
        return value if value in options else default

    def keep(self) -> None:
        """Keep what differs from the default, and say so; called when all fields are drawn."""
        values = {name: self.value(name) for name in self._defaults}
        changed = {name: value for name, value in values.items() if value != self._defaults[name]}
        changed |= {name: value for name, value in self._draft.items() if name not in values}
        if changed != self._draft:
            draft = drafts.Draft(json.dumps(changed, ensure_ascii=False) if changed else "", "")
            # A workspace that is read only keeps none.
            with suppress(ConcordError), person.writing() as db:
                drafts.keep(db, self.subject, draft)
        if changed:
            _draft_line(self.subject, self.discard)

    def address(self, name: str, options: Sequence[str]) -> None:
        """Have the address say what the draft has of a widget that stands there, when the page is opened."""
        value = str(self._draft.get(name, ""))
        if name not in st.session_state and name not in st.query_params and value in options:
            st.query_params[name] = value

    def set(self, name: str, value: str, default: str) -> None:
        """Take what a widget says that stands in the address."""
        st.session_state[f"{self.subject}: {name}"] = value
        self._defaults[name] = default

    def discard(self, db: Database | None = None) -> None:
        """Forget the draft, and begin the form again; `db` is the store where it is open for writing."""
        state = st.session_state
        if db is None:
            with person.writing() as store:
                return self.discard(store)
        drafts.remove(db, self.subject)
        for key in [
            key for key in state if str(key).startswith((f"{self.subject}: ", f"usual {self.subject}: "))
        ]:
            del state[key]


def _draft_line(subject: str, discard: Any) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Your changes stay a draft until you save them.")
        st.button("Discard my changes", icon=":material/undo:", on_click=discard, key=f"discard {subject}")
