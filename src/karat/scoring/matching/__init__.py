"""Match hits with targets; no other package compares a hit with a target."""

from karat.scoring.matching.judge import judge, trace
from karat.scoring.matching.modes import MATCHERS, TIE_POLICIES, Matcher

__all__ = ["MATCHERS", "TIE_POLICIES", "Matcher", "judge", "trace"]
