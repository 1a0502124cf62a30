"""Agreement of a table of answers, and a workspace's studies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from concord.errors import StudyError, check_known
from concord.library.result import Agreement
from concord.llm.families import families_of_names
from concord.questions import Scale, scale_of
from concord.reading import drawn
from concord.reading.labels import Treatment
from concord.reading.options import TableOptions, group_of, order_of
from concord.reports.agreement_report import Options, agreement_report, report_of
from concord.statistics.figures import People
from concord.store import ratings, studies
from concord.workspace import Workspace

if TYPE_CHECKING:
    import pandas as pd

OF_RATINGS = ("unit", "turn", "criterion", "rater", "kind", "variant", "repeat", "score", "explanation")


class Measuring(TypedDict, total=False):
    """Options of the measurement; `concord.reports.agreement_report.Options` explains each."""

    cluster_by: Sequence[str] | None
    people: People | None
    margin: float
    resamples: int
    seed: int
    exclude_refused: bool


def agreement(
    table: Any,
    paired: Any = None,
    *,
    labels: Any = None,
    labels_id: str = "",
    weight: str = "",
    strata: str = "",
    human: Sequence[str] = (),
    judge: Sequence[str] = (),
    id: str = "",
    by: Sequence[str] = (),
    criterion: Sequence[str] = (),
    scales: Mapping[str, str | Scale] | None = None,
    pass_from: float | None = None,
    gold: Sequence[str] = (),
    text: str = "",
    rater: str = "",
    score: str = "",
    kind: str = "",
    criterion_column: str = "",
    run: str = "",
    missing: Sequence[Any] = (),
    categories: Sequence[Any] = (),
    order: str | Sequence[str] = (),
    exclude: Mapping[str, Any] | Sequence[str] = (),
    **how: Unpack[Measuring],
) -> Agreement:
    """Measure agreement of judges with annotators, and of annotators with each other.

    The table:

    - `table`: a path, a frame of pandas, polars or Arrow, a mapping of columns, rows as mappings, or a 2-D
      array with a row per rater. Each row is an item with a column per rater, or a rating. Answers are
      numbers, pass/fail words, or categories; an empty answer is missing.
    - `paired`: a judge's answers as a series; `table` is then a series of annotators' answers.
    - `labels`, `labels_id`: a second table with annotators' answers, joined by id, and its column of ids if
      that has another name.
    - `weight`, `strata`: for labelled rows that are not a random sample, the column with the number of rows
      that each stands for; or the column, or judge, by which they were drawn.

    Its columns, which are otherwise read from names and values:

    - `human`, `judge`, `gold`: columns of annotators, judges and gold labels.
    - `id`, `by`, `text`: columns of ids, of groups, and of the text that was rated.
    - `rater`, `score`, `kind`, `criterion_column`, `run`: if each row is a rating, the columns with the
      rater's name, the answer, the kind of rater, the criterion, and the run.

    Its answers:

    - `criterion`: criteria in the names of columns.
    - `scales`: the scale of each criterion, such as `{"helpful": "1..5"}`.
    - `pass_from`: the number from which an answer passes.
    - `missing`: values that mean a missing answer.
    - `categories`, `order`: answers that are categories, and their order, such as `"poor<fair<good"`.
    - `exclude`: groups of rows, such as `{"topic": "medical"}` or `["topic=medical"]`.

    The measurement (`how`): `cluster_by`, `people`, `margin`, `resamples`, `seed` and `exclude_refused`, as
    in `concord agreement`.

    One annotator, equal ratings or few items raise nothing: what cannot be measured is undefined, with a
    reason. Raises ImportRefused for a table without rows or judges, for columns whose role is not clear
    (the message names the argument that settles it) and for wrong rows, counted from 1. Raises NotFound for
    unknown names.
    """
    check_known("argument", how, Measuring.__annotations__)
    if paired is not None:
        table = (table, paired)
    given = {name: scale_of(of) if isinstance(of, str) else of for name, of in (scales or {}).items()}
    columns = TableOptions(
        people=_names(human),
        judges=_names(judge),
        id=id,
        group_columns=_names(by),
        criteria=_names(criterion),
        scales=given,
        passing=pass_from,
        gold=_names(gold),
        text=text,
        rater=rater,
        score=score,
        kind=kind,
        criterion_column=criterion_column,
        run=run,
        missing=_names(missing),
        categories=_names(categories),
        order=order_of(order) if isinstance(order, str) else tuple(order),
        excluded=_groups(exclude),
    )
    kept = ("cluster_by", "exclude_refused")
    treatment = {name: of for name, of in how.items() if name in kept}
    source = drawn.LabelSource(labels, labels_id, weight, strata)
    read, _ = drawn.read(table, columns, source, **cast(Treatment, treatment))
    models = {*read.data.judges, *map(str, read.data.of_units("player").values())}
    options = replace(_options(how), families=families_of_names(sorted(models)))
    return Agreement(report_of(read.data, options, read.features), read.warnings, read.columns)


def _names(names: Any) -> tuple[str, ...]:
    """Names as a caller gives them: one, or several."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        return (str(names),)
    return tuple(map(str, names))


def _groups(exclude: Mapping[str, Any] | Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The columns and values of groups: of a mapping each value, else of “topic=medical”."""
    if isinstance(exclude, Mapping):
        return tuple((str(column), value) for column, values in exclude.items() for value in _names(values))
    return tuple(group_of(text) for text in _names(exclude))


check = agreement
"""The name of `agreement` as a command."""


class Study:
    """A study of a workspace. Each call reads its ratings again.

    - `workspace`: the folder of the workspace.
    - `name`: the study; it may be left empty if there is only one.

    Raises WorkspaceError without a workspace in the folder, NotFound for an unknown study, and StudyError
    if `name` is empty and there is not exactly one study.
    """

    def __init__(self, workspace: str | Path, name: str = "") -> None:
        """Open a study. Raises WorkspaceError, NotFound and StudyError."""
        self.workspace = Workspace.open(workspace, create=False)
        with self.workspace.read() as db:
            known = studies.names(db)
            if not name and len(known) != 1:
                raise StudyError(f"Name the study. There are {', '.join(known) or 'none'}.")
            self.name = studies.get(db, name or known[0]).name

    def __repr__(self) -> str:
        return f"Study({str(self.workspace.path)!r}, {self.name!r})"

    @property
    def ratings(self) -> pd.DataFrame:
        """Ratings that count, as a frame in the form that `agreement` takes."""
        with self.workspace.read() as db:
            return ratings_frame(ratings.exported(db, self.name))

    def agreement(self, **how: Unpack[Measuring]) -> Agreement:
        """Measure agreement of judges with annotators.

        `how` are the options of `concord agreement`: `cluster_by`, `people`, `margin`, `resamples`, `seed`
        and `exclude_refused`. Raises StudyError if there are no ratings yet.
        """
        with self.workspace.read() as db:
            return Agreement(agreement_report(db, self.name, _options(how)))


def ratings_frame(rows: Iterable[Mapping[str, Any]], prefix: str = "") -> pd.DataFrame:
    """Stored ratings as a frame; `prefix` is taken from the names of units."""
    import pandas as pd

    of_units = [
        {"unit": str(row["item_id"]).removeprefix(prefix), "kind": row["rater_type"], **row} for row in rows
    ]
    return pd.DataFrame(of_units, columns=list(OF_RATINGS)).astype({"turn": "Int64"})


def _options(how: Measuring) -> Options:
    given: dict[str, Any] = {**how}
    if given.get("cluster_by") is not None:
        given["cluster_by"] = tuple(given["cluster_by"])
    return Options(**given)
