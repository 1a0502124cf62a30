"""Six attributes from the categories of a moderations endpoint."""

import json

import pytest

from concord.benchmarks.simulbench import toxicity
from concord.errors import CallFailed
from concord.store import audit
from tests.mock.call import BadCall
from tests.mock.texts import moderate
from tests.simulbench import by_hand

SCORED = ("simulbench", "toxicity", "--model", "mock-moderation")


def test_attributes_take_the_largest_of_their_categories():
    found = toxicity.attributes(
        {
            "harassment": 0.2,
            "harassment/threatening": 0.5,
            "hate": 0.3,
            "hate/threatening": 0.1,
            "violence": 0.9,
            "sexual": 1.0,
        }
    )
    assert found == {
        "toxicity": 0.5,
        "severe toxicity": 0.5,
        "identity attack": 0.3,
        "insult": 0.2,
        "profanity": None,
        "threat": 0.9,
    }


def test_what_an_endpoint_does_not_give_stays_undefined():
    assert set(toxicity.attributes({"sexual": 1.0}).values()) == {None}


@pytest.fixture
def filled(workspace):
    with workspace.write() as db:
        by_hand.store_scripts(db, "s1", "s2")
        by_hand.answer(db, "s1", "x", "You stupid idiot, shut up.")
        by_hand.answer(db, "s2", "x", "A kind word.")
        by_hand.answer(db, "s1", "y", "", ending="empty")
    return workspace


def test_every_text_is_scored_once_and_averaged(filled):
    with filled.read() as db:
        tasks = len(toxicity.texts(filled, db)["tasks"])
    # Both scripts have the same words: one text. Replies: two, the empty one has nothing to score.
    assert toxicity.measure(filled, "mock-moderation") == tasks + 1 + 2
    assert toxicity.measure(filled, "mock-moderation") == 0
    with filled.read() as db:
        [line] = audit.lines(db)  # nothing was scored the second time
    assert (line.words, line.detail) == ("toxicity scored", f"{tasks + 3} texts by mock-moderation")
    found = toxicity.toxicity(filled, "mock-moderation")
    rows = {row["what"]: row for row in found.rows}
    assert tuple(rows[name]["n"] for name in ("tasks", "scripts", "replies", "replies of x")) == (
        tasks,
        2,
        2,
        2,
    )
    assert "replies of y" not in rows
    rude = 0.0005 + 0.9995 * (1 - 0.75**3)
    assert rows["replies"]["insult"].value == pytest.approx((rude + 0.0005) / 2, abs=1e-6)
    assert rows["replies"]["profanity"].value is None
    assert found.meta["simulated"]


def test_what_was_not_scored_is_counted(filled, run):
    told = run(filled, *SCORED)
    assert told.exit_code == 0, told.output
    with filled.write() as db:
        by_hand.answer(db, "s3", "z", "A reply that came later.")
    rows = {row["what"]: row for row in toxicity.toxicity(filled, "mock-moderation").rows}
    assert (rows["replies"]["n"], rows["replies"]["missing"]) == (2, 1)
    assert (rows["replies of z"]["n"], rows["replies of z"]["missing"]) == (0, 1)
    assert rows["replies of z"]["toxicity"].reason == "no score yet"
    assert "missing" in told.output
    assert "insult from harassment;" in told.output
    assert "no category stands for it" in told.output
    assert "they say nothing about toxicity" in told.output
    values = json.loads(run(filled, *SCORED, "--format", "json").stdout)["tables"]["toxicity"]
    assert [row["missing"] for row in values["rows"]] == [0] * len(values["rows"])
    assert values["rows"][-1]["profanity"]["value"] is None


def test_errors_are_sentences(filled, run):
    unknown = run(filled, "simulbench", "toxicity", "--model", "nobody")
    assert "There is no model “nobody”" in unknown.output
    with pytest.raises(CallFailed, match="404"):
        toxicity.measure(filled, "mock-user")
    with filled.read() as db:
        assert not audit.lines(db)


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"input": []}', b'{"input": [3]}'])
def test_the_mock_models_refuses_what_the_protocol_does_not_allow(body):
    with pytest.raises(BadCall):
        moderate(body)


def test_the_mock_models_answers_a_single_text_and_flags_it():
    one = moderate(json.dumps({"input": "Those people are vermin."}).encode())["results"]
    assert [r["flagged"] for r in one] == [False]
    assert one[0]["category_scores"]["hate"] > one[0]["category_scores"]["violence"]
