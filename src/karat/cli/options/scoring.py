"""Options of scoring and of statistics, as the records of their settings declare them."""

from karat.cli.help import INPUTS, MATCHING, STATISTICS
from karat.cli.options.shared import (
    Command,
    Inputs,
    declared,
    gather,
    in_group,
    input_options,
    make_inputs,
)
from karat.scoring.settings import Confidence, Scoring

INTERVALS = ("level", "draws", "seed", "cluster")
SAMPLE = (*INTERVALS, "human_sample")

# How stored runs are matched and measured: *scoring*.
measure_options = gather("scoring", Scoring, declared(Scoring), MATCHING)
match_option = in_group(MATCHING, declared(Scoring, "match")["match"])
sample_option = in_group(STATISTICS, declared(Confidence, "human_sample")["human_sample"])
# How intervals and tests are computed: *confidence*; then also from which labels, and which runs
# are compared and how.
confidence_options = gather("confidence", Confidence, declared(Confidence, *INTERVALS), STATISTICS)
sample_options = gather("confidence", Confidence, declared(Confidence, *SAMPLE), STATISTICS)
pair_options = gather("confidence", Confidence, declared(Confidence, *SAMPLE, "pairs"), STATISTICS)
comparison_options = gather("confidence", Confidence, declared(Confidence), STATISTICS)


def scoring_options(command: Command) -> Command:
    """Add how runs are read, matched and measured: *scoring* and *inputs*."""
    return measure_options(gather("inputs", make_inputs, declared(Inputs), INPUTS)(command))


def judging_options(command: Command) -> Command:
    """Add the same for a command without a breakdown by tags."""
    return measure_options(input_options(command))
