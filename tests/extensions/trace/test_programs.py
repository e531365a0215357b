"""Command lines: what they do, and which lines of which files they show."""

import pytest

from karat.extensions.trace.programs import read_line
from karat.extensions.trace.record import Call, StepKind, TextRange
from karat.extensions.trace.steps import step_of

LISTED, SEARCHED, SHOWN = StepKind.LISTED, StepKind.SEARCHED, StepKind.SHOWN
OTHER, UNKNOWN = StepKind.OTHER, StepKind.UNKNOWN
A = TextRange("a.py")
ABC = "x\ny\nz"


@pytest.mark.parametrize(
    ("line", "kind", "parts"),
    [
        ("cat a.py", SHOWN, [A]),
        ("cat a.py b.py", SHOWN, [A, TextRange("b.py")]),
        ("cat < a.py", SHOWN, [A]),
        ("head -5 a.py", SHOWN, [TextRange("a.py", 1, 5)]),
        ("head a.py", SHOWN, [TextRange("a.py", 1, 10)]),
        ("tail -n +20 a.py | head -n 5", SHOWN, [TextRange("a.py", 20, 24)]),
        ("tail -5 a.py", SHOWN, [TextRange("a.py", -1, -1)]),
        ("sed -n '5,9p' a.py", SHOWN, [TextRange("a.py", 5, 9)]),
        ("sed -n '5,+3p' a.py", SHOWN, [TextRange("a.py", 5, 8)]),
        ("sed -n '1,5p;9,12p' a.py", SHOWN, [TextRange("a.py", 1, 5), TextRange("a.py", 9, 12)]),
        ("sed -ne 3p a.py", SHOWN, [TextRange("a.py", 3, 3)]),
        ("nl -ba a.py | sed -n '10,20p'", SHOWN, [TextRange("a.py", 10, 20)]),
        ("cat -n a.py | head -20 | tail -n +11", SHOWN, [TextRange("a.py", 11, 20)]),
        ("awk 'NR>=3 && NR<=9' a.py", SHOWN, [TextRange("a.py", 3, 9)]),
        ("cd src && cat a.py", SHOWN, [TextRange("src/a.py")]),
        ("cd src; cd ..; cat ./a.py", SHOWN, [A]),
        ('bash -lc "cd /repo && cat a.py"', SHOWN, [TextRange("/repo/a.py")]),
        ("timeout 5 cat a.py 2>/dev/null || true", SHOWN, [A]),
        ("env A=1 cat a.py", SHOWN, [A]),
        ("F=a.py; cat $F", SHOWN, [A]),
        (
            'for f in a b; do head -2 "$f.py"; done',
            SHOWN,
            [TextRange("a.py", 1, 2), TextRange("b.py", 1, 2)],
        ),
        ("if [ -f a.py ]; then cat a.py; fi", SHOWN, [A]),
        ("git show HEAD:a.py", SHOWN, [A]),
        ("git -C sub show HEAD:a.py", SHOWN, [TextRange("sub/a.py")]),
        ("find . -name '*.py' -exec cat {} +", SHOWN, []),
        ("open a.py 100", SHOWN, [TextRange("a.py", -1, -1)]),
        ("str_replace_editor view a.py --view_range 3 9", SHOWN, [TextRange("a.py", 3, 9)]),
        ("ls -la && cat a.py", SHOWN, [A]),
        ("rg -n 'a|b(' src", SEARCHED, [TextRange("src", -1, -1)]),
        ("grep -rn x . --include=*.py | head -20", SEARCHED, [TextRange(".", -1, -1)]),
        ("grep -e x -A 3 a.py", SEARCHED, [TextRange("a.py", -1, -1)]),
        ("cat a.py | grep -n x", SEARCHED, [A]),
        ("find . -name '*.py' | xargs grep -n x", SEARCHED, []),
        ("find . -exec grep -l x {} \\;", SEARCHED, []),
        ("git grep -n x -- src", SEARCHED, [TextRange("src", -1, -1)]),
        ("search_dir x src", SEARCHED, []),
        ("ls -R | grep a.py", LISTED, []),
        ("find . -name a.py", LISTED, []),
        ("rg --files", LISTED, []),
        ("git ls-files", LISTED, []),
        ("cat a.py | wc -l", OTHER, []),
        ("cat a.py > b.py", OTHER, []),
        ("cat <<'EOF' > a.py\nimport x\nEOF", OTHER, []),
        ("cat > a.py << 'EOF' && python a.py\nx\nEOF", OTHER, []),
        ("echo $(cat a.py)", OTHER, []),
        ("python - <<'EOF'\nopen('a.py').read()\nEOF", OTHER, []),
        ("./run.sh", OTHER, []),
        ("bash run.sh", OTHER, []),
        ("sed -i 's/a/b/' a.py", OTHER, []),
        ("git diff", OTHER, []),
        ("frobnicate a.py", UNKNOWN, []),
    ],
)
def test_a_command_line(line: str, kind: StepKind, parts: list[TextRange]) -> None:
    accesses = read_line(line).accesses
    assert max(access.kind for access in accesses) is kind
    assert [part for access in accesses for part in access.parts] == parts


def shown(line: str, output: str, folder: str = "") -> list[TextRange]:
    return list(step_of(Call("bash", {"command": line}, output), folder)[0].parts)


def test_the_output_says_which_lines_there_are() -> None:
    assert shown("sed -n '5,90p' a.py", "x\n" * 6) == [TextRange("a.py", 5, 10)]
    assert shown("nl -ba a.py | sed -n '5,90p'", "     5\tx\n     6\ty\n") == [
        TextRange("a.py", 5, 6)
    ]
    assert shown("cat a.py", "x\ny\n[... 90 lines truncated ...]\nz") == [TextRange("a.py", 1, 2)]
    assert shown("cat a.py b.py", "cat: b.py: No such file or directory\nx") == [A]
    assert shown("cat a.py", "") == []
    window = "[File: /repo/a.py (90 lines total)]\n(3 more lines above)\n4:x\n5:y\n"
    assert shown("scroll_down", window) == [TextRange("/repo/a.py", 4, 5)]


def test_matches_are_in_the_output() -> None:
    assert shown("cd src && rg -n x", "a.py:3:x\na.py-4-y\nb.py:9:x") == [
        TextRange("src/a.py", 3, 4),
        TextRange("src/b.py", 9, 9),
    ]
    assert shown("grep -nC 1 x a.py", "9-def f:10-\n10:x\n11-") == [TextRange("a.py", 9, 11)]
    assert shown("rg -n x", "src/a.py\n3:x\n4:x\n\nsrc/b.py\n1:x") == [
        TextRange("src/a.py", 3, 4),
        TextRange("src/b.py", 1, 1),
    ]
    assert shown("rg -l x", "src/a.py\nsrc/b.py") == []
    answer = (
        '[{"file": "src/a.py", "startLine": 3, "endLine": 9, "content": "x"}, {"file": "b.py"}]'
    )
    step, _ = step_of(Call("mcp__index__semantic_search", {"query": "x"}, answer))
    assert (step.kind, step.parts, step.names) == (
        SEARCHED,
        (TextRange("src/a.py", 3, 9),),
        ("b.py",),
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "output", "expected"),
    [
        (
            "Read",
            {"file_path": "/r/a.py"},
            "     1\u2192x\n     2\u2192y",
            [TextRange("/r/a.py", 1, 2)],
        ),
        (
            "Read",
            {"file_path": "a.py", "offset": 5, "limit": 3},
            "x\ny\nz",
            [TextRange("a.py", 5, 7)],
        ),
        (
            "read_file",
            {"path": "a.py", "start_line": 2, "end_line": 4},
            "x\ny\nz",
            [TextRange("a.py", 2, 4)],
        ),
        ("str_replace_editor", {"command": "view", "path": "a.py"}, "x", [A]),
        ("Grep", {"pattern": "x", "path": "a.py"}, "3:x", [TextRange("a.py", 3, 3)]),
        ("Glob", {"pattern": "*.py"}, "a.py\nb.py", []),
        ("Edit", {"file_path": "a.py"}, "done", []),
    ],
)
def test_a_named_tool(
    tool: str, arguments: dict[str, object], output: str, expected: list[TextRange]
) -> None:
    step, _ = step_of(Call(tool, arguments, output))
    assert list(step.parts) == expected
    assert step.edited == (("a.py",) if tool == "Edit" else ())


def test_a_shell_stays_in_its_folder_unless_each_call_begins_anew() -> None:
    _, folder = step_of(Call("bash", {"command": "cd src"}), "/repo")
    assert folder == "/repo/src"
    _, folder = step_of(Call("exec_command", {"cmd": "cd src"}), "/repo")
    assert folder == "/repo"


@pytest.mark.parametrize(
    "line",
    [
        "cat <<'EOF' > a.py\nx\nEOF",
        "sed -i s/x/y/ a.py",
        "echo x >> a.py 2>/dev/null",
        "apply_patch <<'EOF'\n*** Update File: a.py\n-x\n+y\nEOF",
    ],
)
def test_a_command_that_changes_a_file(line: str) -> None:
    step, _ = step_of(Call("bash", {"command": line}))
    assert (step.kind, step.edited) == (OTHER, ("a.py",))


def test_an_unknown_tool_is_not_understood() -> None:
    step, _ = step_of(Call("frobnicate", {}, "x"))
    assert (step.kind, step.missed) == (UNKNOWN, ("frobnicate",))
