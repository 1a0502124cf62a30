"""SimulBench from tasks to scripts: how far it is, what is next, and what is done here."""

import streamlit as st

from concord.benchmarks.simulbench.steps import NextStage, Progression, standing
from pages.parts import notice
from pages.parts.address import choice, link
from pages.parts.navigation import heading
from pages.parts.plain import quantity
from pages.parts.session import workspace
from pages.simulbench import parts, scripts, tasks, toxicity, undo

PARTS = {
    "tasks": ("Tasks", tasks.draw),
    "scripts": ("Scripts", scripts.draw),
    "toxicity": ("Toxicity", toxicity.draw),
}


def page() -> None:
    """Draw the page."""
    heading("tasks")
    notice.show()
    undo.button()
    state = standing(workspace())
    _next(state)
    _steps(state)
    part = choice("Part", "part", list(PARTS), "tasks", format_func=lambda name: PARTS[name][0])
    PARTS[part][1]()


def _steps(state: Progression) -> None:
    """How much there is of each step, side by side."""
    figures = {
        "tasks in use": state.tasks,
        "proposed": state.proposals,
        "dialogues": state.dialogues,
        "of them judged": state.looks,
        "scripts": state.scripts,
        "answers": state.answers,
        "of them scored": state.scores,
        "findings of annotators": state.findings,
    }
    with st.container(horizontal=True, gap="medium"):
        for label, number in figures.items():
            st.markdown(f"**{number:,}**  \n:small[:gray[{label}]]", width="content")


def _next(state: Progression) -> None:
    """What to do next, with the way there."""
    judge = {"judge": "true"}
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        match state.next_step:
            case NextStage.DECIDE:
                sentence = f"Next: accept or reject {quantity(state.proposals, 'proposed task')} below."
                way = ("tasks", "Proposed tasks", {"part": "tasks"})
            case NextStage.COLLECT:
                sentence = (
                    f"Next: let models make dialogues of the {state.tasks} tasks. Or import published "
                    "scripts below."
                )
                way = ("runs", "Make dialogues", {"benchmark": "simulbench-dialogues"})
            case NextStage.LOOK:
                sentence = f"Next: let a judge look for challenging turns in {state.dialogues} dialogues."
                way = ("runs", "Let judges rate", judge | {"benchmark": "simulbench-dialogues"})
            case NextStage.EXTRACT:
                sentence = f"Next: extract scripts from {quantity(state.looks, 'dialogue')}."
                way = ("tasks", "Extract scripts", {"part": "scripts"})
            case NextStage.ANSWER:
                sentence = f"Next: let models answer {quantity(state.scripts, 'script')}."
                way = ("runs", "Let models answer", {"benchmark": "simulbench"})
            case NextStage.SCORE:
                sentence = f"Next: let judges score {quantity(state.answers, 'answer')}."
                way = ("runs", "Let judges rate", judge | {"benchmark": "simulbench"})
            case NextStage.CHECK:
                sentence = "Next: check what judges gave. Draw a random audit."
                way = ("spot-check", "Spot-check", {"benchmark": "simulbench"})
            case NextStage.READ:
                sentence = "Every step was done. The leaderboard has the result."
                way = ("leaderboard", "Leaderboard", {"benchmark": "simulbench"})
        st.markdown(f"**{sentence}**", width="stretch")
        address, label, query = way
        if address == "tasks" and query["part"] == st.query_params.get("part", "tasks"):
            return
        if address == "tasks":
            parts.button(label, query["part"])
        else:
            link(address, label, **query)


page()
