"""Bad files of conversations: all that is wrong is named at once, a sentence each; nothing is stored."""

import json
import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from concord.errors import ImportRefused
from concord.exchange import conversations_file, entries, rows
from concord.exchange.cells import MOST_NAMED
from concord.exchange.dialogue import SPEAKERS
from concord.exchange.row_reader import Reading
from concord.exchange.shapes import forms, shape_of
from concord.store import conversations, studies
from tests.exchange.forms_helpers import EXAMPLES

ASKED = {"role": "user", "content": "Hi"}


def chat(reply="Hello", **more):
    return {**more, "messages": [ASKED, {"role": "assistant", "content": reply}]}


def put(tmp_path, lines, name="chats.jsonl"):
    file = tmp_path / name
    file.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return file


def count(workspace):
    with workspace.read() as db:
        return conversations.count(db)


WRONG = [
    ({"messages": []}, "line 2: the dialogue is empty"),
    ({"messages": [ASKED]}, "line 2: the dialogue has no reply"),
    ({"messages": [{"role": "wizard", "content": "x"}]}, "the speaker “wizard” is unknown"),
    ({"messages": [{"role": "user"}]}, "line 2, utterance 1, needs a “role”"),
    ({"messages": ["x", 5]}, "line 2, utterance 1, must be an object"),
    ({"conversations": [{"from": "human", "value": "x"}]}, "line 2, has the form “ShareGPT”"),
    ({"some": "thing"}, "line 2, has an unknown format"),
    ("{oops", "line 2, is not valid JSON"),
    ("[1, 2]", "line 2, is not a JSON object"),
    (chat("Other", id=1), "line 2: “chats/1” is in line 1 too, with other messages"),
    (chat("\ud800"), "line 2"),
    (chat(model="x" * 600), "line 2: the player is 600 characters long"),
]


@pytest.mark.parametrize(("row", "why"), WRONG, ids=[why for _, why in WRONG])
def test_a_wrong_row_refuses_the_file(fresh, run, tmp_path, row, why):
    file = put(tmp_path, [chat(id=1), row, chat("Bye")])
    done = run(fresh, "import", "conversations", file)
    assert done.exit_code == 1
    assert why in done.output
    assert count(fresh) == 0
    assert "2 new conversations" in run(fresh, "import", "conversations", file, "--skip-wrong").output
    assert count(fresh) == 2


def test_all_that_is_wrong_is_named_at_once_and_bounded(fresh, run, tmp_path):
    file = put(tmp_path, [chat(), *[{"messages": []}] * 30])
    told = run(fresh, "import", "conversations", file).output
    assert "30 of 31 rows are invalid; nothing was imported" in told
    assert told.count("the dialogue is empty") == MOST_NAMED
    assert "and 20 more" in told


def test_a_conversation_stored_with_other_messages_refuses_the_file(fresh, run, tmp_path):
    run(fresh, "import", "conversations", put(tmp_path, [chat(id=1)]))
    done = run(fresh, "import", "conversations", put(tmp_path, [chat(id=2), chat("Other", id=1)]))
    assert "line 2: a conversation “chats/1” with other messages is stored already" in done.output
    assert count(fresh) == 1
    skipped = run(fresh, "import", "conversations", tmp_path / "chats.jsonl", "--skip-wrong")
    assert "1 new conversations. 1 rows were excluded." in skipped.output
    assert (
        "2 new conversations"
        in run(fresh, "import", "conversations", tmp_path / "chats.jsonl", "--benchmark", "others").output
    )


def table(chats):
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    return pa.table(
        {
            "conversation_hash": [f"h{n}" for n in range(chats)],
            "model": ["elm"] * chats,
            "conversation": pa.array(
                [[ASKED, {"role": "assistant", "content": f"Reply {n}"}] for n in range(chats)],
                pa.list_(message),
            ),
        }
    )


def test_parquet_is_read(fresh, run, tmp_path):
    parquet.write_table(table(250), tmp_path / "chats.parquet", row_group_size=100)
    done = run(fresh, "import", "conversations", tmp_path / "chats.parquet")
    assert "is Parquet of the form “WildChat”, 250 rows" in done.output
    assert count(fresh) == 250


def test_more_rows_than_bytes_are_refused_at_once(fresh, run, tmp_path):
    equal = pa.table({"prompt": ["Hi"] * 100_000, "response": ["Hello"] * 100_000})
    parquet.write_table(equal, tmp_path / "x.parquet")
    done = run(fresh, "import", "conversations", tmp_path / "x.parquet")
    assert done.exit_code == 1
    assert "100,000 rows" in done.output
    assert "at most one row per byte" in done.output


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.99])
def test_half_a_parquet_file_is_refused(fresh, run, tmp_path, kept):
    parquet.write_table(table(250), tmp_path / "whole.parquet", row_group_size=100)
    data = (tmp_path / "whole.parquet").read_bytes()
    (tmp_path / "half.parquet").write_bytes(data[: int(len(data) * kept)])
    done = run(fresh, "import", "conversations", tmp_path / "half.parquet")
    assert done.exit_code == 1
    assert "half.parquet is not a complete Parquet file: " in done.output
    assert "Copy or create the file again." in done.output
    assert count(fresh) == 0


def test_a_parquet_file_that_is_damaged_inside_leaves_nothing(fresh, run, tmp_path):
    parquet.write_table(table(500), tmp_path / "chats.parquet", row_group_size=100, compression="none")
    data = bytearray((tmp_path / "chats.parquet").read_bytes())
    middle = data.index(b"Reply 300")
    data[middle - 400 : middle] = b"\xff" * 400
    (tmp_path / "chats.parquet").write_bytes(data)
    done = run(fresh, "import", "conversations", tmp_path / "chats.parquet")
    assert done.exit_code == 1
    assert done.output.startswith("Error: ")
    assert count(fresh) == 0


def test_scores_become_ratings_when_asked(fresh, run, tmp_path):
    file = put(tmp_path, [EXAMPLES["MLflow traces"][1]], "traces.jsonl")
    surveyed = run(fresh, "import", "conversations", file, "--check").output
    assert "Scores: helpful (1).\n" in surveyed
    assert "--scores-as JUDGE" in surveyed
    done = run(fresh, "import", "conversations", file, "--scores-as", "j", "--study", "s", "--scale", "1..5")
    assert "1 ratings by annotators in the study “s”, 1 by judges" in done.output
    with fresh.read() as db:
        rated = db.execute(
            "SELECT x.kind, x.name, r.criterion, r.score, r.explanation FROM ratings r "
            "JOIN raters x ON x.id = r.rater_id ORDER BY 1"
        ).fetchall()
        assert studies.get(db, "s").criteria[0].scale.high == 5
    assert rated == [("human", "ann", "helpful", 5.0, ""), ("judge", "gpt", "helpful", 4.0, "Short.")]


def test_scores_that_are_asked_for_and_are_not_there(fresh, run, tmp_path):
    file = put(tmp_path, [chat()])
    assert (
        "holds no scores of judges" in run(fresh, "import", "conversations", file, "--scores-as", "j").output
    )
    assert "no scores by annotators" in run(fresh, "import", "conversations", file, "--study", "s").output
    assert count(fresh) == 0


NAMES = sorted(
    {
        part
        for shape in forms().shapes
        for path in (*shape.has, *shape.key, *(p for s in shape.sides for _, paths in s.parts for p in paths))
        for part in re.split(r"[.|+]", path)
    }
    | {"role", "from", "content", "value", "type", "text", "parts", "tool_calls", "function", "name", "lc"}
    | {"kwargs", "winner", "judge", "turn", "scores", "image_url", "url", "thinking", "choices", "message"}
)
FORMS = []
WORDS = st.sampled_from(["user", "assistant", "model_a", "tie", "human", "text", "{", "[1]", "C", "0.5", ""])
LEAVES = (
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(allow_nan=True) | WORDS | st.text(max_size=5)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)


def read_or_refused(read, *args):
    """What is read, or the sentence that refuses it. Any other error goes on."""
    try:
        return read(*args)
    except ImportRefused as error:
        return str(error)


def rows_of_examples(folder):
    """The form and the first row of each example of the documentation."""
    for ending, text in EXAMPLES.values():
        file = folder / f"example.{ending}"
        file.write_text(text, encoding="utf-8")
        row = next(row for row in rows.read(file) if shape_of(row.fields) is not None)
        yield shape_of(row.fields), row.fields


def changed(value, draw, left):
    """The value with something in it replaced by anything."""
    inner = [*value] if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    if not inner or left == 0 or draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    place = draw(st.sampled_from(list(inner)))
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place] = changed(value[place], draw, left - 1)
    return copy


@settings(max_examples=500)
@given(st.data())
def test_any_row_is_read_or_refused(tmp_path_factory, data):
    if not FORMS:
        FORMS.extend(rows_of_examples(tmp_path_factory.mktemp("examples")))
    shape, fields = data.draw(st.sampled_from(FORMS))
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(list(fields)))
        fields = {**fields, name: changed(fields[name], data.draw, 6)}
    found = read_or_refused(entries.read, fields, Reading(shape, "b", SPEAKERS), "here")
    if isinstance(found, str):
        assert "here" in found
    else:
        assert all(c.replies and c.player for c in found.conversations)
        json.dumps([[dict(c.meta), dict(c.context)] for c in found.conversations], allow_nan=False)
        assert all(isinstance(m.content, str) for c in found.conversations for m in c.messages)


@settings(max_examples=150)
@given(st.sampled_from(sorted(EXAMPLES)), st.data())
def test_a_file_that_is_damaged_is_read_or_refused(tmp_path_factory, name, data):
    ending, text = EXAMPLES[name]
    raw = bytearray(text.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(raw) - 1))
        length = data.draw(st.integers(0, 40))
        raw[place : place + length] = data.draw(
            st.binary(max_size=6) | st.sampled_from([b"[", b"null", b'""'])
        )
    file = tmp_path_factory.mktemp("damaged") / f"b.{ending}"
    file.write_bytes(raw)
    found = read_or_refused(conversations_file.survey, file)
    if isinstance(found, str):
        assert str(file) in found
    else:
        assert found.faults or found.conversations


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.json", b'{"a": 1}', "JSON"),
        ("a.json", b'{"a": 1}\n{"a": 2}\n', "JSON Lines"),
        ("a.json", b'[\n{"a": 1}]', "JSON"),
        ("a.json", b'{\n"a": 1}', "JSON"),
        ("a.jsonl", b'{"a": 1}', "JSON Lines"),
        ("a.txt", b"a,b\n1,2\n", "CSV"),
        ("a.txt", b"a\tb\n1\t2\n", "CSV"),
        ("a.csv", b"[a],b\n1,2\n", "CSV"),
        ("a.bin", b"PAR1....", "Parquet"),
    ],
)
def test_the_kind_of_a_file_is_told_by_its_content(tmp_path: Path, name, data, kind):
    (tmp_path / name).write_bytes(data)
    assert rows.kind_of(tmp_path / name) == kind
