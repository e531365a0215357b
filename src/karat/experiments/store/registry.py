"""Stores by the scheme of their URL: SQLite, PostgreSQL, and those of plug-ins."""

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from karat.errors import InputError, UnknownName
from karat.experiments.store.base import Store
from karat.registry import Registry

__all__ = ["STORES", "open_store", "shown_place"]

# A scheme leads to a function that opens the store at a URL.
STORES: Registry[Callable[[str], Store]] = Registry(
    "store",
    {
        "sqlite": "karat.experiments.store.sql_store:SqlStore",
        "postgresql": "karat.experiments.store.sql_store:SqlStore",
    },
    closed=True,
)
SQLITE = "sqlite"
# A folder of this name holds nothing but files of Karat.
OWN_FOLDER = ".karat"


def open_store(url: str, *, new: bool = False) -> Store:
    """Return the store at *url*.

    It is a file, ``sqlite:///file`` or ``postgresql://user@host/database``. Any other scheme is
    that of a plug-in, an entry point in the group ``karat.stores``. A file is created only with
    *new*; in a folder ``.karat`` a ``.gitignore`` is written beside it.
    """
    scheme, separator, _ = url.partition("://")
    # As in SQLAlchemy, the driver may follow the scheme: postgresql+psycopg.
    scheme = scheme.partition("+")[0].lower() if separator else SQLITE
    if scheme not in set(STORES):
        known = ", ".join(f"{name}://" for name in STORES)
        raise UnknownName(
            f"no store has the scheme {scheme!r}; expected a file, or one of: {known}"
        )
    file = _file(url) if scheme == SQLITE else None
    if file is not None and not new and not file.is_file():
        raise InputError(f"{file}: no store is here yet; karat evaluate and its like make one")
    store = STORES.get(scheme)(url)
    if file is not None and file.parent.name == OWN_FOLDER:
        ignored = file.parent / ".gitignore"
        if not ignored.exists():
            ignored.write_text("*\n", encoding="utf-8")
    return store


def _file(url: str) -> Path:
    """Return the file of a SQLite store; a relative path follows three slashes."""
    _, separator, path = url.partition("://")
    return Path(path.removeprefix("/") if separator else url)


def shown_place(url: str) -> str:
    """Return *url* as a log may show it: without user and password.

    >>> shown_place(".karat/karat.db"), shown_place("postgresql://ann:secret@db.example/karat")
    ('.karat/karat.db', 'postgresql://db.example/karat')
    """
    if "://" not in url:
        return url
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"
