"""Conversations of other tools: each form is recognised, read as it is meant, and stored once."""

import json

import pytest

from concord.store import comparisons, conversations

ARENA = [
    {
        "question_id": "q1",
        "model_a": "elm",
        "model_b": "oak",
        "winner": winner,
        "judge": "arena_user_1",
        "conversation_a": [{"content": "Hi", "role": "user"}, {"content": "Hello", "role": "assistant"}],
        "conversation_b": [{"content": "Hi", "role": "user"}, {"content": "Yo", "role": "assistant"}],
        "turn": 1,
        "anony": True,
        "language": "German",
        "tstamp": 1682351591.1,
    }
    for winner in ("model_b",)
]
CHAT = {
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "text", "text": "How warm is it there?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "look", "arguments": '{"at": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "18"},
        {"role": "assistant", "content": "18 °C."},
    ]
}


@pytest.fixture
def brought(fresh, run, tmp_path):
    """Imports rows from a file; the result of the command."""

    def bring(entries, *more, name="chats.jsonl"):
        file = tmp_path / name
        file.write_text("\n".join(map(json.dumps, entries)))
        return run(fresh, "import", "conversations", file, *more)

    return bring


def all_of(workspace, benchmark):
    with workspace.read() as db:
        return [conversation for _, conversation in conversations.each(db, benchmark)]


def test_a_chat_keeps_its_system_prompt_and_its_tools(fresh, brought):
    assert "1 new conversations" in brought([CHAT]).output
    (chat,) = all_of(fresh, "chats")
    assert [(m.role, m.content) for m in chat.messages] == [
        ("system", "Be brief."),
        ("user", "How warm is it there?"),
        ("tool", 'look({"at": 1})'),
        ("tool", "18"),
        ("assistant", "18 °C."),
    ]
    (turn,) = chat.turns()
    assert (turn.number, turn.reply.content, len(turn.beside)) == (1, "18 °C.", 3)


def test_a_second_import_adds_nothing(fresh, brought):
    brought([CHAT])
    assert "0 new conversations, 1 were here already" in brought([CHAT]).output
    assert len(all_of(fresh, "chats")) == 1


def test_votes_of_an_arena_are_comparisons(fresh, brought):
    done = brought(ARENA, name="arena.jsonl")
    assert done.exit_code == 0, done.output
    assert "“Chatbot Arena”" in done.output
    assert "2 new conversations, 1 comparisons" in done.output
    one, other = all_of(fresh, "arena")
    assert (one.key, one.player, one.language) == ("arena/q1/elm", "elm", "de")
    assert other.facets["scenario"] == "q1"
    with fresh.read() as db:
        (row,) = comparisons.frame(db, "arena", "scenario").to_dict("records")
    assert (row["a"], row["b"], row["verdict"], row["rater"], row["kind"]) == (
        "elm",
        "oak",
        "B",
        "arena_user_1",
        "human",
    )


def test_a_vote_is_stored_once_and_another_verdict_is_a_repeat(fresh, brought):
    both = [*ARENA, {**ARENA[0], "winner": "tie"}, ARENA[0]]
    assert "2 comparisons" in brought(both, name="arena.jsonl").output
    assert "comparisons" not in brought(both, name="arena.jsonl").output
    with fresh.read() as db:
        rows = comparisons.frame(db, "arena", "scenario")
    assert list(zip(rows.repeat, rows.verdict, strict=True)) == [(0, "B"), (1, "C")]


def test_ratings_find_imported_conversations_by_their_id(fresh, run, brought, tmp_path):
    brought([{**CHAT, "id": "x1"}])
    file = tmp_path / "mine.csv"
    file.write_text("item_id,criterion,rater_type,rater,score\nx1,wit,human,ann,2\n")
    done = run(fresh, "import", "ratings", file, "--study", "mine")
    assert "all on conversations that were here" in done.output, done.output
    brought([{**CHAT, "id": "x1"}], "--benchmark", "others")
    done = run(fresh, "import", "ratings", file, "--study", "another")
    assert "“x1” may be “chats/x1” or “others/x1”" in done.output
