"""One engine for each demand on speed and quality; see design/0004-order-of-code.md."""

from collections.abc import Mapping

__all__ = ["PROFILES"]

PROFILES: Mapping[str, Mapping[str, object]] = {
    "keyword": {"engine": "bm25"},
    "fast": {"engine": "hybrid", "model": "static", "dense_weight": 0.3},
    "balanced": {"engine": "hybrid"},
    "quality": {"engine": "hybrid", "windows": "all"},
}
