"""The install hint names a command that works for the installation at hand."""

import json
import sys
from pathlib import Path
from shlex import quote, split

import pytest

import karat
from karat import installation
from karat.installation import (
    DISTRIBUTION,
    checkout_of,
    install_hint,
    package_requirements,
    typed_command,
    without_checkout,
)

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = Path("/venv/lib/python3.11/site-packages/karat/installation.py")


def editable(folder: Path) -> str:
    """Return the `direct_url.json` that an editable install of *folder* leaves."""
    return json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}})


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "it's a checkout"
    (folder / "src" / "karat").mkdir(parents=True)
    (folder / "pyproject.toml").write_text("[project]\n")
    return folder


def use(checkout: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_checkout", lambda: checkout)


def test_an_editable_install_is_a_checkout(checkout: Path) -> None:
    assert checkout_of(editable(checkout), INSTALLED) == checkout


def test_a_source_tree_on_the_python_path_is_a_checkout(checkout: Path) -> None:
    assert checkout_of(None, checkout / "src" / "karat" / "installation.py") == checkout


@pytest.mark.parametrize(
    "direct_url",
    [
        None,
        "no JSON",
        "[]",
        "{}",
        '{"url": 1}',
        '{"url": "file:///srv/karatbench-0.1.0-py3-none-any.whl", "archive_info": {}}',
        '{"url": "https://example.org/karat.git", "vcs_info": {"vcs": "git"}}',
        '{"url": "https://example.org/karat", "dir_info": {"editable": true}}',
        '{"url": "file:///a/checkout/that/is/gone", "dir_info": {"editable": true}}',
    ],
)
def test_a_wheel_has_no_checkout(direct_url: str | None) -> None:
    assert checkout_of(direct_url, INSTALLED) is None


def test_a_folder_that_was_copied_is_no_checkout(checkout: Path) -> None:
    copied = json.dumps({"url": checkout.as_uri(), "dir_info": {}})
    assert checkout_of(copied, INSTALLED) is None


def test_the_hint_of_a_checkout_survives_a_shell(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(checkout, monkeypatch)
    assert split(install_hint("dense")) == ["pip", "install", "-e", f"{checkout}[dense]"]


def test_the_hint_of_a_wheel_names_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    use(None, monkeypatch)
    assert install_hint("dense") == "pip install 'karatbench[dense]'"


def test_clients_of_a_service_do_not_learn_the_folder(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(checkout, monkeypatch)
    told = f"embedding needs the extra dense: {install_hint('dense')}"
    assert quote(f"{checkout}[dense]") in told
    hidden = "embedding needs the extra dense: pip install 'karatbench[dense]'"
    assert without_checkout(told) == hidden
    use(None, monkeypatch)
    assert without_checkout(told) == told


def test_this_checkout_is_found() -> None:
    assert install_hint("dense") == f"pip install -e '{ROOT}[dense]'"


def test_one_file_holds_the_version() -> None:
    assert karat.__version__ == installation.__version__


def test_the_requirements_are_those_of_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(line.startswith("numpy") for line in package_requirements())
    monkeypatch.setattr(installation, "DISTRIBUTION", "not-a-distribution-of-anybody")
    assert package_requirements() == ()
    assert DISTRIBUTION == "karatbench"


def test_no_hint_is_written_by_hand() -> None:
    """`karat` on the package index is another project, so no text may say to install it."""
    sources = [*ROOT.glob("src/karat/**/*.py"), *ROOT.glob("docs/**/*.md"), ROOT / "README.md"]
    sources += [path for path in ROOT.glob("examples/**/*") if path.suffix in (".md", ".yml")]
    named = [path for path in sources if "karat[" in path.read_text(encoding="utf-8")]
    assert named == []
    written = [
        path
        for path in ROOT.glob("src/karat/**/*.py")
        if "pip install" in path.read_text(encoding="utf-8")
    ]
    assert [path.name for path in written] == ["installation.py"]


def test_the_command_is_printed_as_it_can_be_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = tmp_path / ".venv" / "bin"
    tools.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(tools / "python"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert typed_command() == ".venv/bin/python -m karat"
    for folder in (tools, tmp_path):
        (folder / "karat").write_text("#!/bin/sh\n")
        (folder / "karat").chmod(0o755)
    # The shell finds another installation first.
    assert typed_command() == ".venv/bin/karat"
    monkeypatch.setenv("PATH", str(tools))
    assert typed_command() == "karat"
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tools)
    assert typed_command() == "./karat"
