"""Gold sets out of Git history."""

from karat.mining.code_equal import code_equal
from karat.mining.commits import Change, Commit
from karat.mining.filters import Filters, rule_table
from karat.mining.hardness import Level
from karat.mining.losses import Losses, Unreadable
from karat.mining.recipe import Recipe
from karat.mining.regions import Region
from karat.mining.rules import Limits
from karat.mining.scan import scan
from karat.mining.scan_cache import ScanCache
from karat.mining.targets import Grain
from karat.mining.truth import FileTruth, Truth, truth

__all__ = [
    "Change",
    "Commit",
    "FileTruth",
    "Filters",
    "Grain",
    "Level",
    "Limits",
    "Losses",
    "Recipe",
    "Region",
    "ScanCache",
    "Truth",
    "Unreadable",
    "code_equal",
    "rule_table",
    "scan",
    "truth",
]
