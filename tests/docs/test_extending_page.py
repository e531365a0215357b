"""The plug-ins on the page about extensions work as they stand there."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from karat import Dataset, load
from tests.docs.pages import ROOT, page
from tests.extensions.service.conftest import served

PAGE = page("extending").read_text(encoding="utf-8")
FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCK.findall(PAGE) for line in block.splitlines()]
SHOWN = {
    "--plugin my_plugin.py hello": "Hello from my_plugin.py",
    "init": "my_plugin.py",
    "longest": "characters",
    "quick": "recall@5",
    "compare": "on points",
    "report": "",
    "score": "two@5",
    "validate": "format pairs",
    "engines": "works",
    "-q": "passed",
    "--plugin my_plugin.py score": "pair@5",
}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the page, registered as if they were installed."""
    folder = tmp_path_factory.mktemp("package")
    for name, text in FILE.findall(PAGE):
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [
        line
        for group, entries in groups
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines))
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in *folder*, which is the first that modules are looked for in."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_does_what_the_page_says(package: Path, command: str) -> None:
    program, *rest = shlex.split(command)
    start = ["-m", "karat"] if program == "karat" else []
    done = run(package, *start, *rest)
    assert done.returncode == 0, done.stderr + done.stdout
    (shown,) = (
        text
        for start, text in SHOWN.items()
        if " ".join(rest).removeprefix("-m pytest ").startswith(start)
    )
    assert shown in done.stdout


def test_the_list_has_what_the_page_adds(package: Path) -> None:
    listed = json.loads(run(package, "-m", "karat", "plugins", "--json").stdout)
    (mine,) = (each for each in listed if each["name"] == "mine")
    assert mine["problem"] is None
    assert mine["origin"] == "my_karat 1.0"
    assert mine["adds"]["command"] == ["longest", "quick"]


def test_the_package_keeps_the_contract_of_extensions(package: Path) -> None:
    (package / "test_contract.py").write_text(
        "import pytest\n"
        "from karat.testing import ExtensionSuite\n"
        "from my_karat.extension import EXTENSION\n\n"
        "class TestMine(ExtensionSuite):\n"
        "    @pytest.fixture\n"
        "    def extension(self):\n"
        "        return EXTENSION\n"
    )
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_contract.py")
    assert done.returncode == 0, done.stdout


def test_a_bad_file_is_reported_with_its_line(package: Path) -> None:
    (package / "bad.pairs").write_text("a query\ta.py\nno tab\nnor here\n", encoding="utf-8")
    done = run(package, "-m", "karat", "validate", "bad.pairs")
    assert done.returncode == 2
    assert "bad.pairs:2: no tab; expected query<TAB>path" in done.stdout + done.stderr


def test_the_engine_keeps_its_contract(package: Path) -> None:
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_karat/test_engine.py")
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b\d\d passed", done.stdout), done.stdout


DEMO = [str(ROOT / "examples" / "demo" / name) for name in ("gold.json", "bm25.run", "keyword.run")]
FIRST = "Documents at the first rank"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("report.md", f"### Variety: {FIRST}\n\n| run | documents |"),
        ("report.md", "### Variety: Documents per query\n\n| name | documents |"),
        ("report.txt", f"Variety: {FIRST}"),
        ("report.tex", FIRST),
    ],
)
def test_a_section_is_in_every_report(package: Path, name: str, shown: str) -> None:
    done = run(package, "-m", "karat", "report", *DEMO, "-o", name)
    assert done.returncode == 0, done.stderr
    assert shown in (package / name).read_text(encoding="utf-8")


def test_a_section_is_data_in_json_and_on_the_page(
    package: Path, embedded: Callable[[str], dict[str, Any]]
) -> None:
    for name in ("report.json", "report.html"):
        assert run(package, "-m", "karat", "report", *DEMO, "-o", name).returncode == 0
    (section,) = json.loads((package / "report.json").read_text(encoding="utf-8"))["sections"]
    assert section["title"] == "Variety"
    assert [bar["name"] for bar in section["charts"][0]["bars"]] == ["bm25", "keyword"]
    documents = embedded((package / "report.html").read_text(encoding="utf-8"))
    (details,) = (found for key, found in documents.items() if key.endswith("/details"))
    (shown,) = details["sections"]
    rows = [[cell["text"] for cell in row] for row in shown["tables"][0]["rows"]]
    assert rows == [[cell["text"] for cell in row] for row in section["tables"][0]["rows"]]


def test_a_service_has_the_route_the_job_and_the_table(package: Path, tmp_path: Path) -> None:
    httpx = pytest.importorskip("httpx")
    store = str(tmp_path / "karat.db")
    with (
        served(package, "--store", store, "--data", str(tmp_path)) as service,
        httpx.Client(base_url=service.address, timeout=60) as client,
    ):
        assert client.get("/api/extensions/mine/counts").json() == {}
        gold = {"file": ("gold.json", Path(DEMO[0]).read_bytes())}
        datasets = "/api/v2/benchmark-datasets"
        dataset = client.post(datasets, data={"name": "Demo"}, files=gold).json()["id"]
        started = client.post(f"/api/extensions/mine/datasets/{dataset}/count")
        assert started.status_code == 202, started.text
        events = f"/api/v2/operations/{started.json()['operation_uuid']}/events"
        stream = client.get(events).text
        assert "event: operation_progress" in stream
        assert '"status":"completed"' in stream
        counted = client.get("/api/extensions/mine/counts").json()
        described = client.get("/api/v2/openapi.json").json()["paths"]
        measured = client.get("/metrics").text
    demo = load(DEMO[0])
    assert isinstance(demo, Dataset)
    words = sum(len(text.split()) for text in demo.texts)
    assert counted == {dataset: words}
    assert "/api/extensions/mine/counts" in described
    assert 'route="/api/extensions/mine/counts"' in measured
