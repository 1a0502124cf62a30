"""What several tests share with `test_town`."""

from __future__ import annotations

from dataclasses import replace

from concord.benchmarks.stss.system import spoken
from concord.benchmarks.stss.tasks import SocialTask, Subgoal, values_of
from concord.benchmarks.stss.trajectory import Talk
from concord.conversation import Conversation, Message
from concord.scenario import Scenario
from concord.store import conversations, scenarios
from concord.workspace import Workspace
from tests.filled import HOSTILE
from tests.stss.made import at, lived

PARK, CAFE, HOME = "Fern Park:lawn:bench", "Saltbread Café:front room:counter", "Kiln Cottage:Ruth's room:bed"


CONCERT = SocialTask(
    "concert",
    "public",
    "Mireille Dupont",
    f"Hold a concert. {HOSTILE}",
    "",
    "",
    (Subgoal(("concert",), at("2 17:30"), 150, "Fern Park"),),
    wanted=3,
)


DAYS = (
    f"Mireille Dupont | 1 09:00 – 2 17:00 | teaching | {CAFE}",
    f"Mireille Dupont | 2 17:30 – 2 20:00 | giving the concert | {PARK}",
    f"Otto Brandt | 1 09:00 – 2 16:30 | listening to the concert | {PARK}",
    f"Otto Brandt | 2 17:00 – 2 20:00 | {HOSTILE} | {CAFE}",
    f"Yuki Nakamura | 1 09:00 – 1 12:00 | reading | {CAFE}",
    f"Yuki Nakamura | 1 12:30 – 2 20:00 | sleeping | {HOME}",
)


CAME = (
    f"Nils Lindqvist | 1 09:00 – 2 17:30 | working | {CAFE}",
    f"Nils Lindqvist | 2 18:00 – 2 20:00 | at the concert | {PARK}",
)


STAYED = (f"Nils Lindqvist | 1 09:00 – 2 20:00 | working | {CAFE}",)


TALKS = (
    Talk(
        at("1 10:00"),
        ("Mireille Dupont", "Yuki Nakamura"),
        (("Mireille Dupont", f"Come to my concert! {HOSTILE}"), ("Yuki Nakamura", "I may.")),
        {"Mireille Dupont": "Yuki may come.", "Yuki Nakamura": f"Something about {HOSTILE}"},
        CAFE,
    ),
    Talk(
        at("1 11:00"),
        ("Nils Lindqvist", "Otto Brandt"),
        (("Nils Lindqvist", "Mild today."), ("Otto Brandt", "It is.")),
        {},
        PARK,
    ),
)


PLANS = [
    {
        "time": "2023-02-14 00:00:00",
        "agent": "Mireille Dupont",
        "actions": [["00:00", 1020, "teaching", CAFE], ["17:00", 420, "giving the concert", PARK]],
    }
]


NOTES = {
    "general_plan": ["Ask everybody", f"Ask {HOSTILE}"],
    "plan_reminder": "Be in the park by five.",
    "talk_reminder": ["Name the place"],
}


def fill_town(workspace: Workspace) -> None:
    """Three simulations of one task: GA twice, to which nobody came, and GA+TDP, to which one came; and one
    of a town that is gone.
    """
    with workspace.write() as db:
        for key, architecture, more, task, town in (
            ("0", "GA", STAYED, CONCERT, "merrow-quay"),
            ("1", "GA", STAYED, CONCERT, "merrow-quay"),
            ("0", "GA+TDP", CAME, CONCERT, "merrow-quay"),
            ("2", "GA", STAYED, replace(CONCERT, id="lost"), "gone"),
        ):
            notes = {CONCERT.performer: NOTES} if architecture == "GA+TDP" else {}
            happened = replace(lived(*DAYS, *more, talks=TALKS), extra={"plans": PLANS, "notes": notes})
            conversations.save(
                db,
                Conversation(
                    "stss",
                    f"stss/{architecture}/{key}",
                    "outgoing",
                    spoken(CONCERT.performer, TALKS),
                    language="en",
                    facets={
                        "task": task.id,
                        "type": "public",
                        "architecture": architecture,
                        "performer": CONCERT.performer,
                        "town": town,
                    },
                    context={"_task": values_of(task)},
                    meta={"residents": "resident"},
                    trajectory=happened.as_stored(),
                ),
                simulated=True,
            )
        scene = {"task": values_of(CONCERT), "time": "2023-02-13 10:00:00", "partner": "Yuki Nakamura"}
        scenarios.save(
            db, [Scenario("stss-language", "scenario", "concert/yuki/1", scene, "accepted", "stss/GA+TDP/0")]
        )
        conversations.save(
            db,
            Conversation(
                "stss-language",
                "stss-language/0",
                "outgoing",
                (Message("assistant", "Come!", {"speaker": CONCERT.performer}),),
                facets={
                    "task": "concert",
                    "type": "public",
                    "architecture": "GA+TDP",
                    "scenario": "concert/yuki/1",
                    "partner": "Yuki Nakamura",
                },
                context={
                    "Performer": CONCERT.performer,
                    "Partner": "Yuki Nakamura",
                    "_task": values_of(CONCERT),
                },
                meta={"reminders": NOTES},
            ),
            simulated=True,
        )
