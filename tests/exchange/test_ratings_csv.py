"""Ratings in long form: what is read, what is refused with its line, and that nothing of a refused file is
stored.
"""

import csv
import io
import json
import random

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ImportRefused
from concord.exchange import (
    conversations_file,
    conversations_import,
    incoming,
    ranking_csv,
    rating_table,
    ratings_csv,
    ratings_study,
)
from concord.questions import Scale, points
from concord.store import access, conversations, frames, placements, ratings
from concord.store import studies as stored
from concord.studies import studies
from concord.studies.scales import named_scale
from concord.workspace import Workspace

HEADER = "item_id,criterion,rater_type,rater,score"


def put(tmp_path, *lines, header=HEADER, name="ratings.csv"):
    file = tmp_path / name
    file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return file


def bring(workspace, file, study="s"):
    with workspace.read() as db:
        brought = ratings_study.incoming(db, ratings_csv.read(file), study)
    return incoming.store(workspace, brought)


def empty(workspace):
    with workspace.read() as db:
        return not (conversations.count(db) or stored.names(db) or list(ratings.exported(db)))


class TestRead:
    def test_the_least_file_becomes_a_study(self, workspace, run, tmp_path):
        file = put(
            tmp_path,
            "a,fluency,human,ann,4",
            "a,fluency,judge,gpt,3.5",
            "b,fluency,human,ann,2",
            "b,fluency,judge,gpt,1",
        )
        done = run(workspace, "import", "ratings", file, "--study", "s")
        assert done.exit_code == 0, done.output
        assert "new: 2 ratings by annotators, 2 by judges, 2 units, 2 conversations." in done.output
        assert "fluency: 1 to 4, 4 answers, guessed from the scores" in done.output
        with workspace.read() as db:
            frame = frames.frame(db, "s")
            assert sorted(zip(frame.rater, frame.kind, frame.score, strict=True)) == [
                ("ann", "human", 2.0),
                ("ann", "human", 4.0),
                ("gpt", "judge", 1.0),
                ("gpt", "judge", 3.5),
            ]
            assert stored.get(db, "s").criteria[0].scale == points(1, 4)
            assert conversations.load(db, "s/a").player == "unknown"

    def test_a_byte_order_mark_and_blank_lines_are_passed_over(self, workspace, tmp_path):
        file = tmp_path / "excel.csv"
        file.write_bytes(("\ufeff," + HEADER + "\r\n0,a,fluency,human,ann,4\r\n,,,,,\r\n\r\n").encode())
        assert "new: 1 ratings by annotators," in bring(workspace, file)

    def test_columns_may_be_written_in_capitals(self, workspace, tmp_path):
        file = put(tmp_path, "a,f,Human,ann,1", header="Item_ID,Criterion,Rater_Type,Rater,Score")
        assert "new: 1 ratings by annotators," in bring(workspace, file)

    def test_judges_ratings_belong_to_the_conversation_and_are_no_persons(self, workspace, run, tmp_path):
        lines = ["a,f,human,ann,4", "a,f,judge,gpt,3", "b,f,judge,gpt,1"]
        bring(workspace, put(tmp_path, *lines))
        more = put(tmp_path, "a,f,human,bob,2", "a,f,judge,other,5", name="more.csv")
        assert run(workspace, "import", "ratings", more, "--study", "s", "--append").exit_code == 0
        with workspace.read() as db:
            people = db.execute(
                "SELECT x.name, g.score FROM human_scores g JOIN raters x ON x.id = g.rater_id"
            )
            assert sorted(people) == [("ann", 4), ("bob", 2)]
            of_judges = "SELECT DISTINCT r.study_id FROM ratings r JOIN raters x ON x.id = r.rater_id "
            assert db.execute(f"{of_judges} WHERE x.kind = 'judge'").fetchall() == [(None,)]

    def test_gold_labels_are_neither_peoples_nor_a_judges(self, workspace, run, tmp_path):
        lines = [
            f"i{item},f,{kind},{rater},{score}"
            for item in range(4)
            for kind, rater, score in (("human", "ann", 4), ("judge", "gpt", item + 1), ("gold", "key", 2))
        ]
        done = run(workspace, "import", "ratings", put(tmp_path, *lines), "--study", "s")
        assert "new: 4 ratings by annotators, 4 by judges, 4 gold labels" in done.output
        with workspace.read() as db:
            of_first = "SELECT final, people, judges FROM summaries ORDER BY conversation_id LIMIT 1"
            assert db.execute(of_first).fetchone() == (1, 4, 1)
            of = studies.ratings_for_agreement(db, "s")
            assert set(of.column("kind").tolist()) == {"human", "judge"}
            assert of.gold["score"].tolist() == [2] * 4
            assert sum(row["rater_type"] == "gold" for row in ratings.exported(db, "s")) == 4
        alone = put(tmp_path, *(line for line in lines if "human" not in line), name="alone.csv")
        assert run(workspace, "import", "ratings", alone, "--study", "t").exit_code == 0
        with workspace.read() as db:
            of = studies.ratings_for_agreement(db, "t")
            assert (set(of.column("kind").tolist()), of.gold) == ({"human", "judge"}, {})

    def test_text_is_one_reply_or_a_dialogue(self, workspace, tmp_path):
        dialogue = json.dumps(
            [{"speaker": "human", "text": "Hi"}, {"role": "assistant", "content": 'Say "hi"'}]
        )
        out = io.StringIO()
        writer = csv.writer(out)
        for item, text in (
            ("a", "Just a reply,\nover two lines"),
            ("b", dialogue),
            ("c", "[laughs] Hello"),
            ("d", ""),
        ):
            writer.writerow([item, "f", "human", "ann", 1, text])
        file = tmp_path / "r.csv"
        file.write_text(HEADER + ",text\n" + out.getvalue())
        bring(workspace, file)
        with workspace.read() as db:
            said = {
                key: [(m.role, m.content) for m in conversations.load(db, f"s/{key}").messages]
                for key in "abcd"
            }
        assert said == {
            "a": [("assistant", "Just a reply,\nover two lines")],
            "b": [("user", "Hi"), ("assistant", 'Say "hi"')],
            "c": [("assistant", "[laughs] Hello")],
            "d": [],
        }

    def test_texts_that_memory_does_not_hold_are_those_of_their_items(self, workspace, tmp_path, monkeypatch):
        monkeypatch.setattr(rating_table, "SPOOLED", 4)
        lines = [
            "a,f,human,ann,1,",
            "b,f,human,ann,1,Grüße",
            "a,f,human,bob,2,First",
            "b,f,human,bob,2,Grüße",
        ]
        bring(workspace, put(tmp_path, *lines, header=f"{HEADER},text"))
        with workspace.read() as db:
            said = {key: conversations.load(db, f"s/{key}").messages[0].content for key in "ab"}
        assert said == {"a": "First", "b": "Grüße"}

    def test_an_item_that_is_stored_is_that_conversation(self, workspace, tmp_path):
        with workspace.write() as db:
            conversations.save(db, Conversation("x", "kept", "p", (Message("assistant", "Kept"),)))
        done = bring(workspace, put(tmp_path, "kept,f,human,ann,1", "other,f,human,ann,2"))
        assert "1 conversations" in done
        with workspace.read() as db:
            assert [u["key"] for u in stored.units(db, "s")] == ["kept", "s/other"]

    def test_other_columns_are_kept_with_the_item_or_the_rating_they_speak_of(self, workspace, tmp_path):
        rows = [
            f"i{n},f,human,{who},1,{'web' if n % 2 else 'book'},id{n},{who} says"
            for n in range(4)
            for who in ("ann", "bob")
        ]
        bring(workspace, put(tmp_path, *rows, header=HEADER + ",source,serial,comment"))
        with workspace.read() as db:
            kept = conversations.load(db, "s/i1")
            # The source is shared by items, so one can filter by it; a serial number is not.
            assert (kept.facets, kept.meta) == ({"source": "web"}, {"serial": "id1"})
            metas = [json.loads(row["meta"]) for row in ratings.exported(db, "s") if row["item_id"] == "s/i1"]
            assert metas == [{"comment": "ann says"}, {"comment": "bob says"}]

    def test_people_who_rate_turns_make_a_study_of_turns(self, workspace, tmp_path):
        lines = [
            f"a,f,{kind},{who},{turn},{turn}"
            for kind, who in (("human", "ann"), ("judge", "gpt"))
            for turn in (1, 2)
        ]
        bring(workspace, put(tmp_path, *lines, header="item_id,criterion,rater_type,rater,turn,score"))
        with workspace.read() as db:
            assert stored.get(db, "s").per_turn
            frame = frames.frame(db, "s")
        assert sorted(zip(frame.turn, frame.kind, frame.score, strict=True)) == [
            (1, "human", 1.0),
            (1, "judge", 1.0),
            (2, "human", 2.0),
            (2, "judge", 2.0),
        ]

    def test_judges_turns_are_averaged_where_people_rate_the_whole(self, workspace, tmp_path):
        lines = ["a,f,human,ann,,4", "a,f,judge,gpt,1,2", "a,f,judge,gpt,2,5"]
        bring(workspace, put(tmp_path, *lines, header="item_id,criterion,rater_type,rater,turn,score"))
        with workspace.read() as db:
            frame = frames.frame(db, "s")
        assert dict(zip(frame.rater, frame.score, strict=True)) == {"ann": 4.0, "gpt": 3.5}  # (2 + 5) / 2

    def test_turns_as_pandas_writes_them(self, workspace, tmp_path):
        file = put(tmp_path, "a,f,human,ann,1.0,4", header="item_id,criterion,rater_type,rater,turn,score")
        assert ratings_csv.read(file).questions[0].turn == 1

    def test_runs_of_a_judge_are_repeats(self, workspace, tmp_path):
        lines = ["a,f,human,ann,,4", "a,f,judge,gpt,0,2", "a,f,judge,gpt,1,3"]
        bring(workspace, put(tmp_path, *lines, header="item_id,criterion,rater_type,rater,repeat,score"))
        with workspace.read() as db:
            mean = studies.ratings_for_agreement(db, "s")
        assert dict(zip(mean.table.rater, mean.table.score, strict=True)) == {"ann": 4.0, "gpt": 2.5}
        assert (mean.repeats["repeat"].tolist(), mean.repeats["score"].tolist()) == ([0, 1], [2.0, 3.0])

    def test_append_adds_what_is_new(self, workspace, run, tmp_path):
        first, more = (
            put(tmp_path, "a,f,human,ann,4", "a,f,judge,gpt,2"),
            put(tmp_path, "a,f,human,bob,3", "a,f,judge,gpt,2", name="more.csv"),
        )
        assert run(workspace, "import", "ratings", first, "--study", "s").exit_code == 0
        refused = run(workspace, "import", "ratings", more, "--study", "s")
        assert refused.exit_code == 1
        assert "--append" in refused.output
        done = run(workspace, "import", "ratings", more, "--study", "s", "--append")
        assert done.exit_code == 0, done.output
        assert (
            "new: 1 ratings by annotators, 0 by judges, all on stored conversations. 1 ratings "
            "were stored already." in done.output
        )
        again = run(workspace, "import", "ratings", more, "--study", "s", "--append")
        assert again.exit_code == 1
        assert "line 2: bob rated “s/a” on “f” already (3)" in again.output

    def test_criteria_told_by_options(self, workspace, run, tmp_path):
        file = put(tmp_path, "a,f,human,ann,4", "a,refusal,human,ann,0")
        done = run(
            workspace,
            "import",
            "ratings",
            file,
            "--study",
            "s",
            "--scale",
            "f=1-5",
            "--scale",
            "refusal=0:no,1:yes",
            "--uncounted",
            "refusal",
        )
        assert done.exit_code == 0, done.output
        with workspace.read() as db:
            f, refusal = stored.get(db, "s").criteria
        assert (f.scale, f.counted) == (points(1, 5), True)
        assert (refusal.scale, refusal.counted) == (Scale((0, 1), ("no", "yes")), False)

    def test_scores_between_whole_numbers_are_a_range_that_no_desk_asks(self, workspace, run, tmp_path):
        assert (
            run(
                workspace,
                "import",
                "ratings",
                put(tmp_path, "a,f,human,ann,2.5", "b,f,human,ann,71"),
                "--study",
                "s",
            ).exit_code
            == 0
        )
        with workspace.read() as db:
            scale = stored.get(db, "s").criteria[0].scale
        assert not scale.offered
        assert (3.14 in scale, 2.5 in scale, 71.5 in scale) == (True, True, False)
        run(workspace, "people", "invite", "cy")
        dealt = run(workspace, "study", "deal", "s", "--annotators", "cy")
        assert dealt.exit_code == 1
        assert "--scale f=1-5" in dealt.output


WIDE = "id,model,prompt,response,zoe,ben,gpt"


class TestOtherTables:
    """Tables as `concord check` reads them become studies too."""

    def test_a_wide_table_is_a_study_with_its_texts_and_groups(self, workspace, run, tmp_path):
        lines = [f"q{n},m{n % 2},Why {n}?,So.,{n % 3 + 1},{n % 2 + 2},{3 - n % 3}" for n in range(6)]
        file = put(tmp_path, *lines, header=WIDE, name="wide.csv")
        told = run(workspace, "import", "ratings", file, "--study", "s")
        assert "line 1: the column item_id is missing" in told.output
        assert "Add: --human zoe,ben" in told.output
        assert empty(workspace)
        done = run(
            workspace, "import", "ratings", file, "--study", "s", "--human", "zoe,ben", "--judge", "gpt"
        )
        assert done.exit_code == 0, done.output
        assert "annotators: zoe, ben" in done.output
        assert "new: 12 ratings by annotators, 6 by judges, 6 units, 6 conversations." in done.output
        with workspace.read() as db:
            frame = frames.frame(db, "s")
            kept = conversations.load(db, "s/q1")
        assert sorted(frame.score[frame.rater == "gpt"]) == [1, 1, 2, 2, 3, 3]
        assert (kept.player, [m.content for m in kept.messages]) == ("m1", ["Why 1?", "So."])

    def test_ratings_by_people_alone_meet_stored_conversations(self, workspace, run, tmp_path):
        with workspace.write() as db:
            for key in "ab":
                conversations.save(db, Conversation("x", key, "p", (Message("assistant", "Kept"),)))
        rows = [
            f"{key},{who},{word}"
            for key, word in (("a", "pass"), ("b", "fail"))
            for who in ("human 1", "human 2")
        ]
        file = put(tmp_path, *rows, header="id,annotator,label", name="long.csv")
        done = run(workspace, "import", "ratings", file, "--study", "s")
        assert done.exit_code == 0, done.output
        assert (
            "new: 4 ratings by annotators, 0 by judges, 2 units, all on stored conversations" in done.output
        )
        with workspace.read() as db:
            assert stored.get(db, "s").criteria[0].scale == Scale((0, 1), ("fail", "pass"))
            assert sorted(row["score"] for row in ratings.exported(db, "s")) == [0, 0, 1, 1]


LONG = HEADER + ",turn"
BAD = {
    "a word": (["a,f,human,ann,4", "b,f,human,ann,good"], HEADER, "line 3: the score “good” is not a number"),
    "a decimal comma": (
        ['a,f,human,ann,"3,5"'],
        HEADER,
        "line 2: the score “3,5” is not a number. Write 3.5",
    ),
    "not a number": (["a,f,human,ann,nan"], HEADER, "line 2: the score “nan” is not a number"),
    "infinite": (["a,f,human,ann,inf"], HEADER, "line 2: the score “inf” is not a number"),
    "no score": (["a,f,human,ann,"], HEADER, "line 2, has no score"),
    "no rater": (["a,f,human, ,1"], HEADER, "line 2, has no rater"),
    "another kind": (["a,f,dog,rex,1"], HEADER, "rater_type is “dog”; it must be human, judge or gold"),
    "twice": (
        ["a,f,human,ann,4", "b,f,human,ann,1", "a,f,human,ann,4"],
        HEADER,
        "line 4: human “ann” rated “a” on “f” in line 2 already",
    ),
    "judge twice": (["a,f,judge,x,4", "a,f,judge,x,4"], HEADER, "“repeat”"),
    "a cell too many": (["a,f,human,ann,4,more"], HEADER, "line 2, has 6 cells; the first line names 5"),
    "a cell too few": (["a,f,human,ann"], HEADER, "line 2, has 4 cells"),
    "a missing column": (
        ["a,f,ann,4"],
        "item_id,criterion,rater,score",
        "line 1: the column rater_type is missing",
    ),
    "a column twice": (["a,f,human,ann,4,5"], HEADER + ",score", "two columns are called score"),
    "only a header": ([], HEADER, "holds no ratings"),
    "one turn in two forms": (
        ["a,f,human,ann,4,1", "a,f,human,ann,3,1.0"],
        LONG,
        "line 3: human “ann” rated “a” on “f” in line 2 already",
    ),
    "turn zero": (["a,f,human,ann,4,0"], LONG, "the turn “0” is not a whole number from 1"),
    "turns of some": (
        ["a,f,human,ann,4,1", "a,f,human,bob,4,"],
        LONG,
        "line 3, has no turn: “f” is rated turn by turn. Give the line a turn",
    ),
    "a judge's whole": (
        ["a,f,human,ann,4,1", "a,f,judge,x,4,"],
        LONG,
        "line 3, has no turn: “f” is rated turn by turn",
    ),
    "two texts": (
        ["a,f,human,ann,4,one", "a,f,human,bob,4,two"],
        HEADER + ",text",
        "line 3: the text of “a” differs from line 2",
    ),
    "two models": (
        ["a,f,human,ann,4,one", "a,f,human,bob,4,two"],
        HEADER + ",model",
        "the model of “a” differs",
    ),
    "a turn it has not": (
        ["a,f,human,ann,4,2,Only one reply"],
        LONG + ",text",
        "“a” has no reply in turn 2; turns count from 1 to 1",
    ),
    "an unknown speaker": (
        ['a,f,human,ann,4,"[{""role"": ""dog"", ""content"": ""woof""}]"'],
        HEADER + ",text",
        "utterance 1: the speaker “dog” is unknown",
    ),
    "half an utterance": (
        ['a,f,human,ann,4,"[{""role"": ""user""}]"'],
        HEADER + ",text",
        "utterance 1, needs a “role”",
    ),
    "half a character": (
        ['a,f,human,ann,4,"[{""role"": ""user"", ""content"": ""\\ud83d""}]"'],
        HEADER + ",text",
        "an incomplete character",
    ),
    "an open quote": (['a,f,human,ann,"4'], HEADER, "record that begins in line 2 is not valid CSV"),
    "the same item in two names": (["a,f,human,ann,4", "s/a,f,human,ann,4"], HEADER, "are the same item"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_file_is_refused_with_its_line_and_leaves_nothing(workspace, run, tmp_path, case):
    lines, header, sentence = BAD[case]
    done = run(workspace, "import", "ratings", put(tmp_path, *lines, header=header), "--study", "s")
    assert done.exit_code == 1
    assert sentence in done.output
    assert empty(workspace)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty. It needs at least one row."),
        ((HEADER + "\na,f,human,J\xe9r\xf4me,4\n").encode("latin-1"), "is not UTF-8. Save the file as UTF-8"),
    ],
    ids=["empty", "latin-1"],
)
def test_a_file_that_is_no_utf8_csv_is_refused(workspace, run, tmp_path, content, sentence):
    file = tmp_path / "r.csv"
    file.write_bytes(content)
    done = run(workspace, "import", "ratings", file, "--study", "s")
    assert done.exit_code == 1
    assert sentence in done.output
    assert empty(workspace)


def test_every_wrong_line_is_named_at_once(workspace, run, tmp_path):
    file = put(
        tmp_path,
        "a,f,human,ann,four",
        "b,f,human,ann,3",
        "c,f,robot,ann,3",
        "b,f,human,ann,2",
        *["d,f,human,,3"] * 9,
    )
    done = run(workspace, "import", "ratings", file, "--study", "s")
    assert done.exit_code == 1
    # 1 no number, 1 no rater type, 1 given twice, 9 without a rater.
    assert "12 lines are invalid; nothing was imported." in done.output
    for sentence in (
        "line 2: the score “four”",
        "line 4: rater_type is “robot”",
        "line 5: human “ann” rated",
    ):
        assert sentence in done.output
    assert "… and 2 more." in done.output
    with workspace.read() as db:
        assert stored.names(db) == []


def test_lines_are_counted_in_the_file_also_after_a_cell_of_several_lines(tmp_path):
    file = put(tmp_path, 'a,f,human,ann,4,"one\ntwo\n\nthree"', "b,f,human,ann,no,x", header=HEADER + ",text")
    with pytest.raises(ImportRefused, match="line 6: the score “no”"):
        ratings_csv.read(file)


@pytest.mark.parametrize("sign", [";", "\t"])
def test_other_separators_are_seen(workspace, run, tmp_path, sign):
    file = put(tmp_path, f"a{sign}f{sign}human{sign}ann, the one{sign}4", header=HEADER.replace(",", sign))
    assert run(workspace, "import", "ratings", file, "--study", "s").exit_code == 0
    assert ratings_csv.read(file).questions[0].rater.name == "ann, the one"


def test_the_file_may_not_contradict_the_workspace(workspace, run, tmp_path):
    with workspace.write() as db:
        conversations.save(db, Conversation("bench", "kept", "p", (Message("assistant", "One"),)))
    text = put(tmp_path, "kept,f,human,ann,4,Two", header=HEADER + ",text")
    assert "stored with another text" in run(workspace, "import", "ratings", text, "--study", "s").output
    named = run(workspace, "import", "ratings", put(tmp_path, "a,f,human,ann,4"), "--study", "bench")
    assert "“bench” is a benchmark of this workspace" in named.output
    shipped = run(workspace, "import", "ratings", put(tmp_path, "a,f,human,ann,4"), "--study", "pingpong")
    assert "“pingpong” is the name of a benchmark" in shipped.output


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("f=5-1", "is invalid"),
        ("f", "is invalid"),
        ("f=1,x", "is invalid"),
        ("g=1-5", "has no ratings on “g”"),
        ("f=1-3", "the score 4 is not on the scale of “f” (1 to 3)"),
    ],
)
def test_a_scale_that_does_not_fit_is_refused(workspace, run, tmp_path, option, sentence):
    done = run(
        workspace, "import", "ratings", put(tmp_path, "a,f,human,ann,4"), "--study", "s", "--scale", option
    )
    assert done.exit_code == 1
    assert sentence in done.output
    assert empty(workspace)


@pytest.mark.parametrize(("option", "told"), [("a=b=0-2", "a=b"), ("f=0..2", "f"), ("0..2", "")])
def test_scales_as_an_option_declares_them(option, told):
    assert named_scale(option) == (told, points(0, 2))


def test_a_scale_of_more_answers_than_anybody_reads_is_a_range():
    assert not named_scale("0..1000000")[1].offered


def test_names_that_differ_in_their_unicode_form_alone_are_one(workspace, tmp_path):
    one, two = "José", "Jose\u0301"
    header = f"{HEADER},model"
    file = put(
        tmp_path,
        f"a,{one},human,{one},4,{one}",
        f"a,{two},judge,{two},3,{two}",
        f"b,{two},human,{two},2,{two}",
        header=header,
    )
    bring(workspace, file)
    with workspace.read() as db:
        found = frames.frame(db, "s")
        assert [c.name for c in stored.get(db, "s").criteria] == [one]
    assert set(found.rater) == set(found.player) == set(found.criterion) == {one}
    twice = put(tmp_path, f"a,f,human,{one},4,m", f"a,f,human,{two},3,m", header=header, name="twice.csv")
    with pytest.raises(ImportRefused, match=r"rated “a” on “f” in line 2 already"):
        ratings_csv.read(twice)


def test_conversations_and_rankings_have_composed_names_too(workspace, tmp_path):
    file = tmp_path / "c.jsonl"
    told = {"key": "k", "player": "Jose\u0301", "messages": [{"role": "user", "content": "Hi"}]}
    file.write_text(json.dumps(told) + "\n", encoding="utf-8")
    conversations_import.store(workspace, conversations_file.survey(file))
    with workspace.read() as db:
        assert conversations.load(db, "k").player == "José"
    ranking = tmp_path / "r.csv"
    ranking.write_text("model,score\nJose\u0301,1\n", encoding="utf-8")
    assert set(ranking_csv.read(ranking)) == {"josé"}


def test_the_order_of_rows_changes_no_figure(tmp_path, run):
    """Units are numbered as their rows come in; resamples draw them by their names."""
    rng = random.Random(0)
    lines = []
    for item in range(30):
        quality = rng.gauss(0, 1)
        for kind, rater in (("human", "ann"), ("human", "bob"), ("judge", "gpt")):
            score = min(5, max(1, round(3 + quality + rng.gauss(0, 1))))
            lines.append(f"item {item},fluency,{kind},{rater},{score}")
    found = []
    for name in ("first", "second"):
        workspace = Workspace.open(tmp_path / name)
        file = put(tmp_path, *lines, name=f"{name}.csv")
        assert run(workspace, "import", "ratings", file, "--study", "s").exit_code == 0
        shown = run(workspace, "agreement", "--study", "s", "--format", "json", "--section", "all")
        assert shown.exit_code == 0, shown.output
        found.append(shown.stdout)
        rng.shuffle(lines)
    assert found[0] == found[1]


def test_imported_answers_count_and_close_open_items(tmp_path, run):
    workspace = Workspace.open(tmp_path / "workspace")
    head = "item_id,criterion,rater_type,rater,score"
    first, more = tmp_path / "first.csv", tmp_path / "more.csv"
    first.write_text(f"{head}\na,f,judge,gpt,3\nb,f,judge,gpt,4\na,f,human,Zoe,3\nb,f,human,Zoe,5\n")
    assert run(workspace, "import", "ratings", first, "--study", "s").exit_code == 0
    with workspace.write() as db:
        access.invite(db, "Ada")
        ada = access.annotator_id(db, "Ada")
        placements.assign(db, ada, [unit["id"] for unit in stored.units(db, "s")])
    more.write_text(f"{head}\na,f,human,Ada,2\n")
    assert run(workspace, "import", "ratings", more, "--study", "s", "--append").exit_code == 0
    with workspace.read() as db:
        states = [task[0] for task in db.execute("SELECT state FROM placements ORDER BY id")]
        given = frames.rows(db, "s")
    assert states == ["done", "open"], "the item that was answered, and the other"
    mine = [score for name, score in zip(given["rater"], given["score"], strict=True) if name == "Ada"]
    assert mine == [2.0]
