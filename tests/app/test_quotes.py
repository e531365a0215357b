"""Targets that are quotes: found in the corpus, with everything that needs attention reported."""

from pathlib import Path

import pytest

from karat.app.resolve import MOST_PASSAGES, Passage, Quote, locate_quotes, resolve, resolve_for
from karat.app.score import load_judgments
from karat.corpus import from_texts
from karat.errors import FormatError, InputError
from karat.experiments.target_check import Where
from karat.formats import read_dataset, write
from karat.model import Dataset, Query, Target

TEXTS = {
    "docs/deploy.md": "# Deploy\n\nPush to the server\nwith git.\n",
    "docs/keys.md": "# Keys\n\nRotate the key.\n\nThe end.\n",
    "docs/old.md": "Old.\nRotate the key.\n",
}


def quote(text: str, path: str = "", grade: float = 1) -> Target:
    return Target(path, grade, symbol=text, ref="quote")


def dataset(*targets: Target) -> Dataset:
    queries = [Query(f"q{n}", f"question {n}", (target,)) for n, target in enumerate(targets)]
    return Dataset.of(queries, match="lines", name="quotes")


def test_exact_before_other_white_space() -> None:
    corpus = from_texts({"a": "x y\nx  y", "b": "x\n\ty"})
    assert locate_quotes(corpus, [Quote("x y")])[Quote("x y")] == [Passage("a", 1, 1)]
    folded = Quote("x\ny")
    assert locate_quotes(corpus, [folded])[folded] == [
        Passage("a", 1, 1),
        Passage("a", 2, 2),
        Passage("b", 1, 2),
    ]
    many = from_texts({"a": "x\n" * 99})
    assert len(locate_quotes(many, [Quote("x")])[Quote("x")]) == MOST_PASSAGES
    assert locate_quotes(many, [Quote(" ")]) == {Quote(" "): []}


def test_each_kind_of_result() -> None:
    gold = dataset(
        quote("Push to the server with git.", grade=2),
        quote("Rotate the key."),
        quote("Rotate the key.", "/srv/docs/keys.md"),
        quote("It is gone."),
        quote("It is gone.", "docs/keys.md"),
    )
    resolution = resolve(gold, from_texts(TEXTS))
    assert [resolution.dataset.targets(row) for row in range(5)] == [
        [Target("docs/deploy.md", 2, 3, 4)],
        [Target("docs/keys.md", 1, 3, 3)],
        [Target("docs/keys.md", 1, 3, 3)],
        [Target("It is gone.", ref="quote")],
        [Target("docs/keys.md")],
    ]
    assert resolution.dataset.extras[1]["alternatives"] == [
        {
            "path": "docs/old.md",
            "start_line": 2,
            "end_line": 2,
            "target": {"path": "docs/keys.md", "start_line": 3, "end_line": 3},
        }
    ]
    assert (resolution.mapped_count, resolution.total_count) == (4, 5)
    assert resolution.notes() == [
        "1 of 5 references: not found in the corpus, counted as missed; query 'q3': quote "
        "'It is gone.'",
        "1 of 5 references: found in several places; a hit on any of them counts; query 'q1': "
        "quote 'Rotate the key.': docs/keys.md:3, docs/old.md:2",
        "1 of 5 references: not in its document, which is the target as a whole; query 'q4': "
        "quote 'It is gone.': docs/keys.md",
    ]


def test_a_reference_by_hand_is_the_whole_document() -> None:
    gold = dataset(quote("It is gone."))
    lost = resolve(gold, from_texts(TEXTS)).unresolved[0]
    by_hand = {("q0", lost.doc_ref_hash): "docs/old.md"}
    resolution = resolve(gold, from_texts(TEXTS), by_hand=by_hand)
    assert resolution.dataset.targets(0) == [Target("docs/old.md")]


def test_nothing_is_read_where_all_references_are_paths() -> None:
    assert resolve_for(dataset(Target("a.py")), Where(corpus="absent")) is None


def test_quotes_in_files(tmp_path: Path) -> None:
    table = tmp_path / "gold.csv"
    table.write_text("question,context,file\nwho,it is me,a.md\nhow,\"['x', 'y']\",\n")
    data = read_dataset(table)
    assert data.match == "lines"
    assert data.targets(0) == [quote("it is me", "a.md")]
    assert data.targets(1) == [quote("x"), quote("y")]
    path = tmp_path / "gold.json"
    write(data, path)
    assert '"quote": "it is me"' in path.read_text()
    assert list(read_dataset(path).queries()) == list(data.queries())
    path.write_text(
        '{"test_cases": [{"id": "1", "query": "who", "targets": [{"quote": "x", "symbol": "f"}]}]}'
    )
    with pytest.raises(FormatError, match="a quote has neither a symbol nor lines"):
        read_dataset(path)
    back = tmp_path / "back.csv"
    write(data, back, format="csv")
    assert list(read_dataset(back).queries()) == list(data.queries())
    with pytest.raises(InputError, match="'trec-qrels' cannot hold quoted passages as targets"):
        write(data, back, format="trec-qrels")


def test_resolved_quotes_are_kept_in_a_file(tmp_path: Path) -> None:
    gold = dataset(quote("Rotate the key."), quote("It\nis gone."))
    resolved = resolve(gold, from_texts(TEXTS)).dataset
    path = tmp_path / "resolved.json"
    write(resolved, path)
    again = load_judgments(path)
    assert isinstance(again, Dataset)
    assert list(again.queries()) == list(resolved.queries())
    assert again.targets(1) == [Target("It is gone.", ref="quote")]


def test_a_run_cannot_be_scored_before_quotes_are_found(tmp_path: Path) -> None:
    table = tmp_path / "gold.csv"
    table.write_text("question,quote\nwho,it is me\n")
    with pytest.raises(
        InputError, match=r"targets are quotes.*run karat resolve .*gold\.csv CORPUS"
    ):
        load_judgments(table)
