"""Hide the extensions of Karat from every Python that has this folder on its path.

The tests of the core run like this, and so do the processes that they start.
"""

import sys

HIDDEN = "karat.extensions"


class Hide:
    """Finds no module of an extension, as if the folder had been deleted."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Raise ModuleNotFoundError for a hidden module."""
        if name == HIDDEN or name.startswith(HIDDEN + "."):
            raise ModuleNotFoundError(f"No module named {name!r} (hidden)", name=name)


sys.meta_path.insert(0, Hide)
