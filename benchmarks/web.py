"""Smoothness of the web page: time to first use, and frame times of a very large benchmark.

A real `karat serve` runs 50 configurations over 1,000 queries of Karat's own source. A real browser
then opens the first page several times, scrolls and sorts the table of queries, and moves over the
heat map. A frame is smooth up to 50 ms; beyond that an eye sees it stop. On a busy machine frames
wait for the processor, not for the page: only an idle one shows what it can do.

    .venv/bin/python benchmarks/web.py
    .venv/bin/python benchmarks/web.py --queries 200 --depths 5
"""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

# Not this folder itself: its statistics.py would hide the standard library's.
sys.path[0] = str(Path(__file__).parent / "support")

from live_service import ROOT, gold, prepared, service  # noqa: E402

from karat.client import Client  # noqa: E402
from karat.scoring.stats.moments import percentiles  # noqa: E402

CHROMIUM = ROOT / ".venv" / "chromium" / "chromium"
SMOOTH_MS = 50.0
USABLE_MS = 1_000.0
VISITS = 7
TABLE = "section[aria-label='Benchmarks'] tbody"
# When the table is there, by the page's own clock.
USABLE = f"""
new MutationObserver((_, self) => {{
  if (!document.querySelector("{TABLE}")) return;
  window.usable = performance.now();
  self.disconnect();
}}).observe(document, {{ childList: true, subtree: true }});
"""
RECORD = """
window.frames_ms = [];
let before = performance.now();
requestAnimationFrame(function note(now) {
  window.frames_ms.push(now - before);
  before = now;
  window.recording = requestAnimationFrame(note);
});
"""
STOP = "cancelAnimationFrame(window.recording); window.frames_ms"
SCROLL = """
table => new Promise(done => {
  let left = 120;
  requestAnimationFrame(function step() {
    table.scrollTop += table.scrollHeight / 120;
    if (left-- > 0) requestAnimationFrame(step); else done();
  });
})
"""


def visits(page: Page, address: str) -> list[float]:
    """Return how long the first page took to be usable, each time it was opened."""
    page.add_init_script(USABLE)
    found = []
    for _ in range(VISITS):
        page.goto(f"{address}/app/benchmarks")
        page.locator(TABLE).wait_for()
        found.append(float(page.evaluate("window.usable")))
    return found


def frames(page: Page, act: Callable[[], object]) -> list[float]:
    """Return how long each frame took while *act* was done."""
    page.evaluate(RECORD)
    act()
    return [float(one) for one in page.evaluate(STOP)]


def wander(page: Page) -> None:
    """Move over the heat map from corner to corner."""
    box = page.get_by_role("application").bounding_box()
    assert box
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] - 1, steps=150)


def sort(page: Page) -> None:
    """Sort the table of queries by each of its columns, up and down."""
    heads = page.get_by_role("region", name="Queries").locator("thead button")
    for at in range(heads.count()):
        heads.nth(at).click()
        heads.nth(at).click()


def told(name: str, values: Sequence[float], goal: float) -> None:
    """Print one line about *values*."""
    p50, p95 = percentiles(values, (50, 95))
    late = sum(value > goal for value in values)
    print(f"{name:34} p50 {p50:5.0f} ms, p95 {p95:5.0f} ms, longest {max(values):5.0f} ms", end="")
    print(f", {late} of {len(values)} above {goal:,.0f} ms")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--depths", type=int, default=25, help="values of top_k, each in two modes")
    options = parser.parse_args()
    matrix = {
        "search_modes": ["sparse", "dense"],
        "top_k_values": list(range(10, 10 + options.depths)),
    }
    program = str(CHROMIUM) if CHROMIUM.exists() else shutil.which("chromium")
    libraries = {"LD_LIBRARY_PATH": str(CHROMIUM.parent / "lib")} if CHROMIUM.exists() else {}
    with tempfile.TemporaryDirectory(prefix="karat-web-") as name, sync_playwright() as started:
        folder = Path(name)
        asked = folder / "gold.json"
        asked.write_text(gold(options.queries, 1), encoding="utf-8")
        with service(folder) as (address, _), Client(address) as client:
            benchmark = prepared(client, asked, matrix)
            client.start(benchmark)
            for _event in client.events(benchmark):
                pass
            browser = started.chromium.launch(
                executable_path=program, args=["--disable-gpu"], env={**os.environ, **libraries}
            )
            page = browser.new_page(viewport={"width": 1280, "height": 860})
            page.set_default_timeout(120_000)
            told("first page until it is usable", visits(page, address), USABLE_MS)
            page.goto(f"{address}/app/benchmarks/{benchmark}/compare?tab=queries")
            table = page.get_by_role("region", name="Queries")
            table.locator("tbody tr[data-index='0']").wait_for()
            told("scrolling the queries", frames(page, lambda: table.evaluate(SCROLL)), SMOOTH_MS)
            told("sorting the queries", frames(page, lambda: sort(page)), SMOOTH_MS)
            page.goto(f"{address}/app/benchmarks/{benchmark}?tab=heat")
            page.get_by_role("application").wait_for()
            told("moving over the heat map", frames(page, lambda: wander(page)), SMOOTH_MS)
            browser.close()


if __name__ == "__main__":
    main()
