"""Make the pictures of README.md and docs/report.md: a fresh service with the bundled example.

Run ``.venv/bin/python docs/pictures.py`` after a change of the page. It takes half a minute, and
needs ``make .venv/.test .venv/chromium/chromium``.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
from PIL import Image
from playwright.sync_api import FloatRect, Page, ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
CHROMIUM = ROOT / ".venv" / "chromium"
PATIENCE_S = 600
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 1100, "height": 1000}
MARGIN = 12
# How much better one run answers the query that is shown.
GAIN = 0.3


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Start a service with an empty store; give its address."""
    command = [sys.executable, "-m", "karat", "serve", "--port", "0", "--root", str(folder)]
    command += ["--store", str(folder / "karat.db"), "--data", str(folder / "data")]
    with (folder / "log").open("w+", encoding="utf-8") as log:
        started = subprocess.Popen(command, stderr=log)  # noqa: S603 - its own command
        try:
            while not (
                found := re.search(r"running at (\S+)", (folder / "log").read_text("utf-8"))
            ):
                if started.poll() is not None:
                    sys.exit((folder / "log").read_text("utf-8"))
                time.sleep(0.1)
            yield found[1]
        finally:
            started.terminate()
            started.wait(30)


def example(address: str) -> dict[str, Any]:
    """Return the results of the example benchmark, once it is completed."""
    end = time.monotonic() + PATIENCE_S
    with httpx.Client(base_url=f"{address}/api/v2", timeout=60) as api:
        while time.monotonic() < end:
            made = api.post("/examples").raise_for_status().json()
            if made["status"] == "completed":
                path = f"/benchmarks/{made['benchmark_id']}/results"
                found: dict[str, Any] = api.get(path).raise_for_status().json()
                return found
            if made["status"] in {"failed", "cancelled"}:
                break
            time.sleep(1)
    sys.exit(f"the example is {made['status']}")


def telling_query(address: str, benchmark: str, left: str, right: str) -> str:
    """Return a query that *right* answers better, with the most hits that both runs returned."""

    def hits(run: dict[str, Any]) -> set[tuple[str, int]]:
        return {(hit["path"], hit["start_line"]) for hit in run["hits"]}

    shared: dict[str, int] = {}
    with httpx.Client(base_url=f"{address}/api/v2/benchmarks/{benchmark}", timeout=60) as api:
        matrix = api.get("/matrix").raise_for_status().json()
        first, second = (matrix["runs"].index(run) for run in (left, right))
        for query, row in zip(matrix["queries"], matrix["values"], strict=True):
            if (row[second] or 0) - (row[first] or 0) < GAIN:
                continue
            found = api.get(f"/queries/{query}").raise_for_status().json()["runs"]
            shared[query] = len(hits(found[first]) & hits(found[second]))
    return max(shared, key=shared.__getitem__)


def save(page: Page, name: str, *, height: float = 0) -> None:
    """Write the picture *name* of what is on view, or of the page down to *height*."""
    clip: FloatRect = {"x": 0, "y": 0, **(page.viewport_size or WIDE)}
    if height:
        clip["height"] = height
    taken = page.screenshot(full_page=bool(height), clip=clip, animations="disabled")
    # A palette takes a third of the bytes; with k-means, large areas and rare colours stay exact.
    picture = Image.open(BytesIO(taken)).convert("RGB")
    palette = picture.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=5, dither=Image.Dither.NONE)
    palette.save(IMAGES / f"{name}.png", optimize=True)


def main() -> None:
    """Write the three pictures."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as address:
        results = example(address)
        benchmark = results["benchmark_id"]
        order = sorted(results["runs"], key=lambda run: run["metrics_flat"]["ndcg@10"])
        worst, *_, best = (run["id"] for run in order)
        query = telling_query(address, benchmark, worst, best)
        here = f"{address}/app/benchmarks/{benchmark}"
        environment: dict[str, str | float | bool] = {
            **os.environ,
            "LD_LIBRARY_PATH": str(CHROMIUM / "lib"),
        }
        with sync_playwright() as started:
            browser = started.chromium.launch(
                executable_path=CHROMIUM / "chromium", args=["--disable-gpu"], env=environment
            )
            page = browser.new_page(viewport=WIDE, color_scheme="light", locale="en-GB")
            page.goto(here)
            page.wait_for_load_state("networkidle")
            last = page.locator("figure", has_text="at different k").bounding_box()
            save(page, "results", height=last["y"] + last["height"] + MARGIN if last else 0)
            page.set_viewport_size(NARROW)
            page.goto(f"{here}/compare?tab=queries&baseline={worst}&run={best}")
            page.wait_for_load_state("networkidle")
            save(page, "compare")
            page.goto(f"{here}/queries/{query}?left={worst}&right={best}")
            page.locator(".hit.relevant").last.click()
            # The colours of the language come later than the text.
            page.locator(".hljs-keyword").first.wait_for()
            page.evaluate("window.scrollTo(0, 0)")
            save(page, "query")
            browser.close()


if __name__ == "__main__":
    main()
