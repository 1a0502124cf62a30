"""What several tests take from `test_import_in_parts`: LINES, held, imported, workspace."""

import pytest

from concord.exchange import incoming
from concord.workspace import Workspace

LINES = [
    f"i{item},wit,{kind},{rater},{(item + len(rater)) % 5 + 1},A reply of item {item}."
    for item in range(6)
    for kind, rater in (("human", "ann"), ("judge", "one"))
]


@pytest.fixture
def workspace(tmp_path, run, monkeypatch):
    """One that holds a study already; every conversation of another import is a part of its own."""
    monkeypatch.setattr(incoming, "CONVERSATIONS", 1)
    monkeypatch.setattr(incoming, "RATINGS", 1)
    made = Workspace.open(tmp_path / "workspace")
    imported(made, run, tmp_path, "first", LINES)
    return made


def imported(workspace, run, tmp_path, study, lines, *more):
    file = tmp_path / f"{study}.csv"
    file.write_text("\n".join(["item_id,criterion,rater_type,rater,score,text", *lines]) + "\n")
    return run(workspace, "import", "ratings", file, "--study", study, *more)


def held(workspace):
    """Everything stored, but raters and contexts, which mean nothing by themselves."""
    with workspace.read() as db:
        names = [name for name in db.table_names() if not name.startswith(("raters", "contexts", "sqlite_"))]
        return {name: sorted(map(repr, db.execute(f"SELECT * FROM {name}").fetchall())) for name in names}
