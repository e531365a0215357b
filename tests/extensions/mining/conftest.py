"""A history with cases to mine."""

import pytest

from tests.git_history import Builder


@pytest.fixture
def project(history: Builder) -> Builder:
    """Return a repository with six good cases among commits that are none.

    A case is a commit that makes a module return its number; the fourth changes two modules.
    """
    modules = [f"shop/{name}.py" for name in ("cart", "price", "stock", "mail", "login", "report")]
    history.commit({path: _module(path, 0) for path in modules}, "Start")
    for number, (path, message) in enumerate(zip(modules, MESSAGES, strict=True), 1):
        files = {path: _module(path, number), f"tests/test_{number}.py": "assert True\n"}
        if number == 4:
            files |= {modules[0]: _module(modules[0], number)}
        history.commit(files, message)
        history.commit({f"docs/page{number}.md": "Text.\n"}, f"Document the {path} page nicely")
    history.commit({modules[1]: f"# A note.\n{_module(modules[1], 2)}"}, COMMENT)
    return history


MESSAGES = (
    "Fixed #1 -- Kept the cart when visitors reload the page",
    "Round the price of bundles to whole cents",
    "Warn when the stock of an article runs low",
    "Send a mail for each abandoned cart",
    "fix: lock the login after five wrong passwords (#5)",
    "Show the monthly report by country in get_report",
)
COMMENT = "Make bundles cheaper for visitors from abroad"


def _module(path: str, number: int) -> str:
    name = path.removeprefix("shop/").removesuffix(".py")
    return f"import os\n\n\ndef get_{name}():\n    return {number}\n"
