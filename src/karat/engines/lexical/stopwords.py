"""Words that say nothing about what a piece of code or text is about."""

__all__ = ["STOP_WORDS"]

ENGLISH = """
a about after again all also am an and any are as at be because been before being between both but
by can could did do does doing done down each else ever every few for from further had has have
having he her here him his how i if in into is it its itself just may me might more most much must
my no nor not now of off on once only or other our out over own per same shall she should since so
some such than that the their them then there these they this those through thus to too under
until up upon us very via was we were what when where whether which while who whom whose why will
with within without would yet you your
s t d m re ve ll don doesn didn isn aren wasn weren won
"""

# Keywords and receivers that nearly every chunk of some language holds.
CODE = "self cls def fn func fun let mut pub var const void return returns elif endif"

STOP_WORDS = frozenset(f"{ENGLISH} {CODE}".split())
