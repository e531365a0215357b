"""Which gold set and which agents an experiment is about: from words, or from a file."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from karat.cli.options.experiment import Asking
from karat.cli.options.shared import Inputs, Output
from karat.cli.output.experiments import Views, carry_out
from karat.report.display import counted

if TYPE_CHECKING:
    from karat.app.benchmark_config import ConfigFile
    from karat.experiments import Configuration
    from karat.experiments.configurations import Agent
    from karat.experiments.run import ExperimentRequest
    from karat.experiments.store import ExperimentKind
    from karat.experiments.target_check import Where
    from karat.model import Dataset
    from karat.scoring.settings import Confidence, Scoring

__all__ = ["AgentSelection", "chosen", "read_gold"]

DEFAULT_ENGINE = "bm25"


@dataclass(frozen=True, slots=True)
class AgentSelection:
    """What is compared on which gold set, and what the file says beside that, if there is one."""

    gold: "Dataset"
    configurations: "tuple[Configuration, ...]"
    scoring: "Scoring"
    inputs: Inputs
    config: "ConfigFile | None" = None

    def request(
        self,
        kind: "ExperimentKind",
        *,
        where: "Where",
        asking: Asking,
        seed: int,
        every_latency: bool = False,
    ) -> "ExperimentRequest":
        """Return the experiment; what was said on the command line wins.

        With *every_latency*, all queries are timed unless something else was said.
        """
        from karat.app.benchmark_config import sampled
        from karat.experiments.run import ExperimentRequest
        from karat.experiments.workers import RunSettings

        settings = RunSettings()
        if self.config and self.config.repetitions:
            settings = replace(settings, repetitions=self.config.repetitions)
        if self.config and self.config.timeout_s:
            settings = replace(settings, timeout_s=self.config.timeout_s)
        gold = sampled(self.gold, asking.sample, seed=seed)
        return ExperimentRequest(
            gold=gold,
            configurations=self.configurations,
            where=self._placed(where).of_part(gold, self.gold),
            kind=kind,
            scoring=self.scoring,
            settings=asking.settings(settings),
            timed=asking.timed_queries(every=every_latency),
            workers=asking.workers,
            seed=seed,
            wait=asking.wait,
        )

    def carry_out(
        self,
        kind: "ExperimentKind",
        *,
        where: "Where",
        asking: Asking,
        confidence: "Confidence",
        output: Output,
    ) -> None:
        """Run the experiment and show its outcome; result files have every latency."""
        views = self.views(confidence, output)
        every = views.every_latency
        seed = confidence.seed
        request = self.request(kind, where=where, asking=asking, seed=seed, every_latency=every)
        carry_out(request, asking, views)

    def _placed(self, where: "Where") -> "Where":
        """Return *where*, or the repository of the file where nothing is said."""
        places = self.config.mining.get("repositories") if self.config else None
        if where.corpus or where.repositories or not isinstance(places, list) or len(places) > 1:
            return where
        return where._replace(repositories={"": str(places[0])})

    def views(self, confidence: "Confidence", output: Output) -> Views:
        """Return how the outcome is shown; the folder of the file is filled unless one is named."""
        views = Views(confidence, output, self.inputs.by, self.inputs.run_format)
        config = self.config
        if config is None:
            return views
        if output.path is None and config.folder is not None:
            views = replace(views, output=output._replace(path=f"{config.folder}/"))
        return replace(views, formats=config.formats, charts=config.charts)


def chosen(
    *,
    gold: str | None,
    agents: Sequence[str],
    config: str | None,
    k: int | None,
    inputs: Inputs,
    scoring: "Scoring",
) -> AgentSelection:
    """Return the gold set and the agents that are meant.

    With a *config*, *agents* are those of it that are named, all where none is; a name that it does
    not have is an engine.
    """
    from karat.experiments.configurations import request_depth
    from karat.scoring.sources import number_duplicates

    read = None
    if config is not None:
        from karat.app.benchmark_config import read_benchmark_config
        from karat.cli.options.mining import accepted_by, recipe_command

        read = read_benchmark_config(config, accepts=accepted_by(recipe_command()))
    # Before a gold set is mined, which takes long.
    known = _agents(agents, read)
    dataset = _gold(gold, read, inputs)
    depth = request_depth(k, scoring, dataset)
    configurations = [agent.configuration(depth) for agent in known]
    names = number_duplicates([configuration.name for configuration in configurations])
    apart = tuple(
        replace(each, name=name) for each, name in zip(configurations, names, strict=True)
    )
    return AgentSelection(dataset, apart, scoring, inputs, read)


def read_gold(path: str, inputs: Inputs) -> "Dataset":
    """Return the gold set in a file."""
    from karat.formats import read_dataset

    return read_dataset(path, format=inputs.gold_format, tags=inputs.tags)


def _gold(path: str | None, config: "ConfigFile | None", inputs: Inputs) -> "Dataset":
    path = path or (config.gold_set if config else None)
    if path is not None:
        return read_gold(path, inputs)
    repositories = config.mining.get("repositories") if config else None
    if config is None or not isinstance(repositories, list):
        raise click.UsageError("Expected a gold set, or a --config that names or mines one.")
    from karat.app.generate import generate
    from karat.cli.options.mining import recipe_of
    from karat.cli.output.progress import progress_bars

    with progress_bars() as watch:
        made = generate(repositories, recipe_of(config.mining), watch=watch)
    click.echo(f"mined {counted(len(made.dataset), 'case')}", err=True)
    return made.dataset


def _agents(names: Sequence[str], config: "ConfigFile | None") -> "list[Agent]":
    from karat.experiments.configurations import NAMES, Agent, engine_configurations

    known = {agent.name: agent for agent in config.agents} if config else {}
    found = []
    for name in names or tuple(known) or (DEFAULT_ENGINE,):
        if name in known:
            found.append(known[name])
        else:
            (configuration,) = engine_configurations([NAMES.get(name, name)])
            found.append(Agent(name if name in NAMES else configuration.name, configuration.spec))
    return found
