"""The demo's SimulBench: a small run from tasks to scripts, targets, scores, comparisons and an audit."""

from concord.benchmarks.simulbench import extraction, toxicity
from concord.benchmarks.simulbench.targets import SIMULBENCH
from concord.rating import Preference
from concord.runs.plans import ComparePlan, PlayPlan, ProposePlan
from concord.store import access, conversations, placements, spotchecks
from concord.store.actor import acting
from concord.studies import audits, dealing, pairings
from concord.studies.purposes import spotcheck
from concord.workspace import Workspace
from tests.demo.playing import run
from tests.mock.simulbench import judges
from tests.mock.texts import MODERATION

TASKS = (
    "rail-fence-clerk",
    "morse-operator",
    "key-value-console",
    "rpn-calculator",
    "hanoi-attendant",
    "connect-four",
    "cron-interpreter",
    "museum-labels",
    "git-workbench",
    "kanban-board",
)
SIMULATOR, USER = "mock-sim-hasty", "mock-user"
TARGETS = ("mock-sim-steady", "mock-sim-chatty", "mock-sim-hasty")
JUDGES = ("mock-judge-strict", "mock-judge-lenient", "mock-judge-noisy")
COMPARERS = JUDGES[::2]
PEOPLE = ("Ada (simulated)", "Ben (simulated)")
AUDIT, AUDITED, COMPARED = "demo-audit", 100, 40
PAIRS, WHO = "simulbench-pairs", "demo"
SEED = 7


def play(workspace: Workspace) -> None:
    """From dialogues to scripts, answers, scores, comparisons, proposals, harm scores and an audit."""
    models = {"simulators": (SIMULATOR,), "user": (USER,), "judges": JUDGES[:1]}
    dialogues = PlayPlan("simulbench-dialogues", models, {"tasks": list(TASKS), "repeats": 3})
    run(workspace, dialogues)
    with workspace.write() as db:
        extraction.extract_scripts(db, JUDGES[0], origin=PEOPLE[0])
    answers = PlayPlan("simulbench", {"targets": TARGETS, "judges": JUDGES})
    run(workspace, answers)
    challenging = {"kind": ("FirstChan", "SubseqChan")}
    comparisons_of = ComparePlan("simulbench", COMPARERS, TARGETS, challenging)
    run(workspace, comparisons_of)
    run(workspace, ProposePlan("simulbench", USER, count=3, seed=SEED))
    toxicity.measure(workspace, MODERATION)
    _compare(workspace)
    _audit(workspace)


def _compare(workspace: Workspace) -> None:
    with workspace.write() as db, acting(WHO):
        for person in PEOPLE:
            access.invite(db, person, simulated=True, days=0)
        pairings.new(db, PAIRS, None, SIMULBENCH.name, COMPARED, players=TARGETS, seed=SEED)
        dealing.deal_study(db, PAIRS, PEOPLE)
        for person in PEOPLE:
            rater = access.annotator_id(db, person)
            for item, *_ in placements.on_desk(db, rater, PAIRS):
                first, second = placements.numbered(db, rater, item).shown
                a, b = conversations.load(db, first), conversations.load(db, second)
                verdict = judges.person_preference(a, b, person, SEED)
                placements.answer(db, rater, item, "", Preference(verdict).score)


def _audit(workspace: Workspace) -> None:
    with workspace.write() as db:
        n = min(AUDITED, len(spotchecks.auditable(db, SIMULBENCH.name)))
        audits.draw(db, AUDIT, SIMULBENCH.name, n=n, seed=SEED)
        for judgement, number, _ in spotchecks.drawn(db, AUDIT):
            seen = next(s for s in spotcheck.screen(db, number).judgements if s.id == judgement)
            assert seen.score is not None
            found = judges.person_finding(seen.score, conversations.load(db, number), PEOPLE[0], SEED)
            spotcheck.verify(db, judgement, PEOPLE[0], found, simulated=True, audit=AUDIT)
