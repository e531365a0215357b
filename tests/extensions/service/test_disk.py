"""A full disk: what clients and jobs are told, and when the service is ready again."""

import errno
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import Engine, event
from starlette.formparsers import MultiPartParser

from karat.extensions.service.api import app as app_module
from karat.extensions.service.jobs import collection as collection_jobs
from karat.extensions.service.settings import FULL_DISK, MEBIBYTE, DiskSpace, ServiceSettings
from karat.extensions.service.store import ServiceStore

CSV = "query_key,query_text,uri\nq,How do I log in?,a\n"
DATASETS, COLLECTIONS = "/api/v2/benchmark-datasets", "/api/v2/collections"


def no_space(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device", "/srv/secret")


def test_ready_only_with_space_on_every_disk(
    client: TestClient, settings: ServiceSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = {"data": 100 * MEBIBYTE, settings.data.parent.name: 10**12}
    monkeypatch.setattr(
        client.app.state.service.disk,  # type: ignore[attr-defined]
        "_free",
        lambda folder: free[folder.name],
    )
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "status": "not ready",
        "checks": {
            "database": "ready",
            "disk": "uploads: 100 MB free, at least 256 MB expected",
        },
    }
    free["data"] = 300 * MEBIBYTE
    assert client.get("/readyz").status_code == 200


def test_only_disks_of_this_machine_are_checked(settings: ServiceSettings) -> None:
    remote: Any = SimpleNamespace(database=SimpleNamespace(is_sqlite=False))
    few = replace(settings, limits=settings.limits.changed([f"free_bytes={10**18}"]))
    assert app_module._disk(few, remote).problem().startswith("uploads: ")
    assert "database" not in app_module._disk(few, remote).problem()


def test_an_explanation_names_what_is_full() -> None:
    folders = {"uploads": Path("/srv/data"), "database": Path("/srv/db")}
    disk = DiskSpace(folders, min_bytes=5, free=lambda path: 4 if path.name == "db" else 6)
    assert "is full (database)." in disk.explain()
    assert "/srv" not in disk.explain()
    # The disk of PostgreSQL may be on another machine.
    assert "the database server" in DiskSpace(folders, min_bytes=5, free=lambda _: 6).explain()


def check_full(answer: Any) -> None:
    assert answer.status_code == 507
    assert answer.json()["detail"].startswith("A disk of the service is full")
    assert "secret" not in answer.text
    assert answer.json()["reference"].startswith("ERR-")


def test_a_database_that_cannot_grow(client: TestClient) -> None:
    store: ServiceStore = client.app.state.service.store  # type: ignore[attr-defined]
    texts = Random(1)
    rows = "".join(f"q{row},{texts.randbytes(400).hex()},a\n" for row in range(60))
    upload = {"file": ("gold.csv", CSV + rows)}

    def shrink(connection: Any) -> None:
        connection.connection.driver_connection.execute("PRAGMA max_page_count = 1")

    event.listen(Engine, "begin", shrink)
    check_full(client.post(DATASETS, files=upload, data={"name": "Large"}))
    event.remove(Engine, "begin", shrink)
    assert client.get(DATASETS).json()["total"] == 0
    with store.database.driver() as held:
        assert held.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_form_that_cannot_be_stored(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MultiPartParser, "on_part_data", no_space)
    check_full(client.post(DATASETS, files={"file": ("a.csv", CSV)}, data={"name": "A"}))


def test_an_archive_that_cannot_be_unpacked(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    from karat.extensions.service.api.routes import collections

    monkeypatch.setattr(collections, "unpack", no_space)
    file = {"file": ("a.zip", BytesIO(b"PK"))}
    form = {"name": "A", "index": '{"dense": false}'}
    check_full(client.post(COLLECTIONS, files=file, data=form))
    assert client.get(COLLECTIONS).json()["collections"] == []


def test_a_job_ends_with_the_reason_and_runs_again(
    client: TestClient,
    settings: ServiceSettings,
    work: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    root = settings.roots[0]
    (root / "a.md").write_text("# Letters\n", encoding="utf-8")
    source = {"kind": "folder", "path": str(root)}
    asked = {"name": "Notes", "source": source, "index": {"dense": False}}
    made = client.post(COLLECTIONS, json=asked).json()["id"]
    with monkeypatch.context() as full:
        full.setattr(collection_jobs, "index_collection", no_space)
        work()
    failed = client.get(f"{COLLECTIONS}/{made}").json()
    assert (failed["status"], failed["error_message"]) == ("failed", FULL_DISK)
    assert client.post(f"{COLLECTIONS}/{made}/reindex").status_code == 202
    work()
    assert client.get(f"{COLLECTIONS}/{made}").json()["status"] == "ready"
