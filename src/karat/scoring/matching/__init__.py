"""Match hits with targets; no other package compares a hit with a target."""

from karat.scoring.matching.judge import judge
from karat.scoring.matching.modes import MATCHERS, Matcher
from karat.scoring.matching.ties import TIE_POLICIES
from karat.scoring.matching.trace import trace

__all__ = ["MATCHERS", "TIE_POLICIES", "Matcher", "judge", "trace"]
