"""Frames of ratings for tests, and the same figures computed the plain way."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from scipy import stats

from concord.estimate import Estimate

FED = Path(__file__).parents[3] / "shared" / "data" / "fed"


def frame(rows):
    return pd.DataFrame(rows, columns=["unit", "criterion", "rater", "kind", "score"])


def people(table, criterion="quality"):
    """Rows from a mapping person → scores by unit, None where missing."""
    return frame(
        [
            (unit, criterion, name, "human", score)
            for name, scores in table.items()
            for unit, score in enumerate(scores)
            if score is not None
        ]
    )


def judges(table, criterion="quality"):
    return people(table, criterion).assign(kind="judge")


def study(persons, machines, criterion="quality"):
    return pd.concat([people(persons, criterion), judges(machines, criterion)])


def flat(table):
    """A Table's rows as a frame: a figure NAME is in NAME, NAME_low and NAME_high (nan where undefined).

    `reason` joins what the row's figures say about missing values and intervals.
    """
    rows = []
    for row in table.rows:
        found, reasons = {}, {}
        for name, cell in row.items():
            found[name] = cell
            if isinstance(cell, Estimate):
                numbers = (cell.value, cell.low, cell.high)
                value, low, high = (np.nan if number is None else number for number in numbers)
                found |= {name: value, f"{name}_low": low, f"{name}_high": high}
                reasons |= {cell.reason: None} if cell.reason else {}
        rows.append(found | {"reason": "; ".join(reasons)})
    return pd.DataFrame(rows)


def matrix(ratings, kind="human"):
    """Raters × units with nan where missing, as krippendorff and a plain reading want it."""
    rows = ratings[ratings["kind"] == kind]
    return rows.pivot(index="rater", columns="unit", values="score")


@st.composite
def sparse(draw, raters=4, items=12, values=5):
    """A raters × items matrix of whole numbers with holes."""
    cell = st.one_of(st.none(), st.integers(1, values))
    size = draw(st.integers(3, items)) * raters
    cells = draw(st.lists(cell, min_size=size, max_size=size))
    return np.array([np.nan if c is None else float(c) for c in cells]).reshape(raters, -1)


@st.composite
def two_scores(draw, items=20):
    """Two scores of the same items; the second may have many values."""
    n = draw(st.integers(3, items))
    x = draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, draw(st.sampled_from([2, 8, 1000]))), min_size=n, max_size=n))
    return np.array(x, dtype=float), np.array(y) / 4


def fed():
    """The FED dialogues as a long frame, built without the importer: people's positions, runs of a judge."""
    if not FED.is_dir():
        pytest.skip(f"the FED data is not at {FED}")
    dialogues = json.loads((FED / "fed_human_annotations.json").read_text())
    runs = json.loads((FED / "fed_gpt4_annotations.json").read_text())
    quality = {"coh": "Coherent", "div": "Diverse", "eng": "Likeable", "inf": "Informative", "ovr": "Overall"}
    rows = [
        (dialogue["dialogue_id"], name, f"position {position}", "human", score)
        for dialogue in dialogues
        for name, scores in dialogue["annotations"].items()
        for position, score in enumerate(scores, 1)
    ]
    for (short, name), run in itertools.product(quality.items(), range(1, 6)):
        scores = runs[f"{short}_{run}"]
        rows += [
            (d["dialogue_id"], name, f"gpt-4 run {run}", "judge", s)
            for d, s in zip(dialogues, scores, strict=True)
        ]
    return frame(rows)


def fed_systems():
    """Which system spoke in each FED dialogue."""
    dialogues = json.loads((FED / "fed_human_annotations.json").read_text())
    return {dialogue["dialogue_id"]: dialogue["model"] for dialogue in dialogues}


def ends(value, drawn, n, scale="plain"):
    """The ends of value ± t·SE, written out: SE of the resamples of n items on a scale.

    `scale` is “plain”, “log” or “z”: Fisher's, of correlations within ±(1 − 1/2n), with n − 2 degrees of
    freedom; t has no more than the resamples less one.
    """
    most = 1 - 1 / (2 * n)
    to, back, spent = {
        "plain": (np.asarray, np.asarray, 1),
        "log": (np.log, np.exp, 1),
        "z": (lambda r: np.arctanh(np.clip(r, -most, most)), np.tanh, 2),
    }[scale]
    freedom = min(n - spent, len(drawn) - 1)
    half = stats.t.ppf(0.975, freedom) * np.std(to(np.array(drawn)), ddof=1) * np.sqrt(n / (n - 1))
    return pytest.approx((float(back(to(value) - half)), float(back(to(value) + half))))
