"""The agreement report of a study, computed once for all pages, and the widgets that say how."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

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
        return agreement_report(db, study, options, workspace().figures_path)


def study_called(name: str, titles: Mapping[str, str]) -> str:
    """A study as a reader chooses it: its title, and its name where that is another."""
    return name if titles[name] == name else f"{titles[name]} ({name})"


def studies_called() -> Callable[[str], str]:
    """`study_called` of the workspace, for a question that offers its studies."""
    with workspace().read() as db:
        return partial(study_called, titles=studies.titles(db))


def default_options(opened_workspace: Workspace) -> Options:
    """How a study is measured unless the reader asks for something else."""
    return Options(families=families(opened_workspace.models_path))


RESAMPLES = [200, 1000, 5000]


def options_of(bind: Callable[..., Any]) -> Options:
    """How the reader wants it measured; `bind` as in `pages.parts.address`. The command has more options."""
    keeps_refused = bind(
        "keep-refused",
        False,
        lambda key: st.toggle("Count conversations in which a judge saw a refusal", key=key),
        read={"yes": True, "no": False}.get,
        encode={True: "yes", False: "no"}.__getitem__,
    )
    resamples = bind(
        "resamples",
        1000,
        lambda key: st.select_slider("Resamples of the bootstrap", RESAMPLES, key=key),
        read={str(n): n for n in RESAMPLES}.get,
    )
    return Options(not keeps_refused, resamples=resamples, families=families(workspace().models_path))
