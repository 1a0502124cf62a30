"""What several tests take from `test_bring`: said, the."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def said(shown: AppTest) -> str:
    kinds = ("markdown", "caption", "error", "success")
    return "\n".join(e.value for kind in kinds for e in shown.get(kind)).replace("\\", "")


def the(shown: AppTest, kind: str, label: str):
    return next(e for e in shown.get(kind) if e.label.startswith(label))
