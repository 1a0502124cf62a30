"""The agreement report of a study, computed once for all pages and readers."""

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from concord.llm.families import families
from concord.reports.agreement_report import AgreementReport, Options, agreement_report
from concord.store import studies
from concord.workspace import Workspace
from pages.parts.session import workspace


@st.cache_resource(max_entries=12, show_spinner="Measuring …")
def report_of(folder: str, study: str, mark: str, options: Options) -> AgreementReport:
    """The report of a study; anew when its data or the options change. It keeps what it has computed."""
    with workspace().read() as db:
        return agreement_report(db, study, options)


def study_called(name: str, titles: Mapping[str, str]) -> str:
    """A study as a reader chooses it: its title, and its name where that is another."""
    return name if titles[name] == name else f"{titles[name]} ({name})"


def studies_called() -> Callable[[str], str]:
    """`study_called` of the workspace, for a question that offers its studies."""
    with workspace().read() as db:
        return partial(study_called, titles=studies.titles(db))


def measured(of: Workspace) -> Options:
    """How a study is measured unless the reader asks for something else."""
    return Options(families=families(of.models_path))
