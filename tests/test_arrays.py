"""Columns and codes: numbers in the order of first appearance, whatever the column is."""

import numpy as np
import pandas as pd
import pytest

from concord.arrays import Names, as_column, coded, combined, numbered

NAMES = Names([1, 0, 2, 1], ["b", "a", "b"])


@pytest.mark.parametrize(
    ("column", "codes", "distinct"),
    [
        (np.array(["a", "b", "a"], dtype=object), [0, 1, 0], ["a", "b"]),
        (np.array([7, -2, 7]), [0, 1, 0], [7, -2]),
        (np.array([10**15, 3, 10**15]), [0, 1, 0], [10**15, 3]),
        (np.array([0.5, 2.0, 0.5]), [0, 1, 0], [0.5, 2.0]),
        (NAMES, [0, 1, 1, 0], ["a", "b"]),
        (Names([1, 1], ["absent", "here"]), [0, 0], ["here"]),
        (np.array([], dtype=np.int64), [], []),
        (np.array([], dtype=object), [], []),
        (Names([], []), [], []),
    ],
)
def test_codes_are_in_the_order_of_first_appearance(column, codes, distinct):
    found, values = coded(column)
    assert (found.tolist(), values) == (codes, distinct)


def test_names_are_used_as_their_texts_are():
    texts = np.array(["a", "b", "b", "a"], dtype=object)
    assert len(NAMES) == 4
    assert (NAMES[0], NAMES[1:3].tolist()) == ("a", ["b", "b"])
    assert NAMES.tolist() == np.asarray(NAMES).tolist() == texts.tolist()
    for value in ("a", "b", "c"):
        assert ((value == NAMES) == (texts == value)).all()
    assert pd.DataFrame({"text": np.asarray(NAMES)}).text.tolist() == texts.tolist()


def test_keys_close_together_and_far_apart():
    for keys in ([5, 3, 5, 0], [5, 3 * 10**12, 5, 0]):
        codes, distinct = numbered(np.array(keys))
        assert (distinct[codes].tolist(), distinct.tolist()) == (keys, sorted(set(keys)))


def test_rows_are_numbered_by_all_columns_in_ascending_order():
    one, two = np.array([1, 0, 1, 0, 1]), np.array([0, 3, 2, 0, 0])
    assert combined(one, two).tolist() == [2, 1, 3, 0, 2]  # (0, 0), (0, 3), (1, 0), (1, 2)


def test_texts_of_a_frame_are_names_and_numbers_arrays():
    frame = pd.DataFrame({"text": ["b", None, "a", "b"], "number": [1, 2, 3, 4]})
    text = as_column(frame["text"])
    assert isinstance(text, Names)
    assert text.codes.tolist() == [0, 1, 2, 0]
    assert (text == "b").tolist() == [True, False, False, True]
    assert isinstance(as_column(frame["number"]), np.ndarray)
