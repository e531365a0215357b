"""Runs against a baseline: it is chosen in three ways, and every count leads to its queries."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("playwright.sync_api")

from playwright.sync_api import expect

if TYPE_CHECKING:
    import httpx
    from playwright.sync_api import Locator, Page

Open = Callable[..., "Page"]


def token(page: "Page", mode: str) -> "Locator":
    runs = page.get_by_role("toolbar", name="Runs against the baseline")
    return runs.get_by_role("button", name=mode)


def test_a_run_becomes_the_baseline_by_mouse_and_by_key(
    opened: Open, prepared: tuple[str, ...]
) -> None:
    page = opened(f"/benchmarks/{prepared[-1]}/compare")
    baseline = page.get_by_role("combobox", name="Baseline")
    expect(baseline).to_contain_text("dense")
    token(page, "hybrid").drag_to(baseline)
    expect(token(page, "hybrid")).to_have_count(0)
    expect(token(page, "dense")).to_be_visible()
    token(page, "sparse").focus()
    page.keyboard.press("b")
    expect(token(page, "sparse")).to_have_count(0)
    expect(baseline).to_be_focused()
    page.reload()
    expect(token(page, "hybrid")).to_be_visible()
    expect(token(page, "sparse")).to_have_count(0)


def test_a_count_leads_to_the_queries_that_it_counts(
    opened: Open, prepared: tuple[str, ...], api: "httpx.Client"
) -> None:
    benchmark = prepared[-1]
    comparison = api.get(f"/benchmarks/{benchmark}/comparison").json()
    other = next(run for run in comparison["runs"] if run["run_id"] != comparison["baseline"])
    page = opened(f"/benchmarks/{benchmark}/compare?baseline={comparison['baseline']}")
    page.get_by_role("button", name=f"{other['tied']} tied in {other['name']}").click()
    queries = page.get_by_role("region", name="Queries").locator("tbody tr")
    expect(queries).to_have_count(other["tied"])
    pressed = page.get_by_role("button", name="tied", pressed=True)
    expect(pressed).to_contain_text(str(other["tied"]))
    pressed.click()
    expect(queries).to_have_count(other["improved"] + other["regressed"] + other["tied"])
