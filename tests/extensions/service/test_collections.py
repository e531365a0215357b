"""Collections over HTTP: made, indexed by a job, read and searched."""

import io
import json
import shutil
import sys
import zipfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi.testclient import TestClient

from karat.engines.embedding import base
from karat.engines.registry import BUILT_IN, modes
from karat.extensions.service.analysts import analyst
from karat.extensions.service.analysts.pool import AnalystPool
from karat.extensions.service.api.app import create_app
from karat.extensions.service.api.state import Service
from karat.extensions.service.schemas.collections import Mode
from karat.extensions.service.settings import RequestLimits, ServiceSettings

COLLECTIONS = "/api/v2/collections"
WORDS = {"dense": False, "sparse": True}
DOCUMENTS = {
    "guide/login.md": "# Log in\n\nUse the key that you were given.\n",
    "guide/mail.md": "# Mail\n\nLetters are sent at noon.\n",
    "tool.py": "def login(user):\n    return user\n",
}
EVERY_FILE = {"kind": "all", "include": [], "exclude": []}
Work = Callable[[], None]
Made = dict[str, object]


@pytest.fixture
def folder(settings: ServiceSettings) -> Path:
    """Return a folder of documents below the root."""
    root = settings.roots[0] / "docs"
    for path, text in DOCUMENTS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def create(client: TestClient, source: Mapping[str, str], **more: object) -> Made:
    asked = {"name": "Guide", "source": dict(source), "index": WORDS, **more}
    answer = client.post(COLLECTIONS, json=asked)
    assert answer.status_code == 201, answer.text
    made: Made = answer.json()
    return made


@pytest.fixture
def ready(client: TestClient, folder: Path, work: Work) -> str:
    """Return the id of an indexed collection."""
    made = create(client, {"kind": "folder", "path": str(folder)})
    work()
    return str(made["id"])


def test_the_fields_of_a_collection(client: TestClient, folder: Path, work: Work) -> None:
    made = create(client, {"kind": "folder", "path": str(folder)}, description="All of it")
    assert (made["status"], made["document_count"], made["snapshot"]) == ("pending", 0, None)
    assert made["operation_uuid"]
    work()
    ready = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert ready.keys() == made.keys()
    assert (ready["status"], ready["document_count"]) == ("ready", 3)
    assert ready["chunk_count"] >= 3
    assert len(ready["snapshot"]) == 64
    assert ready["source"] == {
        "kind": "folder",
        "path": str(folder),
        "revision": None,
        "files": EVERY_FILE,
    }
    assert ready["sparse"] == {"state": "ready"}
    assert ready["dense"] == {"state": "none", "model": None, "dimension": None, "vectors": None}
    assert client.get(COLLECTIONS).json()["collections"] == [ready]


def test_files_are_selected_and_unreadable_ones_named(
    client: TestClient, folder: Path, work: Work
) -> None:
    (folder / "dump.raw").write_bytes(b"\0\1")
    files = {"kind": "docs", "include": [], "exclude": ["mail.md"]}
    source = {"kind": "folder", "path": str(folder)}
    asked = {"name": "Guide", "source": source, "index": WORDS, "files": files}
    made = client.post(COLLECTIONS, json=asked).json()
    work()
    ready = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert (ready["document_count"], ready["source"]["files"]) == (1, files)
    hits = client.post(
        f"{COLLECTIONS}/{made['id']}/search", json={"query": "login", "modes": ["sparse"]}
    ).text
    assert "guide/login.md" in hits
    assert "tool.py" not in hits
    health = client.get(f"{COLLECTIONS}/{made['id']}/health").json()
    assert health["skipped"] == {"binary": 1, "excluded": 1, "other-kind": 1}
    assert health["skipped_files"] == {"binary": ["dump.raw"]}
    wrong = client.post(COLLECTIONS, json={**asked, "files": {"include": ["!"]}})
    assert (wrong.status_code, "is not a valid pattern" in wrong.text) == (400, True)


def test_a_revision_of_a_repository(
    client: TestClient, folder: Path, work: Work, git: Callable[..., str]
) -> None:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "First")
    made = create(client, {"kind": "git", "path": str(folder), "revision": "HEAD"})
    # The branch moves on; the collection does not.
    (folder / "later.md").write_text("# Later\n", encoding="utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "Second")
    work()
    ready = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert (ready["status"], ready["document_count"]) == ("ready", 3)
    assert len(ready["source"]["revision"]) == 40
    asked = {"kind": "git", "path": str(folder), "revision": "gone"}
    answer = client.post(COLLECTIONS, json={"name": "x", "source": asked, "index": WORDS})
    assert (answer.status_code, "no revision 'gone'" in answer.text) == (400, True)


@pytest.mark.parametrize(
    ("chunker", "status", "message"),
    [
        ("window(unit=words, size=4, overlap=1)", 201, ""),
        ("lines:2", 201, ""),
        ("windw(size=4)", 400, "no chunker named 'windw'; did you mean 'window'?"),
        ("antigravity:1", 400, "no chunker named 'antigravity'; known: auto"),
        ("auto:40", 400, "got an unexpected keyword argument 'size'"),
        ("window:9", 201, ""),
        ("window(size=9, overlap=9)", 400, "overlap is 9; expected 0 or more, below size (9)"),
        ("window(size=100, overlap=95)", 400, "overlap is 95; expected at most 90 of 100 here"),
        ("window(unit=lines)", 400, "unit is 'lines'; expected words, characters, tokens"),
        ("window(unit=tokens, tokenizer=granit)", 400, "did you mean 'granite'?"),
        ("window(unit=tokens, tokenizer=file)", 400, "tokenizer file:: no such file"),
        ("window(unit=tokens, tokenizer=file:/etc/passwd)", 422, "should match pattern"),
        ("karat.corpus.chunkers.syntax:Lines", 422, "should match pattern"),
    ],
)
def test_how_documents_are_cut(
    client: TestClient, folder: Path, *, chunker: str, status: int, message: str
) -> None:
    source = {"kind": "folder", "path": str(folder)}
    asked = {"name": "x", "source": source, "index": {**WORDS, "chunker": chunker}}
    answer = client.post(COLLECTIONS, json=asked)
    assert (answer.status_code, message in answer.text) == (status, True), answer.text
    sent, _ = send(client, packed(DOCUMENTS), index=json.dumps({**WORDS, "chunker": chunker}))
    assert sent == status


def test_windows_of_tokens(client: TestClient, folder: Path, work: Work) -> None:
    pytest.importorskip("tokenizers")
    chunker = "window(unit=tokens, size=6, overlap=2)"
    source = {"kind": "folder", "path": str(folder)}
    made = create(client, source, index={**WORDS, "chunker": chunker})
    work()
    ready = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert (ready["status"], ready["chunker"], ready["chunk_count"] > 3) == ("ready", chunker, True)
    answer = client.post(
        f"{COLLECTIONS}/{made['id']}/search", json={"query": "noon", "modes": ["sparse"]}
    )
    assert answer.json()["results"][0]["hits"][0]["path"] == "guide/mail.md"


def test_a_model_that_is_not_installed_is_refused_at_once(
    client: TestClient, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = {"onnxruntime"}
    monkeypatch.setattr(base, "find_spec", lambda name: None if name in lacking else object())
    source = {"kind": "folder", "path": str(folder)}
    answer = client.post(COLLECTIONS, json={"name": "Guide", "source": source})
    told = (
        "the embedding model 'granite' is not installed on this service (it lacks onnxruntime); "
        "pip install 'karatbench[dense]' installs it; choose static, or set "
        '"dense": false'
    )
    assert (answer.status_code, answer.json()["detail"]) == (400, told)
    status, refused = send(client, packed(DOCUMENTS), index='{"model": "granite"}')
    assert (status, refused["detail"]) == (400, told)
    assert client.get(COLLECTIONS).json()["total"] == 0
    create(client, source, index={"model": "static"})
    create(client, source, index={"dense": False})


def test_where_the_checkout_lies_is_not_told(
    client: TestClient, folder: Path, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found to be missing only by the worker is said by its job."""
    made = create(client, {"kind": "folder", "path": str(folder)}, index={"model": "static"})
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    work()
    failed = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert failed["error_message"] == (
        "dense or hybrid search needs the extra dense: pip install 'karatbench[dense]'"
    )


def test_a_revision_that_is_an_option(client: TestClient, folder: Path) -> None:
    source = {"kind": "git", "path": str(folder), "revision": "--upload-pack=x"}
    asked = {"name": "x", "source": source, "index": WORDS}
    assert client.post(COLLECTIONS, json=asked).status_code == 422


def test_a_beir_corpus(client: TestClient, settings: ServiceSettings, work: Work) -> None:
    folder = settings.roots[0] / "beir"
    folder.mkdir()
    asked = {"name": "x", "source": {"kind": "beir", "path": str(folder)}, "index": WORDS}
    assert "holds no corpus.jsonl" in client.post(COLLECTIONS, json=asked).json()["detail"]
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "noon"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "when"}\n')
    made = create(client, {"kind": "beir", "path": str(folder)})
    work()
    documents = client.get(f"{COLLECTIONS}/{made['id']}/documents").json()["documents"]
    assert [document["path"] for document in documents] == ["d1"]


@pytest.mark.parametrize("path", ["/", "/etc", "{root}/..", "{root}/nothing", "{root}2"])
def test_folders_elsewhere(client: TestClient, settings: ServiceSettings, path: str) -> None:
    folder = path.format(root=settings.roots[0])
    asked = {"name": "x", "source": {"kind": "folder", "path": folder}, "index": WORDS}
    answer = client.post(COLLECTIONS, json=asked)
    assert answer.status_code == 400
    assert "is not a folder at or below an allowed --root (" in answer.json()["detail"]
    assert client.get(COLLECTIONS).json()["total"] == 0


def test_a_relative_path_is_named_as_such(client: TestClient, settings: ServiceSettings) -> None:
    asked = {"name": "x", "source": {"kind": "folder", "path": "docs"}, "index": WORDS}
    answer = client.post(COLLECTIONS, json=asked)
    assert (answer.status_code, answer.json()["detail"]) == (
        400,
        "'docs' is a relative path; give an absolute path on the service's machine, at or below an "
        f"allowed --root ({settings.roots[0]})",
    )


def packed(files: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return out.getvalue()


def send(client: TestClient, data: bytes, **fields: str) -> tuple[int, Made]:
    given = {"name": "Sent", "index": json.dumps(WORDS), **fields}
    answer = client.post(COLLECTIONS, files={"file": ("docs.zip", data)}, data=given)
    return answer.status_code, answer.json()


def test_an_uploaded_archive(client: TestClient, settings: ServiceSettings, work: Work) -> None:
    status, made = send(client, packed(DOCUMENTS), description="By mail")
    assert status == 201, made
    work()
    ready = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert (ready["status"], ready["document_count"], ready["name"]) == ("ready", 3, "Sent")
    assert ready["source"] == {
        "kind": "upload",
        "path": None,
        "revision": None,
        "files": EVERY_FILE,
    }
    folder = settings.folders.uploads / str(made["id"])
    assert folder.is_dir()
    assert client.delete(f"{COLLECTIONS}/{made['id']}").status_code == 204
    assert not folder.exists()


def test_files_of_an_archive_are_selected(client: TestClient, work: Work) -> None:
    _, made = send(client, packed(DOCUMENTS), files='{"kind": "code"}')
    work()
    ready = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert (ready["document_count"], ready["source"]["files"]["kind"]) == (1, "code")


def uploaded(settings: ServiceSettings) -> list[str]:
    """Return the names of the folders of uploads."""
    return [folder.name for folder in settings.folders.uploads.iterdir() if folder.is_dir()]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"../x.md": "x"}, "outside of its folder"),
        ({}, "no file"),
        ({"HEAD": "x", "objects/a": "x", "refs/a": "x"}, "is a Git repository"),
        ({"corpus.jsonl.gz": "x", "queries.jsonl": "x"}, "expected corpus.jsonl as plain text"),
    ],
)
def test_archives_that_are_refused(
    client: TestClient, settings: ServiceSettings, files: Mapping[str, str], reason: str
) -> None:
    status, answer = send(client, packed(files))
    assert (status, reason in str(answer["detail"])) == (400, True)
    assert client.get(COLLECTIONS).json()["total"] == 0
    assert uploaded(settings) == []


def test_uploaded_documents_that_are_gone(
    client: TestClient, settings: ServiceSettings, work: Work
) -> None:
    _, made = send(client, packed(DOCUMENTS))
    work()
    shutil.rmtree(settings.folders.uploads / str(made["id"]))
    assert client.post(f"{COLLECTIONS}/{made['id']}/reindex").status_code == 202
    work()
    failed = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert (failed["status"], failed["error_message"]) == (
        "failed",
        "the uploaded documents of collection 'Sent' are no longer on the disk of the service; "
        "delete the collection and upload them again",
    )


def test_where_uploads_lie_is_not_told(
    client: TestClient, settings: ServiceSettings, work: Work
) -> None:
    _, made = send(client, packed({"corpus.jsonl": "no json", "queries.jsonl": "{}"}))
    work()
    failed = client.get(f"{COLLECTIONS}/{made['id']}").json()
    assert failed["error_message"].startswith("corpus.jsonl:1: not JSON")
    events = client.get(f"/api/v2/operations/{failed['operation_uuid']}/events").text
    assert "corpus.jsonl:1: not JSON" in events
    assert str(settings.data) not in events


def test_fields_of_an_upload(client: TestClient) -> None:
    data = packed(DOCUMENTS)
    assert send(client, data, name="")[0] == 422
    assert send(client, data, index='{"chunker": "module:Class"}')[0] == 422
    assert send(client, data, index="no json")[0] == 422
    assert send(client, data, sauce="x")[0] == 422


def test_an_archive_that_is_too_large(settings: ServiceSettings) -> None:
    small = replace(settings, limits=RequestLimits(archive_bytes=1_000))
    with TestClient(create_app(small), base_url="http://localhost") as client:
        status, answer = send(client, bytes(100_000))
        assert (status, "larger than" in str(answer["detail"])) == (413, True)


def test_an_upload_that_gets_no_job(
    settings: ServiceSettings, token: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one was faster since there was room for a job: nothing of it is kept."""
    monkeypatch.setattr(Service, "check_quota", lambda *_: None)
    one = replace(settings, limits=RequestLimits(active_jobs=1))
    ada = {"Authorization": f"Bearer {token('ada')}"}
    with TestClient(create_app(one), base_url="http://localhost", headers=ada) as client:
        first = send(client, packed(DOCUMENTS))[1]
        assert send(client, packed(DOCUMENTS))[0] == 429
        assert client.get(COLLECTIONS).json()["total"] == 1
    assert uploaded(settings) == [first["id"]]


def test_documents(client: TestClient, ready: str) -> None:
    page = client.get(f"{COLLECTIONS}/{ready}/documents", params={"q": "GUIDE"}).json()
    assert page["total"] == 2
    assert page["documents"][0] == {"path": "guide/login.md", "size": 43, "lines": 3, "chunks": 1}
    content = f"{COLLECTIONS}/{ready}/documents/content"
    document = client.get(content, params={"path": "tool.py"}).json()
    assert document == {"path": "tool.py", "text": DOCUMENTS["tool.py"], "language": "python"}


@pytest.mark.parametrize(
    "path", ["../karat.db", "/etc/passwd", "guide", "guide/../tool.py", "tool.py\\", "TOOL.PY"]
)
def test_a_path_is_looked_up_never_joined(client: TestClient, ready: str, path: str) -> None:
    answer = client.get(f"{COLLECTIONS}/{ready}/documents/content", params={"path": path})
    assert answer.status_code == 404


def test_searching(client: TestClient, ready: str) -> None:
    asked = {"query": "when are letters sent", "modes": ["sparse"], "top_k": 2}
    answer = client.post(f"{COLLECTIONS}/{ready}/search", json=asked).json()
    (result,) = answer["results"]
    assert result["mode"] == "sparse"
    assert result["hits"][0]["path"] == "guide/mail.md"
    assert "at noon" in result["hits"][0]["text"]
    assert result["search_time_ms"] > 0


def test_modes_without_an_index(client: TestClient, folder: Path, work: Work, ready: str) -> None:
    asked = {"query": "x", "modes": ["dense"]}
    answer = client.post(f"{COLLECTIONS}/{ready}/search", json=asked)
    assert (answer.status_code, "no dense index" in answer.text) == (400, True)
    pytest.importorskip("wordllama")
    source = {"kind": "folder", "path": str(folder)}
    dense = create(client, source, index={"sparse": False, "model": "static"})
    work()
    index = client.get(f"{COLLECTIONS}/{dense['id']}").json()["dense"]
    assert (index["state"], index["model"]) == ("ready", "static")
    assert index["vectors"] >= 3
    for mode in ("sparse", "hybrid"):
        asked = {"query": "x", "modes": [mode]}
        answer = client.post(f"{COLLECTIONS}/{dense['id']}/search", json=asked)
        assert (answer.status_code, "no sparse index" in answer.text) == (400, True)
    asked = {"query": "log in", "modes": ["dense"]}
    answer = client.post(f"{COLLECTIONS}/{dense['id']}/search", json=asked)
    assert answer.json()["results"][0]["hits"]


def test_what_is_not_indexed_is_not_searched(client: TestClient, folder: Path) -> None:
    made = create(client, {"kind": "folder", "path": str(folder)})
    answer = client.post(f"{COLLECTIONS}/{made['id']}/search", json={"query": "x"})
    assert (answer.status_code, "is pending" in answer.text) == (409, True)


def test_documents_that_have_changed(client: TestClient, folder: Path, ready: str) -> None:
    (folder / "tool.py").write_text("# other\n", encoding="utf-8")
    answer = client.post(f"{COLLECTIONS}/{ready}/search", json={"query": "x", "modes": ["sparse"]})
    assert (answer.status_code, "have changed" in answer.text) == (409, True)


def test_health(client: TestClient, folder: Path, work: Work) -> None:
    (folder / "again.md").write_text(DOCUMENTS["guide/mail.md"], encoding="utf-8")
    (folder / "empty.md").write_text("", encoding="utf-8")
    made = create(client, {"kind": "folder", "path": str(folder)})
    work()
    # It was found out when the index was built: nothing is read any more.
    shutil.rmtree(folder)
    health = client.get(f"{COLLECTIONS}/{made['id']}/health").json()
    assert (health["document_count"], health["healthy"], health["queries"]) == (5, False, 0)
    flaws = {flaw["kind"]: flaw for flaw in health["flaws"]}
    assert flaws["file without a chunk"]["places"] == ["empty.md"]
    assert flaws["duplicate"]["count"] == 1


def test_what_no_query_retrieves(
    client: TestClient, ready: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = [{"query_key": "q", "query_text": "login", "relevant_docs": ["tool.py"]}]
    file = {"file": ("gold.json", json.dumps({"queries": queries}))}
    dataset = client.post("/api/v2/benchmark-datasets", files=file, data={"name": "G"}).json()
    mappings = f"/api/v2/benchmark-datasets/{dataset['id']}/mappings"
    client.post(mappings, json={"collection_id": ready})
    health = client.get(f"{COLLECTIONS}/{ready}/health").json()
    flaws = {flaw["kind"]: flaw for flaw in health["flaws"]}
    assert (health["queries"], flaws["never retrieved"]["of"]) == (1, health["chunk_count"])
    # It is asked for again, and found out no second time.
    monkeypatch.delattr(analyst, "health_of")
    assert client.get(f"{COLLECTIONS}/{ready}/health").json() == health


def test_a_search_does_not_wait_for_the_health(
    client: TestClient, ready: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    subjects: dict[str, str] = {}
    request = AnalystPool.request

    def noted(
        pool: AnalystPool, operation: str, *, subject: str, **options: Any
    ) -> Awaitable[bytes]:
        subjects[operation] = subject
        return request(pool, operation, subject=subject, **options)

    monkeypatch.setattr(AnalystPool, "request", noted)
    assert client.get(f"{COLLECTIONS}/{ready}/health").status_code == 200
    asked = {"query": "login", "modes": ["sparse"]}
    assert client.post(f"{COLLECTIONS}/{ready}/search", json=asked).status_code == 200
    # Requests of one subject run one after the other.
    assert subjects["health"] != subjects["search"]


def test_a_collection_in_use_stays(client: TestClient, ready: str) -> None:
    gold = {"queries": [{"query_key": "q", "query_text": "t", "relevant_docs": ["tool.py"]}]}
    file = {"file": ("gold.json", json.dumps(gold))}
    dataset = client.post("/api/v2/benchmark-datasets", files=file, data={"name": "G"}).json()
    mappings = f"/api/v2/benchmark-datasets/{dataset['id']}/mappings"
    assert client.post(mappings, json={"collection_id": ready}).status_code == 201
    assert client.delete(f"{COLLECTIONS}/{ready}").status_code == 409
    assert client.delete(f"/api/v2/benchmark-datasets/{dataset['id']}").status_code == 204
    assert client.delete(f"{COLLECTIONS}/{ready}").status_code == 204


def test_a_collection_that_is_gone_before_it_is_indexed(
    client: TestClient, folder: Path, work: Work
) -> None:
    made = create(client, {"kind": "folder", "path": str(folder)})
    assert client.delete(f"{COLLECTIONS}/{made['id']}").status_code == 204
    work()
    events = client.get(f"/api/v2/operations/{made['operation_uuid']}/events").text
    assert '"status":"failed"' in events, "nobody works on it for ever"


def test_a_collection_that_is_opened_is_soon_loaded(
    settings: ServiceSettings, folder: Path, work: Work
) -> None:
    app = create_app(replace(settings, warm_up=True))
    with TestClient(app, base_url="http://localhost:8080") as client:
        made = create(client, {"kind": "folder", "path": str(folder)})["id"]
        service: Service = app.state.service
        added: list[str] = []
        assert service.warm_up is not None
        object.__setattr__(service.warm_up, "add", lambda collection: added.append(collection.id))
        work()
        client.get(f"{COLLECTIONS}/{made}")
        assert added == [made]


def test_the_modes_of_the_service_are_those_without_a_model_of_their_own() -> None:
    built_in = {mode: info for mode, info in modes().items() if info in BUILT_IN}
    assert set(get_args(Mode)) == {
        m for m, info in built_in.items() if not info.axes & {"sparse_model", "late_model"}
    }
