"""Rows that lie inside a file: `--rows` names the list, and the refusal names those that there are."""

import json

import pytest

from concord.errors import ImportRefused
from concord.exchange import conversations_file
from concord.exchange.conversations_file import FileOptions

SAID = [("user", "Hi"), ("assistant", "Hello")]
EVENT = {"id": "b", "input": "Hi", "output": "Hello", "_xact_id": "1"}
CASE = {"name": "c", "inputs": {"q": "Hi"}, "output": "Hello", "scores": {}}
ITEM = {"input": "Hi", "output": "Hello"}


@pytest.mark.parametrize(
    ("whole", "place", "mapping"),
    [
        ({"found": [EVENT], "cursor": "x"}, "found", {}),
        ({"name": "e", "tried": [CASE]}, "tried", {"user": "inputs.q", "assistant": "output"}),
        ({"run": {"datasetRunItems": [ITEM]}, "meta": {}}, "run.datasetRunItems", {}),
        ({"log": {"records": {"a": ITEM, "b": ITEM}}}, "log.records", {}),
        ([{"page": 1, "items": [ITEM]}, {"page": 2, "items": []}], "items", {}),
    ],
)
def test_a_list_inside_is_named_by_the_refusal_and_read(tmp_path, whole, place, mapping):
    file = tmp_path / "b.json"
    file.write_text(json.dumps(whole))
    if place != "log.records":
        with pytest.raises(ImportRefused, match=f"--rows {place} reads one"):
            conversations_file.survey(file, FileOptions("b"))
    found = conversations_file.survey(file, FileOptions("b", mapping, rows=place))
    assert (found.wrong, found.faults) == ([], 0)
    every = [c for _, entry in found.examples for c in entry.conversations]
    assert [[(m.role, m.content) for m in c.messages] for c in every] == [SAID] * len(every)
    assert every


def test_rows_inside_lines_are_imported(fresh, run, tmp_path):
    file = tmp_path / "b.jsonl"
    file.write_text(
        "".join(json.dumps({"part": n, "wrapped": {"in": {**ITEM, "id": n}}}) + "\n" for n in (1, 2))
    )
    done = run(fresh, "import", "conversations", file, "--rows", "wrapped.in")
    assert (done.exit_code, "2 new conversations" in done.output) == (0, True), done.output


def test_a_place_without_objects_is_an_error(tmp_path):
    file = tmp_path / "b.json"
    file.write_text(json.dumps({"events": [EVENT]}))
    with pytest.raises(ImportRefused, match=r"--rows event: .* has no list of objects there"):
        conversations_file.survey(file, FileOptions("b", rows="event"))
