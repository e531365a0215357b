"""Gold sets out of Git history."""

from karat.mining.code_equal import code_equal
from karat.mining.commits import Change, Commit
from karat.mining.losses import Losses, Unreadable
from karat.mining.regions import Region
from karat.mining.scan import scan
from karat.mining.scan_cache import ScanCache
from karat.mining.truth import FileTruth, Truth, truth

__all__ = [
    "Change",
    "Commit",
    "FileTruth",
    "Losses",
    "Region",
    "ScanCache",
    "Truth",
    "Unreadable",
    "code_equal",
    "scan",
    "truth",
]
