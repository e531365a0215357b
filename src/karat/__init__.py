"""Karat measures how good a search is."""

from typing import TYPE_CHECKING

from karat.exports import exports

if TYPE_CHECKING:
    from karat.api import compare, evaluate, load
    from karat.errors import FormatError, InputError, KaratError
    from karat.installation import __version__
    from karat.model import Answer, Dataset, Hit, Query, Run, Target

__all__ = [
    "Answer",
    "Dataset",
    "FormatError",
    "Hit",
    "InputError",
    "KaratError",
    "Query",
    "Run",
    "Target",
    "__version__",
    "compare",
    "evaluate",
    "load",
]

__getattr__ = exports(
    __name__,
    {
        "api": "compare evaluate load",
        "errors": "FormatError InputError KaratError",
        "installation": "__version__",
        "model": "Answer Dataset Hit Query Run Target",
    },
)
