"""karat compare --set: several BEIR folders, whose query ids are the same, as one experiment."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

# A text and its words for each document; the query of one is a word that only it has.
CORPORA = {
    "animals": ("lion roars", "salmon swims", "eagle glides"),
    "tools": ("hammer hits", "saw cuts", "drill turns", "plane smooths"),
    "plants": ("oak grows", "moss creeps"),
}
RUN = ("--agents", "keyword", "bm25", "-m", "mrr,hit@1", "--draws", "199")


def write_beir(folder: Path, name: str, texts: tuple[str, ...], *, wrong: int = 0) -> None:
    """Write a BEIR folder; the first *wrong* queries have a target that their words are not in."""
    home = folder / name
    (home / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}", "title": "", "text": text} for n, text in enumerate(texts)]
    queries = [{"_id": f"q{n}", "text": text.split()[0]} for n, text in enumerate(texts)]
    for file, rows in (("corpus", documents), ("queries", queries)):
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (home / f"{file}.jsonl").write_text(lines, encoding="utf-8")
    targets = [(n + 1) % len(texts) if n < wrong else n for n in range(len(texts))]
    judged = "".join(f"q{n}\td{target}\t1\n" for n, target in enumerate(targets))
    text = f"query-id\tcorpus-id\tscore\n{judged}"
    (home / "qrels" / "test.tsv").write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def beir(folder: Path) -> Path:
    """Return a folder of three corpora; 1 of 3, 2 of 4 and 0 of 2 queries find nothing."""
    home = folder / "beir"
    for wrong, (name, texts) in zip((1, 2, 0), CORPORA.items(), strict=True):
        write_beir(home, name, texts, wrong=wrong)
    return home


def rows_of(text: str) -> dict[str, list[str]]:
    """Return the cells of the first table by the title of their row, the first of each."""
    rows: dict[str, list[str]] = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("  ") if cell.strip()]
        if len(cells) > 1:
            rows.setdefault(cells[0], cells[1:])
    return rows


def test_macro_and_micro_means_worked_by_hand(karat: Karat) -> None:
    done = karat("compare", "--set", "beir/animals", "beir/tools", "beir/plants", *RUN)
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    assert rows["corpus"] == ["keyword", "bm25"]
    # A query finds its document first, or not at all.
    assert rows["animals (3)"] == ["0.667", "0.667"]
    assert rows["tools (4)"] == ["0.500", "0.500"]
    assert rows["plants (2)"] == ["1.000", "1.000"]
    assert rows["macro mean"] == ["0.722", "0.722"]
    assert rows["micro mean"] == ["0.667", "0.667"]
    assert rows["better in"] == ["0 of 3"]
    assert "these 3 corpora, of which only the queries are a sample" in " ".join(
        done.stdout.split()
    )
    assert done.stderr.index("animals (1 of 3)") < done.stderr.index("plants (3 of 3)")


def test_a_folder_holds_the_sets_and_stored_results_are_reused(karat: Karat) -> None:
    first = karat("compare", "--set", "beir", *RUN)
    again = karat("compare", "--set", "beir", *RUN)
    assert (again.returncode, again.stdout) == (0, first.stdout)
    listed = karat("runs", "list")
    # An experiment for each corpus, and no second one.
    assert listed.stdout.count("keyword") == 3


def test_json_has_ids_by_corpus_and_a_comparison_of_each(karat: Karat) -> None:
    done = karat("compare", "--set", "beir", *RUN, "--json")
    result = json.loads(done.stdout)
    ids = [query["query_id"] for query in result["runs"][0]["queries"]]
    assert ids[:3] == ["animals:q0", "animals:q1", "animals:q2"]
    assert len(set(ids)) == 9
    assert set(result["slices"]["corpus"]) == {"animals", "tools", "plants"}


def test_a_report_has_the_table_of_all_corpora(karat: Karat, folder: Path) -> None:
    done = karat("compare", "--set", "beir", *RUN, "-o", "report.md")
    assert done.returncode == 0, done.stderr
    report = (folder / "report.md").read_text(encoding="utf-8")
    assert "| tools (4) |" in report
    assert "| macro mean |" in report


def test_six_corpora_are_a_sample(karat: Karat, folder: Path) -> None:
    for number in range(6):
        write_beir(folder / "many", f"c{number}", CORPORA["tools"], wrong=number % 4)
    done = karat("compare", "--set", "many", *RUN)
    text = " ".join(done.stdout.split())
    assert "take the 6 corpora as a sample of others like them" in text
    assert "its interval resamples whole corpora" in text


def test_one_engine_has_a_macro_mean_too(karat: Karat) -> None:
    done = karat("compare", "--set", "beir", "--agents", "bm25", "-m", "mrr", "--draws", "199")
    assert done.returncode == 0, done.stderr
    assert rows_of(done.stdout)["macro mean"] == ["0.722"]


def test_gold_sets_with_a_corpus_of_their_own(karat: Karat, folder: Path) -> None:
    for name, word in (("one", "alpha"), ("two", "beta")):
        (folder / name).mkdir()
        for document in (word, "gamma"):
            text = f"# {document}\n\nAll about {document}.\n"
            (folder / name / f"{document}.md").write_text(text, encoding="utf-8")
        lines = f"query,documents\n{word},{word}.md\ngamma,gamma.md\n"
        (folder / f"{name}.csv").write_text(lines, encoding="utf-8")
    done = karat("compare", "--set", "one.csv=one", "two.csv=two", *RUN, "--by", "file-type")
    assert done.returncode == 0, done.stderr
    rows = rows_of(done.stdout)
    assert rows["one (2)"] == ["1.000", "1.000"]
    assert rows[".md"][0] == "4"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--set", "beir/animals", *RUN), "1 gold set; expected two or more"),
        (("--set", "beir/animals", "beir/animals/", *RUN), "given twice"),
        (("--set", "beir", "nowhere", *RUN), "nowhere: no such file or folder"),
        (("--set", "nowhere=beir", "beir", *RUN), "nowhere: no such gold set"),
        (("--set", "beir/animals"), "add --agents NAME"),
        (("--set", "--agents", "bm25"), "--set needs a place"),
        (("gold.qrels", "--set", "beir", *RUN), "--set replaces GOLD and runs"),
        (("--set", "beir", *RUN, "--run-out", "{engine}.run"), "--run-out: only for one gold set"),
        (("--set", "beir", *RUN, "-o", "out/"), "out/: expected a report"),
    ],
)
def test_what_does_not_fit_is_an_error_before_anything_runs(
    words: tuple[str, ...], text: str, karat: Karat
) -> None:
    done = karat("compare", *words)
    assert done.returncode == 2
    assert text in done.stderr
    assert "(1 of" not in done.stderr
