"""Without its package an engine says what to install, and leaves nothing behind."""

import sys
from typing import Any

import pytest

from karat.corpus import from_texts
from karat.engines.spec import build
from karat.errors import MissingExtra


@pytest.mark.parametrize(
    ("package", "config", "message"),
    [
        (
            "httpx",
            {"engine": "http", "url": "http://localhost/{query}?{root}"},
            r"the engine http needs the extra http: pip install .*\[http\]'",
        ),
        (
            "mcp",
            {"engine": "mcp", "command": ["true"], "tool": "find"},
            r"the engine mcp needs the extra mcp: pip install .*\[mcp\]'",
        ),
    ],
)
def test_the_install_line(
    package: str, config: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = build(config)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=message):
        engine.index(from_texts({"a": "x"}))
