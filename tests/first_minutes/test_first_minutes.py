"""The first five minutes of three users: the commands of README, typed in an empty folder."""

import csv
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ENGINES = (ROOT / "docs" / "engines.md").read_text(encoding="utf-8")
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
Embedded = Callable[[str], dict[str, Any]]


def blocks(user: str) -> dict[str, str]:
    """Return the first block of each language in the part of README for *user*."""
    section = README.partition("## Your first five minutes\n")[2].partition("\n## ")[0]
    part = section.partition(f"**{user}")[2].partition("\n**")[0]
    return dict(reversed(FENCED.findall(part)))


class Terminal:
    """Runs commands as they are typed, in one folder."""

    def __init__(self, folder: Path, home: Path) -> None:
        """Work in *folder*; caches lie in *home*."""
        self.folder = folder
        paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
        self._environment = {
            **os.environ,
            "KARAT_CACHE": str(home),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        }

    def type(self, command: str) -> str:
        """Run *command* and return its output; it must succeed."""
        program, *arguments = shlex.split(command)
        words = [sys.executable, "-m", "karat"] if program == "karat" else [program]
        done = subprocess.run(
            [*words, *arguments],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def paste(self, script: str) -> list[str]:
        """Type each line of *script*, and return what each has printed."""
        return [self.type(line) for line in script.splitlines()]

    def file(self, name: str, text: str) -> None:
        """Save *text*."""
        place = self.folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")


@pytest.fixture
def terminal(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    """Return a terminal in an empty folder."""
    return Terminal(tmp_path, tmp_path_factory.mktemp("cache"))


SUBJECTS = {
    "cart": "keep goods in the cart when a visitor reloads",
    "mail": "send a mail after the order was paid",
    "login": "lock an account after five wrong passwords",
    "price": "round the price of goods to full cents",
    "stock": "reserve the stock while a visitor pays",
    "search": "find goods by parts of their title",
}


def commit_history(terminal: Terminal) -> None:
    """Commit a small shop, then a change of each of its files."""
    who = "-c user.name=Ann -c user.email=ann@example.org"
    terminal.type("git init -q -b main .")
    for name in SUBJECTS:
        terminal.file(f"shop/{name}.py", f"def {name}(visitor):\n    return visitor.{name}\n")
    terminal.type("git add shop")
    terminal.type(f"git {who} commit -q -m 'Begin the shop'")
    for name, subject in SUBJECTS.items():
        code = f"def {name}(visitor):\n    # {name} of goods\n    return visitor.{name}[0]\n"
        terminal.file(f"shop/{name}.py", code)
        terminal.type(f"git {who} commit -q -a -m {shlex.quote(subject.capitalize())}")


def test_the_maintainer_of_a_code_search(terminal: Terminal, embedded: Embedded) -> None:
    commit_history(terminal)
    (script,) = (text for kind, text in FENCED.findall(ENGINES) if "sys.argv[1]" in text)
    terminal.file("mysearch.py", script)
    typed = blocks("You maintain a code search")
    assert typed["yaml"] in ENGINES
    terminal.file("mysearch.yaml", typed["yaml"].replace("python3", sys.executable))
    mined, cases, checked, compared = terminal.paste(typed["sh"])
    assert f"wrote {len(SUBJECTS)} cases to gold.json" in mined
    assert SUBJECTS["cart"] in cases
    assert checked.endswith("works\n")
    assert f"{len(SUBJECTS)} queries; change and p: against bm25\n" in compared
    page = (terminal.folder / "report.html").read_text(encoding="utf-8")
    names = {run["name"] for run in runs_of(embedded(page))}
    assert names == {"bm25", "mysearch"}


def runs_of(documents: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs in the data of a report."""
    (results,) = (found for found in documents.values() if "primary_metric" in found)
    runs: list[dict[str, Any]] = results["runs"]
    return runs


def pdf(text: str) -> bytes:
    """Return a PDF with one page of *text*."""
    stream = f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode()
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents 5 0 R "
        b"/Resources << /Font << /F1 4 0 R >> >> >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    )
    data, starts = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        starts.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % start for start in starts)
    end = b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\n" % table
    return data + end + b"startxref\n%d\n%%%%EOF\n" % len(data)


def test_the_engineer_of_a_rag_application(terminal: Terminal, embedded: Embedded) -> None:
    for package in ("pypdf", "wordllama"):
        pytest.importorskip(package)
    typed = blocks("You build a RAG application")
    terminal.file("gold.csv", typed["csv"])
    terminal.file("matrix.yaml", typed["yaml"])
    returned, manual, both = (
        row["expected_document"] for row in csv.DictReader(typed["csv"].split("\n"))
    )
    errors, second = both.split("|")
    assert second == manual
    terminal.file(f"docs/{returned}", "# Returns\n\nAn order can be returned for 30 days.\n")
    terminal.file(f"docs/{errors}", "# Errors\n\nWhat error 12 means: no water.\n")
    terminal.file("docs/delivery.md", "# Delivery\n\nGoods arrive after two days.\n")
    (terminal.folder / "docs" / manual).write_bytes(pdf("The filter is replaced each year"))
    evaluated, swept = terminal.paste(typed["sh"])
    assert evaluated.startswith("bm25 has ndcg@10 ")
    assert " over 3 queries; 100% have a target among the first 5 hits.\n" in evaluated
    assert "targets do not exist" not in evaluated
    page = (terminal.folder / "report.html").read_text(encoding="utf-8")
    names = {run["name"] for run in runs_of(embedded(page))}
    assert len(names) == 3
    assert all(name in swept for name in names)
    assert {name.split()[0] for name in names} == {"bm25", "hybrid"}
    assert "3 queries; change and p: against bm25 @10\n" in swept


def test_the_researcher_in_information_retrieval(terminal: Terminal) -> None:
    terminal.file("qrels.txt", "".join(f"{n} 0 d{n} 1\n{n} 0 e{n} 2\n" for n in range(1, 31)))
    for name, order in (("bm25", ("x", "d", "e")), ("dense", ("e", "d", "x"))):
        hits = (
            f"{n} Q0 {letter}{n} {rank} {9 - rank} {name}\n"
            for n in range(1, 31)
            for rank, letter in enumerate(order, 1)
        )
        terminal.file(f"{name}.run", "".join(hits))
    shown, _ = terminal.paste(blocks("You do research in information retrieval")["sh"])
    assert "dense is better than bm25: map +" in shown
    assert "bm25 and dense have the same P@5 on every query." in shown
    table = (terminal.folder / "table.tex").read_text(encoding="utf-8")
    assert r"& run & map & ndcg@10 & P@5 \\" in table
    bold = {
        name: next(line for line in table.splitlines() if f"& {name} &" in line).count(r"\textbf{")
        for name in ("bm25", "dense")
    }
    assert bold == {"bm25": 1, "dense": 3}, "P@5 is the same for both"

    goes_on_in_python()


def goes_on_in_python() -> None:
    """Compare dictionaries as ranx has them, make a data frame, and measure diversity."""
    for package in ("pandas", "narwhals"):
        pytest.importorskip(package)
    import karat

    gold = {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}}
    runs = {
        "bm25": {"q1": {"x": 3.0, "d1": 2.0}, "q2": {"d3": 1.0}},
        "dense": {"q1": {"d2": 3.0, "d1": 2.0}, "q2": {"x": 2.0, "d3": 1.0}},
    }
    frame = karat.compare(gold, runs, ["map", "ndcg@10"]).to_pandas()
    assert set(frame["run"]) == {"bm25", "dense"}
    both = (
        karat.Target("a", 1.0, subtopics=("price",)),
        karat.Target("b", 1.0, subtopics=("age",)),
    )
    diverse = karat.Dataset.of([karat.Query("q1", "jaguar", both)])
    one, two = ({"q1": order} for order in (["a", "x"], ["a", "b"]))
    assert karat.evaluate(diverse, two, ["alpha-ndcg@10"])["alpha-ndcg@10"] == 1.0
    assert karat.evaluate(diverse, one, ["strec@10"])["strec@10"] == 0.5
