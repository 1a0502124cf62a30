"""What several tests take from `test_every_page`: EXCEPTED, GRAVE, faults."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

EXCEPTED = {
    "list": "[data-testid=stSidebarNav]",
    "listitem": "[data-testid=stSidebarNav]",
    "svg-img-alt": "[data-testid=stVegaLiteChart] svg",
}
"""Rules of axe-core that do not hold within elements which libraries draw, and no setting or style of ours
changes. Streamlit's navigation puts a <div> around each section between <ul> and its <li>. Vega draws a
nameless group for a mark without items, such as intervals that nothing has; the chart itself has a name.
"""


GRAVE = ("serious", "critical")


def faults(page: Page, *rules: str) -> list[str]:
    """What axe-core calls serious or critical, of all its rules or of these, less what is excepted."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], "preload": False, **({"runOnly": rules} if rules else {})}
    found = page.evaluate("options => axe.run(options).then(results => results.violations)", options)
    within = "([target, place]) => document.querySelector(target).closest(place) !== null"
    return [
        f"{v['id']}: {node['target']} {node['html'][:120]}"
        for v in found
        if v["impact"] in GRAVE
        for node in v["nodes"]
        if v["id"] not in EXCEPTED or not page.evaluate(within, [node["target"][0], EXCEPTED[v["id"]]])
    ]
