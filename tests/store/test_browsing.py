"""What the conversations page asks of the store."""

from __future__ import annotations

import pytest

from concord.conversation import Conversation, Message
from concord.errors import NotFound
from concord.rating import Spent
from concord.store import conversations
from concord.store.conversations import Filter, Group, Sort
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
        assert conversations.cost(db, number) == Spent(2, 10, 20, 0.5, 1.0)
        with pytest.raises(NotFound, match="no conversation number 99"):
            conversations.cost(db, 99)


@pytest.fixture
def faceted(workspace):
    """Five conversations with the facet “round”, of which one is no number, and one without it."""
    with workspace.write() as db:
        for key, of_round in (("a", "10"), ("b", "9"), ("c", "true"), ("d", "9.5"), ("e", "last")):
            say(db, key, *("hello" for _ in range(2 * len(of_round))), facets={"round": of_round})
        say(db, "f", "hello", "there")
    return workspace


@pytest.mark.parametrize(
    ("sort", "keys"),
    [
        (Sort("round", facet=True), "bdaec"),
        (Sort("round", facet=True, descending=True), "adbce"),
        (Sort("key", descending=True), "fedcba"),
        (Sort("turns"), "bfadce"),
        (Sort("people"), ""),
    ],
)
def test_a_list_is_sorted_by_any_column_or_facet(faceted, sort, keys):
    with faceted.read() as db:
        assert "".join(c.key for c in conversations.search(db, order=sort)) == keys
        first = conversations.search(db, order=sort, limit=2, offset=1)
        assert "".join(c.key for c in first) == keys[1:3]


def test_conversations_are_grouped_by_a_facet_or_a_column(faceted):
    with faceted.read() as db:
        found = conversations.groups(db, Filter(), "round", facet=True)
        assert {one.value: one.conversations for one in found} == dict.fromkeys(
            ("10", "9", "true", "9.5", "last"), 1
        )
        assert conversations.groups(db, Filter(), "player") == [Group("p", 6, None, None, 0)]
        assert conversations.groups(db, Filter(facets={"round": ("9",)}), "round", facet=True) == [
            Group("9", 1, None, None, 0)
        ]


@pytest.mark.parametrize(
    ("selection", "sorts"),
    [
        (Filter(), False),
        (Filter("pingpong", facets={"round": ()}), False),
        (Filter("pingpong", "en", refused=False), False),
        (Filter(facets={"round": ("9",)}), True),
        (Filter(text="hello"), True),
    ],
)
def test_a_list_by_a_score_walks_an_index_unless_a_filter_leaves_few(faceted, selection, sorts):
    with faceted.read() as db:
        statements: list[str] = []
        db.conn.set_trace_callback(statements.append)
        conversations.search(db, selection, "disagreement")
        db.conn.set_trace_callback(None)
        [listed] = [sql for sql in statements if "ORDER BY summaries.spread" in sql]
        plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {listed}")]
    assert ("USE TEMP B-TREE FOR ORDER BY" in plan) is sorts
    assert any("summaries_by_spread" in step for step in plan) is not sorts
