"""The page Import: what was recognised and what is wrong is seen before anything is stored."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.testing.v1 import AppTest

from concord.codes import Scorer
from concord.conversation import SYSTEM_PROMPT
from concord.rubrics.reading import rubric_of
from concord.rubrics.rubric import STARTER
from concord.rubrics.rubric import shown as shown_fields
from concord.runs import rubric_judge
from concord.store import comparisons, conversations, studies
from concord.workspace import Workspace
from tests.exchange import made_sheets
from tests.exchange.forms_helpers import EXAMPLES
from tests.pages.bring_helpers import said, the
from tests.pages.framed import FRAME

ASKED = {"role": "user", "content": "Hi"}


def dropped(text: str | bytes, name: str = "chats.jsonl") -> AppTest:
    """The page with a file on it."""
    content = text.encode() if isinstance(text, str) else text
    shown = AppTest.from_string(FRAME.format(file="study/bring.py"), default_timeout=30).run()
    assert not shown.exception
    shown.file_uploader[0].set_value((name, content, "text/plain")).run()
    assert not shown.exception
    return shown


def count(workspace: Workspace) -> int:
    with workspace.read() as db:
        return conversations.count(db)


def test_a_file_is_shown_before_it_is_stored(workspace: Workspace) -> None:
    shown = dropped(EXAMPLES["Chatbot Arena"][1], "arena.jsonl")
    assert "arena.jsonl is JSON Lines of the form “Chatbot Arena”, 2 rows." in said(shown)
    previews = [box.label for box in shown.expander if "as it was read" in box.label]
    assert [next(name for name in ("elm", "oak") if f"by {name}" in label) for label in previews] == [
        "elm",
        "oak",
    ]
    assert count(workspace) == 0
    the(shown, "button", "Import").click().run()
    assert "Under “arena”: 4 new conversations, 2 comparisons." in said(shown)
    assert the(shown, "button", "Create a rubric: the questions about them").proto.type == "primary"
    assert not [b for b in shown.button if b.label == "Import"], "the form is empty for the next file"
    with workspace.read() as db:
        assert len(comparisons.frame(db, "arena", "scenario")) == 2


@pytest.mark.parametrize("name", ["long.jsonl", "long.csv"])
def test_a_bar_shows_how_much_of_a_long_file_is_checked(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    texts = list[str]()
    progress = DeltaGenerator.progress

    def recorded(bar: DeltaGenerator, share: float, text: str) -> DeltaGenerator:
        texts.append(text.replace("\\", ""))
        return progress(bar, share, text)

    monkeypatch.setattr(DeltaGenerator, "progress", recorded)
    rows = [{"prompt": f"Hi {n}", "response": "Hello"} for n in range(1000)]
    if name.endswith("csv"):
        text = "prompt,response\n" + "".join(f"{row['prompt']},{row['response']}\n" for row in rows)
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
    shown = dropped(text, name)
    assert len(texts) == 2
    assert texts[0] in (f"Checking {name}: 49%", f"Checking {name}: 50%")
    shown.run()
    assert len(texts) == 2, "the file is checked once"
    assert not shown.get("progress")


def test_wrong_rows_are_named_and_may_be_left_out(workspace: Workspace) -> None:
    good = {"messages": [ASKED, {"role": "assistant", "content": "Hello"}]}
    shown = dropped("\n".join(map(json.dumps, [good, {"messages": []}, {"messages": [{"role": "wizard"}]}])))
    assert "chats.jsonl, line 2: the dialogue is empty. Remove the row." in said(shown)
    assert "/tmp" not in said(shown)
    assert the(shown, "button", "Import").disabled
    the(shown, "toggle", "Exclude the 2 invalid rows").set_value(True).run()
    the(shown, "button", "Import").click().run()
    assert "1 new conversations. 2 rows were excluded." in said(shown)
    assert count(workspace) == 1


def test_a_sheet_beyond_the_limits_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    path = made_sheets.workbook(tmp_path / "t.xlsx", [made_sheets.row(1, "human", "judge", at="XFC")])
    shown = dropped(path.read_bytes(), "t.xlsx")
    assert "t.xlsx: row 1 has a value in column 16,383; 1,000 are read. Save the sheet as CSV" in said(shown)
    assert "/tmp" not in said(shown)


def test_where_things_are_is_said_for_a_form_that_is_not_known(workspace: Workspace) -> None:
    shown = dropped("q,a,stars\nWhy?,Because.,4\n", "own.csv")
    assert "own.csv has an unknown format." in said(shown)
    assert [b.label for b in shown.button if b.label == "Import"] == []
    the(shown, "selectbox", "q").set_value("user").run()
    the(shown, "selectbox", "a").set_value("assistant").run()
    the(shown, "button", "Import").click().run()
    with workspace.read() as db:
        ((_, one),) = conversations.of_benchmark(db, "own")
    assert [(m.role, m.content) for m in one.messages] == [("user", "Why?"), ("assistant", "Because.")]


@pytest.mark.parametrize("name", ["MLflow traces", "PingPong results"])
def test_scores_are_taken_when_a_judge_or_a_study_is_named(workspace: Workspace, name: str) -> None:
    ending, text = EXAMPLES[name]
    shown = dropped(text, f"file.{ending}")
    the(shown, "text_input", "Import the scores as ratings of the judge").set_value("j").run()
    the(shown, "text_input", "Import annotators' scores as the study").set_value("mine").run()
    the(shown, "button", "Import").click().run()
    assert "1 ratings by annotators in the study “mine”" in said(shown)


def test_ratings_by_people_are_imported_as_a_study(workspace: Workspace) -> None:
    lines = "a;f;human;ann;4\na;f;human;bob;2\na;f;judge;gpt;3\n"
    shown = dropped(f"item_id;criterion;rater_type;rater;score\n{lines}", "mine.csv")
    assert "mine.csv holds 3 ratings by 2 people and 1 judge of 1 item on f." in said(shown)
    assert not shown.selectbox, "what columns are is said of conversations only"
    assert "The scales are guessed" in said(shown)
    the(shown, "button", "Import").click().run()
    assert "Study “mine”, new: 2 ratings by annotators, 1 by judges, 1 units, 1 conversations." in said(shown)
    shown = dropped(f"item_id;criterion;rater_type;rater;score\n{lines}", "mine.csv")
    the(shown, "button", "Import").click().run()
    assert "The study “mine” has ratings already." in said(shown)


def test_a_table_of_labels_is_imported_as_a_study(workspace: Workspace) -> None:
    rows = "".join(f"q{n},{n % 3 + 1},{3 - n % 3}\n" for n in range(6))
    shown = dropped(f"id,human,judge\n{rows}", "wide.csv")
    assert "wide.csv holds 12 ratings by 1 person and 1 judge of 6 items on score." in said(shown)
    assert "annotators: human" in said(shown)
    the(shown, "button", "Import").click().run()
    assert "Study “wide”, new: 6 ratings by annotators, 6 by judges, 6 units" in said(shown)


def test_a_table_of_labels_with_texts_is_offered_as_ratings_first(workspace: Workspace) -> None:
    rows = "".join(f"Why {n}?,Because {n}.,{n % 3 + 1},{3 - n % 3},{n % 2 + 1}\n" for n in range(6))
    shown = dropped(f"prompt,answer,human,judge_a,judge_b\n{rows}", "labels.csv")
    assert "labels.csv holds 18 ratings by 1 person and 2 judges of 6 items on score." in said(shown)
    the(shown, "button", "Import").click().run()
    assert "Study “labels”, new: 6 ratings by annotators, 12 by judges, 6 units" in said(shown)
    assert count(workspace) == 6


def test_wrong_ratings_are_named(workspace: Workspace) -> None:
    shown = dropped("item_id,criterion,rater_type,rater,score\na,f,human,ann,good\n", "mine.csv")
    assert "mine.csv, line 2: the score “good” is not a number." in said(shown)
    assert not [button for button in shown.button if button.label == "Import"]


def test_what_a_file_says_is_no_markup(workspace: Workspace) -> None:
    hostile = "<img src=x> **b** $x^2$ :red[r]"
    shown = dropped(json.dumps({"messages": [{"role": hostile, "content": "x"}]}))
    assert hostile not in "\n".join(e.value for e in shown.get("error"))
    assert "the speaker “<img src=x> **b**" in said(shown)


def test_what_is_not_kept_is_named_and_any_column_becomes_a_facet(workspace: Workspace) -> None:
    talk = [ASKED, {"role": "assistant", "content": "Hello"}]
    shown = dropped(json.dumps({"messages": talk, "topic": "cars", "trace": {"spans": [1]}}))
    assert "Stored as metadata, not shown: topic." in said(shown)
    assert "Left out: trace." in said(shown)
    assert the(shown, "selectbox", "topic").placeholder == "stored as data"
    assert the(shown, "selectbox", "messages").placeholder == "messages"
    the(shown, "selectbox", "topic").set_value("facet").run()
    assert the(shown, "selectbox", "topic").value == "facet"
    assert "metadata" not in said(shown)
    the(shown, "button", "Import").click().run()
    with workspace.read() as db:
        ((_, one),) = conversations.of_benchmark(db, "chats")
    assert one.facets == {"topic": "cars"}


def test_a_file_that_concord_wrote_is_seen_before_it_is_stored(workspace: Workspace) -> None:
    talk = [ASKED, {"role": "assistant", "content": "Hello"}]
    line = {"kind": "conversation", "key": "k", "benchmark": "talks", "player": "elm", "messages": talk}
    shown = dropped(
        "\n".join(map(json.dumps, [line, {"kind": "benchmark", "name": "talks", "criteria": []}]))
    )
    assert "of the form “export of Concord”, 2 rows." in said(shown)
    assert [box.label for box in shown.selectbox] == [], "nothing of it is mapped"
    assert count(workspace) == 0
    the(shown, "button", "Import").click().run()
    assert "Under “talks”: 1 new conversations." in said(shown)
    assert count(workspace) == 1


def test_names_that_say_nothing_are_chosen_on_the_page(workspace: Workspace) -> None:
    """Two annotators and two judges of one question, one of them by a name that may be anything."""
    rows = "".join(
        f"T{n},We will help you.,{1 + n % 5},{1 + (n + n // 4) % 5},{1 + n % 4},{1 + (3 * n) % 5}\n"
        for n in range(12)
    )
    shown = dropped(f"ticket,answer,alice,bob,mistral_large,v7_prompt\n{rows}", "support.csv")
    assert "which columns are annotators? Candidates: alice, bob" in said(shown)
    names = ["ticket", "answer", "alice", "bob", "mistral_large", "v7_prompt"]
    assert the(shown, "multiselect", "Judges").options == names, "options are no Markdown"
    the(shown, "multiselect", "Annotators").set_value(["alice", "bob"]).run()
    the(shown, "multiselect", "Judges").set_value(["mistral_large", "v7_prompt"]).run()
    assert "support.csv holds 48 ratings by 2 people and 2 judges of 12 items on score." in said(shown)
    the(shown, "button", "Import").click().run()
    assert "Study “support”, new: 24 ratings by annotators, 24 by judges, 12 units" in said(shown)
    with workspace.read() as db:
        study = studies.get(db, "support")
    assert [criterion.name for criterion in study.criteria] == ["score"]
    assert study.criteria[0].scale.values == (1, 2, 3, 4, 5)


def test_a_list_inside_the_file_is_named_on_the_page(workspace: Workspace) -> None:
    event = {"id": "b", "input": "Hi", "output": "Hello", "_xact_id": "1"}
    shown = dropped(json.dumps({"log": [event], "cursor": "x"}), "b.json")
    the(shown, "text_input", "The list of rows").set_value("log").run()
    assert not shown.exception
    assert "of the form “Braintrust”, 1 rows." in said(shown)
    the(shown, "button", "Import").click().run()
    assert count(workspace) == 1


def test_who_gave_scores_is_asked_on_the_page(workspace: Workspace) -> None:
    score = {"name": "ok", "value": 1, "source": "API"}
    trace = {"id": "t", "timestamp": "2026", "input": "Hi", "output": "Hello", "scores": [score]}
    shown = dropped(json.dumps(trace) + "\n")
    assert "1 scores have no known source" in said(shown)
    the(shown, "button_group", "Who gave the scores on “ok”?").set_value(Scorer.HUMAN).run()
    assert not shown.exception
    the(shown, "text_input", "Import annotators' scores").set_value("mine").run()
    the(shown, "button", "Import").click().run()
    with workspace.read() as db:
        assert studies.names(db) == ["mine"]


def test_labels_of_a_second_file_are_joined_by_id(workspace: Workspace) -> None:
    """Five of six rows have a label, one label has no row, as `concord check --labels` counts them."""
    rows = "".join(f"q{n},{n % 2}\n" for n in range(6))
    shown = dropped(f"id,judge\n{rows}", "judged.csv")
    labelled = "".join(f"q{n},{(n + 1) % 2 if n else 0}\n" for n in (0, 1, 2, 3, 4, 9))
    shown.file_uploader[1].set_value(("labels.csv", f"id,human\n{labelled}".encode(), "text/csv")).run()
    assert not shown.exception
    assert "rows with labels: 5 of 6" in said(shown)
    assert "ids of labels without a row: 1, “q9”" in said(shown)
    the(shown, "button", "Import").click().run()
    assert not shown.exception
    assert "Study “judged”, new: 5 ratings by annotators, 6 by judges, 6 units" in said(shown)


def test_labels_that_share_no_id_are_refused_by_their_names(workspace: Workspace) -> None:
    shown = dropped("id,judge\na,1\nb,0\nc,1\n", "judged.csv")
    shown.file_uploader[1].set_value(("labels.csv", b"id,human\nx,1\ny,0\n", "text/csv")).run()
    assert not shown.exception
    assert "labels.csv" in shown.error[0].value.replace("\\", "")
    assert "/tmp" not in shown.error[0].value
    assert not [b for b in shown.button if b.label == "Import"]


def chats(*topics: str) -> str:
    """A row a topic, each with a system prompt."""
    said = ({"role": "system", "content": "Be brief."}, ASKED, {"role": "assistant", "content": "Hello"})
    return "\n".join(
        json.dumps({"messages": [*said], "topic": topic, "id": str(n)}) for n, topic in enumerate(topics)
    )


def test_columns_that_make_groups_are_offered_as_facets(workspace: Workspace) -> None:
    shown = dropped(chats("refund", "parcel", "refund"))
    facets = the(shown, "multiselect", "Columns to filter and group by")
    assert facets.value == ["topic"]
    the(shown, "button", "Import").click().run()
    with workspace.read() as db:
        [name] = conversations.benchmark_names(db)
        assert conversations.values(db, name)["topic"] == ["parcel", "refund"]


def test_a_facet_can_be_declined(workspace: Workspace) -> None:
    shown = dropped(chats("refund", "parcel", "refund"))
    the(shown, "multiselect", "Columns to filter and group by").set_value([]).run()
    the(shown, "button", "Import").click().run()
    with workspace.read() as db:
        assert "topic" not in conversations.values(db)


def test_the_system_prompt_is_shown_where_the_box_is_ticked(workspace: Workspace) -> None:
    rubric = rubric_of("r", {"title": "", "criteria": [STARTER]}, "r")
    for tick in (False, True):
        shown = dropped(chats("one"), f"chats-{tick}.jsonl")
        box = the(shown, "checkbox", "Show the system prompt to annotators and judges")
        (box.check() if tick else box).run()
        the(shown, "button", "Import").click().run()
        with workspace.read() as db:
            [(_, chat)] = conversations.of_benchmark(db, f"chats-{tick}")
        assert [*shown_fields(chat, None)] == [(SYSTEM_PROMPT, "Be brief.")] * tick
        [request] = rubric_judge.requests(rubric, "preview", chat)
        assert ("Be brief." in str(request.messages)) == tick
        assert [*shown_fields(chat, None, system=True)] == [(SYSTEM_PROMPT, "Be brief.")], "once"


def test_a_second_import_says_that_it_shows_no_system_prompt(workspace: Workspace) -> None:
    for tick in (False, True):
        shown = dropped(chats("one"), "chats.jsonl")
        box = the(shown, "checkbox", "Show the system prompt to annotators and judges")
        (box.check() if tick else box).run()
        the(shown, "button", "Import").click().run()
        said = " ".join(each.value for each in shown.success).replace("\\", "")
        assert ("stored already stay as they are" in said) == tick
        assert ("`system_prompt` in a rubric" in said) == tick
