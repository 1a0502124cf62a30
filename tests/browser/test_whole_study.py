"""A study of 70 items from the draw to the figures: training, five annotators of whom one leaves, extra
raters where two differ, an adjudicator, and a judge's scores in the end, all by keyboard in a browser. The
store and the commands are compared with what was pressed, by arithmetic of this test's own.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from click.testing import CliRunner
from playwright.sync_api import BrowserContext, Page, expect
from scipy.stats import spearmanr

from concord.cli import main
from concord.conversation import Conversation, Message, Unit
from concord.rating import Criterion, Judgement, Rater, Rating
from concord.store import access, conversations, placements, ratings
from concord.studies.purposes import training
from concord.studies.purposes.adjudicate import Rule, set_rule
from concord.workspace import Workspace

from .keeper import Server, serving

pytestmark = pytest.mark.browser

CRITERIA = (Criterion("fluency", "It is fluent."), Criterion("wit", "It is witty."))
NAMES = [c.name for c in CRITERIA]
PLAYERS = ("alder", "birch", "cedar")
STORED, DRAWN, GOLD, TRAINING, APART = 78, 70, 5, 2, 14
"""Conversations, those of the study, gold and training items of the others, and how many items come before
one comes again: half of the 28 that each of five has where two rate each.
"""
DIFFER = 3
"""How far two raters are apart where a third one rates an item, and where an adjudicator settles it."""
JUDGE = "strict"
LEAVER, LEAVES_AFTER = "eve", 15
ERRORS = {
    "ann": (0, 0, 0, 0, 1, -1),
    "bob": (0, 0, 0, 1, 1, -1),
    "cy": (0, 0, 0, 0, -1, -1),
    "dee": (-4, -2, 0, 0, 2, 4),
    "eve": (0, 0, 0, 1),
}
"""How far each annotator's answers are from the truth, each as likely; dee rates carelessly."""
CARELESS = "dee"
MOVES = {"ann": 0.8, "bob": 0.3}
"""How likely an annotator is to take the judge's score when it is shown; nobody else looks at it."""

Answers = dict[str, int]
"""An item's scores by criterion."""


def truth(item: int, criterion: str) -> int:
    return random.Random(f"{item} {criterion}").randint(1, 5)


def answered(person: str, item: int, again: bool = False) -> Answers:
    """What somebody answers the first time, or when the item comes again."""
    errors = random.Random(f"{person} {item} {again}")
    return {c: min(5, max(1, truth(item, c) + errors.choice(ERRORS[person]))) for c in NAMES}


def trained(person: str, item: int, attempt: int) -> Answers:
    """What somebody answers in training: what is so, but for the careless one's first attempt."""
    wrong = person == CARELESS and attempt == 1
    return {c: (truth(item, c) + 2 * wrong + 4) % 5 + 1 for c in NAMES}


def judged(item: int) -> Answers:
    errors = random.Random(f"{JUDGE} {item}")
    return {c: max(1, truth(item, c) - errors.choice((0, 1, 1))) for c in NAMES}


def revised(person: str, item: int, criterion: str) -> int:
    """The second answer, in sight of the judge's score."""
    moved = random.Random(f"{person} {item} {criterion} second").random() < MOVES[person]
    return judged(item)[criterion] if moved else answered(person, item)[criterion]


@dataclass
class Desk:
    """An annotator in a window of their own, and what they pressed."""

    person: str
    page: Page
    gold: list[int]
    log: list[tuple[str, int]]
    """Who rated which item, in the order in which all did."""
    seen: list[int] = field(default_factory=list)
    """The items in the order in which they came."""
    first: dict[int, Answers] = field(default_factory=dict)
    again: dict[int, Answers] = field(default_factory=dict)
    flagged: set[int] = field(default_factory=set)
    training: list[tuple[int, Answers]] = field(default_factory=list)

    def train(self) -> None:
        """Do the training, an attempt or two, until the study begins."""
        title = self.page.locator(".top .title")
        while not self.training or (title.text_content() or "").endswith("Training"):
            item = in_sight(self.page)
            assert item is not None
            given = trained(self.person, item, 1 + len(self.training) // TRAINING)
            for key in (*map(str, given.values()), "Enter"):
                self.page.keyboard.press(key)
            expect(self.page.locator(".told").first).to_be_visible()
            self.training.append((item, given))
            self.page.keyboard.press("Enter")

    def rate(self) -> bool:
        """Rate or skip the item in sight, once there is one; False where nothing is left."""
        item = in_sight(self.page)
        if item is None:
            return False
        press = self.page.keyboard.press
        again = item in self.seen
        self.seen.append(item)
        if self.person == "ann" and item % 25 == 0 and not again:
            press("s")
            press("1")
            return True
        given = answered(self.person, item, again)
        for place, score in enumerate(given.values()):
            if self.person == "bob" and place and item % 20 == 0:  # second thoughts
                press(str(score % 5 + 1))
                press("u")
            press(str(score))
        if self.person == "cy" and item % 10 == 0 and not again:
            press("f")
            self.page.keyboard.type("an odd one, I press 5")
            press("Control+Enter")
            self.flagged.add(item)
        press("Enter")
        (self.again if again else self.first)[item] = given
        if not again:
            self.log.append((self.person, item))
        return True

    def rate_what_came(self) -> int:
        """Rate what was opened again or given to somebody who was through; returns how many items."""
        self.page.reload()
        before = len(self.first)
        while (item := in_sight(self.page)) is not None:
            assert item not in self.first
            self.first[item] = answered(self.person, item)
            self.log.append((self.person, item))
            for key in (*map(str, self.first[item].values()), "Enter"):
                self.page.keyboard.press(key)
        if len(self.first) > before:
            saved(self.page)
        return len(self.first) - before


def in_sight(page: Page) -> int | None:
    """The number of the item that is shown, once one is there; None at the end."""
    text = page.locator(".message.reply, .end h1").first.text_content() or ""
    found = re.search(r"reply (\d+)", text)
    return int(found[1]) if found else None


def saved(page: Page) -> None:
    expect(page.locator(".saving")).to_have_attribute("data-state", "saved")


def concord(workspace: Workspace, *arguments: object) -> str:
    """What a command prints."""
    runner = CliRunner(env={"COLUMNS": "200"})
    done = runner.invoke(main, ["--workspace", str(workspace.path), *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done.stdout


Tables = dict[str, list[dict[str, Any]]]
"""The rows of the tables of a report, by the table's name."""


def figures(workspace: Workspace) -> Tables:
    """The sections of the agreement report on fluency that have the figures looked at here."""
    sections = "people,distribution,judges,groups,annotator-retest,gold,adjudication,anchoring"
    asked = ("--section", sections, "--criterion", "fluency", "--resamples", 20, "--format", "json")
    told = json.loads(concord(workspace, "agreement", "--study", "main", *asked))
    return {name: table["rows"] for name, table in told["tables"].items()}


@dataclass
class Played:
    """The study when everything is done, and what was seen on the way."""

    server: Server
    desks: dict[str, Desk]
    gold: list[int]
    settled: dict[tuple[int, str], int]
    revised: dict[str, dict[tuple[int, str], int]]
    shown: str
    """What `concord study show` says when all have rated."""
    blind: Tables
    """The figures when all have rated, then those after all is done, with and without the careless one."""
    after: Tables
    without: Tables

    @property
    def raters(self) -> dict[int, list[str]]:
        """Who rated each item: two, and a third one where these differ."""
        found: dict[int, list[str]] = {}
        for person, item in self.desks[LEAVER].log:
            if item not in self.gold:
                found.setdefault(item, []).append(person)
        return found

    def answers(self, *left_out: str) -> dict[str, dict[int, int]]:
        """The first raters' answers on fluency, by person and item: those that figures rest on."""
        found: dict[str, dict[int, int]] = {p: {} for p in self.desks if p not in left_out}
        for item, people in self.raters.items():
            for person in people[:2]:
                if person in found:
                    found[person][item] = self.desks[person].first[item]["fluency"]
        return found

    def of_items(self, raters: int = 2) -> dict[int, list[int]]:
        """The answers of each item's first raters on fluency."""
        return {
            item: [self.desks[person].first[item]["fluency"] for person in people[:raters]]
            for item, people in self.raters.items()
        }


@pytest.fixture(scope="module")
def played(
    windows: BrowserContext, devices: BrowserContext, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Played]:
    folder = tmp_path_factory.mktemp("whole")
    workspace = Workspace.open(folder / "workspace")
    store(workspace)
    with serving(workspace, folder / "log") as server:
        concord(workspace, "study", "draw", "main", "--n", DRAWN, "--seed", 4)
        links = invited(workspace)
        people = ("--annotators", ",".join(ERRORS), "--overlap", 2)
        repeats = ("--repeats", 0.1)
        extra = ("--extra-where-differ", DIFFER, "--extra-on", "fluency")
        concord(workspace, "study", "deal", "main", *people, *repeats, *extra)
        gold = mixed_in(server, folder)
        log: list[tuple[str, int]] = []
        desks = {person: Desk(person, windows.new_page(), gold, log) for person in ERRORS}
        for person, desk in desks.items():
            desk.page.goto(links[person])
            desk.train()
        rate(workspace, desks)
        shown, blind = concord(workspace, "study", "show", "main"), figures(workspace)
        settled = adjudicate(server, devices)
        concord(workspace, "study", "reveal", "main", "--judge", JUDGE)
        second = {person: revise(desks[person]) for person in MOVES}
        for desk in desks.values():
            desk.page.close()
        for context in (windows, devices):
            context.clear_cookies()
        with_ = figures(workspace)
        concord(workspace, "study", "exclude", "main", CARELESS, "--reason", "missed an attention check")
        without = figures(workspace)
        yield Played(server, desks, gold, settled, second, shown, blind, with_, without)


def store(workspace: Workspace) -> None:
    """Store conversations that a judge has rated."""
    with workspace.write() as db:
        ratings.register(db, "lighthouse", CRITERIA)
        for item in range(STORED):
            said = (Message("user", f"request {item}"), Message("assistant", f"This is reply {item}."))
            conversations.save(db, Conversation("lighthouse", f"k{item}", PLAYERS[item % 3], said))
            given = tuple(Rating(Unit(f"k{item}"), c, s, f"because {s}") for c, s in judged(item).items())
            ratings.save_judgement(db, Judgement(f"j{item}", f"k{item}", Rater(JUDGE, "judge"), given))


def invited(workspace: Workspace) -> dict[str, str]:
    """Everybody's link."""
    told = concord(workspace, "people", "invite", *ERRORS)
    return {line.split()[0]: line.split()[1] for line in told.splitlines() if "token=" in line}


def mixed_in(server: Server, folder: Path) -> list[int]:
    """Give the study training, and gold items, the first of them an attention check: all of
    conversations that were not drawn. Returns the gold items.
    """
    drawn = server.rows("SELECT c.key FROM items u JOIN conversations c ON c.id = u.conversation_id")
    others = sorted(set(range(STORED)) - {int(key[1:]) for (key,) in drawn})
    gold, training = others[:GOLD], others[GOLD : GOLD + TRAINING]
    for name, items in (("gold", gold), ("training", training)):
        lines = ["key,criterion,answer,tolerance,explanation,attention"]
        for item in items:
            lines.append(f"k{item},fluency,{truth(item, 'fluency')},1,It is so.,{'yes' * (item == gold[0])}")
        (folder / name).write_text("\n".join(lines) + "\n")
    told = concord(server.workspace, "study", "gold", "main", folder / "gold")
    assert all(f"{who} 5 gold items" in told for who in ("ann", "bob", "cy", "dee", "eve"))
    concord(server.workspace, "study", "training", "main", folder / "training", "--pass", 1)
    return gold


def rate(workspace: Workspace, desks: Mapping[str, Desk]) -> None:
    """Have all rate in turns; one leaves, and the rest of theirs comes into the others' open windows."""
    for _ in range(LEAVES_AFTER):
        for desk in desks.values():
            assert desk.rate()
    saved(desks[LEAVER].page)
    desks[LEAVER].page.close()
    concord(workspace, "study", "reassign", "main", LEAVER, "--reason", "has another job")
    staying = [desk for person, desk in desks.items() if person != LEAVER]
    at_work = staying
    while at_work:
        at_work = [desk for desk in at_work if desk.rate()]
    for desk in staying:
        saved(desk.page)
    with workspace.write() as db:  # as the desk does, where an item is opened again
        ann = access.annotator_id(db, "ann")
        for item in placements.placed(db, "main", ["first", "extra"], ann):
            if item.state == "skipped":
                placements.reopen(db, ann, item.id)
    while sum(desk.rate_what_came() for desk in staying):
        pass


def adjudicate(server: Server, context: BrowserContext) -> dict[tuple[int, str], int]:
    """Settle what is in dispute as it is in truth; returns what was pressed, by item and criterion."""
    with server.workspace.write() as db:
        set_rule(db, "main", Rule(DIFFER))
    server.sign_in(context)
    page = context.new_page()
    page.goto(f"{server.url}/adjudicate?study=main&work=settle&as=ida")
    found: dict[tuple[int, str], int] = {}
    while (item := in_sight(page)) is not None:
        criterion = (page.locator(".question.active .name").text_content() or "").lower()
        found[item, criterion] = truth(item, criterion)
        page.keyboard.press(str(found[item, criterion]))
        page.keyboard.type(f"item {item}, as it is")
        page.keyboard.press("Enter")
    saved(page)
    page.close()
    return found


def revise(desk: Desk) -> dict[tuple[int, str], int]:
    """Lock somebody's answers and give second ones, beside the judge's; returns these."""
    page, found = desk.page, {}
    page.goto(f"{page.url}&revise=main")
    page.get_by_role("button", name="Lock my answers and show the judge's").click()
    while (item := in_sight(page)) is not None:
        for criterion in NAMES:
            second = found[item, criterion] = revised(desk.person, item, criterion)
            page.keyboard.press("k" if second == desk.first[item][criterion] else str(second))
    saved(page)
    return found


def one(rows: list[dict[str, Any]], **wanted: object) -> dict[str, Any]:
    """The row with these values."""
    [found] = [row for row in rows if all(row[name] == value for name, value in wanted.items())]
    return found


def alpha(answers: Mapping[str, Mapping[int, int]], level: str) -> float:
    """Krippendorff's alpha of raters × items."""
    items = sorted({item for given in answers.values() for item in given})
    table = [[given.get(item, np.nan) for item in items] for given in answers.values()]
    return float(krippendorff.alpha(table, level_of_measurement=level))


def test_training_opens_the_study_to_those_who_pass(played: Played) -> None:
    with played.server.workspace.read() as db:
        [attempted] = training.tables(db, "main")
    for person, desk in played.desks.items():
        attempts = [desk.training[at : at + TRAINING] for at in range(0, len(desk.training), TRAINING)]
        assert len(attempts) == (2 if person == CARELESS else 1)
        for number, items in enumerate(attempts, 1):
            far = [abs(given["fluency"] - truth(item, "fluency")) for item, given in items]
            row = one(attempted.rows, annotator=person, attempt=number)
            assert row["hits"].value == sum(distance <= 1 for distance in far) / TRAINING
            assert row["verdict"] == ("passed" if max(far) <= 1 else "not passed")


def test_what_was_pressed_is_stored_and_nothing_is_lost_or_doubled(played: Played) -> None:
    pressed = Counter(
        (person, f"k{item}", criterion, score)
        for person, desk in played.desks.items()
        for item, given in desk.first.items()
        if item not in played.gold
        for criterion, score in given.items()
    )
    stored = Counter(
        played.server.rows(
            "SELECT x.name, c.key, r.criterion, cast(r.score AS int) FROM ratings r "
            "JOIN raters x ON x.id = r.rater_id AND x.kind = 'human' "
            "JOIN conversations c ON c.id = r.conversation_id"
        )
    )
    assert stored == pressed
    assert set(stored.values()) == {1}
    assert played.server.rows(
        "SELECT state, count(*) FROM placements WHERE purpose IN ('first', 'extra') GROUP BY state"
    ) == [("done", sum(map(len, played.raters.values())))]
    flagged = played.server.rows(
        "SELECT c.key FROM placements a JOIN items u ON u.id = a.item_id "
        "JOIN conversations c ON c.id = u.conversation_id "
        "WHERE a.flag = 'an odd one, I press 5' AND a.purpose IN ('first', 'extra')"
    )
    own = {item for item in played.desks["cy"].flagged if item not in played.gold}
    assert {key for (key,) in flagged} == {f"k{item}" for item in own}
    assert own


def test_two_rate_each_item_and_a_third_one_where_they_differ(played: Played) -> None:
    apart = {item for item, (a, b) in played.of_items().items() if abs(a - b) >= DIFFER}
    assert apart
    assert len(played.raters) == DRAWN
    for item, people in played.raters.items():
        assert len(people) == len(set(people)) == (3 if item in apart else 2)


def test_a_tenth_came_again_far_enough_from_the_first_time(played: Played) -> None:
    for person, desk in played.desks.items():
        for item in desk.again:
            first = desk.seen.index(item)
            between = desk.seen[first + 1 : desk.seen.index(item, first + 1)]
            assert len(set(between) - {*played.gold}) >= APART, (person, item)
        if person != LEAVER:
            every = desk.first.keys() - {*played.gold}  # with extra items, of which some came after the deal
            # One that was begun, or may be before somebody, stays where extra items go to others again.
            least, most = round(0.1 * len(played.answers()[person])), round(0.1 * len(every)) + 2
            assert least <= len(desk.again) <= most


def test_answers_that_are_no_ratings_are_exported_as_they_were_pressed(played: Played) -> None:
    told = csv.DictReader(StringIO(concord(played.server.workspace, "export", "apart", "--study", "main")))
    found: dict[str, Counter[Any]] = {}
    for row in told:
        about = row["rater"], row["item_id"], row["criterion"], row["explanation"]
        scores = (float(row[name]) if row[name] else None for name in ("score", "blind", "shown", "gold"))
        found.setdefault(row["kind"], Counter())[(*about, *scores)] += 1
    pressed: dict[str, Counter[Any]] = {kind: Counter() for kind in found}
    for person, desk in played.desks.items():
        for item, given in desk.again.items():
            for c, score in given.items():
                pressed["repeat"][person, f"k{item}", c, "", score, desk.first[item][c], None, None] += 1
        for item, given in desk.training:
            for c, score in given.items():
                known = truth(item, c) if c == "fluency" else None
                pressed["training"][person, f"k{item}", c, "", score, None, None, known] += 1
        for item in desk.first.keys() & {*played.gold}:
            for c, score in desk.first[item].items():
                known = truth(item, c) if c == "fluency" else None
                pressed["gold"][person, f"k{item}", c, "", score, None, None, known] += 1
    for person, second in played.revised.items():
        for (item, c), score in second.items():
            blind = played.desks[person].first[item][c]
            pressed["revised"][person, f"k{item}", c, "", score, blind, judged(item)[c], None] += 1
    for item, people in played.raters.items():
        for person in people[2:]:
            for c, score in played.desks[person].first[item].items():
                pressed["extra"][person, f"k{item}", c, "", score, None, None, None] += 1
    for (item, c), score in played.settled.items():
        reason = f"item {item}, as it is"
        pressed["adjudicated"]["ida", f"k{item}", c, reason, score, None, None, None] += 1
    assert found == pressed
    assert set(found) == {"training", "repeat", "gold", "extra", "adjudicated", "revised"}


def test_alpha_of_people_is_the_same_before_and_after_what_was_not_blind(played: Played) -> None:
    for level in ("ordinal", "interval"):
        measure = f"Krippendorff's alpha, {level}"
        blind, after, without = (
            one(told["people"], measure=measure)["value"]
            for told in (played.blind, played.after, played.without)
        )
        assert blind["value"] == pytest.approx(alpha(played.answers(), level))
        assert after["value"] == blind["value"]
        # Without the careless annotator fewer items have two answers, and these agree better.
        assert without["value"] == pytest.approx(alpha(played.answers(CARELESS), level))
        assert without["value"] > blind["value"]
        assert without["n"] == DRAWN - len(played.answers()[CARELESS])


def test_the_share_of_each_answer_and_the_mean_of_people(played: Played) -> None:
    for person, given in played.answers().items():
        counted = {
            row["score"]: row["count"]
            for row in played.blind["score_distribution"]
            if row["rater"] == person and row["count"]
        }
        assert counted == Counter(given.values())
    for at, player in enumerate(PLAYERS):
        apart = [
            judged(item)["fluency"] - np.mean(scores)
            for item, scores in played.of_items().items()
            if item % 3 == at
        ]
        told = one(played.blind["groups"], rater=JUDGE, group=player)
        assert (told["n"], told["bias"]["value"]) == (len(apart), pytest.approx(np.mean(apart)))


def test_test_retest_of_each_annotator(played: Played) -> None:
    for person, desk in played.desks.items():
        if person == LEAVER and not desk.again:  # left before anything came again
            continue
        first = np.array([desk.first[item]["fluency"] for item in desk.again])
        second = np.array([given["fluency"] for given in desk.again.values()])
        told = one(played.blind["annotator_retest"], annotator=person)
        assert told["n"] == len(desk.again)
        assert told["exact"]["value"] == pytest.approx((first == second).mean())
        assert told["difference"]["value"] == pytest.approx((second - first).mean())
        chance = ((first[:, None] - second[None, :]) ** 2).mean()
        if chance:
            kappa = 1 - ((first - second) ** 2).mean() / chance
            assert told["kappa"]["value"] == pytest.approx(kappa)


def test_gold_items_that_were_hit(played: Played) -> None:
    missed = []
    for person, desk in played.desks.items():
        came = [item for item in played.gold if item in desk.first]
        hits = [abs(desk.first[item]["fluency"] - truth(item, "fluency")) <= 1 for item in came]
        told = one(played.blind["gold_items"], annotator=person)
        assert told["n"] == len(hits)
        assert told["hits"]["value"] == pytest.approx(sum(hits) / len(hits))
        assert len(came) == GOLD or person == LEAVER
        if played.gold[0] in came and not hits[came.index(played.gold[0])]:
            missed.append(person)
    assert missed == [CARELESS]
    assert f"Warning: {CARELESS} missed 1 of 1 attention checks." in played.shown
    assert "reassigned eve by researcher: has another job" in played.shown


def test_the_judge_before_and_after_adjudication(played: Played) -> None:
    of, every = played.of_items(), played.of_items(3)
    disputed = {item for item, scores in every.items() if max(scores) - min(scores) >= DIFFER}
    by_item = {item: score for (item, criterion), score in played.settled.items() if criterion == "fluency"}
    assert by_item.keys() == disputed
    items = sorted(of)
    judge = np.array([judged(item)["fluency"] for item in items])
    means = np.array([np.mean(of[item]) for item in items])
    after = np.array([by_item.get(item, np.mean(of[item])) for item in items])
    before = one(played.after["judges"], rater=JUDGE)
    assert before["spearman"]["value"] == pytest.approx(spearmanr(judge, means).statistic)
    with_settled = one(played.after["adjudication"], rater=JUDGE)
    assert with_settled["spearman"]["value"] == pytest.approx(spearmanr(judge, after).statistic)
    far = [abs(judged(item)["fluency"] - score) for item, score in by_item.items()]
    assert one(played.after["adjudicated_items"], rater=JUDGE)["mae"]["value"] == pytest.approx(np.mean(far))


def test_anchoring_of_those_who_saw_the_judge(played: Played) -> None:
    for person in MOVES:
        moves = [
            (given["fluency"], judged(item)["fluency"], played.revised[person][item, "fluency"])
            for item, given in played.desks[person].first.items()
            if item not in played.gold
        ]
        _is(one(played.after["anchoring"], annotator=person), moves)


def _is(told: Mapping[str, Any], moves: list[tuple[int, int, int]]) -> None:
    """Assert the figures of a row of anchoring: (blind, the judge's, second) of each answer."""
    blind, judge, second = np.array(moves).T
    change, distance = second - blind, judge - blind
    assert told["n"] == len(moves)
    assert told["exact"]["value"] == pytest.approx((change == 0).mean())
    assert told["difference"]["value"] == pytest.approx(change.mean())
    assert told["share"]["value"] == pytest.approx((change * distance).sum() / (distance**2).sum())
