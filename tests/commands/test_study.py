"""A study by commands alone: drawn, dealt, shown, measured."""

import csv
import io
import json
from collections import Counter

import pytest

from concord.store import access
from concord.store import studies as stored
from concord.table import FORMS


def test_from_draw_to_desk(filled, run, tmp_path):
    guide = tmp_path / "guide.md"
    guide.write_text("# Read to the end\n", encoding="utf-8")
    drawn = run(
        filled,
        "study",
        "draw",
        "mine",
        "--n",
        12,
        "--seed",
        3,
        "--where",
        "player=alder,birch",
        "--where",
        "character=goblin,pilot",
        "--guidelines",
        guide,
        "--title",
        "A title",
    )
    assert drawn.exit_code == 0, drawn.output
    # 2 players × 2 characters × 4 situations.
    assert (
        "12 units of 12 conversations, drawn from 16 with seed 3, spread over player, character, situation."
        in drawn.output
    )
    assert "Asked: In character, Entertaining, Fluency." in drawn.output
    with filled.read() as db:
        assert stored.get(db, "mine").guidelines == "# Read to the end\n"

    invited = run(
        filled, "people", "invite", "ann", "bo", "--study", "mine", "--base-url", "https://example.org"
    )
    assert invited.exit_code == 0, invited.output
    links = [line.split("\t") for line in invited.stdout.splitlines()]
    assert [(name, items) for name, _, items in links] == [("ann", "12 items"), ("bo", "12 items")]
    with filled.read() as db:
        assert access.of_token(db, links[0][1].split("token=")[1])[1] == "ann"

    dealt = run(filled, "study", "deal", "mine", "--overlap", 1)
    assert "1 rater a unit: ann 6 items, bo 6 items" in dealt.output
    shown = run(filled, "study", "show", "mine").output
    assert "A title (mine)" in shown
    assert "ann" in shown

    run(filled, "people", "revoke", "ann")
    with filled.read() as db:
        [ann] = [one for one in access.annotators(db, "mine") if one.name == "ann"]
    assert (ann.link, ann.done, ann.skipped, ann.items) == ("withdrawn", 0, 0, 6)
    assert "bo 12 items" in run(filled, "study", "deal", "mine").output


def test_a_deal_says_how_even_it_is(filled, run):
    run(filled, "study", "draw", "try", "--n", 8)
    drawn = run(filled, "study", "draw", "mine", "--n", 12, "--seed", 3, "--not-in", "try").output
    assert "12 conversations, drawn from 56 with seed 3" in drawn
    assert "Excluded conversations of: try." in drawn
    run(filled, "people", "invite", "ann", "bo", "cy")
    asked = ("study", "deal", "mine", "--annotators", "ann,bo,cy", "--overlap", 2)
    balance = "Items of an annotator: 8. Items that two annotators share: 4 (as even as possible)."
    refused = run(filled, *asked[:-1], 3, "--extra-where-differ", 2)
    assert (refused.exit_code, "Use --overlap 2." in refused.output) == (1, True)
    dealt = run(filled, *asked, "--extra-where-differ", 2, "--extra-on", "fluency").output
    assert f"{balance} 0 items have answers at least 2 apart on “Fluency”" in dealt
    without = run(filled, "study", "reassign", "mine", "cy", "--reason", "left").output
    assert "Items of an annotator: 12. Items that two annotators share: 12" in without


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (["study", "draw", "first", "--n", 2], "The study “first” exists already"),
        (
            ["study", "draw", "x", "--n", 2, "--where", "goblin"],
            "“goblin” is not of the form FACET=VALUE",
        ),
        (["study", "draw", "x", "--n", 2, "--where", "language=en,ru"], "A study has one language"),
        (["study", "draw", "x", "--n", 2, "--guidelines", "nowhere.md"], "nowhere.md cannot be read"),
        (["study", "draw", "x", "--n", 999], "64 candidates for 999"),
        (["study", "deal", "frist"], "no study “frist”. Did you mean “first”"),
        (["study", "deal", "first", "--annotators", "dee"], "people invite NAME"),
        (["study", "deal", "first", "--overlap", 9], "9 raters per unit need more than 3"),
        (["people", "revoke", "nobody"], "no annotator “nobody”"),
        (["export", "ratings", "--study", "frist"], "Did you mean “first”"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_changes_nothing(filled, run, call, sentence):
    done = run(filled, *call)
    assert done.exit_code == 1
    assert sentence in done.output
    with filled.read() as db:
        assert stored.names(db) == ["first"]


def test_a_study_for_a_crowd_alone_has_its_overlap_from_the_draw(filled, run):
    drawn = run(filled, "study", "draw", "crowd", "--n", 4, "--overlap", 2)
    assert drawn.exit_code == 0, drawn.output
    assert "raters of each: 2" in run(filled, "study", "show", "crowd").output


def agreement(run, workspace, *options, study="first", resamples=20):
    return run(workspace, "agreement", "--study", study, "--resamples", resamples, *options)


class TestAgreement:
    def test_json_has_exactly_the_published_shape(self, filled, run):
        done = agreement(run, filled, "--format", "json")
        assert done.exit_code == 0, done.output
        found = json.loads(done.stdout)
        assert list(found) == [
            "schema",
            "study",
            "items",
            "resamples",
            "seed",
            "clusters",
            "people",
            "criteria",
            "versions",
            "published",
            "verdicts",
            "summary",
            "missing",
            "notes",
            "limits",
            "left_out",
            "partial",
            "excluded",
            "main",
            "sections",
        ]
        assert list(found["sections"]) == ["in_character", "entertaining", "fluency", "final"]
        assert list(found["criteria"]) == ["by_criterion", "p_by_criterion", "people_by_criterion"]
        final = found["sections"]["final"]
        assert {"judges", "people", "alt-test"} < set(final)
        figure = final["judges"]["judges"]["rows"][0]["spearman"]
        assert list(figure) == ["value", "ci", "n", "method"]
        # 3 judges: the mean of all and 3 pairs.
        assert len(found["criteria"]["by_criterion"]["rows"]) == 3 + 4
        # What is left out and what is a mock is told, beside the figures.
        assert "or --keep-refused of the command." in " ".join(found["notes"])
        assert "Rule-based mock models" in " ".join(found["notes"])

    def test_the_seed_decides(self, filled, run):
        first, again, other = (
            agreement(run, filled, "--format", "json", "--seed", seed).stdout for seed in (1, 1, 2)
        )
        assert first == again != other

    def test_csv_holds_every_figure(self, filled, run):
        rows = list(csv.DictReader(io.StringIO(agreement(run, filled, "--format", "csv").stdout)))
        found = json.loads(agreement(run, filled, "--format", "json").stdout)["sections"]["fluency"]
        over_all = ("judges", "people_by_criterion", "raters")
        mine = [row for row in rows if row["criterion"] == "Fluency" and row["table"] in over_all]
        # Spearman, Kendall, Pearson and p of 3 judges and all of them; of 3 people each with the others.
        count = Counter(row["figure"] for row in mine)
        assert {count[name] for name in ("spearman", "kendall", "pearson", "p")} == {4}
        assert {count[name] for name in ("alpha_ordinal", "alpha_interval")} == {1}
        assert count["others"] == 3
        (row,) = [r for r in mine if (r["rater"], r["figure"]) == ("strict", "spearman")]
        judge = next(j for j in found["judges"]["judges"]["rows"] if j["rater"] == "strict")
        assert float(row["value"]) == judge["spearman"]["value"]
        assert [float(row["low"]), float(row["high"])] == judge["spearman"]["ci"]

    def test_latex_is_a_table_for_a_paper(self, filled, run):
        shown = agreement(run, filled, "--format", "latex").stdout
        assert "Judge or panel & In character & Entertaining & Fluency & Overall score \\\\" in shown
        assert "all 3 judges & " in shown
        first = shown[: shown.index(r"\end{table}")]
        assert r"\caption{Judges and panels at a glance." in first
        assert r"\label{tab:glance}" in first
        assert "% On Overall score, the panel of 3 judges is inconclusive" in first
        assert {line.count(" & ") for line in first.splitlines() if line.endswith(r"\\")} == {7}

    def test_the_table_shows_people_judges_and_where_it_comes_from(self, filled, run):
        shown = " ".join(agreement(run, filled).stdout.split())
        for words in (
            "Krippendorff's alpha, ordinal",
            "Judges and panels: Spearman's ρ with the mean of annotators",
            "strict",
            "20 resamples of clusters of items with the same character and situation, seed 0",
        ):
            assert words in shown

    def test_refused_conversations_on_request(self, filled, run):
        without = json.loads(agreement(run, filled, "--format", "json").stdout)
        kept = agreement(run, filled, "--format", "json", "--keep-refused")
        every = json.loads(kept.stdout)
        (out,) = without["left_out"]
        assert out["units"] > 0
        assert set(out["by"]) <= {"strict", "kind", "erratic"}
        assert every["left_out"] == []
        ours, theirs = (found["sections"]["final"] for found in (without, every))
        rows = [of["judges"]["judges"]["rows"][0]["n"] for of in (ours, theirs)]
        assert rows[1] > rows[0]
        assert theirs["people"]["people"]["rows"] == ours["people"]["people"]["rows"]
        assert "a judge saw a refusal" not in " ".join(every["notes"])


HEADER = "item_id,criterion,rater_type,rater,score\n"


@pytest.mark.parametrize(
    ("raters", "sentence"),
    [
        ({"human ann": "12345", "human bob": "13254"}, "No judge has rated the study “s”"),
        ({"judge gpt": "12345"}, "No annotator has rated the study “s” yet"),
        ({"human ann": "12345", "judge gpt": "12345"}, "Only one annotator rated the study “s”"),
        (
            {"human ann": "33333", "human bob": "33333", "judge gpt": "12345"},
            "No judge of the study “s” can be compared with annotators",
        ),
        ({"human ann": "12345", "human bob": "13254", "judge gpt": "33333"}, "gpt is constant"),
        ({"human ann": "12", "human bob": "21", "judge gpt": "21"}, "2 items in common, at least 3"),
    ],
    ids=["no judges", "no people", "one person", "constant people", "constant judge", "two items"],
)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_missing_is_a_sentence_beside_what_there_is(workspace, run, tmp_path, raters, sentence, form):
    file = tmp_path / "r.csv"
    lines = [
        f"i{n},f,{who.replace(' ', ',')},{score}\n"
        for who, scores in raters.items()
        for n, score in enumerate(scores)
    ]
    file.write_text(HEADER + "".join(lines))
    assert run(workspace, "import", "ratings", file, "--study", "s", "--scale", "f=1-5").exit_code == 0
    done = agreement(run, workspace, "--format", form, study="s")
    assert done.exit_code == 1
    assert "Traceback" not in done.output
    assert sentence in done.stderr
    assert done.stdout
    if form == "json":
        # null, never a made-up figure; and why.
        part = json.loads(done.stdout)["sections"]["f"]
        judges = [row["spearman"] for row in part["judges"]["judges"]["rows"]]
        figures = [*judges, *(row["value"] for row in part["people"]["people"]["rows"])]
        undefined = [figure for figure in figures if None in figure.values()]
        assert undefined or not judges
        assert all(figure["reason"] for figure in undefined)


@pytest.mark.parametrize(
    ("raters", "sentence"),
    [
        ({"judge gpt": "11011"}, "Error: No annotator has rated the study “s” yet"),
        ({"human ann": "11011"}, "Error: No judge has rated the study “s”"),
        ({"human ann": "11011", "judge gpt": "11011"}, "Error: Only one annotator rated the study “s”"),
        (
            {"human ann": "11111", "human bob": "11111", "judge gpt": "11111"},
            "can be compared with annotators (gpt and people's mean are constant on the items in common)",
        ),
        (
            {"human ann": "10011", "human bob": "11010", "judge gpt": "11111"},
            "can be compared with annotators (gpt is constant on the items in common)",
        ),
    ],
    ids=["no people", "no judges", "one person", "constant all", "constant judge"],
)
def test_two_answers_say_what_is_missing_too(workspace, run, tmp_path, raters, sentence):
    file = tmp_path / "r.csv"
    lines = [
        f"i{n},f,{who.replace(' ', ',')},{score}\n"
        for who, scores in raters.items()
        for n, score in enumerate(scores)
    ]
    file.write_text(HEADER + "".join(lines))
    assert run(workspace, "import", "ratings", file, "--study", "s", "--scale", "f=0-1").exit_code == 0
    done = agreement(run, workspace, "--section", "people", study="s")
    assert done.exit_code == 1, done.output
    assert sentence in done.stderr
    assert "Agreement on answers as categories" in done.stdout


def test_a_study_nobody_rated_is_one_sentence(filled, run):
    with filled.write() as db:
        stored.create(db, stored.Study("empty", stored.get(db, "first").criteria))
    done = agreement(run, filled, study="empty")
    assert done.exit_code == 1
    assert done.stderr.startswith("Error: The study “empty” has no ratings yet.")
    assert done.stdout == ""


@pytest.mark.parametrize("name", ["", "  ", "A,B", "x" * 81], ids=["empty", "blank", "comma", "too long"])
def test_a_name_nobody_could_be_called_by_is_refused(filled, run, name):
    done = run(filled, "people", "invite", name)
    assert done.exit_code == 1
    assert "is not a valid name for an annotator" in done.output
    assert len(done.output) < 200
    with filled.read() as db:
        assert name not in {a.name for a in access.annotators(db)}
