"""One conversation: the dialogue, its scores by judges and people, failed judgements, and its cost."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

import pandas as pd
import streamlit as st

from concord.conversation import Conversation, Turn
from concord.rating import Spent
from concord.reports.opened import OpenedConversation, Verdicts
from concord.runs.registry import BENCHMARKS
from concord.scores import run_label
from concord.store import configurations, conversations, images, ratings
from concord.store.conversations import ConversationSummary
from pages.parts.address import link
from pages.parts.navigation import SECTIONS, about
from pages.parts.plain import breakable, first_words, plain
from pages.parts.session import workspace
from pages.parts.transcript import context, history_by, marks, transcript

SHORT = 400
"""Characters of the reasons of a turn that are in sight at once; longer ones are folded away."""
TITLE = 80
"""Characters of what was asked first in the title of an imported conversation."""
BADGE = 48
"""Characters of a facet that stands at the top; a longer one, such as a key, stands with the provenance."""

top = st.components.v2.component(
    "concord_top",
    js="export default () =>\n  document.querySelector('[data-testid=stMain]')?.scrollTo(0, 0);\n",
)
"""Shows a conversation from its top: where the page was scrolled to was a place on the one before."""


def conversation(number: int) -> None:
    """Draw it. Raises NotFound."""
    with workspace().read() as db:
        entry = conversations.listed(db, number)
        dialogue = images.load(db, number)
        ratings_of = OpenedConversation.read(db, number)
        usage = conversations.cost(db, number)
    scores = ratings_of.ratings
    judgements = ratings_of.judgements
    verdicts = ratings_of.verdicts()
    _head(entry)
    benchmark = BENCHMARKS.get(entry.benchmark)
    by_rule = benchmark is not None and not benchmark.criteria
    if by_rule:
        st.caption("Rules compute its score from the simulation; no judge rates it.")
        for page in (page for page in SECTIONS["Results"] if entry.benchmark in about(page)):
            link(page.address, "See the score and its reasons", conversation=str(number))
    for judgement in judgements:
        if judgement["failure"] is not None:
            _failed(judgement)
    if scores or not by_rule:
        _scores(ratings_of)
    _people(ratings_of)
    _background(dialogue)
    whole_scores = [r for r in scores if r.rater.kind == "judge" and r.turn is None]
    if any(r.explanation or r.repeat for r in whole_scores):
        st.markdown("**Judges, on the whole conversation**")
        # The table above has the scores; of several runs it has their means.
        repeats = any(r.repeat for r in whole_scores)
        _verdicts(verdicts[0], "Scores of the whole conversation", scores=repeats, expanded=True)
    st.subheader("Dialogue", anchor=False)
    single = len(verdicts.keys() - {0}) == 1 and not any(r.repeat for r in scores)

    def turn_verdicts(turn: Turn) -> None:
        if turn.number in verdicts:  # of a single turn the table above has the scores
            scored = verdicts[turn.number]
            short = sum(len(reason) for *_, reason in scored.reasons) <= SHORT
            _verdicts(scored, f"Scores of turn {turn.number}", scores=not single, expanded=single or short)

    transcript(
        dialogue,
        side_notes=turn_verdicts if any(verdicts) else None,
        speakers=("User", dialogue.player),
        before=history_by(dialogue),
        letters=benchmark is not None and benchmark.preformatted,
    )
    _requests(dialogue, judgements)
    _cost(number, dialogue, usage, judgements)


def _head(entry: ConversationSummary) -> None:
    benchmark = BENCHMARKS.get(entry.benchmark)
    names = benchmark.facets[:2] if benchmark else entry.facets
    main = [entry.facets[name] for name in names if name in entry.facets]
    subtitle = " · ".join(main) if benchmark and main else first_words(entry.first, TITLE) or entry.key
    st.title(plain(f"{entry.player}: {subtitle}"), anchor=False)
    if not benchmark:
        st.caption(plain(entry.key))
    with st.container(horizontal=True):
        labels = (benchmark.title if benchmark else entry.benchmark, entry.language)
        badges = {name: value for name, value in entry.facets.items() if len(value) <= BADGE}
        for words in (*labels, *(f"{name}: {value}" for name, value in badges.items())):
            st.badge(plain(words), color="gray")
        if entry.simulated:
            mock_note = "A rule-based mock model wrote this; it says nothing about language models."
            st.badge("mock", color="orange", icon=":material/smart_toy:", help=mock_note)
        if entry.refused:
            st.badge(f"{entry.refused} of {entry.judges} judges saw a refusal", color="red")


def _failed(judgement: Mapping[str, Any]) -> None:
    with st.container(border=True):
        st.markdown(
            f":red[**The judgement by {plain(judgement['judge'])} failed.**] {plain(judgement['failure'])}"
        )
        with st.expander("The raw reply"):
            st.code(breakable(judgement["raw"] or "(nothing)"), language=None, wrap_lines=True)


def _scores(opened_conversation: OpenedConversation) -> None:
    """Criteria × judges over the whole conversation, and the means of judges and of people."""
    if not opened_conversation.lines:
        st.info("No ratings of this conversation yet.")
        return
    rows = {}
    for line in opened_conversation.lines:
        judges = {
            opened_conversation.rater_names[rater]: cell
            for rater, cell in opened_conversation.cells(line).items()
            if rater.kind == "judge"
        }
        means = zip(("Judges' mean", "Annotators' mean"), opened_conversation.means(line), strict=True)
        rows[opened_conversation.label(line.criterion)] = judges | dict(means)
    _table(rows, "Scores by criterion and rater: means over turns; for categories, the answers")


def _people(opened_conversation: OpenedConversation) -> None:
    scores = [r for r in opened_conversation.ratings if r.rater.kind == "human"]
    if not scores:
        return
    turns = any(r.turn is not None for r in scores)
    rows: dict[Any, dict[str, Any]] = {}
    for r in scores:
        identity = {
            "person": opened_conversation.rater_names[r.rater],
            "study": r.study or "",
            **({"turn": r.turn} if turns else {}),
        }
        rows.setdefault(tuple(identity.values()), identity)[opened_conversation.label(r.criterion)] = (
            opened_conversation.word(r)
        )
    people = len({r.rater for r in scores})
    with st.expander(f"Ratings of each annotator ({people})", icon=":material/group:"):
        _dataframe(list(rows.values()), "Ratings by annotators")


def _background(dialogue: Conversation) -> None:
    context(dialogue)
    for heading, text in dialogue.context.items():
        if heading.startswith("_") and isinstance(text, str):
            with st.expander(plain(f"{heading.lstrip('_').capitalize()} (annotators do not see this)")):
                st.text(text)


def _verdicts(verdicts: Verdicts, alt: str, *, scores: bool = True, expanded: bool = False) -> None:
    """What judges gave, one by one (unless a table has it already), and what each of them said."""
    if scores:
        _table(verdicts.scores, alt)
    if not verdicts.reasons:
        return
    with st.expander("Why", type="compact", expanded=expanded):
        for name in dict.fromkeys(judge for judge, *_ in verdicts.reasons):
            st.markdown(f"**{plain(name)}**")
            answers: dict[str, list[str]] = {}  # a judge may give several answers one reason
            for judge, criterion, word, reason in verdicts.reasons:
                if judge == name:
                    answers.setdefault(reason, []).append(f"{criterion}, {word}")
            paragraphs = [f"{'; '.join(dict.fromkeys(words))}: {reason}" for reason, words in answers.items()]
            st.text("\n\n".join(paragraphs))


def _requests(dialogue: Conversation, judgements: Sequence[Mapping[str, Any]]) -> None:
    """The template by which one judge was asked, and its reply, letter for letter."""
    if not judgements:
        return
    expander = st.expander(
        "A judge's prompt and reply",
        icon=":material/data_object:",
        key=f"requests of {dialogue.key}",
        on_change="rerun",
    )
    if not expander.open:  # a request is long, and rendered once it is opened
        return
    with expander:
        with workspace().read() as db:
            prompts = [ratings.prompt(db, j["prompt"]) for j in judgements]
        # A judge may be asked in several calls, each by a prompt of its own.
        requests = {
            " · ".join(filter(None, [_judge(j), prompt["name"] if prompt else ""])): (j, prompt)
            for j, prompt in zip(judgements, prompts, strict=True)
        }
        judgement, prompt = requests[
            st.selectbox("Judgement", list(requests), key=f"request of {dialogue.key}")
        ]
        if prompt:
            st.caption("the template of the request")
            st.code(breakable(prompt["body"]), language=None, wrap_lines=True)
        st.caption("reply")
        st.code(breakable(judgement["raw"] or "(nothing)"), language=None, wrap_lines=True)
        marks(json.loads(judgement["meta"]))


def _cost(number: int, dialogue: Conversation, usage: Spent, judgements: Sequence[Mapping[str, Any]]) -> None:
    with workspace().read() as db:
        made_by = configurations.of_conversation(db, number)
        judged_by = configurations.of_judgements(db, number)
    models = [f"{use.configuration.nickname}: {use}" for use in made_by if use.configuration]
    prompts = dialogue.meta.get("prompts")
    prompt_hashes = prompts.items() if isinstance(prompts, dict) else ()
    rows: list[dict[str, Any]] = [
        {"what": "dialogue", **_usage_columns(usage)}
        | {"model": "; ".join(models) or "configuration not recorded"}
        | {"prompt": ", ".join(f"{role} {digest}" for role, digest in prompt_hashes)}
    ]
    for j in judgements:
        rows.append(
            {"what": f"judgement by {_judge(j)}", **_usage_columns(_usage(j))}
            | {"model": str(judged_by[j["key"]]), "prompt": j["prompt"]}
            | {"stored (UTC)": j["created"][:19].replace("T", " ")}
        )
    with st.expander("Provenance: models, prompts, calls, cost", icon=":material/receipt_long:"):
        _dataframe(rows, "Calls and cost")
        keys = [f"{name}: {value}" for name, value in dialogue.facets.items() if len(value) > BADGE]
        st.caption("  \n".join(map(plain, [f"Key: {dialogue.key}", *keys])))


def _judge(judgement: Mapping[str, Any]) -> str:
    """Whose judgement it is: the judge, its version of the prompt, and which of several times."""
    name = f"{judgement['judge']} {judgement['variant']}".strip()
    return run_label(name, judgement["repeat"]) if judgement["repeat"] else name


def _usage(judgement: Mapping[str, Any]) -> Spent:
    return Spent(**{f.name: judgement[f.name] for f in fields(Spent)})


def _usage_columns(usage: Spent) -> dict[str, Any]:
    """The columns of what was spent, with the cost in words."""
    return {**asdict(usage), "cost": usage.price(digits=4), "unpriced": usage.unpriced or None}


def _dataframe(rows: list[dict[str, Any]], alt: str) -> None:
    st.dataframe(pd.DataFrame(rows), hide_index=True, height="content", placeholder="", alt=alt)


def _table(rows: Mapping[str, Mapping[str, str]], alt: str) -> None:
    """A table of words. `st.table` reads its cells as Markdown, so they are made plain."""
    frame = pd.DataFrame.from_dict(dict(rows), orient="index").fillna("")
    st.table(frame.map(plain).rename(index=plain, columns=plain), border="horizontal", alt=alt)
