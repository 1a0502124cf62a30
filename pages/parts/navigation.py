"""What the app consists of: sections, and in each the page files with their titles.

A page that is not listed here is not served.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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
    "Study": (
        PageFile("study/overview.py", "Overview", "", ":material/home:"),
        PageFile("study/runs.py", "Runs", "runs", ":material/play_circle:"),
        PageFile("study/conversations.py", "Conversations", "conversations", ":material/forum:"),
    ),
    "Annotate": (
        DESK,
        PageFile("annotate/samples.py", "Samples", "samples", ":material/stacks:"),
        PageFile("annotate/annotators.py", "Annotators", "annotators", ":material/group:"),
        PageFile("simulbench/tasks.py", "Tasks", "tasks", ":material/rule:"),
    ),
    "Trust": (
        PageFile("trust/agreement.py", "Agreement", "agreement", ":material/balance:"),
        PageFile("trust/spot_check.py", "Spot-check", "spot-check", ":material/fact_check:"),
        PageFile("trust/comparisons.py", "Comparisons", "comparisons", ":material/compare_arrows:"),
    ),
    "Results": (
        PageFile("results/leaderboard.py", "Leaderboard", "leaderboard", ":material/leaderboard:"),
        PageFile("stss/town.py", "Town", "town", ":material/location_city:"),
    ),
}
