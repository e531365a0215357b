"""Whether an agent saw the fix: later commits, the patch, or the network."""

import re
from collections.abc import Iterator, Mapping, Sequence

from karat.extensions.trace.names import named
from karat.extensions.trace.programs import SHELLS, WRAPPERS
from karat.extensions.trace.record import Call, Transcript
from karat.extensions.trace.shell import Program, pipelines
from karat.extensions.trace.steps import shell_line, tool_name

NETWORK_TOOLS = named("network tools")
NETWORK_PROGRAMS = frozenset(("curl", "wget", "gh", "lynx", "links", "w3m", "aria2c"))
LOCAL = re.compile(r"(?:https?://)?(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])")
# Words of git that reach commits behind the one that is checked out.
REMOTE = re.compile(r"^(?:origin|upstream|remotes|refs/remotes)/|^(?:FETCH_HEAD|ORIG_HEAD)\b")
BRANCH = re.compile(r"^(?:main|master|develop|trunk|HEAD@\{.+\})(?:$|[:~^.])")
ALL = frozenset(("--all", "--branches", "--remotes", "--reflog", "-g", "--walk-reflogs"))
READS_HISTORY = named("git commands with a history")
FETCHES = named("git commands that fetch")
PATCH_FILE = re.compile(r"\.(?:patch|diff|rej)$")
READERS = frozenset(("cat", "less", "more", "head", "tail", "sed", "nl", "bat"))
# Fields of a query that have its fix, and the least length of a line of it that says something.
COMMIT_FIELDS = ("commit", "fix_commit", "merge_commit", "sha", "solution_commit")
PATCH_FIELDS = ("patch", "diff", "gold_patch", "fix")
SHORTEST_LINE = 24
SHORTEST_HASH = 7


def leaks(
    transcript: Transcript, extra: Mapping[str, object], tags: Mapping[str, str]
) -> tuple[str, ...]:
    """Return why *transcript* may have seen the fix of its query, call by call; empty if not.

    *extra* and *tags* are those of the query: with a commit or a patch, its hash and its added
    lines are looked for in what the agent saw.
    """
    reasons: dict[str, int] = {}
    commits = tuple(_values(extra, tags, COMMIT_FIELDS))
    added = _added_lines(_values(extra, tags, PATCH_FIELDS))
    edits = False
    for number, call in enumerate(transcript.calls, 1):
        for reason in _reasons(call):
            reasons.setdefault(reason, number)
        if commit := next((each for each in commits if each[:SHORTEST_HASH] in call.output), ""):
            reasons.setdefault(f"commit {commit[:SHORTEST_HASH]} of the fix", number)
        edits = edits or _may_edit(call)
        # What an agent has written itself may be equal to the fix.
        if not edits and (line := next((each for each in added if each in call.output), "")):
            reasons.setdefault(f"a line of the fix: {line[:40]}", number)
    return tuple(f"call {number}: {reason}" for reason, number in reasons.items())


def _values(
    extra: Mapping[str, object], tags: Mapping[str, str], fields: Sequence[str]
) -> Iterator[str]:
    for field in fields:
        for value in (extra.get(field), tags.get(field)):
            if isinstance(value, str) and len(value) >= SHORTEST_HASH:
                yield value


def _added_lines(patches: Iterator[str]) -> list[str]:
    lines = (line for patch in patches for line in patch.splitlines())
    added = (line[1:].strip() for line in lines if line[:1] == "+" and line[:3] != "+++")
    return [line for line in added if len(line) >= SHORTEST_LINE]


def _may_edit(call: Call) -> bool:
    line = shell_line(call)
    if line is None:
        return bool(
            set(tool_name(call).split("_")) & {"edit", "write", "replace", "patch", "create"}
        )
    return bool(
        re.search(r"\bsed\s+-i|>\s*\S+\.\w+|apply_patch|\bpatch\b|^(?:edit|create)\b", line)
    )


def _reasons(call: Call) -> Iterator[str]:
    if tool_name(call) in NETWORK_TOOLS:
        yield f"the network ({call.tool})"
    if (line := shell_line(call)) is None:
        return
    for pipeline in pipelines(line) or ():
        for program in pipeline:
            yield from _of_program(program, depth=0)


def _of_program(program: Program, depth: int) -> Iterator[str]:
    words = program.words
    name = program.name
    if name in SHELLS and depth < 3 and len(words) > 2:
        for pipeline in pipelines(words[-1]) or ():
            for each in pipeline:
                yield from _of_program(each, depth + 1)
    elif name in WRAPPERS and depth < 3:
        rest = [n for n, word in enumerate(words) if n and re.match(r"[a-z]", word)]
        if rest:
            yield from _of_program(Program(words[rest[0] :]), depth + 1)
    elif name in NETWORK_PROGRAMS:
        if not any(LOCAL.match(word) for word in words[1:]):
            yield f"the network ({name})"
    elif name == "git":
        yield from _of_git([word for word in words[1:] if word != "--no-pager"])
    elif name in READERS and (file := next((w for w in words[1:] if PATCH_FILE.search(w)), "")):
        yield f"a patch ({file})"


def _of_git(words: Sequence[str]) -> Iterator[str]:
    while words and words[0] in ("-C", "-c"):
        words = words[2:]
    verb = next((word for word in words if not word.startswith("-")), "")
    rest = words[words.index(verb) + 1 :] if verb else []
    if verb in FETCHES or verb in ("reflog", "fsck") or (verb == "remote" and "update" in rest):
        yield f"later commits (git {verb})"
    elif verb in READS_HISTORY:
        before = rest[: rest.index("--")] if "--" in rest else rest
        for word in before:
            if word in ALL or REMOTE.match(word) or (BRANCH.match(word) and verb != "grep"):
                yield f"later commits (git {verb} {word})"
                return
