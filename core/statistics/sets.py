"""Answers that are sets of labels, such as which of these apply: how alike two are, and what most people say.

A set is a number with a bit for each label, the first the lowest. Two sets differ by MASI (Passonneau
2006): 1 − J × M, where J is the share of the labels of either that both have (Jaccard), and M is 1 for equal
sets, 2/3 where one holds the other, 1/3 where they overlap, 0 where they share nothing. Two empty sets are
equal.
"""

import numpy as np

from concord.statistics.ratings import Bools, Floats


def members(values: Floats) -> Bools:
    """Which labels each set has (sets × labels); no label where there is no set."""
    codes = np.nan_to_num(values).astype(np.int64)
    return (codes[:, None] >> np.arange(int(codes.max(initial=0)).bit_length()) & 1).astype(bool)


def alike(values: Floats) -> Floats:
    """1 less the MASI distance of every two sets (sets × sets)."""
    has = members(values).astype(np.int64)
    size = has.sum(axis=1)
    shared = has @ has.T
    union = size[:, None] + size[None, :] - shared
    smaller = np.minimum.outer(size, size)
    larger = np.maximum.outer(size, size)
    kind = np.select([union == shared, (shared == smaller) & (shared > 0), shared > 0], [1, 2 / 3, 1 / 3], 0)
    return np.where(larger == 0, 1.0, kind * shared / np.maximum(union, 1))


def most_said(dense: Floats, values: Floats) -> Floats:
    """The labels that more than half of the people gave, of each item; nan without an answer.

    `dense` says how many people gave each of the sets (items × sets).
    """
    raters = dense.sum(axis=1)
    has = 2 * (dense @ members(values)) > raters[:, None]
    return np.where(raters > 0, has @ (2.0 ** np.arange(has.shape[1])), np.nan)


def with_label(values: Floats, label: int) -> Floats:
    """1 for sets that have a label (0 the first), 0 for others; nan where there is no set."""
    return np.where(np.isnan(values), np.nan, np.nan_to_num(values).astype(np.int64) >> label & 1)
