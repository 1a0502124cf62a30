"""What the conversations page asks of the store."""

from __future__ import annotations

import pytest

from concord.conversation import Conversation, Message
from concord.errors import NotFound
from concord.rating import Spent
from concord.store import conversations
from concord.store.conversations import Filter
from concord.workspace import Workspace


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path / "workspace")


def say(db, key, *texts, **more):
    messages = tuple(Message("user" if i % 2 == 0 else "assistant", text) for i, text in enumerate(texts))
    return conversations.save(
        db, Conversation("pingpong", key, "p", messages, **more), Spent(2, 10, 20, 0.5, 1.0)
    )


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("goblin", {"a"}),
        ("GOBLIN", {"a"}),
        ("привет", {"b"}),
        ("ПРИВЕТ", {"b"}),
        ("straße", {"c"}),
        ('say "hi"', {"a"}),
        ("100%", set()),
        ("_", set()),
    ],
)
def test_words_are_found_in_any_case_and_any_alphabet(workspace, text, keys):
    with workspace.write() as db:
        say(db, "a", "hello", 'The Goblin would say "hi".')
        say(db, "b", "hello", "Привет, гоблин!")
        say(db, "c", "hello", "Die STRASSE ist lang.")
    with workspace.read() as db:
        assert {c.key for c in conversations.search(db, Filter(text=text))} == keys
        assert conversations.count(db, Filter(text=text)) == len(keys)


def test_what_a_conversation_cost(workspace):
    with workspace.write() as db:
        number = say(db, "a", "hello", "there")
    with workspace.read() as db:
        assert conversations.spent(db, number) == Spent(2, 10, 20, 0.5, 1.0)
        with pytest.raises(NotFound, match="no conversation number 99"):
            conversations.spent(db, 99)
