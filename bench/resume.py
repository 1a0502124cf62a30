"""How long a run takes to its first call where almost all of its plan is stored, and the memory it takes.

    python bench/resume.py [--conversations 10000] [--rounds 3]

A workspace is filled with all conversations of a PingPong plan and two judgements of each, but for the last
conversation. `concord run` continues it, in a process of its own: measured are the seconds from its start
to the arrival of its first call, its peak memory, and its processor time to the end, whose ratio is the
aim's, because load makes waits longer. The baseline is a bare script that does the same
without Concord: it reads the stored keys with sqlite3, subtracts them from the plan's in a set, and calls the
endpoint with the openai library.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.aims import reached
from concord.rating import Rater
from concord.runs import planning
from concord.runs.plans import PlayPlan
from concord.store import ratings
from concord.store.database import now
from concord.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]
CHARACTERS, SITUATIONS, JUDGES = 8, 8, ("judge-a", "judge-b")
BARE = """
import json, sqlite3, sys
import openai
path, plan, url = sys.argv[1:]
db = sqlite3.connect(path)
stored = {key for table in ("conversations", "judgements") for key, in db.execute(f"SELECT key FROM {table}")}
left = [key for key in json.load(open(plan)) if key not in stored]
client = openai.OpenAI(base_url=url, api_key="none", max_retries=0)
client.chat.completions.create(model="m", messages=[{"role": "user", "content": left[0]}])
"""


class Endpoint(ThreadingHTTPServer):
    """Notes when its first call arrives."""

    daemon_threads = True
    first: float | None = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_POST(self) -> None:
        self.server.first = self.server.first or time.monotonic()
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "Hello."}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        told = {"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        body = json.dumps({**told, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def filled(workspace: Workspace, plan: PlayPlan) -> list[str]:
    """Store all of a plan but its last conversation; returns the keys of the plan."""
    plays = list(planning.job(workspace, plan).plays())
    text = json.dumps([[role, "Some words. " * 20, {}] for _ in range(4) for role in ("user", "assistant")])
    moment = now()
    with workspace.write() as db:
        raters = {name: ratings.rater_id(db, Rater(name, "judge", "v2")) for name in JUDGES}
        db.conn.executemany(
            "INSERT INTO conversations (id, key, benchmark, language, player, messages, turns, reply_chars, "
            "created) VALUES (?, ?, 'pingpong', 'en', 'player', ?, 4, 960, ?)",
            [(i, play.key, text, moment) for i, play in enumerate(plays[:-1], 1)],
        )
        db.conn.executemany(
            "INSERT INTO judgements (key, conversation_id, rater_id, created) VALUES (?, ?, ?, ?)",
            [(j.key, i, raters[j.judge], moment) for i, p in enumerate(plays[:-1], 1) for j in p.judged],
        )
    return [key for play in plays for key in (play.key, *(j.key for j in play.judged))]


def measured(command: list[str], endpoint: Endpoint) -> tuple[float, float, float]:
    """Seconds to the first call, MB at the peak, and processor seconds of the whole process."""
    endpoint.first, started = None, time.monotonic()
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert endpoint.first is not None, f"no call was made (exit code {process.returncode})"
    mb = used.ru_maxrss / 1024 / (1 if sys.platform != "darwin" else 1024)
    return endpoint.first - started, mb, used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--conversations", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    repeats = -(-options.conversations // (CHARACTERS * SITUATIONS))
    models = {"players": ("player",), "interrogator": ("user",), "judges": JUDGES}
    with tempfile.TemporaryDirectory() as folder:
        endpoint = Endpoint()
        results: dict[str, list[tuple[float, float, float]]] = {"concord run": [], "bare script": []}
        for n in range(options.rounds):
            workspace = Workspace.open(Path(folder) / str(n))
            workspace.models_path.write_text(
                "\n".join(
                    f'[models.{name}]\nbase_url = "{endpoint.url}"\n' for name in ("player", "user", *JUDGES)
                )
            )
            keys = filled(workspace, PlayPlan("pingpong", models, {"repeats": repeats}))
            plan = workspace.path / "keys.json"
            plan.write_text(json.dumps(keys))
            bare = [sys.executable, "-c", BARE, str(workspace.db_path), str(plan), endpoint.url]
            results["bare script"].append(measured(bare, endpoint))
            run = ["-m", "concord.cli", "--workspace", str(workspace.path), "run", "pingpong"]
            run += ["--players", "player", "--interrogator", "user", "--judges", ",".join(JUDGES)]
            run += ["--repeats", str(repeats)]
            results["concord run"].append(measured([sys.executable, *run], endpoint))
    print(f"{repeats * CHARACTERS * SITUATIONS:,} conversations, medians of {options.rounds} rounds")
    medians = {
        name: tuple(statistics.median(values) for values in zip(*rows, strict=True))
        for name, rows in results.items()
    }
    for name, (seconds, mb, cpu) in medians.items():
        print(f"  {name:12s} {seconds:.2f} s to the first call, {mb:.0f} MB, {cpu:.2f} s of CPU")
    ours, theirs = medians["concord run"], medians["bare script"]
    print(f"  concord ÷ bare: {ours[0] / theirs[0]:.2f} in time, {ours[1] / theirs[1]:.2f} in memory")
    reached("resume", ours[2] / theirs[2])


if __name__ == "__main__":
    main()
