"""karat inspect --run: where a run ranked or lost the targets, and what it returned instead."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

DOCUMENTS = {
    "login.md": "# Sign in\n\nType the password.\nA locked account opens after an hour.\n",
    "mail.md": "# Mail\n\nSend a mail.\nThe password is never in a mail.\n",
    "cart.md": "# Cart\n\nA cart is kept for a day.\n",
}
QUESTIONS = (
    "question,expected_document\n"
    "type the password,login.md\n"
    "account locked,gone.md|login.md\n"
    "zebra,cart.md\n"
)


@pytest.fixture
def asked(karat: Karat, folder: Path) -> None:
    """Ask the questions of a small corpus with BM25."""
    (folder / "corpus").mkdir()
    for name, text in DOCUMENTS.items():
        (folder / "corpus" / name).write_text(text, encoding="utf-8")
    (folder / "q.csv").write_text(QUESTIONS, encoding="utf-8")
    asking = ("--corpus", "corpus", "-e", "bm25", "-m", "hit@1,mrr", "--timed", "none")
    done = karat("evaluate", "q.csv", *asking, "--run-out", "own.jsonl")
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("asked")
def test_a_list_of_cases_leads_to_one_of_them(karat: Karat) -> None:
    lines = karat("inspect", "q.csv").stdout.splitlines()
    assert lines[-1] == "one of them, with its targets: karat inspect q.csv 1"
    assert karat("inspect", "q.csv", "1").returncode == 0


@pytest.mark.usefixtures("asked")
def test_the_worst_queries_come_first(karat: Karat) -> None:
    done = karat("inspect", "q.csv", "--run", "latest.1", "-m", "hit@1")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "bm25, the worst of 3 queries"
    assert lines[2].split("  ")[0] == "query"
    assert [line.split()[0] for line in lines[4:7]] == ["3", "1", "2"]
    assert "not retrieved" in lines[4]
    assert "not in the corpus" in lines[6]
    assert lines[-1] == "one of them: karat inspect q.csv --run latest.1 --query 3"
    value = json.loads(karat("inspect", "q.csv", "--run", "bm25", "--json").stdout)
    assert [(one["id"], one["rank"], one["lost"]) for one in value["queries"]] == [
        ("3", None, ["not retrieved"]),
        ("2", 1, ["not in the corpus"]),
        ("1", 1, []),
    ]


@pytest.mark.usefixtures("asked")
def test_a_row_without_a_question_is_named_once(karat: Karat, folder: Path) -> None:
    (folder / "q.csv").write_text(QUESTIONS.replace("account locked", ""), encoding="utf-8")
    done = karat("inspect", "q.csv", "--run", "latest.1")
    assert done.returncode == 0
    assert done.stderr == "warning: q.csv:3: the query is empty; the row is left out\n"
    assert done.stdout.startswith("bm25, the worst of 2 queries")


@pytest.mark.usefixtures("asked")
def test_a_query_has_its_targets_and_hits_with_text(karat: Karat) -> None:
    done = karat("inspect", "q.csv", "2", "--run", "bm25", "-m", "hit@1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "query         account locked\n" in done.stdout
    assert "run           bm25, hit@1 1.000\n" in done.stdout
    assert (
        "targets\n  not in the corpus  gone.md, grade 1\n  rank 1             login.md, grade 1\n"
    ) in done.stdout
    assert "    1  login.md:1-4  (target, grade 1)\n" in done.stdout
    assert "            4  A locked account opens after an hour.\n" in done.stdout
    assert "Type the password" not in done.stdout


@pytest.mark.usefixtures("asked")
def test_json_has_all_of_a_query(karat: Karat) -> None:
    done = karat("inspect", "q.csv", "--query", "1", "--run", "own.jsonl", "--hits", "1", "--json")
    run = json.loads(done.stdout)["run"]
    assert (run["retrieved"], len(run["hits"]), run["problem"]) == (2, 1, None)
    (target,) = run["targets"]
    assert (target["path"], target["rank"], target["outcome"]) == ("login.md", 1, "rank 1")
    assert run["hits"][0]["lines"] == [{"line": 3, "text": "Type the password."}]


@pytest.mark.usefixtures("asked")
def test_a_report_on_a_run_file_knows_what_is_not_in_the_corpus(karat: Karat) -> None:
    """The file says so; nothing is searched for it."""
    for run in ("own.jsonl", "bm25"):
        done = karat("report", "q.csv", run, "-o", "r.json", "-m", "hit@1")
        assert done.returncode == 0, done.stderr
        counts = json.loads(Path("r.json").read_text(encoding="utf-8"))["targets"]
        (only,) = counts.values()
        assert (only["found"], only["not_retrieved"], only["not_in_corpus"]) == (2, 1, 1)


@pytest.mark.usefixtures("asked")
def test_a_run_file_of_another_program_has_no_text(karat: Karat, folder: Path) -> None:
    (folder / "other.run").write_text("1 Q0 mail.md 1 2 x\n1 Q0 login.md 2 1 x\n2 Q0 a 1 1 x\n")
    done = karat("inspect", "q.csv", "1", "--run", "other.run", "-m", "hit@1")
    assert "  rank 2, ranked below k  login.md, grade 1\n" in done.stdout
    assert "best hits\n    1  mail.md\n    2  login.md  (target, grade 1)\n" in done.stdout
    assert done.stderr == (
        "note: the run does not say which documents it searched, so hits have no text\n"
    )
    missing = karat("inspect", "q.csv", "3", "--run", "other.run")
    assert "error: the run has no answer\n" in missing.stdout
    assert "  query not answered  cart.md, grade 1\n" in missing.stdout
    assert "best hits\n  none\n" in missing.stdout


@pytest.mark.usefixtures("asked")
def test_documents_that_have_changed_or_gone_are_named(karat: Karat, folder: Path) -> None:
    (folder / "corpus" / "login.md").write_text("Nothing.\n", encoding="utf-8")
    done = karat("inspect", "q.csv", "1", "--run", "bm25")
    assert done.stderr == "note: corpus has changed since the run, so lines may have moved\n"
    (folder / "corpus").rename(folder / "elsewhere")
    done = karat("inspect", "q.csv", "1", "--run", "bm25")
    assert done.returncode == 0
    assert "note: " in done.stderr
    assert "login.md" in done.stdout


@pytest.mark.usefixtures("asked")
def test_one_run_and_one_query_are_expected(karat: Karat) -> None:
    both = karat("inspect", "q.csv", "1", "--query", "2")
    assert (both.returncode, "CASE and --query both name a query" in both.stderr) == (2, True)
    unknown = karat("inspect", "q.csv", "9", "--run", "bm25")
    assert (unknown.returncode, "no case '9'" in unknown.stderr) == (2, True)
    asking = ("--corpus", "corpus", "-m", "mrr", "--timed", "none")
    karat("evaluate", "q.csv", *asking, "-e", "bm25", "-e", "keyword")
    several = karat("inspect", "q.csv", "--run", "latest")
    assert several.returncode == 2
    assert "latest: expected one run, got bm25, keyword; add .1 for the first one" in several.stderr


@pytest.mark.usefixtures("asked")
def test_queries_that_a_sample_lacks_are_not_lost(karat: Karat) -> None:
    sample = ("--corpus", "corpus", "-m", "mrr", "--timed", "none", "--sample", "2")
    done = karat("evaluate", "q.csv", "-e", "keyword", *sample)
    assert done.returncode == 0, done.stderr
    value = json.loads(karat("inspect", "q.csv", "--run", "keyword", "--json").stdout)
    assert len(value["queries"]) == 2


@pytest.mark.usefixtures("asked")
def test_references_are_those_that_the_run_was_made_with(karat: Karat, folder: Path) -> None:
    """A quote is looked up in the documents; the stored gold set has its lines."""
    (folder / "quotes.csv").write_text("question,quote\npassword,Type the password.\n")
    asking = ("--corpus", "corpus", "-e", "bm25", "-m", "mrr", "--timed", "none")
    done = karat("evaluate", "quotes.csv", *asking)
    assert done.returncode == 0, done.stderr
    shown = karat("inspect", "quotes.csv", "1", "--run", "latest.1")
    assert (shown.returncode, "  login.md:3-3, grade 1\n" in shown.stdout) == (0, True)
