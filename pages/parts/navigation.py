"""The pages of the app by section; a page that is not listed is not served. Pages of single benchmarks."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from concord.runs.registry import BENCHMARKS, slice_of
from concord.store.sessions import Role
from pages.parts import menu

PAGES = Path(__file__).resolve().parent.parent


class PageFile(NamedTuple):
    """A page: its file below `pages/`, its title, its address ("" for the root), its icon."""

    file: str
    title: str
    address: str
    icon: str

    @property
    def path(self) -> Path:
        """The path of the file."""
        return PAGES / self.file


DESK = PageFile("annotate/rate.py", "Rate", "rate", ":material/edit_note:")

SECTIONS: dict[str, tuple[PageFile, ...]] = {
    "": (PageFile("study/overview.py", "Overview", "", ":material/home:"),),
    "Data": (
        PageFile("study/bring.py", "Import", "import", ":material/upload_file:"),
        PageFile("study/rubrics.py", "Rubrics", "rubrics", ":material/checklist:"),
        PageFile("study/models.py", "Models", "models", ":material/smart_toy:"),
        PageFile("study/runs.py", "Runs", "runs", ":material/play_circle:"),
        PageFile("pingpong/characters.py", "PingPong", "characters", ":material/theater_comedy:"),
        PageFile("simulbench/tasks_and_scripts.py", "SimulBench", "tasks", ":material/terminal:"),
        PageFile("stss/residents_and_tasks.py", "STSS", "residents", ":material/groups:"),
        PageFile("study/conversations.py", "Conversations", "conversations", ":material/forum:"),
        PageFile("study/take.py", "Export", "export", ":material/output:"),
    ),
    "Annotation": (
        PageFile("annotate/samples.py", "Samples", "samples", ":material/stacks:"),
        PageFile("annotate/annotators.py", "Annotators", "annotators", ":material/group:"),
        DESK,
        PageFile("annotate/adjudicate.py", "Adjudication", "adjudicate", ":material/gavel:"),
    ),
    "Trust": (
        PageFile("trust/agreement.py", "Agreement", "agreement", ":material/balance:"),
        PageFile("trust/spot_check.py", "Spot-check", "spot-check", ":material/fact_check:"),
        PageFile("trust/lab.py", "Judge lab", "lab", ":material/science:"),
        PageFile("trust/plan.py", "Plan", "plan", ":material/calculate:"),
        PageFile("trust/comparisons.py", "Comparisons", "comparisons", ":material/compare_arrows:"),
    ),
    "Results": (
        PageFile("results/leaderboard.py", "Leaderboard", "leaderboard", ":material/leaderboard:"),
        PageFile("results/estimate.py", "Estimate", "estimate", ":material/query_stats:"),
        PageFile("stss/town.py", "Town", "town", ":material/location_city:"),
    ),
    "Workspace": (
        PageFile("annotate/sessions.py", "Sessions", "sessions", ":material/devices:"),
        PageFile("annotate/audit.py", "Audit log", "audit", ":material/history:"),
    ),
}


PURPOSES = {
    "": "What this workspace holds, and how far its judges can be trusted.",
    "import": "Import conversations, ratings and votes from a file.",
    "rubrics": "The questions to judges and annotators about conversations; each rubric is a file of the "
    "workspace.",
    "models": "Models that generate conversations or judge them: their endpoints, prices and keys.",
    "runs": "Let models generate conversations and let judges rate them.",
    "characters": "Characters and situations: read and import them, and start a run with a set.",
    "residents": "Residents and tasks of a town: read, choose, import. Scenes, and scores of trajectories.",
    "tasks": "From tasks to scripts: propose, accept, extract, import; and what is next.",
    "conversations": "Find and read conversations, with every score and its reason.",
    "export": "Export conversations, ratings and reports as files.",
    "samples": "Draw conversations for annotators, assign them and follow the progress.",
    "annotators": "Invite annotators and follow their progress.",
    "adjudicate": "Decide items on which annotators differ.",
    "agreement": "How far the judges of a study agree with annotators, and where they fail.",
    "spot-check": "Check single judgements: reasonable, too high, too low or wrong?",
    "lab": "Improve a judge on one part of a study, choose on a second, measure the gain once on a third.",
    "plan": "How many conversations to label, and what it costs, before you start.",
    "comparisons": "Which of two answers is better, according to judges and annotators.",
    "leaderboard": "Which model scores best, how certain that is, and whether annotators would agree.",
    "estimate": "What annotators would say of everything that was judged in files, by group and over time.",
    "town": "Simulations of a town: who achieved what, and where each resident was.",
    "sessions": "Browsers that are signed in. Sign them out here.",
    "audit": "Decisions and exports, with their reasons, the newest first. The log cannot be changed.",
}
"""What a page is for, below its title."""


def about(page: PageFile) -> list[str]:
    """The benchmarks that a page is of: it is in the menu of a workspace that holds something of one of them.

    Empty for a page of all.
    """
    return [name for name in BENCHMARKS if slice_of(name) == page.file.split("/")[0]]


def own_pages(benchmark: str) -> list[PageFile]:
    """The pages that are of this benchmark alone."""
    return [page for pages in SECTIONS.values() for page in pages if benchmark in about(page)]


def heading(address: str, title: str = "") -> None:
    """The title of the page with this address beside its menu, and what it is for."""
    page = next(page for pages in SECTIONS.values() for page in pages if page.address == address)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(title or page.title, anchor=False)
        menu.place()
    st.caption(PURPOSES[address])


_ALL = frozenset(page.address for pages in SECTIONS.values() for page in pages)
OPEN_TO: Mapping[Role, frozenset[str]] = {
    "owner": _ALL,
    "researcher": _ALL - {"sessions"},
    "adjudicator": frozenset({"adjudicate"}),
}
"""The addresses of the pages that each role may open. Annotators have the desk only."""
