"""The result of a button, shown once at the top of the page by the next run."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from sqlite_utils import Database

from concord.errors import ConcordError
from pages.parts import person
from pages.parts.plain import with_code
from pages.parts.session import on_telephone, workspace
from pages.parts.ways import explain

_KEY = "notice"


def success(sentence: str) -> None:
    """Report that something was done."""
    st.session_state[_KEY] = (True, sentence)


def failure(error: ConcordError) -> None:
    """Report that something could not be done, and why."""
    st.session_state[_KEY] = (False, str(error))


@contextmanager
def writing() -> Iterator[Database]:
    """The store to write into, as who is at the page; an error is reported instead of raised."""
    try:
        with person.writing() as db:
            yield db
    except ConcordError as error:
        failure(error)
    except Exception:  # such as a commit that fails after `success`
        st.session_state.pop(_KEY, None)
        raise


def show() -> None:
    """Show the report. The element exists even without one, so that nothing below it moves."""
    place = st.empty()
    if _KEY in st.session_state:
        well, sentence = st.session_state.pop(_KEY)
        draw, icon = (place.success, "check") if well else (place.error, "error")
        explain(sentence, workspace().command, draw, icon=f":material/{icon}:")
        if on_telephone():  # whose page may be scrolled screens below its top
            st.toast(with_code(sentence), icon=f":material/{icon}:")
