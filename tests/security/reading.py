"""Gives every hostile file to every reader, a process each, with a ceiling of memory and time for every file.

`python -m tests.security.reading FOLDER` prints one JSON object a case: what became of it, and what it cost.
"""

import contextlib
import io
import json
import os
import resource
import shutil
import sys
import threading
import time
import traceback
from pathlib import Path

from click.testing import CliRunner

from concord.benchmarks.pingpong import play
from concord.benchmarks.simulbench import tasks
from concord.benchmarks.stss.templates import load_templates
from concord.benchmarks.stss.town import load_town
from concord.benchmarks.stss.trajectory_files import read_trajectory
from concord.cli import main
from concord.errors import ConcordError
from concord.llm.models import load_models
from concord.llm.prompts import load_prompt
from concord.studies.guidelines import default_guidelines
from concord.workspace import SHIPPED, Workspace

MEMORY = 2 * 2**30
"""Bytes a reader may take beyond what the imports take."""
PART = 1 if "CONCORD_FUZZ" in os.environ else 30
"""Files that take seconds to read have a thirtieth of their size; `make fuzz` takes them whole."""
SECONDS = 20
"""CPU seconds a reader may take."""


def many(count):
    """So many, or the part of them that is read by default."""
    return count // PART


NUMBERS = "item_id,criterion,rater_type,rater,score,turn,repeat\n"
NAME = "[bold red]x[/] \x1b]0;t\x07\x1b[2J\x9b31m\u202e{{ 9**9 }}../../x"


def packed(text, rows):
    """A Parquet file of one column whose rows are all the same text, which takes almost no room."""
    import pyarrow as pa
    from pyarrow import parquet

    out = io.BytesIO()
    column = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), [text])
    parquet.write_table(pa.table({"messages": column}), out, store_schema=False)
    return out.getvalue()


def jsonl(**more):
    said = {"key": "k", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}
    return json.dumps({**said, **more}).encode()


HOSTILE = {
    "any": {
        "nothing": b"",
        "a byte order mark": b"\xef\xbb\xbf",
        "two byte order marks": b"\xef\xbb\xbf\xef\xbb\xbf{}",
        "UTF-16": '[{"a": 1}]'.encode("utf-16"),
        "UTF-16 without a mark": '[{"a": 1}]'.encode("utf-16-le"),
        "no UTF-8": b"\xff\xfe\xfd\x80" * 100,
        "NUL bytes": b"\0" * 100_000,
        "a long line": b"x" * many(5_000_000),
        "many lines of nothing": b"\n" * many(2_000_000),
        "many carriage returns": b"\r" * many(2_000_000),
        "nested lists": b"[" * many(2_000_000),
    },
    "csv": {
        "NUL bytes in a header": b"item_id,criterion,rater_type,rater,score\0\n\0,\0,human,\0,1\n",
        "a long text": b'"' + b"x" * many(5_000_000) + b'"',
        "many columns": b"a," * many(2_000_000) + b"\n",
        "many cells": NUMBERS.encode() + b"a," * many(2_000_000) + b"\n",
        "an open quote": NUMBERS.encode() + b'"' + b"a\n" * many(9_000_000),
        "many open quotes": NUMBERS.encode() + b'"a\n' * many(5_000_000),
        "a turn beyond 64 bits": NUMBERS.encode() + b"a,c,human,r,1,9223372036854775808,0\n",
        "a repeat beyond all": NUMBERS.encode() + b"a,c,judge,r,1,,1e300\n",
        "a score that is none": NUMBERS.encode() + b"a,c,human,r,nan,,\nb,c,human,r,1e999,,\n",
        "a large score": NUMBERS.encode() + b"a,c,human,r,1e308,,\nb,c,human,r,-1e308,,\n",
        "hostile names": (NUMBERS + f'"{NAME}","{NAME}",human,"{NAME}",1,,\n').encode(),
    },
    "toml": {
        "lists nested in TOML": b"a = " + b"[" * 100_000,
        "tables nested in TOML": b"a = " + b"{ a = " * 50_000,
        "a key of many parts": b"a." * 100_000 + b"a = 1\n",
        "a table of many parts": b"[" + b"a." * 100_000 + b"a]\n",
        "keys of many parts": b"".join(b"a." * 60 + b"c%d = 1\n" % n for n in range(many(9999))),
        "a number of many digits in TOML": b"a = " + b"9" * many(1_000_000),
        "numbers that are none in TOML": b"[models.a]\ntimeout = inf\n[talk]\nparams = { a = nan }\n",
        "lists of nothing in TOML": b"situations = [1, [2]]\ntasks = 3\ntemplates = 'x'\n"
        b"residents = [[]]\ncriteria = 1\n",
        "numbers instead of lists in TOML": b"situations = 3\ntasks = [1]\ntemplates = 3\nresidents = 3\n",
        "tables of nothing in TOML": b"[models]\na = 1\n[talk]\nparams = 3\n"
        b"[criteria]\nfluency = 3\n[people]\na = []\n",
        "text of numbers in TOML": b"about = 3\nopening = [1]\nscale = {a = 1}\n"
        b"closing = 1979-05-27\ntalk = 5\n",
    },
    "parquet": {
        "no Parquet but its sign": b"PAR1" + b"\0" * 100_000,
        "Parquet with nothing in it": b"PAR1" + b"\x15\x00" * 50 + b"\xff\xff\xff\x7fPAR1",
        "Parquet of many equal texts": packed("x" * 1_000_000, many(3_000)),
        "Parquet of long texts": packed("x" * 30_000_000, many(60)),
        "half of a Parquet file": packed("x" * 1000, 1000)[:-20],
    },
    "template": {
        "a template that never ends": b"{% for a in range(99999) %}{% for b in range(99999) %}"
        b"{% endfor %}{% endfor %}",
        "a template that doubles": b"{% set a = 'x' %}" + b"{% set a = a ~ a %}" * 60,
        "a power in a template": b"{{ 9 ** 9 ** 9 }}",
        "brackets in a template": b"{{ " + b"(" * 30_000,
    },
    "json": {
        "nested lists, closed": b"[" * 500 + b"]" * 500,
        "nested objects": b'{"a":' * many(500_000),
        "nested objects, closed": b'{"a":' * 300 + b"1" + b"}" * 300,
        "many empty lists": b"[" + b"[]," * many(1_000_000) + b"[]]",
        "many empty objects a line": b"{}\n" * many(300_000),
        "a number beyond 64 bits": b"[9223372036854775808]",
        "a number of many digits": b'{"id": ' + b"9" * many(1_000_000) + b"}",
        "numbers that are none": b'[NaN, Infinity, -Infinity, 1e999]\n{"a": NaN}',
        "half a character": b'{"key": "\\ud800", "messages": [{"role": "user", "content": "\\udfff"}]}',
        "half a character in a name": jsonl(player="x").replace(b'"x"', b'"\\ud800"'),
        "a NUL in a name": jsonl(player="a\0b", benchmark="a\0b", facets={"a\0b": "a\0b"}),
        "a long name": jsonl(key="x" * 1_000_000),
        "a hostile name": jsonl(key=NAME, player=NAME, benchmark=NAME, language=NAME, facets={NAME: NAME}),
        "a large number in a body": jsonl(meta={"n": 2**63}, context={"x": 10**400}),
        "a trajectory that is none": jsonl(trajectory=[[[]]] * 1000, benchmark="stss"),
        "no list of messages": jsonl(messages={"a": 1}),
        "a study of nothing": b'{"kind": "study", "name": 5, "criteria": 3, "meta": [], "units": {}}',
        "a criterion of nothing": b'{"kind": "benchmark", "name": ["x"], "criteria": [{"name": 1}]}',
        "an unknown plan": b'{"kind": "play", "benchmark": "../x", "models": {"a": 3}, "options": []}',
        "a plan of numbers": b'{"kind": "judge", "benchmark": 1, "judges": 2, "where": 3}',
        "a plan of nothing": b'{"kind": [], "benchmark": null}',
        "an old plan of nothing": b'{"models": [], "options": 5, "benchmark": {}}',
        "a large plan": b'{"kind": "play", "benchmark": "pingpong", "models": {"players": ["a"]},'
        b' "options": {"repeats": 1000000000000}}',
        "steps that are no numbers": '{"²": {}}'.encode(),
        "steps far apart": b'{"0": {}, "99999999999": {"a": {"description": "x @ y"}}}',
        "movement of nothing": b'{"persona": {"a": {"description": "x", "chat": [1, [2]]}}, '
        b'"meta": {"curr_time": "February 13, 2023, 00:00:00"}}',
    },
}
"""Files by kind; a reader gets those of its own kind and of any."""


def command(*words):
    """A reader that is a command; FILE in its words is the file."""

    def read(file, workspace):
        words_ = [str(file) if word == "FILE" else word for word in words]
        done = CliRunner().invoke(main, ["--workspace", str(workspace.path), *words_])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if done.exit_code:
            assert "Error: " in done.output, done.output
            raise ConcordError(done.output)

    return read


def within(name, read):
    """A reader of a file that lies at a place of the workspace."""

    def placed(file, workspace):
        place = workspace.path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, place)
        read(workspace)

    return placed


def prompt(workspace):
    """A prompt is loaded and filled."""
    place = workspace.path / "prompts" / "toy" / "v1"
    if not (place / "talk_user.jinja").exists():
        (place / "talk_user.jinja").write_text("x")
    load_prompt([workspace.path / "prompts"], "toy", "v1", "talk", None).render()


TOWN = SHIPPED / "data" / "stss" / "en" / "merrow-quay"
READERS = {
    ("csv", "import ratings"): command("import", "ratings", "FILE", "--study", "s"),
    ("json", "import conversations"): command("import", "conversations", "FILE"),
    ("csv", "import conversations, CSV"): command(
        "import", "conversations", "FILE", "--map", "messages=text"
    ),
    ("parquet", "import conversations, Parquet"): command("import", "conversations", "FILE"),
    ("csv", "import comparisons"): command("import", "comparisons", "FILE"),
    ("json", "import comparisons, JSON"): command("import", "comparisons", "FILE"),
    ("json", "import label-studio"): command("import", "label-studio", "FILE", "--study", "s"),
    ("json", "import argilla"): command("import", "argilla", "FILE", "--study", "s"),
    ("json", "simulbench import tasks"): command("simulbench", "import", "tasks", "FILE"),
    ("json", "simulbench import scripts"): command("simulbench", "import", "scripts", "FILE"),
    ("json", "stss import tasks"): command("stss", "import", "tasks", "FILE", "--name", "set"),
    ("json", "stss score --tasks"): command("stss", "score", "--tasks", "FILE", "--trajectory", "FILE"),
    ("json", "stss trajectory"): lambda file, _workspace: read_trajectory(file),
    ("json", "pingpong import settings"): command("pingpong", "import", "settings", "FILE"),
    ("csv", "leaderboard --against"): command("leaderboard", "pingpong", "--against", "FILE"),
    ("json", "run plan"): command("run", "plan", "FILE", "--estimate"),
    ("any", "study draw --guidelines"): command(
        "study", "draw", "s", "--benchmark", "b", "--n", "1", "--guidelines", "FILE"
    ),
    ("toml", "models.toml"): within("models.toml", lambda w: load_models(w.models_path)),
    ("toml", "prompts.toml"): within("prompts/toy/v1/prompts.toml", prompt),
    ("template", "a template"): within("prompts/toy/v1/talk_user.jinja", prompt),
    ("toml", "characters"): within(
        "data/pingpong/en/characters/x.toml", lambda w: play.characters(w.folders("data"), "en")
    ),
    ("toml", "situations"): within(
        "data/pingpong/en/situations.toml", lambda w: play.situations(w.folders("data"), "en")
    ),
    ("toml", "simulbench's tasks"): within(
        "data/simulbench/en/x.toml", lambda w: tasks.catalogue(w.folders("data"))
    ),
    ("toml", "guidelines"): within(
        "data/guidelines/en.toml", lambda w: default_guidelines(w.folders("data"), "b", ())
    ),
    ("toml", "a benchmark's rubric"): within(
        "data/pingpong/en/rubrics/x.toml", lambda w: default_guidelines(w.folders("data"), "pingpong", ())
    ),
    ("toml", "a town"): lambda file, _: load_town(file),
    ("toml", "templates of tasks"): lambda file, _: load_templates(file, load_town(TOWN / "town.toml")),
}


NAMED = {name: read for (_, name), read in READERS.items()}
CASES = [(what, name) for kind, name in READERS for of in {"any", kind} for what in HOSTILE[of]]


def case(read, file, folder):
    """What became of one file: “read”, “refused”, or the end of a traceback. The limits begin here."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = int(used.ru_utime + used.ru_stime) + SECONDS
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, resource.RLIM_INFINITY))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
    try:
        read(file, Workspace(folder))
    except ConcordError as error:
        return "refused", str(error)
    except BaseException:  # noqa: BLE001
        return "failed", traceback.format_exc()[-1500:]
    return "read", ""


def outcomes(read, files, folder, template):
    """What became of each file, with its CPU time and the largest memory so far. A file that was read changes
    the workspace, so that the next one gets a new one.
    """
    file, place = folder / "hostile", folder / "workspace"
    for data in files:
        file.write_bytes(data)
        if not place.exists():
            shutil.copytree(template, place)
        began = time.process_time()
        became, why = case(read, file, place)
        used = {"seconds": time.process_time() - began}
        used["megabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        yield {"became": became, "why": why[-1500:], **used}
        if became == "read":
            shutil.rmtree(place)


def forked(read, files, folder, template=None):
    """The outcomes of a reader in a process of its own, and in another one after a file of which it dies."""
    told = []
    while len(told) < len(files):
        receiving, sending = os.pipe()
        child = os.fork()
        if not child:
            os.close(receiving)
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            for outcome in outcomes(read, files[len(told) :], folder, template):
                os.write(sending, json.dumps(outcome).encode() + b"\n")
            os._exit(0)
        os.close(sending)
        with os.fdopen(receiving) as answers:
            told += [json.loads(line) for line in answers]
        _, status, used = os.wait4(child, 0)
        shutil.rmtree(folder / "workspace", ignore_errors=True)
        if status:
            seconds, megabytes = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
            dead = {"became": "died", "why": f"status {status}"}
            told.append(dead | {"seconds": seconds, "megabytes": megabytes})
    return told


def run(folder, only=""):
    """Every case, or those of one reader; one JSON object a line."""
    template = Workspace.open(folder / "template").path
    file, place = folder / "hostile", folder / "workspace"
    # Each reader reads once here, so that what it imports is not imported in every process anew.
    file.touch()
    for read in NAMED.values():
        shutil.copytree(template, place)
        with contextlib.suppress(ConcordError):
            read(file, Workspace(place))
        shutil.rmtree(place)
    assert threading.active_count() == 1  # a forked process has no other thread
    data = {what: content for files in HOSTILE.values() for what, content in files.items()}
    for reader, read in NAMED.items():
        if only in ("", reader):
            mine = [what for what, name in CASES if name == reader]
            ended = forked(read, [data[what] for what in mine], folder, template)
            for what, outcome in zip(mine, ended, strict=True):
                print(json.dumps({"file": what, "reader": reader, **outcome}), flush=True)


if __name__ == "__main__":
    run(Path(sys.argv[1]), *sys.argv[2:])
