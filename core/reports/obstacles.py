"""What keeps a study from answering how far its judges can be trusted, with the remedies."""

from concord.estimate import Estimate
from concord.reports.evidence import Evidence
from concord.reports.sections import section
from concord.reports.wording import count_words, listed


def missing(evidence: Evidence) -> list[str]:
    """What keeps a study from answering how far to trust its judges, one sentence each with the remedy.

    Code stands between backticks.
    """
    study = evidence.data.study
    waiting = evidence.data.waiting
    ratings = evidence.ratings
    compared: list[Estimate] = []
    for agreement in evidence.agreement.criteria.values():
        compared += [row.spearman for row in agreement.judges]
    for name in evidence.criteria[len(evidence.ordered) :]:
        compared += section(evidence, "judges", name)["judges"].estimates("kappa")
    people = max((len(ratings[name].people) for name in evidence.criteria), default=0)
    open_items: list[str] = []
    for name, n in waiting.items():
        number = count_words(n, "item") if n else "none"
        open_items.append(f"{number} with {name}")
    have = f"still open are {listed(open_items)}"
    sentences: list[str] = []
    deal = f"`concord study deal {study.name}`"
    if not people:
        remedy = f": {have}." if waiting else f". Invite annotators and assign it with {deal}."
        sentences.append(f"No annotator has rated the study “{study.name}” yet{remedy}")
    if people == 1 and not study.anonymous:
        remedy = f"{have}." if waiting else f"assign it to a second annotator with {deal}."
        alone = (
            f"Only one annotator rated the study “{study.name}”, so agreement between annotators is unknown"
        )
        sentences.append(f"{alone}: {remedy}")
    if not ratings.judges:
        rate = "have one rate its conversations with `concord judge`"
        sentences.append(f"No judge has rated the study “{study.name}”: {rate}.")
    elif people and not any(figure.defined for figure in compared):
        reason = compared[0].reason if compared else ""
        sentences.append(
            f"No judge of the study “{study.name}” can be compared with annotators ({reason}). Have "
            "annotators and judges rate more, and more varied, items."
        )
    return sentences
