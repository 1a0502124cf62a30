"""The list of conversations: its figures, which judges lack a final, and where a row leads."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import conversations, ratings
from concord.workspace import Workspace
from pages.parts.address import NEIGHBOURS
from tests.pages.framed import FRAME

CRITERIA = (Criterion("wit", "It is witty."), Criterion("tact", "It is tactful."))


@pytest.fixture
def workspace(workspace: Workspace) -> Workspace:
    """One conversation: “whole” rates both criteria, “half” one of them, with two versions of its prompt."""
    with workspace.write() as db:
        ratings.register(db, "b", CRITERIA)
        said = (Message("user", "?"), Message("assistant", "!"))
        conversations.save(db, Conversation("b", "c", "p", said, facets={"turns": "many", "mood": "odd"}))
        given = {
            Rater("whole", "judge"): (3, 4),
            Rater("half", "judge", "v1"): (5,),
            Rater("half", "judge", "v2"): (1,),
        }
        for rater, scores in given.items():
            rated = tuple(Rating(Unit("c"), c.name, s) for c, s in zip(CRITERIA, scores, strict=False))
            ratings.save_judgement(db, Judgement(f"{rater.name} {rater.variant}", "c", rater, rated))
    return workspace


def test_a_judge_that_lacks_a_score_has_no_part_in_final(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30).run()
    assert not page.exception
    [listed] = (table.value for table in page.dataframe)
    [row] = listed.to_dict("records")
    assert row["final"] == 3.5, "(3 + 4) / 2 by the judge who gave both"
    assert row["turns"] == 1, "a facet of the same name is another column"


def test_the_calls_of_one_judge_are_told_apart_by_their_prompts(workspace: Workspace) -> None:
    """A judge of two calls has two judgements of one version; each can be chosen and read."""
    with workspace.write() as db:
        number = conversations.find_id(db, "c")
        for name, criterion in (("said", "wit"), ("noted", "tact")):
            ratings.remember_prompt(db, name, "b", "v2", name, "{}")
            rating = Rating(Unit("c"), criterion, 2)
            made = Judgement(name, "c", Rater("twice", "judge", "v2"), (rating,), raw=name, prompt=name)
            ratings.save_judgement(db, made)
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30)
    page.query_params["conversation"] = str(number)
    page.session_state["requests of c"] = True  # the expander is open: a folded one renders no request
    page.run()
    assert not page.exception
    (chosen,) = (box for box in page.selectbox if box.label == "Judgement")
    assert {"twice v2 · said", "twice v2 · noted"} <= set(chosen.options)
    assert chosen.options.count("whole") == 1


def listed(**asked: str) -> AppTest:
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30)
    for name, value in asked.items():
        page.query_params[name] = value
    return page.run()


def test_the_list_shows_the_columns_that_hold_something(workspace: Workspace) -> None:
    names = list(listed().dataframe[0].value)
    assert "final" in names
    assert "people" not in names, "nobody rated: the column would be empty"


def test_what_is_sought_is_marked_in_the_list(workspace: Workspace) -> None:
    said = "a ![x](http://x/y.png) <b>b</b>\n    The RIDDLE of :red[it]"
    with workspace.write() as db:
        told = (Message("user", "?"), Message("assistant", said))
        conversations.save(db, Conversation("b", "r", "p", told))
    [row] = listed(text="riddle").dataframe[0].value.to_dict("records")
    assert row["said"] == "a ![x](http://x/y.png) <b>b</b> The ⟦RIDDLE⟧ of :red[it]"


def test_failed_and_cut_replies_are_listed_and_counted(workspace: Workspace) -> None:
    with workspace.write() as db:
        cut = Message("assistant", "And so it went on and", {"cut": True})
        conversations.save(db, Conversation("b", "cut", "p", (Message("user", "?"), cut)))
        said = (Message("user", "?"), Message("assistant", "!"))
        conversations.save(db, Conversation("b", "fine", "p", said))
        failed = Judgement("f", "c", Rater("odd", "judge"), failure="It is not complete.", raw='{"wit": <b>')
        ratings.save_judgement(db, failed)
    page = listed(unreadable="true")
    assert len(page.dataframe[0].value) == 2
    words = "1 with an unparseable judgement, 1 with a truncated reply"
    assert any(words in caption.value for caption in page.caption)


def test_a_conversation_leads_back_to_where_it_was_opened(workspace: Workspace) -> None:
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30)
    page.query_params["conversation"] = "1"
    assert [button.label for button in page.run().button][:1] == ["All conversations"]
    assert not page.get("page_link"), "opened by its address"
    shown = {"study": ["s"], "criterion": ["wit"], "tab": ["fails"]}
    page.session_state["page from which the conversation was opened"] = ("agreement", shown)
    [link] = page.run().get("page_link")
    assert (link.label, link.query_string) == (
        "Back to Agreement",
        "study=s&criterion=wit&tab=fails",
    )


def test_back_from_a_conversation_the_address_is_as_it_was() -> None:
    """Streamlit enters the address of the conversation into the history of the page that is left, too."""
    script = "from pages.parts.address import returned\nreturned('agreement')"
    page = AppTest.from_string(script)
    page.query_params["conversation"] = "109"
    page.session_state["page from which the conversation was opened"] = (
        "agreement",
        {"study": ["s"], "tab": ["fails"]},
    )
    assert page.run().query_params == {"study": "s", "tab": "fails"}
    page = AppTest.from_string(script)
    page.query_params.update({"conversation": "109", "study": "s"})
    assert page.run().query_params == {"study": "s"}, "another window"


@pytest.mark.parametrize("which", ["99999", "x", "9" * 30, "-1", ""])
def test_an_address_of_no_conversation_is_answered_with_a_sentence(workspace: Workspace, which: str) -> None:
    page = listed(conversation=which)
    assert not page.exception
    [sentence] = [alert.value for kind in (page.error, page.warning, page.info) for alert in kind]
    assert "conversation" in sentence
    [back] = [button for button in page.button if button.label == "All conversations"]
    assert len(back.click().run().dataframe) == 1
    assert "conversation" not in page.query_params


def test_a_failed_judgement_is_shown_with_its_raw_reply(workspace: Workspace) -> None:
    raw = "I would rather not rate this. <script>document.title='broken'</script> **bold**"
    with workspace.write() as db:
        failed = Judgement("f", "c", Rater("odd", "judge"), failure="It is not complete.", raw=raw)
        ratings.save_judgement(db, failed)
    page = listed(conversation="1")
    assert not page.exception
    assert any("The judgement by odd failed.**] It is not complete" in text.value for text in page.markdown)
    [reply] = [folded for folded in page.expander if folded.label == "The raw reply"]
    assert [code.value for code in reply.code] + [text.value for text in reply.text] == [raw]


def stored(workspace: Workspace) -> None:
    with workspace.write() as db:
        for key, player, turns, first in (("z", "b", 3, "Where is  my parcel?\nNow!"), ("y", "a", 1, "Hi")):
            said = [Message("system", "Be brief."), Message("user", first), Message("assistant", "!")]
            for _ in range(turns - 1):
                said += [Message("user", "And?"), Message("assistant", "!")]
            conversations.save(db, Conversation("b", key, player, tuple(said)))


def test_the_list_shows_the_first_words_that_were_asked_and_the_key(workspace: Workspace) -> None:
    stored(workspace)
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30).run()
    assert not page.exception
    rows = page.dataframe[0].value.set_index("key")
    assert rows.loc["z", "first"] == "Where is my parcel? Now!"
    assert rows.loc["y", "first"] == "Hi"


@pytest.mark.parametrize(
    ("order", "keys"),
    [
        ("oldest", ["c", "z", "y"]),
        ("longest", ["z", "c", "y"]),
        (conversations.Sort("player"), ["y", "z", "c"]),
        (conversations.Sort("key"), ["c", "y", "z"]),
        ("failed", []),
    ],
)
def test_the_list_is_sorted_by_what_its_columns_say(
    workspace: Workspace, order: conversations.Order | conversations.Sort, keys: list[str]
) -> None:
    stored(workspace)
    with workspace.read() as db:
        found = [one.key for one in conversations.search(db, order=order)]
    if order == "longest":
        assert found[0] == "z"
    else:
        assert found == keys


def test_previous_and_next_follow_the_list_that_it_was_opened_from(workspace: Workspace) -> None:
    stored(workspace)
    with workspace.read() as db:
        numbers = [str(conversations.find_id(db, key)) for key in "zcy"]
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30)
    page.query_params["conversation"] = numbers[0]
    page.session_state[NEIGHBOURS] = numbers
    page = page.run()
    next(button for button in page.button if button.label == "Next").click().run()
    assert page.query_params["conversation"] == numbers[1]
    assert not page.exception


@pytest.mark.parametrize(("repeats", "tables"), [(1, 1), (2, 2)])
def test_scores_stand_once_and_reasons_are_in_sight(workspace: Workspace, repeats: int, tables: int) -> None:
    with workspace.write() as db:
        said = (Message("user", "?"), Message("assistant", "!"))
        number = conversations.save(db, Conversation("b", "d", "p", said))
        for repeat in range(repeats):
            rating = Rating(Unit("d"), "wit", 2 + repeat, explanation="because")
            rater = Rater("whole", "judge")
            ratings.save_judgement(db, Judgement(f"j{repeat}", "d", rater, (rating,), repeat=repeat))
    page = AppTest.from_string(FRAME.format(file="study/conversations.py"), default_timeout=30)
    page.query_params["conversation"] = str(number)
    page = page.run()
    assert not page.exception
    assert len(page.table) == tables
    [why] = [block for block in page.expander if block.label == "Why"]
    assert why.proto.expanded


@pytest.fixture
def topics(workspace: Workspace) -> Workspace:
    """Four imported conversations with a topic each, after the one there is."""
    with workspace.write() as db:
        for number, topic in enumerate(("refund", "parcel", "refund", "account")):
            said = (Message("user", f"order {number}"), Message("assistant", "!"))
            conversations.save(db, Conversation("shop", f"s{number}", "p", said, facets={"topic": topic}))
    return workspace


def test_a_list_is_sorted_by_a_facet_of_an_import(topics: Workspace) -> None:
    page = listed(benchmark="shop")
    [order] = [box for box in page.selectbox if box.label == "First"]
    assert "topic, descending" in order.options
    page = order.select("facet-topic-descending").run()
    assert page.query_params["order"] == "facet-topic-descending"
    assert list(page.dataframe[0].value["facet topic"]) == ["refund", "refund", "parcel", "account"]


def test_a_list_is_grouped_by_a_facet_of_an_import(topics: Workspace) -> None:
    page = listed(benchmark="shop", group="topic")
    assert not page.exception
    rows = page.dataframe[0].value.to_dict("records")
    assert [(row["value"], row["conversations"]) for row in rows] == [
        ("refund", 2),
        ("account", 1),
        ("parcel", 1),
    ]
    assert page.query_params["group"] == "topic"


def test_the_scores_of_a_single_turn_stand_once_with_the_reasons_in_sight(workspace: Workspace) -> None:
    with workspace.write() as db:
        for turns, key in ((1, "one"), (2, "two")):
            said = (Message("user", "?"), Message("assistant", "!")) * turns
            conversations.save(db, Conversation("b", key, "p", said))
            rated = tuple(Rating(Unit(key, turn), "wit", 3, "because") for turn in range(1, turns + 1))
            ratings.save_judgement(db, Judgement(f"{key} j", key, Rater("j", "judge"), rated))
        numbers = [str(conversations.find_id(db, key)) for key in ("one", "two")]
    one, two = (listed(conversation=number) for number in numbers)
    assert [len(page.table) for page in (one, two)] == [1, 3], "the means, and of two turns each one's scores"
    for page, turns in ((one, 1), (two, 2)):
        assert [box.proto.expanded for box in page.expander if box.label == "Why"] == [True] * turns
