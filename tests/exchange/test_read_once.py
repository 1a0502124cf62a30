"""The rows of a file are read once: the import stores what the check has read, from the disk."""

import json

from concord.conversation import Message
from concord.exchange import conversations_file, conversations_import, rows
from concord.store import conversations, seen
from concord.workspace import Workspace

ROW = {
    "model": "elm",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}],
}


def write(file, keys):
    file.write_text("".join(json.dumps({"id": key, **ROW}) + "\n" for key in keys), encoding="utf-8")
    return file


def test_the_import_reads_no_row_again(tmp_path, monkeypatch):
    file = write(tmp_path / "b.jsonl", range(30))
    survey = conversations_file.survey(file)
    monkeypatch.setattr(rows, "read", None)
    file.unlink()
    workspace = Workspace.open(tmp_path / "ws")
    assert "30 new conversations" in conversations_import.store(workspace, survey)
    with workspace.read() as db:
        stored = conversations.load(db, "b/7")
    assert stored.messages == (Message("user", "Hi"), Message("assistant", "Ho"))


def test_a_survey_is_stored_twice(tmp_path):
    survey = conversations_file.survey(write(tmp_path / "b.jsonl", range(3)))
    workspace = Workspace.open(tmp_path / "ws")
    conversations_import.store(workspace, survey)
    assert "0 new conversations, 3 were stored already" in conversations_import.store(workspace, survey)


def test_the_check_says_how_much_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(conversations_file, "ROWS_BETWEEN_REPORTS", 10)
    shares = []
    conversations_file.survey(write(tmp_path / "b.jsonl", range(100, 200)), progress=shares.append)
    assert len(shares) == 10
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_key_that_comes_again_is_found_beyond_what_memory_holds(tmp_path, monkeypatch):
    monkeypatch.setattr(seen, "RECENT", 4)
    survey = conversations_file.survey(write(tmp_path / "b.jsonl", [*range(11), 0, 9, 10]))
    assert (survey.conversations, survey.repeated, survey.wrong) == (11, 3, [])


def test_messages_under_a_role_of_another_name_keep_it(tmp_path):
    """The straight path for a role and a content is for the usual roles alone."""
    row = {
        "messages": [
            {"role": "User", "content": "Hi"},
            {"role": "bot", "content": ""},
            {"role": "bot", "content": "Ho"},
        ]
    }
    file = tmp_path / "b.jsonl"
    file.write_text(json.dumps(row) + "\n")
    ((_, entry),) = conversations_file.survey(file).examples
    assert [(m.role, m.content) for m in entry.conversations[0].messages] == [
        ("user", "Hi"),
        ("assistant", ""),
        ("assistant", "Ho"),
    ]


def test_the_store_keeps_every_character_of_a_message(tmp_path):
    texts = [
        "".join(map(chr, range(1, 0x300))),
        "\ufeff\u2028\u2029\x7f\x85",
        "\U0001f600 {\"a\": 'b'}\\",
        "\x00",
    ]
    messages = [{"role": role, "content": text} for text in texts for role in ("user", "assistant")]
    file = tmp_path / "b.jsonl"
    file.write_text(json.dumps({"id": 1, "messages": messages}) + "\n", encoding="utf-8")
    workspace = Workspace.open(tmp_path / "ws")
    conversations_import.store(workspace, conversations_file.survey(file))
    with workspace.read() as db:
        stored = conversations.load(db, "b/1")
        ((body,),) = db.execute("SELECT messages FROM conversations")
    assert [m.content for m in stored.messages] == [text for text in texts for _ in range(2)]
    said = [[m.role, m.content, {}] for m in stored.messages]
    assert body == json.dumps(said, ensure_ascii=False, separators=(",", ":"))
