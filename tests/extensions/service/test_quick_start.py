"""The calls that docs/service.md shows, made as they are printed there."""

import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from karat.cli import main
from karat.client import Client, Collection, Event
from karat.extensions.service.commands.remote import wait_until_indexed
from tests.docs.pages import page

ROOT = Path(__file__).resolve().parents[3]
PAGE = page("service")
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ASSIGNED = re.compile(r"^([A-Z]+)=\$\((curl .*?) \| jq -r \.(\w+)\)$", re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    """Return the commands of the page in their order; a line that ends in a quote goes on."""
    lines: list[str] = []
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        joined = block.replace("\\\n", " ")
        part = ""
        for line in joined.splitlines():
            part = f"{part}\n{line}" if part else line
            if part.count("'") % 2 == 0:
                lines.append(part)
                part = ""
    return lines


class Shell:
    """Just enough of a shell to run the page: variables, curl and jq."""

    def __init__(self, address: str, client: httpx.Client) -> None:
        self.variables = {"API": f"{address}/api/v2", "PWD": str(ROOT)}
        self.client = client

    def run(self, command: str) -> Any:
        """Return the JSON that a curl command answers, or the lines of a stream."""
        assigned = ASSIGNED.fullmatch(command)
        text = assigned[2] if assigned else command
        for name, value in self.variables.items():
            text = re.sub(rf"\${name}\b", value, text)
        answer = self._curl(shlex.split(text)[1:])
        if assigned:
            self.variables[assigned[1]] = str(answer[assigned[3]])
        return answer

    def _curl(self, words: list[str]) -> Any:
        method, url, headers, data, form, files = "", "", {}, None, {}, {}
        pending = iter(words)
        for word in pending:
            if word == "-X":
                method = next(pending)
            elif word == "-H":
                name, _, value = next(pending).partition(": ")
                headers[name] = value
            elif word == "-d":
                data = next(pending)
            elif word == "-F":
                name, _, value = next(pending).partition("=")
                if value.startswith("@"):
                    files[name] = (Path(value).name, (ROOT / value[1:]).read_bytes())
                else:
                    form[name] = value
            elif not word.startswith("-"):
                url = word
        method = method or ("POST" if data or files else "GET")
        answer = self.client.request(
            method, url, headers=headers, content=data, data=form or None, files=files or None
        )
        assert answer.is_success, f"{method} {url}: {answer.text}"
        is_json = answer.headers.get("content-type") == "application/json"
        return answer.json() if is_json else answer.text.splitlines()


def check_six_calls(address: str) -> None:
    """Make the calls of the page at the service *address*, and look at what they answer."""
    with httpx.Client(timeout=120) as client:
        shell = Shell(address, client)
        answers = [(line, shell.run(line)) for line in commands() if "curl" in line]
    made = [line for line, _ in answers if "-d " in line or "-F" in line or "-X POST" in line]
    assert len(made) == 9, "six calls, two grades, and the one that needs none of them"
    grades = [answer for line, answer in answers if "-X PUT" in line]
    assert [(each["version"], each["change"]["grade"]) for each in grades] == [(2, 1.0), (3, 0.0)]
    resolved = next(answer for line, answer in answers if line.endswith("/resolve"))
    assert (resolved["mapping_status"], resolved["mapped_count"]) == ("partial", 12)
    streams = [answer for line, answer in answers if "curl -sN" in line]
    for stream in streams:
        last = json.loads(next(line for line in reversed(stream) if line.startswith("data: "))[6:])
        assert last["data"]["status"] == "completed"
    results = next(answer for line, answer in answers if line.endswith("/results"))
    assert results["status"] == "completed"
    assert [run["name"] for run in results["runs"]] == ["sparse @10", "dense @10", "hybrid @10"]
    for run in results["runs"]:
        low, high = run["intervals"]["ndcg@10"]
        assert low <= run["metrics_flat"]["ndcg@10"] <= high
        assert run["resolved_metrics_flat"]["ndcg@10"] >= run["metrics_flat"]["ndcg@10"]
        assert run["latency"]["measured"] is True
    assert answers[-1][1]["metrics"]["ndcg@3"] == pytest.approx(0.6309, abs=1e-4)


def test_six_calls_from_nothing_to_results(started: str) -> None:
    check_six_calls(started)


def test_the_same_from_python(
    started: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = {"kind": "folder", "path": str(ROOT / "examples" / "service" / "docs")}
    with Client(started) as client:
        made = client.create_collection("Again", docs, index={"model": "static"})
        assert [event.data["status"] for event in client.operation_events(str(made.operation_uuid))]
    page = PAGE.read_text(encoding="utf-8")
    (block,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(ROOT)
    exec(block.replace("http://127.0.0.1:8080", started), {})  # noqa: S102 - our own page
    lines = capsys.readouterr().out.splitlines()
    assert "2 of 2" in lines
    assert [line.split()[0] for line in lines[-2:]] == ["sparse", "dense"]


def check_the_file_is_uploaded_once(karat: Callable[..., str], gold: str, matrix: Path) -> None:
    """Run the sweep of an uploaded file again, under the name that it has by default."""
    words = ("sweep", gold, "--collection", "Mine", "--matrix", str(matrix), "--timed", "none")
    datasets = karat("datasets", "list")
    assert "\n\ngold on Mine, 12 queries\n" in karat(*words)
    assert karat("datasets", "list") == datasets
    line = r"^[-0-9a-f]{36}  \d{4}-\d\d-\d\d \d\d:\d\d      12  gold$"
    assert re.search(line, datasets, re.MULTILINE)
    karat("runs", "delete", "gold on Mine")


def test_the_command_line_asks_a_service(
    started: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def karat(*words: str) -> str:
        with pytest.raises(SystemExit) as caught:
            main(["--server", started, *words])
        streams = capsys.readouterr()
        assert not caught.value.code, streams.err
        return streams.out

    def told(*words: str) -> str:
        with pytest.raises(SystemExit):
            main(["--server", started, *words])
        streams = capsys.readouterr()
        assert not streams.out
        return streams.err

    docs = str(ROOT / "examples" / "service" / "docs")
    collection = karat("collections", "create", "Mine", "--path", docs, "--no-dense").strip()
    assert collection in karat("collections", "list")
    assert "the service has only its built-in modes" in told("engines")
    assert "no failed benchmark" in told("runs", "list", "--status", "failed")
    assert karat("collections", "reindex", "Mine").strip() == collection
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text("search_modes: [sparse]\ntop_k_values: [5, 10]\nprimary_k: 5\n")
    gold = str(ROOT / "examples" / "service" / "gold.json")
    table = karat("sweep", gold, "--collection", "Mine", "--matrix", str(matrix), "--name", "Depth")
    title = table.splitlines().index("Depth, 12 queries")
    assert [line.split()[:2] for line in table.splitlines()[title + 4 : title + 6]] == [
        ["sparse", "@5"],
        ["sparse", "@10"],
    ]
    assert karat("runs", "show", "Depth") == table
    (line,) = karat("runs", "list", "--status", "completed").splitlines()[:1]
    assert re.search(r"  \d{4}-\d\d-\d\d \d\d:\d\d  completed  2 of 2    gold +Depth$", line)
    check_the_file_is_uploaded_once(karat, gold, matrix)
    (listed,) = json.loads(karat("runs", "list", "--json"))["benchmarks"][:1]
    assert (listed["name"], listed["completed_runs"]) == ("Depth", 2)
    results = json.loads(karat("runs", "show", "Depth", "--json"))
    assert [run["name"] for run in results["results"]["runs"]] == ["sparse @5", "sparse @10"]
    collections = json.loads(karat("collections", "list", "--json"))["collections"]
    assert collection in [one["id"] for one in collections]
    assert json.loads(karat("engines", "--json")) == {"engines": []}
    report = tmp_path / "report.html"
    karat("report", "latest", "-o", str(report))
    assert "sparse @5" in report.read_text(encoding="utf-8")
    dataset = karat("datasets", "upload", gold, "--name", "Again").strip()
    again = karat("datasets", "upload", gold, "--name", "Again").strip()
    first, *several = told("datasets", "delete", "Again").splitlines()
    assert first == "error: several datasets match 'Again'; give the id of one:"
    assert [line.split()[::3] for line in several] == [[again, "Again"], [dataset, "Again"]]
    karat("datasets", "delete", again)
    named = json.loads(karat("datasets", "list", "--json"))["datasets"]
    assert dataset in [one["id"] for one in named]
    karat("datasets", "delete", "Again")
    karat("runs", "delete", "Depth")


class Indexing:
    """A client whose collection is embedded in steps of 64 texts."""

    def __init__(self, made: Collection) -> None:
        self.made = made

    def operation_events(self, _operation: str) -> Iterator[Event]:
        for done in (0, *range(64, 1882, 64), 1882):
            yield Event(done, "x", "t", {"done": done, "total": 1882 if done else 0})

    def collection(self, _collection: str) -> Collection:
        return self.made


def test_progress_is_printed_for_each_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    fields = {"id": "1", "name": "flask", "status": "ready", "operation_uuid": "2"}
    made = cast("Any", Collection).model_construct(**fields, document_count=83, chunk_count=1084)
    wait_until_indexed(cast("Client", Indexing(made)), made)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "embedded 192 of 1,882 texts"
    assert len(lines) <= 11
    assert lines[-1] == (
        "flask: 83 documents, 1,084 chunks, embedded as 1,882 texts because long chunks are split"
    )


def test_what_the_command_line_refuses(
    started: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(*words: str) -> str:
        with pytest.raises(SystemExit) as caught:
            main(["--server", started, *words])
        assert caught.value.code == 2
        return capsys.readouterr().err

    assert "No such command 'score'" in refused("score", "a", "b")
    assert "no dataset 'x'" in refused("datasets", "delete", "x")
    assert "no benchmark 'x'" in refused("runs", "show", "x")
    assert "ends in .html" in refused("report", "latest", "-o", "report.pdf")
    assert "--path or --upload" in refused("collections", "create", "x")
    assert "below an allowed --root" in refused("collections", "create", "x", "--path", "/etc")
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text("search_modes: [dense]\nmodels: [minilm, static]\n")
    words = ("sweep", "x", "--collection", "y", "--matrix", str(matrix))
    assert "no collection 'y'" in refused(*words), "models are names of the service"
    matrix.write_text("search_modes: [dense]\nmodels: [minilm, other]\n")
    assert "no model 'other' on this service; offered: granite," in refused(*words)
    matrix.write_text("chunkers: ['lines:20']\n")
    assert "a collection has one chunker, chosen by collections create --chunker" in refused(*words)
    assert "LaTeX are made locally, by karat report without --server" in refused(
        *("report", "latest", "-o", "report.md")
    )


def test_mined_queries_on_one_version_are_warned_about(
    started: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def swept(name: str, **metadata: object) -> str:
        case = {
            "id": "1",
            "query": "reset the password",
            "ground_truth_files": ["accounts.md", "gone.md"],
            "commit_hash": "a" * 40,
        }
        file = tmp_path / f"{name}.json"
        file.write_text(json.dumps({"metadata": metadata, "test_cases": [case]}))
        with pytest.raises(SystemExit) as caught:
            main(["--server", started, *words[:1], str(file), *words[1:]])
        assert not caught.value.code
        return capsys.readouterr().err

    docs = str(ROOT / "examples" / "service" / "docs")
    with pytest.raises(SystemExit):
        main(["--server", started, "collections", "create", "Old", "--path", docs, "--no-dense"])
    matrix = tmp_path / "matrix.yaml"
    matrix.write_text("search_modes: [sparse]\n")
    words = ("sweep", "--collection", "Old", "--matrix", str(matrix), "--timed", "none")
    mined, carried = swept("mined"), swept("carried", carried_to="b" * 40)
    assert (
        "warning: Old is not the version that the queries refer to: 1 of 2 targets (50.0%) does "
        "not exist there, and the rest may already contain the answer; use karat carry"
    ) in mined
    assert "mined.json --to HEAD -o " in mined
    assert "warning" not in carried
    assert "1 reference without a document; they count as missed" in carried
