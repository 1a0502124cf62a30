"""Concord: how far can I trust my LLM judges, and where do they fail?

`agreement` (or `check`) measures a table of answers, `judge` has judges rate conversations by a rubric, and
`Study` opens a study of a workspace. docs/library.md explains them. Each is loaded on first use.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as typing has it, whose import would take longer than all of this one
if TYPE_CHECKING:
    from typing import Any

    from concord.estimate import Estimate
    from concord.library.judging import Judged, judge
    from concord.library.lake import judge_files
    from concord.library.result import Agreement
    from concord.library.study import Study, agreement, check

__all__ = [
    "Agreement",
    "Estimate",
    "Judged",
    "Study",
    "agreement",
    "check",
    "judge",
    "judge_files",
]

_PLACES = {
    "Agreement": "concord.library.result",
    "Estimate": "concord.estimate",
    "Judged": "concord.library.judging",
    "Study": "concord.library.study",
    "agreement": "concord.library.study",
    "check": "concord.library.study",
    "judge": "concord.library.judging",
    "judge_files": "concord.library.lake",
}


def __getattr__(name: str) -> Any:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    import difflib

    near = difflib.get_close_matches(name, __all__, n=1)
    hint = f" Did you mean “{near[0]}”?" if near else ""
    raise AttributeError(f"module “concord” has no attribute “{name}”.{hint}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
