"""People who answer in Label Studio: the tasks that Concord wrote become the project's export."""

import json
from pathlib import Path

from concord.conversation import Unit
from concord.exchange import answers
from concord.store import ratings, studies
from concord.workspace import Workspace


def exported(tasks: Path, workspace: Workspace, study: str) -> Path:
    """Give the tasks of a file the answers that people of a study gave; returns the file."""
    with workspace.read() as db:
        asked = {c.name: c for c in studies.get(db, study).criteria}
        rows = [row for row in ratings.exported(db, study) if row["rater_type"] == "human"]
    called = answers.names([*asked.values()])
    results: dict[str, dict[str, list[dict[str, object]]]] = {}
    for row in rows:
        scale, score = asked[row["criterion"]].scale, row["score"]
        words = scale.chosen(score) if scale.sets else [scale.word(score, level=True)]
        value = {"choices": words} if scale.offered else {"number": score}
        result = {"id": "r", "from_name": called[row["criterion"]], "to_name": "dialogue", "value": value}
        result["type"] = "choices" if scale.offered else "number"
        item = answers.name_of(Unit(row["item_id"], row["turn"]))
        results.setdefault(item, {}).setdefault(row["rater"], []).append(result)
    project = json.loads(tasks.read_text())
    for task in project:
        task["annotations"] = [
            {"completed_by": {"email": who}, "was_cancelled": False, "result": given}
            for who, given in results.get(task["data"]["item"], {}).items()
        ]
    tasks.write_text(json.dumps(project))
    return tasks
