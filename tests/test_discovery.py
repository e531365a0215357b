"""Extensions of other distributions and single files: found, loaded, and off with a reason."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from karat import discovery
from karat.discovery import Command, Extension, InstalledExtension
from karat.errors import InputError
from karat.registry import Registry

pytestmark = pytest.mark.usefixtures("fresh_extensions")

RECORD = """
from karat.extension import Extension
EXTENSION = Extension("{name}", "Adds a number.", adds={{"number": {{"{name}": "math:pi"}}}})
"""


def write(folder: Path, name: str, text: str = RECORD) -> str:
    """Write a plug-in file, and return its path."""
    path = folder / f"{name}.py"
    path.write_text(text.format(name=name), encoding="utf-8")
    return str(path)


def install(folder: Path, info: str, target: str) -> None:
    """Write what an installed distribution leaves about its extension."""
    (folder / info).mkdir()
    text = f"[console_scripts]\nmine = a:b\n\n[karat.extensions]\nmine = {target}\n"
    (folder / info / "entry_points.txt").write_text(text, encoding="utf-8")


def others() -> dict[str, InstalledExtension]:
    """Return the extensions that are not Karat's own."""
    return {one.name: one for one in discovery.installed() if one.origin != discovery.BUILT_IN}


def checked(*extensions: Extension) -> dict[str, str]:
    """Return why each of *extensions* is off, "" if it is not."""
    given = [InstalledExtension(each.name, "a test", each) for each in extensions]
    return {one.name: one.problem for one in discovery.checked(given)}


def test_an_extension_of_a_distribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "karat_test_three", RECORD.replace("{name}", "three"))
    install(tmp_path, "My_Karat-1.0.dist-info", "karat_test_three:EXTENSION")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert others()["three"].origin == "My_Karat 1.0"
    numbers: Registry[float] = Registry("number", {})
    assert list(numbers) == ["three"]


def test_an_editable_installation_counts_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "karat_test_four", RECORD.replace("{name}", "four"))
    install(tmp_path, "my_karat.egg-info", "karat_test_four:EXTENSION")
    site = tmp_path / "site"
    site.mkdir()
    install(site, "my_karat-1.0.dist-info", "karat_test_four:EXTENSION")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.syspath_prepend(str(site))
    assert others()["four"].origin == "my_karat 1.0"
    assert discovery.failures() == []


def test_what_cannot_be_loaded_is_off_and_reported_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "my_karat-1.0.dist-info", "karat_test_nowhere:EXTENSION")
    monkeypatch.syspath_prepend(str(tmp_path))
    discovery.add_files([write(tmp_path, "broken", "1 / 0"), write(tmp_path, "odd", "EXTENSION=1")])
    lines: list[str] = []
    discovery.on_problem(lines.append)
    assert {one.name for one in others().values()} == {"mine", "broken", "odd"}
    discovery.installed()
    distribution, broken, odd = lines
    assert distribution == (
        "extension mine (my_karat 1.0) is off: "
        "ModuleNotFoundError: No module named 'karat_test_nowhere'"
    )
    assert broken.endswith("broken.py) is off: ZeroDivisionError: division by zero")
    assert odd.endswith("EXTENSION has type int; expected karat.extension.Extension")
    assert not {"mine", "broken", "odd"} & {each.name for each in discovery.enabled()}


def test_what_needs_something_that_is_off_is_off() -> None:
    first = Extension("first", "One.", needs=("second",))
    second = Extension("second", "Two.", needs=("third",))
    assert checked(first, second) == {"first": "needs second", "second": "needs third"}
    assert checked(first, second, Extension("third", "Three.")) == dict.fromkeys(
        ["first", "second", "third"], ""
    )


def test_of_two_with_one_name_the_later_is_off() -> None:
    one = Extension("one", "One.", adds={"number": {"Pi": "math:pi"}})
    other = Extension("other", "Two.", adds={"number": {"pi": "math:pi"}})
    alias = Extension("alias", "Three.", aliases={"number": {"pi": "tau"}})
    elsewhere = Extension("elsewhere", "Four.", adds={"colour": {"pi": "math:pi"}})
    needy = Extension("needy", "Five.", needs=("other",))
    assert checked(one, other, alias, elsewhere, needy) == {
        "one": "",
        "other": "the number 'pi' exists already (one)",
        "alias": "the number 'pi' exists already (one)",
        "elsewhere": "",
        "needy": "needs other",
    }


def test_a_file_has_one_module_name_in_every_process(tmp_path: Path) -> None:
    path = write(tmp_path, "two")
    assert discovery.load_file(path).name == "two"
    assert os.environ[discovery.PLUGINS] == path
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import karat.discovery, karat_plugin_two as two; print(two.EXTENSION.name)",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "two\n", done.stderr


def test_a_process_that_nobody_typed_says_nothing(tmp_path: Path) -> None:
    discovery.add_files([write(tmp_path, "broken", "1 / 0")])
    probe = "from karat import discovery; print(discovery.failures())"
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=False
    )
    assert done.stdout == "['broken (ZeroDivisionError: division by zero)']\n"
    assert done.stderr == ""


def test_a_file_that_is_not_there_or_has_the_name_of_another(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.py: no such file; a plug-in is a Python file"):
        discovery.add_files([str(tmp_path / "gone.py")])
    (tmp_path / "below").mkdir()
    with pytest.raises(InputError, match="plug-ins need different file names"):
        discovery.add_files([write(tmp_path, "a-b"), write(tmp_path / "below", "a_b")])
    with pytest.raises(InputError, match=r"broken\.py: ZeroDivisionError: division by zero"):
        discovery.load_file(write(tmp_path, "broken", "1 / 0"))


@pytest.mark.parametrize(
    ("extension", "taken"),
    [
        (
            Extension("a", "A.", commands={"score": Command("a:b", "Score.", "Mine")}),
            "command 'score'",
        ),
        (Extension("a", "A.", names={"compare": "a:b"}), "name 'compare'"),
        *(
            (Extension("a", "A.", adds={kind: {name: "a:b"}}), f"{kind.replace('_', ' ')} {name!r}")
            for kind, name in (
                ("metric", "ndcg"),
                ("metric", "map"),
                ("engine", "bm25"),
                ("format", "trec-run"),
                ("chunker", "auto"),
                ("vector_store", "in_memory"),
                ("schema", "agents"),
                ("executor", "local"),
                ("store", "sqlite"),
                ("matcher", "exact"),
                ("view", "frame"),
            )
        ),
    ],
)
def test_a_name_of_the_core_is_never_added_again(extension: Extension, taken: str) -> None:
    assert checked(extension) == {"a": f"the {taken} exists already (Karat's core)"}


def test_every_registry_with_names_of_its_own_is_checked() -> None:
    source = Path(discovery.__file__).parent
    texts = [file.read_text(encoding="utf-8") for file in source.rglob("*.py")]
    made = re.compile(r"^[A-Z_]+\b.*Registry\(\s*\"(\w+)\",\s*({})?", re.MULTILINE)
    found = {kind for text in texts for kind, empty in made.findall(text) if not empty}
    assert found | {"engine"} == set(discovery.REGISTRIES)


RECORDS = {
    "import missing_module": "ModuleNotFoundError: No module named 'missing_module'",
    "def broken(:": "SyntaxError: invalid syntax (mine.py, line 1)",
    "X = 1": "AttributeError: module 'karat_plugin_mine' has no attribute 'EXTENSION'",
    "EXTENSION = {}": "has type dict; expected karat.extension.Extension",
    "needs=('absent',)": "needs absent",
    "needs='absent'": "needs has type str; expected tuple of names",
    "adds=['metric']": "adds has type list; expected dictionary",
    "adds={'metric': ['two']}": "adds['metric'] has type list; expected dictionary",
    "adds={'metric': {'two': max}}": "adds['metric']['two'] has type builtin_function_or_method; "
    "expected text module:attribute",
    "commands={'two': 'a:b'}": "commands['two'] has type str; expected karat.extension.Command",
}


@pytest.mark.parametrize(("text", "reason"), RECORDS.items())
def test_a_broken_file_is_one_line_of_every_command_and_has_its_reason_in_the_list(
    tmp_path: Path, text: str, reason: str
) -> None:
    if text.startswith(("needs", "adds", "commands")):
        text = f"from karat.extension import Extension\nEXTENSION = Extension('mine', 'M.', {text})"
    file = tmp_path / "mine.py"
    file.write_text(text, encoding="utf-8")
    listed = karat(tmp_path, "plugins", "--json")
    assert (listed.returncode, listed.stderr) == (0, "")
    (mine,) = (each for each in json.loads(listed.stdout) if each["origin"] == str(file))
    assert mine["problem"].endswith(reason)
    helped = karat(tmp_path, "--help")
    assert helped.returncode == 0
    assert helped.stderr == f"warning: extension mine ({file}) is off: {mine['problem']}\n"


def karat(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "karat", "--plugin", "mine.py", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


LATE = """
from karat.extension import Command, Extension
EXTENSION = Extension(
    "mine",
    "M.",
    commands={"two": Command("my_absent:two", "Two.", "Mine")},
    adds={"metric": {"two": "my_absent:two"}, "engine": {"wrong": f"{__name__}_wrong:Wrong"}},
)
"""


def test_an_object_that_cannot_be_loaded_is_named_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LATE, encoding="utf-8")
    (tmp_path / "gold.qrels").write_text("q1 0 a 1\n")
    (tmp_path / "one.run").write_text("q1 Q0 a 1 2.0 x\n")
    absent = "No module named 'my_absent'"
    typed = karat(tmp_path, "two", "--help")
    assert typed.stderr == (
        f"error: cannot load the command two from my_absent:two: ModuleNotFoundError: {absent}\n"
    )
    used = karat(tmp_path, "score", "gold.qrels", "one.run", "-m", "two")
    assert used.stderr == f"error: cannot load metric 'two' from my_absent:two: {absent}\n"
    assert (typed.returncode, used.returncode) == (2, 2)
    engines = karat(tmp_path, "engines").stdout.splitlines()
    problem = "not available: cannot load engine 'wrong' from karat_plugin_mine_wrong:Wr"
    assert any(problem in line for line in engines)


UNDECORATED = """
from karat.extension import Command, Extension
def two(*_arguments, **_settings): return 2.0
here = f"{__name__}:two"
command = Command(here, "Two.", "Mine")
EXTENSION = Extension("mine", "M.", commands={"two": command}, adds={"metric": {"two": here}})
"""


def test_a_function_without_its_decorator_is_told_which(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(UNDECORATED, encoding="utf-8")
    typed = karat(tmp_path, "two")
    assert typed.stderr == (
        "error: the command two is a function (karat_plugin_mine:two); "
        "decorate it: @click.command()\n"
    )
    shown = karat(tmp_path, "metrics", "two")
    assert shown.stderr == (
        "error: two is not a metric; decorate the function with @karat.metric\n"
    )
    assert (typed.returncode, shown.returncode) == (2, 2)
