"""Runs that may have seen the fix."""

from pathlib import Path

import pytest

from karat.extensions.trace.leaks import leaks
from karat.extensions.trace.record import Call, Transcript

PATCH = "--- a/x.py\n+++ b/x.py\n@@\n-    return 1\n+    return compute_total(order, tax=True)\n"
EXTRA = {"commit": "deadbeefcafe0123", "patch": PATCH}


def why(*calls: Call) -> tuple[str, ...]:
    return leaks(Transcript(Path("t"), (), calls), EXTRA, {})


def bash(command: str, output: str = "") -> Call:
    return Call("bash", {"command": command}, output)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("git log --all --oneline", "later commits (git log --all)"),
        ("git -C repo show origin/main:a.py", "later commits (git show origin/main:a.py)"),
        ("cd x && git fetch origin", "later commits (git fetch)"),
        ("git reflog", "later commits (git reflog)"),
        ("curl -s https://example.org/a.patch", "the network (curl)"),
        ('bash -lc "wget https://example.org"', "the network (wget)"),
        ("timeout 9 gh pr view 7", "the network (gh)"),
        ("cat ../fix.patch", "a patch (../fix.patch)"),
    ],
)
def test_a_command_that_can_see_the_fix(command: str, reason: str) -> None:
    assert why(bash("ls"), bash(command)) == (f"call 2: {reason}",)


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -5",
        "git show HEAD~1 -- a.py",
        "git diff",
        "git status",
        "git checkout -- a.py",
        "curl http://localhost:8000/health",
        "echo 'git fetch'",
        "grep -n curl a.py",
    ],
)
def test_a_harmless_command(command: str) -> None:
    assert why(bash(command)) == ()


def test_a_tool_of_the_network() -> None:
    assert why(Call("WebFetch", {"url": "https://example.org"})) == (
        "call 1: the network (WebFetch)",
    )


def test_what_only_the_fix_has() -> None:
    line = "    return compute_total(order, tax=True)"
    assert why(bash("git log", "commit deadbeefcafe0123")) == ("call 1: commit deadbee of the fix",)
    assert why(bash("cat x.py", line)) == (
        "call 1: a line of the fix: return compute_total(order, tax=True)",
    )
    # After its own edit the agent reads what it wrote.
    assert why(Call("Edit", {"file_path": "x.py"}, "ok"), bash("cat x.py", line)) == ()
