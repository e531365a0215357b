"""The installed distribution: its name, version and requirements, and how to add an extra.

The import package and the command are ``karat``; the distribution is ``karatbench``, because
``karat`` on the package index is another project.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # `karat --help` imports this module; pathlib would bring urllib and ipaddress.
    from pathlib import Path


__version__ = "0.3.0.dev0"
DISTRIBUTION = "karatbench"


def package_hint(package: str) -> str:
    """Return the pip command that installs *package*."""
    return f"pip install {package}"


def install_hint(extra: str) -> str:
    """Return the pip command that adds *extra* to this installation.

    A checkout (an editable install, or a source tree on the Python path) is installed by its
    folder. An installed wheel is found by its name: pip then fetches only what the extra adds.

    >>> install_hint("dense").endswith("[dense]'")
    True
    """
    checkout = _checkout()
    if checkout is None:
        return f"pip install '{DISTRIBUTION}[{extra}]'"
    from shlex import quote

    return f"pip install -e {quote(f'{checkout}[{extra}]')}"


def typed_command() -> str:
    """Return ``karat`` as it can be typed here: with its path if the shell would not find it.

    The path is relative if it is below the current folder, such as ``.venv/bin/karat``.
    """
    import shutil
    import sys
    from pathlib import Path
    from shlex import quote

    interpreter = Path(sys.executable)
    script = shutil.which("karat", path=str(interpreter.parent))
    on_path = shutil.which("karat")
    if script is None:
        return f"{quote(_from_here(interpreter))} -m karat"
    if on_path is not None and Path(on_path).resolve() == Path(script).resolve():
        return "karat"
    return quote(_from_here(Path(script)))


def _from_here(path: "Path") -> str:
    from pathlib import Path

    here = Path.cwd()
    if path.parent == here:
        return f"./{path.name}"
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def without_checkout(text: str) -> str:
    """Return *text* with the name of the distribution in place of the checkout's folder.

    A service shows this to its clients, who must not learn where its files are.
    """
    checkout = _checkout()
    if checkout is None:
        return text
    from shlex import quote

    beginning = quote(f"{checkout}[").removesuffix("'")
    return text.replace(f"-e {beginning}", f"'{DISTRIBUTION}[")


def package_requirements() -> Sequence[str]:
    """Return the requirements of the installed distribution; none where it is not installed."""
    from importlib.metadata import PackageNotFoundError, requires

    try:
        return tuple(requires(DISTRIBUTION) or ())
    except PackageNotFoundError:
        return ()


@cache
def _checkout() -> "Path | None":
    """Return the checkout that this code runs from, None where a wheel is installed."""
    from pathlib import Path

    return checkout_of(_direct_url(), Path(__file__).resolve())


def checkout_of(direct_url: str | None, module: "Path") -> "Path | None":
    """Return the checkout of *module*, given the ``direct_url.json`` of its distribution.

    That file (PEP 610) exists where a distribution was installed by its address, and names an
    editable folder. Without a distribution, *module* may lie in a source tree.
    """
    folder = _editable_folder(direct_url) or _source_tree(module)
    return folder if folder and (folder / "pyproject.toml").is_file() else None


def _editable_folder(direct_url: str | None) -> "Path | None":
    if not direct_url:
        return None
    import json
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(direct_url)
        address = urlsplit(origin["url"])
        editable = origin.get("dir_info", {}).get("editable") is True
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return Path(url2pathname(address.path)) if editable and address.scheme == "file" else None


def _source_tree(module: "Path") -> "Path | None":
    """Return the folder with ``src/karat/`` if *module* is in one."""
    package = module.parent
    return package.parent.parent if package.parent.name == "src" else None


def _direct_url() -> str | None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        return distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
