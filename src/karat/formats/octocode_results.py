"""Octocode's results: one JSON object of averages."""

from pathlib import Path
from typing import NamedTuple

from karat.formats.jsontext import finite, write_json

__all__ = ["OctocodeResults", "write_octocode_results"]


class OctocodeResults(NamedTuple):
    """The averages of one run; None where a value could not be computed."""

    queries: int
    errors: int
    hit_at_5: float | None
    hit_at_10: float | None
    mrr: float | None
    ndcg_at_10: float | None
    recall_at_5: float | None
    recall_at_10: float | None


def write_octocode_results(results: OctocodeResults, path: Path) -> None:
    """Write *results*; a number that is not finite becomes null."""
    write_json(path, finite(results._asdict()))
