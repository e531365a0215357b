"""The exported report: opened from the service, in a sandbox, it works like from disk."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

Open = Callable[..., "Page"]


def test_the_report_works_in_its_sandbox(opened: Open, prepared: tuple[str, ...]) -> None:
    page = opened("/benchmarks")
    address = page.url.replace("/app/benchmarks", f"/api/v2/benchmarks/{prepared[-1]}/report.html")
    page.goto(address)
    page.get_by_role("heading", name="Runs", exact=True).wait_for()
    assert page.locator("h1").inner_text().startswith("Modes ")
    page.get_by_role("link", name="how do I set up docker").first.click()
    page.get_by_role("heading", name="All runs on this query").wait_for()
    assert page.url == f"{address}#/queries/docker"
    page.go_back()
    page.get_by_role("button", name="Colours: system").click()
    page.get_by_role("heading", name="Runs", exact=True).wait_for()
    assert page.title() != "taken"
