"""A LiteLLM proxy in front of mock servers: a real gateway between Concord and an endpoint.

`make test-real` installs it into an environment of its own; elsewhere LITELLM may name its command.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.request import urlopen

import pytest

from concord.codes import RequestPart
from concord.conversation import Message
from concord.llm.api_errors import AttemptFailed
from concord.llm.client import Client, request
from concord.llm.handshake import refused_part
from concord.llm.models import Model
from concord.runs import engine, planning
from concord.runs.plans import PlayPlan
from concord.store import configurations, conversations
from concord.workspace import Workspace
from tests.mock.faults import Faults
from tests.mock.server import running

HERE = Path(__file__).resolve().parents[2] / ".venv" / "litellm" / "bin" / "litellm"
COMMAND = Path(os.environ.get("LITELLM") or HERE)
if not COMMAND.exists():
    pytest.skip("`make test-real` installs the LiteLLM proxy", allow_module_level=True)

MASTER_KEY = "sk-of-the-proxy"
UPSTREAM_KEY = "key-of-the-mock"
SECONDS = 180
"""How long the proxy may take to start on a busy machine; it is waited for until it answers."""
MODEL = """
  - model_name: {name}
    litellm_params: {{model: openai/{model}, api_base: "{url}", api_key: {key}, num_retries: 0}}
"""
PLAN = {"players": ("player",), "interrogator": ("player",), "judges": ("judge",)}


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def answers(url):
    try:
        with urlopen(f"{url}/health/liveliness", timeout=5):
            return True
    except OSError:
        return False


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """The address of a proxy whose models are served by well, throttling and reasoning mock servers."""
    folder = tmp_path_factory.mktemp("proxy")
    with ExitStack() as stack:
        well = stack.enter_context(running(require_key=UPSTREAM_KEY))
        throttled = stack.enter_context(running(faults=Faults(rate_limit=4, retry_after=0.2)))
        reasoning = stack.enter_context(running(like="openai-reasoning"))
        models = [
            ("well", "mock-fixed", well),
            ("throttled", "mock-fixed", throttled),
            ("reasoning", "mock-fixed", reasoning),
            ("five", "gpt-5", well),
            ("keyless", "mock-fixed", well),
        ]
        keys = {"keyless": "another-key"}
        config = "model_list:" + "".join(
            MODEL.format(name=name, model=model, url=url, key=keys.get(name, UPSTREAM_KEY))
            for name, model, url in models
        )
        # Else one refused call takes the only endpoint of a model out of use for some seconds.
        config += (
            f"general_settings: {{master_key: {MASTER_KEY}}}\nrouter_settings: {{disable_cooldowns: true}}\n"
        )
        (folder / "config.yaml").write_text(config)
        url = f"http://127.0.0.1:{(port := free_port())}"
        asked = [COMMAND, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(port)]
        bare = {"PATH": os.environ["PATH"], "HOME": str(folder)}
        log = stack.enter_context((folder / "log").open("wb"))
        process = subprocess.Popen(asked, cwd=folder, env=bare, stdout=log, stderr=subprocess.STDOUT)
        try:
            end = time.monotonic() + SECONDS
            while not answers(url):
                assert process.poll() is None, (folder / "log").read_text()[-2000:]
                assert time.monotonic() < end, "the proxy does not answer"
                time.sleep(0.2)
            yield f"{url}/v1"
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture
def behind(proxy, tmp_path, monkeypatch, run):
    """Makes a workspace by `concord models add --preset litellm`, with models of the proxy by name."""
    monkeypatch.setenv("LITELLM_API_KEY", MASTER_KEY)

    def make(**names):
        workspace = Workspace.open(tmp_path / "workspace")
        for name, model in names.items():
            done = run(
                workspace,
                "models",
                "add",
                name,
                "--preset",
                "litellm",
                "--model",
                model,
                "--base-url",
                proxy,
            )
            assert done.exit_code == 0, done.output
        return workspace

    return make


def played(workspace):
    plan = PlayPlan("pingpong", PLAN, {"characters": ["tully"], "situations": ["reality"]})
    return engine.execute(workspace, planning.job(workspace, plan))


def uses(workspace):
    with workspace.read() as db:
        [found] = conversations.search(db)
        judged = configurations.of_judgements(db, found.id).values()
        return [*configurations.of_conversation(db, found.id), *judged]


def test_a_run_through_the_proxy_plays_and_judges(behind):
    workspace = behind(player="well", judge="well")
    ended = played(workspace)
    assert (ended.state, ended.done, ended.failed, ended.message) == ("finished", 2, 0, "")
    assert {said.model for use in uses(workspace) for said in use.reported} == {"well"}


def test_a_throttled_endpoint_behind_the_proxy_fails_nothing(behind):
    ended = played(behind(player="throttled", judge="throttled"))
    assert (ended.state, ended.done, ended.failed) == ("finished", 2, 0)


def test_a_refusal_behind_the_proxy_is_sent_in_another_form(behind):
    """The proxy quotes the endpoint's 400 inside its own."""
    ended = played(behind(player="reasoning", judge="reasoning"))
    assert (ended.failed, ended.done) == (0, ended.planned)
    assert "max_completion_tokens in place of max_tokens" in ended.message


def test_doctor_tells_what_the_proxy_and_what_the_endpoint_refuses(behind, run):
    workspace = behind(well="well", five="five", keyless="keyless", nobody="nobody")
    lines = run(workspace, "doctor").output.splitlines()
    told = {line.split()[1].rstrip(":"): line for line in lines if line[0] in "✓✗"}
    assert told["well"].startswith("✓ well: answers as asked (served as well;")
    assert "(404)" in told["five"], "LiteLLM knows the model and its parameters, the mock does not"
    assert "The key is missing or wrong" in told["keyless"] or "refuses the key" in told["keyless"]
    assert "Invalid model name" in told["nobody"]


def test_a_parameter_that_the_proxy_itself_refuses_is_named(proxy, monkeypatch):
    """LiteLLM knows that GPT-5 takes no temperature, and refuses it before it asks the endpoint."""
    monkeypatch.setenv("LITELLM_API_KEY", MASTER_KEY)
    model = Model(name="m", base_url=proxy, api_key_env="LITELLM_API_KEY", model="five")

    async def go():
        async with Client({"m": model}, retries=0) as client:
            await client.complete("m", [Message("user", "Hello.")], params={"temperature": 0.5})

    with pytest.raises(AttemptFailed) as refused:
        asyncio.run(go())
    sent = request(model, [Message("user", "Hello.")], params={"temperature": 0.5})
    assert refused_part(model, sent, refused.value) is RequestPart.TEMPERATURE
