"""Nothing in the tracked tree belongs to one machine or to one package registry."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# How lock files and pip options name the host that a package came from.
REGISTRY = re.compile(
    r'"resolved":\s*"https?:|registry\s*=\s*"https?:|--(?:extra-)?index-url\s*[= ]\s*https?:'
    r"|--find-links\s*[= ]\s*\S"
)
LOCKS_WITH_HOSTS = {"uv.lock", "pylock.toml", "poetry.lock"}


def tracked_files() -> list[Path]:
    """Return every file that git tracks and that still exists, or skip outside a checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("no git checkout, so nothing says which files are tracked")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [path for path in map(ROOT.joinpath, listed.split("\0")) if path.is_file()]


def places(pattern: re.Pattern[str], files: list[Path], *, root: Path = ROOT) -> list[str]:
    """Return `file:line` of each line that *pattern* finds; files that are no text have none."""
    found = []
    for path in files:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [
            f"{path.relative_to(root)}:{number}"
            for number, line in enumerate(lines, start=1)
            if pattern.search(line)
        ]
    return found


def test_the_search_finds_what_it_looks_for(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    lock.write_text('{\n"resolved": "' + 'https://registry.example/a.tgz"\n}', encoding="utf-8")
    assert places(REGISTRY, [lock], root=tmp_path) == ["lock.json:2"]


def test_no_lock_file_that_names_hosts() -> None:
    assert [path.name for path in tracked_files() if path.name in LOCKS_WITH_HOSTS] == []


def test_no_registry_host() -> None:
    assert places(REGISTRY, tracked_files()) == []


def test_requirements_name_no_address() -> None:
    requirements = [path for path in tracked_files() if ROOT / "requirements" in path.parents]
    assert requirements
    assert places(re.compile(r"://"), requirements) == []


def test_no_path_of_this_machine() -> None:
    here = {str(ROOT), str(Path.home())} - {"/"}
    pattern = re.compile("|".join(rf"{re.escape(path)}(?![\w-])" for path in sorted(here)))
    assert places(pattern, tracked_files()) == []
