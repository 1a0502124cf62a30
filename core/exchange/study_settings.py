"""How a study is sampled and done, as the “meta” of a line of an exported study has it."""

from collections.abc import Mapping
from typing import Any

from concord.store.studies import Study


def meta_of(study: Study) -> dict[str, Any]:
    """The settings of a study, without those that it has none of."""
    rules = {
        purpose: {"least": rule.threshold, "criterion": rule.criterion}
        for purpose, rule in study.rules.items()
        if purpose != "training"
    }
    passing = study.rules.get("training")
    judge = study.revealed_judge
    meta: dict[str, Any] = {
        "drawn": study.sampling,
        "rubric": _rubric(study),
        "judges": [list(judge_name) for judge_name in study.own_judges],
        "extra": rules.get("extra"),
        "adjudication": rules.get("adjudicate"),
        "training": {"bound": passing.threshold, "attempts": passing.attempts} if passing else None,
        "reveal": {"judge": judge.name, "variant": judge.variant} if judge else None,
        "discussion": study.discussion,
        "repeats": study.repeats,
        "match": study.match,
        "speakers": dict(study.speakers),
    }
    return {name: value for name, value in meta.items() if value}


def _rubric(study: Study) -> dict[str, Any]:
    rubric = study.asked_rubric
    if rubric is None:
        return {}
    note: dict[str, Any] = {"name": rubric.name, "version": rubric.version, "hash": rubric.hash}
    if rubric.show is not None:
        note["show"] = list(rubric.show)
    if rubric.system_prompt != "none":
        note["system_prompt"] = rubric.system_prompt
    return note


def fields_of(meta: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a study, from what `meta_of` made."""
    sampling = meta.get("drawn") or {}
    rubric = meta.get("rubric")
    judge = meta.get("reveal")
    fields: dict[str, Any] = {
        "benchmark": sampling.get("benchmark", ""),
        "rules": _rules(meta),
        "own_judges": meta.get("judges", ()),
        "discussion": meta.get("discussion") or False,
        "repeats": meta.get("repeats") or 0.0,
        "match": meta.get("match") or "",
        "speakers": meta.get("speakers", {}),
    }
    if rubric:
        fields["asked_rubric"] = rubric
    if judge:
        fields["revealed_judge"] = {"name": judge["judge"], "kind": "judge", "variant": judge["variant"]}
    if "candidates" in sampling:
        fields["sample"] = _sample(sampling)
    return fields


def _rules(meta: Mapping[str, Any]) -> dict[str, Any]:
    rules: dict[str, Any] = {}
    for name, purpose in (("extra", "extra"), ("adjudication", "adjudicate")):
        if rule := meta.get(name):
            rules[purpose] = {"threshold": rule["least"], "criterion": rule.get("criterion", "")}
    if rule := meta.get("training"):
        rules["training"] = {"threshold": rule["bound"], "attempts": rule["attempts"]}
    return rules


def _sample(sampling: Mapping[str, Any]) -> dict[str, Any]:
    copied = ("candidates", "filter", "allocation", "chance", "not_in", "strata")
    sample = {name: sampling[name] for name in copied if name in sampling}
    return {
        **sample,
        "size": sampling.get("n", 0),
        "facets": sampling.get("by", ()),
        **sampling.get("lake", {}),
    }
