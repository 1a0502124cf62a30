"""Import of conversations and ratings: drop a file, see what it holds and what is wrong, then store it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import streamlit as st

from concord.codes import Scorer
from concord.conversation import Role
from concord.errors import ConcordError
from concord.exchange import (
    conversations_file,
    conversations_import,
    incoming,
    ratings_csv,
    ratings_study,
    survey_sentences,
)
from concord.exchange.conversations_file import FileOptions, FileSurvey, FormNotKnown
from concord.exchange.field_mapping import PREFIXES
from concord.files.plain import plain_line
from concord.reading import joined, labels
from concord.reading.labels import RatingsFile
from concord.reading.options import NO_OPTIONS, TableOptions, order_of
from concord.reading.vocabulary import kinds_by_name
from concord.rubrics import rubric_store
from concord.store.comparisons import OWN
from concord.store.images import with_images
from concord.studies import pairings
from pages.parts import notice
from pages.parts.address import go
from pages.parts.navigation import heading
from pages.parts.plain import plain, quantity, with_code
from pages.parts.session import workspace
from pages.parts.transcript import transcript
from pages.parts.upload import LARGEST, Upload, table_dropped, upload_of

USES: Mapping[str, str] = {
    "messages": "the list of messages",
    "talk": "a dialogue as text",
    "conversation": "conversation id, one turn per row",
    "speaker": "speaker, one turn per row",
    "text": "text, one turn per row",
    "order": "the order of the turns",
    "user": "the user's text",
    "assistant": "the model's reply",
    "system": "the system prompt",
    "first": "the first of two replies",
    "second": "the second of two replies",
    "winner": "which of two is better",
    "gold": "the gold label: which of two is better",
    "rater": "who rates",
    "key": "the key of the conversation",
    "player": "the model",
    "language": "the language",
    "scenario": "the prompt (equal for conversations to compare)",
    "facet": "a facet, to filter and group by",
    "context": "context, shown next to the dialogue",
    "score": "a judge's score",
    "human": "an annotator's score",
    "code": "a program's score",
    "out": "excluded",
}
"""What a column may be, by its name in `--map`."""
MOST_COLUMNS = 60
"""Columns that can be changed one by one."""
HOLDS = {"ratings": "Ratings: one column or one row per rating", "conversations": "Conversations"}
SEVERAL = {
    "people": "Annotators: one column each",
    "judges": "Judges: one column each",
    "gold": "Gold labels",
    "group_columns": "Groups, such as a model",
}
SINGLE = {
    "id": "Ids of items",
    "text": "The rated text",
    "rater": "One rating per row: the rater",
    "score": "One rating per row: the answer",
    "kind": "One rating per row: human or judge",
    "criterion_column": "Criterion of a row",
    "run": "Run of a judge",
}
"""What columns of a table of ratings may be: fields of `TableOptions`, and how they are asked for."""
SCORERS = {Scorer.HUMAN: "annotators", Scorer.JUDGE: "a judge", Scorer.CODE: "code"}
"""Who may have given scores, in words."""
ROLES: tuple[Role, ...] = ("user", "assistant", "system", "tool")
PREVIEWED = 4
"""Conversations of the first row that are shown."""
SURVEYS = "surveys of files"
RECENT = 4
"""Where the session keeps what files hold, and how many of these."""
LAST_IMPORT = "the file that was stored"
"""Where the session keeps which file that was last, and what it became."""


def _survey(number: str, requested: FileOptions, upload: Upload) -> FileSurvey | FormNotKnown | str:
    """What the file holds, or why it cannot be read; a file is checked once for the same options."""
    surveys: list[tuple[str, FileOptions, FileSurvey | FormNotKnown | str]]
    surveys = st.session_state.setdefault(SURVEYS, [])
    for name, options, result in surveys:
        if (name, options) == (number, requested):
            return result
    result = _checked(upload, requested)
    surveys.append((number, requested, result))
    del surveys[:-RECENT]
    return result


def _checked(upload: Upload, options: FileOptions) -> FileSurvey | FormNotKnown | str:
    bar = st.empty()

    def moved(share: float) -> None:
        bar.progress(min(1.0, share), f"Checking {plain(upload.path.name)}: {min(1.0, share):.0%}")

    try:
        with st.spinner("Checking the file …"):
            return conversations_file.survey(upload.path, options, progress=moved)
    except FormNotKnown as error:
        return error
    except ConcordError as error:
        return upload.sentence(error)
    finally:
        bar.empty()


def page() -> None:
    """Draw the page."""
    heading("import")
    notice.show()
    file = st.file_uploader(
        "A file of conversations or ratings: JSON Lines, JSON, CSV, Excel, Parquet, an Inspect log",
        type=["jsonl", "json", "csv", "tsv", "xlsx", "parquet", "ndjson", "eval", "txt"],
        max_upload_size=LARGEST,
        key=f"file after {st.session_state.get(LAST_IMPORT, {}).get('file', '')}",
    )
    if file is None:
        st.caption(
            "Concord recognises chats of OpenAI, ShareGPT, Hugging Face, WildChat, Chatbot Arena and "
            "MT-Bench with their votes; traces of LangSmith, Langfuse and MLflow; logs of promptfoo and "
            "Inspect; and published results of the benchmarks here. For other files, you say what each "
            "column holds. Ratings have the columns item_id, criterion, rater_type, rater and score, or "
            "are a table with one column per rater, such as human and judge. You see the content before "
            "anything is stored."
        )
        return _next()
    upload = upload_of(file.file_id, file)
    if ratings_csv.holds_ratings(upload.path):
        ratings_file = _joined_or_alone(file.file_id, upload)
        return (
            _wrong(ratings_file)
            if isinstance(ratings_file, str)
            else _ratings(ratings_file, upload, file.file_id)
        )
    guess = _survey(file.file_id, FileOptions(upload.path.stem), upload)
    if isinstance(guess, str):
        return _wrong(guess)
    # Columns of people and of judges beside the texts of conversations make a table of labels.
    rater_kinds = () if isinstance(guess, FormNotKnown) else kinds_by_name(guess.metadata).values()
    if isinstance(guess, FormNotKnown) or "judge" in rater_kinds:
        columns = _columns(file.file_id, upload)
        content = st.segmented_control(
            "Content of the file",
            HOLDS,
            format_func=HOLDS.__getitem__,
            default="ratings" if _holds_labels(guess, columns) else "conversations",
            key=f"held {file.file_id}",
        )
        if content == "ratings":
            return _labels(upload, file.file_id, columns)
    _foreign(guess, upload, file.file_id)


def _holds_labels(guess: FileSurvey | FormNotKnown, columns: Sequence[str]) -> bool:
    """Whether a file is first taken for a table of labels: of no form of conversations and with a column of
    a rater, or with columns of annotators and of judges.
    """
    kinds = {*kinds_by_name(columns).values()}
    return bool(kinds - {None}) if isinstance(guess, FormNotKnown) else {"human", "judge"} <= kinds


def _labels(upload: Upload, number: str, columns: Sequence[str]) -> None:
    """A table of labels: what its columns are, as it was read or as the reader says, then its ratings."""
    first = _table(number, upload)
    question = st.container()
    with st.expander("What each column holds", icon=":material/alt_route:", expanded=isinstance(first, str)):
        reading = _roles(number, columns)
    ratings_file = _joined_or_alone(number, upload, reading)
    if isinstance(ratings_file, str):
        with question:  # above the choices that answer it
            return _wrong(
                ratings_file.partition("It cannot be read as a table of labels either: ")[2] or ratings_file
            )
    _ratings(ratings_file, upload, number)


def _roles(number: str, columns: Sequence[str]) -> TableOptions:
    """What the reader says of the columns; nothing of those that are left as they were read."""
    stated: dict[str, Any] = {}
    for name, label in SEVERAL.items():
        columns_chosen = st.multiselect(
            label, columns, format_func=plain_line, key=f"{name} of {number}", placeholder="as read"
        )
        stated[name] = tuple(columns_chosen)
    for place, (name, label) in enumerate(SINGLE.items()):
        if place % 2 == 0:
            sides = st.columns(2)
        with sides[place % 2]:
            stated[name] = (
                st.selectbox(
                    label,
                    columns,
                    None,
                    format_func=plain_line,
                    key=f"{name} of {number}",
                    placeholder="as read",
                )
                or ""
            )
    missing = st.text_input(
        "Values that mean a missing answer", key=f"missing {number}", placeholder="-1, 99"
    )
    categories = st.text_input(
        "Criteria whose answers have no order", key=f"categories {number}", placeholder="1, 2, 3"
    )
    order = st.text_input(
        "Order of the answers, lowest first", key=f"order {number}", placeholder="poor < fair < good"
    )
    return TableOptions(
        **stated,
        missing=_split(missing),
        categories=_split(categories),
        order=order_of(order),
    )


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@st.cache_resource(max_entries=8, show_spinner=False)
def _columns(number: str, _upload: Upload) -> tuple[str, ...]:
    return labels.columns_of(_upload.path)


def _next() -> None:
    """The page's primary button once a file is stored: people's ratings are compared, conversations are asked
    about.
    """
    if not (last_import := st.session_state.get(LAST_IMPORT)):
        return
    if "study" in last_import:
        address = "agreement"
        label = "See agreement"
        parameters = {"study": last_import["study"]}
    elif not rubric_store.names(workspace()):
        address = "rubrics"
        label = "Create a rubric: the questions about them"
        parameters = {}
    else:
        address = "samples"
        label = "Draw a sample for annotators"
        parameters = {"rubric": rubric_store.names(workspace())[0]}
        parameters |= {"benchmark": last_import["benchmark"]} if last_import.get("benchmark") else {}
    if st.button(label, type="primary", icon=":material/arrow_forward:"):
        go(address, **parameters)


def _report_import(number: str, sentence: str, **details: str) -> None:
    """Report what was stored, empty the form, and have the page lead on."""
    notice.success(sentence)
    st.session_state[LAST_IMPORT] = {"file": number, **details}


def _importing(*, blocked: bool = False) -> bool:
    return st.button("Import", type="primary", icon=":material/upload:", disabled=blocked)


@st.cache_resource(max_entries=4, show_spinner="Checking the ratings …")
def _table(number: str, _upload: Upload, reading: TableOptions = NO_OPTIONS) -> RatingsFile | str:
    try:
        return labels.ratings(_upload.path, reading)
    except ConcordError as error:
        return _upload.sentence(error)


def _joined_or_alone(number: str, upload: Upload, reading: TableOptions = NO_OPTIONS) -> RatingsFile | str:
    """The ratings of a file, with annotators' labels of a second one where there is one."""
    second = table_dropped(
        "Annotators' labels in a second file, joined by id (if they are not in this one)",
        f"labels of {number}",
    )
    if second is None:
        return _table(number, upload, reading)
    labels_number, labels_file = second
    columns = labels.columns_of(labels_file.path)
    labels_id = st.selectbox(
        "Column of ids in the second file",
        columns,
        None,
        format_func=plain_line,
        key=f"ids of {labels_number}",
        placeholder="as read",
    )
    return _joined_ratings(number, labels_number, upload, labels_file, reading, labels_id or "")


@st.cache_resource(max_entries=4, show_spinner="Joining the labels …")
def _joined_ratings(
    number: str,
    labels_number: str,
    _upload: Upload,
    _labels: Upload,
    reading: TableOptions,
    labels_id: str,
) -> RatingsFile | str:
    """The ratings of two files, with what did not match in the notes; why they cannot be joined, else."""
    try:
        return joined.ratings(_upload.path, _labels.path, reading, labels_id=labels_id)
    except ConcordError as error:
        return _labels.sentence(ConcordError(_upload.sentence(error)))


def _ratings(ratings_file: RatingsFile, upload: Upload, number: str) -> None:
    """Ratings by people and judges, one a row, as a study."""
    read = ratings_file.table
    people, judges = (sum(rater.kind == kind for rater in read.raters) for kind in ("human", "judge"))
    st.markdown(
        plain(
            f"{upload.path.name} holds {quantity(len(read), 'rating')} by "
            f"{quantity(people, 'person', 'people')} and {quantity(judges, 'judge')} of "
            f"{quantity(len(read.items), 'item')} on {', '.join(read.criteria)}."
        )
    )
    extra_columns = f" Stored as further data: {', '.join(read.extra)}." if read.extra else ""
    st.caption(
        plain(
            "The scales are guessed from the scores. A rubric or another file can declare "
            f"them.{extra_columns}"
        )
    )
    if ratings_file.notes:
        st.markdown("  \n".join(map(plain, ratings_file.notes)))
    study = st.text_input("The study's name", upload.path.stem, max_chars=100, key=f"study {number}").strip()
    append = st.toggle("Add new ratings to a study of this name", key=f"append {number}")
    if _importing(blocked=not study):
        with _storing(upload) as moved:
            with workspace().read() as db:
                study_import = ratings_study.incoming(
                    db, read, study, scales=ratings_file.scales, new_conversations=ratings_file.conversations
                )
            sentence = incoming.store(workspace(), study_import, append=append, progress=moved)
            _report_import(number, sentence, study=study)


def _foreign(guess: FileSurvey | FormNotKnown, upload: Upload, number: str) -> None:
    """Conversations: `guess` is what was recognised before the reader says what columns are."""
    stem = upload.path.stem
    name = st.text_input("Name of the benchmark", stem, max_chars=100, key=f"name {number}") or stem
    inside = ""
    if isinstance(guess, FormNotKnown):
        inside = st.text_input(
            "The list of rows inside the file",
            placeholder="path of names joined by dots, such as events; empty: the rows of the file",
            key=f"rows {number}",
            max_chars=200,
        ).strip()
        if inside:
            inner_survey = _survey(number, FileOptions(stem, rows=inside), upload)
            if isinstance(inner_survey, str):
                return _wrong(inner_survey)
            guess = inner_survey
    options = replace(_column_options(guess, number, name.strip()), rows=inside)
    survey = _survey(number, options, upload)
    if isinstance(survey, FormNotKnown):
        return _wrong(
            f"{upload.path.name} has an unknown format. Choose above which columns hold the messages, or "
            "the user's and the model's text."
        )
    if isinstance(survey, str):
        return _wrong(survey)
    st.markdown("  \n".join(map(with_code, survey_sentences.sentences(survey))))
    skip = False
    if survey.wrong:
        try:
            survey.refuse()
        except ConcordError as error:
            _wrong(upload.sentence(error))
        skip = st.toggle(f"Exclude the {survey.faults:,} invalid rows", key=f"skip {number}")
    _take(survey, upload, number, skip)
    _preview(survey)


def _column_options(guess: FileSurvey | FormNotKnown, number: str, name: str) -> FileOptions:
    """What each column is, where the reader says something else than was recognised, and who speakers are."""
    mapping = dict[str, str]()
    roles = dict[str, Role]()
    with st.expander(
        "How each column is read",
        icon=":material/alt_route:",
        expanded=isinstance(guess, FormNotKnown),
    ):
        for place, (column, use) in enumerate([*_column_uses(guess).items()][:MOST_COLUMNS]):
            if place % 2 == 0:  # a row of two: on a telephone they stay in the order of the file
                sides = st.columns(2)
            with sides[place % 2]:
                use_chosen = st.selectbox(
                    plain(column),
                    list(USES),
                    None,
                    USES.__getitem__,
                    key=f"{column} {number}",
                    placeholder=use,
                )
            if use_chosen:
                mapping[f"{use_chosen}:{column}" if use_chosen in PREFIXES else use_chosen] = column
        speaker = st.text_input("Role of another speaker name", key=f"speaker {number}", max_chars=80)
        role = st.segmented_control("is the", ROLES, key=f"role {number}")
        if speaker and role:
            roles[speaker.strip().lower()] = role
    scorers = dict[str, Scorer]()
    for criterion in list(guess.unknown)[:MOST_COLUMNS] if isinstance(guess, FileSurvey) else ():
        scorer = st.segmented_control(
            plain(f"Who gave the scores on “{criterion}”?"),
            list(SCORERS),
            format_func=SCORERS.__getitem__,
            key=f"scorer {criterion} {number}",
        )
        if scorer:
            scorers[criterion] = scorer
    if isinstance(guess, FileSurvey):
        groups = _groups(guess, number, [*mapping.values()])
        mapping |= {f"facet:{column}": column for column in groups}
    show = (
        isinstance(guess, FileSurvey)
        and bool(guess.system_prompts)
        and st.checkbox(
            "Show the system prompt to annotators and judges",
            key=f"system prompt {number}",
            help="Otherwise only researchers see it, unless a rubric shows it. It may reveal to annotators "
            "which model they rate.",
        )
    )
    return FileOptions(name, mapping, roles, scorers=scorers, show_system_prompt=show)


def _groups(guess: FileSurvey, number: str, read: Sequence[str]) -> list[str]:
    """The columns to filter and group by: at first those with few values; nothing where there are none."""
    columns = [column for column in guess.metadata_values if column not in read][:MOST_COLUMNS]
    if not columns:
        return []
    return st.multiselect(
        "Columns to filter and group by (facets)",
        columns,
        [column for column in guess.groups if column in columns],
        format_func=plain_line,
        key=f"facets {number} {len(columns)}",
        placeholder="none",
    )


def _column_uses(guess: FileSurvey | FormNotKnown) -> dict[str, str]:
    """What each column was taken as, in words; nothing of a file that Concord wrote."""
    if isinstance(guess, FormNotKnown):
        return dict.fromkeys(guess.fields, "not known")
    uses = dict[str, list[str]]()
    for path, use in guess.columns.items():
        uses.setdefault(path.partition(".")[0], []).extend(use)
    defaults = {name: ["stored as data" if name in guess.metadata else "excluded"] for name in guess.fields}
    return {name: ", ".join(dict.fromkeys(uses.get(name, defaults[name]))) for name in guess.fields if uses}


def _preview(survey: FileSurvey) -> None:
    """The conversations of the first row, as they were read."""
    for _, entry in survey.examples[:1]:
        for one in entry.conversations[:PREVIEWED]:
            with st.expander(plain(f"{one.key} by {one.player}, as it was read")):
                transcript(with_images(one, entry.images), speakers=("User", one.player))


def _take(survey: FileSurvey, upload: Upload, number: str, skip: bool) -> None:
    judge = study = ""
    kinds = {kind for kind, _ in survey.scores}
    if "judge" in kinds:
        judge = st.text_input(
            "Import the scores as ratings of the judge",
            placeholder="name of the judge; empty: exclude the scores",
            key=f"judge {number}",
            max_chars=100,
        )
    if "human" in kinds:
        study = st.text_input(
            "Import annotators' scores as the study",
            placeholder="name of the study; empty: exclude them",
            key=f"study {number}",
            max_chars=100,
        )
    question = OWN
    if survey.votes and (rubrics := rubric_store.of_pairs(workspace())):
        rubric = st.selectbox(
            "Import the votes as answers to the rubric",
            ["", *rubrics],
            format_func=lambda name: name or "none: they answer a question of the file",
            key=f"rubric {number}",
            help="Judges that answer this rubric are compared with these votes.",
        )
        question = pairings.question(rubrics[rubric]) if rubric else OWN
    blocked = bool(survey.wrong) and not skip
    if _importing(blocked=blocked):
        with _storing(upload) as moved:
            result = conversations_import.store(
                workspace(),
                survey,
                judge=judge.strip(),
                study=study.strip(),
                question=question,
                skip_wrong=skip,
                progress=moved,
            )
            details = {"study": study.strip()} if study.strip() and judge.strip() else {}
            _report_import(number, result, benchmark=survey.reading.benchmark, **details)


@contextmanager
def _storing(upload: Upload) -> Iterator[Callable[[float], None]]:
    """Store a file, with a bar that is moved by the share that is done; an error is reported."""
    bar = st.progress(0.0, "Storing")

    def moved(share: float) -> None:
        bar.progress(min(1.0, share), "Storing")

    try:
        yield moved
    except ConcordError as error:
        notice.failure(ConcordError(upload.sentence(error)))
    st.rerun()


def _wrong(text: str) -> None:
    st.error(with_code(text), icon=":material/error:")


page()
