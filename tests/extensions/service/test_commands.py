"""karat token, karat serve and karat --server on the command line."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from socket import create_server
from subprocess import CompletedProcess
from urllib.request import urlopen

import pytest

from karat import discovery

pytest.importorskip("uvicorn")

Karat = Callable[..., CompletedProcess[str]]
KARAT = [sys.executable, "-m", "karat"]


def test_a_secret_is_shown_once(karat: Karat) -> None:
    made = karat("token", "create", "ada", "--scope", "read", "--name", "nightly job")
    assert made.returncode == 0, made.stderr
    secret = made.stdout.strip()
    assert re.fullmatch(r"karat_[\w-]{43}", secret)
    assert "cannot be shown again" in made.stderr
    listed = karat("token", "list")
    assert secret not in listed.stdout
    assert re.search(r"ada  read  until \d{4}-\d\d-\d\d  nightly job", listed.stdout)


def test_where_no_token_is_yet(karat: Karat) -> None:
    listed = karat("token", "list")
    assert (listed.returncode, listed.stdout) == (0, "")
    assert listed.stderr == "no tokens yet; create one with: karat token create OWNER\n"


def test_tokens_end(karat: Karat) -> None:
    karat("token", "create", "ada", "--no-expiry")
    (token,) = json.loads(karat("token", "list", "--json").stdout)
    assert (token["scopes"], token["expires"]) == (["read", "run"], None)
    assert karat("token", "revoke", token["id"]).returncode == 0
    assert "revoked" in karat("token", "list").stdout
    unknown = karat("token", "revoke", "x")
    assert (unknown.returncode, "no token 'x'" in unknown.stderr) == (2, True)


@pytest.mark.parametrize("wrong", [["--days", "0"], ["--scope", "root"], [" "]])
def test_tokens_that_open_nothing(karat: Karat, wrong: list[str]) -> None:
    owner = [] if wrong == [" "] else ["ada"]
    assert karat("token", "create", *owner, *wrong).returncode == 2


def test_an_open_door_is_refused(karat: Karat) -> None:
    for options in (["--host", "0.0.0.0"], ["--allowed-host", "karat.example.org"]):  # noqa: S104
        done = karat("serve", "--port", "0", *options)
        assert done.returncode == 2
        assert "no valid token exists" in done.stderr


def test_a_port_that_is_taken(karat: Karat) -> None:
    with create_server(("127.0.0.1", 0)) as taken:
        done = karat("serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1" in done.stderr


@pytest.mark.parametrize("limit", ["rates=1", "rate=x", "rate=0", "rate"])
def test_limits_that_mean_nothing(karat: Karat, limit: str) -> None:
    done = karat("serve", "--limit", limit)
    assert done.returncode == 2
    assert "limit" in done.stderr


def test_the_service_answers_and_stops_in_order(folder: Path) -> None:
    command = [*KARAT, "serve", "--port", "0", "--workers", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        lines = []
        address = ""
        for line in process.stderr:
            lines.append(line)
            if announced := re.search(r"Karat is running at (http://127\.0\.0\.1:\d+)", line):
                address = announced[1]
                break
        assert address, "".join(lines)
        with urlopen(f"{address}/healthz") as answer:  # noqa: S310 - our own
            assert json.load(answer) == {"status": "ok"}
        os.kill(process.pid, signal.SIGTERM)
        rest = process.stderr.read()
        assert process.wait(20) in (0, -signal.SIGTERM), rest
    records = [json.loads(line) for line in rest.splitlines()]
    assert any(record["message"] == "Application shutdown complete." for record in records)
    assert (folder / ".karat" / "karat.db").exists()


def test_the_help_of_a_service_is_that_of_its_commands(karat: Karat) -> None:
    address = "http://localhost:1"
    done = karat("--server", address, "sweep", "gold.json")
    assert done.stderr.splitlines() == [
        "error: Missing option '--collection'.",
        f"Try 'karat --server {address} sweep --help'.",
    ]
    done = karat("--server", address, "runs", "show", "a", "b")
    assert f"; expected karat --server {address} runs show [OPTIONS] BENCHMARK" in done.stderr
    done = karat("--server", address, "collections", "--help")
    assert done.stdout.startswith(f"Usage: karat --server {address} collections [OPTIONS]")


def test_a_word_without_its_option(karat: Karat) -> None:
    done = karat("--server", "http://localhost:1", "sweep", "gold.qrels", "matrix.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    first, second, _ = done.stderr.splitlines()
    assert first == "error: Unexpected matrix.yaml: a matrix needs --matrix; type"
    assert second == "  karat --server http://localhost:1 sweep gold.qrels --matrix matrix.yaml"


def test_the_examples_of_a_service_are_its_commands(karat: Karat) -> None:
    address = "http://localhost:1"
    lines = karat("--server", address, "--help").stdout.splitlines()
    examples = [line.split() for line in lines if line.startswith("  karat ")]
    assert {words[3] for words in examples} <= set(discovery.remote_commands())
    assert all(words[2] == address for words in examples)
    assert "  karat --server URL --help" in karat("--help-all").stdout


def test_an_address_that_is_none(karat: Karat) -> None:
    pytest.importorskip("httpx")
    done = karat("--server", "localhost:8080", "runs", "list")
    assert (done.returncode, done.stderr) == (
        2,
        "error: 'localhost:8080' is not a URL; expected one such as http://localhost:8080\n",
    )


def test_a_group_names_its_own_commands(karat: Karat) -> None:
    done = karat("token", "foo")
    assert (done.returncode, done.stdout) == (2, "")
    assert "No such command 'foo'. Commands: create, list, revoke." in done.stderr


@pytest.mark.parametrize("name", ["collections", "datasets"])
def test_a_command_of_a_service_names_the_option(karat: Karat, name: str) -> None:
    done = karat(name, "list")
    assert done.returncode == 2
    assert f"{name!r} needs a service: karat --server URL {name} list" in done.stderr
