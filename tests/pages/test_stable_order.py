"""“How stable is this order?” on the leaderboard: what it says of judges, interrogators and pools, and of a
stranger's file.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from concord.workspace import Workspace
from tests.mutual import GIVEN, fill
from tests.pages.test_navigation import FRAME

HOSTILE = "<img src=x> **b** $x^2$ :red[r]"


def page() -> AppTest:
    shown = AppTest.from_string(FRAME.format(file="results/leaderboard.py"), default_timeout=30).run()
    assert not shown.exception
    return shown


def uploaded(shown: AppTest, text: str | bytes, name: str = "other.csv") -> AppTest:
    data = text if isinstance(text, bytes) else text.encode()
    shown.file_uploader[0].set_value((name, data, "text/csv")).run()
    assert not shown.exception
    return shown


def said(shown: AppTest) -> str:
    return "\n".join(e.value for kind in ("markdown", "caption") for e in shown.get(kind)).replace("\\", "")


def pairs(shown: AppTest, of: str) -> list[list[Any]]:
    orders = [tab.label for tab in shown.tabs if tab.label != "Another ranking"]
    tables = [t.value for t in shown.dataframe if "tau" in t.value.columns]
    table = dict(zip(orders, tables, strict=True))[f"{of.capitalize()}s"]
    rows = table[table.a != "mean"][["tau", "a", "b"]].values.tolist()
    return [[round(tau, 3), a, b] for tau, a, b in rows]


def slopes(shown: AppTest) -> dict[str, Any]:
    """The slope chart's specification; it is the chart with a rank."""
    specs = [
        json.loads(c.proto.spec) for c in shown.get("vega_lite_chart") if "rank, 1 = best" in c.proto.spec
    ]
    assert len(specs) == 1
    return specs[0]


def test_the_section_shows_every_order(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    shown = page()
    # The arithmetic stands in tests/reports/test_rank_stability.py.
    assert "Any two of the 3 judges order the 4 players alike at τ\u00a0=\u00a0**0.20**" in said(shown)
    assert "about 60\u00a0% of the pairs" in said(shown)
    assert [t.label for t in shown.tabs] == ["Judges", "Interrogators", "Pools", "Another ranking"]
    assert pairs(shown, "judge") == [[0.6, "ash", "elm"], [-0.2, "ash", "oak"], [0.2, "elm", "oak"]]
    assert pairs(shown, "interrogator") == [[0.4, "guest", "stranger"]]
    assert [b for _, a, b in pairs(shown, "pool") if a == "uniform"][:1] == ["best two"]
    table = next(t.value for t in shown.dataframe if "by oak" in t.value.columns).set_index("player")
    assert (table.loc["ash", "by oak"], table.loc["ash", "rank by oak"]) == (2.0, 4)
    assert "The best two judges were chosen by PageRank" in said(shown)


def test_one_interrogator_has_no_tab(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, GIVEN, ["guest"])
    assert [t.label for t in page().tabs] == ["Judges", "Pools", "Another ranking"]


def test_what_is_undefined_says_why(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, {"ash": {"ash": 4, "elm": 3}, "elm": {"ash": 3, "elm": 4}}, ["guest"])
    told = said(page())
    assert "undefined: 2 players in common, at least 3 are needed" in told
    assert "best two: the panel has no more than two judges" in told


def test_no_conversation_rated_by_all_is_a_sentence(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db, {"ash": GIVEN["ash"]}, ["guest"])
        fill(db, {"elm": GIVEN["elm"]}, ["stranger"])
    shown = page()
    assert (
        "No conversation was rated by all judges, so the panel is the one who rated most; left out: elm."
        in said(shown)
    )
    assert "How far judges agree on the order is undefined: fewer than two rankings to compare." in said(
        shown
    )
    assert not shown.error


def test_another_ranking_is_set_beside(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    shown = uploaded(page(), "model,score\nYEW,4\nelm,3\nash,2\noak,1\nfir,9\n")
    told = said(shown)
    assert "Spearman's ρ\u00a0=\u00a0**0.11** over the n\u00a0=\u00a04 models in both" in told
    assert "Largest rises: elm from 2 to 1; ash from 3 to 2; oak from 4 to 3.5." in told
    assert "Largest falls: yew from 1 to 3.5." in told
    assert "Only in other.csv: fir." in told
    spec = slopes(shown)
    titles = {str(layer["encoding"]["y"]["title"]) for layer in spec["layer"]}
    assert titles == {"rank, 1 = best"}
    # The file's own panel is still there after the page was drawn once more.
    shown.run()
    assert "over the n\u00a0=\u00a04 models" in said(shown)


def test_the_files_words_are_shown_as_they_stand(workspace: Workspace) -> None:
    scores = {HOSTILE: 5, "elm": 4, "oak": 3}
    with workspace.write() as db:
        fill(db, {"ash": scores, "elm": scores}, ["guest"])
    shown = uploaded(page(), f'model,rank\n"{HOSTILE}",3\nelm,2\noak,1\n"{HOSTILE} 2",4\n', f"{HOSTILE}.csv")
    raw = "\n".join(e.value for kind in ("markdown", "caption") for e in shown.get(kind))
    assert "Largest falls" in raw
    assert HOSTILE not in raw
    # Names are data of the chart, never part of an expression of it.
    spec = slopes(shown)
    assert HOSTILE not in json.dumps(spec.get("layer"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "other.csv is empty"),
        ("model\nelm\n", "the column score (or rank) is missing"),
        (f"model,score\nelm,{HOSTILE}\nelm,4\n", "is not a number"),
        ("model,score\nelm,1\nelm,4\n", "stands in line 2 already"),
        (b"model,score\n\xff,4\n", "is not UTF-8"),
        (b"x" * 1_000_001, "is larger than"),
    ],
)
def test_a_bad_file_is_a_sentence_and_the_rest_stays(
    workspace: Workspace, text: str | bytes, told: str
) -> None:
    with workspace.write() as db:
        fill(db)
    shown = uploaded(page(), text)
    assert len(shown.error) == 1
    assert told in shown.error[0].value.replace("\\", "")
    assert HOSTILE not in shown.error[0].value
    assert pairs(shown, "judge")


def test_names_without_a_match_are_undefined(workspace: Workspace) -> None:
    with workspace.write() as db:
        fill(db)
    told = said(uploaded(page(), "model,score\nfir,1\n"))
    assert "Spearman's ρ is undefined: no model in common, at least 3 are needed." in told
    assert "Only on this leaderboard: elm, ash, oak, yew." in told


def test_sixty_players_with_long_names_are_one_page(workspace: Workspace) -> None:
    names = [f"{HOSTILE} {'n' * 160} {number}" for number in range(60)]
    scores = {name: 1 + number % 5 for number, name in enumerate(names)}
    with workspace.write() as db:
        fill(db, {"ash": scores, "elm": scores}, ["guest"])
    shown = AppTest.from_string(FRAME.format(file="results/leaderboard.py"), default_timeout=60)
    shown.query_params.update({"beside": "nobody", "unknown": HOSTILE})
    shown.run()
    assert not shown.exception
    assert len(shown.dataframe[0].value) == 60
