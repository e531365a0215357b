"""Slots with other code are rejected: of the core, and of the extensions that are used."""

from pathlib import Path

import pytest

from karat import discovery
from karat.engines.spec import parse_spec
from karat.extension import Extension
from karat.extensions.cluster import fingerprint as module
from karat.extensions.cluster.driver import check_slot
from karat.extensions.cluster.fingerprint import Fingerprint, fingerprint, used_extensions
from karat.extensions.cluster.pool import Slot
from tests.extension_kit import install

PLUGIN = """
from karat.extension import Extension

def build(reverse: bool = False):
    return None

EXTENSION = Extension(
    "substring", "An engine.", adds={"engine": {"substring": f"{__name__}:build"}}
)
"""


@pytest.fixture
def plugin(tmp_path: Path, fresh_extensions: None) -> Path:
    """Return a plug-in file with the engine ``substring``, loaded until the end of the test."""
    file = tmp_path / "substring.py"
    file.write_text(PLUGIN)
    discovery.add_files([str(file)])
    return file


def current() -> Fingerprint:
    return fingerprint.__wrapped__()


def test_a_file_is_in_the_fingerprint_with_its_content(plugin: Path) -> None:
    before = current()
    assert "substring " in before.extensions
    plugin.write_text(plugin.read_text() + "\n# another version\n")
    after = current()
    assert after.karat == before.karat
    assert after.extensions != before.extensions
    problem = module.rejection(before, after)
    assert problem.startswith("different extension substring: ")


def test_data_files_are_in_the_hash_of_a_folder(tmp_path: Path) -> None:
    names = ["a.py", "lexical/word_lists/stop_words.txt", "queries/python.scm"]
    for name in (*names, "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name)
    found = module._code(tmp_path)
    assert sorted(file.relative_to(tmp_path).as_posix() for file in found) == names


def test_only_a_used_extension_must_be_on_a_slot(
    plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = current()
    monkeypatch.setattr("karat.extensions.cluster.driver.fingerprint", lambda: here)
    others = ", ".join(
        each for each in here.extensions.split(", ") if not each.startswith("substring ")
    )
    slot = Slot("a", "node7", here._replace(extensions=others))
    assert check_slot(slot, used_extensions([parse_spec("bm25")])) == ""
    rejected = check_slot(slot, used_extensions([parse_spec("substring")]))
    assert rejected == (
        f"no extension substring; {plugin} is loaded on this machine only; "
        "make it a package, and install it there"
    )


def test_what_a_used_extension_needs_is_used(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = Extension("base", "For others.", adds={"chunker": {"halves": "base:halves"}})
    over = Extension("over", "An engine.", adds={"engine": {"over": "over:build"}}, needs=("base",))
    install(monkeypatch, base, over)
    monkeypatch.setattr(module, "_defaults", lambda spec: spec.name)
    assert used_extensions([parse_spec("bm25")]) == set()
    assert used_extensions([parse_spec("bm25(chunker=halves)")]) == {"base"}


def test_a_library_is_in_the_fingerprint_where_an_engine_needs_it(
    plugin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "client.py").write_text("WAIT_S = 1\n")
    monkeypatch.setattr("karat.extensions.__path__", [str(tmp_path)])
    install(monkeypatch, Extension("library", "For others."))
    assert "library " not in current().extensions
    over = Extension(
        "over", "An engine.", adds={"engine": {"over": "over:build"}}, needs=("library",)
    )
    install(monkeypatch, over)
    before = current().extensions
    assert "library " in before
    (folder / "client.py").write_text("WAIT_S = 2\n")
    assert current().extensions != before
    monkeypatch.setattr(module, "_defaults", lambda spec: spec.name)
    assert used_extensions([parse_spec("over")]) == {"over", "library"}


def test_a_default_option_counts_as_named(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Extension("parts", "Chunks.", adds={"context": {"auto": "parts:auto"}}))
    assert used_extensions([parse_spec("bm25")]) == {"parts"}
