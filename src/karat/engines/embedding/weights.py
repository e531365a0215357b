"""Weights that arrive inside an installed package: where they lie, and whether they are intact."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from karat.errors import InputError, MissingExtra
from karat.installation import install_hint

__all__ = ["PackagedFile", "verified"]


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file of a data package, and the SHA-256 that it must have.

    *package* is the name that pip knows, *module* the folder that it installs.
    """

    package: str
    module: str
    path: str
    sha256: str

    def read(self) -> bytes:
        """Return the file's bytes; raise MissingExtra where it is not installed.

        The package is found but never imported, so that none of its code runs.
        """
        spec = find_spec(self.module)
        if spec is None or not spec.submodule_search_locations:
            raise MissingExtra(self.package, extra="dense", purpose="dense or hybrid search")
        place = Path(next(iter(spec.submodule_search_locations)), self.path)
        if not place.is_file():
            raise InputError(
                f"{place}: no such file; the installed {self.package} is not the expected one: "
                + install_hint("dense")
            )
        return verified(place.read_bytes(), self.sha256, str(place))


def verified(content: bytes, expected: str, where: str) -> bytes:
    """Return *content*, or raise InputError unless its SHA-256 is the expected one."""
    found = sha256(content).hexdigest()
    if found != expected:
        raise InputError(
            f"{where}: the weights are damaged or replaced: SHA-256 is {found}; expected {expected}"
        )
    return content
