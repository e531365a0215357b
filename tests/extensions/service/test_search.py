"""Jumping by a few letters."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

CSV = "query_key,query_text,uri\nq-login,How do I log in?,a\nq-mail,When is mail sent?,b\n"


def test_by_name_id_and_text(client: TestClient) -> None:
    file = {"file": ("gold.csv", CSV)}
    made = client.post("/api/v2/benchmark-datasets", files=file, data={"name": "Handbook"}).json()

    def found(q: str) -> list[tuple[str, str]]:
        results = client.get("/api/v2/search", params={"q": q}).json()["results"]
        return [(each["kind"], each["title"]) for each in results]

    assert found("HAND") == [("dataset", "Handbook")]
    assert found(made["id"][:6]) == [("dataset", "Handbook")]
    assert found("log in") == [("query", "How do I log in?")]
    assert found("q-mail") == [("query", "When is mail sent?")]
    assert found("nothing") == []
    assert client.get("/api/v2/search", params={"q": ""}).status_code == 422


@pytest.mark.usefixtures("private")
def test_nothing_of_others(client: TestClient, token: Callable[..., str]) -> None:
    file = {"file": ("gold.csv", CSV)}
    client.post("/api/v2/benchmark-datasets", files=file, data={"name": "Handbook"})
    bob = {"Authorization": f"Bearer {token('bob')}"}
    for q in ("hand", "log in"):
        answer = client.get("/api/v2/search", params={"q": q}, headers=bob)
        assert answer.json() == {"results": []}
