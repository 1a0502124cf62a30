"""What the check of a file of conversations found, in sentences."""

from collections.abc import Mapping

from concord.exchange.cells import MOST_NAMED
from concord.exchange.conversations_file import FileSurvey
from concord.exchange.file_row import AROUND
from concord.rating import RaterKind

IMPORT_OPTIONS = (
    "To import more, use --scores-as JUDGE and --study NAME (scores of judges and of annotators), --rubric "
    "NAME "
    "(votes), --map facet:NAME=COLUMN and --map context:HEADING=PATH."
)
"""What options of the command do with what is not taken."""


def sentences(surveyed: FileSurvey) -> list[str]:
    """What a survey found, one sentence a line."""
    findings = [f"{surveyed.conversations:,} conversations"]
    findings += [f"{surveyed.repeated:,} repeat another"] if surveyed.repeated else []
    vote_names: dict[RaterKind, str]
    vote_names = {"human": "votes by people", "judge": "votes by judges", "gold": "gold labels"}
    findings += [f"{n:,} {vote_names[kind]}" for kind, n in surveyed.votes.items() if n]
    lines = [
        f"{surveyed.path.name} is {surveyed.kind} of the form “{surveyed.name}”, {surveyed.rows:,} rows.",
        ", ".join(findings) + ".",
    ]
    for kind, subject in (("judge", "Scores"), ("human", "Scores by people")):
        criteria = [
            f"{name} ({count:,})"
            for (rater_kind, name), count in surveyed.scores.items()
            if rater_kind == kind
        ]
        lines += [f"{subject}: {', '.join(criteria[:MOST_NAMED])}."] if criteria else []
    lines += [unknown_scorers(surveyed)] if surveyed.unknown else []
    for finding, counts in (
        ("scores are not numbers and are excluded", surveyed.unread),
        ("rows ended with an error", surveyed.failed),
        ("images appear only by name in the text", surveyed.missing_images),
    ):
        lines += [f"{counts.total():,} {finding}, such as “{next(iter(counts))}”."] if counts else []
    lines += [f"{surveyed.images:,} images are imported."] if surveyed.images else []
    lines += [f"{n:,} rows of {name} match none of these." for name, n in surveyed.unused.items() if n]
    column_uses = "; ".join(f"{path} as {', '.join(uses)}" for path, uses in surveyed.columns.items())
    for heading, paths in (
        ("Taken", column_uses),
        ("Stored as metadata, not shown", name_counts(surveyed.metadata, surveyed.rows)),
        ("Left out", name_counts(surveyed.left_out, surveyed.rows)),
    ):
        lines += [f"{heading}: {paths}."] if paths else []
    return [*lines, *filter(None, [surveyed.reading.shape.note])]


def unknown_scorers(surveyed: FileSurvey) -> str:
    """Which scores do not say who gave them, and how to say it."""
    criteria = ", ".join(f"{name} ({count:,})" for name, count in [*surveyed.unknown.items()][:MOST_NAMED])
    return (
        f"{surveyed.unknown.total():,} scores have no known source and are excluded: {criteria}. Give "
        "the source "
        f"with --scorer '{next(iter(surveyed.unknown))}=human' (or =judge, =code)."
    )


def name_counts(names: Mapping[str, int], rows: int) -> str:
    """Names, with the number of rows where it is not all of them."""
    return ", ".join(
        f"{name.removeprefix(f'{AROUND}.')} (around the rows)"
        if name.startswith(AROUND)
        else name + (f" ({n:,} rows)" if n < rows else "")
        for name, n in names.items()
    )
