"""The way from nothing to a result, by mouse and by keyboard alone."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.extensions.service.ui.conftest import PATIENCE_S, serving

if TYPE_CHECKING:
    from typing import Literal

    from playwright.sync_api import Browser, Locator, Page

    Role = Literal["button", "combobox", "link", "textbox"]

Open = Callable[..., "Page"]


def test_the_example_by_one_click_in_a_checkout(
    browser: "Browser", tmp_path: Path, project: Path
) -> None:
    errors: list[str] = []
    # A service of its own: the button is there while nothing has been measured.
    started = serving(tmp_path, "--root", ".", checkout=project)
    with started as address, browser.new_context() as context:
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.set_default_timeout(PATIENCE_S * 1000)
        page.goto(f"{address}/app/benchmarks")
        page.get_by_role("button", name="Try the example").click()
        page.get_by_role("heading", name="Example: which search mode").wait_for()
        page.get_by_text("completed").first.wait_for()
        runs = page.get_by_role("region", name="Runs").locator("tbody tr")
        runs.nth(2).wait_for()
        assert runs.count() == 3
    assert errors == []


def test_by_mouse(opened: Open, documents: Path, questions: Path) -> None:
    page = opened("/collections")
    page.get_by_role("button", name="Add a collection").first.click()
    form = page.get_by_role("dialog")
    form.get_by_label("Name").fill("By mouse")
    form.get_by_label("Path").fill(str(documents))
    form.get_by_label("Embedding model").select_option("static")
    form.get_by_role("button", name="Add").click()
    page.get_by_role("heading", name="By mouse").wait_for()
    page.get_by_role("tab", name="Try a query").wait_for()
    page.get_by_role("searchbox", name="Query").fill("docker")
    page.get_by_role("button", name="Search").click()
    for mode in ("dense", "sparse", "hybrid"):
        results = page.get_by_role("region", name=f"{mode} results")
        assert "docs/docker.md" in results.get_by_role("listitem").first.inner_text()

    page.get_by_role("link", name="Datasets").click()
    page.get_by_role("button", name="Upload a dataset").first.click()
    page.get_by_label("choose one").set_input_files(questions)
    page.get_by_text("10 queries, 10 judgments").wait_for()
    page.get_by_role("textbox", name="Name").fill("Asked by mouse")
    page.get_by_role("button", name="Upload", exact=True).click()
    page.get_by_role("heading", name="Asked by mouse").wait_for()
    page.get_by_role("combobox", name="Collection").select_option("By mouse")
    page.get_by_role("button", name="Map", exact=True).click()
    page.get_by_role("button", name="Resolve", exact=True).click()
    page.get_by_text("9 of 10").wait_for()

    # The reference that names no document is given the right one by hand.
    page.get_by_role("button", name="Find it").click()
    page.get_by_role("searchbox", name="Document").fill("theme")
    page.get_by_role("button", name="docs/themes.md").click()
    page.get_by_text("10 of 10").wait_for()

    page.get_by_role("link", name="New benchmark here").click()
    page.get_by_role("button", name="All modes").click()
    page.get_by_text("3 runs", exact=True).wait_for()
    page.get_by_role("textbox", name="Name").fill("Modes by mouse")
    page.get_by_role("button", name="Create and start").click()
    page.get_by_role("heading", name="Modes by mouse").wait_for()
    page.get_by_text("completed").first.wait_for()
    runs = page.get_by_role("region", name="Runs").locator("tbody tr")
    runs.nth(2).wait_for()
    assert runs.count() == 3
    runs.first.click()
    page.get_by_role("link", name="how do I set up docker").click()
    page.get_by_role("button", name="docs/docker.md").first.click()
    text = page.get_by_role("region", name="Text of docs/docker.md")
    assert "How to set up docker." in text.inner_text()


def test_by_keyboard(opened: Open, documents: Path, questions: Path) -> None:
    page = opened("/benchmarks")
    page.get_by_role("heading", name="Benchmarks").wait_for()
    add_collection(page, documents)
    upload(page, questions)
    focus(page, "combobox", "Collection")
    page.keyboard.press("ArrowDown")  # the newest stands first
    press(page, "Map")
    press(page, "Resolve")
    page.get_by_text("9 of 10").wait_for()

    press(page, "New benchmark here", role="link")
    press(page, "Dense against hybrid")
    page.get_by_text("2 runs", exact=True).wait_for()
    focus(page, "textbox", "Name")
    page.keyboard.type("Modes by keyboard")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Modes by keyboard").wait_for()
    page.get_by_text("completed").first.wait_for()
    page.get_by_role("region", name="Runs").wait_for()
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)
    page.get_by_role("region", name="Queries").wait_for()
    for key in ("j", "Enter"):
        page.keyboard.press(key)
    page.get_by_role("region", name="Relevant targets").wait_for()
    page.keyboard.press("j")
    page.get_by_role("region", name="Selected hit").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("region", name="Selected hit").wait_for(state="detached")


def add_collection(page: "Page", documents: Path) -> None:
    jump(page, "Collections")
    page.get_by_role("heading", name="Collections").wait_for()
    press(page, "Add a collection")
    focus(page, "textbox", "Name")
    page.keyboard.type("Keyboard")
    focus(page, "textbox", "Path")
    page.keyboard.press("Control+a")
    page.keyboard.type(str(documents))
    focus(page, "combobox", "Embedding model")
    page.keyboard.press("End")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("tab", name="Try a query").wait_for()


def upload(page: "Page", questions: Path) -> None:
    jump(page, "Datasets")
    page.get_by_role("heading", name="Datasets").wait_for()
    # Expected before the dialog is there: the browser hears of it beside the keys, and not at once.
    with page.expect_file_chooser() as chosen:
        press(page, "Upload a dataset")
        walk(page, page.get_by_label("Drop a file here, or choose one"))
        page.keyboard.press("Enter")
    chosen.value.set_files(questions)
    page.get_by_text("10 queries, 10 judgments").wait_for()
    focus(page, "textbox", "Name")
    page.keyboard.press("Control+a")
    page.keyboard.type("Asked by keyboard")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Asked by keyboard").wait_for()


def jump(page: "Page", title: str) -> None:
    """Go somewhere by a few letters."""
    page.keyboard.press("Control+k")
    page.keyboard.type(title)
    page.get_by_role("option", name=title).first.wait_for()
    page.keyboard.press("Enter")


def press(page: "Page", name: str, *, role: "Role" = "button") -> None:
    """Walk to a button by Tab, and press it."""
    walk(page, page.get_by_role(role, name=name, exact=True).first)
    page.keyboard.press("Enter")


def focus(page: "Page", role: "Role", name: str) -> None:
    """Walk to a field by Tab."""
    walk(page, page.get_by_role(role, name=name).first)


def walk(page: "Page", locator: "Locator") -> None:
    """Press Tab until *locator* has the focus; what cannot be reached so fails the test."""
    locator.wait_for()
    for _ in range(80):
        if locator.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"the keyboard does not lead to {locator}")
