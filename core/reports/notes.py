"""What a reader of a study's figures has to know beside them: what is left out, or simulated."""

from collections import Counter

from concord.arrays import coded
from concord.scores import no_final
from concord.studies.studies import StudyRatings

AS_DRAWN = "Strata were drawn with unequal probabilities: figures describe the items as drawn."


def notes(of: StudyRatings, units: int) -> list[str]:
    """What a reader of the figures has to know: what is left out, what is simulated, what final is."""
    sentences = [
        f"Left out: {decision.about} on {decision.done[:10]}: {decision.detail.removesuffix('.')}."
        for decision in of.excluded
    ]
    sentences += [
        f"Judges are not compared on {n} of {units} units: {reason}. People's own figures are on all. "
        "The switch “Count conversations in which a judge saw a refusal” of the page, or --keep-refused of "
        "the command, compares judges on all."
        for reason, n in Counter(of.left_out.values()).items()
    ]
    if of.too_few:
        sentences.append(of.too_few)
    if of.study.meta.get("lab", {}).get("parts"):
        sentences.append(
            "The judge lab divided this study: these figures have the items of its sealed part too. A judge "
            "that is chosen by them has no test left; what the lab shows of versions is of single parts."
        )
    if of.simulated:
        sentences.append(f"Mock models, neither people nor language models: {', '.join(of.simulated)}.")
    if of.drawn_unequally:
        sentences.append(AS_DRAWN)
    if n := _extra_items(of):
        sentences.append(
            f"{n} items have an extra rating, given because their first raters differed. Agreement is "
            "measured on first ratings alone: with more ratings where people differ, it comes out too low."
        )
    if len(latest := of.latest(of.judges)) < len(of.judges):
        sentences.append(
            "Judges that answered several versions of the prompt count once among all judges, with the last: "
            f"{', '.join(latest)}."
        )
    if of.study.anonymous:
        sentences.append("People's ratings have no names: no figure compares one person with another.")
    questions = [c for c in of.study.criteria if c.name in of.counted and c.scale.ordered]
    if why := no_final(questions):
        sentences.append(why)
    elif 1 < len(questions) < len([c for c in of.study.criteria if c.counted]):
        names = ", ".join(c.name for c in questions)
        sentences.append(f"Final is the mean of what people and judges both rated: {names}.")
    return sentences


def _extra_items(of: StudyRatings) -> int:
    return len(coded(of.extra["unit"])[1]) if of.extra else 0
