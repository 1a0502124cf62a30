"""Alpha against Krippendorff's published example, arithmetic by hand, and the krippendorff package."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from concord.statistics.alpha import alpha, alpha_figure, point, value_counts, why_undefined
from tests.statistics.frames import sparse

_ = np.nan
# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E: 4 observers, 12 units
PUBLISHED = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
        [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
    ]
)


def ours(data, metric, weights=None):
    rater, item = np.nonzero(~np.isnan(data))
    counts, values = value_counts(item, data[rater, item], data.shape[1])
    weights = np.ones((data.shape[1], 1)) if weights is None else weights
    return alpha(counts, values, metric)(weights)


def test_published_example():
    assert round(ours(PUBLISHED, "ordinal")[0], 3) == 0.815
    assert round(ours(PUBLISHED, "interval")[0], 3) == 0.849


def test_by_hand():
    # Units (1,1), (1,2), (2,3); pairable values 1,1,1,2,2,3: n = 6, n1 = 3, n2 = 2, n3 = 1.
    data = np.array([[1, 1, 2], [1, 2, 3]], dtype=float)
    # Interval: observed (2·1 + 2·1)/6 = 4/6; expected 2·(3·2·1 + 3·1·4 + 2·1·1)/(6·5) = 40/30;
    # 1 − (4/6)/(40/30) = 1/2.
    assert ours(data, "interval")[0] == pytest.approx(1 / 2)
    # Ordinal: places 1.5, 4, 5.5; squared distances 6.25 (1–2), 2.25 (2–3), 16 (1–3).
    # Observed (2·6.25 + 2·2.25)/6 = 17/6; expected 2·(6·6.25 + 3·16 + 2·2.25)/30 = 6; 1 − 17/36.
    assert ours(data, "ordinal")[0] == pytest.approx(19 / 36)


@settings(max_examples=60, deadline=None)
@given(sparse(), st.sampled_from(["ordinal", "interval", "nominal"]))
def test_equals_the_package(data, metric):
    pairable = data[:, (~np.isnan(data)).sum(axis=0) > 1]
    assume(len(np.unique(pairable[~np.isnan(pairable)])) > 1)
    expected = krippendorff.alpha(data, level_of_measurement=metric)
    assert ours(data, metric)[0] == pytest.approx(expected, abs=1e-9)
    rater, item = np.nonzero(~np.isnan(data))
    counts, values = value_counts(item, data[rater, item], data.shape[1])
    assert point(counts, values, metric) == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(sparse(), st.sampled_from(["ordinal", "interval", "nominal"]), st.randoms(use_true_random=False))
def test_weights_are_repeated_items(data, metric, random):
    weights = np.array([random.randint(0, 3) for _ in range(data.shape[1])])
    drawn = np.repeat(data, weights, axis=1)
    pairable = drawn[:, (~np.isnan(drawn)).sum(axis=0) > 1]
    got = ours(data, metric, weights[:, None])[0]
    if len(np.unique(pairable[~np.isnan(pairable)])) > 1:
        assert got == pytest.approx(krippendorff.alpha(drawn, level_of_measurement=metric), abs=1e-9)
    else:
        assert np.isnan(got)


def test_a_slider_of_very_many_values():
    data = np.round(np.random.default_rng(3).normal(50, 20, (3, 90)), 2)
    data[0, ::4] = np.nan
    for metric in ("ordinal", "interval"):
        expected = krippendorff.alpha(data, level_of_measurement=metric)
        assert ours(data, metric)[0] == pytest.approx(expected, abs=1e-9)


def test_why_undefined():
    def why(data):
        rater, item = np.nonzero(~np.isnan(data))
        return why_undefined(value_counts(item, data[rater, item], data.shape[1])[0])

    assert why(np.array([[1, 2, _], [_, _, 3]])) == "no item was rated by two annotators"
    # The 5 stands alone on its unit: it cannot disagree with anybody.
    assert why(np.array([[4, 4, 5], [4, 4, _]])) == "all ratings are equal"
    assert np.isnan(ours(np.array([[4, 4, 5], [4, 4, _]]), "ordinal")[0])
    assert why(PUBLISHED) == ""


def test_a_figure_without_a_value_says_why():
    counts, values = value_counts(np.array([0, 1]), np.array([1.0, 2.0]), 2)
    figure = alpha_figure(counts, values, "ordinal")
    assert (figure.value, figure.n, figure.reason) == (None, 0, "no item was rated by two annotators")


def test_the_value_is_the_same_where_the_package_lacks_memory(monkeypatch):
    rater, item = np.nonzero(~np.isnan(PUBLISHED))
    counts, values = value_counts(item, PUBLISHED[rater, item], 12)
    expected = point(counts, values, "ordinal")
    monkeypatch.setattr("concord.statistics.alpha.LARGEST", 0)
    assert point(counts, values, "ordinal") == pytest.approx(expected)
