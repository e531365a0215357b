"""Each folder of ``karat/extensions`` can be deleted, and the rest still works.

One parse of the source finds every import, those inside functions too, and every
``module:attribute`` in a string. None may lead from the core into an extension, and none from one
extension into another that its record does not need.
"""

import ast
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from karat import discovery
from karat.cli.options.shared import OutputPath
from karat.discovery import Extension
from karat.testing import ExtensionSuite
from tests.conftest import WHOLE

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "karat"
FOLDER = "karat.extensions"
NAMES = sorted(path.parent.name for path in SOURCE.glob("extensions/*/extension.py"))
TARGET = re.compile(r"(karat(?:\.\w+)+):([A-Za-z_]\w*)")
# A door names objects of extensions and imports them on first use; an error names the extension.
DOORS = {"karat", "karat.client", "karat.ndcg"}


def test_records_are_those_of_the_modules() -> None:
    found = {one.name: one.extension for one in discovery.installed() if one.name in NAMES}
    assert found == {
        name: importlib.import_module(f"{FOLDER}.{name}.extension").EXTENSION for name in NAMES
    }


class Reference(NamedTuple):
    """A *module* that *source* names in this line, and its *attribute*, "" for none."""

    source: str
    line: int
    module: str
    attribute: str = ""


def module_of(file: Path, root: Path = SOURCE.parent) -> str:
    """Return the dotted name of a source file."""
    parts = file.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def references_of(tree: ast.AST, source: str) -> Iterator[Reference]:
    """Yield every module that the code of *source* names; examples in docstrings do not count."""
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) in prose:
            continue
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Reference(source, node.lineno, alias.name)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield Reference(source, node.lineno, node.module, alias.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for module, attribute in TARGET.findall(node.value):
                yield Reference(source, node.lineno, module, attribute)


@cache
def modules() -> dict[str, ast.Module]:
    """Return the syntax tree of every module."""
    return {
        module_of(file): ast.parse(file.read_text(encoding="utf-8"))
        for file in sorted(SOURCE.rglob("*.py"))
    }


@cache
def references() -> tuple[Reference, ...]:
    """Return every reference of the source to a module of Karat."""
    return tuple(
        reference
        for source, tree in modules().items()
        for reference in references_of(tree, source)
        if reference.module.split(".")[0] == "karat"
    )


def owner(module: str) -> str:
    """Return the extension that *module* belongs to, "" for the core.

    >>> owner("karat.extensions.watch.rounds"), owner("karat.extensions"), owner("karat.app")
    ('watch', '', '')
    """
    return module.removeprefix(FOLDER).strip(".").split(".")[0] if within(module) else ""


def within(module: str) -> bool:
    return module.startswith(FOLDER + ".")


def led_to(reference: Reference) -> str:
    """Return the module that a reference leads to: an imported name may be a module."""
    full = f"{reference.module}.{reference.attribute}"
    return full if full in modules() else reference.module


def record(name: str) -> Extension:
    loaded = importlib.import_module(f"{FOLDER}.{name}.extension").EXTENSION
    assert isinstance(loaded, Extension)
    return loaded


def load(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    loaded = getattr(importlib.import_module(module), attribute)
    assert isinstance(loaded, click.Command)
    return loaded


def options_of(command: click.Command) -> list[click.Option]:
    """Return the options of a command and of those below it."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = [each for each in command.params if isinstance(each, click.Option)]
    return [*own, *(option for each in below for option in options_of(each))]


def defines(module: str, attribute: str) -> bool:
    """Return whether a module has *attribute*; every module has "", which stands for none."""
    return attribute in {"", *defined(module)}


@cache
def defined(module: str) -> frozenset[str]:
    """Return the names that a module defines, imports or offers by its hook."""
    names: set[str] = set()
    for node in ast.walk(modules()[module]):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names |= set(node.value.split())
    return frozenset(names)


def test_the_parse_finds_every_kind_of_reference() -> None:
    code = "import karat.a\ndef f():\n    from karat.b import c\nT = {'x': 'karat.d.e:g'}\n"
    assert [each[2:] for each in references_of(ast.parse(code), "m")] == [
        ("karat.a", ""),
        ("karat.b", "c"),
        ("karat.d.e", "g"),
    ]


def test_every_reference_leads_somewhere() -> None:
    lost = []
    for reference in references():
        module = led_to(reference)
        if module not in modules():
            lost.append(f"{reference.source}:{reference.line}: no module {reference.module}")
        elif module == reference.module and not defines(module, reference.attribute):
            lost.append(f"{reference.source}:{reference.line}: {module}:{reference.attribute}")
    assert lost == []


def test_the_core_names_no_extension() -> None:
    edges = {
        f"{each.source}:{each.line} -> {led_to(each)}"
        for each in references()
        if owner(led_to(each)) and not owner(each.source) and each.source not in DOORS
    }
    assert sorted(edges) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_extension_needs_what_it_imports(name: str) -> None:
    used = {owner(led_to(each)) for each in references() if owner(each.source) == name}
    assert used - {"", name} == set(record(name).needs)


@pytest.mark.parametrize("name", NAMES)
def test_tests_of_an_extension_use_what_it_needs(name: str) -> None:
    allowed = {"", name, *record(name).needs}
    used = {
        f"{file.name} -> {owner(each.module)}"
        for file in sorted((ROOT / "tests" / "extensions" / name).rglob("*.py"))
        for each in references_of(ast.parse(file.read_text(encoding="utf-8")), file.name)
        if owner(each.module) not in allowed
    }
    assert sorted(used) == []


@pytest.mark.parametrize("name", NAMES)
def test_an_extension_has_tests(name: str) -> None:
    assert list((ROOT / "tests" / "extensions" / name).rglob("test_*.py"))


@pytest.mark.parametrize("name", NAMES)
class TestRecords(ExtensionSuite):
    """The record of each built-in extension keeps the contract."""

    @pytest.fixture
    def extension(self, name: str) -> Extension:
        assert record(name).name == name
        return record(name)


@pytest.mark.parametrize("name", NAMES)
def test_every_file_that_a_command_writes_is_checked(name: str) -> None:
    written = [
        option
        for command in record(name).commands.values()
        for option in options_of(load(command.target))
        if set(option.opts) & {"-o", "--output", "--run-out"}
    ]
    assert [option.opts for option in written if not isinstance(option.type, OutputPath)] == []


def test_every_folder_is_found() -> None:
    own = [each for each in discovery.installed() if each.origin == discovery.BUILT_IN]
    assert [each.name for each in own] == NAMES
    assert [each.problem for each in own if each.problem] == []


def test_make_leaves_out_of_the_core_what_needs_extensions() -> None:
    """With one path more, the tests of the core would see all extensions, and say nothing."""
    (named,) = re.findall(r"^WHOLE_TESTS *:= (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(named.split()) == set(WHOLE)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a copy of the core, without any extension."""
    copy = tmp_path_factory.mktemp("core")
    ignored = shutil.ignore_patterns("extensions", "__pycache__", "static")
    shutil.copytree(SOURCE, copy / "karat", ignore=ignored)
    return copy


def run_core(core: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", "-c", START, str(core), *sys.path, "--", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=core,
    )


# The copy comes first on the path; -S keeps the editable installation out.
START = """
import sys
split = sys.argv.index("--")
sys.path[:0] = sys.argv[1:split]
sys.argv[1:] = sys.argv[split + 1:]
from karat.cli import main
main()
"""


def test_help_of_the_core_alone(core: Path) -> None:
    done = run_core(core, "--help-all")
    assert done.returncode == 0, done.stderr
    assert "Score a run file" in done.stdout
    assert "watch" not in done.stdout


def test_a_broken_folder_is_an_error_with_its_file(core: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(core, tmp_path / "copy") / "karat" / "extensions" / "mine"
    broken.mkdir(parents=True)
    (broken.parent / "__init__.py").write_text("")
    (broken / "extension.py").write_text("from karat.extension import Nothing\n")
    done = run_core(tmp_path / "copy", "--help")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        f"error: {broken / 'extension.py'}: cannot load Karat's own extension mine: ImportError: "
        "cannot import name 'Nothing' from 'karat.extension' "
        f"({tmp_path / 'copy' / 'karat' / 'extension.py'}); "
        "repair the file, or install Karat again\n"
    )


def test_a_folder_that_lacks_what_it_needs_is_off_without_a_line(
    core: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(core, tmp_path / "copy") / "karat" / "extensions" / "judges"
    shutil.copytree(SOURCE / "extensions" / "judges", folder)
    (folder.parent / "__init__.py").write_text("")
    listed = run_core(tmp_path / "copy", "plugins")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "judges  off (built in): needs llm" in listed.stdout
    unknown = run_core(tmp_path / "copy", "judge")
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 2)
    assert "No such command 'judge'" in unknown.stderr
    assert "`karat plugins` lists" in unknown.stderr


@pytest.mark.parametrize(
    ("door", "name", "extension"),
    [
        ("karat", "trec_eval", "trec_eval"),
        ("karat.client", "Client", "service"),
        ("karat.ndcg", "NDCGEvaluator", "ndcg"),
    ],
)
def test_an_object_of_a_missing_extension_is_named(
    core: Path, door: str, name: str, extension: str
) -> None:
    probe = (
        f"import sys; sys.path[:0] = sys.argv[1:]; import {door}\n"
        f"try: {door}.{name}\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", probe, str(core), *sys.path],
        capture_output=True,
        text=True,
        check=False,
        cwd=core,
    )
    assert done.stdout == (
        f"{door}.{name} needs Karat's extension {extension}, which is not installed here\n"
    ), done.stderr


@pytest.mark.parametrize("command", ["score {gold} {run}", "compare {gold} {run} {other}"])
def test_the_core_alone_scores_and_compares(core: Path, command: str) -> None:
    demo = ROOT / "examples" / "demo"
    names = {"gold": "gold.json", "run": "bm25.run", "other": "keyword.run"}
    typed = command.format(**{key: demo / name for key, name in names.items()})
    done = run_core(core, *typed.split())
    assert done.returncode == 0, done.stderr
    assert "ndcg@10" in done.stdout


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("generate", "No such command 'generate'. Commands: "),
        ("--server http://here runs list", "No extension that is installed has commands of a "),
        ("score {gold} {run} -m gm-ap", "no metric named 'gm-ap'; did you mean 'map'?"),
        ("score {gold} {run} --gold-format semble", "no format named 'semble'; known: beir, "),
        ("report {gold} {run} --schema octocode", "'octocode' is not one of 'karat', 'agents'"),
        ("gate {gold} {run} --preset octocode", "'octocode' is unknown"),
        ("search x {folder} -e dense(model=static)", "no embedder named 'static'; no extension "),
        ("search x {folder} -e dense(model=tei:gte)", "cannot load embedder 'tei:gte'"),
        ("search x {folder} -e bm25(store=qdrant)", "no vector store named 'qdrant'"),
        ("evaluate --config mined.yaml -e bm25", "no extension that is installed reads limit"),
        (
            "compare {gold} --agents bm25 --corpus {folder} --executor dask://host:1",
            "unknown scheme 'dask'",
        ),
    ],
)
def test_a_name_of_a_missing_extension_leads_to_the_list(
    core: Path, typed: str, message: str
) -> None:
    demo = ROOT / "examples" / "demo"
    (core / "mined.yaml").write_text("dataset:\n  limit: 3\n", encoding="utf-8")
    names = {"gold": demo / "gold.json", "run": demo / "bm25.run", "folder": demo}
    done = run_core(core, *(word.format(**names) for word in typed.split()))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "`karat plugins` lists" in done.stderr


def test_help_of_the_core_has_only_examples_that_work(core: Path) -> None:
    examples = re.findall(r"^ +karat (\S+)", run_core(core, "--help-all").stdout, re.MULTILINE)
    assert examples == ["evaluate", "compare", "score", "gate", "report", "metrics"]
    assert "lists the extensions" in run_core(core, "--server", "http://here", "--help").stdout
