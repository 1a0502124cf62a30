"""What a judge is told where a rubric brings no templates of its own, and the names a template may use."""

from pathlib import Path

VARIABLES = (
    "title",
    "language",
    "instructions",
    "guidelines",
    "unit",
    "questions",
    "fields",
    "dialogue",
    "turns",
    "reply_form",
    "examples",
)
OF_PAIRS = ("first", "second", "sides")
"""What the templates of a pairwise question, or of a ranking, may use beside these."""


def _shipped(name: str) -> str:
    return (Path(__file__).parent / "asked" / f"{name}.jinja").read_text(encoding="utf-8")


SYSTEM = _shipped("system")
USER = _shipped("fields") + _shipped("user")
PAIR_SYSTEM = _shipped("pair_system")
PAIR_USER = _shipped("fields") + _shipped("pair_user")
OF_GROUPS = {PAIR_SYSTEM: _shipped("rank_system"), PAIR_USER: _shipped("fields") + _shipped("rank_user")}
"""What is sent for a ranking in place of each text that is sent for a pair."""
EXAMPLES = _shipped("examples")
"""What the judge lab adds to a system message that shows examples."""
