"""The many-facet Rasch model for rating scales: severity of raters and places of items on one axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from concord.agreement.ratings import Floats, Ints

PRIOR = 5.0
"""Standard deviation of the normal prior of every parameter, in logits. It keeps finite
what the data leave open, such as a threshold of an answer that nobody gave, and moves little else."""

NODES = np.linspace(-4, 4, 41)
"""Where the normal distribution of the items' locations is evaluated, in its standard deviations."""
FARTHEST = 20.0
"""The largest severity that is looked for, in logits; the prior keeps every one well within."""

SMALL = 100_000
"""Entries of a matrix that is kept whole: sparse, a small one takes three times as long."""

LOG_WEIGHT = -(NODES**2) / 2 - np.log(np.exp(-(NODES**2) / 2).sum())


ENTRY = ("item", "rater", "criterion", "step")
"""What Answers hold of each entry."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of raters, one entry each, all numbered from 0.

    `step` is the place of an answer on a scale of `steps` answers, from 0; 1.25 counts as three quarters of
    a 1 and a quarter of a 2, which keeps its place in the mean. `criterion` is the question asked,
    `group` the group of each item, whose mean is free.
    """

    item: Ints
    rater: Ints
    criterion: Ints
    step: Floats
    steps: int
    group: Ints
    raters: int
    criteria: int = 1

    @property
    def items(self) -> int:
        """How many items there are."""
        return len(self.group)

    def of(self, rated: np.ndarray) -> "Answers":
        """These entries alone; items, raters and groups keep their numbers."""
        return replace(self, **{name: getattr(self, name)[rated] for name in ENTRY})

    @cached_property
    def groups(self) -> int:
        """How many groups there are."""
        return int(self.group.max(initial=0)) + 1

    @cached_property
    def cells(self) -> tuple[Ints, Ints, Ints]:
        """Rater, criterion and group of each combination that occurs."""
        found = np.unravel_index(self._cell[0], (self.raters, self.criteria, self.groups))
        return tuple(part.astype(np.int64) for part in found)  # type: ignore[return-value]

    @cached_property
    def cell(self) -> Ints:
        """Which combination each entry belongs to."""
        return self._cell[1]

    @cached_property
    def _cell(self) -> tuple[Ints, Ints]:
        of = (self.rater, self.criterion, self.group[self.item])
        shape = (self.raters, self.criteria, self.groups)
        key = np.ravel_multi_index(of, shape).astype(np.int64)
        keys, code = np.unique(key, return_inverse=True)
        return keys, code.astype(np.int64)

    @cached_property
    def counts(self) -> sparse.csr_array:
        """Items × (cells · steps): how much of each answer an item has from each cell."""
        below = np.clip(np.floor(self.step), 0, self.steps - 2).astype(np.int64)
        part = np.clip(self.step - below, 0, 1)
        column = self.cell * self.steps + below
        shape = self.items, len(self._cell[0]) * self.steps
        rows = np.concatenate([self.item, self.item])
        columns, weight = np.concatenate([column, column + 1]), np.concatenate([1 - part, part])
        kept = weight > 0
        return sparse.coo_array((weight[kept], (rows[kept], columns[kept])), shape=shape).tocsr()

    @cached_property
    def features(self) -> sparse.csr_array:
        """(Cells · steps) × parameters but the last: log P of an answer is linear in these, up to a constant.

        Parameters: a severity each rater, a difficulty each criterion, a mean each group, the thresholds.
        """
        rater, criterion, group = self.cells
        step = np.tile(np.arange(self.steps), len(rater))
        offset = np.array([0, self.raters, self.raters + self.criteria])
        parts = []
        for start, code, sign in zip(offset, (rater, criterion, group), (-1, -1, 1), strict=True):
            parts.append((sign * step, np.arange(len(step)), start + np.repeat(code, self.steps)))
        first = self.raters + self.criteria + self.groups
        for threshold in range(1, self.steps):
            passed = np.flatnonzero(step >= threshold)
            parts.append((np.full(len(passed), -1), passed, np.full(len(passed), first + threshold - 1)))
        values, rows, columns = (np.concatenate(each) for each in zip(*parts, strict=True))
        shape = len(step), first + self.steps - 1
        return sparse.coo_array((values.astype(np.float64), (rows, columns)), shape=shape).tocsr()

    @cached_property
    def free(self) -> sparse.csr_array:
        """Parameters × free ones: severities, difficulties and means of groups each sum to 0."""
        blocks = [_centred(size) for size in (self.raters, self.criteria, self.groups)]
        return sparse.csr_array(sparse.block_diag([*blocks, sparse.eye_array(self.steps)]))


def joined(parts: Sequence[Answers]) -> Answers:
    """Answers to the same items as one; raters of a part are numbered after those of the parts before."""
    before = np.cumsum([0, *(part.raters for part in parts)])
    numbered = [
        replace(part, rater=part.rater + first) for part, first in zip(parts, before[:-1], strict=True)
    ]
    entries: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in numbered]) for name in ENTRY
    }
    return replace(parts[0], raters=int(before[-1]), **entries)


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted model: all parameters in logits, and `posterior` (items × NODES), what is known of each item.

    `variance` is that of the parameters. `bread`, the inverse of the curvature, and `scores` of the items are
    kept to place further raters. `left` is how far the likelihood still was from its maximum
    when the search ended, in units of sampling error (Newton's decrement): well below 1 where it found one.
    """

    answers: Answers
    parameters: Floats
    posterior: Floats
    variance: Floats
    bread: Floats
    scores: Floats
    left: float

    @cached_property
    def _parts(self) -> list[Floats]:
        of = self.answers
        return np.split(self.parameters, np.cumsum([of.raters, of.criteria, of.groups, of.steps - 1]))

    @property
    def severity(self) -> Floats:
        """Of each rater; they sum to 0."""
        return self._parts[0]

    @property
    def difficulty(self) -> Floats:
        """Of each criterion; they sum to 0."""
        return self._parts[1]

    @property
    def mean(self) -> Floats:
        """Of the items of each group; they sum to 0."""
        return self._parts[2]

    @property
    def threshold(self) -> Floats:
        """Between each answer and the next."""
        return self._parts[3]

    @property
    def spread(self) -> float:
        """The standard deviation of items within their group, with the sign of the nodes."""
        return float(self._parts[4][0])

    @property
    def location(self) -> Floats:
        """The place of each item: one further up is scored higher."""
        return np.asarray(self.mean[self.answers.group] + self.spread * (self.posterior @ NODES))

    @property
    def reliability(self) -> float:
        """The share of the locations' variance that is known: var of means / (that + mean variance).

        The EAP reliability of Adams (2005); 0 where all items are alike.
        """
        seen = np.unique(self.answers.item)
        mass = self.posterior[seen]
        unknown = float((mass @ NODES**2 - (mass @ NODES) ** 2).mean()) * self.spread**2
        known = float(self.location[seen].var())
        return known / (known + unknown) if known + unknown > 0 else 0.0

    def moments(self, severity: float, criterion: int) -> tuple[Floats, Floats]:
        """Expected step and its variance for a rater of this severity: groups × NODES each."""
        place = self.mean[:, None] - severity - self.difficulty[criterion] + self.spread * NODES
        step = np.arange(self.answers.steps, dtype=float)[:, None]
        share = np.exp(_logs(place, self.threshold))
        expected = (step * share).sum(axis=1)
        return expected, (step**2 * share).sum(axis=1) - expected**2


def fit(answers: Answers, cluster: Ints | None = None) -> Fitted:
    """The model of largest marginal likelihood.

    P(step k) ∝ exp(Σ over h ≤ k of (θ_item − severity_rater − difficulty_criterion − threshold_h)): the
    rating scale model (Andrich 1978) with facets (Linacre, Many-Facet Rasch Measurement, 1989). Items are a
    normal sample within their group and are integrated out (marginal maximum likelihood, Bock and Aitkin
    1981; groups as Adams, Wilson and Wu 1997), because joint maximum likelihood overstates severities by
    k/(k − 1) with k raters an item. `PRIOR` penalises what the data leave open.

    The variance is the sandwich H⁻¹·B·H⁻¹ (White 1982), H from Louis' identity (1982), B from the scores of
    items, summed by `cluster` where one is given.
    """
    from scipy.optimize import minimize  # only here and below, as its import takes a tenth of a second

    free = answers.free
    start = np.zeros(free.shape[1])
    start[-1] = 1.0

    def loss(parameters: Floats) -> tuple[float, Floats]:
        value, gradient, _ = _likelihood(answers, free @ parameters)
        return -value, -(free.T @ gradient)

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500, "gtol": 1e-4})
    parameters = free @ found.x
    _, gradient, posterior = _likelihood(answers, parameters)
    hessian, scores = _curvature(answers, parameters, posterior)
    inner = free.toarray()
    bread = inner @ np.linalg.pinv(inner.T @ hessian @ inner) @ inner.T
    variance = bread @ _meat(scores, cluster, free.shape[1]) @ bread
    left = float(np.sqrt(abs(gradient @ bread @ gradient)))
    return Fitted(answers, parameters, posterior, variance, bread, scores, left)


def place(known: Fitted, answers: Answers, cluster: Ints | None = None) -> tuple[float, float, Floats]:
    """One more rater on the axis that others made: severity, its variance, and the items' posterior with it.

    `answers` are those of the fitted raters and of one more, the last; all other parameters stay as they are,
    so that this rater does not move the items. The variance adds that of the others' parameters (stacked
    estimating equations, Stefanski and Boos 2002).
    """
    from scipy.optimize import brentq

    last = answers.raters - 1
    parameters = np.insert(known.parameters, last, 0.0)

    def slope(severity: float) -> float:
        parameters[last] = severity
        return float(_likelihood(answers, parameters)[1][last])

    parameters[last] = severity = float(brentq(slope, -FARTHEST, FARTHEST, xtol=1e-6))
    *_, posterior = _likelihood(answers, parameters)
    hessian, scores = _curvature(answers, parameters, posterior)
    others = np.delete(hessian[last], last)
    moved = scores[:, last] - known.scores @ (known.bread @ others)
    return severity, float(_meat(moved[:, None], cluster)[0, 0]) / hessian[last, last] ** 2, posterior


def connected(answers: Answers) -> Ints:
    """The number of each rater's set: raters of one set are linked by items that they share, or by others."""
    shape = answers.raters, answers.items
    met = sparse.coo_array((np.ones(len(answers.item)), (answers.rater, answers.item)), shape=shape)
    whole = sparse.block_array([[None, met], [met.T, None]], format="csr")
    return sparse.csgraph.connected_components(whole, directed=False)[1][: answers.raters].astype(np.int64)


def _logs(place: Floats, threshold: Floats) -> Floats:
    """Log-probability of each step (rows × steps × nodes) at places (rows × nodes)."""
    steps = np.arange(len(threshold) + 1)
    passed = np.concatenate([[0.0], np.cumsum(threshold)])
    logs = steps[None, :, None] * place[:, None, :] - passed[None, :, None]
    return _normalised(logs)


def _normalised(logs: Floats) -> Floats:
    """Log-probabilities that sum to 1 over the second axis."""
    top = logs.max(axis=1, keepdims=True)
    return np.asarray(logs - top - np.log(np.exp(logs - top).sum(axis=1, keepdims=True)))


def _tables(answers: Answers, parameters: Floats) -> Floats:
    """Log-probability of each step of each cell at each node (cells × steps × nodes)."""
    linear = (answers.features @ parameters[:-1]).reshape(-1, answers.steps)
    logs = linear[:, :, None] + np.arange(answers.steps)[None, :, None] * parameters[-1] * NODES
    return _normalised(logs)


def _likelihood(answers: Answers, parameters: Floats) -> tuple[float, Floats, Floats]:
    """Penalised log-likelihood, its gradient in all parameters, and the items' posterior."""
    logs = _tables(answers, parameters)
    joint = answers.counts @ logs.reshape(-1, len(NODES)) + LOG_WEIGHT
    top = joint.max(axis=1, keepdims=True)
    posterior = np.exp(joint - top)
    total = posterior.sum(axis=1, keepdims=True)
    posterior /= total
    seen = (answers.counts.T @ posterior).reshape(logs.shape)
    gap = seen - seen.sum(axis=1, keepdims=True) * np.exp(logs)
    linear = answers.features.T @ gap.sum(axis=2).ravel()
    spread = float(np.einsum("cks,k,s->", gap, np.arange(answers.steps, dtype=float), NODES))
    value = float((top + np.log(total)).sum()) - float((parameters**2).sum()) / (2 * PRIOR**2)
    return value, np.append(linear, spread) - parameters / PRIOR**2, posterior


def _curvature(answers: Answers, parameters: Floats, posterior: Floats) -> tuple[Floats, Floats]:
    """Minus the second derivative of the penalised log-likelihood (Louis 1982), and the items' scores."""
    share = np.exp(_tables(answers, parameters))
    cells, steps, _ = share.shape
    size, rows = len(parameters), cells * steps
    kept = _dense if rows * size <= SMALL else sparse.csr_array
    step = sparse.csr_array(np.tile(np.arange(steps, dtype=float), cells)[:, None])
    gather = sparse.csr_array(
        (np.ones(rows), np.arange(rows), np.arange(0, rows + 1, steps)), shape=(cells, rows)
    )
    total, scores = np.zeros((size, size)), np.zeros((answers.items, size))
    for node, at in enumerate(NODES):
        features = kept(sparse.hstack([answers.features, step * at]))
        mass, weight = share[:, :, node].reshape(-1, 1), posterior[:, [node]]
        centred = kept(features - gather.T @ (gather @ (features * mass)))
        found = kept(answers.counts @ centred)
        weighted = kept(found * weight)
        scores += _dense(weighted)
        seen = np.repeat(gather @ (answers.counts.T @ weight), steps, axis=0)
        total += _dense(centred.T @ (centred * (seen * mass))) - _dense(found.T @ weighted)
    return total + scores.T @ scores + np.eye(size) / PRIOR**2, scores


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def _meat(scores: Floats, cluster: Ints | None, parameters: int = 1) -> Floats:
    """The variance of the sum of the items' scores, or of their clusters', corrected for their number."""
    if cluster is not None:
        gather = sparse.coo_array((np.ones(len(cluster)), (cluster, np.arange(len(cluster)))))
        scores = np.asarray(gather.tocsr() @ scores)
    seen = int((scores != 0).any(axis=1).sum())
    return np.asarray(scores.T @ scores * (seen / max(seen - min(parameters, seen // 2), 1)))


def _centred(size: int) -> sparse.coo_array:
    """An orthonormal basis of the vectors of this length that sum to 0 (Helmert's)."""
    rows = np.zeros((size, max(size - 1, 0)))
    for k in range(1, size):
        rows[:k, k - 1], rows[k, k - 1] = 1, -k
        rows[:, k - 1] /= np.sqrt(k * (k + 1))
    return sparse.coo_array(rows)
