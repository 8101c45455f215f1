"""Sites captured part by part in virtual time: the live crawl's frontier, more pages coherent with their part."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from sharc_crawler.cli import main
from sharc_crawler.lab.driver import crawl
from sharc_crawler.lab.experiment import RunSpec, run
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.synthetic import SyntheticSpec

SITE = SyntheticSpec(size=600, outdegree=60, skew=1.0, seed=3)


@pytest.mark.slow
@pytest.mark.parametrize("graph", [pytest.param("known", marks=pytest.mark.long), "discover"])
def test_more_pages_are_coherent_with_their_part_than_with_the_whole_site(graph):
    whole = run(RunSpec(SITE, "sharc-selective", graph=graph)).facts
    parts = run(RunSpec(SITE, "sharc-selective", graph=graph, subsites="links:share=0.7")).facts
    assert parts["pages"] == whole["pages"] == 600
    assert parts["parts"] > 3
    assert parts["coherent"] > 1.3 * whole["coherent"]
    assert parts["downloads"] == 2 * 600 - parts["parts"], "one download for the last page of each part"


@pytest.mark.slow
def test_visits_and_revisits_of_a_part_lie_around_its_reference_instant():
    site = SITE.build()
    done = crawl(site, believe(site, "oracle"), "sharc-selective", "known", subsites="links:share=0.7")
    assert done.members.keys() == set(range(600))
    for part in done.parts:
        own = np.array([page for page, number in done.members.items() if number == part.number])
        assert done.schedule.visits[own].max() <= part.reference <= done.schedule.revisits[own].min()
        assert part.begun <= done.schedule.visits[own].min()


@pytest.mark.long
def test_the_same_spec_gives_the_same_parts():
    spec = RunSpec(SITE, "sharc-selective", graph="discover", subsites="links:share=0.7")
    one, other = (run(spec) for _ in range(2))
    assert (one.schedule.visits == other.schedule.visits).all()


@pytest.mark.long
def test_on_the_command_line():
    options = ["--world", "size=300,outdegree=30", "--strategy", "sharc-selective", "-a", "subsites=links"]
    done = CliRunner().invoke(main, ["simulate", *options, "--json"])
    assert done.exit_code == 0, done.output
    (facts,) = json.loads(done.stdout)["runs"]
    assert facts["subsites"] == "links"
    assert facts["coherent_parts"] <= facts["parts"]
    told = CliRunner().invoke(main, ["simulate", *options]).stdout
    assert f"{facts['coherent_parts']} of {facts['parts']} parts captured coherently" in told
