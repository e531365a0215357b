"""Searches that a service offers: named when it starts, and by nobody else."""

import json
from pathlib import Path

import pytest

from karat.engines.spec import build
from karat.errors import InputError
from karat.extensions.service.benchmarks import chosen_engines, kind_of, offered_engines
from karat.model.spec import Spec

URL = "http://localhost:9200/find?q={query}&n={k}"


def test_a_target_is_an_http_search() -> None:
    engines = offered_engines(targets=[f"docs={URL}"])
    assert list(engines) == ["docs"]
    # The address holds further equals signs, and stays whole.
    assert engines["docs"].params == {"name": "docs", "redirects": 0, "url": URL}
    assert build(engines["docs"]).name == "docs"


def test_an_engine_is_whatever_can_be_evaluated(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(f"engine: http\nurl: {URL}\nredirects: 2\ntimeout_s: 5\n", encoding="utf-8")
    command = json.dumps({"engine": "command", "command": ["true"], "name": "given"})
    engines = offered_engines(
        [
            "words=bm25(k1=0.5)",
            "class=karat.engines.keyword:KeywordEngine",
            f"file={file}",
            f"command={command}",
        ]
    )
    assert {name: kind_of(spec) for name, spec in engines.items()} == {
        "words": "bm25",
        "class": "python",
        "file": "http",
        "command": "command",
    }
    assert engines["file"].params["redirects"] == "2"
    assert engines["file"].params["name"] == "file"
    assert engines["command"].params["name"] == "given"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("docs", "engine 'docs': expected NAME="),
        ("=bm25", "expected NAME="),
        ("http://localhost/?q=bm25", "expected NAME="),
        ("../docs=bm25", "expected NAME="),
        (f"{'n' * 65}=bm25", "expected NAME="),
        ("sparse=bm25", "engine 'sparse': a search mode has this name"),
        ("own=bm52", "engine 'own': no engine named 'bm52'; did you mean 'bm25'"),
        ("own=bm25(k2=1)", "engine 'own': bm25: no option 'k2'"),
        ("own=nowhere:Search", "engine 'own': cannot load engine 'nowhere:Search'"),
        ("own=http(url=http://localhost/)", "contains {query}"),
        ("own=http(url=http://ada:pw@localhost/{query})", "contains a password"),
        ("own=http(url=http://localhost/?q={query}&api_key=abc)", "'api_key' contains a secret"),
        ("own=nowhere.yaml", "no such file"),
    ],
)
def test_what_cannot_be_offered(given: str, says: str) -> None:
    with pytest.raises(InputError, match="engine ") as caught:
        offered_engines([given])
    assert says in str(caught.value)


def test_a_target_is_an_address() -> None:
    with pytest.raises(InputError, match="engine 'docs': http: url: expected an address"):
        offered_engines(targets=["docs=/etc/passwd?{query}"])


def test_a_class_that_cannot_be_made() -> None:
    with pytest.raises(
        InputError,
        match="engine 'own': Unlicensed: cannot create the engine: RuntimeError: no licence",
    ):
        offered_engines([f"own={__name__}:Unlicensed"])


class Unlicensed:
    """An engine that does not start."""

    def __init__(self) -> None:
        raise RuntimeError("no licence")


def test_a_name_is_given_once() -> None:
    with pytest.raises(InputError, match="engine 'docs' is given twice"):
        offered_engines(["docs=bm25"], [f"docs={URL}"])


def test_what_a_request_may_choose() -> None:
    offered = {name: Spec("engine", "bm25", {"k1": name}) for name in ("a", "b", "c")}
    assert list(chosen_engines(["c", "a"], offered)) == ["c", "a"]
    assert chosen_engines([], {}) == {}
    for name in ("bm25", "d", "A", URL, "os:system", '{"engine": "bm25"}', "own.yaml"):
        with pytest.raises(InputError, match=r"on this service; offered: a, b, c$"):
            chosen_engines([name], offered)
    with pytest.raises(InputError, match="offered: none, it was started without --http-target"):
        chosen_engines(["a"], {})
    with pytest.raises(InputError, match="'a' more than once"):
        chosen_engines(["a", "b", "a"], offered)
