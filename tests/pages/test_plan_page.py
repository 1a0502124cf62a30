"""The page Plan: what labels are for, and the answer, from what judges said of stored conversations."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner
from streamlit.testing.v1 import AppTest

from concord.cli import main
from concord.workspace import Workspace
from tests.filled import fill
from tests.pages.framed import FRAME


def shown(*, query: dict[str, str] | None = None) -> AppTest:
    app = AppTest.from_string(FRAME.format(file="trust/plan.py"), default_timeout=30)
    for name, value in (query or {}).items():
        app.query_params[name] = value
    return app.run()


def test_an_empty_workspace_says_where_to_begin(workspace: Workspace) -> None:
    assert "no judge has rated yet" in shown().info[0].value


def test_a_goal_is_answered_and_what_fits_no_scale_is_not_offered(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    app = shown()
    assert not app.exception
    said = " ".join(one.value for one in app.markdown)
    assert "Expected ρ" in said
    assert "for ± 0.1 on ρ" in said.replace("\\", "")
    (figures,) = [one for one in app.button_group if one.label == "Labels are for"]
    assert figures.options == ["agreement", "corrected rate or mean"]


def test_a_pilot_is_planned_from_as_the_command_does(workspace: Workspace, tmp_path: Path) -> None:
    """40 rows with a judge's answers, 20 of them with a label: its kappa is what the plan goes by."""
    rows = "".join(
        f"q{n},{'yes' if n % 2 else 'no'},{('yes' if n % 2 or n % 10 == 0 else 'no') if n < 20 else ''}\n"
        for n in range(40)
    )
    file = tmp_path / "pilot.csv"
    file.write_text(f"id,judge,human\n{rows}")
    app = shown()
    app.file_uploader[0].set_value(("pilot.csv", file.read_bytes(), "text/csv")).run()
    assert not app.exception
    told = " ".join(one.value for one in app.markdown).replace("\\", "")
    command = CliRunner().invoke(main, ["plan", str(file), "--width", "0.1", "--seconds", "40"]).output
    assert "as in the pilot of 20 labels" in told
    assert [part for part in command.split("\n\n")[0].splitlines() if part not in told] == []


def test_a_pilot_that_holds_no_judge_is_refused(workspace: Workspace) -> None:
    app = shown()
    app.file_uploader[0].set_value(("pilot.csv", b"id,human\na,1\nb,0\nc,1\n", "text/csv")).run()
    assert not app.exception
    assert app.error
