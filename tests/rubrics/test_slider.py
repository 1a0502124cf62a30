"""A slider between two words, from the rubric's file to the figure and through other tools' files."""

import json

import pytest

from concord.errors import ConfigError
from concord.store import studies
from concord.workspace import Workspace
from tests.label_studio import exported
from tests.rubrics.judging_by_rubric_helpers import done, given, rated, shop, write  # noqa: F401
from tests.rubrics.rubric_files_helpers import rubric

WARM = """
[judge]
reasons = "none"
[[criteria]]
name = "warmth"
statement = "How warm is it?"
type = "slider"
anchors = { 0 = "cold", 10 = "warm" }
"""


def test_its_answers_are_whole_numbers_of_which_the_ends_have_words():
    [warmth] = rubric(WARM).criteria
    assert warmth.scale.legend == ["0 cold", *map(str, range(1, 10)), "10 warm"]
    assert [choice.key for choice in warmth.scale.kind.options(warmth.scale)] == [*"0123456789x"]
    told = WARM.replace("{ 0 =", "{ 1 =").replace("10 =", "7 =")
    [other] = rubric(told + 'scale = "1..7"').criteria
    assert other.scale.offered == (1, 2, 3, 4, 5, 6, 7)


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ('anchors = { 0 = "cold" }', "a slider has a word at each end. Write anchors = { 0 = "),
        ('anchors = { 0 = "cold", 5 = "so", 10 = "warm" }', "a slider has a word at each end"),
        ('scale = "0..100"\nanchors = { 0 = "cold", 100 = "warm" }', "a slider has at most 11 points."),
    ],
)
def test_a_wrong_one_is_refused_with_the_remedy(wrong, why):
    with pytest.raises(ConfigError, match=f"criterion “warmth”: {why}"):
        rubric(WARM.replace('anchors = { 0 = "cold", 10 = "warm" }', wrong))


def test_judges_and_people_answer_it_and_their_agreement_is_measured(shop, run):  # noqa: F811
    write(shop, WARM)
    sent = done(run(shop, "rubric", "show", "support"))
    assert "Warmth (slider, interval): How warm is it?" in sent
    assert "  0 = cold\n  10 = warm\n" in sent
    assert '"warmth": <0 to 10>' in sent
    assert '"maximum": 10' in sent
    write(shop, WARM.replace("[judge]", 'unit = "each-reply"\n[judge]'))
    rated(shop, run)
    assert {r.score for r in given(shop, "c3")} <= set(range(11))
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    warmth = told["sections"]["warmth"]
    _, interval, *_ = warmth["people"]["people"]["rows"]
    assert (interval["measure"], interval["value"]["value"]) == ("Krippendorff's alpha, interval", 1.0)
    judges = warmth["judges"]["judges"]["rows"][:2]
    assert [judge["rater"] for judge in judges] == ["a", "b"]
    assert all(judge["spearman"]["value"] is not None for judge in judges)


def test_it_goes_through_other_tools_and_into_another_workspace(shop, run, tmp_path):  # noqa: F811
    write(shop, WARM.replace("[judge]", 'unit = "each-reply"\n[judge]'))
    rated(shop, run)
    done(run(shop, "export", "conversations", "--study", "s", "--out", tmp_path / "s.jsonl"))
    other = Workspace.open(tmp_path / "other")
    done(run(other, "import", "conversations", tmp_path / "s.jsonl"))
    with shop.read() as here, other.read() as there:
        [scale] = [c.scale for c in studies.get(there, "s").criteria]
        assert scale == studies.get(here, "s").criteria[0].scale
    done(run(shop, "export", "label-studio", "--study", "s", "--out", tmp_path / "ls"))
    assert '<Choice value="10 warm"/>' in (tmp_path / "ls" / "config.xml").read_text()
    done(
        run(
            other,
            "import",
            "label-studio",
            exported(tmp_path / "ls" / "tasks.json", shop, "s"),
            "--study",
            "s",
        )
    )
    for workspace, name in ((shop, "here"), (other, "there")):
        done(run(workspace, "export", "ratings", "--study", "s", "--out", tmp_path / f"{name}.csv"))
    people = [
        sorted(line for line in (tmp_path / f"{name}.csv").read_text().splitlines() if ",human," in line)
        for name in ("here", "there")
    ]
    assert people[0]
    assert [line.split(",")[:6] for line in people[0]] == [line.split(",")[:6] for line in people[1]]
    done(run(shop, "export", "argilla", "--study", "s", "--out", tmp_path / "rg"))
    settings = json.loads((tmp_path / "rg" / ".argilla" / "settings.json").read_text())
    assert len(settings["questions"][0]["settings"]["options"]) == 11
    assert "(0 cold; 1; 2" in settings["questions"][0]["description"]
