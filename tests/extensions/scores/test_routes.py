"""An uploaded score file becomes a report, and a wrong one a problem."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from karat.errors import InputError
from karat.extensions.scores.readers import ScoreOptions
from karat.formats.base import ReadLimits

SCORES = "query,system,score\n" + "\n".join(
    f"q{n},{name},{int(n < hits)}" for n in range(9) for name, hits in (("a", 1), ("b", 8))
)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a client of an app with the routes, whose uploads have at most 400 bytes."""
    fastapi = pytest.importorskip("fastapi")
    from fastapi.testclient import TestClient

    from karat.extensions.scores import routes

    async def here(work: Callable[..., object], *given: object, cancellable: bool) -> object:
        assert cancellable
        return work(*given)

    monkeypatch.setattr("anyio.to_process.run_sync", here)
    app = fastapi.FastAPI()
    app.include_router(routes.router)
    limits = SimpleNamespace(files=ReadLimits(upload_bytes=400))
    app.state.service = SimpleNamespace(settings=SimpleNamespace(limits=limits))
    return TestClient(app)


def test_an_upload_is_answered_with_a_report(client: Any) -> None:
    done = client.post("/report", files={"file": ("my scores.csv", SCORES)})
    assert done.status_code == 200
    assert done.headers["content-disposition"] == 'attachment; filename="report.html"'
    assert "<title>my scores.csv</title>" in done.text
    assert (
        "upload.csv" not in client.post("/report?format=md", files={"file": ("s.csv", SCORES)}).text
    )
    done = client.post("/report?format=json", files={"file": ("s.csv", SCORES)})
    (entry,) = done.json()["comparison"]["differences"]
    assert (entry["system"], entry["wins"]) == ("b", 7)


def test_columns_are_named_as_on_the_command_line(client: Any) -> None:
    text = SCORES.replace("query,system,score", "a,b,c")
    named = "/report?format=md&column=query=a&column=system=b&column=score=c&lower=c"
    done = client.post(named, files={"file": ("s.csv", text)})
    assert "a is better than b" not in done.text
    assert "| a a |" in done.text


def test_problems_name_the_file_of_the_user(client: Any) -> None:
    for text, problem in {
        "query,system\nq,a\n": r"^s\.csv:1: no column has scores",
        SCORES * 9: "larger than 400 bytes",
    }.items():
        with pytest.raises(InputError, match=problem):
            client.post("/report", files={"file": ("../s.csv", text)})


def test_a_problem_is_text(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    from karat.extensions.scores.routes import report_text

    path = tmp_path / "upload.csv"
    path.write_text("query,system,score\nq,a,1\nr,a,inf\n")
    text, problem = report_text(path, "mine.csv", ScoreOptions(), "html")
    assert (text, problem.partition(":")[0]) == ("", "mine.csv")
