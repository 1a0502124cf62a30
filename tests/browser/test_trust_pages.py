"""The pages of samples, annotators and agreement, in a real browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from concord.conversation import Unit
from concord.rating import Rating
from concord.reports.agreement_report import AgreementReport, Options, agreement_report
from concord.store import studies
from concord.store.studies import Study
from tests.annotated import Annotation, import_annotations

from .asking import ask, enter
from .keeper import Server, holds, serving
from .made import PEOPLE, make
from .widgets import visit

pytestmark = pytest.mark.browser

FEW = "&resamples=200"
"""The fewest resamples, where the intervals are not what is tested."""
HOSTILE = "*Zoe* [x](http://elsewhere.test) :red[red] $x^2$"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The study “made” (60 conversations, 5 people, 3 judges), a small one of one question, one without
    people, one without ratings.
    """
    folder = tmp_path_factory.mktemp("trust")
    workspace = make(folder / "workspace", items=60)
    with workspace.write() as db:
        asked = studies.get(db, "made").criteria
        studies.create(db, Study("judged-only", asked))
        studies.add_units(db, "judged-only", [(n, None, "") for n in range(1, 11)])
        studies.create(db, Study("empty", asked))
        studies.create(db, Study("small", (asked[-1],)))
        studies.add_units(db, "small", [(n, None, "") for n in range(1, 11)])
        given = [
            (name, item, 1 + (item * step) % 5) for step, name in enumerate(PEOPLE, 1) for item in range(10)
        ]
        rated = [(name, Rating(Unit(f"made/{item}"), asked[-1].name, score)) for name, item, score in given]
        import_annotations(db, "small", [Annotation(rating, name) for name, rating in rated])
    with serving(workspace, folder / "log") as server:
        yield server


def sees(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_text(text).first).to_be_visible()


def figures(app: Server, study: str) -> AgreementReport:
    with app.workspace.read() as db:
        return agreement_report(db, study, Options(resamples=200))


def tab(page: Page, name: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
    expect(page.locator("[data-selected=true]").filter(has_text=name)).to_be_visible()


def tables(page: Page) -> None:
    """Open the tables behind the tab's pictures."""
    page.get_by_text("The figures in tables").filter(visible=True).click()


def test_the_summary_comes_first_and_the_tabs_show_the_figures(app: Server, page: Page) -> None:
    found = figures(app, "made").agreement.criteria
    visit(page, f"{app.url}/agreement?study=made{FEW}")
    sees(page, re.compile(r"the panel of 3 judges on Overall score\b.* another annotator"))
    sees(page, re.compile(r"Panel ρ = 0\.\d\d, another annotator ρ = 0\.\d\d; difference"))
    sees(page, "mock")
    tab(page, "Which judge?")
    tables(page)
    keen = found["fluency"].rater(["judge-keen"])
    assert keen is not None
    low, high = keen.spearman.interval or (0, 0)
    row = (
        page.get_by_role("region", name=re.compile("^Judges and panels: Spearman"))
        .locator("tr")
        .filter(has_text="judge-keen")
        .first
    )
    holds(row, keen.spearman.value or 0)
    expect(row).to_contain_text(f"[{low:.3f}, {high:.3f}]")
    # Headings of every tab, and charts where they belong.
    headings = {
        "Which judge?": ("Judges and panels: Spearman's ρ", "Score distribution by rater"),
        "Where does it fail?": ("Where the judge and annotators disagree",),
    }
    for name, expected in headings.items():
        tab(page, name)
        for heading in expected:
            expect(page.get_by_role("heading", name=re.compile(f"^{re.escape(heading)}"))).to_be_visible()
    # The chart of the answer stands on the first tab; here the items have theirs, in sight.
    tab(page, "Where does it fail?")
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(1)


def test_the_address_names_the_view_and_back_returns_to_it(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/agreement?study=made&criterion=fluency")
    sees(page, re.compile(r"\bon Fluency\b", re.IGNORECASE))
    page.get_by_test_id("stButtonGroup").get_by_text("In character").click()
    sees(page, re.compile(r"\bon In character\b", re.IGNORECASE))
    expect(page).to_have_url(re.compile(r"study=made&criterion=in_character"))
    tab(page, "Would a cheaper panel do?")
    expect(page).to_have_url(re.compile(r"study=made&criterion=in_character&tab=panels"))
    expect(page.get_by_text("less the first's")).to_be_visible()
    page.go_back()
    sees(page, re.compile(r"\bon In character\b", re.IGNORECASE))
    page.go_back()
    sees(page, re.compile(r"\bon Fluency\b", re.IGNORECASE))
    page.go_forward()
    page.go_forward()
    expect(page.get_by_text("less the first's")).to_be_visible()
    visit(page, f"{app.url}/agreement?study=nope")
    sees(page, "There is no study “nope”.")


def test_the_options_hold_what_is_in_force_after_another_choice(app: Server, page: Page) -> None:
    """A popover's widgets are made when it opens: a choice made before must not reset them."""
    page.goto(f"{app.url}/agreement?study=made&criterion=fluency")
    sees(page, re.compile(r"\bon Fluency\b", re.IGNORECASE))
    page.get_by_test_id("stButtonGroup").get_by_text("In character").click()
    sees(page, re.compile(r"\bon In character\b", re.IGNORECASE))
    page.get_by_role("button", name="How this is measured").click()
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "1000")
    page.get_by_test_id("stCheckbox").get_by_text("Count conversations in which a judge saw").click()
    expect(page).to_have_url(re.compile("keep-refused=yes"))
    expect(page.get_by_role("slider")).to_have_attribute("aria-valuetext", "1000")
    expect(page).not_to_have_url(re.compile("resamples|together"))
    sees(page, re.compile("^Unless a table says otherwise: .*1000 resamples of "))


def test_two_panels_stand_side_by_side_and_refusals_are_counted(app: Server, page: Page) -> None:
    page.goto(f"{app.url}/agreement?study=made{FEW}")
    sees(page, ", 58 items")  # conversations 7 and 47 were refused
    page.get_by_role("button", name="How this is measured").click()
    page.get_by_test_id("stCheckbox").get_by_text("Count conversations in which a judge saw").click()
    sees(page, ", 60 items")
    page.keyboard.press("Escape")
    tab(page, "Would a cheaper panel do?")
    sees(page, "60 items that both rated")
    before = page.get_by_test_id("stMetricValue").last.inner_text()
    page.get_by_role("combobox", name="Second panel").press("Backspace")  # takes the last judge out
    expect(page.get_by_test_id("stMetricValue").last).not_to_have_text(before)


def test_every_click_on_a_choice_counts(app: Server, page: Page) -> None:
    """Also the second in a row: the default follows the address, and must not make another widget."""
    visit(page, f"{app.url}/agreement?study=made{FEW}&criterion=fluency")
    for name, value in (
        ("In character", "in_character"),
        ("Fluency", "fluency"),
        ("In character", "in_character"),
    ):
        page.get_by_role("radio", name=name).click()
        expect(page).to_have_url(re.compile(f"criterion={value}"))
        expect(page.get_by_role("radio", name=name)).to_be_checked()


def test_where_a_judge_fails_by_scenario(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/agreement?study=made{FEW}&tab=fails")
    expect(page.get_by_role("heading", name="By model")).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_text("situation").click()
    expect(page.get_by_role("heading", name="By situation")).to_be_visible()


def test_a_chart_is_saved_and_nothing_leaves_the_machine(app: Server, page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    visit(page, f"{app.url}/agreement?study=made{FEW}")
    page.get_by_test_id("stVegaLiteChart").first.hover()
    with page.expect_download() as download:
        # By key: Streamlit shows the buttons while the pointer is on the chart, and moves them as it leaves.
        page.get_by_role("button", name="Download as PNG").first.press("Enter")
    assert Path(download.value.path()).read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert [url for url in asked if not url.startswith((app.url, "data:", "blob:"))] == []


def test_a_study_without_people_says_so_and_shows_what_there_is(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/agreement?study=judged-only{FEW}")
    sees(page, "No annotator has rated the study “judged-only” yet")
    expect(page.get_by_role("heading", name="Score distribution by rater")).to_be_visible()
    expect(page.get_by_text("Would a cheaper panel do?")).to_have_count(0)
    visit(page, f"{app.url}/agreement?study=empty")
    sees(page, "The study “empty” has no ratings yet.")


def test_the_figures_can_be_taken_away(app: Server, page: Page) -> None:
    visit(page, f"{app.url}/agreement?study=small{FEW}")
    page.get_by_role("button", name="Download", exact=True).click()
    with page.expect_download(timeout=240_000) as download:  # every section
        page.get_by_role("button", name="Report with all figures").click()
    with ZipFile(download.value.path()) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("figures.json")]
        assert archive.read(name).decode() == figures(app, "small").document("json")
    page.keyboard.press("Escape")
    with page.expect_download() as download:
        page.get_by_role("button", name="Report (HTML)").click()
    assert "<svg" in Path(download.value.path()).read_text(encoding="utf-8")


def test_a_link_is_shown_once_works_is_renewed_and_withdrawn(app: Server, page: Page) -> None:
    def link() -> str:
        return page.get_by_test_id("stCode").inner_text().strip()

    def opens(address: str) -> bool:
        entered = enter(address)
        shown = ask(app.url, entered.address, entered.query, cookie=entered.cookie)
        works = "Nothing to rate yet" in shown
        assert works != ("This link is not valid" in shown)
        return works

    visit(page, f"{app.url}/annotators")
    page.get_by_label("Names, one a line").fill(HOSTILE)
    page.get_by_role("button", name="Create links").click()
    sees(page, "Copy each link now")
    # Letter for letter. An invisible word joiner keeps the address from becoming a link.
    letters = re.compile(re.escape(HOSTILE).replace("http:", "http:\u2060?"))
    expect(page.get_by_text(letters).first).to_be_visible()
    first = link()
    assert opens(first)
    page.get_by_label("Names, one a line").fill(HOSTILE)
    page.get_by_role("button", name="Create links").click()
    sees(page, "can sign in already")
    assert opens(first)
    visit(page, f"{app.url}/annotators?annotator={HOSTILE}")
    expect(page.get_by_role("button", name="Renew the link")).to_be_visible()
    expect(page.get_by_test_id("stCode")).to_have_count(0)
    chosen = page.get_by_label("Annotator", exact=True).and_(page.locator("input")).first
    chosen.click()
    chosen.fill("*Zoe*")
    page.get_by_role("option").first.click()
    page.get_by_role("button", name="Renew the link").click()
    sees(page, "Copy each link now")
    second = link()
    assert not opens(first)
    assert opens(second)
    page.get_by_role("button", name="Withdraw the link").click()
    sees(page, "no longer works")
    assert not opens(second)
