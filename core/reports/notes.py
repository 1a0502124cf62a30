"""What a reader of a study's figures has to know beside them: what is left out, or simulated."""

from collections import Counter
from dataclasses import replace

from concord.arrays import coded
from concord.rubrics import guidance
from concord.scores import FINAL, no_final
from concord.statistics.figures import AS_DRAWN, WEIGHED
from concord.studies.studies import StudyRatings
from concord.table import Table

COUNTED = (
    "The switch “Count annotators whom a decision left out” of the page, or --with-excluded of the command, "
    "counts them."
)


DRAWN = {
    "": "Strata were drawn with unequal probabilities",
    "mean": "Conversations were drawn where people were expected to differ from the judges",
    "players": "Conversations of each player were drawn where people were expected to differ from the judges",
}
"""How a study was drawn for a figure, by the figure."""
DESCRIBES = {
    "drawn": ". Figures describe this sample, not all conversations; “All candidates, by weight” on the "
    "page, or `--items weighed`, weighs each by the inverse of its probability.",
    "weighed": ". Each weighs the inverse of its probability, so that figures describe all conversations it "
    "was drawn from; the basis line below a table names figures that do not.",
    "random": ". These figures are of the simple random sample among them, and describe all conversations.",
}
ONLY_RANDOM = "only the items of the simple random sample"


def notes(of: StudyRatings, units: int) -> list[str]:
    """What a reader of the figures has to know: what is left out, what is simulated, what final is."""
    sentences = [
        f"{'Counted, though' if of.with_excluded else 'Left out:'} {decision.about}"
        f"{' was left out' if of.with_excluded else ''} on {decision.done[:10]}: {decision.detail}"
        f"{'' if decision.detail.endswith('.') else '.'}" + ("" if of.with_excluded else f" {COUNTED}")
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
    if of.chances:
        sentences.append(f"{DRAWN[of.next_for]}{DESCRIBES[of.items]}")
    if n := _extra_items(of):
        sentences.append(
            f"{n} items have an extra rating, given because their first raters differed. Agreement is "
            "measured on first ratings alone: with more ratings where people differ, it comes out too low. "
            "The section “extra” has judges against people's mean with them."
        )
    if len(latest := of.latest(of.judges)) < len(of.judges) and of.runs != "single":
        sentences.append(
            "Judges that answered several versions of the prompt count once among all judges, with the last: "
            f"{', '.join(latest)}."
        )
    sentences += guidance.sentences(of.versions_of_judges, of.sent, of.study.guidelines)
    if of.study.anonymous:
        sentences.append("People's ratings have no names: no figure compares one person with another.")
    questions = [c for c in of.study.criteria if c.name in of.counted and c.scale.ordered]
    if why := no_final(questions):
        sentences.append(why)
    elif 1 < len(questions) < len([c for c in of.study.criteria if c.counted]):
        names = ", ".join(c.name for c in questions)
        sentences.append(f"Final is the mean of what people and judges both rated: {names}.")
    return sentences


def of_draw(of: StudyRatings, words: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What basis lines add, with what was drawn unequally; where figures weigh it, each table says which."""
    if not of.chances or of.items == "weighed":
        return words
    how = ONLY_RANDOM if of.items == "random" else AS_DRAWN
    return {name: (*words.get(name, ()), how) for name in (*of.criteria, FINAL)}


def as_drawn(of: StudyRatings, table: Table) -> Table:
    """A table of a study drawn unequally that has no basis line, with a note on what it describes."""
    known = (AS_DRAWN, WEIGHED, ONLY_RANDOM)
    if not of.chances or any(words in note for note in table.notes for words in known):
        return table
    return replace(table, notes=(*table.notes, ONLY_RANDOM if of.items == "random" else AS_DRAWN))


def with_exclusions(of: StudyRatings, words: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """What basis lines add: whom a decision left out, and ratings that were chosen by what others answered.

    The reasons stand in the notes of the report.
    """
    how = []
    if n := _extra_items(of):
        how.append(f"without extra ratings of {n} items whose raters differed")
    if of.excluded:
        names = ", ".join(decision.about for decision in of.excluded)
        how.append(
            f"with {names}, left out by default"
            if of.with_excluded
            else f"without {names}, left out by decision"
        )
    return {name: (*words.get(name, ()), *how) for name in (*of.criteria, FINAL)} if how else words


def _extra_items(of: StudyRatings) -> int:
    return len(coded(of.extra["unit"])[1]) if of.extra else 0
