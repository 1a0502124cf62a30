"""Which of several labels apply, from the rubric's file to the figure and through other tools' files."""

import json

import pytest

from concord.conversation import Unit
from concord.errors import ConfigError
from concord.questions import labels, scale_of
from concord.rating import Rating
from concord.store import access, studies
from concord.workspace import Workspace
from tests.annotated import Annotation, import_annotations
from tests.label_studio import exported
from tests.rubrics.judging_by_rubric_helpers import done, given, shop, write  # noqa: F401
from tests.rubrics.rubric_files_helpers import rubric

TOPICS = """
unit = "each-reply"
[judge]
reasons = "none"
[[criteria]]
name = "topics"
statement = "Which of these does the reply mention?"
type = "multi-label"
categories = ["returns", "thanks", "delivery"]
"""


def test_an_answer_is_a_set_and_its_words_are_read_back():
    scale = labels(["returns", "thanks", "delivery"])
    assert [scale.word(score) for score in (0, 1, 6)] == ["(none)", "returns", "thanks; delivery"]
    for text in ("thanks; delivery", "delivery|thanks", "Thanks, delivery", '["thanks", "delivery"]', "6"):
        assert scale.read(text) == 6
    assert (scale.read("(none)"), scale.read("[]"), scale.read("price"), scale.read("[oops")) == (
        0,
        0,
        None,
        None,
    )
    assert [score in scale for score in (0, 7, 8, 1.5, -1)] == [True, True, False, False, False]
    assert scale_of("late | rude").labels == ("late", "rude")
    assert not scale.two
    assert (scale.low, scale.high) == (0, 7), "no judge that gives all labels is on another scale"
    assert [option.key for option in scale.kind.options(scale)] == ["1", "2", "3", "0"]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ('["one"]', "a question needs at least two categories"),
        ('["a", "b; c"]', "contains a separator of labels"),
        (json.dumps([f"l{n}" for n in range(21)]), "more than 20 labels are too many"),
    ],
)
def test_a_wrong_one_is_refused_with_the_remedy(wrong, why):
    with pytest.raises(ConfigError, match=f"criterion “topics”: .*{why}"):
        rubric(TOPICS.replace('["returns", "thanks", "delivery"]', wrong))


def rated(workspace, run):
    done(run(workspace, "judge", "support", "--judges", "a,b"))
    done(run(workspace, "study", "draw", "s", "--n", "4", "--rubric", "support"))
    done(run(workspace, "people", "invite", "Ann", "Bob", "--study", "s"))
    done(run(workspace, "study", "deal", "s", "--annotators", "Ann,Bob"))
    with workspace.write() as db:
        units = studies.units(db, "s")
        answers = [
            Annotation(Rating(Unit(u["key"], u["turn"]), "topics", (n + (who == "Bob" and n > 3)) % 8), who)
            for who in ("Ann", "Bob")
            for n, u in enumerate(units)
        ]
        import_annotations(db, "s", answers)
        assert all(a.done == 6 for a in access.annotators(db, "s"))


def test_judges_and_people_answer_it_and_their_agreement_is_measured(shop, run):  # noqa: F811
    write(shop, TOPICS)
    sent = done(run(shop, "rubric", "show", "support"))
    assert '"topics": [every one that applies of "returns", "thanks", "delivery"]' in sent
    assert '"enum": [' in sent
    rated(shop, run)
    scores = {r.score for key in ("c0", "c1", "c2", "c3") for r in given(shop, key)}
    assert scores <= set(range(8))
    assert len(scores) > 1
    told = json.loads(done(run(shop, "agreement", "--study", "s", "--format", "json")))
    nominal = told["sections"]["topics"]["people"]["nominal"]["rows"]
    rows = {(row["coefficient"], row["a"], row["b"]): row["value"] for row in nominal}
    # 0, 1, 2, 3 are equal, then {3} beside {1, 3} and {1, 3} beside {2, 3}: alike by 1/3 and 1/9.
    assert 0.5 < rows["alpha_masi", "", ""]["value"] < 1
    assert "off the scale" not in done(run(shop, "agreement", "--study", "s"))
    assert {b for _, a, b in rows if a == "a"} >= {"Ann", "majority of people", "majority of people: thanks"}


def test_the_leading_coefficient_is_kappa_of_sets_beside_one_more_person(shop, run):  # noqa: F811
    write(shop, TOPICS)
    rated(shop, run)
    shown = done(run(shop, "agreement", "--study", "s", "--format", "json", "--section", "glance"))
    told, _ = json.JSONDecoder().raw_decode(shown)
    by = {row["rater"]: row for row in told["tables"]["glance"]["rows"]}
    assert by["a"]["judge"]["value"] is not None
    assert by["a"]["person"]["value"] > 0.5, "Ann and Bob answer nearly alike"


def test_it_goes_through_other_tools_and_into_another_workspace(shop, run, tmp_path):  # noqa: F811
    write(shop, TOPICS)
    rated(shop, run)
    done(run(shop, "export", "conversations", "--study", "s", "--out", tmp_path / "s.jsonl"))
    done(run(shop, "export", "ratings", "--study", "s", "--out", tmp_path / "s.csv"))
    done(run(shop, "export", "label-studio", "--study", "s", "--out", tmp_path / "ls"))
    assert 'choice="multiple"' in (tmp_path / "ls" / "config.xml").read_text()
    done(run(shop, "export", "argilla", "--study", "s", "--out", tmp_path / "rg"))
    settings = json.loads((tmp_path / "rg" / ".argilla" / "settings.json").read_text())
    assert settings["questions"][0]["settings"]["type"] == "multi_label_selection"
    ways = {
        "ratings": tmp_path / "s.csv",
        "label-studio": exported(tmp_path / "ls" / "tasks.json", shop, "s"),
    }
    for way, file in ways.items():
        other = Workspace.open(tmp_path / f"with {way}")
        done(run(other, "import", "conversations", tmp_path / "s.jsonl"))
        done(run(other, "import", way, file, "--study", "s", *(["--append"] if way == "ratings" else [])))
        done(run(other, "export", "ratings", "--study", "s", "--out", tmp_path / "again.csv"))
        before, after = (
            sorted(
                line.split(",")[:9]
                for line in (tmp_path / name).read_text().splitlines()
                if ",human," in line
            )
            for name in ("s.csv", "again.csv")
        )
        assert before == after
        assert before
