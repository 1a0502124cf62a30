"""Instructions by GEPA (the extra `gepa`): it evolves them on *develop* from what a judge got wrong there.

GEPA keeps candidates that are best on some item, and has a model rewrite one after reading a few items on
which it was judged. What it is given and gets back passes through the lab's own runs, so that versions are
kept, nothing is paid twice, and the budget holds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from concord.errors import CallFailed, ConfigError, RunStopped
from concord.lab import improving
from concord.lab.improving import Trial
from concord.lab.parts import DEVELOP
from concord.rubrics.shelf import Numbered

PART = "instructions"
TOGETHER = 3
"""Conversations that a rewriting model reads at a time."""


@dataclass
class _Adapter:
    """What GEPA asks of a system: to be evaluated with a candidate, and to tell what went wrong."""

    trial: Trial
    propose_new_texts = None

    def version(self, text: str) -> Numbered:
        """The version with these instructions."""
        base = self.trial.base
        if text == base.rubric.judge.instructions:
            return base
        return self.trial.keep(base, "evolved", "gepa", instructions=text)

    def evaluate(self, batch: list[str], candidate: Mapping[str, str], capture_traces: bool = False) -> Any:
        """The agreement with people on conversations; 0 where nothing usable was answered."""
        from gepa import EvaluationBatch

        used = self.version(candidate[PART])
        if not self.trial.answer(self.trial.parts, used, DEVELOP, batch):
            raise RunStopped(f"The budget ended while {used.variant} was tried on {DEVELOP}.")
        bench, judge = self.trial.bench(), self.trial.by(used)
        scores = [bench.mean(judge, bench.of_keys([key])) or 0.0 for key in batch]
        traces = list(batch) if capture_traces else None
        return EvaluationBatch(outputs=list(batch), scores=scores, trajectories=traces)

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], evaluated: Any, components: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """What a rewriting model reads: the request that the lab's own proposer is sent, of these items."""
        used = self.version(candidate[PART])
        request = improving.messages(self.trial, used, only=evaluated.trajectories or ())
        return {name: [{"Feedback": request[-1].content, "messages": request}] for name in components}

    def rewritten(
        self,
        candidate: Mapping[str, str],
        dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        names: list[str],
    ) -> dict[str, str]:
        """New instructions by the lab's proposer; the same again where its reply is of no use."""
        propose = self.trial.propose
        assert propose is not None
        try:
            return {name: propose(dataset[name][0]["messages"]).instructions.strip() for name in names}
        except CallFailed:
            return {name: candidate[name] for name in names}


def evolved(trial: Trial) -> list[Numbered]:
    """The best instructions that GEPA finds with as many judgements as so many rounds of proposals
    would take; [] where none were better on *develop*.

    Raises ConfigError where GEPA is not installed.
    """
    try:
        import gepa
    except ImportError as error:
        raise ConfigError(
            "GEPA is not installed. Install it (pip install 'concord-eval[gepa]'), or leave out --by gepa."
        ) from error
    adapter, keys, say = _Adapter(trial), list(trial.parts.keys(DEVELOP)), trial.sentences.append
    try:
        result = gepa.optimize(
            seed_candidate={PART: trial.base.rubric.judge.instructions},
            trainset=keys,
            valset=keys,
            adapter=adapter,
            custom_candidate_proposer=adapter.rewritten,
            reflection_minibatch_size=min(TOGETHER, len(keys)),
            max_metric_calls=(trial.rounds + 1) * len(keys),
            seed=trial.parts.seed,
            logger=SimpleNamespace(log=lambda _line: None),  # nobody reads it here
        )
    except RunStopped as error:
        say(str(error))
        return []
    best = adapter.version(result.best_candidate[PART])
    scores = result.val_aggregate_scores
    tried = f"GEPA tried {len(result.candidates)} instructions"
    say(f"{tried}: {max(scores):.3f} on {DEVELOP}, at first {scores[0]:.3f}.")
    return [] if best == trial.base else [best]
