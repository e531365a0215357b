"""karat plugins, --plugin, and the extension that `karat init --plugin` writes."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat import discovery

pytestmark = pytest.mark.usefixtures("fresh_extensions")

Karat = Callable[..., CompletedProcess[str]]


def test_the_template_works_as_it_is(karat: Karat, folder: Path) -> None:
    done = karat("init", "--plugin", "mine.py")
    assert done.stdout.splitlines() == [
        "wrote mine.py and test_mine.py",
        "next: karat --plugin mine.py hello",
        "      python -m pytest -q test_mine.py  (needs the package pytest)",
    ]
    assert karat("--plugin", "mine.py", "hello").stdout == "Hello from mine.py.\n"
    assert "pair@5" in karat("score", "gold.qrels", "new.run", "-m", "pair@5").stdout
    assert "hello" in karat("--help-all").stdout
    listed = karat("plugins").stdout
    assert "A greeting and a measure. (" in listed
    assert "Adds command hello; metric pair." in " ".join(listed.split())
    (record,) = [
        each for each in json.loads(karat("plugins", "--json").stdout) if each["name"] == "mine"
    ]
    assert record["adds"] == {"command": ["hello"], "metric": ["pair"]}
    assert (record["origin"], record["problem"]) == (str(folder / "mine.py"), None)


def test_a_broken_file_is_one_line_and_an_error_where_its_name_is_used(
    karat: Karat, folder: Path
) -> None:
    (folder / "broken.py").write_text("1 / 0")
    reason = "ZeroDivisionError: division by zero"
    done = karat("--plugin", "broken.py", "score", "gold.qrels", "new.run", "-m", "two@5")
    warning, error = done.stderr.splitlines()
    assert done.returncode == 2
    assert warning == f"warning: extension broken ({folder / 'broken.py'}) is off: {reason}"
    assert error.startswith("error: no metric named 'two'")
    assert error.endswith(f"extensions that are off: broken ({reason})")
    # The list has the reason, so that nothing else needs to say it.
    discovery._State.extensions = None
    done = karat("plugins")
    assert f"): {reason}" in " ".join(done.stdout.split())
    assert done.stderr == ""


def test_a_file_that_is_not_there(karat: Karat) -> None:
    done = karat("--plugin", "gone.py", "plugins")
    assert done.returncode == 2
    assert done.stderr == (
        "error: gone.py: no such file; a plug-in is a Python file with EXTENSION\n"
    )


def test_a_name_that_python_would_not_load(karat: Karat, folder: Path) -> None:
    done = karat("init", "--plugin", "mine")
    assert (done.returncode, done.stderr) == (
        2,
        "error: mine: expected a Python file, such as mine.py\n",
    )
    assert not (folder / "mine").exists()
    (folder / "mine").write_text("EXTENSION = None")
    done = karat("--plugin", "mine", "plugins")
    assert (done.returncode, done.stderr) == (
        2,
        "error: mine: expected a Python file, whose name ends with .py\n",
    )


def test_plugins_of_the_configuration_file(karat: Karat, folder: Path) -> None:
    karat("init", "--plugin", "mine.py")
    (folder / "karat.yaml").write_text(
        "plugins: [mine.py]\ndataset: {gold_set: gold.qrels}\ngate: {min: {pair@5: 0.1}}\n"
    )
    done = karat("gate", "new.run", "--config", "karat.yaml")
    assert "pair@5" in done.stdout, done.stderr
