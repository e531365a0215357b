"""karat evaluate and compare say how an engine changed since its previous run."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

# The script ranks the document first whose name is in the query; later none.
SCRIPT = """import json, sys
names = [name for name in ("login", "mail", "cart", "user", "shop", "help") if name in sys.argv[1]]
print(json.dumps([f"{name}.md" for name in names]))
"""
NAMES = ("login", "mail", "cart", "user", "shop", "help")
OPTIONS = ("q.csv", "--corpus", "corpus", "-m", "mrr", "--timed", "none")


@pytest.fixture
def corpus(folder: Path) -> Path:
    """Return the current folder, with documents, questions and a search of one's own."""
    (folder / "corpus").mkdir()
    for name in NAMES:
        (folder / "corpus" / f"{name}.md").write_text(f"About {name}.\n", encoding="utf-8")
    questions = "".join(f"where is {name},{name}.md\n" for name in NAMES)
    (folder / "q.csv").write_text(f"question,expected_document\n{questions}", encoding="utf-8")
    (folder / "mine.py").write_text(SCRIPT.replace("if name in", "if name not in"), "utf-8")
    engine = 'engine: command\nname: mine\ncommand: [python3, "{here}/mine.py", "{query}"]\n'
    (folder / "mine.yaml").write_text(engine, encoding="utf-8")
    return folder


def test_a_mended_search_is_better_than_before(karat: Karat, corpus: Path) -> None:
    first = karat("evaluate", *OPTIONS, "-e", "mine.yaml")
    assert first.returncode == 0, first.stderr
    assert "previous run" not in first.stdout
    (corpus / "mine.py").write_text(SCRIPT, encoding="utf-8")
    second = " ".join(karat("evaluate", *OPTIONS, "-e", "mine.yaml").stdout.split())
    assert "mine is better than its previous run: mrr +1.000" in second
    assert "; 6 queries won, 0 lost (" in second
    assert "just now; changed: mine.py)." in second
    assert karat("runs", "pin", "mine@previous").returncode == 0
    done = karat("compare", *OPTIONS, "--agents", "bm25", "mine.yaml", "--json")
    changes = json.loads(done.stdout)["changes"]
    assert [(one["run"], one["against"], one["unchanged"]) for one in changes] == [
        ("mine", "previous", True),
        ("mine", "pinned", False),
    ]
    (entry,) = changes[1]["comparison"]["differences"]
    assert (entry["difference"], entry["wins"], entry["significant"]) == (1.0, 6, True)


def test_a_named_built_in_engine_keeps_its_history(karat: Karat, corpus: Path) -> None:
    for k1 in ("1.2", "2.0"):
        # A name that equals that of the file counts, too.
        (corpus / "best.yaml").write_text(f"name: best\nengine: bm25\nk1: {k1}\n", "utf-8")
        done = karat("evaluate", *OPTIONS, "-e", "best.yaml")
        assert done.returncode == 0, done.stderr
    assert "best and its previous run have the same mrr" in " ".join(done.stdout.split())
    assert "changed: options" in " ".join(done.stdout.split())


def test_the_hint_lists_what_was_lost_since_the_previous_run(karat: Karat, corpus: Path) -> None:
    (corpus / "mine.py").write_text(SCRIPT, encoding="utf-8")
    karat("evaluate", *OPTIONS, "-e", "mine.yaml")
    (corpus / "mine.py").write_text(SCRIPT.replace('"login", ', ""), encoding="utf-8")
    done = karat("evaluate", *OPTIONS, "-e", "mine.yaml")
    assert "; 0 queries won, 1 lost (" in " ".join(done.stdout.split())
    hint = "karat compare q.csv mine@previous mine --per-query"
    assert done.stdout.endswith(f"lost queries: {hint}\n")
    listed = karat(*hint.split()[1:], "-m", "mrr")
    assert listed.returncode == 0, listed.stderr
    assert "where is login" in listed.stdout


@pytest.mark.usefixtures("corpus")
def test_a_name_that_needs_quotes_is_an_id_in_the_hint(karat: Karat) -> None:
    engines = ("-e", "bm25(k1=1.2, b=0.5)", "-e", "bm25(k1=1.2, b=0.6)")
    questions = "question,expected_document\nwhere is login,login.md\nwhere is cart,mail.md\n"
    Path("q.csv").write_text(questions, encoding="utf-8")
    done = karat("evaluate", *OPTIONS, *engines)
    assert done.returncode == 0, done.stderr
    hint = done.stdout.splitlines()[-1].strip()
    command = hint[hint.index("karat inspect") :].split()
    assert command[:4] == ["karat", "inspect", "q.csv", "--run"]
    # Both have the same mean, and the first is the baseline.
    assert command[4].endswith(".1")
    exported = karat("runs", "export", command[4], "-o", "first.run")
    assert exported.returncode == 0, exported.stderr
    assert Path("first.run").is_file()


@pytest.mark.usefixtures("corpus")
def test_very_large_runs_are_left_out(karat: Karat, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.app.changes.MOST_QUERIES", len(NAMES) - 1)
    for _ in range(2):
        done = karat("evaluate", *OPTIONS, "-e", "bm25", "--again")
        assert (done.returncode, "previous run" in done.stdout) == (0, False)
    monkeypatch.setattr("karat.app.changes.MOST_QUERIES", len(NAMES))
    done = karat("evaluate", *OPTIONS, "-e", "bm25", "--again")
    assert "bm25 and its previous run have the same mrr on every query" in done.stdout
