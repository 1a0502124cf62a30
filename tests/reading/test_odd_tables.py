"""Tables as people have them: columns that compare others, ranges in names, words beside numbers, odd
cells.
"""

import json

import pytest

from concord.errors import ImportRefused
from tests.reading.twelve import HUMAN, IDS, JUDGE, OTHER, checked, kappa, passes, rho, taken


def first(found):
    return found.report.section("judges", found.report.main)["judges"].rows[0]


@pytest.mark.parametrize("name", ["judge_is_correct", "match", "judge_agrees", "llm_error"])
def test_a_column_that_compares_two_others_is_no_rater(name):
    human, judge = passes(HUMAN), passes(JUDGE)
    same = [a == b for a, b in zip(human, judge, strict=True)]
    same = [not one for one in same] if name == "llm_error" else same
    found = checked({"id": IDS, "human_verdict": human, "judge_verdict": judge, name: same})
    assert taken(found, "judges") == ["judge_verdict"]
    assert first(found)["kappa"].value == pytest.approx(kappa(human, judge))


@pytest.mark.parametrize("end", ["(1-5)", "[1 to 5]", "(out of 5)", "(1–5)"])
def test_the_range_of_a_scale_in_a_name_is_no_criterion(end):
    found = checked({"ID": IDS, f"Human Score {end}": HUMAN, f"GPT-4 Score {end}": JUDGE})
    assert found.report.main == "score"
    assert taken(found, "criteria") == [""]


def test_a_person_with_a_code_for_no_answer_is_asked_about():
    gaps = [999 if n % 4 == 0 else score for n, score in enumerate(OTHER)]
    with pytest.raises(ImportRefused, match="human2 gives 999 3 times"):
        checked({"id": IDS, "human": HUMAN, "human2": gaps, "judge": JUDGE})


def test_a_zero_that_nobody_else_gives_is_warned_of():
    zeros = [0 if n % 5 == 0 else score for n, score in enumerate(JUDGE)]
    found = checked({"id": IDS, "human": HUMAN, "judge": zeros})
    assert any("judge is the only rater who gives 0 (3 of 12 answers)" in note for note in found.notes)


@pytest.mark.parametrize(
    "written",
    [
        lambda score: f"\\boxed{{{score}}}",
        lambda score: str(("score", score)),
        lambda score: json.dumps([{"criterion": "tone", "score": score}]),
    ],
    ids=["boxed", "tuple", "list of one object"],
)
def test_more_ways_to_write_a_score_in_a_cell(written):
    found = checked({"id": IDS, "human": HUMAN, "judge": [*map(written, JUDGE)]})
    assert first(found)["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


def test_thumbs_in_words_and_in_signs_are_one_answer():
    human = ["👍" if word == "pass" else "👎" for word in passes(HUMAN)]
    judge = ["thumbs_up" if word == "pass" else "thumbs down" for word in passes(JUDGE)]
    found = checked({"id": IDS, "human": human, "judge": judge})
    assert first(found)["kappa"].value == pytest.approx(kappa(passes(HUMAN), passes(JUDGE)))


def test_underscores_and_spaces_part_words_alike():
    human = ["very_good" if score > 3 else "not_bad" for score in HUMAN]
    judge = ["Very good" if score > 3 else "Not bad" for score in JUDGE]
    found = checked({"id": IDS, "human": human, "judge": judge})
    same = kappa(human, [word.lower().replace(" ", "_") for word in judge])
    assert first(found)["kappa"].value == pytest.approx(same)


LEVELS = ("strongly disagree", "disagree", "neutral", "agree", "strongly agree")


def test_words_beside_numbers_lead_to_the_scale():
    table = {"id": IDS, "human": [LEVELS[score - 1] for score in HUMAN], "judge": JUDGE}
    with pytest.raises(ImportRefused) as refused:
        checked(table)
    scale = ",".join(f"{rank}:{word}" for rank, word in enumerate(LEVELS, 1))
    assert str(refused.value).endswith(f'--scale "{scale}"')
    found = checked(table, scales={"": scale})
    assert first(found)["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


def test_a_column_for_each_side_is_one_preference():
    human, judge = ([word == "pass" for word in passes(scores)] for scores in (HUMAN, JUDGE))
    table = {"id": IDS, "winner_model_a": human, "winner_model_b": [not one for one in human]}
    table |= {"winner_tie": [0] * 12, "judge": ["model_a" if one else "model_b" for one in judge]}
    found = checked(table, human="winner")
    assert first(found)["kappa"].value == pytest.approx(kappa(human, judge))


def test_a_page_of_html_is_said_to_be_one(tmp_path):
    from concord.reading import sources

    file = tmp_path / "table.csv"
    file.write_text("<!DOCTYPE html><html><body>Not found</body></html>")
    with pytest.raises(ImportRefused, match="is a page of HTML"):
        sources.read(file)


def test_thousands_of_columns_are_asked_about_in_short():
    table = {"id": IDS, **{f"c{n}": HUMAN for n in range(2000)}}
    with pytest.raises(ImportRefused) as refused:
        checked(table)
    assert len(str(refused.value)) < 300
    assert str(refused.value).endswith("--human c0 --judge c1")


def test_objects_of_models_in_a_row_are_records_of_models():
    rows = [
        {
            name: {"chatgpt": judge[n], "annot1": {"tone": HUMAN[n]}, "annot2": {"tone": OTHER[n]}}
            for name, judge in (("bart", JUDGE), ("gpt3", OTHER))
        }
        for n in range(12)
    ]
    found = checked(rows)
    assert taken(found, "group") == ["model"]
    assert first(found)["n"] == 24
    assert taken(found, "judges") == ["chatgpt"]


def test_criteria_in_other_spellings_are_asked_about_and_not_pooled():
    table = {"id": IDS, "annot1.readblty": HUMAN, "annot1.self_coh": OTHER}
    table |= {"chatgpt_Readability": JUDGE, "chatgpt_Self-Coherence": HUMAN}
    with pytest.raises(ImportRefused) as refused:
        checked(table)
    assert str(refused.value).endswith("--human annot1.readblty --judge chatgpt_Readability")
    found = checked(table, human="annot1.readblty", judge="chatgpt_Readability")
    assert first(found)["spearman"].value == pytest.approx(rho(HUMAN, JUDGE))


def test_a_table_of_judges_alone_says_so():
    table = {"id": [*IDS] * 2, "judge": ["GPT"] * 12 + ["Opus"] * 12, "faithfulness": [*HUMAN, *JUDGE]}
    with pytest.raises(ImportRefused, match="the column judge names judges, and no annotators answer"):
        checked(table | {"relevance": [*JUDGE, *OTHER]})
