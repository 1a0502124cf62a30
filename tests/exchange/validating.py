"""Run by the Python that has label-studio-sdk and argilla: their validators read what Concord wrote.

`python validating.py FOLDER` prints as JSON how many tasks, annotations and records they accept.
"""

import json
import sys
from pathlib import Path
from unittest import mock

import argilla
from label_studio_sdk.label_interface import LabelInterface


def label_studio(folder: Path) -> dict[str, int]:
    tasks = json.loads((folder / "tasks.json").read_text())
    interface = LabelInterface((folder / "config.xml").read_text())
    interface.validate()
    found = {"tasks": 0, "annotations": 0}
    for task in tasks:
        # With annotations in the task this version of the library calls its own method without them.
        assert interface.validate_task({"data": task["data"]}), task
        found["tasks"] += 1
        for annotation in task["annotations"]:
            assert interface.validate_annotation(annotation), annotation
            found["annotations"] += 1
    broken = json.loads(json.dumps(tasks[0]["annotations"][0]))
    broken["result"][0]["from_name"] = "nothing"
    assert not interface.validate_annotation(broken), "the validator accepts anything"
    return found


def records(folder: Path) -> dict[str, int]:
    """The settings are those of a dataset, and every record is ingested by it without a server."""
    client = mock.MagicMock()
    with mock.patch.object(argilla.Argilla, "_get_default", return_value=client):
        settings = argilla.Settings.from_json(folder / ".argilla" / "settings.json")
        settings.validate()
        dataset = argilla.Dataset(name="x", settings=settings, workspace=None, client=client)
        given = [argilla.Record.from_dict(each) for each in json.loads((folder / "records.json").read_text())]
        ingested = dataset.records._ingest_records(given)
        for model in ingested:
            assert all(len(said.role) <= 20 for said in model.fields["chat"])
        return {"records": len(ingested)}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print(json.dumps(label_studio(place / "ls") | records(place / "rg")))
