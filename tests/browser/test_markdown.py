"""How the desk turns Markdown into elements: by its own script, in a browser, without a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
SCRIPT = (Path(__file__).resolve().parents[2] / "pages/desk/text.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def blank(browser: Browser) -> Iterator[Page]:
    """A page with nothing on it, which every text is drawn in: none is put into it."""
    page = browser.new_page()
    yield page
    page.close()


def drawn(page: Page, text: str, *, links: bool = False) -> str:
    """The HTML of the elements that a text becomes."""
    made = f"{SCRIPT}; const box = el('div', {{}}, marked(text, links)); return box.innerHTML"
    found: str = page.evaluate(f"([text, links]) => {{ {made} }}", [text, links])
    return found


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One\ntwo\n\n\nthree", "<p>One\ntwo</p><p>three</p>"),
        ("# A\n### B\ntext\n---", "<h3>A</h3><h4>B</h4><p>text</p><hr>"),
        (
            "*nods* **yes**, `x*y*`, 2 * 3 * 4",
            "<p><em>nods</em> <strong>yes</strong>, <code>x*y*</code>, 2 * 3 * 4</p>",
        ),
        ("- a\n  - b\n  - c\n- d", "<ul><li>a<ul><li>b</li><li>c</li></ul></li><li>d</li></ul>"),
        (
            "3. a\n\n   more\n4. b\n- c",
            '<ol start="3"><li>a<p>more</p></li><li>b</li></ol><ul><li>c</li></ul>',
        ),
        ("> *a*\n> - b\n\nc", "<blockquote><p><em>a</em></p><ul><li>b</li></ul></blockquote><p>c</p>"),
        (
            "```py\na = 1\n\n- <b>\n```\nend",
            '<pre tabindex="0"><code>a = 1\n\n- &lt;b&gt;</code></pre><p>end</p>',
        ),
        (
            "| a | b |\n|---|:-:|\n| *1* |\nend | of",
            '<div class="wide" tabindex="0"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>'
            "<tr><td><em>1</em></td><td></td></tr><tr><td>end</td><td>of</td></tr></tbody></table></div>",
        ),
        ("a | b\nc | d", "<p>a | b\nc | d</p>"),
    ],
)
def test_markdown_keeps_its_form(blank: Page, text: str, html: str) -> None:
    assert drawn(blank, text) == html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "![x](http://elsewhere.test/x.png)",
        "[x](http://elsewhere.test/)",
        "[x](javascript:alert(1))",
        ":red[x] :material/star: $x^2$ $$y$$",
        "&lt;b&gt;",
    ],
)
def test_a_models_text_loads_and_runs_nothing(blank: Page, text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    assert drawn(blank, text) == f"<p>{escaped}</p>"


def test_links_are_for_guidelines_and_lead_to_the_web_only(blank: Page) -> None:
    assert drawn(blank, "[x](https://elsewhere.test/a)", links=True) == (
        '<p><a href="https://elsewhere.test/a" target="_blank" rel="noopener noreferrer">x</a></p>'
    )
    assert drawn(blank, "[x](javascript:alert)", links=True) == "<p>[x](javascript:alert)</p>"


def test_long_runs_of_marks_take_no_longer_than_words(blank: Page) -> None:
    words = "word " * 40_000
    hostile = ["*" * 200_000, "- " * 100_000, "> " * 100_000, "a|" * 50_000 + "\n" + "-" * 100_000 + "x"]
    hostile += ["# " * 100_000, "`" * 100_000 + "x", "** " * 60_000]
    timed = f"{SCRIPT}; const start = performance.now(); marked(text); return performance.now() - start"
    ratio = 200  # patterns that go back over the text take thousands of times as long
    usual = max(5.0, *(blank.evaluate(f"text => {{ {timed} }}", words) for _ in range(3)))
    slow = {text[:6]: blank.evaluate(f"text => {{ {timed} }}", text) / usual for text in hostile}
    assert max(slow.values()) < ratio, slow
