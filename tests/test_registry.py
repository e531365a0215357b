"""A name finds its thing, whatever the case; a wrong one is answered with the nearest."""

import math
import sys
from pathlib import Path
from types import ModuleType

import pytest

from karat.errors import InputError, MissingExtra, UnknownName
from karat.extension import Extension
from karat.registry import Registry
from tests.extension_kit import install, install_objects

TABLE = {"pi": "math:pi", "tau": "math:tau", "root": "math:sqrt"}


@pytest.fixture
def numbers() -> Registry[float]:
    return Registry("number", TABLE, aliases={"circle": "tau"})


def test_names_and_aliases_are_found_in_any_case(numbers: Registry[float]) -> None:
    assert numbers.get("PI") == math.pi
    assert numbers.get("Circle") == math.tau
    assert numbers.canonical("CIRCLE") == "tau"
    assert list(numbers) == list(TABLE)
    assert numbers.aliases("tau") == ("circle",)
    assert numbers.aliases("pi") == ()


def test_a_thing_is_loaded_once_and_only_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("counted")
    module.thing = object()  # type: ignore[attr-defined]
    registry: Registry[object] = Registry("thing", {"a": "counted:thing", "b": "nowhere:thing"})
    monkeypatch.setitem(sys.modules, "counted", module)
    first = registry.get("a")
    module.thing = object()  # type: ignore[attr-defined]
    assert registry.get("A") is first
    assert list(registry) == ["a", "b"]


def test_a_closed_one_loads_no_other_code() -> None:
    closed: Registry[float] = Registry("number", TABLE, closed=True)
    assert closed.get("pi") == math.pi
    with pytest.raises(UnknownName, match="no number named 'math:e'"):
        closed.get("math:e")


def test_a_near_miss_is_answered_with_the_name_meant(numbers: Registry[float]) -> None:
    with pytest.raises(UnknownName, match=r"no number named 'Roott'; did you mean 'root'\?"):
        numbers.get("Roott")
    with pytest.raises(UnknownName, match=r"did you mean 'circle'\?"):
        numbers.canonical("circel")


def test_a_name_like_none_is_answered_with_all(numbers: Registry[float]) -> None:
    with pytest.raises(UnknownName, match="'xyzzy'; known: pi, root, tau; an extension may"):
        numbers.get("xyzzy")


@pytest.mark.parametrize(
    ("typed", "end"),
    [
        (
            "tax",
            "'tau'? Or an extension may add it: `karat plugins` lists those that are installed",
        ),
        ("taau", "'tau'?"),
        ("roto", "'root'?"),
    ],
)
def test_a_name_that_is_not_quite_near_may_be_of_an_extension(
    numbers: Registry[float], typed: str, end: str
) -> None:
    with pytest.raises(UnknownName) as caught:
        numbers.get(typed)
    assert str(caught.value) == f"no number named {typed!r}; did you mean {end}"


def test_a_name_with_an_argument_may_be_of_an_extension(numbers: Registry[float]) -> None:
    with pytest.raises(
        InputError, match=r"attribute; .*; if 'nowhere' is a name, an extension may"
    ):
        numbers.split("nowhere:5")
    with pytest.raises(InputError, match=r"module:attribute$"):
        numbers.split("os.path:five")


def test_of_many_names_the_closest_and_the_command_are_shown() -> None:
    table = dict.fromkeys(["set-f1", "set-recall", "ndcg"], "math:pi")
    many: Registry[float] = Registry("number", table, listed_by="karat metrics")
    with pytest.raises(UnknownName, match="the closest are set-f1, set-recall; `karat metri"):
        many.get("sete")
    with pytest.raises(
        UnknownName, match=r"no number named 'xyzzy'; `karat metrics` lists all; an ext"
    ):
        many.get("xyzzy")


def test_extensions_add_names_but_replace_none(
    numbers: Registry[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(numbers) == list(TABLE)
    install_objects(monkeypatch, "number", {"E": "math:e", "pi": "math:inf"}, {"euler": "e"})
    assert numbers.get("e") == numbers.get("Euler") == math.e
    assert numbers.get("pi") == math.pi
    assert list(numbers) == [*TABLE, "e"]
    assert numbers.aliases("e") == ("euler",)
    assert numbers.core() == numbers.built_in() == tuple(TABLE)


def test_a_name_near_the_alias_of_an_extension_is_suggested(
    numbers: Registry[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    install_objects(monkeypatch, "number", {"e": "math:e"}, {"napier": "e"})
    with pytest.raises(UnknownName, match=r"did you mean 'napier'\?"):
        numbers.get("napeir")


def test_an_unknown_name_may_belong_to_an_extension_that_is_off(
    numbers: Registry[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    install(monkeypatch, Extension("greek", "Letters.", needs=("alphabet",)))
    with pytest.raises(UnknownName, match=r"extensions that are off: greek \(needs alphabet\)"):
        numbers.get("phi")


def test_a_reference_needs_no_entry(numbers: Registry[float]) -> None:
    assert numbers.get("math:e") == math.e


@pytest.mark.parametrize("reference", ["math:missing", "no_such_module:x", ":x", ".math:x", "m:"])
def test_a_reference_to_nothing_says_what_was_expected(
    numbers: Registry[float], reference: str
) -> None:
    with pytest.raises(InputError, match=r"cannot load number '.*': .*; expected module:attribute"):
        numbers.get(reference)


def test_a_missing_extra_keeps_its_own_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("needy")

    def ask(name: str) -> object:
        raise MissingExtra("polars", extra="big", purpose="it")

    module.__getattr__ = ask  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "needy", module)
    registry: Registry[object] = Registry("thing", {"a": "needy:thing"})
    with pytest.raises(MissingExtra, match="pip install"):
        registry.get("a")


def test_a_module_in_the_current_folder_is_found_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: Registry[float]
) -> None:
    (tmp_path / "karat_test_here.py").write_text("five = 5\n")
    (tmp_path / "colorsys.py").write_text("ONE_THIRD = 0\n")
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    monkeypatch.chdir(tmp_path)
    assert numbers.get("karat_test_here:five") == 5
    assert numbers.get("colorsys:ONE_THIRD") == 1 / 3


def test_a_module_that_is_nowhere_is_told_with_the_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, numbers: Registry[float]
) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path / "gone")])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        numbers.get("karat_test_nowhere:x")
    assert str(caught.value).endswith(f"expected module:attribute; looked in {tmp_path}")
