"""The public site: complete, without names, without markup from models, without requests."""

import json
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser

import pytest

from concord.conversation import Conversation, Message
from concord.errors import ConcordError
from concord.reports import site
from concord.reports.agreement_report import agreement_report, report_of
from concord.store import conversations
from concord.store.known import Check, Pair
from concord.workspace import Workspace
from tests.filled import HOSTILE, JUDGES, PEOPLE, PLAYERS, fill
from tests.studies.quality_helpers import item


class Links(HTMLParser):
    """The addresses that a page names, and its elements."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.elements = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.add(tag)
        self.addresses += [value for name, value in attributes if name in ("href", "src")]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    workspace = Workspace.open(tmp_path_factory.mktemp("site") / "workspace")
    with workspace.write() as db:
        fill(db)
        said = (Message("user", HOSTILE), Message("assistant", HOSTILE))
        facets = {"character": HOSTILE, "situation": "'); alert(1) //"}
        conversations.save(db, Conversation("pingpong", "hostile", HOSTILE, said, facets=facets))
    with workspace.read() as db:
        found = dict(site.pages(db, "A <site>", date_made=date(2026, 1, 2)))
        report = agreement_report(db, "first")
    return found, report


def test_every_link_leads_to_a_file_of_the_site(made):
    found, _ = made
    for path, text in found.items():
        if path.endswith(".html"):
            for address in Links(text).addresses:
                folder = path.rpartition("/")[0]
                whole = address.removeprefix("../") if address.startswith("../") else f"{folder}/{address}"
                assert whole.lstrip("/") in found, f"{path} leads to {address}"
    assert sum(path.startswith("conversation/") for path in found) == 64 + 1
    assert {"index.html", "study-first.html", "leaderboard-pingpong.html", "prompts.html"} <= {*found}


OURS = """
    html head meta title style body nav b a p main footer h1 h2 h3 table thead tbody tr th td div span section
    details summary pre ul li svg line text circle input label script
"""
"""The elements that the site is made of."""


def test_what_models_say_is_text(made):
    found, _ = made
    for path, text in found.items():
        if path.endswith(".html"):
            assert Links(text).elements <= set(OURS.split()), path
            scripts = re.findall(r"<script[^>]*>", text)
            own = ['<script src="search.js">'] * (path == "conversations.html")
            own += ["<script>"] * (path.startswith("study-") and "<h2>Where judges and people differ" in text)
            assert scripts == own, path
    assert found["conversation/65.html"].count("&lt;script") >= 4, "title, heading, facet and messages"


def test_nothing_is_asked_of_anybody(made):
    found, _ = made
    for path, text in found.items():
        if path.endswith(".html"):
            assert not [a for a in Links(text).addresses if "//" in a], path
            assert "default-src 'none'" in text, path
    assert "url(" not in found["index.html"]
    assert "import" not in found["search.js"]


def test_names_of_annotators_are_replaced(made):
    found, report = made
    for name in PEOPLE:
        assert name in report.data.column("rater"), "it is in the study"
        for path, text in found.items():
            assert not re.search(rf"\b{name}\b", text), f"{name} in {path}"
    assert "Annotator 1" in found["study-first.html"]


def test_figures_are_those_of_the_report(made):
    found, report = made
    [row, *_] = report.section("glance", report.main)["glance"].rows
    low, high = row["judge"].interval
    assert f"{row['judge'].value:.2f} [{low:.2f}, {high:.2f}]" in found["study-first.html"]
    for sentence in report.summary[:2]:
        assert sentence.replace("'", "&#39;") in found["index.html"]
    for player in PLAYERS:
        assert f">{player}</td>" in found["leaderboard-pingpong.html"]


def test_texts_are_in_the_order_of_the_rows(made):
    found, _ = made
    texts = json.loads(found["texts.js"].removeprefix("const TEXTS = ").rstrip(";\n"))
    rows = re.findall(r'href="conversation/(\d+)\.html"', found["conversations.html"])
    assert len(texts) == len(rows) == 65
    for text, row in zip(texts, rows, strict=True):
        page = found[f"conversation/{row}.html"]
        if "script" not in text:
            assert re.search(r"about the (\w+)", text)[0] in page.casefold()


def test_a_turn_holds_each_judges_score(made):
    found, _ = made
    pages = [text for path, text in found.items() if path.startswith("conversation/") and "Why" in text]
    for judge in JUDGES:
        assert any(re.search(rf'<th class="n">{judge}\b', page) for page in pages)


def test_what_annotators_did_carelessly_is_published_without_their_names(tmp_path):
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        fill(db)
        of = agreement_report(db, "first").data
    name = next(iter(PEOPLE))
    assert name in set(of.column("rater").tolist())
    dealt = tuple(item(name, n, state="done", seconds=1) for n in range(20))
    asked, gone = of.criteria[0], item("Zoe", 1, state="done", seconds=1)
    checks = tuple(Check(name, n, asked, hit=False, attention=False) for n in range(20))
    pairs = tuple(Pair(name, n, asked, 1.0, 5.0) for n in range(20))
    people = {of_whom: f"Annotator {n}" for n, of_whom in enumerate(PEOPLE, 1)}
    of = replace(of, assigned_items=(*dealt, gone), checks=checks, repeated_answers={"repeat": pairs})
    limits = " ".join(report_of(site.unnamed(of, people)).limits)
    for words in (
        "Annotator 1 was faster",
        "Annotator 1 answered 0 of 20",
        "Annotator 1 repeated its answers on 0 of 20",
    ):
        assert words in limits
    assert not any(re.search(rf"\b{other}\b", limits) for other in (*PEOPLE, "Zoe"))


def test_a_workspace_without_conversations_has_no_site(tmp_path):
    empty = Workspace.open(tmp_path / "workspace")
    with empty.read() as db, pytest.raises(ConcordError, match="Import some"):
        list(site.pages(db, "Empty", date_made=date(2026, 1, 2)))


def test_the_command_replaces_only_a_site(tmp_path, run):
    workspace = Workspace.open(tmp_path / "workspace")
    with workspace.write() as db:
        fill(db, people=False)
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "letter.txt").write_text("kept")
    for words in ((), ("--replace",)):
        refused = run(workspace, "export", "site", "--out", folder, *words)
        assert refused.exit_code == 1
        assert "is not empty" in refused.output
    assert (folder / "letter.txt").read_text() == "kept"
    for words in ((), ("--replace",)):
        done = run(workspace, "export", "site", "--out", tmp_path / "new", *words)
        assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "index.html").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "new", "workspace"]
