"""Conversations of other tools: each form is recognised, read as it is meant, and stored once."""

import json

import pandas as pd
import pytest

from concord.exchange import conversations_file
from concord.reading import labels
from concord.rubrics import rubric
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
        return [conversation for _, conversation in conversations.of_benchmark(db, benchmark)]


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
    assert (turn.number, turn.reply.content, len(turn.other_messages)) == (1, "18 °C.", 3)


def test_a_second_import_adds_nothing(fresh, brought):
    brought([CHAT])
    assert "0 new conversations, 1 were stored already" in brought([CHAT]).output
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
    assert "all on stored conversations" in done.output, done.output
    brought([{**CHAT, "id": "x1"}], "--benchmark", "others")
    done = run(fresh, "import", "ratings", file, "--study", "another")
    assert "“x1” may be “chats/x1” or “others/x1”" in done.output


TURN = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


def test_what_is_not_kept_is_named(brought):
    rows = [
        {
            "id": 1,
            "messages": TURN,
            "topic": "cars",
            "trace": {"spans": [1]},
            "metadata": {"model": "elm", "x": 1},
        },
        {
            "id": 2,
            "messages": [{**TURN[0], "time": 3}, {**TURN[1], "stop": None}],
            "topic": "x",
            "notes": "y" * 600,
        },
    ]
    told = brought(rows).output
    assert "Stored as metadata, not shown: topic." in told
    left_out = next(line for line in told.splitlines() if line.startswith("Left out: "))
    assert left_out == (
        "Left out: trace (1 rows), metadata.x (1 rows), notes (1 rows), messages.time (1 rows)."
    )


def test_values_around_rows_beside_messages_and_in_scores_are_named(fresh, run, tmp_path):
    file = tmp_path / "chats.json"
    choices = [{"message": {"role": "assistant", "content": "Hello"}}, {"message": {"content": "Hey"}}]
    row = {"input": "Hi", "output": {"choices": choices, "usage": {"n": 3}}, "timestamp": 1}
    row |= {"scores": [{"name": "good", "value": 1, "config": "c"}]}
    file.write_text(json.dumps({"data": [row], "meta": {"page": 1}, "pages": [{"n": 1}]}))
    told = run(fresh, "import", "conversations", file, "--check").output
    left_out = next(line for line in told.splitlines() if line.startswith("Left out: "))
    for name in ("meta (around the rows)", "pages (around the rows)", "output.usage", "output.choices.…"):
        assert name in left_out
    assert "scores.config" in left_out


def test_any_column_becomes_a_facet_and_a_long_value_is_said_to_be_cut(fresh, brought):
    rows = [{"id": 1, "messages": TURN, "topic": "t" * 90, "kind": "a"}]
    told = brought(rows, "--map", "facet:topic=topic", "--map", "facet:kind=kind").output
    assert "topic (a facet has 80 characters)" in told
    assert all_of(fresh, "chats")[0].facets == {"topic": "t" * 80, "kind": "a"}


def test_what_a_reply_drew_on_is_shown_beside_it(fresh, brought):
    brought(
        [
            {
                "question": "Who?",
                "answer": "Ada.",
                "contexts": ["Ada did.", "Ben slept."],
                "ground_truth": "Ada",
            }
        ]
    )
    assert all_of(fresh, "chats")[0].context == {"Contexts": ["Ada did.", "Ben slept."], "Reference": "Ada"}


def test_words_beside_a_call_of_a_tool_stay_in_the_reply(fresh, brought):
    use = {"type": "tool_use", "id": "t", "name": "find", "input": {"q": "order"}}
    found = {"type": "tool_result", "tool_use_id": "t", "content": "sent"}
    brought(
        [
            {
                "messages": [
                    {"role": "user", "content": "Where is it?"},
                    {"role": "assistant", "content": [{"type": "text", "text": "I look it up."}, use]},
                    {"role": "user", "content": [found]},
                    {"role": "assistant", "content": [{"type": "text", "text": "And the date."}, use]},
                    {"role": "user", "content": [found]},
                    {"role": "assistant", "content": [{"type": "text", "text": "It was sent."}]},
                ]
            }
        ]
    )
    (chat,) = all_of(fresh, "chats")
    assert chat.replies == ("I look it up.\n\nAnd the date.\n\nIt was sent.",)
    assert [m.role for m in chat.messages] == ["user", "tool", "tool", "tool", "tool", "assistant"]


def test_speakers_keep_their_names_and_are_told_apart_by_number(fresh, brought):
    said = [("BotA", "Hi"), ("BotB", "Hello"), ("BotA", "Bye")]
    talk = [{"speaker": name, "text": text} for name, text in [("user", "Talk."), *said]]
    brought([{"messages": talk}], "--role", "BotA=assistant", "--role", "BotB=assistant")
    (chat,) = all_of(fresh, "chats")
    assert [m.meta.get("name") for m in chat.messages] == [None, "BotA", "BotB", "BotA"]
    roles = [message.role for message in rubric.lines_of(chat, (None,))]
    assert roles == ["user", "assistant 1", "assistant 2", "assistant 1"]


def test_a_file_with_a_foreign_column_is_read_as_of_another_tool(fresh, brought):
    told = brought(
        [{"key": "k", "player": "elm", "messages": TURN, "topic": "cars"}], "--map", "facet:topic=topic"
    )
    (chat,) = all_of(fresh, "chats")
    assert (chat.key, chat.player, chat.facets) == ("chats/k", "elm", {"topic": "cars"}), told.output


def test_concords_own_file_is_checked_and_is_not_mapped(brought, run, fresh, tmp_path):
    entry = {
        "kind": "conversation",
        "key": "k",
        "messages": [{**TURN[0], "time": 1}, TURN[1]],
        "colour": "red",
    }
    done = brought([entry, {"kind": "benchmark", "name": "chats", "criteria": []}], "--check").output
    assert "of the form “export of Concord”, 2 rows" in done
    assert "Left out: colour (1 rows), messages.time (1 rows)." in done
    assert all_of(fresh, "chats") == []
    assert (
        "Under “chats”: 1 new conversations."
        in run(fresh, "import", "conversations", tmp_path / "chats.jsonl").output
    )
    refused = run(fresh, "import", "conversations", tmp_path / "chats.jsonl", "--map", "player=colour")
    assert "Remove --map" in refused.output


def test_a_sheet_of_excel_holds_conversations_or_ratings(tmp_path):
    pytest.importorskip("openpyxl")
    chats, rated = tmp_path / "chats.xlsx", tmp_path / "rated.xlsx"
    pd.DataFrame({"prompt": ["Hi", None], "response": ["Hello", "18"], "n": [4, 5]}).to_excel(
        chats, index=False
    )
    (_, first), (_, second) = conversations_file.survey(chats).examples
    assert [m.content for m in first.conversations[0].messages] == ["Hi", "Hello"]
    assert second.conversations[0].meta["n"] == 5
    of_one = {"item_id": "a", "criterion": "f", "rater_type": "human", "rater": "ann", "score": 4}
    pd.DataFrame([of_one]).to_excel(rated, index=False)
    assert labels.ratings(rated).table.scores.tolist() == [4.0]
