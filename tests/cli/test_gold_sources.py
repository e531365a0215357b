"""A gold set that karat.yaml describes, and an extension makes."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.extension import GoldSource
from karat.model import Dataset, Query, Target
from tests.extension_kit import EmptyGold, install_gold_source

Karat = Callable[..., CompletedProcess[str]]
COMMAND = ("evaluate", "--config", "karat.yaml", "--corpus", "docs", "-e", "bm25")


@pytest.fixture(autouse=True)
def folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with documents; there is a source with two keys."""
    install_gold_source(monkeypatch)
    (folder / "docs").mkdir()
    for word in ("apple", "pear", "plum"):
        (folder / "docs" / f"{word}.md").write_text(f"The {word} is ripe.\n")
    return folder


def test_the_source_makes_the_gold_set(
    karat: Karat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(_source: GoldSource, settings: Mapping[str, object]) -> Dataset:
        words = ("apple", "pear", "plum")[: int(str(settings["amount"]))]
        return Dataset.of([Query(word, word, (Target(f"{word}.md"),)) for word in words])

    monkeypatch.setattr(EmptyGold, "make", make)
    (folder / "karat.yaml").write_text("dataset: {amount: 2}\n")
    done = karat(*COMMAND, "-m", "hit@1", "--timed", "none", "--json")
    assert done.returncode == 0, done.stderr
    queries = json.loads(done.stdout)["run"]["queries"]
    assert [query["scores"] for query in queries] == [{"hit@1": 1.0}] * 2


def test_settings_that_make_nothing(karat: Karat, folder: Path) -> None:
    (folder / "karat.yaml").write_text("dataset: {amount: 2}\n")
    done = karat(*COMMAND)
    assert done.returncode == 2
    assert "Expected a gold set, or --config FILE with a section dataset." in done.stderr


def test_a_key_that_no_source_has(karat: Karat, folder: Path) -> None:
    (folder / "karat.yaml").write_text("dataset: {amonut: 2}\n")
    done = karat(*COMMAND)
    assert done.returncode == 2
    assert "dataset.amonut: unknown key; did you mean 'amount'? valid keys: gold_set" in done.stderr
