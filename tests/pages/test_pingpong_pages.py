"""PingPong's page of characters: read, imported under a new name, removed again."""

from __future__ import annotations

import json

from concord.benchmarks.pingpong.play import character_sets
from concord.runs.planning import materials
from concord.store import audit
from concord.workspace import Workspace
from tests.pages.framed import opened, press, words

PAGE = "pingpong/characters.py"
SETTINGS = {
    "en": {
        "characters": [
            {
                "char_name": "Wren",
                "system_prompt": "You are Wren, a keeper of bees.",
                "example_prompt": "User: Hello. Wren: Mind the hives.",
                "greeting": "Good day.",
                "summary": "A keeper of bees.",
            }
        ],
        "situations": [{"text": "You lost a swarm.", "num_turns": 4, "tags": ["swarm"]}],
    }
}


def sets(workspace: Workspace) -> list[str]:
    return character_sets(materials(workspace).data, "en")


def test_the_shipped_set_is_read_and_leads_to_a_run(workspace: Workspace) -> None:
    page = opened(PAGE)
    # Seven situations of four turns and one of eight: 8 × 36 = 288.
    assert "8 characters × 8 situations**: 64 conversations and 288 judged turns" in words(page)
    [way] = [link for link in page.get("page_link") if link.label == "Start a run with this set"]
    assert "character_set=own" in way.proto.query_string


def test_settings_are_counted_imported_and_removed(workspace: Workspace) -> None:
    page = opened(PAGE)
    file = page.file_uploader(key="settings file")
    page = file.upload("mine.json", json.dumps(SETTINGS).encode(), "application/json").run()
    assert "en: 1 character (wren), 1 situation" in words(page)
    page = press(page, "Import this set")
    assert sets(workspace) == ["own", "mine"]
    assert "1 character × 1 situation**: 1 conversation and 4 judged turns" in words(page)
    assert "“mine” is there already" in words(page)
    page = press(page, "Undo the import")
    assert sets(workspace) == ["own"]
    assert "8 characters" in words(page)
    with workspace.read() as db:
        assert [line.words for line in audit.lines(db)] == [
            "import of characters removed",
            "characters imported",
        ]


def test_a_file_that_is_none_says_why(workspace: Workspace) -> None:
    page = opened(PAGE)
    file = page.file_uploader(key="settings file")
    page = file.upload("mine.json", b'{"english": {}}', "application/json").run()
    assert "is not a language code" in words(page)
    assert "/tmp" not in words(page)
