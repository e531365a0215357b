"""A service that others can reach: the page asks for a token, and no script ever sees it again."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def test_the_page_asks_for_a_token_and_goes_on_with_it(
    browser: "Browser", guarded: tuple[str, str]
) -> None:
    address, token = guarded
    page = browser.new_context().new_page()
    page.set_default_timeout(120_000)
    page.goto(f"{address}/app/benchmarks")
    dialog = page.get_by_role("dialog", name="This server needs a token")
    dialog.get_by_label("Token").fill("karat_wrong")
    dialog.get_by_role("button", name="Continue").click()
    dialog.get_by_text("The token is not valid").wait_for()
    dialog.get_by_label("Token").fill(token)
    dialog.get_by_role("button", name="Continue").click()
    page.get_by_text("Nothing has been measured yet").wait_for()
    assert (
        page.evaluate("document.cookie + Object.values({...localStorage, ...sessionStorage})") == ""
    )
    page.reload()
    page.get_by_text("Nothing has been measured yet").wait_for()
    page.context.close()
