"""Every module has a docstring, and a package file only re-exports."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src" / "karat"
MODULES = sorted(SOURCE.rglob("*.py"))


def name(module: Path) -> str:
    return module.relative_to(SOURCE).as_posix()


def test_the_source_is_found() -> None:
    assert SOURCE / "errors.py" in MODULES


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_says_what_it_is_for(module: Path) -> None:
    docstring = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8")))
    assert docstring, f"{name(module)} has no docstring"


def is_re_export(node: ast.stmt) -> bool:
    """Whether *node* is an import, a name such as `__all__`, or the hook that imports on demand."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return all(map(is_re_export, node.body))
        case ast.Assign(targets=[ast.Name(id=assigned)]) | ast.AnnAssign(target=ast.Name(assigned)):
            return assigned.startswith("_")
        case ast.FunctionDef(name="__getattr__" | "__dir__"):
            return True
    return False


@pytest.mark.parametrize("package", [m for m in MODULES if m.name == "__init__.py"], ids=name)
def test_a_package_file_only_re_exports(package: Path) -> None:
    body = ast.parse(package.read_text(encoding="utf-8")).body
    work = [f"{name(package)}:{node.lineno}" for node in body if not is_re_export(node)]
    assert not work
